//! Tests of trees: commands, filters, and the schedulers by numbers worked by hand.

mod watchdogs;

use super::*;
use crate::packet::Plain;
use crate::registry::{AnyQdisc, parse_line};
use crate::sched::Noted;
use alloc::string::ToString;
use alloc::vec::Vec;
use goodqueue_units::Rate;

const LINK: Link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };

fn refused(commands: &str) -> alloc::string::String {
    parse_line(commands).unwrap_err().0
}

/// The canonical line must be read back as itself: records have it, and runs are repeated from it.
#[test]
fn a_tree_prints_as_the_commands_that_make_it() {
    let commands = "tc qdisc add dev eth0 root handle 1: htb default 30; \
        tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit burst 15k; \
        tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit ceil 10mbit prio 3; \
        tc class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit; \
        tc qdisc add dev eth0 parent 1:10 handle 10: fq_codel; \
        tc qdisc add dev eth0 parent 1:30 handle 30: hfsc default 2; \
        tc class add dev eth0 parent 30: classid 30:2 hfsc sc umax 1500b dmax 30ms rate 1mbit ul rate 2mbit; \
        tc qdisc add dev eth0 parent 30:2 ets strict 1 quanta 3000 1500; \
        tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.0.0.1/32 flowid 1:10; \
        tc filter add dev eth0 protocol ip parent 1: prio 2 handle 7 fw flowid 1:30; \
        tc filter add dev eth0 protocol ip parent 1: flower ip_proto udp dst_port 5000-5009 classid 1:10";
    let line = parse_line(commands).unwrap().to_string();
    assert_eq!(parse_line(&line).unwrap().to_string(), line);
    for part in ["hfsc rt m1 0bps d 18000us m2 125000bps", "ets bands 3 strict 1 quanta 3000 1500 priomap 2"]
    {
        assert!(line.contains(part), "{line}");
    }
    AnyQdisc::<Plain>::parse(&line, &LINK).unwrap();
}

/// An ifb has a txqueuelen of 32 (drivers/net/ifb.c, `TX_Q_LIMIT`), and Linux takes these limits from it: a fifo's, the
/// direct queue's of `htb`, the bands' of `pfifo_fast`, `sfb`'s, and that of the `pfifo` of a class without a qdisc.
/// The commands say so when they are printed, and are read back as they are.
#[test]
fn the_queues_of_an_ifb_hold_32_packets() {
    let printed = |device: &str, commands: &str| {
        let line = parse_line(&commands.replace("DEV", device)).unwrap().to_string();
        assert_eq!(parse_line(&line).unwrap().to_string(), line);
        line
    };
    for (leaf, of_ifb, of_ethernet) in [
        ("pfifo", "pfifo limit 32", "pfifo limit 1000"),
        ("pfifo limit 7", "pfifo limit 7", "pfifo limit 7"),
        ("pfifo_head_drop", "pfifo_head_drop limit 32", "pfifo_head_drop limit 1000"),
        ("bfifo", "bfifo limit 48448", "bfifo limit 1514000"),
        ("pfifo_fast", "pfifo_fast txqueuelen 32", "pfifo_fast txqueuelen 1000"),
        ("sfb", "db 60000 limit 32 ", "db 60000 limit 1000 "),
        ("tbf rate 1mbit child bfifo", "child bfifo limit 48448", "child bfifo limit 1514000"),
        ("codel", "codel limit 1000", "codel limit 1000"),
    ] {
        let commands = alloc::format!("tc qdisc add dev DEV root {leaf}");
        for (device, wanted) in [("ifb0", of_ifb), ("ifb4eth1", of_ifb), ("eth0", of_ethernet)] {
            assert!(
                printed(device, &commands).contains(wanted),
                "{device} {leaf}: {}",
                printed(device, &commands)
            );
        }
    }
    let tree = "tc qdisc add dev DEV root handle 1: htb default 10; \
        tc class add dev DEV parent 1: classid 1:1 htb rate 10mbit; \
        tc class add dev DEV parent 1:1 classid 1:10 htb rate 5mbit; \
        tc class add dev DEV parent 1:1 classid 1:20 htb rate 5mbit; \
        tc qdisc add dev DEV parent 1:20 handle 20: prio";
    let line = printed("ifb0", tree);
    assert!(line.contains("direct_qlen 32"), "{line}");
    for leaf in ["parent 1:10 handle 8001: pfifo limit 32", "parent 20:2 handle 8003: pfifo limit 32"] {
        assert!(line.contains(leaf), "{line}");
    }
    assert!(!line.contains("parent 1:1 handle"), "{line}");
    for (device, most) in [("ifb0", 32), ("eth0", 1000)] {
        let (mut tree, mut owner) =
            (AnyQdisc::<Plain>::parse(&printed(device, tree), &LINK).unwrap(), Noted::default());
        for id in 0..1100 {
            tree.enqueue(Instant::ZERO, Plain { id, ..Plain::new(100) }, &mut owner);
        }
        assert_eq!(tree.backlog().packets, most, "{device}");
    }
}

