//! The words of netem's line, in tc's order.

use super::random::{Loss, share};
use crate::distribution::Distribution;
use crate::param::{Args, Digits, ECN, Error, LIMIT, Param, ParamSpec, secs};
use crate::params;
use alloc::format;
use goodqueue_units::{Duration, Rate};

const MAN: &str = "tc-netem(8)";
const SPAN: (Duration, Duration) = (Duration::ZERO, secs(1000));

const PACKETS_HELD: Param<u32> = LIMIT
    .range(0, 1_000_000_000)
    .digits(Digits::Size)
    .abbreviates()
    .help("most packets that are held at a time");
const DELAY: Param<Option<Duration>> = Param::time("delay", "time for which each packet is held")
    .range(SPAN.0, SPAN.1)
    .nanoseconds()
    .abbreviates();
const JITTER: Param<Option<Duration>> = Param::time("jitter", "variation of the delay; packets may overtake")
    .range(SPAN.0, SPAN.1)
    .nanoseconds()
    .follows(&DELAY);
pub(super) const DELAY_CORRELATION: Param<Option<f64>> = correlation("delay_correlation").follows(&DELAY);
const DISTRIBUTION: Param<Distribution> =
    Param::choice("distribution", "how the delay varies around its mean", "uniform").abbreviates();
const LOSS: Param<Option<f64>> = Param::percent("loss", "each packet is lost with this probability")
    .once()
    .abbreviates()
    .excludes_named("loss gemodel");
pub(super) const LOSS_CORRELATION: Param<Option<f64>> = correlation("loss_correlation").follows(&LOSS);
const STATE: Param<Option<f64>> =
    Param::percent("loss state", "p13: from a gap to a burst of losses, in the model of four states")
        .once()
        .excludes(&LOSS);
const P31: Param<Option<f64>> =
    Param::percent("p31", "from a burst of losses to a gap; unset: 100% - p13").follows(&STATE);
const P32: Param<Option<f64>> =
    Param::percent("p32", "from a burst to packets that pass within it; unset: 0%").follows(&STATE);
const P23: Param<Option<f64>> =
    Param::percent("p23", "from packets that pass within a burst back to losses; unset: 100%")
        .follows(&STATE);
const P14: Param<Option<f64>> =
    Param::percent("p14", "from a gap to one packet that is lost alone; unset: 0%").follows(&STATE);
const GEMODEL: Param<Option<f64>> =
    Param::percent("loss gemodel", "p: from the good to the bad state, in the model of Gilbert and Elliott")
        .once()
        .excludes(&STATE);
const R: Param<Option<f64>> =
    Param::percent("r", "from the bad state to the good one; unset: 100% - p").follows(&GEMODEL);
const LOST_IN_BAD: Param<Option<f64>> =
    Param::percent("1-h", "a packet is lost in the bad state; unset: 100%").follows(&GEMODEL);
const LOST_IN_GOOD: Param<Option<f64>> =
    Param::percent("1-k", "a packet is lost in the good state; unset: 0%").follows(&GEMODEL);
pub(super) const CORRUPT: Param<Option<f64>> = Param::percent(
    "corrupt",
    "a bit of the frame is flipped: the receiver accepts it only if the bit is one that nobody checks",
)
.abbreviates();
pub(super) const CORRUPT_CORRELATION: Param<Option<f64>> =
    correlation("corrupt_correlation").follows(&CORRUPT);
const DUPLICATE: Param<Option<f64>> = Param::percent("duplicate", "the packet is queued twice").abbreviates();
pub(super) const DUPLICATE_CORRELATION: Param<Option<f64>> =
    correlation("duplicate_correlation").follows(&DUPLICATE);
pub(super) const REORDER: Param<Option<f64>> =
    Param::percent("reorder", "the packet is sent at once, before all that are held").abbreviates();
pub(super) const REORDER_CORRELATION: Param<Option<f64>> =
    correlation("reorder_correlation").follows(&REORDER);
const GAP: Param<Option<u32>> =
    Param::count("gap", "reorder chooses at most one packet in this many; unset, and reorder set: 1")
        .zero_is_unset()
        .abbreviates();
const RATE: Param<Option<Rate>> =
    Param::rate("rate", "packets also take as long as at this rate, one by one").abbreviates().shapes();
const PACKET_OVERHEAD: Param<Option<i32>> =
    Param::signed("packet_overhead", "bytes that each packet has in addition, or fewer; unset: 0")
        .range(-1_000_000, 1_000_000)
        .follows(&RATE);
const CELL_SIZE: Param<Option<u32>> =
    Param::count("cell_size", "bytes of a cell; 0 or unset: no cells").range(0, 1_000_000).follows(&RATE);
