#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Providers and sessions written in Python, and what their callers get, through the typelib alone."""

import gc
import os
import threading
import unittest
import weakref

import gi

gi.require_version("Sbx", "1")
from gi.repository import Gio, GLib, GObject, Sbx

import tap

DEADLINE_S = 30
ALL = (Sbx.Capabilities.EXEC | Sbx.Capabilities.SPAWN | Sbx.Capabilities.STDIN |
       Sbx.Capabilities.SIGNALS | Sbx.Capabilities.TERMINAL | Sbx.Capabilities.FILES |
       Sbx.Capabilities.LISTING | Sbx.Capabilities.RANGES | Sbx.Capabilities.MOVING)


# A whole provider, as in the manual.

class EchoSession(Sbx.Session):
    def do_handle_exec(self, invocation):
        argv = invocation.get_command().get_argv()
        invocation.started(None)
        invocation.emit_stdout(GLib.Bytes.new(os.fsencode(" ".join(argv)) + b"\n"))
        invocation.return_exited(len(argv))
        return True

    def do_handle_close(self, invocation):
        invocation.return_done()
        return True


class EchoProvider(GObject.Object, Sbx.Provider):
    def do_handle_open(self, request, invocation):
        invocation.return_session(EchoSession(id="echo", cwd=request.get_reach().get_cwd()))
        return True


class TickSession(Sbx.Session):
    """Writes a line again and again until it is cancelled, and says then that it was killed."""

    def do_handle_exec(self, invocation):
        def tick():
            if invocation.is_answered():
                return GLib.SOURCE_REMOVE
            invocation.emit_stdout(GLib.Bytes.new(b"tick\n"))
            return GLib.SOURCE_CONTINUE

        invocation.started("ticker")
        invocation.get_cancellable().connect(lambda *_: invocation.return_signalled(9, False))
        GLib.timeout_add(1, tick)
        return True


class MemorySession(Sbx.Session):
    """Has its files in a dictionary."""

    def __init__(self):
        super().__init__(cwd="/memory", capabilities=ALL)
        self.files = {}
        self.modes = {}

    def missing(self, invocation, path):
        invocation.return_gerror(GLib.Error(f"{path!r} is not there", "g-io-error-quark",
                                            Gio.IOErrorEnum.NOT_FOUND))
        return True

    def info(self, path):
        info = Gio.FileInfo()
        info.set_name(path)
        info.set_size(len(self.files[path]))
        info.set_file_type(Gio.FileType.REGULAR)
        return info

    def do_handle_read_file(self, path, max_size, invocation):
        if path not in self.files:
            return self.missing(invocation, path)
        invocation.return_bytes(GLib.Bytes.new(self.files[path]))
        return True

    def do_handle_write_file(self, path, content, mode, invocation):
        self.files[path] = content.get_data()
        self.modes[path] = mode
        invocation.return_done()
        return True

    def do_handle_create_dir_all(self, path, invocation):
        self.modes[path] = "directory"
        invocation.return_done()
        return True

    def do_handle_create_temp_dir(self, prefix, invocation):
        invocation.return_path(f"/memory/{prefix}1")
        return True

    def do_handle_remove(self, path, invocation):
        self.files.pop(path, None)
        invocation.return_done()
        return True

    def do_handle_list_dir(self, path, invocation):
        infos = Gio.ListStore.new(Gio.FileInfo)
        for name in sorted(self.files, key=os.fsencode):
            infos.append(self.info(name))
        invocation.return_infos(infos)
        return True

    def do_handle_stat(self, path, invocation):
        if path not in self.files:
            return self.missing(invocation, path)
        invocation.return_info(self.info(path))
        return True

    def do_handle_read_range(self, path, offset, length, invocation):
        if path not in self.files:
            return self.missing(invocation, path)
        content = self.files[path]
        invocation.return_range(GLib.Bytes.new(content[offset:offset + length]), len(content))
        return True

    def do_handle_write_range(self, path, content, offset, truncate, mode, invocation):
        old = self.files.get(path, b"")
        end = offset + content.get_size()
        new = old[:offset].ljust(offset, b"\0") + content.get_data()
        self.files[path] = new if truncate else new + old[end:]
        self.modes.setdefault(path, mode)
        invocation.return_done()
        return True

    def do_handle_rename(self, path, new_path, invocation):
        self.files[new_path] = self.files.pop(path)
        invocation.return_done()
        return True

    def do_handle_copy(self, path, new_path, invocation):
        self.files[new_path] = self.files[path]
        invocation.return_done()
        return True


