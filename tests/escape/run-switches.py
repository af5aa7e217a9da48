#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes the protections out one at a time, and shows that each one is missed.

Every row of the security page that names a protection has tests, and a switch in the source,
SBX_PROTECTS (row), which the programs given here obey. For each row its tests run twice: with
everything in force all must pass; with the row in SBX_UNPROTECT at least one must fail. A row
without a test or without a switch fails, and so does a switch that belongs to no row.

Reports in TAP, one point for each row, with the tests that failed, and so showed that the
protection does something, listed above it.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

# The rows, and who tests each: test programs of GLib by the path of their tests, the tests of
# sbx-tool by a word in their names, and tests that are beside their subject by a path.
ROWS = {
    "T1": ["escape"],
    "T2": ["escape", "tool"],
    "T3": ["escape", "tool"],
    "T4": ["escape"],
    "T5": ["escape"],
    "T6": ["beside"],
    "T7": ["escape"],
    "T8": ["beside"],
    "T9": ["beside"],
    "T10": ["beside"],
    "T11": ["escape"],
    "T12": ["escape"],
    "T13": ["escape"],
    "T14": ["escape"],
    "T15": ["beside"],
    "T16": ["beside"],
    "T17": ["tool"],
    "T20": ["beside", "escape"],
    "T22": ["escape"],
    "T23": ["beside"],
    "T24": ["beside"],
    "T27": ["beside"],
    "T28": ["escape"],
    "T29": ["escape"],
    "T31": ["beside"],
    "E12": ["beside"],
    "F1": ["beside"],
    "F2": ["beside"],
    "F4": ["beside"],
    "F10": ["beside"],
    "F12": ["escape"],
    "HOME": ["beside"],
    "RUN_ROOT": ["beside"],
    "STATES": ["beside"],
    "KEYS": ["beside"],
    "OWN": ["beside"],
    "DOORS": ["beside"],
}
BESIDE = {
    "T6": "/limits/T6/",
    "T8": "/worktree/traps/",
    "T9": "/session/reach/T9/",
    "T10": "/session/watch/T10/",
    "T15": "/json/depth",
    "T16": "/spec/resolve-git-hostile/T16-",
    "T20": "/init/hostile/",
    "T23": "/spec/resolve-git-hostile/T23-",
    "T24": "/quarantine/T24/",
    "T27": "/session/watch/T27/",
    "E12": "/roots/E12/",
    "F1": "/roots/F1/",
    "T31": "/session/reach/T31/",
    "F2": "/profile/trust",
    "F4": "/roots/F4/",
    "F10": "/group/F10",
    "HOME": "/roots/HOME/",
    "RUN_ROOT": "/roots/RUN_ROOT/",
    "STATES": "/roots/STATES/",
    "KEYS": "/roots/KEYS/",
    "OWN": "/roots/OWN/",
    "DOORS": "/roots/DOORS/",
}
TIMEOUT_S = 240
NUMBERED = re.compile(r"[A-Z]\d+$")
SWITCH = re.compile(r"SBX_PROTECTS \((\w+)\)")
REASON = re.compile(r"^(?:# |Bail out! )*((?:ERROR|FATAL|AssertionError|It did not).*)")
POINT = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?([^#\s]*)\s*(#\s*SKIP)?", re.I)


class Runner:
    def __init__(self, options):
        self.options = options
        self.paths = {program: self.list_paths(program) for program in options.programs}

    def list_paths(self, program):
        listed = subprocess.run([program, "-l"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                env=self.environment(None, "/nonexistent-but-unused"), check=True)
        return [line for line in listed.stdout.decode().splitlines() if line.startswith("/")]

    def environment(self, row, directory):
        env = dict(os.environ, SBX_INIT=str(self.options.init), SBX_TOOL=str(self.options.tool))
        env.pop("SBX_UNPROTECT", None)
        if os.path.isdir(directory):
            env["TMPDIR"] = directory
        if row:
            env["SBX_UNPROTECT"] = row
        return env

    def tests_of(self, row):
        """Yields (kind, name, command) for everything that tests the row."""
        prefixes = {"escape": f"/escape/{row}/", "beside": BESIDE.get(row)}
        for kind, prefix in prefixes.items():
            if kind in ROWS[row]:
                for program, paths in self.paths.items():
                    for path in paths:
                        if path.startswith(prefix):
                            yield kind, path, [program, "-p", path]
        if "tool" in ROWS[row]:
            for name in self.tool_tests(row):
                yield "tool", f"sbx-tool {name}", [sys.executable, self.options.tool_tests, f".{name}"]

    def tool_tests(self, row):
        text = Path(self.options.tool_tests).read_text()
        return re.findall(rf"^    def (test_{row}_\w+) ", text.replace("(", " ("), re.M)

    def run(self, command, row):
        """Returns why the test failed, or None; one that was skipped, or was none, has failed."""
        directory = tempfile.mkdtemp(prefix="sbx-switches-", dir="/var/tmp")
        os.chmod(directory, 0o755)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env=self.environment(row, directory),
                                   start_new_session=True)
        try:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            output = b"Bail out! It did not end"
        finally:
            # What it left in its own session; sandboxes end by themselves when it is gone.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            process.stdout.close()
            subprocess.run(["chmod", "-R", "u+rwX", directory], stderr=subprocess.DEVNULL, check=False)
            shutil.rmtree(directory, ignore_errors=True)
        text = output.decode(errors="replace")
        points = [m for m in map(POINT.match, text.splitlines()) if m]
        if process.returncode == 0 and points and not any(m[1] or m[3] for m in points):
            return None
        return next((m[1] for m in map(REASON.match, text.splitlines()) if m),
                    f"status {process.returncode}")[:150]

    def check(self, row):
        """Runs the tests of a row without it until one turns red, which must pass with everything in
        force; with --all, each of them. Returns what is wrong, or None."""
        tests = list(self.tests_of(row))
        lacking = set(ROWS[row]) - {kind for kind, _, _ in tests}
        if lacking:
            return f"has no test of the kind {', '.join(sorted(lacking))}"
        red = 0
        for _, name, command in tests:
            reason = self.run(command, row)
            print(f"# {row}: turned red: {name}: {reason}" if reason else
                  f"# {row}: does not notice: {name}", flush=True)
            if not reason:
                continue
            red += 1
            reason = self.run(command, None)
            if reason:
                return f"fails with everything in force: {name}: {reason}"
            if not self.options.all:
                break
        return None if red else "is not missed by any test"


def find_switches(sources):
    found = {}
    for room in ("libsbx", "sbx-tool"):
        for path in sorted((sources / room).rglob("*.[ch]")):
            if path.name == "sbx-protection-private.h":
                continue
            for row in SWITCH.findall(path.read_text()):
                found.setdefault(row, []).append(path.relative_to(sources))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--init", type=os.path.abspath, required=True)
    parser.add_argument("--tool", type=os.path.abspath, required=True)
    parser.add_argument("--tool-tests", type=os.path.abspath, required=True)
    parser.add_argument("--row", action="append", help="only this one")
    parser.add_argument("--all", action="store_true", help="all tests of a row, not one that turns red")
    parser.add_argument("programs", type=os.path.abspath, nargs="+")
    options = parser.parse_args()

    switches = find_switches(options.sources)
    page = (options.sources / "docs" / "security.md").read_text()
    on_page = set(re.findall(r"^\| ([A-Z][A-Z0-9_]+) \|", page, re.M))
    rows = sorted(set(ROWS) | on_page | set(switches),
                  key=lambda row: (not NUMBERED.match(row), row[0] != "T",
                                   int(row[1:]) if NUMBERED.match(row) else 0, row))
    if options.row:
        rows = [row for row in rows if row in options.row]

    runner = Runner(options)
    print(f"1..{len(rows)}", flush=True)
    wrong = 0
    for number, row in enumerate(rows, 1):
        if row not in ROWS:
            problem = "has no test in the table of run-switches.py"
        elif row not in switches:
            problem = "has no SBX_PROTECTS in the source"
        else:
            problem = runner.check(row)
        wrong += problem is not None
        print(f"{'not ok' if problem else 'ok'} {number} - {row}" + (f": {problem}" if problem else ""),
              flush=True)
    return 1 if wrong else 0


sys.exit(main())
