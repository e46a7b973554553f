//! Control laws over one FIFO, one file each.
//!
//! A law is lent the queue with each call and pulls packets from it itself, as RFC 8289's pseudocode and Linux do.
//! The container [`Managed`] makes a discipline of a law and one FIFO.

mod admission;
pub mod ared;
pub mod blue;
pub mod choke;
pub mod cobalt;
pub mod codel;
#[cfg(test)]
pub(crate) mod dice;
pub mod docsis_pie;
mod gentle;
pub(crate) mod jiffies;
#[cfg(test)]
mod ns2_tests;
pub mod pi;
pub mod pie;
pub mod red;
pub mod red_gentle;
pub mod rem;
pub mod sfb;

use crate::discipline::Discipline;
use crate::fifo::Fifo;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::signal::{Drop, Mark, Owner};
use goodqueue_units::{Duration, Ecn, Instant};

/// A control law over one FIFO. The caller lends the FIFO with each call.
pub trait Aqm: Sized {
    /// Name, parameters and sources.
    const SPEC: QdiscSpec;

    /// Whether a shaper may look at the queue's head, as in Linux: the packet at the head is the next to leave.
    const SHOWS_HEAD: bool = false;

    /// Builds the law from a line's parameters.
    ///
    /// # Errors
    /// Fails if parameters contradict each other.
    fn build(args: &Args, link: &Link) -> Result<Self, Error>;

    /// Replaces parameters and link as [`Discipline::change`] does. Most laws build a new law and move their state
    /// into it.
    ///
    /// # Errors
    /// Fails if [`Aqm::build`] would fail, and then nothing has changed.
    fn change(&mut self, now: Instant, args: &Args, link: &Link) -> Result<(), Error>;

    /// Returns how much may wait. After a change the packets above it are dropped from the head.
    fn limit(&self) -> Backlog {
        Backlog::UNLIMITED
    }

    /// Decides about `packet` on arrival, and queues it or hands it to `owner`.
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued;

    /// Offers a packet of which filters say `classid`, as [`Qdisc::enqueue_into`] does.
    #[cfg(feature = "complete")]
    fn enqueue_into<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        classid: Option<crate::tree::Id>,
        (queue, owner): (&mut Fifo<P>, &mut O),
    ) -> Option<Enqueued> {
        let _ = classid;
        Some(self.enqueue(now, packet, queue, owner))
    }

    /// Takes the packet to send next.
    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Option<P> {
        let _ = (now, owner);
        queue.pop()
    }

    /// Takes the packet to send next, as [`Qdisc::dequeue_to`] does.
    #[inline]
    fn dequeue_to<P: Packet, O: Owner<P>, R>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        owner: &mut O,
        send: impl FnOnce(&P, u32) -> R,
    ) -> Option<R> {
        self.dequeue(now, queue, owner).as_ref().map(|packet| send(packet, packet.len()))
    }

    /// Lets a packet pass an empty queue, as [`Qdisc::pass`] does. Returns whether it does; if not, nothing is done.
    #[inline]
    fn pass(&mut self) -> bool {
        false
    }

    /// Takes the head packet because the limit became smaller. The law does not judge the packet.
    fn evict<P: Packet>(&mut self, queue: &mut Fifo<P>) -> Option<P> {
        queue.pop()
    }

    /// Returns when [`Aqm::on_timer`] is to be called next, as [`Qdisc::next_timer`] does.
    fn next_timer(&self) -> Option<Instant> {
        None
    }

    /// Runs the timer's work, as [`Qdisc::on_timer`] does.
    fn on_timer<P: Packet>(&mut self, now: Instant, queue: &Fifo<P>) {
        let _ = (now, queue);
    }

    /// Shows the inner state, as [`Qdisc::probe`] does.
    fn probe(&self, probe: &mut dyn Probe) {
        let _ = probe;
    }
}

/// Sets an ECN-capable packet to CE, and returns whether it is marked now. A packet that arrived with CE counts as
/// marked and is not reported to `owner`.
pub(crate) fn mark<P: Packet, O: Owner<P>>(packet: &mut P, why: Mark, owner: &mut O) -> bool {
    if !packet.ecn().is_capable() {
        return false;
    }
    if packet.ecn() != Ecn::Ce {
        packet.set_ce();
        owner.marked(packet, why);
    }
    true
}

/// Returns 64 random bits as a number in [0, 1).
pub(crate) fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// The timer of a law that looks at its queue periodically.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periodic {
    due: Instant,
    interval: Duration,
}

