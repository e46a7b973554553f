//! FQ-noCoDel: `fq_codel` with CoDel switched off by a target that no packet exceeds, so fair queueing alone.
//!
//! Source: Høiland-Jørgensen, Hurtig and Brunstrom, "The Good, the Bad and the WiFi", Computer Networks 89, 2015,
//! section 4.7 and table 1: a target of 100 s, and SFQ's limit of 127 packets (at 100 Mbit/s: 1000), so that the
//! comparison is of schedulers and not of queue lengths. Code and other defaults are those of `fq_codel`: overflow
//! drops from the head of the fattest flow. ECN is on, but no packet is ever marked.

use super::fq_codel::{self, FqCodel, LIMIT};
use crate::aqm::codel::TARGET;
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, ParamSpec, QdiscSpec, secs};
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::signal::Owner;
use goodqueue_units::Instant;

/// The paper's `fq_nocodel`.
#[derive(Clone, Debug)]
pub struct FqNocodel<P>(FqCodel<P>);

const PAPER: &str = "Høiland-Jørgensen et al. 2015, table 1";

/// The parameters of `fq_codel`, except the two that the paper sets.
const PARAMS: [ParamSpec; 10] =
    fq_codel::params(&LIMIT.default(127).source(PAPER), &TARGET.default(secs(100)).source(PAPER));

impl<P: Packet> Discipline<P> for FqNocodel<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("fq_nocodel", &PARAMS)
        .not_in_linux()
        .summary("fq_codel without CoDel: flow queues in rounds, target 100 s")
        .source("Høiland-Jørgensen et al. 2015, 4.7");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        FqCodel::build(args, link).map(Self)
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        self.0.change(now, args, link, owner)
    }

    fn look(&mut self) -> Look<'_, P> {
        self.0.look()
    }
}

impl<P: Packet> Qdisc<P> for FqNocodel<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        self.0.enqueue(now, packet, owner)
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.0.dequeue(now, owner)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.0.probe(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Noted;
    use super::*;
    use crate::packet::Plain;
    use crate::registry::{AnyQdisc, parse_line};
    use alloc::string::ToString;
    use goodqueue_units::{Duration, Rate};

    #[test]
    fn the_line_says_what_the_paper_set() {
        let line = parse_line("fq_nocodel").unwrap().to_string();
        assert!(line.starts_with("fq_nocodel limit 127 flows 1024 quantum 1514 target 1"), "{line}");
        let (ours, theirs) = (FqNocodel::<Plain>::SPEC.params, FqCodel::<Plain>::SPEC.params);
        let names = |params: &'static [ParamSpec]| params.iter().map(|param| param.name);
        assert!(names(ours).eq(names(theirs)));
        assert_eq!(parse_line("fq_nocodel").unwrap().get(&TARGET), Duration::from_secs(100));
    }

    /// Two standing flows are served so slowly that packets wait for seconds: `fq_codel` must drop, `fq_nocodel` must
    /// not.
    #[test]
    fn packets_that_wait_for_seconds_are_not_dropped() {
        let link = Link { rate: Rate::from_bps(1_000_000).unwrap(), mtu: 1514 };
        let drops = |line| {
            let (mut qdisc, mut owner) = (AnyQdisc::parse(line, &link).unwrap(), Noted::default());
            for id in 0..100 {
                let flow_hash = (id as u32 % 2) << 31;
                qdisc.enqueue(Instant::ZERO, Plain { id, flow_hash, ..Plain::new(1514) }, &mut owner);
            }
            for ms in 0..90 {
                qdisc.dequeue(Instant::ZERO + Duration::from_millis(200 * ms), &mut owner);
            }
            owner.dropped.len()
        };
        assert_eq!(drops("fq_nocodel"), 0);
        assert!(drops("fq_codel") > 5);
    }
}
