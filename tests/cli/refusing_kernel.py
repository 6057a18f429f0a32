# SPDX-License-Identifier: BSD-3-Clause

"""Simulates, by a seccomp filter, a kernel that refuses system calls, as old kernels and containers do."""

import contextlib
import ctypes
import errno
import os
import platform
import struct
import unittest

# Numbers of the system calls on x86-64 and on arm64.
COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
CALLS = {"pidfd_open": (434, 434), "sched_getaffinity": (204, 123), "sched_setaffinity": (203, 122),
         "signalfd4": (289, 74), "close_range": (436, 436), "readlink": (89, 78)}

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
CALL_NUMBER, SECOND_ARGUMENT = 0, 24  # in struct seccomp_data: byte offsets of nr and of args[1]'s lower half
ALLOW, REFUSE_WITH = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    """struct sock_fprog"""
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def refusing(call, error, second_argument_below=None):
    """Returns a preexec_fn that makes a system call fail with an error. If `second_argument_below` is given, the
    call fails only if its second argument is below this number."""
    if COLUMN is None:
        raise unittest.SkipTest("the numbers of system calls are not known on this machine")
    number = CALLS[call][COLUMN]
    if second_argument_below is None:
        steps = [(LOAD_WORD, 0, 0, CALL_NUMBER), (JUMP_IF_EQUAL, 0, 1, number)]
    else:
        steps = [(LOAD_WORD, 0, 0, CALL_NUMBER), (JUMP_IF_EQUAL, 0, 3, number),
                 (LOAD_WORD, 0, 0, SECOND_ARGUMENT), (JUMP_IF_AT_LEAST, 1, 0, second_argument_below)]
    steps += [(RETURN, 0, 0, REFUSE_WITH | error), (RETURN, 0, 0, ALLOW)]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    program = Program(len(steps), code)
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                      (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)):
            if libc.prctl(*words) != 0:
                raise OSError(ctypes.get_errno(), "no seccomp filter")

    return install


def can_refuse():
    """Returns whether a process may install a seccomp filter on this system."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(Exception):
            refusing("pidfd_open", errno.ENOSYS)()
            os._exit(0)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
