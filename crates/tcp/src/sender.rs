//! The sending half: its state, the application's side of it, and Linux's five congestion states.

mod acks;
mod alert;
mod brakes;
mod detection;
mod feedback;
mod local;
mod persist;
mod recovery;
mod reduction;
mod timeout;
mod timer;
mod transmit;

use crate::cc::AnyCc;
use crate::ecn::{Bytes, EcnMode, Feedback};
use crate::era::Era;
use crate::offload::Offload;
use crate::pacing::Pace;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::usage::Usage;
use crate::write_queue::{App, WriteQueue};
use crate::{Config, Flags, Segment, SeqNumber, Stack, Stats, Window};
use alloc::boxed::Box;
use brakes::Brakes;
use core::mem::offset_of;
use core::ops::Range;
use goodqueue_units::{Duration, Instant, Rate};
pub use local::LocalCongestion;
use recovery::Recovery;
use timer::Timer;

/// The congestion state of a sender, in Linux's words and in the order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CongestionState {
    /// Nothing unusual.
    Open,
    /// Some segments are SACKed, but not enough to call others lost. Each SACK lets new data out (RFC 3042).
    Disorder,
    /// The window is being reduced because of ECN.
    Cwr,
    /// Fast recovery: the window is being reduced because of loss.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What the application has said about the end of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The application may write more.
    Open,
    /// The application has closed. FIN goes with the last byte.
    Closing,
    FinSent,
}

/// The last window of data of which a segment was lost.
#[derive(Clone, Debug)]
struct LossyWindow {
    /// SND.NXT when its first lost segment was sent again.
    end: SeqNumber,
    /// More than one segment of it was lost.
    is_multi: bool,
}

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(crate) struct Sender {
    timer: Timer,
    /// What may hold data back although the windows have room. Most senders have nothing, and pay nothing for it.
    brakes: Option<Box<Brakes>>,
    peer_window: u32,
    /// SND.WL1: the sequence number of the segment that reported the peer's window (RFC 9293, 3.10.7.4).
    window_seq: SeqNumber,
    feedback: Feedback,
    end: End,
    /// There is nothing to send, nothing is out, and no ACK can say more, as on a side that only receives.
    is_dormant: bool,
    /// New data waits for company until the next segment arrives, however often the sender is asked before that.
    held_back: bool,
    peer_shift: u8,
    stack: Stack,
    // From here on only of a side that sends, except for the beginning of the board.
    board: Scoreboard,
    // The end of the board, the counters, and the beginning of `Recovery`: only where something is lost or marked.
    /// All counters except `segments_sent`.
    pub(crate) stats: Stats,
    lossy: LossyWindow,
    recovery: Recovery,
    // From the end of `Recovery` on for each segment again.
    last_sent: Instant,
    /// Bytes in the socket that were not sent.
    unsent: u32,
    mss: u16,
    /// Payload bytes of a full segment without AccECN's option (Linux `mss_cache`). The pacing rate follows from it.
    plain_mss: u16,
    offload: Offload,
    /// What the application has written, and what the peer has not acknowledged of it.
    queue: Box<WriteQueue>,
    segments_sent: u64,
    window: Window,
    usage: Usage,
    acked_bytes: u64,
    rtt: RttEstimator,
    cc: AnyCc,
    /// The bytes that AccECN's option counts at both ends, if it is in use.
    bytes: Option<Box<Bytes>>,
}

#[cfg(target_pointer_width = "64")] // shorter pointers make another layout, as in WebAssembly
const _: () = {
    assert!(size_of::<Timer>() == 16 && size_of::<Recovery>() == 88);
    assert!(
        Sender::HOT_BYTES_OF_RECEIVER == 48,
        "with the connection's 8 bytes before it, a side that receives has one line"
    );
    assert!(Sender::HOT[0].end == 160 && Sender::HOT[1].start == 392 && Sender::HOT[1].end == 696);
};

impl Sender {
    /// The bytes that each segment touches on a side that sends. Between the two ranges are fields for losses.
    pub(crate) const HOT: [Range<usize>; 2] = [
        0..offset_of!(Self, board) + Scoreboard::HOT_BYTES,
        offset_of!(Self, recovery) + Recovery::HOT_FROM..offset_of!(Self, cc) + AnyCc::HOT_BYTES,
    ];
    /// How many bytes each segment touches on a side that only receives.
    pub(crate) const HOT_BYTES_OF_RECEIVER: usize = offset_of!(Self, board);

    /// Makes a sender whose first byte of data will be `first`.
    pub(crate) fn new(config: &Config, first: SeqNumber) -> Self {
        let timers = &config.stack.era().timers;
        let is_model_based = config.is_model_based();
        let mut board = Scoreboard::new(first, config.mss.max(1));
        if config.delivery_rate || is_model_based {
            board.estimate_rate();
        }
        Self {
            board,
            window: Window::new(config),
            cc: AnyCc::new(config),
            recovery: Recovery::new(first),
            end: End::Open,
            feedback: Feedback::OFF,
            offload: Offload::new(first),
            queue: Box::new(WriteQueue::new(config, first)),
            brakes: Brakes::new(config),
            mss: config.mss.max(1),
            plain_mss: config.mss.max(1),
            peer_window: 0,
            peer_shift: 0,
            window_seq: SeqNumber(0),
            rtt: RttEstimator::new(timers.rto_min, timers.jiffy),
            held_back: false,
            is_dormant: false,
            timer: Timer::new(),
            stack: config.stack,
            last_sent: Instant::ZERO,
            usage: Usage::new(first),
            unsent: 0,
            acked_bytes: 0,
            segments_sent: 0,
            stats: Stats::default(),
            lossy: LossyWindow { end: first, is_multi: false },
            bytes: None,
        }
    }

