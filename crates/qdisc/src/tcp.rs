//! What a discipline may see of a packet's TCP header.

/// A TCP header, as far as telling a superfluous ACK needs it (`cake ack-filter`). The packet's
/// [`flow_id`](crate::Packet::flow_id) stands for addresses and ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// Acknowledgement number.
    pub ack: u32,
    /// Control bits as they stand in the header, the reserved ones among them: the low twelve bits (RFC 9293, 3.1).
    pub flags: u16,
    /// Whether it carries data.
    pub has_payload: bool,
    /// TSval and TSecr (RFC 7323); `None`: it has none.
    pub timestamps: Option<(u32, u32)>,
    /// How many of `sack` are there.
    pub sack_len: u8,
    /// SACK blocks (RFC 2018): the first byte, and the byte after the last.
    pub sack: [(u32, u32); 4],
    /// Whether it has any option but padding, timestamps, SACK blocks and a signature (RFC 2385), or one that is
    /// malformed.
    pub has_other_options: bool,
}

impl TcpHeader {
    /// Opens a connection.
    pub const SYN: u16 = 0x002;
    /// The acknowledgement number is valid.
    pub const ACK: u16 = 0x010;
    /// ECN echo.
    pub const ECE: u16 = 0x040;
    /// Congestion window reduced.
    pub const CWR: u16 = 0x080;

    /// The SACK blocks that are there.
    #[must_use]
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_len.min(4))]
    }
}