class KeepSession(Sbx.Session):
    """Keeps every call for the test to answer."""

    def __init__(self, **properties):
        super().__init__(**{"capabilities": ALL, **properties})
        self.kept = None
        self.all = []

    def keep(self, *arguments):
        self.kept = arguments[-1]
        self.all.append(self.kept)
        return True

    do_handle_exec = do_handle_close = do_handle_read_file = do_handle_write_file = keep
    do_handle_create_dir_all = do_handle_create_temp_dir = do_handle_remove = keep
    do_handle_list_dir = do_handle_stat = do_handle_read_range = keep
    do_handle_write_range = do_handle_rename = do_handle_copy = keep


class RaiseSession(Sbx.Session):
    def __init__(self):
        super().__init__(capabilities=ALL)

    def fail_to_handle(self, *_arguments):
        raise RuntimeError("this exception is part of the test")

    do_handle_exec = do_handle_close = do_handle_read_file = do_handle_write_file = fail_to_handle
    do_handle_create_dir_all = do_handle_create_temp_dir = do_handle_remove = fail_to_handle
    do_handle_list_dir = do_handle_stat = do_handle_read_range = fail_to_handle
    do_handle_write_range = do_handle_rename = do_handle_copy = fail_to_handle


class DropSession(Sbx.Session):
    def __init__(self):
        super().__init__(capabilities=ALL)

    def drop(self, *_arguments):
        return True

    do_handle_exec = do_handle_close = do_handle_read_file = do_handle_write_file = drop
    do_handle_create_dir_all = do_handle_create_temp_dir = do_handle_remove = drop
    do_handle_list_dir = do_handle_stat = do_handle_read_range = drop
    do_handle_write_range = do_handle_rename = do_handle_copy = drop


class RaiseProvider(GObject.Object, Sbx.Provider):
    def do_handle_open(self, request, invocation):
        raise RuntimeError("this exception is part of the test")


class DropProvider(GObject.Object, Sbx.Provider):
    def do_handle_open(self, request, invocation):
        return True


class BareProvider(GObject.Object, Sbx.Provider):
    pass


class BareSession(Sbx.Session):
    pass


class RelaySession(Sbx.Session):
    """Hands its commands to another session and waits for it, within its function."""

    def __init__(self, inner):
        super().__init__(capabilities=inner.props.capabilities)
        self.inner = inner

    def do_handle_exec(self, invocation):
        result = self.inner.exec(invocation.get_command(), invocation.get_cancellable())
        invocation.started(None)
        invocation.emit_stdout(result.get_stdout())
        invocation.return_exited(result.get_exit_code())
        return True


def iterate_until(condition):
    context = GLib.MainContext.default()
    ran_out = []
    deadline = GLib.timeout_add_seconds(DEADLINE_S, lambda: ran_out.append(True) or True)
    while not condition():
        if ran_out:
            raise AssertionError(f"nothing happened in {DEADLINE_S} s")
        context.iteration(True)
    GLib.source_remove(deadline)


def call(start, *arguments, cancellable=None):
    """Starts an async method; gives a list that will have its result."""
    box = []
    returned = []

    def done(_object, result):
        assert returned, "called back before the call had returned"
        assert not box, "called back twice"
        box.append(result)

    start(*arguments, cancellable, done)
    returned.append(True)
    return box


