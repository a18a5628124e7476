#!/usr/bin/env python3
"""What people's tools do every day, and what a compartment once refused them without a reason."""

import os
import shutil
import subprocess
import unittest

import flow
from flow import Flow


class Everyday(Flow):
    def sh(self, script, *words, cwd=None, **more):
        return self.run_program("--otherwise=deny", "--run", "@programs", *words, "--", "sh", "-c", script,
                                cwd=cwd or self.project, **more)

    def denied(self, kind=None):
        return [(row["kind"], row["resource"]) for row in self.journal("--denied")
                if row["kind"] in ([kind] if kind else ["read", "write", "run"])]


class Links(Everyday):
    def test_a_granted_folder_whose_name_is_a_link(self):
        place = self.folder("disk/cache/x")
        os.symlink("../disk/cache", f"{self.home}/.cache")
        # In the machine's home: in one of its own the link is not there.
        grants = ("--manifest", f"{flow.options.source}/tests/attacks/machine-home.json", "--read", f"{self.home}/.cache", "--write", f"{self.home}/.cache")
        done = self.sh(f"""set -e; echo 1 > ~/.cache/x/f; cat ~/.cache/x/f; echo 2 > {place}/g; echo 3 > ~/.cache/x/g; cat ~/.cache/x/g
                       mkdir ~/.cache/y; mv ~/.cache/x/f ~/.cache/y""", *grants)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n3\n", ""))
        # The link itself stays: what is blocked behind it (~/.cache/mozilla) would be somewhere else.
        done = self.sh("rm ~/.cache || mv ~/.cache ~/.gone || ln -sfn /tmp ~/.cache || mkdir ~/.cache/mozilla", *grants, "--write", self.home)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(os.readlink(f"{self.home}/.cache"), "../disk/cache")
        self.assertFalse(os.path.exists(f"{self.root}/disk/cache/mozilla"))

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_a_linked_git_folder(self):
        store = self.folder("store")
        self.git("init", "-q", ".")
        shutil.move(f"{self.project}/.git", f"{store}/p.git")
        os.symlink("../store/p.git", f"{self.project}/.git")
        self.file("project/f", "1\n")
        done = self.sh("git add f && git config core.pager x; echo evil > .git/hooks/pre-commit", "--read", "@git",
                       "--workspace", self.project, "--workspace", store)
        self.assertIn(f"{store}/p.git", done.stderr + done.stdout, done)
        self.assertEqual(self.git("status", "--short").stdout, "A  f\n")
        self.assertFalse(os.path.exists(f"{store}/p.git/hooks/pre-commit"))
        self.assertNotIn("pager", self.read(f"{store}/p.git/config"))

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.project, env=self.environment, capture_output=True, text=True, check=True)

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_links_to_the_systems_files(self):
        done = self.sh("ln -s /usr/bin/env e; ln -s /etc/profile.d/none none; ln -s /etc folder; ls")
        # What this user could not make outside is nobody's start-up file.
        self.assertEqual(done.stdout, "e\n" if os.geteuid() == 0 else "e\nnone\n", done.stderr)
        self.assertNotIn("--write", done.stderr)


class Asked(Everyday):
    def test_access_says_what_an_open_would(self):
        shut = self.file("shut/file", "x\n")
        done = self.sh(f"""for path in {shut} {self.root}/shut {self.project} /usr/bin /dev/null; do [ -w $path ] && echo w $path; done
                       [ -r {shut} ] || echo unreadable""", "--read", "/usr/bin")
        self.assertEqual(done.stdout, f"w {self.project}\nw /dev/null\nunreadable\n", done.stderr)
        self.assertIn(("read", shut), self.denied())
        self.assertNotIn("--write", done.stderr)

    def test_what_is_made_and_read_back_is_told_as_written(self):
        out = self.folder("out")
        script = f"import os; os.close(os.open('{out}/new', os.O_RDWR | os.O_CREAT, 0o600)); print(open('{out}/new').read() == '')"
        done = self.run_program("--otherwise=deny", "--", "/usr/bin/python3", "-c", script)
        self.assertIn(f"write  {out}/new", done.stderr)
        self.assertIn(f"--write {out}", done.stderr)
        self.assertEqual(set(self.denied("write")), {("write", f"{out}/new")})
        self.assertFalse(os.path.exists(f"{out}/new"))
        words = next(line for line in done.stderr.splitlines() if "to grant:" in line).split("to grant:")[1].split()
        done = self.run_program("--otherwise=deny", *words, "--", "/usr/bin/python3", "-c", script)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True\n", ""))


