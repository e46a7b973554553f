//! `DualPI2`: two queues, one for L4S and one for classic traffic, whose AQMs are coupled.
//!
//! Source: RFC 9332 (section numbers below), in two variants: `linux`, as mainline Linux runs it (commit
//! 92b9c2b7a88c), and `rfc9332`, the pseudocode of the RFC's Appendix A with its edge cases (A.2).
//!
//! In both variants a PI controller steers the delay of the queue that waits longest to the target, and yields a
//! probability p'. The classic queue drops or marks with p'^2. The L4S queue marks with k p', and by an AQM of its
//! own.
//!
//! | | `linux` | `rfc9332` |
//! |---|---|---|
//! | arithmetic | p' in units of 1/(2^32 - 1), gains per ns in 64ths of that | real numbers, seconds |
//! | chance | dice: p'^2 is two hits of p' | sums of the likelihood, no dice (`recur`) |
//! | the L4S queue's own AQM | a step at 1 ms, or at a number of packets | a ramp from 800 us to 1.2 ms |
//! | scheduler | credits in bytes, 10 % for classic | the same with 1/16, or a time-shifted FIFO |
//! | overload | k p' > 1: L4S drops with p'^2; `overflow`: p' stops at 1/k | k p' >= 1, p'^2 >= 1/k^2 |
//! | small queue | no dice below two full frames in all | no ramp for the last packet |
//! | buffer | packets and memory | bytes: 250 ms of the link's rate |
//! | decisions | as packets leave, or with `drop_enqueue` as they arrive | as packets leave |
//! | update | every 16 ms | every min(target, `max_rtt` / 3) |
//!
//! The RFC leaves some points open. Decided here:
//!
//! - the weighted scheduler, which the RFC does not show (A.1), is Linux's, with the weights 1 and 15;
//! - `lq.time()` is the time in the queue of the packet that has just left, and `lq.len()` counts the packets behind
//!   it;
//! - p' is held within 0 and 1, and no likelihood counts for more than 1. Otherwise the sums would grow without end;
//! - the maximum link rate is the last known rate of the link.

mod linux;
mod params;
mod queues;
mod rfc9332;

use crate::aqm::Periodic;
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::signal::{Drop, Owner};
use goodqueue_units::{Duration, Instant, Release};
use linux::Linux;
use params::{L4S, L4s, LIMIT, MEMLIMIT};
use queues::{Queues, Side, Turn};
use rfc9332::Rfc9332;

/// The facts about a packet that has just left its queue, for the laws.
struct Left {
    /// The queue that the packet left.
    side: Side,
    /// The packet's time in the queue.
    sojourn: Duration,
    /// Bytes in both queues.
    bytes: u64,
    /// Packets in the L4S queue.
    low_packets: usize,
    /// Whether the packet met enough packets on arrival for Linux's step to apply to it.
    steps: bool,
}

#[derive(Clone, Debug)]
enum Law {
    Linux(Linux),
    Rfc9332(Rfc9332),
}

/// `tc`'s `dualpi2`.
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    queues: Queues<P>,
    law: Law,
    limit: u32,
    /// Memory for `linux`, bytes of packets for `rfc9332`.
    memory_limit: u64,
    mtu: u64,
    /// The bits of a codepoint of which the L4S queue wants one.
    ecn_mask: u8,
    /// Whether merged packets are taken apart.
    splits: bool,
    timer: Periodic,
}

impl<P: Packet> Discipline<P> for DualPi2<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("dualpi2", params::PARAMS)
        .since(Release::Linux7_3)
        .summary("L4S and classic traffic in two queues whose AQMs are coupled")
        .source("RFC 9332; tc-dualpi2(8)")
        .settle(params::settle);

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        params::refuse_of_the_other_variant(args)?;
        let control = params::control(args)?;
        let limit = args.get(&LIMIT).unwrap_or(u32::MAX);
        let mtu = u64::from(link.mtu);
        let (law, derived) = if params::is_rfc9332(args) {
            let quarter_second = link.rate.bytes_in(Duration::from_millis(250));
            (Law::Rfc9332(Rfc9332::new(args, &control)), quarter_second.max(mtu))
        } else {
            (Law::Linux(Linux::new(args, &control, link.mtu)), u64::from(limit) * 2 * mtu)
        };
        Ok(Self {
            queues: Queues::new(params::protection(args), link.mtu),
            law,
            limit,
            memory_limit: args.get(&MEMLIMIT).unwrap_or(derived),
            mtu,
            ecn_mask: match args.get(&L4S) {
                Some(L4s::Any) => 3,
                Some(L4s::Ect0) => 2,
                _ => 1,
            },
            splits: params::splits(args),
            timer: Periodic::new(control.tupdate, control.tupdate),
        })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        match (&mut self.law, fresh.law) {
            (Law::Linux(law), Law::Linux(fresh)) => law.change(fresh),
            (Law::Rfc9332(law), Law::Rfc9332(fresh)) => law.change(fresh),
            (law, other) => *law = other, // the variant is fixed
        }
        self.queues.share_as(&fresh.queues);
        (self.limit, self.memory_limit, self.mtu) = (fresh.limit, fresh.memory_limit, fresh.mtu);
        (self.ecn_mask, self.splits) = (fresh.ecn_mask, fresh.splits);
        self.timer = fresh.timer.going_on_from(self.timer);
        while let Some(why) = self.excess()
            && let Some(packet) = self.look().take().or_else(|| {
                let turn = self.turn(now)?;
                self.queues.take(turn.side).map(|(packet, _)| packet)
            })
        {
            owner.dropped(packet, why);
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.queues.kept.look()
    }
}

