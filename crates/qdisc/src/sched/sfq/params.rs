//! SFQ's parameters as data: see [`super`]. All of them are fixed, because Linux's sfq has no change operation.

use crate::aqm::red::{AVPKT, BURST, HARDDROP, MOST_BYTES, PROBABILITY};
use crate::param::{Digits, ECN, Param, ParamSpec};
use crate::params;

/// The most packets of a flow. Linux lowers a larger number.
pub(super) const MOST_DEPTH: u32 = 127;
/// The most flows. Linux lowers a larger number.
pub(super) const MOST_FLOWS: u32 = 65_408;

pub(super) const LIMIT: Param<u32> = crate::param::LIMIT
    .default(127)
    .range(2, u32::MAX)
    .zero_is_a_value()
    .help("most packets that all flows hold together; depth times flows, if that is less");
pub(super) const DEPTH: Param<u32> = Param::packets("depth", "most packets that one flow holds")
    .default(127)
    .range(1, u32::MAX)
    .zero_is_unset();
pub(super) const FLOWS: Param<u32> = Param::count("flows", "most flows that hold packets at the same time")
    .default(128)
    .range(1, u32::MAX)
    .zero_is_unset();
pub(super) const DIVISOR: Param<u32> =
    Param::count("divisor", "number of buckets to which flows are hashed; a power of two")
        .default(1024)
        .range(1, 65_536)
        .zero_is_unset();
pub(super) const QUANTUM: Param<Option<u64>> =
    Param::bytes("quantum", "bytes that a flow may send per round; unset: a full frame of the link")
        .range(1, 1_048_576)
        .zero_is_unset();
pub(super) const PERTURB: Param<u32> =
    Param::count("perturb", "seconds between two changes of the hash; 0: never")
        .default(0)
        .range(0, 1_000_000);
pub(super) const HEADDROP: Param<bool> =
    Param::flag("headdrop", "drop a flow's oldest packet instead of its newest");
pub(super) const REDFLOWLIMIT: Param<Option<u64>> = Param::bytes(
    "redflowlimit",
    "run RED in each flow; if max is unset, it is a quarter of these bytes. Unset: no RED",
)
.range(1, MOST_BYTES)
.digits(Digits::Any)
.zero_is_unset();
pub(super) const MIN: Param<Option<u64>> =
    Param::bytes("min", "RED: average above which packets are dropped at random; unset: a third of max")
        .range(1, MOST_BYTES)
        .digits(Digits::Any)
        .zero_is_unset();
pub(super) const MAX: Param<Option<u64>> =
    Param::bytes("max", "RED: average from which every packet is dropped; unset: a quarter of redflowlimit")
        .range(1, MOST_BYTES)
        .digits(Digits::Any)
        .zero_is_unset();

/// The parameters of `tc`'s line.
pub(super) const PARAMS: &[ParamSpec] = &all_fixed(*params! { from "tc-sfq(8)" =>
    LIMIT, DEPTH, FLOWS.source("Linux 6.1 (golden traces); tc-sfq(8) says 127"), DIVISOR, QUANTUM, PERTURB, HEADDROP,
    REDFLOWLIMIT, MIN, MAX, PROBABILITY.help("RED: drop probability at max"),
    AVPKT.help("RED: average packet, for burst"),
    BURST.help("RED: packets that may arrive at once; unset: (2 min + max) / (3 avpkt)"),
    ECN.help("RED: mark ECN-capable packets instead of dropping them"),
    HARDDROP.help("RED: with ecn, drop from max on nevertheless"),
});

const fn all_fixed<const N: usize>(mut params: [ParamSpec; N]) -> [ParamSpec; N] {
    let mut at = 0;
    while at < N {
        params[at].fixed = true;
        at += 1;
    }
    params
}
