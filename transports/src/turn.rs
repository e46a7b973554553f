//! Turns of a stack that reads the clock and draws random numbers by itself. Within a turn the thread's clock is the
//! run's, and its random numbers are seeded (`turn.c`).

use crate::peer::{Setup, Time};
use std::time::Instant;

// Safe to call: each takes and returns numbers, and writes only a thread's own variables (turn.c).
#[allow(unsafe_code)]
unsafe extern "C" {
    safe fn goodqueue_turn_begin(now_ns: u64, random: u64);
    safe fn goodqueue_turn_end() -> u64;
}

/// The clock at the beginning of the run: a stack may go back from it, as by a round-trip time.
const BASE_NS: u64 = 1_000_000_000_000;

/// The random numbers of one end, and its turns.
pub(crate) struct Turns(u64);

impl Turns {
    /// Begins with the random numbers of an end.
    pub(crate) fn new(setup: &Setup) -> Self {
        Self(setup.stream("turn").next_u64())
    }

    /// Does `work` at the time `now`.
    pub(crate) fn at<T>(&mut self, now: Time, work: impl FnOnce() -> T) -> T {
        /// Ends the turn when the stack panics, too.
        struct End<'a>(&'a mut u64);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                *self.0 = goodqueue_turn_end();
            }
        }
        goodqueue_turn_begin(BASE_NS + now.as_nanos() as u64, self.0);
        let _end = End(&mut self.0);
        work()
    }

    /// Returns the clock at the beginning of the run.
    pub(crate) fn base(&mut self) -> Instant {
        self.at(Time::ZERO, Instant::now)
    }
}
