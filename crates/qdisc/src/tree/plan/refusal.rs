//! Refusals with the words of those who refuse.

use super::{Plan, Read};
use alloc::format;
use alloc::string::String;
use goodqueue_units::Release;

/// Returns a refusal with Linux's own words.
pub(in super::super) fn by_linux(found: &str, accepted: &str, linux: &str) -> String {
    format!("found {found}; accepted: {accepted} (Linux: \"{linux}\")")
}

/// Returns a refusal with the words of `tc`.
pub(in super::super) fn by_tc(found: &str, accepted: &str, tc: &str) -> String {
    format!("found {found}; accepted: {accepted} (tc: {tc})")
}

impl Plan {
    /// Returns what Linux of the device's release says: `new` since 7.3, `old` before.
    pub(super) fn since_7_3(&self, new: &'static str, old: &'static str) -> &'static str {
        if self.release >= Release::Linux7_3 { new } else { old }
    }
}

/// Fails with `refusal` if `holds`.
pub(super) fn refuse_if(holds: bool, refusal: impl FnOnce() -> String) -> Read<()> {
    if holds { Err(refusal()) } else { Ok(()) }
}

/// The words for the numbers of errors to which Linux adds none of its own.
pub(super) const INVALID: &str = "Invalid argument";
pub(super) const TOO_SHORT: &str = "Numerical result out of range";
pub(super) const EXISTS: &str = "File exists";
pub(super) const NO_ENTRY: &str = "No such file or directory";
pub(super) const BUSY: &str = "Device or resource busy";
pub(super) const UNSUPPORTED: &str = "Operation not supported";
