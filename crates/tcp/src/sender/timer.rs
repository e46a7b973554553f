//! The sender's one timer: what it is set for, and when it fires.
//!
//! Linux has one timer for four waits (`icsk_retransmit_timer`). The wait that is set last replaces the others.

use crate::rtt::RttEstimator;
use crate::tlp::TICKS;
use crate::wheel;
use goodqueue_units::{Duration, Instant};

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The retransmission timeout (RFC 6298).
    Rto,
    /// A tail loss probe (RFC 8985, section 7).
    Probe,
    /// Segments that may only be late (RFC 8985, 6.3; RFC 5827 with a delay).
    Late,
    /// A probe of the peer's closed window (RFC 9293, 3.8.6.1).
    Window,
}

/// A segment that must be sent although no window allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    TailProbe,
    WindowProbe,
}

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(super) struct Timer {
    /// When the timer fires at the earliest, or [`Instant::MAX`].
    deadline: Instant,
    /// For how long it was set, in µs. 0: `deadline` is exact.
    timeout_us: u32,
    wait: Wait,
    /// The timer is set for the last segment sent. Segments that leave at the same time do not move the deadline.
    is_armed: bool,
    pub(super) due: Due,
}

impl Timer {
    pub(super) const fn new() -> Self {
        Self { deadline: Instant::MAX, timeout_us: 0, wait: Wait::Rto, is_armed: false, due: Due::Nothing }
    }

    /// Returns when the timer fires at the earliest, or [`Instant::MAX`].
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    #[inline]
    pub(super) fn wait(&self) -> Wait {
        self.wait
    }

    #[inline]
    pub(super) fn is_running(&self) -> bool {
        self.deadline != Instant::MAX
    }

    #[inline]
    pub(super) fn is_armed(&self) -> bool {
        self.is_armed
    }

    #[inline]
    pub(super) fn disarm(&mut self) {
        self.is_armed = false;
    }

    #[inline]
    pub(super) fn stop(&mut self) {
        self.deadline = Instant::MAX;
    }

    /// Sets the timer to `timeout` from now, which counts in whole microseconds.
    #[inline]
    pub(super) fn set(&mut self, wait: Wait, now: Instant, timeout: Duration) {
        let timeout_us = (timeout.as_nanos() / 1000).min(u32::MAX.into()) as u32;
        (self.wait, self.timeout_us, self.is_armed) = (wait, timeout_us, false);
        self.deadline = now + Duration::from_micros(timeout_us.into());
    }

    /// Returns whether the timer fires `now`. On Linux it fires with a `jiffy` only, which is computed only here: an
    /// ACK sets most timers anew before they fire.
    ///
    /// If it fired to the nanosecond, a wait for late segments would now and then end before the third SACK, and flows
    /// over fq_codel would less often be in step.
    pub(super) fn fires(&mut self, now: Instant, jiffy: Duration) -> bool {
        if now >= self.deadline && self.timeout_us > 0 {
            let timeout = Duration::from_micros(self.timeout_us.into());
            let set_at = Instant::from_nanos(self.deadline.as_nanos() - timeout.as_nanos());
            (self.deadline, self.timeout_us) = (wheel::fires_at(jiffy, set_at, timeout), 0);
        }
        now >= self.deadline
    }

    /// Sets the retransmission timer to `rtt`'s RTO and the `delay` of pacing from now. If it replaces a probe or a
    /// wait for late segments, RTO counts from when the first segment was last sent.
    #[inline]
    pub(super) fn set_rto(
        &mut self,
        now: Instant,
        rtt: &RttEstimator,
        delay: Duration,
        head_sent_at: impl FnOnce() -> Option<Instant>,
    ) {
        let timeout = match self.wait {
            Wait::Probe | Wait::Late => {
                left(now, head_sent_at().unwrap_or(now), rtt.rto()).max(Duration::from_micros(1))
            }
            Wait::Rto | Wait::Window => rtt.timeout(),
        };
        self.set(Wait::Rto, now, timeout + delay);
    }

    /// Sets the timer to a probe `timeout` and the `delay` of pacing from now, because a segment was sent. If RTO of
    /// the first segment, which left at `head_sent_at`, comes before the probe, it takes the probe's place.
    #[inline]
    pub(super) fn set_probe(
        &mut self,
        now: Instant,
        timeout: Duration,
        rtt: &RttEstimator,
        head_sent_at: Instant,
        delay: Duration,
    ) {
        let mut timeout = timeout;
        if head_sent_at + rtt.timeout() < now + timeout {
            let left = left(now, head_sent_at, rtt.rto());
            timeout = if left > Duration::ZERO { timeout.min(left) } else { timeout };
        }
        self.set(Wait::Probe, now, timeout + delay);
        self.is_armed = true;
    }

    /// Sets the timer to the end of a wait for late segments, at `until`, or to RTO if that comes first (RFC 8985,
    /// 6.3).
    pub(super) fn set_late(&mut self, now: Instant, until: Instant, rto: Duration) {
        self.set(Wait::Late, now, (until + TICKS).since(now).min(rto));
    }
}

