//! One endpoint of one connection: both halves, and the poll API.

mod handshake;
mod values;

use crate::ecn::{EcnMode, EcnUse, OptionUse};
use crate::receiver::Receiver;
use crate::scoreboard::Chunk;
use crate::sender::{LocalCongestion, Sender};
use crate::{Config, Flags, Segment, SeqNumber, SmallQueues, Stack};
use core::mem::offset_of;
use core::ops::Range;
use goodqueue_units::{Duration, Ecn, Instant};

/// State of the handshake (RFC 9293, 3.3.2). Closing needs no states here: each half knows its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Phase {
    Listen,
    SynSent,
    SynReceived,
    /// The client has the SYN-ACK; its ACK goes out before any data.
    AckDue,
    Established,
}

/// The result of handling a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handled {
    /// A sample of the path's RTT, without the wait of a delayed ACK. Only segments that were sent once give samples
    /// (Karn; RFC 6298, section 3).
    pub rtt: Option<Duration>,
    /// Payload bytes that came into order.
    pub newly_delivered_bytes: u32,
}

/// The network that a connection sends segments to.
pub trait Wire {
    /// Does the work that does not need the segment, just before the segment is built.
    fn prepare(&mut self);
    /// Puts `segment` on the wire.
    fn put(&mut self, segment: Segment);
}

/// An endpoint: segments and deadlines in, segments and the next deadline out.
///
/// After each call of [`handle_segment`](Self::handle_segment), [`handle_timeout`](Self::handle_timeout), or of a
/// method for the application, call [`poll_transmit`](Self::poll_transmit) until it returns `None`. One ACK is sent for
/// all segments handled in between, so poll after each segment.
// Cache lines: a thousand connections do not fit a core's cache, so the order of the fields is fixed. First come the
// fields that each segment asks for, also of the half that has nothing to send. `Sender`, `Scoreboard`, `Recovery` and
// `Receiver` have their fields in the same manner, and `Receiver` begins a cache line. Fields for losses stand
// together: in the middle of `Sender` and at the end of `Receiver`. `hot_bytes` leaves them out.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Connection {
    phase: Phase,
    /// The SYN, or SYN-ACK, is due.
    syn_due: bool,
    /// The ECN feedback that we ask for; after the handshake, the agreed feedback.
    ecn: EcnMode,
    ecn_use: EcnUse,
    /// Codepoint of new data.
    ect: Ecn,
    /// Codepoint of all other segments.
    ect_else: Ecn,
    stack: Stack,
    /// As [`Config::closes_at_end`], until it has closed.
    closes_at_end: bool,
    sender: Sender,
    /// Retransmissions of the SYN, or SYN-ACK.
    syns_lost: u8,
    /// Retransmissions of the SYN that our timer caused: only these lengthen the timeout (RFC 6298, 5.5).
    syn_timeouts: u8,
    /// The client has sent a second SYN, without ECN.
    heard_plain_syn: bool,
    accecn_option: OptionUse,
    /// Codepoint with which the peer's SYN, or SYN-ACK, arrived.
    syn_ecn: Ecn,
    /// The sequence number of our SYN.
    initial: SeqNumber,
    syn_deadline: Instant,
    first_syn_sent: Instant,
    receiver: Receiver,
}

#[cfg(target_pointer_width = "64")] // shorter pointers make another layout, as in WebAssembly
const _: () = {
    use goodqueue_units::processor::LINE;
    assert!(offset_of!(Connection, receiver).is_multiple_of(LINE), "a receiver begins a cache line");
    assert!(size_of::<Connection>() == 18 * LINE);
    assert!(lines(true) == 10, "of a side that sends: 8 of the sender, 2 of the receiver");
    assert!(lines(false) == 4, "of a side that receives: 1 of the sender, 3 of the receiver");
};

/// Returns how many cache lines of a connection a segment touches.
#[cfg(target_pointer_width = "64")]
const fn lines(sends: bool) -> usize {
    use goodqueue_units::processor::LINE;
    const fn of(bytes: &Range<usize>) -> usize {
        bytes.end.div_ceil(LINE) - bytes.start / LINE
    }
    let [first, second, receiver] = Connection::hot_bytes(sends);
    of(&first) + of(&second) + of(&receiver)
}

