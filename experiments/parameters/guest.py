"""``parameters_guest.py OUT``: reads what `tc` sends to the kernel, and what the kernel makes of it.

LINES is a JSON list of lists of commands, the words after ``tc``. OUT/parameters.json has the releases of `tc` and of
Linux. It has one object per list: ``sent``, the options of its last command as `tc` sent them (`TCA_OPTIONS` in
hexadecimal), ``kept``, the options that the kernel shows of the same object, and ``said``, the complaint if one of the
commands was refused.

The messages are read from `tc` itself: this program runs `tc` under ptrace, and reads the memory of each sendmsg(2).
Neither ``tc -d qdisc show`` nor a dump shows RED's idle table, since the kernel does not give it back.
"""

import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pyroute2 import IPRoute

LINES = Path("/plan.json")
DEVICE = "v0"
"""A veth, as in lines_guest.py."""

TRACEME, SYSCALL, GETREGS, SETOPTIONS = 0, 24, 12, 0x4200
SYSGOOD = 1
"""With this option a stop at a system call differs from a stop at a signal."""
SENDMSG = 46
"""The number of sendmsg(2) on x86-64. Registers are those of its user_regs_struct: 27 words."""
RAX, RSI = 15, 13

NEWQDISC, GETQDISC, NEWTCLASS, GETTCLASS = 36, 38, 40, 42
DONE, ERROR = 3, 2
DUMP = 0x301
KIND, OPTIONS = 1, 2

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the value of each attribute (rtnetlink(7))."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3 :]


def options(message: bytes) -> str:
    """Return the options in a message about a qdisc or a class: behind its header (16) and its struct tcmsg (20)."""
    return dict(attributes(message[36:])).get(OPTIONS, b"").hex()


def sent(command: list[str]) -> tuple[list[bytes], int, str]:
    """Run ``command``. Return the messages about qdiscs and classes that it sent, its status, and what it said."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 2)
        libc.ptrace(TRACEME, 0, None, None)
        os.execvp(command[0], command)  # noqa: S606 - the image has one tc
    os.close(write)
    os.waitpid(pid, 0)
    libc.ptrace(SETOPTIONS, pid, None, SYSGOOD)
    messages: list[bytes] = []
    registers = (ctypes.c_ulong * 27)()
    enters, signal = True, 0
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:

        def at(place: int, size: int) -> bytes:
            memory.seek(place)
            return memory.read(size)

        while True:
            libc.ptrace(SYSCALL, pid, None, signal)
            _, status = os.waitpid(pid, 0)
            if not os.WIFSTOPPED(status):
                break
            stop = os.WSTOPSIG(status)
            signal = 0 if stop & 0x80 else stop
            if not stop & 0x80:
                continue
            libc.ptrace(GETREGS, pid, None, registers)
            if enters and registers[RAX] == SENDMSG:
                vectors, count = struct.unpack_from("=16xQQ", at(registers[RSI], 56))
                pieces = struct.iter_unpack("=QQ", at(vectors, 16 * count))
                message = b"".join(at(place, size) for place, size in pieces)
                if struct.unpack_from("=4xH", message)[0] in (NEWQDISC, NEWTCLASS):
                    messages.append(message)
            enters = not enters
    with os.fdopen(read, errors="replace") as said:
        return messages, os.waitstatus_to_exitcode(status), said.read().strip()


def kept(index: int, of_class: bool) -> str:
    """Return the options that the kernel shows of the root qdisc of a device, or of its last class."""
    kind = GETTCLASS if of_class else GETQDISC
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        route.bind((0, 0))
        route.send(struct.pack("=IHHIIBxxxiIII", 36, kind, DUMP, 1, 0, 0, index, 0, 0, 0))
        found = b""
        while True:
            data = route.recv(1 << 20)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind in (DONE, ERROR):
                    return options(found)
                if kind in (NEWQDISC, NEWTCLASS) and struct.unpack_from("=i", data, 20)[0] == index:
                    found = data[:length]
                data = data[(length + 3) & ~3 :]


def made(commands: list[list[str]]) -> dict[str, str]:
    """Carry out ``commands`` and return what became of the last one."""
    left = ["tc", "qdisc", "del", "dev", DEVICE, "root"]
    subprocess.run(left, capture_output=True, check=False)
    messages: list[bytes] = []
    said = ""
    for words in commands:
        messages, status, complaint = sent(["tc", *words])
        said = said or (complaint or "refused" if status else "")
    index = socket.if_nametoindex(DEVICE)
    return {
        "sent": options(messages[-1]) if messages else "",
        "kept": "" if said else kept(index, commands[-1][0] == "class"),
        "said": said,
    }


def main() -> None:
    """Do what the module says."""
    _, out = sys.argv
    with IPRoute() as route:
        route.link("add", ifname=DEVICE, kind="veth", peer="v1")
        route.link("set", index=route.link_lookup(ifname=DEVICE)[0], state="up")
    asked = ["tc", "-V"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    lines = [made(commands) for commands in json.loads(LINES.read_text(encoding="utf-8"))]
    result = {"tc": version, "kernel": os.uname().release, "lines": lines}
    Path(out, "parameters.json").write_text(json.dumps(result), encoding="utf-8")


main()
