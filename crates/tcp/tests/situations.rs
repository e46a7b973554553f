//! Named situations of two endpoints. RTT is 100 ms. The client's data segment 0 is the SYN, so segment `n` of data is
//! number `n + 1` of the path until something is retransmitted. The ACK of the handshake leaves at 100 ms, and the
//! first data with it.

use crate::common::{MSS, Pair, Path, upload};
use goodqueue_tcp::{Cc, Config, CongestionState, EcnMode, SeqNumber, Stack};
use goodqueue_units::{Duration, Ecn};

fn reno() -> Config {
    Config { cc: Cc::Reno, ..Config::default() }
}

fn finish(pair: &mut Pair, bytes: u64) -> Duration {
    let time = pair.run(300).expect("the transfer ends");
    assert_eq!((pair.server.delivered_bytes(), pair.client.acked_bytes()), (bytes, bytes));
    assert!(pair.client.is_closed() && pair.server.is_closed());
    assert_eq!((pair.client.in_flight(), pair.server.in_flight()), (0, 0));
    time
}

/// Guards against a growth of 1.5× (ACKs counted instead of segments), or growth after a round trip that did not fill
/// the window.
#[test]
fn slow_start_doubles_each_round_trip() {
    let mut pair = Pair::alike(reno());
    pair.client.write_unlimited();
    for (ms, sent) in [(150, 10), (250, 30), (350, 70), (450, 150), (550, 310)] {
        pair.run_until(ms);
        assert_eq!(pair.up.data_seen - 1, sent, "at {ms} ms");
        assert_eq!(u64::from(pair.client.cwnd()), sent + 10 - sent / 2 - 5, "at {ms} ms");
    }
}

/// With one ACK per two segments Linux 3.10 grows by half per round trip. Quick ACKs hide that: for as many segments as
/// half the first window has, and for those that let the receive window grow.
#[test]
fn slow_start_of_linux_3_10_counts_acks() {
    let mut pair = Pair::alike(Config { stack: Stack::Linux3_10, ..reno() });
    pair.client.write_unlimited();
    // 10 segments let the window grow from 14 600 to 42 230 bytes: 10 single ACKs. Of 5 quick ACKs 4 are left: 4 and
    // 16/2. The 20 segments of that round trip make room for 57 920 bytes: 6 growths, the first of which acknowledges
    // two segments. Then come pairs, and segments that say PSH, because half of the window was written: these do not
    // wait for their timers. 20 ACKs of 33 segments were counted.
    for (ms, cwnd) in [(150, 10), (250, 20), (350, 33), (450, 53)] {
        pair.run_until(ms);
        assert_eq!(pair.client.cwnd(), cwnd, "at {ms} ms");
    }
}

/// Guards against a timeout, a second retransmission, or a window that falls twice or not at all.
#[test]
fn one_loss_costs_one_retransmission_and_half_the_window() {
    let mut pair = upload(reno(), 200, Path::drop([31]));
    let time = finish(&mut pair, 200 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.retransmitted, stats.timeouts, stats.fast_recoveries), (1, 0, 1));
    assert!(pair.client.ssthresh() < 50 && time < Duration::from_millis(1500), "{time}");
}

/// Several holes in one window. Guards against one round trip per hole (as without SACK), or a timeout.
#[test]
fn many_losses_in_a_window_are_repaired_in_few_round_trips() {
    let mut pair = upload(reno(), 150, Path::drop([71, 75, 76, 80, 91, 95, 100, 110]));
    let time = finish(&mut pair, 150 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.retransmitted, stats.timeouts, stats.fast_recoveries), (8, 0, 1));
    assert!(time < Duration::from_millis(1200), "{time}");
}

/// The retransmission of segment 30 is lost too. Guards against a timeout: later data shows the loss.
#[test]
fn a_lost_retransmission_is_repaired_without_a_timeout() {
    let mut pair = upload(reno(), 200, Path::drop([31]));
    while pair.client.stats().retransmitted == 0 {
        assert!(pair.step(pair.now + Duration::from_secs(1)));
        if pair.client.state() == CongestionState::Recovery && pair.up.drop_data.len() == 1 {
            let next = pair.up.data_seen;
            pair.up.drop_data.insert(next); // the retransmission is the next segment to leave
        }
    }
    finish(&mut pair, 200 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.retransmitted, stats.timeouts, stats.fast_recoveries), (2, 0, 1));
}

