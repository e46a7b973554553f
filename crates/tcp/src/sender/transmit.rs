//! Which segment leaves now: lost segments first, then new ones. Which of them leave together, and which wait for
//! others.

use super::timer::{Due, Wait};
use super::{CongestionState, End, LossyWindow, Sender};
use crate::era::LossDetection;
use crate::offload;
use crate::scoreboard::{Chunk, Resend};
use crate::segment::timestamp;
use crate::{Flags, SeqNumber};
use goodqueue_units::Instant;

impl Sender {
    /// Sends the next segment: the lowest lost one, or a new one. Returns the chunk, its flags, and whether it is new
    /// data: classic ECN marks nothing else (RFC 3168, 6.1.4 and 6.1.5).
    #[inline(always)] // has two callers, and one of them is called millions of times
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        if self.is_dormant {
            return None;
        }
        self.offload.sure = 0;
        let in_flight = self.board.in_flight();
        if self.timer.due != Due::Nothing || in_flight >= self.window.cwnd {
            let may_be_beyond = self.timer.due != Due::Nothing || self.end == End::Closing;
            return if may_be_beyond { self.send_beyond_window(now) } else { None };
        }
        if self.brakes.is_some() && !self.begin_packet(now) {
            return None;
        }
        if self.board.has_lost() && !self.sends_new_first() {
            let chunk = self.retransmit(now)?;
            return Some((chunk, Flags::NONE, false)); // not ECT: RFC 3168, 6.1.5
        }
        if self.waits_for_company(now, self.window.cwnd - in_flight) {
            self.held_back = true;
            // The window limits the sender, although a part of it is free.
            self.usage.on_sent(true, self.board.packets_out(), self.board.una(), self.board.nxt());
            return None;
        }
        let Some(chunk) = self.send_new(now) else { return self.retransmit_forward(now) };
        let cwr = self.recovery.cwr_due && chunk.len > 0;
        self.recovery.cwr_due &= !cwr;
        let more = in_flight + 1 < self.window.cwnd && self.has_new();
        let mut offload = self.offload;
        let piece = || offload::piece(self.peer_window, self.mss);
        let push = offload.on_sent(more, self.stack, || self.packet(), piece);
        self.offload = offload;
        if offload.is_amid_packet() {
            self.offload.sure = self.assured(in_flight + 1) as u16; // at most `left`, a `u16`
        }
        Some((chunk, Flags::CWR.when(cwr) | Flags::PSH.when(push), chunk.len > 0))
    }

    /// Returns how many more segments of the present packet are sure to leave now as full segments, with `in_flight` in
    /// flight. The checks before a segment leaves are not repeated for these.
    #[inline]
    fn assured(&self, in_flight: u32) -> u32 {
        let (left, free) = (self.offload.left(), self.window.cwnd - in_flight);
        let bytes = left * u32::from(self.mss);
        let is_plain = self.unsent > bytes.into() // so FIN is not among them
            && self.room() >= bytes
            && self.board.packets_out() > 2 // the first two segments move the timer
            && self.brakes.is_none()
            && self.board.rate().is_none()
            && !self.recovery.is_reducing();
        if !is_plain {
            0
        } else if left <= free {
            left
        } else {
            free - 1 // the one that fills the window ends the packet
        }
    }

    /// Sends the next segment of the present packet, if it is sure to leave now. Returns where the segment starts, and
    /// whether it is the last of the packet.
    #[inline]
    pub(crate) fn split(&mut self, now: Instant) -> Option<(SeqNumber, bool)> {
        if self.offload.sure == 0 {
            return None;
        }
        let is_last = self.offload.on_split();
        self.unsent -= u64::from(self.mss);
        let chunk = self.board.send(now, self.mss, Flags::NONE);
        self.segments_sent += 1;
        if is_last {
            self.note_usage();
        }
        Some((chunk.seq, is_last))
    }

    /// Returns how many segments a packet has.
    #[inline]
    pub(super) fn packet(&self) -> u32 {
        offload::packet(self.pace(), &self.window, self.mss, self.rtt.min())
    }

    /// Returns whether a packet has more segments than `room`.
    #[inline]
    fn packet_exceeds(&self, room: u32) -> bool {
        offload::exceeds(room, self.pace(), &self.window, self.mss, self.rtt.min())
    }

    /// Returns whether new data waits for the next ACK, because its packet would be short for segmentation offload.
    #[inline]
    pub(super) fn waits_for_company(&self, now: Instant, room: u32) -> bool {
        self.state() < CongestionState::Recovery
            && !self.offload.is_amid_packet()
            && self.unsent > u64::from(room) * u64::from(self.mss)
            && (self.held_back
                || self.board.head_sent_at().is_some_and(|oldest| {
                    let (since_last, since_oldest) = (now.since(self.last_sent), now.since(oldest));
                    let exceeds = |room| self.packet_exceeds(room);
                    let srtt = self.rtt.srtt();
                    self.offload.defers(room, since_last, since_oldest, &self.window, srtt, exceeds)
                        && !self.ends_with_piece()
                }))
    }

    /// Returns whether the application has closed and one piece in the socket is left. That piece does not grow any
    /// more, and on Linux FIN stands on it.
    #[cold]
    fn ends_with_piece(&self) -> bool {
        let left = self.offload.left_of_piece(|| offload::piece(self.peer_window, self.mss));
        self.end == End::Closing && self.unsent <= u64::from(left) * u64::from(self.mss)
    }

    /// Sends new data, if there is any that the receiver has room for.
    #[inline]
    pub(super) fn send_new(&mut self, now: Instant) -> Option<Chunk> {
        if !self.has_new() {
            if self.last_sent == now || self.is_blocked() {
                self.on_starved(now);
            }
            self.is_dormant = self.unsent == 0
                && self.board.packets_out() == 0
                && self.end != End::Closing
                && self.timer.due == Due::Nothing
                && !self.recovery.tail.is_pending();
            return None;
        }
        let len = self.unsent.min(u64::from(self.mss)) as u16;
        Some(self.send_len(now, len))
    }

    /// Sends `len` bytes of new data, with FIN if nothing follows.
    #[inline(always)] // as `poll_transmit`
    pub(super) fn send_len(&mut self, now: Instant, len: u16) -> Chunk {
        self.unsent -= u64::from(len);
        let ends = if self.unsent == 0 { self.end_of_write(len) } else { Flags::NONE };
        if self.board.packets_out() == 0 {
            self.restart(now);
        }
        let is_armed = self.timer.is_armed() && self.last_sent == now;
        let leaves = if self.brakes.is_some() { self.leave(now) } else { now };
        let chunk = self.board.send(leaves, len, ends);
        self.after_send(now, len);
        if !is_armed || self.board.packets_out() <= 2 {
            self.arm_after_send(now);
        }
        chunk
    }

    /// Returns the flags of the last segment of what was written, of `len` bytes: PSH (RFC 9293, 3.9.1.2), and FIN if
    /// the application has closed.
    #[cold]
    fn end_of_write(&mut self, len: u16) -> Flags {
        let fin = self.end == End::Closing;
        if fin {
            self.end = End::FinSent;
        }
        Flags::PSH.when(len > 0) | Flags::FIN.when(fin)
    }

    /// Returns whether there is new data, or FIN, that the receiver has room for.
    #[inline]
    pub(super) fn has_new(&self) -> bool {
        let len = self.unsent.min(u64::from(self.mss)) as u32;
        (len > 0 || self.end == End::Closing) && len <= self.room()
    }

    /// Prepares for a segment that is sent while nothing was out: the window may have become too old.
    #[cold]
    fn restart(&mut self, now: Instant) {
        if self.timer.wait() == Wait::Window {
            self.rtt.end_backoff();
        }
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        if idle > rto && !self.cc.sets_window() {
            self.window.restart(idle, rto);
            self.usage.on_window(now);
        }
        self.timer.set(Wait::Rto, now + rto);
        self.cc.on_restart(now, idle);
        if let Some(rate) = self.board.rate() {
            self.cc.on_transmit_start(now, rate, &mut self.window);
        }
    }

    /// Sends a segment although the congestion window is full: a probe, or on Linux the last segment with FIN, because
    /// nothing can follow it.
    #[cold]
    fn send_beyond_window(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        if self.timer.due != Due::Nothing {
            return self.send_probe(now);
        }
        let is_last = self.end == End::Closing && self.unsent <= self.mss.into();
        if !is_last || !self.era().sending.fin_ignores_cwnd {
            return None;
        }
        let chunk = self.send_new(now)?;
        Some((chunk, Flags::NONE, chunk.len > 0))
    }

    /// Returns whether F-RTO wants new data before a retransmission, and there is some.
    #[inline]
    fn sends_new_first(&mut self) -> bool {
        self.recovery.new_first && self.is_new_first()
    }

    #[cold]
    fn is_new_first(&mut self) -> bool {
        self.recovery.new_first = self.has_new();
        self.recovery.new_first
    }

    /// Sends the lowest lost segment again.
    #[cold]
    fn retransmit(&mut self, now: Instant) -> Option<Chunk> {
        self.recovery.before_resend(self.board.nxt());
        let leaves = self.leave(now);
        let Resend { chunk, is_first, is_again } = self.board.resend(leaves)?;
        if is_first {
            self.arm_after_resend(now);
        }
        if !is_again {
            self.count_window_of(chunk.seq);
        }
        self.after_send(now, chunk.len);
        self.recovery.on_resent(timestamp(leaves));
        self.stats.retransmitted += 1;
        self.stats.bytes_retransmitted += u64::from(chunk.len);
        Some(chunk)
    }

    /// Counts the window of data of the segment at `seq`, which is sent again for the first time: the network has lost
    /// it.
    fn count_window_of(&mut self, seq: SeqNumber) {
        if seq >= self.lossy.end {
            self.lossy = LossyWindow { end: self.board.nxt(), is_multi: false };
            self.stats.lossy_windows += 1;
        } else if !self.lossy.is_multi {
            self.lossy.is_multi = true;
            self.stats.multi_loss_windows += 1;
        }
    }

    /// Sends a missing segment again that may only be late, in recovery and with nothing new to send (RFC 6675,
    /// NextSeg(), rule 3; on Linux with FACK).
    #[cold]
    fn retransmit_forward(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        let may = self.state() == CongestionState::Recovery
            && self.era().detection.losses_by == LossDetection::Fack
            && !self.has_new();
        if !may || !self.board.lose_first_hole() {
            return None;
        }
        Some((self.retransmit(now)?, Flags::NONE, false))
    }

    /// Notes that a segment of `len` bytes was sent, new or again.
    #[inline(always)] // as `poll_transmit`
    pub(super) fn after_send(&mut self, now: Instant, len: u16) {
        self.last_sent = now;
        self.segments_sent += 1;
        if self.brakes.is_some() {
            self.brake(now, len);
        }
        self.recovery.on_sent();
        self.note_usage();
    }

    #[inline]
    fn note_usage(&mut self) {
        let full = self.board.in_flight() >= self.window.cwnd;
        self.usage.on_sent(full, self.board.packets_out(), self.board.una(), self.board.nxt());
    }
}

#[cfg(test)]
mod tests;
