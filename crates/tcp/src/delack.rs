//! When to acknowledge: at once, with the next segment, or later (RFC 9293, 3.8.6.3; RFC 5681, 4.2), as Linux does.
//!
//! Every second full segment is acknowledged. A single segment is acknowledged after a delay that follows the peer's
//! rhythm (`ato`). In phases of *quick ACKs* there is no delay: when a connection starts, to let its slow start run,
//! and when something is wrong. In the *ping-pong* of requests and responses there are no quick ACKs, because the
//! response carries the ACK. While segments arrive out of order, the first few ACKs leave at once, so that the sender
//! sees its loss. The others are compressed to one per share of a round trip (Linux since 4.19).

use crate::era::AckCompression;
use crate::{SeqNumber, Stack, wheel};
use goodqueue_units::{Duration, Instant};

/// The least delay (Linux's `TCP_ATO_MIN`).
const MIN: Duration = Duration::from_millis(40);
/// Half the least delay. Segments closer together than this count as one stream.
const HALF_MIN: Duration = Duration::from_millis(20);
/// The longest delay of a receiver that acknowledges a fixed number of segments together (RFC 5681, 4.2).
const MAX: Duration = Duration::from_millis(500);
/// The longest delay if the peer pushes or we answer.
const MAX_PUSHED: Duration = Duration::from_millis(200);
/// Quick ACKs at the start, and after a sign of trouble.
pub(crate) const QUICK_ACKS: u8 = 16;
/// The assumed length of a full segment before one is seen (RFC 9293, 3.7.1).
const FIRST_MSS: u16 = 536;
/// A pushed segment of fewer bytes than this may be a whole message. Linux's `tcp_measure_rcv_mss` counts the headers
/// too: 536 + 20 bytes, and ours take 32.
const LONG: u16 = 524;
/// A segment of fewer bytes than this is no full one: Linux's 88 + 20 bytes with headers, and ours take 32.
const SHORT: u16 = 76;
/// ACKs of out-of-order segments that leave at once (RFC 5681: DupThresh).
const AT_ONCE: u8 = 3;
/// The most ACKs that are held back afterwards.
const HELD: u8 = 44;
/// The longest time that ACKs are held back.
const HELD_FOR: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(crate) struct DelayedAck {
    stack: Stack,
    now: bool,
    /// Quick ACKs still to be sent.
    quick: u8,
    /// Data was sent within an `ato` of receiving some (Linux `TCP_PINGPONG_THRESH` of 1; 5.0 to 5.19 had 3).
    in_ping_pong: bool,
    /// Pushes since the last ACK, 2 at most.
    pushed: u8,
    /// ACKs of out-of-order segments held back.
    held: u8,
    /// Payload bytes of a full segment.
    mss: u16,
    /// How long an ACK waits for a second segment. Zero before the first segment.
    ato: Duration,
    /// When the delayed ACK is due, or [`Instant::MAX`].
    deadline: Instant,
    /// When the timer fires that was set last for a delayed ACK, or [`Instant::MAX`]. An ACK does not stop it.
    timer: Instant,
    last_data: Instant,
    /// When the ACKs held back are due, or [`Instant::MAX`].
    held_until: Instant,
    order: SeqNumber,
    /// ACKs of out-of-order segments sent since the data in order ended at `order`.
    duplicates: u8,
    /// Full segments that are acknowledged together. 0: by the rhythm.
    every: u8,
    /// Payload bytes of the last short segment.
    last_len: u16,
}

/// The state of the received data after a segment of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Bytes in order that no ACK has covered.
    pub(crate) unacked: u32,
    /// The next byte in order.
    pub(crate) nxt: SeqNumber,
    /// Whether something is held beyond it.
    pub(crate) gap: bool,
    /// Whether the application reads the data in order.
    pub(crate) is_read: bool,
    /// The path's round-trip time, as smoothed by the receiver. Zero before the first measurement.
    pub(crate) rtt: Duration,
}

impl DelayedAck {
    pub(crate) fn new(stack: Stack, every: Option<u8>) -> Self {
        Self {
            stack,
            every: every.unwrap_or(0),
            now: false,
            quick: 0,
            in_ping_pong: false,
            pushed: 0,
            duplicates: 0,
            held: 0,
            mss: FIRST_MSS,
            last_len: 0,
            order: SeqNumber(0),
            ato: Duration::ZERO,
            last_data: Instant::ZERO,
            deadline: Instant::MAX,
            timer: Instant::MAX,
            held_until: Instant::MAX,
        }
    }

