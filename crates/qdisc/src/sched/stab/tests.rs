use super::*;
use crate::packet::Plain;
use crate::param::STAB;
use crate::registry::parse_line;
use crate::sched::{Noted, departures};
use goodqueue_units::Rate;
use std::string::ToString;

fn table(words: &str) -> Table {
    Table::new(&Args::parse(&STAB, words).unwrap())
}

fn link() -> Link {
    Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 }
}

/// 2047 bytes in 512 slots are slots of 4 bytes. 1514 - 4 = 1510 bytes fall into slot (1510 - 1) / 4 = 377, whose
/// longest packet has 1512 bytes: 32 cells, 1696 bytes. 1537 bytes are rounded up to 1540, and so are 33 cells.
#[test]
fn a_slot_counts_as_its_longest_packet() {
    let atm = table("overhead -4 linklayer atm");
    assert_eq!((atm.cell_log, atm.slots.len(), atm.size_log), (2, 512, 0));
    assert_eq!(atm.size(1514), 1696);
    // 48 bytes are one cell, 49 to 52 bytes share the slot of 52 bytes: two cells.
    assert_eq!([4, 5, 48 + 4, 49 + 4, 1540, 1541].map(|len| atm.size(len)), [53, 53, 53, 106, 1696, 33 * 53]);
    // A packet of 45 bytes is in the slot of 48 bytes, which is one cell. Slots of 8 bytes hold 41 to 48.
    let coarse = table("mtu 2047 tsize 256 linklayer adsl");
    assert_eq!((coarse.cell_log, coarse.size(45), coarse.size(49)), (3, 53, 106));
    assert_eq!(coarse.size(96), 106, "96 bytes end a slot and fill two cells");
    let steps = table("mpu 64");
    assert_eq!([1, 60, 64, 65, 66, 68, 69].map(|len| steps.size(len)), [64, 64, 64, 68, 68, 68, 72]);
}

/// The last of 512 slots is for 2045 to 2048 bytes: 43 cells, 2279 bytes. 2049 bytes are slot 512: once the last slot,
/// and slot 0, which is one cell. 9014 bytes are slot 2253 = 4 * 512 + 205: four times the last slot, and 824 bytes (18
/// cells).
#[test]
fn lengths_beyond_the_table_count_by_its_last_slot() {
    let atm = table("linklayer atm");
    assert_eq!([2048, 2049, 9014].map(|len| atm.size(len)), [2279, 2279 + 53, 4 * 2279 + 18 * 53]);
    let one = table("mtu 100 tsize 1 mpu 10");
    assert_eq!((one.cell_log, one.size(1), one.size(129)), (7, 128, 128 + 128));
}

/// 512 slots of 256 bytes reach 131,072 bytes in 145,000 bytes of cells, which 16 bits do not hold: the sizes are
/// halved twice, and so lose up to 3 bytes.
#[test]
fn sizes_above_16_bits_are_kept_shifted() {
    let large = table("mtu 131071 linklayer atm");
    assert_eq!((large.cell_log, large.size_log), (8, 2));
    assert_eq!(large.size(256), ((6 * 53) >> 2) << 2);
}

/// With the overhead alone there is no table and no rounding. A length is at least 1, and a negative slot is slot 0.
#[test]
fn an_overhead_alone_is_added_exactly() {
    let plain = table("overhead 24");
    assert!(plain.slots.is_empty());
    assert_eq!([40, 1514, u32::MAX].map(|len| plain.size(len)), [64, 1538, i32::MAX as u32]);
    assert_eq!(table("overhead -60").size(40), 1);
    assert_eq!(table("overhead -60 linklayer atm").size(40), 53);
}

/// 100 Mbit/s are 80 ns per byte. Two packets of 1514 bytes, which count as 1696, fit the burst of 3392; the third
/// needs another 1696 bytes. The packets keep their length.
#[test]
fn tokens_are_paid_for_the_table_s_length() {
    let line = "stab overhead -4 linklayer atm tbf rate 100mbit burst 3392 limit 100000";
    let shaped = AnyQdisc::parse(line, &link()).unwrap();
    assert_eq!(departures(shaped, &[1514; 4]), [0, 0, 1696 * 80, 2 * 1696 * 80]);
}

/// Two of 1696 bytes fit a limit of 3392, and of 1514 bytes no third fits either. The backlog is the table's.
#[test]
fn limits_and_backlogs_are_by_the_table_and_packets_stay_as_they_are() {
    let mut queue = AnyQdisc::parse("stab overhead -4 linklayer atm bfifo limit 3392", &link()).unwrap();
    let mut owner = Noted::default();
    for id in 0..3 {
        queue.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1514) }, &mut owner);
    }
    assert_eq!((queue.backlog(), &owner.dropped[..]), (Backlog { packets: 2, bytes: 3392 }, &[2][..]));
    let first = queue.dequeue(Instant::ZERO, &mut owner).unwrap();
    assert_eq!((first.id, first.len), (0, 1514));
}

