//! `DualPI2`'s parameters as data, and the controller's constants that follow from them: see [`super`].

use crate::param::{Args, Error, Param, ParamSpec, TimeOrPackets, ms, us};
use crate::{params, words};
use alloc::format;
use goodqueue_units::Duration;

/// Linux takes gains in 256ths of 1/s.
const GAIN_SCALE: f64 = 256.0;
const GREATEST_GAIN: f64 = 65_535.0;
/// Ratio of the largest to the typical RTT that tc assumes.
const MAX_TO_TYPICAL: u64 = 6;

const MAN: &str = "tc-dualpi2(8)";
const APPENDIX: &str = "RFC 9332, A.1";
const EITHER: &str = "tc-dualpi2(8); RFC 9332, A.1";

/// Parameters of one variant only.
const OF_LINUX: [&str; 6] = [
    STEP_THRESH.name(),
    MIN_QLEN_STEP.name(),
    ON_OVERLOAD.name(),
    DROP_AT.name(),
    L4S.name(),
    TYPICAL_RTT.name(),
];
const OF_RFC9332: [&str; 5] = [MIN_TH.name(), RANGE.name(), TH_LEN.name(), SCHEDULER.name(), TSHIFT.name()];

words! {
    pub(super) enum Variant { Linux = "linux", Rfc9332 = "rfc9332" }
    pub(super) enum OnOverload { Drop = "drop_on_overload", Overflow = "overflow" }
    pub(super) enum DropAt { Dequeue = "drop_dequeue", Enqueue = "drop_enqueue" }
    pub(super) enum L4s { Ect1 = "l4s_ect", Any = "any_ect", Ect0 = "ect0" }
    pub(super) enum Scheduler { Weighted = "wrr", TimeShiftedFifo = "ts_fifo" }
}

pub(super) const LIMIT: Param<Option<u32>> =
    Param::packets("limit", "most packets that both queues hold together; unset: no limit in packets")
        .by_variant([Some(10_000), None])
        .source(MAN);
pub(super) const MEMLIMIT: Param<Option<u64>> = Param::bytes(
    "memlimit",
    "most memory that both queues hold together; unset: two frames per packet of limit; rfc9332: 250 ms in bytes",
)
.range(1, 4_294_967_295)
.source("sch_dualpi2; RFC 9332, A.1");
pub(super) const COUPLING_FACTOR: Param<u32> = Param::count(
    "coupling_factor",
    "k: the L4S queue marks k times as often as p', classic drops with p' squared",
)
.default(2)
.range(1, 255);
const TARGET: Param<Duration> =
    Param::time("target", "queue delay that the controller steers to").default(ms(15));
const TUPDATE: Param<Option<Duration>> = Param::time(
    "tupdate",
    "time between two updates of p'; unset: the smaller of target and a third of max_rtt",
)
.by_variant([Some(ms(16)), None]);
const ALPHA: Param<Option<f64>> = Param::real(
    "alpha",
    "weight of the delay's distance from target, in 1/s; unset: 0.1 tupdate / max_rtt^2",
)
.by_variant([Some(41.0 / GAIN_SCALE), None])
.range(0.0, GREATEST_GAIN);
const BETA: Param<Option<f64>> =
    Param::real("beta", "weight of the delay's change, in 1/s; unset: 0.3 / max_rtt")
        .by_variant([Some(819.0 / GAIN_SCALE), None])
        .range(0.0, GREATEST_GAIN);
const MAX_RTT: Param<Option<Duration>> = Param::time(
    "max_rtt",
    "largest expected round-trip time; linux: target, tupdate, alpha and beta follow from it, and the line shows \
     them instead",
)
.by_variant([None, Some(ms(100))]);
const TYPICAL_RTT: Param<Option<Duration>> =
    Param::time("typical_rtt", "as max_rtt; a sixth of max_rtt unless both are set").source(MAN);
pub(super) const STEP_THRESH: Param<Option<TimeOrPackets>> = Param::time_or_packets(
    "step_thresh",
    "time or packets in the L4S queue from which every packet is marked",
)
.by_variant([Some(TimeOrPackets::Time(ms(1))), None])
.source(MAN);
pub(super) const MIN_QLEN_STEP: Param<Option<u32>> = Param::packets(
    "min_qlen_step",
    "the step applies to an L4S packet only if it finds at least so many packets on arrival",
)
.by_variant([Some(0), None])
.range(0, 1_000_000_000)
.source(MAN);
pub(super) const ON_OVERLOAD: Param<Option<OnOverload>> =
    Param::word("on_overload", "if k p' > 1: drop L4S packets too, or hold p' at 1/k", "drop_on_overload")
        .only_in_variant(0)
        .source(MAN);
