#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool with providers that are other programs: providers, run --provider, cleanup."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from tooltest import Terminal, ToolTest, main, wait_for

PLAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../providers/plain-provider.py")
PLAIN_COMMAND = shlex.join([sys.executable, PLAIN, "serve"])
GIT_ENV = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A",
           "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
           "GIT_COMMITTER_EMAIL": "a@example.org"}


class ProvidersTest(ToolTest):
    def setUp(self):
        super().setUp()
        # A key file below a directory for everybody, as /var/tmp is, is not used.
        home = os.path.expanduser("~")
        self.config = tempfile.mkdtemp(prefix=".sbx-tool-test-", dir=home if os.access(home, os.W_OK)
                                       else os.path.dirname(os.environ["SBX_TOOL"]))
        self.addCleanup(shutil.rmtree, self.config)
        self.env.update(XDG_CONFIG_HOME=self.config, XDG_CONFIG_DIRS="/nonexistent",
                        PLAIN_ROOT=os.path.join(self.dir, "plain"))
        self.env["SBX_PROVIDER_DIR"] = os.path.dirname(os.environ["SBX_TOOL"])

    def add_key_file(self, name, line, mode=0o644):
        folder = os.path.join(self.config, "libsbx", "providers.d")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name + ".conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"[Provider]\nExec={line}\n")
        os.chmod(path, mode)
        return path

    def git(self, *args):
        result = subprocess.run(["git", *args], cwd=self.work, env={**os.environ, **GIT_ENV}, check=True,
                                stdout=subprocess.PIPE)
        return result.stdout.decode()


class List(ProvidersTest):
    def find(self, name):
        result = self.tool("providers", "--json")
        self.assert_status(result, 0)
        found = [entry for entry in json.loads(result.stdout) if entry["name"] == name]
        return found[0] if found else None

    def test_ours(self):
        entry = self.find("bwrap")
        self.assertIsNone(entry["problem"])
        self.assertTrue(entry["exec"])
        self.assertEqual(entry["argv"][1:], ["serve"])
        self.assertIn("multiplex", entry["features"])
        self.assertNotIn("reach", entry["features"])

    def test_a_key_file(self):
        path = self.add_key_file("far", PLAIN_COMMAND)
        entry = self.find("far")
        self.assertEqual(entry["origin"], path)
        self.assertEqual(entry["argv"][-1], "serve")
        self.assertEqual(entry["features"], [])

    def test_one_that_others_can_write(self):
        self.add_key_file("open", PLAIN_COMMAND, 0o666)
        entry = self.find("open")
        self.assertIn("open.conf", entry["problem"])
        result = self.tool("run", "--provider", "open", "--", "true")
        self.assert_status(result, 125, "open.conf")

    def test_one_that_says_nothing_is_told(self):
        self.add_key_file("dead", "/bin/false serve")
        self.assertIn("exited with status 1", self.find("dead")["problem"])

    def test_as_text(self):
        result = self.tool("providers")
        self.assert_status(result, 0)
        self.assertIn(b"bwrap\n  found as: ", result.stdout)


