//! `cake_mq`: one CAKE per transmit queue of the device, and one rate that they share.
//!
//! Source: golden traces of Linux 7.3 (the discipline came with 7.0). The queues have one configuration. Each has its
//! own flows, tins and memory limit. They share only the rate: a dequeue looks at the other queues at most once per
//! [`SYNC_TIME`], and counts those that are active. The queue then shapes to its share of the rate. The tins' rates and
//! the flows' quanta follow this share; targets, intervals and the limit stay those of the whole rate. So flows are
//! isolated only within a queue, and a queue whose competitors have fallen silent gets its share back at its next look.
//!
//! How this implementation differs: in Linux the device says how many queues there are, which flow is in which queue,
//! and which queue sends next. Here the word `txqueues` gives the number, a flow's hash chooses the queue, and the
//! device takes packets from the queues in turn. It asks only those queues that Linux would ask, since each question
//! may be a look at the other queues.

use super::Cake;
use super::diffserv::Share;
use super::params::{self, PARAMS as CAKES};
use crate::discipline::Discipline;
use crate::kept::{Kept, Look};
use crate::packet::Packet;
use crate::param::{Args, Error, Link, Param, ParamSpec, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Measure, Moment, Probe, Qdisc};
use crate::signal::Owner;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use goodqueue_units::{Duration, Instant, Release};

/// Number of transmit queues.
pub(crate) const TX_QUEUES: Param<u32> =
    Param::count("txqueues", "number of the device's transmit queues; in Linux a property of the device")
        .default(4)
        .range(1, 64)
        .fixed()
        .source("goodqueue");

/// `tc`'s `cake_mq`: cake's parameters, and the device's.
const SPEC: QdiscSpec = QdiscSpec::new("cake_mq", PARAMS)
    .since(Release::Linux7_3)
    .summary("One CAKE per transmit queue of the device, with one rate that the active queues share")
    .source("tc-cake(8); Linux 7.3 (golden traces)");

const PARAMS: &[ParamSpec] = &{
    let mut all = [TX_QUEUES.spec(); CAKES.len() + 1];
    let mut at = 0;
    while at < CAKES.len() {
        all[at + 1] = CAKES[at];
        at += 1;
    }
    all
};

/// The shortest time between two looks at the other queues.
const SYNC_TIME: Duration = Duration::from_micros(200);

/// One transmit queue.
#[derive(Clone, Debug)]
struct Queue<P> {
    cake: Cake<P>,
    /// When it last handed out a packet.
    last_active: Instant,
    /// When it last looked at the other queues.
    last_checked_active: Instant,
    /// The queues that were active then, itself included.
    active: u32,
    /// Whether Linux would ask it for a packet: it got one, handed one out or its timer fired, and it was not found
    /// without a packet to give since then.
    is_called: bool,
}

impl<P: Packet> Queue<P> {
    /// Returns whether the queue's own timer is due.
    fn is_due(&self, now: Instant) -> bool {
        self.cake.next_timer().is_some_and(|due| due <= now)
    }

    /// Shapes to the queue's share of `rate`, in bytes per second; 0: unlimited.
    fn share(&mut self, rate: u64) {
        let least = rate.min(1); // a share of 0 would be unlimited
        self.cake.shape_to((rate / u64::from(self.active)).max(least));
    }
}

impl<P: Packet> Cake<P> {
    /// Shapes to `rate`, in bytes per second. Only the paces and the flows' quanta follow it.
    fn shape_to(&mut self, rate: u64) {
        let setup = Arc::make_mut(&mut self.setup);
        for (index, share) in setup.shares[..setup.tins].iter_mut().enumerate() {
            let Share { pace, flow_quantum, .. } = setup.plan.share(index, rate);
            (share.pace, share.flow_quantum) = (pace, flow_quantum);
        }
    }
}

/// `tc`'s `cake_mq`.
#[derive(Clone, Debug)]
pub struct CakeMq<P> {
    queues: Vec<Queue<P>>,
    /// The rate that the queues share, in bytes per second; 0: unlimited.
    rate: u64,
    /// The queue of the last call.
    at: usize,
    /// Whether the caller says which queue a call is of.
    is_pinned: bool,
    kept: Kept<P>,
}

