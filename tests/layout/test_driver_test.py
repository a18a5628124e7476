#!/usr/bin/env python3
"""scripts/test must fail on failures, missing programs and skips that nobody allowed, and lose no case of a unit-test
program that crashes."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(ROOT, "scripts", name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


driver = load("test")
gtest_runs = driver.gtest_runs
check = load("check")


class Judge(unittest.TestCase):
    def judge(self, *cases):
        return driver.judge([gtest_runs.Case(*case, 0) for case in cases], {"cgroup-memory"})

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
          <testcase name="ok" status="run" time="1.5"><system-out>fine</system-out></testcase>
          <testcase name="bad" status="fail"><failure/></testcase>
          <testcase name="skip" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
            <system-out>needs cgroup-memory</system-out></testcase>
          <testcase name="skip77" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
          <testcase name="gone" status="notrun"><skipped message="Unable to find executable"/></testcase>
        </testsuite>"""
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(text)
            file.flush()
            cases = list(driver.cases_of(file.name))
        self.assertEqual({case.name: case.state for case in cases},
                         {"ok": "run", "bad": "fail", "skip": "skipped", "skip77": "skipped", "gone": "missing"})
        self.assertEqual(cases[0].seconds, 1.5)

    def test_tells_how_long_each_part_took(self):
        case = gtest_runs.Case
        lines = list(driver.parts_of([("others", [case("flows/run", "run", "", 70), case("attacks/a", "run", "", 2),
                                                  case("attacks/b", "run", "", 3)], 61)]))
        self.assertEqual([line.split() for line in lines],
                         ["others 3 tests in 1:01".split(), "flows 1 tests of 1:10".split(),
                          "attacks 2 tests of 0:05".split()])


ENDED = """[==========] Running 4 tests from 2 test suites.
[ RUN      ] Fd.Closes
words of its own[       OK ] Fd.Closes (12 ms)
[ RUN      ] Fd.Fails/One
fd_test.cc:3: Failure
[  FAILED  ] Fd.Fails/One, where GetParam() = One (2) (3 ms)
[ RUN      ] Path.Skips
path_test.cc:9: Skipped
needs overlay
[  SKIPPED ] Path.Skips (0 ms)
"""
SUMMARY = """[  PASSED  ] 1 test.
[  FAILED  ] Fd.Fails/One, where GetParam() = One (2)
"""
CRASHED = ENDED + "[ RUN      ] Path.Crashes\nstack smashed\n"
ALL = ["Fd.Closes", "Fd.Fails/One", "Path.Crashes", "Path.Later", "Path.Skips"]


