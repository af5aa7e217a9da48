#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool itself: its commands, their options, and what it says about mistakes."""

import json
import os
import signal
import subprocess
import unittest

from tooltest import Terminal, ToolTest, main, read_until, wait_for

COMPLETION = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "../../sbx-tool/completions/sbx-tool")


class Help(ToolTest):
    def test_version(self):
        result = self.tool("--version")
        self.assert_status(result, 0)
        self.assertRegex(result.stdout, rb"^sbx-tool [0-9]+\.[0-9]+\.[0-9]+\n$")

    def test_help_lists_commands(self):
        result = self.tool("--help")
        self.assert_status(result, 0)
        for command in (b"  run ", b"  doctor ", b"  providers ", b"  cleanup ", b"  clean ",
                        b"  conformance ", b"  record ", b"  replay "):
            self.assertIn(command, result.stdout)
        self.assertEqual(result.stderr, b"")

    def test_help_of_each_command(self):
        for command, option in (("run", b"--toolchain"), ("doctor", b"--json"), ("clean", b"--caches"),
                                ("providers", b"--no-ask"), ("cleanup", b"--provider"),
                                ("conformance", b"--level"), ("record", b"--output")):
            result = self.tool(command, "--help")
            self.assert_status(result, 0)
            self.assertIn(option, result.stdout)
            self.assertIn(f"sbx-tool {command} [OPTION".encode(), result.stdout)

    def test_closed_output(self):
        reader, writer = os.pipe()
        os.close(reader)
        result = self.tool("--help", stdout=writer)
        os.close(writer)
        self.assert_status(result, 125)
        self.assertEqual(result.stderr, b"")

    def test_full_output(self):
        with open("/dev/full", "wb") as full:
            self.assert_status(self.tool("--help", stdout=full), 125, "No space left")


class Mistakes(ToolTest):
    """Each is one message, says what is wrong and with what, and has the status 125."""

    def test_no_command(self):
        self.assert_status(self.tool(), 125, "no command was given")

    def test_unknown_command(self):
        self.assert_status(self.tool("frobnicate"), 125, "frobnicate is no command")

    def test_unknown_option(self):
        self.assert_status(self.tool("--frobnicate"), 125, "--frobnicate is no option")
        self.assert_status(self.tool("run", "--frobnicate", "true"), 125, "--frobnicate")

    def test_extra_argument(self):
        self.assert_status(self.tool("doctor", "now"), 125, "now")
        self.assert_status(self.tool("clean", "now"), 125, "now")

    def test_run_without_command(self):
        self.assert_status(self.tool("run"), 125, "no command was given")
        self.assert_status(self.tool("run", "--fresh", "--"), 125, "no command was given")

    def test_option_without_value(self):
        self.assert_status(self.tool("run", "--read"), 125, "--read")

    def test_timeout(self):
        for value in ("", "soon", "1s", "-1", "0", "nan", "inf", "1e300"):
            with self.subTest(value):
                self.assert_status(self.tool("run", "--timeout", value, "true"), 125, "--timeout")

    def test_variables(self):
        self.assert_status(self.tool("run", "--env", "=x", "true"), 125, "--env needs a name")
        self.assert_status(self.tool("run", "--env", "SBX_NOT_SET", "true"), 125, "SBX_NOT_SET")

    def test_empty_paths(self):
        for option in ("--read", "--write", "--cwd", "--json"):
            with self.subTest(option):
                self.assert_status(self.tool("run", option, "", "true"), 125, option)

    def test_tty_and_no_tty(self):
        self.assert_status(self.tool("run", "--tty", "--no-tty", "true"), 125, "--no-tty")

    def test_tty_without_terminal(self):
        self.assert_status(self.tool("run", "--tty", "true"), 125, "terminal")

    def test_deleted_directory(self):
        gone = self.path("gone")
        os.mkdir(gone)
        script = 'rmdir "$1"; exec "$2" run --write . -- true'
        process = subprocess.run(["sh", "-c", script, "sh", gone, os.environ["SBX_TOOL"]], cwd=gone,
                                 env=self.env, capture_output=True, stdin=subprocess.DEVNULL)
        self.assert_status(process, 125, "current directory")


