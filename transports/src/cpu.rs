//! How long the stacks' own code takes.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The CPU time of one end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cpu {
    /// Whether it is measured: a reading of the clock takes a part of a microsecond.
    pub(crate) is_measured: bool,
    pub(crate) spent: Duration,
    /// Datagrams that the end sent or received.
    pub(crate) datagrams: u64,
}

impl Cpu {
    /// Does `work`, and counts the CPU time that this thread spends on it.
    pub(crate) fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if !self.is_measured {
            return work();
        }
        let before = now();
        let done = work();
        self.spent += now().saturating_sub(before);
        done
    }
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A connection's name and stack, and of its sender and receiver the CPU time in seconds and the datagrams.
pub(crate) type OfConnection = (String, &'static str, [(f64, u64); 2]);
