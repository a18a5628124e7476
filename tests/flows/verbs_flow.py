#!/usr/bin/env python3
"""explain, unblock, check, log, doctor and completion."""

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess

import flow
from flow import Flow, Terminal, options


class Lifting(Flow):
    """A group of the blocklist, lifted for a workspace."""

    def test_it_counts_there_and_nowhere_else(self):
        self.file("project/.github/workflows/ci.yml", "on: push\n")
        other = self.file("other/.github/workflows/ci.yml", "on: push\n")
        write = ["--", "sh", "-c", "echo changed > .github/workflows/ci.yml"]
        here = os.path.join(self.project, ".github/workflows/ci.yml")

        def text(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
        self.assertNotEqual(self.bulkhead("run", *write).returncode, 0)
        self.assertEqual(text(here), "on: push\n")
        self.assertIn("Nothing is lifted", self.bulkhead("unblock").stdout)
        done = self.bulkhead("unblock", "ci-pipelines")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(self.bulkhead("unblock", "--json").stdout), {"workspaces": {self.project: ["ci-pipelines"]}})
        self.assertEqual(self.bulkhead("run", *write).returncode, 0)
        self.assertEqual(text(here), "changed\n")
        # Another folder keeps it, and so does a run that has both.
        beside = os.path.join(self.root, "other")
        self.assertNotEqual(self.bulkhead("run", *write, cwd=beside).returncode, 0)
        self.assertNotEqual(self.bulkhead("run", "--workspace", ".", "--workspace", beside, *write).returncode, 0)
        self.assertEqual(text(other), "on: push\n")
        self.assertEqual(self.bulkhead("check", os.path.join(self.config(), "lifts.json")).returncode, 0)
        self.assertEqual(self.bulkhead("unblock", "ci-pipelines", "--undo").returncode, 0)
        self.assertNotEqual(self.bulkhead("run", *write).returncode, 0)
        self.assertEqual(self.bulkhead("unblock", "ci-pipelines", "--undo").returncode, 125)

    def test_a_group_alone(self):
        self.assertIn("assistant-settings", self.bulkhead("unblock").stdout)
        files = {"assistant-settings": ".claude/settings.json", "workspace-autorun": ".vscode/tasks.json",
                 "ci-pipelines": ".github/workflows/ci.yml"}
        for file in files.values():
            self.file(f"project/{file}", "whole\n")
        for lifted in files:
            self.assertEqual(self.bulkhead("unblock", lifted).returncode, 0)
            for group, file in files.items():
                done = self.bulkhead("run", "--", "sh", "-c", f"echo changed > {file}")
                self.assertEqual(done.returncode == 0, group == lifted, (lifted, file, done.stderr))
            done = self.bulkhead("unblock", lifted, "--undo")
            self.assertEqual(done.stdout, f"{lifted} is blocked again in {self.project}, for what is started or opened from now on.\n")

    def test_how_it_is_taken_back_is_told_for_where_it_is_lifted(self):
        beside = self.folder("be side")
        done = self.bulkhead("unblock", "git-hooks", "--workspace", beside)
        told = shlex.split(done.stdout.splitlines()[-1].split("bulkhead ")[1])
        self.assertEqual(self.bulkhead(*told).returncode, 0)
        self.assertIn("Nothing is lifted", self.bulkhead("unblock").stdout)

    def test_it_is_taken_back_from_a_folder_that_is_gone(self):
        gone, moved = self.folder("gone"), self.folder("moved")
        for folder in (gone, moved):
            self.assertEqual(self.bulkhead("unblock", "ci-pipelines", "--workspace", folder).returncode, 0)
            os.rmdir(folder)
        os.symlink(self.project, moved)
        self.assertEqual(self.bulkhead("unblock", "ci-pipelines", "--undo", "--workspace", gone).returncode, 0)
        self.assertEqual(self.bulkhead("unblock", "ci-pipelines", "--undo", "--workspace", "../moved").returncode, 0)
        self.assertIn("Nothing is lifted", self.bulkhead("unblock").stdout)
        done = self.bulkhead("unblock", "ci-pipelines", "--undo", "--workspace", gone)
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"is not lifted for {gone}", done.stderr)

    def config(self):
        return os.path.join(self.environment.get("XDG_CONFIG_HOME", os.path.join(self.home, ".config")), "bulkhead")

    def test_what_is_no_workspaces_own_is_not_lifted(self):
        for words, told in ((["ssh-keys"], "--unblock ssh-keys"), (["no-such"], "ci-pipelines"), (["all"], "no built-in"),
                            (["ci-pipelines", "--workspace", self.home], "--workspace"), (["--undo"], "GROUP")):
            done = self.bulkhead("unblock", *words)
            self.assertEqual(done.returncode, 125, words)
            self.assertIn(told, done.stderr)


