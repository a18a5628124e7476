"""The projects that everyday commands are tried in: each function fills an empty folder as somebody's project."""

import json
import os
import subprocess


def write(folder, files, executable=()):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        if name in executable:
            os.chmod(path, 0o755)


def git(folder, *words):
    subprocess.run(["git", "-C", folder, "-c", "user.name=Ann", "-c", "user.email=ann@example.com",
                    "-c", "init.defaultBranch=main", *words], check=True, capture_output=True)


def commit_all(folder, message="start"):
    if not os.path.isdir(os.path.join(folder, ".git")):
        git(folder, "init")
    git(folder, "config", "user.name", "Ann")
    git(folder, "config", "user.email", "ann@example.com")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", message)


def npm(folder):
    write(folder, {
        "package.json": json.dumps({
            "name": "demo", "version": "1.0.0", "private": True,
            "scripts": {
                "test": "node --test", "build": "mkdir -p dist && cp src/index.js dist/", "lint": "node lint.js",
                "env": "node -p process.env.npm_lifecycle_event", "prebuild": "echo before", "fail": "exit 3"},
            "dependencies": {"leaf": "file:./leaf"}, "workspaces": ["packages/*"]}),
        "leaf/package.json": json.dumps({"name": "leaf", "version": "1.0.0", "bin": {"leaf": "cli.js"}}),
        "leaf/cli.js": "#!/usr/bin/env node\nconsole.log('leaf', process.argv.length);\n",
        "leaf/index.js": "module.exports = 7;\n",
        "packages/one/package.json": json.dumps({"name": "one", "version": "1.0.0", "scripts": {"say": "echo one"}}),
        "src/index.js": "module.exports = require('leaf') * 6;\n",
        "lint.js": "console.log(require('fs').readdirSync('src').length);\n",
        "test/index.test.js": "const test = require('node:test'); const assert = require('assert');\n"
                              "test('answer', () => assert.equal(require('../src'), 42));\n"},
        executable={"leaf/cli.js"})


def typescript(folder):
    write(folder, {
        "package.json": json.dumps({"name": "ts", "private": True, "scripts": {"build": "tsc -b"}}),
        "tsconfig.json": json.dumps({"files": [], "references": [{"path": "packages/a"}, {"path": "packages/b"}]}),
        **{f"packages/{name}/tsconfig.json": json.dumps({
            "compilerOptions": {"composite": True, "outDir": "out", "rootDir": "src", "module": "commonjs", "target": "es2022"},
            "include": ["src"], **({"references": [{"path": "../a"}]} if name == "b" else {})}) for name in "ab"},
        "packages/a/src/index.ts": "export const twice = (n: number): number => n * 2;\n",
        "packages/b/src/index.ts": "import { twice } from '../../a/src/index';\nconsole.log(twice(21));\n"})


def python(folder):
    write(folder, {
        "pyproject.toml": '[project]\nname = "demo"\nversion = "1.0"\n[build-system]\nrequires = []\n',
        "demo/__init__.py": "def answer():\n    return 42\n",
        "demo/__main__.py": "from . import answer\nprint(answer())\n",
        "tests/test_demo.py": "import unittest\nfrom demo import answer\n\n\nclass Test(unittest.TestCase):\n"
                              "    def test_answer(self):\n        self.assertEqual(answer(), 42)\n",
        "pool.py": "from multiprocessing import Pool\n\n\ndef square(n):\n    return n * n\n\n\n"
                   "if __name__ == '__main__':\n    with Pool(4) as pool:\n        print(sum(pool.map(square, range(100))))\n",
        "db.py": "import sqlite3\nwith sqlite3.connect('demo.db') as db:\n    db.execute('create table if not exists t (n)')\n"
                 "    db.execute('insert into t values (1)')\n    print(db.execute('select count(*) > 0 from t').fetchone()[0])\n",
        "tmp.py": "import tempfile, os\nwith tempfile.NamedTemporaryFile() as f:\n    f.write(b'x'); f.flush(); "
                  "print(os.path.getsize(f.name))\n"})


