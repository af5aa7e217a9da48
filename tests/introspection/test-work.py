#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The work that people do, with real tools, in sandboxes that have just the reach it needs."""

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import unittest

import gi

gi.require_version("Sbx", "1")
from gi.repository import GLib, Sbx

import tap

TIMEOUT_MS = 60000

GIT_ENV = {
    "GIT_AUTHOR_NAME": "An Author", "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "A Committer", "GIT_COMMITTER_EMAIL": "committer@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
}

MAKEFILE = """\
NAMES = a b c d e f g h
all: $(NAMES:=.out)
%.out: %.in
\t@tr a-z A-Z < $< > $@
"""

# Writers that meet on one database: without working locks some of the sums would be lost.
SQLITE = """
import sqlite3, subprocess, sys
worker = '''
import sqlite3
base = sqlite3.connect("base.db", timeout=60, isolation_level=None)
for _ in range(50):
    base.execute("begin immediate")
    value = base.execute("select n from t").fetchone()[0]
    base.execute("update t set n = ?", (value + 1,))
    base.execute("commit")
'''
base = sqlite3.connect("base.db", isolation_level=None)
base.execute("create table t (n integer)")
base.execute("insert into t values (0)")
workers = [subprocess.Popen([sys.executable, "-c", worker]) for _ in range(4)]
assert [one.wait() for one in workers] == [0] * 4
print(base.execute("select n from t").fetchone()[0], end="")
"""