class Explaining(Flow):
    def test_denied_allowed_asked(self):
        done = self.bulkhead("explain", "read", self.secret)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"deny  read {self.secret}", done.stdout)
        self.assertIn("--read", done.stdout)
        self.assertEqual(self.bulkhead("explain", "read", "in.txt").returncode, 0)
        self.assertEqual(self.bulkhead("explain", "--otherwise", "ask", "read", self.secret).returncode, 3)

    def test_json_and_the_change_it_proposes(self):
        found = json.loads(self.bulkhead("explain", "--json", "read", self.secret).stdout)
        self.assertEqual(found["verdict"], "deny")
        flag = shlex.split(found["flag"])
        self.assertEqual(self.bulkhead("explain", *flag, "read", self.secret).returncode, 0)

    def test_a_block_says_which(self):
        key = self.file("home/.ssh/id_rsa", "key")
        done = self.bulkhead("explain", "--read", self.home, "read", key)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ssh", done.stdout)

    def test_at_a_terminal_it_says_what_run_would_do(self):
        for words, code, verdict in (([], 3, "ask"), (["--otherwise", "deny"], 1, "deny")):
            terminal = Terminal([options.bulkhead, "explain", *words, "read", self.secret], self.project, self.environment)
            self.addCleanup(terminal.close)
            terminal.wait_for(f"{verdict}.*  read ")
            self.assertEqual(terminal.exit_code(), code)

    def test_links_are_followed(self):
        os.symlink(self.secret, os.path.join(self.project, "link"))
        done = self.bulkhead("explain", "read", "link")
        self.assertIn(self.secret, done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_entries_of_each_process_have_one_name(self):
        path = "/proc/self/personality"
        done = self.bulkhead("explain", "read", path)
        self.assertIn(f"allow  read {path}", done.stdout)
        manifest = self.file("m.json", json.dumps({
            "manifest": 1, "files": {"read": ["@system"], "block": [path]}, "run": ["cat"]}))
        self.assertEqual(self.bulkhead("explain", "--manifest", manifest, "read", path).returncode, 1)
        done = self.bulkhead("run", "--manifest", manifest, "--", "cat", path, "/proc/self/status")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Pid:", done.stdout)
        self.assertIn(path, done.stderr)

    def test_other_kinds(self):
        self.assertEqual(self.bulkhead("explain", "connect", "example.com:443").returncode, 1)
        self.assertEqual(self.bulkhead("explain", "--connect", "example.com:443", "connect",
                                       "example.com:443").returncode, 0)
        self.assertEqual(self.bulkhead("explain", "run", "cat").returncode, 0)  # what may be read may run
        program = self.file("elsewhere/tool", "#!/bin/sh\n", 0o755)
        self.assertEqual(self.bulkhead("explain", "run", program).returncode, 1)
        self.assertEqual(self.bulkhead("explain", "--run", program, "run", program).returncode, 0)
        self.assertEqual(self.bulkhead("explain", "environment", "PATH").returncode, 0)
        self.assertEqual(self.bulkhead("explain", "environment", "AWS_SECRET_ACCESS_KEY").returncode, 1)

    def test_errors(self):
        for words in (["fly", "x"], ["connect", "example.com"], ["run", "no-such-program"], ["read"],
                      ["read", ""], ["vscode", "nonsense"], ["environment", "A=B"]):
            done = self.bulkhead("explain", *words)
            self.assertEqual(done.returncode, 125, words)
            self.assertTrue(done.stderr.startswith("bulkhead: "))


    def test_what_nobody_expanded_is_no_name(self):
        self.file("home/.ssh/id_rsa", "key")
        for words in (["explain", "read", "~/.ssh/id_rsa"], ["explain", "read", "$HOME/.ssh/id_rsa"],
                      ["explain", "read", "@system"], ["run", "--write", "~", "--", "true"]):
            done = self.bulkhead(*words)
            self.assertEqual((done.returncode, done.stdout), (125, ""), words)
            self.assertIn("is not expanded here", done.stderr)
        self.assertIn(f"{self.project}/~/x", self.bulkhead("explain", "read", "./~/x").stdout)
        self.folder("project/@scope")
        self.assertEqual(self.bulkhead("explain", "read", "@scope/x").returncode, 0)

    def test_a_set_of_permissions_says_what_it_holds(self):
        done = self.bulkhead("explain", "vscode", "@running")
        self.assertEqual(done.returncode, 125)
        self.assertIn("name tasks or terminal or debug", done.stderr)
        self.assertIn('did you mean "@editor"', self.bulkhead("explain", "vscode", "@edtor").stderr)

    def test_the_port_for_a_name_is_a_guess(self):
        done = self.bulkhead("explain", "lookup", "example.com")
        self.assertIn("--connect example.com:443", done.stdout)
        self.assertIn("with the port that is to be reached for 443", done.stdout)

    def test_what_it_proposes_is_taken(self):
        # By a manifest: in JSON a backslash is two.
        done = self.bulkhead("explain", "read", os.path.join(self.root, "${workspace}"))
        self.assertIn(r'add "%s/\\${workspace}" to' % self.root, done.stdout)
        # By run, which refuses a flag for what is not there.
        self.assertNotIn("--read", done.stdout)
        self.assertIn("--read", self.bulkhead("explain", "read", self.secret).stdout)
        self.assertEqual(json.loads(self.bulkhead("explain", "--json", "read", "/nonexist/x").stdout)["flag"], "")

    def test_nothing_reaches_the_terminal_unescaped(self):
        hostile = "a\x1b[2J\u202eb\\c"
        for path in (self.file(f"home/{hostile}"), f"/nonexist/{hostile}"):
            done = self.bulkhead("explain", "read", path)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertFalse(set("\x1b\u202e") & set(done.stdout), done.stdout)

    def test_one_step_is_told_once(self):
        done = self.bulkhead("explain", "--write", ".", "--read", ".", "write", ".git/hooks/x")
        self.assertEqual(done.stdout.count("--unblock git-hooks"), 1, done.stdout)

    def test_broken_answers_are_an_error_without_a_program_too(self):
        self.file("home/.config/bulkhead/grants.json", "{ broken", 0o600)
        self.file("home/.local/state/bulkhead/grants.json", "{ broken", 0o600)
        for words in (["explain", "read", "in.txt"], ["run", "--", "true"]):
            done = self.bulkhead(*words)
            self.assertEqual(done.returncode, 125, words)
            self.assertIn("grants.json", done.stderr)


class Writing(Flow):
    def test_output_that_cannot_be_written(self):
        fine = self.file("bad.json", "{")
        self.bulkhead("run", "--", "true")
        for words in (["--help"], ["help", "run"], ["--version"], ["completion", "bash"], ["doctor"],
                      ["explain", "read", "/"], ["log"], ["log", "--runs"], ["check", fine],
                      ["run", "--dry-run", "--", "true"]):
            with self.subTest(words=words):
                with open("/dev/full", "w", encoding="utf-8") as full:
                    done = self.bulkhead(*words, stdout=full)
                self.assertEqual((done.returncode, done.stderr),
                                 (125, "bulkhead: cannot write the output: No space left on device\n"))
                command = f"exec {shlex.join([options.bulkhead, *words])} >&-"
                done = subprocess.run(["sh", "-c", command], cwd=self.project, env=self.environment, text=True,
                                      stderr=subprocess.PIPE, check=False)
                self.assertEqual((done.returncode, done.stderr),
                                 (125, "bulkhead: cannot write the output: Bad file descriptor\n"))


    def test_a_program_may_write_to_a_closed_output(self):
        # As Node and others do, which open /dev/null there themselves.
        command = f"exec {shlex.quote(options.bulkhead)} run -- sh -c 'echo lost' >&-"
        self.assertEqual(subprocess.run(["sh", "-c", command], cwd=self.project, env=self.environment,
                                        check=False).returncode, 0)


class Refusing(Flow):
    def test_empty_values(self):
        for words in (["log", "--run"], ["log", "--kind"], ["log", "--program"], ["log", "--path"],
                      ["log", "--subject"], ["log", "--since"], ["explain", "--program"],
                      ["check", "--workspace"], ["check"], ["review", "--workspace"], ["review", "--forget"]):
            more = ["read", "/"] if words[0] == "explain" else []
            done = self.bulkhead(*words, "", *more)
            self.assertEqual(done.returncode, 125, words)
            self.assertIn("empty", done.stderr, words)

    def test_values(self):
        done = self.run_program("--cpu", "0.001", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("--cpu 0.001: must be at least 0.01", done.stderr)
        for words in (["help", "run", "extra"], ["--version", "extra"], ["--help", "extra"]):
            done = self.bulkhead(*words)
            self.assertEqual((done.returncode, done.stdout), (125, ""), words)
            self.assertIn('"extra"', done.stderr)
        self.file("project/package.json", json.dumps({
            "name": "foo", "publisher": "pub", "version": "1.0.0", "engines": {"vscode": "*"}, "main": "x.js"}))
        self.file("project/x.js")
        self.assertEqual(self.bulkhead("review", self.project).stdout.splitlines()[0], "pub.foo 1.0.0")
        self.file("one/package.json", json.dumps({
            "name": "one", "publisher": "pub", "version": "1.0.0", "engines": {"vscode": "*"}}))
        self.assertIn("\n1 file, ", self.bulkhead("review", "--details", os.path.join(self.root, "one")).stdout)
        done = self.bulkhead("review", "--workspace", "/nonexist", self.project)
        self.assertEqual(done.returncode, 125)
        self.assertIn("--workspace /nonexist", done.stderr)

    def test_footers_name_bulkheads_own_failure(self):
        for verb in ("run", "code", "explain", "check", "review", "log", "doctor", "completion"):
            self.assertIn("125", self.bulkhead("help", verb).stdout, verb)

    def test_what_is_no_project_is_told_to_the_launcher(self):
        data = self.folder("data")
        for name in ("vscode/launcher/start.mjs", "node_modules/acorn/package.json", "manifests/baseline.json", "manifests/sets/system.json"):
            self.file(f"data/{name}")
        node = self.file("node", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
        os.chmod(node, 0o700)

        def told(where, *words):
            done = subprocess.run([options.bulkhead, "code", *words], cwd=where, text=True, check=True, stdout=subprocess.PIPE,
                                  env={**self.environment, "BULKHEAD_DATA": data, "BULKHEAD_NODE": node})
            words = done.stdout.splitlines()
            return words[words.index("--no-project") + 1] if "--no-project" in words else None

        self.assertEqual(told(self.home), "is a home folder")
        self.assertEqual(told(self.project, self.home, "--trace"), "is a home folder")
        self.assertEqual(told(self.project, "--", ".."), f"holds the home folder {self.home}")
        self.assertEqual(told("/tmp", "--", "--locale", "de"), "is shared by all of the machine")
        for where, words in ((self.project, []), (self.home, [self.project]), ("/", [self.project]), (self.home, ["none"])):
            self.assertIsNone(told(where, *words), words)

    def test_a_configuration_that_is_another_users(self):
        if os.geteuid() == 0:
            return  # who may read everything
        self.file("home/.config/bulkhead/policy.json", "{}")
        os.chmod(f"{self.home}/.config", 0)
        done = self.run_program("--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("set HOME or XDG_CONFIG_HOME", done.stderr)
        os.chmod(f"{self.home}/.config", 0o700)

    def test_a_compartment_in_a_compartment(self):
        folder = os.path.dirname(options.bulkhead)
        done = self.run_program("--read", folder, "--read", options.source, "--unblock", "secret-variables",
                                "--env", "BULKHEAD_DATA", "--", options.bulkhead, "run", "--dry-run", "--", "true")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("a compartment already", done.stderr)


class Summing(Flow):
    def test_flags_can_be_pasted(self):
        for name in ("it's$x", "new\nline", "back\\slash", "a\x1b[2J\u202e"):
            path = self.file(f"home/{name}", "found")
            done = self.run_program("--", "cat", path)
            line = next(line for line in done.stderr.splitlines() if "to grant:" in line)
            self.assertFalse(set("\x1b\u202e") & set(line), line)
            command = f"{shlex.quote(options.bulkhead)} run {line.split(':', 1)[1]} -- cat \"$1\""
            again = subprocess.run(["bash", "-c", command, "bash", path], cwd=self.project, env=self.environment,
                                   text=True, capture_output=True, check=False, stdin=subprocess.DEVNULL)
            self.assertEqual(again.stdout, "found", command + again.stderr)

    def test_a_flag_that_a_block_cancels(self):
        self.file("home/.ssh/id_rsa", "key")
        words = ["--read", os.path.join(self.home, ".ssh"), "--env", "SSH_AUTH_SOCK", "--", "true"]
        done = self.run_program(*words)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"--read .*\.ssh.* grants nothing: .*--unblock ssh")
        self.assertRegex(done.stderr, r"--env .*SSH_AUTH_SOCK.* grants nothing: .*--unblock ")
        self.assertEqual(self.run_program("--quiet", *words).stderr, "")
        self.assertNotIn("grants nothing", self.run_program("--read", self.home, "--", "true").stderr)


class Checking(Flow):
    def test_clean(self):
        fine = self.file("fine.json", json.dumps({
            "manifest": 1, "files": {"read": ["${workspace}", "@system"]}, "otherwise": "deny"}))
        done = self.bulkhead("check", fine)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_what_is_shipped_is_clean(self):
        folder = os.path.join(options.source, "manifests")
        files = [os.path.join(folder, "prettier.json"), os.path.join(folder, "blocklist.json")]
        files += [os.path.join(folder, "sets", name) for name in os.listdir(os.path.join(folder, "sets"))]
        done = self.bulkhead("check", *files)
        self.assertEqual((done.returncode, done.stdout), (0, done.stdout), done.stdout)

    def test_errors_of_all_files_with_their_places(self):
        bad = self.file("bad.json", '{\n  "manifest": 1,\n  "files": { "read": ["relative"] }\n}\n')
        worse = self.file("worse.json", "{\n  nonsense\n")
        done = self.bulkhead("check", bad, worse, "missing.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{bad}:3:", done.stdout)
        self.assertIn(f"{worse}:2:", done.stdout)
        self.assertIn("missing.json", done.stdout)
        found = json.loads(self.bulkhead("check", "--json", bad, worse).stdout)
        self.assertEqual({f["severity"] for f in found}, {"error"})

    def places(self, name, text):
        found = json.loads(self.bulkhead("check", "--json", self.file(name, text)).stdout)
        return [(f["line"], f["field"], f["severity"]) for f in found]

    def test_all_mistakes_of_a_file_in_its_order(self):
        # By turns the compiler's and the parser's.
        self.assertEqual(self.places("m.json", """{
  "network": ["example.com"],
  "manifest": 2,
  "files": { "read": ["/a", "~/b", 7, "@none"] },
  "limits": { "processes": 0 },
  "run": ["git status"]
}"""), [(2, "network[0]", "error"), (3, "manifest", "error"), (4, "files.read[1]", "error"), (4, "files.read[2]", "error"),
        (4, "files.read[3]", "error"), (5, "limits.processes", "error"), (6, "run[0]", "error")])

    def test_policy_files_and_sets_are_compiled(self):
        self.assertEqual(self.places("policy.json", """{ "blocklist": 1, "groups": [{
  "name": "mine", "block": ["${home}/a", "relative", "${nothing}/a"],
  "network": ["nowhere"], "colour": "red" }] }"""),
                         [(2, "groups[0].block[1]", "error"), (2, "groups[0].block[2]", "error"),
                          (3, "groups[0].network[0]", "error"), (3, "groups[0].colour", "error")])
        self.assertEqual(self.places("set.json", """{ "set": "tools",
  "read": ["/opt/tools", "@system"], "run": ["no such"],
  "write": ["/opt"] }"""),
                         [(2, "read[1]", "error"), (2, "run[0]", "error"), (3, "write", "error")])

    def test_remembered_answers_are_no_manifest(self):
        answer = {"subject": "/bin/cat", "manifest": "", "kind": "read", "answer": "always", "what": "/a"}
        for said, wanted in (("always", []), ("perhaps", [(1, "answers[0]", "error")])):
            text = json.dumps({"grants": 1, "answers": [{**answer, "answer": said}]})
            self.assertEqual(self.places("grants.json", text), wanted)

    def test_reviews_are_no_manifest(self):
        review = {"extension": "a.b", "version": "1.0.0", "package": "0" * 64, "when": "", "text": "{}",
                  "manifest": hashlib.sha256(b"{}").hexdigest()}
        for version, wanted in (("1.0.0", []), (1, [(1, "approved[0].version", "error")])):
            text = json.dumps({"reviews": 1, "approved": [{**review, "version": version}]})
            self.assertEqual(self.places("reviews.json", text), wanted)

    def test_large_lifts_are_no_manifest(self):
        folders = {f"/w/{number}": ["git-hooks"] for number in range(21000)}
        self.assertEqual(self.places("lifts.json", json.dumps({"lifts": 1, "workspaces": folders})), [])

    def test_an_option_takes_one_word(self):
        found = json.loads(self.bulkhead("check", "--json", "--workspace", ".", "none.json", "neither.json").stdout)
        self.assertEqual([f["file"] for f in found], ["none.json", "neither.json"])

    def test_a_run_tells_mistakes_in_their_order(self):
        manifest = self.file("m.json", """{
  "manifest": 1,
  "network": ["example.com"],
  "run": ["git status"],
  "files": { "read": ["~/b"] }
}""")
        done = self.run_program("--manifest", manifest, "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertEqual(re.findall(r"m\.json:(\d+):", done.stderr), ["3", "4", "5"], done.stderr)
        wrong = self.file("m.json", '{"manifest": 2, "network": ["example.com"]}')
        self.assertIn("`bulkhead check`", self.run_program("--manifest", wrong, "--", "true").stderr)

    def test_in_the_home_folder(self):
        manifest = self.file("home/m.json", '{ "manifest": 1, "files": { "read": ["${workspace}"] } }')
        self.assertEqual(self.bulkhead("check", manifest, cwd=self.home).stdout, "")

    def test_warnings_fail_only_when_strict(self):
        wide = self.file("wide.json", json.dumps({
            "manifest": 1, "files": {"read": ["/"]}, "network": ["*:*"], "otherwise": "deny"}))
        self.assertEqual(self.bulkhead("check", wide).returncode, 0)
        done = self.bulkhead("check", "--strict", wide)
        self.assertEqual(done.returncode, 1)
        self.assertIn("warning", done.stdout)


class Logging(Flow):
    def test_empty(self):
        done = self.bulkhead("log")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("empty", done.stderr)
        self.assertEqual(self.bulkhead("log", "--runs").returncode, 0)
        # As a run leaves it that ended before its first entry.
        self.file("home/.local/state/bulkhead/journal.db", "")
        for words in ([], ["--runs"], ["--run", "last"], ["--json"]):
            done = self.bulkhead("log", *words)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertIn("empty", done.stderr)
        done = self.bulkhead("log", "--run", "abc")
        self.assertEqual(done.returncode, 125)
        self.assertIn("no such run", done.stderr)

    def test_filters(self):
        self.bulkhead("run", "--", "cat", self.secret)
        other = self.file("home/other.txt")
        self.bulkhead("run", "--", "head", other)
        denied = self.journal("--denied", "--kind", "read")
        self.assertEqual([r["resource"] for r in denied], [self.secret, other])
        self.assertEqual(len(self.journal("--denied", "--kind", "read", "--path", "other")), 1)
        self.assertEqual(len(self.journal("--denied", "--kind", "read", "--program", "bin/cat")), 1)
        self.assertEqual(len(self.journal("--denied", "--kind", "read", "--limit", "1")), 1)
        self.assertEqual(len(self.journal("--denied", "--kind", "read", "--since", "1h")), 2)
        self.assertEqual(len(self.journal("--denied", "--kind", "read", "--run", "last")), 1)
        run = denied[0]["run"]
        self.assertEqual({r["run"] for r in self.journal("--run", run[:10])}, {run})
        done = self.bulkhead("log", "--path", "no such thing")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no entry", done.stderr)

    def test_table_fits(self):
        self.bulkhead("run", "--", "cat", self.file("elsewhere/secret.txt"))
        for width, rule in ((100, True), (99, False), (70, False), (40, False)):
            done = self.bulkhead("log", env={"COLUMNS": str(width)})
            self.assertEqual(done.returncode, 0)
            self.assertIn("denied", done.stdout)
            self.assertIn("resource", done.stdout)
            self.assertEqual("rule" in done.stdout.splitlines()[0], rule, width)
            self.assertEqual("--json" in done.stderr, not rule, width)
            for line in done.stdout.splitlines():
                self.assertLessEqual(len(line), width)

    def test_what_is_left_out_is_told_where_something_is(self):
        self.bulkhead("run", "--", "true", env={"FIRST_TOKEN": "1"})
        wide = {"COLUMNS": "100"}
        self.assertEqual(self.bulkhead("log", env=wide).stderr, "")
        # As an extension's host, whose variables are what every host is started without.
        with contextlib.closing(sqlite3.connect(os.path.join(self.home, ".local/state/bulkhead/journal.db"))) as journal, journal:
            journal.execute("UPDATE runs SET command = 'extension host of a.b'")
        for words, told in (([], True), (["--denied"], True), (["--since", "2200-01-01"], False), (["--all"], False), (["--brief"], False)):
            self.assertEqual("left out: --all shows it" in self.bulkhead("log", *words, env=wide).stderr, told, words)

    def test_times_do_not_jump_back(self):
        read = f"sh -c 'read x < {self.secret}'"  # the second is written to the row of the first
        self.bulkhead("run", "--run", "sh", "--run", "ls", "--", "sh", "-c", f"{read}; ls /etc; {read}")
        times = [row["time"] for row in self.journal()]
        self.assertGreater(len(times), 3)
        self.assertEqual(times, sorted(times))

    def test_withheld_variables_are_one_row(self):
        names = {"FIRST_TOKEN": "1", "SECOND_TOKEN": "2", "THIRD_TOKEN": "3"}
        self.bulkhead("run", "--", "true", env=names)
        self.bulkhead("run", "--", "cat", self.secret, env=names)
        table = self.bulkhead("log", "--denied", env={"COLUMNS": "100"}).stdout
        rows = [line for line in table.splitlines() if "environment" in line]
        self.assertEqual(len(rows), 2, table)
        for row in rows:
            self.assertRegex(row, r" and \d+ more ")
        self.assertIn("secret.txt", table)
        listed = self.bulkhead("log", "--kind", "environment", "--run", "last", env={"COLUMNS": "100"}).stdout
        for name in names:
            self.assertIn(name, listed)
        self.assertEqual({row["resource"] for row in self.journal("--kind", "environment")} & set(names), set(names))

    def test_wrong_filters(self):
        self.bulkhead("run", "--", "true")
        for words in (["--kind", "fly"], ["--since", "yesterday"], ["--run", "ffffffffffffffffff"],
                      ["--limit", "-1"]):
            done = self.bulkhead("log", *words)
            self.assertEqual(done.returncode, 125, words)
            self.assertIn(words[0], done.stderr)

    def test_filters_of_runs(self):
        self.bulkhead("run", "--", "true")
        self.bulkhead("run", "--", "cat", self.secret, "it's\x1b")
        first, second = self.journal("--runs")
        for words, wanted in ((["--denied", "--path", "secret"], [second]), (["--path", "nothing"], []),
                              (["--run", first["run"]], [first]), (["--run", "last"], [second]),
                              (["--subject", first["subject"]], [first]), (["--program", "/cat"], [second]),
                              (["--kind", "connect"], []), (["--kind", "environment", "--program", "nothing"], []),
                              (["--since", "1h"], [first, second]), (["--since", "2200-01-01"], []),
                              (["--limit", "1"], [second])):
            self.assertEqual(self.journal("--runs", *words), wanted, words)
        done = self.bulkhead("log", "--runs", "--follow")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("--follow", done.stderr)
        table = self.bulkhead("log", "--runs").stdout
        self.assertIn(r"$'it\'s\033'", table)

    def test_follow(self):
        with subprocess.Popen([options.bulkhead, "log", "--follow", "--json", "--denied", "--kind", "read"],
                              cwd=self.project, env=self.environment, stdout=subprocess.PIPE,
                              text=True, start_new_session=True) as following:
            self.bulkhead("run", "--", "cat", self.secret)
            row = json.loads(following.stdout.readline())
            self.assertEqual(row["resource"], self.secret)
            following.send_signal(signal.SIGINT)
            self.assertEqual(following.wait(flow.TIMEOUT), -signal.SIGINT)

    def test_follow_ends_with_its_reader(self):
        self.bulkhead("run", "--", "cat", self.secret)
        with subprocess.Popen([options.bulkhead, "log", "--follow", "--json"], cwd=self.project,
                              env=self.environment, stdout=subprocess.PIPE, text=True,
                              start_new_session=True) as following:
            following.stdout.readline()
            following.stdout.close()
            self.assertIn(following.wait(flow.TIMEOUT), (0, 125, -signal.SIGPIPE))


class Doctoring(Flow):
    def test_tells_what_this_machine_can(self):
        done = self.bulkhead("doctor", "--json")
        found = json.loads(done.stdout)
        missing = [f["name"] for f in found["features"] if f["required"] and not f["present"]]
        self.assertEqual((found["ok"], done.returncode), (not missing, 0 if not missing else 1))
        self.assertTrue(found["ok"], missing)
        table = self.bulkhead("doctor", env={"COLUMNS": "100"})
        for feature in found["features"]:
            self.assertIn(feature["name"], table.stdout)

    def test_its_texts_are_whole_at_any_width(self):
        wide = self.bulkhead("doctor").stdout
        narrow = self.bulkhead("doctor", env={"COLUMNS": "80"}).stdout
        self.assertLessEqual(max(map(len, narrow.splitlines())), 80)
        self.assertEqual(sorted(narrow.split()), sorted(wide.split()))


class Completing(Flow):
    def script(self, shell):
        done = self.bulkhead("completion", shell)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.file(f"completion.{shell}", done.stdout)

    def test_shells_can_parse_them(self):
        for shell in ("bash", "zsh", "fish"):
            if not shutil.which(shell):
                self.fail(f"{shell} is not installed; scripts/packages.txt lists it")
            done = subprocess.run([shell, "-n", self.script(shell)], capture_output=True, text=True,
                                  check=False, env=self.environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)

    def complete_in_bash(self, *words):
        quoted = " ".join(shlex.quote(word) for word in words)
        code = (f"source {self.script('bash')}; COMP_WORDS=({quoted}); "
                f"COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); _bulkhead; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True,
                              cwd=self.project, env=self.environment, check=True)
        return done.stdout.split()

    def test_bash_completes(self):
        self.file("project/a.json")
        self.folder("project/folder")
        self.assertEqual(self.complete_in_bash("bulkhead", "ex"), ["explain"])
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--man"), ["--manifest"])
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--manifest", "a"), ["a.json"])
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--workspace", ""), ["folder"])
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--otherwise", ""), ["ask", "deny"])
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--unblock", "ssh-k"), ["ssh-keys"])
        self.assertEqual(self.complete_in_bash("bulkhead", "explain", "conn"), ["connect"])
        self.assertEqual(self.complete_in_bash("bulkhead", "completion", "f"), ["fish"])
        self.assertIn("env", self.complete_in_bash("bulkhead", "run", "--", "env"))
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--", "cat", "a."), ["a.json"])
        self.assertNotIn("--manifest", self.complete_in_bash("bulkhead", "run", "cat", "--m"))
        # --option=value is three words to bash.
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--manifest", "=", "a"), ["a.json"])
        self.assertEqual(self.complete_in_bash("bulkhead", "run", "--workspace", "="), ["folder"])
        self.assertIn("sleep", self.complete_in_bash("bulkhead", "run", "--manifest", "=", "a.json", "slee"))

    def test_fish_completes(self):
        script = self.script("fish")
        home = {**self.environment, "HOME": self.home}

        def complete(line):
            done = subprocess.run(["fish", "--no-config", "-c",
                                   f"source {script}; complete -C {shlex.quote(line)}"],
                                  capture_output=True, text=True, env=home, check=True, cwd=self.project)
            return [row.split("\t")[0] for row in done.stdout.splitlines()]

        self.assertEqual(complete("bulkhead ex"), ["explain"])
        self.assertIn("--manifest", complete("bulkhead run --man"))
        self.assertEqual(sorted(complete("bulkhead run --otherwise ")), ["ask", "deny"])
        for dashes in ("", "-- ", "--quiet -- "):
            self.assertIn("sleep", complete(f"bulkhead run {dashes}slee"), "the program to be run")

    def test_zsh_loads(self):
        code = (f"autoload -Uz compinit; compinit -D -u; source {self.script('zsh')}; "
                "print ${_comps[bulkhead]}")
        done = subprocess.run(["zsh", "-f", "-c", code], capture_output=True, text=True, check=False,
                              env=self.environment)
        self.assertEqual((done.stdout, done.stderr), ("_bulkhead\n", ""))


if __name__ == "__main__":
    flow.main()
