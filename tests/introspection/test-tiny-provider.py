#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A provider of twenty lines of Python, and the client of the library on its other side.

Usage: test-tiny-provider.py EXAMPLE
"""

import os
import sys
import unittest

import gi

import tap

gi.require_version("Sbx", "1")
from gi.repository import GLib, Sbx

EXAMPLE = os.path.abspath(sys.argv[1])


class TinyProvider(unittest.TestCase):
    def setUp(self):
        self.client = Sbx.ProviderClient.new([sys.executable, EXAMPLE, "serve"])
        request = Sbx.OpenRequest.new_for_profile("/", "any")
        self.environment = Sbx.ExecutionEnvironment.open(self.client, request, None)
        self.session = self.environment.get_session()

    def test_it_is_short(self):
        with open(EXAMPLE, encoding="utf-8") as file:
            lines = [line for line in file if line.strip() and not line.startswith("#")]
        self.assertLessEqual(len(lines), 20)

    def test_exec(self):
        process = self.session.create_process(Sbx.Command.new(["grüß", "dich"]))
        live = []
        process.connect("stdout", lambda process, data: live.append(data.get_data()))
        result = process.run(None)
        self.assertEqual(result.get_exit_code(), 0)
        self.assertEqual(b"".join(live), "grüß dich\n".encode())
        self.assertEqual(result.get_stdout().get_data(), "grüß dich\n".encode())
        self.assertTrue(self.environment.close(None))

    def test_what_it_lacks(self):
        with self.assertRaises(GLib.Error) as caught:
            self.session.read_file("/etc/hostname", 0, None)
        self.assertIn("sbx-error-quark", caught.exception.domain)
        self.assertTrue(self.environment.close(None))
        self.assertEqual(self.client.get_state(), Sbx.ProviderClientState.CLOSED)


tap.main()
