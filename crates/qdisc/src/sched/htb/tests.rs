use super::super::{self as sched, Noted};
use super::*;
use crate::packet::Plain;
use crate::registry::parse_line;
use goodqueue_units::Rate;
use std::string::ToString;
use std::vec::Vec;

const LINK: Link = Link { rate: Rate::from_bps(1_000_000_000).unwrap(), mtu: 1514 };

/// Returns when each of four full frames leaves that are offered at 0, in ns.
fn departures(line: &str) -> Vec<u64> {
    sched::departures(AnyQdisc::parse(line, &LINK).unwrap(), &[1514; 4])
}

/// 800 ns per byte. With 1600 bytes the first frame leaves 86 bytes, which is no debt. So the second goes, too, and
/// leaves -1428: 1.1424 ms. Then one frame leaves every 1.2112 ms. `tc` of Linux 6.1 sends whole microseconds of burst,
/// of which one byte (800 ns) is none: the first frame leaves -1514, and then as on a serial link. A kernel showed both
/// (two frames back to back by default; `burst 1b` as a link).
#[test]
fn a_packet_leaves_while_there_is_no_debt() {
    let two = [0, 0, 1_142_400, 2_353_600];
    assert_eq!(departures("htb rate 10mbit"), two);
    assert_eq!(departures("htb rate 10mbit burst 1600 cburst 1600 child codel"), two);
    assert_eq!(departures("htb rate 10mbit burst 1b cburst 1b"), [0, 1_211_200, 2_422_400, 3_633_600]);
    // The smaller bucket decides.
    assert_eq!(departures("htb rate 10mbit burst 10kb cburst 1b"), [0, 1_211_200, 2_422_400, 3_633_600]);
    // With a ceiling of 100 Mbit/s (80 ns per byte) the burst leaves at that rate.
    assert_eq!(
        departures("htb rate 10mbit ceil 100mbit burst 10kb cburst 1b"),
        [0, 121_120, 242_240, 363_360]
    );
}

/// `tc` adds to its 1600 bytes the bytes that the rate sends in a nanosecond: at 80 Gbit/s 1610 bytes, 161 ns. `tc` of
/// Linux 6.1 cuts this to whole microseconds, which are none, and each frame waits for the 151 ns of the one before.
/// Since iproute2 6.14 these are 3 ticks of 64 ns: the first frame leaves 192 - 151 = 41 ns, the second owes 110.
#[test]
fn a_fast_class_has_a_burst_of_what_it_sends_in_a_nanosecond_more() {
    assert_eq!(departures("htb rate 80gbit"), [0, 151, 302, 453]);
    let args = parse_line("htb rate 80gbit").unwrap().in_release(goodqueue_units::Release::Linux7_3);
    let newer = AnyQdisc::build(&args, &LINK).unwrap();
    assert_eq!(sched::departures(newer, &[1514; 4]), [0, 0, 110, 261]);
}

/// A line is the tree of one class: both have Linux's nanoseconds and its rounding of bursts.
#[cfg(feature = "complete")]
#[test]
fn a_line_is_the_tree_of_one_class() {
    for words in
        ["rate 3mbit", "rate 3mbit burst 5000", "rate 777kbit ceil 7mbit cburst 3k overhead 26 linklayer atm"]
    {
        let tree = std::format!(
            "tc qdisc add dev e root handle 1: htb default 1; tc class add dev e parent 1: classid 1:1 htb {words}"
        );
        assert_eq!(departures(&std::format!("htb {words}")), departures(&tree), "{words}");
    }
}

/// 60 s at 1 kbit/s are 7500 bytes: a packet of 9000 bytes owes 72 s less the burst. sch_htb.c: a debt of a minute or
/// more becomes a minute less one nanosecond.
#[test]
fn debts_of_more_than_a_minute_are_forgiven() {
    let mut htb = AnyQdisc::<Plain>::parse("htb rate 1kbit burst 1b", &LINK).unwrap();
    let mut owner = Noted::default();
    htb.enqueue(Instant::ZERO, Plain::new(9000), &mut owner);
    htb.enqueue(Instant::ZERO, Plain::new(9000), &mut owner);
    assert!(htb.dequeue(Instant::ZERO, &mut owner).is_some());
    assert!(htb.dequeue(Instant::ZERO, &mut owner).is_none());
    assert_eq!(htb.next_timer(), Some(Instant::from_nanos(59_999_999_999)));
}

