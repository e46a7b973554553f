//! Round-trip times and the retransmission timeout: RFC 6298 with Linux's floor.
//!
//! Linux differs from RFC 6298 in two ways, and both matter at a short RTT. The floor of 200 ms applies to the
//! *variance* term: RTO = SRTT + max(4 RTTVAR, 200 ms), not max(SRTT + 4 RTTVAR, 1 s). The variance term follows the
//! largest deviation of a round trip at once, but decays only once per round trip: samples come with every ACK, and the
//! RFC's gains are meant for one sample per round trip. All is in whole microseconds, and RTO in ticks of the clock.

use crate::{SeqNumber, wheel};
use goodqueue_units::{Duration, processor::select};

/// Floor of the variance term, in µs.
const VARIANCE_FLOOR: u64 = 200_000;
/// RFC 6298, 2.3: the clock's granularity G, in µs: that of the timestamps.
const GRANULARITY: u64 = 1000;
/// RFC 6298, 2.1.
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// RFC 6298, 5.7.
const RTO_AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// RFC 6298, 2.5, with Linux's value.
const MAX_RTO: Duration = Duration::from_secs(120);

/// Nanoseconds in an eighth of a microsecond.
pub(crate) const EIGHTH_NS: u64 = 125;

/// The smoothed round-trip time of one connection and its RTO.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// 8 SRTT in µs. 0 before the first sample.
    srtt_x8: u64,
    /// 4 × the smoothed deviation, in µs.
    deviation_x4: u64,
    /// The largest `deviation_x4` of this round trip, at least the floor.
    deviation_max: u64,
    /// 4 RTTVAR in µs: the variance term.
    variance: u64,
    /// The round trip ends when a byte after this one is acknowledged.
    round_end: SeqNumber,
    /// RTO without backoff, and not rounded to ticks.
    base_rto: Duration,
    /// The least RTO (RFC 6298, 2.4). Zero for Linux's floor.
    rto_min: Duration,
    backoff: u8,
    /// The length of a tick in ms. Zero: the clock is exact.
    tick_ms: u8,
    min: Duration,
    latest: Duration,
}

impl RttEstimator {
    /// Builds an estimator. `rto_min` is the least RTO, or zero for Linux's rule. `tick` is in whole milliseconds.
    pub(crate) const fn new(rto_min: Duration, tick: Duration) -> Self {
        Self {
            srtt_x8: 0,
            deviation_x4: 0,
            deviation_max: VARIANCE_FLOOR,
            variance: 0,
            round_end: SeqNumber(0),
            base_rto: INITIAL_RTO,
            rto_min,
            backoff: 0,
            tick_ms: (tick.as_nanos() / 1_000_000) as u8,
            min: Duration::MAX,
            latest: Duration::ZERO,
        }
    }

    /// Takes a sample. `smoothed` is for SRTT: it comes from the first segment that an ACK covers, and so includes the
    /// delay of a delayed ACK, as the RTO must. `path` is the path's RTT: it comes from the last segment, and does not
    /// include that delay.
    #[inline]
    pub(crate) fn sample(&mut self, smoothed: Duration, path: Duration, una: SeqNumber, nxt: SeqNumber) {
        // Karn: only a sample ends the backoff. An ACK of a segment sent twice is no sample. If it ended the backoff, a
        // path whose RTT exceeds the RTO would never get a sample.
        self.backoff = 0;
        self.latest = path;
        if path < self.min {
            self.min = path;
        }
        let rtt = (smoothed.as_nanos() / 1000).max(1);
        if self.rto_min != Duration::ZERO {
            return self.sample_by_rfc(rtt);
        }
        if self.srtt_x8 == 0 {
            // RFC 6298, 2.2: SRTT = R, RTTVAR = R/2.
            self.srtt_x8 = rtt * 8;
            self.deviation_x4 = rtt * 2;
            self.variance = (rtt * 2).max(VARIANCE_FLOOR);
            self.deviation_max = self.variance;
            self.round_end = nxt;
        } else {
            self.smooth(rtt);
            if una > self.round_end {
                if self.deviation_max < self.variance {
                    self.variance -= (self.variance - self.deviation_max) / 4;
                }
                self.round_end = nxt;
                self.deviation_max = VARIANCE_FLOOR;
            }
        }
        let rto = Duration::from_micros(self.srtt_x8 / 8 + self.variance);
        self.base_rto = if rto < MAX_RTO { rto } else { MAX_RTO };
    }

