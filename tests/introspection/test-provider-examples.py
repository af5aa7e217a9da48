#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Talks to the provider examples as a client of any other make would: in lines of JSON.

Usage: test-provider-examples.py COMMAND…: what runs the example.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import tap

EXAMPLE = [os.path.abspath(sys.argv[1]), *sys.argv[2:], "serve"]


class Provider(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="sbx-provider-example-")
        self.addCleanup(shutil.rmtree, self.work, True)
        self.process = subprocess.Popen(EXAMPLE, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.addCleanup(self.end)
        self.n_requests = 0

    def end(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send(self, method, **params):
        self.n_requests += 1
        request = {"id": f"req_{self.n_requests}", "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return request["id"]

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def call(self, method, **params):
        request_id = self.send(method, **params)
        events = []
        while True:
            line = self.receive()
            self.assertEqual(line["id"], request_id)
            if "event" not in line:
                return line, events
            events.append(line["event"])

    def open(self):
        line, events = self.call("open", workspace_sync={"host_path": self.work},
                                 profile={"provider": "any", "name": "any"},
                                 metadata={"protocol_version": "sandbox.v1", "request_id": "r",
                                           "sandbox_group_id": "g"})
        self.assertEqual(events, [])
        self.assertEqual(line["result"]["cwd"], self.work)
        return line["result"]

    def shutdown(self):
        line, _events = self.call("shutdown")
        self.assertEqual(line["result"], {})
        out, err = self.process.communicate(timeout=30)
        self.assertEqual((self.process.returncode, out), (0, b""))
        return err

    def test_capabilities(self):
        line, _events = self.call("capabilities")
        self.assertIs(line["result"]["exec"], True)
        self.assertIn("multiplex", line["result"]["features"])
        self.assertNotIn("pty", line["result"]["features"])
        self.shutdown()

    def test_exec(self):
        session = self.open()
        line, events = self.call("exec", session=session, stdin_base64="AAH/",
                                 argv=["sh", "-c", "cat; pwd >&2; exit 3"])
        self.assertEqual(line["result"]["exit_code"], 3)
        self.assertEqual(line["result"]["stdout_base64"], "AAH/")
        self.assertEqual(base64.b64decode(line["result"]["stderr_base64"]),
                         self.work.encode() + b"\n")
        kinds = [event["type"] for event in events]
        self.assertEqual((kinds[0], sorted(kinds[1:3]), kinds[3:]),
                         ("started", ["stderr", "stdout"], ["exited"]))
        self.shutdown()

    def test_no_such_program(self):
        session = self.open()
        line, events = self.call("exec", session=session, argv=["/no/such/program"])
        self.assertEqual((line["result"]["exit_code"], events), (126, []))
        self.assertIn("/no/such/program", line["result"]["not_started"]["message"])
        self.shutdown()

    def test_files(self):
        session = self.open()
        line, _events = self.call("write_file", session=session, path="f", content_base64="AAEC/w==")
        self.assertEqual(line["result"], {})
        with open(os.path.join(self.work, "f"), "rb") as file:
            self.assertEqual(file.read(), b"\0\1\2\xff")
        line, _events = self.call("read_file", session=session, path="f")
        self.assertEqual(line["result"], {"content_base64": "AAEC/w=="})
        line, _events = self.call("read_file", session=session, path="missing")
        self.assertEqual((line["error"]["code"], line["error"]["errno"]),
                         ("file_io_failed", "ENOENT"))
        self.shutdown()

    def test_exception(self):
        session = self.open()
        # The file cannot be written to: the example does not catch that.
        line, _events = self.call("write_file", session=session, path="no/such/f",
                                  content_base64="")
        self.assertEqual(line["error"]["code"], "failed")
        line, _events = self.call("close", session=session)
        self.assertEqual(line["result"], {})
        self.assertIn(b"rror", self.shutdown())

    def test_cancel(self):
        session = self.open()
        running = self.send("exec", session=session, argv=["sleep", "1000"])
        self.assertEqual(self.receive()["event"]["type"], "started")
        cancel = self.send("cancel", request_id=running)
        replies = {line["id"]: line for line in (self.receive(), self.receive())}
        self.assertEqual(replies[cancel]["result"], {})
        self.assertEqual(replies[running]["error"]["code"], "cancelled")
        self.shutdown()

    def test_end_of_input(self):
        session = self.open()
        self.send("exec", session=session, argv=["sleep", "1000"])
        started = self.receive()["event"]
        self.process.communicate(timeout=30)
        self.assertEqual(self.process.returncode, 0)
        self.assert_gone(int(started["process_id"]))

    def assert_gone(self, pid):
        """Who has ended is there until whoever inherited it has taken notice."""
        deadline = time.monotonic() + 30
        with self.assertRaises(ProcessLookupError):
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(0.01)


tap.main()
