//! Headers as bytes, worked by hand from RFC 791, 8200, 9293, 7323 and 2018.

use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Returns an ACK of 0x01020304 with `options`, as bytes without any payload.
fn tcp(options: &[u8], flags: u16) -> Vec<u8> {
    let words = (5 + options.len().div_ceil(4)) as u16;
    let mut bytes = alloc::vec![0x13, 0x88, 0x00, 0x50, 9, 9, 9, 9, 1, 2, 3, 4];
    bytes.extend((words << 12 | flags).to_be_bytes());
    bytes.extend([0xff, 0xff, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes.resize(usize::from(4 * words), 0);
    bytes
}

fn v4(tcp: &[u8], payload: usize) -> Vec<u8> {
    let [high, low] = ((20 + tcp.len() + payload) as u16).to_be_bytes();
    let mut bytes = alloc::vec![0x45, 0, high, low, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 8, 0, 1, 10, 9, 0, 1];
    bytes.extend(tcp);
    bytes
}

fn v6(tcp: &[u8], payload: usize) -> Vec<u8> {
    let [high, low] = ((tcp.len() + payload) as u16).to_be_bytes();
    let mut bytes = alloc::vec![0x60, 0, 0, 0, high, low, 6, 64];
    bytes.extend([0xfd; 32]);
    bytes.extend(tcp);
    bytes
}

const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 3, 0xe8, 0, 0, 0, 50];
const SACK: [u8; 12] = [1, 1, 5, 10, 0, 0, 0x0b, 0xb8, 0, 0, 0x0f, 0xa0];

#[test]
fn an_ack_is_read_from_either_ip() {
    let options = [TIMESTAMPS, SACK].concat();
    let mut expected = TcpHeader {
        ack: 0x0102_0304,
        flags: TcpHeader::ACK | TcpHeader::ECE,
        timestamps: Some((1000, 50)),
        sack_len: 1,
        ..TcpHeader::default()
    };
    expected.sack[0] = (3000, 4000);
    let bytes = tcp(&options, expected.flags);
    assert_eq!(TcpHeader::from_ip(&v4(&bytes, 0)), Some(expected));
    assert_eq!(TcpHeader::from_ip(&v6(&bytes, 0)), Some(expected));
    // IP's length says that there is data: a caller need not have copied the data.
    assert_eq!(TcpHeader::from_ip(&v4(&bytes, 1)), Some(TcpHeader { has_payload: true, ..expected }));
    assert_eq!(TcpHeader::from_ip(&v6(&bytes, 1)), Some(TcpHeader { has_payload: true, ..expected }));
}

#[test]
fn four_blocks_are_read_and_padding_ends_the_options() {
    let mut options = alloc::vec![5, 34];
    options.extend((0..8_u32).flat_map(|number| (100 * number).to_be_bytes()));
    options.extend([0, 0xee]); // after the end of the list, anything
    let header = TcpHeader::from_ip(&v4(&tcp(&options, 0x010), 0)).unwrap();
    assert_eq!(header.sack_blocks(), [(0, 100), (200, 300), (400, 500), (600, 700)]);
    assert!(!header.has_other_options);
}

/// A filter must not drop an ACK that says something the filter does not understand.
#[test]
fn what_is_unknown_or_malformed_is_told() {
    let signature = [[19, 18].as_slice(), &[7; 16]].concat();
    for (options, other) in [
        (&signature[..], false),
        (&[2, 4, 5, 180], true),     // MSS
        (&[254, 4, 1, 2], true),     // an experiment
        (&[8, 6, 0, 0, 0, 1], true), // timestamps of another length
        (&[5, 6, 0, 0, 0, 1], true), // half a block
        (&[5, 2, 1, 1], true),       // no block
        (&[1, 1, 1, 5], true),       // no length
        (&[8, 0, 1, 1], true),       // a length that would never end
        (&[8, 1, 1, 1], true),
        (&[8, 40, 1, 1], true), // beyond the header
        (&[1, 1, 1, 1], false),
    ] {
        let header = TcpHeader::from_ip(&v6(&tcp(options, 0x010), 0)).unwrap();
        assert_eq!(header.has_other_options, other, "{options:?}");
        assert_eq!((header.timestamps, header.sack_len), (None, 0), "{options:?}");
    }
}

#[test]
fn what_is_no_whole_tcp_header_is_none() {
    let whole = v4(&tcp(&TIMESTAMPS, 0x010), 0);
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        TcpHeader::from_ip(&bytes)
    };
    assert!(with(6, 0x00).is_some(), "it may be fragmented, and was not");
    for (at, byte, why) in [
        (0, 0x55, "IP version 5"),
        (0, 0x44, "an IP header of 16 bytes"),
        (0, 0x4f, "an IP header of 60 bytes, in which TCP's would begin beyond the end"),
        (3, 51, "IP ends within TCP's header"),
        (6, 0x20, "more fragments follow"),
        (7, 0x01, "a later fragment"),
        (9, 17, "UDP"),
        (32, 0x40, "a TCP header of 16 bytes"),
        (32, 0xf0, "a TCP header of 60 bytes, in a packet of 52"),
    ] {
        assert_eq!(with(at, byte), None, "{why}");
    }
    let mut behind_options = v6(&tcp(&[], 0x010), 0);
    behind_options[6] = 0;
    assert_eq!(TcpHeader::from_ip(&behind_options), None);
}

/// A caller's copy of a packet may end anywhere.
#[test]
fn a_header_that_is_cut_off_is_none() {
    for packet in [v4(&tcp(&TIMESTAMPS, 0x010), 0), v6(&tcp(&SACK, 0x010), 0)] {
        for len in 0..packet.len() {
            assert_eq!(TcpHeader::from_ip(&packet[..len]), None, "{len} bytes");
        }
        assert!(TcpHeader::from_ip(&packet).is_some());
    }
}

proptest! {
    /// Any bytes must be read or refused without a panic, and the result must not depend on bytes after the header.
    #[test]
    fn any_bytes_will_do(mut bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0..3, more in any::<u8>()) {
        // Hardly any random bytes would get as far as the options.
        if let [first, _, _, _, _, _, fragment, _, _, protocol, ..] = &mut bytes[..] && version > 0 {
            (*first, *fragment, *protocol) = if version == 1 { (0x45, 0x40, 6) } else { (0x60, 6, *protocol) };
        }
        let header = TcpHeader::from_ip(&bytes);
        bytes.push(more);
        if header.is_some() {
            prop_assert_eq!(TcpHeader::from_ip(&bytes), header);
        }
    }
}