/// A mark and a washed codepoint must reach the packet itself.
#[test]
fn what_the_discipline_changes_is_changed_in_the_packet() {
    let line = "stab overhead 10 cake unlimited besteffort wash";
    let mut cake = AnyQdisc::<Plain>::parse(line, &link()).unwrap();
    let mut owner = Noted::default();
    cake.enqueue(Instant::ZERO, Plain { dscp: 46, ..Plain::new(100) }, &mut owner);
    assert_eq!(cake.dequeue(Instant::ZERO, &mut owner).unwrap().dscp, 0);

    let mut codel = AnyQdisc::<Plain>::parse("stab overhead 10 codel ecn ce_threshold 1us", &link()).unwrap();
    for id in 0..3 {
        codel.enqueue(Instant::ZERO, Plain { id, ecn: Ecn::Ect0, ..Plain::new(1514) }, &mut owner);
    }
    let late = codel.dequeue(Instant::from_nanos(1_000_000), &mut owner).unwrap();
    assert_eq!((late.ecn, &owner.marked[..]), (Ecn::Ce, &[0][..]));
}

#[test]
fn the_line_is_printed_with_the_table_in_front_and_means_the_same() {
    let printed =
        parse_line("stab overhead -4 linklayer atm tbf rate 840kbit burst 1696").unwrap().to_string();
    assert!(
        printed.starts_with("stab mtu 2047 mpu 0 overhead -4 tsize 512 linklayer atm tbf rate 840kbit"),
        "{printed}"
    );
    assert_eq!(parse_line(&printed).unwrap().to_string(), printed);
    let prefixes = parse_line("stab o -4 l atm m 2047 t 512 tbf rate 840kbit burst 1696").unwrap();
    assert_eq!(prefixes.to_string(), printed, "tc compares prefixes");
    assert_eq!(parse_line("stab mtu 1600 pfifo").unwrap().to_string(), "pfifo limit 1000", "without effect");
    let last = parse_line("stab mpu 64 stab overhead 4 pfifo").unwrap().to_string();
    assert_eq!(last, "stab mtu 2047 mpu 0 overhead 4 tsize 512 linklayer ethernet pfifo limit 1000");
}

#[test]
fn a_table_stands_in_front_of_the_whole_line_and_in_front_of_a_discipline() {
    let refused = |line| parse_line(line).unwrap_err().0;
    assert_eq!(
        refused("tbf rate 1mbit child stab overhead 4 pfifo"),
        "tbf child: found \"stab overhead 4 pfifo\"; accepted: stab only in front of the whole line"
    );
    assert!(refused("stab overhead 4").starts_with("unknown qdisc \"\""), "{}", refused("stab overhead 4"));
    assert_eq!(refused("stab overhead"), "stab overhead: no value; accepted: -1000000 to 1000000");
    assert_eq!(
        refused("stab linklayer dsl pfifo"),
        "stab linklayer: found \"dsl\"; accepted: ethernet, atm, adsl"
    );
    assert_eq!(refused("stab overhead 4 overhead 5 pfifo"), "stab overhead: given twice; tc takes it once");
}

/// A change may give another table, which counts for packets that arrive later. A line without one keeps the table.
#[test]
fn a_change_may_replace_the_table() {
    let mut queue = AnyQdisc::parse("stab overhead 86 bfifo limit 5000", &link()).unwrap();
    let (mut owner, now) = (Noted::default(), Instant::ZERO);
    let offer = |queue: &mut AnyQdisc<Plain>, owner: &mut Noted| {
        queue.enqueue(now, Plain::new(914), owner);
        queue.backlog().bytes
    };
    assert_eq!(offer(&mut queue, &mut owner), 1000);
    queue.change(now, "bfifo limit 4000", &mut owner).unwrap();
    assert_eq!(offer(&mut queue, &mut owner), 2000);
    queue.change(now, "stab overhead 186 bfifo limit 4000", &mut owner).unwrap();
    assert_eq!(offer(&mut queue, &mut owner), 3100);
    assert!(queue.args().to_string().starts_with("stab mtu 2047 mpu 0 overhead 186"));
    let mut without = AnyQdisc::<Plain>::parse("pfifo", &link()).unwrap();
    let error = without.change(now, "stab overhead 4 pfifo", &mut owner).unwrap_err();
    assert_eq!(error.0, "stab: found one; accepted: none, as the qdisc was made without a size table");
}

/// A table changes what `fq_codel` sends in its rounds, and not the memory that its packets hold (`truesize`): 1000
/// bytes hold 256 + 2048 bytes, and two such packets fill 4608. Linux 6.1.192 dropped only then, at 3000 bytes by the
/// table.
#[test]
fn a_limit_on_memory_counts_packets_without_the_table() {
    for name in ["fq_codel drop_batch 1 memory_limit 4608", "cake besteffort flows memlimit 4608"] {
        let line = ["stab overhead 2000 ", name].concat();
        let (mut qdisc, mut owner) = (AnyQdisc::<Plain>::parse(&line, &link()).unwrap(), Noted::default());
        let mut offer = |id| {
            qdisc.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1000) }, &mut owner);
            (qdisc.backlog(), owner.dropped.len())
        };
        let two = Backlog { packets: 2, bytes: 6000 };
        assert_eq!([offer(0).1, offer(1).1, offer(2).1], [0, 0, 1], "{name}");
        assert_eq!(offer(3), (two, 2), "{name}");
    }
}
