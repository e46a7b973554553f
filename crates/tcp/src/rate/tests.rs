use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn estimator() -> RateEstimator {
    let mut rate = RateEstimator::default();
    rate.grow(0..0, 16);
    rate
}

/// Sends segment `number`, of one byte.
fn send(rate: &mut RateEstimator, now: u64, number: u64) {
    rate.on_sent(at(now), number, number == 0, number as u32 + 1);
}

fn deliver(rate: &mut RateEstimator, number: u64, sent_at: u64) {
    rate.on_delivered(number, at(sent_at), SeqNumber(number as u32 + 1));
}

/// Four segments leave at once, RTT 100 ms, and are acknowledged 10 ms apart. The first ACK: 1 segment in the 100
/// ms since its sending (delivered_time was set then). The fourth: 4 segments in 130 ms. A fifth segment, sent on
/// the first ACK and acknowledged at 200 ms, counts from the delivered state at its sending: segments 2 to 5 in 100
/// ms.
#[test]
fn a_sample_counts_what_was_delivered_since_the_segment_was_sent() {
    let mut rate = estimator();
    (0..4).for_each(|number| send(&mut rate, 0, number));
    let mut samples = std::vec![];
    for number in 0..4 {
        deliver(&mut rate, number, 0);
        let sample = rate.sample(at(100 + 10 * number), 1, 0, ms(100));
        samples.push((sample.delivered, sample.interval, sample.prior_delivered));
        if number == 0 {
            send(&mut rate, 100, 4);
        }
    }
    assert_eq!(samples, [1, 2, 3, 4].map(|n| (n, Some(ms(90 + 10 * n)), 0)));
    deliver(&mut rate, 4, 100);
    let sample = rate.sample(at(200), 1, 0, ms(100));
    assert_eq!((sample.delivered, sample.interval, sample.prior_delivered), (4, Some(ms(100)), 1));
    // 4 segments of 1000 bytes in 100 ms.
    assert_eq!(rate.delivery_rate(1000), Rate::from_bps(320_000));
}

/// Slow sending must not look like fast delivery. ACKs that were held back and come together say nothing about the
/// rate, but the time in which the segments were sent does (4.1.1.2).
#[test]
fn the_longer_of_send_and_ack_time_counts() {
    let mut rate = estimator();
    for number in 0..3 {
        send(&mut rate, 50 * number, number);
    }
    for number in 0..3 {
        deliver(&mut rate, number, 50 * number);
    }
    assert_eq!(rate.sample(at(110), 3, 0, ms(10)).interval, Some(ms(110))); // since the first was sent
    send(&mut rate, 111, 3);
    send(&mut rate, 301, 4);
    deliver(&mut rate, 3, 111);
    deliver(&mut rate, 4, 301);
    let sample = rate.sample(at(311), 2, 0, ms(10));
    // Sent 301 − 100 ms after the last delivered segment was sent, and acknowledged 311 − 110 ms after its ACK.
    assert_eq!((sample.delivered, sample.interval), (2, Some(ms(201))));
}

/// Of segments that left together, the one with the higher number is the newest, in whatever order they are
/// reported. The snapshots survive a larger ring. Guards against a sample with the flight of another segment.
#[test]
fn of_segments_that_left_together_the_last_is_the_newest() {
    for order in [[6, 7], [7, 6]] {
        let mut rate = RateEstimator::default();
        rate.grow(0..0, 2);
        (6..8).for_each(|number| rate.on_sent(at(0), number, number == 6, number as u32));
        rate.grow(6..8, 4);
        order.iter().for_each(|&number| deliver(&mut rate, number, 0));
        assert_eq!(rate.sample(at(100), 2, 0, ms(100)).tx_in_flight, 7, "{order:?}");
    }
}

/// 4.1.3.5: a retransmission that seems to take less than any round trip was not the segment that arrived.
#[test]
fn a_sample_in_less_than_the_shortest_rtt_is_none() {
    let mut rate = estimator();
    send(&mut rate, 0, 0);
    deliver(&mut rate, 0, 0);
    assert_eq!(rate.sample(at(40), 1, 0, ms(50)).interval, None);
    assert_eq!(rate.sample(at(41), 0, 0, ms(50)).interval, None);
    assert_eq!(rate.delivery_rate(1000), None);
}

