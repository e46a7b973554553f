//! A capture file, pcap or pcapng, as a stream of frames.

use crate::input::Input;
use pcap_parser::{
    Block, InterfaceDescriptionBlock, Linktype, OptionCode, PcapHeader, parse_block_be, parse_block_le,
    parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a buffer for many frames, so that reading is done in large pieces.
pub(crate) const BUFFER_BYTES: usize = 1 << 18;
/// The longest block that is read. Frames have at most 256 KiB (libpcap's MAXIMUM_SNAPLEN), except on USB and D-Bus.
const MOST_BYTES: usize = 1 << 24;
const ACCEPTED: &str =
    "a pcap or pcapng file, such as tcpdump and Wireshark write, also compressed by gzip or zstd";
const NS: i128 = 1_000_000_000;

/// Types of pcapng's blocks. The obsolete packet block is that of files from before 2009.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// A section's byte-order magic, as bytes of a big-endian section.
const BIG_ENDIAN: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];

/// The reason why a capture cannot be used, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", file.display())]
pub struct Error {
    /// The file.
    pub file: PathBuf,
    /// What was found at which offset, and what is accepted.
    pub message: String,
}

/// A frame as it was captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    /// Nanoseconds since 1970.
    pub(crate) time_ns: i64,
    pub(crate) link: Linktype,
    /// Bytes of the frame, as it was on the wire.
    pub(crate) len: u32,
    /// The captured part of the frame.
    pub(crate) data: &'a [u8],
    /// Offset in the file, for errors. In a compressed file it counts decompressed bytes.
    pub(crate) offset: u64,
}

pub(crate) struct Capture {
    path: PathBuf,
    input: Input,
    /// The bytes from `start` to `end` are read and not used yet.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of `start` in the file.
    offset: u64,
    format: Format,
    /// The interfaces of the section. A pcap file has one.
    interfaces: Vec<Interface>,
    last_ns: i64,
    /// Frames without a time of their own (simple packet blocks). They get the time of the frame before.
    pub(crate) untimed: u64,
    /// Whether the file ends within a frame, as the file of a running capture does.
    pub(crate) is_cut: bool,
}

#[derive(Clone, Copy, Debug)]
struct Format {
    is_pcapng: bool,
    is_big_endian: bool,
    /// Kuznetsov's pcap has longer headers of frames.
    is_modified: bool,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: Linktype,
    /// Clock ticks per second.
    ticks: i128,
    /// Added to each time.
    offset_ns: i128,
    /// The most bytes of a frame that are kept. 0: all.
    snap: u32,
}

