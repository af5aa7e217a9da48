#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool run: what the command is given, how it ends, and the record of it."""

import datetime
import errno
import json
import os
import pwd
import re
import resource
import stat
import subprocess

from tooltest import TOOL, ToolTest, main, read_until


class Status(ToolTest):
    def test_exit_codes(self):
        for code in (0, 1, 77, 124, 125, 255):
            result = self.tool("run", "--", "sh", "-c", f"exit {code}")
            self.assert_status(result, code)
            self.assertEqual(result.stderr, b"")

    def test_signals(self):
        for number in (6, 9, 11, 15):
            result = self.tool("run", "--", "sh", "-c", f"kill -{number} $$")
            self.assert_status(result, 128 + number)
            self.assertEqual(result.stderr, b"")

    def test_timeout(self):
        result = self.tool("run", "--timeout", "0.3", "--", "sh", "-c", "echo first; sleep 600")
        self.assert_status(result, 124, "0.3 s")
        self.assertEqual(result.stdout, b"first\n")

    def test_timeout_ends_the_stubborn(self):
        result = self.tool("run", "--timeout", "0.3", "--", "sh", "-c",
                           "trap '' TERM INT HUP; setsid sleep 600 & while :; do sleep 600; done")
        self.assert_status(result, 124)

    def test_in_time(self):
        self.assert_status(self.tool("run", "--timeout", "60", "--", "sh", "-c", "exit 3"), 3)

    def test_home_of_the_account(self):
        """What HOME says does not give away the home directory of the account."""
        home = os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
        if not os.path.isdir(home):
            home = "/"
        for value in ("", "relative", self.dir):
            with self.subTest(value):
                self.assert_status(self.tool("run", "--read", home, "--", "true",
                                             env=dict(self.env, HOME=value)), 125, home)

    def test_relative_directories(self):
        """They count as unset: what is in the working directory is nothing to believe in."""
        env = dict(self.env, HOME=self.dir, XDG_DATA_HOME="data", XDG_CACHE_HOME="cache")
        self.assert_status(self.tool("run", "--", "true", env=env), 0)
        self.assertEqual(os.listdir(self.work), [])
        self.assertIn("libsbx", os.listdir(os.path.join(self.dir, ".local", "share")))

    def test_not_found(self):
        self.assert_status(self.tool("run", "--", "no-such-program"), 127, "no-such-program")
        self.assert_status(self.tool("run", "--", "/no/such/program"), 127, "/no/such/program")

    def test_not_executable(self):
        self.write_file("data", b"data")
        self.assert_status(self.tool("run", "--", "./data"), 126, "./data")
        self.assert_status(self.tool("run", "--", "/usr"), 126, "/usr")

    def test_large(self):
        """Nearly two megabytes of arguments, which is nearly all that the kernel takes."""
        arguments = ["x" * 100_000] * 19
        result = self.tool("run", "--", "sh", "-c", 'printf %s "$@" | wc -c', "sh", *arguments)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout.split(), [b"1900000"])

    def test_too_large(self):
        """The longest command line that the kernel takes here is too long with what is in the
        environment inside, when there is next to nothing in ours."""
        tool = os.path.join(self.dir, "t")
        os.symlink(TOOL, tool)
        keep = ("SBX_INIT", "SBX_UNPROTECT", "LD_LIBRARY_PATH")
        env = {name: os.environ[name] for name in keep if name in os.environ}
        env["XDG_DATA_HOME"] = self.env["XDG_DATA_HOME"]

        def run(word, last):
            command = ["t", word, "--", "true", *["x" * 100_000] * 20, "x" * last]
            return subprocess.run(command, executable=tool, cwd=self.work, env=env, preexec_fn=limit,
                                  stdin=subprocess.DEVNULL, capture_output=True)

        def limit():
            # A quarter of this is what the kernel takes: two megabytes.
            resource.setrlimit(resource.RLIMIT_STACK,
                               (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))

        fits, too_long = 0, 131_000
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            try:
                run("not", middle)
                fits = middle
            except OSError as error:
                self.assertEqual(error.errno, errno.E2BIG)
                too_long = middle
        self.assertLess(fits, 130_000)

        result = run("run", fits)
        self.assert_status(result, 126, "true")

    def test_lost(self):
        """A command that kills what watches it: nobody can say how it ended, and nothing is left."""
        result = self.run_sh("kill -9 $PPID; sleep 600; touch late", "--json", self.path("record.json"))
        self.assert_status(result, 125, "killed from inside")
        self.assertEqual(json.loads(self.read_file("record.json"))["outcome"], "lost")

    def test_background(self):
        """What is left in the background neither holds the tool up nor outlives it."""
        result = self.run_sh("(sleep 600; touch late) & echo hi")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"hi\n")

    def test_closed_output_goes_on(self):
        result = self.run_sh("exec >&- 2>&-; touch done; exit 4")
        self.assert_status(result, 4)
        self.assertEqual(self.read_file("done"), b"")