impl Connection {
    /// Builds an endpoint that opens a connection: the first poll sends the SYN.
    #[must_use]
    pub fn client(config: Config) -> Self {
        Self::new(&config, Phase::SynSent)
    }

    /// Builds an endpoint that waits for a SYN.
    #[must_use]
    pub fn server(config: Config) -> Self {
        Self::new(&config, Phase::Listen)
    }

    fn new(config: &Config, phase: Phase) -> Self {
        let window = config.receive_window.max(2 * u32::from(config.mss));
        Self {
            sender: Sender::new(config, config.initial_sequence + 1),
            receiver: Receiver::new(window, config),
            phase,
            syn_due: phase == Phase::SynSent,
            ecn: config.ecn,
            ecn_use: config.ecn_use(),
            ect: Ecn::NotEct,
            ect_else: Ecn::NotEct,
            syn_ecn: Ecn::NotEct,
            stack: config.stack,
            closes_at_end: config.closes_at_end,
            syns_lost: 0,
            syn_timeouts: 0,
            heard_plain_syn: false,
            accecn_option: if config.has_accecn_option() { config.accecn_option } else { OptionUse::Never },
            first_syn_sent: Instant::ZERO,
            syn_deadline: Instant::MAX,
            initial: config.initial_sequence,
        }
    }

    /// Hands over the application's next `bytes` bytes. They are sent as soon as the window allows, and so is a short
    /// last segment (as with `TCP_NODELAY`). Has no effect after [`close`](Self::close).
    pub fn write(&mut self, bytes: u64) {
        self.before_application();
        self.sender.write(bytes);
    }

    /// Hands over unlimited data: there is always more to send, until [`close`](Self::close).
    pub fn write_unlimited(&mut self) {
        self.sender.write_unlimited();
    }

    /// Ends the application's writing: FIN goes with the last byte. After [`write_unlimited`](Self::write_unlimited)
    /// the last byte is the last one sent so far.
    pub fn close(&mut self) {
        self.before_application();
        self.sender.close();
    }

    /// Lets an ACK that is due leave before what the application is about to send. Data that waits carries the ACK, as
    /// it leaves before.
    fn before_application(&mut self) {
        if self.stack != Stack::Rfc && self.phase == Phase::Established && self.sender.unsent_bytes() == 0 {
            self.receiver.before_application();
        }
    }

    /// Stops the application's reading until [`resume`](Self::resume): arriving data waits, and the window closes.
    pub fn pause(&mut self) {
        self.receiver.pause();
    }

    /// Lets the application read all that waits, and nothing more until the next call.
    pub fn read(&mut self, now: Instant) {
        self.receiver.read(now);
    }

    /// Lets the application read all that waits, and from now on all that arrives.
    pub fn resume(&mut self, now: Instant) {
        self.receiver.resume(now);
    }

    /// Limits what this end may have in the queues of its own host (TCP small queues, by the rule of its stack). The
    /// caller must tell each segment with data that leaves these queues ([`on_freed`](Self::on_freed)).
    pub fn limit_queue(&mut self, of_host: SmallQueues) {
        self.sender.limit_queue(of_host);
    }

    /// Leaves pacing to the first queue of this end's host if that `paces`, as Linux's TCP does where that is `fq`.
    /// Each segment goes down at once. The caller must ask for its [departure time](Self::departure). On Linux the
    /// first packet decides: a later call is for a connection that has sent nothing yet.
    pub fn leave_pacing_to_queue(&mut self, paces: bool) {
        self.sender.leave_pacing_to_queue(paces);
    }

    /// Returns when the first queue of this end's host may send the last segment with data that left. `None`: at once.
    #[must_use]
    pub fn departure(&self) -> Option<Instant> {
        self.sender.departure()
    }