impl Capture {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = fs::File::open(path).map_err(|error| Error {
            file: path.to_path_buf(),
            message: format!("cannot be read: {error}"),
        })?;
        Self::new(path, Box::new(file))
    }

    /// Begins to read `file`. Errors name `path`.
    pub(crate) fn new(path: &Path, file: Box<dyn Read + Send>) -> Result<Self, Error> {
        let refuse = |message: String| Error { file: path.to_path_buf(), message };
        let input = Input::new(file).map_err(|wrong| match wrong.starts_with("found") {
            true => refuse(format!("{wrong}; accepted: {ACCEPTED}")),
            false => refuse(wrong),
        })?;
        let format = Format { is_pcapng: true, is_big_endian: false, is_modified: false };
        let mut capture = Self {
            path: path.to_path_buf(),
            input,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            offset: 0,
            format,
            interfaces: Vec::new(),
            last_ns: 0,
            untimed: 0,
            is_cut: false,
        };
        capture.has(PcapHeader::new().size())?;
        let head = &capture.buffer[..capture.end];
        if head.starts_with(&SECTION.to_le_bytes()) {
            return Ok(capture);
        }
        let Ok((_, header)) = parse_pcap_header(head) else {
            let found = if head.is_empty() { "an empty file" } else { "no header of a capture" };
            return Err(capture.error(0, &format!("{found}; accepted: {ACCEPTED}")));
        };
        capture.format = Format {
            is_pcapng: false,
            is_big_endian: header.is_bigendian(),
            is_modified: header.is_modified_format(),
        };
        capture.interfaces.push(Interface {
            link: Linktype(header.network.0 & 0xffff), // the upper bits say whether frames end in check sequences
            ticks: if header.is_nanosecond_precision() { NS } else { 1_000_000 },
            offset_ns: 0,
            snap: header.snaplen,
        });
        capture.consume(header.size());
        Ok(capture)
    }

    pub(crate) fn error(&self, offset: u64, message: &str) -> Error {
        Error { file: self.path.clone(), message: format!("offset {offset}: {message}") }
    }

    /// Returns the offset of the first byte that was not used.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the link type of a pcap file. `None`: a pcapng file, whose interfaces come later.
    pub(crate) fn link(&self) -> Option<Linktype> {
        self.interfaces.first().map(|interface| interface.link)
    }

    /// Returns what `take` makes of the next frame.
    ///
    /// # Errors
    /// Fails at bytes that are no block, and names the offset. The end of the file within a block is no error: then
    /// `is_cut` is set.
    pub(crate) fn next<T>(&mut self, take: impl FnOnce(Frame<'_>) -> T) -> Result<Option<T>, Error> {
        loop {
            let head = self.format.header_bytes();
            if !self.has(head)? {
                self.is_cut = self.end > self.start || self.input.is_cut;
                return Ok(None);
            }
            let size = self.format.size(&self.buffer[self.start..self.end]);
            let Some(size) = size else { return Err(self.no_block()) };
            if !self.format.is_of_use(&self.buffer[self.start..self.end]) {
                if !self.skip(size)? {
                    return Ok(None);
                }
                continue;
            }
            if size > MOST_BYTES {
                let found = format!("a block of {size} bytes; accepted: at most {MOST_BYTES}");
                return Err(self.error(self.offset, &found));
            }
            if !self.has(size)? {
                self.is_cut = true;
                return Ok(None);
            }
            let block = &self.buffer[self.start..self.start + size];
            let Some(block) = Parsed::new(block, self.format) else { return Err(self.no_block()) };
            let offset = self.offset;
            match block {
                Parsed::Frame { interface, time, len, data } => {
                    let Some(interface) = self.interfaces.get(interface) else {
                        return Err(self.error(offset, "a frame of no interface"));
                    };
                    let own_ns = interface.time_ns(time);
                    // A simple packet block does not say how many of its bytes are padding.
                    let is_simple = own_ns.is_none() && interface.snap > 0;
                    let kept = if is_simple { data.len().min(interface.snap as usize) } else { data.len() };
                    let (time_ns, link) = (own_ns.unwrap_or(self.last_ns), interface.link);
                    let taken = take(Frame { time_ns, link, len, data: &data[..kept], offset });
                    self.last_ns = time_ns;
                    self.untimed += u64::from(own_ns.is_none());
                    self.consume(size);
                    return Ok(Some(taken));
                }
                Parsed::Section { is_big_endian } => {
                    self.interfaces.clear();
                    self.format.is_big_endian = is_big_endian;
                }
                Parsed::Interface(interface) => self.interfaces.push(interface),
            }
            self.consume(size);
        }
    }

    fn no_block(&self) -> Error {
        self.error(self.offset, &format!("no frame; accepted: {ACCEPTED}"))
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// Passes over `bytes`, however many. Returns whether the file has them.
    fn skip(&mut self, bytes: usize) -> Result<bool, Error> {
        let mut left = bytes;
        while left > 0 {
            if !self.has(1)? {
                self.is_cut = true;
                return Ok(false);
            }
            let some = left.min(self.end - self.start);
            self.consume(some);
            left -= some;
        }
        Ok(true)
    }

    /// Reads until `bytes` are in the buffer. Returns whether the file has them.
    fn has(&mut self, bytes: usize) -> Result<bool, Error> {
        while self.end - self.start < bytes {
            if self.buffer.len() - self.start < bytes {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
                // The buffer grows with what the file has, not with what a length in it says.
                let room = self.buffer.len().max((self.end * 2).min(bytes));
                self.buffer.resize(room, 0);
            }
            let read = self.input.read(&mut self.buffer[self.end..]);
            let read = read.map_err(|message| Error { file: self.path.clone(), message })?;
            if read == 0 {
                return Ok(false);
            }
            self.end += read;
        }
        Ok(true)
    }
}

impl Format {
    /// Returns how many bytes say how long a block or a frame is.
    fn header_bytes(self) -> usize {
        match self {
            Self { is_pcapng: true, .. } => 12,
            Self { is_modified: true, .. } => 24,
            Self { .. } => 16,
        }
    }

    fn u32(self, block: &[u8], at: usize) -> Option<u32> {
        let bytes = *block.get(at..)?.first_chunk()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// Returns the length of the block that begins like `block`. `None`: no block has that length.
    fn size(self, block: &[u8]) -> Option<usize> {
        if !self.is_pcapng {
            return Some(self.header_bytes() + self.u32(block, 8)? as usize);
        }
        let order = if block.starts_with(&SECTION.to_le_bytes()) {
            Self { is_big_endian: block.get(8..12)? == BIG_ENDIAN, ..self }
        } else {
            self
        };
        let size = order.u32(block, 4)? as usize;
        (size >= self.header_bytes()).then_some(size)
    }

    /// Returns whether a block can have a frame, or says how to read one.
    fn is_of_use(self, block: &[u8]) -> bool {
        let kinds = [SECTION, INTERFACE, OBSOLETE_PACKET, SIMPLE_PACKET, ENHANCED_PACKET];
        !self.is_pcapng || self.u32(block, 0).is_some_and(|kind| kinds.contains(&kind))
    }
}

/// A block of either format that has a frame, or says how to read one.
enum Parsed<'a> {
    Frame { interface: usize, time: Time, len: u32, data: &'a [u8] },
    Section { is_big_endian: bool },
    Interface(Interface),
}

/// A frame's time, in ticks of its interface's clock.
#[derive(Clone, Copy, Debug)]
enum Time {
    Unknown,
    Ticks(u64),
    Seconds { seconds: u32, ticks: u32 },
}

impl<'a> Parsed<'a> {
    /// Reads a whole block. `None`: the block contradicts itself.
    fn new(block: &'a [u8], format: Format) -> Option<Self> {
        if !format.is_pcapng {
            let frame = match format {
                Format { is_modified: true, .. } => parse_pcap_frame_modified(block),
                Format { is_big_endian: true, .. } => parse_pcap_frame_be(block),
                Format { .. } => parse_pcap_frame(block),
            };
            let (_, frame) = frame.ok()?;
            let time = Time::Seconds { seconds: frame.ts_sec, ticks: frame.ts_usec };
            return Some(Self::Frame { interface: 0, time, len: frame.origlen, data: frame.data });
        }
        let parsed = if format.is_big_endian { parse_block_be(block) } else { parse_block_le(block) };
        let ticks = |high: u32, low: u32| Time::Ticks(u64::from(high) << 32 | u64::from(low));
        match parsed.ok()?.1 {
            Block::SectionHeader(section) => Some(Self::Section { is_big_endian: section.big_endian() }),
            Block::InterfaceDescription(found) => Interface::new(&found, format).map(Self::Interface),
            Block::EnhancedPacket(frame) => Some(Self::Frame {
                interface: frame.if_id as usize,
                time: ticks(frame.ts_high, frame.ts_low),
                len: frame.origlen,
                data: kept(frame.data, frame.caplen),
            }),
            Block::SimplePacket(frame) => Some(Self::Frame {
                interface: 0,
                time: Time::Unknown,
                len: frame.origlen,
                data: kept(frame.data, frame.origlen),
            }),
            Block::Unknown(obsolete) => {
                let word = |at| format.u32(obsolete.data, at);
                // The number of lost packets shares the first word with the interface.
                let interface = if format.is_big_endian { word(0)? >> 16 } else { word(0)? & 0xffff };
                let data = obsolete.data.get(20..)?.get(..word(12)? as usize)?;
                let (interface, time) = (interface as usize, ticks(word(4)?, word(8)?));
                Some(Self::Frame { interface, time, len: word(16)?, data })
            }
            _ => None,
        }
    }
}

/// Returns a frame without the padding after it.
fn kept(data: &[u8], len: u32) -> &[u8] {
    &data[..data.len().min(len as usize)]
}

impl Interface {
    /// Reads an interface. `None`: a clock without a meaning. The parser takes options as little-endian, and knows no
    /// clocks with powers of two. So both options of the clock are read here.
    fn new(block: &InterfaceDescriptionBlock<'_>, format: Format) -> Option<Self> {
        let option =
            |code| block.options.iter().find(|option| option.code == code).map(|option| &*option.value);
        let resolution = option(OptionCode::IfTsresol).and_then(|value| value.first()).copied().unwrap_or(6);
        let (base, exponent) =
            if resolution & 0x80 == 0 { (10_i128, resolution) } else { (2, resolution & 0x7f) };
        let offset =
            option(OptionCode::IfTsoffset).and_then(|value| value.first_chunk()).copied().unwrap_or_default();
        let offset =
            if format.is_big_endian { i64::from_be_bytes(offset) } else { i64::from_le_bytes(offset) };
        Some(Self {
            link: block.linktype,
            ticks: base.checked_pow(exponent.into())?,
            offset_ns: i128::from(offset) * NS,
            snap: block.snaplen,
        })
    }

    /// Returns nanoseconds since 1970. `None`: the frame has no time of its own. Times that no clock shows are brought
    /// into the years 1842 to 2096, so that differences of times fit.
    fn time_ns(&self, time: Time) -> Option<i64> {
        let ticks = match time {
            Time::Unknown => return None,
            Time::Ticks(ticks) => i128::from(ticks),
            Time::Seconds { seconds, ticks } => i128::from(seconds) * self.ticks + i128::from(ticks),
        };
        let most = i128::from(i64::MAX / 2);
        Some((ticks * NS / self.ticks + self.offset_ns).clamp(-most, most) as i64)
    }
}
