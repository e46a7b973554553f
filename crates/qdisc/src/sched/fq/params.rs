//! FQ's parameters as data: see [`super`].

use super::{BANDS, flows};
use crate::param::{Args, Digits, Link, Param, ParamSpec, bps, ms, secs, us};
use crate::{params, words};
use goodqueue_units::{Duration, Rate, Release};

/// The band of each priority. `prio` and Linux's `pfifo_fast` have the same default.
pub const PRIOMAP: Param<[u32; 16]> = Param::numbers("priomap", "band of each priority, from 0 to 15")
    .default([1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    .range(0, 2)
    .source("tc-prio(8)");

const LIMIT: Param<u32> = crate::param::LIMIT
    .default(10_000)
    .zero_is_a_value()
    .range(0, u32::MAX)
    .help("most packets that each band holds");
const FLOW_LIMIT: Param<u32> =
    Param::packets("flow_limit", "most packets that one flow holds").default(100).range(0, u32::MAX);
const BUCKETS: Param<u32> =
    Param::count("buckets", "number of buckets of the table of flows; rounded up to a power of two")
        .default(1024)
        .range(2, 1 << 18)
        .zero_is_unset();
const ORPHAN_MASK: Param<u32> =
    Param::count("orphan_mask", "the part of the hash that is the flow of a packet without a socket")
        .default(1023)
        .range(0, u32::MAX);
const PACING: Param<bool> =
    Param::flag("pacing", "flows are held to maxrate and to the rates of their sockets").default(true);
const QUANTUM: Param<Option<u64>> = Param::bytes(
    "quantum",
    "bytes that a flow may send per round; less than 256 counts as 256; unset: two full frames",
)
.range(1, MOST_QUANTUM)
.digits(Digits::Any);
const INITIAL_QUANTUM: Param<Option<u64>> =
    Param::bytes("initial_quantum", "bytes that a new flow may send at once; unset: ten full frames")
        .range(0, i32::MAX as u64)
        .digits(Digits::Any);
const MAXRATE: Param<Option<Rate>> =
    Param::rate("maxrate", "highest rate of each flow; unset: none").range(bps(8), MOST_RATE);
const LOW_RATE_THRESHOLD: Param<Rate> =
    Param::rate("low_rate_threshold", "rate up to which a flow's packets leave one by one")
        .default(bps(550_000))
        .no_percent()
        .range(bps(8), MOST_RATE);
const REFILL_DELAY: Param<Duration> =
    Param::time("refill_delay", "time after which an empty flow has a full quantum again, in steps of 4 ms")
        .default(ms(40))
        .range(us(0), secs(4294));
const TIMER_SLACK: Param<Duration> =
    Param::time("timer_slack", "lateness of the timer").default(us(10)).range(us(0), secs(4)).nanoseconds();
const HORIZON: Param<Duration> =
    Param::time("horizon", "longest time by which a departure time may lie in the future")
        .default(secs(10))
        .range(us(0), secs(4294));
const OFFLOAD_HORIZON: Param<Duration> =
    Param::time("offload_horizon", "time by which the device may hold packets; no such device is modelled")
        .default(us(0))
        .range(us(0), us(0));
const CE_THRESHOLD: Param<Option<Duration>> = Param::time(
    "ce_threshold",
    "mark packets that leave later than they could by more than this; unset: off",
)
.range(us(0), secs(4294));
const NUMBER_OF_BANDS: Param<u32> =
    Param::count("bands", "number of bands, before priomap").default(3).range(3, 3).digits(Digits::Decimal);
const WEIGHTS: Param<[u32; BANDS]> =
    Param::numbers("weights", "bytes that each band may send in its turn while others wait")
        .default([589_824, 196_608, 65_536])
        .range(16_384, i32::MAX as u32)
        .since(Release::Linux6_12);

/// The kernel keeps rates as 32 bits of bytes per second, the largest of which means none.
const MOST_RATE: Rate = bps(8 * (u32::MAX as u64 - 1));

words! {
    /// What becomes of a packet whose departure time is beyond the horizon.
    enum Beyond { Drop = "horizon_drop", Cap = "horizon_cap" }
}
const BEYOND: Param<Beyond> =
    Param::word("beyond", "a packet beyond the horizon is dropped, or leaves at the horizon", "horizon_drop");

pub(super) const PARAMS: &[ParamSpec] = params! { from "tc-fq(8)" =>
    LIMIT, FLOW_LIMIT, BUCKETS, ORPHAN_MASK, NUMBER_OF_BANDS, PRIOMAP.since(Release::Linux6_12), WEIGHTS, PACING, QUANTUM, INITIAL_QUANTUM,
    MAXRATE, LOW_RATE_THRESHOLD, REFILL_DELAY, TIMER_SLACK, HORIZON, BEYOND, OFFLOAD_HORIZON, CE_THRESHOLD,
    Param::refused("defrate", "Linux ignores it; maxrate limits each flow"),
};

/// Linux's bounds of a quantum.
const LEAST_QUANTUM: u64 = 256;
const MOST_QUANTUM: u64 = 1 << 20;

/// Rounds `buckets` up to a power of two, as tc does.
pub(super) fn settle(args: &mut Args) {
    args.put(&BUCKETS, args.get(&BUCKETS).next_power_of_two());
}

/// The parameters in the units in which they are used: times in ns, rates in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) limit: u32,
    pub(super) flow_limit: u32,
    pub(super) buckets: u32,
    pub(super) orphan_mask: u32,
    pub(super) priomap: [u8; 16],
    pub(super) weights: [i32; BANDS],
    pub(super) pacing: bool,
    pub(super) quantum: i32,
    pub(super) initial_quantum: i32,
    pub(super) maxrate: Option<u64>,
    pub(super) low_rate_threshold: u64,
    /// In jiffies.
    pub(super) refill_delay: u64,
    pub(super) timer_slack: u64,
    pub(super) horizon: u64,
    pub(super) horizon_drop: bool,
    pub(super) ce_threshold: u64,
    /// Whether a throttled flow waits no longer than for its earliest packet. Before 7.3 it waits as long as it began
    /// to.
    pub(super) moves_timer: bool,
}

impl Settings {
    /// Returns the parameters of `args` on `link`.
    pub(super) fn new(args: &Args, link: &Link) -> Self {
        let frames = |count: u64| count * u64::from(link.mtu);
        let bytes = |rate: Rate| rate.as_bps() / 8;
        Self {
            limit: args.get(&LIMIT),
            flow_limit: args.get(&FLOW_LIMIT),
            buckets: args.get(&BUCKETS),
            orphan_mask: args.get(&ORPHAN_MASK),
            priomap: args.get(&PRIOMAP).map(|band| band as u8),
            weights: args.get(&WEIGHTS).map(|weight| weight as i32),
            pacing: args.get(&PACING),
            quantum: args.get(&QUANTUM).unwrap_or_else(|| frames(2)).clamp(LEAST_QUANTUM, MOST_QUANTUM)
                as i32,
            initial_quantum: args.get(&INITIAL_QUANTUM).unwrap_or_else(|| frames(10)) as i32,
            maxrate: args.get(&MAXRATE).map(bytes),
            low_rate_threshold: bytes(args.get(&LOW_RATE_THRESHOLD)),
            refill_delay: args.get(&REFILL_DELAY).as_nanos().div_ceil(flows::JIFFY_NS),
            timer_slack: args.get(&TIMER_SLACK).as_nanos(),
            horizon: args.get(&HORIZON).as_nanos(),
            horizon_drop: args.get(&BEYOND) == Beyond::Drop,
            ce_threshold: args.get(&CE_THRESHOLD).map_or(u64::MAX, Duration::as_nanos),
            moves_timer: args.release() >= Release::Linux7_3,
        }
    }
}
