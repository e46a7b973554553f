//! The clock of Linux's timers. A tick is a jiffy, and long timeouts have coarser levels.
//!
//! Source: Linux 6.1, `kernel/time/timer.c` (since 4.8), with `CONFIG_HZ` of 250, as Debian and Ubuntu build it. A
//! timeout is rounded up to whole ticks, counted from the last tick. The timer fires one tick after that, so that it is
//! never early: 2 ms take 4 to 8 ms. From 63 ticks on, the timer fires with every eighth tick; from 504 on, with every
//! 64th.

use goodqueue_units::{Duration, Instant};

/// Timers of fewer ticks than this fire with any tick.
const FINE: u64 = 63;
/// Each level of the wheel is coarser than the last one by this power of two.
const COARSER: u32 = 3;
/// The number of levels.
const DEPTH: u32 = 9;
/// The longest tick of any kernel (`CONFIG_HZ` of 100).
pub(crate) const LONGEST: Duration = Duration::from_millis(10);
/// The tick of all stacks that have one.
const USUAL: u64 = 4_000_000;

/// Returns how many whole ticks are in `nanos`. `None`: there are no ticks.
#[inline]
fn whole_ticks(tick: Duration, nanos: u64) -> Option<u64> {
    // The compiler multiplies in place of a division by a constant. If both arms were the same division, it would make
    // one of them, by a variable.
    const TWOS: u32 = USUAL.trailing_zeros();
    match tick.as_nanos() {
        USUAL => Some((nanos >> TWOS) / (USUAL >> TWOS)),
        other => nanos.checked_div(other),
    }
}

/// Returns when a timer fires that is set at `now` for `timeout`, on a clock with ticks of length `tick`. If `tick` is
/// zero, the timer is exact to the nanosecond.
#[inline]
pub(crate) fn fires_at(tick: Duration, now: Instant, timeout: Duration) -> Instant {
    let up = timeout.as_nanos().saturating_add(tick.as_nanos().saturating_sub(1));
    let (Some(jiffies), Some(delta)) = (whole_ticks(tick, now.as_nanos()), whole_ticks(tick, up)) else {
        return now + timeout;
    };
    if delta < FINE {
        return Instant::from_nanos((jiffies + delta + 1) * tick.as_nanos());
    }
    fires_late(tick, jiffies, delta)
}

/// Returns when a timer of at least [`FINE`] ticks fires, which is set `jiffies` after the beginning.
#[cold]
fn fires_late(tick: Duration, jiffies: u64, delta: u64) -> Instant {
    let level = (0..DEPTH - 1).find(|level| delta < FINE << (level * COARSER)).unwrap_or(DEPTH - 1);
    let shift = level * COARSER;
    let slot = ((jiffies + delta) >> shift) + 1;
    Instant::from_nanos((slot << shift) * tick.as_nanos())
}

/// Returns when a timer fires that is set at `now` for `span`, which is less than [`FINE`] ticks. A part of a tick does
/// not count.
#[inline]
pub(crate) fn after(tick: Duration, now: Instant, span: Duration) -> Instant {
    match (whole_ticks(tick, now.as_nanos()), whole_ticks(tick, span.as_nanos())) {
        (Some(jiffies), Some(more)) => Instant::from_nanos((jiffies + more + 1) * tick.as_nanos()),
        _ => now + span,
    }
}

/// Returns the last tick, or `now` if there are none.
#[inline]
pub(crate) fn floor(tick: Duration, now: Instant) -> Instant {
    match whole_ticks(tick, now.as_nanos()) {
        Some(jiffies) => Instant::from_nanos(jiffies * tick.as_nanos()),
        None => now,
    }
}

/// Returns `span` rounded up to whole ticks, if there are any (`usecs_to_jiffies`).
pub(crate) fn ceil(tick: Duration, span: Duration) -> Duration {
    match (span.as_nanos() / 1000 * 1000).checked_next_multiple_of(tick.as_nanos()) {
        Some(whole) => Duration::from_nanos(whole),
        None => span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(tick: u64, now: u64, timeout: u64) -> u64 {
        let at = fires_at(
            Duration::from_millis(tick),
            Instant::ZERO + Duration::from_micros(now),
            Duration::from_micros(timeout),
        );
        at.as_nanos() / 1000
    }

    /// Guards against a quotient by parts that is not the quotient.
    #[test]
    fn ticks_are_counted_as_by_a_division() {
        let usual = Duration::from_nanos(USUAL);
        for nanos in [0, 255, 3_999_999, 4_000_000, 4_000_255, 123_456_789_012_345, u64::MAX] {
            assert_eq!(whole_ticks(usual, nanos), nanos.checked_div(USUAL), "{nanos}");
        }
    }

    /// Counted by hand, in microseconds. Guards against a timer that is early, or that does not fire at a tick.
    #[test]
    fn a_timeout_is_rounded_up_and_a_tick_is_added() {
        assert_eq!(fires(0, 101_234, 27_001), 128_235, "no ticks");
        assert_eq!(fires(4, 100_000, 4_000), 108_000, "1 tick after tick 25, and one more");
        assert_eq!(fires(4, 103_999, 4_000), 108_000);
        assert_eq!(fires(4, 103_999, 4_001), 112_000);
        assert_eq!(fires(4, 101_234, 27_001), 132_000, "7 ticks after tick 25, and one more");
    }

    /// 62 ticks are of the fine level, 63 are not: 25 + 63 = 88 ticks is the eleventh eighth, and the timer fires at
    /// the next one, at 96.
    #[test]
    fn long_timeouts_fire_with_every_eighth_tick() {
        assert_eq!(fires(4, 100_000, 248_000), 352_000);
        assert_eq!(fires(4, 100_000, 252_000), 384_000);
        assert_eq!(
            fires(4, 100_000, 2_013_000),
            2_304_000,
            "504 ticks: 25 + 504 = 529, and the next 64th fires at 576"
        );
    }

    /// 41 ms after 101 ms: 10 whole ticks after tick 25, and one more (`jiffies + msecs_to_jiffies(40) + 1` without its
    /// rounding up). Guards against a delayed ACK a tick too late.
    #[test]
    fn a_part_of_a_tick_does_not_count() {
        let after = |tick, now, span| {
            let at = after(
                Duration::from_millis(tick),
                Instant::ZERO + Duration::from_millis(now),
                Duration::from_millis(span),
            );
            at.as_nanos() / 1_000_000
        };
        assert_eq!((after(4, 101, 40), after(4, 101, 43), after(4, 101, 44)), (144, 144, 148));
        assert_eq!(after(0, 101, 40), 141, "no ticks");
    }

    /// Guards against a tick in the future, and against a nanosecond that costs a tick: Linux counts microseconds.
    #[test]
    fn instants_are_rounded_down_and_spans_up() {
        let tick = Duration::from_millis(4);
        let us = |us| Instant::ZERO + Duration::from_micros(us);
        assert_eq!((floor(tick, us(43_999)), floor(tick, us(44_000))), (us(40_000), us(44_000)));
        assert_eq!(floor(Duration::ZERO, us(43_999)), us(43_999), "no ticks");
        assert_eq!(ceil(tick, Duration::from_micros(40_001)), Duration::from_millis(44));
        assert_eq!(ceil(tick, Duration::from_nanos(40_000_999)), Duration::from_millis(40));
        assert_eq!(
            ceil(Duration::ZERO, Duration::from_micros(40_001)),
            Duration::from_micros(40_001),
            "no ticks"
        );
    }
}