/// Nothing follows the last segment, so only time can show its loss: SRTT + 200 ms for Linux's probe, 1 s for the timer
/// of RFC 6298.
#[test]
fn a_lost_tail_waits_for_the_probe_or_the_timer() {
    let mut pair = upload(reno(), 10, Path::drop([10]));
    let time = finish(&mut pair, 10 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.timeouts, stats.tlp_probes, stats.fast_recoveries), (0, 1, 0));
    // The first data leaves at 100 ms, and its ACKs come at 200 ms. The probe leaves RTO of 300 ms later, 50 + 75
    // ticks, with the next eighth tick, the 128th, at 512 ms. It takes one round trip.
    assert_eq!(time, Duration::from_millis(612));

    let mut pair = upload(Config { stack: Stack::Rfc, ..reno() }, 10, Path::drop([10]));
    let time = finish(&mut pair, 10 * MSS);
    assert_eq!((pair.client.stats().timeouts, pair.client.stats().fast_recoveries), (1, 0));
    assert!(time >= Duration::from_millis(1200), "{time}");
}

/// Two of the last three segments arrive. Guards against a timeout.
#[test]
fn a_loss_among_the_last_three_is_retransmitted_early() {
    let mut pair = upload(reno(), 10, Path::drop([8]));
    finish(&mut pair, 10 * MSS);
    assert_eq!((pair.client.stats().timeouts, pair.client.stats().retransmitted), (0, 1));
}

/// A whole window is lost. Linux repairs it by the probe and a fast recovery, the RFCs by the timer and then slow start
/// over the missing segments.
#[test]
fn a_lost_window_is_sent_again_by_recovery_or_slow_start() {
    // With one ACK for two segments, RFC 5681's window is 15 in the second round trip.
    for (stack, window, expected) in [(Stack::Linux6_1, 20, (0, 20, 1)), (Stack::Rfc, 15, (1, 15, 0))] {
        let mut pair = upload(Config { stack, ..reno() }, 30, Path::drop(11..11 + window));
        finish(&mut pair, 30 * MSS);
        let stats = pair.client.stats();
        assert_eq!((stats.timeouts, stats.retransmitted, stats.fast_recoveries), expected, "{stack:?}");
    }
}

/// Later ACKs cover the lost ones. Guards against any retransmission.
#[test]
fn lost_acks_cost_nothing_while_others_follow() {
    let mut pair = upload(reno(), 200, Path::default());
    pair.down.drop_acks = (0..100).filter(|n| n % 3 != 0).collect();
    finish(&mut pair, 200 * MSS);
    assert_eq!((pair.client.stats().retransmitted, pair.client.stats().timeouts), (0, 0));
}

#[test]
fn lost_syn_and_lost_syn_ack_cost_a_second_each() {
    let mut pair = upload(reno(), 10, Path::drop([0]));
    // The SYN leaves at a tick of 32 ms, 1024. The server ends the handshake at 1174, its FIN leaves at 1224, and the
    // ACK of that arrives at 1274.
    assert_eq!(finish(&mut pair, 10 * MSS), Duration::from_millis(1274));
    let mut pair = upload(reno(), 10, Path::default());
    pair.down = Path::drop([0]);
    let time = finish(&mut pair, 10 * MSS);
    // Both timers run: the server's own SYN-ACK leaves at 1056 ms, and the client's SYN reaches the server at 1074.
    assert_eq!(time, Duration::from_millis(1256));
}

/// Guards against a retransmission, a second reduction by the ECEs that follow the first, or no CWR (ECE would then
/// never end).
#[test]
fn a_mark_reduces_once_and_loses_nothing() {
    let mut pair = upload(Config { ecn: EcnMode::Classic, ..reno() }, 300, Path::default());
    pair.up.mark_data = [35, 36, 40].into();
    finish(&mut pair, 300 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.ecn_reductions, stats.retransmitted, stats.timeouts), (1, 0, 0));
    assert!(pair.client.ssthresh() < 40);
    let cwr = pair.up.log.iter().filter(|(_, s)| s.flags.contains(goodqueue_tcp::Flags::CWR)).count();
    assert_eq!(cwr, 2, "the SYN, and the one new segment after the reduction");
    assert!(pair.up.log.iter().all(|(_, s)| (s.ecn == Ecn::Ect0) == (s.payload_len > 0)));
}

/// Guards against a loss in one direction that costs the other a retransmission, or stops it.
#[test]
fn both_directions_flow_at_once_and_are_repaired_apart() {
    let mut pair = upload(reno(), 300, Path::drop([31, 60]));
    pair.down = Path::drop([45]);
    pair.server = goodqueue_tcp::Connection::server(reno());
    pair.server.write(300 * MSS);
    pair.server.close();
    finish(&mut pair, 300 * MSS);
    assert_eq!((pair.client.delivered_bytes(), pair.server.acked_bytes()), (300 * MSS, 300 * MSS));
    assert_eq!((pair.client.stats().retransmitted, pair.server.stats().retransmitted), (2, 1));
}

/// A burst overtakes its first segment. That looks like a loss, and costs one needless retransmission, but does not
/// stop the stream.
#[test]
fn reordering_beyond_dupthresh_is_taken_for_loss() {
    let mut pair = upload(reno(), 100, Path::default());
    pair.up.late_data = [(1, Duration::from_millis(1))].into();
    finish(&mut pair, 100 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.fast_recoveries, stats.retransmitted, stats.timeouts), (1, 1, 0));
}

