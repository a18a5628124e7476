#!/usr/bin/env python3
"""--listen: servers inside that the machine's own loopback reaches, and those that it does not."""

import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import socket
import subprocess
import threading
import urllib.request

import flow
from flow import Flow, Terminal, options

# server.py HOST PORT [WORD]: says each line that it gets again, behind WORD; "flood" sends without end, "count"
# tells how many bytes came before the end and their digest, "close" stops listening, "exit" says much and ends.
SERVER = """
import hashlib, os, socket, sys, threading
host, port, word = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "server"
def listen():
    server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((host, port))
    server.listen(256)
    return server
server = listen()
print("listening", server.getsockname()[1], flush=True)
def serve(peer):
    global server
    with peer, peer.makefile("rwb") as lines:
        for line in lines:
            what = line.split()[0].decode()
            if what == "count":
                rest = lines.read()
                lines.write(f"{len(rest)} {hashlib.sha256(rest).hexdigest()}\\n".encode())
                lines.flush()
                return
            if what == "flood":
                try:
                    while True:
                        peer.sendall(bytes(1 << 20))
                except OSError:
                    return
            if what in ("close", "again"):
                if what == "close":
                    old = server
                    server = None
                    old.shutdown(socket.SHUT_RDWR)
                    old.close()
                else:
                    server = listen()
                    threading.Thread(target=accept, args=(server,)).start()
            if what == "dial":
                try:
                    with socket.create_connection(("127.0.0.1", int(line.split()[1])), 5) as other:
                        line = other.recv(100)
                except OSError as error:
                    line = f"{type(error).__name__}\\n".encode()
            if what == "exit":
                peer.sendall(b"x" * (1 << 20))
                os._exit(7)
            lines.write(word.encode() + b" " + line)
            lines.flush()
def accept(server):
    while True:
        try:
            peer, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(peer,), daemon=True).start()
accept(server)
threading.Event().wait()
"""


