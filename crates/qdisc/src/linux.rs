//! The names of Linux's disciplines that are not simulated, so that an error says so and suggests no other one.

/// The disciplines of Linux up to 7.1 (`net/sched`, and iproute2's `q_*.c`) without those of the registry, and those
/// that releases before 6.9 had.
const NOT_SIMULATED: &[&str] = &[
    "atm",
    "blackhole",
    "bpf",
    "cbq",
    "cbs",
    "clsact",
    "dsmark",
    "etf",
    "gred",
    "hhf",
    "ingress",
    "mqprio",
    "multiq",
    "noop",
    "noqueue",
    "plug",
    "qfq",
    "skbprio",
    "taprio",
    "teql",
    "teql0",
];

/// Returns whether Linux has a discipline of this name that is not simulated. Call it for names that the registry does
/// not have.
#[must_use]
pub(crate) fn has(name: &str) -> bool {
    NOT_SIMULATED.contains(&name)
}

/// Returns whether the discipline is one of classes, which only the commands of a tree can make.
#[must_use]
pub(crate) fn has_classes(name: &str) -> bool {
    ["drr", "ets", "hfsc", "mq"].contains(&name)
}