    /// Takes note that the handshake is over: a silence counts from then on.
    pub(crate) fn established(&mut self, now: Instant) {
        self.last_data = now;
    }

    /// Takes a segment in order, and learns the peer's rhythm. `len` is its length, or that of each segment that a card
    /// has merged in it (Linux's `tcp_measure_rcv_mss`). `window` is what the peer was offered.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `Receiver::on_next`
    pub(crate) fn on_data(
        &mut self,
        now: Instant,
        len: u16,
        push: bool,
        rto: impl FnOnce() -> Duration,
        window: impl FnOnce() -> u32,
    ) {
        if len == self.mss {
            self.pushed = self.pushed.max(u8::from(push));
            self.last_len = 0;
        } else if len > 0 {
            self.on_other(len, push);
        }
        let is_steady = self.ato == MIN && now.since(self.last_data) <= HALF_MIN;
        if is_steady {
            // The rhythm stays, which nearly all segments find without a tick: HALF_MIN is whole ticks.
            self.last_data = now;
            return;
        }
        let gap = self.since_data(now);
        self.last_data = now;
        if self.ato == Duration::ZERO {
            self.ato = MIN;
            self.hurry(QUICK_ACKS, window());
        } else if gap <= HALF_MIN {
            self.ato = self.half_ato() + HALF_MIN;
        } else if gap < self.ato {
            self.ato = (self.half_ato() + gap).min(rto());
        } else if gap > rto() {
            self.hurry(QUICK_ACKS, window()); // after a long silence the sender is in slow start
        }
    }

    /// Returns the time since the last data, in whole ticks.
    #[inline]
    fn since_data(&self, now: Instant) -> Duration {
        self.tick_of(now).since(self.tick_of(self.last_data))
    }

    /// Returns when the tick of `now` began.
    pub(crate) fn tick_of(&self, now: Instant) -> Instant {
        wheel::floor(self.tick(), now)
    }

    #[inline]
    fn tick(&self) -> Duration {
        self.stack.era().timers.jiffy
    }

    /// Returns half of `ato`, in whole ticks.
    #[inline]
    fn half_ato(&self) -> Duration {
        let tick = self.tick();
        if tick == Duration::ZERO { self.ato / 2 } else { tick * (self.ato.as_nanos() / tick.as_nanos() / 2) }
    }

    /// Takes note that the window grows. An even number of quick ACKs becomes odd, so that they last until the window
    /// has grown.
    #[inline]
    pub(crate) fn on_growth(&mut self) {
        self.quick |= u8::from(self.stack.era().receiver.quickack);
    }

    /// Takes note that an ACK offers less than half of the window, because the buffer is full.
    #[cold]
    pub(crate) fn on_tight(&mut self) {
        self.quick = 0;
    }

    #[cold]
    fn hurry(&mut self, most: u8, window: u32) {
        if !self.stack.era().receiver.quickack {
            return;
        }
        let half_window = window / (2 * u32::from(self.mss));
        self.quick = self.quick.max(half_window.clamp(2, most.into()) as u8);
    }

    /// Allows up to `most` quick ACKs, because something is wrong that the sender must hear of soon.
    #[cold]
    pub(crate) fn on_trouble(&mut self, most: u8, window: u32) {
        self.hurry(most, window);
        self.in_ping_pong = false;
        self.ato = MIN;
    }

    /// Takes note that the next ACK is none of the quick ones, as nothing that came asks for it
    /// (`tcp_dec_quickack_mode`).
    #[cold]
    pub(crate) fn spare_quick_ack(&mut self) {
        self.quick += u8::from(self.quick > 0);
    }

    /// Takes note that a segment with data was sent.
    #[inline]
    pub(crate) fn on_sent_data(&mut self, now: Instant) {
        if !self.in_ping_pong && self.ato > Duration::ZERO {
            self.in_ping_pong = self.since_data(now) < self.ato;
        }
    }

