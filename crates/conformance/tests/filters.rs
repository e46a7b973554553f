//! Filters decide as Linux decides: each form of a filter that was tried on Linux, with its decisions or its refusal.

use goodqueue_qdisc::tree::{Addresses, Decision, Id};
use goodqueue_qdisc::{AnyQdisc, Drop, Ecn, Instant, Link, Mark, Owner, Packet, Rate, TcpHeader, registry};

const TABLE: &str = include_str!("../../../golden/filters/linux-6.1.txt");
const LINK: Link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };

/// A packet of the table.
#[derive(Clone, Copy)]
struct Row {
    addresses: Addresses,
    tos: u8,
    len: u32,
    mark: u32,
    class: u32,
    flags: u16,
}

impl Packet for Row {
    fn len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.tos & 3)
    }
    fn set_ce(&mut self) {}
    fn flow_hash(&self) -> u32 {
        0
    }
    fn flow_id(&self) -> u64 {
        0
    }
    fn arrival(&self) -> Instant {
        Instant::ZERO
    }
    fn set_arrival(&mut self, _now: Instant) {}
    fn dscp(&self) -> u8 {
        self.tos >> 2
    }
    fn class(&self) -> u32 {
        self.class
    }
    fn fwmark(&self) -> u32 {
        self.mark
    }
    fn tcp(&self) -> Option<TcpHeader> {
        (self.addresses.protocol == 6).then(|| TcpHeader {
            flags: self.flags,
            timestamps: Some((1, 1)),
            ..TcpHeader::default()
        })
    }
    fn addresses(&self) -> Option<Addresses> {
        Some(self.addresses)
    }
}

struct Nobody;

impl Owner<Row> for Nobody {
    fn dropped(&mut self, _packet: Row, _why: Drop) {}
    fn marked(&mut self, _packet: &Row, _why: Mark) {}
    fn random_u32(&mut self) -> u32 {
        0
    }
    fn random_u64(&mut self) -> u64 {
        0
    }
}

fn packet(columns: &[&str]) -> Row {
    let address = |text: &str| text.parse::<std::net::Ipv4Addr>().expect("an address").to_bits();
    let number = |at: usize| columns[at].parse::<u32>().expect("a number");
    Row {
        addresses: Addresses {
            source: address(columns[0]),
            destination: address(columns[1]),
            protocol: number(2) as u8,
            source_port: number(3) as u16,
            destination_port: number(4) as u16,
        },
        tos: number(5) as u8,
        len: number(6),
        mark: number(7),
        class: number(8),
        flags: number(9) as u16,
    }
}

/// Returns the commands of a row, one per line.
fn commands(root: &str, filters: &str) -> String {
    let mut lines = match root {
        "prio" => vec![
            "tc qdisc add dev e root handle 1: prio bands 3 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
                .to_string(),
        ],
        _ => {
            let class = |minor| format!("tc class add dev e parent 1: classid 1:{minor} htb rate 50mbit");
            let first = "tc qdisc add dev e root handle 1: htb default 1".to_string();
            std::iter::once(first).chain((1..4).map(class)).collect()
        }
    };
    for filter in filters.split(" | ") {
        let (verb, filter) = match filter.strip_prefix("replace ") {
            Some(rest) => ("replace", rest),
            None => ("add", filter),
        };
        lines.push(format!("tc filter {verb} dev e parent 1: {filter}"));
    }
    lines.join("\n")
}

/// Returns what differs from Linux in a row, if anything does.
fn difference(root: &str, filters: &str, linux: &str, packets: &[Row]) -> Option<String> {
    let read = registry::parse_tree(&commands(root, filters));
    match (read, linux.strip_prefix("refused: ")) {
        (Ok(_), Some(said)) => Some(format!("taken, refused by Linux: {said}")),
        (Err(error), Some(said)) => {
            let says_it = said.split(" / ").any(|words| error.0.contains(words));
            (!says_it || error.0.contains('\n')).then(|| format!("{}\n  instead of: {said}", error.0))
        }
        (Err(error), None) => Some(error.0),
        (Ok(args), None) => {
            let tree = AnyQdisc::<Row>::build(&args, &LINK).expect("a tree that was read");
            let again = registry::parse_tree(&args.to_string()).map(|args| args.to_string());
            assert_eq!(again.as_deref(), Ok(&args.to_string()[..]), "the line of a record is read back");
            assert_eq!(linux.len(), packets.len(), "{filters}");
            let wrong = packets.iter().zip(linux.chars()).position(|(packet, wanted)| {
                let got = match tree.decide(packet, &Nobody) {
                    Some(Decision::Class(id)) => char::from_digit(id.0 & 0xffff, 10),
                    _ => None,
                };
                wanted != '?' && got != Some(wanted)
            });
            wrong.map(|at| format!("packet {at} goes elsewhere than to 1:{}", &linux[at..=at]))
        }
    }
}

#[test]
fn each_form_of_a_filter_decides_as_on_linux() {
    let rows: Vec<Vec<&str>> =
        TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    let (packets, forms): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row[0] == "packet");
    let packets: Vec<Row> = packets.iter().map(|row| packet(&row[1..])).collect();
    let wrong: Vec<String> = forms
        .iter()
        .filter_map(|row| {
            let what = difference(row[0], row[1], row[2], &packets)?;
            Some(format!("{} {}: {what}", row[0], row[1]))
        })
        .collect();
    assert!(forms.len() > 250 && packets.len() == 144, "{} forms, {} packets", forms.len(), packets.len());
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), forms.len(), wrong.join("\n"));
}

/// The filter of LARTC and wondershaper for acknowledgements without data: TCP, a header of IPv4 without options, less
/// than 64 bytes, and no flag but ACK. Bytes 32 and 33 are TCP's data offset and flags.
#[test]
fn bare_acknowledgements_are_told_by_the_bytes_of_tcp() {
    let ack = "u32 match ip protocol 6 0xff match u8 0x05 0x0f at 0 match u16 0x0000 0xffc0 at 2";
    let rows = [
        ("match u8 0x10 0xff at 33", [true, false, false, false]),
        ("match u8 0x80 0xf0 at 32", [true, false, true, false]),
    ];
    let row = |len: u32, flags: u16, protocol: u8| Row {
        len,
        flags,
        ..packet(&["10.0.0.1", "10.0.0.2", &protocol.to_string(), "80", "4000", "0", "0", "0", "0", "0"])
    };
    // A bare ACK with timestamps, data, FIN and ACK, and a datagram.
    let packets = [row(66, 0x10, 6), row(1514, 0x10, 6), row(66, 0x11, 6), row(66, 0x10, 17)];
    for (more, expected) in rows {
        let filter = format!("protocol ip prio 1 {ack} {more} flowid 1:2");
        let args = registry::parse_tree(&commands("htb", &filter)).unwrap();
        let tree = AnyQdisc::<Row>::build(&args, &LINK).unwrap();
        let chosen = |packet: &Row| tree.decide(packet, &Nobody) == Some(Decision::Class(Id(0x1_0002)));
        assert_eq!(packets.each_ref().map(chosen), expected, "{more}");
    }
}
