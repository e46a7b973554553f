//! Vegas (Brakmo & Peterson 1995): keeps a few segments in the queue, counted by how the RTT exceeds its minimum.
//!
//! As in Linux, whose differences from the paper are: the RTT of a round is the smallest of its samples, not the last;
//! slow start doubles every round trip, not every second one; alpha, beta and gamma are 2, 4 and 1 segments (the paper has 1
//! to 3 and 2 to 4); retransmission is the sender's own, not the paper's; a round with two samples or fewer, and any
//! state but the open one, is Reno's. As there, the window grows without asking whether it was used.

use super::reno::Reno;
use super::{Ack, Congestion, CongestionControl};
use crate::{Config, CongestionState, SeqNumber, Window};
use goodqueue_units::{Duration, Instant};

/// Section 3.2: segments in the queue between which the window stays.
const ALPHA: u64 = 2;
const BETA: u64 = 4;
/// Section 3.3: segments in the queue that end slow start.
const GAMMA: u64 = 1;
/// Linux adds it to each sample, so that none is zero.
const TICK: Duration = Duration::from_micros(1);

#[derive(Clone, Debug)]
pub(crate) struct Vegas {
    reno: Reno,
    /// The state is the open one.
    enabled: bool,
    /// The round ends when more than this is acknowledged.
    round_end: SeqNumber,
    samples: u32,
    /// The smallest RTT of this round, and of all.
    round_rtt: Duration,
    base_rtt: Duration,
}

impl CongestionControl for Vegas {
    const NAME: &'static str = "vegas";
    const SUMMARY: &'static str = "keeps two to four segments in the queue, by the RTT; yields to Reno";
    const SOURCE: &'static str = "Brakmo & Peterson 1995; Linux's tcp_vegas";
    const DIFFERS: &'static str = "alpha 2, beta 4, gamma 1; a round trip's smallest RTT; doubles every round trip in slow start (as Linux)";

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

    /// After a silence the path may be another one.
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
                // What the path holds without a queue, and one more (section 3.3).
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

    /// One round of ten ACKs at one RTT.
    fn round(v: &mut Vegas, w: &mut Window, rtt_ms: u64) {
        let start = v.round_end;
        for n in 1..=10 {
            let rtt = Some(Duration::from_millis(rtt_ms));
            let ack = Ack { una: start + 1, nxt: start + 1000 + n, rtt, ..Ack::of(Instant::ZERO, 1) };
            // All but the last within the round.
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

    /// Section 3.2 with BaseRTT 100 ms and a window of 50: diff is 0 at 100 ms, 1.5 at 103, 2 at 104, 3 at 106 and 5 at 110.
    #[test]
    fn fewer_than_two_segments_in_the_queue_add_one_and_more_than_four_take_one() {
        for (rtt, after) in [(100, 51), (103, 51), (104, 50), (106, 50), (108, 50), (110, 49)] {
            let (mut v, mut w) = vegas(50, 2);
            v.base_rtt = Duration::from_millis(100);
            round(&mut v, &mut w, rtt);
            assert_eq!(w.cwnd, after, "{rtt} ms");
        }
    }

    /// Section 3.3: a window of 40 with 105 ms has two segments in the queue: slow start ends at 40 · 100/105 + 1 = 39.
    #[test]
    fn a_queue_of_more_than_gamma_ends_slow_start_at_what_the_path_holds() {
        let (mut v, mut w) = vegas(31, crate::INFINITE_SSTHRESH);
        v.base_rtt = Duration::from_millis(100);
        round(&mut v, &mut w, 105); // nine ACKs of slow start within the round: 40
        assert_eq!((w.cwnd, w.ssthresh), (39, 38));
        assert!(!w.in_slow_start());
        let (mut v, mut w) = vegas(31, crate::INFINITE_SSTHRESH);
        v.base_rtt = Duration::from_millis(100);
        round(&mut v, &mut w, 104); // 1.6 is 1: not more
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

    /// 200 ms where it was 100 before a silence. Wrong would be a queue of half the window that is none.
    #[test]
    fn after_a_silence_the_base_is_learnt_anew() {
        let (mut v, mut w) = vegas(50, 2);
        v.base_rtt = Duration::from_millis(100);
        v.on_restart(Instant::ZERO, Duration::from_secs(1));
        round(&mut v, &mut w, 200);
        assert_eq!(w.cwnd, 51);
    }
}
