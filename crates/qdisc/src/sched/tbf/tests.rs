use super::super::{self as sched, Noted};
use super::*;
use crate::packet::Plain;
use crate::registry::parse_line;
use std::string::ToString;
use std::vec::Vec;

const LINK: Link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };

fn tbf(line: &str) -> AnyQdisc<Plain> {
    AnyQdisc::parse(line, &LINK).unwrap()
}

fn departures(line: &str, lens: &[u32]) -> Vec<u64> {
    sched::departures(tbf(line), lens)
}

/// 10 Mbit/s are 800 ns per byte. 3028 bytes let two frames of 1514 bytes leave at once, and then one every 1 211 200
/// ns. 4000 bytes let two leave with 972 left: the third waits for 542 * 800 ns.
#[test]
fn the_burst_goes_at_once_and_the_rest_at_the_rate() {
    let frames = [1514; 4];
    assert_eq!(departures("tbf rate 10mbit burst 3028", &frames), [0, 0, 1_211_200, 2_422_400]);
    assert_eq!(departures("tbf rate 10mbit burst 4000", &frames), [0, 0, 433_600, 1_644_800]);
    assert_eq!(departures("tbf rate 10mbit burst 3028 child pfifo", &frames), [0, 0, 1_211_200, 2_422_400]);
}

/// 20 Mbit/s are 400 ns per byte: with a bucket of one frame, one frame leaves every 605 600 ns while the burst
/// lasts. 4542 bytes of burst are three frames. At 605 600 and 1 211 200 ns half a frame and one frame have come
/// back, so five leave at the peak rate. The sixth would leave at 3.028 ms, but has too few tokens: 3 + 2.5 - 5 = 0.5
/// frames. So it leaves at 3 * 1 211 200.
#[test]
fn peakrate_paces_the_burst() {
    let left = departures("tbf rate 10mbit burst 4542 peakrate 20mbit minburst 1514", &[1514; 7]);
    assert_eq!(left, [0, 605_600, 1_211_200, 1_816_800, 2_422_400, 3_633_600, 4_844_800]);
}

/// One second at 1 Mbit/s is 125 000 bytes. With the burst the sum must be right within one packet.
#[test]
fn the_rate_is_kept_within_a_packet() {
    let (mut qdisc, mut owner, mut now) =
        (tbf("tbf rate 1mbit burst 2000 limit 1mb"), Noted::default(), Instant::ZERO);
    let (mut bytes, end) = (0_u64, Instant::from_nanos(1_000_000_000));
    for index in 0_u32..400 {
        qdisc.enqueue(now, Plain::new(64 + index * 37 % 1451), &mut owner);
    }
    while now <= end {
        match qdisc.dequeue(now, &mut owner) {
            Some(packet) => bytes += u64::from(packet.len),
            None => now = qdisc.next_timer().unwrap(),
        }
    }
    assert!((127_000 - 1514..=127_000).contains(&bytes), "{bytes}");
}

/// 3 Mbit/s are 2666.67 ns per byte, of which Linux keeps a factor of 32 bits: 3000 bytes cost 7 999 999 ns and not 8
/// ms, and 5000 bytes of burst are 13 333 333 ns. So the first packet leaves 5 333 334 ns (`psched_l2t_ns`, Linux 6.1).
#[test]
fn nanoseconds_are_those_of_linux() {
    let left = departures("tbf rate 3mbit burst 5000 limit 10000", &[3000; 3]);
    assert_eq!(left, [0, 2_666_665, 10_666_664]);
}

/// 10 Mbit/s for 50 ms are 62 500 bytes, and 3000 of burst: 43 frames of 1500 bytes fit into 65 500, and the 44th
/// does not. A packet that exceeds the bucket must be dropped, because it could never leave.
#[test]
fn its_own_queue_is_as_long_as_latency_says() {
    let (mut qdisc, mut owner) = (tbf("tbf rate 10mbit burst 3000 latency 50ms"), Noted::default());
    for id in 0..44 {
        qdisc.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1500) }, &mut owner);
    }
    qdisc.enqueue(Instant::ZERO, Plain { id: 99, ..Plain::new(3001) }, &mut owner);
    assert_eq!((qdisc.backlog().bytes, owner.dropped), (64_500, [43, 99].to_vec()));
}

#[test]
fn a_line_names_the_child_and_is_read_back() {
    let line = |words| parse_line(words).unwrap().to_string();
    let child = "child codel limit 1000 target 7ms interval 100ms noecn variant linux";
    let want =
        ["tbf rate 10mbit burst 32768 mpu 0 overhead 0 linklayer ethernet idle linux ", child].concat();
    assert_eq!(line("tbf rate 10mbit burst 32kb child codel target 7ms"), want);
    assert_eq!(line(&want), want);
    // tc's other words.
    assert_eq!(line("tbf buffer 32kb"), line("tbf burst 32kb"));
    assert_eq!(
        line("tbf maxburst 9kb peakrate 9mbit mtu 2kb"),
        line("tbf burst 9kb peakrate 9mbit minburst 2kb")
    );
}

/// RED's average, and the start of the idle time, or 0.
#[derive(Default)]
struct Red(Option<i128>, i128);