impl<P: Packet> Qdisc<P> for DualPi2<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        if P::SPLITS
            && self.splits
            && let Some(merged) = packet.merged()
        {
            return self.enqueue_parts(now, &packet, merged.count, owner);
        }
        self.admit(now, packet, owner)
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        loop {
            let Some(turn) = self.turn(now) else {
                self.queues.reset();
                return None;
            };
            let (mut packet, steps) = self.queues.take(turn.side)?;
            let left = Left {
                side: turn.side,
                sojourn: now.since(packet.arrival()),
                bytes: self.queues.bytes(),
                low_packets: self.queues.low.len(),
                steps,
            };
            let passes = match &mut self.law {
                Law::Linux(law) => law.passes(&mut packet, &left, owner),
                Law::Rfc9332(law) => law.passes(&mut packet, &left, owner),
            };
            if passes {
                self.queues.settle(turn, packet.len());
                return Some(packet);
            }
            owner.dropped(packet, Drop::Early);
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) {
        self.timer.fired(now);
        let delay = self.queues.waited(Side::Classic, now).max(self.queues.waited(Side::Low, now));
        match &mut self.law {
            Law::Linux(law) => law.update(delay),
            Law::Rfc9332(law) => law.update(delay),
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.queues.packets(), bytes: self.queues.bytes() }
    }

    fn queues(&self) -> &'static [&'static str] {
        &["L, low latency", "C, classic"]
    }

    fn queue_of(&self, packet: &P) -> usize {
        match self.side(packet) {
            Side::Low => 0,
            Side::Classic => 1,
        }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        match &self.law {
            Law::Linux(law) => law.probe(probe),
            Law::Rfc9332(law) => law.probe(probe),
        }
        self.queues.probe(probe);
    }
}

impl<P: Packet> DualPi2<P> {
    /// Takes `packet` into its queue.
    #[inline]
    fn admit<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        if let Some(why) = self.overfull(&packet) {
            owner.dropped(packet, why);
            return Enqueued::Dropped;
        }
        let side = self.side(&packet);
        let mut steps = false;
        if let Law::Linux(law) = &mut self.law {
            let bytes = self.queues.bytes();
            if law.drop_early && law.condemns(&mut packet, side, bytes, owner) {
                owner.dropped(packet, Drop::Early);
                return Enqueued::Success; // or the sender's host would see it as its own congestion
            }
            steps = self.queues.low.len() >= law.min_qlen_step;
        }
        self.queues.push(packet, side, steps);
        Enqueued::Success
    }

    /// Takes each part of a merged packet (`split_gso`).
    #[cold]
    fn enqueue_parts<O: Owner<P>>(&mut self, now: Instant, whole: &P, count: u32, owner: &mut O) -> Enqueued {
        let parts = (0..count).filter_map(|number| whole.part(number));
        let taken = parts.fold(false, |any, part| (self.admit(now, part, owner) == Enqueued::Success) | any);
        if taken { Enqueued::Success } else { Enqueued::Dropped }
    }

    /// Returns why packets must be dropped after a change. `None`: none must.
    fn excess(&self) -> Option<Drop> {
        let memory = match self.law {
            Law::Linux(_) => self.queues.memory,
            Law::Rfc9332(_) => self.queues.bytes(),
        };
        if self.queues.packets() > self.limit {
            return Some(Drop::Overlimit);
        }
        (memory > self.memory_limit).then_some(Drop::Memory)
    }

    /// Returns why `packet` does not fit. `None`: it fits.
    fn overfull(&self, packet: &P) -> Option<Drop> {
        let len = packet.len();
        if self.queues.packets() >= self.limit {
            return Some(Drop::Overlimit);
        }
        match self.law {
            Law::Linux(_) if self.queues.memory + packet.memory(len) > self.memory_limit => {
                Some(Drop::Memory)
            }
            Law::Rfc9332(_) if self.queues.bytes() + self.mtu.max(len.into()) > self.memory_limit => {
                Some(Drop::Overlimit)
            }
            _ => None,
        }
    }

    /// Returns the queue of `packet`, by its codepoint (RFC 9331, 5.1): ECT(1) and CE are L4S. CE has both bits.
    fn side(&self, packet: &P) -> Side {
        if packet.ecn().bits() & self.ecn_mask != 0 { Side::Low } else { Side::Classic }
    }

    /// Returns the queue whose turn it is. `None`: both queues are empty.
    fn turn(&self, now: Instant) -> Option<Turn> {
        match &self.law {
            Law::Rfc9332(Rfc9332 { time_shift: Some(shift), .. }) => self.queues.by_shifted_time(now, *shift),
            _ => self.queues.by_credit(),
        }
    }
}

#[cfg(test)]
mod tests;
