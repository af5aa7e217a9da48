#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds and tests a small C project in a sandbox, then shows what the sandbox refused.

demo.py SBX-TOOL. Each line of the second part says what was tried inside, what came of it, and
PASS if it was refused. What can be judged from outside is: whether a file was made, whether
somebody connected. Where it does no harm the same is tried without a sandbox, since a refusal of
something that would not have worked anyway says nothing. The exit status is 1 if one line says
FAIL.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent / "project"
NOT_OPENED = 125
SECONDS = "20"


class Demo:
    def __init__(self, tool, project):
        self.tool = tool
        self.project = project
        self.failed = 0
        self.home = Path.home()
        self.token = f"sbx-demo-{os.getpid()}-{os.urandom(4).hex()}"
        # Nothing is left in the home directory of who tries this, not even the sandbox's own.
        self.environment = dict(os.environ, SBX_DEMO_SECRET=self.token,
                                XDG_DATA_HOME=str(project.parent / "data"),
                                XDG_CACHE_HOME=str(project.parent / "cache"))

    def command(self, *argv):
        return [self.tool, "run", "--timeout", SECONDS, "--write", ".", "--", *argv]

    def inside(self, script):
        return subprocess.run(self.command("bash", "-c", script), cwd=self.project, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="backslashreplace")

    def outside(self, script):
        return subprocess.run(["bash", "-c", script], cwd=self.project, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="backslashreplace")

    def say(self, refused, what, happened, control=""):
        self.failed += not refused
        print(f"{'PASS  refused: ' if refused else 'FAIL  allowed: '}{what} -> {happened}{control}", flush=True)

    def attempt(self, what, script, judge, control=None):
        """Tries SCRIPT inside; judge (result) gives whether it was refused, and what happened."""
        result = self.inside(script)
        if result.returncode == NOT_OPENED:
            self.say(False, what, "the sandbox did not open: " + last_line(result.stdout))
            return
        refused, happened = judge(result)
        works = "" if control is None or control() else " (and it does not work without a sandbox either)"
        self.say(refused, what, happened, works)

    # --- the job ---

    def build(self):
        argv = self.command("make", "-j4", "check")
        print("$ sbx-tool " + " ".join(argv[1:]), flush=True)
        status = subprocess.run(argv, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL).returncode
        made = (self.project / "check-roman").exists()
        good = status == 0 and made
        print(f"{'PASS' if good else 'FAIL'}  the project was built and its tests ran inside (status {status})\n")
        return good

    # --- what must be refused ---

    def read_home(self):
        # The way to the project may lead through the home directory; what else is in it may not be seen.
        theirs = {p.name for p in self.home.iterdir()} - set(self.project.parts)

        def judge(result):
            seen = theirs & set(result.stdout.splitlines())
            if seen:
                return False, f"{len(seen)} of its {len(theirs)} entries were seen"
            return True, last_line(result.stdout) or "nothing of it is there"

        self.attempt(f"read the home directory: ls -A {self.home}", f"ls -A '{self.home}'", judge,
                     lambda: self.outside(f"ls -A '{self.home}'").returncode == 0)

    def write_outside(self):
        for directory in (self.home, Path("/usr/bin"), Path("/etc")):
            target = directory / self.token

            def judge(result, target=target):
                made = target.exists()
                if made:
                    target.unlink()
                return not made and result.returncode != 0, last_line(result.stdout) or "it was written"

            self.attempt(f"write outside of the project: touch {directory}/…", f"touch '{target}'", judge,
                         lambda directory=directory: os.access(directory, os.W_OK))

    def local_network(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.2)
            port = listener.getsockname()[1]
            script = f"exec 3<>/dev/tcp/127.0.0.1/{port}"

            def connected():
                try:
                    listener.accept()[0].close()
                    return True
                except socket.timeout:
                    return False

            self.attempt(f"connect to a service of this machine: 127.0.0.1:{port}", script,
                         lambda result: (not connected() and result.returncode != 0,
                                         last_line(result.stdout) or "it was reached"),
                         lambda: self.outside(script).returncode == 0 and connected())

    def wide_network(self):
        script = "exec 3<>/dev/tcp/1.1.1.1/53"
        self.attempt("connect to the Internet: 1.1.1.1:53", script,
                     lambda result: (result.returncode != 0, last_line(result.stdout) or "it was reached"))

    def see_processes(self):
        script = "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline; echo; done 2>/dev/null"
        marker = subprocess.Popen([self.token, "600"], executable=shutil.which("sleep"))
        try:
            def judge(result):
                count = len(result.stdout.splitlines())
                if self.token in result.stdout:
                    return False, f"{count} processes, and the host's are among them"
                return 0 < count, f"{count} processes are there, all of them the sandbox's own"

            self.attempt("see the processes of the host: /proc/*/cmdline", script, judge,
                         lambda: self.token in self.outside(script).stdout)
        finally:
            marker.kill()
            marker.wait()

    def read_environment(self):
        def judge(result):
            variables = result.stdout.splitlines()
            seen = self.token in result.stdout
            return (not seen and any(line.startswith("PATH=") for line in variables),
                    f"{len(variables)} variables, and the secret is {'' if seen else 'not '}among them")

        self.attempt("read a secret in the caller's environment: env", "env", judge,
                     lambda: self.token in self.outside("env").stdout)

    def change_kernel(self):
        setting = "/proc/sys/kernel/core_pattern"
        # What is there is written back, so that nothing changes if it works.
        script = f"old=$(cat {setting}) && printf '%s\\n' \"$old\" >{setting}"
        self.attempt(f"change a setting of the kernel: {setting}", script,
                     lambda result: (result.returncode != 0, last_line(result.stdout) or "it was changed"))

    def run(self):
        if not self.build():
            return 1
        print("What the sandbox refused:", flush=True)
        self.read_home()
        self.write_outside()
        self.local_network()
        self.wide_network()
        self.see_processes()
        self.read_environment()
        self.change_kernel()
        print(f"\n{self.failed} of these were not refused" if self.failed else "\nAll of it was refused.")
        return 1 if self.failed else 0


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def main():
    if len(sys.argv) != 2:
        print("Usage: demo.py SBX-TOOL", file=sys.stderr)
        return 2
    if not os.access(sys.argv[1], os.X_OK):
        print(f"{sys.argv[1]} cannot be run; build it first: ./bootstrap demo", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="sbx-demo-") as directory:
        project = Path(directory).resolve() / "roman"
        shutil.copytree(PROJECT, project)
        return Demo(sys.argv[1], project).run()


sys.exit(main())