def free_port():
    """Free at both loopback addresses, and none that the kernel gives by itself."""
    while True:
        port = random.randrange(20000, 30000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                held.enter_context(socket.socket(family)).bind((host, port))
            return port


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


def ask(port, text, host="127.0.0.1", size=4096):
    with socket.create_connection((host, port), flow.TIMEOUT) as client:
        client.sendall(text.encode() + b"\n")
        return client.recv(size).decode()


def refuses(port, host="127.0.0.1"):
    try:
        socket.create_connection((host, port), 5).close()
    except ConnectionRefusedError:
        return True
    return False


def listeners(port):
    """The machine's addresses at which somebody listens there, as the kernel writes them."""
    found = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/net/{table}", encoding="ascii") as file:
            for row in list(file)[1:]:
                local, _, state = row.split()[1:4]
                if state == "0A" and int(local.split(":")[1], 16) == port:
                    found.add(local.split(":")[0])
    return found


class Listening(Flow):
    def setUp(self):
        super().setUp()
        self.server = self.file("project/server.py", SERVER)
        self.running = []
        self.addCleanup(lambda: [flow.end_group(each) for each in self.running])

    def start(self, *words, host="127.0.0.1", port=0, word="server", cwd=None):
        """The run, once its server listens; its own port in `port`."""
        run = subprocess.Popen(
            [options.bulkhead, "run", *words, "--", "python3", "-IS", self.server, host, str(port), word],
            cwd=cwd or self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.running.append(run)
        said = run.stdout.readline()
        if not said.startswith("listening"):
            self.fail(said + run.stderr.read())
        run.port = int(said.split()[1])
        return run

    def end(self, run):
        run.terminate()
        return run.communicate(timeout=flow.TIMEOUT)[1]


class Granted(Listening):
    def test_it_is_reached_by_both_loopback_addresses(self):
        hosts = ["127.0.0.1", "0.0.0.0"] + (["::1", "::"] if has_ipv6() else [])
        for host in hosts:
            port = free_port()
            run = self.start("--listen", str(port), host=host, port=port, word=f"at {host}")
            for outside in ["127.0.0.1"] + (["::1"] if has_ipv6() else []):
                self.assertEqual(ask(port, "hello", outside), f"at {host} hello\n", (host, outside))
            self.assertEqual(self.end(run), "", host)

    def test_nowhere_but_at_loopback_and_only_while_it_listens(self):
        port = free_port()
        run = self.start("--listen", f"{port - 1}-{port + 1}", host="0.0.0.0", port=port)
        self.assertLessEqual(listeners(port), {"0100007F", "00000000000000000000000001000000"})
        self.assertEqual(listeners(port - 1) | listeners(port + 1), set())
        self.assertEqual(ask(port, "close"), "server close\n")
        self.assertTrue(flow.wait_for(lambda: not listeners(port)))
        self.assertTrue(refuses(port))
        self.end(run)

    def test_it_is_there_again_when_it_listens_again(self):
        port = free_port()
        run = self.start("--listen", str(port), port=port)
        with socket.create_connection(("127.0.0.1", port)) as client, client.makefile("rw") as lines:
            for _ in range(2):
                print("close", file=lines, flush=True)
                self.assertEqual(lines.readline(), "server close\n")
                self.assertTrue(flow.wait_for(lambda: not listeners(port)))
                print("again", file=lines, flush=True)
                self.assertEqual(lines.readline(), "server again\n")
                self.assertEqual(ask(port, "hello"), "server hello\n")
        self.assertEqual(self.end(run), "")

    def test_many_connections_each_in_order(self):
        port = free_port()
        run = self.start("--listen", str(port), port=port)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
        files = [client.makefile("rw") for client in clients]
        for times in range(3):
            for i, file in enumerate(files):
                print(f"{i} {times} " + "y" * (i * 50), file=file, flush=True)
            for i, file in enumerate(files):
                self.assertEqual(file.readline(), f"server {i} {times} " + "y" * (i * 50) + "\n")
        for client in [*files, *clients]:
            client.close()
        self.end(run)

    def test_more_connections_than_are_carried_at_a_time_wait_their_turn(self):
        port = free_port()
        run = self.start("--listen", str(port), port=port)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(600)]
        for client in clients:
            client.sendall(b"x\n")
        for client in clients:
            client.settimeout(flow.TIMEOUT)
            self.assertEqual(client.recv(100), b"server x\n")
            client.close()
        self.end(run)

    def test_one_direction_ends_alone_and_every_byte_arrives(self):
        port = free_port()
        run = self.start("--listen", str(port), port=port)
        data = random.randbytes(16 << 20)
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"count\n" + data)
            client.shutdown(socket.SHUT_WR)
            said = b"".join(iter(lambda: client.recv(4096), b""))
        self.assertEqual(said.decode(), f"{len(data)} {hashlib.sha256(data).hexdigest()}\n")
        self.end(run)

    def test_http_and_what_becomes_of_it_by_an_upgrade(self):
        port = free_port()
        server = self.file("project/web.py", """
import base64, hashlib, http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.end_headers()
            while frame := self.rfile.readline():
                self.wfile.write(b"frame " + frame)
            return
        body = f"{self.path} for {self.headers['Host']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass
with http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler) as web:
    print("listening", sys.argv[1], flush=True)
    web.serve_forever()
""")
        run = subprocess.Popen([options.bulkhead, "run", "--listen", str(port), "--", "python3", "-IS", server, str(port)],
                               cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.running.append(run)
        self.assertTrue(run.stdout.readline().startswith("listening"))
        with urllib.request.urlopen(f"http://localhost:{port}/page", timeout=flow.TIMEOUT) as page:
            self.assertEqual(page.read().decode(), f"/page for localhost:{port}")
        with socket.create_connection(("127.0.0.1", port)) as client, client.makefile("rwb") as lines:
            lines.write(b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n")
            lines.flush()
            while lines.readline().strip():
                pass
            for i in range(20):
                lines.write(f"{i}\n".encode())
                lines.flush()
                self.assertEqual(lines.readline(), f"frame {i}\n".encode())
        self.end(run)

    def test_what_was_said_last_arrives_and_nothing_is_left(self):
        port = free_port()
        run = self.start("--listen", str(port), port=port)
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"exit\n")
            said = 0
            with contextlib.suppress(ConnectionResetError):
                while part := client.recv(1 << 16):
                    said += len(part)
        self.assertEqual(said, 1 << 20)
        self.assertEqual(run.wait(flow.TIMEOUT), 7)
        self.assertEqual(listeners(port), set())

    def test_who_does_not_read_costs_no_memory(self):
        port = free_port()
        run = self.start("--listen", str(port), port=port)
        self.assertEqual(ask(port, "hello"), "server hello\n")
        before = flow.status(run.pid, "VmRSS")
        clients = []
        for _ in range(40):
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"flood\n")
            clients.append(client)
        for client in clients:
            client.recv(1, socket.MSG_PEEK)
        # One that reads goes on beside them.
        for _ in range(50):
            self.assertEqual(ask(port, "hello"), "server hello\n")
        grown = flow.status(run.pid, "VmRSS") - before
        self.assertLess(grown, 40 * 64 + 8192)  # KiB: what is kept of each, and some
        for client in clients:
            client.close()
        self.end(run)

    def test_a_port_that_is_taken_outside(self):
        for host, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
            if family == socket.AF_INET6 and not has_ipv6():
                continue
            port = free_port()
            with socket.socket(family) as taken:
                taken.bind((host, port))
                taken.listen(1)
                run = self.start("--listen", str(port), port=port)
                told = run.stderr.readline()
                match = re.fullmatch(rf"bulkhead: port {port} is taken on this machine: python3\S* is reached at "
                                     r"http://localhost:(\d+)\n", told)
                self.assertTrue(match, told)
                self.assertEqual(ask(int(match[1]), "hello"), "server hello\n")
                self.end(run)

    def test_the_way_in_is_no_way_out(self):
        # Nor to the port itself, where nobody inside listens any more.
        port = free_port()
        with socket.socket() as outside:
            outside.bind(("127.0.0.1", 0))
            outside.listen(8)
            run = self.start("--listen", str(port), port=port)
            with socket.create_connection(("127.0.0.1", port)) as client, client.makefile("rw") as lines:
                print(f"dial {outside.getsockname()[1]}", file=lines, flush=True)
                self.assertEqual(lines.readline(), "server ConnectionRefusedError\n")
                print("close", file=lines, flush=True)
                lines.readline()
                print(f"dial {port}", file=lines, flush=True)
                self.assertEqual(lines.readline(), "server ConnectionRefusedError\n")
            self.end(run)

    def test_by_a_manifest_and_explained(self):
        port = free_port()
        manifest = self.file("project/m.json", json.dumps({
            "manifest": 1, "files": {"read": ["${workspace}", "@system"]}, "run": ["python3"],
            "network": {"connect": ["api.example.com:443"], "listen": [port, f"{port + 10}-{port + 12}"]}}))
        run = self.start("--manifest", manifest, port=port)
        self.assertEqual(ask(port, "hello"), "server hello\n")
        self.end(run)
        checked = self.bulkhead("check", "--strict", manifest)
        self.assertEqual(checked.returncode, 0)
        self.assertNotIn("network", checked.stdout)
        for which, code in ((port, 0), (port + 11, 0), (port + 1, 1)):
            done = self.bulkhead("explain", "--manifest", manifest, "listen", str(which))
            self.assertEqual(done.returncode, code, done.stdout)
        self.assertIn(f'run with --listen {port + 1}, or add {port + 1} to "network.listen" in the manifest', done.stdout)
        self.assertEqual(self.bulkhead("explain", "listen", "http").returncode, 125)

    def test_what_an_organisation_or_a_person_blocks(self):
        port = free_port()
        self.file("home/.config/bulkhead/policy.json", json.dumps(
            {"blocklist": 1, "groups": [{"name": "ports", "network": {"listen": ["*"]}}]}), 0o600)
        run = self.start("--listen", str(port), port=port)
        self.assertTrue(refuses(port))
        self.assertIn(f'--listen "{port}" grants nothing', self.end(run))


