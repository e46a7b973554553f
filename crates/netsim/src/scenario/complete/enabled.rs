//! What the feature `complete` adds to scenarios: subscribers and their tables, and `[autorate]`.

pub(crate) mod autorate;
mod expanded;
pub(crate) mod isp;
