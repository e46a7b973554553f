//! A packet of real bytes.

use super::hash::{self, Keys};
use goodqueue_qdisc::packet::Merged;
use goodqueue_qdisc::{Ecn, Instant, IpHeader, Packet, TcpHeader};

/// Bytes of Ethernet's header.
const ETHERNET: usize = 14;
/// Bytes in front of a packet's own first bytes: its time, its length, its mark, its priority, the length of its
/// segments, their kind, and how many bytes follow.
const FIELDS: usize = 24;

/// A packet, of which the first bytes are known.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) number: u32,
    pub(super) segment: u32,
    /// The bytes of the frame: `tc` counts more of them if it is merged.
    pub(super) bytes: u32,
    mark: u32,
    priority: u32,
    merged: Option<Merged>,
    header: IpHeader,
    tcp: Option<TcpHeader>,
    tos: u8,
    hash: u32,
    hosts: (u32, u32),
    digest: u64,
    arrival: Instant,
}

/// Reads packets, each with the time at which it comes.
pub(super) fn read(bytes: &[u8]) -> impl Iterator<Item = Result<(u64, Frame), String>> {
    let mut rest = bytes;
    (0..).map_while(move |number| {
        (!rest.is_empty()).then(|| {
            let (fields, behind) = rest.split_at_checked(FIELDS).ok_or("a packet is cut off")?;
            let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| fields[at + byte]));
            let at = u64::from(word(0)) | u64::from(word(4)) << 32;
            let (size, head) = (u32::from(word(20) as u16), usize::from(fields[23]));
            let (head, behind) = behind.split_at_checked(head).ok_or("a packet is cut off")?;
            rest = behind;
            let frame =
                Frame::new(number, head, [word(8), word(12), word(16), size]).ok_or("no packet of IP")?;
            Ok((at, frame))
        })
    })
}

impl Frame {
    fn new(number: u32, head: &[u8], [bytes, mark, priority, size]: [u32; 4]) -> Option<Self> {
        let ip = head.get(ETHERNET..)?;
        let header = IpHeader::read(ip)?;
        let keys = Keys::read(ip, &header)?;
        let tos = if header.is_v6() { header.words[0] >> 20 } else { header.words[0] >> 16 } as u8;
        let mut tcp = TcpHeader::from_ip(ip);
        let behind = if header.is_v6() { 54 } else { 34 };
        let headers = behind + u32::from(*head.get(behind as usize + 12).unwrap_or(&0) >> 4) * 4;
        if let Some(tcp) = &mut tcp {
            tcp.has_payload = bytes > headers;
        }
        let merged = (size > 0).then(|| {
            let count = (bytes - headers).div_ceil(size);
            Merged { count, len: headers + size, last: bytes - (count - 1) * size }
        });
        Some(Self {
            number,
            segment: 0,
            bytes,
            mark,
            priority,
            merged,
            header,
            tcp,
            tos,
            hash: keys.flow(),
            hosts: keys.hosts(),
            digest: hash::digest(&keys),
            arrival: Instant::ZERO,
        })
    }

    /// Returns the packets that this one is once it is split, or this one.
    pub(super) fn parts(self, is_split: bool) -> impl Iterator<Item = Self> {
        let merged = self.merged.filter(|_| is_split);
        let count = merged.map_or(1, |merged| merged.count);
        (0..count).map(move |segment| match merged {
            None => self.clone(),
            Some(Merged { len, last, .. }) => {
                let bytes = if segment + 1 < count { len } else { last };
                Self { segment, bytes, merged: None, ..self.clone() }
            }
        })
    }
}

impl Packet for Frame {
    fn len(&self) -> u32 {
        self.merged.map_or(self.bytes, |Merged { count, len, last }| (count - 1) * len + last)
    }
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.tos & 3)
    }
    fn set_ce(&mut self) {
        self.tos |= 3;
    }
    fn flow_hash(&self) -> u32 {
        self.hash
    }
    fn flow_id(&self) -> u64 {
        self.digest
    }
    fn dscp(&self) -> u8 {
        self.tos >> 2
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.tos = self.tos & 3 | dscp << 2;
    }
    fn priority(&self) -> u8 {
        self.priority as u8 & 15
    }
    fn class(&self) -> u32 {
        self.priority
    }
    fn ip_header(&self) -> IpHeader {
        self.header
    }
    fn host_hashes(&self) -> (u32, u32) {
        self.hosts
    }
    fn fwmark(&self) -> u32 {
        self.mark
    }
    fn tcp(&self) -> Option<TcpHeader> {
        self.tcp
    }
    fn merged(&self) -> Option<Merged> {
        self.merged
    }
    fn arrival(&self) -> Instant {
        self.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.arrival = now;
    }
}
