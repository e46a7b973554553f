//! The part of a packet's TCP header that a discipline may see.

/// A TCP header, as far as it is needed to find a superfluous ACK (`cake ack-filter`). The packet's
/// [`flow_id`](crate::Packet::flow_id) stands for addresses and ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// Acknowledgement number.
    pub ack: u32,
    /// Control bits as they stand in the header, including the reserved bits: the low twelve bits (RFC 9293, 3.1).
    pub flags: u16,
    /// Whether the segment carries data.
    pub has_payload: bool,
    /// TSval and TSecr (RFC 7323); `None`: the header has no timestamps.
    pub timestamps: Option<(u32, u32)>,
    /// Number of used entries of `sack`.
    pub sack_len: u8,
    /// SACK blocks (RFC 2018): for each its first byte and the byte after its last.
    pub sack: [(u32, u32); 4],
    /// Whether the header has a malformed option, or any option except padding, timestamps, SACK blocks and a
    /// signature (RFC 2385).
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

    /// Returns the length of the header in words of four bytes, with the options that are known. Padding makes whole
    /// words of them.
    #[must_use]
    pub fn offset(&self) -> u32 {
        let timestamps = if self.timestamps.is_some() { 3 } else { 0 };
        let sack = if self.sack_len > 0 { 1 + 2 * u32::from(self.sack_len) } else { 0 };
        5 + timestamps + sack
    }

    /// Returns the header in an IPv4 or IPv6 packet. `ip` holds the packet's bytes from the first one to at least the
    /// end of the TCP options.
    ///
    /// `None`: the packet is not TCP, is a fragment, is malformed, or `ip` ends too early. The function does not look
    /// behind IPv6 extension headers or into tunnels.
    #[must_use]
    pub fn from_ip(ip: &[u8]) -> Option<Self> {
        const TCP: u8 = 6;
        let (tcp, len) = match ip.first()? >> 4 {
            // RFC 791, 3.1. Every bit of the flags and offset marks a fragment, except "don't fragment" and the
            // reserved bit.
            4 => {
                let header_len = 4 * usize::from(ip[0] & 0xf);
                let is_whole = read_u16(ip, 6)? & 0x3fff == 0;
                let is_tcp = header_len >= 20 && is_whole && *ip.get(9)? == TCP;
                let len = usize::from(read_u16(ip, 2)?).checked_sub(header_len)?;
                (ip.get(header_len..).filter(|_| is_tcp)?, len)
            }
            // RFC 8200, 3.
            6 => (ip.get(40..).filter(|_| ip[6] == TCP)?, read_u16(ip, 4)?.into()),
            _ => return None,
        };
        // RFC 9293, 3.1.
        let offset_and_flags = read_u16(tcp, 12)?;
        let header_len = 4 * usize::from(offset_and_flags >> 12);
        let payload = len.checked_sub(header_len)?;
        let mut header = Self {
            ack: read_u32(tcp, 8)?,
            flags: offset_and_flags & 0x0fff,
            has_payload: payload > 0,
            ..Self::default()
        };
        header.read_options(tcp.get(20..header_len)?);
        Some(header)
    }

    /// Reads the options (RFC 9293, 3.2). An option begins with its kind. A length follows, which counts both bytes
    /// and the rest, except at the end of the list and at padding.
    fn read_options(&mut self, mut options: &[u8]) {
        const END: u8 = 0;
        const PADDING: u8 = 1;
        const SACK: u8 = 5;
        const TIMESTAMPS: u8 = 8;
        const SIGNATURE: u8 = 19;
        while let Some(&kind) = options.first().filter(|&&kind| kind != END) {
            let len = if kind == PADDING { 1 } else { options.get(1).copied().unwrap_or(0).into() };
            let Some((option, rest)) = options.split_at_checked(len).filter(|_| kind == PADDING || len >= 2)
            else {
                self.has_other_options = true;
                return;
            };
            match (kind, len) {
                (PADDING, _) | (SIGNATURE, _) => {}
                (TIMESTAMPS, 10) => self.timestamps = read_u32(option, 2).zip(read_u32(option, 6)),
                (SACK, 10 | 18 | 26 | 34) => {
                    let blocks = option[2..].chunks_exact(8);
                    self.sack_len = blocks.len() as u8;
                    for (block, bytes) in self.sack.iter_mut().zip(blocks) {
                        *block = read_u32(bytes, 0).zip(read_u32(bytes, 4)).unwrap_or_default();
                    }
                }
                _ => self.has_other_options = true,
            }
            options = rest;
        }
    }

    /// Returns the SACK blocks that the header has.
    #[must_use]
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_len.min(4))]
    }
}

/// Returns the number in network byte order at `at`, if `bytes` is long enough.
fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|number| u16::from_be_bytes(*number))
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|number| u32::from_be_bytes(*number))
}

#[cfg(test)]
mod tests;