    /// Returns whether the next segment leaves in one packet with the last, for segmentation offload.
    #[must_use]
    pub fn is_amid_packet(&self) -> bool {
        self.sender.is_amid_packet()
    }

    /// Takes note that a segment with data left the queues of this end's host: it was sent, or dropped there. Returns
    /// whether this end waited for that: then poll it.
    pub fn on_freed(&mut self) -> bool {
        self.sender.on_freed()
    }

    /// Takes note that the first queue of this end's host said `congestion` of `segment`, the last one that left, or of
    /// the last ones that left, [joined](Segment::join_departing). Poll
    /// again only when something else happens: an ACK, a timer, a freed segment ([`on_freed`](Self::on_freed)).
    pub fn on_local_congestion(&mut self, now: Instant, segment: &Segment, congestion: LocalCongestion) {
        if self.phase == Phase::Established {
            self.sender.on_local_congestion(now, segment, congestion);
        }
    }

    /// Takes a segment from the wire.
    #[inline]
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) -> Handled {
        self.handle::<true>(now, segment)
    }

    /// Does what [`handle_segment`](Self::handle_segment) does, without the fast path that most ACKs take. Tests
    /// compare the two.
    #[doc(hidden)]
    pub fn handle_segment_slowly(&mut self, now: Instant, segment: &Segment) -> Handled {
        self.handle::<false>(now, segment)
    }

    #[inline]
    fn handle<const FAST: bool>(&mut self, now: Instant, segment: &Segment) -> Handled {
        let mut is_of_handshake = false;
        if self.phase != Phase::Established || segment.flags.contains(Flags::SYN) {
            is_of_handshake = self.phase == Phase::SynReceived;
            self.handle_handshake(now, segment);
            if self.phase < Phase::AckDue || segment.flags.contains(Flags::SYN) {
                return Handled::default();
            }
        }
        if self.receiver.is_of_old_data(segment)
            || (self.receiver.is_outdated(segment) && !self.is_old_but_good(segment))
        {
            self.receiver.refuse(now, segment);
            return Handled::default();
        }
        // The ECN bits of the ACK that ends the handshake are no counter (RFC 9768, 3.2.2.1).
        let is_newer = self.receiver.on_timestamp(segment) & !is_of_handshake;
        let rtt = self.sender.on_ack::<FAST>(now, segment, is_newer);
        if self.receiver.tells_bytes() {
            self.sender.count_bytes(segment);
        }
        let newly_delivered_bytes = if segment.seq_len() > 0 {
            self.receiver.on_data(now, segment, self.sender.rtt(), self.sender.has_sent_fin())
        } else {
            self.receiver.on_bare(segment);
            0
        };
        Handled { rtt, newly_delivered_bytes }
    }

    /// Returns whether an outdated segment is a bare ACK that says nothing new of data and window: it may have been
    /// overtaken, and its SACK blocks count (Linux `tcp_disordered_ack`).
    #[cold]
    fn is_old_but_good(&self, segment: &Segment) -> bool {
        self.receiver.is_nearly_next(segment, self.sender.rtt().rto()) && self.sender.repeats(segment)
    }

    /// Returns the next segment to put on the wire now. Call it until it returns `None`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if self.phase != Phase::Established {
            return self.poll_handshake(now);
        }
        if self.receiver.owes_ack() {
            return Some(self.owed_ack(now));
        }
        let (seq, len, flags, ecn, _) = self.next(now)?;
        Some(self.carry(now, seq, len, flags, ecn))
    }

    /// Builds a segment of `len` payload bytes, with the acknowledgement and all options.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `Receiver::carry`
    fn carry(&mut self, now: Instant, seq: SeqNumber, len: u16, flags: Flags, ecn: Ecn) -> Segment {
        if self.receiver.tells_bytes() {
            return self.carry_and_tell(now, seq, len, flags, ecn);
        }
        self.receiver.carry(now, seq, len, flags, ecn)
    }

    /// Does what [`carry`](Self::carry) does, with AccECN's option. Apart from it, or each segment would be copied.
    #[cold]
    #[inline(never)]
    fn carry_and_tell(&mut self, now: Instant, seq: SeqNumber, len: u16, flags: Flags, ecn: Ecn) -> Segment {
        let segment = self.receiver.carry(now, seq, len, flags, ecn);
        self.sender.tell_bytes(now, segment)
    }

    /// Returns sequence number, length, flags and codepoint of the next segment of an established connection without an
    /// owed ACK, and whether it is the last one.
    #[inline(always)] // as for `Sender::poll_transmit`
    fn next(&mut self, now: Instant) -> Option<(SeqNumber, u16, Flags, Ecn, bool)> {
        match self.sender.poll_transmit(now) {
            Some((chunk, flags, ect)) => Some(self.data(chunk, flags, ect)),
            None if self.receiver.is_ack_due() => Some(self.bare()),
            None if self.ends() => self.close_at_end(now),
            None => None,
        }
    }

    /// Does what [`next`](Self::next) does after the application has read the peer's last byte. It closes then. The ACK
    /// of that byte has left before, unless it was delayed: Linux delays the ACK of a FIN without data (`tcp_fin`).
    #[cold]
    fn close_at_end(&mut self, now: Instant) -> Option<(SeqNumber, u16, Flags, Ecn, bool)> {
        self.closes_at_end = false;
        self.close();
        self.sender.poll_transmit(now).map(|(chunk, flags, ect)| self.data(chunk, flags, ect))
    }

    /// Puts on `wire` every segment that is due now: the same segments that [`poll_transmit`](Self::poll_transmit)
    /// returns, at less cost per segment. As with segmentation offload, a packet of several segments is decided once
    /// and then split.
    #[inline]
    pub fn transmit(&mut self, now: Instant, wire: &mut impl Wire) {
        if self.phase != Phase::Established || self.receiver.owes_ack() || self.receiver.tells_bytes() {
            return self.transmit_unusual(now, wire);
        }
        // Segments are built and sent in one place only (instruction cache): the code that a packet runs has to fit a
        // core's cache.
        while let Some((seq, len, flags, ecn, is_last)) = self.next(now) {
            wire.prepare();
            let mut segment = self.receiver.carry(now, seq, len, flags, ecn);
            loop {
                wire.put(segment);
                let Some((seq, is_last)) = self.sender.split(now) else { break };
                let flags = self.receiver.on_split(now)
                    | Flags::PSH.when(is_last && self.stack.era().sending.psh_on_tso_end);
                segment = Segment { seq, flags, ..segment };
            }
            if is_last {
                return;
            }
        }
    }

    /// Takes a segment from the wire, and puts on `wire` what is due then. Returns the sample of the RTT, if there is
    /// one.
    ///
    /// Does what [`handle_segment`](Self::handle_segment) and [`transmit`](Self::transmit) do. Nearly all segments are
    /// the next data for an end that sends nothing, or an ACK of new data without anything else. For these the code is
    /// short: what the other segments need is in functions apart.
    #[inline]
    pub fn respond(&mut self, now: Instant, segment: &Segment, wire: &mut impl Wire) -> Option<Duration> {
        if self.phase == Phase::Established && segment.is_plain() {
            if segment.payload_len > 0 {
                if self.sender.only_hears(segment) && self.receiver.is_usual(segment) {
                    self.receiver.on_timestamp(segment);
                    self.sender.hear(segment);
                    self.receiver.on_next(now, segment, self.sender.rtt());
                    if self.receiver.is_ack_due() {
                        let (seq, len, flags, ecn, _) = self.bare();
                        wire.prepare();
                        wire.put(self.receiver.carry(now, seq, len, flags, ecn));
                    }
                    return None;
                }
            } else if self.sender.expects(segment)
                && !self.receiver.tells_bytes()
                && !self.receiver.is_of_old_data(segment)
            {
                self.receiver.on_timestamp(segment);
                let rtt = self.sender.on_expected_ack(now, segment);
                self.receiver.on_bare(segment);
                self.transmit(now, wire);
                return rtt;
            }
        }
        self.respond_unusually(now, segment, wire)
    }

    /// Does the same for any segment.
    #[inline(never)] // out of the way of the segments that `respond` takes itself
    fn respond_unusually(
        &mut self,
        now: Instant,
        segment: &Segment,
        wire: &mut impl Wire,
    ) -> Option<Duration> {
        let rtt = self.handle_segment(now, segment).rtt;
        self.transmit(now, wire);
        rtt
    }

    #[cold]
    fn transmit_unusual(&mut self, now: Instant, wire: &mut impl Wire) {
        while let Some(segment) = self.poll_transmit(now) {
            wire.prepare();
            wire.put(segment);
        }
    }

    /// Returns the fields of a segment of `chunk`. Another segment may follow.
    #[inline]
    fn data(&self, chunk: Chunk, flags: Flags, ect: bool) -> (SeqNumber, u16, Flags, Ecn, bool) {
        let ecn = if ect { self.ect } else { self.ect_else };
        (chunk.seq, chunk.len, flags | chunk.ends, ecn, false)
    }

    /// Returns the fields of a bare ACK. It leaves after all data, and only a FIN may follow it.
    #[inline]
    fn bare(&self) -> (SeqNumber, u16, Flags, Ecn, bool) {
        (self.sender.board().nxt(), 0, Flags::NONE, self.ect_else, !self.ends())
    }

    /// Returns whether the application closes now, because it has read the peer's last byte.
    #[inline]
    fn ends(&self) -> bool {
        self.closes_at_end && self.receiver.is_read_to_end()
    }

    fn bare_ack(&mut self, now: Instant) -> Segment {
        let (seq, len, flags, ecn, _) = self.bare();
        self.carry(now, seq, len, flags, ecn)
    }

    #[cold]
    fn owed_ack(&mut self, now: Instant) -> Segment {
        let bare = self.bare_ack(now);
        self.receiver.owed_ack(bare)
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout), if nothing happens before.
    ///
    /// The deadline moves with nearly every segment, mostly later: arm a timer once, and ask again when it fires.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let deadline = self.sender.deadline().min(self.receiver.deadline());
        let deadline =
            if self.phase == Phase::Established { deadline } else { self.opening_deadline(deadline) };
        (deadline != Instant::MAX).then_some(deadline)
    }

    /// Does what is due. Has no effect if nothing is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if now >= self.syn_deadline {
            self.on_syn_timeout();
        }
        self.sender.on_timeout(now);
        self.receiver.on_timeout(now, self.sender.rtt().rto());
    }

    /// Does what is due, as a timer does that was armed once: the deadline may have moved on since. Returns whether
    /// anything was due.
    pub fn handle_due(&mut self, now: Instant) -> bool {
        let is_due = self.poll_timeout().is_some_and(|deadline| deadline <= now);
        if is_due {
            self.handle_timeout(now);
        }
        is_due
    }

    /// Returns which bytes of a connection a segment touches, on a side that `sends` or on a side that only receives. A
    /// caller that knows the next connection prefetches them.
    #[inline]
    #[must_use]
    pub const fn hot_bytes(sends: bool) -> [Range<usize>; 3] {
        const SENDER: usize = offset_of!(Connection, sender);
        const RECEIVER: usize = offset_of!(Connection, receiver);
        let [first, second] = Sender::HOT;
        if sends {
            [
                0..SENDER + first.end,
                SENDER + second.start..SENDER + second.end,
                RECEIVER..RECEIVER + Receiver::HOT_BYTES_OF_SENDER,
            ]
        } else {
            [0..SENDER + Sender::HOT_BYTES_OF_RECEIVER, 0..0, RECEIVER..RECEIVER + Receiver::HOT_BYTES]
        }
    }

    /// Prefetches the record of the oldest segment, which the next ACK reads, and the ranges held out of order, which
    /// the next data reads (cache line).
    #[inline]
    pub fn prefetch_oldest(&self) {
        self.sender.board().prefetch_oldest();
        self.receiver.prefetch_held();
    }
}

#[cfg(test)]
mod tests;
