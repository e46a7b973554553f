//! The kernel's timers, which count jiffies, for disciplines whose period they determine.
//!
//! A kernel with HZ = 250 (Debian's, Ubuntu's, and that of the golden traces) has jiffies of 4 ms. A delay is rounded
//! up to jiffies. The timer wheel adds one of its steps, so that a timer never fires early. The steps are longer for
//! timers that are further in the future (Linux 4.8 and later, `kernel/time/timer.c`). `golden/pie` shows it: there
//! `tupdate 15ms` ticks every 20 ms.

use goodqueue_units::Duration;

/// HZ = 250.
pub(crate) const JIFFY: Duration = Duration::from_millis(4);
/// A level of the wheel holds timers that are due within this many of its steps. The next level's steps are eight
/// times as long.
const STEPS: u64 = 63;
const LEVELS: u64 = 8;

/// Returns the time after which a timer that is set for `delay` fires. For a timer that sets itself anew each time,
/// this is its period.
pub(crate) const fn timer(delay: Duration) -> Duration {
    let jiffies = delay.as_nanos().div_ceil(JIFFY.as_nanos());
    let mut step = 1;
    while jiffies >= STEPS * step {
        step *= LEVELS;
    }
    Duration::from_nanos((jiffies / step + 1) * step * JIFFY.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand. 15 ms are 3.75 jiffies, so 4, and 5 with the wheel's step. 62 jiffies are the last on the
    /// first level. 63 jiffies round up to a multiple of 8. So do the 125 of half a second, to 128.
    #[test]
    fn the_wheel_adds_a_step_and_steps_grow() {
        let ms = |delay| timer(Duration::from_millis(delay)).as_nanos() as f64 / 1e6;
        assert_eq!((ms(1), ms(4), ms(15), ms(16), ms(17)), (8.0, 8.0, 20.0, 20.0, 24.0));
        assert_eq!((ms(248), ms(252), ms(500)), (252.0, 256.0, 512.0));
        assert_eq!((ms(2012), ms(2016)), (2016.0, 2048.0), "503 jiffies to 504, 504 to a multiple of 64");
    }
}
