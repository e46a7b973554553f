//! REM: random exponential marking.
//!
//! Source: Athuraliya, Li, Low and Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001, with the constants
//! of ns-2.35's `Queue/REM`. The link has a price. The price grows while more packets arrive than the link carries,
//! or while more than b* packets wait:
//!
//! price = max(0, price + gamma (x + alpha (q - b*) - c)), p = 1 - phi^-price.
//!
//! It is updated periodically. x is the number of packets that arrived since the last update, and c the number that
//! the link can carry in that time. p is exponential, so that the prices of several links on a path add up to one
//! probability.
//!
//! A replay against ns-2.35 (`ns2_tests.rs`) agrees in each price, p and decision. The replay does not cover three
//! differences: ns-2 drops the arrival that would make the queue `limit`, marks at dequeue, and with `qib_` scales p
//! by the packet's size.
//!
//! Decided here:
//!
//! - c follows changes of the link's rate. ns-2 keeps the c of the start, which is wrong after a change;
//! - x includes dropped packets. `inw` smooths x; by default it does not;
//! - each packet counts as 1, or with `bytes` by its size in average packets. The probability is not scaled by size;
//! - a full queue drops before the dice are thrown. The first update comes one interval after the start.

use super::admission::Admission;
use super::gentle::{AVPKT, BYTES, LIMIT, capacity};
use super::{Aqm, Periodic};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, Link, Param, ParamSpec, QdiscSpec, ms};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Raw};
use crate::signal::Owner;
use goodqueue_units::{Duration, Instant};

/// REM over one FIFO.
#[derive(Clone, Debug)]
pub struct Rem {
    admission: Admission,
    bytes: bool,
    gamma: f64,
    phi: f64,
    alpha: f64,
    /// b*: the queue that REM steers to, in packets.
    target: f64,
    inw: f64,
    /// c: packets that the link carries between two updates.
    per_update: f64,
    /// Bytes of an average packet.
    packet: f64,
    /// Packets that arrived since the last update.
    arrived: f64,
    /// x, smoothed.
    input: f64,
    pub(super) price: f64,
    pub(super) p: f64,
    timer: Periodic,
}

const NS2: &str = "ns-2.35: Queue/REM";

const GAMMA: Param<f64> =
    Param::real("gamma", "increase of the price per packet in excess").default(0.001).range(0.0, 1e3);
const PHI: Param<f64> =
    Param::real("phi", "base of the probability 1 - phi^-price").default(1.001).range(1.000_001, 1e3);
const ALPHA: Param<f64> = Param::real("alpha", "weight of the queue against the rate")
    .default(0.1)
    .range(0.0, 1e3)
    .source("ns-2.35: Queue/REM, hard-coded");
const BSTAR: Param<f64> =
    Param::real("bstar", "queue length in packets that the law steers to").default(20.0).range(0.0, 1e9);
const INW: Param<f64> =
    Param::real("inw", "weight of the newest arrivals in the average of arrivals; 1: no average")
        .default(1.0)
        .range(1e-6, 1.0);
const INTERVAL: Param<Duration> =
    Param::time("interval", "time between two updates of the price").default(ms(2));

const PARAMS: &[ParamSpec] = params! { from NS2 =>
    LIMIT, GAMMA, PHI, ALPHA, BSTAR, INW, INTERVAL,
    BYTES.source(NS2).help("count arrivals and the queue in bytes"),
    AVPKT.source("ns-2.35: Queue/REM mean_pktsize_ (1000)")
        .help("average packet, the unit of the link's rate; unset: a full frame"),
    ECN,
};

impl Aqm for Rem {
    const SPEC: QdiscSpec = QdiscSpec::new("rem", PARAMS)
        .not_in_linux()
        .summary("Drops arrivals at random, with a probability exponential in the link's price")
        .source("Athuraliya et al. 2001; ns-2.35");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let interval = args.get(&INTERVAL);
        let packet = args.get(&AVPKT).unwrap_or(link.mtu.into()) as f64;
        Ok(Self {
            admission: Admission::new(args),
            bytes: args.get(&BYTES),
            gamma: args.get(&GAMMA),
            phi: args.get(&PHI),
            alpha: args.get(&ALPHA),
            target: args.get(&BSTAR),
            inw: args.get(&INW),
            per_update: capacity(link, packet) * interval.as_secs_f64(),
            packet,
            arrived: 0.0,
            input: 0.0,
            price: 0.0,
            p: 0.0,
            timer: Periodic::new(interval, interval),
        })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let Self { arrived, input, price, p, timer, .. } = *self;
        let fresh = Self::build(args, link)?;
        *self = Self { arrived, input, price, p, timer: fresh.timer.going_on_from(timer), ..fresh };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        self.admission.limit()
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        _now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        self.arrived += if self.bytes { f64::from(packet.len()) / self.packet } else { 1.0 };
        self.admission.enqueue(self.p, packet, queue, owner)
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, queue: &Fifo<P>) {
        self.timer.fired(now);
        self.update(if self.bytes { queue.bytes() as f64 / self.packet } else { queue.len() as f64 });
    }

    fn probe(&self, probe: &mut dyn Probe) {
        probe.real("drop_probability", self.p);
        probe.real("price", self.price);
        probe.measured("input", Raw::Real(self.input), Measure::Packets(Some(self.input)));
    }
}

