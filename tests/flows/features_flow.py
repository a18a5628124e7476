#!/usr/bin/env python3
"""A kernel without a feature that a boundary needs: run refuses, and doctor names it.

Each feature is taken away by a seccomp filter that answers as an older or a hardened kernel does. What
an older kernel lacks in earnest, `make kernels` shows.
"""

import ctypes
import errno
import json
import os
import re
import resource
import signal
import struct

import flow
from flow import Flow

# x86-64, as the rest of bulkhead.
CLONE, IOCTL, MOUNT, PIDFD_GETFD, OPENAT2, UNSHARE = 56, 16, 165, 438, 437, 272
PROCESS_VM_READV, PROCESS_VM_WRITEV, SECCOMP = 310, 311, 317
MOUNT_SETATTR, LANDLOCK_CREATE_RULESET = 442, 444
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT = 428, 429, 430, 431, 432
KCMP, PIDFD_OPEN, PIDFD_THREAD = 312, 434, 0x80
NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
NOSUID, NODEV, NOEXEC = 2, 4, 8
NEW_LISTENER, WAIT_KILLABLE = 8, 32
NOTIF_ADDFD = 0x40182103
PID_FROM_PIDNS = 0x8004B706


class Missing:
    """A call that fails: always, or where its argument number `at` under `mask` is `value`."""

    def __init__(self, call, error, at=None, value=0, mask=0xFFFFFFFF):
        self.call, self.error, self.at, self.value, self.mask = call, error, at, value, mask

    def filter(self):
        """seccomp(2)'s program: everything else is allowed."""
        load, equal, both, give = 0x20, 0x15, 0x54, 0x06
        code = [(load, 0, 0, 0)]  # the call's number
        if self.at is None:
            code += [(equal, 0, 1, self.call)]
        else:
            code += [(equal, 0, 4, self.call), (load, 0, 0, 16 + 8 * self.at), (both, 0, 0, self.mask),
                     (equal, 0, 1, self.value)]
        code += [(give, 0, 0, 0x50000 | self.error), (give, 0, 0, 0x7FFF0000)]
        return b"".join(struct.pack("HBBI", *each) for each in code), len(code)

    def install(self):
        """In the child, before it executes: this process and all that come from it lack the call."""
        code, length = self.filter()
        libc = ctypes.CDLL(None, use_errno=True)
        program = struct.pack("HxxxxxxP", length, ctypes.cast(ctypes.c_char_p(code), ctypes.c_void_p).value)
        no_new_privs, seccomp, mode_filter = 38, 22, 2
        if libc.prctl(no_new_privs, 1, 0, 0, 0) or libc.prctl(seccomp, mode_filter, program, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


class Both:
    """Two calls that fail."""

    def __init__(self, one, other):
        self.ways, self.call, self.error = (one, other), one.call, one.error

    def install(self):
        for way in self.ways:
            way.install()


class Layers:
    """Rulesets of Landlock that this process is under already. They deny abstract sockets outside, no more;
    before Linux 6.12 making block devices, and with that all mounts."""

    def __init__(self, count):
        self.count = count

    def install(self):
        libc = ctypes.CDLL(None, use_errno=True)
        no_new_privs, restrict_self, abstract_sockets, make_block = 38, 446, 1, 1 << 11
        attributes = struct.pack("QQQ", 0, 0, abstract_sockets)
        if libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0) < 0:
            attributes = struct.pack("Q", make_block)
        if libc.prctl(no_new_privs, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")
        for _ in range(self.count):
            ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
            if ruleset < 0 or libc.syscall(restrict_self, ruleset, 0):
                raise OSError(ctypes.get_errno(), "landlock")
            os.close(ruleset)


def without(namespace):
    return Missing(CLONE, errno.EPERM, 0, namespace, namespace)


# By the names that doctor gives; a required feature that is not here fails the test.
FEATURES = {
    "landlock": [Missing(LANDLOCK_CREATE_RULESET, errno.ENOSYS),
                 Missing(LANDLOCK_CREATE_RULESET, errno.EOPNOTSUPP)],
    "seccomp-notify": [Missing(IOCTL, errno.EINVAL, 1, NOTIF_ADDFD),
                       Missing(SECCOMP, errno.EINVAL, 1, NEW_LISTENER, NEW_LISTENER)],
    "seccomp-killable": [Missing(SECCOMP, errno.EINVAL, 1, WAIT_KILLABLE, WAIT_KILLABLE)],
    # The last as Docker's default profile does it, under which no thread has a umask of its own either.
    "user-namespaces": [without(NEWUSER), Missing(CLONE, errno.ENOSPC, 0, NEWUSER, NEWUSER),
                        Both(without(NEWUSER), Missing(UNSHARE, errno.EPERM))],
    "mount-namespace": [without(NEWNS), Missing(MOUNT, errno.EACCES)],
    "mount-attributes": [Missing(MOUNT_SETATTR, errno.ENOSYS), Missing(OPEN_TREE, errno.EPERM), Missing(MOVE_MOUNT, errno.ENOSYS),
                         Missing(FSOPEN, errno.EPERM), Missing(FSCONFIG, errno.EPERM), Missing(FSMOUNT, errno.ENOSYS)],
    "private-proc": [Missing(MOUNT, errno.EPERM, 3, NOSUID | NODEV | NOEXEC), without(NEWPID)],
    "private-terminals": [Missing(MOUNT, errno.EPERM, 3, NOSUID | NOEXEC)],
    "network-namespace": [without(NEWNET)],
    "ipc-namespace": [without(NEWIPC), Missing(CLONE, errno.EINVAL, 0, NEWIPC, NEWIPC)],
    "pidfd-getfd": [Missing(PIDFD_GETFD, errno.ENOSYS), Missing(PIDFD_GETFD, errno.EPERM)],
    "thread-descriptors": [Both(Missing(PIDFD_OPEN, errno.EINVAL, 1, PIDFD_THREAD),
                                Missing(KCMP, errno.ENOSYS))],
    "process-vm-readv": [Missing(PROCESS_VM_READV, errno.EPERM), Missing(PROCESS_VM_WRITEV, errno.EPERM)],
    "openat2": [Missing(OPENAT2, errno.ENOSYS), Missing(OPENAT2, errno.EPERM)],
}


class MissingFeatures(Flow):
    def assert_refused(self, done, feature):
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertTrue(done.stderr.startswith("bulkhead: "), done.stderr)
        self.assertIn(feature, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(os.path.exists(os.path.join(self.project, "ran")), "the program was started")

    def assert_named(self, done, feature):
        self.assertEqual(done.returncode, 1, done.stderr)
        found = json.loads(done.stdout)
        self.assertFalse(found["ok"])
        [row] = [each for each in found["features"] if each["name"] == feature]
        self.assertEqual((row["required"], row["present"]), (True, False))
        # Why, and what to do.
        self.assertRegex(row["detail"], r"^[A-Z].+: .{10}")

    def test_run_refuses_and_doctor_names_it(self):
        for feature, ways in FEATURES.items():
            for way in ways:
                with self.subTest(feature=feature, call=way.call, error=errno.errorcode[way.error]):
                    self.assert_named(self.bulkhead("doctor", "--json", preexec_fn=way.install), feature)
                    self.assert_refused(
                        self.run_program("--", "touch", "ran", preexec_fn=way.install), feature)

    def test_doctor_tells_a_person(self):
        done = self.bulkhead("doctor", preexec_fn=Missing(PIDFD_GETFD, errno.EPERM).install)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"pidfd-getfd +MISSING")
        self.assertIn("`bulkhead run` refuses here: 1 required feature is missing.", done.stdout)

    def test_who_has_used_up_descriptors_is_not_told_of_a_kernel(self):
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))  # noqa: E731
        done = self.run_program("--", "true", preexec_fn=few)
        self.assertEqual(done.returncode, 125)
        self.assertIn("Too many open files (too many descriptors; see ulimit -n)", done.stderr)
        self.assertNotIn("missing on this machine", done.stderr)

    def test_one_cause_is_told_once(self):
        found = json.loads(self.bulkhead("doctor", "--json", preexec_fn=without(NEWUSER).install).stdout)
        missing = {f["name"]: f["detail"] for f in found["features"] if not f["present"]}
        said = self.bulkhead("doctor", preexec_fn=without(NEWUSER).install).stdout
        self.assertIn("user-namespaces, mount-namespace, ", said)
        for name, detail in missing.items():
            self.assertRegex(said, rf"(?m)^(.*, )?{name}(, .*)?: {re.escape(detail)}$")
            self.assertEqual(said.count(f": {detail}\n"), 1, said)

    def test_ends_of_children_that_nobody_is_told(self):
        # Who ignores SIGCHLD hands that down, and the kernel then keeps no child's end: a probe that
        # failed must not look like one that went well.
        def install():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            FEATURES["seccomp-killable"][0].install()

        self.assert_named(self.bulkhead("doctor", "--json", preexec_fn=install), "seccomp-killable")
        self.assert_refused(self.run_program("--", "touch", "ran", preexec_fn=install), "seccomp-killable")
        whole = self.bulkhead("doctor", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(whole.returncode, 0, whole.stdout)

    def test_every_required_feature_is_taken_away_here(self):
        features = json.loads(self.bulkhead("doctor", "--json").stdout)["features"]
        self.assertEqual({each["name"] for each in features if each["required"]}, set(FEATURES))

    def test_an_older_landlock_will_do(self):
        # ABI 2, that of Linux 6.1: doctor says what is held once and no more, and run runs. Only what
        # bulkhead itself asks the kernel is answered so, not what its children then do.
        def told(*words, abi):
            return self.bulkhead(*words, under=["strace", "-qq", "-o", "/dev/null", "-e",
                                                f"inject=landlock_create_ruleset:retval={abi}"])

        doctor = told("doctor", "--json", abi=2)
        self.assertEqual(doctor.returncode, 0, doctor.stdout)
        missing = {f["name"]: f["detail"] for f in json.loads(doctor.stdout)["features"] if not f["present"]}
        self.assertIn("the supervisor alone", missing["landlock-truncate"])
        self.assertIn("namespaces and a process group", missing["landlock-scopes"])
        done = told("run", "--", "echo", "ran", abi=2)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ran\n", ""))
        self.assert_named(told("doctor", "--json", abi=1), "landlock")
        self.assert_refused(told("run", "--", "touch", "ran", abi=1), "landlock")

    def test_an_older_kernel_knows_no_threads(self):
        # A thread that is not the first connects, and a descriptor is opened by its number: of a kernel
        # that has pidfds of processes alone, and does not translate numbers (6.1).
        script = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
def connect():
    socket.create_connection(server.getsockname()).close()
    print("connected")
thread = threading.Thread(target=connect)
thread.start()
thread.join()
print(open("/dev/stdin").read())
"""
        old = Both(Missing(PIDFD_OPEN, errno.EINVAL, 1, PIDFD_THREAD), Missing(IOCTL, errno.ENOTTY, 1, PID_FROM_PIDNS))
        done = self.run_program("--", "/usr/bin/python3", "-c", script, input="given", preexec_fn=old.install)
        self.assertEqual((done.returncode, done.stdout.split(), done.stderr), (0, ["connected", "given"], ""))

    def test_no_layer_of_landlock_is_left(self):
        spent = Layers(16).install
        doctor = self.bulkhead("doctor", "--json", preexec_fn=spent)
        self.assert_named(doctor, "landlock")
        refused = self.run_program("--", "touch", "ran", preexec_fn=spent)
        self.assert_refused(refused, "landlock")
        for said in (doctor.stdout, refused.stderr):
            self.assertIn("allows 16 layers of Landlock, and this process already has them", said)
            self.assertNotIn("is needed", said)  # the kernel is new enough
        features = json.loads(self.bulkhead("doctor", "--json").stdout)["features"]
        if any(f["name"] == "landlock-scopes" and f["present"] for f in features):
            last = self.run_program("--", "touch", "ran", preexec_fn=Layers(15).install)
            self.assertEqual((last.returncode, last.stderr), (0, ""))

    def test_what_runs_here_can_say_so(self):
        # That the filters take away what they name and nothing else: one for a call nobody makes.
        none = Missing(IOCTL, errno.EINVAL, 1, 0xFFFFFFFF)
        done = self.run_program("--", "touch", "ran", preexec_fn=none.install)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    flow.main()
