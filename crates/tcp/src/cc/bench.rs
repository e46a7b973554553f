//! A model-based congestion control alone, fed with samples by hand, for tests.

use super::{Ack, CongestionControl};
use crate::rate::{RateEstimator, RateSample};
use crate::{Config, Window};
use goodqueue_units::{Duration, Instant};

pub(super) const RTT: Duration = Duration::from_millis(50);

/// The algorithm, its window, and the rate estimator that it reads. It sends nothing.
pub(super) struct Bench<C> {
    pub(super) cc: C,
    pub(super) window: Window,
    pub(super) rate: RateEstimator,
    pub(super) now: Instant,
}

impl<C: CongestionControl> Bench<C> {
    pub(super) fn new() -> Self {
        let config = Config { random: 5, ..Config::default() };
        let (mut cc, mut window) = (C::new(&config), Window::new(&config));
        cc.on_open(Instant::ZERO, Some(RTT), &mut window);
        let mut rate = RateEstimator::default();
        rate.grow(0..0, 1);
        Self { cc, window, rate, now: Instant::ZERO }
    }

    /// Gives the algorithm one ACK, `after` the last one, of `segments` that took `RTT`: a round. `in_flight` segments
    /// are then in flight. `edit` may change the ACK and the sample.
    pub(super) fn ack(
        &mut self,
        after: Duration,
        segments: u32,
        in_flight: u32,
        edit: impl Fn(&mut Ack, &mut RateSample),
    ) {
        self.now += after;
        self.rate.sample(self.now, segments, 0, RTT);
        let mut sample = RateSample {
            delivered: u64::from(segments),
            interval: Some(RTT),
            prior_delivered: self.rate.delivered() - u64::from(segments),
            delivered_ce: 0,
            losses: 0,
            tx_in_flight: segments,
            lost: 0,
            is_app_limited: false,
            is_ack_delayed: false,
            departure: self.now,
        };
        let mut ack = Ack {
            rtt: Some(RTT),
            prior_in_flight: in_flight + segments,
            in_flight,
            ..Ack::of(self.now, segments)
        };
        edit(&mut ack, &mut sample);
        self.cc.on_rate(&ack, &sample, &mut self.rate, &mut self.window);
        self.rate.forget_losses();
    }

    /// Gives the algorithm an ACK of `segments`, one round trip after the last ACK.
    pub(super) fn round(&mut self, segments: u32, in_flight: u32) {
        self.ack(RTT, segments, in_flight, |_, _| ());
    }

    /// Returns the pacing rate in Mbit/s.
    pub(super) fn mbps(&self) -> f64 {
        self.window.pacing_rate.map_or(0.0, |rate| rate.as_bps() as f64 / 1e6)
    }
}
