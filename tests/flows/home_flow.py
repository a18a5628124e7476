#!/usr/bin/env python3
"""bulkhead run --private: a home folder of its own."""

import json
import os
import subprocess
import time

import flow
from flow import Flow, options


class Own(Flow):
    def setUp(self):
        super().setUp()
        self.kept = os.path.join(self.root, "kept")
        self.work = self.folder("home/src/project")
        self.file("home/src/.prettierrc", "around\n")
        self.file("home/.ssh/id_rsa", "the key\n", 0o600)
        self.file("home/.config/tool/settings", "the machine's\n")

    def sh(self, script, *words, private="--private", cwd=None, **more):
        return self.run_program(private, "--otherwise=deny", "--run", "/usr/bin", *words, "--", "sh", "-c", script, cwd=cwd or self.work, **more)

    def test_what_is_made_there_is_read_back_and_gone_afterwards(self):
        before = sorted(os.listdir(self.home))
        done = self.sh("""
            set -e
            mkdir -p ~/.cache/tool/deep ~/.config/tool
            echo one > ~/.cache/tool/deep/a; echo two > ~/.rc; cat ~/.cache/tool/deep/a ~/.rc
            mv ~/.cache/tool/deep/a ~/.cache/tool/b; ln ~/.cache/tool/b ~/.cache/hard; ln -s b ~/.cache/tool/link
            cat ~/.cache/hard ~/.cache/tool/link; stat -c %s ~/.cache/tool/b
            cd ~/.cache/tool && ls && cat ../../.rc && pwd && readlink link
            test ! -e ~/.ssh; test ! -e ~/secret.txt; test ! -e ~/.config/tool/settings
            rm -r ~/.cache/tool; test ! -e ~/.cache/tool
        """)
        self.assertEqual(done.stdout.split("\n"), ["one", "two", "one", "one", "4", "b", "deep", "link", "two", f"{self.home}/.cache/tool", "b", ""])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(os.listdir(self.home)), sorted({*before, ".local"}))
        self.assertEqual(os.listdir(f"{self.home}/.cache") if os.path.exists(f"{self.home}/.cache") else [], [])
        left = [name for _, _, files in os.walk(f"{self.home}/.local/state/bulkhead/homes") for name in files]
        self.assertEqual(left, [])
        self.assertEqual(self.sh("ls -AR ~/.cache ~/.config; ls -A ~").stdout.split("\n")[-4:], [".config", ".local", "src", ""])

    def test_git_knows_who_the_user_is_and_no_secret(self):
        self.file("home/.gitconfig", "[user]\n\tname = Alice\n[credential]\n\thelper = store\n[http]\n\textraHeader = secret\n")
        for private in ("--private", f"--private={self.kept}"):
            done = self.sh("git config --global --list", private=private)
            self.assertEqual((done.returncode, done.stdout), (0, "user.name=Alice\n"), done.stderr)

    def test_is_kept_in_a_folder(self):
        for expected in ("", "x\n"):
            done = self.sh("cat ~/.rc 2>/dev/null; echo x >> ~/.rc", private=f"--private={self.kept}")
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)
        with open(f"{self.kept}/.rc", encoding="utf-8") as file:
            self.assertEqual(file.read(), "x\nx\n")
        self.assertFalse(os.path.exists(f"{self.home}/.rc"))

    def test_is_kept_for_a_manifest(self):
        manifest = self.file("bulkhead.json", '{"manifest": 1, "extension": "a.tool", "files": {"private": true, "read": ["@system"]}, '
                                             '"run": ["sh", "cat", "ls", "mv"], "environment": ["HOME"]}')
        for expected in ("", "x\n"):
            done = self.run_program("--manifest", manifest, "--", "sh", "-c", "cat ~/.rc 2>/dev/null; echo x >> ~/.rc", cwd=self.work)
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)

    def test_the_project_and_what_is_granted_are_there(self):
        notes = self.file("home/notes.txt", "granted\n")
        done = self.sh("""
            cat ~/notes.txt; echo made > ~/src/project/file; cat ~/src/project/file; ls -A ~/src; ls -A ~
            cat ~/src/.prettierrc; mv ~/src ~/gone; rmdir ~/src; mv ~/src/project/file ~/there && cat ~/there
            ln ~/there ~/src/project/linked; echo $?; stat -c %n ~/src/.prettierrc""", "--read", notes)
        out = done.stdout.split("\n")
        self.assertEqual(out[:2], ["granted", "made"])
        self.assertEqual(set(out[2:-4]), {".cache", ".config", ".local", "notes.txt", "src", "around"}, done)
        self.assertEqual(out[-4:], ["made", "1", f"{self.home}/src/.prettierrc", ""], done.stderr)
        self.assertTrue(os.path.exists(self.work))
        self.assertFalse(os.path.exists(f"{self.work}/file"))

    def test_theft_is_told(self):
        done = self.sh("cat ~/.ssh/id_rsa ~/.nothing; echo $?")
        self.assertEqual(done.stdout, "1\n")
        rows = [row for row in self.journal() if row["verdict"] == "deny" and row["kind"] == "read"]
        self.assertEqual([row["resource"] for row in rows], [f"{self.home}/.ssh/id_rsa"])

    def test_starts_what_was_put_there(self):
        done = self.sh("cp /bin/echo ~/.local/bin/tool && ~/.local/bin/tool ran")
        self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)
        for _ in range(2):  # the first time in a folder that was not there at the start
            done = self.sh("mkdir -p ~/.tool; cp /bin/echo ~/.tool/tool && ~/.tool/tool ran",
                           private=f"--private={self.kept}")
            self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)

    def test_places_leave_nothing_behind(self):
        self.file("home/.gitconfig", "[user]\n")
        seen = lambda *words: self.sh("ls -A ~", *words, private=f"--private={self.kept}").stdout.split()
        self.assertIn(".gitconfig", seen("--read", f"{self.home}/.gitconfig"))
        self.assertNotIn(".gitconfig", seen())

    def test_is_bounded(self):
        done = self.sh("""
            head -c 3000000 /dev/zero > ~/big; while (echo x > ~/more) 2> /dev/null; do sleep 0.1; done
            echo x > ~/more; mkdir ~/.folder; cat ~/big | wc -c
            perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "$ENV{HOME}/socket") or die "$!\n"'
            rm ~/big; until (echo y > ~/more) 2> /dev/null; do sleep 0.1; done; cat ~/more""", "--home", "1MiB")
        self.assertEqual(done.stdout, "3000000\ny\n", done.stderr)
        self.assertEqual(done.stderr.count("Disk quota exceeded"), 3, done.stderr)

    def test_a_link_into_it_is_none_outside(self):
        done = self.sh("ln -s ~/src/project ~/.ssh && ln -s ~/.ssh/id_rsa stolen; ln -s ~/.cache/x cached; ls -A")
        self.assertEqual((done.stdout, os.listdir(self.work)), ("", []), done.stderr)

    def test_two_of_one_store_do_not_move_each_others_mounts(self):
        """The second renames the folder in which the first has its project mounted."""
        other = self.folder("home/other")
        place = self.folder("home/.deep/project")
        self.file("home/.deep/project/.env", "blocked\n")
        manifest = self.file("m.json", '{"manifest": 1, "files": {"read": ["${workspace}", "@system"], "write": ["${workspace}"], '
                                       '"block": ["**/.env"]}, "run": ["sh", "cat", "ln", "ls", "perl"], "environment": ["HOME"]}')
        first = subprocess.Popen(
            [options.bulkhead, "run", f"--private={self.kept}", "--manifest", manifest, "--", "sh", "-c",
             """echo ready; read x; ln -s .moved ~/.way
             for at in ~/.moved/project ~/.way/project ~/.cache/../.moved/project ~/.cache/.deep/project ~/.cache/project .; do cat $at/.env; echo changed > $at/.env; done; ls ~"""],
            cwd=place, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(first.kill)
        self.assertEqual(first.stdout.readline(), "ready\n")
        acts = {".cache/.deep": "Invalid cross-device link", ".moved": ""}  # by rename(2): mv would copy
        for to, said in acts.items():
            done = self.bulkhead("run", f"--private={self.kept}", "--manifest", manifest, "--", "perl", "-e",
                                 'rename("$ENV{HOME}/.deep", "$ENV{HOME}/$ARGV[0]") or print $!', to, cwd=other)
            self.assertEqual((done.returncode, done.stdout), (0, said), done.stderr)
        said, _ = first.communicate("go\n", flow.TIMEOUT)
        self.assertIn(".moved", said)
        self.assertNotIn("blocked\n", said)
        with open(f"{place}/.env", encoding="utf-8") as file:
            self.assertEqual(file.read(), "blocked\n")


class OfAWorkspace(Flow):
    """Without a manifest and without --private."""

    def test_it_lasts_for_the_workspace_alone(self):
        other = self.folder("other")
        for folder, expected in ((self.project, ""), (self.project, "x\n"), (other, ""), (self.project, "x\nx\n")):
            done = self.run_program("--", "sh", "-c", "mkdir -p ~/.cache/t; cat ~/.cache/t/f 2>/dev/null; echo x >> ~/.cache/t/f", cwd=folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected, ""))
        self.assertFalse(os.path.exists(f"{self.home}/.cache/t"))

    def test_it_is_listed_and_cleared(self):
        self.assertIn("No program has", self.bulkhead("home").stdout)
        self.run_program("--", "sh", "-c", "head -c 5000 /dev/zero > ~/big")
        self.assertIn(self.project, self.bulkhead("home").stdout)
        listed = json.loads(self.bulkhead("home", "--json").stdout)["homes"]
        self.assertEqual([each["owner"] for each in listed], [self.project])
        self.assertGreaterEqual(listed[0]["bytes"], 5000)
        run = subprocess.Popen([options.bulkhead, "run", "--", "sh", "-c", "echo up; read x"], cwd=self.project, env=self.environment,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.assertEqual(run.stdout.readline(), b"up\n")
        done = self.bulkhead("home", "--clear")
        self.assertEqual(done.returncode, 125)
        self.assertIn("in use", done.stderr)
        run.communicate(b"\n", timeout=flow.TIMEOUT)
        done = self.bulkhead("home", "--clear")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.run_program("--", "sh", "-c", "ls ~/big 2>/dev/null").stdout, "")
        self.assertEqual(self.bulkhead("home", "--clear", "/nonexistent").returncode, 125)

    def test_toolchains_are_there_and_stay_as_they_are(self):
        tool = self.file("home/.cargo/bin/tool", "#!/bin/sh\necho tool\n", 0o755)
        token = self.file("home/.cargo/credentials.toml", "token")
        extra = self.file("home/tools/node/bin/extra", "#!/bin/sh\ncat $(dirname $0)/../lib/text\n", 0o755)
        self.file("home/tools/node/lib/text", "loaded\n")
        path = f"{self.home}/.cargo/bin:{self.home}/tools/node/bin:{self.environment['PATH']}"
        done = self.run_program("--", "sh", "-c", "tool; extra", env={"PATH": path})
        self.assertEqual((done.stdout, done.stderr), ("tool\nloaded\n", ""))
        for script in (f"echo x >> {tool}", f"rm {extra}", f"cat {token}", f"mv {self.home}/.cargo/bin {self.home}/gone"):
            done = self.run_program("--", "sh", "-c", script, env={"PATH": path})
            self.assertNotEqual(done.returncode, 0, script)
        with open(tool, encoding="utf-8") as file:
            self.assertEqual(file.read(), "#!/bin/sh\necho tool\n")

    def test_the_home_folder_itself_may_be_granted(self):
        self.file("home/notes.txt", "notes\n")
        done = self.run_program("--read", self.home, "--", "cat", f"{self.home}/notes.txt")
        self.assertEqual((done.returncode, done.stdout), (0, "notes\n"))
        done = self.run_program("--", "true", env={"HOME": "/nonexistent/home", "XDG_STATE_HOME": self.folder("state"),
                                                   "XDG_CONFIG_HOME": self.folder("config")})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Refused(Flow):
    def test_where_there_can_be_none(self):
        for words, folder, home, why in (
                ((), self.home, self.home, "is granted"),
                (("--read", self.home), self.project, self.home, "is granted"),
                (("--read", self.root), self.project, self.home, "is granted"),
                ((), self.project, "/nonexistent/home", "home"),
                ((), self.project, "/", "no folder of a user's"),
        ):
            done = self.run_program("--private", "--workspace", folder, *words, "--", "true", cwd=folder,
                                    env={"HOME": home, "XDG_STATE_HOME": self.folder("state"), "XDG_CONFIG_HOME": self.folder("config")})
            self.assertEqual(done.returncode, 125, (home, done.stderr))
            self.assertIn(why, done.stderr)

    def test_a_folder_that_the_program_writes_keeps_none(self):
        done = self.run_program(f"--private={self.project}/kept", "--write", self.project, "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("may not write", done.stderr)


if __name__ == "__main__":
    flow.main()
