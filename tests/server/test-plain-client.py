#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plain, serial client of sandbox.v1 that knows nothing of ours, against sbx-provider-bwrap.

The profile is `worktree`, in a real repository. Every answer goes through a client that is strict
to the letter of the protocol. Numbers of rows are those of the tests that other providers of the
protocol have to pass.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "providers"),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "introspection")]
sys.dont_write_bytecode = True

import tap
from plain_client import PlainClient, ProviderError

PROVIDER = os.environ["SBX_PROVIDER_BWRAP"]
PROFILE = "bwrap/worktree"


def git(*arguments, cwd):
    return subprocess.run(["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *arguments],
                          cwd=cwd, check=True, capture_output=True, text=True,
                          env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
                               "GIT_CONFIG_SYSTEM": "/dev/null"}).stdout


class PlainClientTest(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="sbx-plain-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.repo = os.path.join(self.dir, "repo")
        os.mkdir(self.repo)
        git("init", "-q", "-b", "main", cwd=self.repo)
        self.write_host("README.md", "# A project\n")
        os.mkdir(os.path.join(self.repo, "sub"))
        self.write_host("sub/file", "below\n")
        git("add", ".", cwd=self.repo)
        git("commit", "-q", "-m", "first", cwd=self.repo)
        self.environment = {**os.environ, "HOME": os.path.join(self.dir, "home")}
        os.mkdir(self.environment["HOME"])
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            self.environment[f"XDG_{name}_HOME"] = os.path.join(self.dir, name.lower())
        self.environment["XDG_RUNTIME_DIR"] = os.path.join(self.dir, "run")
        os.mkdir(self.environment["XDG_RUNTIME_DIR"], 0o700)

    def write_host(self, name, text):
        with open(os.path.join(self.repo, name), "w", encoding="utf-8") as file:
            file.write(text)

    def client(self):
        client = PlainClient([PROVIDER], env=self.environment)
        self.addCleanup(self.end, client)
        return client

    @staticmethod
    def end(client):
        if client.process.poll() is None:
            client.process.kill()
            client.end()

    def assert_untouched(self):
        """Nothing of a sandbox is left in the repository."""
        self.assertEqual(git("status", "--porcelain", cwd=self.repo), "")
        self.assertEqual(git("branch", "--format=%(refname:short)", cwd=self.repo), "main\n")
        self.assertEqual(len(git("worktree", "list", cwd=self.repo).splitlines()), 1)
        self.assertEqual(sorted(os.listdir(self.repo)), [".git", "README.md", "sub"])

    # Rows 1 and 5.
    def test_exec_events_and_result(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        events = []
        code, out, err = client.exec(session, ["sh", "-c", "printf hi; printf oh >&2"], events=events)
        self.assertEqual((code, out, err), (0, b"hi", b"oh"))
        self.assertEqual(events[0][0], "started")
        self.assertEqual(events[-1], ("exited", 0))
        self.assertEqual(sorted(events[1:-1]), [("stderr", b"oh"), ("stdout", b"hi")])
        client.close(session)
        self.assertEqual(client.shutdown(), 0)

    # Row 2.
    def test_messages(self):
        client = self.client()
        client.capabilities()
        client.messages.clear()
        session = client.open(PROFILE, self.repo)
        client.exec(session, ["true"])
        client.close(session)
        self.assertEqual(client.shutdown(), 0)
        self.assertEqual([set(message) for message in client.messages],
                         [{"id", "result"}, {"id", "event"}, {"id", "event"}, {"id", "result"},
                          {"id", "result"}, {"id", "result"}])

    # Row 6.
    def test_relative_files(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        client.create_dir_all(session, "a/b")
        client.create_dir_all(session, "a/b")
        client.write_file(session, "a/b/zero", b"one\0two")
        self.assertEqual(client.read_file(session, "a/b/zero"), b"one\0two")
        self.assertEqual(client.exec(session, ["cat", "a/b/zero"])[1], b"one\0two")
        client.write_file(session, "new/parents/file", b"")
        self.assertEqual(client.read_file(session, "new/parents/file"), b"")
        client.remove(session, "a")
        with self.assertRaises(ProviderError):
            client.read_file(session, "a/b/zero")
        client.remove(session, "a")
        client.close(session)
        self.assertEqual(client.shutdown(), 0)
        self.assert_untouched()

    # Row 7.
    def test_exec_stdin(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        events = []
        result = client.exec(session, ["sh", "-c", "cat; printf err >&2"], stdin=b"out", events=events)
        self.assertEqual(result, (0, b"out", b"err"))
        self.assertEqual({kind for kind, _ in events}, {"started", "stdout", "stderr", "exited"})
        self.assertEqual(client.exec(session, ["cat"])[1], b"")
        self.assertEqual(client.exec(session, ["cat"], stdin=b"")[1], b"")

    # Row 8.
    def test_large_stdin(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        size = 2 * 1024 * 1024
        result = client.exec(session, ["sh", "-c", "printf ready; wc -c"], stdin=bytes(size))
        self.assertEqual(result[1], f"ready{size}\n".encode())
        # Nobody has to read it.
        self.assertEqual(client.exec(session, ["true"], stdin=bytes(size))[0], 0)

    # Row 9, as far as the protocol has it: a plain client sees no more of a spawned command.
    def test_spawn(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        events = []
        process = client.spawn(session, ["sh", "-c", "echo out; echo err >&2; touch done; sleep 1000"],
                               events=events)
        self.assertTrue(process)
        self.assertEqual(events, [("started", process)])
        script = "while ! test -e done; do sleep 0.01; done"
        self.assertEqual(client.exec(session, ["sh", "-c", script])[0], 0)
        # The stream goes on as if nothing had been spawned: each message was for its request.
        self.assertEqual(client.capabilities()["exec"], True)
        client.close(session)
        self.assertEqual(client.shutdown(), 0)

    # Row 10.
    def test_temp_dir(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        path = client.create_temp_dir(session, "wf-")
        self.assertIn("wf-", os.path.basename(path))
        client.write_file(session, os.path.join(path, "prompt"), b"text")
        self.assertEqual(client.exec(session, ["cat", os.path.join(path, "prompt")])[1], b"text")
        self.assertNotEqual(client.create_temp_dir(session, "wf-"), path)
        client.close(session)
        self.assertEqual(client.shutdown(), 0)
        self.assert_untouched()

    # Row 11.
    def test_isolation(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        self.assertNotEqual(session["cwd"], self.repo)
        client.write_file(session, "by-agent", b"x")
        self.assertEqual(client.exec(session, ["sh", "-c", "echo y > other; git status --short"])[0], 0)
        self.assertFalse(os.path.exists(os.path.join(self.repo, "by-agent")))
        self.assertFalse(os.path.exists(os.path.join(self.repo, "other")))
        self.assertEqual(client.exec(session, ["cat", "README.md"])[1], b"# A project\n")
        client.close(session)
        self.assert_untouched()
        self.assertEqual(client.shutdown(), 0)
        self.assert_untouched()

    # Row 12.
    def test_binary_output(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        events = []
        result = client.exec(session, ["sh", "-c", r"printf '\000\001\002\377'; printf '\376\000' >&2"],
                             events=events)
        self.assertEqual(result, (0, b"\x00\x01\x02\xff", b"\xfe\x00"))
        for kind, expected in (("stdout", result[1]), ("stderr", result[2])):
            self.assertEqual(b"".join(data for name, data in events if name == kind), expected)
        client.close(session)
        self.assert_untouched()

    # Row 13.
    def test_no_repository(self):
        plain = os.path.join(self.dir, "plain")
        os.mkdir(plain)
        client = self.client()
        with self.assertRaises(ProviderError) as caught:
            client.open(PROFILE, plain)
        # It says what is missing.
        self.assertIn("git", caught.exception.message)
        self.assertFalse(caught.exception.retryable)
        # It is none the worse for it.
        client.close(client.open(PROFILE, self.repo))
        self.assertEqual(client.shutdown(), 0)

    # Row 16.
    def test_capabilities(self):
        client = self.client()
        result = client.capabilities()
        self.assertIs(result["exec"], True)
        self.assertNotIn("capabilities", result)
        self.assertEqual(client.shutdown(), 0)

    # Row 17.
    def test_open_and_close(self):
        client = self.client()
        session = client.open(PROFILE, self.repo, tags={"run": "1"})
        self.assertTrue(session["id"])
        self.assertIs(session["capabilities"]["exec"], True)
        self.assertNotEqual(session["cwd"], self.repo)
        names = client.exec(session, ["ls", session["cwd"]])[1].split()
        self.assertIn(b"README.md", names)
        client.messages.clear()
        client.close(session)
        self.assertEqual(client.messages[-1].get("result"), {})
        with self.assertRaises(ProviderError):
            client.exec(session, ["true"])
        self.assertEqual(client.shutdown(), 0)
        self.assert_untouched()

    def test_open_cwd(self):
        client = self.client()
        session = client.open(PROFILE, self.repo, cwd="sub")
        self.assertEqual(client.exec(session, ["cat", "file"])[1], b"below\n")
        self.assertEqual(client.read_file(session, "file"), b"below\n")
        self.assertEqual(client.exec(session, ["pwd"], cwd="..")[1].strip(),
                         os.path.dirname(session["cwd"]).encode())
        client.close(session)

    # Row 18, by the process that opened them and by another.
    def test_cleanup_group(self):
        client = self.client()
        for _ in range(2):
            client.open(PROFILE, self.repo, group="leaked")
        keep = client.open(PROFILE, self.repo, group="kept")
        self.assertEqual(client.cleanup_group("leaked"), 2)
        self.assertEqual(client.cleanup_group("leaked"), 0)
        self.assertEqual(client.cleanup_group("never heard of"), 0)
        self.assertEqual(client.exec(keep, ["true"])[0], 0)
        self.assertEqual(client.cleanup_group("kept"), 1)
        self.assertEqual(client.shutdown(), 0)
        self.assert_untouched()

    def test_cleanup_group_after_death(self):
        client = self.client()
        for _ in range(2):
            session = client.open(PROFILE, self.repo, group="leaked")
        client.spawn(session, ["sleep", "1000"])
        client.process.kill()
        client.end()
        another = self.client()
        self.assertEqual(another.cleanup_group("leaked"), 2)
        self.assertEqual(another.cleanup_group("leaked"), 0)
        self.assertEqual(another.shutdown(), 0)
        self.assert_untouched()

    def test_cleanup_group_hostile(self):
        client = self.client()
        session = client.open(PROFILE, self.repo, group="mine")
        for name in (".", "..", "../mine", "/", "", "mine/", "mine/.", "a\0b", "x" * 5000, "\u202e\n"):
            with self.subTest(name):
                try:
                    self.assertEqual(client.cleanup_group(name), 0)
                except ProviderError as error:
                    self.assertFalse(error.retryable)
        self.assertEqual(client.exec(session, ["true"])[0], 0)
        self.assertEqual(client.cleanup_group("mine"), 1)

    # Row 19.
    def test_bad_profile(self):
        client = self.client()
        for profile in ("other/worktree", "bwrap/no-such-profile", "bwrap/../x", "bwrap//"):
            with self.subTest(profile):
                with self.assertRaises(ProviderError) as caught:
                    client.open(profile, self.repo)
                self.assertEqual(caught.exception.code, "bad_profile")
        self.assertEqual(client.shutdown(), 0)
        self.assert_untouched()

    # Row 20.
    def test_file_io_exec_and_close(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        client.write_file(session, "data.bin", b"\0\1\2\3")
        self.assertEqual(client.read_file(session, "data.bin"), b"\0\1\2\3")
        events = []
        result = client.exec(session, ["rev"], stdin=b"abc", events=events)
        self.assertEqual((result[0], result[1].strip()), (0, b"cba"))
        self.assertIn("stdout", [kind for kind, _ in events])
        events.clear()
        process = client.spawn(session, ["sleep", "1000"], events=events)
        self.assertEqual(events, [("started", process)])
        client.close(session)
        self.assert_untouched()
        self.assertEqual(client.shutdown(), 0)

    def test_exec_parameters(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        result = client.exec(session, ["sh", "-c", 'printf "%s|%s" "$A" "$1"', "sh", "a b\n\"c"],
                             env={"A": "with 'quotes' and\nlines"})
        self.assertEqual(result[1], b"with 'quotes' and\nlines|a b\n\"c")
        # The environment is added to, not replaced.
        self.assertTrue(client.exec(session, ["sh", "-c", 'printf %s "$PATH"'], env={"A": "b"})[1])
        self.assertEqual(client.exec(session, ["sh", "-c", "exit 200"])[0], 200)
        code = client.exec(session, ["sh", "-c", "kill -TERM $$"])[0]
        self.assertEqual(code, 128 + 15)
        self.assertNotEqual(client.exec(session, ["/nonexistent"])[0], 0)
        with self.assertRaises(ProviderError) as caught:
            client.exec(session, [])
        self.assertEqual(caught.exception.code, "invalid_request")
        self.assertEqual(client.exec(session, ["true"])[0], 0)

    def test_unknown(self):
        client = self.client()
        session = client.open(PROFILE, self.repo)
        for method in ("frobnicate", "OPEN", "exec ", "cleanup-group"):
            with self.subTest(method):
                with self.assertRaises(ProviderError) as caught:
                    client.call(method, {"session": session})
                self.assertEqual(caught.exception.code, "unsupported_method")
        with self.assertRaises(ProviderError) as caught:
            client.exec({**session, "id": "another"}, ["true"])
        self.assertEqual(caught.exception.code, "unknown_session")
        with self.assertRaises(ProviderError):
            client.call("exec", {"session": session})
        with self.assertRaises(ProviderError):
            client.call("exec", None)
        # What nobody knows is passed over.
        self.assertEqual(client.call("exec", {"session": {**session, "x": [1]}, "argv": ["true"],
                                              "y": {"z": None}})["exit_code"], 0)

    def test_state_is_not_trusted(self):
        """What comes back as the state of a session names nothing that is not looked up."""
        client = self.client()
        victim = os.path.join(self.dir, "victim")
        os.mkdir(victim)
        session = client.open(PROFILE, self.repo)
        forged = '{"workspace":"%s","worktree":"%s","path":"%s","pid":1}' % (victim, victim, victim)
        client.close({**session, "provider_state_json": forged, "cwd": victim})
        self.assertTrue(os.path.isdir(victim))
        self.assertEqual(client.shutdown(), 0)
        self.assert_untouched()

    def test_serial(self):
        """Requests that are written ahead are answered, each under its own id."""
        client = self.client()
        session = client.open(PROFILE, self.repo)
        for n in range(100):
            client.write_file(session, f"f{n}", str(n).encode())
        for n in range(100):
            self.assertEqual(client.read_file(session, f"f{n}"), str(n).encode())

    def test_end_of_input(self):
        """The end of its input ends it, and everything that it has."""
        client = self.client()
        session = client.open(PROFILE, self.repo)
        client.spawn(session, ["sleep", "1000"])
        self.assertEqual(client.end(20), 0)
        self.assert_untouched()


if __name__ == "__main__":
    tap.main()
