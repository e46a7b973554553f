//! Any capture of Ethernet frames, pcap or pcapng, as a stream of TCP segments between any hosts.

use crate::file::{ACCEPTED, BUFFER_BYTES, Error};
use etherparse::{
    Ethernet2HeaderSlice, Ipv4HeaderSlice, Ipv6HeaderSlice, TcpHeaderSlice, TcpOptionElement, ether_type,
    ip_number,
};
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

const ETHERNET_BYTES: usize = 14;
const NS: i128 = 1_000_000_000;

/// A TCP segment in the capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Nanoseconds since 1970.
    pub(crate) time_ns: i64,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) payload: u32,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) window: u16,
    /// The window scale option of a SYN (RFC 7323).
    pub(crate) window_scale: Option<u8>,
}

pub(crate) struct Frames {
    path: PathBuf,
    blocks: Box<dyn PcapReaderIterator + Send>,
    /// Clock ticks per second of each interface.
    ticks: Vec<i128>,
}

impl Frames {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let refuse = |message: String| Error { file: path.to_path_buf(), message };
        let file = fs::File::open(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let blocks = create_reader(BUFFER_BYTES, file)
            .map_err(|_| refuse(format!("offset 0: no header of a capture; accepted: {ACCEPTED}")))?;
        Ok(Self { path: path.to_path_buf(), blocks, ticks: Vec::new() })
    }

    /// Returns the next TCP segment. All other frames are skipped.
    pub(crate) fn next(&mut self) -> Result<Option<Seen>, Error> {
        loop {
            let offset = self.blocks.consumed();
            let ticks = &mut self.ticks;
            let found = match self.blocks.next() {
                Ok((size, block)) => {
                    let seen = understood(&block, ticks);
                    self.blocks.consume(size);
                    seen
                }
                Err(PcapError::Eof) => return Ok(None),
                Err(PcapError::Incomplete(_)) => match self.blocks.refill() {
                    Ok(()) => continue,
                    Err(_) => Err("cannot be read any further".to_string()),
                },
                Err(PcapError::UnexpectedEof) => {
                    Err("the file ends within a frame; accepted: a whole one".to_string())
                }
                Err(_) => Err(format!("no frame; accepted: {ACCEPTED}")),
            };
            match found {
                Ok(Some(seen)) => return Ok(Some(seen)),
                Ok(None) => {}
                Err(wrong) => {
                    let message = format!("offset {offset}: {wrong}");
                    return Err(Error { file: self.path.clone(), message });
                }
            }
        }
    }
}

/// Reads a block of the file: a segment, or the clock of an interface.
fn understood(block: &PcapBlockOwned<'_>, ticks: &mut Vec<i128>) -> Result<Option<Seen>, String> {
    let ethernet = |found: Linktype| match found {
        Linktype::ETHERNET => Ok(()),
        _ => Err(format!("found {found}; accepted: {ACCEPTED}")),
    };
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            ethernet(header.network)?;
            ticks.push(if header.is_nanosecond_precision() { NS } else { 1_000_000 });
            Ok(None)
        }
        PcapBlockOwned::Legacy(frame) => {
            let ticks = ticks.first().copied().unwrap_or(NS);
            let time = i128::from(frame.ts_sec) * NS + i128::from(frame.ts_usec) * NS / ticks;
            Ok(segment(frame.data, time as i64))
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            ticks.clear();
            Ok(None)
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
            ethernet(interface.linktype)?;
            ticks.push(interface.ts_resolution().map_or(1_000_000, i128::from));
            Ok(None)
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(frame)) => {
            let ticks = ticks.get(frame.if_id as usize).ok_or("a frame of no interface")?;
            let time = (i128::from(frame.ts_high) << 32 | i128::from(frame.ts_low)) * NS / ticks;
            Ok(segment(frame.data, time as i64))
        }
        PcapBlockOwned::NG(_) => Ok(None),
    }
}

/// Returns the TCP segment of a frame, however much of it was captured after the headers.
fn segment(frame: &[u8], time_ns: i64) -> Option<Seen> {
    let ethernet = Ethernet2HeaderSlice::from_slice(frame).ok()?;
    let packet = frame.get(ETHERNET_BYTES..)?;
    let (from, to, inside, bytes): (IpAddr, IpAddr, _, usize) = match ethernet.ether_type() {
        ether_type::IPV4 => {
            let ip = Ipv4HeaderSlice::from_slice(packet).ok().filter(|ip| ip.protocol() == ip_number::TCP)?;
            let header = ip.slice().len();
            let bytes = usize::from(ip.total_len()).checked_sub(header)?;
            (ip.source_addr().into(), ip.destination_addr().into(), packet.get(header..)?, bytes)
        }
        ether_type::IPV6 => {
            let ip =
                Ipv6HeaderSlice::from_slice(packet).ok().filter(|ip| ip.next_header() == ip_number::TCP)?;
            let bytes = ip.payload_length().into();
            (ip.source_addr().into(), ip.destination_addr().into(), packet.get(ip.slice().len()..)?, bytes)
        }
        _ => return None,
    };
    let tcp = TcpHeaderSlice::from_slice(inside).ok()?;
    let scale = tcp.options_iterator().flatten().find_map(|option| match option {
        TcpOptionElement::WindowScale(scale) => Some(scale),
        _ => None,
    });
    Some(Seen {
        time_ns,
        from: (from, tcp.source_port()).into(),
        to: (to, tcp.destination_port()).into(),
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        payload: bytes.saturating_sub(tcp.slice().len()) as u32,
        syn: tcp.syn(),
        fin: tcp.fin(),
        window: tcp.window_size(),
        window_scale: scale,
    })
}
