//! The sending half: what may be sent when, and Linux's five congestion states.

use crate::cc::{Ack, AnyCc, Congestion};
use crate::offload::{self, Offload};
use crate::pacing::{self, Pacer};
use crate::prr::Prr;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Chunk, Delivery, Scoreboard};
use crate::usage::Usage;
use crate::{Config, Flags, Segment, SeqNumber, Stack, Stats, Window};
use goodqueue_units::{Duration, Instant, Rate};

/// RFC 6675, section 2: DupThresh.
const DUP_THRESH: u32 = 3;

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
    ecn: bool,
    /// The next new segment says CWR (RFC 3168, 6.1.2).
    cwr_due: bool,
    offload: Offload,
    pacer: Pacer,
    mss: u16,
    /// Timeouts since the last progress.
    timeouts: u32,
    /// Where the current reduction or recovery ends.
    high_seq: SeqNumber,
    peer_window: u32,
    peer_shift: u8,
    prr: Prr,
    rtt: RttEstimator,
    /// When the retransmission timer fires, or [`Instant::MAX`].
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

impl Sender {
    /// A sender whose first byte of data will be `first`.
    pub(crate) fn new(config: &Config, first: SeqNumber) -> Self {
        let cc = AnyCc::new(config);
        let is_model_based = config.cc.is_model_based();
        let mut board = Scoreboard::new(first, config.mss.max(1));
        if config.delivery_rate || is_model_based {
            board.estimate_rate();
        }
        Self {
            board,
            window: Window::new(config),
            pacer: Pacer::new(config.pacing || is_model_based),
            cc,
            state: CongestionState::Open,
            end: End::Open,
            ecn: false,
            cwr_due: false,
            offload: Offload::default(),
            mss: config.mss.max(1),
            timeouts: 0,
            high_seq: first,
            peer_window: 0,
            peer_shift: 0,
            prr: Prr::default(),
            rtt: RttEstimator::new(),
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
        ecn: bool,
    ) {
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, rtt, self.board.una(), self.board.nxt());
        } else {
            self.rtt.syn_timed_out();
        }
        if syns_lost > 1 {
            self.window.cwnd = 1; // RFC 5681, 3.1; Linux forgives one loss (RFC 6298, appendix A)
        }
        self.peer_window = self.window_of(segment);
        self.mss = u32::from(self.mss).min(self.peer_window.max(1)) as u16; // the receiver may hold less than a segment
        self.ecn = ecn;
        self.last_sent = now;
        self.cc.on_open(now, rtt, &mut self.window);
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.check_app_limited();
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

