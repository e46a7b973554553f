//! `DualPI2`'s parameters as data, and the controller's constants that follow from them: see [`super`].

use crate::param::{Args, Error, ParamSpec, Unit, Value};
use alloc::format;
use goodqueue_units::Duration;

/// The word that selects the RFC's variant.
pub(super) const RFC9332: &str = "rfc9332";
/// The word that selects the time-shifted FIFO.
pub(super) const TIME_SHIFTED_FIFO: &str = "ts_fifo";
/// Linux takes gains in 256ths of 1/s.
const GAIN_SCALE: f64 = 256.0;
const GREATEST_GAIN: f64 = 65_535.0;
/// tc takes a typical RTT for a sixth of the greatest.
const MAX_TO_TYPICAL: u64 = 6;

const MAN: &str = "tc-dualpi2(8)";
const APPENDIX: &str = "RFC 9332, A.1";
const EITHER: &str = "tc-dualpi2(8); RFC 9332, A.1";

/// Parameters of one variant only.
const OF_LINUX: &[&str] = &["step_thresh", "min_qlen_step", "on_overload", "drop_at", "l4s", "typical_rtt"];
const OF_RFC9332: &[&str] = &["min_th", "range", "th_len", "scheduler", "tshift"];

const fn time(name: &'static str, default: Value, source: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Time, default, range: (1e3, 60e9), source, help }
}

const fn packets(name: &'static str, default: Value, source: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Packets, default, range: (0.0, 1e9), source, help }
}

const fn gain(name: &'static str, default: Value, help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Real, default, range: (0.0, GREATEST_GAIN), source: EITHER, help }
}

/// One of two words for `linux`, the first by default; none for `rfc9332`.
const fn either(name: &'static str, words: &'static [&'static str], help: &'static str) -> ParamSpec {
    let default = Value::PerVariant(&[Value::Integer(0), Value::Unset]);
    ParamSpec { name, unit: Unit::Word(words), default, range: (0.0, 0.0), source: MAN, help }
}

pub(super) const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        range: (1.0, 1e9),
        ..packets(
            "limit",
            Value::PerVariant(&[Value::Integer(10_000), Value::Unset]),
            MAN,
            "packets that both queues hold at most; unset: no limit in packets",
        )
    },
    ParamSpec {
        name: "memlimit",
        unit: Unit::Bytes,
        default: Value::Unset,
        range: (1.0, 4_294_967_295.0),
        source: "sch_dualpi2; RFC 9332, A.1",
        help: "memory that both queues hold at most; unset: two frames a packet of limit; rfc9332: 250 ms in bytes",
    },
    ParamSpec {
        name: "coupling_factor",
        unit: Unit::Count,
        default: Value::Integer(2),
        range: (1.0, 255.0),
        source: EITHER,
        help: "k: the L4S queue marks k times as often as p', classic drops with p' squared",
    },
    time("target", Value::Integer(15_000_000), EITHER, "queue delay that the controller steers to"),
    time(
        "tupdate",
        Value::PerVariant(&[Value::Integer(16_000_000), Value::Unset]),
        EITHER,
        "time between two updates of p'; unset: the smaller of target and a third of max_rtt",
    ),
    gain(
        "alpha",
        Value::PerVariant(&[Value::Real(41.0 / GAIN_SCALE), Value::Unset]),
        "weight of the delay's distance from target, in 1/s; unset: 0.1 tupdate / max_rtt^2",
    ),
    gain(
        "beta",
        Value::PerVariant(&[Value::Real(819.0 / GAIN_SCALE), Value::Unset]),
        "weight of the delay's change, in 1/s; unset: 0.3 / max_rtt",
    ),
    time(
        "max_rtt",
        Value::PerVariant(&[Value::Unset, Value::Integer(100_000_000)]),
        EITHER,
        "greatest round trip expected; linux: target, tupdate, alpha and beta follow from it, and stand in its place",
    ),
    time("typical_rtt", Value::Unset, MAN, "as max_rtt, of which it is a sixth unless both are set"),
    ParamSpec {
        unit: Unit::TimeOrPackets,
        range: (0.0, 60e9),
        ..time(
            "step_thresh",
            Value::PerVariant(&[Value::Integer(1_000_000), Value::Unset]),
            MAN,
            "time or packets in the L4S queue from which every packet is marked",
        )
    },
    packets(
        "min_qlen_step",
        Value::PerVariant(&[Value::Integer(0), Value::Unset]),
        MAN,
        "packets that an L4S packet must meet on arrival for the step to apply to it",
    ),
    either("on_overload", &["drop_on_overload", "overflow"], "at k p' > 1: drop L4S too, or hold p' at 1/k"),
    either("drop_at", &["drop_dequeue", "drop_enqueue"], "judge packets as they leave or as they arrive"),
    either("l4s", &["l4s_ect", "any_ect"], "what the L4S queue takes: ECT(1) and CE, or ECT(0) too"),
    ParamSpec {
        name: "classic_protection",
        unit: Unit::Percent,
        default: Value::PerVariant(&[Value::Real(10.0), Value::Real(6.25)]),
        range: (0.0, 100.0),
        source: "tc-dualpi2(8); RFC 9332, 4.2.2: 1/16",
        help: "share of the link that the classic queue gets at least; linux: whole percents",
    },
    ParamSpec {
        name: "split_gso",
        unit: Unit::Flag,
        default: Value::Unset,
        range: (0.0, 0.0),
        source: MAN,
        help: "take large packets apart on arrival: no effect, since there are none here",
    },
    time(
        "min_th",
        Value::PerVariant(&[Value::Unset, Value::Integer(800_000)]),
        APPENDIX,
        "time in the L4S queue from which the ramp rises from 0",
    ),
    time(
        "range",
        Value::PerVariant(&[Value::Unset, Value::Integer(400_000)]),
        APPENDIX,
        "time from the ramp's foot to where every packet is marked",
    ),
    packets(
        "th_len",
        Value::PerVariant(&[Value::Unset, Value::Integer(1)]),
        APPENDIX,
        "packets left in the L4S queue up to which the ramp does not apply",
    ),
    ParamSpec {
        name: "scheduler",
        unit: Unit::Choice(&["wrr", TIME_SHIFTED_FIFO]),
        default: Value::PerVariant(&[Value::Unset, Value::Integer(0)]),
        range: (0.0, 0.0),
        source: "RFC 9332, 4.2.2",
        help: "by weights, or whoever waits longest with tshift added for L4S",
    },
    time(
        "tshift",
        Value::PerVariant(&[Value::Unset, Value::Integer(50_000_000)]),
        "RFC 9332, 4.2.2",
        "time by which ts_fifo takes L4S packets for older than they are",
    ),
    ParamSpec {
        name: "variant",
        unit: Unit::Choice(&["linux", RFC9332]),
        default: Value::Integer(0),
        range: (0.0, 0.0),
        source: "mainline Linux; RFC 9332, Appendix A",
        help: "whose DualPI2: Linux's or the RFC's pseudocode",
    },
];