pub(super) const DROP_AT: Param<Option<DropAt>> =
    Param::word("drop_at", "judge packets as they leave or as they arrive", "drop_dequeue")
        .only_in_variant(0)
        .source(MAN);
pub(super) const L4S: Param<Option<L4s>> =
    Param::word(
        "l4s",
        "what the L4S queue takes: ECT(1) and CE, all of ECT(0), ECT(1) and CE, or ECT(0) and CE, for which Linux has a \
         mask and tc no word",
        "l4s_ect",
    )
    .only_in_variant(0)
    .source(MAN);
const CLASSIC_PROTECTION: Param<f64> = Param::percent(
    "classic_protection",
    "least share of the link for the classic queue; linux: whole percents",
)
.default(10.0)
.by_variant([10.0, 6.25])
.source("tc-dualpi2(8); RFC 9332, 4.2.2: 1/16");
const SPLIT_GSO: Param<Option<bool>> =
    Param::flag("split_gso", "split merged packets on arrival, which is the default").unset().source(MAN);
pub(super) const MIN_TH: Param<Option<Duration>> =
    Param::time("min_th", "time in the L4S queue from which the ramp rises from 0")
        .by_variant([None, Some(us(800))])
        .source(APPENDIX);
pub(super) const RANGE: Param<Option<Duration>> =
    Param::time("range", "time from the start of the ramp to its end, where every packet is marked")
        .by_variant([None, Some(us(400))])
        .source(APPENDIX);
pub(super) const TH_LEN: Param<Option<u32>> =
    Param::packets("th_len", "the ramp does not apply while at most so many packets stay in the L4S queue")
        .by_variant([None, Some(1)])
        .range(0, 1_000_000_000)
        .source(APPENDIX);
pub(super) const SCHEDULER: Param<Option<Scheduler>> = Param::choice(
    "scheduler",
    "wrr: by weights; ts_fifo: the packet that has waited longest, with tshift added to the wait of L4S packets",
    "wrr",
)
.only_in_variant(1)
.source("RFC 9332, 4.2.2");
pub(super) const TSHIFT: Param<Option<Duration>> =
    Param::time("tshift", "time that ts_fifo adds to the age of L4S packets")
        .by_variant([None, Some(ms(50))])
        .source("RFC 9332, 4.2.2");
const VARIANT: Param<Variant> =
    Param::choice("variant", "which DualPI2: Linux's, or the RFC's pseudocode", "linux")
        .fixed()
        .source("mainline Linux; RFC 9332, Appendix A");

pub(super) const PARAMS: &[ParamSpec] = params! { from EITHER =>
    LIMIT, MEMLIMIT, COUPLING_FACTOR, TARGET, TUPDATE, ALPHA, BETA, MAX_RTT, TYPICAL_RTT, STEP_THRESH, MIN_QLEN_STEP,
    ON_OVERLOAD, DROP_AT, L4S, CLASSIC_PROTECTION, SPLIT_GSO, MIN_TH, RANGE, TH_LEN, SCHEDULER, TSHIFT, VARIANT,
};

/// Refuses a parameter that has no meaning in the chosen variant.
pub(super) fn refuse_of_the_other_variant(args: &Args) -> Result<(), Error> {
    let (foreign, home) =
        if is_rfc9332(args) { (&OF_LINUX[..], "linux") } else { (&OF_RFC9332[..], "rfc9332") };
    match foreign.iter().find(|name| args.is_given(name)) {
        Some(name) => Err(Error(format!("dualpi2 {name}: has a meaning only with variant {home}"))),
        None => Ok(()),
    }
}

/// Returns whether merged packets are taken apart on arrival.
pub(super) fn splits(args: &Args) -> bool {
    args.get(&SPLIT_GSO) != Some(false)
}

pub(super) fn is_rfc9332(args: &Args) -> bool {
    args.get(&VARIANT) == Variant::Rfc9332
}

/// Returns the classic queue's share in percent. `tc` rounds it, but the RFC's 1/16 must stay.
pub(super) fn protection(args: &Args) -> f64 {
    let percent = args.get(&CLASSIC_PROTECTION);
    if is_rfc9332(args) { percent } else { libm::rint(percent) }
}

