#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-options.py SBX-TOOL PAGE: every option that --help shows stands on the manual page."""

import re
import subprocess
import sys

# What a line of "--help" looks like that begins with an option, and what an entry of the page does.
SHOWN = re.compile(r"^ {2,}(?:-\w, )?(--[\w-]+)", re.M)
DOCUMENTED = re.compile(r"^(?:-\w(?: \w+)?, )?(--[\w-]+.*)", re.M)
OPTION = re.compile(r"--[\w-]+")


def section(page, command):
    """The part of the page that describes a subcommand, or all of it."""
    found = re.search(rf"^{re.escape(command)}\n-+\n(.*?)(?=^\S+\n[-=]+\n|\Z)", page, re.M | re.S)
    return found[1] if found else ""


tool, path = sys.argv[1:]
page = open(path).read()
missing = 0
COMMANDS = "run explain check doctor providers cleanup clean conformance record replay"
for command in COMMANDS.split():
    text = subprocess.run([tool, command, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout
    shown = set(SHOWN.findall(text)) - {"--help"}
    entries = DOCUMENTED.findall(section(page, command))
    documented = {option for entry in entries for option in OPTION.findall(entry)} - {"--help"}
    print(f"{command}: {' '.join(sorted(shown))}")
    if command == "run" and not shown:
        sys.exit("sbx-tool run --help shows no options")
    for option in sorted(shown ^ documented):
        print(f"{command}: {option} is only {'in --help' if option in shown else 'on the page'}")
        missing += 1
sys.exit(1 if missing else 0)
