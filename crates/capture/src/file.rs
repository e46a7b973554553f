//! A capture file as a stream of packets.

use crate::packet::Packet;
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{LegacyPcapReader, Linktype, PcapBlockOwned, PcapError};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a buffer for many frames, so that reading is done in large pieces.
pub(crate) const BUFFER_BYTES: usize = 1 << 18;
pub(crate) const ACCEPTED: &str = "a pcap file of Ethernet frames, such as tcpdump -w writes";

/// The reason why a capture cannot be used, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", file.display())]
pub struct Error {
    /// The file.
    pub file: PathBuf,
    /// What was found at which offset, and what is accepted.
    pub message: String,
}

/// A packet and the time at which it was seen.
pub(crate) struct Sighting {
    /// Nanoseconds since 1970.
    pub(crate) time_ns: i64,
    /// Bytes of the frame, as it was on the wire.
    pub(crate) len: u32,
    pub(crate) packet: Packet,
    /// Offset in the file, for errors.
    pub(crate) offset: usize,
}

pub(crate) struct Reader {
    path: PathBuf,
    frames: LegacyPcapReader<fs::File>,
    ns_per_tick: i64,
    /// The bytes of the last frame that was read.
    data: Vec<u8>,
    /// Frames that do not go between a server and a client.
    pub(crate) ignored: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let refuse = |message: String| Error { file: path.to_path_buf(), message };
        let file = fs::File::open(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
        let mut frames = LegacyPcapReader::new(BUFFER_BYTES, file)
            .map_err(|_| refuse(format!("offset 0: no header of a capture; accepted: {ACCEPTED}")))?;
        let mut ns_per_tick = 1000;
        if let Ok((size, PcapBlockOwned::LegacyHeader(header))) = frames.next() {
            if header.network != Linktype::ETHERNET {
                return Err(refuse(format!("offset 20: found {}; accepted: {ACCEPTED}", header.network)));
            }
            if header.is_nanosecond_precision() {
                ns_per_tick = 1;
            }
            frames.consume(size);
        }
        Ok(Self { path: path.to_path_buf(), frames, ns_per_tick, data: Vec::new(), ignored: 0 })
    }

    /// Returns the captured bytes of the packet that [`Reader::next`] returned last.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    pub(crate) fn error(&self, offset: usize, message: &str) -> Error {
        Error { file: self.path.clone(), message: format!("offset {offset}: {message}") }
    }

    /// Returns the next packet between a server and a client.
    pub(crate) fn next(&mut self) -> Result<Option<Sighting>, Error> {
        loop {
            let offset = self.frames.consumed();
            let wrong = match self.frames.next() {
                Ok((size, PcapBlockOwned::Legacy(frame))) => {
                    let time_ns =
                        i64::from(frame.ts_sec) * 1_000_000_000 + i64::from(frame.ts_usec) * self.ns_per_tick;
                    let (read, len) = (Packet::read(frame.data), frame.origlen);
                    self.data.clear();
                    self.data.extend_from_slice(frame.data);
                    self.frames.consume(size);
                    match read {
                        Ok(Some(packet)) => return Ok(Some(Sighting { time_ns, len, packet, offset })),
                        Ok(None) => {
                            self.ignored += 1;
                            continue;
                        }
                        Err(wrong) => wrong,
                    }
                }
                Ok(_) => format!("no frame; accepted: {ACCEPTED}"),
                Err(PcapError::Eof) => return Ok(None),
                Err(PcapError::Incomplete(_)) => match self.frames.refill() {
                    Ok(()) => continue,
                    Err(_) => "cannot be read any further".to_string(),
                },
                Err(PcapError::UnexpectedEof) => {
                    "the file ends within a frame; accepted: a whole one".to_string()
                }
                Err(_) => format!("no frame; accepted: {ACCEPTED}"),
            };
            return Err(self.error(offset, &wrong));
        }
    }
}