class Reach(ToolTest):
    """What cannot be opened says why, in words about the option."""

    def test_missing_path(self):
        for option in ("--read", "--write"):
            result = self.tool("run", option, "missing", "--", "true")
            self.assert_status(result, 125, "missing")

    def test_missing_cwd(self):
        self.assert_status(self.tool("run", "--cwd", "missing", "--", "true"), 125, "missing")

    def test_file_as_cwd(self):
        self.write_file("file", b"")
        self.assert_status(self.tool("run", "--cwd", "file", "--", "true"), 125, "file")

    def test_loop_of_links(self):
        os.symlink("loop", self.path("loop"))
        self.assert_status(self.tool("run", "--read", "loop", "--", "true"), 125, "loop")


class Doctor(ToolTest):
    def test_words(self):
        result = self.tool("doctor")
        self.assert_status(result, 0)
        self.assertIn(b"Sandboxes can be opened on this machine.", result.stdout)
        self.assertNotIn(b"\033", result.stdout)

    def test_json(self):
        result = self.tool("doctor", "--json")
        self.assert_status(result, 0)
        report = json.loads(result.stdout)
        self.assertEqual(report["version"], 1)
        self.assertIs(report["blocked"], False)
        self.assertTrue(report["findings"])
        for finding in report["findings"]:
            self.assertEqual(set(finding), {"id", "level", "summary", "remedy"})
            self.assertIn(finding["level"], ("good", "weaker"))
            self.assertTrue(finding["id"] and finding["summary"])

    def crippled(self, crippling, *arguments):
        """What doctor reports on a machine that lacks something, and whether run agrees."""
        script = crippling + ' && { "$0" doctor --json; echo $?; "$0" run -- true; echo $?; }'
        process = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script,
                                  os.environ["SBX_TOOL"], *arguments], cwd=self.work, env=self.env,
                                 capture_output=True, stdin=subprocess.DEVNULL)
        *report, status, run_status = process.stdout.splitlines()
        report = json.loads(b"\n".join(report))
        self.assertEqual((status, run_status), (b"1", b"125") if report["blocked"] else (b"0", b"0"),
                         process.stderr)
        blocking = [f for f in report["findings"] if f["level"] == "blocking"]
        self.assertEqual(bool(blocking), report["blocked"])
        for finding in blocking:
            # What to do stands by itself, or behind what was found.
            self.assertTrue(finding["remedy"] or "; " in finding["summary"], finding)
        return blocking, process.stderr.decode()

    def program(self, name, content, mode=0o755):
        path = self.write_file(name, content)
        os.chmod(path, mode)
        return path

    def test_broken_bubblewrap(self):
        fake = self.program("bwrap", b"#!/bin/sh\nexit 1\n")
        blocking, said = self.crippled('mount --bind "$1" /usr/bin/bwrap', fake)
        self.assertTrue(blocking)
        self.assertIn("sbx-tool: ", said)

    def test_old_bubblewrap(self):
        fake = self.program("bwrap", b"#!/bin/sh\necho 'usage: bwrap [OPTIONS...] COMMAND'\n"
                                     b"echo '    --unshare-user   Create new user namespace'\n")
        blocking, said = self.crippled('mount --bind "$1" /usr/bin/bwrap', fake)
        self.assertIn("bubblewrap", [finding["id"] for finding in blocking])
        self.assertIn("--as-pid-1", said)

    def test_setuid_bubblewrap(self):
        with open("/usr/bin/bwrap", "rb") as real:
            copy = self.program("bwrap", real.read(), 0o4755)
        blocking, said = self.crippled('mount --bind "$1" /usr/bin/bwrap', copy)
        self.assertIn("bubblewrap", [finding["id"] for finding in blocking])
        self.assertIn("setuid", said)

    def test_no_user_namespaces(self):
        blocking, said = self.crippled("echo 0 > /proc/sys/user/max_user_namespaces")
        self.assertIn("user-namespaces", [finding["id"] for finding in blocking])
        self.assertIn("max_user_namespaces", said)

    def test_no_runtime_directory(self):
        """Nothing of a sandbox needs one."""
        blocking, _ = self.crippled("unset XDG_RUNTIME_DIR && mount -t tmpfs tmpfs /run")
        self.assertEqual(blocking, [])

    def test_no_init(self):
        blocking, said = self.crippled('export SBX_INIT="$1"', "/nonexistent/sbx-init")
        self.assertEqual([finding["id"] for finding in blocking], ["init"])
        self.assertIn("/nonexistent/sbx-init", said)

    def test_colours(self):
        terminal = Terminal(self, "doctor")
        status, shown = terminal.wait()
        self.assertEqual(status, 0)
        self.assertIn(b"\033[32mgood\033[0m", shown)

    def test_no_colours(self):
        for variable, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
            self.env[variable] = value
            status, shown = Terminal(self, "doctor").wait()
            self.assertEqual(status, 0)
            self.assertNotIn(b"\033", shown)


