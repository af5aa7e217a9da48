#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool run: signals. The command decides what they mean, until somebody insists."""

import os
import signal
import subprocess

from tooltest import TOOL, ToolTest, main, read_until, wait_for

TRAP = "trap 'echo got; exit 7' {}; echo ready; while :; do sleep 0.05; done"
IGNORE = "trap '' INT TERM HUP QUIT; echo ready; while :; do sleep 0.05; done"


class Forwarded(ToolTest):
    def start_ready(self, script, *options, **more):
        process = self.start("run", *options, "--", "sh", "-c", script, **more)
        read_until(process.stdout.fileno(), b"ready\n")
        return process

    def test_handled(self):
        for name in ("INT", "TERM", "HUP", "QUIT"):
            with self.subTest(name):
                process = self.start_ready(TRAP.format(name))
                process.send_signal(getattr(signal, "SIG" + name))
                self.assertEqual(process.stdout.read(), b"got\n")
                self.assertEqual(process.wait(), 7)

    def test_not_handled(self):
        for name in ("INT", "TERM", "HUP", "QUIT"):
            with self.subTest(name):
                process = self.start_ready("echo ready; exec sleep 600")
                process.send_signal(getattr(signal, "SIG" + name))
                self.assertEqual(process.wait(), 128 + getattr(signal, "SIG" + name))
                self.assertEqual(process.stderr.read(), b"")

    def test_whole_group(self):
        """As from a terminal, all of a pipeline gets it."""
        process = self.start_ready("(trap 'echo child >&2; exit' INT; echo ready; while :; do sleep 0.05; done) "
                                   "| sed -u p; echo after")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        self.assertEqual(process.stderr.read(), b"child\n")

    def test_second_interrupt_kills(self):
        process = self.start_ready(IGNORE.replace("while", "setsid sleep 600 & while"))
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGHUP)
        # It must have come before the second one, or both are one.
        wait_for(lambda: not int(self.pending(process), 16) & 1 << (signal.SIGINT - 1), "the first")
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 137)

    def test_second_interrupt_of_a_stopped_sandbox(self):
        """Whoever stopped process 1 of the sandbox does not keep it, and the tool, for ever."""
        process = self.start_ready("echo ready; exec sleep 600")
        inits = self.descendants(process.pid, "sbx-init")
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in inits if os.path.exists(f"/proc/{pid}")])
        os.kill(inits[0], signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        wait_for(lambda: not int(self.pending(process), 16) & 1 << (signal.SIGINT - 1), "the first")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 137)
        self.assertFalse(os.path.exists(f"/proc/{inits[0]}"))
        self.assertEqual(self.sessions(), [])

    def descendants(self, root, name):
        """The processes of a name below another, from the top."""
        parents, found = [root], []
        while parents:
            output = subprocess.run(["ps", "--ppid", ",".join(map(str, parents)), "-o", "pid=,comm="],
                                    capture_output=True, text=True, check=False).stdout
            children = [line.split() for line in output.splitlines()]
            found += [int(pid) for pid, comm in children if comm == name]
            parents = [int(pid) for pid, comm in children]
        return found

    def pending(self, process):
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
            return next(line.split()[1] for line in status if line.startswith("ShdPnd"))

    def test_ignored_from_the_start(self):
        """As nohup(1) or a shell's background job has it."""
        process = self.start_ready(TRAP.format("HUP"),
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.terminate()
        self.assertEqual(process.wait(), 143)

    def test_while_it_opens(self):
        """At any moment, and no sandbox or directory is left."""
        for delay_ms in range(0, 30):
            process = self.start("run", "--", "sleep", "600")
            try:
                process.wait(delay_ms / 1000)
            except subprocess.TimeoutExpired:
                pass
            process.terminate()
            # Before our handler is in place it is the signal itself that ends the tool.
            self.assertIn(process.wait(), (143, -15))
            self.assertEqual(process.stderr.read(), b"")
        self.assert_status(self.tool("clean"), 0)
        self.assertEqual(self.sessions(), [])

    def test_slow_reader(self):
        """The command has ended, and somebody does not want to wait for what is left to be read."""
        reader, writer = os.pipe()
        process = self.start("run", "--", "head", "-c", "131072", "/dev/zero", stdout=writer)
        os.close(writer)
        self.wait_for_close(process)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        os.close(reader)

    def test_stop_and_continue(self):
        process = self.start_ready("echo ready; while :; do echo tick; sleep 0.01; done")
        process.send_signal(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
        process.send_signal(signal.SIGCONT)
        read_until(process.stdout.fileno(), b"tick\ntick\n")
        process.terminate()
        read_until(process.stdout.fileno(), b"")
        self.assertEqual(process.wait(), 143)

    def test_killed(self):
        """Nothing of the command outlives a tool that is killed."""
        marker = "60" + str(os.getpid())
        process = self.start_ready(f"setsid sleep {marker} & echo ready; wait")
        running = lambda: any(marker in line for line in
                              subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True,
                                             check=True).stdout.splitlines()
                              if line.startswith("sleep "))
        wait_for(running, "the command to run")
        process.kill()
        process.wait()
        wait_for(lambda: not running(), "the sandbox to end")


if __name__ == "__main__":
    main()
