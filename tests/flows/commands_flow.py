#!/usr/bin/env python3
"""bulkhead run: everyday commands do the same inside as plainly, nobody asked. All of them: make test-commands."""

import argparse
import os
import sys

import flow
from flow import Flow, options

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "commands"))
import commands  # noqa: E402
import run  # noqa: E402


class Everyday(Flow):
    def test_they_work_as_plainly_and_without_a_word(self):
        person = run.Person(argparse.Namespace(home=self.home, uid=os.getuid(), bulkhead=options.bulkhead))
        cases = {case[0]: case for case in commands.COMMANDS}
        for name in commands.SMALL:
            with self.subTest(name):
                _, inside, wrong = run.attempt(person, cases[name], [])
                self.assertIsNone(wrong, inside.err)
                self.assertNotIn("bulkhead:", inside.err)


if __name__ == "__main__":
    flow.main()
