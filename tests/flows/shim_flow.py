#!/usr/bin/env python3
"""shim: a project's own commands, confined whenever they are typed; run within run; a shell inside."""

import json
import os
import subprocess

import flow
from flow import Flow, Terminal, options

TOOL = """#!/bin/sh
read -r line < {secret} && echo "stole $line"
echo "ran $*"
"""


class Shims(Flow):
    def setUp(self):
        super().setUp()
        self.tool = self.file("bin/tool", TOOL.format(secret=self.secret), 0o755)
        self.shims = os.path.join(self.home, ".local/share/bulkhead/shims")
        self.usual = f"{os.path.dirname(self.tool)}:{self.environment['PATH']}"
        self.environment["PATH"] = self.usual

    def tool_by(self, path, *words):
        return subprocess.run(["/bin/sh", "-c", 'exec tool "$@"', "sh", *words], cwd=self.project, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=flow.TIMEOUT, check=False,
                              env={**self.environment, "PATH": path})

    def test_a_command_is_confined_while_its_shim_is_there(self):
        done = self.bulkhead("shim", "tool")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('export PATH="$HOME/.local/share/bulkhead/shims:$PATH"', done.stdout)
        self.assertIn("stole the secret", self.tool_by(self.usual).stdout)
        done = self.tool_by(f"{self.shims}:{self.usual}", "a b", "$HOME", "'")
        self.assertEqual(done.stdout, "ran a b $HOME '\n", done.stderr)
        self.assertEqual(done.returncode, 0)
        again = self.bulkhead("shim", "tool", env={"PATH": f"{self.shims}:{self.usual}"})
        self.assertEqual((again.returncode, again.stdout), (0, "tool has its shim already.\n"))
        self.assertEqual(self.bulkhead("shim", "--remove").returncode, 0)
        self.assertEqual(self.bulkhead("shim").stdout, "There are no shims. `bulkhead shim npm make` makes some.\n")
        self.assertIn("stole the secret", self.tool_by(f"{self.shims}:{self.usual}").stdout)

    def test_the_list_tells_what_runs(self):
        self.assertEqual(self.bulkhead("shim", "tool").returncode, 0)
        path = f"{self.usual}:{self.shims}"
        shown = json.loads(self.bulkhead("shim", "--list", "--json", env={"PATH": path}).stdout)
        self.assertEqual(shown, {"folder": self.shims, "shims": [
            {"name": "tool", "runs": self.tool, "before": os.path.dirname(self.tool)}]})
        self.assertIn("comes before them in PATH", self.bulkhead("shim", "--list", env={"PATH": path}).stdout)

    def test_what_is_no_program_is_refused_and_the_rest_is_made(self):
        done = self.bulkhead("shim", "no-such-program", "tool", "../tool", "bulkhead")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no program no-such-program in PATH", done.stderr)
        self.assertIn('"../tool" is no name of a program', done.stderr)
        self.assertEqual(os.listdir(self.shims), ["tool"])

    def test_what_somebody_else_put_there_stays(self):
        mine = self.file("home/.local/share/bulkhead/shims/tool", "mine\n")
        for words in (["tool"], ["--remove", "tool"]):
            done = self.bulkhead("shim", *words)
            self.assertEqual(done.returncode, 1)
            self.assertIn("was not made by bulkhead shim", done.stderr)
        with open(mine, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine\n")

    def test_no_compartment_writes_there(self):
        self.assertEqual(self.bulkhead("shim", "tool").returncode, 0)
        planted = os.path.join(self.shims, "planted")
        self.bulkhead("run", "--workspace", self.project, "--write", os.path.join(self.home, ".local"), "--",
                      "/bin/sh", "-c", f"echo x > {planted}; echo x > {self.shims}/tool")
        self.assertFalse(os.path.exists(planted))
        with open(os.path.join(self.shims, "tool"), encoding="utf-8") as file:
            self.assertIn("made by bulkhead", file.read())


class Nested(Flow):
    def setUp(self):
        super().setUp()
        self.grants = ["--read", options.source, "--read", options.bulkhead, "--run", options.bulkhead,
                       "--run", "/bin/cat"]

    def test_a_run_within_a_run_runs_the_program(self):
        text = self.file("project/text", "here\n")
        done = self.bulkhead("run", *self.grants, "--", options.bulkhead, "run", "--read", "/etc", "--", "cat", text)
        self.assertEqual((done.returncode, done.stdout), (0, "here\n"), done.stderr)
        # And grants nothing.
        done = self.bulkhead("run", *self.grants, "--", options.bulkhead, "run", "--read", self.secret, "--",
                             "cat", self.secret)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("the secret", done.stdout)

    def test_its_bounds_are_not_lost_without_a_word(self):
        for bound in (["--memory", "1GiB"], ["--manifest", "m.json"], ["--audit"], ["--otherwise", "deny"]):
            done = self.bulkhead("run", *self.grants, "--", options.bulkhead, "run", *bound, "--", "cat", "text")
            self.assertEqual(done.returncode, 125)
            self.assertIn(f"{bound[0]} cannot be kept: this is a compartment already", done.stderr)

    def test_no_variable_and_no_name_makes_believe_so(self):
        program = self.file("project/bulkhead-init", "#!/bin/sh\n" f"exec {options.bulkhead} run -- cat {self.secret}\n", 0o755)
        done = subprocess.run([program], cwd=self.project, env=self.environment, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=flow.TIMEOUT, check=False)
        self.assertNotIn("the secret", done.stdout)


class Shell(Flow):
    def test_run_alone_opens_the_persons_shell(self):
        shell = self.file("project/shell", '#!/bin/sh\necho "inside with $# words"; exit 7\n', 0o755)
        terminal = Terminal([options.bulkhead, "run"], self.project, {**self.environment, "SHELL": shell})
        terminal.wait_for("inside with 0 words")
        self.assertEqual(terminal.exit_code(), 7)

    def test_nowhere_else(self):
        done = self.bulkhead("run")
        self.assertEqual(done.returncode, 125)
        self.assertIn("no program to run", done.stderr)


if __name__ == "__main__":
    flow.main()
