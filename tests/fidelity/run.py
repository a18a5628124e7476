#!/usr/bin/env python3
"""Runs one job plainly and in a compartment, and says what a program could tell apart.

    run.py --mode MODE --bulkhead PROGRAM [--programs FOLDER] [--node PROGRAM] [--keep] JOB

MODE is IDENTITY-GRANTS: root or user; `granted` (everything may be read, written and run),
`served` (the same, with every call served by the supervisor), `blocked` (everything, less what the built-in
blocklist keeps back), `workspace` (the workspace, the system and
the programs that the job names), or `plain` (plain again: is the job itself deterministic?).

Both runs happen in the same folder, made afresh. Compared are exit code, both outputs, and the tree:
names, types, modes, owners, sizes, contents, extended attributes, link targets, which names are one
file, and modification times that the job set (those before its start). A job's header may say

    run:      programs that it runs, for `workspace`
    flags:    further options of `bulkhead run`
    ignore:   globs of paths below the workspace whose content is never the same twice
    forget:   globs of paths whose very names are never the same twice
    modes:    the only modes that make sense for it
    needs:    a program without which it is skipped
    exit:     the exit code of its end, where that is not 0: a job that ends early compares less than it says

Exit 0: no difference, 1: differences, 77: skipped.
"""
import argparse
import difflib
import fnmatch
import hashlib
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PYTHON = os.path.realpath("/usr/bin/python3")
PATIENCE = 240
SKIP = 77
EPOCH = 1_500_000_000  # times that the fixture sets


def header(path):
    fields = {}
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n\n")[0].splitlines():
            if match := re.match(r"^\W*(run|flags|ignore|forget|modes|needs|prepare|exit):\s*(.*)$", line):
                fields.setdefault(match[1], []).extend(match[2].split())
    return fields


def fixture(work):
    """A small tree with one of everything."""
    def put(name, content, mode=0o644, when=EPOCH):
        path = f"{work}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)
        os.utime(path, (when, when))

    put("tree/plain.txt", b"plain\n")
    put("tree/empty", b"", when=EPOCH + 1)
    put("tree/executable", b"#!/bin/sh\necho executable \"$@\"\n", 0o755)
    put("tree/readonly", b"read only\n", 0o444)
    put("tree/private", b"private\n", 0o600, EPOCH - 1000)
    put("tree/big.bin", bytes(i * 7 & 255 for i in range(300_000)))
    put("tree/name with spaces", b"spaces\n")
    put("tree/newline\nname", b"newline\n")
    put("tree/\u00fcml\u00e4ut", b"unicode\n")
    put("tree/a/b/c/deep.txt", b"deep\n")
    put("tree/a/sibling.txt", b"sibling\n")
    for i in range(40):
        put(f"tree/many/file-{i:03}.txt", f"file {i}\n".encode() * (i + 1), when=EPOCH + i)
    with open(os.fsencode(work) + b"/tree/\xff\xfe-bytes", "wb") as file:
        file.write(b"no unicode\n")
    with open(f"{work}/tree/sparse", "wb") as file:
        file.seek(1 << 20)
        file.write(b"end")
    os.link(f"{work}/tree/plain.txt", f"{work}/tree/hard.txt")
    os.symlink("plain.txt", f"{work}/tree/soft.txt")
    os.symlink("a/b", f"{work}/tree/to-folder")
    os.symlink("nowhere", f"{work}/tree/dangling")
    os.symlink("loop-b", f"{work}/tree/loop-a")
    os.symlink("loop-a", f"{work}/tree/loop-b")
    os.mkfifo(f"{work}/tree/pipe", 0o640)
    os.setxattr(f"{work}/tree/plain.txt", "user.colour", b"blue")
    os.mkdir(f"{work}/tree/sticky")
    os.chmod(f"{work}/tree/sticky", 0o1777)
    os.mkdir(f"{work}/tree/closed")
    os.chmod(f"{work}/tree/closed", 0o700)


def describe(work, began, ignore, forget):
    """Path to a text of everything that is compared; links between names as the first name."""
    found, first = {}, {}
    base = os.fsencode(work)
    for folder, folders, files in os.walk(base):
        folders.sort()
        for name in sorted(files + folders):
            path = folder + b"/" + name
            short = os.fsdecode(path[len(base) + 1:]).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            if any(fnmatch.fnmatch(short, pattern) for pattern in forget):
                continue
            status = os.lstat(path)
            kind = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFIFO: "pipe",
                    stat.S_IFSOCK: "socket"}.get(stat.S_IFMT(status.st_mode), "device")
            told = [kind, oct(stat.S_IMODE(status.st_mode)), f"{status.st_uid}:{status.st_gid}"]
            ignored = any(fnmatch.fnmatch(short, pattern) for pattern in ignore)
            if kind == "link":
                told.append("to " + os.fsdecode(os.readlink(path)))
            if kind == "file":
                told.append("name of " + first.setdefault(status.st_ino, short) + f" ({status.st_nlink})")
                if not ignored:
                    with open(path, "rb") as file:
                        told += [str(status.st_size), hashlib.sha256(file.read()).hexdigest()[:16]]
            if kind != "link":
                told.append(str([(name, os.getxattr(path, name)) for name in sorted(os.listxattr(path))]))
            if status.st_mtime < began - 5 and not ignored:
                told.append(f"changed {status.st_mtime_ns}")
            found[short] = " ".join(told)
    return found


