#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a command and fails if it leaves a process behind.

All that the command starts, however it detaches, becomes a child of this process in the end, so
that what outlives the command can be seen, named, and ended. It gets a moment to go by itself.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 10


def describe(pid):
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        return f"{pid} ({name}): " + b" ".join(words).decode(errors="backslashreplace")[:200]
    except OSError:
        return str(pid)


def parent_of(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def reap():
    """Takes the ended children away and returns the living ones."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return []
    me = os.getpid()
    return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdigit() and parent_of(p.name) == me]


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode

    deadline = time.monotonic() + GRACE_SECONDS
    while (left := reap()) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        print(f"left behind: {describe(pid)}", flush=True)
    while left:
        # What was below one of them becomes ours when it ends.
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
        left = reap()
        status = status or 1
    return status if status >= 0 else 128 - status


sys.exit(main())