class OwnHome(Everyday):
    """With a home folder of its own."""

    def setUp(self):
        super().setUp()
        self.kept = os.path.join(self.root, "kept-home")
        self.work = self.folder("home/proj")
        self.file("home/.ssh/id_rsa", "the key\n", 0o600)

    def own(self, script, private="--private", **more):
        return self.sh(script, private, cwd=self.work, **more)

    def test_programs_that_are_put_there_start(self):
        folders = ".npm/_npx/1/node_modules/.bin .cargo/bin go/bin .local/bin .cache/x"
        for private in ("--private", f"--private={self.kept}", f"--private={self.kept}"):
            done = self.own(f"""for d in {folders}; do mkdir -p ~/$d; printf '#!/bin/sh\\necho started\\n' > ~/$d/t; chmod +x ~/$d/t; ~/$d/t; done
                            stat -c %a ~/.cargo; mv ~/.cargo ~/.moved && ~/.moved/bin/t; mv ~/.moved ~/.cargo; ls -A ~""", private)
            self.assertEqual(done.stdout.split("\n"), ["started"] * 5 + ["755", "started", ".cache", ".cargo", ".config", ".local", ".npm", "go", "proj", ""], done.stderr)

    def test_many_folders(self):
        done = self.own("for i in $(seq 60); do mkdir -m 700 ~/d$i || exit 1; done; mkdir ~/d1; stat -c %a ~/d1 ~/d60; rmdir ~/d*")
        self.assertEqual((done.returncode, done.stdout), (0, "700\n700\n"), done.stderr)

    def test_folders_are_moved_between_folders(self):
        done = self.own("""cat > move.py <<'X'
import os, pathlib
h = pathlib.Path.home() / '.cache/tool'
for d in ('tmp/one', 'tmp/three/sub', 'place'): (h / d).mkdir(parents=True)
(h / 'tmp/one/f').write_text('1')
os.rename(h / 'tmp/one', h / 'place/one'); os.rename(h / 'tmp/three/sub', h / 'tmp/sub')
print((h / 'place/one/f').read_text())
try: os.rename(h / 'place/one', pathlib.Path.home() / '.one')
except OSError as error: print(error.strerror)
X
/usr/bin/python3 move.py; mv ~/.cache/tool/place/one ~/.one && printf '#!/bin/sh\\necho started\\n' > ~/.one/t && chmod +x ~/.one/t && ~/.one/t""")
        # Where programs would not start any more, mv copies.
        self.assertEqual(done.stdout, "1\nInvalid cross-device link\nstarted\n", done.stderr)

    def test_an_attempt_at_a_key_is_told_in_whatever_spelling(self):
        os.symlink(self.home, f"{self.root}/link")
        key = f"{self.home}/.ssh/id_rsa"
        for script, home in (("cat ~/.ssh/id_rsa", None), ("cat ../.ssh/id_rsa", None), ("cat ~/proj/../.ssh/id_rsa", None),
                             (f"cat /proc/self/root{key}", None), ("ln -s ~/.ssh ~/way; cat ~/way/id_rsa", None),
                             ("[ -r ../.ssh/id_rsa ]", None), ("../.ssh/id_rsa", None), ("cat ~/.ssh/id_rsa", f"{self.root}/link")):
            with self.subTest(script=script, home=home):
                done = self.own(script, env={"HOME": home} if home else None)
                self.assertNotIn("the key", done.stdout)
                self.assertIn(key, done.stderr)
                self.assertIn(("read", key), self.denied())

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_git_knows_the_identity_and_says_why_where_not(self):
        self.file("home/.gitconfig", "[user]\n\tname = A\n\temail = a@example.org\n")
        subprocess.run(["git", "init", "-q", "."], cwd=self.work, env=self.environment, check=True)
        script = "echo 1 >> f; git add f && git commit -qm one && git log -1 --format=%an"
        done = self.own(script)
        self.assertEqual((done.returncode, done.stdout), (0, "A\n"), done.stderr)
        done = self.run_program("--otherwise=deny", "--run", "@programs", "--manifest", self.file("m.json", """{"manifest": 1,
            "files": {"read": ["${workspace}", "@system"], "write": ["${workspace}"]}, "run": ["@programs"],
            "environment": ["HOME", "PATH"]}"""), "--", "sh", "-c", script, cwd=self.work)
        self.assertIn(f"{self.home}/.gitconfig", done.stderr)


