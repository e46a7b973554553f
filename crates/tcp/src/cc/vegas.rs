//! Vegas (Brakmo & Peterson 1995): keeps a few segments in the queue. It computes their number from how far the RTT
//! exceeds its minimum.
//!
//! This is Linux's version, which differs from the paper:
//! - The RTT of a round is the smallest of its samples, not the last.
//! - Slow start doubles every round trip, not every second one.
//! - Alpha, beta and gamma are 2, 4 and 1 segments. The paper has 1 to 3 and 2 to 4.
//! - Retransmission is the sender's, not the paper's.
//! - Reno takes over in a round with at most two samples, and in any state except Open.
//! - The window grows without a check whether it was used.

use super::reno::Reno;
use super::{Ack, Congestion, CongestionControl};
use crate::{Config, CongestionState, SeqNumber, Window};
use goodqueue_units::{Duration, Instant};

/// Section 3.2: the window does not change while the segments in the queue are between alpha and beta.
const ALPHA: u64 = 2;
const BETA: u64 = 4;
/// Section 3.3: segments in the queue that end slow start.
const GAMMA: u64 = 1;
/// Linux adds 1 µs to each sample, so that no sample is zero.
const TICK: Duration = Duration::from_micros(1);

#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    reno: Reno,
    /// The sender's state is Open.
    enabled: bool,
    /// The round ends when a byte after this one is acknowledged.
    round_end: SeqNumber,
    samples: u32,
    /// The smallest RTT of this round.
    round_rtt: Duration,
    /// The smallest RTT of all rounds: BaseRTT.
    base_rtt: Duration,
}

impl CongestionControl for Vegas {
    const NAME: &'static str = "vegas";
    const SUMMARY: &'static str = "follows the RTT to keep two to four segments in the queue; yields to Reno";
    const SOURCE: &'static str = "Brakmo & Peterson 1995; Linux's tcp_vegas";
    const DIFFERS: &'static str = "alpha 2, beta 4, gamma 1; uses the smallest RTT of a round trip; slow start doubles every round trip (as Linux)";

    fn new(config: &Config) -> Self {
        Self {
            reno: Reno::new(config),
            enabled: true,
            round_end: config.initial_sequence,
            samples: 0,
            round_rtt: Duration::MAX,
            base_rtt: Duration::MAX,
        }
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, _window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        let rtt = rtt + TICK;
        self.base_rtt = self.base_rtt.min(rtt);
        self.round_rtt = self.round_rtt.min(rtt);
        self.samples += 1;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !self.enabled {
            return self.reno.on_ack(ack, window);
        }
        if ack.una > self.round_end {
            self.end_round(ack, window);
            self.begin_round(ack.nxt);
        } else if window.in_slow_start() {
            window.slow_start(ack.counted);
        }
    }

    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        self.reno.ssthresh(congestion)
    }

    fn on_state(&mut self, state: CongestionState, _window: &mut Window) {
        self.enabled = state == CongestionState::Open;
        if self.enabled {
            (self.samples, self.round_rtt) = (0, Duration::MAX);
        }
    }

    /// Forgets all RTTs: after a silence the path may be another one.
    fn on_restart(&mut self, _now: Instant, _idle: Duration) {
        self.base_rtt = Duration::MAX;
        (self.samples, self.round_rtt) = (0, Duration::MAX);
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if self.base_rtt != Duration::MAX {
            show("base_rtt_ms", self.base_rtt.as_millis_f64());
        }
    }
}

impl Vegas {
    fn begin_round(&mut self, nxt: SeqNumber) {
        self.round_end = nxt;
        (self.samples, self.round_rtt) = (0, Duration::MAX);
    }

