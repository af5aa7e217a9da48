#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rows of the security page that sbx-tool has a part in. The name of a test says which: with
that row's protection switched off in the test build it fails."""

import os
import re
import socket
import subprocess
import termios
import time

from tooltest import Terminal, ToolTest, main, read_until

DA1 = (b"\033[c", b"\033[?62;22c")
RESETS = [b"\033[?%dl" % mode for mode in (9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004, 1049, 1)]
RESETS += [b"\033[?25h", b"\033>", b"\033[0m"]


class T2(ToolTest):
    """The operator's terminal is nowhere in the sandbox."""

    def test_T2_no_console(self):
        script = "ls -l /dev/console 2>&1; true"
        for option in ("--tty", "--no-tty"):
            with self.subTest(option):
                terminal = Terminal(self, "run", option, "--", "sh", "-c", script)
                status, shown = terminal.wait()
                self.assertEqual(status, 0)
                self.assertIn(b"No such file", shown)

    def test_T2_no_device_is_the_terminal(self):
        """No file in /dev is the device of the terminal that the tool runs on."""
        script = "stat -c '%t:%T:%n' /dev/* /dev/*/*; true"
        for option in ("--tty", "--no-tty"):
            with self.subTest(option):
                terminal = Terminal(self, "run", option, "--", "sh", "-c", script)
                ours = os.fstat(terminal.slave)
                status, shown = terminal.wait()
                self.assertEqual(status, 0)
                self.assertIn(b":/dev/null", shown)
                # Those of the sandbox's own /dev/pts can have the same numbers.
                number = b"%x:%x:" % (os.major(ours.st_rdev), os.minor(ours.st_rdev))
                self.assertEqual([line for line in shown.split()
                                  if line.startswith(number) and b":/dev/pts/" not in line], [])


