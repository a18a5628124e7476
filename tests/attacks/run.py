#!/usr/bin/env python3
"""Proves one attack: it must succeed plainly, and fail in a compartment.

    run.py [--plain-only] [--keep] --as root|user --bulkhead PROGRAM --programs FOLDER ATTACK

ATTACK is a file of this folder: NAME.c (built as FOLDER/NAME), .sh, .mjs or .py. Its header states

    class:    the class of attack, and whom it broke
    plain:    leak | change | message | kill | say: what success is, seen by this runner or (say) printed
    flags:    further options of `bulkhead run`; {FACT} is replaced
    journal:  KIND RESOURCE that the journal must name as denied (globs, not both `*`); may be repeated
    inside:   `exit N` or `signal N` where the end of the confined run matters
    as:       root | user, where only one of them can attack
    act:      group | terminal | prompt | inherit | replace | kill-supervisor | deputy | device | wait: how the runner joins in
    otherwise: ask, where the compartment shall ask (default: deny)
    types:    what the person types before Enter at each question, key by key (`\\xNN`; at once in `{}`) after a quarter of a second (default:
              nothing, at once)
    descriptors: N, the most that the attack and bulkhead may have open (RLIMIT_NOFILE)
    summary:  yes, where what bulkhead itself says at the end belongs to what is judged

Each run gets a world of its own below /var/tmp (not /tmp, which a compartment has to itself): a home
with keys, a workspace, servers, an outside process, all with fresh secrets. The verdict is made of what
can be seen from outside: a secret in the output, the workspace or at a server; a changed file; a dead
or altered process; and the attack's own word "EFFECT". Exit 0: as it should be, 1: not, 77: skipped.
"""
import argparse
import array
import ctypes
import errno
import fcntl
import fnmatch
import hashlib
import json
import mmap
import os
import pty
import re
import secrets
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PYTHON = os.path.realpath("/usr/bin/python3")
PATIENCE = int(os.environ.get("ATTACK_PATIENCE", "120"))  # seconds until a run counts as hanging
SKIP = 77
COLOUR_ASKED = b"\x1b]11;?"  # what a terminal replies to by the colour of its background
COLOUR = b"\x1b]11;rgb:aaaa/aaaa/aaaa\x1b\\"
MOST_QUESTIONS = 40  # 20 in a run (src/terminal/asker.h), and some that are put again because somebody set the modes


class Header:
    def __init__(self, path):
        self.path = path
        self.name, self.extension = os.path.splitext(os.path.basename(path))
        self.fields = {}
        with open(path, encoding="utf-8") as file:
            for line in file.read().split("\n\n")[0].splitlines():
                match = re.match(r"^\W*(class|plain|flags|journal|inside|as|act|descriptors|otherwise|summary|types):\s*(.*)$", line)
                if match:
                    self.fields.setdefault(match[1], []).append(match[2].strip())
        for needed in ("class", "plain"):
            if needed not in self.fields:
                sys.exit(f"{path}: the header has no '{needed}:'")
        if "* *" in self.all("journal"):
            sys.exit(f"{path}: 'journal: * *' names no row")

    def one(self, field, default=""):
        return self.fields.get(field, [default])[0]

    def all(self, field):
        return self.fields.get(field, [])