    /// The next segment of data to go out now: lost ones first, the lowest first, then new ones.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<(Chunk, Flags, bool)> {
        if self.board.in_flight() >= self.window.cwnd {
            return None;
        }
        if self.pacer.is_on() && !self.begin_packet(now) {
            return None;
        }
        if self.board.has_lost() {
            let chunk = self.retransmit(now)?;
            return Some((chunk, Flags::NONE, false)); // not ECT: RFC 3168, 6.1.5
        }
        let chunk = self.send_new(now)?;
        let cwr = self.cwr_due && chunk.len > 0;
        self.cwr_due &= !cwr;
        let more = self.board.in_flight() < self.window.cwnd && self.has_new();
        let packet = || {
            let rate = pacing::rate(&self.window, self.board.packets_out(), self.rtt.srtt(), self.mss);
            offload::packet(rate, &self.window, self.mss, self.rtt.min())
        };
        let push = self.offload.on_sent(more, self.window.stack, packet);
        Some((chunk, Flags::CWR.when(cwr) | Flags::PSH.when(push), self.ecn && chunk.len > 0))
    }

    /// Whether pacing lets a segment go now, of the present packet or as a new one.
    #[cold]
    fn begin_packet(&mut self, now: Instant) -> bool {
        let is_ready = self.board.has_lost() || self.has_new();
        is_ready && (self.offload.is_amid_packet() || self.pacer.begin_packet(now))
    }

    #[inline]
    fn send_new(&mut self, now: Instant) -> Option<Chunk> {
        if !self.has_new() {
            return None;
        }
        let len = self.unsent.min(u64::from(self.mss)) as u16;
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
        Some(chunk)
    }

    /// Whether there is new data, or FIN, that the receiver has room for.
    #[inline]
    fn has_new(&self) -> bool {
        let len = self.unsent.min(u64::from(self.mss)) as u32;
        let used = self.board.nxt().since(self.board.una());
        (len > 0 || self.end == End::Closing) && used + len <= self.peer_window
    }

    /// Something is sent while nothing was out.
    #[cold]
    fn restart(&mut self, now: Instant) {
        self.deadline = now + self.rtt.rto();
        self.cc.on_restart(now, now.since(self.last_sent));
        if let Some(rate) = self.board.rate() {
            self.cc.on_transmit_start(now, rate, &mut self.window);
        }
    }

    #[cold]
    fn retransmit(&mut self, now: Instant) -> Option<Chunk> {
        let (chunk, is_first) = self.board.resend(now)?;
        if is_first {
            self.deadline = now + self.rtt.rto(); // the new copy of the first segment gets its full time
        }
        self.after_send(now, chunk.len);
        self.stats.retransmitted += 1;
        self.stats.bytes_retransmitted += u64::from(chunk.len);
        Some(chunk)
    }

    #[inline]
    fn after_send(&mut self, now: Instant, len: u16) {
        self.last_sent = now;
        self.stats.segments_sent += 1;
        if self.pacer.is_on() {
            let rate = pacing::rate(&self.window, self.board.packets_out(), self.rtt.srtt(), self.mss);
            self.pacer.on_sent(len, self.stats.segments_sent, rate);
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
        let ece = self.ecn && segment.flags.contains(Flags::ECE);
        let advances = ack > una;
        if !advances && segment.sack_len == 0 && !ece {
            return None; // the ACK on data that flows the other way
        }
        if ack > self.board.nxt() {
            return None; // of what was never sent (RFC 9293, 3.10.7.4)
        }
        let prior_in_flight = self.board.in_flight();
        let mut delivery = Delivery::new(now, self.rtt.min());
        if segment.sack_len > 0 {
            self.board.sack(segment.sack_blocks(), &mut delivery);
        }
        if advances {
            self.board.acknowledge(ack, &mut delivery);
            self.acked_bytes += u64::from(ack.since(una));
            self.peer_window = self.window_of(segment);
            self.timeouts = 0;
        }
        let rtt = self.sample_rtt(&delivery);
        if advances {
            self.deadline = if self.board.packets_out() == 0 { Instant::MAX } else { now + self.rtt.rto() };
        }
        let mut ack = Ack {
            now,
            segments: delivery.segments,
            counted: if self.window.stack == Stack::Linux6 { delivery.segments } else { 1 },
            rtt,
            una: self.board.una(),
            nxt: self.board.nxt(),
            is_cwnd_limited: self.usage.is_cwnd_limited(&self.window),
            prior_in_flight,
            in_flight: self.board.in_flight(),
            marked: if ece { delivery.segments } else { 0 },
            state: self.state,
        };
        self.cc.on_delivered(&ack, &mut self.window);
        let calm = self.state == CongestionState::Open && self.board.sacked_out() == 0 && !ece;
        let lost = !calm && self.on_dubious_ack(now, ece);
        (ack.state, ack.in_flight) = (self.state, self.board.in_flight());
        if self.board.rate().is_some() && self.on_rate(&ack, una) {
            return rtt;
        }
        if matches!(self.state, CongestionState::Cwr | CongestionState::Recovery) {
            self.reduce(delivery.segments, advances && !lost);
        } else if advances {
            self.cc.on_ack(&ack, &mut self.window);
        }
        rtt
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
        sample.departure = self.pacer.release();
        if self.cc.is_model_based() {
            self.cc.on_rate(ack, &sample, rate, &mut self.window);
        }
        rate.forget_losses();
        self.cc.is_model_based()
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

    /// Leaves, changes and enters states; whether segments were found lost.
    #[cold]
    fn on_dubious_ack(&mut self, now: Instant, ece: bool) -> bool {
        self.leave_finished_state();
        let recovering = self.state >= CongestionState::Recovery;
        let lost = (recovering || self.board.sacked_out() >= self.dup_thresh()) && self.board.detect_losses();
        if recovering {
            return lost;
        }
        if self.board.lost_out() > 0 {
            if self.state != CongestionState::Cwr {
                self.begin_reduction(now); // else it is under way: one reduction a window of data
            }
            self.enter(CongestionState::Recovery);
            self.stats.fast_recoveries += 1;
        } else if self.state != CongestionState::Cwr {
            if ece {
                self.begin_reduction(now);
                self.enter(CongestionState::Cwr);
                self.stats.ecn_reductions += 1;
            } else if self.board.sacked_out() > 0 {
                self.enter(CongestionState::Disorder);
            } else {
                self.enter(CongestionState::Open);
            }
        }
        lost
    }

    /// A state ends when all that was sent before it began is acknowledged; CWR only with something sent after, so
    /// that the echo of the old marks has stopped.
    fn leave_finished_state(&mut self) {
        let una = self.board.una();
        let is_over = match self.state {
            CongestionState::Cwr => una > self.high_seq,
            CongestionState::Recovery | CongestionState::Loss => una >= self.high_seq,
            CongestionState::Open | CongestionState::Disorder => false,
        };
        if !is_over {
            return;
        }
        if self.state != CongestionState::Loss && !self.cc.is_model_based() {
            self.window.cwnd = self.window.ssthresh;
        }
        self.enter(CongestionState::Open);
    }

    fn enter(&mut self, state: CongestionState) {
        if self.state != state {
            self.state = state;
            self.cc.on_state(state, &mut self.window);
        }
    }

    /// RFC 6675's threshold, lowered where so little is out that it cannot be reached (early retransmit, RFC 5827, 3.2).
    fn dup_thresh(&self) -> u32 {
        let out = self.board.packets_out();
        let may_send = self.board.in_flight() < self.window.cwnd && self.has_new();
        if out < 4 && out == self.board.sacked_out() + 1 && !may_send {
            return (out - 1).max(1);
        }
        DUP_THRESH
    }

    fn begin_reduction(&mut self, now: Instant) {
        let cwnd = self.window.cwnd;
        self.high_seq = self.board.nxt();
        self.prr = Prr::new(cwnd);
        self.window.counted = 0;
        self.window.ssthresh = self.cc.ssthresh(&Congestion { now, cwnd });
        self.cwr_due = self.ecn;
    }

    #[cold]
    fn reduce(&mut self, delivered: u32, safe: bool) {
        if delivered > 0 {
            let bonus = safe || self.window.stack == Stack::Linux3_10;
            let in_flight = self.board.in_flight();
            let allowed = self.prr.on_ack(delivered, in_flight, self.window.ssthresh, bonus);
            self.window.cwnd = (in_flight + allowed).max(1);
        }
    }

    /// When the retransmission timer fires or a packet may leave that was held back, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.min(self.pacer.deadline())
    }

    /// RFC 5681, 3.1, and RFC 6298, 5.4 to 5.7.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        self.pacer.on_timeout(now);
        if now < self.deadline {
            return;
        }
        if self.board.packets_out() == 0 {
            self.deadline = Instant::MAX;
            return;
        }
        let cwnd = self.window.cwnd;
        let first_of_window = match self.state {
            CongestionState::Open | CongestionState::Disorder => true,
            CongestionState::Cwr | CongestionState::Recovery => self.board.una() >= self.high_seq,
            CongestionState::Loss => self.timeouts == 0, // there was progress since the last one
        };
        if first_of_window {
            self.window.ssthresh = self.cc.ssthresh(&Congestion { now, cwnd });
        }
        self.cc.on_rto();
        self.board.lose_all();
        self.window.cwnd = 1;
        self.window.counted = 0;
        self.cwr_due = self.ecn;
        self.high_seq = self.board.nxt();
        self.enter(CongestionState::Loss);
        self.timeouts += 1;
        self.stats.timeouts += 1;
        self.rtt.back_off();
        self.deadline = now + self.rtt.rto();
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