impl<P: Packet> Discipline<P> for CakeMq<P> {
    const SPEC: QdiscSpec = SPEC;

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        if args.get(&params::AUTORATE).is_some() {
            let accepted = "accepted: a line without it, as in Linux";
            return Err(Error(format!("cake_mq autorate: found autorate-ingress; {accepted}")));
        }
        let queue = |_| {
            let (last_active, last_checked_active) = (Instant::ZERO, Instant::ZERO);
            let cake = Cake::build(args, link)?;
            Ok(Queue { cake, last_active, last_checked_active, active: 1, is_called: false })
        };
        let queues = (0..args.get(&TX_QUEUES)).map(queue).collect::<Result<Vec<_>, Error>>()?;
        Ok(Self { rate: queues[0].cake.setup.rate, queues, at: 0, is_pinned: false, kept: Kept::default() })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        Self::build(args, link)?;
        for queue in &mut self.queues {
            queue.cake.change(now, args, link, owner)?;
            queue.is_called = true;
            self.rate = queue.cake.setup.rate;
            queue.share(self.rate);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.kept.look()
    }
}

impl<P: Packet> Qdisc<P> for CakeMq<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        if !self.is_pinned {
            self.at = ((u64::from(packet.flow_hash()) * self.queues.len() as u64) >> 32) as usize;
        }
        let queue = &mut self.queues[self.at];
        queue.is_called = true;
        queue.cake.enqueue(now, packet, owner)
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        if self.is_pinned {
            return self.dequeue_at(self.at, now, owner);
        }
        let count = self.queues.len();
        let mut turns = (self.at + 1..=self.at + count).map(|turn| turn % count);
        turns.find_map(|at| {
            let is_asked = self.queues[at].is_called || self.queues[at].is_due(now);
            if is_asked { self.dequeue_at(at, now, owner) } else { None }
        })
    }

    fn queues(&self) -> &'static [&'static str] {
        self.queues[0].cake.queues()
    }

    fn queue_of(&self, packet: &P) -> usize {
        self.queues[0].cake.queue_of(packet)
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn next_timer(&self) -> Option<Instant> {
        self.queues.iter().filter_map(|queue| queue.cake.next_timer()).min()
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        for queue in &mut self.queues {
            queue.is_called |= queue.is_due(now);
            queue.cake.on_timer(now, owner);
        }
    }

    fn backlog(&self) -> Backlog {
        let of = |queue: &Queue<P>| queue.cake.backlog();
        if self.is_pinned {
            return of(&self.queues[self.at]);
        }
        self.queues.iter().map(of).chain([self.kept.backlog]).sum()
    }

    /// Shows the queue of the last call.
    fn probe(&self, probe: &mut dyn Probe) {
        let queue = &self.queues[self.at];
        probe.integer("active_queues", queue.active.into());
        for (name, time) in
            [("last_checked_active", queue.last_checked_active), ("last_active", queue.last_active)]
        {
            let moment = (time > Instant::ZERO).then(|| Moment::from(time));
            probe.measured(name, time.as_nanos().into(), Measure::Moment(moment));
        }
        let pace = queue.cake.pace();
        probe.measured("rate_ns", pace.ns.into(), Measure::Internal);
        probe.measured("rate_shft", pace.shift.into(), Measure::Internal);
        queue.cake.probe(probe);
    }
}

impl<P: Packet> CakeMq<P> {
    /// Makes the following calls those of one transmit queue, for a caller that is the device. `None`: of all queues.
    ///
    /// # Errors
    /// Fails if there is no such queue.
    pub(crate) fn pin(&mut self, queue: Option<usize>) -> Result<(), Error> {
        let last = self.queues.len() - 1;
        if let Some(queue) = queue.filter(|queue| *queue > last) {
            return Err(Error(format!("transmit queue: found {queue}; accepted: 0 to {last}")));
        }
        (self.at, self.is_pinned) = (queue.unwrap_or(self.at), queue.is_some());
        Ok(())
    }

    fn dequeue_at<O: Owner<P>>(&mut self, at: usize, now: Instant, owner: &mut O) -> Option<P> {
        self.look(at, now);
        let queue = &mut self.queues[at];
        let packet = queue.cake.dequeue(now, owner);
        queue.is_called = packet.is_some();
        if packet.is_some() {
            queue.last_active = now;
            self.at = at;
        }
        packet
    }

