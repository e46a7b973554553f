//! What an ACK says: segments delivered, the round trip, the delivery rate, ECN. The fast path is for an ACK that says
//! nothing unusual; [`alert`](super::alert) judges an ACK that does.

use super::alert::{Outcome, Signs};
use super::timer::Wait;
use super::{CongestionState, Sender};
use crate::cc::Ack;
use crate::pacing::Pacer;
use crate::rack::DUP_THRESH;
use crate::scoreboard::Delivery;
use crate::segment::echo_rtt;
use crate::{Segment, SeqNumber};
use goodqueue_units::{Duration, Instant};

impl Sender {
    /// Takes the acknowledgement in `segment`. Returns the path's RTT if the ACK samples it.
    ///
    /// `is_newer`: by its timestamp the segment left after all segments before it. `FAST`: the fast path may be taken.
    #[inline]
    pub(crate) fn on_ack<const FAST: bool>(
        &mut self,
        now: Instant,
        segment: &Segment,
        is_newer: bool,
    ) -> Option<Duration> {
        if FAST && self.expects(segment) {
            return self.on_expected_ack(now, segment);
        }
        let (ack, una) = (segment.ack, self.board.una());
        let advances = ack > una;
        self.held_back = false;
        if ack > self.board.nxt() {
            return None; // it acknowledges data that was never sent (RFC 9293, 3.10.7.4)
        }
        if ack < una {
            self.on_old_ack(now, segment);
            return None;
        }
        let window = self.peer_window;
        self.take_window(segment, advances);
        if !advances && segment.blocks() == 0 && !self.feedback.is_news(segment.flags, 0) {
            if (!self.is_dormant && self.recovery.tail.is_pending()) || self.timer.wait() == Wait::Window {
                self.on_plain_ack(now, ack, segment.seq_len() == 0 && window == self.peer_window);
            }
            return None;
        }
        self.on_unexpected_ack(now, segment, advances, is_newer)
    }

    /// Returns whether `segment` acknowledges new data and may take the fast path: nothing is unusual, in the sender or
    /// in the ACK.
    #[inline]
    pub(crate) fn expects(&self, segment: &Segment) -> bool {
        segment.ack > self.board.una()
            && segment.ack <= self.board.nxt()
            && self.state() == CongestionState::Open
            && segment.blocks() == 0
            && self.board.is_plain()
            && !self.recovery.tail.is_pending()
            && !self.feedback.may_be_news(segment.flags)
    }

    /// Returns whether this end has nothing to send, and `segment`, which has no blocks and no bits of ECN, tells it
    /// nothing but the peer's window.
    #[inline]
    pub(crate) fn only_hears(&self, segment: &Segment) -> bool {
        self.is_dormant
            && segment.ack == self.board.una()
            && self.timer.wait() != Wait::Window
            && !self.feedback.is_news(segment.flags, 0)
    }

    /// Takes a segment of which this end [only hears](Self::only_hears). The effect is that of
    /// [`on_ack`](Self::on_ack).
    #[inline]
    pub(crate) fn hear(&mut self, segment: &Segment) {
        self.held_back = false;
        self.take_window(segment, false);
    }

    /// Takes an ACK that this end [expects](Self::expects). The effect is that of
    /// [`on_unexpected_ack`](Self::on_unexpected_ack).
    #[inline]
    pub(crate) fn on_expected_ack(&mut self, now: Instant, segment: &Segment) -> Option<Duration> {
        self.held_back = false;
        self.take_window(segment, true);
        let (ack, una, prior_in_flight) = (segment.ack, self.board.una(), self.board.packets_out());
        let Some((segments, first, last)) = self.board.acknowledge_plain(now, ack) else {
            return self.on_unexpected_ack(now, segment, true, false); // only accurate feedback asks for `is_newer`
        };
        self.timer.disarm();
        self.acked_bytes += u64::from(ack.since(una));
        self.recovery.timed_out = false;
        let rtt = micros_since(now, last);
        self.rtt.sample(micros_since(now, first), rtt, ack, self.board.nxt());
        let ack = Ack {
            now,
            segments,
            counted: self.window.counts(segments),
            rtt: Some(rtt),
            #[cfg(feature = "complete")]
            srtt: self.rtt.srtt_in_eighths().unwrap_or_default(),
            unsent: self.unsent_bytes(),
            una: ack,
            nxt: self.board.nxt(),
            is_cwnd_limited: self.usage.limits_growth(&self.window, prior_in_flight),
            prior_in_flight,
            in_flight: self.board.packets_out(),
            marked: 0,
            clock_ms: segment.tsval.wrapping_sub(segment.tsecr),
            state: CongestionState::Open,
        };
        self.cc.on_delivered(&ack, &mut self.window);
        self.arm_after_ack(now);
        self.usage.on_window(now);
        self.cc.on_ack(&ack, &mut self.window);
        self.note_out();
        Some(rtt)
    }

