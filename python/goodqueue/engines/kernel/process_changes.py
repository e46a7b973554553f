"""What is changed in Linux's source before it is built as an ordinary process, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the source: the text ``old`` in ``file`` becomes ``new``."""

    file: str
    old: str
    new: str
    until: str | None = None
    """The first release that needs no such change."""
    since: str | None = None
    """The first release that needs it."""

    def concerns(self, release: str) -> bool:
        """Return whether ``release`` needs the change."""
        number = _number(release)
        return (self.until is None or number < _number(self.until)) and (
            self.since is None or number >= _number(self.since)
        )


CHANGES = (
    # Timers of TCP count ticks. Debian's kernel for amd64 has 250 a second, and here the number is no setting.
    Change("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", "config HZ\n\tint\n\tdefault 250\n"),
    # Linux would mix random numbers of the host into its own at boot and at each reseed, and no run could be repeated.
    Change("arch/um/os-Linux/util.c", "return getrandom(buf, len, flags);", "return -1;"),
    # The clock would have steps of 256 ns, and timers would be 500 ns late. These are those of the real clock: 1 ns.
    Change("arch/um/include/linux/time-internal.h", "TIMER_MULTIPLIER 256\n", "TIMER_MULTIPLIER 1\n"),
    Change("arch/um/include/linux/time-internal.h", "TIMER_MIN_DELTA  500\n", "TIMER_MIN_DELTA  1\n"),
    # What the host does must not be a part of Linux's random numbers: an interrupt's moment and number are the host's.
    # From 7.0 on the end of each program is one.
    Change("kernel/irq/handle.c", "\tadd_interrupt_randomness(desc->irq_data.irq);\n", ""),
    # Who reads Linux's console would interrupt it. Linux waits until the text is written instead, while no time passes.
    # Later releases do so by themselves.
    Change("arch/um/os-Linux/irq.c", "return EPOLLOUT;", "return 0;", until="6.12"),
    Change(
        "arch/um/drivers/chan_kern.c",
        "err = os_set_fd_block(fd, 0);",
        "err = os_set_fd_block(fd, !chan->input);",
        until="6.12",
    ),
    # The host takes back a program's vector registers only as a whole. On processors with AMX the whole is larger than
    # the 2696 bytes that Linux keeps, and each run would end at its first program. What follows these bytes is AMX's
    # alone, and a program that never asked for it has zeros there. Words 64 and 65 name the parts in use.
    Change(
        "arch/x86/um/os-Linux/registers.c",
        "int save_i387_registers(",
        "static unsigned long whole_state[4096];\nstatic unsigned long whole_bytes;\n\nint save_i387_registers(",
        until="6.13",
    ),
    Change(
        "arch/x86/um/os-Linux/registers.c",
        "\t\tiov.iov_base = fp_regs;\n\t\tiov.iov_len = FP_SIZE * sizeof(unsigned long);\n"
        "\t\tif (ptrace(PTRACE_SETREGSET,",
        "\t\t__builtin_memcpy(whole_state, fp_regs, FP_SIZE * sizeof(unsigned long));\n"
        "\t\twhole_state[64] &= 0x2ff;\n"
        "\t\tiov.iov_base = whole_state;\n\t\tiov.iov_len = whole_bytes;\n"
        "\t\tif (ptrace(PTRACE_SETREGSET,",
        until="6.13",
    ),
    Change(
        "arch/x86/um/os-Linux/registers.c",
        "\tiov.iov_len = FP_SIZE * sizeof(unsigned long);\n"
        "\tif (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0)\n\t\thave_xstate_support = 1;\n",
        "\tiov.iov_base = whole_state;\n\tiov.iov_len = sizeof(whole_state);\n"
        "\tif (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0) {\n"
        "\t\thave_xstate_support = 1;\n\t\twhole_bytes = iov.iov_len;\n\t}\n"
        "\t__builtin_memset(whole_state, 0, sizeof(whole_state));\n",
        until="6.13",
    ),
    # To give back vector registers takes the host a tenth of a run on such a processor. The program has them already
    # if it was the last to stop, Linux has not written them since, and none of Linux's own code ran in its place.
    Change(
        "arch/x86/um/os-Linux/registers.c",
        "int get_fp_registers(int pid, unsigned long *regs)\n{\n\treturn save_fp_registers(pid, regs);\n}\n\n"
        "int put_fp_registers(int pid, unsigned long *regs)\n{\n\treturn restore_fp_registers(pid, regs);\n}\n",
        "int fp_known_of;\nstatic unsigned long fp_known[FP_SIZE];\n\n"
        "static int know(int err, int pid, unsigned long *regs)\n{\n\tfp_known_of = err ? 0 : pid;\n"
        "\t__builtin_memcpy(fp_known, regs, sizeof(fp_known));\n\treturn err;\n}\n\n"
        "int get_fp_registers(int pid, unsigned long *regs)\n{\n"
        "\treturn know(save_fp_registers(pid, regs), pid, regs);\n}\n\n"
        "int put_fp_registers(int pid, unsigned long *regs)\n{\n"
        "\tif (fp_known_of == pid && !__builtin_memcmp(fp_known, regs, sizeof(fp_known)))\n\t\treturn 0;\n"
        "\treturn know(restore_fp_registers(pid, regs), pid, regs);\n}\n",
        until="6.13",
    ),
    Change(
        "arch/um/os-Linux/skas/process.c",
        "void wait_stub_done(int pid)\n{\n\tint n, status, err;\n",
        "extern int fp_known_of;\n\nvoid wait_stub_done(int pid)\n{\n\tint n, status, err;\n\n\tfp_known_of = 0;\n",
        until="6.13",
    ),
    # Linux 7 took this function out of what every program finds in its memory. The hosts' program (rustix, in
    # crates/sockets) ends if it is not there.
    Change(
        "arch/x86/um/vdso/vdso.lds.S",
        "\t\t__vdso_time;\n",
        "\t\t__vdso_time;\n\t\t__vdso_getcpu;\n",
        since="7.0",
    ),
    Change(
        "arch/x86/um/vdso/um_vdso.c",
        "int __vdso_gettimeofday(",
        "long __vdso_getcpu(unsigned int *cpu, unsigned int *node, void *unused);\n"
        "long __vdso_getcpu(unsigned int *cpu, unsigned int *node, void *unused)\n"
        "{\n\tif (cpu)\n\t\t*cpu = 0;\n\tif (node)\n\t\t*node = 0;\n\treturn 0;\n}\n\n"
        "int __vdso_gettimeofday(",
        since="7.0",
    ),
)
"""All changes of Linux's source, each with its reason."""


def changes(release: str) -> list[Change]:
    """Return the changes that ``release`` needs."""
    return [change for change in CHANGES if change.concerns(release)]


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