/// The gap leaves the path when the segments in flight with it are delivered, and one segment more.
#[test]
fn samples_are_app_limited_until_the_gap_is_acknowledged() {
    let mut rate = estimator();
    rate.mark_app_limited(0); // nothing sent yet: Linux marks 1
    send(&mut rate, 0, 0);
    send(&mut rate, 0, 1);
    deliver(&mut rate, 0, 0);
    assert!(rate.sample(at(100), 1, 0, ms(100)).is_app_limited && rate.is_app_limited());
    send(&mut rate, 100, 2);
    deliver(&mut rate, 1, 0);
    assert!(rate.sample(at(101), 1, 0, ms(100)).is_app_limited && !rate.is_app_limited());
    send(&mut rate, 101, 3);
    deliver(&mut rate, 2, 100);
    assert!(rate.sample(at(200), 1, 0, ms(100)).is_app_limited);
    deliver(&mut rate, 3, 101);
    assert!(!rate.sample(at(201), 1, 0, ms(100)).is_app_limited);
}

#[test]
fn losses_are_the_acks_own_and_count_since_the_segment_was_sent() {
    let mut rate = estimator();
    (0..4).for_each(|number| send(&mut rate, 0, number));
    rate.on_lost(0);
    rate.on_lost(1);
    let lost: Vec<_> = rate.lost_segments().iter().map(|l| (l.tx_in_flight, l.lost)).collect();
    assert_eq!(lost, [(1, 1), (2, 2)]);
    deliver(&mut rate, 2, 0);
    let sample = rate.sample(at(100), 1, 0, ms(100));
    assert_eq!((sample.losses, sample.lost, sample.tx_in_flight), (2, 2, 3));
    rate.on_lost(3);
    rate.on_timer();
    assert_eq!((rate.sample(at(150), 0, 0, ms(100)).losses, rate.lost()), (0, 3));
}

/// While the shortest RTT is unknown it is zero, and the time of a sample may be zero too. Guards against an
/// infinite rate.
#[test]
fn no_time_is_no_rate() {
    let mut rate = estimator();
    send(&mut rate, 0, 0);
    deliver(&mut rate, 0, 0);
    assert_eq!(rate.sample(at(0), 1, 0, Duration::ZERO).interval, None);
}

/// Two marked segments are sent, the second after the ACK of the first: each sample has one mark. Guards against a
/// sample with the marks of the whole connection.
#[test]
fn marks_count_since_the_segment_was_sent() {
    let mut rate = estimator();
    for number in 0..2 {
        send(&mut rate, 100 * number, number);
        deliver(&mut rate, number, 100 * number);
        assert_eq!(rate.sample(at(100 * (number + 1)), 1, 1, ms(100)).delivered_ce, 1);
    }
}

/// Losses count since the segment left, including itself. The second of two segments, sent and lost in turns,
/// counts one. BBRv3 judges a probe by this.
#[test]
fn losses_count_since_the_segment_was_sent() {
    let mut rate = estimator();
    for number in 0..2 {
        send(&mut rate, 100 * number, number);
        rate.on_lost(number);
    }
    assert_eq!(rate.lost_now.iter().map(|segment| segment.lost).collect::<std::vec::Vec<_>>(), [1, 1]);
}

/// Linux counts whole microseconds of its clock: from 0.9 to 2.1 us are 2 us, and not 1.2.
#[test]
fn times_are_whole_microseconds() {
    let mut rate = estimator();
    rate.on_sent(Instant::from_nanos(900), 0, true, 1);
    rate.on_delivered(0, Instant::from_nanos(900), SeqNumber(1));
    let sample = rate.sample(Instant::from_nanos(2100), 1, 0, Duration::ZERO);
    assert_eq!(sample.interval, Some(Duration::from_micros(2)));
}
