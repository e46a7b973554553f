//! BLUE: a drop probability that learns from loss and idleness, not from the queue's length.
//!
//! Source: Feng, Shin, Kandlur and Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM ToN 10(4), 2002.
//! When the buffer overflows, p rises by d1. When the link goes idle, p falls by d2. Between two steps at least
//! `freeze_time` passes, so that each change has time to take effect.
//!
//! The paper was not available. The law was checked against its pseudocode, which NITK's ns-3 port of the author's
//! ns-1.1 code quotes: a loss or a queue above L steps up, idleness steps down, and a step needs strictly more than
//! `freeze_time` since the last step in either direction. The port has d1 0.0025, d2 0.00025 and 100 ms. The defaults
//! of d1 and d2 here are from memory of the paper's experiments, which vary them (d1 from 0.0025 to 0.02, d2 a tenth
//! of it, the time from 10 to 100 ms). After a pause the port lowers p once for each `freeze_time` that the pause
//! lasted. The pseudocode does not.
//!
//! Decided here:
//!
//! - only overflow is loss: packets that p itself drops do not raise p. `threshold` is the paper's variant in which a
//!   queue above L packets is loss, too;
//! - the link goes idle once, with the dequeue that finds no packet: p does not go on falling while the link stays
//!   idle;
//! - steps in both directions share one clock, and the first step needs no wait;
//! - a full queue drops before the dice are thrown.

use super::Aqm;
use super::admission::Admission;
use super::gentle::LIMIT;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, Link, Param, QdiscSpec, ms, secs};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::Owner;
use goodqueue_units::{Duration, Instant};

/// BLUE over one FIFO.
#[derive(Clone, Debug)]
pub struct Blue {
    admission: Admission,
    d1: f64,
    d2: f64,
    freeze_time: Duration,
    threshold: usize,
    p: f64,
    last_update: Option<Instant>,
}

const PORT: &str = "Feng et al. 2002, as NITK's ns-3 port quotes it";

const D1: Param<f64> = Param::real("d1", "increase of the probability when the buffer overflows")
    .default(0.02)
    .source("unverified: Feng et al. 2002, from memory; the port has 0.0025");
const D2: Param<f64> = Param::real("d2", "decrease of the probability when the link goes idle")
    .default(0.002)
    .source("unverified: Feng et al. 2002, from memory; the port has 0.00025");
const FREEZE_TIME: Param<Duration> = Param::time("freeze_time", "time that must pass between two steps")
    .default(ms(100))
    .range(ms(0), secs(60))
    .source(PORT);
const THRESHOLD: Param<Option<u32>> = Param::packets(
    "threshold",
    "packets above which an arrival counts as an overflow; unset: only an overflow does",
)
.range(0, 1_000_000_000)
.source(PORT);

impl Aqm for Blue {
    const SPEC: QdiscSpec = QdiscSpec::new(
        "blue",
        params! { LIMIT, D1, D2, FREEZE_TIME, THRESHOLD, ECN.source("Feng et al. 2002") },
    )
    .not_in_linux()
    .summary("Drops arrivals at random, with a probability that overflow raises and idleness lowers")
    .source("Feng et al. 2002");

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        Ok(Self {
            admission: Admission::new(args),
            d1: args.get(&D1),
            d2: args.get(&D2),
            freeze_time: args.get(&FREEZE_TIME),
            threshold: args.get(&THRESHOLD).map_or(usize::MAX, |packets| packets as usize),
            p: 0.0,
            last_update: None,
        })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        *self = Self { p: self.p, last_update: self.last_update, ..Self::build(args, link)? };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        self.admission.limit()
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        if self.admission.is_full(queue) || queue.len() > self.threshold {
            self.step(now, self.d1);
        }
        self.admission.enqueue(self.p, packet, queue, owner)
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        let packet = queue.pop();
        if packet.is_none() {
            self.step(now, -self.d2);
        }
        packet
    }

    fn probe(&self, probe: &mut dyn Probe) {
        probe.real("drop_probability", self.p);
    }
}

impl Blue {
    /// Moves p by `change`, unless the last move was at most `freeze_time` ago.
    fn step(&mut self, now: Instant, change: f64) {
        if self.last_update.is_none_or(|last| now.since(last) > self.freeze_time) {
            self.p = (self.p + change).clamp(0.0, 1.0);
            self.last_update = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dice::Dice;
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::{Ecn, Rate};

    static SPEC: QdiscSpec = Blue::SPEC;
    const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

    fn blue(words: &str) -> Blue {
        Blue::build(&Args::parse(&SPEC, words).unwrap(), &LINK).unwrap()
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn assert_close(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-12, "{got} is not {want}");
    }

    /// With a limit of 1 the second arrival overflows, and p is 0.02. Overflows 50 and 100 ms later are within the
    /// freeze time; the overflow after 101 ms counts. The link goes idle at 150 ms, which is too soon, and at 202 ms:
    /// 0.04 - 0.002. At 203 ms idleness is too soon again.
    #[test]
    fn overflow_raises_p_and_idleness_lowers_it_once_in_a_freeze_time() {
        let (mut blue, mut queue, mut owner) = (blue("limit 1"), Fifo::default(), Dice::showing(0.999));
        for (ms, p) in [(0, 0.0), (0, 0.02), (50, 0.02), (100, 0.02), (101, 0.04)] {
            blue.enqueue(at(ms), Plain::new(100), &mut queue, &mut owner);
            assert_close(blue.p, p);
        }
        assert_eq!(owner.dropped.len(), 4);
        for (ms, p) in [(150, 0.04), (150, 0.04), (202, 0.038), (203, 0.038)] {
            blue.dequeue(at(ms), &mut queue, &mut owner);
            assert_close(blue.p, p);
        }
    }

    /// p must not leave 0 to 1, even with large steps.
    #[test]
    fn p_stays_within_0_and_1() {
        let mut blue = blue("d1 0.7 d2 0.9 freeze_time 0");
        for (ms, change, p) in [(1, 0.7, 0.7), (2, 0.7, 1.0), (3, -0.9, 0.1), (4, -0.9, 0.0)] {
            blue.step(at(ms), change);
            assert_close(blue.p, p);
        }
    }

    /// With L = 2 the arrival that finds three packets must count as an overflow, although the buffer has room.
    #[test]
    fn a_queue_above_the_threshold_counts_as_loss() {
        let (mut blue, mut queue, mut owner) = (blue("threshold 2"), Fifo::default(), Dice::showing(0.999));
        for p in [0.0, 0.0, 0.0, 0.02] {
            blue.enqueue(at(1), Plain::new(100), &mut queue, &mut owner);
            assert_close(blue.p, p);
        }
        assert_eq!((queue.len(), owner.dropped.len()), (4, 0));
    }

    #[test]
    fn arrivals_are_dropped_or_marked_with_p() {
        let fates = |words: &str, dice, ecn| {
            let (mut blue, mut queue) = (Blue { p: 0.25, ..blue(words) }, Fifo::default());
            let mut owner = Dice::showing(dice);
            blue.enqueue(at(1), Plain { ecn, ..Plain::new(100) }, &mut queue, &mut owner);
            (queue.len(), owner.dropped.len(), owner.marked)
        };
        assert_eq!(fates("", 0.24, Ecn::Ect0), (0, 1, 0));
        assert_eq!(fates("", 0.25, Ecn::NotEct), (1, 0, 0));
        assert_eq!(fates("ecn", 0.24, Ecn::Ect0), (1, 0, 1));
        assert_eq!(fates("ecn", 0.24, Ecn::NotEct), (0, 1, 0));
    }
}