def finish(box, finish_function):
    iterate_until(lambda: box)
    return finish_function(box[0])


def request(cwd="/work"):
    return Sbx.OpenRequest.new(Sbx.Reach.new(cwd))


def data(text):
    return GLib.Bytes.new(text)


# Every verb of a session in both its forms: name, arguments.
VERBS = [
    ("exec", (Sbx.Command.new(["true"]),)),
    ("spawn", (Sbx.Command.new(["true"]),)),
    ("read_file", ("file", 0)),
    ("write_file", ("file", data(b"content"), 0o644)),
    ("create_dir_all", ("dir",)),
    ("create_temp_dir", ("dir-",)),
    ("remove", ("file",)),
    ("list_dir", (".",)),
    ("stat", ("file",)),
    ("read_range", ("file", 0, 7)),
    ("write_range", ("file", data(b"content"), 0, False, 0o644)),
    ("rename", ("file", "other")),
    ("copy", ("file", "other")),
    ("close", ()),
]


class CoreTest(unittest.TestCase):
    def assert_fails(self, code, function, *arguments, domain=Sbx.error_quark):
        with self.assertRaises(GLib.Error) as caught:
            function(*arguments)
        error = caught.exception
        quark = domain() if callable(domain) else domain
        self.assertTrue(error.matches(quark, code), f"{error.domain} {error.code} {error.message}")
        return error

    def assert_cancelled(self, function, *arguments):
        self.assert_fails(Gio.IOErrorEnum.CANCELLED, function, *arguments,
                          domain=Gio.io_error_quark())


class Callers(CoreTest):
    def test_sync(self):
        session = EchoProvider().open(request("/some/where"), None)
        self.assertIsInstance(session, EchoSession)
        self.assertEqual(session.get_id(), "echo")
        self.assertEqual(session.get_cwd(), "/some/where")
        result = session.exec(Sbx.Command.new(["echo", "a", "b"]), None)
        self.assertEqual(result.get_stdout().get_data(), b"echo a b\n")
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.EXITED)
        self.assertEqual(result.get_exit_code(), 3)
        self.assertFalse(result.get_success())
        self.assertTrue(session.close(None))
        self.assertEqual(session.props.state, Sbx.SessionState.CLOSED)

    def test_async(self):
        provider = EchoProvider()
        session = finish(call(provider.open_async, request()), provider.open_finish)
        command = Sbx.Command.new(["echo"])
        result = finish(call(session.exec_async, command), session.exec_finish)
        self.assertEqual(result.get_stdout().get_data(), b"echo\n")
        process = session.create_process(command)
        result = finish(call(process.run_async), process.run_finish)
        self.assertEqual(result.get_exit_code(), 1)
        self.assertTrue(finish(call(session.close_async), session.close_finish))

    def test_signals(self):
        session = EchoProvider().open(request(), None)
        seen = []
        session.connect("notify::state", lambda s, _p: seen.append(s.props.state.value_nick))
        session.connect("closed", lambda _s, error: seen.append(("closed", error)))

        def created(_session, process):
            seen.append("created")
            process.connect("started", lambda _p: seen.append("started"))
            process.connect("stdout", lambda _p, bytes: seen.append(bytes.get_data()))
            process.connect("exited", lambda _p, result: seen.append(result.get_exit_code()))

        session.connect("process-created", created)
        session.exec(Sbx.Command.new(["echo", "x"]), None)
        session.close(None)
        self.assertEqual(seen, ["created", "started", b"echo x\n", 2, "closing", "closed",
                                ("closed", None)])

    def test_errors(self):
        error = self.assert_fails(Sbx.Error.INVALID, EchoProvider().open, request("relative"), None)
        self.assertEqual(error.domain, "sbx-error-quark")
        self.assertIn("relative", error.message)
        session = EchoSession()
        self.assert_fails(Sbx.Error.INVALID, session.exec, Sbx.Command.new([]), None)
        self.assert_fails(Sbx.Error.UNSUPPORTED, session.read_file, "a", 0, None)
        session.close(None)
        self.assert_fails(Sbx.Error.CLOSED, session.exec, Sbx.Command.new(["a"]), None)

    def test_flags(self):
        session = EchoSession(capabilities=Sbx.Capabilities.EXEC | Sbx.Capabilities.FILES)
        self.assertTrue(session.get_capabilities() & Sbx.Capabilities.FILES)
        self.assertFalse(session.props.capabilities & Sbx.Capabilities.TERMINAL)
        self.assertEqual(EchoSession().get_capabilities(), Sbx.Capabilities.EXEC)
        self.assertEqual(len(EchoSession().get_id()), 36)

    def test_other_thread(self):
        session = EchoSession()
        failures = []

        def elsewhere():
            try:
                session.exec(Sbx.Command.new(["a"]), None)
            except GLib.Error as error:
                failures.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        self.assertEqual(len(failures), 1)
        self.assertTrue(failures[0].matches(Sbx.error_quark(), Sbx.Error.BUSY))


