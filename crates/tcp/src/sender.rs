//! The sending half: what may be sent when, and Linux's five congestion states.

mod persist;
mod recovery;
mod timers;

use crate::cc::{Ack, AnyCc};
use crate::ecn::{EcnMode, Feedback};
use crate::offload::{self, Offload};
use crate::pacing::{self, Pacer};
use crate::prr::Prr;
use crate::rack::Rack;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Chunk, Delivery, Scoreboard};
use crate::segment::timestamp;
use crate::tlp::Tail;
use crate::undo::Undo;
use crate::usage::Usage;
use crate::{Config, Flags, Segment, SeqNumber, Stats, Window};
use alloc::boxed::Box;
use goodqueue_units::{Duration, Instant, Rate};
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
    /// Where it is paced.
    pacer: Option<Box<Pacer>>,
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
        let is_model_based = config.cc.is_model_based();
        let mut board = Scoreboard::new(first, config.mss.max(1));
        if config.delivery_rate || is_model_based {
            board.estimate_rate();
        }
        Self {
            board,
            window: Window::new(config),
            cc: AnyCc::new(config),
            state: CongestionState::Open,
            end: End::Open,
            feedback: Feedback::OFF,
            cwr_due: false,
            offload: Offload::default(),
            pacer: (config.pacing || is_model_based).then(Box::default),
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
        self.cc.on_open(now, rtt, &mut self.window);
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.check_app_limited();
        if self.unsent == 0 {
            self.offload.on_first_write();
        }
        if self.end == End::Open {
            self.unsent = self.unsent.saturating_add(bytes);
        }
    }

    /// Draft-ietf-ccwg-bbr-06, 4.1.2.4: the application writes, and the path had room for more than it had written.
    fn check_app_limited(&mut self) {
        let in_flight = self.board.in_flight();
        let is_idle = self.unsent == 0 && !self.board.has_lost() && in_flight < self.window.cwnd;
        if let Some(rate) = self.board.rate_mut().filter(|_| is_idle) {
            rate.mark_app_limited(in_flight);
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
        let in_flight = self.board.in_flight();
        if self.due != Due::Nothing || in_flight >= self.window.cwnd {
            return self.send_beyond_window(now);
        }
        if self.pacer.is_some() && !self.begin_packet(now) {
            return None;
        }
        if self.board.has_lost() && !self.sends_new_first() {
            let chunk = self.retransmit(now)?;
            return Some((chunk, Flags::NONE, false)); // not ECT: RFC 3168, 6.1.5
        }
        if self.waits_for_company(now, self.window.cwnd - self.board.in_flight()) {
            // The window is what limits, although a part of it is free.
            self.usage.on_sent(true, self.board.packets_out(), self.board.una(), self.board.nxt());
            return None;
        }
        let chunk = self.send_new(now)?;
        let cwr = self.cwr_due && chunk.len > 0;
        self.cwr_due &= !cwr;
        let more = in_flight + 1 < self.window.cwnd && self.has_new();
        let mut offload = self.offload;
        let piece = || offload::piece(self.peer_window, self.mss);
        let push = offload.on_sent(more, self.window.stack, || self.packet(), piece);
        self.offload = offload;
        Some((chunk, Flags::CWR.when(cwr) | Flags::PSH.when(push), chunk.len > 0))
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
        offload::packet(self.pacing_rate(), &self.window, self.mss, self.rtt.min())
    }

    /// Whether new data waits for the next ACK, so as not to leave as a packet too short for segmentation offload.
    #[inline]
    fn waits_for_company(&self, now: Instant, room: u32) -> bool {
        self.state < CongestionState::Recovery
            && self.unsent > u64::from(room) * u64::from(self.mss)
            && self.board.head_sent_at().is_some_and(|oldest| {
                let (since_last, since_oldest) = (now.since(self.last_sent), now.since(oldest));
                self.offload
                    .defers(room, since_last, since_oldest, &self.window, self.rtt.srtt(), || self.packet())
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
        self.after_send(now, len);
        self.arm_after_send(now);
        chunk
    }

    /// Whether there is new data, or FIN, that the receiver has room for.
    #[inline]
    fn has_new(&self) -> bool {
        let len = self.unsent.min(u64::from(self.mss)) as u32;
        (len > 0 || self.end == End::Closing) && len <= self.room()
    }

    /// Something is sent while nothing was out.
    #[cold]
    fn restart(&mut self, now: Instant) {
        if self.timer == Timer::Window {
            self.rtt.end_backoff();
        }
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        if idle > rto && !self.cc.is_model_based() {
            self.window.restart(idle, rto);
            self.usage.on_window(now);
        }
        self.set_timer(Timer::Rto, now + rto);
        self.cc.on_restart(now, idle);
        if let Some(rate) = self.board.rate() {
            self.cc.on_transmit_start(now, rate, &mut self.window);
        }
    }

    /// What leaves although the congestion window is full: a probe, and with Linux FIN with what is left, as nothing can
    /// follow it.
    #[cold]
    fn send_beyond_window(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        if self.due != Due::Nothing {
            return self.send_probe(now);
        }
        let is_last = self.end == End::Closing && self.unsent <= self.mss.into();
        if !is_last || !self.window.stack.era().fin_beyond_window {
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
        self.after_send(now, chunk.len);
        self.undo.on_resent(timestamp(now));
        self.stats.retransmitted += 1;
        self.stats.bytes_retransmitted += u64::from(chunk.len);
        Some(chunk)
    }

    #[inline]
    fn after_send(&mut self, now: Instant, len: u16) {
        self.last_sent = now;
        self.stats.segments_sent += 1;
        let rate = self.pacer.is_some().then(|| self.pacing_rate()).flatten();
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, len, self.stats.segments_sent, rate);
        }
        if matches!(self.state, CongestionState::Cwr | CongestionState::Recovery) {
            self.prr.on_sent();
        }
        let full = self.board.in_flight() >= self.window.cwnd;
        self.usage.on_sent(full, self.board.packets_out(), self.board.una(), self.board.nxt());
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
        let path = self.sample_rtt(&delivery);
        let rtt = if path.is_none() && advances { self.sample_echo(&delivery) } else { path };
        let marked = if self.feedback.is_news(segment.flags, delivery.segments) {
            let marked = self.feedback.read(segment.flags, delivery.segments);
            self.stats.delivered_ce += u64::from(marked.unwrap_or(0));
            marked
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
        if self.board.rate().is_some() && self.on_rate(&ack, una) {
            return path;
        }
        if matches!(self.state, CongestionState::Cwr | CongestionState::Recovery) {
            self.reduce(delivery.segments, advances && !lost);
        } else if advances {
            self.usage.on_window(now);
            self.cc.on_ack(&ack, &mut self.window);
        }
        path
    }

    /// Takes the sample of the delivery rate; whether the congestion control does everything else by it, recovery
    /// included. `una` is what was acknowledged before.
    #[cold]
    fn on_rate(&mut self, ack: &Ack, una: SeqNumber) -> bool {
        let Some(rate) = self.board.rate_mut() else { return false };
        let mut sample = rate.sample(ack.now, ack.segments, ack.marked, self.rtt.min());
        sample.is_ack_delayed = ack.segments == 1
            && ack.una.since(una) < u32::from(self.mss)
            && sample.prior_delivered + 1 == rate.delivered();
        sample.departure = self.pacer.as_ref().map_or(ack.now, |pacer| pacer.release());
        if self.cc.is_model_based() {
            self.cc.on_rate(ack, &sample, rate, &mut self.window);
        }
        rate.forget_losses();
        self.cc.is_model_based()
    }

    /// Whether something is SACKed, or a tail loss probe is out.
    #[inline]
    fn has_doubts(&self) -> bool {
        self.board.sacked_out() > 0 || self.tail.is_pending()
    }

    /// RFC 6298, 3 (Karn), from the first segment the ACK covers; the path's RTT is from the last.
    #[inline]
    fn sample_rtt(&mut self, delivery: &Delivery) -> Option<Duration> {
        let (mut first, mut last) = delivery.acked;
        if delivery.ambiguous || first == Instant::MAX {
            (first, last) = delivery.sacked;
        }
        if first == Instant::MAX {
            return None;
        }
        let (smoothed, path) = (delivery.now().since(first), delivery.now().since(last));
        self.rtt.sample(smoothed, path, self.board.una(), self.board.nxt());
        Some(path)
    }

    /// Where all were sent again, the echo of the timestamp tells which of the copies arrived, to a millisecond (RFC 7323,
    /// section 4).
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

    pub(crate) fn delivery_rate(&self) -> Option<Rate> {
        self.board.rate().and_then(|rate| rate.delivery_rate(self.mss))
    }

    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        pacing::rate(&self.window, self.board.packets_out(), self.rtt.srtt(), self.mss)
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
