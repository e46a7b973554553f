//! The sending half: what may be sent when, and Linux's five congestion states.

mod recovery;
mod timers;

use crate::cc::{Ack, AnyCc};
use crate::ecn::{EcnMode, Feedback};
use crate::offload::Offload;
use crate::prr::Prr;
use crate::rack::Rack;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Chunk, Delivery, Scoreboard};
use crate::segment::timestamp;
use crate::tlp::Tail;
use crate::undo::Undo;
use crate::usage::Usage;
use crate::{Config, Flags, Segment, SeqNumber, Stats, Window};
use goodqueue_units::{Duration, Instant};
use recovery::{Outcome, Signs};
use timers::{Due, Timer};

/// The congestion state of a sender, in Linux's words; the order is that of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CongestionState {
    /// Nothing unusual.
    Open,
    /// Some segments are SACKed, not enough to call others lost. New data is sent for each (RFC 3042).
    Disorder,
    /// The window is being reduced because of ECN.
    Cwr,
    /// Fast recovery: the window is being reduced because of loss.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// How far the stream's end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The application may write more.
    Open,
    /// It will not; FIN goes with the last byte.
    Closing,
    FinSent,
}

#[derive(Clone, Debug)]
pub(crate) struct Sender {
    board: Scoreboard,
    window: Window,
    cc: AnyCc,
    state: CongestionState,
    end: End,
    feedback: Feedback,
    /// The next new segment says CWR (RFC 3168, 6.1.2).
    cwr_due: bool,
    offload: Offload,
    mss: u16,
    /// Timeouts since the last progress.
    timeouts: u32,
    /// Where the current reduction or recovery ends.
    high_seq: SeqNumber,
    peer_window: u32,
    peer_shift: u8,
    /// SND.WL1: the segment that told the peer's window (RFC 9293, 3.10.7.4).
    window_seq: SeqNumber,
    prr: Prr,
    rtt: RttEstimator,
    rack: Rack,
    tail: Tail,
    undo: Undo,
    /// F-RTO: when the timer fired, while that may have been needless (RFC 5682).
    frto: Option<Instant>,
    /// F-RTO wants new data before more is sent again.
    new_first: bool,
    due: Due,
    timer: Timer,
    /// When the timer fires, or [`Instant::MAX`].
    deadline: Instant,
    last_sent: Instant,
    usage: Usage,
    /// Bytes written and not yet sent.
    unsent: u64,
    /// The application has no end of data; `unsent` only looks like a number then.
    unlimited: bool,
    acked_bytes: u64,
    pub(crate) stats: Stats,
}

/// The round trip that the echo `tsecr` of our clock tells at `now`, at least a millisecond (RFC 7323, section 4.1).
pub(crate) fn echo_rtt(now: Instant, tsecr: u32) -> Option<Duration> {
    let ms = timestamp(now).wrapping_sub(tsecr);
    (tsecr != 0 && ms < 1 << 31).then(|| Duration::from_millis(ms.max(1).into()))
}

impl Sender {
    /// A sender whose first byte of data will be `first`.
    pub(crate) fn new(config: &Config, first: SeqNumber) -> Self {
        Self {
            board: Scoreboard::new(first, config.mss.max(1)),
            window: Window::new(config),
            cc: AnyCc::new(config),
            state: CongestionState::Open,
            end: End::Open,
            feedback: Feedback::OFF,
            cwr_due: false,
            offload: Offload::default(),
            mss: config.mss.max(1),
            timeouts: 0,
            high_seq: first,
            peer_window: 0,
            peer_shift: 0,
            window_seq: SeqNumber(0),
            prr: Prr::default(),
            rtt: RttEstimator::new(config.stack.era().rto_min),
            rack: Rack::new(),
            tail: Tail::default(),
            undo: Undo::default(),
            frto: None,
            new_first: false,
            due: Due::Nothing,
            timer: Timer::Rto,
            deadline: Instant::MAX,
            last_sent: Instant::ZERO,
            usage: Usage::new(first),
            unsent: 0,
            unlimited: false,
            acked_bytes: 0,
            stats: Stats::default(),
        }
    }

    /// The peer's SYN says how its windows are shifted.
    pub(crate) fn take_syn(&mut self, syn: &Segment) {
        if let Some(options) = syn.syn_options() {
            self.peer_shift = options.window_shift;
        }
    }

