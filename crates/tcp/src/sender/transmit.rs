//! Which segment leaves now: lost segments first, then new ones. Which of them leave together, and which wait for
//! others.

use super::timer::{Due, Wait};
use super::{CongestionState, End, LossyWindow, Sender};
use crate::era::LossDetection;
use crate::offload::{self, Deferred, Next, Once, PATIENCE};
use crate::scoreboard::{Chunk, Resend};
use crate::segment::timestamp;
use crate::write_queue::{App, Held, Push};
use crate::{Flags, SeqNumber, Stack};
use goodqueue_units::Instant;

impl Sender {
    /// Sends the next segment: the lowest lost one, or a new one. Returns the chunk, its flags, and whether it is new
    /// data: classic ECN marks nothing else (RFC 3168, 6.1.4 and 6.1.5).
    #[inline(always)] // has two callers, and one of them is called millions of times
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        if self.is_dormant {
            return None;
        }
        loop {
            if let Some(sent) = self.next_segment(now) {
                return Some(sent);
            }
            if !self.application_may_write() || !self.let_write() {
                return None;
            }
        }
    }

    /// Sends the next segment that may leave, of those in the socket.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `poll_transmit`
    fn next_segment(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
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
        if !self.offload.is_amid_packet() && self.unsent > 0 && !self.begin_new(now, in_flight) {
            return None;
        }
        let Some(chunk) = self.send_new(now) else { return self.retransmit_forward(now) };
        let cwr = self.recovery.cwr_due && chunk.len > 0;
        self.recovery.cwr_due &= !cwr;
        let more = in_flight + 1 < self.window.cwnd && self.has_next();
        let ends = self.offload.head.bytes == 0 || chunk.len < self.mss;
        let begins = more && !ends && !self.offload.is_amid_packet();
        let packet = if begins { self.packet() } else { 0 };
        let push = self.offload.on_sent(more, ends, self.stack, || packet);
        if self.offload.is_amid_packet() {
            self.offload.sure = self.assured(in_flight + 1) as u16; // at most `left`, a `u16`
        } else {
            self.on_packet();
        }
        Some((chunk, Flags::CWR.when(cwr) | Flags::PSH.when(push), chunk.len > 0))
    }
    /// Begins a packet of new data. Returns whether it may leave: otherwise it waits for company.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `poll_transmit`
    fn begin_new(&mut self, now: Instant, in_flight: u32) -> bool {
        self.load();
        let room = self.window.cwnd - in_flight;
        if self.era().sending.fills_packet && self.queue.has_behind() && self.has_new() {
            self.fill_up(room);
        }
        if self.offload.once == Once::No {
            return !self.waits_for_company(now, room);
        }
        core::mem::replace(&mut self.offload.once, Once::Done) == Once::Due
    }

    /// Begins the next packet in the socket if the last one was sent whole.
    #[inline]
    pub(super) fn load(&mut self) {
        if self.offload.head.bytes == 0 && self.unsent > 0 {
            self.offload.head = self.queue.next();
        }
    }

    /// Fills the packet in the socket up from the one behind it, if as much may leave (Linux `tcp_grow_skb`).
    fn fill_up(&mut self, room: u32) {
        let bytes = self.packet().min(room) * u32::from(self.mss);
        if bytes > self.offload.head.bytes {
            let missing = bytes - self.offload.head.bytes;
            self.queue.fill_up(&mut self.offload.head, missing);
        }
    }

    /// Takes note that the present packet is over.
    #[inline]
    pub(super) fn on_packet(&mut self) {
        if self.offload.app == App::Waits && self.board.in_flight() < self.window.cwnd {
            self.expand_buffer();
        }
    }

    /// Returns whether the application should be asked to write.
    #[inline]
    fn application_may_write(&self) -> bool {
        match self.offload.app {
            App::Idle => false,
            App::Writes => true,
            App::Waits => {
                let has_room = self.board.in_flight() < self.window.cwnd;
                if self.unsent < self.offload.wake_unsent {
                    has_room || self.board.una() >= self.offload.wake || self.board.sacked_out() > 0
                } else {
                    has_room && self.window.cwnd > self.offload.grown.into() // only the buffer grows
                }
            }
        }
    }

    fn held(&self) -> Held {
        let (una, nxt) = (self.board.una(), self.board.nxt());
        Held { una, nxt, packets: self.board.packets(), unsent: self.unsent, mss: self.mss.into() }
    }

    /// Makes the buffer hold more congestion windows. Returns whether it grew.
    #[cold]
    fn expand_buffer(&mut self) -> bool {
        self.offload.grown = self.window.cwnd.min(u16::MAX.into()) as u16;
        let grows = self.queue.expand(self.window.cwnd.max(self.recovery.rack.degree() + 1));
        if grows {
            self.offload.wake = self.board.una(); // what is free is more than was reckoned with
        }
        grows
    }

    /// Looks for room in the buffer of an application that waits. The buffer grows if the congestion window has room
    /// (Linux `tcp_check_space`). Returns whether the application may write.
    #[cold]
    fn check_space(&mut self) -> bool {
        let grows = self.board.in_flight() < self.window.cwnd && self.expand_buffer();
        if self.unsent >= self.offload.wake_unsent {
            return false;
        }
        if !grows && self.board.una() < self.offload.wake && self.board.sacked_out() == 0 {
            return false;
        }
        self.load(); // or the next packet would count twice
        let (is_writeable, wake) = self.queue.is_writeable(&self.held());
        self.offload.wake = wake;
        is_writeable
    }

    /// Lets the application write until something may leave. Returns whether it may.
    #[cold]
    pub(super) fn let_write(&mut self) -> bool {
        self.offload.once = Once::No;
        if self.offload.app == App::Waits {
            if !self.queue.tries_again() && !self.check_space() {
                return false;
            }
            self.offload.app = App::Writes;
        }
        loop {
            if self.queue.is_between_calls() {
                self.check_app_limited();
            }
            self.load();
            let mut head = self.offload.head;
            let step = self.queue.step(&self.held(), &mut head, self.offload.widest);
            self.offload.head = head;
            self.unsent += step.bytes;
            self.held_back &= step.bytes == 0;
            self.offload.app = step.app;
            match (step.push, step.app) {
                (Push::One, _) => self.offload.once = Once::Due,
                (Push::All, _) => {
                    (self.offload.wake, self.offload.wake_unsent) = (self.board.una(), u32::MAX)
                }
                (Push::Nothing, App::Writes) => continue,
                (Push::Nothing, App::Waits) => {
                    self.offload.wake = self.queue.is_writeable(&self.held()).1;
                    self.offload.wake_unsent = self.queue.wake_unsent();
                    return false;
                }
                (Push::Nothing, App::Idle) => return self.queue.is_over() && self.end_stream(),
            }
            return true;
        }
    }

    /// Returns how many more segments of the present packet are sure to leave now as full segments, with `in_flight` in
    /// flight. The checks before a segment leaves are not repeated for these.
    #[inline]
    fn assured(&self, in_flight: u32) -> u32 {
        let (left, free) = (self.offload.left(), self.window.cwnd - in_flight);
        let bytes = left * u32::from(self.mss);
        let is_plain = self.offload.head.bytes > bytes // so neither PSH nor FIN is among them
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
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // has one caller, which asks with each segment
    pub(crate) fn split(&mut self, now: Instant) -> Option<(SeqNumber, bool)> {
        if self.offload.sure == 0 {
            return None;
        }
        let is_last = self.offload.on_split(self.mss.into());
        self.unsent -= u32::from(self.mss);
        let chunk = self.board.send(now, self.mss, Flags::NONE, false);
        self.segments_sent += 1;
        if is_last {
            self.note_usage();
            self.on_packet();
        }
        Some((chunk.seq, is_last))
    }

    /// Returns how many segments a packet has.
    #[inline]
    pub(super) fn packet(&self) -> u32 {
        if self.sends_singly() {
            return 1;
        }
        offload::packet(self.pace(), &self.window, self.mss, self.rtt.min())
    }

    /// Returns whether a packet has more segments than `room`.
    #[inline]
    fn packet_exceeds(&self, room: u32) -> bool {
        !self.sends_singly() && offload::exceeds(room, || self.pace(), &self.window, self.mss, self.rtt.min())
    }

    /// Returns whether new data waits for the next ACK, because its packet would be short for segmentation offload.
    /// `room` is the congestion window's.
    #[inline]
    fn waits_for_company(&mut self, now: Instant, room: u32) -> bool {
        self.held_back
            || (self.offload.head.bytes > self.mss.into()
                && (now.since(self.last_sent) <= PATIENCE || now.since(self.release()) <= PATIENCE)
                && self.state() < CongestionState::Recovery
                && self.era().sending.tso_defer
                && self.defers(now, room))
    }

    #[inline(never)]
    fn defers(&mut self, now: Instant, room: u32) -> bool {
        let Some(oldest) = self.board.head_sent_at() else { return false };
        let mss = u32::from(self.plain_mss);
        let next = Next {
            bytes: self.offload.head.bytes,
            is_last: !self.queue.has_behind(),
            has_fin: self.end == End::Closing,
            room,
            peer_room: self.room(),
            peer_window: self.peer_window,
            mss,
        };
        let exceeds = |room| self.packet_exceeds(room);
        let Some(why) = next.defers(now.since(oldest), &self.window, self.rtt.srtt_in_eighths(), exceeds)
        else {
            return false;
        };
        self.held_back = true;
        if why == Deferred::ByWindow {
            // The window limits the sender, although a part of it is free.
            self.usage.on_sent(true, self.board.packets_out(), self.board.una(), self.board.nxt());
        }
        true
    }

    /// Sends new data, if there is any that the receiver has room for.
    #[inline]
    pub(super) fn send_new(&mut self, now: Instant) -> Option<Chunk> {
        if !self.has_new() {
            if self.last_sent == now || self.is_blocked() {
                self.on_starved(now);
            }
            self.is_dormant = self.unsent == 0
                && self.offload.app == App::Idle
                && self.board.packets_out() == 0
                && self.end != End::Closing
                && self.timer.due == Due::Nothing
                && !self.recovery.tail.is_pending();
            return None;
        }
        self.load();
        let len = self.offload.head.bytes.min(self.mss.into());
        let len = if self.offload.is_amid_packet() { len.min(self.room()) } else { len };
        Some(self.send_len(now, len as u16))
    }

    /// Sends `len` bytes of new data, with FIN if nothing follows.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `poll_transmit`
    pub(super) fn send_len(&mut self, now: Instant, len: u16) -> Chunk {
        self.unsent -= u32::from(len);
        self.offload.head.bytes -= u32::from(len);
        let ends = if self.offload.head.bytes == 0 { self.end_of_packet(len) } else { Flags::NONE };
        if self.board.packets_out() == 0 {
            self.restart(now);
        }
        let is_armed = self.timer.is_armed() && self.last_sent == now;
        let leaves = if self.brakes.is_some() { self.leave(now) } else { now };
        let chunk = self.board.send(leaves, len, ends, !self.offload.is_amid_packet());
        self.after_send(now, len);
        if !is_armed || self.board.packets_out() <= 2 || self.brakes.is_some() {
            self.arm_after_send(now);
        }
        chunk
    }

    /// Returns the flags of the last segment of a packet in the socket, of `len` bytes: PSH if the packet is marked so,
    /// and FIN if the application has closed. A stack that is not Linux's says PSH at the end of all data (RFC 9293,
    /// 3.9.1.2).
    #[cold]
    fn end_of_packet(&mut self, len: u16) -> Flags {
        let is_last = self.unsent == 0;
        let fin = is_last && self.end == End::Closing;
        if fin {
            self.end = End::FinSent;
        }
        let push = if self.stack == Stack::Rfc { is_last } else { self.offload.head.push };
        Flags::PSH.when(push && len > 0) | Flags::FIN.when(fin)
    }

    /// Returns whether there is new data, or FIN, that the receiver has room for.
    #[inline]
    pub(super) fn has_new(&self) -> bool {
        if self.offload.is_amid_packet() {
            return self.has_next();
        }
        let len = self.unsent.min(self.mss.into());
        (len > 0 || self.end == End::Closing) && len <= self.room()
    }

    /// Returns whether another segment may follow in the same packet. Its last segment is short if that fills the
    /// receiver's window (`tcp_mss_split_point`).
    #[inline]
    fn has_next(&self) -> bool {
        let len = self.unsent.min(self.mss.into());
        let least = if self.stack == Stack::Rfc { len } else { len.min(1) };
        (len > 0 || self.end == End::Closing) && least <= self.room()
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
        self.timer.set(Wait::Rto, now, self.rtt.timeout());
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
        let together = self.window.cwnd > self.board.in_flight() + 1;
        let most = if self.sends_singly() {
            1
        } else {
            offload::resent_packet(self.pace(), &self.window, self.mss, self.rtt.min())
        };
        let Resend { mut chunk, is_first, is_again, ends_packet } =
            self.board.resend(leaves, together, most)?;
        chunk.ends |= Flags::PSH.when(ends_packet && self.era().sending.psh_on_tso_end);
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
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `poll_transmit`
    pub(super) fn after_send(&mut self, now: Instant, len: u16) {
        self.last_sent = now;
        self.segments_sent += 1;
        if self.brakes.is_some() {
            self.brake(len);
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