impl Periodic {
    /// Makes a timer that is first due `first` after the clock's epoch, and then every `interval`.
    pub(crate) fn new(first: Duration, interval: Duration) -> Self {
        Self { due: Instant::ZERO + first, interval }
    }

    /// Returns this timer with its own interval, first due when the earlier timer `before` is due.
    pub(crate) fn going_on_from(self, before: Self) -> Self {
        Self { due: before.due, ..self }
    }

    /// Returns when the timer is due next.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Notes that the timer was called at `now`. A late call does not shift the schedule, unless it missed a whole
    /// interval.
    pub(crate) fn fired(&mut self, now: Instant) {
        self.due += self.interval;
        if self.due <= now {
            self.due = now + self.interval;
        }
    }
}

/// One FIFO under a control law: the discipline that has the law's name in `tc`.
#[derive(Clone, Debug)]
pub struct Managed<P, A> {
    queue: Fifo<P>,
    /// Whether the head is a packet that was taken out for a shaper, and put back.
    is_kept: bool,
    law: A,
}

impl<P: Packet, A: Aqm> Discipline<P> for Managed<P, A> {
    const SPEC: QdiscSpec = A::SPEC;

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        Ok(Self { queue: Fifo::default(), is_kept: false, law: A::build(args, link)? })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        self.law.change(now, args, link)?;
        while self.queue.backlog().exceeds(self.law.limit())
            && let Some(oldest) = self.law.evict(&mut self.queue)
        {
            self.is_kept = false; // it was the oldest
            owner.dropped(oldest, Drop::Overlimit);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        if A::SHOWS_HEAD { self.queue.look() } else { Look::Ahead(&mut self.queue, &mut self.is_kept) }
    }
}

impl<P: Packet, A: Aqm> Qdisc<P> for Managed<P, A> {
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as the laws' own: a packet is copied once, into the ring
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        self.law.enqueue(now, packet, &mut self.queue, owner)
    }

    #[cfg(feature = "complete")]
    fn enqueue_into<O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        classid: Option<crate::tree::Id>,
        owner: &mut O,
    ) -> Option<Enqueued> {
        packet.set_arrival(now);
        self.law.enqueue_into(now, packet, classid, (&mut self.queue, owner))
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.law.dequeue(now, &mut self.queue, owner)
    }

    #[inline]
    fn dequeue_to<O: Owner<P>, R>(
        &mut self,
        now: Instant,
        owner: &mut O,
        send: impl FnOnce(&P, u32) -> R,
    ) -> Option<R> {
        self.law.dequeue_to(now, &mut self.queue, owner, send)
    }

    #[inline]
    fn pass(&mut self, _now: Instant, packet: &P) -> Option<u32> {
        (self.queue.is_empty() && self.law.pass()).then(|| packet.len())
    }

    fn next_timer(&self) -> Option<Instant> {
        self.law.next_timer()
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) {
        self.law.on_timer(now, &self.queue);
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.law.probe(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Plain;
    use crate::sched::Noted;
    use goodqueue_units::Rate;

    /// A law without a limit of its own, as a user of the crate may write it.
    struct Open;

    impl Aqm for Open {
        const SPEC: QdiscSpec = QdiscSpec::new("open", &[]);

        fn build(_args: &Args, _link: &Link) -> Result<Self, Error> {
            Ok(Self)
        }

        fn change(&mut self, _now: Instant, _args: &Args, _link: &Link) -> Result<(), Error> {
            Ok(())
        }

        fn enqueue<P: Packet, O: Owner<P>>(
            &mut self,
            _now: Instant,
            packet: P,
            queue: &mut Fifo<P>,
            _owner: &mut O,
        ) -> Enqueued {
            queue.push(packet);
            Enqueued::Success
        }
    }

    /// A change drops what exceeds the law's limit. Without a limit it must not drop a packet.
    #[test]
    fn a_law_without_a_limit_keeps_all_packets_at_a_change() {
        static SPEC: QdiscSpec = Open::SPEC;
        let (args, link) = (Args::defaults(&SPEC), Link { rate: Rate::from_bps(1000).unwrap(), mtu: 1514 });
        let mut open = Managed::<Plain, Open>::build(&args, &link).unwrap();
        let mut owner = Noted::default();
        (0..3).for_each(|id| _ = open.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1514) }, &mut owner));
        open.change(Instant::ZERO, &args, &link, &mut owner).unwrap();
        assert_eq!((open.backlog().packets, owner.dropped.len()), (3, 0));
    }
}