class Run:
    def __init__(self, arguments, job):
        self.arguments, self.job = arguments, job
        self.identity, self.grants = arguments.mode.split("-")
        self.fields = header(job)
        self.uid = 0 if self.identity == "root" else (os.getuid() or 1000)
        # Not below /tmp, which a compartment has to itself.
        self.base = tempfile.mkdtemp(prefix="bulkhead-fidelity-", dir="/var/tmp")
        os.chmod(self.base, 0o755)
        self.work, self.home = f"{self.base}/work", f"{self.base}/home"

    def give(self, root):
        if os.getuid() == 0 and self.uid:
            for folder, folders, files in os.walk(root):
                for path in [folder] + [f"{folder}/{name}" for name in files + folders]:
                    os.lchown(path, self.uid, self.uid)

    def options(self):
        other = {} if os.getuid() == self.uid else {"user": self.uid, "group": self.uid, "extra_groups": []}
        return dict(other, cwd=self.work, stdin=subprocess.DEVNULL, process_group=0, umask=0o022, env={
            "HOME": self.home, "PATH": f"{os.path.dirname(self.arguments.node)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "USER": "somebody",
            "XDG_STATE_HOME": f"{self.base}/state", "XDG_CONFIG_HOME": f"{self.base}/config", "BULKHEAD_DATA": SOURCE})

    def program(self):
        name, extension = os.path.splitext(os.path.basename(self.job))
        if extension == ".c":
            shutil.copy(f"{self.arguments.programs}/{name}", f"{self.base}/work/.job")
            return [f"{self.work}/.job"]
        shutil.copy(self.job, f"{self.work}/.job{extension}")
        runner = {".sh": "/bin/sh", ".bash": "/bin/bash", ".py": PYTHON, ".mjs": self.arguments.node}[extension]
        return [runner, f"{self.work}/.job{extension}"]

    def flags(self):
        flags = ["--quiet", "--workspace", self.work, "--otherwise", "deny"]
        if self.grants != "blocked":
            flags += ["--unblock", "all"]
        if self.grants in ("granted", "served", "blocked"):
            flags += ["--read", "/", "--write", "/", "--run", "/"]
        else:
            flags += ["--read", os.path.dirname(os.path.dirname(self.arguments.node)), "--read", self.home, "--write", self.home]
            flags += [word for name in self.fields.get("run", []) for word in ("--run", name.replace("{NODE}", self.arguments.node).replace("{W}", self.work))]
        if self.grants == "served":
            flags.append("--serve-every-call")
        return flags + shlex.split(" ".join(self.fields.get("flags", [])))

    def once(self, confined):
        began = time.time()
        for folder in (self.work, self.home):
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
        fixture(self.work)
        command = self.program()
        for folder in (self.work, self.home):
            self.give(folder)
        for name in ("state", "config"):
            os.makedirs(f"{self.base}/{name}", 0o700, exist_ok=True)
            self.give(f"{self.base}/{name}")
        if self.fields.get("prepare"):
            subprocess.run([*command, "prepare"], **self.options(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        if confined:
            command = [self.arguments.bulkhead, "run", *self.flags(), "--", *command]
        with open(f"{self.base}/out", "w+b") as out, open(f"{self.base}/err", "w+b") as err:
            started = subprocess.Popen(command, stdout=out, stderr=err, **self.options())
            try:
                code = started.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()
                code = "no end"
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="backslashreplace"))
        return {"exit code": str(code), "output": texts[0], "errors": texts[1], "tree": describe(self.work, began, self.fields.get("ignore", []), self.fields.get("forget", []))}

    def compare(self):
        plain, ours = self.once(False), self.once(self.grants != "plain")
        differences = []
        if plain["exit code"] != ours["exit code"]:
            differences.append(f"exit code: plain {plain['exit code']}, in the compartment {ours['exit code']}")
        for part in ("output", "errors"):
            lines = list(difflib.unified_diff(plain[part].splitlines(), ours[part].splitlines(), "plain", "in the compartment", n=1, lineterm=""))
            if lines:
                differences.append(f"{part}:\n  " + "\n  ".join(lines[:60]))
        for path in sorted(set(plain["tree"]) | set(ours["tree"])):
            if plain["tree"].get(path) != ours["tree"].get(path):
                differences.append(f"{path}:\n  plain  {plain['tree'].get(path)}\n  ours   {ours['tree'].get(path)}")
        if [plain["exit code"]] != self.fields.get("exit", ["0"]):
            differences.append(f"the job did not reach its end: exit code {plain['exit code']} {plain['errors'][-2000:]!r}")
        if "\0\0" in plain["output"] + plain["errors"]:
            differences.append("the job cut its own output: what it said before is not compared")
        if len(plain["output"]) < 40:
            differences.append(f"the job says too little to be compared: {plain['output']!r} {plain['errors'][-2000:]!r}")
        return plain, differences

    def remove(self):
        if self.arguments.keep:
            print(f"kept: {self.base}")
        else:
            shutil.rmtree(self.base, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", required=True, choices=[f"{i}-{g}" for i in ("root", "user") for g in ("granted", "served", "blocked", "workspace", "plain")])
    parser.add_argument("--bulkhead", type=os.path.abspath)
    parser.add_argument("--programs", type=os.path.abspath)
    parser.add_argument("--node", default=shutil.which("node") or "/usr/bin/node")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("job")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was made is removed all the same
    arguments.node = os.path.realpath(arguments.node)
    job = os.path.realpath(arguments.job)
    if arguments.mode.startswith("root") and os.getuid() != 0:
        print("skipped: needs root")
        return SKIP
    for program in header(job).get("needs", []):
        if not shutil.which(program):
            print(f"skipped: needs {program}")
            return SKIP
    run = Run(arguments, job)
    try:
        plain, differences = run.compare()
    finally:
        run.remove()
    if differences:
        print(f"{len(differences)} differences")
        for difference in differences[:40]:
            print(difference)
        return 1
    print(f"no difference: exit code {plain['exit code']}, {len(plain['output'].splitlines())} lines, {len(plain['tree'])} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
