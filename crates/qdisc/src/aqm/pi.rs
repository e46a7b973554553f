//! PI: the proportional-integral controller.
//!
//! Source: Hollot, Misra, Towsley and Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows",
//! INFOCOM 2001, with the constants of ns-2.35's `Queue/PI`. W times per second
//!
//! p = p + a (q - `q_ref`) - b (`q_old` - `q_ref`), within 0 and 1,
//!
//! where q is the queue's length at that moment. Arrivals are dropped or marked with probability p. (A public page
//! prints the last sign as +, which is wrong: the controller would not come to rest.) PI is a relative of PIE. It
//! does not tune its gains, and it steers packets, not time.
//!
//! The constants are made for one link and load, and do not scale by themselves. The paper was not available: the law
//! and its constants are those of ns-2.
//!
//! A replay against ns-2.35 (`ns2_tests.rs`) agrees in each p and each decision.
//!
//! Decided here: with `bytes` the queue is measured in average packets, and the probability is scaled by the packet's
//! size. A full queue drops before the dice are thrown. The first update comes 1/w after the start.

use super::admission::Admission;
use super::gentle::{AVPKT, BYTES, LIMIT};
use super::{Aqm, Periodic};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, Link, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Raw};
use crate::signal::Owner;
use goodqueue_units::{Duration, Instant};

/// PI over one FIFO.
#[derive(Clone, Debug)]
pub struct Pi {
    admission: Admission,
    bytes: bool,
    a: f64,
    b: f64,
    q_ref: f64,
    /// Bytes of an average packet.
    packet: f64,
    pub(super) p: f64,
    q_old: f64,
    timer: Periodic,
}

const NS2: &str = "ns-2.35: Queue/PI";

const A: Param<f64> =
    Param::real("a", "weight of the queue's distance from q_ref, per packet").default(1.822e-5);
const B: Param<f64> =
    Param::real("b", "weight of the previous distance, which counts with the other sign").default(1.816e-5);
const W: Param<f64> =
    Param::real("w", "updates of the probability per second").default(170.0).range(0.1, 1e5);
const Q_REF: Param<f64> = Param::real("q_ref", "queue length in packets that the controller steers to")
    .default(50.0)
    .range(0.0, 1e9);

const PARAMS: &[ParamSpec] = params! { from NS2 =>
    LIMIT, A, B, W, Q_REF, BYTES.source(NS2),
    AVPKT.source("ns-2.35: Queue/PI mean_pktsize_ (500)").help("average packet, for bytes; unset: a full frame"),
    ECN,
};

impl Aqm for Pi {
    const SPEC: QdiscSpec = QdiscSpec::new("pi", PARAMS)
        .not_in_linux()
        .summary("Drops arrivals at random, with a probability that steers the queue to q_ref packets")
        .source("Hollot et al. 2001; ns-2.35");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let interval = Duration::from_secs_f64(1.0 / args.get(&W));
        Ok(Self {
            admission: Admission::new(args),
            bytes: args.get(&BYTES),
            a: args.get(&A),
            b: args.get(&B),
            q_ref: args.get(&Q_REF),
            packet: args.get(&AVPKT).unwrap_or(link.mtu.into()) as f64,
            p: 0.0,
            q_old: 0.0,
            timer: Periodic::new(interval, interval),
        })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let Self { p, q_old, timer, .. } = *self;
        let fresh = Self::build(args, link)?;
        *self = Self { p, q_old, timer: fresh.timer.going_on_from(timer), ..fresh };
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
        let p = if self.bytes { self.p * f64::from(packet.len()) / self.packet } else { self.p };
        self.admission.enqueue(p, packet, queue, owner)
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
        probe.measured("q_old", Raw::Real(self.q_old), Measure::Packets(Some(self.q_old)));
    }
}

impl Pi {
    /// Makes the periodic update with `q` packets waiting, in ns-2's form.
    fn update(&mut self, q: f64) {
        let change = self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref);
        self.p = (self.p + change).clamp(0.0, 1.0);
        self.q_old = q;
    }
}

#[cfg(test)]
mod tests {
    use super::super::dice::Dice;
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::{Ecn, Rate};

    static SPEC: QdiscSpec = Pi::SPEC;
    const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

    fn pi(words: &str) -> Pi {
        Pi::build(&Args::parse(&SPEC, words).unwrap(), &LINK).unwrap()
    }

    fn assert_close(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-12, "{got} is not {want}");
    }

    /// From p = 0.1, q_old = 100: at q = 150, a * 100 - b * 50 = 0.001822 - 0.000908 = 0.000914. Then at 150 again a *
    /// 100 - b * 100 = 6e-6: a queue that stands still above q_ref must raise p by (a - b) per packet and update.
    /// With the other sign of b the second step would be 0.003638.
    #[test]
    fn the_controller_weighs_where_the_queue_is_and_was() {
        let mut pi = Pi { p: 0.1, q_old: 100.0, ..pi("") };
        pi.update(150.0);
        assert_close(pi.p, 0.100_914);
        pi.update(150.0);
        assert_close(pi.p, 0.100_92);
        pi.update(50.0); // back at q_ref: -b * 100
        assert_close(pi.p, 0.099_104);
        pi.update(50.0);
        assert_close(pi.p, 0.099_104);
    }

    #[test]
    fn p_stays_within_0_and_1() {
        let mut down = Pi { q_old: 200.0, ..pi("") };
        down.update(0.0);
        assert_eq!(down.p, 0.0);
        let mut up = Pi { p: 0.9999, ..pi("a 0.01") };
        up.update(1000.0);
        assert_eq!(up.p, 1.0);
    }

    /// 170 times per second: every 5 882 353 ns, rounded. With `bytes`, 3 packets of 757 bytes are 1.5 full frames.
    #[test]
    fn the_timer_looks_at_the_queue() {
        let (mut pi, mut queue) = (pi("a 0.01 b 0 q_ref 0 bytes"), Fifo::default());
        let due = pi.next_timer().unwrap();
        assert_eq!(due.as_nanos(), 5_882_353);
        for _ in 0..3 {
            pi.enqueue(Instant::ZERO, Plain::new(757), &mut queue, &mut Dice::showing(0.0));
        }
        pi.on_timer(due, &queue);
        assert_close(pi.p, 0.015);
        assert_eq!(pi.next_timer().unwrap().as_nanos(), 2 * 5_882_353);
    }

    /// p = 0.5: half a frame counts half in byte mode only. With `ecn`, ECN-capable packets must be marked.
    #[test]
    fn arrivals_are_dropped_or_marked_with_p() {
        let fates = |words: &str, dice, ecn| {
            let (mut pi, mut queue) = (Pi { p: 0.5, ..pi(words) }, Fifo::default());
            let mut owner = Dice::showing(dice);
            pi.enqueue(Instant::ZERO, Plain { ecn, ..Plain::new(757) }, &mut queue, &mut owner);
            (queue.len(), owner.dropped.len(), owner.marked)
        };
        assert_eq!(fates("", 0.49, Ecn::NotEct), (0, 1, 0));
        assert_eq!(fates("", 0.5, Ecn::NotEct), (1, 0, 0));
        assert_eq!(fates("bytes", 0.26, Ecn::NotEct), (1, 0, 0));
        assert_eq!(fates("bytes", 0.24, Ecn::NotEct), (0, 1, 0));
        assert_eq!(fates("ecn", 0.49, Ecn::Ect0), (1, 0, 1));
        assert_eq!(fates("", 0.49, Ecn::Ect0), (0, 1, 0));
    }
}
