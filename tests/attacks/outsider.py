"""A process of the same user outside every compartment: what the attacks aim at.

Holds secrets where programs hold them (memory, environment, an unlinked open file, its command line,
System V and POSIX memory and queues), listens on a socket in its folder, and says where on one line
of JSON. Ends when its standard input does. `outsider.py clean FACTS` removes what outlives it, also after an attack killed it.
"""
import ctypes
import json
import os
import socket
import sys
import tempfile

libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT, IPC_EXCL, IPC_RMID = 0o1000, 0o2000, 0

if sys.argv[1] == "clean":
    facts = json.loads(sys.argv[2])
    libc.shmctl(facts["shm"], IPC_RMID, None)
    libc.msgctl(facts["queue"], IPC_RMID, None)
    libc.mq_unlink(facts["mq"].encode())
    for path in (facts["shm_file"], facts["tmp_file"]):
        if os.path.exists(path):
            os.unlink(path)
    sys.exit()

token = os.environ["OUTSIDER_TOKEN"].encode()
facts = {"pid": os.getpid()}

buffer = ctypes.create_string_buffer(token + b"\0", 4096)
facts["address"] = ctypes.addressof(buffer)

handle, name = tempfile.mkstemp()
os.unlink(name)
os.write(handle, token)
os.lseek(handle, 0, 0)
facts["fd"] = handle

key = int.from_bytes(os.urandom(3), "big") + 1
shm = libc.shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0o600)
libc.shmat.restype = ctypes.c_void_p
ctypes.memmove(libc.shmat(shm, None, 0), token, len(token))
queue = libc.msgget(key, IPC_CREAT | IPC_EXCL | 0o600)


class Message(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_long), ("text", ctypes.c_char * 256)]


libc.msgsnd(queue, ctypes.byref(Message(1, token)), len(token), 0)
facts["ipc_key"], facts["shm"], facts["queue"] = key, shm, queue

mq_name = b"/bulkhead-attack-%x" % key
# struct mq_attr: one message. A queue of the usual size that a killed run left behind takes a tenth of
# what its user may have (RLIMIT_MSGQUEUE), and ten of them fail every later test of queues.
attributes = (ctypes.c_long * 8)(0, 1, len(token))
mq = libc.mq_open(mq_name, os.O_RDWR | os.O_CREAT, 0o600, attributes)
libc.mq_send(mq, token, ctypes.c_size_t(len(token)), 0)
facts["mq"] = mq_name.decode()

facts["shm_file"] = "/dev/shm/bulkhead-attack-%x" % key
with open(facts["shm_file"], "wb") as file:
    file.write(token)
facts["tmp_file"] = "/tmp/bulkhead-attack-%x" % key
with open(facts["tmp_file"], "wb") as file:
    file.write(token)

listening = socket.socket(socket.AF_UNIX)
facts["socket"] = os.path.join(os.getcwd(), "outsider.sock")
listening.bind("outsider.sock")
listening.listen()

print(json.dumps(facts), flush=True)
sys.stdin.read()
