#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool run on a terminal: the command gets one of its own, and ours is given back as it was."""

import os
import signal
import subprocess
import termios

from tooltest import Terminal, ToolTest, main, read_until, wait_for


class Interactive(ToolTest):
    def terminal(self, script, *options, **more):
        return Terminal(self, "run", *options, "--", "sh", "-c", script, **more)

    def assert_ended(self, terminal, status, **more):
        self.assertEqual(terminal.wait(**more)[0], status)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_has_a_terminal(self):
        terminal = self.terminal("tty; test -t 0 && test -t 1 && test -t 2 && echo yes; exit 3")
        terminal.expect(b"/dev/pts/")
        terminal.expect(b"yes\r\n")
        self.assert_ended(terminal, 3)

    def test_controls_it(self):
        """It is the command's controlling terminal, and the command is in the foreground."""
        terminal = self.terminal("ps -o tpgid=,pgid= -p $$ | { read a b; [ $a = $b ] && echo same; }; "
                                 "echo to-tty >/dev/tty")
        terminal.expect(b"same\r\n")
        terminal.expect(b"to-tty\r\n")
        self.assert_ended(terminal, 0)

    def test_size(self):
        terminal = self.terminal("stty size; trap 'stty size' WINCH; echo ready; "
                                 "while :; do sleep 0.05; done", rows=31, columns=97)
        terminal.expect(b"31 97\r\n")
        terminal.expect(b"ready\r\n")
        terminal.resize(40, 111)
        terminal.expect(b"40 111\r\n")
        terminal.process.terminate()
        self.assert_ended(terminal, 143)

    def test_raw(self):
        """Keys go through as they are, and are echoed once: by the terminal inside."""
        terminal = self.terminal("echo ready; read line; echo \"got $line\"")
        terminal.expect(b"ready\r\n")
        self.assertTrue(terminal.is_raw())
        terminal.type(b"some\x7f text\r")
        terminal.expect(b"got som text\r\n")
        self.assert_ended(terminal, 0)

    def test_raw_inside(self):
        terminal = self.terminal("stty raw -echo; echo ready; head -c 6 | od -An -tx1")
        terminal.expect(b"ready")
        terminal.type(b"\x03\x1a\x04\r\x1c\x13")
        terminal.expect(b"03 1a 04 0d 1c 13")
        self.assert_ended(terminal, 0)

    def test_interrupt_key(self):
        """^C goes to the command, and to nobody else."""
        terminal = self.terminal("trap 'echo got' INT; echo ready; while :; do sleep 0.05; done")
        terminal.expect(b"ready\r\n")
        for _ in range(3):
            terminal.type(b"\x03")
            terminal.expect(b"got\r\n")
        terminal.process.send_signal(signal.SIGINT)
        terminal.expect(b"got\r\n")
        terminal.process.send_signal(signal.SIGINT)
        self.assert_ended(terminal, 137)

    def test_interrupt_key_ends(self):
        terminal = self.terminal("echo ready; exec sleep 600")
        terminal.expect(b"ready\r\n")
        terminal.type(b"\x03")
        self.assert_ended(terminal, 130)

    def test_end_of_file_key(self):
        terminal = self.terminal("echo ready; cat; echo end")
        terminal.expect(b"ready\r\n")
        terminal.type(b"\x04")
        terminal.expect(b"end\r\n")
        self.assert_ended(terminal, 0)

    def test_job_control(self):
        """A shell inside can stop a job and go on with it."""
        terminal = Terminal(self, "run", "--", "bash", "--norc", "-i")
        terminal.type(b"PS1=pro''mpt:\r")
        terminal.expect(b"prompt:")
        terminal.type(b"sh -c 'echo up; exec cat'\r")
        terminal.expect(b"up\r\n")
        terminal.type(b"\x1a")
        terminal.expect(b"Stopped")
        terminal.expect(b"prompt:")
        terminal.type(b"fg\r")
        terminal.expect(b"exec cat'\r\n")
        terminal.type(b"again\r")
        terminal.expect(b"again\r\nagain\r\n")
        terminal.type(b"\x03")
        terminal.expect(b"prompt:")
        terminal.type(b"exit 9\r")
        self.assert_ended(terminal, 9, answers=[(b"\033[c", b"\033[?62c")])

    def test_much_output(self):
        terminal = self.terminal("seq 200000; echo end")
        shown = terminal.expect(b"end\r\n")
        self.assertEqual(shown.split(b"\r\n")[:-2], [b"%d" % n for n in range(1, 200001)])
        self.assert_ended(terminal, 0)

    def test_stopped_output(self):
        """Flow control of the terminal outside stops the output and not the tool."""
        terminal = self.terminal("echo ready; while :; do echo y; done")
        terminal.expect(b"ready\r\n")
        termios.tcflow(terminal.slave, termios.TCOOFF)
        terminal.type(b"\x03")
        terminal.process.terminate()
        terminal.process.send_signal(signal.SIGINT)
        terminal.process.send_signal(signal.SIGINT)
        termios.tcflow(terminal.slave, termios.TCOON)
        self.assertIn(terminal.wait()[0], (130, 137, 143))

    def test_typed_ahead(self):
        terminal = self.terminal("read line; echo \"got $line\"")
        terminal.type(b"early\r")
        terminal.expect(b"got early\r\n")
        self.assert_ended(terminal, 0)

    def test_signals(self):
        for name in ("TERM", "HUP", "QUIT"):
            with self.subTest(name):
                terminal = self.terminal("echo ready; exec sleep 600")
                terminal.expect(b"ready\r\n")
                terminal.process.send_signal(getattr(signal, "SIG" + name))
                self.assert_ended(terminal, 128 + getattr(signal, "SIG" + name))

    def test_crashes(self):
        """Whatever ends the tool, but for SIGKILL, the terminal is given back."""
        for name in ("SEGV", "ABRT", "BUS", "ILL", "FPE", "USR1", "ALRM"):
            with self.subTest(name):
                terminal = self.terminal("printf '\\033[?1000h'; echo ready; exec sleep 600")
                terminal.expect(b"ready\r\n")
                self.assertTrue(terminal.is_raw())
                terminal.process.send_signal(getattr(signal, "SIG" + name))
                status, shown = terminal.wait()
                self.assertEqual(status, -getattr(signal, "SIG" + name))
                self.assertEqual(terminal.get_settings(), terminal.settings)
                self.assertIn(b"\033[?1000l", shown)

    def test_hang_up(self):
        """The terminal's window is closed: nothing stays behind."""
        terminal = self.terminal("trap '' HUP; echo ready; while :; do echo y; sleep 0.05; done")
        terminal.expect(b"ready\r\n")
        master, terminal.master = terminal.master, os.dup(terminal.slave)
        os.close(master)
        self.assertNotEqual(terminal.process.wait(30), 0)

    def test_suspended(self):
        terminal = self.terminal("echo ready; read line; echo \"got $line\"")
        terminal.expect(b"ready\r\n")
        for stop in (signal.SIGTSTP, signal.SIGSTOP):
            terminal.process.send_signal(stop)
            self.assertTrue(os.WIFSTOPPED(os.waitpid(terminal.pid, os.WUNTRACED)[1]))
            if stop == signal.SIGTSTP:
                self.assertEqual(terminal.get_settings(), terminal.settings)
            termios.tcsetattr(terminal.slave, termios.TCSANOW, terminal.settings)
            terminal.process.send_signal(signal.SIGCONT)
            wait_for(terminal.is_raw, "the terminal to be raw again")
        terminal.type(b"more\r")
        terminal.expect(b"got more\r\n")
        self.assert_ended(terminal, 0)

    def test_not_started(self):
        terminal = Terminal(self, "run", "--", "no-such-program")
        status, shown = terminal.wait()
        self.assertEqual(status, 127)
        self.assertIn(b"no-such-program", shown)
        self.assertNotIn(b"\033", shown)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_timeout(self):
        terminal = self.terminal("echo ready; exec sleep 600", "--timeout", "0.5")
        status, shown = terminal.wait()
        self.assertEqual(status, 124)
        self.assertTrue(shown.endswith(b"(--timeout), and it was ended\r\n"), shown)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_record(self):
        terminal = self.terminal("printf 12345", "--json", self.path("record.json"))
        self.assert_ended(terminal, 0)
        self.assertIn(b'"terminal" : true', self.read_file("record.json"))
        self.assertIn(b'"stdout_bytes" : 5', self.read_file("record.json"))


