#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up what the logs of meson say: "N passed, N failed, N skipped".

Takes any number of testlog.json files. A test that speaks TAP counts once for each of its points,
any other counts as one. What failed, and why something was skipped, is listed first. The exit
status is 1 if something failed, or if there is nothing to count.

With --no-skip PATTERN a skip whose reason matches the pattern is a failure.
"""

import argparse
import json
import re
import sys
from pathlib import Path

POINT = re.compile(
    r"^(?P<not>not )?ok\b\s*\d*\s*(?:- )?(?P<name>[^#]*?)\s*"
    r"(?:#\s*(?P<directive>SKIP|TODO)\b\s*(?P<reason>.*))?$",
    re.I)
PLAN = re.compile(r"^1\.\.(?P<count>\d+)\s*(?:#\s*SKIP\b\s*(?P<reason>.*))?$", re.I)


def points(test):
    """Yields (name, outcome, reason) for everything that one test of meson reports."""
    name = test["name"]
    outcome = test["result"]
    output = test.get("stdout", "").splitlines()
    found = [m for m in map(POINT.match, output) if m]
    failed = False

    for m in found:
        point = f"{name} {m['name']}"
        directive = (m["directive"] or "").upper()
        if directive == "SKIP":
            yield point, "skipped", m["reason"]
        elif m["not"] and directive != "TODO":
            failed = True
            yield point, "failed", ""
        else:
            yield point, "passed", ""

    if outcome in ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"):
        # A crash, a time-out or a missing point is no line of the output.
        if not failed:
            yield name, "failed", f"{outcome.lower()}, status {test.get('returncode')}"
    elif not found:
        plan = next((m for m in map(PLAN.match, output) if m and m["reason"]), None)
        reason = plan["reason"] if plan else next((line for line in reversed(output) if line.strip()), "")
        yield name, "skipped" if outcome == "SKIP" else "passed", reason


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-skip", metavar="PATTERN", help="a skip for such a reason is a failure")
    parser.add_argument("logs", nargs="*", type=Path)
    options = parser.parse_args()
    forbidden = re.compile(options.no_skip, re.I) if options.no_skip else None
    count = {"passed": 0, "failed": 0, "skipped": 0}

    for log in options.logs:
        if not log.exists():
            print(f"{log}: there is no such log: that suite did not run")
            count["failed"] += 1
            continue
        for line in log.read_text(errors="replace").splitlines():
            for name, outcome, reason in points(json.loads(line)):
                if outcome == "skipped" and forbidden and forbidden.search(reason):
                    outcome = "failed"
                    reason = f"skipped, and must not be here: {reason}"
                if outcome != "passed":
                    print(f"{outcome}: {name}" + (f" ({reason})" if reason else ""))
                count[outcome] += 1

    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["failed"] or not count["passed"] else 0


sys.exit(main())
