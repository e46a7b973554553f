//! CoDel's state machine (RFC 8289, 5), which all variants share.

use super::Params;
use super::law::Law;
use super::ticks::Ticks;
use crate::aqm::mark;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::qdisc::{Measure, Probe};
use crate::signal::{Drop, Mark, Owner};
use core::fmt;
use goodqueue_units::{Instant, processor::select};

/// The queue from which the law takes packets: one FIFO, or one flow of a scheduler that also counts the whole.
pub trait Source<P> {
    /// Takes the head packet.
    fn pull(&mut self) -> Option<P>;
    /// Returns the waiting bytes, for the small-backlog guard.
    fn backlog_bytes(&self) -> u64;
}

impl<P: Packet> Source<P> for Fifo<P> {
    #[inline]
    fn pull(&mut self) -> Option<P> {
        self.pop()
    }
    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.bytes()
    }
}

/// The law's judgement of a head packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No packet waits.
    Empty,
    /// The packet of `len` bytes leaves unchanged.
    Passes { len: u32 },
    /// [`Vars::act`] decides: it drops, marks or passes the packet.
    Acts { drop: bool },
}

/// The law's state, under the RFC's names (5.1). It has 28 bytes, so that a scheduler can afford one per flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vars {
    /// Drops since dropping began.
    pub count: u32,
    /// `count` when dropping last began.
    pub lastcount: u32,
    /// Whether packets are being dropped.
    pub dropping: bool,
    /// 1/sqrt(count) as a 16-bit fraction. All variants keep it, and only Linux's law uses it.
    pub(super) rec_inv_sqrt: u16,
    pub(super) first_above_time: Ticks,
    pub(super) drop_next: Ticks,
    /// The last packet's time in the queue.
    pub(super) ldelay: Ticks,
}

impl Vars {
    /// Returns the time of the next drop by the control law: a gap after `t`.
    pub(super) fn control_law<L: Law>(&self, t: Ticks, params: &Params) -> Ticks {
        t.plus(Ticks(L::interval_next(self, params.interval).0.max(params.rules.least_gap.0)))
    }

    /// Returns whether `packet` has left a queue whose delay stood above target for an interval (RFC 8289, 5.6,
    /// `dodequeue`).
    #[inline]
    pub(super) fn should_drop<P: Packet>(
        &mut self,
        packet: Option<&P>,
        backlog: u64,
        params: &Params,
        now: Ticks,
    ) -> bool {
        let Some(packet) = packet else {
            self.first_above_time = Ticks(0);
            return false;
        };
        self.ldelay = now.minus(Ticks::at(packet.arrival()));
        // Branchless on purpose: with many flows on the link, branch prediction would often fail here.
        let is_below = params.target.is_after(self.ldelay) | (backlog <= u64::from(params.guard));
        let since = self.first_above_time;
        let is_new = since == Ticks(0);
        let is_due = now.plus(params.early).is_after(since);
        let above = select(is_new, now.plus(params.interval), since);
        // When the delay went below target, it must again be above for an interval before a drop.
        self.first_above_time = select(is_below, Ticks(0), above);
        !is_below & !is_new & is_due
    }

    /// Takes the next packet, and returns whether it may be dropped (RFC 8289, 5.6, `dodequeue`).
    #[inline(never)] // runs only while the queue is bad; inlined, it would take up instruction cache at both call sites
    fn pull<P: Packet>(
        &mut self,
        params: &Params,
        now: Ticks,
        source: &mut impl Source<P>,
    ) -> (Option<P>, bool) {
        let packet = source.pull();
        let drop = self.should_drop(packet.as_ref(), source.backlog_bytes(), params, now);
        (packet, drop)
    }

    /// Notes that a packet passes a queue in which nothing waits: a delay of zero is never above target.
    #[inline]
    pub(crate) fn pass(&mut self) {
        self.ldelay = Ticks(0);
        self.first_above_time = Ticks(0);
        self.dropping = false;
    }