class Refused(Listening):
    def test_it_stays_inside_and_one_line_says_how(self):
        port = free_port()
        run = self.start(port=port)
        self.assertTrue(refuses(port))
        told = run.stderr.readline()
        self.assertRegex(told, rf"^bulkhead: python3\S* listens at port {port} inside, .*with --listen {port} it does\n$")
        self.assertTrue(refuses(port))
        # Once: not at the end, and not as a denial that wants a flag.
        self.assertEqual(self.end(run), "")
        rows = [row for row in self.journal() if row["kind"] == "listen"]
        self.assertEqual([(row["resource"], row["verdict"]) for row in rows], [(str(port), "deny")])

    def test_another_port_than_the_granted_one(self):
        port = free_port()
        run = self.start("--listen", str(port + 1), port=port)
        run.stderr.readline()
        self.assertEqual(listeners(port) | listeners(port + 1), set())
        self.end(run)

    def test_nobody_hears_of_test_servers(self):
        # Of a port that the kernel chose, and of one that is gone soon.
        port = free_port()
        program = self.file("project/tests.py", f"""
import socket, time
passing = socket.create_server(("127.0.0.1", 0))
for _ in range(3):
    socket.create_server(("127.0.0.1", {port})).close()
time.sleep(3.5)
""")
        done = self.run_program("--", "python3", "-IS", program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([row for row in self.journal() if row["kind"] == "listen"], [])

    def test_quiet_is_quiet(self):
        run = self.start("--quiet", port=free_port())
        self.assertTrue(flow.wait_for(lambda: [row for row in self.journal() if row["kind"] == "listen"]))
        self.assertEqual(self.end(run), "")


class Asked(Listening):
    QUESTION = r"wants to be reached from this machine, by your browser say, at port\s+{}\s.*\[N\]o: "

    def at_terminal(self, port, cwd=None):
        terminal = Terminal([options.bulkhead, "run", "--", "python3", "-IS", self.server, "127.0.0.1", str(port)],
                            cwd or self.project, self.environment, columns=200)
        self.addCleanup(terminal.close)
        terminal.wait_for("listening")
        return terminal

    def test_yes_publishes_it_for_this_run(self):
        port = free_port()
        terminal = self.at_terminal(port)
        terminal.wait_for(self.QUESTION.format(port))
        self.assertTrue(refuses(port))
        terminal.type("once\n")
        self.assertTrue(flow.wait_for(lambda: listeners(port)))
        with socket.create_connection(("127.0.0.1", port)) as client, client.makefile("rw") as lines:
            for word in ("close", "again"):
                print(word, file=lines, flush=True)
                self.assertEqual(lines.readline(), f"server {word}\n")
                self.assertTrue(flow.wait_for(lambda word=word: bool(listeners(port)) == (word == "again")))
        terminal.type("\x03")
        self.assertNotEqual(terminal.exit_code(), 0)

    def test_always_is_for_this_folder(self):
        port = free_port()
        terminal = self.at_terminal(port)
        terminal.wait_for(self.QUESTION.format(port))
        terminal.type("always\n")
        self.assertTrue(flow.wait_for(lambda: listeners(port)))
        terminal.type("\x03")
        terminal.exit_code()
        with open(os.path.join(self.home, ".config/bulkhead/grants.json"), encoding="utf-8") as file:
            self.assertIn(f'"subject":"{self.project}"', file.read())
        self.assertEqual(self.bulkhead("check", os.path.join(self.home, ".config/bulkhead/grants.json")).returncode, 0)
        again = self.at_terminal(port)
        self.assertTrue(flow.wait_for(lambda: listeners(port)))
        again.type("\x03")
        again.exit_code()
        # Another program that serves this folder, and the same one elsewhere.
        other = self.file("project/other.py", SERVER)
        run = subprocess.Popen([options.bulkhead, "run", "--", "python3", "-IS", other, "127.0.0.1", str(port)],
                               cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.running.append(run)
        run.stdout.readline()
        self.assertEqual(ask(port, "hello"), "server hello\n")
        self.end(run)
        elsewhere = self.folder("elsewhere")
        shutil.copy(self.server, elsewhere)
        self.server = os.path.join(elsewhere, "server.py")
        terminal = self.at_terminal(port, elsewhere)
        terminal.wait_for(self.QUESTION.format(port))
        terminal.type("no\n")
        terminal.wait_for(f"with --listen {port} it does")
        self.assertEqual(listeners(port), set())
        terminal.type("\x03")
        terminal.exit_code()


if __name__ == "__main__":
    flow.main()