    /// Takes a sample by RFC 6298, 2.2 to 2.4, to the letter.
    #[cold]
    fn sample_by_rfc(&mut self, rtt: u64) {
        if self.srtt_x8 == 0 {
            (self.srtt_x8, self.variance) = (rtt * 8, rtt * 2);
        } else {
            let error = (self.srtt_x8 / 8).abs_diff(rtt);
            self.variance = self.variance - self.variance / 4 + error;
            self.srtt_x8 = self.srtt_x8 - self.srtt_x8 / 8 + rtt;
        }
        self.deviation_x4 = self.variance;
        let rto = Duration::from_micros(self.srtt_x8 / 8 + self.variance.max(GRANULARITY));
        self.base_rto = rto.max(self.rto_min).min(MAX_RTO);
    }

    /// Smooths a sample (RFC 6298, 2.3): SRTT += (R − SRTT)/8, deviation += (|R − SRTT| − deviation)/4. A growth of the
    /// deviation by an RTT *below* SRTT counts only an eighth, so that a falling RTT does not raise the RTO.
    #[inline]
    fn smooth(&mut self, rtt: u64) {
        let error = rtt as i64 - (self.srtt_x8 / 8) as i64;
        self.srtt_x8 = (self.srtt_x8 as i64 + error) as u64;
        let change = error.abs() - (self.deviation_x4 / 4) as i64;
        let change = select((error < 0) & (change > 0), change >> 3, change);
        self.deviation_x4 = (self.deviation_x4 as i64 + change) as u64;
        if self.deviation_x4 > self.deviation_max {
            self.deviation_max = self.deviation_x4;
            self.variance = self.variance.max(self.deviation_max);
        }
    }

    /// Doubles the RTO (RFC 6298, 5.5).
    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// Takes the last backoff back, because the segment was not sent.
    pub(crate) fn take_back_off(&mut self) {
        self.backoff = self.backoff.saturating_sub(1);
    }

    /// Ends the backoff, because the peer's window is open again: the next probing starts from the beginning.
    pub(crate) fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Sets the RTO after a retransmitted SYN, whose round trip is unknown (RFC 6298, 5.7).
    pub(crate) fn syn_timed_out(&mut self) {
        self.base_rto = RTO_AFTER_LOST_SYN;
        self.backoff = 0;
    }

    /// Returns RTO in whole ticks (`icsk_rto`).
    #[inline]
    pub(crate) fn rto(&self) -> Duration {
        let base = wheel::ceil(Duration::from_millis(self.tick_ms.into()), self.base_rto);
        (base * (1 << self.backoff)).min(MAX_RTO)
    }

