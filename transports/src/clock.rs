//! The time of the run as the stacks know it.

use std::sync::OnceLock;
use std::time::Instant;

/// Returns the stacks' time at the beginning of every run. Stacks see only times after it, which the driver tells them.
pub(crate) fn base() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now)
}