    /// The receive window that `segment` tells, in bytes; that of a SYN is not shifted (RFC 7323, section 2.2).
    #[inline]
    fn window_of(&self, segment: &Segment) -> u32 {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.peer_shift };
        u32::from(segment.window) << shift
    }

    /// The handshake is over. `rtt` is its sample; `syns_lost` how often it had to be repeated.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        syns_lost: u32,
        segment: &Segment,
        ecn: EcnMode,
    ) {
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, rtt, self.board.una(), self.board.nxt());
        } else {
            self.rtt.syn_timed_out();
        }
        if syns_lost > self.window.stack.era().forgiven_syns {
            self.window.cwnd = 1; // RFC 5681, 3.1; Linux forgives one loss (RFC 6298, appendix A)
        }
        self.peer_window = self.window_of(segment);
        self.window_seq = segment.seq;
        self.mss = u32::from(self.mss).min(self.peer_window.max(1)) as u16; // the receiver may hold less than a segment
        let bare = segment.seq_len() == 0 && segment.sack_len == 0;
        self.feedback = Feedback::new(ecn, bare.then_some(segment.flags));
        self.cc.on_ecn_agreed(self.feedback.mode());
        self.last_sent = now;
        self.usage.on_window(now);
        self.cc.on_open(now, &mut self.window);
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        if self.end == End::Open {
            self.unsent = self.unsent.saturating_add(bytes);
        }
    }

    pub(crate) fn write_unlimited(&mut self) {
        self.write(u64::MAX);
        self.unlimited = true;
    }

    pub(crate) fn close(&mut self) {
        if self.end == End::Open {
            self.end = End::Closing;
            if self.unlimited {
                self.unsent = 0;
            }
        }
    }

    /// Whether all data and FIN were acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        self.end == End::FinSent && self.board.packets_out() == 0
    }

    /// The next segment of data to go out now: lost ones first, the lowest first, then new ones. Whether it is new data,
    /// which classic ECN marks and nothing else (RFC 3168, 6.1.4 and 6.1.5), comes last.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        if self.due != Due::Nothing {
            return self.send_probe(now);
        }
        let in_flight = self.board.in_flight();
        if in_flight >= self.window.cwnd {
            return if self.end == End::Closing { self.send_last(now) } else { None };
        }
        if self.board.has_lost() && !self.sends_new_first() {
            let chunk = self.retransmit(now)?;
            return Some((chunk, Flags::NONE, false)); // not ECT: RFC 3168, 6.1.5
        }
        if self.waits_for_company(now, self.window.cwnd - in_flight) {
            // The window is what limits, although a part of it is free.
            self.usage.on_sent(true, self.board.packets_out(), self.board.una(), self.board.nxt());
            return None;
        }
        let chunk = self.send_new(now)?;
        let cwr = self.cwr_due && chunk.len > 0;
        self.cwr_due &= !cwr;
        let more = in_flight + 1 < self.window.cwnd && self.has_new();
        let push = self.offload.on_sent(more, &self.window, self.rtt.srtt());
        Some((chunk, Flags::CWR.when(cwr) | Flags::PSH.when(push), chunk.len > 0))
    }

    /// Whether new data waits for the next ACK, so as not to leave as a packet too short for segmentation offload.
    #[inline]
    fn waits_for_company(&self, now: Instant, room: u32) -> bool {
        self.state < CongestionState::Recovery
            && self.unsent > u64::from(room) * u64::from(self.mss)
            && self.board.head_sent_at().is_some_and(|oldest| {
                let (since_last, since_oldest) = (now.since(self.last_sent), now.since(oldest));
                self.offload.defers(room, since_last, since_oldest, &self.window, self.rtt.srtt())
            })
    }

    #[inline]
    fn send_new(&mut self, now: Instant) -> Option<Chunk> {
        if !self.has_new() {
            if self.last_sent == now || self.is_blocked() {
                self.on_starved(now);
            }
            return None;
        }
        let len = self.unsent.min(u64::from(self.mss)) as u16;
        Some(self.send_len(now, len))
    }

    #[inline]
    fn send_len(&mut self, now: Instant, len: u16) -> Chunk {
        self.unsent -= u64::from(len);
        let fin = self.unsent == 0 && self.end == End::Closing;
        if fin {
            self.end = End::FinSent;
        }
        if self.board.packets_out() == 0 {
            self.restart(now);
        }
        let chunk = self.board.send(now, len, fin);
        self.after_send(now);
        self.arm_after_send(now);
        chunk
    }

    /// Bytes that the receiver has room for.
    #[inline]
    fn room(&self) -> u32 {
        self.peer_window.saturating_sub(self.board.nxt().since(self.board.una()))
    }

    /// Whether there is new data, or FIN, that the receiver has room for.
    #[inline]
    fn has_new(&self) -> bool {
        let len = self.unsent.min(u64::from(self.mss)) as u32;
        (len > 0 || self.end == End::Closing) && len <= self.room()
    }

    /// Whether nothing moves: data waits for the peer's window, and no ACK is to come.
    #[inline]
    fn is_blocked(&self) -> bool {
        self.unsent > 0 && self.board.packets_out() == 0 && !self.has_new()
    }

    /// Nothing can be sent that the congestion window would allow.
    #[cold]
    fn on_starved(&mut self, now: Instant) {
        if self.is_blocked() {
            if self.deadline == Instant::MAX {
                self.arm_window_probe(now);
            }
            return;
        }
        let rto = self.rtt.rto();
        if let Some(used) = self.usage.on_starved(now, self.board.packets_out(), &self.window, rto)
            && self.state == CongestionState::Open
            && self.window.stack.era().validates_window
        {
            self.window.shrink_to_use(used);
        }
    }

    /// Something is sent while nothing was out.
    #[cold]
    fn restart(&mut self, now: Instant) {
        if self.timer == Timer::Window {
            self.rtt.end_backoff();
        }
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        if idle > rto {
            self.window.restart(idle, rto);
            self.usage.on_window(now);
        }
        self.set_timer(Timer::Rto, now + rto);
        self.cc.on_restart(now, idle);
    }

    /// The window is full: Linux lets that hold everything but FIN with what is left, as nothing can follow it.
    #[cold]
    fn send_last(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        if !self.window.stack.era().fin_beyond_window || self.unsent > self.mss.into() {
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
        if self.frto.is_some() && self.timeouts == 0 && self.board.nxt() == self.high_seq {
            self.frto = None; // step 2b had no new data to send
        }
        let (chunk, is_first) = self.board.resend(now)?;
        if is_first {
            self.arm_after_resend(now);
        }
        self.after_send(now);
        self.undo.on_resent(timestamp(now));
        self.stats.retransmitted += 1;
        self.stats.bytes_retransmitted += u64::from(chunk.len);
        Some(chunk)
    }

    /// A segment that no window allows: the end of the stream so far, or something for the peer to say its window.
    #[cold]
    fn send_probe(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        let due = core::mem::replace(&mut self.due, Due::Nothing);
        if due == Due::WindowProbe {
            // RFC 9293, 3.8.6.1. What fits goes, however little (3.8.6.2.1); else a segment from before the window, which
            // must be answered.
            let len = self.unsent.min(self.mss.into()).min(self.room().into()) as u16;
            if len > 0 {
                return Some((self.send_len(now, len), Flags::NONE, true));
            }
            let seq = self.board.una() - 1;
            return Some((Chunk { seq, len: 0, fin: false }, Flags::NONE, false));
        }
        let (chunk, resent) = match self.send_new(now) {
            Some(chunk) => (chunk, false),
            None => (self.board.probe(now)?, true),
        };
        if resent {
            self.after_send(now);
            self.stats.retransmitted += 1;
            self.stats.bytes_retransmitted += u64::from(chunk.len);
        }
        self.stats.tlp_probes += 1;
        self.tail.begin(self.board.nxt(), resent);
        self.set_timer(Timer::Rto, now + self.rtt.rto());
        Some((chunk, Flags::NONE, !resent && chunk.len > 0))
    }

    #[inline]
    fn after_send(&mut self, now: Instant) {
        self.last_sent = now;
        self.stats.segments_sent += 1;
        if matches!(self.state, CongestionState::Cwr | CongestionState::Recovery) {
            self.prr.on_sent();
        }
        let full = self.board.in_flight() >= self.window.cwnd;
        self.usage.on_sent(full, self.board.packets_out(), self.board.una(), self.board.nxt());
    }

    /// What a segment says of the peer's window, by RFC 9293, 3.10.7.4, as Linux has it: an ACK with the same number that
    /// tells of less is an older one.
    #[inline]
    fn take_window(&mut self, segment: &Segment, advances: bool) {
        let window = self.window_of(segment);
        if advances
            || segment.seq > self.window_seq
            || (segment.seq == self.window_seq && (window > self.peer_window || window == 0))
        {
            (self.peer_window, self.window_seq) = (window, segment.seq);
        }
    }

    /// An ACK that acknowledges nothing new, on data that flows the other way or of a window.
    #[cold]
    fn on_plain_ack(&mut self, now: Instant, is_bare: bool) {
        if self.tail.is_pending() && is_bare {
            self.on_probe_ack(now, true, false);
        }
        if self.timer == Timer::Window && self.board.packets_out() == 0 && self.deadline != Instant::MAX {
            if self.is_blocked() {
                self.arm_window_probe(now); // the peer is there: the next probe is due an RTO after its answer
            } else {
                self.rtt.end_backoff();
                self.deadline = Instant::MAX;
            }
        }
    }

    /// Takes the acknowledgement in `segment`; the path's RTT, where the ACK samples it.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Instant, segment: &Segment) -> Option<Duration> {
        let (ack, una) = (segment.ack, self.board.una());
        let advances = ack > una;
        if ack > self.board.nxt() {
            return None; // of what was never sent (RFC 9293, 3.10.7.4)
        }
        let window = self.peer_window;
        if ack >= una {
            self.take_window(segment, advances);
        }
        if !advances && segment.sack_len == 0 && !self.feedback.is_news(segment.flags, 0) {
            if self.tail.is_pending() || self.timer == Timer::Window {
                self.on_plain_ack(now, segment.seq_len() == 0 && window == self.peer_window);
            }
            return None;
        }
        let prior_in_flight = self.board.in_flight();
        let mut delivery = Delivery::new(now, self.rtt.min());
        delivery.tsecr = segment.tsecr;
        let mut probe_twice = false;
        if segment.sack_len > 0 {
            probe_twice = self.take_sack(segment, &mut delivery);
        }
        if advances {
            self.board.acknowledge(ack, &mut delivery);
            self.acked_bytes += u64::from(ack.since(una));
            self.timeouts = 0;
        }
        let rtt = self.sample_rtt(&delivery, advances);
        let marked = if self.feedback.is_news(segment.flags, delivery.segments) {
            self.feedback.read(segment.flags, delivery.segments)
        } else {
            None
        };
        let ece = marked.is_some();
        let mut ack = Ack {
            now,
            segments: delivery.segments,
            counted: self.window.counts(delivery.segments),
            rtt,
            una: self.board.una(),
            nxt: self.board.nxt(),
            is_cwnd_limited: self.usage.is_cwnd_limited(&self.window),
            prior_in_flight,
            in_flight: self.board.in_flight(),
            marked: marked.unwrap_or(0),
            clock_ms: segment.tsval.wrapping_sub(segment.tsecr),
            state: self.state,
        };
        self.cc.on_delivered(&ack, &mut self.window);
        let calm = self.state == CongestionState::Open && segment.sack_len == 0 && !self.has_doubts() && !ece;
        let Outcome { lost, waits, rearms } = if calm {
            Outcome::default()
        } else {
            self.on_dubious_ack(&delivery, &Signs { ece, advances, una, probe_twice })
        };
        if (advances || rearms) && !waits {
            self.arm_after_ack(now);
        }
        (ack.state, ack.in_flight) = (self.state, self.board.in_flight());
        if matches!(self.state, CongestionState::Cwr | CongestionState::Recovery) {
            self.reduce(delivery.segments, advances && !lost);
        } else if advances {
            self.usage.on_window(now);
            self.cc.on_ack(&ack, &mut self.window);
        }
        rtt
    }

    /// Whether something is SACKed, or a tail loss probe is out.
    #[inline]
    fn has_doubts(&self) -> bool {
        self.board.sacked_out() > 0 || self.tail.is_pending()
    }

    /// RFC 6298, 3 (Karn), from the first segment the ACK covers; the path's RTT is from the last. Where all were sent
    /// again, the echo of the timestamp tells which of the copies arrived, to a millisecond (RFC 7323, section 4).
    #[inline]
    fn sample_rtt(&mut self, delivery: &Delivery, advances: bool) -> Option<Duration> {
        let (mut first, mut last) = delivery.acked;
        if delivery.ambiguous || first == Instant::MAX {
            (first, last) = delivery.sacked;
        }
        if first == Instant::MAX {
            return if advances { self.sample_echo(delivery) } else { None };
        }
        let (smoothed, path) = (delivery.now().since(first), delivery.now().since(last));
        self.rtt.sample(smoothed, path, self.board.una(), self.board.nxt());
        Some(path)
    }

    #[cold]
    fn sample_echo(&mut self, delivery: &Delivery) -> Option<Duration> {
        let rtt = echo_rtt(delivery.now(), delivery.tsecr)?;
        self.rtt.sample(rtt, rtt, self.board.una(), self.board.nxt());
        Some(rtt)
    }

    /// The ECN feedback that it reads.
    pub(crate) fn ecn(&self) -> EcnMode {
        self.feedback.mode()
    }

    pub(crate) fn state(&self) -> CongestionState {
        self.state
    }

    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    pub(crate) fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// Payload bytes acknowledged; FIN is none.
    pub(crate) fn acked_bytes(&self) -> u64 {
        self.acked_bytes - u64::from(self.is_finished())
    }

    /// Payload bytes put on the wire, each as often as it was sent.
    pub(crate) fn sent_bytes(&self) -> u64 {
        let out = self.board.nxt().since(self.board.una());
        let fin = u32::from(self.end == End::FinSent && out > 0);
        self.acked_bytes() + u64::from(out - fin) + self.stats.bytes_retransmitted
    }

    pub(crate) fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.cc.probe(show);
    }
}

#[cfg(test)]
mod tests;
