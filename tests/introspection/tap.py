# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of unittest and reports them as TAP, one point for each."""

import sys
import unittest


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0

    def point(self, word, test, directive=""):
        self.count += 1
        print(f"{word} {self.count} - {test.id().removeprefix('__main__.')}{directive}", flush=True)

    def trouble(self, test, error):
        self.point("not ok", test)
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.point("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.trouble(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.trouble(test, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.point("ok", test, f" # SKIP {reason}")


def main():
    import __main__
    suite = unittest.defaultTestLoader.loadTestsFromModule(__main__)
    print(f"1..{suite.countTestCases()}", flush=True)
    result = TapResult()
    suite.run(result)
    sys.exit(not result.wasSuccessful())
