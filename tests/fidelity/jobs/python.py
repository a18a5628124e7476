# Python's standard library where it meets the kernel: files, temporary files, locks, memory maps, child
# processes, pipes, multiprocessing, sqlite, sockets on localhost, asyncio, signals.
# run: cat sh true sleep ls stty wc
# flags: --run /usr/bin/python3.11
# exit: 17

import asyncio
import concurrent.futures
import fcntl
import glob
import http.client
import http.server
import mmap
import multiprocessing
import os
import pathlib
import pty
import resource
import select
import shutil
import signal
import socket
import socketserver
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

FIOASYNC = 0x5452


def show(name, act):
    try:
        print(name, act(), flush=True)
    except OSError as error:
        print(name, type(error).__name__, error.errno, error.filename, flush=True)
    except Exception as error:
        print(name, type(error).__name__, error, flush=True)


work = os.getcwd()
tree = pathlib.Path("tree")

show("copytree", lambda: shutil.copytree("tree/many", "copied"))
show("copytree links", lambda: shutil.copytree("tree/a", "copied-a", symlinks=True))
show("copy2", lambda: (shutil.copy2("tree/plain.txt", "p2"), os.stat("p2").st_mtime_ns))
show("copymode", lambda: shutil.copymode("tree/readonly", "p2"))
show("move", lambda: shutil.move("copied", "moved"))
show("rmtree", lambda: shutil.rmtree("moved"))
show("rmtree absent", lambda: shutil.rmtree("moved"))
show("archive", lambda: os.path.basename(shutil.make_archive("archive", "tar", "tree/many")))
show("unpack", lambda: (shutil.unpack_archive("archive.tar", "unpacked"), len(os.listdir("unpacked"))))
os.unlink("archive.tar")
show("disk usage", lambda: shutil.disk_usage(".").total > 0)
show("which", lambda: shutil.which("cat"))
show("walk", lambda: sorted((d.split("/")[0], len(f)) for d, _, f in os.walk("tree")))
show("scandir", lambda: sorted((e.name, e.is_file(follow_symlinks=False)) for e in os.scandir("tree"))[:5])
show("glob", lambda: sorted(glob.glob("tree/**/*.txt", recursive=True))[:4])
show("rglob", lambda: sorted(str(p) for p in tree.rglob("file-01*")))
show("resolve", lambda: os.path.relpath(pathlib.Path("tree/to-folder/c").resolve(), work))
show("resolve loop", lambda: os.path.realpath("tree/loop-a", strict=True))
show("touch", lambda: (pathlib.Path("t").touch(0o640), oct(os.stat("t").st_mode)))
show("write_text", lambda: pathlib.Path("t").write_text("text"))
show("exclusive", lambda: open("t", "x"))
show("readonly", lambda: os.access("tree/readonly", os.W_OK) or os.getuid())
show("folder as file", lambda: open("tree/a"))
show("absent", lambda: open("tree/nothing"))
show("through file", lambda: open("tree/plain.txt/x"))
show("long name", lambda: open("x" * 300, "w"))
show("nul", lambda: open("a\0b"))
show("replace", lambda: (os.replace("t", "u"), os.path.exists("t")))
show("link", lambda: (os.link("u", "v"), os.stat("v").st_nlink))
show("statvfs", lambda: os.statvfs(".").f_namemax)
show("utime", lambda: (os.utime("u", ns=(10**18, 10**18 + 1)), os.stat("u").st_mtime_ns))
show("utime now", lambda: os.utime("v"))
show("fd ops", lambda: (fd := os.open("u", os.O_RDWR), os.fchmod(fd, 0o600), os.futimens(fd) if hasattr(os, "futimens") else os.utime(fd, (1, 2)), os.ftruncate(fd, 2), os.pread(fd, 5, 0), os.close(fd)))
show("dir_fd", lambda: (d := os.open("tree", os.O_RDONLY), os.stat("plain.txt", dir_fd=d).st_size, os.mkdir("made", dir_fd=d), os.rmdir("made", dir_fd=d), os.listdir(d)[:0], os.close(d)))
show("xattr", lambda: (os.setxattr("u", "user.a", b"b"), os.listxattr("u"), os.getxattr("u", "user.a"), os.removexattr("u", "user.a")))
show("xattr absent", lambda: os.getxattr("u", "user.none"))
show("sendfile", lambda: (i := os.open("tree/big.bin", os.O_RDONLY), o := os.open("sent", os.O_WRONLY | os.O_CREAT), os.sendfile(o, i, 0, 300000))[2])
show("copy_file_range", lambda: (i := os.open("tree/big.bin", os.O_RDONLY), o := os.open("ranged", os.O_WRONLY | os.O_CREAT), os.copy_file_range(i, o, 1000))[2])
show("memfd", lambda: (fd := os.memfd_create("m"), os.write(fd, b"abc"), open(f"/proc/self/fd/{fd}").read())[1:])
show("o_tmpfile", lambda: (fd := os.open(".", os.O_TMPFILE | os.O_RDWR), os.write(fd, b"t"), os.link(f"/proc/self/fd/{fd}", "linked", src_dir_fd=0, follow_symlinks=True), open("linked").read())[1:])
show("umask", lambda: (os.umask(0o077), open("masked", "w").close(), oct(os.stat("masked").st_mode), os.umask(0o022)))

