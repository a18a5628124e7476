# Reads its way to bulkhead's own locks, and holds them: nobody would be asked, no journal begun.
# class: OS sandboxes: the sandbox's own files
# plain: say
# flags: --read {HOME}
# journal: read {HOME}/.local/state/bulkhead/question.lock

import fcntl
import os
import sys

facts = dict(fact.split("=", 1) for fact in sys.argv[1:])
print("tried", flush=True)
held = []
for folder, _, files in os.walk(facts["HOME"] + "/.local/state/bulkhead"):
    for name in files:
        try:
            held.append(os.open(f"{folder}/{name}", os.O_RDONLY))
            fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            print("EFFECT locked", name)
        except OSError as error:
            print("refused:", name, error)