/// The timer must be the earlier one of the child's and the shaper's, and each call must run the one that is due.
/// `pi` looks at its queue every 10 ms.
#[test]
fn the_childs_timer_runs_on_while_packets_wait() {
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let mut htb = AnyQdisc::<Plain>::parse("htb rate 1mbit burst 1b child pi w 100", &LINK).unwrap();
    let mut owner = Noted::default();
    for _ in 0..3 {
        htb.enqueue(at(1), Plain::new(1514), &mut owner);
    }
    assert!(htb.dequeue(at(1), &mut owner).is_some());
    assert!(htb.dequeue(at(1), &mut owner).is_none());
    assert_eq!(htb.next_timer(), Some(at(10)));
    htb.on_timer(at(10), &mut owner);
    assert_eq!(htb.next_timer().unwrap().as_nanos(), 1_000_000 + 1513 * 8000);
    assert!(htb.dequeue(at(10), &mut owner).is_none());
    assert!(htb.dequeue(at(14), &mut owner).is_some());
}

/// The average must freeze: Linux's `red` under `htb` does not learn of idleness. With `idle told` it must learn of
/// it.
#[test]
fn an_empty_child_is_not_asked_unless_the_line_says_so() {
    struct Average(Option<f64>);
    impl Probe for Average {
        fn integer(&mut self, _name: &'static str, _value: i128) {}
        fn real(&mut self, name: &'static str, value: f64) {
            if name == "qavg" {
                self.0 = Some(value);
            }
        }
    }
    let average = |idle| {
        let line = ["htb rate 10mbit ", idle, " child red_gentle weight 0.5"].concat();
        let (mut htb, mut owner) = (AnyQdisc::<Plain>::parse(&line, &LINK).unwrap(), Noted::default());
        let mut now = Instant::ZERO;
        for _ in 0..4 {
            htb.enqueue(now, Plain::new(1514), &mut owner);
        }
        while htb.dequeue(now, &mut owner).is_some() || htb.backlog().packets > 0 {
            now += Duration::from_millis(1);
        }
        now += Duration::from_secs(1);
        htb.enqueue(now, Plain::new(1514), &mut owner);
        let mut probe = Average(None);
        htb.probe(&mut probe);
        probe.0.unwrap()
    };
    // Arrivals found 0, 1, 2, 3: the averages are 0, 1/2, 5/4, 17/8. The last arrival finds 0 and halves the average,
    // which may have decayed.
    assert!((average("idle linux") - 17.0 / 16.0).abs() < 1e-9);
    assert!(average("idle told") < 1e-9);
}

/// The effect of the frozen average: eight packets of 1000 bytes find 0 to 7000 bytes, so with a weight of 1/2 the
/// average is far above max (3000). When all packets have left and no sender has sent for an hour, Linux's red still
/// drops the next one.
#[test]
fn after_an_hour_of_silence_red_still_drops_unless_it_is_told() {
    for (idle, queued) in [("linux", 0), ("told", 1)] {
        let line =
            ["htb rate 10mbit idle ", idle, " child red limit 60000 min 1000 max 3000 burst 1"].concat();
        let (mut htb, mut owner) = (AnyQdisc::<Plain>::parse(&line, &LINK).unwrap(), Noted::default());
        let mut now = Instant::from_nanos(1);
        for _ in 0..8 {
            htb.enqueue(now, Plain::new(1000), &mut owner);
        }
        while htb.backlog().packets > 0 {
            now += Duration::from_millis(1);
            htb.dequeue(now, &mut owner);
        }
        htb.dequeue(now, &mut owner);
        now += Duration::from_secs(3600);
        htb.enqueue(now, Plain::new(1000), &mut owner);
        assert_eq!(htb.backlog().packets, queued, "{idle}");
    }
}

#[test]
fn its_line_holds_the_child_with_all_its_parameters() {
    let line = parse_line("htb rate 10mbit buffer 1600").unwrap().to_string();
    assert_eq!(
        line,
        "htb rate 10mbit burst 1600 mtu 1600 mpu 0 overhead 0 linklayer ethernet idle linux child pfifo limit 1000"
    );
    assert_eq!(parse_line(&line).unwrap().to_string(), line);
    let refused = parse_line("htb rate 10mbit prio 1").unwrap_err();
    assert_eq!(refused.0, "htb prio: a line is one class, the root: trees are written as tc commands");
}

#[test]
fn a_timer_that_was_called_is_not_due_again() {
    sched::assert_timer_is_due_once(AnyQdisc::parse("htb rate 1mbit burst 1b cburst 1b", &LINK).unwrap());
}