const CELL_OVERHEAD: Param<Option<i32>> =
    Param::signed("cell_overhead", "bytes that each cell has in addition, or fewer; unset: 0")
        .range(-1_000_000, 1_000_000)
        .follows(&RATE);
const SLOT: Param<Option<Duration>> =
    Param::time("slot", "packets leave only in slots, this time or longer after one another")
        .range(SPAN.0, SPAN.1)
        .nanoseconds()
        .abbreviates();
const SLOT_MOST: Param<Option<Duration>> =
    Param::time("slot_most", "longest time between slots; unset: always the shortest")
        .range(SPAN.0, SPAN.1)
        .nanoseconds()
        .follows(&SLOT);
const SLOT_DISTRIBUTION: Param<Option<Distribution>> =
    Param::optional_choice("slot distribution", "times between slots vary by a distribution").excludes(&SLOT);
const SLOT_DELAY: Param<Option<Duration>> = Param::time("slot_delay", "mean time between slots")
    .range(SPAN.0, SPAN.1)
    .nanoseconds()
    .follows(&SLOT_DISTRIBUTION);
const SLOT_JITTER: Param<Option<Duration>> =
    Param::time("slot_jitter", "variation of the time between slots")
        .range(SPAN.0, SPAN.1)
        .nanoseconds()
        .follows(&SLOT_DISTRIBUTION);
const SLOT_PACKETS: Param<Option<u32>> =
    Param::count("packets", "most packets in a slot; 0 or unset: any number").range(0, 1_000_000_000);
const SLOT_BYTES: Param<Option<u32>> =
    Param::count("bytes", "bytes after which a slot ends; 0 or unset: any number").range(0, 1_000_000_000);
const SEED: Param<Option<u64>> =
    Param::number("seed", "seed of a generator of its own; unset: the random numbers are the run's")
        .source("tc-netem(8), since Linux 6.7");
const MARKS: Param<bool> = ECN.help("loss marks ECN-capable packets instead of dropping them");

const fn correlation(name: &'static str) -> Param<Option<f64>> {
    Param::percent(name, "weight of the random number before; unset: 0%")
}

/// netem's parameters.
pub(super) const PARAMS: &[ParamSpec] = params! { from MAN =>
    PACKETS_HELD, DELAY, Param::alias("latency", &DELAY).abbreviates(), JITTER, DELAY_CORRELATION,
    DISTRIBUTION,
    LOSS, Param::alias("loss random", &LOSS),
    Param::alias("drop", &LOSS).abbreviates(), LOSS_CORRELATION,
    Param::alias("drop random", &LOSS),
    STATE, Param::alias("drop state", &STATE), P31, P32, P23, P14, GEMODEL,
    Param::alias("drop gemodel", &GEMODEL), R, LOST_IN_BAD, LOST_IN_GOOD, MARKS,
    CORRUPT, CORRUPT_CORRELATION, DUPLICATE, DUPLICATE_CORRELATION,
    REORDER, REORDER_CORRELATION, GAP, RATE, PACKET_OVERHEAD, CELL_SIZE, CELL_OVERHEAD,
    SLOT, SLOT_MOST, SLOT_DISTRIBUTION, SLOT_DELAY, SLOT_JITTER, SLOT_PACKETS, SLOT_BYTES, SEED,
};

/// The correlations that one attribute brings (`TCA_NETEM_CORR`).
const CORRELATIONS: [&str; 3] =
    [DELAY_CORRELATION.name(), LOSS_CORRELATION.name(), DUPLICATE_CORRELATION.name()];

