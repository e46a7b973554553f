//! What holds data back although the windows have room: pacing, and the small queues of the host.

use super::Sender;
use crate::Config;
use crate::pacing::Pacer;
use crate::small_queue::{SmallQueue, SmallQueues};
use alloc::boxed::Box;
use goodqueue_units::Instant;

/// What may hold data back.
#[derive(Clone, Debug, Default)]
pub(super) struct Brakes {
    /// Present if the sender is paced.
    pacer: Option<Pacer>,
    /// Present if the sender's host has small queues.
    small_queue: Option<SmallQueue>,
    /// The sender paces itself unless a queue of its host does.
    paces_itself: bool,
    /// Each segment is a packet of its own.
    is_single: bool,
    /// The pacer before the last segment, which a host with small queues may refuse.
    before: Option<Pacer>,
    /// Segments out after the last ACK, from which the rate follows until the next (`tcp_update_pacing_rate`).
    out: u32,
}

impl Brakes {
    /// Returns the brakes that `config` asks for, if there are any.
    pub(super) fn new(config: &Config) -> Option<Box<Self>> {
        let paces_itself = config.pacing || config.cc.paces();
        let pacer = paces_itself.then(Pacer::default);
        paces_itself.then(|| Box::new(Self { pacer, paces_itself, ..Self::default() }))
    }

    #[inline]
    pub(super) fn pacer(&self) -> Option<&Pacer> {
        self.pacer.as_ref()
    }

    /// Takes note that the last segment was not sent after all.
    pub(super) fn take_back(&mut self) {
        if let Some(before) = self.before.take() {
            self.pacer = Some(before);
        }
    }

    pub(super) fn on_timeout(&mut self, now: Instant) {
        if let Some(pacer) = &mut self.pacer {
            pacer.on_timeout(now);
        }
    }
}

impl Sender {
    /// Limits what the sender may have in the queues of its host.
    pub(crate) fn limit_queue(&mut self, of_host: SmallQueues) {
        let rule = self.era().sending.small_queue;
        let queue = SmallQueue::new(rule, self.era().sending.packet_memory, of_host);
        let brakes = self.brakes.get_or_insert_with(Box::default);
        brakes.is_single = queue.makes_single();
        brakes.small_queue = Some(queue);
        if brakes.is_single {
            self.queue.split();
        }
    }

    /// Returns whether each segment is a packet of its own, as an interface with `gso_max_segs 1` wants it.
    #[inline]
    pub(super) fn sends_singly(&self) -> bool {
        self.brakes.as_ref().is_some_and(|brakes| brakes.is_single)
    }

    /// Leaves the wait for a packet's departure time to the queue of the host if it `paces`, or takes the wait back.
    /// Stacks before these times pace themselves or not at all, and so does `rfc`.
    pub(crate) fn leave_pacing_to_queue(&mut self, paces: bool) {
        if !self.era().sending.departure_times || (!paces && self.brakes.is_none()) {
            return;
        }
        let brakes = self.brakes.get_or_insert_with(Box::default);
        brakes.pacer = if paces { Some(Pacer::of_queue()) } else { brakes.paces_itself.then(Pacer::default) };
    }

    /// Returns when the queue of the host may send the segment that left last, if it does the waiting.
    pub(crate) fn departure(&self) -> Option<Instant> {
        self.brakes.as_ref().and_then(|brakes| brakes.pacer.as_ref()?.departure())
    }

    /// Begins a packet, or goes on with the present one. Returns when it leaves: now, or when pacing lets the queue of
    /// the host send it. Linux takes this time for the time of sending (`skb_mstamp_ns`), so no RTT has the wait in it.
    #[cold]
    pub(super) fn leave(&mut self, now: Instant) -> Instant {
        let is_amid = self.offload.is_amid_packet();
        let Some(brakes) = &mut self.brakes else { return now };
        let is_split = brakes.small_queue.as_ref().is_some_and(SmallQueue::splits);
        let Some(pacer) = &mut brakes.pacer else { return now };
        if brakes.small_queue.is_some() {
            brakes.before = Some(pacer.clone());
        }
        let goes_on = || self.board.goes_on_resent(pacer.departure().unwrap_or(now));
        if is_split || !is_amid && !goes_on() {
            pacer.begin_packet(now);
        }
        pacer.departure().unwrap_or(now)
    }

    /// Takes note that an ACK was taken.
    pub(super) fn note_out(&mut self) {
        if let Some(brakes) = &mut self.brakes {
            brakes.out = self.board.packets_out();
        }
    }

    /// Returns the segments out from which the pacing rate follows.
    pub(super) fn out_of_pace(&self) -> u32 {
        self.brakes.as_ref().map_or(self.board.packets_out(), |brakes| brakes.out)
    }

    /// Returns when pacing lets the next packet leave. Linux counts the time since the last packet from then on
    /// (`tcp_wstamp_ns`).
    pub(super) fn release(&self) -> Instant {
        self.brakes.as_ref().and_then(|brakes| brakes.pacer()).map_or(Instant::ZERO, Pacer::release)
    }

    /// Returns whether the next segment leaves in one packet with the last.
    pub(crate) fn is_amid_packet(&self) -> bool {
        self.offload.is_amid_packet()
    }

    /// Takes note that a segment with data left the queues of the host. Returns whether the sender waited for that.
    pub(crate) fn on_freed(&mut self) -> bool {
        let queue = self.brakes.as_mut().and_then(|brakes| brakes.small_queue.as_mut());
        let wakes = queue.is_some_and(SmallQueue::on_freed);
        self.held_back &= !wakes;
        wakes
    }

    /// Returns whether a segment may leave now, in the present packet or in a new one. Without a segment to send, the
    /// answer is yes, and the caller finds none.
    #[cold]
    pub(super) fn begin_packet(&mut self, now: Instant) -> bool {
        if self.offload.is_amid_packet() {
            return true;
        }
        let has_lost = self.board.has_lost();
        if !has_lost && !self.has_new() || has_lost && self.board.goes_on_resent(now) {
            return true;
        }
        let Some(brakes) = &mut self.brakes else { return true };
        let is_paced = brakes.pacer.is_some();
        if brakes.pacer.as_mut().is_some_and(|pacer| !pacer.may_send(now)) {
            return false;
        }
        brakes.small_queue.is_none() || {
            let (packet, rate, out) =
                ((self.packet(), self.mss), self.pacing_rate(), self.board.packets_out());
            let queue = self.brakes.as_mut().and_then(|brakes| brakes.small_queue.as_mut());
            queue.is_none_or(|queue| queue.may_send(packet, rate, is_paced, out, has_lost))
        }
    }

    fn is_paced(&self) -> bool {
        self.brakes.as_ref().is_some_and(|brakes| brakes.pacer.is_some())
    }

    /// Tells the brakes of a segment of `len` bytes that leaves.
    #[cold]
    pub(super) fn brake(&mut self, len: u16) {
        let is_first = !self.offload.is_amid_packet();
        let rate = if self.is_paced() { self.pacing_rate() } else { None };
        let Some(brakes) = &mut self.brakes else { return };
        if let Some(pacer) = &mut brakes.pacer {
            pacer.on_sent(len, self.segments_sent, rate);
        }
        if let Some(queue) = brakes.small_queue.as_mut().filter(|_| len > 0) {
            queue.on_sent(len, is_first);
        }
    }
}
