//! The delivery rate of draft-ietf-ccwg-bbr-06, section 4.1 (earlier draft-cheng-iccrg-delivery-rate-estimation). As in
//! Linux it counts segments, and takes one sample per ACK.
//!
//! The estimator exists beside the scoreboard, and only if the configuration or the congestion control asks for it. Its
//! ring has the same slots as the scoreboard's.

use alloc::vec::Vec;
use goodqueue_units::{Duration, Instant, Rate};

use crate::SeqNumber;

/// Returns `now` in whole microseconds, in which Linux keeps the times of a sample (`tcp_mstamp`).
fn stamp(now: Instant) -> Instant {
    Instant::ZERO + Duration::from_micros(now.since(Instant::ZERO).as_nanos() / 1000)
}

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
            (self.first_sent, self.delivered_at) = (stamp(now), stamp(now));
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
        let sent_at = stamp(sent_at);
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

    /// Ends an ACK that later ones have overtaken, and that newly delivered `acked` segments. Neither they nor the
    /// losses that it showed are in a sample (`old_ack` of Linux's `tcp_ack`).
    pub(crate) fn on_old_ack(&mut self, acked: u32) {
        self.delivered += u64::from(acked);
        self.newest = None;
        self.lost_before = self.lost;
    }

    /// Ends an ACK that newly delivered `acked` segments, `marked` of them with CE, and returns its sample (4.1.2.3,
    /// GenerateRateSample).
    pub(crate) fn sample(&mut self, now: Instant, acked: u32, marked: u32, min_rtt: Duration) -> RateSample {
        self.delivered += u64::from(acked);
        self.delivered_ce += u64::from(marked);
        if acked > 0 {
            self.delivered_at = stamp(now);
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
        let ack_elapsed = stamp(now).since(snapshot.delivered_at);
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
mod tests;