    /// Counts the active queues for the queue `at`, if that is due, and sets its share of the rate.
    fn look(&mut self, at: usize, now: Instant) {
        let since = self.queues[at].last_checked_active;
        if self.rate == 0 || now.since(since) < SYNC_TIME {
            return;
        }
        let is_active = |queue: &Queue<P>| queue.cake.backlog.packets > 0 || queue.last_active > since;
        let others = self.queues.iter().enumerate().filter(|(other, queue)| *other != at && is_active(queue));
        let active = 1 + others.count() as u32;
        let queue = &mut self.queues[at];
        queue.last_checked_active = now;
        if queue.active != active {
            queue.active = active;
            queue.share(self.rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Plain;
    use crate::sched::Noted;
    use goodqueue_units::Rate;

    fn build(words: &str) -> CakeMq<Plain> {
        let link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };
        CakeMq::build(&Args::parse(&SPEC, words).unwrap(), &link).unwrap()
    }

    /// Offers 20 packets of 1000 bytes of a flow in the queue `queue` of four, and returns which leaves when, in us.
    fn leave(qdisc: &mut CakeMq<Plain>, queues: &[u32], until_us: u64) -> Vec<(u64, u64)> {
        let mut owner = Noted::default();
        for queue in queues {
            for _ in 0..20 {
                let packet = Plain { flow_hash: queue << 30, id: u64::from(*queue), ..Plain::new(1000) };
                qdisc.enqueue(Instant::from_nanos(1_000_000), packet, &mut owner);
            }
        }
        (1000..until_us)
            .filter_map(|us| Some((us, qdisc.dequeue(Instant::from_nanos(us * 1000), &mut owner)?.id)))
            .collect()
    }

    /// 8 Mbit/s are 1 ms per packet of 1000 bytes. Two busy queues have half the rate each, and their turns alternate.
    #[test]
    fn busy_queues_share_the_rate() {
        // One call per microsecond.
        let alone = leave(&mut build("txqueues 4 bandwidth 8mbit"), &[2], 5_000);
        assert_eq!(alone, [(1000, 2), (2000, 2), (3000, 2), (4000, 2)]);
        let two = leave(&mut build("txqueues 4 bandwidth 8mbit"), &[2, 0], 5_000);
        assert_eq!(two, [(1000, 2), (1001, 0), (3000, 2), (3001, 0)]);
    }

    /// The share of a silent queue comes back at the next look, 200 us or more after the last one.
    #[test]
    fn a_look_is_due_after_the_sync_time() {
        let mut qdisc = build("txqueues 4 bandwidth 8mbit");
        let mut owner = Noted::default();
        let mut active = |qdisc: &mut CakeMq<Plain>, us: u64| {
            qdisc.dequeue_at(0, Instant::from_nanos(us * 1000), &mut owner);
            qdisc.queues[0].active
        };
        qdisc.queues[3].last_active = Instant::from_nanos(500_000);
        assert_eq!(active(&mut qdisc, 400), 2, "later than the last look, which was at 0");
        assert_eq!(active(&mut qdisc, 599), 2, "199 us are too short");
        assert_eq!(active(&mut qdisc, 600), 2, "500 us is after the look at 400 us");
        assert_eq!(active(&mut qdisc, 800), 1);
        let unlimited = &mut build("txqueues 4");
        unlimited.queues[3].last_active = Instant::from_nanos(500_000);
        assert_eq!((active(unlimited, 900), unlimited.queues[0].last_checked_active), (1, Instant::ZERO));
    }

    /// A queue that is empty for a moment keeps its share as long as the other one does not send: a look each 200 us,
    /// when nobody wants a packet of the other queue, would give the whole rate away.
    #[test]
    fn a_queue_is_asked_only_when_linux_would_ask_it() {
        let mut qdisc = build("txqueues 2 bandwidth 8mbit");
        let mut owner = Noted::default();
        let at = |us: u64| Instant::from_nanos(us * 1000);
        for hash in [0, 0, 1 << 31] {
            qdisc.enqueue(at(1000), Plain { flow_hash: hash, ..Plain::new(1000) }, &mut owner);
        }
        let left = [1000, 1001, 1002, 1003].map(|us| qdisc.dequeue(at(us), &mut owner).is_some());
        assert_eq!(left, [true, true, false, false], "one of each queue, and the second waits for 2 ms");
        let looked = |qdisc: &CakeMq<Plain>| qdisc.queues[0].last_checked_active;
        let before = looked(&qdisc);
        for us in (1250..3000).step_by(250) {
            assert!(qdisc.dequeue(at(us), &mut owner).is_none());
        }
        assert_eq!((looked(&qdisc), qdisc.next_timer()), (before, Some(at(3000))));
        qdisc.on_timer(at(3000), &mut owner);
        assert!(qdisc.dequeue(at(3000), &mut owner).is_some());
        assert_eq!(looked(&qdisc), at(3000), "its timer is a question");
    }

    #[test]
    fn autorate_is_refused() {
        let link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };
        let args = Args::parse(&SPEC, "bandwidth 8mbit autorate-ingress").unwrap();
        let error = CakeMq::<Plain>::build(&args, &link).unwrap_err();
        assert!(error.0.starts_with("cake_mq autorate: found autorate-ingress; accepted: "), "{error}");
    }
}
