"""Runs unit-test programs and tells of each case by itself: a program, or its shard, is one process.

What a case did is read from what the program prints, because gtest writes its report when it ends: a program that
crashes leaves none. A case that began and did not end is the one that crashed; one that never began has failed too.
"""

import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import time

Run = collections.namedtuple("Run", "name command environment timeout")
# name; state: run, skipped, fail or missing; output; seconds
Case = collections.namedtuple("Case", "name state output seconds")

MARK = re.compile(r"\[ *(RUN|OK|FAILED|SKIPPED) *\] ([^\s,()]+)(?:, where [^\n]*?)?(?: \((\d+) ms\))?$", re.M)
STATES = {"OK": "run", "SKIPPED": "skipped", "FAILED": "fail"}


def runs_of(build):
    """The processes that ctest would start for the tests labelled "unit"."""
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-L", "^unit$"],
                          capture_output=True, text=True, check=True).stdout
    for test in json.loads(text)["tests"]:
        properties = {each["name"]: each["value"] for each in test.get("properties", [])}
        environment = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
        yield Run(test["name"], test.get("command", []), environment, properties.get("TIMEOUT", 300))


def cases_in(run):
    """The names Suite.Case that the run's program has, of every shard; None where there is no program."""
    try:
        listed = subprocess.run([*run.command, "--gtest_list_tests"], capture_output=True, text=True, check=True,
                                timeout=60, env={**os.environ, **run.environment}).stdout
    except (OSError, IndexError, subprocess.SubprocessError):
        return None
    names, suite = [], None
    for line in listed.split("\n"):
        name = line.split("#")[0].rstrip()
        if line.startswith("  ") and suite:
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return [name for name in names if not re.search(r"(^|[./])DISABLED_", name)]


def filter_of(wanted, known):
    """A value for GTEST_FILTER; whole suites are named as such, since a variable's length has its bounds."""
    suites = collections.defaultdict(set)
    for name in known:
        suites[name.split(".")[0]].add(name)
    chosen = set(wanted)
    parts = []
    for suite, names in suites.items():
        parts += [f"{suite}.*"] if names <= chosen else sorted(names & chosen)
    return ":".join(parts)


def read_cases(text):
    """{name: (state, output, seconds)} of what a program printed; of a case that did not end the state is None."""
    found, running, begin = {}, None, 0
    for mark in MARK.finditer(text):
        word, name, ms = mark.groups()
        if word == "RUN":
            running, begin = name, mark.end() + 1
            found.setdefault(name, (None, "", 0))
        elif ms is not None and name in found:  # what has no time stands in the summary
            # A child that ran on from a test's body may tell of the same case: a failure stays one.
            if found[name][0] != "fail":
                found[name] = (STATES[word], text[begin:mark.start()], int(ms) / 1000)
            running = None
    if running:
        found[running] = (None, text[begin:], 0)
    return found


def why_it_ended(code):
    if code is None:
        return "was ended because it took too long"
    if code < 0:
        try:
            return f"died of {signal.Signals(-code).name}"
        except ValueError:
            return f"died of signal {-code}"
    return f"ended with status {code}"


def start(run, gtest_filter):
    """Output, exit status (None: out of time)."""
    environment = {**os.environ, **run.environment}
    if gtest_filter:
        environment["GTEST_FILTER"] = gtest_filter
    with subprocess.Popen([*run.command, "--gtest_color=no"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment) as process:
        try:
            output, _ = process.communicate(timeout=run.timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            code = None
            try:
                output, _ = process.communicate(timeout=10)
            except subprocess.TimeoutExpired as late:  # what it started has its output still
                output = late.output or b""
    return output.decode("utf-8", "replace"), code


def judge_runs(folder, wanted, ended):
    """Cases of one program out of what its runs (name, output, code) printed. Every wanted case is told of once."""
    left = set(wanted)
    for name, output, code in ended:
        cases, blamed = read_cases(output), False
        for case, (state, text, seconds) in cases.items():
            if state is None:
                state, text = "fail", f"{text}\n{name} {why_it_ended(code)} while this case ran\n"
            if case in wanted:
                blamed = blamed or state == "fail"
                left.discard(case)
                yield Case(f"{folder}/{case}", state, text, seconds)
        if code != 0 and not blamed:
            yield Case(name, "fail", f"{output[-4000:]}\n{name} {why_it_ended(code)}, though no case of it failed\n", 0)
    for case in sorted(left):
        yield Case(f"{folder}/{case}", "fail", "did not run: its program ended before\n", 0)


def run_all(build, only, jobs, tell=print):
    """Runs what matches `only` (a regular expression or None); yields Cases. Runs' names are FOLDER/SHARD."""
    programs = collections.defaultdict(list)
    for run in runs_of(build):
        programs[run.name.split("/")[0]].append(run)
    work, wanted = [], {}
    for folder, runs in programs.items():
        known = cases_in(runs[0])
        if known is None:
            if not only or re.search(only, f"{folder}/"):
                yield from (Case(run.name, "missing", f"{run.command[:1]} is not built or does not start\n", 0)
                            for run in runs)
            continue
        chosen = [case for case in known if not only or re.search(only, f"{folder}/{case}")]
        if chosen:
            wanted[folder] = set(chosen)
            everything = len(chosen) == len(known)
            work += [(len(chosen), folder, run, None if everything else filter_of(chosen, known)) for run in runs]
    work.sort(key=lambda each: -each[0])  # the longest first

    def one(each):
        _, folder, run, gtest_filter = each
        begin = time.monotonic()
        output, code = start(run, gtest_filter)
        tell(f"{run.name}: {time.monotonic() - begin:.1f} s{'' if code == 0 else ', ' + why_it_ended(code)}",
             flush=True)
        return folder, (run.name, output, code)

    ended = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for folder, result in pool.map(one, work):
            ended[folder].append(result)
    for folder, results in ended.items():
        yield from judge_runs(folder, wanted[folder], results)
