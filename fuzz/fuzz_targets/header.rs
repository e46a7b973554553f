//! Takes any bytes as an IP packet. The header of TCP, and those that filters compare, are read or not, no byte beyond
//! the packet is read, and the result does not depend on the bytes that follow the headers.
#![no_main]

use goodqueue_qdisc::{IpHeader, TcpHeader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Random bytes are hardly ever TCP. So most inputs get the header fields of an IP packet with TCP in it.
    let mut bytes = bytes.to_vec();
    if let [first, _, _, _, _, _, fragment, _, _, protocol, ..] = &mut bytes[..] {
        match *first % 4 {
            0 => {}
            1 => (*first, *fragment) = (0x60, 6),
            _ => (*first, *fragment, *protocol) = (0x45 + *first % 4, 0x40, 6),
        }
    }
    let bytes = &bytes[..];
    let whole = TcpHeader::from_ip(bytes);
    if let Some(header) = whole {
        assert!(header.sack_blocks().len() <= 4);
        // IP's longest header and TCP's are 60 bytes each.
        assert_eq!(TcpHeader::from_ip(&bytes[..bytes.len().min(120)]), whole);
    }
    let seen = IpHeader::read(bytes);
    for len in 0..bytes.len() {
        let Some(part) = IpHeader::read(&bytes[..len]) else { continue };
        let known = len.min(44) / 4;
        assert!(seen.is_some_and(|seen| seen.words[..known] == part.words[..known]), "{len} bytes");
        assert!(part.ports == 0 || seen.is_some_and(|seen| seen.ports == part.ports), "{len} bytes");
    }
    for len in 0..bytes.len().min(120) {
        assert!(TcpHeader::from_ip(&bytes[..len]).is_none_or(|header| Some(header) == whole), "{len} bytes");
    }
});