    /// Takes an ACK that later ones have overtaken. Only its SACK blocks can be news, and they tell which segments are
    /// here or lost; the ACK says nothing of the round trip, and does not move the window (`old_ack` of Linux's
    /// `tcp_ack`).
    #[cold]
    fn on_old_ack(&mut self, now: Instant, segment: &Segment) {
        if segment.blocks() == 0 {
            return;
        }
        let (ack, una) = (segment.ack, self.board.una());
        let mut delivery = Delivery::new(now, self.rtt.min());
        delivery.tsecr = segment.tsecr;
        self.take_sack(segment, &mut delivery);
        self.on_dubious_ack(&delivery, &Signs { ece: false, advances: false, ack, una, probe_twice: false });
        if let Some(rate) = self.board.rate_mut() {
            rate.on_old_ack(delivery.segments);
        }
    }

    /// Takes an ACK of new data, or an ACK with SACK blocks or ECN feedback.
    #[inline(never)]
    fn on_unexpected_ack(
        &mut self,
        now: Instant,
        segment: &Segment,
        advances: bool,
        is_newer: bool,
    ) -> Option<Duration> {
        let (ack, una) = (segment.ack, self.board.una());
        let was_out = self.board.packets_out() > 0;
        self.timer.disarm();
        let prior_in_flight = self.board.in_flight();
        let mut delivery = Delivery::new(now, self.rtt.min());
        delivery.tsecr = segment.tsecr;
        let mut probe_twice = false;
        if segment.blocks() > 0 {
            probe_twice = self.take_sack(segment, &mut delivery);
        }
        if advances {
            self.board.acknowledge(ack, &mut delivery);
            self.acked_bytes += u64::from(ack.since(una));
            self.recovery.timed_out = false;
        }
        if let Some(sent_at) = delivery.last_sent
            && self.board.take_dsack_seen()
        {
            self.recovery.rack.on_needless(now, sent_at);
        }
        let path = self.sample_rtt(&delivery);
        let rtt = if path.is_none() && advances { self.sample_echo(&delivery) } else { path };
        let marked = if self.feedback.is_news(segment.flags, delivery.segments) {
            let segments = delivery.segments;
            let marked = self.read_marks(segment, una, segments, is_newer);
            self.stats.delivered_ce += u64::from(marked.unwrap_or(0));
            marked
        } else {
            None
        };
        let ece = marked.is_some() && was_out; // if nothing is out, only ACKs can have been marked: no window is at fault
        let mut ack = Ack {
            now,
            segments: delivery.segments,
            counted: self.window.counts(delivery.segments),
            rtt,
            #[cfg(feature = "complete")]
            srtt: self.rtt.srtt_in_eighths().unwrap_or_default(),
            unsent: self.unsent_bytes(),
            una: self.board.una(),
            nxt: self.board.nxt(),
            is_cwnd_limited: self.usage.limits_growth(&self.window, prior_in_flight),
            prior_in_flight,
            in_flight: self.board.in_flight(),
            marked: marked.unwrap_or(0),
            clock_ms: segment.tsval.wrapping_sub(segment.tsecr),
            state: self.state(),
        };
        self.cc.on_delivered(&ack, &mut self.window);
        let calm =
            self.state() == CongestionState::Open && segment.blocks() == 0 && !self.has_doubts() && !ece;
        let Outcome { lost, waits, rearms } = if calm {
            Outcome::default()
        } else {
            self.on_dubious_ack(&delivery, &Signs { ece, advances, ack: segment.ack, una, probe_twice })
        };
        if (advances || rearms) && !waits {
            self.arm_after_ack(now);
        }
        (ack.state, ack.in_flight) = (self.state(), self.board.in_flight());
        self.note_out();
        if self.board.rate().is_some() && self.on_rate(&ack, una) {
            return path;
        }
        if self.recovery.is_reducing() && !self.cc.sets_window() {
            self.reduce(delivery.segments, advances && !lost);
        } else if advances || self.cc.sets_window() || (delivery.sacks && self.grows_by_sacks()) {
            self.usage.on_window(now);
            self.cc.on_ack(&ack, &mut self.window);
        }
        path
    }