    /// Takes the peer's FIN. It is acknowledged at once if this end has `closed` too (RFC 9293, 3.10.7.4, has no other
    /// case). Otherwise its ACK waits, because the application is expected to close as well, and our FIN can carry the
    /// ACK.
    #[cold]
    pub(crate) fn on_fin(&mut self, closed: bool) {
        if closed || !self.stack.era().receiver.fin_enters_pingpong {
            self.now = true;
        } else {
            self.in_ping_pong = true;
        }
    }

    /// Asks for an ACK.
    #[inline]
    pub(crate) fn demand(&mut self) {
        self.now = true;
    }

    /// Decides the answer to a segment that was taken. `srtt` belongs to our own sending. Returns whether an ACK leaves
    /// at once, before the application reads.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `Receiver::on_next`
    pub(crate) fn on_taken(
        &mut self,
        now: Instant,
        segment: Arrived,
        srtt: impl FnOnce() -> Option<Duration>,
    ) -> bool {
        if self.every > 0 && !segment.gap {
            self.now |= self.every == 1 || segment.unacked >= u32::from(self.every) * u32::from(self.mss);
            self.deadline = self.deadline.min(now + MAX);
        } else if segment.unacked > self.mss.into() || self.is_at_once() {
            self.now = true;
            return true;
        } else if !segment.gap {
            let is_due = self.delay(now, srtt);
            self.now |= segment.is_read && self.is_pushed();
            return is_due;
        } else {
            self.hold(now, &segment, srtt());
        }
        false
    }

    /// Returns whether the answer to `unacked` bytes depends on the room in the buffer.
    #[inline]
    pub(crate) fn asks_for_room(&self, unacked: u32) -> bool {
        unacked > self.mss.into() || self.every > 0
    }

    /// Takes note that the application has read all that waited, of which `unacked` bytes are not acknowledged. More
    /// than a full segment is acknowledged at once, and a push unless something waits beyond a `gap`.
    #[cold]
    pub(crate) fn on_read(&mut self, unacked: u32, gap: bool) {
        let is_pushed = !gap && self.is_pushed();
        self.now |= self.every == 0 && (unacked > self.mss.into() || (unacked > 0 && is_pushed));
    }

    /// Returns whether quick ACKs are still to be sent.
    #[inline]
    pub(crate) fn has_quick_acks(&self) -> bool {
        self.quick > 0
    }

    /// Returns whether ACKs leave at once, whatever the window.
    pub(crate) fn is_at_once(&self) -> bool {
        self.quick > 0 && !self.in_ping_pong
    }

    /// Returns whether the peer's pushes are acknowledged when the application reads.
    #[inline]
    fn is_pushed(&self) -> bool {
        self.pushed > 1 || (self.pushed > 0 && !self.in_ping_pong)
    }

    /// Takes a segment of another length than the last ones. A short segment ends what the application wrote. Two of
    /// equal length in a row are full segments of a peer that sends no longer ones, unless they are pushed and short:
    /// then they are rather two messages.
    #[cold]
    fn on_other(&mut self, len: u16, push: bool) {
        let last = core::mem::take(&mut self.last_len);
        if len > self.mss {
            self.mss = len;
            self.pushed = self.pushed.max(u8::from(push));
            return;
        }
        if len >= LONG || (len >= SHORT && !push) {
            self.last_len = len;
            if last == len {
                self.mss = len;
                return;
            }
        }
        self.pushed = (self.pushed + 1).min(2);
    }

    /// Sets the timer of a delayed ACK. Returns whether the timer was nearly due: then the ACK leaves at once.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `Receiver::on_next`
    fn delay(&mut self, now: Instant, srtt: impl FnOnce() -> Option<Duration>) -> bool {
        let mut ato = self.ato;
        if ato > MIN {
            let longest = self.stack.era().receiver.delayed_ack_max;
            let most = if self.in_ping_pong || self.pushed > 0 { MAX_PUSHED.min(longest) } else { longest };
            let in_ticks = |srtt| wheel::ceil(self.tick(), srtt).max(MIN);
            ato = ato.min(srtt().map_or(most, |srtt| most.min(in_ticks(srtt))));
        }
        let tick = self.tick();
        // A receiver that acknowledges by the rhythm has no other timer than this one's, which is due with a tick.
        debug_assert!(self.deadline == Instant::MAX || self.deadline == wheel::floor(tick, self.deadline));
        // Between these bounds ticks decide nothing: the timer is not nearly due. A new one would not fire earlier: it
        // fires with the first tick after `now + ato` or a later one, and until a tick after that there is no other.
        if self.deadline > now + ato + tick || self.deadline <= now + ato / 4 + tick {
            if self.deadline != Instant::MAX && self.deadline <= wheel::after(tick, now, ato / 4) {
                self.now = true;
                return true;
            }
            self.deadline = self.deadline.min(wheel::fires_at(tick, now, ato));
        }
        self.timer = self.deadline;
        false
    }

