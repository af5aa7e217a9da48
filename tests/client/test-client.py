#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a script does with a provider that is another program, through the typelib alone."""

import os
import shutil
import tempfile
import unittest

import gi

gi.require_version("Sbx", "1")
from gi.repository import Gio, GLib, Sbx

import tap

FAKE = os.environ["SBX_FAKE_PROVIDER"]
OURS = os.environ["SBX_PROVIDER_BWRAP"]


def data(content):
    return GLib.Bytes.new(content)


def wait_for(condition, deadline_s=30):
    end = GLib.get_monotonic_time() + deadline_s * 1000000
    while not condition():
        if GLib.get_monotonic_time() > end:
            raise AssertionError("it never came")
        GLib.MainContext.default().iteration(False)


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.workspace = os.path.realpath(tempfile.mkdtemp(prefix="sbx-client-"))
        self.addCleanup(shutil.rmtree, self.workspace, ignore_errors=True)

    def fake(self, options="plain"):
        client = Sbx.ProviderClient.new([FAKE, options, "serve"])
        client.set_provider_name("fake")
        return client

    def ours(self):
        return Sbx.ProviderClient.new([OURS, "serve"])

    def clients(self):
        """The same against a plain provider and against ours."""
        for name, client in (("fake", self.fake()), ("ours", self.ours())):
            with self.subTest(name):
                yield client
                self.assertTrue(client.close(None))

    def request(self):
        return Sbx.OpenRequest.new_for_profile(self.workspace, "default")

    def test_session(self):
        for client in self.clients():
            session = client.open(self.request(), None)
            self.assertEqual(client.get_state(), Sbx.ProviderClientState.READY)
            result = session.exec(Sbx.Command.new(["sh", "-c", "echo out; echo err >&2; exit 5"]),
                                  None)
            self.assertEqual(result.get_exit_code(), 5)
            self.assertEqual(result.get_stdout().get_data(), b"out\n")
            self.assertEqual(result.get_stderr().get_data(), b"err\n")
            self.assertTrue(session.close(None))
            self.assertEqual(session.get_state(), Sbx.SessionState.CLOSED)

    def test_live(self):
        for client in self.clients():
            session = client.open(self.request(), None)
            script = "echo first; while ! test -e go; do sleep 0.01; done; echo second"
            process = session.create_process(Sbx.Command.new(["sh", "-c", script]))
            seen = []
            done = []
            process.connect("stdout", lambda _process, bytes: seen.append(bytes.get_data()))
            process.run_async(None, lambda _source, result: done.append(result))
            wait_for(lambda: seen)
            self.assertEqual(seen, [b"first\n"])
            self.assertFalse(done)
            with open(os.path.join(self.workspace, "go"), "w", encoding="utf-8"):
                pass
            wait_for(lambda: done)
            self.assertTrue(process.run_finish(done[0]).get_success())
            self.assertEqual(b"".join(seen), b"first\nsecond\n")
            os.unlink(os.path.join(self.workspace, "go"))
            session.close(None)

    def test_binary(self):
        content = bytes(range(256)) * 1000
        for client in self.clients():
            session = client.open(self.request(), None)
            self.assertTrue(session.write_file("some/file", data(content), 0, None))
            self.assertEqual(session.read_file("some/file", 0, None).get_data(), content)
            result = session.exec(Sbx.Command.new(["cat", "some/file"]), None)
            self.assertEqual(result.get_stdout().get_data(), content)
            session.close(None)

    def test_cancel(self):
        for client in self.clients():
            session = client.open(self.request(), None)
            client.set_grace(5000)
            cancellable = Gio.Cancellable()
            process = session.create_process(Sbx.Command.new(["sh", "-c", "echo now; sleep 0.5"]))
            process.connect("stdout", lambda *_: cancellable.cancel())
            done = []
            process.run_async(cancellable, lambda _source, result: done.append(result))
            wait_for(lambda: done)
            with self.assertRaises(GLib.Error) as caught:
                process.run_finish(done[0])
            self.assertTrue(caught.exception.matches(Gio.io_error_quark(),
                                                     Gio.IOErrorEnum.CANCELLED))
            self.assertTrue(session.exec(Sbx.Command.new(["true"]), None).get_success())
            session.close(None)

    def test_retryable(self):
        for options, code, start in (("fail=open", Sbx.Error.PROVIDER, "out_of_order: "),
                                     ("fail=open,retryable", Sbx.Error.PROVIDER_RETRYABLE,
                                      "ssh_not_ready: ")):
            client = self.fake(options)
            with self.assertRaises(GLib.Error) as caught:
                client.open(self.request(), None)
            self.assertTrue(caught.exception.matches(Sbx.error_quark(), code))
            self.assertTrue(caught.exception.message.startswith(start))
            client.close(None)

    def test_broken(self):
        client = self.fake("die-before=read_file,status=7,say=farewell")
        closed = []
        client.connect("closed", lambda _client, error: closed.append(error))
        session = client.open(self.request(), None)
        with self.assertRaises(GLib.Error) as caught:
            session.read_file("a", 0, None)
        self.assertTrue(caught.exception.matches(Sbx.error_quark(), Sbx.Error.LOST))
        self.assertIn("farewell", caught.exception.message)
        wait_for(lambda: closed)
        self.assertTrue(closed[0].matches(Sbx.error_quark(), Sbx.Error.LOST))
        self.assertEqual(client.get_state(), Sbx.ProviderClientState.BROKEN)
        self.assertEqual(session.get_state(), Sbx.SessionState.LOST)

    def test_log(self):
        client = self.fake("before=log")
        said = []
        client.connect("log", lambda _client, source, text: said.append((source, text)))
        session = client.open(self.request(), None)
        self.assertTrue(session.exec(Sbx.Command.new(["true"]), None).get_success())
        self.assertEqual([source for source, _ in said], ["protocol"])
        self.assertEqual(client.get_n_dropped(), 1)
        client.close(None)

    def test_queue(self):
        client = self.fake()
        session = client.open(self.request(), None)
        done = []
        for _ in range(5):
            session.exec_async(Sbx.Command.new(["true"]), None,
                               lambda source, result: done.append(source.exec_finish(result)))
        self.assertEqual(client.get_n_in_flight() + client.get_n_queued(), 5)
        self.assertEqual(len(client.dup_calls()), 5)
        wait_for(lambda: len(done) == 5)
        self.assertEqual(client.get_n_queued(), 0)
        client.close(None)

    def test_environment(self):
        for client in (self.fake(), self.ours()):
            environment = Sbx.ExecutionEnvironment.open(client, self.request(), None)
            self.assertIs(environment.get_client(), client)
            session = environment.get_session()
            self.assertTrue(session.exec(Sbx.Command.new(["true"]), None).get_success())
            self.assertTrue(environment.close(None))
            self.assertEqual(client.get_state(), Sbx.ProviderClientState.CLOSED)

    def test_extensions(self):
        """What only ours can, over the wire."""
        client = self.ours()
        session = client.open(self.request(), None)
        self.assertIn("multiplex", client.dup_features())
        session.write_file("a", data(b"text"), 0o640, None)
        self.assertEqual(session.stat("a", None).get_size(), 4)
        self.assertEqual([info.get_name() for info in session.list_dir(".", None)], ["a"])
        with self.assertRaises(GLib.Error) as caught:
            session.read_file("missing", 0, None)
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND))

        process = session.spawn(Sbx.Command.new(["sleep", "1000"]), None)
        self.assertTrue(process.kill(9))
        result = process.wait(None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.SIGNALLED)
        self.assertEqual(result.get_signal(), 9)

        command = Sbx.Command.new(["sleep", "1000"])
        command.set_timeout(50)
        self.assertEqual(session.exec(command, None).get_outcome(), Sbx.ExecOutcome.TIMED_OUT)
        result = session.exec(Sbx.Command.new(["/nonexistent"]), None)
        self.assertEqual(result.get_outcome(), Sbx.ExecOutcome.NOT_STARTED)
        self.assertEqual(result.get_not_started(), Sbx.NotStarted.NOT_FOUND)

        command = Sbx.Command.new(["cat"])
        command.set_stdin(Sbx.Stdin.PIPE)
        process = session.create_process(command)
        done = []
        process.run_async(None, lambda source, result: done.append(source.run_finish(result)))
        process.get_stdin_pipe().write_all(b"typed", None)
        process.get_stdin_pipe().close(None)
        wait_for(lambda: done)
        self.assertEqual(done[0].get_stdout().get_data(), b"typed")
        session.close(None)
        client.close(None)


if __name__ == "__main__":
    tap.main()