/// Takes back what a command does not keep, as tc (q_netem.c) and Linux (`netem_change`) do together.
///
/// - Each command brings `limit`, the delay, the jitter, the random loss, `duplicate` and `gap`: as tc's defaults, if
///   the line does not name them. A command without a model of losses ends the one before. Each command begins with a
///   seed of its own.
/// - `reorder` keeps its probability in Linux, but not the gap, without which nothing is reordered.
/// - `corrupt`, `rate` and `slot` are one attribute each, which brings all values of the word. Without the word they
///   stay, and so do `distribution` and `ecn`.
/// - The correlations of delay, loss and duplicate come together, if the line names one of delay, loss, `reorder` or
///   `corrupt`. tc does not send them for the correlation of `duplicate` alone, which then has no effect.
pub(super) fn begin_anew(args: &mut Args, before: &Args) {
    let defaults = Args::defaults(args.spec);
    for name in [
        PACKETS_HELD.name(),
        DELAY.name(),
        JITTER.name(),
        LOSS.name(),
        STATE.name(),
        P31.name(),
        P32.name(),
        P23.name(),
        P14.name(),
        GEMODEL.name(),
        R.name(),
        LOST_IN_BAD.name(),
        LOST_IN_GOOD.name(),
        DUPLICATE.name(),
        REORDER.name(),
        REORDER_CORRELATION.name(),
        GAP.name(),
        SEED.name(),
    ] {
        args.take_unnamed(name, &defaults);
    }
    let of_slots =
        [SLOT_MOST.name(), SLOT_DELAY.name(), SLOT_JITTER.name(), SLOT_PACKETS.name(), SLOT_BYTES.name()];
    for (word, values) in [
        (CORRUPT.name(), &[CORRUPT_CORRELATION.name()][..]),
        (RATE.name(), &[PACKET_OVERHEAD.name(), CELL_SIZE.name(), CELL_OVERHEAD.name()]),
        (SLOT.name(), &of_slots),
        (SLOT_DISTRIBUTION.name(), &of_slots),
    ] {
        if args.is_named(word) {
            values.iter().for_each(|value| args.take_unnamed(value, &defaults));
        }
    }
    if names_correlation(args) {
        CORRELATIONS.iter().for_each(|name| args.take_unnamed(name, &defaults));
    } else {
        args.put(&DUPLICATE_CORRELATION, before.get(&DUPLICATE_CORRELATION));
    }
    // What stays was given by an earlier line, whose other words no longer count: see `Setup::new`.
    args.take_unnamed(MARKS.name(), before);
    args.take_unnamed(DISTRIBUTION.name(), before);
}

/// Returns whether the line of a change brings the correlations of delay, loss and duplicate.
pub(super) fn names_correlation(args: &Args) -> bool {
    [&DELAY_CORRELATION, &LOSS_CORRELATION, &REORDER_CORRELATION, &CORRUPT_CORRELATION]
        .iter()
        .any(|correlation| args.is_named(correlation.name()))
}

/// Returns whether the line of a change brings slots.
pub(super) fn names_slots(args: &Args) -> bool {
    args.is_named(SLOT.name()) || args.is_named(SLOT_DISTRIBUTION.name())
}

/// How long packets are held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Delay {
    pub(super) mean: i64,
    /// At most 2^31 - 1 ns, to which Linux cuts it.
    pub(super) jitter: i32,
    pub(super) distribution: Distribution,
}

/// The pace of `rate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    bytes_per_s: u64,
    overhead: i64,
    cell_size: u64,
    cell_overhead: i64,
}

impl Pace {
    /// Returns the time that a packet of `len` bytes takes, in ns. (With an overhead that takes away more bytes than a
    /// packet has, Linux computes a time of centuries. Here the packet takes no time.)
    pub(super) fn time(self, len: u32) -> i64 {
        let mut len = u64::from(len).saturating_add_signed(self.overhead);
        if self.cell_size > 0 {
            len = len.div_ceil(self.cell_size) * self.cell_size.saturating_add_signed(self.cell_overhead);
        }
        let time = u128::from(len) * 1_000_000_000 / u128::from(self.bytes_per_s);
        i64::try_from(time).unwrap_or(i64::MAX / 4)
    }
}

/// When slots begin, and how much may leave in one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slots {
    pub(super) least: i64,
    pub(super) most: i64,
    /// The times between slots, if a distribution gives them.
    pub(super) by_distribution: Option<Delay>,
    pub(super) packets: i64,
    pub(super) bytes: i64,
}

impl Slots {
    /// Returns whether there are slots at all.
    pub(super) fn exist(&self) -> bool {
        self.least > 0 || self.most > 0 || self.by_distribution.is_some_and(|delay| delay.jitter > 0)
    }
}

/// All parameters, as netem uses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) limit: usize,
    pub(super) delay: Delay,
    pub(super) loss: Loss,
    pub(super) marks: bool,
    pub(super) corrupt: u32,
    pub(super) duplicate: u32,
    pub(super) reorder: u32,
    pub(super) gap: u32,
    pub(super) pace: Option<Pace>,
    pub(super) slots: Slots,
    pub(super) seed: Option<u64>,
}

fn nanos(span: Option<Duration>) -> i64 {
    span.map_or(0, |span| span.as_nanos() as i64) // at most 1000 s
}

fn delay(mean: Option<Duration>, jitter: Option<Duration>, distribution: Distribution) -> Delay {
    let jitter = nanos(jitter).min(i32::MAX.into()) as i32;
    Delay { mean: nanos(mean), jitter, distribution }
}

