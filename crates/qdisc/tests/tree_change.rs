//! `tc class change` and `tc qdisc change` in a tree that runs. The rules are those of Linux 6.1: the traces
//! `golden/tc/change_*` compare whole runs, and here each rule stands alone, with numbers worked by hand.

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::registry::{parse_line, parse_tree};
use goodqueue_qdisc::{AnyQdisc, Drop, Link, Mark, Owner, Qdisc};
use goodqueue_units::{Duration, Instant, Rate};

const LINK: Link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };

#[derive(Default)]
struct Dropped(Vec<u64>);
impl Owner<Plain> for Dropped {
    fn dropped(&mut self, packet: Plain, _why: Drop) {
        self.0.push(packet.id);
    }
    fn marked(&mut self, _packet: &Plain, _why: Mark) {}
    fn random_u32(&mut self) -> u32 {
        u32::MAX
    }
    fn random_u64(&mut self) -> u64 {
        u64::MAX
    }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A tree to which packets of 1000 bytes are offered.
struct Bench {
    tree: AnyQdisc<Plain>,
    owner: Dropped,
    next: u64,
}

impl Bench {
    fn new(commands: &str) -> Self {
        Self { tree: AnyQdisc::parse(commands, &LINK).unwrap(), owner: Dropped::default(), next: 0 }
    }

    fn offer(&mut self, ms: u64, count: u64) {
        for _ in 0..count {
            self.tree.enqueue(at(ms), Plain { id: self.next, ..Plain::new(1000) }, &mut self.owner);
            self.next += 1;
        }
    }

    fn take(&mut self, ms: u64) -> Option<u64> {
        self.tree.dequeue(at(ms), &mut self.owner).map(|packet| packet.id)
    }