class Server:
    """Everything that listens outside the compartment, in threads of the runner."""

    def __init__(self, world):
        self.world, self.messages, self.sockets = world, [], []
        w = world
        self.collector = self.on_both(self.collect)
        w.facts["COLLECTOR"] = self.port(self.collector)
        udp = self.bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self.datagrams(udp, lambda data, peer: self.messages.append(f"udp {data!r}"))
        w.facts["COLLECTOR_UDP"] = self.port(udp)
        w.facts["GRANTED"] = self.port(self.tcp(self.greet))
        w.facts["DIAL"] = self.port(self.tcp(self.dial))
        dns = self.bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self.datagrams(dns, lambda data, peer: self.resolve(dns, data, peer))
        w.facts["DNS_SERVER"] = self.port(dns)
        for name, place in (("DOCKER", f"{w.outside}/docker.sock"), ("AGENT", f"{w.home}/.gnupg/S.gpg-agent"),
                            ("TMP_SOCKET", tempfile.mktemp(prefix="bulkhead-attack-", suffix=".sock", dir="/tmp"))):
            self.listen(self.at_path(place, socket.SOCK_STREAM), self.collect)
            w.facts[name] = place
        self.listen(self.at_path(f"{w.outside}/pass.sock", socket.SOCK_STREAM), self.hand_over)
        w.facts["PASS"] = f"{w.outside}/pass.sock"
        self.datagrams(self.at_path(f"{w.outside}/dgram.sock", socket.SOCK_DGRAM),
                       lambda data, peer: self.messages.append(f"unix datagram {data!r}"))
        w.facts["DGRAM"] = f"{w.outside}/dgram.sock"
        abstract = "bulkhead-attack-" + secrets.token_hex(8)
        self.listen(self.bound(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract), self.collect)
        self.datagrams(self.bound(socket.AF_UNIX, socket.SOCK_DGRAM, "\0" + abstract + "-d"),
                       lambda data, peer: self.messages.append(f"abstract datagram {data!r}"))
        w.facts["ABSTRACT"] = abstract

    @staticmethod
    def port(sock):
        return sock.getsockname()[1]

    def bound(self, family, kind, address):
        sock = socket.socket(family, kind)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        self.sockets.append(sock)
        return sock

    def on_both(self, serve):
        """One port of IPv4 and IPv6. Of the free port of the one, the other may be taken by somebody else."""
        for attempt in range(20):
            four = self.tcp(serve)
            try:
                self.listen(self.bound(socket.AF_INET6, socket.SOCK_STREAM, ("::1", self.port(four))), serve)
                return four
            except OSError as error:
                if error.errno != errno.EADDRINUSE or attempt == 19:
                    raise

    def at_path(self, path, kind):
        sock = self.bound(socket.AF_UNIX, kind, path)
        os.chmod(path, 0o777)
        self.world.sockets.append(path)
        return sock

    def tcp(self, serve):
        sock = self.bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.listen(sock, serve)
        return sock

    def listen(self, sock, serve):
        sock.listen(512)

        def loop():
            while True:
                try:
                    peer, _ = sock.accept()
                except OSError:
                    return
                threading.Thread(target=self.guarded, args=(serve, peer), daemon=True).start()

        threading.Thread(target=loop, daemon=True).start()

    def datagrams(self, sock, take):
        def loop():
            while True:
                try:
                    data, peer = sock.recvfrom(65536)
                except OSError:
                    return
                take(data, peer)

        threading.Thread(target=loop, daemon=True).start()

    @staticmethod
    def guarded(serve, peer):
        with peer:
            try:
                peer.settimeout(20)
                serve(peer)
            except OSError:
                pass

    def collect(self, peer):
        # That a connection is made at all is an effect.
        self.messages.append("connected")
        peer.sendall(b"answer " + self.world.secret("server") + b"\n")
        while part := peer.recv(4096):
            self.messages.append(repr(part))

    def greet(self, peer):
        peer.sendall(b"hello\n")
        while part := peer.recv(4096):
            if self.world.mark.encode() in part and b"forbidden" in part:
                self.messages.append(repr(part))

    def dial(self, peer):
        match = re.match(rb"dial (\d+)", peer.recv(256))
        if not match:
            return
        try:
            with socket.create_connection(("127.0.0.1", int(match[1])), 5) as server:
                server.settimeout(5)
                said = server.recv(256)
        except OSError as error:
            peer.sendall(str(error).encode())
            return
        if self.world.mark.encode() not in said:
            peer.sendall(b"somebody else's server")
        else:
            self.messages.append("a server of the attack was reachable from outside")
            peer.sendall(b"connected")

    def hand_over(self, peer):
        self.messages.append("connected")
        with open(self.world.facts["KEY"], "rb") as key:
            peer.sendmsg([b"k"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [key.fileno()]))])
            peer.recv(1)

    def resolve(self, sock, data, peer):
        if self.world.mark.encode() in data.lower():
            self.messages.append(f"name server {data!r}")
        if len(data) < 17:
            return
        labels, at = [], 12
        while at < len(data) and data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].lower())
            at += 1 + data[at]
        question = data[12:at + 5]
        kind = int.from_bytes(data[at + 1:at + 3], "big")
        answers = {(b"rebind", 1): socket.inet_aton("127.0.0.1"),
                   (b"rebind", 28): socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1"),
                   (b"metadata", 1): socket.inet_aton("169.254.169.254"),
                   (b"granted", 1): socket.inet_aton("203.0.113.7")}
        answer = answers.get((labels[0], kind)) if labels else None
        head = data[:2] + (b"\x81\x80" if answer else b"\x81\x83") + b"\0\1" + (b"\0\1" if answer else b"\0\0") + b"\0\0\0\0"
        record = b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\0\1\0\0\0\1" + len(answer).to_bytes(2, "big") + answer if answer else b""
        sock.sendto(head + question + record, peer)

    def close(self):
        for sock in self.sockets:
            sock.close()


