//! Stands for what the feature `complete` adds to the parameters of a line: no line has a size table or is a tree.

use super::{Args, Error};
use alloc::string::String;

/// Whether this build has what the feature adds. As a constant, it keeps code out of a program.
pub(super) const COMPLETE: bool = false;

/// No line is a tree.
pub(super) type SharedPlan = core::convert::Infallible;

pub(super) fn changed(args: &Args, line: &str) -> Result<Args, Error> {
    args.changed_alone(line)
}

impl Args {
    /// Returns `None`: this is no tree.
    #[must_use]
    pub fn commands_of_change(&self, _text: &str) -> Option<String> {
        None
    }
}
