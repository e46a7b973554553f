//! The feature `complete`, for conditions within functions.

/// Whether this build has what the feature adds. As a constant, it keeps code out of a program.
pub(crate) const COMPLETE: bool = cfg!(feature = "complete");
