#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program sbx-provider-bwrap, with a client that uses what it offers beyond sandbox.v1.

Usage: test-provider-bwrap.py PROGRAM
"""

import base64
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

os.environ.setdefault("SBX_TOOL", "")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
import tooltest
from tooltest import DEADLINE_S, wait_for

PROGRAM = os.path.abspath(sys.argv.pop(1))
MIB = 1024 * 1024


def is_sanitized():
    """Whether the program takes memory of its own account."""
    with open(PROGRAM, "rb") as file:
        return b"__asan_init" in file.read()


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) * 1024


def adopt_orphans():
    """What outlives the provider becomes a child of this process."""
    prctl_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(prctl_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def descendants():
    """All processes below this one that have not ended."""
    parents, found, new = {}, set(), {os.getpid()}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
            if state not in (b"Z", b"X"):
                parents.setdefault(int(parent), set()).add(int(pid))
    while new:
        new = set().union(*(parents.get(pid, set()) for pid in new)) - found
        found |= new
    return found


class Provider(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sbx-provider-bwrap-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.work = os.path.join(self.dir, "work")
        os.mkdir(self.work)
        self.env = dict(os.environ, XDG_DATA_HOME=os.path.join(self.dir, "data"),
                        XDG_CONFIG_HOME=os.path.join(self.dir, "config"), LC_ALL="C.UTF-8")
        self.n_requests = 0
        self.buffer = b""
        self.lines = []
        self.start()

    def start(self):
        self.process = subprocess.Popen([PROGRAM, "serve"], env=self.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.addCleanup(self.finish, self.process)

    @staticmethod
    def finish(process):
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                stream.close()

    # The client: what comes is kept until somebody asks for it by its id.

    def send(self, method, **params):
        self.n_requests += 1
        request_id = f"req_{self.n_requests}"
        line = {"id": request_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        return request_id

    def read_line(self):
        deadline = time.monotonic() + DEADLINE_S
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [],
                                        max(0, deadline - time.monotonic()))
            self.assertTrue(ready, "no line came")
            data = os.read(self.process.stdout.fileno(), MIB)
            self.assertTrue(data, "the provider has ended")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def receive(self, request_id):
        """The next line of that id."""
        for line in self.lines:
            if line["id"] == request_id:
                self.lines.remove(line)
                return line
        while (line := self.read_line())["id"] != request_id:
            self.lines.append(line)
        return line

    def receive_event(self, request_id, kind):
        event = self.receive(request_id)["event"]
        self.assertEqual(event["type"], kind)
        return event

    def receive_output(self, request_id, wanted):
        """Reads standard output until it has all of that, and returns it."""
        output = b""
        while wanted not in output:
            output += base64.b64decode(self.receive_event(request_id, "stdout")["data_base64"])
        return output

    def call(self, method, **params):
        """The result, or the error, and the events before it."""
        request_id = self.send(method, **params)
        events = []
        while "event" in (line := self.receive(request_id)):
            events.append(line["event"])
        return line.get("result", line.get("error")), events

    def open(self, profile="default", group="group"):
        session, events = self.call(
            "open", workspace_sync={"host_path": self.work},
            profile={"provider": "bwrap", "name": profile},
            metadata={"protocol_version": "sandbox.v1", "request_id": "r",
                      "sandbox_group_id": group})
        self.assertEqual((session.get("cwd"), events), (self.work, []), session)
        return session

    def shutdown(self):
        result, _events = self.call("shutdown")
        self.assertEqual(result, {})
        out, err = self.process.communicate(timeout=DEADLINE_S)
        self.assertEqual((self.process.returncode, out, err), (0, b"", b""))
        self.assert_nothing_left()

    def assert_nothing_left(self):
        wait_for(lambda: not descendants(), "processes to end")
        sessions = os.path.join(self.dir, "data", "libsbx", "sessions")
        left = [name for name in os.listdir(sessions)
                if os.path.isdir(os.path.join(sessions, name))] if os.path.isdir(sessions) else []
        self.assertEqual(left, [])

    # The program.

    def test_usage(self):
        for argument, status, text in (("--version", 0, b"sbx-provider-bwrap "),
                                       ("--help", 0, b"Usage:"), ("--serve", 2, b"")):
            done = subprocess.run([PROGRAM, argument], env=self.env, capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=DEADLINE_S, check=False)
            self.assertEqual((done.returncode, text in done.stdout), (status, True))
            self.assertEqual(bool(done.stderr), status == 2)
        done = subprocess.run([PROGRAM], env=self.env, capture_output=True, timeout=DEADLINE_S,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_idle(self):
        self.call("capabilities")
        self.assertLess(resident(self.process.pid), 12 * MIB * (20 if is_sanitized() else 1))
        self.shutdown()

    def test_stray_output(self):
        # Descriptors 0 and 1 are not the protocol's any more.
        self.call("capabilities")
        target = f"/proc/{self.process.pid}/fd/"
        self.assertEqual(os.readlink(target + "0"), "/dev/null")
        self.assertEqual(os.readlink(target + "1"), os.readlink(target + "2"))
        self.shutdown()

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number=number):
                session = self.open()
                running = self.send("exec", session=session, argv=["sleep", "1000"])
                self.receive_event(running, "started")
                self.process.send_signal(number)
                self.process.communicate(timeout=DEADLINE_S)
                self.assertEqual(self.process.returncode, 0)
                self.assert_nothing_left()
                self.buffer, self.lines = b"", []
                self.start()

    def test_end_of_input(self):
        session = self.open()
        self.open()
        running = self.send("exec", session=session, argv=["sh", "-c", "sleep 1000 & sleep 1000"])
        self.receive_event(running, "started")
        self.call("spawn", session=session, argv=["setsid", "sleep", "1000"])
        # The provider; each sandbox's own; and four that sleep or wait for one.
        self.assertGreater(len(descendants()), 6)
        self.process.communicate(timeout=DEADLINE_S)
        self.assertEqual(self.process.returncode, 0)
        self.assert_nothing_left()

    def test_killed(self):
        session = self.open()
        running = self.send("exec", session=session, argv=["sleep", "1000"])
        self.receive_event(running, "started")
        self.process.kill()
        self.process.wait()
        wait_for(lambda: not descendants(), "processes to end")

    # The extension.

    def test_concurrent(self):
        session = self.open()
        slow = [self.send("exec", session=session, argv=["sh", "-c", f"read x; exit {i}"],
                          open_stdin=True) for i in range(8)]
        processes = [self.receive_event(request, "started")["process_id"] for request in slow]
        for i in reversed(range(8)):
            self.call("write_file", session=session, path=str(i), content_base64="AAE=")
            self.assertEqual(self.call("close_stdin", session=session,
                                       process_id=processes[i])[0], {})
            self.receive_event(slow[i], "exited")
            self.assertEqual(self.receive(slow[i])["result"]["exit_code"], i)
        self.assertEqual(sorted(os.listdir(self.work)), [str(i) for i in range(8)])
        self.shutdown()

    def test_pipelined(self):
        session = self.open()
        self.call("write_file", session=session, path="f", content_base64="AAE=")
        # Whoever sends so many reads as well, or both would wait for each other.
        requests, written, sent = set(), b"", 0
        for i in range(3000):
            requests.add(f"many_{i}")
            written += json.dumps({"id": f"many_{i}", "method": "read_file",
                                   "params": {"session": session, "path": "f"}}).encode() + b"\n"
        os.set_blocking(self.process.stdin.fileno(), False)
        while requests:
            readable, writable, _ = select.select(
                [self.process.stdout], [self.process.stdin] if sent < len(written) else [], [],
                DEADLINE_S)
            self.assertTrue(readable or writable)
            if writable:
                sent += os.write(self.process.stdin.fileno(), written[sent:sent + 65536])
            if readable:
                self.buffer += os.read(self.process.stdout.fileno(), MIB)
                *lines, self.buffer = self.buffer.split(b"\n")
                for line in map(json.loads, lines):
                    requests.remove(line["id"])
                    self.assertEqual(line.get("result"), {"content_base64": "AAE="}, line)
        os.set_blocking(self.process.stdin.fileno(), True)
        self.shutdown()

    def test_gigabyte(self):
        session = self.open()
        running = self.send("exec", session=session, collect=False,
                            argv=["head", "-c", "1G", "/dev/zero"])
        self.receive_event(running, "started")

        # Nobody reads: the command has to wait, and nothing piles up.
        def standing_still():
            with open(f"/proc/{self.process.pid}/io", encoding="ascii") as file:
                before = file.read().splitlines()[:2]
            time.sleep(0.2)
            with open(f"/proc/{self.process.pid}/io", encoding="ascii") as file:
                return file.read().splitlines()[:2] == before

        wait_for(standing_still, "the provider to wait")
        before = resident(self.process.pid)
        self.assertLess(before, 20 * MIB * (20 if is_sanitized() else 1))

        # Others get through while it is read.
        count, waiting, latencies, most = 0, None, [], before
        while True:
            if waiting is None:
                waiting, since = self.send("stat", session=session, path="."), time.monotonic()
            line = self.read_line()
            if line["id"] == waiting:
                self.assertIn("result", line)
                latencies.append(time.monotonic() - since)
                waiting = None
                most = max(most, resident(self.process.pid))
                continue
            if line["event"]["type"] == "exited":
                break
            data = line["event"]["data_base64"]
            count += len(data) // 4 * 3 - data[-2:].count("=")
        self.assertEqual(count, 1 << 30)
        self.assertEqual(self.receive(running)["result"]["stdout_base64"], "")
        self.assertGreater(len(latencies), 50)
        self.assertLess(sorted(latencies)[len(latencies) // 2], 0.5)
        self.assertLess(most - before, 16 * MIB * (20 if is_sanitized() else 1))
        self.shutdown()

    def test_cancel(self):
        session = self.open()
        running = self.send("exec", session=session, argv=["sh", "-c", "sleep 1000 & sleep 1000"])
        self.receive_event(running, "started")
        self.assertEqual(self.call("cancel", request_id=running)[0], {})
        self.assertEqual(self.receive(running)["error"]["code"], "cancelled")
        result, _events = self.call("exec", session=session, argv=["sh", "-c", "echo /proc/[0-9]*"])
        self.assertLessEqual(len(base64.b64decode(result["stdout_base64"]).split()), 3)
        self.shutdown()

    def test_follow(self):
        session = self.open()
        spawned = self.send("spawn", session=session, follow=True, open_stdin=True,
                            argv=["sh", "-c", "echo ready; cat; exit 3"])
        process = self.receive_event(spawned, "started")["process_id"]
        self.assertEqual(self.receive(spawned)["result"], {"process_id": process})
        self.receive_output(spawned, b"ready\n")
        result, _events = self.call("list_processes", session=session)
        self.assertEqual(result, {"process_ids": [process]})
        self.assertEqual(self.call("write_stdin", session=session, process_id=process,
                                   data_base64="AAH/")[0], {})
        self.receive_output(spawned, b"\0\1\xff")
        self.call("close_stdin", session=session, process_id=process)
        self.assertEqual(self.receive_event(spawned, "exited")["exit_code"], 3)
        self.receive_event(spawned, "end")
        result, _events = self.call("wait", session=session, process_id=process)
        self.assertEqual(result["exit_code"], 3)
        self.shutdown()

    def test_kill(self):
        session = self.open()
        spawned, _events = self.call("spawn", session=session, argv=[
            "sh", "-c", "trap 'exit 7' USR1; echo > ready; while :; do sleep 0.01; done"])
        wait_for(lambda: os.path.exists(os.path.join(self.work, "ready")), "the trap")
        process = spawned["process_id"]
        self.assertEqual(self.call("kill", session=session, process_id=process,
                                   signal=signal.SIGUSR1)[0], {})
        result, _events = self.call("wait", session=session, process_id=process)
        self.assertEqual(result["exit_code"], 7)
        spawned, _events = self.call("spawn", session=session, argv=["sleep", "1000"])
        self.call("kill", session=session, process_id=spawned["process_id"], signal=signal.SIGKILL)
        result, _events = self.call("wait", session=session, process_id=spawned["process_id"])
        self.assertEqual((result["exit_code"], result["signal"]), (137, 9))
        self.shutdown()

    def test_pty(self):
        session = self.open()
        running = self.send("exec", session=session, pty={"rows": 11, "columns": 22},
                            argv=["sh", "-c", "stty -echo; stty size; read x; stty size"])
        process = self.receive_event(running, "started")["process_id"]
        self.receive_output(running, b"11 22")
        self.assertEqual(self.call("resize_pty", session=session, process_id=process, rows=33,
                                   columns=44)[0], {})
        self.call("write_stdin", session=session, process_id=process, data_base64="Cg==")
        self.receive_output(running, b"33 44")
        while (event := self.receive(running)["event"])["type"] == "stdout":
            pass
        self.assertEqual(event, {"type": "exited", "exit_code": 0})
        self.assertIn(b"11 22\r\n", base64.b64decode(self.receive(running)["result"]
                                                     ["stdout_base64"]))
        self.shutdown()

    def test_timeout(self):
        session = self.open()
        result, events = self.call("exec", session=session, timeout_ms=100,
                                   argv=["sh", "-c", "setsid sleep 1000 & sleep 1000"])
        self.assertEqual((result["exit_code"], result["timed_out"]), (124, True))
        self.assertEqual(events[-1], {"type": "exited", "exit_code": 124, "timed_out": True})
        self.shutdown()

    def test_files(self):
        session = self.open()
        self.call("write_file", session=session, path="d/f",
                  content_base64=base64.b64encode(b"0123456789").decode())
        result, _events = self.call("read_file", session=session, path="d/f", offset=3, length=4)
        self.assertEqual(result, {"content_base64": "MzQ1Ng==", "size": 10, "eof": False})
        self.call("write_file", session=session, path="d/f", offset=2, truncate=False,
                  content_base64="YWI=")
        self.assertEqual(self.call("copy", session=session, path="d/f", new_path="g")[0], {})
        self.assertEqual(self.call("rename", session=session, path="g", new_path="h")[0], {})
        with open(os.path.join(self.work, "h"), "rb") as file:
            self.assertEqual(file.read(), b"01ab456789")
        result, _events = self.call("list_dir", session=session, path=".")
        self.assertEqual(sorted(entry["name"] for entry in result["entries"]), ["d", "h"])
        result, _events = self.call("stat", session=session, path="h")
        self.assertEqual((result["type"], result["size"]), ("file", 10))
        result, _events = self.call("stat", session=session, path="g")
        self.assertEqual((result["code"], result["errno"]), ("file_io_failed", "ENOENT"))
        self.shutdown()

    def test_large_file(self):
        session = self.open()
        content = os.urandom(1 << 20) * 20
        result, _events = self.call("write_file", session=session, path="f",
                                    content_base64=base64.b64encode(content).decode())
        self.assertEqual(result, {})
        result, _events = self.call("read_file", session=session, path="f")
        self.assertEqual(base64.b64decode(result["content_base64"]), content)
        self.shutdown()

    def test_state_is_not_trusted(self):
        session = self.open()
        forged = {**session, "cwd": "/etc", "provider_session_id": "1",
                  "provider_state_json": "{\"pid\":1,\"path\":\"/etc\"}"}
        result, _events = self.call("exec", session=forged, argv=["pwd"])
        self.assertEqual(base64.b64decode(result["stdout_base64"]), self.work.encode() + b"\n")
        result, _events = self.call("close", session={**forged, "id": "1"})
        self.assertEqual(result["code"], "unknown_session")
        self.assertEqual(self.call("close", session=forged)[0], {})
        self.shutdown()

    def test_bad_profiles(self):
        for provider, profile, code in (("other", "default", "bad_profile"),
                                        ("bwrap", "no-such-profile", None)):
            result, _events = self.call(
                "open", workspace_sync={"host_path": self.work},
                profile={"provider": provider, "name": profile},
                metadata={"protocol_version": "sandbox.v1", "request_id": "r",
                          "sandbox_group_id": "g"})
            self.assertIn("code", result)
            if code:
                self.assertEqual(result["code"], code)
        self.shutdown()

    def test_cleanup_group(self):
        self.open(group="a")
        self.open(group="a")
        other = self.open(group="b")
        metadata = {"protocol_version": "sandbox.v1", "request_id": "r", "sandbox_group_id": "a"}
        result, _events = self.call("cleanup_group", metadata=metadata, sandbox_group_id="a")
        self.assertEqual(result, {"cleaned_count": 2})
        result, _events = self.call("cleanup_group", metadata=metadata, sandbox_group_id="a")
        self.assertEqual(result, {"cleaned_count": 0})
        result, _events = self.call("exec", session=other, argv=["true"])
        self.assertEqual(result["exit_code"], 0)
        self.shutdown()


adopt_orphans()
tooltest.main()
