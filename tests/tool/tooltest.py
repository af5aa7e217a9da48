# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of sbx-tool share: running it, on pipes or on a terminal, and reporting in TAP.

SBX_TOOL is the program to test. Everything else that it needs (SBX_INIT, say) it takes from the
environment itself.
"""

import contextlib
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import unittest

TOOL = os.environ["SBX_TOOL"]
DEADLINE_S = 60

# What nohup, or a shell that put all this into the background, had ignored would be ignored by what
# is tested as well, as it should be.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)


class TapResult(unittest.TestResult):
    def _point(self, test, outcome, directive=""):
        name = test.id().replace("__main__.", "")
        print(f"{outcome} {self.testsRun} - {name}{directive}", flush=True)

    def _failed(self, test, error):
        self._point(test, "not ok")
        for line in "".join(traceback.format_exception(*error)).splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._point(test, "ok")

    def addError(self, test, error):
        super().addError(test, error)
        self._failed(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._failed(test, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._point(test, "ok", f" # SKIP {reason}")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            print(f"# in {subtest.id()}", flush=True)
            for line in "".join(traceback.format_exception(*error)).splitlines():
                print(f"# {line}", flush=True)
            self.in_subtest = True

    def stopTest(self, test):
        super().stopTest(test)
        if getattr(self, "in_subtest", False):
            self.in_subtest = False
            self._point(test, "not ok")


def main():
    """Runs the tests of the calling program, or those whose names have one of the words in argv."""
    signal.alarm(20 * DEADLINE_S)
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    tests = [test for group in suite for test in group
             if len(sys.argv) == 1 or any(word in test.id() for word in sys.argv[1:])]
    print(f"1..{len(tests)}", flush=True)
    result = TapResult()
    unittest.TestSuite(tests).run(result)
    sys.exit(not result.wasSuccessful())


def wait_for(condition, what):
    """Waits until the condition holds and returns its value."""
    deadline = time.monotonic() + DEADLINE_S
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {DEADLINE_S} s for {what}")
        time.sleep(0.01)
    return value


def read_until(fd, wanted, seen=b""):
    """Reads until the bytes have come, and returns all that was read; b"" stands for the end."""
    deadline = time.monotonic() + DEADLINE_S
    while not wanted or wanted not in seen:
        if not select.select([fd], [], [], max(0, deadline - time.monotonic()))[0]:
            raise AssertionError(f"waited {DEADLINE_S} s for {wanted!r}; there is only {seen!r}")
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            if not wanted:
                return seen
            raise AssertionError(f"the end came before {wanted!r}: {seen!r}")
        seen += data
    return seen


class ToolTest(unittest.TestCase):
    """A test with a directory of its own, in which the tool also keeps what it keeps."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sbx-tool-test-", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.work = os.path.join(self.dir, "work")
        os.mkdir(self.work)
        self.env = dict(os.environ, XDG_DATA_HOME=os.path.join(self.dir, "data"), LC_ALL="C.UTF-8",
                        TERM="xterm-256color")
        # A sanitizer's own handlers would take the place of the tool's.
        self.env["ASAN_OPTIONS"] = ":".join(filter(None, [
            self.env.get("ASAN_OPTIONS"), "handle_segv=0", "handle_sigbus=0", "handle_sigill=0",
            "handle_sigfpe=0", "handle_abort=0"]))

    def start(self, *args, **options):
        options.setdefault("cwd", self.work)
        options.setdefault("env", self.env)
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([TOOL, *args], **options)
        self.addCleanup(self.finish, process)
        return process

    def finish(self, process):
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def tool(self, *args, input=None, **options):
        """Runs the tool to its end."""
        if input is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*args, **options)
        out, err = process.communicate(input, timeout=DEADLINE_S)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def run_sh(self, script, *options, **more):
        """Runs a shell script in a sandbox that may write to the working directory."""
        return self.tool("run", "--write", self.work, *options, "--", "sh", "-c", script, **more)

    def sessions(self):
        """The directories of the sandboxes that are open, or were left behind."""
        directory = os.path.join(self.dir, "data", "libsbx", "sessions")
        if not os.path.isdir(directory):
            return []
        return [name for name in os.listdir(directory) if os.path.isdir(os.path.join(directory, name))]

    def wait_for_close(self, process):
        """Waits until the sandbox was opened and closed, while the tool goes on."""
        wait_for(lambda: self.sessions() or process.poll() is not None, "the session")
        wait_for(lambda: not self.sessions(), "the session to be closed")

    def path(self, name):
        return os.path.join(self.work, name)

    def read_file(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def write_file(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def assert_status(self, result, status, message=None):
        self.assertEqual(result.returncode, status, result.stderr)
        if message is not None:
            self.assertIn(message.encode(), result.stderr)
            self.assertTrue(result.stderr.startswith(b"sbx-tool: "), result.stderr)


class Terminal:
    """A pseudo-terminal with the tool on it; the test plays the terminal and its user.

    The tool runs in a session of its own, as it does below a shell's terminal. With some of the
    standard streams given, only the others are the terminal.
    """

    def __init__(self, test, *args, rows=31, columns=97, **streams):
        self.master, self.slave = pty.openpty()
        test.addCleanup(self.close)
        self.resize(rows, columns)
        self.settings = termios.tcgetattr(self.slave)
        self.seen = b""
        streams = {name: streams.get(name, self.slave) for name in ("stdin", "stdout", "stderr")}
        self.process = test.start(*args, **streams, start_new_session=True,
                                  preexec_fn=self.take_terminal)
        self.pid = self.process.pid

    def take_terminal(self):
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, data):
        os.write(self.master, data)

    def expect(self, wanted):
        """Reads what the terminal shows until the bytes have come; returns all up to their end."""
        self.seen = read_until(self.master, wanted, self.seen)
        end = self.seen.index(wanted) + len(wanted)
        shown, self.seen = self.seen[:end], self.seen[end:]
        return shown

    def read_available(self):
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 65536)

    def wait(self, answers=()):
        """Waits for the tool's end, answers its questions, and returns (status, what was shown).

        The answers are pairs of what is asked and what the terminal says to it; they are given in
        the order in which the questions come.
        """
        deadline = time.monotonic() + DEADLINE_S
        start = 0
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"the tool does not end; it showed {self.seen!r}")
            if select.select([self.master], [], [], 0.02)[0]:
                self.seen += os.read(self.master, 65536)
            while True:
                found = [(at, question, answer) for question, answer in answers
                         if (at := self.seen.find(question, start)) >= 0]
                if not found:
                    break
                at, question, answer = min(found)
                start = at + len(question)
                self.type(answer)
        self.read_available()
        return self.process.returncode, self.seen

    def get_unread(self):
        """What was typed, or answered by the terminal, and read by nobody: the shell's next input."""
        settings = termios.tcgetattr(self.slave)
        settings[3] &= ~termios.ICANON
        termios.tcsetattr(self.slave, termios.TCSANOW, settings)
        if not select.select([self.slave], [], [], 0.2)[0]:
            return b""
        return os.read(self.slave, 65536)

    def get_settings(self):
        return termios.tcgetattr(self.slave)

    def is_raw(self):
        return not self.get_settings()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)

    def close(self):
        for fd in (self.master, self.slave):
            os.close(fd)
