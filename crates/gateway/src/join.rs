//! Joins packets of a connection that leave together into one large segment, as a network card does with packets that
//! it receives back to back (generic receive offload). The other end's stack then runs once for all of them.
//!
//! Only packets that are due at the same look at the clock are joined. As in Linux's `tcp_gro_receive`, the packets are
//! in order, their headers are equal, and all except the last are full.

use crate::offload::Offload;
use crate::packet::folded;

/// Largest IP packet in bytes.
const MOST_BYTES: usize = 0xffff;
/// Most packets in one large segment: one call of `writev` takes them all.
pub(crate) const MOST_PARTS: usize = 60;
/// Flags of a pure data segment.
const ACK: u8 = 0x10;
const PSH: u8 = 0x08;
const FLAGS: usize = 13;

/// A large segment under construction.
pub(crate) struct Joined {
    ip_len: usize,
    /// Length of the IP and TCP headers.
    head_len: usize,
    /// Payload bytes of each packet except the last.
    each: usize,
    next_seq: u32,
    parts: usize,
    bytes: usize,
    is_last: bool,
}

fn seq(packet: &[u8], ip_len: usize) -> u32 {
    u32::from_be_bytes([packet[ip_len + 4], packet[ip_len + 5], packet[ip_len + 6], packet[ip_len + 7]])
}

impl Joined {
    /// Begins a large segment with `packet`, which is TCP with `payload` bytes. Returns `None` if no packet may
    /// follow it.
    pub(crate) fn begin(packet: &[u8], payload: u32, offload: Offload) -> Option<Self> {
        let ip_len = offload.tcp_checksum_start()?;
        let head_len = packet.len().checked_sub(payload as usize).filter(|&len| len >= ip_len + 20)?;
        // IPv4 without options, or IPv6 without extensions.
        let is_plain = matches!((packet[0], ip_len), (0x45, 20)) || packet[0] >> 4 == 6 && ip_len == 40;
        let is_data = payload > 0 && packet[ip_len + FLAGS] == ACK;
        (is_plain && is_data).then(|| Self {
            ip_len,
            head_len,
            each: payload as usize,
            next_seq: seq(packet, ip_len).wrapping_add(payload),
            parts: 1,
            bytes: packet.len(),
            is_last: false,
        })
    }

    /// Appends `packet` if it continues the segment, and returns whether it does.
    pub(crate) fn take(&mut self, first: &[u8], packet: &[u8], offload: Offload) -> bool {
        let &mut Self { ip_len, head_len, each, next_seq, parts, bytes, is_last } = self;
        let payload = packet.len().saturating_sub(head_len);
        if is_last || payload == 0 || payload > each || parts == MOST_PARTS || bytes + payload > MOST_BYTES {
            return false;
        }
        let flags = packet[ip_len + FLAGS];
        let fits = offload.tcp_checksum_start() == Some(ip_len)
            && seq(packet, ip_len) == next_seq
            && flags & !PSH == ACK
            && packet[ip_len + 12] == first[ip_len + 12]
            && same_ip(&packet[..ip_len], &first[..ip_len])
            && packet[ip_len..ip_len + 4] == first[ip_len..ip_len + 4]
            && packet[ip_len + 8..ip_len + 12] == first[ip_len + 8..ip_len + 12]
            && packet[ip_len + 14..ip_len + 16] == first[ip_len + 14..ip_len + 16]
            && packet[ip_len + 18..head_len] == first[ip_len + 18..head_len];
        if fits {
            self.next_seq = next_seq.wrapping_add(payload as u32);
            self.parts += 1;
            self.bytes += payload;
            self.is_last = payload < each || flags & PSH != 0;
        }
        fits
    }

    /// Turns `headers`, the first packet's, into the headers of the large segment. `last` is the last packet.
    pub(crate) fn head(&self, headers: &mut Vec<u8>, last: &[u8]) -> Offload {
        let Self { ip_len, head_len, .. } = *self;
        let before = headers.len() - ip_len;
        headers.truncate(head_len);
        headers[ip_len + FLAGS] |= last[ip_len + FLAGS] & PSH;
        let is_v4 = headers[0] >> 4 == 4;
        if is_v4 {
            headers[2..4].copy_from_slice(&(self.bytes as u16).to_be_bytes());
            headers[10..12].fill(0);
            let words =
                headers[..ip_len].chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
            let sum = !folded(words.sum());
            headers[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            headers[4..6].copy_from_slice(&((self.bytes - ip_len) as u16).to_be_bytes());
        }
        // The pseudo-header's sum, updated for the new length.
        let field = u32::from(u16::from_be_bytes([headers[ip_len + 16], headers[ip_len + 17]]));
        let sum = folded(field + u32::from(!(before as u16)) + (self.bytes - ip_len) as u32);
        headers[ip_len + 16..ip_len + 18].copy_from_slice(&sum.to_be_bytes());
        Offload::of_large(is_v4, ip_len as u16, head_len as u16, self.each as u16)
    }

    /// Returns where the payload of each packet begins.
    pub(crate) fn head_len(&self) -> usize {
        self.head_len
    }
}

/// Returns whether two IP headers are equal except for length, identification and checksum.
fn same_ip(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        20 => a[..2] == b[..2] && a[6..10] == b[6..10] && a[12..] == b[12..],
        _ => a[..4] == b[..4] && a[6..] == b[6..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offload::{cut, tests::large};

    fn packets(bytes: usize, is_v4: bool) -> Vec<(Vec<u8>, Offload)> {
        let (mut packet, offload) = large(bytes, is_v4);
        let flags = usize::from(if is_v4 { 20_u8 } else { 40 }) + FLAGS;
        packet[flags] = ACK | PSH;
        let mut all = Vec::new();
        assert!(cut(&packet, offload, &mut |one, own| all.push((one.to_vec(), own))));
        all
    }

    /// Cuts a large segment, joins the packets and cuts again. Guards against packets with another checksum, sequence
    /// number or identification.
    #[test]
    fn what_was_cut_is_joined() {
        for is_v4 in [true, false] {
            let all = packets(5000, is_v4);
            let (first, offload) = &all[0];
            let mut joined = Joined::begin(first, 1448, *offload).unwrap();
            assert!(all[1..].iter().all(|(packet, own)| joined.take(first, packet, *own)));
            let mut whole = first.clone();
            let own = joined.head(&mut whole, &all[3].0);
            for (packet, _) in &all {
                whole.extend_from_slice(&packet[joined.head_len()..]);
            }
            let mut again = Vec::new();
            assert!(cut(&whole, own, &mut |one, own| again.push((one.to_vec(), own))));
            assert_eq!(again, all);
        }
    }

    /// Guards against joining across a gap, data after a short packet, a mark that spreads, or an ACK that moves.
    #[test]
    fn what_differs_is_not_joined() {
        let all = packets(5000, true);
        let (first, own) = &all[0];
        let begin = || Joined::begin(first, 1448, *own).unwrap();
        assert!(!begin().take(first, &all[2].0, *own), "a gap");
        for place in [1, 8, 20 + 9, 20 + 15] {
            let mut other = all[1].0.clone();
            other[place] ^= 1;
            assert!(!begin().take(first, &other, *own), "byte {place}");
        }
        let mut joined = begin();
        for (packet, own) in &all[1..] {
            assert!(joined.take(first, packet, *own));
        }
        assert!(!joined.take(first, &all[1].0, *own), "after the end");
        let mut fin = first.clone();
        fin[20 + FLAGS] |= 1;
        assert!(Joined::begin(&fin, 1448, *own).is_none());
    }
}