#[test]
fn fin_alone_is_lost_and_sent_again() {
    let mut pair = upload(reno(), 10, Path::drop([11]));
    let mut alone = Pair::alike(reno());
    alone.client.write(10 * MSS);
    alone.run_until(1000);
    alone.client.close();
    alone.server.close();
    alone.up.drop_data = [11].into();
    let time = alone.run(10).expect("it ends");
    assert!(alone.client.is_closed() && alone.server.is_closed());
    assert_eq!((alone.client.stats().tlp_probes, time > Duration::from_millis(1250)), (1, true));
    finish(&mut pair, 10 * MSS);
}

/// Sequence numbers pass 2³² within the first window. Guards against any difference to the same run without that.
#[test]
fn the_wrap_of_sequence_numbers_changes_nothing() {
    let run = |initial| {
        let config = Config { initial_sequence: SeqNumber(initial), ..Config::default() };
        let mut pair = upload(config, 500, Path::drop([5, 31, 32, 200, 333]));
        (finish(&mut pair, 500 * MSS), pair.client.stats(), pair.client.cwnd())
    };
    let expected = run(0);
    for initial in [u32::MAX, u32::MAX - 1, u32::MAX - 20_000, u32::MAX - 300_000, (1 << 31) - 20_000] {
        assert_eq!(run(initial), expected, "{initial}");
    }
}

/// CUBIC over a path without a queue: HyStart must not leave slow start while the RTT stays the same.
#[test]
fn cubic_recovers_to_its_old_window() {
    let mut pair = Pair::alike(Config { initial_ssthresh: 100, ..Config::default() });
    pair.client.write_unlimited();
    pair.run_until(500);
    let next = pair.up.data_seen;
    pair.up.drop_data.insert(next);
    pair.run_until(1000);
    let (cwnd, ssthresh) = (pair.client.cwnd(), pair.client.ssthresh());
    assert!(ssthresh < 90 && cwnd >= ssthresh, "{cwnd} {ssthresh}");
    pair.run_until(10_000);
    assert!(pair.client.cwnd() > 100);
    let mut names = vec![];
    pair.client.probe(&mut |name, _| names.push(name));
    assert!(names.contains(&"w_max_segments"));
}

/// RFC 9768: every mark is reported once. Guards against a count that loses marks because of delayed ACKs or the three
/// bits.
#[test]
fn accurate_feedback_tells_of_every_mark() {
    let mut pair = upload(Config { ecn: EcnMode::Accurate, ..reno() }, 400, Path::default());
    // The SYN is segment 0, and not ECT. Marks come alone, in pairs, and in runs longer than the counter's eight.
    pair.up.mark_data = (20..=20).chain(30..32).chain(100..123).chain((200..300).step_by(2)).collect();
    let marks = pair.up.mark_data.len() as u64;
    finish(&mut pair, 400 * MSS);
    let stats = pair.client.stats();
    assert_eq!((stats.delivered_ce, stats.retransmitted), (marks, 0));
    assert!(stats.ecn_reductions >= 3 && u64::from(stats.ecn_reductions) < marks, "once a window: {stats:?}");
}

/// RFC 8257, 3.2: as many segments count as marked as were marked, because ACKs do not span a change.
#[test]
fn dctcps_echo_tells_of_every_mark() {
    let dctcp = Config { cc: Cc::Dctcp, ecn: EcnMode::Classic, ..Config::default() };
    let mut pair = upload(dctcp, 400, Path::default());
    pair.up.mark_data = (20..=20).chain(30..33).chain(100..123).chain((200..300).step_by(2)).collect();
    let marks = pair.up.mark_data.len() as u64;
    finish(&mut pair, 400 * MSS);
    assert_eq!(pair.client.stats().delivered_ce, marks);
}

/// A program cannot take back what it has written: the data in its socket is sent after its close.
#[test]
fn what_the_socket_holds_leaves_after_the_close() {
    let mut pair = Pair::alike(Config { unsent_limit: 64 << 10, ..reno() });
    pair.client.write_unlimited();
    pair.run_until(250);
    let sent = (pair.up.data_seen - 1) * MSS;
    pair.client.close();
    pair.server.close();
    pair.run(300).expect("the transfer ends");
    let delivered = pair.server.delivered_bytes();
    assert!((sent + (32 << 10)..=sent + (128 << 10)).contains(&delivered), "{sent} {delivered}");
    assert!(pair.client.is_closed() && pair.server.is_closed());
}

/// A sink reads the peer's last byte, and closes. The ACK of that byte leaves before the FIN.
#[test]
fn a_sink_closes_when_it_has_read_all() {
    let mut pair = Pair::new(reno(), Config { closes_at_end: true, ..reno() });
    pair.client.write(5 * MSS);
    pair.client.close();
    finish(&mut pair, 5 * MSS);
}
