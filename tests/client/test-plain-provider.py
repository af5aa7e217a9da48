#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every method of the client against a plain provider, and what was said meanwhile.

The provider was written from the protocol and knows nothing of ours: nothing may be sent to it that
sandbox.v1 does not have, and never a request before the answer to the one before.
"""

import json
import os
import shutil
import tempfile
import unittest

import gi

gi.require_version("Sbx", "1")
from gi.repository import Gio, GLib, Sbx

import tap

PROVIDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "providers",
                        "plain-provider.py")

# The members of sandbox.v1, of each method's parameters: True where it has to be there.
SESSION = {"id": True, "provider_session_id": False, "cwd": False, "capabilities": False,
           "provider_state_json": False}
METADATA = {"protocol_version": True, "request_id": True, "sandbox_group_id": True, "tags": False}
COMMAND = {"session": SESSION, "argv": True, "cwd": False, "env": False, "stdin_base64": False}
PATH = {"session": SESSION, "path": True}
PARAMS = {
    "capabilities": {},
    "open": {"metadata": METADATA, "profile": {"provider": True, "name": True},
             "workspace_sync": {"host_path": True}, "cwd": False},
    "close": {"session": SESSION},
    "cleanup_group": {"metadata": METADATA, "sandbox_group_id": True},
    "create_temp_dir": {"session": SESSION, "prefix": True},
    "create_dir_all": PATH,
    "write_file": {**PATH, "content_base64": True},
    "read_file": PATH,
    "remove": PATH,
    "exec": COMMAND,
    "spawn": COMMAND,
    "shutdown": {},
}
METHODS = sorted(PARAMS)


def data(content):
    return GLib.Bytes.new(content)


def wait_for(condition, deadline_s=30):
    end = GLib.get_monotonic_time() + deadline_s * 1000000
    while not condition():
        if GLib.get_monotonic_time() > end:
            raise AssertionError("it never came")
        GLib.MainContext.default().iteration(False)


class PlainProviderTest(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="sbx-plain-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.workspace = os.path.join(self.dir, "workspace")
        os.mkdir(self.workspace)
        os.mkdir(os.path.join(self.workspace, "sub"))
        with open(os.path.join(self.workspace, "README"), "w", encoding="utf-8") as file:
            file.write("read me\n")
        self.record = os.path.join(self.dir, "record")
        self.client = Sbx.ProviderClient.new(["/usr/bin/python3", PROVIDER, "serve"])
        self.client.set_provider_name("plain")
        self.client.set_variable("PLAIN_RECORD", self.record)
        self.client.set_variable("PLAIN_ROOT", os.path.join(self.dir, "root"))
        self.client.set_variable("PYTHONDONTWRITEBYTECODE", "1")

    def request(self, profile="default"):
        return Sbx.OpenRequest.new_for_profile(self.workspace, profile)

    def open(self, **arguments):
        return self.client.open(self.request(**arguments), None)

    def check_members(self, where, members, value):
        self.assertIsInstance(value, dict, where)
        self.assertLessEqual(set(value), set(members), where)
        for name, what in members.items():
            if name not in value:
                self.assertFalse(what, f"{where}: {name} is missing")
            elif isinstance(what, dict):
                self.check_members(f"{where}.{name}", what, value[name])
            else:
                self.assertIsNotNone(value[name], f"{where}.{name}")

    def check_record(self):
        """Returns the methods, in the order in which they were asked."""
        methods = []
        waiting = None
        numbers = []
        with open(self.record, encoding="utf-8") as file:
            for line in file:
                message = json.loads(line[1:])
                if line[0] == ">":
                    self.assertIsNone(waiting, "two requests at a time")
                    self.assertEqual(list(message), ["id", "method", "params"])
                    self.check_members(message["method"], PARAMS[message["method"]],
                                       message["params"])
                    self.assertRegex(message["id"], r"^req_[1-9][0-9]*$")
                    numbers.append(int(message["id"][4:]))
                    waiting = message["id"]
                    methods.append(message["method"])
                elif "event" not in message:
                    self.assertEqual(message["id"], waiting)
                    waiting = None
        self.assertIsNone(waiting)
        self.assertEqual(numbers, sorted(set(numbers)))
        return methods

    def test_every_method(self):
        session = self.open()
        self.assertNotEqual(session.get_cwd(), self.workspace)
        self.assertTrue(session.create_dir_all("a/b", None))
        content = bytes(range(256)) * 5000
        self.assertTrue(session.write_file("a/b/c", data(content), 0, None))
        self.assertEqual(session.read_file("a/b/c", 0, None).get_data(), content)
        path = session.create_temp_dir("t-", None)
        self.assertTrue(os.path.isdir(path))
        self.assertTrue(session.remove("a", None))
        self.assertFalse(os.path.exists(os.path.join(session.get_cwd(), "a")))
        self.assertTrue(session.remove("a", None))

        command = Sbx.Command.new(["sh", "-c", "cat; echo oh >&2; echo $NAME; pwd; exit 3"])
        command.set_stdin_bytes(data(b"in\n"))
        command.set_variable("NAME", "a value")
        command.set_cwd("sub")
        result = session.exec(command, None)
        self.assertEqual(result.get_exit_code(), 3)
        self.assertEqual(result.get_stdout().get_data().decode(),
                         f"in\na value\n{session.get_cwd()}/sub\n")
        self.assertEqual(result.get_stderr().get_data(), b"oh\n")

        process = session.spawn(Sbx.Command.new(["sleep", "1000"]), None)
        pid = int(process.get_id())
        os.kill(pid, 0)
        self.assertEqual(self.client.cleanup_group("nobody's", None), (True, 0))
        self.assertTrue(session.close(None))
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
        self.assertTrue(self.client.close(None))
        self.assertEqual(sorted(set(self.check_record())), METHODS)

    def test_group(self):
        request = self.request()
        request.set_group("my group")
        request.set_request_id("r1")
        request.set_tag("a", "b")
        sessions = [self.client.open(request, None) for _ in range(3)]
        self.assertEqual(len({session.get_id() for session in sessions}), 3)
        self.assertEqual(self.client.cleanup_group("my group", None), (True, 3))
        self.assertEqual(self.client.cleanup_group("my group", None), (True, 0))
        self.client.close(None)
        self.check_record()

    def test_open_cwd(self):
        request = self.request()
        request.set_cwd("sub")
        session = self.client.open(request, None)
        self.assertTrue(session.get_cwd().endswith("/sub"))
        result = session.exec(Sbx.Command.new(["pwd"]), None)
        self.assertEqual(result.get_stdout().get_data().decode().strip(), session.get_cwd())

    def test_errors(self):
        with self.assertRaises(GLib.Error) as caught:
            self.open(profile="later")
        self.assertTrue(caught.exception.matches(Sbx.error_quark(), Sbx.Error.PROVIDER_RETRYABLE))
        self.assertTrue(caught.exception.message.startswith("ssh_not_ready: "))
        session = self.open()
        with self.assertRaises(GLib.Error) as caught:
            session.read_file("missing", 0, None)
        self.assertTrue(caught.exception.matches(Sbx.error_quark(), Sbx.Error.PROVIDER))
        with self.assertRaises(GLib.Error) as caught:
            session.exec(Sbx.Command.new(["/nonexistent"]), None)
        self.assertTrue(caught.exception.matches(Sbx.error_quark(), Sbx.Error.PROVIDER))
        self.assertTrue(session.exec(Sbx.Command.new(["true"]), None).get_success())
        self.client.close(None)
        self.check_record()

    def test_signal(self):
        session = self.open()
        result = session.exec(Sbx.Command.new(["sh", "-c", "kill -15 $$"]), None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.SIGNALLED)
        self.assertEqual(result.get_signal(), 15)

    def test_order(self):
        session = self.open()
        boxes = []
        for n in range(50):
            session.write_file_async(f"f{n}", data(str(n).encode()), 0, None,
                                     lambda source, result, n: boxes.append((n, result)), n)
        wait_for(lambda: len(boxes) == 50)
        self.assertEqual([n for n, _ in boxes], list(range(50)))
        for _, result in boxes:
            self.assertTrue(session.write_file_finish(result))
        self.client.close(None)
        self.assertEqual(self.check_record().count("write_file"), 50)

    def test_cancel(self):
        session = self.open()
        cancellable = Gio.Cancellable()
        boxes = []
        self.client.set_grace(20000)
        command = Sbx.Command.new(["sh", "-c", "echo now; sleep 0.5; echo late"])
        process = session.create_process(command)
        process.connect("stdout", lambda *_: cancellable.cancel())
        process.run_async(cancellable, lambda _source, result: boxes.append(result))
        wait_for(lambda: boxes)
        with self.assertRaises(GLib.Error) as caught:
            process.run_finish(boxes[0])
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        # The next one is not taken in by what still came of it.
        result = session.exec(Sbx.Command.new(["echo", "next"]), None)
        self.assertEqual(result.get_stdout().get_data(), b"next\n")
        self.client.close(None)
        self.assertNotIn("cancel", self.check_record())

    def test_timeout(self):
        """A time-out that the provider knows nothing of."""
        session = self.open()
        self.client.set_grace(20000)
        command = Sbx.Command.new(["sleep", "1"])
        command.set_timeout(100)
        result = session.exec(command, None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.TIMED_OUT)
        self.client.close(None)
        self.check_record()

    def test_environment(self):
        environment = Sbx.ExecutionEnvironment.open(self.client, self.request(), None)
        session = environment.get_session()
        session.write_file("a", data(b"\0\1\xff"), 0, None)
        self.assertEqual(session.read_file("a", 0, None).get_data(), b"\0\1\xff")
        self.assertTrue(environment.close(None))
        self.assertEqual(self.check_record(), ["capabilities", "open", "write_file", "read_file",
                                               "close", "shutdown"])


if __name__ == "__main__":
    tap.main()