/// The root's size table is not lost, whether the commands are one line or several.
#[test]
fn a_tree_in_one_line_keeps_the_table_of_its_root() {
    let commands = "tc qdisc add dev e root handle 1: stab linklayer atm overhead 44 htb default 1; \
        tc class add dev e parent 1: classid 1:1 htb rate 1mbit";
    let of_line = parse_line(commands).unwrap();
    let of_file = crate::registry::parse_tree(&commands.replace("; ", "\n")).unwrap();
    assert!(of_line.stab().is_some(), "{of_line}");
    assert_eq!(of_line.to_string(), of_file.to_string());
    assert_eq!(parse_line(&of_line.to_string()).unwrap().to_string(), of_line.to_string());
}

/// What Linux refuses is refused, with its words.
#[test]
fn a_wrong_tree_is_refused_in_one_line() {
    let root = "tc qdisc add dev eth0 root handle 1: htb default 30; \
        tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit";
    for (more, why) in [
        ("tc class add dev eth0 parent 1: classid 1:1 htb rate 2mbit", "class 1:1 twice"),
        ("tc qdisc add dev eth0 parent 1:9 handle 9: fq_codel", "found parent 1:9"),
        ("tc qdisc add dev eth0 parent 5: handle 9: fq_codel", "found parent 5:"),
        (
            "tc filter add dev eth0 parent 4: protocol ip u32 match ip dport 80 0xffff flowid 1:1",
            "Parent Qdisc doesn't exists.",
        ),
        ("tc class add dev eth0 parent 1: classid 1:2 htb ceil 2mbit", "\"rate\" is required"),
        ("tc class add dev eth0 parent 1: classid 2:2 htb rate 2mbit", "classid 2:2"),
        ("tc class add dev eth1 parent 1: classid 1:2 htb rate 2mbit", "dev \"eth1\""),
        ("qdisc add dev eth0 parent 1:1 sfq", "\"qdisc\" without tc in front"),
        ("ip netns exec r tc qdisc add dev eth0 root sfq", "found tc inside"),
        ("tc filter add dev eth0 parent 1: u32 match ip dst 10.0.0.1 action drop", "actions"),
    ] {
        let error = refused(&alloc::format!("{root}; {more}"));
        assert!(error.contains(why) && error.starts_with("tc line 3: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
    assert!(refused("hfsc default 1").contains("has classes"));
}

/// A script as people have it: variables, comments, continued lines, and failures that do not matter.
#[test]
fn a_script_is_read() {
    let script = "#!/bin/sh\nDEV=eth0\nRATE=10mbit # the line\ntc qdisc del dev $DEV root 2>/dev/null || true\n\
        tc qdisc add dev $DEV root handle 1: \\\n  htb default 1\n\
        sudo /sbin/tc class add dev \"$DEV\" parent 1: classid 1:1 htb rate ${RATE}\n";
    let args = crate::registry::parse_tree(script).unwrap().to_string();
    assert!(args.ends_with("mpu 0 overhead 0 linklayer ethernet quantum 0 rate 10mbit"), "{args}");
    assert!(
        crate::registry::parse_tree("tc qdisc add dev $X root pfifo").unwrap_err().0.contains("found $X")
    );
}

/// Where filters disagree, the preference decides; without one, the later filter comes first.
#[test]
fn filters_choose_the_class() {
    let tree = "tc qdisc add dev e root handle 1: htb default 3; \
        tc class add dev e parent 1: classid 1:1 htb rate 1mbit; \
        tc class add dev e parent 1: classid 1:2 htb rate 1mbit; \
        tc class add dev e parent 1: classid 1:3 htb rate 1mbit; \
        tc filter add dev e parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:1; \
        tc filter add dev e parent 1: protocol ip u32 match u16 0 0xff00 at 2 flowid 1:2; \
        tc filter add dev e parent 1: protocol ipv6 matchall flowid 1:1";
    let tree = AnyQdisc::<Plain>::parse(tree, &LINK).unwrap();
    let decide = |dscp, len| match tree.decide(&Plain { dscp, ..Plain::new(len) }, &Noted::default()) {
        Some(Decision::Class(id)) => id.0 & 0xffff,
        _ => 0,
    };
    assert_eq!([decide(46, 1514), decide(0, 1514), decide(46, 100), decide(0, 100)], [1, 3, 2, 2]);
}

/// Linux does what few would guess, and so does the tree. A note says it, in one sentence and once per filter.
#[test]
fn a_filter_that_surprises_is_noted() {
    let notes = |filter: &str| {
        let tree = "tc qdisc add dev e root handle 1: prio; tc filter add dev e parent 1: protocol";
        crate::registry::reading(&alloc::format!("{tree} {filter}")).unwrap().notes
    };
    for (filter, said) in [
        (
            "ip u32 match tcp dst 80 0xffff flowid 1:2",
            "\"match tcp dst 80\" compares the IP header from byte 2 on",
        ),
        ("ip u32 match u16 80 0xffff at nexthdr+2 flowid 1:2", "from byte 2 on"),
        ("ip u32 match ip dport 80 0xffff", "\"u32\" without flowid chooses no class"),
        ("ip u32 match ip src 10.1 flowid 1:2", "\"10.1\" is the address 10.1.0.0 alone in tc"),
        ("ip u32 match u16 80 0xffff at 1 flowid 1:2", "compares bytes 2 and 3 in tc"),
        ("ip u32 match mark 1 1 match mark 2 2 flowid 1:2", "replaces the match before it"),
        ("ip handle 0x11/0xf fw flowid 1:2", "matches no packet on Linux"),
        (
            "ip flower ip_proto 17 flowid 1:2",
            "hexadecimal in tc, protocol 23; accepted: tcp, udp, icmp or 0x11",
        ),
        ("ip flower ip_tos 28 flowid 1:2", "decimal in tc, 0x1c; ip_tos 0x28 is hexadecimal"),
        ("ip flower src_ip 0.0.0.0/0 flowid 1:2", "matches no packet on Linux"),
        ("ip flower tcp_flags 2/2 flowid 1:2", "compares nothing without ip_proto tcp"),
        ("all flower ip_tos 0x28 flowid 1:2", "compare nothing with protocol all"),
        ("ip flower ip_proto tcp", "ends the search without a class"),
    ] {
        let notes = notes(filter);
        assert!(notes.len() == 1 && notes[0].contains(said) && !notes[0].contains('\n'), "{notes:?}");
    }
    for filter in [
        "ip u32 match ip dport 80 0xffff match ip src 10.0.0.0/8 flowid 1:2",
        "ip flower ip_proto 6 ip_tos 0x28/0xfc dst_port 80 src_ip 10.0.0.0/255.0.0.0 flowid 1:2",
        "ip handle 0x1/0xf fw flowid 1:2",
        "all handle 7 flow map key dst and 3",
    ] {
        assert!(notes(filter).is_empty(), "{filter}");
    }
}

/// The minor number of `flowid` is the queue. A packet that no filter matches, or whose queue is not there, is dropped
/// (`fq_codel_classify`, `sfq_classify`).
#[test]
fn a_filter_sorts_into_the_queues_of_a_discipline() {
    for (kind, flowid, kept) in [
        ("fq_codel flows 8", 8, 1),
        ("fq_codel flows 8", 9, 0),
        ("sfq", 1024, 1),
        ("sfq", 1025, 0),
        ("sfb", 0, 1),
        ("sfb", 0xffff, 1),
        ("cake", 9999, 2),
    ] {
        let commands = alloc::format!(
            "tc qdisc add dev e root handle 1: {kind}; \
             tc filter add dev e parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:{flowid:x}"
        );
        let (mut tree, mut owner) = (AnyQdisc::<Plain>::parse(&commands, &LINK).unwrap(), Noted::default());
        for (id, dscp) in [(0, 0), (1, 46)] {
            tree.enqueue(Instant::ZERO, Plain { id, dscp, ..Plain::new(1000) }, &mut owner);
        }
        assert_eq!((tree.backlog().packets, owner.dropped.len()), (kept, 2 - kept as usize), "{commands}");
    }
}

/// LibreQoS gives each transmit queue of a card a tree. A link here has one, so the commands of the second do nothing.
#[test]
fn the_queues_of_mq_that_are_not_here_are_skipped() {
    let batch = "qdisc replace dev e root handle 7FFF: mq
        qdisc add dev e parent 7FFF:0x1 handle 0x1: htb default 2
        class add dev e parent 0x1: classid 0x1:2 htb rate 25mbit
        qdisc add dev e parent 7FFF:0x2 handle 0x2: htb default 2
        class add dev e parent 0x2: classid 0x2:2 htb rate 25mbit
        qdisc add dev e parent 0x2:2 cake diffserv4";
    let plan = Plan::read(batch).unwrap();
    let note = "a link here has one transmit queue, so 3 commands of mq's other queues did nothing";
    assert_eq!((plan.notes(), plan.to_string().matches("dev e").count()), (alloc::vec![note.to_string()], 3));
}

fn drain(qdisc: &mut AnyQdisc<Plain>, owner: &mut Noted) -> Vec<(u64, u64)> {
    let (mut now, mut left) = (Instant::ZERO, Vec::new());
    while qdisc.backlog().packets > 0 {
        match qdisc.dequeue(now, owner) {
            Some(packet) => left.push((packet.id, now.as_nanos())),
            None => {
                now = qdisc.next_timer().unwrap();
                qdisc.on_timer(now, owner);
            }
        }
    }
    left
}

/// Ten thousand leaves cost nothing before they have packets, and what one of them has is found at once.
#[test]
fn idle_leaves_are_not_made() {
    let mut commands =
        "tc qdisc add dev e root handle 1: htb; tc class add dev e parent 1: classid 1:1 htb rate 900mbit"
            .to_string();
    for minor in 2..2000 {
        commands += &alloc::format!("\ntc class add dev e parent 1:1 classid 1:{minor:x} htb rate 1mbit");
        commands += &alloc::format!("\ntc qdisc add dev e parent 1:{minor:x} cake besteffort");
        commands +=
            &alloc::format!("\ntc filter add dev e parent 1: prio 1 handle {minor} fw flowid 1:{minor:x}");
    }
    let mut tree = AnyQdisc::<Plain>::build(&crate::registry::parse_tree(&commands).unwrap(), &LINK).unwrap();
    let mut owner = Noted::default();
    for id in 0..3 {
        tree.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1000) }, &mut owner);
    }
    assert_eq!(drain(&mut tree, &mut owner).len(), 3);
}
