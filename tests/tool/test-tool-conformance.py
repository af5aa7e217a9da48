#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool conformance, record and replay: with the fake and the plain provider."""

import base64
import json
import os
import signal
import subprocess
import sys
import time

import tooltest

FAKE = os.environ["SBX_FAKE_PROVIDER"]
PLAIN = os.path.join(os.environ["G_TEST_SRCDIR"], "providers", "plain-provider.py")


class Provider:
    """A provider that the test speaks to line by line."""

    def __init__(self, test, *argv, **options):
        self.process = test.start(*argv, stdin=subprocess.PIPE, **options)
        self.count = 0

    def ask(self, method, **params):
        self.count += 1
        request = {"id": f"t{self.count}", "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        events = []
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if "event" not in message:
                return message, events
            events.append(message["event"])
        raise AssertionError(f"the end instead of an answer to {method}")

    def open(self, workspace):
        metadata = {"protocol_version": "sandbox.v1", "request_id": "r", "sandbox_group_id": "tool-test",
                    "tags": {"secret": "SECRET-tag"}}
        answer, _events = self.ask("open", metadata=metadata, profile={"provider": "plain", "name": "x"},
                                   workspace_sync={"host_path": workspace})
        return answer["result"]


class Conformance(tooltest.ToolTest):
    def setUp(self):
        super().setUp()
        self.env["PLAIN_ROOT"] = os.path.join(self.dir, "plain")

    def run_json(self, *args):
        result = self.tool("conformance", "--json", *args)
        return result, json.loads(result.stdout)

    def test_passes(self):
        result = self.tool("conformance", "--level", "plain", "--timeout", "20", "--", sys.executable, PLAIN, "serve")
        self.assert_status(result, 0)
        self.assertIn(b"0 failed", result.stdout)
        self.assertNotIn(b"FAILED", result.stdout)

    def test_failure_is_shown_with_both_lines(self):
        result = self.tool("conformance", "--level", "plain", "--", FAKE, "capabilities=wrapped", "serve")
        self.assert_status(result, 1)
        block = result.stdout.decode().split("101  plain         FAILED")[1].splitlines()
        self.assertIn("expected a bare object", block[1])
        self.assertTrue(block[2].startswith('      > {"id":"'), block)
        self.assertTrue(block[3].startswith('      < {"id":"'), block)

    def test_json(self):
        result, report = self.run_json("--level", "plain", "--", FAKE, "exit=3", "serve")
        self.assert_status(result, 1)
        failed = [check["number"] for check in report["checks"] if check["outcome"] == "failed"]
        self.assertEqual(failed, [192, 193, 194])
        self.assertEqual(report["failed"], 3)
        self.assertEqual(len(report["checks"]), report["passed"] + report["failed"] + report["skipped"])

    def test_claimed_level_that_is_not_advertised(self):
        result, report = self.run_json("--level", "pty", "--", FAKE, "plain", "serve")
        self.assert_status(result, 1)
        self.assertEqual({check["outcome"] for check in report["checks"]}, {"failed"})

    def test_list(self):
        result = self.tool("conformance", "--list")
        self.assert_status(result, 0)
        lines = result.stdout.decode().splitlines()
        self.assertGreater(len(lines), 100)
        numbers = [int(line.split()[0]) for line in lines]
        self.assertEqual(numbers, sorted(set(numbers)))
        some = self.tool("conformance", "--list", "--level", "ranges").stdout.decode().splitlines()
        self.assertEqual(some, [line for line in lines if line.split()[1] == "ranges"])
        report = json.loads(self.tool("conformance", "--list", "--json").stdout)
        self.assertEqual([check["number"] for check in report["checks"]], numbers)

    def test_interrupted(self):
        """Whoever interrupts it finds no workspace and no provider left."""
        record = self.path("record.jsonl")
        self.write_file("record.jsonl", b'{"t_ms":0,"from":"client","line":{"id":"r","method":"stat"}}\n'
                        b'{"t_ms":0,"from":"provider","line":{"id":"r","result":{}}}\n')
        self.env["TMPDIR"] = self.dir
        provider = [FAKE, "silent=all", "serve"]
        for args in (["conformance", "--timeout", "30"], ["replay", "--timeout", "30", record]):
            with self.subTest(args[0]):
                process = self.start(*args, "--", *provider)
                made = tooltest.wait_for(lambda: self.left("sbx-conformance-"), "the workspace")
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(tooltest.DEADLINE_S), -signal.SIGINT)
                self.assertEqual(self.left("sbx-conformance-"), [], made)

    def left(self, prefix):
        return [name for name in os.listdir(self.dir) if name.startswith(prefix)]

    def test_trouble(self):
        self.assert_status(self.tool("conformance", "--", "/nonexistent", "serve"), 125, "/nonexistent")
        self.assert_status(self.tool("conformance"), 125, "no provider")
        self.assert_status(self.tool("conformance", "--level", "x\033", "--", FAKE, "serve"), 125, "x\\x1b is no level")
        self.assert_status(self.tool("conformance", "--timeout", "-1", "--", FAKE, "serve"), 125, "--timeout")

    def test_hostile_output_is_escaped(self):
        self.env["FAKE_LINE"] = "\033]0;gotcha\007\u202e"
        result = self.tool("conformance", "--level", "plain", "--", FAKE, "before=env,at=read_file", "serve")
        self.assert_status(result, 1)
        self.assertIn(b"\\x1b]0;gotcha\\x07\\u202e", result.stdout)
        self.assertNotIn(b"\033", result.stdout)


