//! Parameters that many disciplines have.

use super::Param;

/// Each names its own source, and where it is not the same another default.
pub const LIMIT: Param<u32> = Param::packets("limit", "packets that the queue holds at most").default(1000);
/// See [`LIMIT`].
pub const ECN: Param<bool> = Param::flag("ecn", "mark ECN-capable packets instead of dropping them");
