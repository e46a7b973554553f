//! The peer's window: what it allows, what is done while it allows nothing, and what is sent although no window allows it.

use super::timer::{Due, Wait};
use super::{CongestionState, Sender};
use crate::scoreboard::Chunk;
use crate::{Flags, Segment};
use goodqueue_units::Instant;

impl Sender {
    /// Bytes that the receiver has room for.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.peer_window.saturating_sub(self.board.nxt().since(self.board.una()))
    }

    /// What a segment says of the peer's window, by RFC 9293, 3.10.7.4, as Linux has it: an ACK with the same number that
    /// tells of less is an older one.
    #[inline]
    pub(super) fn take_window(&mut self, segment: &Segment, advances: bool) {
        let window = u32::from(segment.window) << self.peer_shift; // it is no SYN's
        if advances
            || segment.seq > self.window_seq
            || (segment.seq == self.window_seq && (window > self.peer_window || window == 0))
        {
            (self.peer_window, self.window_seq) = (window, segment.seq);
            if u32::from(self.mss) < self.board.mss().min(window) {
                self.fit_segments();
            }
        }
    }

    /// Segments are as long as the largest window that was told, or nothing could ever leave (RFC 9293, 3.8.6.2.1).
    #[cold]
    pub(super) fn fit_segments(&mut self) {
        self.mss = self.board.mss().min(self.peer_window) as u16;
    }

    /// Whether nothing moves: data waits for the peer's window, and no ACK is to come.
    #[inline]
    pub(super) fn is_blocked(&self) -> bool {
        self.unsent > 0 && self.board.packets_out() == 0 && !self.has_new()
    }

    /// Nothing can be sent that the congestion window would allow.
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
            && self.state == CongestionState::Open
            && !self.cc.is_model_based()
            && self.era().validation.cwnd_validation
        {
            self.window.shrink_to_use(used);
        }
    }

    /// An ACK that acknowledges nothing new, on data that flows the other way or of a window.
    #[cold]
    pub(super) fn on_plain_ack(&mut self, now: Instant, is_bare: bool) {
        if self.tail.is_pending() && is_bare {
            self.on_probe_ack(now, true, false);
        }
        if self.timer.wait() == Wait::Window && self.board.packets_out() == 0 && self.timer.is_running() {
            if self.is_blocked() {
                self.arm_window_probe(now); // the peer is there: the next probe is due an RTO after its answer
            } else {
                self.rtt.end_backoff();
                self.timer.stop();
            }
        }
    }

    /// A segment that no window allows: the end of the stream so far, or something for the peer to say its window.
    #[cold]
    pub(super) fn send_probe(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        let due = core::mem::replace(&mut self.timer.due, Due::Nothing);
        if due == Due::WindowProbe {
            // RFC 9293, 3.8.6.1. What fits goes, however little (3.8.6.2.1); else a segment from before the window, which
            // must be answered.
            let len = self.unsent.min(self.mss.into()).min(self.room().into()) as u16;
            if len > 0 {
                return Some((self.send_len(now, len), Flags::NONE, true));
            }
            let seq = self.board.una() - 1;
            return Some((Chunk { seq, len: 0, ends: Flags::NONE }, Flags::NONE, false));
        }
        let (chunk, resent) = match self.send_new(now) {
            Some(chunk) => (chunk, false),
            None => (self.board.probe(now)?, true),
        };
        if resent {
            self.after_send(now, chunk.len);
            self.stats.retransmitted += 1;
            self.stats.bytes_retransmitted += u64::from(chunk.len);
        }
        self.stats.tlp_probes += 1;
        self.tail.begin(self.board.nxt(), resent);
        self.timer.set(Wait::Rto, now + self.rtt.rto());
        Some((chunk, Flags::NONE, !resent && chunk.len > 0))
    }
}