    /// Judges the head packet where it lies, so that a packet which passes is moved only once. `backlog` is the
    /// number of waiting bytes, including this packet.
    // A link asks with each packet, and the call took a quarter of it.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(crate) fn judge<P: Packet>(
        &mut self,
        params: &Params,
        now: Instant,
        head: Option<&P>,
        backlog: u64,
    ) -> Verdict {
        let Some(head) = head else {
            self.first_above_time = Ticks(0);
            self.dropping = false;
            return Verdict::Empty;
        };
        let len = head.len();
        let drop = self.should_drop(Some(head), backlog - u64::from(len), params, Ticks::at(now));
        if self.dropping || drop || params.ce_threshold.is_some() {
            Verdict::Acts { drop }
        } else {
            Verdict::Passes { len }
        }
    }

    /// Takes the next packet after [`Vars::judge`], and drops or marks as the law `L` demands (RFC 8289, 5.5). It runs
    /// only while the queue is bad or while `ce_threshold` is set.
    #[cold]
    pub(crate) fn act<L: Law, P: Packet, O: Owner<P>>(
        &mut self,
        drop: bool,
        params: &Params,
        now: Instant,
        source: &mut impl Source<P>,
        owner: &mut O,
    ) -> Option<P> {
        let now = Ticks::at(now);
        let packet = source.pull()?;
        let mut packet = if self.dropping && drop {
            self.keep_dropping::<L, _, _>(packet, params, now, source, owner)?
        } else if drop && L::may_start(self, params.interval, now) {
            self.start_dropping::<L, _, _>(packet, params, now, source, owner)?
        } else {
            self.dropping = false;
            packet
        };
        if let Some(threshold) = params.ce_threshold
            && self.ldelay.is_after(threshold)
            && params.selects(&packet)
        {
            mark(&mut packet, Mark::CeThreshold, owner);
        }
        Some(packet)
    }

    /// Drops packets while in the dropping state, until no drop is due or the delay is below target.
    fn keep_dropping<L: Law, P: Packet, O: Owner<P>>(
        &mut self,
        packet: P,
        params: &Params,
        now: Ticks,
        source: &mut impl Source<P>,
        owner: &mut O,
    ) -> Option<P> {
        let (mut next, mut dropped) = (Some(packet), 0);
        while self.dropping && !self.drop_next.is_after(now) {
            if dropped == params.rules.most_drops {
                self.drop_next = self.control_law::<L>(now, params);
                break;
            }
            self.count = self.count.wrapping_add(1);
            self.newton_step();
            if let Some(mut packet) = next {
                if params.ecn && mark(&mut packet, Mark::Target, owner) {
                    self.drop_next = self.control_law::<L>(self.drop_next, params);
                    return Some(packet);
                }
                owner.dropped(packet, Drop::Target);
                dropped += 1;
            }
            let drop;
            (next, drop) = self.pull(params, now, source);
            if drop {
                self.drop_next = self.control_law::<L>(self.drop_next, params);
            } else {
                self.dropping = false;
            }
        }
        next
    }

    /// Enters the dropping state with one drop or mark, at the pace at which the last episode ended (RFC 8289, 5.5).
    fn start_dropping<L: Law, P: Packet, O: Owner<P>>(
        &mut self,
        mut packet: P,
        params: &Params,
        now: Ticks,
        source: &mut impl Source<P>,
        owner: &mut O,
    ) -> Option<P> {
        let next = if params.ecn && mark(&mut packet, Mark::Target, owner) {
            Some(packet)
        } else {
            owner.dropped(packet, Drop::Target);
            self.pull(params, now, source).0
        };
        self.dropping = true;
        self.resume::<L>(params, now);
        self.drop_next = self.control_law::<L>(now, params);
        next
    }

    /// Returns whether the next drop was due less than `span` ago or is still to come, on a clock that wraps.
    pub(super) fn is_recent(&self, span: Ticks, now: Ticks) -> bool {
        span.is_after(now.minus(self.drop_next))
    }

    /// Sets the `count` with which dropping begins at `now`.
    ///
    /// Before the first drop of CoDel's own `drop_next` is 0, and only a limit of `fq_codel` has counted drops. Linux
    /// compares 0 with the time since boot, and so takes these drops for recent ones only in the first 1.6 s after
    /// boot (`codel_dequeue`). Here the clock begins with the run, on a machine that has been up for longer.
    pub(super) fn resume<L: Law>(&mut self, params: &Params, now: Ticks) {
        let count = L::resume(self);
        let memory = Ticks(params.interval.0.wrapping_mul(L::MEMORY));
        let is_first = self.drop_next == Ticks(0) && now.0 < memory.0;
        if count > 1 && !is_first && self.is_recent(memory, now) {
            self.count = count;
            self.newton_step();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.lastcount = self.count;
    }

    /// Shows the state under Linux's names. `drop_next` is shown as a point of time only while packets are being
    /// dropped.
    pub fn probe(&self, probe: &mut dyn Probe) {
        probe.integer("count", self.count.into());
        probe.integer("lastcount", self.lastcount.into());
        probe.integer("dropping", self.dropping.into());
        let root = f64::from(self.rec_inv_sqrt) / f64::from(1 << 16);
        probe.measured("rec_inv_sqrt", self.rec_inv_sqrt.into(), Measure::Number(Some(root)));
        let is_above = self.first_above_time != Ticks(0);
        let first_above_time = self.first_above_time.moment(is_above);
        probe.measured("first_above_time", self.first_above_time.0.into(), first_above_time);
        probe.measured("drop_next", self.drop_next.0.into(), self.drop_next.moment(self.dropping));
        probe.measured("ldelay", self.ldelay.0.into(), self.ldelay.span());
    }
}

impl fmt::Display for Vars {
    /// Writes the state as decision traces write a flow:
    /// `count:lastcount:dropping:rec_inv_sqrt:first_above_time:drop_next`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, lastcount, dropping, rec_inv_sqrt, first_above_time, drop_next, .. } = self;
        let dropping = u8::from(*dropping);
        let (first_above_time, drop_next) = (first_above_time.0, drop_next.0);
        write!(f, "{count}:{lastcount}:{dropping}:{rec_inv_sqrt}:{first_above_time}:{drop_next}")
    }
}