/// The PI controller's constants. Gains are in 1/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Control {
    pub(super) target: Duration,
    pub(super) tupdate: Duration,
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

/// Returns a gain as Linux multiplies a delay in ns by it: in 64ths of the probability 1 / (2^32 - 1).
pub(super) fn linux_gain(per_second: f64) -> u64 {
    let tc = (per_second as f32 * GAIN_SCALE as f32) as u64;
    (tc * u64::from(u32::MAX)) / 4 / 1_000_000_000
}

pub(super) fn control(args: &Args) -> Result<Control, Error> {
    let (max_rtt, typical_rtt) = (args.get(&MAX_RTT), args.get(&TYPICAL_RTT));
    if is_rfc9332(args) {
        return Ok(by_the_rfc(args, max_rtt.unwrap_or(Duration::ZERO)));
    }
    if max_rtt.is_some() || typical_rtt.is_some() {
        return by_tc(max_rtt, typical_rtt);
    }
    Ok(Control {
        target: args.get(&TARGET),
        tupdate: args.get(&TUPDATE).unwrap_or(Duration::ZERO),
        alpha: args.get(&ALPHA).unwrap_or(0.0),
        beta: args.get(&BETA).unwrap_or(0.0),
    })
}

/// Replaces `max_rtt` and `typical_rtt` of Linux's variant by the values that follow from them. As in `tc`, these
/// take precedence over the line's own values.
pub(super) fn settle(args: &mut Args) {
    let (max_rtt, typical_rtt) = (args.get(&MAX_RTT), args.get(&TYPICAL_RTT));
    if is_rfc9332(args) || (max_rtt.is_none() && typical_rtt.is_none()) {
        return;
    }
    if let Ok(Control { target, tupdate, alpha, beta }) = by_tc(max_rtt, typical_rtt) {
        args.put(&TARGET, target);
        args.put(&TUPDATE, Some(tupdate));
        args.put(&ALPHA, Some(alpha));
        args.put(&BETA, Some(beta));
        args.put(&MAX_RTT, None);
        args.put(&TYPICAL_RTT, None);
    }
}

/// Returns the constants of A.1, lines 8 to 14.
fn by_the_rfc(args: &Args, max_rtt: Duration) -> Control {
    let target = args.get(&TARGET);
    let third = Duration::from_nanos(max_rtt.as_nanos() / 3);
    let tupdate = args.get(&TUPDATE).unwrap_or(target.min(third));
    let seconds = max_rtt.as_secs_f64();
    let alpha = args.get(&ALPHA).unwrap_or(0.1 * tupdate.as_secs_f64() / (seconds * seconds));
    Control { target, tupdate, alpha, beta: args.get(&BETA).unwrap_or(0.3 / seconds) }
}

/// Returns the constants that `tc` derives from round-trip times before the kernel sees the line: A.1's formulas in
/// whole microseconds, with `tc`'s constants in single precision and its gains cut to 256ths.
fn by_tc(max_rtt: Option<Duration>, typical_rtt: Option<Duration>) -> Result<Control, Error> {
    let refuse = |why: &str| Err(Error(format!("dualpi2 max_rtt: {why}")));
    let us = |span: Duration| span.as_nanos() / 1_000;
    let (max, typical) = match (max_rtt.map(us), typical_rtt.map(us)) {
        (Some(max), None) => (max, (max / MAX_TO_TYPICAL).max(1)),
        (None, typical) => (typical.unwrap_or(1) * MAX_TO_TYPICAL, typical.unwrap_or(1)),
        (Some(max), Some(typical)) => (max, typical),
    };
    if typical > max {
        return refuse("is less than typical_rtt");
    }
    let tupdate = typical.min(max / 3).max(1);
    let rtt = max as f64;
    let cut = |gain: f64| libm::floor(gain * GAIN_SCALE) / GAIN_SCALE;
    let alpha = cut(tupdate as f64 / rtt / rtt * 1e6 * f64::from(0.1_f32));
    let beta = cut(f64::from(0.3_f32) / rtt * 1e6);
    if alpha == 0.0 || beta == 0.0 {
        return refuse("so long that alpha or beta comes out as 0");
    }
    if beta > GREATEST_GAIN {
        return refuse("so short that beta exceeds 65535");
    }
    Ok(Control {
        target: Duration::from_micros(typical),
        tupdate: Duration::from_micros(tupdate),
        alpha,
        beta,
    })
}
