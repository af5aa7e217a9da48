#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command in a sandbox that may change the current directory and reach nothing else, and
prints its output as it comes.

Usage: run.py COMMAND [ARGUMENT…]
"""

import os
import sys

import gi

gi.require_version("Sbx", "1")
from gi.repository import GLib, Sbx


def main(argv):
    if not argv:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 125

    reach = Sbx.Reach.new(os.getcwd())
    reach.add_write(os.getcwd())

    try:
        session = Sbx.BwrapProvider.new().open(Sbx.OpenRequest.new(reach), None)
    except GLib.Error as error:
        print(f"run.py: {error.message}", file=sys.stderr)
        return 125

    try:
        process = session.create_process(Sbx.Command.new(argv))
        process.connect("stdout", lambda _process, data: os.write(1, data.get_data()))
        process.connect("stderr", lambda _process, data: os.write(2, data.get_data()))
        result = process.run(None)
    finally:
        session.close(None)

    if result.get_outcome() == Sbx.ExecOutcome.EXITED:
        return result.get_exit_code()
    if result.get_outcome() == Sbx.ExecOutcome.SIGNALLED:
        return 128 + result.get_signal()
    print(f"run.py: {result.get_message()}", file=sys.stderr)
    return 1


sys.exit(main(sys.argv[1:]))