    fn end_round(&mut self, ack: &Ack, window: &mut Window) {
        if self.samples <= 2 {
            return self.reno.on_ack(ack, window);
        }
        let cwnd = u64::from(window.cwnd);
        let (rtt, base) = (self.round_rtt.as_nanos(), self.base_rtt.as_nanos());
        // Section 3.2: Diff = Expected − Actual, here in segments: cwnd (RTT − BaseRTT) / BaseRTT.
        let diff = cwnd * (rtt - base) / base;
        if window.in_slow_start() {
            if diff > GAMMA {
                // What the path holds without a queue, plus one segment (section 3.3).
                window.cwnd = window.cwnd.min((cwnd * base / rtt) as u32 + 1);
                window.ssthresh = window.ssthresh.min(window.cwnd.saturating_sub(1));
            } else {
                window.slow_start(ack.counted);
            }
        } else if diff > BETA {
            window.cwnd -= 1;
            window.ssthresh = window.ssthresh.min(window.cwnd.saturating_sub(1));
        } else if diff < ALPHA {
            window.cwnd += 1;
        }
        window.cwnd = window.cwnd.max(2);
        window.ssthresh = window.ssthresh.max(window.cwnd / 2 + window.cwnd / 4).max(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays one round of ten ACKs at one RTT.
    fn round(v: &mut Vegas, w: &mut Window, rtt_ms: u64) {
        let start = v.round_end;
        for n in 1..=10 {
            let rtt = Some(Duration::from_millis(rtt_ms));
            let ack = Ack { una: start + 1, nxt: start + 1000 + n, rtt, ..Ack::of(Instant::ZERO, 1) };
            // Only the last ACK ends the round.
            let una = if n == 10 { ack.una } else { start };
            let ack = Ack { una, ..ack };
            v.on_delivered(&ack, w);
            v.on_ack(&ack, w);
        }
    }

    fn vegas(cwnd: u32, ssthresh: u32) -> (Vegas, Window) {
        let config = Config::default();
        (Vegas::new(&config), Window { cwnd, ssthresh, ..Window::new(&config) })
    }

    /// Section 3.2 with BaseRTT 100 ms and a window of 50 segments: diff is 0 at 100 ms, 1.5 at 103 ms, 2 at 104 ms, 3
    /// at 106 ms and 5 at 110 ms.
    #[test]
    fn fewer_than_two_segments_in_the_queue_add_one_and_more_than_four_take_one() {
        for (rtt, after) in [(100, 51), (103, 51), (104, 50), (106, 50), (108, 50), (110, 49)] {
            let (mut v, mut w) = vegas(50, 2);
            v.base_rtt = Duration::from_millis(100);
            round(&mut v, &mut w, rtt);
            assert_eq!(w.cwnd, after, "{rtt} ms");
        }
    }

    /// Section 3.3: at 105 ms a window of 40 has two segments in the queue. Slow start ends at 40 · 100/105 + 1 = 39.
    #[test]
    fn a_queue_of_more_than_gamma_ends_slow_start_at_what_the_path_holds() {
        let (mut v, mut w) = vegas(31, crate::INFINITE_SSTHRESH);
        v.base_rtt = Duration::from_millis(100);
        round(&mut v, &mut w, 105); // nine ACKs of slow start in the round: 40
        assert_eq!((w.cwnd, w.ssthresh), (39, 38));
        assert!(!w.in_slow_start());
        let (mut v, mut w) = vegas(31, crate::INFINITE_SSTHRESH);
        v.base_rtt = Duration::from_millis(100);
        round(&mut v, &mut w, 104); // 1.6 rounds down to 1: not more than gamma
        assert_eq!(w.cwnd, 41);
    }

    #[test]
    fn a_round_with_few_samples_and_a_state_that_is_not_open_are_renos() {
        let (mut v, mut w) = vegas(10, 2);
        v.base_rtt = Duration::from_millis(100);
        let ack =
            Ack { una: SeqNumber(1), rtt: Some(Duration::from_millis(200)), ..Ack::of(Instant::ZERO, 10) };
        v.on_delivered(&ack, &mut w);
        v.on_ack(&ack, &mut w);
        assert_eq!(w.cwnd, 11, "a window of ACKs adds one, though the queue holds ten");
        v.on_state(CongestionState::Disorder, &mut w);
        for _ in 0..11 {
            v.on_delivered(&ack, &mut w);
        }
        v.on_ack(&Ack { una: SeqNumber(2000), segments: 11, counted: 11, ..ack }, &mut w);
        assert_eq!(w.cwnd, 12);
    }

    /// The RTT is 100 ms before a silence and 200 ms after it. It would be wrong to take half of the window for a
    /// queue.
    #[test]
    fn after_a_silence_the_base_is_learnt_anew() {
        let (mut v, mut w) = vegas(50, 2);
        v.base_rtt = Duration::from_millis(100);
        v.on_restart(Instant::ZERO, Duration::from_secs(1));
        round(&mut v, &mut w, 200);
        assert_eq!(w.cwnd, 51);
    }
}