/// Refuses a parameter that has no meaning in the variant chosen.
pub(super) fn refuse_of_the_other_variant(args: &Args) -> Result<(), Error> {
    let (foreign, home) = if is_rfc9332(args) { (OF_LINUX, "linux") } else { (OF_RFC9332, RFC9332) };
    match foreign.iter().find(|name| args.is_given(name)) {
        Some(name) => Err(Error(format!("dualpi2 {name}: has a meaning only with variant {home}"))),
        None => Ok(()),
    }
}

pub(super) fn is_rfc9332(args: &Args) -> bool {
    args.choice("variant") == RFC9332
}

/// The classic queue's share in percent; `tc` rounds it, the RFC's 1/16 must stand.
pub(super) fn protection(args: &Args) -> f64 {
    let percent = args.real("classic_protection").unwrap_or(0.0);
    if is_rfc9332(args) { percent } else { libm::rint(percent) }
}

/// The PI controller's constants; gains are 1/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Control {
    pub(super) target: Duration,
    pub(super) tupdate: Duration,
    pub(super) alpha: f64,
    pub(super) beta: f64,
}

/// A gain as Linux multiplies a delay in ns with it: in 64ths of the probability 2^32 - 1.
pub(super) fn linux_gain(per_second: f64) -> u64 {
    let tc = (per_second as f32 * GAIN_SCALE as f32) as u64;
    (tc * u64::from(u32::MAX)) / 4 / 1_000_000_000
}

pub(super) fn control(args: &Args) -> Result<Control, Error> {
    let (max_rtt, typical_rtt) = (args.time("max_rtt"), args.time("typical_rtt"));
    if is_rfc9332(args) {
        return Ok(by_the_rfc(args, max_rtt.unwrap_or(Duration::ZERO)));
    }
    if max_rtt.is_some() || typical_rtt.is_some() {
        return by_tc(max_rtt, typical_rtt);
    }
    Ok(Control {
        target: args.time("target").unwrap_or(Duration::ZERO),
        tupdate: args.time("tupdate").unwrap_or(Duration::ZERO),
        alpha: args.real("alpha").unwrap_or(0.0),
        beta: args.real("beta").unwrap_or(0.0),
    })
}

/// Replaces `max_rtt` and `typical_rtt` of Linux's variant by what follows from them. As in `tc`, that goes before what
/// the line says.
pub(super) fn settle(args: &mut Args) {
    let (max_rtt, typical_rtt) = (args.time("max_rtt"), args.time("typical_rtt"));
    if is_rfc9332(args) || (max_rtt.is_none() && typical_rtt.is_none()) {
        return;
    }
    if let Ok(Control { target, tupdate, alpha, beta }) = by_tc(max_rtt, typical_rtt) {
        args.put("target", Value::Integer(target.as_nanos()));
        args.put("tupdate", Value::Integer(tupdate.as_nanos()));
        args.put("alpha", Value::Real(alpha));
        args.put("beta", Value::Real(beta));
        args.put("max_rtt", Value::Unset);
        args.put("typical_rtt", Value::Unset);
    }
}

/// A.1, lines 8 to 14.
fn by_the_rfc(args: &Args, max_rtt: Duration) -> Control {
    let target = args.time("target").unwrap_or(Duration::ZERO);
    let third = Duration::from_nanos(max_rtt.as_nanos() / 3);
    let tupdate = args.time("tupdate").unwrap_or(target.min(third));
    let seconds = max_rtt.as_secs_f64();
    let alpha = args.real("alpha").unwrap_or(0.1 * tupdate.as_secs_f64() / (seconds * seconds));
    Control { target, tupdate, alpha, beta: args.real("beta").unwrap_or(0.3 / seconds) }
}

/// What `tc` derives from round-trip times before the kernel sees it: A.1's formulas in whole microseconds, with its
/// constants in single precision and its gains cut to 256ths.
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
