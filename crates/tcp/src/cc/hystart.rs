//! HyStart (Ha & Rhee 2011): leave slow start before it overflows the queue.
//!
//! One of two signs suffices. The first is a train of closely spaced ACKs that lasts half the round trip: the window
//! fills the path. The second is an RTT of this round above the smallest one: a queue is building. RFC 9406 (HyStart++)
//! is based on the second sign.

use super::Ack;
use crate::era::HystartRules;
use crate::{SeqNumber, Stack};
use goodqueue_units::{Duration, Instant};

/// Below this window, in segments, slow start continues, whatever the signs.
const LOW_WINDOW: u32 = 16;
/// ACKs closer together than this are one train.
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// RFC 9406, 4.3: N_RTT_SAMPLE, MIN_RTT_THRESH and MAX_RTT_THRESH.
const SAMPLES: u8 = 8;
const MIN_STEP: Duration = Duration::from_millis(4);
const MAX_STEP: Duration = Duration::from_millis(16);

#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// The round ends when this byte is acknowledged.
    round_end: SeqNumber,
    round_start: Instant,
    /// When the last ACK of this round's train arrived.
    last_ack: Instant,
    /// The smallest RTT of this round's first samples.
    round_rtt: Duration,
    samples: u8,
    started: bool,
    /// The divisor of delay_min that gives the RTT step ([`HystartRules`]).
    divisor: u64,
    /// What Linux adds to delay_min before halving it for the train, to allow for the bursts of segmentation offload:
    /// the time that four of the largest bursts take, at most 1 ms ([`HystartRules`]). Below 2 Gbit/s it is 1 ms.
    ack_delay: Duration,
    /// The train lasts this part of the round trip: 2 is a half. Linux since 5.6 takes the whole of it if the sender
    /// paces, because pacing spreads the segments over half a round trip.
    part: u8,
}

impl HyStart {
    pub(super) fn new(stack: Stack, is_paced: bool) -> Self {
        let unused = HystartRules { min_rtt_divisor: 1, ack_delay: Duration::ZERO };
        let rules = stack.era().growth.hystart.unwrap_or(unused);
        Self {
            round_end: SeqNumber(0),
            round_start: Instant::ZERO,
            last_ack: Instant::ZERO,
            round_rtt: Duration::MAX,
            samples: 0,
            started: false,
            divisor: rules.min_rtt_divisor,
            ack_delay: rules.ack_delay,
            part: if is_paced && rules.ack_delay > Duration::ZERO { 1 } else { 2 },
        }
    }

    /// Returns the state of a new connection.
    pub(super) fn renewed(&self, stack: Stack) -> Self {
        Self::new(stack, self.part == 1)
    }

