#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs an example of each language, and checks what it prints and when.

Usage: test-examples.py COMMAND…: what runs the example.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

EXAMPLE = [os.path.abspath(sys.argv[1]), *sys.argv[2:]]


class Example(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="sbx-example-")
        self.addCleanup(shutil.rmtree, self.base, True)
        self.work = os.path.join(self.base, "a b")
        os.mkdir(self.work)
        self.environment = {**os.environ, "HOME": self.base,
                            "XDG_DATA_HOME": os.path.join(self.base, "data")}

    def start(self, *command):
        return subprocess.Popen([*EXAMPLE, *command], cwd=self.work, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_example(self, *command):
        process = self.start(*command)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def test_output(self):
        status, out, err = self.run_example("sh", "-c", "pwd; echo err >&2; echo x > made; exit 7")
        self.assertEqual((status, out, err), (7, self.work.encode() + b"\n", b"err\n"))
        self.assertEqual(os.listdir(self.work), ["made"])

    def test_as_it_comes(self):
        process = self.start("sh", "-c", "echo one; while ! test -e go; do sleep 0.01; done; "
                                         "echo two")
        self.assertEqual(process.stdout.readline(), b"one\n")
        # Only now may it go on, so that the line did not wait for the end.
        with open(os.path.join(self.work, "go"), "wb"):
            pass
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out, err), (0, b"two\n", b""))

    def test_bytes(self):
        status, out, _err = self.run_example("head", "-c", "3000000", "/dev/zero")
        self.assertEqual((status, len(out)), (0, 3000000))

    def test_confined(self):
        with open(os.path.join(self.base, "secret"), "w", encoding="ascii") as secret:
            secret.write("secret")
        status, out, err = self.run_example("cat", "../secret")
        self.assertEqual((status, out), (1, b""))
        self.assertIn(b"secret", err)

    def test_signal(self):
        status, out, err = self.run_example("sh", "-c", "kill -KILL $$")
        self.assertEqual((status, out, err), (137, b"", b""))

    def test_not_started(self):
        status, out, err = self.run_example("no-such-program")
        self.assertEqual((status, out), (1, b""))
        self.assertIn(b"no-such-program", err)

    def test_usage(self):
        status, out, err = self.run_example()
        self.assertEqual((status, out), (125, b""))
        self.assertTrue(err.startswith(b"Usage: "), err)

    def test_not_opened(self):
        self.environment["PATH"] = os.environ["PATH"]
        os.rmdir(self.work)
        self.work = "/"
        status, out, err = self.run_example("true")
        self.assertEqual((status, out), (125, b""))
        self.assertTrue(err.startswith(b"run"), err)


if __name__ == "__main__":
    tap.main()
