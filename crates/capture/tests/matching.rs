//! The effects of a random queue on packets must be read back exactly from its captures.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

mod common;

use common::{ACK, Body, FIN, Frame, SYN};
use goodqueue_capture::{Crossing, read};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const SERVER: [u8; 4] = [10, 9, 0, 1];
const CLIENT: [u8; 4] = [10, 8, 0, 1];
const START: i64 = 1_700_000_000_123_456_789;

/// Returns a folder of the calling test's own.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn crossing(test: &str, wan: &[Frame], cli: &[Frame]) -> Crossing {
    let folder = folder(test);
    let (a, b) = (folder.join("r-wan.pcap"), folder.join("r-cli.pcap"));
    common::write(&a, wan);
    common::write(&b, cli);
    read(&a, &b).unwrap()
}

/// A packet of the random queue.
#[derive(Clone, Debug)]
struct Offer {
    gap_ns: i64,
    flow: u16,
    down: bool,
    /// `None`: the packet is dropped.
    delay_ns: Option<i64>,
    len: u32,
    ecn: u8,
    mark: bool,
}

/// Arrival, departure, length, codepoint on arrival and codepoint on departure.
type Row = (i64, i64, u32, u8, u8);

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let offer = (
        0..2000_i64,
        0..5_u16,
        any::<bool>(),
        proptest::option::weighted(0.8, 0..1_000_000_i64),
        60..1515_u32,
        0..4_u8,
        any::<bool>(),
    );
    let made = offer.prop_map(|(gap_ns, flow, down, delay_ns, len, ecn, mark)| Offer {
        gap_ns,
        flow,
        down,
        delay_ns,
        len,
        ecn,
        mark,
    });
    proptest::collection::vec(made, 0..200)
}

