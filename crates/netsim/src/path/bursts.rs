//! A link that is served in bursts.

use super::capacity::{Capacity, Nanobits, instant};
use goodqueue_units::{Duration, Instant, Rate};

/// A link whose scheduler lets it send for a part of each interval, as in DOCSIS, LTE and Wi-Fi. A grant of `rate`
/// times `every` bits begins at 0, `every`, 2 `every`, and so on. Its bits leave at the peak rate, or all at once
/// without a peak rate.
///
/// - A packet that does not fit into the rest of a grant continues in the next grant, as DOCSIS and LTE fragment
///   packets. So the long-run rate is `rate` for packets of any size.
/// - The part of a grant for which no packet waits is lost. With a peak rate, a packet that arrives during the grant
///   can still use the rest of it. Without a peak rate, a packet must arrive before the grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bursts {
    rate: Rate,
    /// Nanoseconds.
    every: u128,
    peak: Option<Rate>,
}

impl Bursts {
    /// Builds a link that sends in bursts.
    ///
    /// # Errors
    /// If `every` is 0, or the peak rate is below the rate.
    pub(crate) fn new(rate: Rate, every: Duration, peak: Option<Rate>) -> Result<Self, String> {
        if every == Duration::ZERO {
            return Err("found bursts every 0s; accepted: a time above 0s, such as 4ms".to_owned());
        }
        if let Some(peak) = peak.filter(|peak| *peak < rate) {
            return Err(format!("found a peak rate of {peak}; accepted: the rate, {rate}, or more"));
        }
        Ok(Self { rate, every: u128::from(every.as_nanos()), peak })
    }

    /// Returns the size of a grant in nanobits.
    fn grant(&self) -> Nanobits {
        Nanobits::from(self.rate.as_bps()) * self.every
    }

    /// Returns when the first `amount` nanobits of grant `number` have left, in ns since the start of the run. The
    /// second value is the remainder of the division: above 0, a part of a nanosecond is missing.
    fn in_grant(&self, number: u128, amount: Nanobits) -> (u128, u128) {
        let peak = self.peak.map(|peak| u128::from(peak.as_bps()));
        let (nanos, rest) = peak.map_or((0, 0), |peak| (amount / peak, amount % peak));
        (number.saturating_mul(self.every).saturating_add(nanos), rest)
    }
}

impl Capacity for Bursts {
    fn by(&self, time: Instant) -> Nanobits {
        let (number, rest) =
            (u128::from(time.as_nanos()) / self.every, u128::from(time.as_nanos()) % self.every);
        let sent =
            self.peak.map_or(self.grant(), |peak| (u128::from(peak.as_bps()) * rest).min(self.grant()));
        number * self.grant() + sent
    }

    fn begins(&self, amount: Nanobits) -> Instant {
        instant(self.in_grant(amount / self.grant(), amount % self.grant()).0)
    }

    fn ends(&self, amount: Nanobits) -> Instant {
        let number = (amount - 1) / self.grant();
        let (nanos, rest) = self.in_grant(number, amount - number * self.grant());
        instant(nanos + u128::from(rest > 0))
    }

    fn mean_rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::super::capacity::Served;
    use super::super::capacity::tests::check;
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    fn bursts(peak: Option<u64>) -> Served<Bursts> {
        let peak = peak.and_then(Rate::from_bps);
        Served::new(Bursts::new(Rate::from_bps(10_000_000).unwrap(), MS * 4, peak).unwrap())
    }

    fn ms(time: u64) -> Instant {
        Instant::ZERO + MS * time
    }

    /// At 10 Mbit/s, bursts every 4 ms are grants of 5000 bytes.
    #[test]
    fn packets_of_a_grant_leave_together_and_the_rest_waits_for_the_next() {
        let mut link = bursts(None);
        let mut now = ms(1);
        let left: Vec<Instant> = (0..12)
            .map(|_| {
                now += link.occupy(now, 1250);
                now
            })
            .collect();
        assert_eq!(left, [4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12].map(ms));
    }

    #[test]
    fn at_the_peak_rate_they_leave_one_after_the_other() {
        let mut link = bursts(Some(100_000_000));
        // The grant at 4 ms lasts for 0.4 ms: 0.1 ms per packet.
        assert_eq!(link.start(ms(1)), ms(4));
        assert_eq!(link.occupy(ms(4), 1250), MS / 10);
        // After an idle time, only half a packet's worth of the grant is left. The second half of the packet waits.
        link.idle();
        let late = ms(4) + Duration::from_micros(350);
        assert_eq!(late + link.occupy(late, 1250), ms(8) + Duration::from_micros(50));
    }

    #[test]
    fn what_nobody_waited_for_is_lost() {
        let mut link = bursts(None);
        assert_eq!(link.occupy(ms(4), 100), MS * 4, "a grant is for what was there before it");
        link.idle();
        assert_eq!(link.occupy(ms(8), 100), MS * 4, "nothing is left of a grant after the queue was empty");
        assert_eq!(link.occupy(ms(12), 100), Duration::ZERO, "the grant goes on");
        assert_eq!(link.bits(ms(0), ms(100)), 1e6);
    }

    #[test]
    fn impossible_bursts_are_refused() {
        let rate = Rate::from_bps(10).unwrap();
        assert!(Bursts::new(rate, Duration::ZERO, None).unwrap_err().contains("every 0s"));
        let error = Bursts::new(rate, MS, Rate::from_bps(9)).unwrap_err();
        assert_eq!(error, "found a peak rate of 9bit; accepted: the rate, 10bit, or more");
    }

    proptest! {
        #[test]
        fn capacity_and_times_agree(
            bps in 1..1_000_000_u64,
            more in prop::option::of(0..1_000_000_u64),
            every in 1..5_000_000_u64,
            time in 0..100_000_000_u64,
        ) {
            let peak = more.and_then(|more| Rate::from_bps(bps + more));
            let bursts = Bursts::new(Rate::from_bps(bps).unwrap(), Duration::from_nanos(every), peak).unwrap();
            check(&bursts, time)?;
        }
    }
}
