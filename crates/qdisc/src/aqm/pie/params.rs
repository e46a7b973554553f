//! PIE's parameters, and the differences between its variants as data: see [`super`].

use super::{FIRST_UPDATE, MAX_PROB};
use crate::aqm::jiffies;
use crate::param::{ECN, LIMIT, Param, ParamSpec, ms, us};
use crate::{params, words};
use goodqueue_units::Duration;

/// The differences between the variants, as numbers.
#[derive(Debug)]
pub(super) struct Rules {
    /// The burst allowance (4.4).
    pub(super) max_burst: Duration,
    /// Below a probability of 1/`.0` the gains are halved `.1` times (4.2). The smallest probability is last.
    pub(super) ladder: &'static [(u64, u32)],
    /// From this probability on, a step up is at most 2 points (5.5).
    pub(super) capped_from: u64,
    /// While both delays are 0, an update takes p / `decay` from p (4.2).
    pub(super) decay: u64,
    /// The largest probability.
    pub(super) ceiling: u64,
    /// The addition to p in each step while the delay is above 250 ms.
    pub(super) boost: u64,
    /// ECN-capable packets are marked below this probability (5.1).
    pub(super) mark_below: u64,
    /// Whether drops are spaced, by de-randomisation (5.4).
    pub(super) derandomised: bool,
    /// Bytes of one measurement of the departure rate. As many must wait when a measurement begins (5.2).
    pub(super) dq_threshold: u64,
    /// Fraction bits of the departure rate, or of the time of its measurement.
    pub(super) rate_bits: u32,
    /// The time from the start to the first update. `None`: the time between updates.
    pub(super) first_update: Option<Duration>,
    /// Whether the kernel's timers count the time between updates, in jiffies.
    pub(super) jiffies: bool,
}

impl Rules {
    pub(super) const fn of(variant: Variant) -> &'static Self {
        match variant {
            Variant::Linux => &LINUX,
            Variant::Draft2013 => &DRAFT2013,
            Variant::Rfc8033 => &RFC8033,
        }
    }

    /// Returns the time of the first update, and the time between updates.
    pub(super) const fn beat(&self, tupdate: Duration) -> (Duration, Duration) {
        let first = match self.first_update {
            Some(first) => first,
            None => tupdate,
        };
        if self.jiffies { (jiffies::timer(first), jiffies::timer(tupdate)) } else { (first, tupdate) }
    }
}

/// Linux 6.1.
pub(super) const LINUX: Rules = Rules {
    max_burst: Duration::from_millis(150),
    ladder: &[(10, 1), (100, 3), (1_000, 5), (10_000, 7), (100_000, 9), (1_000_000, 11)],
    capped_from: MAX_PROB / 10,
    decay: 64,
    ceiling: u64::MAX,
    boost: MAX_PROB / 50,
    mark_below: MAX_PROB / 10 + 1,
    derandomised: true,
    dq_threshold: 16_384,
    rate_bits: 8,
    first_update: Some(FIRST_UPDATE),
    jiffies: true,
};

/// The PIE of 2013: three levels of gain, steps up capped at any p, and drops without de-randomisation.
pub(super) const DRAFT2013: Rules = Rules {
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

/// RFC 8033 as it is written.
pub(super) const RFC8033: Rules = Rules {
    decay: 50,
    ceiling: MAX_PROB,
    boost: 0,
    mark_below: MAX_PROB / 10,
    first_update: None,
    jiffies: false,
    ..LINUX
};

words! {
    pub(super) enum Variant { Linux = "linux", Draft2013 = "draft2013", Rfc8033 = "rfc8033" }
}

/// The longest time that tc's messages hold.
const MOST_TIME: Duration = us(u32::MAX as u64);

const MAN: &str = "tc-pie(8)";
const STEERING: &str = "RFC 8033, 4.2; Khademi et al. 2013, Table 2";

pub(crate) const TARGET: Param<Duration> = Param::time("target", "queue delay that the controller steers to")
    .default(ms(15))
    .by_variant([ms(15), ms(20), ms(15)])
    .range(us(1), MOST_TIME)
    .zero_is_unset()
    .source(STEERING);
pub(crate) const TUPDATE: Param<Duration> =
    Param::time("tupdate", "time between two updates of the drop probability")
        .default(ms(15))
        .by_variant([ms(15), ms(30), ms(15)])
        .range(us(1), MOST_TIME)
        .zero_is_unset()
        .source(STEERING);
pub(crate) const ALPHA: Param<u32> =
    Param::count("alpha", "weight of the delay's distance from target, in sixteenths of 1/s")
        .default(2)
        .range(1, 32)
        .zero_is_unset()
        .source(MAN);
pub(crate) const BETA: Param<u32> =
    Param::count("beta", "weight of the delay's change, in sixteenths of 1/s")
        .default(20)
        .range(1, 32)
        .zero_is_unset()
        .source(MAN);
pub(crate) const BYTEMODE: Param<bool> =
    Param::flag("bytemode", "scale the probability by the packet's size").source(MAN);
pub(crate) const DQ_RATE_ESTIMATOR: Param<bool> =
    Param::flag("dq_rate_estimator", "derive the delay from the departure rate instead of time stamps")
        .by_variant([false, true, false])
        .source("tc-pie(8); RFC 8033, 5.2; draft-pan-aqm-pie-00");
pub(super) const AUTO_INACTIVE: Param<Option<bool>> = Param::flag(
    "auto_inactive",
    "pass all packets until a third of limit waits, and again when all is quiet; only variant rfc8033",
)
.unset()
.by_variant([None, None, Some(true)])
.source("RFC 8033, 5.3");
/// The papers of 2013 ran a PIE that marks at any p (Khademi et al. 2013, section 7).
pub(super) const ECN_PROB: Param<Option<u32>> = Param::count(
    "ecn_prob",
    "percent of drop probability up to which ECN-capable packets are marked; unset: 10; only variant draft2013",
)
.range(0, 100)
.source("tc-fq_pie(8); Khademi et al. 2013, section 7");
pub(super) const REARM: Param<Option<bool>> = Param::flag(
    "rearm",
    "renew the burst allowance whenever two delays in a row are below half the target, at any p; only variant draft2013",
)
.unset()
.source("Schwardmann et al. 2014, 3.3, as they word it");
pub(super) const KEEP_RATE: Param<Option<bool>> = Param::flag(
    "keep_rate",
    "keep the departure rate when all is quiet (Linux forgets it); only variant draft2013",
)
.unset()
.source("inferred from Schwardmann et al. 2014");
pub(super) const VARIANT: Param<Variant> =
    Param::choice("variant", "which PIE: today's Linux, the papers of 2013, or the RFC", "linux")
        .fixed()
        .source("Linux 6.1; draft-pan-aqm-pie-00; RFC 8033");

pub(super) const PARAMS: &[ParamSpec] = params! {
    LIMIT.source(MAN), TARGET, TUPDATE, ALPHA, BETA,
    ECN.source(MAN).help("mark ECN-capable packets instead of dropping them, up to p = 10 %, or ecn_prob"),
    ECN_PROB, REARM, KEEP_RATE, BYTEMODE, DQ_RATE_ESTIMATOR, AUTO_INACTIVE, VARIANT,
};
