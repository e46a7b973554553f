//! What a variant of CoDel may change.

use super::ticks::Ticks;
use super::vars::Vars;

/// What a variant of CoDel may change. The rules here are those of RFC 8289, 5.6. A variant replaces some of them.
pub(crate) trait Law {
    /// Intervals after which dropping begins from 1 again and no longer resumes.
    const MEMORY: u32 = 16;
    /// The first drop is due when `now + EARLY` is after the end of the interval. With one tick it is due from the end
    /// on.
    const EARLY: Ticks = Ticks(1);

    /// Returns the bytes up to which a backlog is no standing queue (5.3). `frame` is a full frame.
    fn guard(frame: u32) -> u32 {
        frame
    }

    /// Returns the gap to the next drop: interval/sqrt(count).
    fn interval_next(vars: &Vars, interval: Ticks) -> Ticks {
        Ticks((f64::from(interval.0) / libm::sqrt(f64::from(vars.count))) as u32)
    }

    /// Returns the count from which dropping resumes, if that is more than 1: the drops that the last episode added.
    fn resume(vars: &Vars) -> u32 {
        vars.count.wrapping_sub(vars.lastcount)
    }

    /// Returns whether dropping may begin at `now`, after the delay was above target for an interval.
    fn may_start(_vars: &Vars, _interval: Ticks, _now: Ticks) -> bool {
        true
    }
}