class Run(ProvidersTest):
    def test_default_profile(self):
        result = self.tool("run", "--provider", "bwrap", "--", "sh", "-c", "echo out; echo err >&2; pwd >f")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"out\n")
        self.assertEqual(result.stderr, b"err\n")
        self.assertEqual(self.read_file("f").decode().strip(), self.work)

    def test_reader_writes_nothing(self):
        result = self.tool("run", "--provider", "bwrap/reader", "--", "sh", "-c", "echo x >f")
        self.assertNotEqual(result.returncode, 0)
        self.assertFalse(os.path.exists(self.path("f")))

    def test_worktree_leaves_no_trace(self):
        self.git("init", "-q", "-b", "trunk", ".")
        self.write_file("a", b"one\n")
        self.git("add", "a")
        self.git("commit", "-q", "-m", "first")
        before = self.git("for-each-ref") + self.git("worktree", "list")
        result = self.tool("run", "--provider", "bwrap/worktree", "--", "sh", "-c",
                           "cat a; echo two >>a; git -c user.name=B -c user.email=b@example.org "
                           "commit -qam second; git log --format=%s")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"one\nsecond\nfirst\n")
        self.assertEqual(self.read_file("a"), b"one\n")
        self.assertEqual(self.git("for-each-ref") + self.git("worktree", "list"), before)

    def test_input_and_statuses(self):
        data = os.urandom(300000)
        result = self.tool("run", "--provider", "bwrap", "--", "cat", input=data)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, data)
        for script, status in (("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM)):
            self.assert_status(self.tool("run", "--provider", "bwrap", "--", "sh", "-c", script), status)
        self.assert_status(self.tool("run", "--provider", "bwrap", "--", "no-such-program"), 127)
        self.assert_status(self.tool("run", "--provider", "bwrap", "--timeout", "0.2", "--", "sleep", "60"), 124)

    def test_a_plain_provider_gets_its_input_beforehand(self):
        result = self.tool("run", "--provider", "plain", "--provider-command", PLAIN_COMMAND, "--", "cat",
                           input=b"\0\xff" * 5000)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"\0\xff" * 5000)

    def test_variables(self):
        result = self.tool("run", "--provider", "bwrap", "--env", "COLOUR=a b", "--", "printenv", "COLOUR")
        self.assertEqual(result.stdout, b"a b\n")

    def test_terminal(self):
        terminal = Terminal(self, "run", "--provider", "bwrap", "--", "sh", "-c", "stty size; tty")
        status, shown = terminal.wait()
        self.assertEqual(status, 0, shown)
        self.assertIn(b"31 97", shown)
        self.assertIn(b"/dev/pts/", shown)

    def test_mistakes(self):
        self.assert_status(self.tool("run", "--provider", "bwrap", "--write", ".", "--", "true"), 125, "--write")
        self.assert_status(self.tool("run", "--profile", "x", "--", "true"), 125, "--profile")
        self.assert_status(self.tool("run", "--provider", "bwrap/x", "--profile", "y", "--", "true"), 125, "twice")
        self.assert_status(self.tool("run", "--provider", "bwrap/../x", "--", "true"), 125, "../x")
        self.assert_status(self.tool("run", "--provider", "a/../b", "--", "true"), 125, "“a”")
        self.assert_status(self.tool("run", "--provider-command", "'", "--", "true"), 125, "--provider-command")

    def test_killed_with_all_that_runs(self):
        process = self.start("run", "--provider", "bwrap", "--", "sh", "-c", "echo up; exec sleep 1000")
        self.assertEqual(process.stdout.readline(), b"up\n")
        self.assertEqual(len(self.sessions()), 1)
        process.kill()
        process.wait()
        wait_for(lambda: not self.sessions(), "the provider to end its sandbox")

    def test_interrupted(self):
        process = self.start("run", "--provider", "bwrap", "--", "sh", "-c",
                             "trap 'echo got; exit 3' INT; echo up; while :; do sleep 0.1; done")
        self.assertEqual(process.stdout.readline(), b"up\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (3, b"got\n"), err)


class Cleanup(ProvidersTest):
    def test_what_a_killed_provider_left(self):
        self.git("init", "-q", "-b", "trunk", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        before = self.git("for-each-ref") + self.git("worktree", "list")
        process = self.start("run", "--provider", "bwrap/worktree", "--group", "run 7/..", "--", "sh", "-c",
                             "echo up; exec sleep 1000", start_new_session=True)
        self.assertEqual(process.stdout.readline(), b"up\n")
        children = subprocess.run(["pgrep", "-P", str(process.pid)], check=True, stdout=subprocess.PIPE)
        for pid in children.stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        process.wait()
        result = self.tool("cleanup", "run 7/..")
        self.assert_status(result, 0)
        self.assertIn(b"removed 1 sandbox", result.stdout)
        self.assertEqual(self.git("for-each-ref") + self.git("worktree", "list"), before)
        self.assertEqual(self.sessions(), [])
        self.assertIn(b"removed 0", self.tool("cleanup", "run 7/..").stdout)

    def test_through_a_provider(self):
        result = self.tool("cleanup", "--provider", "bwrap", "nobody", "..")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout.count(b"removed 0"), 2)

    def test_mistakes(self):
        self.assert_status(self.tool("cleanup"), 125, "no group")
        self.assert_status(self.tool("cleanup", "--provider", "no-such", "x"), 125, "no-such")


main()
