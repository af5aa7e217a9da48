#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool run: the three streams. Every byte comes through, as it is written, and no more is kept
than what a pipe holds."""

import os
import random
import socket
import subprocess
import threading
import time

from tooltest import TOOL, ToolTest, main, read_until, wait_for

MIB = 1024 * 1024
RANDOM = random.Random(2).randbytes(MIB + 12345)   # with every byte in it, NUL too


class Output(ToolTest):
    def test_pipe(self):
        self.write_file("data", RANDOM)
        result = self.tool("run", "--", "sh", "-c", "cat data; cat data >&2")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, RANDOM)
        self.assertEqual(result.stderr, RANDOM)

    def test_file(self):
        self.write_file("data", RANDOM)
        for flags, before in (("wb", b""), ("ab", b"before")):
            with self.subTest(flags):
                self.write_file("out", b"before")
                with open(self.path("out"), flags) as out:
                    self.assert_status(self.tool("run", "--", "cat", "data", stdout=out), 0)
                self.assertEqual(self.read_file("out"), before + RANDOM)

    def test_file_position(self):
        """The command writes where the file's offset is, and whoever writes next goes on there."""
        with open(self.path("out"), "wb", buffering=0) as out:
            out.write(b"head ")
            self.assert_status(self.tool("run", "--", "printf", "middle", stdout=out), 0)
            out.write(b" tail")
        self.assertEqual(self.read_file("out"), b"head middle tail")

    def test_socket(self):
        self.write_file("data", RANDOM)
        ours, theirs = socket.socketpair()
        process = self.start("run", "--", "cat", "data", stdout=theirs)
        theirs.close()
        self.assertEqual(read_until(ours.fileno(), b""), RANDOM)
        ours.close()
        self.assertEqual(process.wait(), 0)

    def test_closed(self):
        """With an output closed the command's goes nowhere, and not into some file that we opened."""
        self.write_file("data", RANDOM)
        script = f'exec "$0" run --write . -- sh -c "cat data; cat data >&2; touch done" {{}}>&-'
        for fd in (1, 2):
            with self.subTest(fd):
                result = subprocess.run(["sh", "-c", script.format(fd), TOOL], cwd=self.work, env=self.env,
                                        capture_output=True, stdin=subprocess.DEVNULL)
                self.assertEqual(result.returncode, 0)
                self.assertEqual((result.stdout, result.stderr)[2 - fd], RANDOM)
                self.assertEqual((result.stdout, result.stderr)[fd - 1], b"")
                os.unlink(self.path("done"))

    def test_full(self):
        with open("/dev/full", "wb") as full:
            result = self.tool("run", "--", "sh", "-c", "echo x; exec sleep 600", stdout=full)
        self.assert_status(result, 125, "No space left")

    def test_as_it_comes(self):
        process = self.start("run", "--", "sh", "-c", "printf a; read x; printf b >&2; read x; printf c",
                             stdin=subprocess.PIPE)
        self.assertEqual(os.read(process.stdout.fileno(), 10), b"a")
        os.write(process.stdin.fileno(), b"\n")
        self.assertEqual(os.read(process.stderr.fileno(), 10), b"b")
        os.write(process.stdin.fileno(), b"\n")
        self.assertEqual(os.read(process.stdout.fileno(), 10), b"c")
        self.assertEqual(process.wait(), 0)

    def test_written_last(self):
        """What was written right before the end is not lost, from whomever it is."""
        for _ in range(20):
            result = self.tool("run", "--", "sh", "-c", "sh -c 'exec head -c 60000 /dev/zero' & wait; kill -9 $$")
            self.assert_status(result, 137)
            self.assertEqual(len(result.stdout), 60000)

    def test_slow_reader(self):
        """The command waits for a slow reader, and nothing of its output is lost."""
        script = "i=0; while [ $i -lt 400 ]; do head -c 32768 /dev/zero; i=$((i+1)); echo $i >count; done"
        process = self.start("run", "--write", ".", "--", "sh", "-c", script)
        counts = []

        def stands_still():
            counts.append(self.read_file("count") if os.path.exists(self.path("count")) else None)
            time.sleep(0.1)
            return len(counts) > 5 and counts[-1] is not None and len(set(counts[-5:])) == 1

        wait_for(stands_still, "the command to wait")
        self.assertLess(int(counts[-1]), 4 * MIB // 32768)
        self.assertEqual(len(process.stdout.read()), 400 * 32768)
        self.assertEqual(process.wait(), 0)

    def test_slow_reader_after_the_end(self):
        """The sandbox is gone, and what it wrote is still there for whoever takes his time."""
        process = self.start("run", "--", "sh", "-c", "head -c 65536 /dev/zero")
        self.wait_for_close(process)
        self.assertEqual(len(process.stdout.read()), 65536)
        self.assertEqual(process.wait(), 0)

    def test_memory(self):
        """A gigabyte goes through, and the tool needs no more than for a byte in the same time."""
        def peak(size):
            with open("/dev/null", "wb") as null:
                process = self.start("run", "--", "sh", "-c", f"head -c {size} /dev/zero; sleep 0.3",
                                     stdout=null)
                _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return usage.ru_maxrss

        self.assertLess(peak("1G"), peak("1") + 4096)

    def test_head(self):
        """The reader goes away: the tool ends quietly, and ends the command."""
        result = subprocess.run(["bash", "-c", '"$0" run -- yes | head -n 1; echo "${PIPESTATUS[0]}"', TOOL],
                                cwd=self.work, env=self.env, capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual((result.stdout, result.stderr), (b"y\n141\n", b""))

    def test_head_of_both(self):
        result = subprocess.run(["bash", "-c", '"$0" run -- sh -c "exec yes >&2" 2>&1 | head -n 1; '
                                 'echo "${PIPESTATUS[0]}"', TOOL],
                                cwd=self.work, env=self.env, capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual((result.stdout, result.stderr), (b"y\n141\n", b""))

    def test_head_of_the_stubborn(self):
        process = self.start("run", "--write", ".", "--", "sh", "-c",
                             "trap '' PIPE TERM HUP INT; while :; do echo y; done")
        process.stdout.close()
        self.assertEqual(process.wait(), 141)
        self.assertEqual(process.stderr.read(), b"")


class Input(ToolTest):
    def test_pipe(self):
        result = self.tool("run", "--", "cat", input=RANDOM)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, RANDOM)

    def test_file(self):
        self.write_file("data", RANDOM)
        with open(self.path("data"), "rb") as data:
            self.assertEqual(self.tool("run", "--", "cat", stdin=data).stdout, RANDOM)

    def test_file_position(self):
        self.write_file("data", RANDOM)
        with open(self.path("data"), "rb", buffering=0) as data:
            data.seek(1000)
            self.assertEqual(self.tool("run", "--", "cat", stdin=data).stdout, RANDOM[1000:])

    def test_socket(self):
        ours, theirs = socket.socketpair()
        process = self.start("run", "--", "cat", stdin=theirs)
        theirs.close()
        writer = threading.Thread(target=lambda: (ours.sendall(RANDOM), ours.close()))
        writer.start()
        self.assertEqual(process.stdout.read(), RANDOM)
        writer.join()
        self.assertEqual(process.wait(), 0)

    def test_directory(self):
        fd = os.open(self.work, os.O_RDONLY)
        result = self.tool("run", "--write", ".", "--", "touch", "ran", stdin=fd)
        os.close(fd)
        self.assert_status(result, 125, "directory")
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_device(self):
        with open("/dev/zero", "rb") as zero:
            result = self.tool("run", "--", "head", "-c", "300000", stdin=zero)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, bytes(300000))

    def test_closed(self):
        result = subprocess.run(["sh", "-c", 'exec "$0" run -- sh -c "cat; echo end" <&-', TOOL],
                                cwd=self.work, env=self.env, capture_output=True)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"end\n", b""))

    def test_write_only(self):
        with open(self.path("log"), "wb") as log:
            result = self.tool("run", "--", "sleep", "600", stdin=log)
        self.assert_status(result, 125, "standard input cannot be read")

    def test_none(self):
        self.assertEqual(self.tool("run", "--", "sh", "-c", "cat; echo end").stdout, b"end\n")

    def test_more_than_is_read(self):
        """From a file that is larger than all pipes, and from a writer that never stops."""
        self.write_file("data", RANDOM * 8)
        with open(self.path("data"), "rb") as data:
            result = self.tool("run", "--", "head", "-c", "10", stdin=data)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, RANDOM[:10])

        result = subprocess.run(["bash", "-c", 'yes | "$0" run -- head -n 1; echo "${PIPESTATUS[@]}"', TOOL],
                                cwd=self.work, env=self.env, capture_output=True)
        self.assertEqual((result.stdout, result.stderr), (b"y\n141 0\n", b""))

    def test_closed_by_the_command(self):
        """The command goes on without its input, whoever goes on writing."""
        process = self.start("run", "--", "sh", "-c", "exec <&-; echo closed; sleep 0.2; echo end; exit 5",
                             stdin=subprocess.PIPE)
        read_until(process.stdout.fileno(), b"closed\n")
        for _ in range(40):
            try:
                os.write(process.stdin.fileno(), bytes(4096))
            except BrokenPipeError:
                break
        self.assertEqual(read_until(process.stdout.fileno(), b""), b"end\n")
        self.assertEqual(process.wait(), 5)

    def test_silent(self):
        """An input where nothing ever comes does not hold the tool up."""
        process = self.start("run", "--", "echo", "hi", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.read(), b"hi\n")
        self.assertEqual(process.wait(), 0)

    def test_not_read(self):
        """A command that does not read makes the writer wait, and our memory stays what it is."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = self.start("run", "--", "sh", "-c", "echo ready; sleep 600", stdin=reader)
        os.close(reader)
        read_until(process.stdout.fileno(), b"ready\n")
        written = 0
        full_since = time.monotonic()
        while time.monotonic() < full_since + 0.5:
            try:
                written += os.write(writer, bytes(65536))
                full_since = time.monotonic()
            except BlockingIOError:
                time.sleep(0.01)
            self.assertLess(written, 8 * MIB)
        process.terminate()
        self.assertEqual(process.wait(), 143)
        os.close(writer)

    def test_leaves_flags_alone(self):
        """O_NONBLOCK on what we share with others would break them."""
        reader, writer = os.pipe()
        out_reader, out_writer = os.pipe()
        process = self.start("run", "--", "cat", stdin=reader, stdout=out_writer)
        os.write(writer, b"x")
        self.assertEqual(os.read(out_reader, 1), b"x")
        self.assertTrue(os.get_blocking(reader) and os.get_blocking(out_writer))
        os.close(writer)
        self.assertEqual(process.wait(), 0)
        for fd in (reader, out_reader, out_writer):
            os.close(fd)


if __name__ == "__main__":
    main()
