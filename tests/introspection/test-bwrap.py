#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real sandboxes, as Python sees them."""

import json
import os
import shutil
import tempfile
import unittest

import gi

gi.require_version("Sbx", "1")
from gi.repository import Gio, GLib, Sbx

import tap

DEADLINE_S = 60


def iterate_until(condition):
    context = GLib.MainContext.default()
    ran_out = []
    deadline = GLib.timeout_add_seconds(DEADLINE_S, lambda: ran_out.append(True) or True)
    while not condition():
        if ran_out:
            raise AssertionError(f"nothing happened in {DEADLINE_S} s")
        context.iteration(True)
    GLib.source_remove(deadline)


def wait(owner, name, *arguments):
    """Calls the asynchronous form of a method and returns what it finishes with."""
    box = []
    getattr(owner, name + "_async")(*arguments, lambda _object, result: box.append(result))
    iterate_until(lambda: box)
    return getattr(owner, name + "_finish")(box[0])


def shell(script):
    return Sbx.Command.new(["sh", "-c", script])


class Bwrap(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="sbx-python-")
        self.addCleanup(shutil.rmtree, self.base, True)
        self.work = os.path.join(self.base, "work")
        os.mkdir(self.work)
        self.provider = Sbx.BwrapProvider.new()
        self.provider.set_data_dir(os.path.join(self.base, "data"))
        reach = Sbx.Reach.new(self.work)
        reach.add_write(self.work)
        reach.set_variable("GREETING", "hello")
        self.request = Sbx.OpenRequest.new(reach)
        self.session = self.provider.open(self.request, None)

    def tearDown(self):
        self.assertTrue(self.session.close(None))
        left = os.path.join(self.base, "data", "sessions")
        self.assertEqual([name for name in os.listdir(left)
                          if os.path.isdir(os.path.join(left, name))], [])

    def output(self, script):
        result = self.session.exec(shell(script), None)
        self.assertTrue(result.get_success(), result.get_stderr().get_data())
        return result.get_stdout().get_data()

    def assert_fails(self, domain, code, function, *arguments):
        with self.assertRaises(GLib.Error) as caught:
            function(*arguments)
        error = caught.exception
        self.assertTrue(error.matches(domain, code), f"{error.domain} {error.code} {error.message}")
        return error

    def test_exec(self):
        self.assertEqual(self.output("pwd; echo $GREETING"), self.work.encode() + b"\nhello\n")
        result = wait(self.session, "exec", shell("echo out; echo err >&2; exit 7"), None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.EXITED)
        self.assertEqual(result.get_exit_code(), 7)
        self.assertEqual(result.get_stdout().get_data(), b"out\n")
        self.assertEqual(result.get_stderr().get_data(), b"err\n")
        result = self.session.exec(shell("kill -SEGV $$"), None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.SIGNALLED)
        self.assertEqual(result.get_signal(), 11)

    def test_confined(self):
        outside = os.path.join(self.base, "outside")
        self.session.exec(Sbx.Command.new(["touch", outside]), None)
        self.assertFalse(os.path.exists(outside))
        result = self.session.exec(Sbx.Command.new(["touch", "/usr/outside"]), None)
        self.assertFalse(result.get_success())
        self.output("echo text > made")
        with open(os.path.join(self.work, "made"), encoding="ascii") as made:
            self.assertEqual(made.read(), "text\n")

    def test_bytes(self):
        argument = os.fsdecode(b"n\xff\n")
        command = Sbx.Command.new(["printf", "%s", argument])
        self.assertEqual(self.session.exec(command, None).get_stdout().get_data(), b"n\xff\n")
        command = Sbx.Command.new(["cat"])
        command.set_stdin_bytes(GLib.Bytes.new(bytes(range(256)) * 1024))
        result = self.session.exec(command, None)
        self.assertEqual(result.get_stdout().get_data(), bytes(range(256)) * 1024)

    def test_as_it_comes(self):
        command = shell("echo one; read x; echo $x")
        command.set_stdin(Sbx.Stdin.PIPE)
        process = self.session.create_process(command)
        seen = []
        process.connect("started", lambda _process: seen.append("started"))
        process.connect("stdout", lambda _process, data: seen.append(data.get_data()))
        process.connect("exited", lambda _process, result: seen.append(result.get_exit_code()))
        self.assertTrue(wait(process, "start", None))
        iterate_until(lambda: len(seen) == 2)
        self.assertEqual(process.props.state, Sbx.ProcessState.RUNNING)
        process.get_stdin_pipe().write_all(b"two\n", None)
        self.assertTrue(wait(process, "wait", None).get_success())
        self.assertEqual(seen, ["started", b"one\n", b"two\n", 0])

    def test_pipe(self):
        process = self.session.create_process(shell("head -c 3000000 /dev/zero"))
        pipe = process.get_stdout_pipe()
        process.start(None)
        received = 0
        while data := pipe.read_bytes(65536, None).get_data():
            received += len(data)
        self.assertEqual(received, 3000000)
        self.assertTrue(process.wait(None).get_success())

    def test_cancel(self):
        process = self.session.create_process(shell("sleep 1000 & echo ready; sleep 1000"))
        cancellable = Gio.Cancellable()
        process.connect("stdout", lambda _process, _data: cancellable.cancel())
        box = []
        process.run_async(cancellable, lambda _object, result: box.append(result))
        iterate_until(lambda: box)
        self.assert_fails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED, process.run_finish,
                          box[0])
        self.assertNotIn(b"sleep", self.output("cat /proc/[0-9]*/comm"))

    def test_timeout(self):
        command = shell("trap '' TERM; sleep 1000 & wait")
        command.set_timeout(100)
        result = self.session.exec(command, None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.TIMED_OUT)
        self.assertNotIn(b"sleep", self.output("cat /proc/[0-9]*/comm"))

    def test_kill(self):
        process = self.session.create_process(shell("trap 'exit 5' TERM; echo ready; "
                                                    "while :; do sleep 0.01; done"))
        process.connect("stdout", lambda _process, _data: process.kill(15))
        self.assertEqual(process.run(None).get_exit_code(), 5)

    def test_terminal(self):
        command = shell("stty -echo; stty size; read x; echo got $x; stty size")
        command.set_terminal(True)
        command.set_terminal_size(11, 22)
        process = self.session.create_process(command)
        terminal = process.get_terminal()
        self.assertTrue(process.start(None))
        stream = terminal.get_input_stream()
        shown = b""
        while b"11 22" not in shown:
            shown += stream.read_bytes(1024, None).get_data()
        self.assertTrue(terminal.resize(33, 44))
        terminal.get_output_stream().write_all(b"typed\n", None)
        while data := stream.read_bytes(1024, None).get_data():
            shown += data
        self.assertEqual(shown, b"11 22\r\ngot typed\r\n33 44\r\n")
        self.assertTrue(process.wait(None).get_success())

    def test_not_started(self):
        result = self.session.exec(Sbx.Command.new(["no-such-program"]), None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.NOT_STARTED)
        self.assertEqual(result.get_not_started(), Sbx.NotStarted.NOT_FOUND)
        self.assertIn("no-such-program", result.get_message())
        self.assert_fails(Sbx.error_quark(), Sbx.Error.NOT_FOUND, self.session.spawn,
                          Sbx.Command.new(["no-such-program"]), None)

    def test_many(self):
        boxes = []
        for i in range(20):
            self.session.exec_async(shell(f"echo {i}"), None,
                                    lambda _object, result, i: boxes.append((i, result)), i)
        iterate_until(lambda: len(boxes) == 20)
        for i, result in boxes:
            result = self.session.exec_finish(result)
            self.assertEqual(result.get_stdout().get_data(), f"{i}\n".encode())

    def test_files(self):
        session = self.session
        content = GLib.Bytes.new(bytes(range(256)))
        name = os.fsdecode(b"a\xff")
        self.assertTrue(session.write_file("sub/" + name, content, 0o640, None))
        self.assertEqual(os.stat(os.path.join(self.work, "sub", name)).st_mode & 0o777, 0o640)
        self.assertTrue(wait(session, "write_file", "sub/b", GLib.Bytes.new(b""), 0o600, None))
        self.assertEqual(session.read_file("sub/" + name, 0, None).get_data(), content.get_data())
        self.assert_fails(Sbx.error_quark(), Sbx.Error.TOO_LARGE, session.read_file,
                          "sub/" + name, 255, None)

        infos = wait(session, "list_dir", "sub", None)
        self.assertEqual([info.get_name() for info in infos], [name, "b"])
        self.assertEqual(infos.get_item(0).get_size(), 256)
        info = session.stat("sub", None)
        self.assertEqual(info.get_file_type(), Gio.FileType.DIRECTORY)

        self.assertTrue(session.create_dir_all("x/y/z", None))
        self.assertTrue(os.path.isdir(os.path.join(self.work, "x/y/z")))
        made = session.create_temp_dir("new-", None)
        self.assertEqual(self.output(f"test -d '{made}' && echo yes"), b"yes\n")
        self.assertTrue(session.remove("sub", None))
        self.assertTrue(session.remove("sub", None))
        self.assertFalse(os.path.exists(os.path.join(self.work, "sub")))
        self.assert_fails(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND, session.read_file,
                          "sub/a", 0, None)
        self.assert_fails(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND, session.stat, "sub",
                          None)

    def test_close_in_flight(self):
        session = self.provider.open(self.request, None)
        process = session.create_process(shell("echo ready; sleep 1000"))
        seen = []
        session.connect("closed", lambda _session, error: seen.append(("closed", error)))
        process.connect("stdout", lambda _process, _data:
                        session.close_async(None, lambda *_: seen.append("done")))
        process.connect("exited", lambda _process, _result: seen.append("exited"))
        process.start(None)
        iterate_until(lambda: "done" in seen)
        self.assertEqual(seen, ["exited", ("closed", None), "done"])
        self.assert_fails(Sbx.error_quark(), Sbx.Error.CLOSED, session.exec, shell("true"), None)

    def test_open_errors(self):
        reach = Sbx.Reach.new(os.path.join(self.base, "missing"))
        error = self.assert_fails(Sbx.error_quark(), Sbx.Error.NOT_FOUND, self.provider.open,
                                  Sbx.OpenRequest.new(reach), None)
        self.assertIn("missing", error.message)
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        self.assert_fails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED, self.provider.open,
                          self.request, cancellable)

    def test_plan(self):
        """What is explained is what the session that is open was made of."""
        reach = self.request.get_reach()
        plan = wait(self.provider, "explain", reach, None)
        self.assertEqual(list(plan.get_problems()), [])
        self.assertEqual(plan.get_cwd(), self.work)
        self.assertTrue(plan.get_reach().is_resolved())
        enforced = self.session.get_plan()

        def places(some):
            return [(entry.get_kind(), entry.get_path()) for entry in some]

        self.assertEqual(places(plan), places(enforced))
        self.assertIn((Sbx.PlanKind.WRITE, self.work), places(plan))
        entry, access = enforced.check_path(os.path.join(self.work, "new"))
        self.assertEqual(access, Sbx.PlanAccess.READ | Sbx.PlanAccess.WRITE | Sbx.PlanAccess.REPLACE)
        self.assertEqual(entry.get_source_path(), self.work)
        self.assertTrue(entry.get_reason())
        entry, access = plan.check_path("/etc/shadow")
        self.assertIsNone(entry)
        self.assertEqual(access, Sbx.PlanAccess.NONE)
        self.assertEqual(plan.check_domain("example.org"), (None, False))
        self.assertIn("entries", json.loads(plan.to_json().get_data()))

        reach.add_domain("*.example.org")
        plan = self.provider.explain(reach, None)
        entry, allowed = plan.check_domain("www.example.org")
        self.assertTrue(allowed)
        self.assertEqual(entry.get_domain(), "*.example.org")
        reach.add_read(os.path.join(self.base, "missing"))
        self.assert_fails(Sbx.error_quark(), Sbx.Error.NOT_FOUND, self.provider.explain, reach, None)

    def test_diagnose(self):
        findings = self.provider.diagnose(None)
        self.assertGreater(findings.get_n_items(), 0)
        self.assertTrue(all(isinstance(finding, Sbx.Finding) for finding in findings))
        # What is open is not for cleaning.
        self.provider.clean(False, None)
        self.assertEqual(self.output("echo alive"), b"alive\n")


if __name__ == "__main__":
    tap.main()