class Values(CoreTest):
    NOT_UTF8 = os.fsdecode(b"n\xff\xfe")

    def test_not_utf8(self):
        self.assertEqual(request("/" + self.NOT_UTF8).get_reach().get_cwd(), "/" + self.NOT_UTF8)
        result = EchoSession().exec(Sbx.Command.new(["echo", self.NOT_UTF8]), None)
        self.assertEqual(result.get_stdout().get_data(), b"echo n\xff\xfe\n")

    def test_reach(self):
        reach = Sbx.Reach.new("/work")
        reach.add_read("/usr/" + self.NOT_UTF8)
        reach.add_write("/work")
        reach.set_variable("NAME", self.NOT_UTF8)
        reach.set_variable("GONE", "1")
        reach.set_variable("GONE", None)
        self.assertEqual(reach.get_read(), ["/usr/" + self.NOT_UTF8])
        self.assertEqual(reach.get_write(), ["/work"])
        self.assertEqual(reach.get_environment(), ["NAME=" + self.NOT_UTF8])
        self.assertTrue(reach.equal(reach.copy()))
        self.assertTrue(reach.validate())

    def test_command(self):
        command = Sbx.Command.new(["a", "", self.NOT_UTF8])
        self.assertEqual(command.get_argv(), ["a", "", self.NOT_UTF8])
        self.assertIsNone(command.get_cwd())
        command.set_stdin_bytes(data(b"\0\1"))
        self.assertEqual(command.get_stdin(), Sbx.Stdin.BYTES)
        self.assertEqual(command.get_stdin_bytes().get_data(), b"\0\1")
        self.assertEqual(command.get_collect_limit(), Sbx.COMMAND_DEFAULT_COLLECT_LIMIT)
        command.set_terminal(True)
        self.assert_fails(Sbx.Error.INVALID, command.validate)

    def test_nul(self):
        with self.assertRaises((TypeError, ValueError)):
            Sbx.Command.new(["a\0b"])


