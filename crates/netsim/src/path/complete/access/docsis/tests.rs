use super::*;
use goodqueue_units::Streams;
use std::collections::VecDeque;

const MBIT: u64 = 1_000_000;

fn modem(words: &str) -> Result<Box<dyn Channel>, String> {
    let args = Args::parse(&SPEC, words).unwrap();
    let draws = Draws { streams: Streams::new(1), link: 1 };
    (KIND.make)(&args, Rate::from_bps(50 * MBIT).unwrap(), draws)
}

/// Sends packets of (arrival, bytes) through a FIFO above the modem, as a link does. Returns when each is at the head
/// end.
fn send(modem: &mut dyn Channel, packets: &[(Instant, u32)]) -> Vec<Instant> {
    let mut coming: VecDeque<(Instant, u32)> = packets.iter().copied().collect();
    let mut queue: VecDeque<u32> = VecDeque::new();
    let (mut out, mut now) = (Vec::new(), Instant::ZERO);
    loop {
        while coming.front().is_some_and(|(arrival, _)| *arrival <= now) {
            queue.extend(coming.pop_front().map(|(_, bytes)| bytes));
        }
        modem.note(queue.iter().map(|bytes| u64::from(*bytes)).sum(), queue.len() as u64);
        let start = modem.start(now);
        if start > now {
            now = start;
        } else if let Some(bytes) = queue.pop_front() {
            now += modem.occupy(now, bytes);
            out.extend(modem.crosses(now));
        } else if let Some((arrival, _)) = coming.front() {
            modem.idle();
            now = now.max(*arrival);
        } else {
            return out;
        }
    }
}

/// Returns the delays of packets that come alone, in ms.
fn alone(words: &str) -> Vec<f64> {
    let mut random = Streams::new(7).stream("arrivals", 0);
    let packets: Vec<(Instant, u32)> = (0..20_000_u64)
        .map(|number| (Instant::from_nanos(number * 50_000_000) + part(ms(10), random.next_f64()), 100))
        .collect();
    let arrived = send(&mut *modem(words).unwrap(), &packets);
    arrived.iter().zip(&packets).map(|(out, (arrival, _))| out.since(*arrival).as_millis_f64()).collect()
}

fn mean(delays: &[f64]) -> f64 {
    delays.iter().sum::<f64>() / delays.len() as f64
}

/// The worked formula: 0.31 + 0.2 + 0.8 + 0.445 ms on the way, and three random parts of a MAP interval.
#[test]
fn a_lone_packet_takes_1_75_ms_and_three_random_parts_of_a_map_interval() {
    for (words, expected, most) in [("", 4.755, 7.77), ("map 1ms", 3.255, 4.77)] {
        let delays = alone(words);
        assert!((mean(&delays) - expected).abs() < 0.03, "{words}: {}", mean(&delays));
        let least = delays.iter().copied().fold(f64::MAX, f64::min);
        let longest = delays.iter().copied().fold(0.0, f64::max);
        assert!(least >= 1.755 && longest <= most, "{words}: {least} to {longest}");
    }
}

/// Without a request: 0.445 ms and a random part of the interval.
#[test]
fn proactive_grants_need_no_request() {
    let delays = alone("ggr 5mbit");
    assert!((mean(&delays) - 1.445).abs() < 0.03, "{}", mean(&delays));
    assert!(delays.iter().all(|delay| (0.445..2.46).contains(delay)));
}

/// 200 modems with 10 requests per second are 0.25 per opportunity. With repetitions 0.357 of them come, so 30 % of
/// the requests are lost: each costs a MAP and a new window.
#[test]
fn other_modems_cost_repetitions() {
    let lost = collision(0.25).unwrap();
    assert!((lost - 0.3).abs() < 0.005, "{lost}");
    let (quiet, busy) = (alone(""), alone("modems 200"));
    // A lost request costs at least 0.51 + 0.8 ms until the modem knows, and half a window of two MAPs on average.
    assert!(mean(&busy) > mean(&quiet) + 0.3 * 3.3, "{} and {}", mean(&quiet), mean(&busy));
    assert!(modem("modems 300").unwrap_err().contains("ask more often"));
}

/// A queue that never empties gets the service flow's rate, in grants of one MAP, and in order.
#[test]
fn a_full_queue_gets_the_rate_and_bursts_leave_at_that_of_the_channel() {
    for words in ["", "map 1ms", "ggr 5mbit", "modems 200", "peak 60mbit burst 3044", "channel 50mbit"] {
        let packets: Vec<(Instant, u32)> = (0..5_000).map(|_| (Instant::ZERO, 1514)).collect();
        let out = send(&mut *modem(words).unwrap(), &packets);
        assert_eq!(out.len(), packets.len());
        assert!(out.windows(2).all(|pair| pair[0] < pair[1]), "{words}: in order");
        let seconds = out.last().unwrap().since(Instant::ZERO).as_secs_f64();
        let mbps = 5_000.0 * 1514.0 * 8.0 / seconds / 1e6;
        // A channel as fast as the flow has no room for headers: 14 of 1528 bytes, and 8 per grant.
        let least = if words.starts_with("channel") { 47.0 } else { 49.0 };
        assert!((least..50.6).contains(&mbps), "{words}: {mbps}");
        let apart = out[2_001].since(out[2_000]).as_nanos().min(out[2_002].since(out[2_001]).as_nanos());
        let line = if words.starts_with("channel") { 244_480 } else { 30_560 };
        assert!(apart.abs_diff(line) < 1_000 || apart > line, "{words}: {apart} ns");
    }
}

/// 1 MB of burst: so much leaves faster than the rate, at the peak rate.
#[test]
fn a_burst_leaves_at_the_peak_rate() {
    let packets: Vec<(Instant, u32)> = (0..600).map(|_| (Instant::ZERO, 1514)).collect();
    let out = send(&mut *modem("burst 1000000 peak 100mbit").unwrap(), &packets);
    let seconds = out[599].since(out[0]).as_secs_f64();
    let mbps = 599.0 * 1514.0 * 8.0 / seconds / 1e6;
    assert!((92.0..104.0).contains(&mbps), "{mbps}");
}

#[test]
fn rates_that_contradict_each_other_are_refused() {
    for (words, wanted) in [
        ("channel 40mbit", "docsis channel: found 40mbit; accepted: the link's rate, 50mbit, or more"),
        ("peak 40mbit", "docsis peak: found 40mbit; accepted: the link's rate, 50mbit, or more"),
        ("ggr 60mbit", "docsis ggr: found 60mbit; accepted: up to the link's rate, 50mbit"),
    ] {
        assert_eq!(modem(words).unwrap_err(), wanted);
    }
}