class Given(ToolTest):
    """What the command line gives the command."""

    def test_without_dashes(self):
        result = self.tool("run", "--fresh", "echo", "--write", "-n", "--")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"--write -n --\n")

    def test_after_dashes(self):
        self.write_file("--odd", b"#!/bin/sh\necho odd \"$@\"\n")
        os.chmod(self.path("--odd"), 0o755)
        result = self.tool("run", "--env", "PATH=" + self.work + ":/usr/bin", "--", "--odd", "--", "x")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"odd -- x\n")

    def test_bytes(self):
        """Arguments, variables and paths are bytes."""
        odd = b"caf\xe9 \xff\n'\"\\\xe2\x80\xae"
        directory = os.path.join(os.fsencode(self.work), odd)
        os.mkdir(directory)
        with open(os.path.join(directory, b"f"), "wb") as file:
            file.write(b"content")
        result = self.tool("run", "--cwd", directory, "--env", b"ODD=" + odd, "--env", "EMPTY=", "--",
                           "sh", "-c", 'printf "%s|%s|%s|%s|" "$1" "$ODD" "${EMPTY-unset}" "$PWD"; cat f',
                           "sh", odd)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"|".join([odd, odd, b"", directory, b"content"]))

    def test_empty_arguments(self):
        result = self.tool("run", "--", "sh", "-c", 'printf "%s:" "$#" "$1" "$2"', "sh", "", "")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"2:::")

    def test_environment(self):
        self.env["SBX_OURS"] = "ours"
        self.env["SBX_PASSED"] = "passed"
        self.env["TZ"] = "UTC-7"
        result = self.tool("run", "--env", "SBX_PASSED", "--env", "SBX_SET=a=b", "--", "env")
        self.assert_status(result, 0)
        lines = result.stdout.splitlines()
        for line in (b"SBX_PASSED=passed", b"SBX_SET=a=b", b"TZ=UTC-7", b"LC_ALL=C.UTF-8",
                     b"TERM=xterm-256color"):
            self.assertIn(line, lines)
        self.assertNotIn(b"SBX_OURS=ours", lines)

    def test_the_last_variable_counts(self):
        result = self.tool("run", "--env", "TERM=mine", "--env", "A=1", "--env", "A=2", "--", "sh", "-c",
                           "echo $TERM $A")
        self.assertEqual(result.stdout, b"mine 2\n")

    def test_current_directory(self):
        self.write_file("here", b"here")
        result = self.tool("run", "--", "sh", "-c", "pwd; cat here; touch new")
        self.assertEqual(result.stdout, self.work.encode() + b"\nhere")
        self.assertFalse(os.path.exists(self.path("new")))

    def test_relative_paths(self):
        os.mkdir(self.path("sub"))
        os.mkdir(self.path("other"))
        self.write_file("other/file", b"other")
        os.symlink("other", self.path("link"))
        result = self.tool("run", "--write", "./sub/.", "--read", "sub/../other//", "--cwd", "sub", "--",
                           "sh", "-c", "cat ../other/file && echo new >file && ls ..")
        self.assert_status(result, 0)
        self.assertEqual(self.read_file("sub/file"), b"new\n")
        self.assertEqual(result.stdout, b"otherother\nsub\n")

    def test_write_through_a_link(self):
        os.mkdir(self.path("real"))
        os.symlink("real", self.path("link"))
        self.assert_status(self.tool("run", "--write", "link", "--", "touch", "real/file"), 0)
        self.assertEqual(self.read_file("real/file"), b"")

    def test_write_is_not_the_rest(self):
        os.mkdir(self.path("mine"))
        result = self.tool("run", "--write", "mine", "--", "sh", "-c", "touch mine/x && touch y")
        self.assertNotEqual(result.returncode, 0)
        self.assertTrue(os.path.exists(self.path("mine/x")))
        self.assertFalse(os.path.exists(self.path("y")))

    def test_home(self):
        self.assert_status(self.run_sh("echo kept >~/file"), 0)
        self.assertEqual(self.run_sh("cat ~/file").stdout, b"kept\n")
        self.assertEqual(self.run_sh("cat ~/file; echo lost >~/file", "--fresh").stdout, b"")
        self.assertEqual(self.run_sh("cat ~/file").stdout, b"kept\n")

    def test_clean_start(self):
        """No signal is blocked or ignored, and no descriptor is open but the three."""
        reader, writer = os.pipe()
        script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd"
        result = self.tool("run", "--", "sh", "-c", script, pass_fds=[reader, writer])
        os.close(reader)
        os.close(writer)
        # The fourth is that of ls, which reads the directory.
        self.assertEqual(result.stdout.split(),
                         [b"SigBlk:", b"0" * 16, b"SigIgn:", b"0" * 16, b"0", b"1", b"2", b"3"])


