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


_MORE_PAGES = (
    "\tif (is_write && !(vma->vm_flags & VM_SHARED)) {\n"
    "\t\tunsigned long more = max(vma->vm_start, address & ~0x7fffUL);\n"
    "\t\tunsigned long end = min(vma->vm_end, (address | 0x7fffUL) + 1);\n\n"
    "\t\tfor (; more < end; more += PAGE_SIZE) {\n"
    "\t\t\tpte = pte_offset_kernel(pmd, more);\n"
    "\t\t\tif (pte_present(*pte) && pte_write(*pte) && pte_dirty(*pte))\n\t\t\t\tcontinue;\n"
    "\t\t\tif (handle_mm_fault(vma, more, flags & (FAULT_FLAG_USER | FAULT_FLAG_WRITE), NULL) & VM_FAULT_ERROR)\n"
    "\t\t\t\tbreak;\n"
    "\t\t}\n\t}\n"
)

CHANGES = (
    # Timers of TCP count ticks. Debian's kernel for amd64 has 250 a second, and here the number is no setting.
    Change("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", "config HZ\n\tint\n\tdefault 250\n"),
    # Linux would mix random numbers of the host into its own at boot and at each reseed, and no run could be repeated.
    Change("arch/um/os-Linux/util.c", "return getrandom(buf, len, flags);", "return -1;"),
    # The clock would have steps of 256 ns, and timers would be 500 ns late. These are those of the real clock: 1 ns.
    Change("arch/um/include/linux/time-internal.h", "TIMER_MULTIPLIER 256\n", "TIMER_MULTIPLIER 1\n"),
    Change("arch/um/include/linux/time-internal.h", "TIMER_MIN_DELTA  500\n", "TIMER_MIN_DELTA  1\n"),
    # A timer would fire 1 ns after its time. What waits for several in a row, as each round trip does, would be late.
    Change("arch/um/kernel/time.c", "\tdelta += 1;\n\n", ""),
    # To read the clock would take a step of it, and each system call that fails 1 us, so that a program that only tries
    # again lets time pass. Each packet would be late by that: to find nothing more to read is such a failure. Now
    # nothing takes time unless a program tries 1000 times at one instant.
    Change(
        "arch/um/kernel/time.c",
        "void time_travel_ndelay(unsigned long nsec)\n{\n",
        "bool time_travel_is_stuck(void);\nbool time_travel_is_stuck(void)\n{\n"
        "\tstatic unsigned long long last;\n\tstatic unsigned int tries;\n\n"
        "\ttries = time_travel_time == last ? tries + 1 : 0;\n\tlast = time_travel_time;\n"
        "\treturn tries >= 1000;\n}\n\n"
        "void time_travel_ndelay(unsigned long nsec)\n{\n",
    ),
    Change(
        "arch/um/kernel/time.c",
        "\t\t    !time_travel_ext_waiting)\n\t\t\ttime_travel_update_time_rel(TIMER_MULTIPLIER);\n",
        "\t\t    !time_travel_ext_waiting && time_travel_is_stuck())\n"
        "\t\t\ttime_travel_update_time_rel(TIMER_MULTIPLIER);\n",
    ),
    Change(
        "arch/um/kernel/skas/syscall.c",
        "void handle_syscall(",
        "bool time_travel_is_stuck(void);\n\nvoid handle_syscall(",
    ),
    Change(
        "arch/um/kernel/skas/syscall.c",
        "\t\t\tum_udelay(1);\n",
        "\t\t\tif (time_travel_is_stuck())\n\t\t\t\tum_udelay(1);\n",
    ),
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
    # A traced process outlives who traces it. After a run that is killed it would go on by itself, and keep a processor
    # busy.
    Change(
        "arch/um/os-Linux/skas/process.c",
        "(void *) PTRACE_O_TRACESYSGOOD) < 0) {",
        "(void *) (PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) < 0) {",
    ),
    Change(
        "arch/um/os-Linux/skas/process.c",
        "(void *)PTRACE_O_TRACESYSGOOD) < 0) {",
        "(void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) < 0) {",
        until="6.12",
    ),
    # Debian's kernel has drivers of WLAN meshes and of tunnels, so each segment has room for their headers. The memory
    # that a segment takes follows from that, and with it a socket's first buffer: 87040 bytes, and 46080 without them.
    Change("include/linux/netdevice.h", "# define LL_MAX_HEADER 32\n", "# define LL_MAX_HEADER 128\n"),
    Change(
        "include/linux/netdevice.h", "#define MAX_HEADER LL_MAX_HEADER\n", "#define MAX_HEADER (LL_MAX_HEADER + 48)\n"
    ),
    # Each page that a program touches for the first time stops it, which takes longer than to copy ten pages. So who
    # writes to memory of its own gets all pages of the 32 KiB around. Who reads from a file gets 64 KiB.
    Change(
        "arch/um/kernel/trap.c",
        "#endif\n\nout:\n\tmmap_read_unlock(mm);\n",
        f"#endif\n{_MORE_PAGES}\nout:\n\tmmap_read_unlock(mm);\n",
        since="6.12",
    ),
    # 6.1 shows the host one page of those that it has mapped, and stops at each of the others again.
    Change(
        "arch/um/kernel/trap.c",
        "#endif\n\tflush_tlb_page(vma, address);\nout:\n",
        f"#endif\n{_MORE_PAGES}"
        "\tflush_tlb_range(vma, max(vma->vm_start, address & ~0xffffUL),"
        " min(vma->vm_end, (address | 0xffffUL) + 1));\n"
        "out:\n",
        until="6.12",
    ),
    # The host would learn of each of these pages only when the program touches it, and interrupt it for that.
    Change(
        "arch/um/kernel/skas/stub.c",
        "MAP_SHARED | MAP_FIXED,",
        "MAP_SHARED | MAP_FIXED | MAP_POPULATE,",
        since="6.12",
    ),
    Change(
        "arch/um/os-Linux/skas/mem.c",
        "MAP_SHARED | MAP_FIXED, phys_fd,",
        "MAP_SHARED | MAP_FIXED | MAP_POPULATE, phys_fd,",
        until="6.12",
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
    # Where Linux's disciplines draw random numbers, they draw from the simulator's generator once somebody has written
    # its state to /sys/module/kernel/parameters/net_draws_high and, then, net_draws_low. Nothing changes without that.
    # The hash of flows has the key 0 then. A discipline's own key is drawn when it hashes its first packet, and not
    # when it is made, as in the simulator. (PCG XSL-RR 128/64 MCG; the finaliser is that of splitmix64.)
    Change("net/sched/Makefile", "obj-y\t:= sch_generic.o", "ccflags-y += -DNET_DRAWS\nobj-y\t:= sch_generic.o"),
    Change(
        "include/net/sch_generic.h",
        "struct Qdisc_ops;\nstruct qdisc_walker;\n",
        "#ifdef NET_DRAWS\n#include <linux/random.h>\n#include <linux/prandom.h>\n\n"
        "extern unsigned long long net_draws_low;\nextern unsigned int net_draws_part;\n"
        "u64 net_draw(void);\nvoid net_draw_bytes(void *to, size_t count);\n"
        "u32 net_draw_hash(const struct sk_buff *skb, const void *key);\n\n"
        "static inline u32 net_draw_below(u32 n)\n{\n\treturn (u64)(u32)net_draw() * n >> 32;\n}\n\n"
        "#define get_random_u16() (net_draws_low ? (u16)net_draw() : get_random_u16())\n"
        "#define get_random_u32() (net_draws_low ? (u32)net_draw() : get_random_u32())\n"
        "#define get_random_u32_below(n) (net_draws_low ? net_draw_below(n) : get_random_u32_below(n))\n"
        "#define prandom_u32_max(n) (net_draws_low ? net_draw_below(n) : prandom_u32_max(n))\n"
        "#define prandom_u32_state(s) (net_draws_low && !(s)->s1 ? (u32)net_draw() : prandom_u32_state(s))\n"
        "#define get_random_bytes(to, n) (net_draws_low ? net_draw_bytes(to, n) : get_random_bytes(to, n))\n"
        "#define skb_get_hash_perturb(skb, k) (net_draws_low ? net_draw_hash(skb, k) : skb_get_hash_perturb(skb, k))\n"
        "#endif\n\nstruct Qdisc_ops;\nstruct qdisc_walker;\n",
    ),
    Change(
        "net/core/flow_dissector.c",
        "static __always_inline void __flow_hash_secret_init(void)\n{\n"
        "\tnet_get_random_once(&hashrnd, sizeof(hashrnd));\n",
        "#include <linux/moduleparam.h>\n#include <linux/rtnetlink.h>\n\n"
        "unsigned long long net_draws_high, net_draws_low;\n"
        "core_param(net_draws_high, net_draws_high, ullong, 0644);\n"
        "core_param(net_draws_low, net_draws_low, ullong, 0644);\n"
        "unsigned int net_draws_part;\nstatic unsigned long long net_parts_high[16], net_parts_low[16];\n"
        "module_param_array(net_parts_high, ullong, NULL, 0644);\n"
        "module_param_array(net_parts_low, ullong, NULL, 0644);\nu64 net_draw(void);\n"
        "void net_draw_bytes(void *to, size_t count);\n"
        "u32 net_draw_hash(const struct sk_buff *skb, const void *key);\n\n"
        "u64 net_draw(void)\n{\n"
        "\tbool own = net_parts_low[net_draws_part];\n"
        "\tunsigned long long *high = own ? &net_parts_high[net_draws_part] : &net_draws_high;\n"
        "\tunsigned long long *low = own ? &net_parts_low[net_draws_part] : &net_draws_low;\n"
        "\tunsigned __int128 state = (unsigned __int128)*high << 64 | *low;\n\n"
        "\tif (rtnl_is_locked())\n\t\treturn 0;\n"
        "\tstate *= (unsigned __int128)0x2360ed051fc65da4ULL << 64 | 0x4385df649fccf645ULL;\n"
        "\t*high = state >> 64;\n\t*low = state;\n\treturn ror64(*high ^ *low, *high >> 58);\n}\n\n"
        "void net_draw_bytes(void *to, size_t count)\n{\n\tu64 *key = to, drawn;\n\n"
        "\tif (count == 16 && rtnl_is_locked()) {\n\t\tkey[0] = 0;\n\t\tkey[1]++;\n\t\treturn;\n\t}\n"
        "\tfor (; count; count -= min_t(size_t, count, 8), to += 8) {\n\t\tdrawn = net_draw();\n"
        "\t\tmemcpy(to, &drawn, min_t(size_t, count, 8));\n\t}\n}\n\n"
        "u32 net_draw_hash(const struct sk_buff *skb, const void *perturbation)\n{\n"
        "\tu64 *key = (u64 *)perturbation, left = key[0] ? 0 : key[1], x;\n\n"
        "\tfor (; left; left--) {\n\t\tkey[0] = net_draw();\n\t\tkey[1] = net_draw();\n\t}\n"
        "\tx = (skb_get_hash((struct sk_buff *)skb) ^ key[0]) + key[1];\n"
        "\tx = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;\n\tx = (x ^ x >> 27) * 0x94d049bb133111ebULL;\n"
        "\treturn x ^ x >> 31;\n}\n\n"
        "static __always_inline void __flow_hash_secret_init(void)\n{\n"
        "\tif (net_draws_low)\n\t\tmemset(&hashrnd, 0, sizeof(hashrnd));\n\telse\n"
        "\t\tnet_get_random_once(&hashrnd, sizeof(hashrnd));\n",
    ),
    # In the simulator each part of a path has a generator of its own. Here a device's group is the number of its part,
    # whose state somebody has written to /sys/module/flow_dissector/parameters/net_parts_high and net_parts_low. Group
    # 0, and a part without a state, has the generator above.
    Change(
        "net/core/dev.c",
        "static int dev_qdisc_enqueue(",
        "extern unsigned int net_draws_part;\n\nstatic int dev_qdisc_enqueue(",
    ),
    Change(
        "net/core/dev.c",
        "\trc = q->enqueue(skb, q, to_free) & NET_XMIT_MASK;\n\tif (rc == NET_XMIT_SUCCESS)\n\t\ttrace_qdisc_enqueue(",
        "\tnet_draws_part = txq->dev->group & 15;\n"
        "\trc = q->enqueue(skb, q, to_free) & NET_XMIT_MASK;\n\tif (rc == NET_XMIT_SUCCESS)\n\t\ttrace_qdisc_enqueue(",
    ),
    Change(
        "net/sched/sch_generic.c",
        "\t*packets = 1;\n\tif (unlikely(!skb_queue_empty(&q->gso_skb))) {\n",
        "\tif (txq->dev)\n\t\tnet_draws_part = txq->dev->group & 15;\n"
        "\t*packets = 1;\n\tif (unlikely(!skb_queue_empty(&q->gso_skb))) {\n",
    ),
    Change(
        "net/sched/sch_sfq.c",
        "\tget_random_bytes(&nkey, sizeof(nkey));\n\trcu_read_lock();\n",
        "\tnet_draws_part = qdisc_dev(sch)->group & 15;\n"
        "\tget_random_bytes(&nkey, sizeof(nkey));\n\trcu_read_lock();\n",
    ),
    Change(
        "net/sched/cls_flow.c",
        "\tnet_get_random_once(&flow_keys_secret, sizeof(flow_keys_secret));\n",
        "\tif (!net_draws_low)\n\t\tnet_get_random_once(&flow_keys_secret, sizeof(flow_keys_secret));\n",
    ),
    Change(
        "net/sched/sch_netem.c",
        "\tvalue = get_random_u32();\n",
        "\tif (net_draws_low && !state->last)\n\t\tstate->last = get_random_u32();\n\tvalue = get_random_u32();\n",
        until="6.7",
    ),
    Change(
        "net/sched/sch_netem.c",
        "\tvalue = prandom_u32_state(s);\n",
        "\tif (net_draws_low && !state->last)\n\t\tstate->last = get_random_u32();\n\tvalue = prandom_u32_state(s);\n",
        since="6.7",
    ),
    # A program's sockets share the pages that their data is copied to. One program is the hosts of all flows here, and
    # hosts in reality do not share memory. A segment that two pages share has two fragments, of which a packet in a
    # receiver's buffer has 17 at most.
    Change("include/net/sock.h", "return &current->task_frag;", "return &sk->sk_frag;"),
    # The timer of ACKs that are held back has slack: Linux fires it early with another timer of the same kernel. One
    # kernel has all hosts here, and in reality each host has its own: there the timer fires when the slack is over.
    Change(
        "net/ipv4/tcp_input.c",
        "hrtimer_start_range_ns(&tp->compressed_ack_timer, ns_to_ktime(delay),\n",
        "hrtimer_start_range_ns(&tp->compressed_ack_timer,\n"
        "\t\t\t       ns_to_ktime(delay + READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_comp_sack_slack_ns)),\n"
        "\t\t\t       0 *\n",
    ),
    # BBR draws the phase in which it begins to probe. A flow has dice of its own once somebody has written their states
    # to /sys/module/tcp_bbr/parameters/states, by the flow's number: the low bits of its listening port. The dice are
    # those of the simulator (Lehmer's generator with 48271).
    Change(
        "net/ipv4/tcp_bbr.c",
        "static void bbr_reset_startup_mode(struct sock *sk)\n",
        "static unsigned int bbr_states[64];\n"
        "module_param_array_named(states, bbr_states, uint, NULL, 0644);\n\n"
        "static u32 bbr_phase(struct sock *sk, u32 drawn)\n{\n"
        "\tu16 near = inet_sk(sk)->inet_num, far = ntohs(inet_sk(sk)->inet_dport);\n"
        "\tu16 flow = (near & 0x8000 ? near : far) & 0x7ff;\n\n"
        "\tif (flow >= ARRAY_SIZE(bbr_states) || !bbr_states[flow])\n\t\treturn drawn;\n"
        "\tbbr_states[flow] = (u64)bbr_states[flow] * 48271 % 0x7fffffff;\n"
        "\treturn (u64)(bbr_states[flow] - 1) * bbr_cycle_rand / 0x7ffffffe;\n}\n\n"
        "static void bbr_reset_startup_mode(struct sock *sk)\n",
    ),
    Change(
        "net/ipv4/tcp_bbr.c",
        "CYCLE_LEN - 1 - prandom_u32_max(bbr_cycle_rand);\n",
        "CYCLE_LEN - 1 - bbr_phase(sk, prandom_u32_max(bbr_cycle_rand));\n",
        until="6.12",
    ),
    Change(
        "net/ipv4/tcp_bbr.c",
        "CYCLE_LEN - 1 - get_random_u32_below(bbr_cycle_rand);\n",
        "CYCLE_LEN - 1 - bbr_phase(sk, get_random_u32_below(bbr_cycle_rand));\n",
        since="6.12",
    ),
    # From 6.7 on netem has a generator of its own. Without `seed` its numbers are those of all others again.
    Change(
        "net/sched/sch_netem.c",
        "\tq->prng.seed = get_random_u64();\n\tprandom_seed_state(&q->prng.prng_state, q->prng.seed);\n",
        "\tq->prng.seed = get_random_u64();\n\tprandom_seed_state(&q->prng.prng_state, q->prng.seed);\n"
        "\tif (net_draws_low)\n\t\tq->prng.prng_state.s1 = 0;\n",
        since="6.7",
    ),
    # netem adds a packet's transmission time in whole nanoseconds, and forgets the rest of each. The times of all
    # packets add up to the exact one now, as those of the link before it do.
    Change("net/sched/sch_netem.c", "struct netem_sched_data {\n", "struct netem_sched_data {\n\tu64 owed;\n"),
    Change(
        "net/sched/sch_netem.c",
        "static u64 packet_time_ns(u64 len, const struct netem_sched_data *q)\n",
        "static u64 packet_time_ns(u64 len, struct netem_sched_data *q)\n",
    ),
    Change(
        "net/sched/sch_netem.c",
        "\treturn div64_u64(len * NSEC_PER_SEC, q->rate);\n",
        "\tif (net_draws_low) {\n\t\tu64 exact = len * NSEC_PER_SEC + q->owed;\n\n"
        "\t\tq->owed = exact % q->rate;\n\t\treturn exact / q->rate;\n\t}\n"
        "\treturn div64_u64(len * NSEC_PER_SEC, q->rate);\n",
    ),
    # A link for comparisons packet by packet. htb lets packets out early by the time of one byte, and asks no empty
    # discipline for a packet. cbs asks, but computes in bytes. Without `locredit` cbs is a serial link now: each packet
    # takes its own time. `sendslope` is the rest of the rate. Often a packet arrives at the very instant at which the
    # link is free. The link asks first, as the simulator's does, because Linux sends before it receives. A rest below
    # 1 ns is owed to the next packet, as in the simulator.
    Change(
        "net/sched/sch_cbs.c",
        "\t/* The previous packet is still being sent */\n",
        "\tif (!q->locredit) {\n"
        "\t\ts64 bps = q->idleslope * 8 + div64_s64(q->sendslope, BYTES_PER_KBIT);\n\n"
        "\t\tif (now < q->last) {\n"
        "\t\t\tqdisc_watchdog_schedule_ns(&q->watchdog, q->last);\n\t\t\treturn NULL;\n\t\t}\n"
        "\t\tskb = cbs_child_dequeue(sch, qdisc);\n\t\tif (skb) {\n"
        "\t\t\ts64 nanobits = qdisc_pkt_len(skb) * 8 * NSEC_PER_SEC - q->credits;\n\n"
        "\t\t\tq->last = now + div64_s64(nanobits, bps);\n"
        "\t\t\tq->credits = -(nanobits - (q->last - now) * bps);\n\t\t}\n"
        "\t\treturn skb;\n\t}\n"
        "\t/* The previous packet is still being sent */\n",
    ),
)
"""All changes of Linux's source, each with its reason."""


def changes(release: str) -> list[Change]:
    """Return the changes that ``release`` needs."""
    return [change for change in CHANGES if change.concerns(release)]


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
