//! Writing captures, for tests.
#![allow(dead_code)] // each test uses what it needs

use std::path::Path;

/// A frame to write.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) time_ns: i64,
    pub(crate) from: ([u8; 4], u16),
    pub(crate) to: ([u8; 4], u16),
    pub(crate) id: u16,
    /// 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub(crate) ecn: u8,
    /// Bytes on the wire.
    pub(crate) len: u32,
    pub(crate) body: Body,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Udp { number: u32 },
    Tcp { seq: u32, ack: u32, flags: u8, sack: Vec<(u32, u32)> },
}

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const ACK: u8 = 16;

const SNAP: usize = 100;

/// Writes `frames` as a pcap file with nanoseconds, each frame cut at 100 bytes.
pub(crate) fn write(path: &Path, frames: &[Frame]) {
    std::fs::write(path, bytes(frames)).unwrap();
}

pub(crate) fn bytes(frames: &[Frame]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, SNAP as u32, 1] {
        file.extend(u32::to_le_bytes(word));
    }
    for frame in frames {
        let mut data = frame.bytes();
        data.truncate(SNAP);
        let (seconds, ns) = (frame.time_ns / 1_000_000_000, frame.time_ns % 1_000_000_000);
        for word in [seconds as u32, ns as u32, data.len() as u32, frame.len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(data);
    }
    file
}

impl Frame {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut data = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];
        let protocol = if matches!(self.body, Body::Udp { .. }) { 17 } else { 6 };
        data.extend([0x45, self.ecn]);
        data.extend((self.len as u16 - 14).to_be_bytes());
        data.extend(self.id.to_be_bytes());
        data.extend([0x40, 0, 64, protocol, 0, 0]);
        data.extend(self.from.0);
        data.extend(self.to.0);
        data.extend(self.from.1.to_be_bytes());
        data.extend(self.to.1.to_be_bytes());
        match &self.body {
            Body::Udp { number } => {
                data.extend((self.len as u16 - 34).to_be_bytes());
                data.extend([0, 0]);
                data.extend(number.to_be_bytes());
            }
            Body::Tcp { seq, ack, flags, sack } => {
                let mut options = vec![1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0];
                if flags & SYN != 0 {
                    options.extend([2, 4, 5, 168, 4, 2, 3, 3]); // MSS 1448, SACK permitted, window scale
                }
                if !sack.is_empty() {
                    options.extend([1, 1, 5, 2 + 8 * sack.len() as u8]);
                    sack.iter().for_each(|(start, end)| {
                        options.extend(start.to_be_bytes());
                        options.extend(end.to_be_bytes());
                    });
                }
                data.extend(seq.to_be_bytes());
                data.extend(ack.to_be_bytes());
                data.extend([(((20 + options.len()) / 4) << 4) as u8, *flags, 1, 0, 0, 0, 0, 0]);
                data.extend(options);
            }
        }
        data.resize(self.len as usize, 0);
        data
    }
}
