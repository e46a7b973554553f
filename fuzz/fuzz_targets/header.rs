//! Any bytes as an IP packet: its TCP header is read or not, no byte beyond the packet is asked for, and what was
//! read does not depend on what follows.
#![no_main]

use goodqueue_qdisc::TcpHeader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Of random bytes, hardly any are TCP: of most inputs, some are made what IP has there.
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
    for len in 0..bytes.len().min(120) {
        assert!(TcpHeader::from_ip(&bytes[..len]).is_none_or(|header| Some(header) == whole), "{len} bytes");
    }
});
