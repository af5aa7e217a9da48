#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-provider-bwrap, or its client, is killed at random moments: nothing stays.

No process does, and after one clean-up of the group no worktree, branch, record or directory.
"""

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "providers"),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "introspection")]
sys.dont_write_bytecode = True

import tap
from plain_client import PlainClient, ProtocolError, ProviderError

PROVIDER = os.environ["SBX_PROVIDER_BWRAP"]
PR_SET_CHILD_SUBREAPER = 36
ROUNDS = 12
DEADLINE_S = 30
GROUP = "killed"


def git(*arguments, cwd):
    return subprocess.run(["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", *arguments],
                          cwd=cwd, check=True, capture_output=True, text=True,
                          env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null",
                               "GIT_CONFIG_SYSTEM": "/dev/null"}).stdout


def children():
    """All descendants that became ours when their parents died, and are no zombies."""
    living = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state not in "ZX":
            living.append(int(entry))
    return living


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


class KillTest(unittest.TestCase):
    def setUp(self):
        self.assertEqual(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0)
        self.seed = int(os.environ.get("SBX_TEST_SEED", random.randrange(1 << 32)))
        print(f"# SBX_TEST_SEED={self.seed}", flush=True)
        self.random = random.Random(self.seed)
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="sbx-kill-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.repo = os.path.join(self.dir, "repo")
        os.mkdir(self.repo)
        git("init", "-q", "-b", "main", cwd=self.repo)
        with open(os.path.join(self.repo, "README"), "w", encoding="utf-8") as file:
            file.write("read me\n")
        git("add", ".", cwd=self.repo)
        git("commit", "-q", "-m", "first", cwd=self.repo)
        self.environment = {**os.environ, "TMPDIR": os.path.join(self.dir, "tmp")}
        for name in ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR"):
            self.environment[f"XDG_{name}"] = os.path.join(self.dir, name)
        for name in ("tmp", "home", "RUNTIME_DIR"):
            os.mkdir(os.path.join(self.dir, name), 0o700)
        self.environment["HOME"] = os.path.join(self.dir, "home")

    def client(self):
        return PlainClient([PROVIDER], env=self.environment, stderr=subprocess.DEVNULL)

    def work(self, client):
        """Does a bit of everything until that is over."""
        try:
            while True:
                session = client.open("bwrap/worktree", self.repo, group=GROUP)
                client.write_file(session, "new", bytes(1 << 20))
                client.spawn(session, ["sh", "-c", "while :; do sleep 1000 & sleep 1000; done"])
                client.exec(session, ["sh", "-c", "git add new; sleep 0.02; setsid sleep 0.02"])
                if self.random.random() < 0.5:
                    client.close(session)
        except (ProtocolError, ProviderError, OSError, ValueError):
            pass

    def assert_no_process(self):
        end = time.monotonic() + DEADLINE_S
        while left := children():
            if time.monotonic() > end:
                names = []
                for pid in left:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        names.append((pid, file.read()))
                    os.kill(pid, signal.SIGKILL)
                self.fail(f"processes are left: {names}")
            time.sleep(0.01)
        reap()

    def files(self):
        """What is there besides the repository, by its place, for what is named anew each time."""
        found = []
        for where, _folders, files in os.walk(self.dir):
            if not where.startswith(self.repo):
                found.append(os.path.relpath(where, self.dir))
                found += [os.path.relpath(os.path.join(where, name), self.dir) for name in files]
        return sorted(found)

    def run_rounds(self, end):
        # What stays for good after use: caches, the home directory of a project, locks.
        client = self.client()
        client.close(client.open("bwrap/worktree", self.repo, group=GROUP))
        client.cleanup_group(GROUP)
        self.assertEqual(client.shutdown(), 0)
        before = self.files()
        objects = git("rev-parse", "HEAD", cwd=self.repo)
        cleaned = 0

        for _ in range(ROUNDS):
            client = self.client()
            thread = threading.Thread(target=self.work, args=(client,))
            thread.start()
            time.sleep(self.random.uniform(0.0, 0.25))
            end(client)
            thread.join()
            client.process.wait(DEADLINE_S)
            self.assert_no_process()

            cleaner = self.client()
            cleaned += cleaner.cleanup_group(GROUP)
            self.assertEqual(cleaner.cleanup_group(GROUP), 0)
            self.assertEqual(cleaner.shutdown(), 0)
            self.assertEqual(git("branch", "--format=%(refname:short)", cwd=self.repo), "main\n")
            self.assertEqual(len(git("worktree", "list", cwd=self.repo).splitlines()), 1)
            self.assertEqual(git("status", "--porcelain", cwd=self.repo), "")
            self.assertEqual(git("rev-parse", "HEAD", cwd=self.repo), objects)
            self.assertFalse(os.path.exists(os.path.join(self.repo, ".git", "worktrees")) and
                             os.listdir(os.path.join(self.repo, ".git", "worktrees")))
            self.assertEqual(self.files(), before)
        return cleaned

    def test_provider(self):
        def end(client):
            client.process.kill()

        self.assertGreater(self.run_rounds(end), 0)

    def test_client(self):
        """What a provider sees of a client that was killed is the end of both pipes."""
        def end(client):
            for name in ("stdin", "stdout"):
                fd = getattr(client.process, name).fileno()
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, fd)
                os.close(null)

        self.run_rounds(end)


if __name__ == "__main__":
    tap.main()