class Implementations(CoreTest):
    def test_streaming(self):
        session = TickSession()
        process = session.create_process(Sbx.Command.new(["tick"]))
        cancellable = Gio.Cancellable()
        seen = []

        def tick(_process, bytes):
            seen.append(bytes.get_data())
            if len(seen) == 5:
                cancellable.cancel()

        process.connect("stdout", tick)
        box = call(process.run_async, cancellable=cancellable)
        iterate_until(lambda: len(seen) == 2)
        self.assertEqual(process.props.state, Sbx.ProcessState.RUNNING)
        self.assertEqual(process.get_id(), "ticker")
        self.assertFalse(box)
        self.assert_cancelled(finish, box, process.run_finish)
        self.assertEqual(set(seen), {b"tick\n"})
        self.assertEqual(process.get_result().get_outcome(), Sbx.ExecOutcome.SIGNALLED)
        self.assertEqual(process.get_result().get_signal(), 9)

    def test_timeout(self):
        command = Sbx.Command.new(["tick"])
        command.set_timeout(20)
        result = TickSession().exec(command, None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.TIMED_OUT)

    def test_later(self):
        session = KeepSession()
        box = call(session.exec_async, Sbx.Command.new(["a"]))
        while GLib.MainContext.default().iteration(False):
            pass
        self.assertFalse(box)
        session.kept.return_not_started(Sbx.NotStarted.NOT_FOUND, 2, "no such program")
        result = finish(box, session.exec_finish)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.NOT_STARTED)
        self.assertEqual(result.get_not_started(), Sbx.NotStarted.NOT_FOUND)
        self.assertEqual(result.get_errno(), 2)
        self.assertEqual(result.get_message(), "no such program")

    def test_exceptions(self):
        self.assert_fails(Sbx.Error.UNANSWERED, RaiseProvider().open, request(), None)
        for name, arguments in VERBS:
            with self.subTest(name):
                session = RaiseSession()
                self.assert_fails(Sbx.Error.UNANSWERED, getattr(session, name), *arguments, None)
                session = RaiseSession()
                box = call(getattr(session, name + "_async"), *arguments)
                self.assert_fails(Sbx.Error.UNANSWERED, finish, box,
                                  getattr(session, name + "_finish"))

    def test_dropped(self):
        self.assert_fails(Sbx.Error.UNANSWERED, DropProvider().open, request(), None)
        for name, arguments in VERBS:
            with self.subTest(name):
                session = DropSession()
                self.assert_fails(Sbx.Error.UNANSWERED, getattr(session, name), *arguments, None)

    def test_dropped_by_collector(self):
        for name, arguments in VERBS:
            with self.subTest(name):
                session = KeepSession()
                box = call(getattr(session, name + "_async"), *arguments)
                ring = session.all
                ring.append(ring)
                session.kept = session.all = None
                del ring
                gc.collect()
                self.assertFalse(box)
                self.assert_fails(Sbx.Error.UNANSWERED, finish, box,
                                  getattr(session, name + "_finish"))

    def test_missing(self):
        self.assert_fails(Sbx.Error.UNSUPPORTED, BareProvider().open, request(), None)
        for name, arguments in VERBS:
            with self.subTest(name):
                session = BareSession(capabilities=ALL)
                if name == "close":
                    self.assertTrue(session.close(None))
                else:
                    self.assert_fails(Sbx.Error.UNSUPPORTED, getattr(session, name), *arguments,
                                      None)

    def test_cancel(self):
        for name, arguments in VERBS[:-1]:
            with self.subTest(name):
                session = KeepSession()
                cancellable = Gio.Cancellable()
                box = call(getattr(session, name + "_async"), *arguments, cancellable=cancellable)
                cancellable.cancel()
                iterate_until(session.kept.get_cancellable().is_cancelled)
                self.assertFalse(box)
                session.kept.return_error(Sbx.Error.FAILED, "ended")
                self.assert_cancelled(finish, box, getattr(session, name + "_finish"))

    def test_relay(self):
        result = RelaySession(EchoSession()).exec(Sbx.Command.new(["a", "b"]), None)
        self.assertEqual(result.get_stdout().get_data(), b"a b\n")
        self.assertEqual(result.get_exit_code(), 2)

    def test_kill(self):
        session = KeepSession()
        process = session.create_process(Sbx.Command.new(["a"]))
        box = call(process.run_async)
        received = []

        def killed(invocation, number):
            received.append(number)
            if number == 15:
                invocation.return_signalled(number, False)
            return number == 15

        self.assert_fails(Sbx.Error.UNSUPPORTED, process.kill, 10)
        session.kept.connect("kill", killed)
        self.assert_fails(Sbx.Error.UNSUPPORTED, process.kill, 10)
        self.assertTrue(process.kill(15))
        self.assertEqual(received, [10, 15])
        self.assertEqual(finish(box, process.run_finish).get_signal(), 15)

    def test_terminal(self):
        session = KeepSession()
        command = Sbx.Command.new(["a"])
        command.set_terminal(True)
        process = session.create_process(command)
        terminal = process.get_terminal()
        box = call(process.run_async)
        sizes = []
        session.kept.connect("resize", lambda _i, rows, columns: sizes.append((rows, columns))
                             or True)
        session.kept.started(None)
        self.assertEqual(terminal.steal_fd(), -1)
        self.assertTrue(terminal.resize(10, 20))
        self.assertEqual(sizes, [(10, 20)])
        terminal.get_output_stream().write_all(b"typed", None)
        self.assertEqual(session.kept.get_stdin().read_bytes(16, None).get_data(), b"typed")
        session.kept.emit_stdout(data(b"shown"))
        self.assertEqual(terminal.get_input_stream().read_bytes(16, None).get_data(), b"shown")
        session.kept.return_exited(0)
        finish(box, process.run_finish)
        self.assertEqual(terminal.get_input_stream().read_bytes(16, None).get_size(), 0)

    def test_pipes(self):
        session = KeepSession()
        command = Sbx.Command.new(["a"])
        command.set_stdin(Sbx.Stdin.PIPE)
        process = session.create_process(command)
        pipe = process.get_stdout_pipe()
        box = call(process.run_async)
        credit = []
        session.kept.connect("credit", lambda invocation: credit.append(invocation.get_credit()))
        process.get_stdin_pipe().write_all(b"in", None)
        process.get_stdin_pipe().close(None)
        self.assertEqual(session.kept.get_stdin().read_bytes(16, None).get_data(), b"in")
        self.assertEqual(session.kept.get_stdin().read_bytes(16, None).get_size(), 0)

        size = 3 * 1024 * 1024
        session.kept.started(None)
        session.kept.emit_stdout(data(bytes(size)))
        self.assertLess(session.kept.get_credit(), 0)
        received = 0
        while received < size:
            iterate_until(pipe.is_readable)
            received += pipe.read_bytes(65536, None).get_size()
            while GLib.MainContext.default().iteration(False):
                pass
        self.assertEqual(received, size)
        self.assertEqual(credit, [1024 * 1024])
        session.kept.return_exited(0)
        self.assertEqual(finish(box, process.run_finish).get_stdout().get_size(), 0)

    def test_fail(self):
        session = KeepSession()
        closed = []
        session.connect("closed", lambda _session, error: closed.append(error))
        running = call(session.exec_async, Sbx.Command.new(["a"]))
        reading = call(session.read_file_async, "a", 0)
        session.fail(GLib.Error("it fell over", "sbx-error-quark", Sbx.Error.LOST))
        self.assertEqual(session.get_state(), Sbx.SessionState.LOST)
        self.assertTrue(closed[0].matches(Sbx.error_quark(), Sbx.Error.LOST))
        self.assertEqual(session.get_failure().message, "it fell over")
        result = finish(running, session.exec_finish)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.LOST)
        error = self.assert_fails(Sbx.Error.LOST, finish, reading, session.read_file_finish)
        self.assertEqual(error.message, "it fell over")

    def test_late_session(self):
        class LateProvider(GObject.Object, Sbx.Provider):
            def do_handle_open(self, _request, invocation):
                self.kept = invocation
                return True

        provider = LateProvider()
        session = KeepSession()
        cancellable = Gio.Cancellable()
        box = call(provider.open_async, request(), cancellable=cancellable)
        cancellable.cancel()
        iterate_until(provider.kept.get_cancellable().is_cancelled)
        # It takes no notice, and its caller is told after a while.
        self.assert_cancelled(finish, box, provider.open_finish)
        provider.kept.return_session(session)
        self.assertIsInstance(session.kept, Sbx.CloseInvocation)
        session.kept.return_done()
        iterate_until(lambda: session.props.state == Sbx.SessionState.CLOSED)

    def test_nothing_is_kept(self):
        session = EchoProvider().open(request(), None)
        session.exec(Sbx.Command.new(["a"]), None)
        gone = weakref.ref(session)
        del session
        gc.collect()
        self.assertIsNone(gone())