class T3(ToolTest):
    """No descriptor that was there before is in the sandbox: each of the three is a pipe or a
    terminal that was made for the command."""

    PROBE = """
all=$(for fd in /proc/$$/fd/*; do stat -L -c "${fd##*/} %F %d:%i" $fd 2>/dev/null; done)
echo "$all" >probe
ls /proc/$$/fd/$1/.. >listed 2>/dev/null
timeout 0.2 cat /proc/$$/fd/$1 >stolen 2>/dev/null
timeout 0.2 sh -c 'echo planted 1<>/proc/$0/fd/$1' $$ $1 2>/dev/null
true
"""

    def probe(self, stream, given, status=0):
        """Runs the probe with something of the host as one of the three streams."""
        number = ("stdin", "stdout", "stderr").index(stream)
        host = os.fstat(given.fileno() if hasattr(given, "fileno") else given)
        result = self.tool("run", "--write", ".", "--", "sh", "-c", self.PROBE, "sh", str(number),
                           **{stream: given})
        self.assertEqual(result.returncode, status, result.stderr)
        if status:
            self.assertFalse(os.path.exists(self.path("probe")))
            return
        lines = self.read_file("probe").decode().splitlines()
        self.assertLessEqual({"0", "1", "2"}, {line.split()[0] for line in lines})
        for line in lines:
            self.assertRegex(line, "fifo|character special file")
            self.assertNotIn(f" {host.st_dev}:{host.st_ino}", line)
        self.assertEqual(self.read_file("listed"), b"")

    def test_T3_stdin_file(self):
        with open(self.write_file("secret", b"secret"), "r+b") as file:
            file.seek(6)
            self.probe("stdin", file)
        self.assertEqual(self.read_file("stolen"), b"")
        self.assertEqual(self.read_file("secret"), b"secret")

    def test_T3_stdout_file(self):
        """A log that is appended to cannot be read back."""
        with open(os.path.join(self.dir, "log"), "w+b") as log:
            log.write(b"secret\n")
            log.flush()
            self.probe("stdout", log)
            log.seek(0)
            self.assertEqual(log.read(7), b"secret\n")
        self.assertNotIn(b"secret", self.read_file("stolen"))

    def test_T3_stderr_file(self):
        with open(os.path.join(self.dir, "log"), "w+b") as log:
            log.write(b"secret\n")
            log.flush()
            self.probe("stderr", log)
            log.seek(0)
            self.assertEqual(log.read(7), b"secret\n")
        self.assertNotIn(b"secret", self.read_file("stolen"))

    def test_T3_stdin_directory(self):
        fd = os.open("/", os.O_RDONLY)
        self.probe("stdin", fd, status=125)
        os.close(fd)

    def test_T3_stdout_directory(self):
        """Nobody can write there, so that it ends with the first output; before that, it is not inside."""
        fd = os.open("/", os.O_RDONLY)
        script = ("listed=$(ls -d /proc/$$/fd/1/../usr 2>/dev/null); kind=$(stat -L -c %F /proc/$$/fd/1); "
                  "echo $listed >listed; echo $kind >probe; echo x")
        result = self.tool("run", "--write", ".", "--", "sh", "-c", script + "; sleep 5", stdout=fd)
        os.close(fd)
        self.assert_status(result, 125, "output cannot be written")
        self.assertEqual(self.read_file("listed"), b"\n")
        self.assertEqual(self.read_file("probe"), b"fifo\n")

    def test_T3_stderr_directory(self):
        fd = os.open("/", os.O_RDONLY)
        self.probe("stderr", fd)
        os.close(fd)

    def test_T3_stdin_socket(self):
        ours, theirs = socket.socketpair()
        theirs_copy = theirs.dup()
        ours.close()
        self.probe("stdin", theirs)
        theirs_copy.close()
        theirs.close()

    def test_T3_stdout_socket(self):
        ours, theirs = socket.socketpair()
        self.probe("stdout", theirs)
        ours.close()
        theirs.close()

    def test_T3_stderr_socket(self):
        ours, theirs = socket.socketpair()
        self.probe("stderr", theirs)
        ours.close()
        theirs.close()

    def test_T3_terminal(self):
        """As each of the three, and as all of them."""
        for streams in ({"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL},
                        {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL},
                        {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}, {}):
            with self.subTest(streams):
                terminal = Terminal(self, "run", "--write", ".", "--", "sh", "-c",
                                    "all=$(stat -L -c '%d:%i' /proc/$$/fd/[012]); echo \"$all\" >probe",
                                    **streams)
                host = os.fstat(terminal.slave)
                self.assertEqual(terminal.wait()[0], 0)
                lines = self.read_file("probe").decode().split()
                self.assertEqual(len(lines), 3)
                self.assertNotIn(f"{host.st_dev}:{host.st_ino}", lines)

    def test_T3_other_descriptors(self):
        """Nor is any other descriptor that the tool was started with."""
        fd = os.open("/", os.O_RDONLY)
        result = self.tool("run", "--", "sh", "-c", "for fd in /proc/$$/fd/*; do readlink $fd; done; true",
                           pass_fds=[fd])
        os.close(fd)
        self.assert_status(result, 0)
        for line in result.stdout.splitlines():
            self.assertRegex(line, rb"^(pipe:\[[0-9]+\]|/dev/null)$")


class T17(ToolTest):
    """What the command did to the terminal is undone, and nothing that it asked for arrives later."""

    def terminal(self, script, *options, **more):
        return Terminal(self, "run", *options, "--", "sh", "-c", script, **more)

    def test_T17_modes_are_reset(self):
        modes = "".join(f"\\033[?{n}h" for n in (1000, 1002, 1003, 1006, 1004, 2004, 1049, 1, 2026))
        terminal = self.terminal(f"printf '{modes}\\033[?25l\\033=\\033[>4;2m\\033[31m'; echo last")
        terminal.expect(b"last\r\n")
        status, shown = terminal.wait([DA1])
        self.assertEqual(status, 0)
        for reset in RESETS:
            self.assertIn(reset, shown)
        # Anything that is on when the question comes, or after it, is on for the shell.
        after = shown[shown.index(b"\033[0m"):]
        self.assertIsNone(re.search(rb"\033\[\?[0-9;]*h", after.replace(b"\033[?25h", b"")))

    def test_T17_modes_are_reset_after_a_signal(self):
        for ending in ("kill -9 $$", "sleep 600"):
            with self.subTest(ending):
                terminal = self.terminal(f"printf '\\033[?1003h\\033[?1049h'; echo last; {ending}")
                terminal.expect(b"last\r\n")
                if ending.startswith("sleep"):
                    terminal.process.terminate()
                _, shown = terminal.wait([DA1])
                for reset in RESETS:
                    self.assertIn(reset, shown)
                self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_T17_half_a_string_is_cut(self):
        """What follows an unfinished order to the clipboard is neither swallowed nor copied."""
        terminal = self.terminal("printf '\\033]52;c;cm0gLXJmIH4='")
        status, shown = terminal.wait([DA1])
        self.assertEqual(status, 0)
        self.assertIn(b"cm0gLXJmIH4=\030", shown)

    def test_T17_late_answer_is_drained(self):
        """The terminal answers when the command has gone, and the shell sees nothing of it."""
        terminal = self.terminal("printf '\\033[6n\\033]11;?\\007'")
        status, _ = terminal.wait([(b"\033[6n", b"\033[12;34R"), (b"\033]11;?\007", b"\033]11;rgb:0/0/0\007"),
                                   DA1])
        self.assertEqual(status, 0)
        self.assertEqual(terminal.get_unread(), b"")

    def test_T17_very_late_answer_is_drained(self):
        """A slow line: all answers come long after the command has ended."""
        terminal = self.terminal("printf '\\033[6n'; echo last")
        terminal.expect(b"last\r\n")
        try:
            terminal.process.wait(0.4)
        except subprocess.TimeoutExpired:
            pass
        terminal.type(b"\033[12;34R\033[?62c")
        self.assertEqual(terminal.wait()[0], 0)
        self.assertEqual(terminal.get_unread(), b"")

    def test_T17_same_question_is_drained(self):
        """The command asks what the tool asks: the first answer is not the last."""
        terminal = self.terminal("printf '\\033[c\\033[c\\033[6n'")
        status, _ = terminal.wait([DA1, (b"\033[6n", b"\033[1;1R")])
        self.assertEqual(status, 0)
        self.assertEqual(terminal.get_unread(), b"")

    def test_T17_echo_is_off_while_draining(self):
        terminal = self.terminal("printf '\\033[6n'")
        _, shown = terminal.wait([(b"\033[c", b"\033[12;34R\033[?62c")])
        self.assertNotIn(b"12;34R", shown)

    def test_T17_names_are_escaped(self):
        """In the tool's own texts: control characters, 8-bit ones, and changes of direction."""
        odd = "x\033]0;title\007\n\r\x7f\u009b31m\u202eevil\u2066\u200f"
        for arguments in ([odd], ["run", "--" + odd], ["run", "--read", odd, "--", "true"],
                          ["run", "--", odd], ["run", "--cwd", odd, "--", "true"],
                          ["run", "--env", odd, "--", "true"], ["run", "--timeout", odd, "--", "true"],
                          ["run", "--json", odd + "/x", "--", "true"], ["clean", odd]):
            with self.subTest(arguments):
                result = self.tool(*arguments)
                self.assertIn(result.returncode, (125, 127))
                text = result.stderr.decode()
                self.assertTrue(text.startswith("sbx-tool: "))
                self.assertIn("evil", text)
                self.assertIsNone(re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200f]", text))

    def test_T17_bytes_are_escaped(self):
        result = self.tool("run", "--read", b"caf\xe9\x9b31m", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn(rb"caf\xe9\x9b31m", result.stderr)


class Peace(ToolTest):
    """A terminal that the command left alone is left alone."""

    def test_plain_output(self):
        terminal = Terminal(self, "run", "--", "printf", "caf\\303\\251\\ttext\\nmore\\a\\b\\r\\n")
        status, shown = terminal.wait()
        self.assertEqual(status, 0)
        self.assertEqual(shown, b"caf\xc3\xa9\ttext\r\nmore\a\b\r\r\n")

    def test_no_answer(self):
        """A terminal that answers nothing is not waited for for long."""
        terminal = Terminal(self, "run", "--", "printf", "\\033[1mbold\\033[0m")
        start = time.monotonic()
        self.assertEqual(terminal.wait()[0], 0)
        self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_output_is_not_changed(self):
        """What the command writes is the command's, and goes through as it is."""
        terminal = Terminal(self, "run", "--", "printf", "\\033]0;title\\007\\033[31mred\\033[0m")
        _, shown = terminal.wait([DA1])
        self.assertTrue(shown.startswith(b"\033]0;title\007\033[31mred\033[0m"))


if __name__ == "__main__":
    main()