impl Rem {
    /// Makes the periodic update, with `q` packets waiting.
    fn update(&mut self, q: f64) {
        self.input += self.inw * (self.arrived - self.input);
        self.arrived = 0.0;
        let excess = self.input + self.alpha * (q - self.target) - self.per_update;
        self.price = (self.price + self.gamma * excess).max(0.0);
        self.p = 1.0 - libm::pow(self.phi, -self.price);
    }
}

#[cfg(test)]
mod tests {
    use super::super::dice::Dice;
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::{Ecn, Rate};

    static SPEC: QdiscSpec = Rem::SPEC;
    /// 6.056 Mbit/s are 500 full frames per second: one in 2 ms.
    const LINK: Link = Link { rate: Rate::from_bps(6_056_000).unwrap(), mtu: 1514 };

    fn rem(words: &str) -> Rem {
        Rem::build(&Args::parse(&SPEC, words).unwrap(), &LINK).unwrap()
    }

    fn assert_close(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() < 1e-12, "{what}: {got} is not {want}");
    }

    /// c = 1. With three arrivals and 70 waiting, 3 + 0.1 * 50 - 1 = 7 are too many, so the price rises by 0.007. At
    /// rest, with one arrival and 20 waiting, it stays. With no arrival and an empty queue it falls by (2 + 1) /
    /// 1000, but not below 0.
    #[test]
    fn the_price_follows_the_rate_and_the_queue() {
        let mut rem = rem("");
        assert_close(rem.per_update, 1.0, "c");
        for (arrived, queue, price) in [(3.0, 70.0, 0.007), (1.0, 20.0, 0.007), (0.0, 0.0, 0.004)] {
            rem.arrived = arrived;
            rem.update(queue);
            assert_close(rem.price, price, "price");
        }
        rem.update(0.0);
        rem.update(0.0);
        assert_eq!((rem.price, rem.p), (0.0, 0.0));
    }

    /// At half the rate c must be half, and the price must stay.
    #[test]
    fn the_capacity_follows_the_link_and_the_price_stays() {
        let mut rem = Rem { price: 7.0, arrived: 3.0, ..rem("") };
        let half = Link { rate: Rate::from_bps(3_028_000).unwrap(), ..LINK };
        rem.change(Instant::ZERO, &Args::defaults(&SPEC), &half).unwrap();
        assert_close(rem.per_update, 0.5, "c");
        assert_eq!((rem.price, rem.arrived, rem.timer.due().as_nanos()), (7.0, 3.0, 2_000_000));
    }

    /// phi^-price: at the price ln 2 / ln 1.001 = 693.49 p is one half, at twice the price three quarters. So two
    /// links of the same price pass as many packets as one link of twice the price.
    #[test]
    fn the_probability_is_exponential_in_the_price() {
        let half = libm::log(2.0) / libm::log(1.001);
        for (price, p) in [(half, 0.5), (2.0 * half, 0.75)] {
            let mut rem = Rem { price, gamma: 0.0, ..rem("") };
            rem.update(0.0);
            assert_close(rem.p, p, "p");
        }
    }

    /// inw 0.25: the input moves a quarter of the way from 8 to 4.
    #[test]
    fn the_input_is_smoothed_by_inw() {
        let mut rem = Rem { input: 8.0, arrived: 4.0, ..rem("inw 0.25") };
        rem.update(20.0);
        assert_close(rem.input, 7.0, "input");
        assert_close(rem.price, 0.006, "price");
    }

    /// Dropped packets must count as arrived. In byte mode half a frame must count as half a packet. avpkt 757
    /// doubles c.
    #[test]
    fn arrivals_are_counted_dropped_and_marked() {
        let fates = |words: &str, dice, ecn| {
            let (mut rem, mut queue) = (Rem { p: 0.5, ..rem(words) }, Fifo::default());
            let mut owner = Dice::showing(dice);
            rem.enqueue(Instant::ZERO, Plain { ecn, ..Plain::new(757) }, &mut queue, &mut owner);
            (rem.arrived, queue.len(), owner.dropped.len(), owner.marked)
        };
        assert_eq!(fates("", 0.49, Ecn::NotEct), (1.0, 0, 1, 0));
        assert_eq!(fates("bytes", 0.5, Ecn::NotEct), (0.5, 1, 0, 0));
        assert_eq!(fates("ecn", 0.49, Ecn::Ect1), (1.0, 1, 0, 1));
        assert_close(rem("avpkt 757").per_update, 2.0, "c");
    }

    /// In bytes 70 packets of half a frame are 35: 3 + 0.1 * 15 - 1 = 3.5 too many, while 70 would give 7.
    #[test]
    fn the_queue_is_counted_as_arrivals_are() {
        for (words, price) in [("", 0.007), ("bytes", 0.0035)] {
            let (mut rem, mut queue) = (Rem { arrived: 3.0, ..rem(words) }, Fifo::default());
            (0..70).for_each(|_| queue.push(Plain::new(757)));
            let due = rem.next_timer().unwrap();
            rem.on_timer(due, &queue);
            assert_close(rem.price, price, words);
        }
    }
}