    /// Returns the constants of this sender's stack.
    #[inline]
    fn era(&self) -> &'static Era {
        self.stack.era()
    }

    /// Takes the shift of the peer's windows from its SYN.
    pub(crate) fn take_syn(&mut self, syn: &Segment) {
        if let Some(options) = syn.syn_options() {
            self.peer_shift = options.window_shift;
        }
    }

    /// Returns the receive window that `segment` reports, in bytes. The window in a SYN is not shifted (RFC 7323, 2.2).
    #[inline]
    fn window_of(&self, segment: &Segment) -> u32 {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.peer_shift };
        u32::from(segment.window) << shift
    }

    /// Ends the handshake. `rtt` is its sample, and `syns_lost` how often it had to be repeated.
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
        if syns_lost > self.era().validation.forgiven_syns {
            self.window.cwnd = 1; // RFC 5681, 3.1
        }
        self.peer_window = self.window_of(segment);
        self.offload.widest = self.peer_window;
        self.window_seq = segment.seq;
        if self.peer_window > 0 {
            self.fit_segments(); // the receiver may have room for less than a segment; a closed window does not say so
        }
        let bare = segment.seq_len() == 0 && segment.blocks() == 0;
        self.feedback = Feedback::new(ecn, bare.then_some(segment.flags));
        self.cc.on_ecn_agreed(self.feedback.mode());
        self.last_sent = now;
        self.usage.on_window(now);
        self.cc.on_open(now, rtt, &mut self.window);
    }

    /// Takes `bytes` more from the application. Does nothing after [`close`](Self::close).
    pub(crate) fn write(&mut self, bytes: u64) {
        self.queue.on_write(bytes);
        self.wake_application();
    }

    /// Lets the application write when the sender is asked for segments next, unless it waits for room.
    fn wake_application(&mut self) {
        (self.held_back, self.is_dormant) = (false, false);
        if self.offload.app == App::Idle && self.queue.beyond() > 0 {
            self.offload.app = App::Writes;
        }
    }

    /// Marks the delivery rate as limited by the application if the path had room for more than was written
    /// (draft-ietf-ccwg-bbr-06, 4.1.2.4).
    fn check_app_limited(&mut self) {
        let in_flight = self.board.in_flight();
        let is_idle = self.unsent < self.mss.into() && !self.board.has_lost() && in_flight < self.window.cwnd;
        if let Some(rate) = self.board.rate_mut().filter(|_| is_idle) {
            rate.mark_app_limited(in_flight);
        }
    }

    pub(crate) fn write_unlimited(&mut self) {
        self.queue.on_endless_write();
        self.wake_application();
    }

    /// Ends the stream with what was written. Of endless data, that is what the socket holds.
    pub(crate) fn close(&mut self) {
        // What was written and not asked for yet: FIN stands on it.
        while !self.queue.is_endless() && self.offload.app == App::Writes && self.let_write() {}
        if self.queue.on_close() {
            self.end_stream();
        }
    }

    /// Ends the stream after the data that are in the socket. Returns whether it was open.
    fn end_stream(&mut self) -> bool {
        let is_open = self.end == End::Open;
        if is_open {
            (self.end, self.is_dormant, self.held_back) = (End::Closing, false, false);
        }
        is_open
    }

    /// Returns the bytes that are written and not sent, those included that wait for room in the buffer.
    pub(crate) fn unsent_bytes(&self) -> u64 {
        u64::from(self.unsent).saturating_add(self.queue.beyond())
    }

    #[inline]
    pub(crate) fn has_sent_fin(&self) -> bool {
        self.end == End::FinSent
    }

    /// Returns whether all data and FIN were acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        self.end == End::FinSent && self.board.packets_out() == 0
    }

    /// Returns the ECN feedback that this sender reads.
    pub(crate) fn ecn(&self) -> EcnMode {
        self.feedback.mode()
    }

    pub(crate) fn delivery_rate(&self) -> Option<Rate> {
        self.board.rate().and_then(|rate| rate.delivery_rate(self.mss))
    }

    #[inline]
    fn pace(&self) -> Option<Pace> {
        Pace::of(&self.window, self.out_of_pace(), self.rtt.srtt_x8(), self.plain_mss)
    }

    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        self.pace().and_then(Pace::rate)
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats { segments_sent: self.segments_sent, ..self.stats }
    }

    #[inline]
    pub(crate) fn state(&self) -> CongestionState {
        self.recovery.state
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

    /// Returns the payload bytes acknowledged. FIN does not count.
    pub(crate) fn acked_bytes(&self) -> u64 {
        self.acked_bytes - u64::from(self.is_finished())
    }

    /// Returns the payload bytes put on the wire, each byte as often as it was sent.
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
