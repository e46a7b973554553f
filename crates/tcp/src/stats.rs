//! What a sender counts.

/// Counters of one connection's sending half since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments with data or FIN, retransmissions included.
    pub segments_sent: u64,
    /// Of these, retransmissions.
    pub retransmitted: u64,
    /// Payload bytes in these.
    pub bytes_retransmitted: u64,
    /// Retransmission timeouts, those of SYN and SYN-ACK included.
    pub timeouts: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Window reductions because of ECN.
    pub ecn_reductions: u64,
}
