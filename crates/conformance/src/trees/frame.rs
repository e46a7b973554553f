//! A packet of real bytes.

use super::hash::{self, Keys};
use goodqueue_qdisc::packet::Merged;
use goodqueue_qdisc::{Ecn, Instant, IpHeader, Packet, TcpHeader};
use goodqueue_units::Release;

/// Bytes of Ethernet's header.
const ETHERNET: usize = 14;
/// Bytes in front of a packet's own first bytes: its time, its length, its mark, its priority, the length of its
/// segments, their kind, and how many bytes follow.
const FIELDS: usize = 24;

/// The memory that Linux counts for a packet of a packet socket (`truesize`), in bytes.
#[derive(Clone, Copy, Debug)]
struct Memory {
    whole: u64,
    /// That of each part except the last. The last part counts as the whole packet, whose owner it inherits
    /// (`skb_segment`).
    part: u64,
}

impl Memory {
    /// A page, in which a merged packet has to fit as a whole. Otherwise its data are in pages of their own
    /// (`packet_alloc_skb`).
    const PAGE: u64 = 4096;
    /// Free bytes in front (`LL_RESERVED_SPACE`).
    const FRONT: u64 = 16;

    /// Returns the memory of a packet of `bytes`, of which `headers` are headers. It is merged of parts with `size`
    /// bytes of data each if `size` is above 0.
    fn of(bytes: u32, headers: u32, size: u32, release: Release) -> Self {
        let (bytes, headers, size) = (u64::from(bytes), u64::from(headers), u64::from(size));
        let buffer = |bytes| Self::buffer(bytes, release);
        if size == 0 || Self::FRONT + bytes < Self::PAGE {
            Self { whole: buffer(bytes), part: buffer(headers + size) }
        } else {
            let pages = (bytes - headers).next_multiple_of(Self::PAGE);
            Self { whole: buffer(headers) + pages, part: buffer(headers) + size }
        }
    }

    /// Returns the memory of a buffer with its descriptor. It ends with what Linux notes of pages
    /// (`skb_shared_info`). From 6.3 on small ones come from a pool of their own (`skb_small_head_cache`).
    fn buffer(bytes: u64, release: Release) -> u64 {
        let needed = (Self::FRONT + bytes).next_multiple_of(64) + 320;
        let is_pooled = release > Release::Linux6_1 && needed <= 704;
        256 + if is_pooled { 704 } else { needed.next_power_of_two() }
    }
}

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
    /// The memory that Linux counts.
    memory: Memory,
    is_charged: bool,
    header: IpHeader,
    tcp: Option<TcpHeader>,
    tos: u8,
    hash: u32,
    hosts: (u32, u32),
    digest: u64,
    arrival: Instant,
}

/// Reads packets, each with the time at which it comes.
pub(super) fn read(bytes: &[u8], release: Release) -> impl Iterator<Item = Result<(u64, Frame), String>> {
    let mut rest = bytes;
    (0..).map_while(move |number| {
        (!rest.is_empty()).then(|| {
            let (fields, behind) = rest.split_at_checked(FIELDS).ok_or("a packet is cut off")?;
            let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| fields[at + byte]));
            let at = u64::from(word(0)) | u64::from(word(4)) << 32;
            let (size, head) = (u32::from(word(20) as u16), usize::from(fields[23]));
            let (head, behind) = behind.split_at_checked(head).ok_or("a packet is cut off")?;
            rest = behind;
            let frame = Frame::new(number, head, [word(8), word(12), word(16), size], release)
                .ok_or("no packet of IP")?;
            Ok((at, frame))
        })
    })
}

impl Frame {
    fn new(
        number: u32,
        head: &[u8],
        [bytes, mark, priority, size]: [u32; 4],
        release: Release,
    ) -> Option<Self> {
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
            memory: Memory::of(bytes, headers, size, release),
            is_charged: true,
            header,
            tcp,
            tos,
            hash: keys.flow(),
            hosts: keys.hosts(),
            digest: hash::digest(&keys, &header),
            arrival: Instant::ZERO,
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
    fn memory(&self, _len: u32) -> u64 {
        self.memory.whole
    }
    fn merged(&self) -> Option<Merged> {
        self.merged
    }
    /// Says that a packet socket is charged for the packet as a whole, and then for the last part.
    fn is_charged(&self) -> bool {
        self.is_charged
    }
    const SPLITS: bool = true;
    fn part(&self, number: u32) -> Option<Self> {
        let Merged { count, len, last } = self.merged.filter(|merged| number < merged.count)?;
        let is_last = number + 1 == count;
        let whole = if is_last { self.memory.whole } else { self.memory.part };
        let memory = Memory { whole, ..self.memory };
        Some(Self {
            segment: number,
            bytes: if is_last { last } else { len },
            merged: None,
            memory,
            is_charged: is_last,
            ..self.clone()
        })
    }
    fn arrival(&self) -> Instant {
        self.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.arrival = now;
    }
}