class Clean(ToolTest):
    def test_nothing(self):
        self.assert_status(self.tool("run", "--", "true"), 0)
        result = self.tool("clean")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"There was nothing to remove.\n")

    def test_after_kill(self):
        process = self.start("run", "--", "sh", "-c", "echo ready; exec sleep 600")
        read_until(process.stdout.fileno(), b"ready\n")
        names = self.sessions()
        self.assertEqual(len(names), 1)
        process.kill()
        process.wait()

        def cleaned():
            result = self.tool("clean")
            self.assert_status(result, 0)
            return names[0].encode() in result.stdout

        wait_for(cleaned, "the session's directory to be removed")
        self.assertEqual(self.sessions(), [])

    def test_leaves_what_is_in_use(self):
        process = self.start("run", "--", "sh", "-c", "echo ready; cat; touch /tmp/x && echo done",
                             stdin=subprocess.PIPE)
        read_until(process.stdout.fileno(), b"ready\n")
        self.assert_status(self.tool("clean", "--caches"), 0)
        self.assertEqual(len(self.sessions()), 1)
        process.stdin.close()
        read_until(process.stdout.fileno(), b"done\n")
        self.assertEqual(process.wait(), 0)

    def test_caches(self):
        self.assert_status(self.run_sh("touch ~/cache"), 0)
        self.assert_status(self.run_sh("test -e ~/cache"), 0)
        result = self.tool("clean", "--caches")
        self.assert_status(result, 0)
        self.assertIn(b"Removed ", result.stdout)
        self.assert_status(self.run_sh("test -e ~/cache"), 1)


class Completion(ToolTest):
    """The bash script, asked as bash asks it."""

    def complete(self, *words):
        # mapfile comes last, so that the words are what they are whatever is in them.
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt () { :; }; '
                  '_sbx_tool; printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "--norc", "-c", script, "bash", COMPLETION,
                                 os.environ["SBX_TOOL"], *words], cwd=self.work, env=self.env,
                                capture_output=True, check=True)
        self.assertEqual(result.stderr, b"")
        return set(result.stdout.decode().split("\n")) - {""}

    def test_commands(self):
        self.assertEqual(self.complete(""),
                         {"run", "explain", "check", "doctor", "providers", "cleanup", "clean", "conformance",
                          "record", "replay", "--help", "--version"})
        self.assertEqual(self.complete("d"), {"doctor"})

    def test_options(self):
        self.assertEqual(self.complete("clean", "--"), {"--caches", "--help"})
        self.assertEqual(self.complete("run", "--t"), {"--timeout", "--toolchain", "--tty"})
        self.assertEqual(self.complete("run", "--fresh", "--wr"), {"--write"})

    def test_values(self):
        self.write_file("a-file", b"")
        os.mkdir(self.path("a-dir"))
        self.assertEqual(self.complete("run", "--read", "a-"), {"a-file", "a-dir"})
        self.assertEqual(self.complete("run", "--cwd", "a-"), {"a-dir"})
        self.assertEqual(self.complete("run", "--timeout", ""), set())
        self.assertEqual(self.complete("run", "--group", ""), set())
        self.assertEqual(self.complete("run", "--limit", ""), set())
        self.assertEqual(self.complete("explain", "a-"), {"a-file", "a-dir"})
        self.assertEqual(self.complete("explain", "a-file", "--js"), {"--json"})
        self.assertEqual(self.complete("check", "--write", ".", "--spec", "a-f"), {"a-file"})
        self.assertEqual(self.complete("conformance", "--workspace", "a-"), {"a-dir"})

    def test_command_line(self):
        self.write_file("an-argument", b"")
        self.assertIn("true", self.complete("run", "--fresh", "--", "tru"))
        self.assertIn("true", self.complete("run", "--read", "x", "tru"))
        self.assertEqual(self.complete("run", "--", "cat", "an-"), {"an-argument"})


if __name__ == "__main__":
    main()
