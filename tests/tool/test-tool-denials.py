#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sbx-tool run --explain-denials: after a failure, what was refused and the line that allows it."""

import json
import os
import socket

from tooltest import Terminal, ToolTest, main

HEADING = b"refused while the command ran"


class DenialsTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.outside = os.path.join(self.dir, "outside")
        os.mkdir(self.outside)

    def make(self, name):
        path = os.path.join(self.outside, name)
        with open(path, "wb") as file:
            file.write(b"kept\n")
        return path

    def test_a_file(self):
        path = self.make("data")
        result = self.run_sh(f"cat {path}", "--explain-denials")
        self.assert_status(result, 1)
        self.assertIn(HEADING, result.stderr)
        self.assertIn(f'"read": ["{path}"]'.encode(), result.stderr)

    def test_the_line_helps(self):
        path = self.make("data")
        spec = os.path.join(self.dir, "spec.json")
        record = os.path.join(self.dir, "record.json")
        with open(spec, "w") as file:
            json.dump({}, file)
        command = ["--explain-denials", "--json", record, "--spec", spec, "--", "cat", path]
        self.assert_status(self.tool("run", *command), 1)
        with open(record) as file:
            denials = json.load(file)["denials"]
        lines = [denial["suggestion"] for denial in denials if denial["path"] == path]
        self.assertEqual(lines, [f'"read": ["{path}"]'])
        with open(spec, "w") as file:
            file.write("{" + lines[0] + "}")
        result = self.tool("run", *command)
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"kept\n")

    def test_a_socket(self):
        path = os.path.join(self.outside, "socket")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen()
        script = f"perl -MSocket -e 'socket (S, PF_UNIX, SOCK_STREAM, 0); " \
                 f"connect (S, pack_sockaddr_un (\"{path}\")) or exit 4'"
        result = self.run_sh(script, "--explain-denials")
        self.assert_status(result, 4)
        self.assertIn(f'"sockets": ["{path}"]'.encode(), result.stderr)

    def test_success_is_quiet(self):
        path = self.make("data")
        result = self.run_sh(f"cat {path} 2>/dev/null; exit 0", "--explain-denials")
        self.assert_status(result, 0)
        self.assertEqual(result.stderr, b"")

    def test_off(self):
        path = self.make("data")
        record = os.path.join(self.dir, "record.json")
        result = self.run_sh(f"cat {path}", "--json", record)
        self.assert_status(result, 1)
        self.assertNotIn(HEADING, result.stderr)
        with open(record) as file:
            self.assertNotIn("denials", json.load(file))

    def test_a_signal(self):
        path = self.make("data")
        result = self.run_sh(f"cat {path}; kill -9 $$", "--explain-denials")
        self.assert_status(result, 137)
        self.assertIn(HEADING, result.stderr)

    def test_hostile_names(self):
        """A name is no order to a terminal, and no line of its own."""
        name = "a\033]0;forged\a\nsbx-tool: b"
        self.make(name)
        result = self.run_sh("cat \"$NAME\"", "--explain-denials",
                             "--env", f"NAME={os.path.join(self.outside, name)}")
        self.assert_status(result, 1)
        told = result.stderr[result.stderr.index(HEADING):]
        self.assertNotIn(b"\033", told)
        self.assertNotIn(b"\a", told)
        self.assertNotIn(b"\nsbx-tool: b", told)
        self.assertIn(b"forged", told)

    def test_terminal(self):
        path = self.make("data")
        terminal = Terminal(self, "run", "--explain-denials", "--", "cat", path)
        status, shown = terminal.wait()
        self.assertEqual(status, 1)
        self.assertIn(f'"read": ["{path}"]'.encode(), shown)
        self.assertEqual(terminal.get_settings(), terminal.settings)

    def test_not_with_a_provider(self):
        result = self.tool("run", "--provider", "other", "--explain-denials", "--", "true")
        self.assert_status(result, 125, "--explain-denials")


if __name__ == "__main__":
    main()
