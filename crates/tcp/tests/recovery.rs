//! Recovery and timers of two endpoints whose path delays, reorders and loses segments. RTT is 100 ms. Segment `n` of
//! the client's data is number `n + 1` of the path until something is sent again.

use crate::common::{MSS, Pair, Path, upload};
use goodqueue_tcp::{Cc, Config, CongestionState, Stack};
use goodqueue_units::{Duration, Instant};

fn reno(stack: Stack) -> Config {
    Config { cc: Cc::Reno, stack, ..Config::default() }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A whole window comes 2 s late, as over a radio link that pauses. It would be wrong to keep the window that the
/// timeout set, or to send all of it again.
#[test]
fn a_pause_of_the_path_is_no_congestion() {
    for stack in [Stack::Linux3_10, Stack::Linux3_14, Stack::Linux6_1, Stack::Rfc] {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut pair = upload(reno(stack), 400, Path { pause: Some((at(150), at(2200))), ..Path::default() });
        pair.run_until(2600);
        let stats = pair.client.stats();
        assert!(stats.timeouts >= 1 && stats.undos == 1, "{stack:?}: {stats:?}");
        assert!(
            pair.client.cwnd() >= 15 && pair.client.ssthresh() > 1000,
            "{stack:?}: {}",
            pair.client.cwnd()
        );
        assert!(stats.retransmitted <= 6, "{stack:?}: {stats:?}");
        pair.run(100).expect("it ends");
        assert_eq!(pair.server.delivered_bytes(), 400 * MSS);
    }
}

/// Segments overtake each other by up to eight. RACK waits once it has seen that, and DupThresh grows. RFC 6675 does
/// not adapt.
#[test]
fn linux_learns_of_reordering() {
    let late = |every: usize| (100..1200).step_by(every).map(|n| (n, ms(5))).collect();
    let spurious = |stack| {
        let mut pair = upload(
            Config { initial_ssthresh: 40, ..reno(stack) },
            1200,
            Path { late_data: late(40), spacing: Some(Duration::from_micros(500)), ..Path::default() },
        );
        pair.run(100).expect("it ends");
        let stats = pair.client.stats();
        // One may be needed: PAWS refuses a late segment if a segment that was sent later came into order before it.
        let needed = stats.retransmitted - stats.spurious_retransmissions;
        assert!(needed <= 1 && stats.timeouts == 0, "{stack:?}: {stats:?}");
        stats.retransmitted
    };
    let [old, new, rfc] = [Stack::Linux3_10, Stack::Linux6_1, Stack::Rfc].map(spurious);
    assert!(new <= 3 && old <= 8 && rfc >= 10, "{old} {new} {rfc}");
}

/// The receiver's application stops for a minute. Guards against a transfer that stalls because the ACK that opens the
/// window is lost, or a timeout for segments that were never lost.
#[test]
fn a_closed_window_opens_again_even_if_nobody_says_so() {
    for lose_update in [false, true] {
        let config = Config { receive_window: 30_000, ..reno(Stack::Linux6_1) };
        let mut pair = upload(config, 200, Path::default());
        pair.run_until(120);
        pair.server.pause();
        pair.run_until(60_000);
        assert_eq!((pair.client.in_flight(), pair.client.stats().timeouts), (0, 0));
        if lose_update {
            let next = pair.down.acks_seen;
            pair.down.drop_acks.insert(next);
        }
        pair.server.resume(pair.now);
        pair.run(200).expect("it ends");
        assert_eq!(pair.server.delivered_bytes(), 200 * MSS);
        assert_eq!((pair.client.stats().timeouts, pair.client.stats().retransmitted), (0, 0));
    }
}

/// RFC 9293, 3.6, case 3: both ends send FIN at once, and both FINs are lost.
#[test]
fn both_ends_close_at_once() {
    let mut pair = Pair::alike(reno(Stack::Linux6_1));
    pair.run_until(500);
    let (up, down) = (pair.up.data_seen, pair.down.data_seen);
    pair.up.drop_data.insert(up);
    pair.down.drop_data.insert(down);
    pair.client.close();
    pair.server.close();
    pair.client.write(1000);
    pair.run(10).expect("it ends");
    assert!(pair.client.is_closed() && pair.server.is_closed());
    assert_eq!((pair.client.delivered_bytes(), pair.server.delivered_bytes()), (0, 0), "nothing after FIN");
}

/// Only the tail of each of many short transfers is lost. With a probe it costs two round trips or 200 ms, never a
/// timeout. The probe of the last segment waits longest, for RTO: 50 + 75 ticks end with the 128th, 512 ms, and its ACK
/// comes a round trip later.
#[test]
fn a_probe_spares_the_timeout_whichever_of_the_last_segments_is_lost() {
    for lost in 1..=10 {
        let mut pair = upload(reno(Stack::Linux6_1), 10, Path::drop([lost]));
        let time = pair.run(100).expect("it ends");
        assert_eq!(pair.client.stats().timeouts, 0, "segment {lost}");
        assert!(time <= ms(612), "segment {lost}: {time}");
    }
}

/// The connection leaves every state again.
#[test]
fn a_transfer_that_lost_much_ends_open() {
    for stack in Stack::ALL {
        let mut pair = upload(reno(*stack), 600, Path::drop((30..300).step_by(3)));
        pair.run(200).expect("it ends");
        assert_eq!(pair.server.delivered_bytes(), 600 * MSS);
        assert_eq!(pair.client.state(), CongestionState::Open, "{stack:?}");
    }
}