class Units(unittest.TestCase):
    def judge(self, wanted, *ended):
        return {case.name: case for case in gtest_runs.judge_runs("base", set(wanted), ended)}

    def states(self, *arguments):
        return {name: case.state for name, case in self.judge(*arguments).items()}

    def test_each_case_is_told_of(self):
        cases = self.judge(["Fd.Closes", "Fd.Fails/One", "Path.Skips"], ("base/1", ENDED + SUMMARY, 1))
        self.assertEqual({name: case.state for name, case in cases.items()},
                         {"base/Fd.Closes": "run", "base/Fd.Fails/One": "fail", "base/Path.Skips": "skipped"})
        self.assertIn("fd_test.cc:3", cases["base/Fd.Fails/One"].output)
        self.assertEqual(driver.feature_of(cases["base/Path.Skips"].output), "overlay")
        self.assertEqual(cases["base/Fd.Closes"].seconds, 0.012)

    def test_a_crash_names_the_case_and_loses_none(self):
        cases = self.judge(ALL, ("base/1", CRASHED, -11))
        self.assertEqual({name: case.state for name, case in cases.items()},
                         {"base/Fd.Closes": "run", "base/Fd.Fails/One": "fail", "base/Path.Skips": "skipped",
                          "base/Path.Crashes": "fail", "base/Path.Later": "fail"})
        self.assertIn("stack smashed", cases["base/Path.Crashes"].output)
        self.assertIn("base/1 died of SIGSEGV", cases["base/Path.Crashes"].output)
        self.assertIn("did not run", cases["base/Path.Later"].output)

    def test_an_exit_in_the_middle_is_no_success(self):
        self.assertEqual(self.states(ALL, ("base/1", CRASHED, 0))["base/Path.Crashes"], "fail")
        self.assertEqual(self.states(["Fd.Closes", "Fd.Gone"], ("base/1", ENDED, 0)),
                         {"base/Fd.Closes": "run", "base/Fd.Gone": "fail"})

    def test_a_failure_of_no_case_is_one(self):
        # A sanitizer finds leaks at the end.
        passed = ENDED.replace("FAILED  ", "     OK ")
        states = self.states(["Fd.Closes", "Fd.Fails/One", "Path.Skips"], ("base/1", passed, 23))
        self.assertEqual(states["base/1"], "fail")
        self.assertEqual(len(states), 4)

    def test_shards_add_up(self):
        other = "[ RUN      ] Path.Later\n[       OK ] Path.Later (1 ms)\n"
        states = self.states(["Fd.Closes", "Fd.Fails/One", "Path.Later", "Path.Skips"],
                             ("base/1", ENDED, 1), ("base/2", other, 0))
        self.assertEqual(states["base/Path.Later"], "run")
        self.assertEqual(len(states), 4)

    def test_a_child_that_ran_on_hides_no_failure(self):
        twice = ENDED + "[       OK ] Fd.Fails/One (9 ms)\n"
        self.assertEqual(self.states(["Fd.Fails/One"], ("base/1", twice, 0)), {"base/Fd.Fails/One": "fail"})

    def test_filters(self):
        known = ["A.One", "A.Two", "Users/B.One/x", "Users/B.One/y"]
        self.assertEqual(gtest_runs.filter_of(["A.One", "A.Two", "Users/B.One/y"], known), "A.*:Users/B.One/y")

    def test_programs(self):
        """Real processes: one that lists and runs, one that is not there."""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "base_test")
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\nif [ \"$1\" = --gtest_list_tests ]; then\n"
                           "printf 'Main\\nFd.\\n  Closes\\n  Dies/0  # GetParam() = 3\\n  DISABLED_Old\\n'; exit; fi\n"
                           "echo '[ RUN      ] Fd.Closes'; echo \"$WORD\"; echo '[       OK ] Fd.Closes (1 ms)'\n"
                           "echo '[ RUN      ] Fd.Dies/0'; kill -ABRT $$\n")
            os.chmod(program, 0o755)
            runs = [gtest_runs.Run("base/1", [program], {"WORD": "x"}, 10), gtest_runs.Run("gone/1", ["/no"], {}, 10)]
            gtest_runs.runs_of, kept = lambda build: runs, gtest_runs.runs_of
            try:
                cases = {case.name: case for case in gtest_runs.run_all("", None, 2, lambda *_, **__: None)}
                only = [case.name for case in gtest_runs.run_all("", "base/.*Closes", 2, lambda *_, **__: None)]
            finally:
                gtest_runs.runs_of = kept
        self.assertEqual({name: case.state for name, case in cases.items()},
                         {"base/Fd.Closes": "run", "base/Fd.Dies/0": "fail", "gone/1": "missing"})
        self.assertEqual(cases["base/Fd.Closes"].output, "x\n")
        self.assertIn("SIGABRT", cases["base/Fd.Dies/0"].output)
        self.assertEqual(only, ["base/Fd.Closes", "base/1"])


class Check(unittest.TestCase):
    def test_folders_bring_those_above(self):
        units, attacks, flows, why = check.choose(["src/vscode/broker.cc", "src/cli/README.md"])
        self.assertIn("vscode", units)
        self.assertIn("cli", units)
        self.assertFalse(units & {"base", "policy", "sandbox"})
        self.assertEqual((attacks, flows, why), (check.ATTACKS, set(), None))
        self.assertEqual(check.choose(["src/base/fd.h"])[0], set(check.folders()))

    def test_documents_and_tests_bring_no_units(self):
        units, attacks, flows, _ = check.choose(["docs/x.md", "tests/attacks/read-cat.sh", "tests/attacks/run.py",
                                                 "tests/flows/run_flow.py", "vscode/a.js"])
        self.assertEqual((units, attacks - check.ATTACKS, flows), (set(), {"read-cat"}, {"run"}))

    def test_everything_when_unsure(self):
        for names in ([], ["CMakeLists.txt"], ["src/CMakeLists.txt"], ["manifests/baseline.json"], ["schema/x.json"],
                      ["scripts/test"], ["include/bulkhead/compartment.h"], ["src/nowhere/x.cc"]):
            self.assertEqual(check.choose(names)[0], set(check.folders()), names)

    def test_the_ten_are_there(self):
        self.assertEqual(len(check.ATTACKS), 10)
        for name in check.ATTACKS:
            self.assertTrue(os.path.exists(os.path.join(ROOT, "tests/attacks", f"{name}.c")), name)


if __name__ == "__main__":
    unittest.main()