impl Probe for Red {
    fn integer(&mut self, name: &'static str, value: i128) {
        match name {
            "qavg" => self.0 = Some(value),
            "qidlestart" => self.1 = value,
            _ => {}
        }
    }
    fn real(&mut self, _name: &'static str, _value: f64) {}
}

/// `red` shows its head, so the packet that waits for tokens must stay in it. An empty `red` is not asked, so its
/// idle time must not begin. With `idle told` it is asked, as by a link. The weight is 1/2, so the average is kept
/// doubled. The first packet leaves at once, the second waits in red: arrivals find 0, 0 and 1000 bytes, and the
/// average is 0, 0 and 1000.
#[test]
fn red_keeps_its_packets_and_does_not_learn_of_idleness() {
    for (idle, began) in [("linux", false), ("told", true)] {
        let line =
            ["tbf rate 1mbit burst 1000 idle ", idle, " child red limit 60000 min 1000 max 3000 burst 1"]
                .concat();
        let (mut qdisc, mut owner, at) = (tbf(&line), Noted::default(), Instant::from_nanos);
        let offer = |qdisc: &mut AnyQdisc<Plain>, owner: &mut Noted| {
            qdisc.enqueue(at(1), Plain::new(1000), owner);
        };
        offer(&mut qdisc, &mut owner);
        assert!(qdisc.dequeue(at(1), &mut owner).is_some());
        offer(&mut qdisc, &mut owner);
        assert!(qdisc.dequeue(at(1), &mut owner).is_none());
        offer(&mut qdisc, &mut owner);
        for second in 1..4 {
            qdisc.dequeue(at(second * 1_000_000_000), &mut owner);
        }
        let mut red = Red::default();
        qdisc.probe(&mut red);
        assert_eq!((qdisc.backlog().packets, red.0, red.1 != 0), (0, Some(1000), began), "{idle}");
    }
}

/// CoDel may drop the packet at its head, so the filter must ask it: the waiting packet has left CoDel's law. It fills
/// the child's limit all the same (`qdisc_peek_dequeued`).
#[test]
fn codel_gives_its_packet_to_show_it() {
    let (mut qdisc, mut owner) = (tbf("tbf rate 1mbit burst 1000 child codel limit 1"), Noted::default());
    for id in 0..3 {
        qdisc.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1000) }, &mut owner);
        let _ = qdisc.dequeue(Instant::ZERO, &mut owner);
    }
    // 0 has left, 1 waits for tokens and fills the child's limit of 1, so 2 is dropped.
    assert_eq!((qdisc.backlog().packets, owner.dropped.as_slice()), (1, [2].as_slice()));
}

/// sch_tbf.c: the bucket holds the cost of a packet of `burst` bytes, so that this packet passes whatever the
/// overhead is. A packet with one byte more must be dropped. With 26 bytes of overhead 1500 are 1526 bytes, 32 cells
/// of 53 bytes: 1696 bytes, 13.568 ms.
#[test]
fn a_burst_is_a_packets_length_without_overhead() {
    let line = "tbf rate 1mbit burst 1500 overhead 26";
    assert_eq!(departures(line, &[1500, 1501, 1500]), [0, 1526 * 8000]);
    let cells = [line, " linklayer atm limit 10000"].concat();
    assert_eq!(departures(&cells, &[1500, 1500]), [0, 13_568_000]);
}

#[test]
fn what_contradicts_itself_is_refused_in_one_line() {
    let refused = |line| AnyQdisc::<Plain>::parse(line, &LINK).map(|_| ()).unwrap_err().0;
    let own = "tbf: limit and latency are of its own queue; a child has its own limit";
    assert_eq!(refused("tbf latency 5ms child codel"), own);
    assert_eq!(refused("tbf rate 10mbit peakrate 10mbit"), "tbf: peakrate must be greater than rate");
    let unknown = refused("tbf child codle");
    assert!(unknown.starts_with("tbf child: unknown qdisc \"codle\"; did you mean \"codel\"?"), "{unknown}");
    let range = refused("tbf child codel target 5parsec");
    assert!(range.starts_with("tbf child: codel target: found \"5parsec\""), "{range}");
    assert!(refused("tbf child").starts_with("tbf child: no value; accepted: a qdisc"));
    let deep = ["tbf".to_string(), " child tbf".repeat(9)].concat();
    assert_eq!(refused(&deep), "tbf child: more disciplines in each other than 8");
    assert!(AnyQdisc::<Plain>::parse(&["tbf".to_string(), " child tbf".repeat(8)].concat(), &LINK).is_ok());
}

/// A law inside must look at its queue when its timer is due, and not at each packet.
#[test]
fn a_childs_timer_fires_when_it_is_due() {
    let (mut qdisc, mut owner) = (tbf("tbf rate 10mbit burst 3028 child pie"), Noted::default());
    let due = qdisc.next_timer().unwrap();
    qdisc.on_timer(Instant::from_nanos(due.as_nanos() - 1), &mut owner);
    assert_eq!(qdisc.next_timer(), Some(due));
    qdisc.on_timer(due, &mut owner);
    assert!(qdisc.next_timer() > Some(due));
}

#[test]
fn a_timer_that_was_called_is_not_due_again() {
    sched::assert_timer_is_due_once(AnyQdisc::parse("tbf rate 1mbit burst 1000", &LINK).unwrap());
}