    /// Takes the sample of the delivery rate. Returns whether the congestion control is model-based: then it does
    /// everything else, also in a recovery. `una` is SND.UNA before the ACK.
    #[cold]
    fn on_rate(&mut self, ack: &Ack, una: SeqNumber) -> bool {
        let Some(rate) = self.board.rate_mut() else { return false };
        let mut sample = rate.sample(ack.now, ack.segments, ack.marked, self.rtt.min());
        sample.is_ack_delayed = ack.segments == 1
            && ack.una.since(una) < u32::from(self.mss)
            && sample.prior_delivered + 1 == rate.delivered();
        sample.departure =
            self.brakes.as_ref().and_then(|brakes| brakes.pacer()).map_or(ack.now, Pacer::release);
        if self.cc.is_model_based() {
            self.cc.on_rate(ack, &sample, rate, &mut self.window);
        }
        rate.forget_losses();
        self.cc.is_model_based()
    }

    /// Returns whether SACKs let the window grow: on a path that reorders much, few ACKs acknowledge data (Linux
    /// `tcp_may_raise_cwnd`).
    fn grows_by_sacks(&self) -> bool {
        self.era().growth.by_sacks && self.recovery.rack.degree() > DUP_THRESH
    }

    /// Returns whether a segment is SACKed or a tail loss probe is out.
    #[inline]
    fn has_doubts(&self) -> bool {
        self.board.sacked_out() > 0 || self.recovery.tail.is_pending()
    }

    /// Samples the RTT by the first segment that the ACK covers (Karn; RFC 6298, 3). Returns the path's RTT, by the
    /// last one that it SACKs or covers.
    #[inline]
    fn sample_rtt(&mut self, delivery: &Delivery) -> Option<Duration> {
        let (mut first, mut last) = delivery.acked;
        if delivery.sacked.0 != Instant::MAX {
            last = delivery.sacked.1; // Linux: `ca_rtt_us` of `tcp_clean_rtx_queue`
        }
        if delivery.ambiguous || first == Instant::MAX {
            first = delivery.sacked.0;
        }
        if first == Instant::MAX {
            return None;
        }
        let (smoothed, path) = (micros_since(delivery.now(), first), micros_since(delivery.now(), last));
        self.rtt.sample(smoothed, path, self.board.una(), self.board.nxt());
        Some(path)
    }

    /// Samples the RTT by the echo of the timestamp, if all segments that the ACK covers were sent again: the echo
    /// shows which copy arrived, to 1 ms (RFC 7323, section 4).
    #[cold]
    fn sample_echo(&mut self, delivery: &Delivery) -> Option<Duration> {
        let rtt = echo_rtt(delivery.now(), delivery.tsecr)?;
        self.rtt.sample(rtt, rtt, self.board.una(), self.board.nxt());
        Some(rtt)
    }
}

/// Returns the time from `earlier` to `now` on a clock of whole microseconds (`tcp_stamp_us_delta`).
#[inline]
fn micros_since(now: Instant, earlier: Instant) -> Duration {
    let micros = |at: Instant| at.as_nanos() / 1000;
    Duration::from_micros(micros(now).saturating_sub(micros(earlier)))
}

#[cfg(test)]
mod tests;
