//! The counters of a sender.

/// Counters of one connection's sending half since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments with data or FIN, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions among these segments.
    pub retransmitted: u64,
    /// Payload bytes in these retransmissions.
    pub bytes_retransmitted: u64,
    /// Retransmissions that were needless: the receiver reported that the segment came twice (DSACK, RFC 2883).
    pub spurious_retransmissions: u64,
    /// Segments assumed lost, including retransmissions that were assumed lost again.
    pub lost: u64,
    /// Window reductions that were taken back because nothing had been lost.
    pub undos: u32,
    /// Tail loss probes (RFC 8985, section 7).
    pub tlp_probes: u32,
    /// Retransmission timeouts, those of SYN and SYN-ACK included.
    pub timeouts: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u32,
    /// Segments reported as marked. With AccECN each marked segment counts; otherwise all that an ACK with ECE
    /// delivers.
    pub delivered_ce: u64,
    /// Window reductions because of ECN.
    pub ecn_reductions: u32,
    /// Windows of data of which a segment was lost and sent again, probes left out.
    pub lossy_windows: u32,
    /// Windows among these of which more than one segment was lost.
    pub multi_loss_windows: u32,
}