proptest! {
    /// Packets overtake each other, are dropped and are marked. Several flows and both directions mix.
    #[test]
    fn a_random_queue_is_recovered_exactly(offers in offers()) {
        let (mut files, mut now) = ([Vec::new(), Vec::new()], START);
        let mut expected: [Vec<Row>; 2] = Default::default();
        for (nth, offer) in offers.iter().enumerate() {
            now += offer.gap_ns;
            let ends = [(SERVER, 1000 + offer.flow), (CLIENT, 2000 + offer.flow)];
            let (from, to) = if offer.down { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
            let body = Body::Udp { number: nth as u32 };
            let frame = Frame { time_ns: now, from, to, id: 0, ecn: offer.ecn, len: offer.len, body };
            let direction = usize::from(!offer.down);
            let ecn_out = if offer.mark && offer.delay_ns.is_some() { 3 } else { offer.ecn };
            let leaves = offer.delay_ns.map_or(-1, |delay| now + delay);
            expected[direction].push((now, leaves, offer.len, offer.ecn, ecn_out));
            files[direction].push(frame.clone());
            if offer.delay_ns.is_some() {
                files[1 - direction].push(Frame { time_ns: leaves, ecn: ecn_out, ..frame });
            }
        }
        files.iter_mut().for_each(|file| file.sort_by_key(|frame| frame.time_ns));
        let found = crossing("random", &files[0], &files[1]);
        for (queue, expected) in found.queues.iter().zip(&expected) {
            let rows: Vec<_> = (0..queue.arrival_ns.len())
                .map(|row| {
                    let (arrival, departure) = (queue.arrival_ns[row], queue.departure_ns[row]);
                    (arrival, departure, queue.length[row], queue.ecn_in[row], queue.ecn_out[row])
                })
                .collect();
            prop_assert_eq!(&rows, expected);
        }
        for (queue, down) in found.queues.iter().zip([true, false]) {
            let ports: Vec<u16> = queue.flow.iter().map(|flow| found.flows[*flow as usize].server.1).collect();
            let wanted: Vec<u16> =
                offers.iter().filter(|offer| offer.down == down).map(|offer| 1000 + offer.flow).collect();
            prop_assert_eq!(ports, wanted);
        }
    }

    /// A capture that is cut or overwritten anywhere must give a result or one line that names the file, and no
    /// panic.
    #[test]
    fn broken_bytes_never_panic(cut in 0..2000_usize, at in 0..2000_usize, byte in any::<u8>()) {
        let frames: Vec<Frame> = (0..12).map(|nth| udp(nth, START + i64::from(nth))).collect();
        let mut bytes = common::bytes(&frames);
        bytes.truncate(cut.max(1));
        let at = at % bytes.len();
        bytes[at] = byte;
        let folder = folder("broken");
        let (a, b) = (folder.join("a.pcap"), folder.join("b.pcap"));
        std::fs::write(&a, &bytes).unwrap();
        std::fs::write(&b, common::bytes(&[])).unwrap();
        if let Err(error) = read(&a, &b) {
            let text = error.to_string();
            prop_assert!(text.contains("a.pcap: offset ") && !text.contains('\n'), "{}", text);
        }
    }
}

fn udp(number: u32, time_ns: i64) -> Frame {
    let body = Body::Udp { number };
    Frame { time_ns, from: (SERVER, 1), to: (CLIENT, 2), id: 0, ecn: 0, len: 200, body }
}

#[test]
fn identical_packets_leave_in_the_order_of_their_arrival() {
    let wan: Vec<Frame> = [0, 10, 20].map(|at| udp(7, START + at)).into();
    let cli: Vec<Frame> = [5, 25].map(|at| udp(7, START + at)).into();
    let found = crossing("identical", &wan, &cli);
    assert_eq!(found.queues[0].departure_ns, [START + 5, START + 25, -1]);
}

#[test]
fn a_packet_that_leaves_at_the_instant_of_its_arrival_is_matched_whichever_file_is_read_first() {
    // Up: packets leave by r-wan, and both files hold the packet at the same time, after others of the same time.
    let up = |number| Frame { from: (CLIENT, 2), to: (SERVER, 1), ..udp(number, START) };
    let found = crossing("instant", &[up(1), udp(2, START)], &[udp(2, START), up(1)]);
    assert_eq!((found.queues[0].departure_ns[0], found.queues[1].departure_ns[0]), (START, START));
}

#[test]
fn a_packet_out_of_nowhere_is_an_error_with_its_offset() {
    let folder = folder("nowhere");
    let (a, b) = (folder.join("a.pcap"), folder.join("b.pcap"));
    common::write(&a, &[udp(1, START)]);
    common::write(&b, &[udp(1, START + 5), udp(2, START + 9)]);
    let text = read(&a, &b).unwrap_err().to_string();
    // 24 bytes of header, and 116 of the first frame.
    assert!(text.contains("b.pcap: offset 140: a packet leaves that never arrived"), "{text}");
}

#[test]
fn a_packet_that_leaves_once_more_is_a_copy_of_the_one_that_arrived() {
    let found = crossing(
        "copies",
        &[udp(1, START), udp(2, START + 1), udp(3, START + 2)],
        &[udp(1, START + 5), udp(3, START + 6), udp(3, START + 8), udp(1, START + 9)],
    );
    let queue = &found.queues[0];
    assert_eq!(
        queue.departure_ns,
        [START + 5, -1, START + 6],
        "the first to leave is the packet, the second is lost"
    );
    assert_eq!((&queue.copy_of[..], &queue.copy_ns[..]), (&[2, 0][..], &[START + 8, START + 9][..]));
    // If both arrive, as at the next hop, each is a packet.
    let behind =
        crossing("behind", &[udp(1, START), udp(1, START + 3)], &[udp(1, START + 5), udp(1, START + 6)]);
    assert_eq!(
        (&behind.queues[0].departure_ns[..], behind.queues[0].copy_of.len()),
        (&[START + 5, START + 6][..], 0)
    );
}

#[test]
fn what_is_no_capture_is_refused_by_name() {
    let folder = folder("foreign");
    let good = folder.join("good.pcap");
    common::write(&good, &[]);
    let table: [(&str, Vec<u8>, &str); 4] = [
        ("empty.pcap", vec![], "offset 0: an empty file; accepted: a pcap or pcapng file"),
        ("text.pcap", b"not a capture, but quite some text".to_vec(), "offset 0: no header of a capture"),
        (
            "cut.pcap",
            common::bytes(&[udp(1, START)])[..80].to_vec(),
            "offset 24: the file ends within a frame",
        ),
        ("cooked.pcap", [&common::bytes(&[])[..20], &[113, 0, 0, 0]].concat(), "offset 20: found LINUX_SLL"),
    ];
    for (name, bytes, expected) in table {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        let text = read(&path, &good).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains(expected), "{text}");
    }
    let text = read(&folder.join("none.pcap"), &good).unwrap_err().to_string();
    assert!(text.contains("none.pcap: cannot be read: No such file"), "{text}");
}

