#!/usr/bin/env python3
"""scripts/test must fail on failures, missing programs and skips that nobody allowed."""

import importlib.machinery
import importlib.util
import os
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def load():
    loader = importlib.machinery.SourceFileLoader("driver", os.path.join(ROOT, "scripts/test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("driver", loader))
    loader.exec_module(module)
    return module


driver = load()


class Judge(unittest.TestCase):
    def judge(self, *cases):
        return driver.judge(cases, {"cgroup-memory"})

    def test_counts(self):
        self.assertEqual(self.judge(("a", "run", ""), ("b", "run", "")), (2, [], 0, []))

    def test_failures(self):
        self.assertEqual(self.judge(("a", "fail", ""), ("b", "missing", "")), (0, ["a", "b"], 0, []))

    def test_allowed_skip(self):
        self.assertEqual(self.judge(("a", "skipped", "x_test.cc:3: needs cgroup-memory\n")),
                         (0, [], 1, []))

    def test_other_skips(self):
        got = self.judge(("a", "skipped", "needs luck"), ("b", "skipped", "not today"))
        self.assertEqual(got, (0, [], 0, [("a", "luck"), ("b", None)]))

    def test_reads_ctest_reports(self):
        text = """<testsuite>
          <testcase name="ok" status="run"><system-out>fine</system-out></testcase>
          <testcase name="bad" status="fail"><failure/></testcase>
          <testcase name="skip" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
            <system-out>needs cgroup-memory</system-out></testcase>
          <testcase name="skip77" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
          <testcase name="gone" status="notrun"><skipped message="Unable to find executable"/></testcase>
        </testsuite>"""
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(text)
            file.flush()
            states = {name: state for name, state, _ in driver.cases_of(file.name)}
        self.assertEqual(states, {"ok": "run", "bad": "fail", "skip": "skipped",
                                  "skip77": "skipped", "gone": "missing"})


if __name__ == "__main__":
    unittest.main()
