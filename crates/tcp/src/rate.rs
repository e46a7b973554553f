//! The delivery rate of draft-ietf-ccwg-bbr-06, section 4.1 (earlier draft-cheng-iccrg-delivery-rate-estimation). As in
//! Linux it counts segments, and takes one sample per ACK.
//!
//! The estimator exists beside the scoreboard, and only if the configuration or the congestion control asks for it. Its
//! ring has the same slots as the scoreboard's.

use alloc::vec::Vec;
use goodqueue_units::{Duration, Instant, Rate};

use crate::SeqNumber;

/// The state when a segment was sent (4.1.2.1.2).
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    /// P.first_send_time.
    first_sent: Instant,
    /// P.delivered_time.
    delivered_at: Instant,
    delivered: u64,
    delivered_ce: u64,
    lost: u64,
    in_flight: u32,
    is_app_limited: bool,
}

impl Snapshot {
    const EMPTY: Self = Self {
        first_sent: Instant::ZERO,
        delivered_at: Instant::ZERO,
        delivered: 0,
        delivered_ce: 0,
        lost: 0,
        in_flight: 0,
        is_app_limited: false,
    };
}

/// The newest of the segments that the present ACK delivered.
#[derive(Clone, Copy, Debug)]
struct Newest {
    snapshot: Snapshot,
    /// RS.send_elapsed.
    send_elapsed: Duration,
    end: SeqNumber,
}

/// A segment that was just found lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// Segments in flight when this segment was sent, including itself.
    pub tx_in_flight: u32,
    /// Segments found lost since then, including itself.
    pub lost: u64,
    /// The application limited the sender when this segment was sent.
    pub is_app_limited: bool,
}

/// The rate sample of one ACK (4.1.2.1.3, RS).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Segments delivered over `interval`.
    pub delivered: u64,
    /// The time of these deliveries: to send or to acknowledge them, whichever was longer. `None` if nothing was
    /// delivered, or if the time is shorter than any round trip.
    pub interval: Option<Duration>,
    /// Total segments delivered when the newest segment was sent.
    pub prior_delivered: u64,
    /// Segments of `delivered` that arrived with a CE mark, as reported by ACKs.
    pub delivered_ce: u64,
    /// Segments found lost with this ACK.
    pub losses: u32,
    /// Segments in flight when the newest segment was sent, including itself.
    pub tx_in_flight: u32,
    /// Segments found lost since the newest segment was sent.
    pub lost: u64,
    /// The application limited the sender when the newest segment was sent.
    pub is_app_limited: bool,
    /// A single short segment: the receiver may have delayed its ACK.
    pub is_ack_delayed: bool,
    /// When pacing lets the next packet leave.
    pub departure: Instant,
}

/// The delivery rate of one connection.
#[derive(Clone, Debug, Default)]
pub struct RateEstimator {
    ring: Vec<Snapshot>,
    delivered: u64,
    delivered_ce: u64,
    lost: u64,
    delivered_at: Instant,
    /// C.first_send_time.
    first_sent: Instant,
    /// C.app_limited: the delivered count at which the gap has left the path, 0 if there is none.
    app_limited: u64,
    newest: Option<Newest>,
    /// `lost` at the last sample.
    lost_before: u64,
    lost_now: Vec<LostSegment>,
    /// The rate to show: segments, the time that they took, and whether the application limited it.
    shown: (u64, Duration, bool),
}

impl RateEstimator {
    /// Returns the total segments delivered (C.delivered).
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns when the last segment was delivered.
    #[must_use]
    pub fn delivered_at(&self) -> Instant {
        self.delivered_at
    }

    /// Returns the total segments found lost. A segment lost twice counts twice.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the segments found lost since the last sample.
    #[must_use]
    pub fn lost_segments(&self) -> &[LostSegment] {
        &self.lost_now
    }