    /// Takes an ACK with the RTT sample `rtt`, and returns whether slow start should end. `delay_min` is the smallest
    /// RTT.
    ///
    /// Call it from the first ACK on: rounds begin with the connection, even while `cwnd` is small.
    #[inline]
    pub(super) fn on_rtt(&mut self, ack: &Ack, cwnd: u32, rtt: Duration, delay_min: Duration) -> bool {
        if !self.started || ack.una > self.round_end {
            self.started = true;
            self.round_end = ack.nxt;
            self.round_start = ack.now;
            self.last_ack = ack.now;
            self.round_rtt = Duration::MAX;
            self.samples = 0;
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        let mut found = false;
        if ack.now.since(self.last_ack) <= TRAIN_SPACING {
            self.last_ack = ack.now;
            found = ack.now.since(self.round_start) > (delay_min + self.ack_delay) / u64::from(self.part);
        }
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return found;
        }
        let step = (delay_min / self.divisor).clamp(MIN_STEP, MAX_STEP);
        found || self.round_rtt > delay_min + step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ack(ns: u64, una: u32, nxt: u32) -> Ack {
        Ack { una: SeqNumber(una), nxt: SeqNumber(nxt), ..Ack::of(Instant::from_nanos(ns), 1) }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_train_of_half_the_round_trip_ends_slow_start() {
        // Two ACKs per millisecond, RTT 40 ms without any queue: half of it is 20 ms. Linux 6 takes 20.5 ms.
        for (stack, train) in [(Stack::Linux3_10, 41), (Stack::Linux6_1, 42)] {
            let mut h = HyStart::new(stack, false);
            let first = (0..80).find(|&n| h.on_rtt(&ack(n * MS / 2, 1, 1000), 16, ms(40), ms(40)));
            assert_eq!(first, Some(train), "{stack:?}");
        }
    }

    /// A sender that paces waits for a train of 41 ms, and one of before 5.6 does not.
    #[test]
    fn a_train_of_a_paced_sender_lasts_the_whole_round_trip() {
        for (stack, train) in [(Stack::Linux3_10, 41), (Stack::Linux6_1, 83)] {
            let mut h = HyStart::new(stack, true);
            let first = (0..90).find(|&n| h.on_rtt(&ack(n * MS / 2, 1, 1000), 16, ms(40), ms(40)));
            assert_eq!(first, Some(train), "{stack:?}");
        }
    }

    #[test]
    fn a_gap_ends_the_train_until_the_next_round() {
        let mut h = HyStart::new(Stack::Linux6_1, false);
        for n in [0, 1, 2, 6, 7, 8, 30] {
            assert!(!h.on_rtt(&ack(n * MS, 1, 1000), 16, ms(40), ms(40)));
        }
        assert!(!h.on_rtt(&ack(31 * MS, 1001, 3000), 16, ms(40), ms(40)), "a new round starts");
        assert!((32..60).any(|n| h.on_rtt(&ack(n * MS, 1001, 3000), 16, ms(40), ms(40))));
    }

    /// Guards against a round that begins when the window reaches 16: slow start would end a part of a round trip late.
    #[test]
    fn a_round_begins_with_its_first_ack_even_if_the_window_is_too_small_yet() {
        let mut h = HyStart::new(Stack::Linux6_1, false);
        let first = (0..80).find(|&n| h.on_rtt(&ack(n * MS, 1, 1000), 14 + n as u32, ms(40), ms(40)));
        assert_eq!(first, Some(21));
        let mut h = HyStart::new(Stack::Linux6_1, false);
        assert!((0..80).all(|n| !h.on_rtt(&ack(n * MS, 1, 1000), 15, ms(99), ms(40))), "below 16 never");
    }

    /// delay_min 80 ms: the step is 10 ms on Linux 6 and 5 ms on Linux 3.10; the ninth sample of a round may decide.
    #[test]
    fn an_rtt_above_the_minimum_by_an_eighth_ends_slow_start() {
        let run = |stack, rtt| {
            let mut h = HyStart::new(stack, false);
            (0..20).position(|n| h.on_rtt(&ack(n * 5 * MS, 1, 1000), 16, rtt, ms(80)))
        };
        assert_eq!(run(Stack::Linux6_1, ms(90)), None);
        assert_eq!(run(Stack::Linux6_1, ms(91)), Some(8));
        assert_eq!(run(Stack::Linux3_10, ms(85)), None);
        assert_eq!(run(Stack::Linux3_10, ms(86)), Some(8));
    }

    /// RFC 9406, 4.3: an eighth of 400 ms is 50 ms, which is more than MAX_RTT_THRESH, 16 ms; an eighth of 16 ms is 2
    /// ms, which is less than MIN_RTT_THRESH, 4 ms.
    #[test]
    fn the_step_is_between_4_and_16_ms() {
        let run = |delay_min, rtt| {
            let mut h = HyStart::new(Stack::Linux6_1, false);
            (0..20).position(|n| h.on_rtt(&ack(n * 5 * MS, 1, 1000), 16, rtt, delay_min))
        };
        assert_eq!(run(ms(400), ms(416)), None);
        assert_eq!(run(ms(400), ms(417)), Some(8));
        assert_eq!(run(ms(16), ms(20)), None);
        assert_eq!(run(ms(16), ms(21)), Some(8));
    }
}
