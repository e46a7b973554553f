use super::super::Noted;
use super::*;
use crate::packet::Plain;
use crate::registry::parse_line;
use std::string::ToString;
use std::vec::Vec;

const LINK: Link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };

fn tbf(line: &str) -> AnyQdisc<Plain> {
    AnyQdisc::parse(line, &LINK).unwrap()
}

/// Offers packets of `len` at 0, then takes them as fast as the discipline gives them: when each left, in ns.
fn departures(line: &str, lens: &[u32]) -> Vec<u64> {
    let (mut qdisc, mut owner, mut now) = (tbf(line), Noted::default(), Instant::ZERO);
    for len in lens {
        qdisc.enqueue(now, Plain::new(*len), &mut owner);
    }
    let mut left = Vec::new();
    while qdisc.backlog().packets > 0 {
        match qdisc.dequeue(now, &mut owner) {
            Some(_) => left.push(now.as_nanos()),
            None => {
                now = qdisc.next_timer().unwrap();
                qdisc.on_timer(now, &mut owner);
            }
        }
    }
    left
}

/// 10 Mbit/s are 800 ns a byte; 3028 bytes let two frames of 1514 go at once, and then one each 1 211 200 ns. 4000 bytes let
/// two go and leave 972: the third waits for 542 * 800 ns.
#[test]
fn the_burst_goes_at_once_and_the_rest_at_the_rate() {
    let frames = [1514; 4];
    assert_eq!(departures("tbf rate 10mbit burst 3028", &frames), [0, 0, 1_211_200, 2_422_400]);
    assert_eq!(departures("tbf rate 10mbit burst 4000", &frames), [0, 0, 433_600, 1_644_800]);
    assert_eq!(departures("tbf rate 10mbit burst 3028 child pfifo", &frames), [0, 0, 1_211_200, 2_422_400]);
}

/// 20 Mbit/s are 400 ns a byte: with a bucket of one frame, one each 605 600 ns while the burst lasts. 4542 bytes of burst
/// are three frames; at 605 600 and 1 211 200 ns half a frame and one have come back, so five go at the peak rate; the
/// sixth would go at 3.028 ms and has tokens: 3 + 2.5 - 5 = 0.5 frames short of one: at 3 * 1 211 200.
#[test]
fn peakrate_paces_the_burst() {
    let left = departures("tbf rate 10mbit burst 4542 peakrate 20mbit minburst 1514", &[1514; 7]);
    assert_eq!(left, [0, 605_600, 1_211_200, 1_816_800, 2_422_400, 3_633_600, 4_844_800]);
}

/// One second at 1 Mbit/s are 125 000 bytes, and the burst: within a packet of it.
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

/// 10 Mbit/s for 50 ms are 62 500 bytes, and 3000 of burst: 43 frames of 1500 fit into 65 500, the 44th does not. A
/// packet that exceeds the bucket cannot ever leave.
#[test]
fn its_own_queue_is_as_long_as_latency_says() {
    let (mut qdisc, mut owner) = (tbf("tbf rate 10mbit burst 3000 latency 50ms"), Noted::default());
    for id in 0..44 {
        qdisc.enqueue(Instant::ZERO, Plain { id, ..Plain::new(1500) }, &mut owner);
    }
    qdisc.enqueue(Instant::ZERO, Plain { id: 99, ..Plain::new(3001) }, &mut owner);
    assert_eq!((qdisc.backlog().bytes, owner.dropped), (64_500, [43, 99].to_vec()));
}

/// An empty child is asked, so that `ared` begins its idle time; `red` only where the line says so.
#[test]
fn a_line_names_the_child_and_is_read_back() {
    let line = parse_line("tbf rate 10mbit burst 32kb child codel target 7ms").unwrap().to_string();
    let child = "child codel limit 1000 target 7ms interval 100ms noecn variant linux";
    assert_eq!(line, ["tbf rate 10mbit burst 32768 mpu 0 overhead 0 idle linux ", child].concat());
    assert_eq!(parse_line(&line).unwrap().to_string(), line);
    let asks = |line| {
        let Queue::Child { asks_when_empty, .. } =
            Tbf::<Plain>::build(&parse_line(line).unwrap(), &LINK).unwrap().queue
        else {
            panic!("no child")
        };
        asks_when_empty
    };
    assert!(asks("tbf child codel") && asks("tbf idle told child red limit 100000"));
    assert!(!asks("tbf child red limit 100000"));
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
