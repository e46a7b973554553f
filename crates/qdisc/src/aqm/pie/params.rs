//! PIE's parameters, and how its variants differ, as data: see [`super`].

use super::{FIRST_UPDATE, MAX_PROB};
use crate::aqm::jiffies;
use crate::param::{Args, ParamSpec, Unit, Value};
use goodqueue_units::Duration;

/// What the variants do differently, as numbers.
#[derive(Debug)]
pub(super) struct Rules {
    /// The word that selects them.
    pub(super) name: &'static str,
    /// The burst allowance (4.4).
    pub(super) max_burst: Duration,
    /// Below a probability of 1/`.0` the gains are halved `.1` times (4.2); the smallest probability last.
    pub(super) ladder: &'static [(u64, u32)],
    /// From this probability on a step up is at most 2 points (5.5).
    pub(super) capped_from: u64,
    /// While both delays are 0, p loses this part of itself (4.2).
    pub(super) decay: u64,
    /// The greatest probability.
    pub(super) ceiling: u64,
    /// What a delay above 250 ms adds to p in each step.
    pub(super) boost: u64,
    /// Below this probability ECN-capable packets are marked (5.1).
    pub(super) mark_below: u64,
    /// Bytes that must wait for a packet to be dropped (4.1); two full frames if it says nothing.
    pub(super) least_backlog: Option<u64>,
    /// Whether drops are spaced (5.4).
    pub(super) derandomised: bool,
    /// Bytes that make one measurement of the departure rate, and must wait when one begins (5.2).
    pub(super) dq_threshold: u64,
    /// Fraction bits of the departure rate, or of the time that a measurement of it takes.
    pub(super) rate_bits: u32,
    /// Whether delays, bursts and activity are handled as the RFC is written (4.1, 4.2, 4.4, 5.2, 5.3), see
    /// `rfc8033.rs`, or as Linux does it.
    pub(super) as_written: bool,
    /// Whether the time between updates is counted in jiffies, by the kernel's timers.
    pub(super) jiffies: bool,
}

impl Rules {
    /// The variant's that `args` name; Linux's where they name none.
    pub(super) fn of(args: &Args) -> &'static Self {
        match args.choice("variant") {
            word if word == DRAFT2013.name => &DRAFT2013,
            word if word == RFC8033.name => &RFC8033,
            _ => &LINUX,
        }
    }

    /// When the first update comes, and how far the others are apart.
    pub(super) const fn beat(&self, tupdate: Duration) -> (Duration, Duration) {
        if self.as_written {
            (tupdate, tupdate)
        } else if self.jiffies {
            (jiffies::timer(FIRST_UPDATE), jiffies::timer(tupdate))
        } else {
            (FIRST_UPDATE, tupdate)
        }
    }
}

/// Linux 6.1.
pub(super) const LINUX: Rules = Rules {
    name: "linux",
    max_burst: Duration::from_millis(150),
    ladder: &[(10, 1), (100, 3), (1_000, 5), (10_000, 7), (100_000, 9), (1_000_000, 11)],
    capped_from: MAX_PROB / 10,
    decay: 64,
    ceiling: u64::MAX,
    boost: MAX_PROB / 50,
    mark_below: MAX_PROB / 10 + 1,
    least_backlog: None,
    derandomised: true,
    dq_threshold: 16_384,
    rate_bits: 8,
    as_written: false,
    jiffies: true,
};

/// The PIE of 2013. Three levels of gain; steps up are capped whatever p; packets are dropped by plain dice.
pub(super) const DRAFT2013: Rules = Rules {
    name: "draft2013",
    max_burst: Duration::from_millis(100),
    ladder: &[(10, 1), (100, 3)],
    capped_from: 0,
    decay: 50,
    ceiling: MAX_PROB,
    derandomised: false,
    dq_threshold: 10_000,
    rate_bits: 24,
    jiffies: false,
    ..LINUX
};

/// RFC 8033 as it is written. It has no number for MEAN_PKTSIZE: RFC 8034's, its authors' other document, is 1024.
pub(super) const RFC8033: Rules = Rules {
    name: "rfc8033",
    decay: 50,
    ceiling: MAX_PROB,
    boost: 0,
    mark_below: MAX_PROB / 10,
    least_backlog: Some(2 * 1024 + 1),
    as_written: true,
    jiffies: false,
    ..LINUX
};

const fn gain(name: &'static str, default: u64, source: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Count, default: Value::Integer(default), range: (0.0, 32.0), source, help }
}

const fn flag(name: &'static str, default: Value, source: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Flag, default, range: (0.0, 0.0), source, help }
}

pub(crate) const TARGET: ParamSpec = ParamSpec {
    name: "target",
    unit: Unit::Time,
    default: Value::PerVariant(&[
        Value::Integer(15_000_000),
        Value::Integer(20_000_000),
        Value::Integer(15_000_000),
    ]),
    range: (1e3, 60e9),
    source: "RFC 8033, 4.2; Khademi et al. 2013, Table 2",
    help: "queue delay that the controller steers to",
};
pub(crate) const TUPDATE: ParamSpec = ParamSpec {
    name: "tupdate",
    unit: Unit::Time,
    default: Value::PerVariant(&[
        Value::Integer(15_000_000),
        Value::Integer(30_000_000),
        Value::Integer(15_000_000),
    ]),
    range: (1e3, 60e9),
    source: "RFC 8033, 4.2; Khademi et al. 2013, Table 2",
    help: "time between two updates of the drop probability",
};
pub(crate) const ALPHA: ParamSpec =
    gain("alpha", 2, "tc-pie(8)", "weight of the delay's distance from target, in sixteenths of 1/s");
pub(crate) const BETA: ParamSpec =
    gain("beta", 20, "tc-pie(8)", "weight of the delay's change, in sixteenths of 1/s");
pub(crate) const ECN: ParamSpec = flag(
    "ecn",
    Value::Flag(false),
    "tc-pie(8)",
    "mark ECN-capable packets instead of dropping them, up to p = 10 %",
);
pub(crate) const BYTEMODE: ParamSpec =
    flag("bytemode", Value::Flag(false), "tc-pie(8)", "scale the probability by the packet's size");
pub(crate) const DQ_RATE_ESTIMATOR: ParamSpec = flag(
    "dq_rate_estimator",
    Value::PerVariant(&[Value::Flag(false), Value::Flag(true), Value::Flag(false)]),
    "tc-pie(8); RFC 8033, 5.2; draft-pan-aqm-pie-00",
    "derive the delay from the departure rate instead of time stamps",
);

pub(super) const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "limit",
        unit: Unit::Packets,
        default: Value::Integer(1000),
        range: (1.0, 1e9),
        source: "tc-pie(8)",
        help: "packets that the queue holds at most",
    },
    TARGET,
    TUPDATE,
    ALPHA,
    BETA,
    ECN,
    BYTEMODE,
    DQ_RATE_ESTIMATOR,
    flag(
        "auto_inactive",
        Value::PerVariant(&[Value::Unset, Value::Unset, Value::Flag(true)]),
        "RFC 8033, 5.3",
        "let all pass until a third of limit waits, and again once all is quiet; only variant rfc8033",
    ),
    ParamSpec {
        name: "variant",
        unit: Unit::Choice(&[LINUX.name, DRAFT2013.name, RFC8033.name]),
        default: Value::Integer(0),
        range: (0.0, 0.0),
        source: "Linux 6.1; draft-pan-aqm-pie-00; RFC 8033",
        help: "whose PIE: today's Linux, the papers' of 2013, or the RFC's",
    },
];
