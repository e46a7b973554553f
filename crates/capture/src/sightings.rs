//! A capture of the laboratory as a stream of packets between its servers and its clients.

use crate::file::{Capture, Error};
use crate::packet::Packet;
use pcap_parser::Linktype;
use std::path::Path;

const ACCEPTED: &str = "a pcap file of Ethernet frames, such as tcpdump -w writes";

/// A packet and the time at which it was seen.
pub(crate) struct Sighting {
    /// Nanoseconds since 1970.
    pub(crate) time_ns: i64,
    /// Bytes of the frame, as it was on the wire.
    pub(crate) len: u32,
    pub(crate) packet: Packet,
    /// Offset in the file, for errors.
    pub(crate) offset: u64,
}

pub(crate) struct Reader {
    file: Capture,
    /// The bytes of the last frame that was read.
    data: Vec<u8>,
    /// Frames that do not go between a server and a client.
    pub(crate) ignored: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = Capture::open(path)?;
        match file.link() {
            Some(Linktype::ETHERNET) => Ok(Self { file, data: Vec::new(), ignored: 0 }),
            Some(found) => Err(file.error(20, &format!("found {found}; accepted: {ACCEPTED}"))),
            None => Err(file.error(0, &format!("found a pcapng file; accepted: {ACCEPTED}"))),
        }
    }

    /// Returns the captured bytes of the packet that [`Reader::next`] returned last.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    pub(crate) fn error(&self, offset: u64, message: &str) -> Error {
        self.file.error(offset, message)
    }

    /// Returns the next packet between a server and a client. A file that ends within a frame is an error: without all
    /// packets of both sides none can be called lost.
    pub(crate) fn next(&mut self) -> Result<Option<Sighting>, Error> {
        loop {
            let data = &mut self.data;
            let read = self.file.next(|frame| {
                data.clear();
                data.extend_from_slice(frame.data);
                (frame.time_ns, frame.len, frame.offset, Packet::read(frame.data))
            })?;
            match read {
                Some((time_ns, len, offset, Ok(Some(packet)))) => {
                    return Ok(Some(Sighting { time_ns, len, packet, offset }));
                }
                Some((.., Ok(None))) => self.ignored += 1,
                Some((_, _, offset, Err(wrong))) => return Err(self.error(offset, &wrong)),
                None if self.file.is_cut => {
                    let wrong = "the file ends within a frame; accepted: a whole one";
                    return Err(self.error(self.file.offset(), wrong));
                }
                None => return Ok(None),
            }
        }
    }
}