class Files(CoreTest):
    def test_all(self):
        session = MemorySession()
        name = "b\n\u6f22"
        self.assertTrue(session.write_file(name, data(b"one\0two"), 0o640, None))
        self.assertTrue(session.write_file("a", data(b""), 0o600, None))
        self.assertEqual(session.modes, {name: 0o640, "a": 0o600})
        self.assertEqual(session.read_file(name, 0, None).get_data(), b"one\0two")
        self.assert_fails(Sbx.Error.TOO_LARGE, session.read_file, name, 6, None)
        self.assertEqual(session.stat(name, None).get_size(), 7)

        infos = session.list_dir(".", None)
        self.assertEqual(infos.get_n_items(), 2)
        self.assertEqual([info.get_size() for info in infos], [0, 7])
        self.assertEqual(infos.get_item(0).get_name(), "a")
        self.assertEqual(infos.get_item(1).get_file_type(), Gio.FileType.REGULAR)

        self.assertTrue(session.create_dir_all("x/y", None))
        self.assertEqual(session.create_temp_dir("new-", None), "/memory/new-1")
        self.assert_fails(Sbx.Error.INVALID, session.create_temp_dir, "new/", None)
        # A path reaches an implementation in Python only as text.
        self.assert_fails(Sbx.Error.UNANSWERED, session.remove, os.fsdecode(b"b\xff"), None)
        self.assertTrue(session.remove(name, None))
        self.assert_fails(Gio.IOErrorEnum.NOT_FOUND, session.read_file, name, 0, None,
                          domain=Gio.io_error_quark())
        self.assert_fails(Gio.IOErrorEnum.NOT_FOUND, session.stat, name, None,
                          domain=Gio.io_error_quark())

    def test_async(self):
        session = MemorySession()
        finish(call(session.write_file_async, "a", data(b"text"), 0o600),
               session.write_file_finish)
        bytes = finish(call(session.read_file_async, "a", 0), session.read_file_finish)
        self.assertEqual(bytes.get_data(), b"text")
        infos = finish(call(session.list_dir_async, "."), session.list_dir_finish)
        self.assertIsInstance(infos, Gio.ListModel)

    def test_ranges(self):
        session = MemorySession()
        self.assertTrue(session.write_range("a", data(b"cd"), 2, False, 0o600, None))
        self.assertEqual(session.files, {"a": b"\0\0cd"})
        bytes, size = session.read_range("a", 1, 2, None)
        self.assertEqual((bytes.get_data(), size), (b"\0c", 4))
        bytes, size = session.read_range("a", 2**40, 2, None)
        self.assertEqual((bytes.get_size(), size), (0, 4))
        finish(call(session.write_range_async, "a", data(b"ab"), 0, True, 0),
               session.write_range_finish)
        bytes, size = finish(call(session.read_range_async, "a", 0, 2**63), session.read_range_finish)
        self.assertEqual((bytes.get_data(), size), (b"ab", 2))
        self.assert_fails(Sbx.Error.INVALID, session.read_range, "a", 2**64 - 1, 1, None)
        self.assertTrue(session.copy("a", "b", None))
        self.assertTrue(session.rename("a", "c", None))
        self.assertEqual(session.files, {"b": b"ab", "c": b"ab"})
        self.assertEqual(session.modes, {"a": 0o600})


if __name__ == "__main__":
    tap.main()