class Partly(ToolTest):
    """Not all of the standard streams are a terminal."""

    def test_output_elsewhere(self):
        terminal = Terminal(self, "run", "--", "sh", "-c", "test -t 0 || test -t 1 || echo no; read x; echo $x",
                            stdout=subprocess.PIPE)
        self.assertEqual(read_until(terminal.process.stdout.fileno(), b"no\n"), b"no\n")
        self.assertFalse(terminal.is_raw())
        terminal.type(b"typed\r")
        self.assertEqual(read_until(terminal.process.stdout.fileno(), b"\n"), b"typed\n")
        self.assertEqual(terminal.wait()[0], 0)

    def test_input_elsewhere(self):
        terminal = Terminal(self, "run", "--", "sh", "-c", "test -t 0 || test -t 1 || echo no; cat",
                            stdin=subprocess.PIPE)
        terminal.process.stdin.write(b"piped\n")
        terminal.process.stdin.close()
        terminal.expect(b"no\r\npiped\r\n")
        self.assertEqual(terminal.wait()[0], 0)

    def test_no_tty(self):
        terminal = Terminal(self, "run", "--no-tty", "--", "sh", "-c", "test -t 0 || test -t 1 || echo no")
        terminal.expect(b"no\r\n")
        self.assertEqual(terminal.wait()[0], 0)

    def test_tty_with_input_elsewhere(self):
        terminal = Terminal(self, "run", "--tty", "--", "sh", "-c", "test -t 0 && test -t 1 && cat && echo end",
                            stdin=subprocess.PIPE)
        terminal.process.stdin.write(b"piped\n")
        terminal.process.stdin.close()
        terminal.expect(b"piped\r\n")
        terminal.expect(b"end\r\n")
        self.assertEqual(terminal.wait()[0], 0)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_tty_with_input_elsewhere_can_be_interrupted(self):
        terminal = Terminal(self, "run", "--tty", "--", "sh", "-c", "echo ready; exec sleep 600",
                            stdin=subprocess.DEVNULL)
        terminal.expect(b"ready\r\n")
        terminal.type(b"\x03")
        self.assertEqual(terminal.wait()[0], 130)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_tty_with_output_elsewhere(self):
        terminal = Terminal(self, "run", "--tty", "--", "sh", "-c", "test -t 0 && test -t 1 && read x && echo $x",
                            stdout=subprocess.PIPE)
        wait_for(terminal.is_raw, "the terminal to be raw")
        terminal.type(b"typed\r")
        self.assertEqual(read_until(terminal.process.stdout.fileno(), b""), b"typed\r\ntyped\r\n")
        self.assertEqual(terminal.wait()[0], 0)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_background_reads_nothing(self):
        """A job in the background is not stopped for what is typed to the shell."""
        script = ("import os, subprocess, sys\n"
                  "read, write = os.pipe()\n"
                  "job = subprocess.Popen(sys.argv[1:], stdout=write, preexec_fn=lambda: os.setpgid(0, 0))\n"
                  "os.close(write)\n"
                  "assert os.read(read, 6) == b'ready\\n'\n"
                  "print('typed', os.read(0, 100).decode().strip(), flush=True)\n"
                  "print('job', os.read(read, 100), job.wait(), flush=True)\n")
        more = [os.environ["SBX_TOOL"], "run", "--write", ".", "--", "sh", "-c",
                "echo ready; while ! [ -e go ]; do sleep 0.05; done; exit 6"]
        terminal = Terminal.__new__(Terminal)
        import pty
        terminal.master, terminal.slave = pty.openpty()
        terminal.seen = b""
        self.addCleanup(terminal.close)
        process = subprocess.Popen(["python3", "-c", script, *more], cwd=self.work, env=self.env,
                                   stdin=terminal.slave, stdout=terminal.slave, stderr=terminal.slave,
                                   start_new_session=True, preexec_fn=terminal.take_terminal)
        self.addCleanup(self.finish, process)
        terminal.type(b"to the shell\r")
        terminal.expect(b"typed to the shell\r\n")
        self.write_file("go", b"")
        terminal.expect(b"job b'' 6\r\n")
        self.assertEqual(process.wait(30), 0)


if __name__ == "__main__":
    main()