impl Setup {
    /// Reads the line's values.
    ///
    /// # Errors
    /// Fails where tc refuses the line.
    pub(super) fn new(args: &Args) -> Result<Self, Error> {
        let refuse = |why: &str| Err(Error(format!("netem: {why}")));
        let probability = |param: &Param<Option<f64>>| args.get(param).map_or(0, share);
        let or = |param: &Param<Option<f64>>, default: f64| share(args.get(param).unwrap_or(default));
        let loss = match (args.get(&LOSS), args.get(&STATE), args.get(&GEMODEL)) {
            (None, None, None) => Loss::None,
            (Some(loss), None, None) => Loss::Random(share(loss)),
            (None, Some(p13), None) => Loss::State {
                p13: share(p13),
                p31: or(&P31, 100.0 - p13),
                p32: or(&P32, 0.0),
                p23: or(&P23, 100.0),
                p14: or(&P14, 0.0),
            },
            (None, None, Some(p)) => Loss::Gemodel {
                p: share(p),
                r: or(&R, 100.0 - p),
                h: u32::MAX - or(&LOST_IN_BAD, 100.0),
                k1: or(&LOST_IN_GOOD, 0.0),
            },
            _ => return refuse("more than one of loss, loss state and loss gemodel; accepted: one of them"),
        };
        let marks = args.get(&MARKS);
        if marks && args.is_given(MARKS.name()) && matches!(loss, Loss::None | Loss::Random(0)) {
            return refuse("ecn marks what loss would drop; accepted: ecn with a loss");
        }
        let (mean, jitter) = (args.get(&DELAY), args.get(&JITTER));
        let (has_delay, distribution) = (nanos(mean) > 0, args.get(&DISTRIBUTION));
        let is_given = args.is_given(DISTRIBUTION.name());
        if is_given && distribution != Distribution::Uniform && (!has_delay || nanos(jitter) == 0) {
            return refuse("distribution needs a delay and its jitter, such as delay 20ms 5ms");
        }
        let reorder = probability(&REORDER);
        if reorder > 0 && !has_delay {
            return refuse("reorder needs a delay to overtake, such as delay 10ms");
        }
        if reorder == 0 && args.get(&GAP).is_some() {
            return refuse("gap needs reorder, such as reorder 100% gap 5");
        }
        let slots = Self::slots(args)?;
        let bytes_per_s = args.get(&RATE).map_or(0, |rate| rate.as_bps() / 8);
        let pace = Pace {
            bytes_per_s,
            overhead: args.get(&PACKET_OVERHEAD).unwrap_or(0).into(),
            cell_size: args.get(&CELL_SIZE).unwrap_or(0).into(),
            cell_overhead: args.get(&CELL_OVERHEAD).unwrap_or(0).into(),
        };
        Ok(Self {
            limit: args.get(&PACKETS_HELD) as usize,
            delay: delay(mean, jitter, distribution),
            loss,
            marks,
            corrupt: probability(&CORRUPT),
            duplicate: probability(&DUPLICATE),
            reorder,
            gap: args.get(&GAP).unwrap_or(u32::from(reorder > 0)),
            pace: (bytes_per_s > 0).then_some(pace), // Linux counts whole bytes: below 8 bit/s there is no rate
            slots,
            seed: args.get(&SEED),
        })
    }

    fn slots(args: &Args) -> Result<Slots, Error> {
        let refuse = |why: &str| Err(Error(format!("netem: {why}")));
        let (least, distribution) = (args.get(&SLOT), args.get(&SLOT_DISTRIBUTION));
        let (packets, bytes) = (args.get(&SLOT_PACKETS), args.get(&SLOT_BYTES));
        let are_named = args.is_named(SLOT_PACKETS.name()) || args.is_named(SLOT_BYTES.name());
        let by_distribution = match (least, distribution) {
            (Some(_), Some(_)) => return refuse("slot twice; accepted: times, or a distribution"),
            _ if are_named && !names_slots(args) => {
                return refuse("packets and bytes need slot, such as slot 10ms packets 5");
            }
            (None, None) if packets.is_some() || bytes.is_some() => {
                return refuse("packets and bytes need slot, such as slot 10ms packets 5");
            }
            (_, None) => None,
            (None, Some(distribution)) => {
                let (mean, jitter) = (args.get(&SLOT_DELAY), args.get(&SLOT_JITTER));
                if mean.is_none() || jitter.is_none() {
                    return refuse("slot distribution needs a delay and a jitter, such as 10ms 2ms");
                }
                Some(delay(mean, jitter, distribution))
            }
        };
        let (least, most) = (nanos(least), args.get(&SLOT_MOST));
        if most.is_some_and(|most| nanos(Some(most)) < least) {
            return refuse("slot: the longest time is below the shortest");
        }
        let count = |most: Option<u32>| i64::from(most.filter(|most| *most > 0).unwrap_or(i32::MAX as u32));
        Ok(Slots {
            least,
            most: nanos(most).max(least),
            by_distribution,
            packets: count(packets),
            bytes: count(bytes),
        })
    }
}