show("temporary", lambda: [tempfile.NamedTemporaryFile("w", dir=".").write("x"), tempfile.TemporaryFile().write(b"y"), os.path.dirname(tempfile.mkdtemp(dir="/tmp"))])
show("spooled", lambda: tempfile.SpooledTemporaryFile(max_size=3).write(b"long enough"))
with tempfile.TemporaryDirectory(dir=".") as folder:
    show("in temporary", lambda: (pathlib.Path(folder, "x").write_text("x"), len(os.listdir(folder))))


def locks():
    with open("u", "r+") as a, open("u", "r+") as b:
        fcntl.flock(a, fcntl.LOCK_EX)
        try:
            fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "locked"


show("flock", locks)
show("lockf", lambda: fcntl.lockf(open("u", "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB))


def mapped():
    with open("mapped", "w+b") as file:
        file.write(b"0" * 8192)
        file.flush()
        with mmap.mmap(file.fileno(), 0) as memory:
            memory[5:8] = b"map"
            memory.flush()
        file.seek(4)
        return file.read(5)


show("mmap", mapped)
show("zip", lambda: (zipfile.ZipFile("z.zip", "w").writestr(zipfile.ZipInfo("a"), "b"), os.unlink("z.zip")))

show("run", lambda: subprocess.run(["cat", "tree/plain.txt"], capture_output=True, text=True))
show("shell", lambda: subprocess.run("echo out; echo err >&2; exit 3", shell=True, capture_output=True, text=True))
show("absent program", lambda: subprocess.run(["/nowhere/x"]))
show("denied program", lambda: subprocess.run(["tree/plain.txt"]))
show("cwd", lambda: subprocess.run(["ls"], cwd="tree/a", capture_output=True, text=True).stdout)
show("input", lambda: subprocess.run(["cat"], input="x" * 200000, capture_output=True, text=True).stdout.count("x"))
def times_out():
    try:
        subprocess.run(["sleep", "5"], timeout=0.1)
    except subprocess.TimeoutExpired:
        return "timed out"


show("timeout", times_out)
show("signal", lambda: subprocess.run(["sh", "-c", "kill -TERM $$"]).returncode)
show("pass_fds", lambda: (r := os.open("tree/plain.txt", os.O_RDONLY), subprocess.run(["cat", f"/proc/self/fd/{r}"], pass_fds=[r], capture_output=True).stdout)[1])
show("preexec", lambda: subprocess.run(["sh", "-c", "umask; pwd -P | wc -l"], preexec_fn=lambda: os.umask(0o007), start_new_session=True, capture_output=True).stdout)
show("fork", lambda: os.waitstatus_to_exitcode(os.waitpid(os.fork() or os._exit(9), 0)[1]))
show("spawn", lambda: os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 4"], {}), 0)[1]))
show("popen", lambda: os.popen("echo popen").read())
show("system", lambda: os.waitstatus_to_exitcode(os.system("exit 6")))


def terminal():
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", "test -t 0 && echo terminal; echo tty >/dev/tty; stty -a >/dev/null 2>&1; exit 2"])
    text = b""
    try:
        while part := os.read(fd, 1000):
            text += part
    except OSError:
        pass
    return text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


show("pty", terminal)


def square(x):
    return x * x


def managed():
    with multiprocessing.get_context("fork").Manager() as manager:
        shared = manager.dict(a=1)
        multiprocessing.get_context("fork").Process(target=shared.update, args=({"b": 2},)).start()
        while len(shared) < 2:
            time.sleep(0.01)
        return dict(shared)


def sent_socket():
    context = multiprocessing.get_context("fork")
    ours, theirs = socket.socketpair()
    queue = context.SimpleQueue()
    queue.put(theirs)
    child = context.Process(target=lambda: queue.get().sendall(b"sent"))
    child.start()
    child.join(20)
    ours.setblocking(False)
    return child.exitcode, ours.recv(10)


if __name__ == "__main__":
    show("pool", lambda: multiprocessing.get_context("fork").Pool(2).map(square, range(10)))
    show("executor", lambda: list(concurrent.futures.ProcessPoolExecutor(2).map(square, range(5))))
    show("threads", lambda: sorted(concurrent.futures.ThreadPoolExecutor(8).map(lambda i: len(open(f"tree/many/file-{i % 40:03}.txt").read()), range(200)))[-1])
    show("queue", lambda: (q := multiprocessing.SimpleQueue(), q.put("x"), q.get())[1:])
    show("manager", managed)
    show("sent socket", sent_socket)
    from multiprocessing import shared_memory
    show("shared memory", lambda: (s := shared_memory.SharedMemory(create=True, size=100), s.close(), s.unlink())[1:])


def database():
    with sqlite3.connect("data.db") as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        db.executemany("INSERT INTO t (b) VALUES (?)", [(str(i),) for i in range(1000)])
        db.commit()
        other = sqlite3.connect("data.db", timeout=0.1)
        total = other.execute("SELECT count(*), max(a) FROM t").fetchone()
        db.execute("BEGIN IMMEDIATE")
        try:
            other.execute("INSERT INTO t (b) VALUES ('x')")
        except sqlite3.OperationalError as error:
            return total, str(error)


show("sqlite", database)
for name in glob.glob("data.db*"):
    os.unlink(name)
show("sqlite absent", lambda: sqlite3.connect("nowhere/x.db"))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"served " + self.path.encode())

    def log_message(self, *_):
        pass


def web(family, address):
    class Server(http.server.ThreadingHTTPServer):
        address_family = family
    server = Server((address, 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = http.client.HTTPConnection(address, server.server_address[1], timeout=5)
    client.request("GET", "/a")
    text = client.getresponse().read()
    server.shutdown()
    server.server_close()
    return text


show("http", lambda: web(socket.AF_INET, "127.0.0.1"))
show("http IPv6", lambda: web(socket.AF_INET6, "::1"))
show("refused", lambda: socket.create_connection(("127.0.0.1", 1), 5))
show("localhost", lambda: socket.getaddrinfo("localhost", 80, socket.AF_INET, socket.SOCK_STREAM)[0][4])
show("no such name", lambda: socket.create_connection(("name.invalid", 80), 5))


def echo_unix(path, kind):
    server = socket.socket(socket.AF_UNIX, kind)
    server.bind(path)
    server.listen()
    client = socket.socket(socket.AF_UNIX, kind)
    client.connect(path)
    peer, _ = server.accept()
    client.sendall(b"unix")
    got = peer.recv(10)
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[4:]
    handle = os.open("tree/plain.txt", os.O_RDONLY)
    socket.send_fds(client, [b"f"], [handle])
    passed = socket.recv_fds(peer, 1, 1)[1][0]
    return got, credentials == os.getuid().to_bytes(4, "little") + os.getgid().to_bytes(4, "little"), os.read(passed, 100), server.getsockname()


show("unix", lambda: echo_unix("sock", socket.SOCK_STREAM))
show("unix packets", lambda: echo_unix("tree/sock", socket.SOCK_SEQPACKET))
show("unix abstract", lambda: echo_unix("\0bulkhead-fidelity", socket.SOCK_STREAM))
show("unix in use", lambda: echo_unix("sock", socket.SOCK_STREAM))
show("unix absent", lambda: socket.socket(socket.AF_UNIX).connect("nowhere"))
show("unix no socket", lambda: socket.socket(socket.AF_UNIX).connect("tree/plain.txt"))
show("socket mode", lambda: oct(os.lstat("sock").st_mode))


def datagrams():
    a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    a.bind(("127.0.0.1", 0))
    b.sendto(b"datagram", a.getsockname())
    first = a.recv(100)
    b.connect(a.getsockname())
    b.send(b"connected")
    return first, a.recv(100)


show("udp", datagrams)
show("pair", lambda: (p := socket.socketpair(), p[0].sendall(b"x"), p[1].recv(1))[1:])
show("select", lambda: (p := os.pipe(), os.write(p[1], b"x"), select.select([p[0]], [], [], 1)[0] == [p[0]])[1:])


async def asynchronous():
    child = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = await child.communicate(b"asynchronous")
    shell = await asyncio.create_subprocess_shell("exit 5")

    async def serve(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
    writer.write(b"line\n")
    line = await reader.read()
    unix = await asyncio.start_unix_server(serve, "async.sock")
    reader, writer = await asyncio.open_unix_connection("async.sock")
    writer.write(b"unix\n")
    return out, await shell.wait(), line, await reader.read(), unix.is_serving()


show("asyncio", lambda: asyncio.run(asynchronous()))


def signals():
    got = []
    signal.signal(signal.SIGALRM, lambda *_: got.append("alarm"))
    # Without SA_RESTART a call that waits to be served can end with EINTR: see docs/security-sandbox.md.
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for i in range(300):
        with open(f"storm-{i}", "x"):
            pass
        os.unlink(f"storm-{i}")
    signal.setitimer(signal.ITIMER_REAL, 0)
    return got[:1]


show("signals", signals)


def ready():
    """Signals by a descriptor, asked for as nginx does and as others do."""
    got = []
    signal.signal(signal.SIGIO, lambda *_: got.append("ready"))
    here, there = socket.socketpair()
    fcntl.fcntl(here, fcntl.F_SETOWN, os.getpid())
    fcntl.ioctl(here, FIOASYNC, struct.pack("i", 1))
    there.sendall(b"x")
    before = fcntl.fcntl(here, fcntl.F_GETFL)
    fcntl.ioctl(here, FIOASYNC, struct.pack("i", 0))
    there.sendall(b"x")
    fcntl.fcntl(here, fcntl.F_SETFL, os.O_RDWR | os.O_ASYNC | os.O_NONBLOCK)
    there.sendall(b"x")
    return got, before, fcntl.fcntl(here, fcntl.F_GETFL), here.recv(9)


show("ready", ready)
show("fifo", lambda: (os.mkfifo("fifo"), threading.Thread(target=lambda: open("fifo", "w").write("through")).start(), open("fifo").read())[2])
show("fifo nobody", lambda: os.open("fifo", os.O_WRONLY | os.O_NONBLOCK))
show("limits", lambda: resource.getrlimit(resource.RLIMIT_CORE)[0] == 0 or True)
show("chdir", lambda: (os.chdir("tree/a"), os.path.basename(os.getcwd()), os.path.exists("b"), os.chdir(work)))
show("ids", lambda: (os.getuid() == os.stat("u").st_uid, os.getgid() == os.getegid(), len(os.getgroups()) >= 0))
show("user", lambda: len(os.path.expanduser("~")) > 3)
show("proc", lambda: (os.readlink("/proc/self/exe"), os.path.basename(os.readlink("/proc/self/cwd")), len(open("/proc/self/stat").read().split()) > 20, os.cpu_count() > 0))
show("tty", lambda: os.open("/dev/tty", os.O_RDWR))
show("devices", lambda: [stat.S_ISCHR(os.stat("/dev/" + name).st_mode) for name in ("null", "zero", "urandom", "tty", "ptmx")])
sys.exit(17)
