# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of unittest and reports them as TAP, one point for each."""

import sys
import unittest


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.failed_part = None

    def point(self, word, test, directive=""):
        self.count += 1
        print(f"{word} {self.count} - {test.id().removeprefix('__main__.')}{directive}", flush=True)

    def explain(self, test, error):
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def trouble(self, test, error):
        self.point("not ok", test)
        self.explain(test, error)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.point("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.trouble(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.trouble(test, err)

    def addSubTest(self, test, subtest, err):
        """Parts of a test have no points of their own."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.failed_part = test
            print(f"# {subtest}", flush=True)
            self.explain(subtest, err)

    def stopTest(self, test):
        if self.failed_part is test:
            self.point("not ok", test)
        self.failed_part = None
        super().stopTest(test)

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
