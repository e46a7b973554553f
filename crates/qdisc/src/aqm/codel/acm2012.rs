//! CoDel as the article of 2012 has it: the variant `acm2012`.
//!
//! Source: the pseudocode of Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012. It differs from
//! RFC 8289 in these points:
//!
//! - It enters the dropping state when the delay was above target for two intervals. One interval is enough if the
//!   next drop was due less than an interval ago. (The article's text says one interval in all cases.)
//! - If the next drop was due that recently, dropping resumes from `count - 2` (from 1 if `count` is 2 or less).
//!   Otherwise it begins from 1. There is no `lastcount`. The RFC resumes from the number of drops in the last
//!   episode, for 16 intervals.
//! - The small-backlog guard compares with less than a full frame, so that one waiting full frame is a queue.
//!
//! Of the article's appendix (queue.acm.org/appendices/codel.html) the part up to the control law was available
//! (November 2026). The rest is in six public programs that write it alike, among them Sprout's `codel.cc`
//! (github.com/Soheil-ab/c2tcp, alfalfa) and phxrpc. Linux 3.5 resumes from `count - lastcount`, made odd, for 16
//! intervals.

use super::law::Law;
use super::ticks::Ticks;
use super::vars::Vars;

/// The article's CoDel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acm2012;

impl Law for Acm2012 {
    const MEMORY: u32 = 1;

    fn guard(frame: u32) -> u32 {
        frame.saturating_sub(1)
    }

    fn resume(vars: &Vars) -> u32 {
        vars.count.saturating_sub(2)
    }

    fn may_start(vars: &Vars, interval: Ticks, now: Ticks) -> bool {
        let second = vars.first_above_time.plus(interval);
        vars.is_recent(interval, now) || !second.is_after(now)
    }
}
