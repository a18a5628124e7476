# Reads the key by Python's own calls, and by ctypes straight into the C library.
# class: Deno: FFI
# plain: leak
# journal: read {KEY}

import ctypes
import mmap
import os
import shutil
import sys

facts = dict(fact.split("=", 1) for fact in sys.argv[1:])
key = facts["KEY"]
print("tried", flush=True)


def raw():
    libc = ctypes.CDLL(None)
    fd = libc.syscall(2, key.encode(), 0)
    return os.read(fd, 4096)


def mapped():
    with open(key, "rb") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[:]


for way in (lambda: open(key).read(), lambda: shutil.copy(key, "loot"), raw, mapped,
            lambda: os.listdir(os.path.dirname(key)), lambda: os.readlink(os.path.dirname(key) + "/link")):
    try:
        print(way(), flush=True)
    except OSError as error:
        print("refused:", error, flush=True)