class Record(ToolTest):
    def record(self, *command, status=0, options=(), **more):
        target = self.path("record.json")
        result = self.tool("run", "--write", self.work, "--json", target, *options, "--", *command, **more)
        self.assert_status(result, status)
        with open(target, encoding="utf-8") as file:
            return json.load(file)

    def test_exited(self):
        record = self.record("sh", "-c", "cat; echo error >&2; exit 3", status=3, input=b"hello\n",
                             options=["--env", "SECRET=hunter2"])
        self.assertEqual(record["version"], 1)
        self.assertEqual((record["outcome"], record["exit_code"], record["signal"], record["status"]),
                         ("exited", 3, None, 3))
        self.assertEqual(record["argv"], ["sh", "-c", "cat; echo error >&2; exit 3"])
        self.assertEqual((record["cwd"], record["write"], record["read"]), (self.work, [self.work], []))
        self.assertEqual((record["stdin_bytes"], record["stdout_bytes"], record["stderr_bytes"]), (6, 6, 6))
        self.assertIs(record["terminal"], False)
        self.assertTrue(record["session"])
        self.assertNotIn("hunter2", self.read_file("record.json").decode())

    def test_times(self):
        record = self.record("sleep", "0.2")
        started, ended = (datetime.datetime.fromisoformat(record[name].replace("Z", "+00:00"))
                          for name in ("started", "ended"))
        self.assertGreaterEqual(record["duration_ms"], 200)
        self.assertAlmostEqual((ended - started).total_seconds() * 1000, record["duration_ms"], delta=2)
        now = datetime.datetime.now(datetime.timezone.utc)
        self.assertLess(abs((now - ended).total_seconds()), 60)

    def test_signalled(self):
        record = self.record("sh", "-c", "kill -9 $$", status=137)
        self.assertEqual((record["outcome"], record["exit_code"], record["signal"], record["status"]),
                         ("signalled", None, 9, 137))

    def test_exited_with_a_number_of_ours(self):
        self.assertEqual(self.record("sh", "-c", "exit 137", status=137)["outcome"], "exited")
        self.assertEqual(self.record("sh", "-c", "exit 124", status=124)["outcome"], "exited")

    def test_timed_out(self):
        record = self.record("sleep", "600", status=124, options=["--timeout", "0.2"])
        self.assertEqual((record["outcome"], record["exit_code"]), ("timed-out", None))
        self.assertIn("0.2", record["message"])

    def test_not_started(self):
        record = self.record("no-such-program", status=127)
        self.assertEqual((record["outcome"], record["exit_code"]), ("not-started", None))
        self.assertIn("no-such-program", record["message"])

    def test_not_opened(self):
        record = self.record("true", status=125, options=["--read", "missing"])
        self.assertEqual((record["outcome"], record["session"]), ("failed", None))
        self.assertIn("missing", record["message"])

    def test_bytes(self):
        record = self.record("true", b"caf\xe9\\", "café\\")
        self.assertEqual(record["argv"], ["true", {"escaped": "caf\\xe9\\\\"}, "café\\"])

    def test_shown_on_a_terminal(self):
        """What stands in it cannot give orders to a terminal that it is shown on."""
        odd = "\x1b[31m\x7f\u009b31m\u202eevil\u2066"
        record = self.record("true", odd)
        self.assertEqual(record["argv"], ["true", odd])
        self.assertIsNone(re.search("[^\n -~]", self.read_file("record.json").decode()))

    def test_replaces_at_once(self):
        """Whoever has the old file open keeps it; there is never half a file, and no other left."""
        old = self.write_file("record.json", b"old")
        with open(old, "rb") as file:
            self.record("true")
            self.assertEqual(file.read(), b"old")
        self.assertEqual(os.listdir(self.work), ["record.json"])

    def test_follows_no_link_of_the_command(self):
        outside = os.path.join(self.dir, "outside")
        os.mkdir(outside)
        os.mkdir(self.path("out"))
        result = self.run_sh(f"mv out away; ln -s {outside} out; ln -s {outside}/victim away/r.json",
                             "--json", self.path("out/r.json"))
        self.assert_status(result, 0)
        self.assertEqual(os.listdir(outside), [])
        self.assertEqual(json.loads(self.read_file("away/r.json"))["outcome"], "exited")
        self.assertTrue(stat.S_ISREG(os.lstat(self.path("away/r.json")).st_mode))

    def test_descriptor(self):
        reader, writer = os.pipe()
        result = self.tool("run", "--json", f"/dev/fd/{writer}", "--", "true", pass_fds=[writer])
        os.close(writer)
        self.assert_status(result, 0)
        self.assertEqual(json.loads(read_until(reader, b""))["outcome"], "exited")
        os.close(reader)

    def test_cannot_be_written(self):
        result = self.tool("run", "--json", self.path("no/where"), "--", "touch", self.path("ran"))
        self.assert_status(result, 125, "no/where")
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assert_status(self.tool("run", "--json", self.work, "--", "true"), 125, "Is a directory")


if __name__ == "__main__":
    main()