    /// Returns a time for a timer that fires after [`rto`](Self::rto): a timer rounds up to ticks itself.
    #[inline]
    pub(crate) fn timeout(&self) -> Duration {
        if self.backoff == 0 { self.base_rto } else { self.rto() }
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt_x8 != 0).then(|| Duration::from_micros(self.srtt_x8 / 8))
    }

    /// Returns the smoothed round-trip time with its eighths of a microsecond, which Linux keeps (`srtt_us`).
    pub(crate) fn srtt_in_eighths(&self) -> Option<Duration> {
        self.srtt_x8().map(|eighths| Duration::from_nanos(eighths * EIGHTH_NS))
    }

    /// Returns the same as a number of eighths of a microsecond.
    #[inline]
    pub(crate) fn srtt_x8(&self) -> Option<u64> {
        (self.srtt_x8 != 0).then_some(self.srtt_x8)
    }

    /// Returns twice the smoothed round-trip time.
    pub(crate) fn two_srtt(&self) -> Option<Duration> {
        (self.srtt_x8 != 0).then(|| Duration::from_micros(self.srtt_x8 / 4))
    }

    /// Returns the smoothed deviation, which Linux shows as `rttvar`. The RTO's variance term has a floor besides.
    pub(crate) fn rttvar(&self) -> Duration {
        Duration::from_micros(self.deviation_x4 / 4)
    }

    /// Returns the smallest path RTT so far, or [`Duration::MAX`].
    #[inline]
    pub(crate) fn min(&self) -> Duration {
        self.min
    }

    pub(crate) fn latest(&self) -> Option<Duration> {
        (self.srtt_x8 != 0).then_some(self.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn sample(e: &mut RttEstimator, rtt: Duration, una: u32) {
        e.sample(rtt, rtt, SeqNumber(una), SeqNumber(una + 100));
    }

    #[test]
    fn the_first_sample_sets_srtt_and_half_of_it_as_variance() {
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        assert_eq!(e.rto(), Duration::from_secs(1)); // RFC 6298, 2.1
        sample(&mut e, ms(50), 1);
        assert_eq!((e.srtt(), e.rto()), (Some(ms(50)), ms(250))); // 4·25 = 100 ms is below the floor
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        sample(&mut e, ms(300), 1);
        assert_eq!(e.rto(), ms(900)); // 300 + 4·150
    }

    /// 7/8 of 100 µs and 1/8 of 101 µs.
    #[test]
    fn the_smoothed_rtt_has_eighths_of_a_microsecond() {
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        sample(&mut e, Duration::from_micros(100), 1);
        sample(&mut e, Duration::from_micros(101), 2);
        assert_eq!(e.srtt_in_eighths(), Some(Duration::from_nanos(100_125)));
        assert_eq!(e.srtt(), Some(Duration::from_micros(100)));
    }

    /// RFC 6298, 2.3 by hand: SRTT 300, deviation 150. R = 460: error 160, SRTT 320, deviation 150 + (160−150)/4 =
    /// 152.5.
    #[test]
    fn later_samples_follow_the_gains_of_an_eighth_and_a_quarter() {
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        sample(&mut e, ms(300), 1);
        e.sample(ms(460), ms(460), SeqNumber(2), SeqNumber(200));
        assert_eq!(e.srtt(), Some(ms(320)));
        assert_eq!(e.rto(), ms(320 + 610));
    }

    /// SRTT 300, deviation 150. R = 60: error −240, 240 − 150 = 90, and an eighth of a quarter of that: 600 + 11.25.
    #[test]
    fn a_falling_rtt_hardly_raises_the_deviation() {
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        sample(&mut e, ms(300), 1);
        e.sample(ms(60), ms(60), SeqNumber(2), SeqNumber(200));
        assert_eq!(e.rto(), ms(270) + Duration::from_micros(611_250));
    }

    /// RFC 6298, 2.3 by hand: SRTT 300, RTTVAR 150. R = 60: RTTVAR = 3/4·150 + 240/4 = 172.5, SRTT = 7/8·300 + 60/8 =
    /// 270.
    #[test]
    fn the_rfc_weighs_a_falling_rtt_like_a_rising_one_and_waits_a_second_at_least() {
        let mut e = RttEstimator::new(Duration::from_secs(1), Duration::ZERO);
        sample(&mut e, ms(300), 1);
        assert_eq!(e.rto(), ms(1000), "900 ms would be less than 2.4 allows");
        sample(&mut e, ms(60), 2);
        assert_eq!((e.srtt(), e.rto()), (Some(ms(270)), ms(1000)));
        sample(&mut e, ms(1270), 3); // RTTVAR = 129.375 + 250, SRTT = 236.25 + 158.75
        assert_eq!(e.rto(), Duration::from_micros(395_000 + 4 * 379_375));
    }

    #[test]
    fn the_variance_decays_by_a_quarter_once_a_round_and_never_below_200_ms() {
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        sample(&mut e, ms(300), 1); // variance 600, round ends at 101
        for _ in 0..10 {
            e.sample(ms(300), ms(300), SeqNumber(50), SeqNumber(150));
        }
        assert_eq!(e.rto(), ms(900)); // ten samples, but the round has not ended
        for round in 1..100 {
            sample(&mut e, ms(300), 200 * round);
        }
        // The floor is approached from above by quarters. The deviation itself has long been near zero.
        let variance = e.rto() - ms(300);
        assert!(variance >= ms(200) && variance < ms(201), "{variance}");
    }

    #[test]
    fn backoff_doubles_up_to_two_minutes_and_ends_with_a_sample() {
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        sample(&mut e, ms(50), 1);
        e.back_off();
        assert_eq!(e.rto(), ms(500));
        for _ in 0..40 {
            e.back_off();
        }
        assert_eq!(e.rto(), Duration::from_secs(120));
        e.sample(ms(50), ms(50), SeqNumber(1), SeqNumber(101));
        assert_eq!(e.rto(), ms(250));
    }

    #[test]
    fn the_minimum_and_latest_are_of_the_path_without_the_delayed_ack() {
        let mut e = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        assert_eq!((e.srtt(), e.latest()), (None, None));
        e.sample(ms(90), ms(50), SeqNumber(1), SeqNumber(2));
        e.sample(ms(90), ms(70), SeqNumber(1), SeqNumber(2));
        assert_eq!((e.min(), e.latest()), (ms(50), Some(ms(70))));
    }
}