@unittest.skipUnless(shutil.which("git"), "needs git")
class Repositories(Everyday):
    def git(self, *words, cwd=None):
        return subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words], cwd=cwd or self.project,
                              env=self.environment, capture_output=True, text=True, check=True)

    def test_are_made_cloned_and_removed(self):
        script = """set -e; git init -q r; cd r; git config user.name A; git config user.email a@example.org
                    echo 1 > f; ln -s nowhere dangling; git add -A; git commit -qm one; git checkout -qb other; git branch -d other 2>/dev/null || true
                    cd ..; git clone -q r c; cat c/f; git -C c checkout -q -b x origin/HEAD; git -C c remote get-url origin
                    rm c/dangling; git -C c checkout -f; readlink c/dangling
                    find r c -name config | xargs cat | grep filemode; rm -rf r; ls -A"""
        plain = self.folder("plain")
        expected = subprocess.run(["sh", "-c", script], cwd=plain, env=self.environment, capture_output=True, text=True, check=True)
        done = self.sh(script)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected.stdout.replace(plain, self.project), ""))
        made = self.tree(f"{self.project}/c")
        self.assertEqual(made, self.tree(f"{plain}/c"))

    @staticmethod
    def tree(top):
        found = []
        for folder, folders, files in os.walk(top):
            folders[:] = [each for each in folders if each != "objects"]
            found += [(os.path.relpath(os.path.join(folder, each), top), os.lstat(os.path.join(folder, each)).st_mode) for each in files if each != "index"]
        return sorted(found)

    def test_what_runs_later_is_refused_and_what_lifts_it_is_said(self):
        self.git("init", "-q", ".")
        done = self.sh("git config core.fsmonitor evil; git config alias.st '!evil'; echo x > .git/hooks/pre-commit; git config user.name B; git config user.name")
        self.assertEqual(done.stdout, "B\n", done.stderr)
        self.assertIn("unblock git-hooks", done.stderr)
        self.assertEqual(self.git("config", "--list", "--local").stdout.count("evil"), 0)
        self.assertEqual([each for each in os.listdir(f"{self.project}/.git/hooks") if not each.endswith(".sample")], [])
        self.assertFalse(os.path.exists(f"{self.project}/.git/config.lock"))

    def test_what_the_person_has_set_up_stays(self):
        self.git("init", "-q", ".")
        self.git("remote", "add", "origin", "https://example.org/a.git")
        self.file("project/.git/hooks/pre-push", "#!/bin/sh\n", 0o755)
        before = self.git("config", "--list", "--local").stdout
        done = self.sh("git remote set-url origin https://example.net/b.git; rm -rf .git; git remote add up ../up.git")
        self.assertNotEqual(done.stderr, "")
        self.assertEqual(before.count("example.org"), 1)
        with open(f"{self.project}/.git/config", encoding="utf-8") as file:
            self.assertIn("https://example.org/a.git", file.read())
        self.assertTrue(os.path.exists(f"{self.project}/.git/hooks/pre-push"))

    def test_a_linked_worktree(self):
        self.git("init", "-q", "-b", "main", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "one")
        tree = os.path.join(self.root, "tree")
        self.git("worktree", "add", "-q", tree)
        done = self.sh("""set -e; echo 1 > f; git add f; git -c user.name=A -c user.email=a@example.org commit -qm two; git log --format=%s
                       echo x > "$(git rev-parse --git-common-dir)/hooks/pre-commit" """, cwd=tree)
        self.assertEqual(done.stdout, "two\none\n", done.stderr)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.git("log", "-1", "--format=%s", "tree").stdout, "two\n")
        self.assertFalse(os.path.exists(f"{self.project}/.git/hooks/pre-commit"))
        # A file that came from elsewhere opens nobody's repository.
        thief = self.folder("thief")
        self.file("thief/.git", f"gitdir: {self.project}/.git/worktrees/tree\n")
        done = self.sh(f"cat {self.project}/.git/HEAD; echo x > {self.project}/.git/x", cwd=thief)
        self.assertEqual(done.stdout, "", done.stderr)
        self.assertFalse(os.path.exists(f"{self.project}/.git/x"))


if __name__ == "__main__":
    flow.main()