def rust(folder):
    write(folder, {
        "Cargo.toml": '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/main.rs": 'fn main() {\n    println!("{}", demo());\n}\n\nfn demo() -> u32 {\n    42\n}\n\n'
                       "#[cfg(test)]\nmod tests {\n    #[test]\n    fn answer() {\n        assert_eq!(super::demo(), 42);\n    }\n}\n",
        "build.rs": 'fn main() {\n    println!("cargo:rerun-if-changed=build.rs");\n}\n',
        "hello.rs": 'fn main() {\n    println!("hello");\n}\n'})


def go(folder):
    write(folder, {
        "go.mod": "module example.com/demo\n\ngo 1.19\n",
        "main.go": 'package main\n\nimport "fmt"\n\nfunc answer() int { return 42 }\n\nfunc main() { fmt.Println(answer()) }\n',
        "main_test.go": 'package main\n\nimport "testing"\n\nfunc TestAnswer(t *testing.T) {\n\tif answer() != 42 {\n'
                        '\t\tt.Fatal("no")\n\t}\n}\n'})


def c(folder):
    write(folder, {
        "Makefile": "demo: main.o util.o\n\t$(CC) -o $@ $^\n\ntest: demo\n\t./demo\n\nclean:\n\trm -f demo *.o\n",
        "main.c": '#include <stdio.h>\nint answer(void);\nint main(void) { printf("%d\\n", answer()); return 0; }\n',
        "util.c": "int answer(void) { return 42; }\n",
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(demo C)\nadd_executable(demo main.c util.c)\n"
                          "enable_testing()\nadd_test(NAME runs COMMAND demo)\n",
        "meson.build": "project('demo', 'c')\ntest('runs', executable('demo', 'main.c', 'util.c'))\n",
        "configure.ac": "AC_INIT([demo],[1.0])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        "Makefile.am": "bin_PROGRAMS = demo\ndemo_SOURCES = main.c util.c\n"})


def autotools(folder):
    c(folder)
    os.unlink(os.path.join(folder, "Makefile"))


def java(folder):
    write(folder, {
        "A.java": "public class A { public static void main(String[] a) { System.out.println(42); } }\n",
        "settings.gradle": "rootProject.name = 'demo'\n",
        "build.gradle": "task hello { doLast { println 42 } }\n",
        "pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>d</groupId><artifactId>d</artifactId>"
                   "<version>1</version><packaging>pom</packaging></project>\n"})


def ruby(folder):
    write(folder, {
        "a.rb": "require 'json'\nputs JSON.generate({a: 1})\n",
        "Rakefile": "task :default do\n  sh 'echo raked'\nend\n",
        "demo.gemspec": "Gem::Specification.new { |s| s.name = 'demo'; s.version = '1.0'; s.summary = 'd'; "
                        "s.authors = ['a']; s.files = ['a.rb'] }\n"})


def php(folder):
    write(folder, {"a.php": "<?php echo json_encode(['a' => PHP_INT_SIZE]), \"\\n\";\n"})


def shell(folder):
    write(folder, {
        "run.sh": "#!/bin/sh\nset -e\nfor f in *.txt; do wc -l < \"$f\"; done | sort | uniq -c | sed 's/^ *//'\n",
        "a.txt": "one\ntwo\n", "b.txt": "one\n", "data.json": '{"a": [1, 2, {"b": 3}]}\n',
        "sub/deep/file.txt": "needle\n"}, executable={"run.sh"})


def repository(folder):
    write(folder, {"a.txt": "one\n", "b.txt": "two\n"})
    commit_all(folder)
    write(folder, {"a.txt": "one\nmore\n"})
    commit_all(folder, "more")
    git(folder, "branch", "topic", "HEAD~1")
    git(folder, "switch", "topic")
    write(folder, {"b.txt": "two\ntopic\n"})
    commit_all(folder, "topic")
    git(folder, "switch", "main")


def library(folder):
    """A repository beside the project, which a submodule or a clone by path comes from."""
    write(folder, {"lib.txt": "lib\n"})
    commit_all(folder)