/// Returns how much of `span` from `start` on is left, on a clock of whole microseconds.
fn left(now: Instant, start: Instant, span: Duration) -> Duration {
    let micros = |at: Instant| at.as_nanos() / 1000;
    Duration::from_micros((micros(start) + span.as_nanos() / 1000).saturating_sub(micros(now)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeqNumber;

    const RTO: Duration = Duration::from_millis(300);
    const JIFFY: Duration = Duration::from_millis(4);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Returns an estimator with an RTT of 100 ms and an RTO of 300 ms.
    fn rtt() -> RttEstimator {
        let mut rtt = RttEstimator::new(Duration::ZERO, JIFFY);
        rtt.sample(ms(100), ms(100), SeqNumber(1), SeqNumber(2));
        assert_eq!(rtt.rto(), RTO);
        rtt
    }

    /// Guards against a new timer that fires, or a stopped one.
    #[test]
    fn a_timer_runs_from_set_to_stop() {
        let mut timer = Timer::new();
        assert!(!timer.is_running() && timer.due == Due::Nothing && !timer.fires(at(1000), JIFFY));
        timer.set(Wait::Window, at(3), ms(4));
        assert_eq!((timer.is_running(), timer.deadline(), timer.wait()), (true, at(7), Wait::Window));
        timer.stop();
        assert_eq!((timer.is_running(), timer.wait()), (false, Wait::Window), "what it was set for stays");
        assert!(!timer.fires(at(1000), JIFFY));
    }

    /// 27 ms from 101 ms on are over at 128 ms. The 25th tick is over at 101 ms, 27 ms are 7 ticks, and Linux adds one:
    /// the timer fires at 132 ms. Guards against a timer that fires at the lower bound, or that counts its ticks from
    /// the poll that found it not yet due.
    #[test]
    fn a_timer_fires_with_a_tick() {
        let mut timer = Timer::new();
        timer.set(Wait::Rto, at(101), ms(27));
        assert!(!timer.fires(at(127), JIFFY));
        assert_eq!(timer.deadline(), at(128), "the lower bound");
        assert!(!timer.fires(at(128), JIFFY));
        assert_eq!(timer.deadline(), at(132));
        assert!(!timer.fires(at(131), JIFFY) && timer.fires(at(132), JIFFY));
        timer.set(Wait::Rto, at(101), ms(27));
        assert!(timer.fires(at(140), JIFFY), "a poll that is late");
        timer.set(Wait::Rto, at(101), ms(27));
        assert!(!timer.fires(at(127), Duration::ZERO) && timer.fires(at(128), Duration::ZERO), "no ticks");
    }

    /// The first segment was sent at 50 ms, and now it is 100 ms. Guards against a probe that puts the timeout off: RTO
    /// is due 300 ms after the first segment (Linux `tcp_rearm_rto`).
    #[test]
    fn a_timeout_behind_a_probe_counts_from_the_first_segment() {
        for (wait, deadline) in [(Wait::Rto, 400), (Wait::Window, 400), (Wait::Probe, 350), (Wait::Late, 350)]
        {
            let mut timer = Timer::new();
            timer.set(wait, at(100), ms(50));
            timer.set_rto(at(100), &rtt(), Duration::ZERO, || Some(at(50)));
            assert_eq!((timer.deadline(), timer.wait()), (at(deadline), Wait::Rto), "{wait:?}");
        }
        let mut timer = Timer::new();
        timer.set(Wait::Probe, at(100), ms(50));
        timer.set_rto(at(1000), &rtt(), Duration::ZERO, || Some(at(50)));
        assert_eq!(timer.deadline(), at(1000) + Duration::from_micros(1), "RTO was over at 350 ms");
    }

    /// A probe 202 ms after 400 ms. The first segment left at 400 ms: RTO ends at 700 ms, after the probe. It left at
    /// 250 ms: at 550 ms, before it. It left at 100 ms: RTO is over, and counts no longer. Guards against a probe
    /// behind the timeout, or a timeout that is over and makes the probe leave at once.
    #[test]
    fn a_probe_leaves_before_the_timeout() {
        for (head_sent_at, deadline) in [(400, 602), (250, 550), (100, 602), (50, 602)] {
            let mut timer = Timer::new();
            timer.set_probe(at(400), ms(202), &rtt(), at(head_sent_at), Duration::ZERO);
            assert_eq!((timer.deadline(), timer.wait()), (at(deadline), Wait::Probe), "{head_sent_at}");
        }
    }

    /// Guards against a timer that is set for the last segment and was set for something else since: the next segment
    /// would have no timer.
    #[test]
    fn only_a_probe_for_a_segment_arms_the_timer() {
        let mut timer = Timer::new();
        timer.set_probe(at(100), ms(202), &rtt(), at(100), Duration::ZERO);
        assert!(timer.is_armed());
        timer.set_rto(at(100), &rtt(), Duration::ZERO, || None);
        assert!(!timer.is_armed());
        timer.set_probe(at(100), ms(202), &rtt(), at(100), Duration::ZERO);
        timer.disarm();
        assert!(!timer.is_armed() && timer.is_running());
    }

    /// 127 ms and 2 ms more, from 101 ms on: 28 ms, which end at 129 ms. With ticks they end at 132 ms: the 25th tick
    /// is over, 7 more are 28 ms, and Linux adds one. An RTO of 20 ms is 5 ticks, and ends at 124 ms. Guards against a
    /// wait beyond RTO.
    #[test]
    fn a_wait_for_late_segments_ends_with_a_tick_or_with_the_timeout() {
        for (rto, jiffy, deadline) in [(RTO, Duration::ZERO, 129), (RTO, JIFFY, 132), (ms(20), JIFFY, 124)] {
            let mut timer = Timer::new();
            timer.set_late(at(101), at(127), rto);
            assert!(!timer.fires(at(deadline - 1), jiffy) && timer.fires(at(deadline), jiffy));
            assert_eq!(timer.wait(), Wait::Late);
        }
    }
}
