//! The peer's window: what it allows, what happens while it allows nothing, and which segments leave without room.

use super::timer::{Due, Wait};
use super::{CongestionState, Sender};
use crate::scoreboard::Chunk;
use crate::{Flags, Segment, SeqNumber};
use goodqueue_units::Instant;

impl Sender {
    /// Returns how many bytes the receiver has room for.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.peer_window.saturating_sub(self.board.nxt().since(self.board.una()))
    }

    /// Takes the peer's window from a segment (RFC 9293, 3.10.7.4). As on Linux, a smaller window from the same
    /// sequence number is an older one.
    #[inline]
    pub(super) fn take_window(&mut self, segment: &Segment, advances: bool) {
        if advances
            || segment.seq > self.window_seq
            || (segment.seq == self.window_seq && self.opens_window(segment))
        {
            let window = u32::from(segment.window) << self.peer_shift; // the segment is no SYN
            self.window_seq = segment.seq;
            if window != self.peer_window {
                self.change_window(window);
            }
        }
    }

    /// Takes another window of the peer than before. Segments always fit the old one.
    fn change_window(&mut self, window: u32) {
        self.peer_window = window;
        self.offload.widest = self.offload.widest.max(window);
        if u32::from(self.mss) < self.board.mss().min(window) {
            self.fit_segments();
        }
    }

    /// Returns whether `segment` acknowledges what the last ACK did, and does not change the peer's window.
    pub(crate) fn repeats(&self, segment: &Segment) -> bool {
        segment.ack == self.board.una()
            && segment.seq <= self.window_seq
            && (segment.seq < self.window_seq || !self.opens_window(segment))
    }

    /// Returns whether a segment from the same sequence number as the last reports a window that counts.
    #[inline]
    fn opens_window(&self, segment: &Segment) -> bool {
        let window = u32::from(segment.window) << self.peer_shift; // the segment is no SYN
        window > self.peer_window || window == 0
    }

    /// Makes segments no longer than the peer's window; longer segments could never leave (RFC 9293, 3.8.6.2.1).
    #[cold]
    pub(super) fn fit_segments(&mut self) {
        self.mss = self.board.mss().min(self.peer_window) as u16;
        self.plain_mss = self.mss + if self.bytes.is_some() { Segment::ACCECN_LEN } else { 0 };
    }

    /// Returns whether nothing moves: data waits for the peer's window, and no ACK can come.
    #[inline]
    pub(super) fn is_blocked(&self) -> bool {
        self.unsent > 0 && self.board.packets_out() == 0 && !self.has_new()
    }

    /// Notes that the congestion window has room and nothing can be sent: sets a window probe, or validates the window.
    #[cold]
    pub(super) fn on_starved(&mut self, now: Instant) {
        if self.is_blocked() {
            if !self.timer.is_running() {
                self.arm_window_probe(now);
            }
            return;
        }
        let rto = self.rtt.rto();
        if let Some(used) = self.usage.on_starved(now, self.board.packets_out(), &self.window, rto)
            && self.state() == CongestionState::Open
            && !self.cc.sets_window()
            && self.era().validation.cwnd_validation
        {
            self.window.shrink_to_use(used);
        }
    }

    /// Takes an ACK up to `ack` that acknowledges nothing new: it comes with data, or with a window. `is_bare`: it
    /// brings neither.
    #[cold]
    pub(super) fn on_plain_ack(&mut self, now: Instant, ack: SeqNumber, is_bare: bool) {
        if self.recovery.tail.is_pending() && is_bare {
            self.on_probe_ack(now, ack, true, false);
        }
        if self.timer.wait() == Wait::Window && self.timer.is_running() {
            debug_assert_eq!(self.board.packets_out(), 0, "a segment that leaves sets another timer");
            if self.is_blocked() {
                self.arm_window_probe(now); // the peer answered: the next probe is due one RTO later
            } else {
                self.rtt.end_backoff();
                self.timer.stop();
            }
        }
    }

    /// Sends a segment that no window allows: a tail loss probe or a window probe. Returns the chunk, its flags, and
    /// whether it is new data.
    #[cold]
    pub(super) fn send_probe(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        let due = core::mem::replace(&mut self.timer.due, Due::Nothing);
        if due == Due::WindowProbe {
            // RFC 9293, 3.8.6.1: as much data as fits, however little (3.8.6.2.1). If none fits, an empty segment from
            // before the window, which the peer must answer.
            self.load();
            let len = self.offload.head.bytes.min(self.mss.into()).min(self.room()) as u16;
            if len > 0 {
                let chunk = self.send_len(now, len);
                self.on_packet();
                return Some((chunk, Flags::NONE, true));
            }
            let seq = self.board.una() - 1;
            return Some((Chunk { seq, len: 0, ends: Flags::NONE }, Flags::NONE, false));
        }
        let (chunk, resent) = match self.send_new(now) {
            Some(chunk) => {
                self.on_packet();
                (chunk, false)
            }
            None => {
                let leaves = self.leave(now);
                (self.board.probe(leaves)?, true)
            }
        };
        if resent {
            self.after_send(now, chunk.len);
            self.stats.retransmitted += 1;
            self.stats.bytes_retransmitted += u64::from(chunk.len);
        }
        self.stats.tlp_probes += 1;
        self.recovery.tail.begin(self.board.nxt(), resent);
        self.timer.set(Wait::Rto, now, self.rtt.timeout() + self.pacing_delay(now));
        Some((chunk, Flags::NONE, !resent && chunk.len > 0))
    }
}