    #[cold]
    fn hold(&mut self, now: Instant, segment: &Arrived, srtt: Option<Duration>) {
        if self.order != segment.nxt {
            self.order = segment.nxt;
            self.duplicates = 0;
        }
        let rules = self.stack.era().receiver.compressed_ack;
        let (Some(AckCompression { rtt_percent, slack, .. }), AT_ONCE.., ..HELD) =
            (rules, self.duplicates, self.held)
        else {
            self.duplicates = self.duplicates.saturating_add(1);
            self.now = true;
            return;
        };
        self.held += 1;
        if self.held_until == Instant::MAX {
            let rtt = srtt.map_or(segment.rtt, |srtt| srtt.min(segment.rtt));
            self.held_until = now + HELD_FOR.min(rtt * u64::from(rtt_percent) / 100) + slack;
            // An ACK does not stop the timer of the delayed ACK before it, and what is held leaves when that timer
            // fires (`tcp_delack_timer_handler`).
            if self.timer > now && self.timer != Instant::MAX {
                self.held_until = self.held_until.min(self.timer);
            }
        }
    }

    /// Handles a filled hole while another one is left and the window shrinks; `nxt` is the next byte in order. Because
    /// of the shrinking window Linux does not send this ACK as an ACK of more than a full segment, but as the first of
    /// those that leave at once (`__tcp_ack_snd_check`).
    pub(crate) fn on_part_filled(&mut self, nxt: SeqNumber) {
        if self.quick == 0 || self.in_ping_pong {
            (self.order, self.duplicates) = (nxt, 1);
        }
    }

    /// Returns whether ACKs are held back.
    pub(crate) fn holds_acks(&self) -> bool {
        self.held > 0
    }

    /// Releases the ACKs that are held back. `grows`: the window grows after that ACK (see [`Self::on_growth`]).
    pub(crate) fn release(&mut self, grows: bool) {
        self.now = true;
        if grows && self.stack.era().receiver.quickack {
            self.quick = (self.quick.saturating_sub(1) | 1) + 1; // `on_sent_ack` will take one away
        }
    }

    /// Returns whether the receiver forgets old SACK blocks.
    pub(crate) fn sack_blocks_forget(&self) -> bool {
        self.stack.era().receiver.sack_blocks_forget
    }

    /// Returns whether an ACK is due now.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.now
    }

    /// Returns when an ACK will be due, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.min(self.held_until)
    }

    /// Handles the timer. `rto` belongs to our own sending. Returns whether what was held leaves by its own timer, and
    /// has the timestamp of the last segment's arrival.
    pub(crate) fn on_timeout(&mut self, now: Instant, rto: Duration) -> bool {
        let mut is_stale = false;
        if now >= self.held_until {
            self.now = true;
            let rules = self.stack.era().receiver.compressed_ack;
            is_stale = self.held_until != self.timer && rules.is_some_and(|rules| rules.stale);
        }
        if now < self.deadline {
            return is_stale;
        }
        self.deadline = Instant::MAX;
        self.now = true;
        if self.in_ping_pong {
            self.in_ping_pong = false; // no answer came that could have carried the ACK
            self.ato = MIN;
        } else {
            self.ato = (self.ato * 2).min(rto);
        }
        is_stale
    }

    /// Takes note that a segment with the acknowledgement was sent.
    #[inline]
    pub(crate) fn on_sent_ack(&mut self) {
        self.now = false;
        self.pushed = 0;
        self.deadline = Instant::MAX;
        if self.held > 0 {
            self.held = 0;
            self.held_until = Instant::MAX;
        }
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = MIN;
            }
        }
    }
}

#[cfg(test)]
mod tests;