/// Returns a segment of a transfer down. `seq` counts from the SYN's number, which is chosen so that the numbers
/// wrap.
fn data(at: i64, seq: u32, len: u32, flags: u8) -> Frame {
    let body = Body::Tcp { seq: seq.wrapping_add(u32::MAX - 999), ack: 1, flags: ACK | flags, sack: vec![] };
    let id = at as u16;
    Frame { time_ns: START + at, from: (SERVER, 1), to: (CLIENT, 2), id, ecn: 0, len: 66 + len, body }
}

fn ack(at: i64, ack: u32, sack: &[(u32, u32)]) -> Frame {
    let place = |number: u32| number.wrapping_add(u32::MAX - 999);
    let sack: Vec<(u32, u32)> = sack.iter().map(|(start, end)| (place(*start), place(*end))).collect();
    let len = 66 + if sack.is_empty() { 0 } else { 4 + 8 * sack.len() as u32 };
    let body = Body::Tcp { seq: 1, ack: place(ack), flags: ACK, sack };
    Frame { time_ns: START + at, from: (CLIENT, 2), to: (SERVER, 1), id: at as u16, ecn: 0, len, body }
}

/// A handshake, three segments of which the second is lost, a SACK, the retransmission, a FIN. Times are in ns.
#[test]
fn a_transfer_with_a_loss_is_read_as_its_ends_saw_it() {
    let syn = Frame {
        body: Body::Tcp { seq: u32::MAX - 999, ack: 0, flags: SYN, sack: vec![] },
        len: 74,
        ..data(0, 0, 0, 0)
    };
    let shift = |frame: &Frame, by: i64| Frame { time_ns: frame.time_ns + by, ..frame.clone() };
    let segments = [
        data(1000, 1, 1000, 0),
        data(2000, 1001, 1000, 0),
        data(3000, 2001, 1000, 0),
        data(9000, 1001, 1000, 0), // again
        data(20_000, 3001, 500, FIN),
    ];
    let acks = [
        ack(1500, 1001, &[]),
        ack(3500, 1001, &[(2001, 3001)]),
        ack(9500, 3001, &[]),
        ack(20_500, 3502, &[]),
    ];
    let mut wan: Vec<Frame> = [&syn].into_iter().chain(&segments).cloned().collect();
    wan.extend(acks.iter().map(|frame| shift(frame, 50)));
    wan.sort_by_key(|frame| frame.time_ns);
    let mut cli: Vec<Frame> = [&syn].into_iter().chain(&segments).map(|frame| shift(frame, 100)).collect();
    cli.remove(2); // the second segment is lost
    cli.extend(acks.iter().cloned());
    cli.sort_by_key(|frame| frame.time_ns);
    let found = crossing("transfer", &wan, &cli);
    let transfer = &found.flows[0].transfers[0];
    // The FIN is no byte. The numbers wrap between the first and the second segment.
    assert_eq!(transfer.delivered_bytes, [1000, 3000, 3500]);
    assert_eq!(transfer.delivered_at_ns, [1500, 9500, 20_500].map(|at| START + at));
    // The time from a segment's arrival to its ACK's departure. The SACKed segment must be sampled at the SACK and
    // not again when the hole is filled. The segment that was sent twice must never be sampled (Karn).
    assert_eq!(transfer.rtt_ns, [1550 - 1000, 3550 - 3000, 20_550 - 20_000]);
    assert_eq!(transfer.rtt_at_ns, [1550, 3550, 20_550].map(|at| START + at));
    assert_eq!(transfer.resent_at_ns, [START + 9000]);
    assert!(found.flows[0].transfers[1].delivered_bytes.is_empty(), "nothing went up");
}