    /// Returns whether the application was idle less than a round trip ago.
    #[must_use]
    pub fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// Marks the segments sent from now on, until those in flight are delivered, as limited by the application: they
    /// say nothing about the path's rate (4.1.2.4).
    pub fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Returns the rate of payload to show, as `ss` does: the last rate that the path limited, or a higher one since.
    pub(crate) fn delivery_rate(&self, mss: u16) -> Option<Rate> {
        let (delivered, interval, _) = self.shown;
        let bits = u128::from(delivered) * u128::from(mss) * 8_000_000_000;
        Rate::from_bps((bits / u128::from(interval.as_nanos().max(1))) as u64)
    }

    /// Grows the ring with the scoreboard's to `capacity` slots. It holds the segments `numbers`.
    pub(crate) fn grow(&mut self, numbers: core::ops::Range<u64>, capacity: usize) {
        let mut ring = alloc::vec![Snapshot::EMPTY; capacity];
        if !self.ring.is_empty() {
            for number in numbers {
                ring[number as usize & (capacity - 1)] = self.ring[self.slot(number)];
            }
        }
        self.ring = ring;
    }

    fn slot(&self, number: u64) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// Takes note that segment `number` leaves, for the first time or again. With it, `in_flight` segments are in
    /// flight (4.1.2.2).
    pub(crate) fn on_sent(&mut self, now: Instant, number: u64, is_first_out: bool, in_flight: u32) {
        if is_first_out {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let slot = self.slot(number);
        self.ring[slot] = Snapshot {
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            lost: self.lost,
            in_flight,
            is_app_limited: self.is_app_limited(),
        };
    }

    /// Takes the delivery of segment `number`, last sent at `sent_at` (4.1.2.3, UpdateRateSample).
    pub(crate) fn on_delivered(&mut self, number: u64, sent_at: Instant, end: SeqNumber) {
        let is_newest = self.newest.is_none_or(|newest| {
            sent_at > self.first_sent || (sent_at == self.first_sent && end > newest.end)
        });
        if is_newest {
            let snapshot = self.ring[self.slot(number)];
            self.newest = Some(Newest { snapshot, send_elapsed: sent_at.since(snapshot.first_sent), end });
            self.first_sent = sent_at;
        }
    }

    /// Takes note that segment `number` is assumed lost.
    pub(crate) fn on_lost(&mut self, number: u64) {
        self.lost += 1;
        let Snapshot { in_flight: tx_in_flight, lost, is_app_limited, .. } = self.ring[self.slot(number)];
        self.lost_now.push(LostSegment { tx_in_flight, lost: self.lost - lost, is_app_limited });
    }

    /// Keeps the losses that a timer found out of the next ACK's sample.
    pub(crate) fn on_timer(&mut self) {
        self.lost_before = self.lost;
    }

    /// Ends an ACK that newly delivered `acked` segments, `marked` of them with CE, and returns its sample (4.1.2.3,
    /// GenerateRateSample).
    pub(crate) fn sample(&mut self, now: Instant, acked: u32, marked: u32, min_rtt: Duration) -> RateSample {
        self.delivered += u64::from(acked);
        self.delivered_ce += u64::from(marked);
        if acked > 0 {
            self.delivered_at = now;
        }
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let mut sample = RateSample {
            delivered: 0,
            interval: None,
            prior_delivered: 0,
            delivered_ce: 0,
            losses: (self.lost - self.lost_before) as u32,
            tx_in_flight: 0,
            lost: 0,
            is_app_limited: false,
            is_ack_delayed: false,
            departure: now,
        };
        self.lost_before = self.lost;
        let Some(Newest { snapshot, send_elapsed, .. }) = self.newest.take() else { return sample };
        let ack_elapsed = now.since(snapshot.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        sample.delivered = self.delivered - snapshot.delivered;
        sample.prior_delivered = snapshot.delivered;
        sample.delivered_ce = self.delivered_ce - snapshot.delivered_ce;
        sample.tx_in_flight = snapshot.in_flight;
        sample.lost = self.lost - snapshot.lost;
        sample.is_app_limited = snapshot.is_app_limited;
        if interval >= min_rtt && interval > Duration::ZERO {
            sample.interval = Some(interval);
            self.show(sample.delivered, interval, snapshot.is_app_limited);
        }
        sample
    }

    /// Forgets the losses, after the congestion control has handled them.
    pub(crate) fn forget_losses(&mut self) {
        self.lost_now.clear();
    }

    fn show(&mut self, delivered: u64, interval: Duration, is_app_limited: bool) {
        let (shown, took, _) = self.shown;
        let faster = u128::from(delivered) * u128::from(took.as_nanos())
            >= u128::from(shown) * u128::from(interval.as_nanos());
        if !is_app_limited || faster {
            self.shown = (delivered, interval, is_app_limited);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn estimator() -> RateEstimator {
        let mut rate = RateEstimator::default();
        rate.grow(0..0, 16);
        rate
    }

    /// Sends segment `number`, of one byte.
    fn send(rate: &mut RateEstimator, now: u64, number: u64) {
        rate.on_sent(at(now), number, number == 0, number as u32 + 1);
    }

    fn deliver(rate: &mut RateEstimator, number: u64, sent_at: u64) {
        rate.on_delivered(number, at(sent_at), SeqNumber(number as u32 + 1));
    }

    /// Four segments leave at once, RTT 100 ms, and are acknowledged 10 ms apart. The first ACK: 1 segment in the 100
    /// ms since its sending (delivered_time was set then). The fourth: 4 segments in 130 ms. A fifth segment, sent on
    /// the first ACK and acknowledged at 200 ms, counts from the delivered state at its sending: segments 2 to 5 in 100
    /// ms.
    #[test]
    fn a_sample_counts_what_was_delivered_since_the_segment_was_sent() {
        let mut rate = estimator();
        (0..4).for_each(|number| send(&mut rate, 0, number));
        let mut samples = std::vec![];
        for number in 0..4 {
            deliver(&mut rate, number, 0);
            let sample = rate.sample(at(100 + 10 * number), 1, 0, ms(100));
            samples.push((sample.delivered, sample.interval, sample.prior_delivered));
            if number == 0 {
                send(&mut rate, 100, 4);
            }
        }
        assert_eq!(samples, [1, 2, 3, 4].map(|n| (n, Some(ms(90 + 10 * n)), 0)));
        deliver(&mut rate, 4, 100);
        let sample = rate.sample(at(200), 1, 0, ms(100));
        assert_eq!((sample.delivered, sample.interval, sample.prior_delivered), (4, Some(ms(100)), 1));
        // 4 segments of 1000 bytes in 100 ms.
        assert_eq!(rate.delivery_rate(1000), Rate::from_bps(320_000));
    }

    /// Slow sending must not look like fast delivery. ACKs that were held back and come together say nothing about the
    /// rate, but the time in which the segments were sent does (4.1.1.2).
    #[test]
    fn the_longer_of_send_and_ack_time_counts() {
        let mut rate = estimator();
        for number in 0..3 {
            send(&mut rate, 50 * number, number);
        }
        for number in 0..3 {
            deliver(&mut rate, number, 50 * number);
        }
        assert_eq!(rate.sample(at(110), 3, 0, ms(10)).interval, Some(ms(110))); // since the first was sent
        send(&mut rate, 111, 3);
        send(&mut rate, 301, 4);
        deliver(&mut rate, 3, 111);
        deliver(&mut rate, 4, 301);
        let sample = rate.sample(at(311), 2, 0, ms(10));
        // Sent 301 − 100 ms after the last delivered segment was sent, and acknowledged 311 − 110 ms after its ACK.
        assert_eq!((sample.delivered, sample.interval), (2, Some(ms(201))));
    }

    /// Of segments that left together, the one with the higher number is the newest, in whatever order they are
    /// reported. The snapshots survive a larger ring. Guards against a sample with the flight of another segment.
    #[test]
    fn of_segments_that_left_together_the_last_is_the_newest() {
        for order in [[6, 7], [7, 6]] {
            let mut rate = RateEstimator::default();
            rate.grow(0..0, 2);
            (6..8).for_each(|number| rate.on_sent(at(0), number, number == 6, number as u32));
            rate.grow(6..8, 4);
            order.iter().for_each(|&number| deliver(&mut rate, number, 0));
            assert_eq!(rate.sample(at(100), 2, 0, ms(100)).tx_in_flight, 7, "{order:?}");
        }
    }

    /// 4.1.3.5: a retransmission that seems to take less than any round trip was not the segment that arrived.
    #[test]
    fn a_sample_in_less_than_the_shortest_rtt_is_none() {
        let mut rate = estimator();
        send(&mut rate, 0, 0);
        deliver(&mut rate, 0, 0);
        assert_eq!(rate.sample(at(40), 1, 0, ms(50)).interval, None);
        assert_eq!(rate.sample(at(41), 0, 0, ms(50)).interval, None);
        assert_eq!(rate.delivery_rate(1000), None);
    }

    /// The gap leaves the path when the segments in flight with it are delivered, and one segment more.
    #[test]
    fn samples_are_app_limited_until_the_gap_is_acknowledged() {
        let mut rate = estimator();
        rate.mark_app_limited(0); // nothing sent yet: Linux marks 1
        send(&mut rate, 0, 0);
        send(&mut rate, 0, 1);
        deliver(&mut rate, 0, 0);
        assert!(rate.sample(at(100), 1, 0, ms(100)).is_app_limited && rate.is_app_limited());
        send(&mut rate, 100, 2);
        deliver(&mut rate, 1, 0);
        assert!(rate.sample(at(101), 1, 0, ms(100)).is_app_limited && !rate.is_app_limited());
        send(&mut rate, 101, 3);
        deliver(&mut rate, 2, 100);
        assert!(rate.sample(at(200), 1, 0, ms(100)).is_app_limited);
        deliver(&mut rate, 3, 101);
        assert!(!rate.sample(at(201), 1, 0, ms(100)).is_app_limited);
    }

    #[test]
    fn losses_are_the_acks_own_and_count_since_the_segment_was_sent() {
        let mut rate = estimator();
        (0..4).for_each(|number| send(&mut rate, 0, number));
        rate.on_lost(0);
        rate.on_lost(1);
        let lost: Vec<_> = rate.lost_segments().iter().map(|l| (l.tx_in_flight, l.lost)).collect();
        assert_eq!(lost, [(1, 1), (2, 2)]);
        deliver(&mut rate, 2, 0);
        let sample = rate.sample(at(100), 1, 0, ms(100));
        assert_eq!((sample.losses, sample.lost, sample.tx_in_flight), (2, 2, 3));
        rate.on_lost(3);
        rate.on_timer();
        assert_eq!((rate.sample(at(150), 0, 0, ms(100)).losses, rate.lost()), (0, 3));
    }

    /// While the shortest RTT is unknown it is zero, and the time of a sample may be zero too. Guards against an
    /// infinite rate.
    #[test]
    fn no_time_is_no_rate() {
        let mut rate = estimator();
        send(&mut rate, 0, 0);
        deliver(&mut rate, 0, 0);
        assert_eq!(rate.sample(at(0), 1, 0, Duration::ZERO).interval, None);
    }

    /// Two marked segments are sent, the second after the ACK of the first: each sample has one mark. Guards against a
    /// sample with the marks of the whole connection.
    #[test]
    fn marks_count_since_the_segment_was_sent() {
        let mut rate = estimator();
        for number in 0..2 {
            send(&mut rate, 100 * number, number);
            deliver(&mut rate, number, 100 * number);
            assert_eq!(rate.sample(at(100 * (number + 1)), 1, 1, ms(100)).delivered_ce, 1);
        }
    }

    /// Losses count since the segment left, including itself. The second of two segments, sent and lost in turns,
    /// counts one. BBRv3 judges a probe by this.
    #[test]
    fn losses_count_since_the_segment_was_sent() {
        let mut rate = estimator();
        for number in 0..2 {
            send(&mut rate, 100 * number, number);
            rate.on_lost(number);
        }
        assert_eq!(rate.lost_now.iter().map(|segment| segment.lost).collect::<std::vec::Vec<_>>(), [1, 1]);
    }
}
