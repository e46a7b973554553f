//! Takes any bytes as a capture, or frames of headers in any order as one. The reader refuses the file in one line, or
//! each frame is counted once, and each connection has data.
#![no_main]

use arbitrary::Arbitrary;
use goodqueue_capture::{Vectors, vectors};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use std::path::Path;

#[derive(Arbitrary, Debug)]
enum Form {
    Bytes,
    Gzip,
    Zstd,
    Pcap,
    Pcapng,
}

#[derive(Arbitrary, Debug)]
enum Part<'a> {
    Header(u8),
    Bytes(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
struct Frame<'a> {
    after_us: u16,
    link: u8,
    parts: Vec<Part<'a>>,
    /// Bytes that the snap length cuts off.
    cut: u8,
    changed: (u16, u8),
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    form: Form,
    frames: Vec<Frame<'a>>,
    changed: Option<(u16, u8)>,
    bytes: &'a [u8],
}

const LINKS: [u32; 16] = [1, 1, 1, 113, 276, 101, 0, 108, 9, 50, 51, 104, 105, 127, 229, 147];

/// Random bytes are hardly ever headers. These lead to each other in many orders.
const HEADERS: [&[u8]; 26] = [
    b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0",   // Ethernet: IPv4
    b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x86\xdd", // IPv6
    b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x81\0",   // 802.1Q
    b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\x64", // PPPoE
    b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\x47", // MPLS
    b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\0\x40",   // LLC
    b"\0\x07\x08\0",                             // a tag
    b"\x11\0\0\0\0\x40\0\x21",                   // a session
    b"\0\0\x11\x40",                             // a label
    b"\xaa\xaa\x03\0\0\0\x08\0",                 // SNAP
    b"\xff\x03\0\x21",                           // PPP
    b"\0\0\x0d\0\x02\0\0\0\x10\0\0\0\0",         // radiotap
    b"\x08\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", // 802.11
    b"\x88\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\0", // an aggregate
    b"\x45\0\0\0\0\0\0\0\x40\x06\0\0\xc0\0\x02\x0a\xc6\x33\x64\x14", // TCP over IPv4, from here to there
    b"\x45\0\0\0\0\0\0\0\x40\x06\0\0\xc6\x33\x64\x14\xc0\0\x02\x0a", // and back
    b"\x45\0\0\x64\0\x07\x20\0\x40\x06\0\0\xc0\0\x02\x0a\xc6\x33\x64\x14", // fragments
    b"\x45\0\0\x64\0\x07\0\x0a\x40\x06\0\0\xc0\0\x02\x0a\xc6\x33\x64\x14",
    b"\x45\0\0\0\0\0\0\0\x40\x2f\0\0\xc0\0\x02\x0a\xc6\x33\x64\x14\0\0\x65\x58", // GRE
    b"\x45\0\0\0\0\0\0\0\x40\x11\0\0\xc0\0\x02\x0a\xc6\x33\x64\x14\xc3\x50\x12\xb5\0\0\0\0\x08\0\0\0\0\0\0\0", // VXLAN
    b"\x60\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", // IPv6 with options
    b"\x2c\0\x01\x04\0\0\0\0\x06\0\0\x01\0\0\0\x07", // hop by hop, then a fragment
    b"\x9c\x40\0\x50\0\0\x03\xe8\0\0\0\0\x80\x02\xfd\xe8\0\0\0\0\x01\x01\x08\x0a\0\0\0\0\0\0\0\0", // a SYN
    b"\0\x50\x9c\x40\0\0\x13\x88\0\0\x03\xe9\x50\x12\xfd\xe8\0\0\0\0", // its SYN-ACK
    b"\x9c\x40\0\x50\0\0\x03\xe9\0\0\x13\x89\x50\x18\xfd\xe8\0\0\0\0data", // data
    b"\0\x50\x9c\x40\0\0\x13\x89\0\0\x03\xed\x50\x11\xfd\xe8\0\0\0\0", // a FIN
];

fuzz_target!(|input: Input<'_>| {
    let mut file = match input.form {
        Form::Bytes => Vec::new(),
        Form::Gzip => b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec(),
        Form::Zstd => b"\x28\xb5\x2f\xfd\0\x58".to_vec(),
        Form::Pcap => pcap(&input.frames),
        Form::Pcapng => pcapng(&input.frames),
    };
    file.extend_from_slice(input.bytes);
    if let Some((at, by)) = input.changed {
        change(&mut file, at, by);
    }
    match vectors(Path::new("any"), Box::new(Cursor::new(file))) {
        Ok(Vectors { list, tally, .. }) => {
            let lost: u64 = tally.not_understood().map(|(_, frames)| frames).sum();
            assert_eq!(tally.frames, tally.tcp + tally.other + lost);
            assert!(
                list.iter().all(|one| !one.sends.is_empty() && one.sends.iter().all(|send| send.bytes > 0))
            );
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
});

fn change(bytes: &mut [u8], at: u16, by: u8) {
    if !bytes.is_empty() {
        let at = usize::from(at) % bytes.len();
        bytes[at] ^= by;
    }
}

fn data(frame: &Frame<'_>) -> Vec<u8> {
    let mut data = Vec::new();
    for part in &frame.parts {
        data.extend_from_slice(match part {
            Part::Header(number) => HEADERS[usize::from(*number) % HEADERS.len()],
            Part::Bytes(bytes) => bytes,
        });
    }
    change(&mut data, frame.changed.0, frame.changed.1);
    data
}

fn words(into: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| into.extend(word.to_le_bytes()));
}

fn pcap(frames: &[Frame<'_>]) -> Vec<u8> {
    let link = frames.first().map_or(1, |frame| LINKS[usize::from(frame.link) % LINKS.len()]);
    let mut file = Vec::new();
    words(&mut file, &[0xa1b2_c3d4, 0x0004_0002, 0, 0, 0, link]);
    let mut now_us = 0;
    for frame in frames {
        now_us += u32::from(frame.after_us);
        let data = data(frame);
        let kept = data.len().saturating_sub(frame.cut.into());
        words(&mut file, &[now_us / 1_000_000, now_us % 1_000_000, kept as u32, data.len() as u32]);
        file.extend_from_slice(&data[..kept]);
    }
    file
}

fn pcapng(frames: &[Frame<'_>]) -> Vec<u8> {
    let mut file = Vec::new();
    words(&mut file, &[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]);
    for link in LINKS {
        words(&mut file, &[1, 20, link, 0, 20]);
    }
    let mut now_us = 0;
    for frame in frames {
        now_us += u32::from(frame.after_us);
        let mut data = data(frame);
        let len = data.len() as u32;
        data.resize(data.len().next_multiple_of(4), 0);
        let size = 32 + data.len() as u32;
        let kept = len.saturating_sub(frame.cut.into());
        words(&mut file, &[6, size, u32::from(frame.link) % LINKS.len() as u32, 0, now_us, kept, len]);
        file.extend_from_slice(&data);
        words(&mut file, &[size]);
    }
    file
}
