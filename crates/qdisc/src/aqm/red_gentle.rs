//! RED with gentle mode and a fixed `max_p`: Floyd's RED of simulations.
//!
//! Source: Floyd and Jacobson 1993, and Floyd's gentle mode of 2000. The law with its choices is in `gentle.rs`. The
//! other REDs differ from this one:
//!
//! - `red` is Linux's: integers, no gentle mode, one random number per drop, set up by `tc`'s rules;
//! - `ared` moves `max_p`, and takes its thresholds and its weight from the link's rate;
//! - ns-2's `Queue/RED` also sets `min`, `max` and the weight up from a delay unless told otherwise. It marks by the
//!   probability, while this RED marks by the average (see `gentle.rs`).
//!
//! `nogentle nowait max_p 0.02` is the RED of 1993.

use super::Aqm;
use super::gentle::{AVPKT, BYTES, Gentle, LIMIT, MAX_P, Params, WAIT, capacity};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, Link, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::Owner;
use goodqueue_units::Instant;

/// RED with gentle mode over one FIFO.
#[derive(Clone, Debug)]
pub struct RedGentle {
    pub(super) law: Gentle,
}

const MIN: Param<f64> = Param::real("min", "lower threshold in packets")
    .default(5.0)
    .range(0.1, 1e9)
    .source("unverified: Floyd, Jacobson 1993; ns-2's RIO has it");
const MAX: Param<Option<f64>> = Param::real("max", "upper threshold in packets; unset: 3 min")
    .range(0.1, 1e9)
    .source("unverified: Floyd, Jacobson 1993; ns-2's RIO has 15");
const WEIGHT: Param<f64> = Param::real("weight", "weight of the average")
    .default(0.002)
    .range(1e-9, 1.0)
    .source("unverified: Floyd, Jacobson 1993; ns-2's RIO has it");
const GENTLE: Param<bool> = Param::flag("gentle", "from max to twice max p rises to 1, instead of at once")
    .default(true)
    .source("ns-2.35: Queue/RED gentle_");

const PARAMS: &[ParamSpec] = params! {
    LIMIT, MIN, MAX, WEIGHT, MAX_P.source("ns-2.35: Queue/RED linterm_ 10"), GENTLE, WAIT, BYTES,
    AVPKT.source("ns-2.35: Queue/RED mean_pktsize_ (500)")
        .help("average packet, for byte mode and for the decay while idle; unset: a full frame"),
    ECN.source("RFC 3168, 5").help("mark ECN-capable packets instead of dropping them, up to an average of max"),
};

impl Aqm for RedGentle {
    const SPEC: QdiscSpec = QdiscSpec::new("red_gentle", PARAMS)
        .not_in_linux()
        .summary("RED as in simulations: gentle above max, fixed max_p, in packets or bytes")
        .source("Floyd, Jacobson 1993; ns-2.35");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let packet = args.get(&AVPKT).unwrap_or(link.mtu.into()) as f64;
        let min = args.get(&MIN);
        let params = Params {
            min,
            max: args.get(&MAX).unwrap_or(3.0 * min),
            weight: args.get(&WEIGHT),
            capacity: capacity(link, packet),
            packet,
            gentle: args.get(&GENTLE),
            bytes: args.get(&BYTES),
            wait: args.get(&WAIT),
        };
        Ok(Self { law: Gentle::new(args, params)? })
    }

    fn change(&mut self, now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        self.law.change(now, Self::build(args, link)?.law);
        Ok(())
    }

    fn limit(&self) -> Backlog {
        self.law.limit()
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        self.law.enqueue(now, packet, queue, owner)
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        self.law.dequeue(now, queue)
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.law.probe(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::super::dice::Dice;
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::Rate;

    static SPEC: QdiscSpec = RedGentle::SPEC;
    const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

    fn red(words: &str) -> RedGentle {
        RedGentle::build(&Args::parse(&SPEC, words).unwrap(), &LINK).unwrap()
    }

    /// Three packets of 500 bytes, with the weight 1/2 so that the average is easy to follow. In packet mode arrivals
    /// find 0, 1 and 2: the average is 0, 1/2, 1.25. In byte mode with packets of 1000 bytes they find 0, 0.5 and 1:
    /// 0, 1/4, 5/8.
    #[test]
    fn byte_mode_counts_average_packets() {
        let average = |words| {
            let (mut red, mut queue) = (red(words), Fifo::default());
            for _ in 0..3 {
                red.enqueue(Instant::ZERO, Plain::new(500), &mut queue, &mut Dice::showing(0.999));
            }
            red.law.vars.avg
        };
        assert_eq!((average("weight 0.5"), average("weight 0.5 bytes avpkt 1000")), (1.25, 0.625));
    }

    /// In byte mode a packet of half the average size must have half the probability: with p_b = 0.05 (average 10
    /// between 5 and 15) and a count of 0, 0.025.
    #[test]
    fn byte_mode_scales_the_probability() {
        let p_a = |words, size| {
            let Gentle { params, vars, .. } = red(words).law;
            super::super::gentle::Vars { avg: 10.0, ..vars }.probability(&params, size)
        };
        assert!((p_a("nowait bytes", 0.5) - 0.025).abs() < 1e-12);
        assert!((p_a("nowait", 1.0) - 0.05).abs() < 1e-12);
    }

    /// C counts average packets: 10 Mbit/s carry 10^7 / (8 * 1514) = 825.63 full frames per second, or 1250 packets
    /// of 1000 bytes.
    #[test]
    fn the_decay_while_idle_counts_average_packets() {
        assert!((red("").law.params.capacity - 825.627).abs() < 1e-3);
        assert_eq!(red("avpkt 1000").law.params.capacity, 1250.0);
        assert_eq!((red("").law.params.max, red("min 7").law.params.max), (15.0, 21.0));
    }
}