class Work(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="sbx-work-", dir="/var/tmp")
        os.chmod(self.base, 0o755)
        self.addCleanup(shutil.rmtree, self.base, True)
        self.work = os.path.join(self.base, "work")
        os.mkdir(self.work)
        self.provider = Sbx.BwrapProvider.new()
        self.provider.set_data_dir(os.path.join(self.base, "data"))

    def open(self, cwd=None, write=(), sockets=()):
        reach = Sbx.Reach.new(cwd or self.work)
        for path in write:
            reach.add_write(path)
        for path in sockets:
            reach.add_socket(path)
        # Whoever runs this may not have told git who they are.
        for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME",
                     "GIT_COMMITTER_EMAIL"):
            reach.set_variable(name, GIT_ENV[name])
        session = self.provider.open(Sbx.OpenRequest.new(reach), None)
        self.addCleanup(session.close, None)
        return session

    def run_in(self, session, *argv):
        command = Sbx.Command.new(argv)
        command.set_timeout(TIMEOUT_MS)
        return session.exec(command, None)

    def shell(self, session, script, shell="sh"):
        result = self.run_in(session, shell, "-euc", script)
        self.assertTrue(result.get_success(),
                        result.get_stdout().get_data() + result.get_stderr().get_data())
        return result.get_stdout().get_data().decode()

    def git(self, *arguments, cwd=None):
        return subprocess.run(["git", *arguments], cwd=cwd or self.work, check=True,
                              env=dict(os.environ, **GIT_ENV), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).stdout.decode()

    def make_repository(self):
        self.git("init", "-q", "-b", "main", ".")
        self.commit_outside("one", "first\n")
        self.commit_outside("two", "second\n")

    def commit_outside(self, name, text):
        with open(os.path.join(self.work, name), "w") as file:
            file.write(text)
        self.git("add", name)
        self.git("commit", "-q", "-m", name)

    def everyday_git(self, session):
        """Everything of a day's work, ending with three more commits on the branch."""
        self.shell(session, """
            echo more >> one
            git commit -qam 'from inside'
            echo unfinished >> two
            git stash -q
            test -z "$(git status --porcelain)"
            git stash pop -q
            git commit -qam 'after the stash'
            git checkout -q -b topic HEAD~1
            echo topic > topic
            git add topic
            git commit -qm topic
            git rebase -q - 2>&1
            git checkout -q -
            git merge -q --ff-only topic
            git branch -q -d topic
            git gc -q --prune=now
            git fsck --strict
            test -z "$(git status --porcelain)"
        """)

    def check_everyday_git(self, cwd, ref):
        log = self.git("log", "--format=%s", ref, cwd=cwd).split("\n")[:3]
        self.assertEqual(log, ["topic", "after the stash", "from inside"])
        self.assertEqual(self.git("status", "--porcelain", cwd=cwd), "")
        self.git("fsck", "--strict", cwd=cwd)

    def test_git(self):
        self.make_repository()
        session = self.open(write=[self.work])
        self.everyday_git(session)
        session.close(None)
        self.check_everyday_git(self.work, "main")

    def test_git_in_a_linked_worktree(self):
        self.make_repository()
        linked = os.path.join(self.base, "linked")
        self.git("worktree", "add", "-q", "-b", "side", linked)
        head = self.git("rev-parse", "main")
        session = self.open(linked, write=[linked])
        self.everyday_git(session)
        session.close(None)
        self.check_everyday_git(linked, "side")
        self.assertEqual(self.git("rev-parse", "main"), head)
        self.assertEqual(self.git("status", "--porcelain"), "")

    def test_the_name_of_the_operator_is_in_a_commit(self):
        self.make_repository()
        home = os.path.join(self.base, "home")
        os.mkdir(home)
        with open(os.path.join(home, ".gitconfig"), "w") as file:
            file.write("[user]\n\tname = Op Erator\n\temail = op@example.org\n"
                       "[alias]\n\tx = !false\n")
        script = """
import sys
import gi
gi.require_version("Sbx", "1")
from gi.repository import Sbx
provider = Sbx.BwrapProvider.new()
provider.set_data_dir(sys.argv[2])
reach = Sbx.Reach.new(sys.argv[1])
reach.add_write(sys.argv[1])
session = provider.open(Sbx.OpenRequest.new(reach), None)
command = Sbx.Command.new(["sh", "-c", "echo x > x && git add x && git commit -qm x"])
result = session.exec(command, None)
sys.stderr.write(result.get_stderr().get_data().decode())
session.close(None)
sys.exit(not result.get_success())
"""
        subprocess.run(["/usr/bin/python3", "-c", script, self.work, os.path.join(self.base, "d2")],
                       env=dict(os.environ, HOME=home, XDG_CONFIG_HOME=os.path.join(home, "c")),
                       check=True)
        self.assertEqual(self.git("log", "-1", "--format=%an <%ae>"), "Op Erator <op@example.org>\n")

    def test_gcc(self):
        session = self.open(write=[self.work])
        self.assertEqual(self.shell(session, """
            printf '#include <stdio.h>\\nint main (void) { return puts ("built") < 0; }\\n' > a.c
            gcc -O2 -g -o a a.c
            ./a
        """), "built\n")

    def test_make_with_jobs(self):
        with open(os.path.join(self.work, "Makefile"), "w") as file:
            file.write(MAKEFILE)
        for name in "abcdefgh":
            with open(os.path.join(self.work, name + ".in"), "w") as file:
                file.write(name)
        self.shell(self.open(write=[self.work]), "make -s -j4")
        for name in "abcdefgh":
            with open(os.path.join(self.work, name + ".out")) as file:
                self.assertEqual(file.read(), name.upper())

    def test_a_server_and_a_client_in_another_exec(self):
        with open(os.path.join(self.work, "page"), "w") as file:
            file.write("served\n")
        session = self.open()
        server = session.create_process(Sbx.Command.new(
            ["python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "8123"]))
        server.start(None)
        self.assertEqual(self.shell(session, """
            python3 - <<'END'
import time, urllib.request
until = time.monotonic() + 30
while True:
    try:
        print(urllib.request.urlopen("http://127.0.0.1:8123/page").read().decode(), end="")
        break
    except OSError:
        if time.monotonic() > until:
            raise
        time.sleep(0.01)
END
        """), "served\n")
        server.kill(15)
        server.wait(None)

    def test_heredocs(self):
        # Where nothing but the sandbox's own directories can be written.
        session = self.open()
        for shell in ("bash", "dash", "zsh"):
            with self.subTest(shell):
                if shutil.which(shell) is None:
                    self.skipTest(f"{shell} is not installed")
                self.assertEqual(self.shell(session, "cat <<END\nin a heredoc: $((6 * 7))\nEND\n",
                                            shell), "in a heredoc: 42\n")

    def test_mktemp(self):
        session = self.open()
        path = self.shell(session, "f=$(mktemp); echo x > $f; d=$(mktemp -d); test -d $d; "
                                   "test -O $f; printf %s $f")
        self.assertTrue(path.startswith("/tmp/"), path)
        self.assertFalse(os.path.exists(path))

    def test_sqlite(self):
        session = self.open(write=[self.work])
        self.assertEqual(self.shell(session, f"python3 - <<'END'\n{SQLITE}\nEND\n"), "200")

    def find_postgresql(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
        programs = os.path.dirname(found[-1]) if found else None
        if programs is None and shutil.which("postgres"):
            programs = os.path.dirname(shutil.which("postgres"))
        if programs is None:
            self.skipTest("PostgreSQL is not installed")
        return programs

    def start_postgresql(self):
        """Starts a server of its own, which will not run as root; returns its socket."""
        programs = self.find_postgresql()
        place = os.path.join(self.base, "database")
        os.mkdir(place, 0o755)
        drop = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(place, nobody.pw_uid, nobody.pw_gid)
            drop = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        data = os.path.join(place, "data")
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "cwd": "/", **drop}
        made = subprocess.run([f"{programs}/initdb", "-D", data, "-U", "operator", "-A", "trust",
                               "--no-sync"], check=False, **quiet)
        self.assertEqual(made.returncode, 0, made.stdout)
        started = subprocess.run([f"{programs}/pg_ctl", "-D", data, "-w", "-t", "60", "-l",
                                  os.path.join(place, "log"), "-o",
                                  f"-k {place} -c listen_addresses=", "start"],
                                 check=False, **{**quiet, "stdout": subprocess.DEVNULL})
        self.addCleanup(subprocess.run, [f"{programs}/pg_ctl", "-D", data, "-m", "immediate", "stop"],
                        **quiet)
        self.assertEqual(started.returncode, 0)
        return os.path.join(place, ".s.PGSQL.5432")

    def ask_postgresql(self, session, place):
        return self.run_in(session, "psql", "-h", place, "-U", "operator", "-d", "postgres", "-Atc",
                           "select 6 * 7")

    def test_postgresql_through_a_socket_that_is_named(self):
        socket = self.start_postgresql()
        place = os.path.dirname(socket)
        answer = self.ask_postgresql(self.open(sockets=[socket]), place)
        self.assertEqual(answer.get_stdout().get_data(), b"42\n", answer.get_stderr().get_data())
        self.assertFalse(self.ask_postgresql(self.open(), place).get_success())


if __name__ == "__main__":
    tap.main()
