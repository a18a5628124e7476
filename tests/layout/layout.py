#!/usr/bin/env python3
"""The rules of the tree that a compiler does not check.

  layout.py ROOT        checks the tree; prints each finding as file:line: message
  layout.py --self-test proves that each rule finds a planted violation
"""

import os
import re
import subprocess
import sys
import tempfile

# What a folder includes besides its own headers. sandbox and trace do not know each other: who joins them does.
BELOW = {"base": [],
         "policy": ["base"],
         "sandbox": ["base", "policy"],
         "trace": ["base", "policy"],
         "session": ["base", "policy", "sandbox", "trace"],
         "vscode": ["base", "policy", "sandbox", "trace", "session"],
         "terminal": ["base", "policy", "sandbox", "trace", "session"],
         "membrane": ["base"],
         "isolate": ["base", "policy", "sandbox", "trace", "session", "membrane"],
         "cli": ["base", "policy", "sandbox", "trace", "session", "vscode", "terminal"]}
# The rooms of a folder, in the order in which data go through them: each includes its own headers and
# those of the rooms before it. A room's tests may use what stands in `testing`, and ask what the kernel can do.
ROOMS = {"sandbox": ["kernel", "threads", "limits", "home", "plan", "launch", "network", "caller", "calls", "run", "library", "testing"]}
MAX_LINES = 700
MAX_BYTES = 1 << 20

SOURCE = (".cc", ".h", ".c")
# Folders of the machines that this tree is made on, and of persons; examples' homes have names of
# nobody.
NOBODY = "user|me|alice|bob|u|test|you|somebody|someone|other"
MACHINE_PATH = re.compile(r"(?<![\w.$}/-])(/work/(main|shared|\.)|/tmp/brief|/Users/\w|"
                          rf"/home/(?!({NOBODY}|linuxbrew)\b|[.*$<\"'`]|\s|$))")
LINK = re.compile(r"\]\(([^()\s]+)\)")
WITH_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:")
LOCK_URL = re.compile(r'"resolved"|registry|"(?:version|integrity)": "https?:')


def tracked(root):
    out = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached"], capture_output=True,
                         check=True).stdout
    return [name for name in out.decode().split("\0") if name and os.path.isfile(os.path.join(root, name))]


def check(root, names):
    """Yields (file, line, message)."""
    types = {}
    for name in names:
        path = os.path.join(root, name)
        if os.path.islink(path):
            continue
        with open(path, "rb") as file:
            data = file.read()
        if len(data) > MAX_BYTES:
            yield name, 0, f"larger than {MAX_BYTES >> 10} KiB"
        is_seed = name.startswith("fuzz/corpus/")
        if b"\0" in data[:8192] and not is_seed:
            yield name, 0, "is binary; sources only"
            continue
        if is_seed:
            continue
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        if name.endswith(SOURCE) and len(lines) > MAX_LINES:
            yield name, 0, f"{len(lines)} lines, at most {MAX_LINES}: split it by noun"
        if data and not data.endswith(b"\n"):
            yield name, len(lines), "does not end with a newline"
        if not name.endswith("tests/layout/layout.py"):
            for number, line in enumerate(lines, 1):
                found = MACHINE_PATH.search(line)
                if found:
                    yield name, number, f"a machine's own path: {found.group(0)}"
        if name.endswith(".md"):
            yield from check_links(root, name, lines)
        if os.path.basename(name) == "package-lock.json":
            for number, line in enumerate(lines, 1):
                if LOCK_URL.search(line):
                    yield name, number, "a lock file that names a registry; see .npmrc"
        parts = name.split("/")
        if parts[0] == "src" and len(parts) > 2 and name.endswith(SOURCE):
            yield from check_includes(name, parts[1], lines)
            if parts[1] in ROOMS:
                yield from check_rooms(name, parts, lines)
            for number, type_ in types_of(lines):
                if type_ in types:
                    yield name, number, f"{type_} is also the name of a type in {types[type_]}: one program links both"
                types.setdefault(type_, f"{name}:{number}")


def allowed(folder):
    """The folders of src/ that this one may include, or None."""
    return [folder, *BELOW[folder]] if folder in BELOW else None


def check_includes(name, folder, lines):
    may = allowed(folder)
    if may is None:
        yield name, 0, f"src/{folder} has no place in the order of folders"
        return
    for number, line in enumerate(lines, 1):
        match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
        if not match:
            continue
        target = match.group(1)
        first = target.split("/")[0]
        if '"' in line and "/" not in target:
            yield name, number, f'include "{target}" from the root of src/: "{folder}/{target}"'
        elif ".." in target.split("/"):
            yield name, number, f'include "{target}" leaves its folder; name it from src/'
        elif '"' in line and first in BELOW and first not in may:
            yield name, number, f"src/{folder} includes src/{first}, which does not stand below it"


def check_rooms(name, parts, lines):
    folder, rooms = parts[1], ROOMS[parts[1]]
    if len(parts) < 4 or parts[2] not in rooms:
        yield name, 0, f"stands in no room of src/{folder}: {', '.join(rooms)}"
        return
    allowed = rooms[:rooms.index(parts[2]) + 1]
    if name.endswith("_test.cc"):
        allowed = allowed + ["testing"]
    for number, line in enumerate(lines, 1):
        match = re.match(rf'\s*#\s*include\s*"{folder}/([^/"]+)', line)
        asks = name.endswith("_test.cc") and "/probe.h" in line
        if match and match.group(1) not in allowed and not asks:
            yield name, number, f"src/{folder}/{parts[2]} includes {match.group(1)}, a later room"


