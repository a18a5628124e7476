"""What flows share: a throwaway home and project, running bulkhead, and a terminal to run it on.

A flow is a file NAME_flow.py of unittest cases that ends in flow.main(). It is run once as root and
once as uid 1000 (see CMakeLists.txt); exit code 77 and "needs …" tell a skip.
"""

import argparse
import errno
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

TIMEOUT = 60  # seconds; only a hang gets there
options = argparse.Namespace(bulkhead="", source="", user="")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bulkhead", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--user", choices=["root", "uid-1000"], required=True)
    parser.add_argument("rest", nargs="*")
    parser.parse_args(namespace=options)
    root = os.geteuid() == 0
    if options.user == "root" and not root:
        print("needs root")
        sys.exit(77)
    if options.user == "uid-1000" and root:
        os.setgroups([])
        os.setresgid(1000, 1000, 1000)
        os.setresuid(1000, 1000, 1000)
        os.environ["HOME"] = "/"
    if not os.access(options.bulkhead, os.X_OK) or not os.access(options.source, os.R_OK):
        print(f"needs {options.user}: this user cannot reach the build")
        sys.exit(77)
    # ctest may have been started with signals ignored, which children would inherit. Not SIGPIPE, which
    # Popen resets by itself: a program that ends before it has read would end the flow without a word.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    result = unittest.main(argv=[sys.argv[0], *options.rest], verbosity=1, exit=False).result
    for _, reason in result.skipped:
        print(reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)


def wait_for(probe, seconds=TIMEOUT):
    """What probe() says once that is true; its last word where it never was."""
    end = time.monotonic() + seconds
    while not (said := probe()) and time.monotonic() < end:
        time.sleep(0.02)
    return said


def child_named(pid, name):
    for child in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{child}/status", encoding="utf-8", errors="replace") as file:
                said = file.read()
        except OSError:
            continue  # ended meanwhile
        if f"\nPPid:\t{pid}\n" in said and said.startswith(f"Name:\t{name}\n"):
            return int(child)
    return None


def processes():
    """The living: (pid, parent, session)."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                state, parent, _, session = file.read().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            yield int(pid), int(parent), int(session)


def descendants(ancestor):
    """The living processes below it, whatever their sessions."""
    parents = {pid: parent for pid, parent, _ in processes()}
    found = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {ancestor})


def end_group(process):
    """Kills a process that leads a group, with all of that, and waits."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def is_alive(pid):
    try:
        return state(pid) != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def name(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return ""


def state(pid):
    """Of the process, as ps(1) says it: R, S, T, …"""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def status(pid, field):
    """A number of /proc/PID/status, in the unit that it has there."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return int(re.search(rf"^{field}:\s*(\d+)", file.read(), re.M)[1])


def memory(pid):
    """Everything writable of a process, for root."""
    found = b""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb", 0) as file:
        for line in maps:
            place, permissions = line.split()[:2]
            if not permissions.startswith("rw"):
                continue
            begin, end = (int(text, 16) for text in place.split("-"))
            file.seek(begin)
            found += file.read(end - begin)
    return found


class Flow(unittest.TestCase):
    def setUp(self):
        # Not below /tmp, which a compartment has of its own.
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="bulkhead-flow-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.home = self.folder("home")
        self.project = self.folder("project")
        self.secret = self.file("kept/secret.txt", "the secret\n")
        self.environment = {
            "HOME": self.home,
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "BULKHEAD_DATA": options.source,
        }

    def folder(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(path, exist_ok=True)
        return path

    def file(self, name, text="", mode=0o644):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def bulkhead(self, *words, cwd=None, env=None, under=(), **more):
        """Runs bulkhead without a terminal; returns the CompletedProcess with texts."""
        if "input" not in more and "stdin" not in more:
            more["stdin"] = subprocess.DEVNULL
        return subprocess.run(
            [*under, options.bulkhead, *words], cwd=cwd or self.project, env={**self.environment, **(env or {})},
            stdout=more.pop("stdout", subprocess.PIPE), stderr=more.pop("stderr", subprocess.PIPE),
            text=True, timeout=TIMEOUT, check=False, start_new_session=True, **more)

    def run_program(self, *words, **more):
        return self.bulkhead("run", *words, **more)

    def journal(self, *words):
        done = self.bulkhead("log", "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]


class Terminal:
    """A terminal with bulkhead as the foreground job of a session, as under a shell."""

    def __init__(self, command, cwd, env, rows=24, columns=80):
        self.screen = ""
        self.seen = 0
        self.status = None
        self.leader, self.master = pty.fork()
        if self.leader == 0:
            self._lead(command, cwd, env)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @staticmethod
    def _lead(command, cwd, env):
        # Stands for the shell: its job gets the foreground; a stop is told as "[stopped]" and
        # undone by SIGUSR1.
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        ready, go = os.pipe()
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.read(ready, 1)
            os.close(ready)
            os.close(go)
            os.chdir(cwd)
            os.execve(command[0], command, env)
        # Both are taken by sigwait() only: a handler could run just before a wait for the job, which
        # then would not end.
        told = {signal.SIGCHLD, signal.SIGUSR1}
        signal.pthread_sigmask(signal.SIG_BLOCK, told)
        os.setpgid(job, job)
        os.tcsetpgrp(0, job)
        os.write(go, b"g")

        while True:
            if signal.sigwait(told) == signal.SIGUSR1:
                os.tcsetpgrp(0, job)
                os.killpg(job, signal.SIGCONT)
                continue
            pid, status = os.waitpid(job, os.WUNTRACED | os.WNOHANG)
            if pid == 0:
                continue
            os.tcsetpgrp(0, os.getpgrp())
            if os.WIFSTOPPED(status):
                os.write(1, b"[stopped]")
                continue
            os.write(1, f"[exit {os.waitstatus_to_exitcode(status)}]".encode())
            os._exit(0)

    def type(self, text):
        os.write(self.master, text.encode())

    def resume(self):
        os.kill(self.leader, signal.SIGUSR1)

    def wait_for(self, pattern, seconds=TIMEOUT):
        """Waits until what came after the last match matches; returns the match."""
        until = time.monotonic() + seconds
        while True:
            match = re.compile(pattern, re.S).search(self.screen, self.seen)
            if match:
                self.seen = match.end()
                return match
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                raise AssertionError(f"no {pattern!r} on the screen in time:\n{self.screen}")
            try:
                part = os.read(self.master, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                part = b""
            if not part:
                raise AssertionError(f"ended without {pattern!r}:\n{self.screen}")
            self.screen += part.decode("utf-8", "replace")

    def exit_code(self):
        return int(self.wait_for(r"\[exit (-?\d+)\]").group(1))

    def close(self):
        # With all of its session, in the background too; a compartment ends with its run.
        def left():
            pids = [pid for pid, _, session in processes() if self.leader in (pid, session)]
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return pids

        wait_for(lambda: not left())
        os.close(self.master)
        os.waitpid(self.leader, 0)
