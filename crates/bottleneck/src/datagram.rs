//! A datagram at one end of the path.

use goodqueue_netsim::Direction;
use goodqueue_units::Ecn;
use std::time::Duration;

/// A flow of the endpoints: one pair of addresses and ports, in both directions. The number counts the scenario's
/// flows of the kind `outside`, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flow(pub u32);

/// A datagram, as it is sent or as it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// When it is sent, or when it arrived, since the beginning of the run.
    pub time: Duration,
    /// Its direction: `Down` to the user, `Up` from the user.
    pub direction: Direction,
    /// Its flow.
    pub flow: Flow,
    /// Its ECN codepoint. A queue may have set it to CE on the way.
    pub ecn: Ecn,
    /// Its differentiated services codepoint, below 64. A hop may have set it to 0 on the way.
    pub dscp: u8,
    /// Its payload. The path counts 42 bytes more: the headers of UDP, IPv4 and Ethernet.
    pub bytes: Vec<u8>,
}

/// Bytes of the headers of UDP and IPv4.
pub(crate) const HEADER_BYTES: usize = 28;
/// Bytes of the headers of UDP, IPv4 and Ethernet.
pub(crate) const FRAME_HEADER_BYTES: usize = HEADER_BYTES + 14;