def prose_of(lines):
    """(number, line) of a Markdown text without its code: what stands there is no link and no heading."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", lambda code: code.group(0).replace("](", "] ("), line)


def anchors_of(lines):
    """The names by which links reach a text's headings, made as code hosts make them."""
    found = set()
    for _, line in prose_of(lines):
        heading = re.match(r"#{1,6} +(.*?) *#*$", line)
        if not heading:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        again = 0
        while anchor + (f"-{again}" if again else "") in found:
            again += 1
        found.add(anchor + (f"-{again}" if again else ""))
    return found


def check_links(root, name, lines):
    """Links to files, folders and headings of this tree lead somewhere."""
    for number, line in prose_of(lines):
        for target in LINK.findall(line):
            if WITH_SCHEME.match(target):
                continue
            file, _, heading = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
            if path.startswith(("..", "/")) or not os.path.exists(os.path.join(root, path)):
                yield name, number, f"a link to {target}, which does not exist"
            elif heading:
                with open(os.path.join(root, path), encoding="utf-8", errors="replace") as linked:
                    if heading not in anchors_of(linked.read().split("\n")):
                        yield name, number, f"a link to {target}: {path} has no such heading"


def types_of(lines):
    """Types that these lines define with external linkage: two of one name are undefined behaviour
    that no linker reports."""
    hidden, outer = False, ""
    for number, line in enumerate(lines, 1):
        if line == "namespace {":
            hidden = True
        elif line == "}  // namespace":
            hidden = False
        elif named := re.match(r"namespace ([\w:]+) {", line):
            outer = named.group(1)
        match = re.match(r"(?:class|struct|enum class|union) (?:\[\[\w+\]\] |alignas\(\d+\) )*(\w+)\b(?!::|<)[^;]*$", line)
        if match and not hidden:
            yield number, f"{outer}::{match.group(1)}"


def self_test():
    planted = {
        "src/base/up.cc": '#include "policy/access.h"\n',
        "src/policy/bare.cc": '#include "access.h"\n',
        "src/trace/out.cc": '#include "../base/fd.h"\n',
        "src/sandbox/plan/beside.cc": '#include "trace/journal.h"\n',
        "src/trace/beside.cc": '#include "sandbox/plan/plan.h"\n',
        "src/nowhere/x.cc": "int x;\n",
        "src/base/long.cc": "int a;\n" * (MAX_LINES + 1),
        "src/sandbox/roomless.h": "int x;\n",
        "src/sandbox/plan/up.cc": '#include "sandbox/launch/child.h"\n',
        "src/sandbox/plan/helped.cc": '#include "sandbox/testing/child.h"\n',
        "docs/path.md": "see " + "/wo" + "rk/main\n",
        "scripts/home": "cd " + "/ho" + "me/jdoe/x\n",
        "package-lock.json": '{ "resolved": "https://example.org/x.tgz" }\n',
        "src/vscode/twin.h": "class Twin final : public X {\n};\n",
        "a.bin": "\0\0\n",
        "no-newline.md": "text",
        "docs/no-file.md": "see [that](../src/gone.md)\n",
        "docs/no-heading.md": "# One\n\nsee [that](#two)\n",
        "docs/outside.md": "see [that](../../outside.md)\n",
        "docs/in-code.md": "# One\n```\n# Two\n```\n[that](#two)\n",
        "large.md": "x" * (MAX_BYTES + 1) + "\n",
    }
    fine = {
        "src/cli/run.cc": '#include "sandbox/plan/plan.h"\n#include <sys/stat.h>\n',
        "src/sandbox/launch/down_test.cc": '#include "sandbox/plan/plan.h"\n#include "sandbox/testing/child.h"\n',
        "src/base/twin.h": "struct Twin {\n};\nstruct Other;\nstruct Outer::Other {\n};\n",
        "src/policy/other.cc": "struct Other;\nnamespace {\nstruct Twin {\n};\n}  // namespace\nstruct Other {\n};\n",
        "docs/ok.md": "`/home/user/.ssh`, `${home}` and /home/me/x\n",
        "docs/links.md": "## `A` b, c\n## A b c\n[1](ok.md) [2](#a-b-c) [3](links.md#a-b-c-1) [4](../src) `x](y)`\n"
                         "```\n[5](gone)\n```\n[6](https://example.org/x)\n",
        "fuzz/corpus/manifest/1": "\0",
    }
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**planted, **fine}.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        found = {name for name, _, _ in check(root, [*fine, *planted])}
    missed, wrong = set(planted) - found, found - set(planted)
    for name in sorted(missed):
        print(f"{name}: planted, not found")
    for name in sorted(wrong):
        print(f"{name}: found, but fine")
    return 1 if missed or wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    root = sys.argv[1]
    names = tracked(root)
    if not names:
        print("layout: git lists no files", file=sys.stderr)
        return 1
    found = list(check(root, names))
    for name, line, message in found:
        print(f"{name}:{line}: {message}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