/// The frames of both files must be in one file, in the order of time, at the interface of their direction and side,
/// and shifted in time.
#[test]
fn captures_are_merged_by_time() {
    use goodqueue_capture::{Medium, Writer, merge};
    use pcap_parser::traits::PcapReaderIterator;
    use pcap_parser::{Block, PcapBlockOwned, PcapError, PcapNGReader};

    let frame = |time_ns: i64, down: bool, number: u32| {
        let (from, to) = if down { (SERVER, CLIENT) } else { (CLIENT, SERVER) };
        let time_ns = START + time_ns;
        Frame { time_ns, from: (from, 1), to: (to, 2), id: 0, ecn: 0, len: 200, body: Body::Udp { number } }
    };
    let folder = folder("merged");
    let [wan, cli, both] = ["wan.pcap", "cli.pcap", "both.pcapng"].map(|name| folder.join(name));
    common::write(&wan, &[frame(0, true, 1), frame(10, true, 2), frame(40, false, 3)]);
    common::write(&cli, &[frame(5, true, 1), frame(30, false, 3), frame(35, true, 2)]);
    let interfaces = ["down-in", "down-out", "up-out"].map(|name| (name, Medium::Ethernet));
    let mut writer = Writer::create(&both, &interfaces, 100).unwrap();
    // Packets up that arrive are left out.
    merge(&wan, &cli, &mut writer, [[Some(0), Some(1)], [None, Some(2)]], 1000 - START).unwrap();
    writer.finish().unwrap();

    let mut reader = PcapNGReader::new(1 << 16, std::fs::File::open(&both).unwrap()).unwrap();
    let mut seen = Vec::new();
    loop {
        match reader.next() {
            Ok((size, block)) => {
                if let PcapBlockOwned::NG(Block::EnhancedPacket(packet)) = block {
                    assert_eq!((packet.caplen, packet.origlen), (100, 200));
                    seen.push((packet.ts_low, packet.if_id, packet.data[45]));
                }
                reader.consume(size);
            }
            Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(PcapError::Eof) => break,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(seen, [(1000, 0, 1), (1005, 1, 1), (1010, 0, 2), (1035, 1, 2), (1040, 2, 3)]);
}

/// Among a few hundred connections two draw the same port. The second's data must not be taken for retransmissions of
/// the first's, and must count as delivered.
#[test]
fn a_connection_between_the_ports_of_an_earlier_one_begins_anew() {
    // The second connection's numbers begin 500 above the first's, among those of the first's data.
    let syn = |at: i64, seq: u32| {
        let body = Body::Tcp { seq: seq.wrapping_add(u32::MAX - 999), ack: 0, flags: SYN, sack: vec![] };
        Frame { body, len: 74, ..data(at, 0, 0, 0) }
    };
    let down = [
        syn(0, 0),
        data(1000, 1, 1000, FIN),
        syn(50_000, 500),
        data(51_000, 501, 1000, 0),
        data(52_000, 1501, 300, FIN),
    ];
    let acks = [ack(1500, 1002, &[]), ack(51_500, 1501, &[]), ack(52_500, 1802, &[])];
    let shift = |frame: &Frame, by: i64| Frame { time_ns: frame.time_ns + by, ..frame.clone() };
    let mut wan: Vec<Frame> = down.iter().cloned().chain(acks.iter().map(|frame| shift(frame, 50))).collect();
    wan.sort_by_key(|frame| frame.time_ns);
    let mut cli: Vec<Frame> =
        down.iter().map(|frame| shift(frame, 100)).chain(acks.iter().cloned()).collect();
    cli.sort_by_key(|frame| frame.time_ns);
    let transfer = &crossing("reuse", &wan, &cli).flows[0].transfers[0];
    assert!(transfer.resent_at_ns.is_empty(), "{:?}", transfer.resent_at_ns);
    assert_eq!(transfer.delivered_bytes, [1000, 2000, 2300]);
    assert_eq!(transfer.rtt_ns, [550, 550, 550]);
}
