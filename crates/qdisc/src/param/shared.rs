//! Parameters that many disciplines have.

use super::Param;

/// The limit in packets. Each discipline that lists it names its own source and, if it differs, its own default.
pub const LIMIT: Param<u32> = Param::packets("limit", "most packets that the queue holds")
    .default(1000)
    .range(1, u32::MAX)
    .zero_is_unset();
/// The flag for ECN marking. See [`LIMIT`] for source and default.
pub const ECN: Param<bool> = Param::flag("ecn", "mark ECN-capable packets instead of dropping them");
