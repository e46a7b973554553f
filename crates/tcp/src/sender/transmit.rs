//! What leaves now: lost segments first, then new ones; which of them leave together, and which wait for others.

use super::timer::{Due, Wait};
use super::{CongestionState, End, Sender};
use crate::era::LossDetection;
use crate::offload;
use crate::scoreboard::Chunk;
use crate::segment::timestamp;
use crate::{Flags, SeqNumber};
use goodqueue_units::Instant;

impl Sender {
    /// The next segment of data to go out now: lost ones first, the lowest first, then new ones. Whether it is new data,
    /// which classic ECN marks and nothing else (RFC 3168, 6.1.4 and 6.1.5), comes last.
    #[inline(always)] // of its two callers one is for millions
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
        if self.pacer.is_some() && !self.begin_packet(now) {
            return None;
        }
        if self.board.has_lost() && !self.sends_new_first() {
            let chunk = self.retransmit(now)?;
            return Some((chunk, Flags::NONE, false)); // not ECT: RFC 3168, 6.1.5
        }
        if self.waits_for_company(now, self.window.cwnd - in_flight) {
            self.held_back = true;
            // The window is what limits, although a part of it is free.
            self.usage.on_sent(true, self.board.packets_out(), self.board.una(), self.board.nxt());
            return None;
        }
        let Some(chunk) = self.send_new(now) else { return self.retransmit_forward(now) };
        let cwr = self.cwr_due && chunk.len > 0;
        self.cwr_due &= !cwr;
        let more = in_flight + 1 < self.window.cwnd && self.has_new();
        let mut offload = self.offload;
        let piece = || offload::piece(self.peer_window, self.mss);
        let push = offload.on_sent(more, self.window.stack, || self.packet(), piece);
        self.offload = offload;
        if offload.is_amid_packet() {
            self.offload.sure = self.assured(in_flight + 1) as u16; // of `left`, which is one
        }
        Some((chunk, Flags::CWR.when(cwr) | Flags::PSH.when(push), chunk.len > 0))
    }

    /// How many more segments of the present packet, all of them full, nothing can keep from leaving now, with `in_flight` in
    /// flight: what is asked before a segment is sent need not be asked before each of these.
    #[inline]
    fn assured(&self, in_flight: u32) -> u32 {
        let (left, free) = (self.offload.left(), self.window.cwnd - in_flight);
        let bytes = left * u32::from(self.mss);
        let is_plain = self.unsent > bytes.into() // then neither is FIN
            && self.room() >= bytes
            && self.board.packets_out() > 2 // before, each moves the timer
            && self.pacer.is_none()
            && self.board.rate().is_none()
            && !matches!(self.state, CongestionState::Cwr | CongestionState::Recovery);
        if !is_plain {
            0
        } else if left <= free {
            left
        } else {
            free - 1 // the one that fills the window ends the packet
        }
    }

    /// The next segment of the packet that the last one is of, if it is sure to leave now: where it starts, and whether it is
    /// the packet's last.
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

    /// Whether pacing lets a segment go now, of the present packet or as a new one; where there is none, that is found later.
    #[cold]
    fn begin_packet(&mut self, now: Instant) -> bool {
        let is_ready = self.board.has_lost() || self.has_new();
        let Some(pacer) = self.pacer.as_mut().filter(|_| is_ready) else { return true };
        self.offload.is_amid_packet() || pacer.may_send(now)
    }

    /// How many segments a packet has.
    #[inline]
    fn packet(&self) -> u32 {
        offload::packet(self.pace(), &self.window, self.mss, self.rtt.min())
    }

    /// Whether a packet has more segments than `room`.
    #[inline]
    fn packet_exceeds(&self, room: u32) -> bool {
        offload::exceeds(room, self.pace(), &self.window, self.mss, self.rtt.min())
    }

    /// Whether new data waits for the next ACK, so as not to leave as a packet too short for segmentation offload.
    #[inline]
    fn waits_for_company(&self, now: Instant, room: u32) -> bool {
        self.state < CongestionState::Recovery
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

    /// Whether the application has closed, and all that is left is one piece in the socket: then it is known that it does not
    /// grow, and on Linux FIN stands on it.
    #[cold]
    fn ends_with_piece(&self) -> bool {
        let left = self.offload.left_of_piece(|| offload::piece(self.peer_window, self.mss));
        self.end == End::Closing && self.unsent <= u64::from(left) * u64::from(self.mss)
    }

    #[inline]
    pub(super) fn send_new(&mut self, now: Instant) -> Option<Chunk> {
        if !self.has_new() {
            if self.last_sent == now || self.is_blocked() {
                self.on_starved(now);
            }
            self.is_dormant = self.unsent == 0
                && self.board.packets_out() == 0
                && self.end != End::Closing
                && self.timer.due == Due::Nothing;
            return None;
        }
        let len = self.unsent.min(u64::from(self.mss)) as u16;
        Some(self.send_len(now, len))
    }

    #[inline(always)] // as `poll_transmit`
    pub(super) fn send_len(&mut self, now: Instant, len: u16) -> Chunk {
        self.unsent -= u64::from(len);
        let ends = if self.unsent == 0 { self.end_of_write(len) } else { Flags::NONE };
        if self.board.packets_out() == 0 {
            self.restart(now);
        }
        let is_armed = self.timer.is_armed() && self.last_sent == now;
        let chunk = self.board.send(now, len, ends);
        self.after_send(now, len);
        if !is_armed || self.board.packets_out() <= 2 {
            self.arm_after_send(now);
        }
        chunk
    }

    /// What the last segment of what was written says, of `len` bytes: PSH (RFC 9293, 3.9.1.2), and FIN if nothing follows.
    #[cold]
    fn end_of_write(&mut self, len: u16) -> Flags {
        let fin = self.end == End::Closing;
        if fin {
            self.end = End::FinSent;
        }
        Flags::PSH.when(len > 0) | Flags::FIN.when(fin)
    }

    /// Whether there is new data, or FIN, that the receiver has room for.
    #[inline]
    pub(super) fn has_new(&self) -> bool {
        let len = self.unsent.min(u64::from(self.mss)) as u32;
        (len > 0 || self.end == End::Closing) && len <= self.room()
    }

    /// Something is sent while nothing was out.
    #[cold]
    fn restart(&mut self, now: Instant) {
        if self.timer.wait() == Wait::Window {
            self.rtt.end_backoff();
        }
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        if idle > rto && !self.cc.is_model_based() {
            self.window.restart(idle, rto);
            self.usage.on_window(now);
        }
        self.timer.set(Wait::Rto, now + rto);
        self.cc.on_restart(now, idle);
        if let Some(rate) = self.board.rate() {
            self.cc.on_transmit_start(now, rate, &mut self.window);
        }
    }

    /// What leaves although the congestion window is full: a probe, and with Linux FIN with what is left, as nothing can
    /// follow it.
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

    /// F-RTO's new data comes first, while there is some.
    #[inline]
    fn sends_new_first(&mut self) -> bool {
        self.new_first && self.is_new_first()
    }

    #[cold]
    fn is_new_first(&mut self) -> bool {
        self.new_first = self.has_new();
        self.new_first
    }

    #[cold]
    fn retransmit(&mut self, now: Instant) -> Option<Chunk> {
        if self.frto != Instant::MAX && !self.timed_out && self.board.nxt() == self.high_seq {
            self.frto = Instant::MAX; // step 2b had no new data to send
        }
        let (chunk, is_first) = self.board.resend(now)?;
        if is_first {
            self.arm_after_resend(now);
        }
        self.after_send(now, chunk.len);
        self.undo.on_resent(timestamp(now));
        self.stats.retransmitted += 1;
        self.stats.bytes_retransmitted += u64::from(chunk.len);
        Some(chunk)
    }

    /// In recovery, with nothing new to send, a hole is filled that may only be late (RFC 6675, NextSeg(), rule 3); Linux
    /// with FACK.
    #[cold]
    fn retransmit_forward(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        let may = self.state == CongestionState::Recovery
            && self.era().detection.losses_by == LossDetection::Fack
            && !self.has_new();
        if !may || !self.board.lose_first_hole() {
            return None;
        }
        Some((self.retransmit(now)?, Flags::NONE, false))
    }

    #[inline(always)] // as `poll_transmit`
    pub(super) fn after_send(&mut self, now: Instant, len: u16) {
        self.last_sent = now;
        self.segments_sent += 1;
        let rate = self.pacer.is_some().then(|| self.pacing_rate()).flatten();
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, len, self.segments_sent, rate);
        }
        if matches!(self.state, CongestionState::Cwr | CongestionState::Recovery) {
            self.prr.on_sent();
        }
        self.note_usage();
    }

    #[inline]
    fn note_usage(&mut self) {
        let full = self.board.in_flight() >= self.window.cwnd;
        self.usage.on_sent(full, self.board.packets_out(), self.board.una(), self.board.nxt());
    }
}