class Record(tooltest.ToolTest):
    def setUp(self):
        super().setUp()
        self.env["PLAIN_ROOT"] = os.path.join(self.dir, "plain")
        self.record = self.path("record.jsonl")

    def messages(self):
        with open(self.record, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def converse(self, *argv):
        """Some of everything, with secrets where they can be."""
        workspace = os.path.join(self.dir, "workspace")
        os.makedirs(workspace, exist_ok=True)
        provider = Provider(self, *argv)
        answers = [provider.ask("capabilities")]
        session = provider.open(workspace)
        content = base64.b64encode(b"SECRET-file" * 100).decode()
        answers.append(provider.ask("write_file", session=session, path="a", content_base64=content))
        answers.append(provider.ask("read_file", session=session, path="a"))
        answers.append(provider.ask("read_file", session=session, path="missing"))
        answers.append(provider.ask("exec", session=session, argv=["sh", "-c", "echo SECRET-output; exit 3"],
                                    env={"TOKEN": "SECRET-env"}, stdin_base64=content))
        answers.append(provider.ask("close", session=session))
        answers.append(provider.ask("shutdown"))
        provider.process.stdin.close()
        self.assertEqual(provider.process.wait(tooltest.DEADLINE_S), 0)
        return answers

    def make_record(self):
        return self.converse("record", "-o", self.record, "--", sys.executable, PLAIN, "serve")

    def test_nothing_secret_is_recorded(self):
        answers = self.make_record()
        self.assertEqual(base64.b64decode(answers[2][0]["result"]["content_base64"]), b"SECRET-file" * 100)
        self.assertEqual(answers[4][0]["result"]["exit_code"], 3)
        text = self.read_file("record.jsonl")
        self.assertNotIn(b"SECRET", text)
        self.assertNotIn(base64.b64encode(b"SECRET")[:6], text)
        self.assertIn(b'"cut:base64:1100"', text)
        self.assertEqual(os.stat(self.record).st_mode & 0o777, 0o600)
        times = [message["t_ms"] for message in self.messages()]
        self.assertEqual(times, sorted(times))

    def test_replay_answers_as_recorded(self):
        recorded = self.make_record()
        played = self.converse("replay", self.record)

        def shape(answer):
            message, events = answer
            return (sorted(message.get("result", {})), message.get("error", {}).get("code"),
                    [event["type"] for event in events])

        self.assertEqual([shape(answer) for answer in played], [shape(answer) for answer in recorded])
        self.assertEqual(len(played[2][0]["result"]["content_base64"]), len(recorded[2][0]["result"]["content_base64"]))

    def test_replay_asks_as_recorded(self):
        self.make_record()
        result = self.tool("replay", self.record, "--", sys.executable, PLAIN, "serve")
        self.assert_status(result, 0)
        other = self.tool("replay", "--timeout", "5", self.record, "--", FAKE, "plain", "serve")
        self.assert_status(other, 1)
        self.assertIn(b"t2 (open): error: an object, was nothing", other.stdout)

    def test_replay_of_what_is_no_record(self):
        self.write_file("record.jsonl", b"{}\n")
        self.assert_status(self.tool("replay", self.record), 125, "Line 1 is no message of a record")
        self.assert_status(self.tool("replay", self.path("missing")), 125, "missing")
        self.assert_status(self.tool("replay"), 125, "no record")
        os.mkfifo(self.path("fifo"))
        self.assert_status(self.tool("replay", self.path("fifo")), 125, "fifo")

    def test_status_and_signal_are_passed_on(self):
        script = "read line; echo \"$line\"; exit 7"
        result = self.tool("record", "-o", self.record, "--", "sh", "-c", script, input=b"hello\n")
        self.assertEqual((result.returncode, result.stdout), (7, b"hello\n"))
        result = self.tool("record", "-o", self.record, "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(result.returncode, -signal.SIGKILL)
        process = self.start("record", "-o", self.record, "--", "sh", "-c", "trap 'exit 9' TERM; echo on; "
                             "while :; do sleep 0.05; done", stdin=subprocess.PIPE)
        tooltest.read_until(process.stdout.fileno(), b"on\n")
        process.terminate()
        self.assertEqual(process.wait(tooltest.DEADLINE_S), 9)

    def test_bytes_are_unchanged_both_ways(self):
        data = bytes(range(256)) * 512 + os.urandom(100_000) + b"x" * 5_000_000
        result = self.tool("record", "-o", self.record, "--", "cat", input=data)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, data)

    @staticmethod
    def peak(process):
        """What it had in memory at most, in KiB."""
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

    def test_a_huge_line_takes_little_memory(self):
        process = self.start("record", "-o", self.record, "--", "cat", stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL)
        process.stdin.write(b'{"id":"a","result":{"content_base64":"' + b"A" * 1_000_000)
        process.stdin.flush()
        before = self.peak(process)
        for _ in range(199):
            process.stdin.write(b"A" * 1_000_000)
        process.stdin.write(b'"}}\n')
        process.stdin.flush()
        after = self.peak(process)
        process.stdin.close()
        self.assertEqual(process.wait(tooltest.DEADLINE_S), 0)
        self.assertLess(after - before, 60_000)
        self.assertIn(b'"cut:base64:150000000"', self.read_file("record.jsonl"))

    def test_back_pressure(self):
        process = self.start("record", "-o", self.record, "--", "sh", "-c",
                             "head -c 100000000 /dev/zero; echo done >&2")
        time.sleep(0.5)
        os.set_blocking(process.stderr.fileno(), False)
        self.assertIsNone(process.stderr.read())
        out = process.stdout.read()
        self.assertEqual(len(out), 100_000_000)
        self.assertEqual(process.wait(tooltest.DEADLINE_S), 0)

    def test_client_that_is_gone(self):
        process = self.start("record", "-o", self.record, "--", "sh", "-c", "yes; exit 4", stdin=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(tooltest.DEADLINE_S), 4)

    def test_heir_of_the_output_is_not_waited_for(self):
        start = time.monotonic()
        result = self.tool("record", "-o", self.record, "--", "sh", "-c", "sleep 20 2>/dev/null & echo done")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"done\n")
        self.assertLess(time.monotonic() - start, 15)

    def test_record_that_cannot_be_written(self):
        result = self.tool("record", "-o", "/dev/full", "--", "cat", input=b"{}\n" * 100)
        self.assert_status(result, 0, "the record cannot be written")
        self.assertEqual(result.stdout, b"{}\n" * 100)
        self.assert_status(self.tool("record", "-o", "/nonexistent/x", "--", "cat"), 125, "/nonexistent/x")
        self.assert_status(self.tool("record", "-o", self.record, "--", "/nonexistent/x"), 125, "/nonexistent/x")
        self.assert_status(self.tool("record"), 125, "no provider")

    def test_default_name_is_told(self):
        result = self.tool("record", "--", "cat", input=b"{}\n")
        self.assert_status(result, 0, "recording to sbx-conversation-")
        self.assertEqual(len([name for name in os.listdir(self.work) if name.endswith(".jsonl")]), 1)


tooltest.main()