    fn change(&mut self, ms: u64, commands: &str) -> Result<(), String> {
        self.tree.change(at(ms), commands, &mut self.owner).map_err(|error| error.0)
    }
}

const HTB: &str = "tc qdisc add dev eth0 root handle 1: htb default 10; \
    tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit burst 15k cburst 15k; \
    tc class add dev eth0 parent 1:1 classid 1:10 htb rate 80kbit burst 1000b cburst 1000b; \
    tc class add dev eth0 parent 1:1 classid 1:20 htb rate 80kbit; \
    tc qdisc add dev eth0 parent 1:10 handle 10: fq_codel";
const HFSC: &str = "tc qdisc add dev eth0 root handle 1: hfsc default 10; \
    tc class add dev eth0 parent 1: classid 1:1 hfsc ls rate 10mbit; \
    tc class add dev eth0 parent 1:1 classid 1:10 hfsc rt rate 80kbit";
const DRR: &str = "tc qdisc add dev eth0 root handle 1: drr; \
    tc class add dev eth0 parent 1: classid 1:1 drr; tc qdisc add dev eth0 parent 1:1 handle 10: sfq";
const ETS: &str = "tc qdisc add dev eth0 root handle 1: ets bands 4 strict 2 quanta 3000 1500; \
    tc qdisc add dev eth0 parent 1:3 handle 30: pfifo limit 9";
const PRIO: &str = "tc qdisc add dev eth0 root handle 1: prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0; \
    tc qdisc add dev eth0 parent 1:1 handle 10: pfifo limit 9";

/// A class of 10 kB/s has tokens for 100 ms. Two packets of 1000 bytes leave at once, and the class owes 100 ms. In
/// Linux a higher rate does not pay that debt, and the watchdog stays: the third packet leaves at 100 ms all the same.
/// From then on a packet takes 1 ms, and the fourth leaves at once.
#[test]
fn a_faster_class_of_htb_waits_for_the_old_time() {
    let mut bench = Bench::new(HTB);
    bench.offer(0, 5);
    assert_eq!((bench.take(0), bench.take(0), bench.take(0)), (Some(0), Some(1), None));
    assert_eq!(bench.tree.next_timer(), Some(at(100)));
    bench
        .change(10, "tc class change dev eth0 classid 1:10 htb rate 8mbit burst 1000b cburst 1000b")
        .unwrap();
    assert_eq!((bench.tree.next_timer(), bench.take(50)), (Some(at(100)), None));
    assert_eq!(bench.take(100), Some(2));
    assert_eq!((bench.take(101), bench.take(102)), (Some(3), Some(4)));
}

/// htb's `tc` sends all parameters of a class each time, so those left out have their defaults. hfsc, drr and ets
/// change only what a command names. The record has the commands with what they set.
#[test]
fn commands_print_with_all_that_they_set() {
    for (tree, commands, canonical) in [
        (
            HTB,
            "tc class change dev eth0 parent 1:1 classid 1:10 htb rate 1mbit\n tc qdisc change dev eth0 handle 10: fq_codel target 1ms",
            "tc class change dev eth0 classid 1:10 htb prio 0 mtu 1600 mpu 0 overhead 0 linklayer ethernet quantum 0 \
             rate 1mbit; tc qdisc change dev eth0 parent 1:10 handle 10: fq_codel target 1ms",
        ),
        (
            HFSC,
            "tc class change dev eth0 classid 1:10 hfsc ls rate 1mbit",
            "tc class change dev eth0 classid 1:10 hfsc ls m1 0bps d 0us m2 125000bps",
        ),
        (DRR, "tc class replace dev eth0 classid 1:1 drr", "tc class change dev eth0 classid 1:1 drr"),
        (
            ETS,
            "tc class change dev eth0 classid 1:4 ets quantum 9000",
            "tc class change dev eth0 classid 1:4 ets quantum 9000",
        ),
        (
            PRIO,
            "tc qdisc change dev eth0 root prio bands 4 priomap 3",
            "tc qdisc change dev eth0 root handle 1: prio bands 4 priomap 3 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
        ),
        (
            DRR,
            "tc qdisc change dev eth0 parent 1:1 sfq",
            "tc qdisc change dev eth0 parent 1:1 handle 10: sfq",
        ),
    ] {
        let args = parse_line(tree).unwrap();
        args.changed(commands).unwrap();
        let found = args.commands_of_change(commands).unwrap();
        assert_eq!(found, canonical);
        assert_eq!(args.commands_of_change(&found).unwrap(), found, "it is read back as itself");
    }
}

/// Linux keeps packets above a smaller limit of a fifo, and the fifo takes none until enough have left. fq_codel drops
/// them, in the order in which it would send them.
#[test]
fn a_smaller_limit_at_a_leaf() {
    let pfifo = HTB.replace("fq_codel", "pfifo limit 9");
    let mut bench = Bench::new(&pfifo);
    bench.offer(0, 6);
    bench.change(1, "tc qdisc change dev eth0 parent 1:10 handle 10: pfifo limit 2").unwrap();
    assert_eq!(bench.tree.backlog().packets, 6);
    bench.offer(1, 1);
    assert_eq!((bench.take(1), bench.owner.0.as_slice()), (Some(0), [6].as_slice()));
    let mut bench = Bench::new(HTB);
    bench.offer(0, 6);
    bench.change(1, "tc qdisc change dev eth0 parent 1:10 handle 10: fq_codel limit 2").unwrap();
    assert_eq!((bench.owner.0.as_slice(), bench.tree.backlog().packets), ([0, 1, 2, 3].as_slice(), 2));
}

/// A class that a change has emptied must leave the turns, or the next dequeue would find an active class without
/// packets. A change of red drops all that waits.
#[test]
fn a_change_may_empty_a_class() {
    let red = "red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 bandwidth 10mbit";
    let hfsc = format!("{HFSC}; tc qdisc add dev eth0 parent 1:10 handle 10: {red}");
    let drr = DRR.replace("sfq", red) + "; tc filter add dev eth0 parent 1: matchall classid 1:1";
    for tree in [HTB.replace("fq_codel", red), hfsc, drr] {
        let mut bench = Bench::new(&tree);
        bench.offer(0, 4);
        bench.change(1, &format!("tc qdisc change dev eth0 handle 10: {red}")).unwrap();
        assert_eq!(
            (bench.owner.0.len(), bench.tree.backlog().packets, bench.take(1)),
            (4, 0, None),
            "{tree}"
        );
        bench.offer(2, 1);
        assert_eq!(bench.take(2), Some(4), "{tree}");
    }
}

/// A red that Linux changes begins anew with an empty queue (`__red_change`), and a tbf has full buckets
/// (`tbf_change`): 8 kbit/s would hold the second packet back for a second.
#[test]
fn red_and_tbf_begin_anew() {
    let red = "red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 bandwidth 10mbit";
    let mut bench = Bench::new(&HTB.replace("fq_codel", red));
    bench.offer(0, 4);
    bench.change(1, &format!("tc qdisc change dev eth0 handle 10: {red}")).unwrap();
    assert_eq!((bench.take(1), bench.owner.0.as_slice()), (None, [0, 1, 2, 3].as_slice()));
    let tbf = "tbf rate 8kbit burst 1000 limit 9000";
    let mut bench = Bench::new(&PRIO.replace("pfifo limit 9", tbf));
    bench.offer(0, 3);
    assert_eq!((bench.take(0), bench.take(0), bench.take(1)), (Some(0), None, None));
    bench.change(1, &format!("tc qdisc change dev eth0 handle 10: {tbf}")).unwrap();
    assert_eq!((bench.take(1), bench.take(1)), (Some(1), None));
}

/// Fewer bands drop what waits in those that go (`prio_tune`).
#[test]
fn bands_go_with_their_packets() {
    let prio = "tc qdisc add dev eth0 root handle 1: prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2";
    let mut bench = Bench::new(prio);
    bench.offer(0, 3);
    let fewer = "prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1";
    bench.change(0, &format!("tc qdisc change dev eth0 root {fewer}")).unwrap();
    assert_eq!((bench.owner.0.as_slice(), bench.tree.backlog().packets), ([0, 1, 2].as_slice(), 0));
    bench.offer(0, 1);
    assert_eq!(bench.take(0), Some(3));
    // A band that a command has given a qdisc stays, so that its number means the same later.
    let error = Bench::new(ETS).change(0, "tc qdisc change dev eth0 root ets bands 2").unwrap_err();
    assert_eq!(error, "tc line 1: ets bands: found 2; accepted: 3 or more, as 1:3 has a qdisc");
}

/// The words in brackets are those that Linux 6.1.192 and its `tc` print for the same command.
#[test]
fn what_linux_refuses_is_refused_with_its_words() {
    for (tree, command, words) in [
        (HTB, "class change dev eth0 classid 1:30 htb rate 1mbit", "Linux: \"No such file or directory\""),
        (HTB, "class change dev eth0 classid 1:10 htb ceil 1mbit", "tc: \"rate\" is required"),
        (HTB, "class change dev eth0 parent 2: classid 1:10 htb rate 1mbit", "Linux: \"Invalid argument\""),
        (
            HTB,
            "qdisc change dev eth0 root htb default 20",
            "Linux: \"Change operation not supported by specified qdisc.\"",
        ),
        (
            HTB,
            "qdisc change dev eth0 parent 1:20 pfifo limit 5",
            "Linux: \"Qdisc not found. To create specify NLM_F_CREATE flag.\"",
        ),
        (HTB, "qdisc change dev eth0 parent 1:10 handle 10: codel", "Linux: \"Invalid qdisc name.\""),
        (
            HTB,
            "qdisc change dev eth0 parent 1:10 handle 11: fq_codel",
            "Linux: \"NLM_F_REPLACE needed to override.\"",
        ),
        (HTB, "qdisc change dev eth0 handle 11: fq_codel", "Linux: \"Specified qdisc not found.\""),
        (HTB, "qdisc change dev eth0 parent 4:1 fq_codel", "Linux: \"Failed to find specified qdisc.\""),
        (HTB, "qdisc change dev eth0 parent 1:40 fq_codel", "Linux: \"Specified class not found.\""),
        (HTB, "qdisc change dev eth0 parent 1:10 handle 10: fq_codel flows 8", "Linux: \"Invalid argument\""),
        (
            HTB,
            "class add dev eth0 parent 1:1 classid 1:30 htb rate 1mbit",
            "accepted: class change, qdisc change",
        ),
        (
            HFSC,
            "class change dev eth0 parent 1: classid 1:10 hfsc rt rate 1mbit",
            "Linux: \"Invalid argument\"",
        ),
        (HFSC, "class change dev eth0 classid 1:10 hfsc ul rate 1mbit", "ul without ls"),
        (DRR, "class change dev eth0 classid 1:1 drr quantum 0", "drr quantum: found \"0\""),
        (
            DRR,
            "qdisc change dev eth0 parent 1:1 handle 10: sfq limit 5",
            "Linux: \"Change operation not supported by specified qdisc.\"",
        ),
        (
            ETS,
            "class change dev eth0 classid 1:1 ets quantum 900",
            "Linux: \"Strict bands do not have a configurable quantum.\"",
        ),
        (PRIO, "class change dev eth0 classid 1:1 prio", "tc: Qdisc \"prio\" is classless."),
    ] {
        let mut bench = Bench::new(tree);
        let before = bench.tree.args().to_string();
        let error = bench.change(0, &format!("tc {command}")).unwrap_err();
        assert!(error.starts_with("tc line 1: ") && error.contains(words), "{command}: {error}");
        // A refused command takes the ones before it along.
        let good = match tree {
            HTB => "tc class change dev eth0 classid 1:20 htb rate 5mbit",
            _ => continue,
        };
        assert!(bench.change(0, &format!("{good}; tc {command}")).unwrap_err().starts_with("tc line 2: "));
        assert_eq!(bench.tree.args().to_string(), before);
    }
}

/// A stab at the root is part of the root's command, and Linux takes it away when a change does not say it.
#[test]
fn a_tree_behind_a_stab_changes_below_the_root() {
    let tree = HFSC.replace("root handle 1:", "root handle 1: stab overhead 24");
    let args = parse_tree(&tree.replace("; ", "\n")).unwrap();
    let tree = AnyQdisc::build(&args, &LINK).unwrap();
    let mut bench = Bench { tree, owner: Dropped::default(), next: 0 };
    bench.change(0, "tc class change dev eth0 classid 1:10 hfsc sc rate 1mbit").unwrap();
    let error = bench.change(0, "tc qdisc change dev eth0 root hfsc default 10").unwrap_err();
    assert!(error.starts_with("tc line 1: found a change of the root beside a stab"), "{error}");
}