class Waiter:
    """A thread outside that waits in a file, at its first word, as programs do that share memory."""

    WAIT, WAKE = 0, 1

    def __init__(self, path):
        self.libc = ctypes.CDLL(None)
        self.libc.mmap.restype = ctypes.c_void_p
        with open(path, "rb") as file:  # for reading, so that its times stay
            place = self.libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), ctypes.c_long(0))
        self.word = ctypes.c_uint32.from_address(place)
        self.ended = False
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.thread.start()

    def futex(self, operation, value):
        return self.libc.syscall(202, ctypes.byref(self.word), operation, ctypes.c_uint32(value), None, None, 0)

    def wait(self):
        while not self.ended:  # whoever is woken looks again
            self.futex(self.WAIT, self.word.value)

    def is_reached(self):
        """Whether it can still be woken where it waits. Not for a moment at the start, and after a signal."""
        self.ended = True
        end = time.monotonic() + 5
        while self.thread.is_alive() and time.monotonic() < end:
            self.futex(self.WAKE, 1)
            self.thread.join(0.02)
        return not self.thread.is_alive()


class World:
    """A throwaway home, workspace and surroundings, with secrets made for one run."""

    def __init__(self, header, arguments, where):
        self.header, self.arguments, self.where = header, arguments, where
        self.secrets, self.sockets = {}, []
        self.mark = "mark" + secrets.token_hex(12)
        self.base = tempfile.mkdtemp(prefix="bulkhead-attack-", dir="/var/tmp")
        os.chmod(self.base, 0o755)
        self.home, self.work, self.outside = (f"{self.base}/{d}" for d in ("home", "work", "outside"))
        self.readonly, self.sibling, self.writeonly = (f"{self.base}/{d}" for d in ("readonly", "work-evil", "writeonly"))
        self.uid = 0 if arguments.identity == "root" else (os.getuid() or 1000)
        # By default a program does not see the home folder at all, which would hide what else refuses. So one of the two
        # identities attacks in the machine's.
        self.machine_home = self.uid == 0 or self.header.one("as") == "user"
        self.build()
        self.facts = {
            "WHERE": where, "MARK": self.mark, "BASE": self.base, "HOME": self.home, "W": self.work, "OUTSIDE": self.outside,
            "RO": self.readonly, "SIBLING": self.sibling, "WO": self.writeonly, "DROP": f"{self.base}/drop", "KEY": f"{self.home}/.ssh/id_rsa",
            "SECRET": f"{self.outside}/secret.txt", "FORBIDDEN": f"{self.outside}/forbidden",
            "PYTHON": PYTHON, "NODE": arguments.node, "NODE_ROOT": os.path.dirname(os.path.dirname(arguments.node)),
            "BULKHEAD": os.path.realpath(arguments.bulkhead) if arguments.bulkhead else "/none",
            "DATA": SOURCE,
        }
        self.server = Server(self)
        self.facts["DNS"] = 53 if where == "inside" else self.facts["DNS_SERVER"]
        self.give()
        self.start_outsider()
        self.before = self.snapshot()

    def secret(self, label):
        if label not in self.secrets:
            self.secrets[label] = f"{label}-{secrets.token_hex(16)}".encode()
        return self.secrets[label]

    def file(self, path, content, mode=0o644):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)

    def attribute(self, path, label):
        try:
            os.setxattr(path, "user.token", self.secret(label))
        except OSError:
            pass  # a file system without them, where the attack itself says so

    def build(self):
        home, work, arguments = self.home, self.work, self.arguments
        self.file(f"{home}/.ssh/id_rsa", b"-----BEGIN KEY-----\n" + self.secret("key") + b"\n", 0o600)
        self.attribute(f"{home}/.ssh/id_rsa", "attribute")
        self.file(f"{home}/.ssh/known-" + self.secret("listing").decode(), b"")
        os.symlink(self.secret("link").decode(), f"{home}/.ssh/link")
        self.file(f"{home}/.aws/credentials", self.secret("cloud"), 0o600)
        self.file(f"{home}/.bashrc", b"# start-up file\n")
        if self.header.one("act") == "replace":
            self.file(f"{home}/.netrc", self.secret("replaced"), 0o600)
            self.attribute(f"{home}/.netrc", "replaced-attribute")
        self.file(f"{home}/.config/bulkhead/canary", b"\n", 0o600)
        self.file(f"{home}/.local/state/bulkhead/keys/canary", b"\n", 0o600)
        self.file(f"{home}/.local/state/bulkhead/question.lock", b"", 0o600)
        os.chmod(f"{home}/.config/bulkhead", 0o700)
        os.chmod(f"{home}/.local/state/bulkhead", 0o700)
        os.makedirs(f"{home}/.gnupg", 0o700)
        self.file(f"{self.outside}/secret.txt", self.secret("outside"))
        self.file(f"{self.outside}/watched/file", b"")
        self.file(f"{self.sibling}/secret.txt", self.secret("sibling"))
        self.file(f"{self.readonly}/file.txt", b"read, never write\n")
        self.file(f"{self.readonly}/folder/inner.txt", b"inner\n")
        self.file(f"{self.writeonly}/file.txt", self.secret("writeonly"))
        self.attribute(f"{self.writeonly}/file.txt", "writeonly")
        self.file(f"{self.base}/drop/file.txt", self.secret("dropped"))
        self.file(f"{self.base}/drop/known/inner.txt", b"inner\n")
        self.file(f"{work}/allowed.txt", b"allowed\n")
        self.file(f"{work}/.git/HEAD", b"ref: refs/heads/main\n")
        self.file(f"{work}/.git/config", b"[core]\n\thooksPath = ci/hooks\n[filter \"x\"]\n\tclean = python3 ci/clean.py\n")
        self.file(f"{work}/ci/hooks/pre-commit", b"#!/bin/sh\n", 0o755)
        self.file(f"{work}/ci/clean.py", b"\n")
        self.file(f"{work}/.git/hooks/pre-commit", b"#!/bin/sh\n", 0o755)
        self.file(f"{work}/scripts/hook", b"#!/bin/sh\n", 0o755)
        self.file(f"{work}/worktree/.git", b"gitdir: ../.git/worktrees/worktree\n")
        os.symlink("../../scripts/hook", f"{work}/.git/hooks/post-update")
        self.file(f"{work}/.vscode/settings.json", b"{}\n")
        self.file(f"{work}/.vscode/tasks.json", b"{}\n")
        self.file(f"{work}/.github/workflows/ci.yml", b"on: push\n")
        self.file(f"{work}/.gitlab-ci.yml", b"stages: []\n")
        self.file(f"{work}/.mcp.json", b"{}\n")
        self.file(f"{work}/.claude/settings.json", b"{}\n")
        self.file(f"{work}/scripts/linked.yml", b"on: push\n")
        os.symlink("../../scripts/linked.yml", f"{work}/.github/workflows/linked.yml")
        self.file(f"{work}/sub/file.txt", b"sub\n")
        if self.header.one("act") == "device" and os.getuid() == 0:
            os.mknod(f"{work}/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        if self.header.extension == ".c":
            shutil.copy(f"{arguments.programs}/{self.header.name}", f"{work}/attack")
        else:
            shutil.copy(self.header.path, f"{work}/attack{self.header.extension}")
        for name in ("forbidden", "payload.so", "helper"):
            if os.path.exists(f"{arguments.programs}/{name}"):
                place = self.outside if name == "forbidden" else work
                shutil.copy(f"{arguments.programs}/{name}", f"{place}/{name}")

    def give(self):
        """All of it belongs to the user who attacks, so that nothing but the compartment refuses."""
        if os.getuid() == 0 and self.uid != 0:
            for folder, folders, files in os.walk(self.base):
                for path in [folder] + [f"{folder}/{name}" for name in folders + files]:
                    os.lchown(path, self.uid, self.uid)
            for path in self.sockets:
                os.chown(path, self.uid, self.uid)

    def identity(self):
        if os.getuid() == self.uid:
            return {}
        return {"user": self.uid, "group": self.uid, "extra_groups": []}

    def environment(self):
        return {
            "HOME": self.home, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "USER": "somebody",
            "XDG_CONFIG_HOME": f"{self.home}/.config", "XDG_STATE_HOME": f"{self.home}/.local/state",
            "BULKHEAD_DATA": SOURCE, "SECRET_TOKEN": self.secret("environment").decode(),
        }

    def start_outsider(self):
        self.secret("outsider")
        self.outsider = subprocess.Popen(
            [PYTHON, f"{HERE}/outsider.py", "--" + self.secret("argument").decode()], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, cwd=self.outside, process_group=0,
            env={"OUTSIDER_TOKEN": self.secret("outsider").decode(), "PATH": "/usr/bin:/bin"}, **self.identity())
        told = json.loads(self.outsider.stdout.readline())
        self.outsider_facts = told
        self.facts.update({
            "OUTSIDER": told["pid"], "ADDRESS": told["address"], "OUTSIDER_FD": told["fd"], "IPC_KEY": told["ipc_key"],
            "MQ": told["mq"], "SHM_FILE": told["shm_file"], "TMP_FILE": told["tmp_file"], "OUTSIDER_SOCKET": told["socket"]})

    def outsider_state(self):
        try:
            with open(f"/proc/{self.outsider.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{self.outsider.pid}/limits") as file:
                limits = file.read()
            with open(f"/proc/{self.outsider.pid}/mem", "rb") as memory:
                memory.seek(self.outsider_facts["address"])
                content = memory.read(4096)
            affinity = os.sched_getaffinity(self.outsider.pid)
            # A signal that was sent counts, also where the outsider had no time yet to die of it.
            with open(f"/proc/{self.outsider.pid}/status") as file:
                pending = re.findall(r"^(?:SigPnd|ShdPnd):\s*(\w+)", file.read(), re.M)
            # State: stopped, traced and dead matter; running or sleeping does not.
            return {"stopped": fields[0] in "TtZX", "nice": fields[16], "limits": limits, "memory": content,
                    "affinity": affinity, "pending": pending}
        except OSError as error:
            return {"gone": str(error)}

    def snapshot(self):
        """What no attack may change."""
        state = {"outsider": self.outsider_state()}
        for root in (self.home, self.outside, self.readonly, self.sibling, self.writeonly, f"{self.work}/.git", f"{self.work}/.vscode", f"{self.work}/scripts", f"{self.work}/.github", f"{self.work}/.claude", f"{self.work}/.circleci"):
            for folder, folders, files in os.walk(root):
                if self.header.one("act") == "replace":
                    files = [name for name in files if not name.startswith(".netrc")]
                for path in [folder] + [f"{folder}/{name}" for name in files] + [f"{folder}/{name}" for name in folders if os.path.islink(f"{folder}/{name}")]:
                    if path.startswith(f"{self.home}/.local/state/bulkhead/") and not path.endswith("/canary"):
                        continue  # the journal, which bulkhead itself writes
                    state[path] = self.describe(path)
        for path in (self.facts["SHM_FILE"], self.facts["TMP_FILE"], f"{self.work}/.gitlab-ci.yml", f"{self.work}/.mcp.json",
                     f"{self.work}/Jenkinsfile", f"{self.work}/.circleci", f"{self.work}/ci/hooks/pre-commit", f"{self.work}/ci/hooks/post-merge",
                     f"{self.work}/ci/clean.py"):
            state[path] = self.describe(path)
        # Made by the attack itself, harmful to whoever comes later.
        for folder, folders, files in os.walk(self.work):
            for name in files + folders:
                path = f"{folder}/{name}"
                status = os.lstat(path)
                if not stat.S_ISLNK(status.st_mode) and status.st_mode & 0o6000 and status.st_mode & 0o111 and stat.S_ISREG(status.st_mode):
                    state[path] = "setuid"
                if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
                    state[path] = "device"
                if stat.S_ISREG(status.st_mode) and "security.capability" in os.listxattr(path, follow_symlinks=False):
                    state[path] = "capability"
                if re.search(r"/sub/.*\.git/(hooks/|config)|/sub/.*\.vscode/", path):
                    state[path] = "blocked name"
        return state

    @staticmethod
    def describe(path):
        try:
            status = os.lstat(path)
        except OSError as error:
            return str(error)
        kind = stat.S_IFMT(status.st_mode)
        told = [oct(status.st_mode), status.st_uid, status.st_gid, status.st_ino]
        if kind == stat.S_IFLNK:
            told.append(os.readlink(path))
        if kind == stat.S_IFREG:
            with open(path, "rb") as file:
                told.append(hashlib.sha256(file.read()).hexdigest())
                try:
                    word = array.array("L", [0])
                    fcntl.ioctl(file, 0x80086601, word, True)  # FS_IOC_GETFLAGS
                    told.append(word[0])
                except OSError:
                    pass
            told += [status.st_nlink, status.st_mtime_ns]
        if kind in (stat.S_IFREG, stat.S_IFDIR):
            told.append([(name, os.getxattr(path, name)) for name in os.listxattr(path)])
        return told

    def program(self):
        extension = self.header.extension
        if extension == ".c":
            return [f"{self.work}/attack"]
        attack = f"{self.work}/attack{extension}"
        return {".sh": ["/bin/sh", attack], ".mjs": [self.arguments.node, attack], ".py": [PYTHON, attack]}[extension]

    def substitute(self, words):
        return re.sub(r"\{([A-Z_]+)\}", lambda m: str(self.facts[m[1]]), words)

    def command(self):
        told = [f"{name}={value}" for name, value in sorted(self.facts.items())]
        if self.where == "plain":
            return self.program() + told
        flags = ["--otherwise", self.header.one("otherwise", "deny")] + [word for line in self.header.all("flags") for word in shlex.split(self.substitute(line))]
        if self.header.extension == ".mjs":
            flags += ["--read", self.facts["NODE_ROOT"]]
        if self.machine_home and not any(word.startswith(("--manifest", "--private")) for word in flags):
            flags += ["--manifest", f"{HERE}/machine-home.json"]
        return [self.arguments.bulkhead, "run", *([] if self.header.one("summary") else ["--quiet"]), "--workspace", self.work, *flags, "--", *self.program(), *told]

    def survivors(self):
        """Processes of the attack that still live, by the mark in their arguments."""
        found = []
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                try:
                    with open(f"/proc/{name}/cmdline", "rb") as file:
                        if f"MARK={self.mark}".encode() in file.read():
                            found.append(int(name))
                except OSError:
                    pass
        return found

    def run(self):
        act = self.header.one("act")
        options = dict(cwd=self.work, env=self.environment(), **self.identity())
        passed, master, terminal = [], None, None
        if act == "inherit":
            passed = [os.open(self.facts["KEY"], os.O_RDONLY), os.open(self.home, os.O_RDONLY)]
            options["pass_fds"] = passed
        if act in ("terminal", "prompt"):
            master, terminal = pty.openpty()
            os.fchown(terminal, self.uid, self.uid)
            options.update(stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
                           preexec_fn=lambda: fcntl.ioctl(terminal, termios.TIOCSCTTY, 0))
            options["pass_fds"] = [terminal]
        else:
            options.update(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           process_group=self.outsider.pid if act == "group" else 0)
        command = self.command()
        if most := self.header.one("descriptors"):
            command = ["prlimit", f"--nofile={most}:{most}", *command]
        if act == "kill-supervisor" and self.where == "plain":
            command = ["/bin/sh", "-c", '"$@" & wait', "launcher", *command]
        waiter = Waiter(f"{self.readonly}/file.txt") if act == "wait" else None
        started = subprocess.Popen(command, **options)
        for fd in passed:
            os.close(fd)
        if act == "kill-supervisor":
            deadline = time.monotonic() + 30
            while not os.path.exists(f"{self.work}/ready") and started.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            started.kill()
        timer = threading.Timer(PATIENCE, self.give_up, [started])
        timer.start()
        watcher = threading.Thread(target=self.touch_watched, args=[started], daemon=True)
        watcher.start()
        if act == "replace":
            threading.Thread(target=self.replace, args=[started], daemon=True).start()
        if waiter is not None:  # an attack may do it only while it goes on
            while not os.path.exists(f"{self.work}/ready") and started.poll() is None:
                time.sleep(0.02)
            reached = waiter.is_reached()
            with open(f"{self.work}/seen", "wb"):
                pass
        if act == "prompt":
            os.write(master, b"always\nalways\n")  # typed before anything is asked: must answer nothing
        if master is None:
            if act == "kill-supervisor":
                started.wait()  # survivors would keep the pipe open
                self.end_survivors_later()
            output = started.stdout.read()
            started.wait()
        else:
            output = b""
            reader_done, answered, replied, due = False, 0, 0, []
            types = self.header.one("types").encode().decode("unicode_escape")
            keys = [key.strip("{}") for key in re.findall(r"\{[^}]*\}|[^{]", types + "\n")]
            os.set_blocking(master, False)
            while not reader_done:
                ended = started.poll() is not None
                try:
                    output += os.read(master, 65536)
                    while act == "prompt" and output.count(b"[N]o:") > answered:
                        now = time.monotonic() + (0.25 if types else 0)
                        due += [(now + number * 0.03, key.encode()) for number, key in enumerate(keys)]
                        answered += 1
                    while act == "prompt" and output.count(COLOUR_ASKED) > replied:
                        due.append((time.monotonic() + 0.1, COLOUR))  # through tmux and ssh
                        replied += 1
                except BlockingIOError:
                    reader_done = ended
                    time.sleep(0.01)
                except OSError:
                    reader_done = True
                while due and due[0][0] <= time.monotonic():
                    os.write(master, due.pop(0)[1])
            started.wait()
        timer.cancel()
        watcher.join()
        effects = self.effects(output, terminal)
        if waiter is not None and not reached:
            effects.append(("change", "who waited in a file outside cannot be woken there any more"))
        for fd in (master, terminal):
            if fd is not None:
                os.close(fd)
        return started.returncode, output, effects

    def give_up(self, started):
        print(f"no end after {PATIENCE} s: killed")
        self.hung = True
        for pid in [started.pid, *self.survivors()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass

    hung = False

    def end_survivors_later(self):
        """Gives a compartment a moment to die with its supervisor; what lives then is noted, and ended."""
        deadline = time.monotonic() + (5 if self.where == "inside" else 0.5)
        while self.survivors() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.survived = self.survivors()
        for pid in self.survived:
            os.kill(pid, signal.SIGKILL)

    survived = None

    def touch_watched(self, started):
        """Life outside, for attacks that watch: a file whose name is a secret comes and goes."""
        place = f"{self.outside}/watched/" + self.secret("watched").decode()
        while started.poll() is None:
            with open(place, "w"):
                pass
            os.unlink(place)
            time.sleep(0.05)

    def replace(self, started):
        """A program outside that writes one blocked file anew, as editors do: a new one, renamed over the old."""
        netrc = f"{self.home}/.netrc"
        while started.poll() is None:
            with open(netrc + ".new", "wb") as file:
                file.write(self.secret("replaced"))
            self.attribute(netrc + ".new", "replaced-attribute")
            os.replace(netrc + ".new", netrc)

    def follow_links(self):
        """A trusted program outside that opens whatever the workspace has, links too."""
        read = {}
        for folder, folders, files in os.walk(self.work):
            for path in (f"{folder}/{name}" for name in folders + files):
                if not os.path.islink(path):
                    continue
                for opened in [f"{path}/{name}" for name in os.listdir(path)] if os.path.isdir(path) else [path]:
                    if os.path.isfile(opened):
                        with open(opened, "rb") as file:
                            read[f"{opened}, as read by a deputy"] = file.read(1 << 20)
        return read

    def effects(self, output, terminal):
        found = []
        if self.survived is None:
            self.survived = []
            if self.where == "inside":
                self.end_survivors_later()
        if self.survived:
            found.append(("kill", f"{len(self.survived)} processes outlived what started them"))
        places = {"the output": output}
        for folder, _, files in os.walk(self.work):
            for name in files:
                path = f"{folder}/{name}"
                if os.path.islink(path) or not stat.S_ISREG(os.lstat(path).st_mode):
                    continue
                with open(path, "rb") as file:
                    places[path] = file.read(16 << 20)
        if self.header.one("act") == "deputy":
            places.update(self.follow_links())
        if self.header.one("plain") == "message":
            # What was sent is on its way to the servers' threads still.
            end = time.monotonic() + (0.3 if self.where == "inside" else 5)
            while not self.server.messages and time.monotonic() < end:
                time.sleep(0.02)
        for message in self.server.messages:
            places.setdefault("a server", b"")
            places["a server"] += message.encode()
        for label, token in self.secrets.items():
            for place, content in places.items():
                if token in content and not (label == "listing" and place != "the output"):
                    found.append(("leak", f"the secret '{label}' in {place}"))
        found += [("message", message[:200]) for message in self.server.messages]
        for line in output.decode(errors="replace").splitlines():
            if line.startswith("EFFECT"):
                found.append(("say", line))
        if output.count(b"[N]o:") > MOST_QUESTIONS:
            found.append(("message", f"a person was asked {output.count(b'[N]o:')} times"))
        if self.header.one("summary") or self.header.one("act") == "prompt":
            if self.where == "inside":
                output += subprocess.run([self.arguments.bulkhead, "log", "--denied"], cwd=self.work, env=self.environment(),
                                         stdout=subprocess.PIPE, check=False, **self.identity()).stdout
            if any(control + b"spoofed" in output for control in (b"\x1b]0;", b"\x1b[2J", b"\r", b"\xc2\x9b")):
                found.append(("message", "control characters of the attack reached the terminal"))
        after = self.snapshot()
        for path in sorted(set(self.before) | set(after)):
            if self.before.get(path) != after.get(path):
                kind = "kill" if path == "outsider" else "change"
                found.append((kind, f"{path}: {self.before.get(path)} became {after.get(path)}"))
        if terminal is not None and self.header.one("act") != "prompt":
            os.set_blocking(terminal, False)
            try:
                if typed := os.read(terminal, 4096):
                    found.append(("message", f"terminal input {typed!r}"))
            except OSError:
                pass
        return found

    def journal(self):
        rows = subprocess.run([self.arguments.bulkhead, "log", "--denied", "--json"], cwd=self.work, env=self.environment(),
                              stdout=subprocess.PIPE, text=True, check=True, **self.identity()).stdout
        return [json.loads(row) for row in rows.splitlines() if row.strip()]

    def journal_size(self):
        folder = f"{self.home}/.local/state/bulkhead"
        return sum(os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder) if os.path.isfile(f"{folder}/{name}"))

    def remove(self):
        if self.outsider.poll() is None:
            try:
                os.kill(self.outsider.pid, signal.SIGCONT)
                self.outsider.stdin.close()
                self.outsider.wait(5)
            except (OSError, subprocess.TimeoutExpired):
                self.outsider.kill()
        subprocess.run([PYTHON, f"{HERE}/outsider.py", "clean", json.dumps(self.outsider_facts)], check=False, **self.identity())
        self.server.close()
        for path in self.sockets:
            if os.path.exists(path):
                os.unlink(path)
        if self.arguments.keep:
            print(f"kept: {self.base}")
        else:
            shutil.rmtree(self.base, ignore_errors=True)


def ended_as(code):
    return f"signal {-code}" if code < 0 else f"exit {code}"


def judge_plain(header, world):
    code, output, effects = world.run()
    text = output.decode(errors="replace")
    if code == SKIP:
        match = re.search(r"^NEEDS (.*)$", text, re.M)
        print(f"skipped: needs {match[1].strip() if match else 'something'}")
        return SKIP
    kinds = {kind for kind, _ in effects}
    if header.one("plain") not in kinds:
        print(f"WRONG: the attack does not work plainly, so it proves nothing: no '{header.one('plain')}' among {effects}; {ended_as(code)}")
        print(text[-3000:])
        return 1
    print(f"plain: succeeds ({'; '.join(sorted({what[:100] for kind, what in effects if kind == header.one('plain')})[:2])})")
    return 0


def matches(row, kind, resource):
    # Every run is denied variables of its environment: a kind that is a glob must not be met by those.
    if row["kind"] == "environment" != kind:
        return False
    return fnmatch.fnmatchcase(row["kind"], kind) and fnmatch.fnmatchcase(row["resource"], resource)


def judge_inside(header, world):
    code, output, effects = world.run()
    text = output.decode(errors="replace")
    wrong = [f"{kind}: {what[:300]}" for kind, what in effects]
    if world.hung:
        wrong.append("the run did not end")
    # What was typed before anything was asked is echoed when the terminal comes to it, in the middle of a line too.
    if not re.search(r"^tried\b", text.replace("always", ""), re.M):
        wrong.append("the attack never ran, so its failure proves nothing")
    wanted = header.one("inside")
    if wanted and ended_as(code) != wanted:
        wrong.append(f"ended with {ended_as(code)} instead of {wanted}")
    if not wanted and code in (125, 126, 127):
        wrong.append(f"bulkhead did not run the attack: {ended_as(code)}")
    if header.one("act") != "kill-supervisor":
        rows = world.journal()
        for line in header.all("journal"):
            kind, resource = world.substitute(line).split(None, 1)
            if kind == "size":
                if world.journal_size() > int(resource) << 20:
                    wrong.append(f"the journal grew to {world.journal_size() >> 20} MiB")
            elif not any(matches(row, kind, resource) for row in rows) and (world.machine_home or not resource.startswith(world.home)):
                wrong.append(f"the journal does not name {kind} {resource}; it has " +
                             "; ".join(f"{row['kind']} {row['resource']}" for row in rows[:12]))
    if wrong:
        print("WRONG in the compartment:")
        for line in wrong[:20]:
            print(f"  {line}")
        print(text[-3000:])
        return 1
    print(f"in a compartment: refused, nothing happened ({ended_as(code)})")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bulkhead", type=os.path.abspath)
    parser.add_argument("--programs", type=os.path.abspath, required=True)
    parser.add_argument("--node", default=shutil.which("node") or "/usr/bin/node")
    parser.add_argument("--as", dest="identity", choices=("root", "user"), required=True)
    parser.add_argument("--plain-only", action="store_true")
    parser.add_argument("--inside-only", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("attack")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was made is removed all the same
    arguments.node = os.path.realpath(arguments.node)
    header = Header(os.path.realpath(arguments.attack))
    if header.one("as", arguments.identity) != arguments.identity:
        print(f"not an attack of {arguments.identity}'s")
        return 0
    if arguments.identity == "root" and os.getuid() != 0:
        print("skipped: needs root")
        return SKIP
    steps = [("plain", judge_plain), ("inside", judge_inside)]
    if arguments.plain_only:
        steps = steps[:1]
    if arguments.inside_only:
        steps = steps[1:]
    for where, judge in steps:
        world = World(header, arguments, where)
        try:
            verdict = judge(header, world)
        finally:
            world.remove()
        if verdict:
            return verdict
    return 0


if __name__ == "__main__":
    sys.exit(main())
