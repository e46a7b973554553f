//! Applications above TCP, compared with times calculated by hand.
//!
//! Every wire here has 10 Mbit/s (0.8 µs per byte). A full segment (1514 bytes) takes 1211.2 µs, a bare ACK (66
//! bytes) 52.8 µs, a SYN or SYN-ACK (74 bytes) 59.2 µs. Unless noted, 25 ms of propagation follow in each direction.

use crate::common::{access_link, assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_hosts::traffic::rr::RrResult;
use goodqueue_hosts::traffic::stream::StreamResult;
use goodqueue_hosts::traffic::transfer::TransferResult;
use goodqueue_netsim::Record;
use serde_json::json;

fn transfer(record: &Record, index: usize) -> TransferResult {
    *record.apps[index].result::<TransferResult>().unwrap()
}

fn rr(record: &Record) -> RrResult {
    *record.apps[0].result::<RrResult>().unwrap()
}

fn stream(record: &Record) -> StreamResult {
    *record.apps[0].result::<StreamResult>().unwrap()
}

/// Returns how many things of the first application never started, and how many were unfinished.
fn undone(record: &Record) -> (u64, u64) {
    (record.apps[0].never_started, record.apps[0].unfinished)
}

/// 1,000,000 bytes are 690 full segments and one of 880 bytes, which is 946 bytes on the wire. Slow start sends 10,
/// 20 and 40 segments in rounds of 51.264 ms (one segment's time, one ACK's time, and 50 ms of propagation). The
/// fourth round, of 80 segments, is longer than a round trip, so from its start on the link is never idle. Linux
/// acknowledges each of the first 16 segments and then every second one, so the first ACK of the third round waits
/// for a second segment.
#[test]
fn a_download_takes_its_handshake_its_rounds_of_slow_start_and_its_serialisation() {
    let record = run(&access_link(&json!([{"kind": "transfer", "size": "1MB"}])));
    let result = transfer(&record, 0);
    let handshake_us = 25_059.2 + 25_059.2 + 25_052.8;
    let rounds_us = 3.0 * (1211.2 + 52.8 + 50_000.0) + 1211.2;
    let rest_us = (690.0 - 70.0) * 1211.2 + 756.8 + 25_000.0;
    let wanted_ms = (handshake_us + rounds_us + rest_us) / 1000.0;
    let got = result.completion_ms.unwrap().mean;
    assert!((got - wanted_ms).abs() < 1e-6, "{got} {wanted_ms}");
    assert_eq!((result.count, result.completed), (1, 1));
    let flow = &record.flows[0];
    assert_eq!(
        (flow.completion_ms, flow.bytes_sent, flow.bytes_retrans),
        (Some(got), Some(1_000_000), Some(0))
    );
}

/// The user's SYN, the SYN-ACK, then 5 segments and the remaining 760 bytes. The ACK and the data leave together.
#[test]
fn an_upload_ends_when_the_far_side_has_all() {
    let record = run(&access_link(&json!([{"kind": "transfer", "size": "8kB", "direction": "up"}])));
    let wanted_ms = (2.0 * 25_059.2 + 52.8 + 5.0 * 1211.2 + (760.0 + 66.0) * 0.8 + 25_000.0) / 1000.0;
    let got = transfer(&record, 0).completion_ms.unwrap().mean;
    assert!((got - wanted_ms).abs() < 1e-6, "{got} {wanted_ms}");
}

/// 1000 bytes are 1066 on the wire, 852.8 µs in each direction. An ACK of 66 bytes precedes the first request, the
/// first response and the second request: that of the handshake, and those of the data before, as both ends do not take
/// turns yet.
#[test]
fn an_exchange_takes_a_round_trip_and_its_serialisation() {
    let record =
        run(&access_link(&json!([{"kind": "rr", "request": "1kB", "response": "1kB", "repeat": 10}])));
    let times = rr(&record).response_ms.unwrap();
    let one = 2.0 * (25.0 + 0.8528);
    assert!((times.min - one).abs() < 1e-6, "{times:?} {one}");
    assert!((times.max - (one + 2.0 * 0.0528)).abs() < 1e-6, "{times:?}");
    assert!((times.mean - (one + 3.0 * 0.00528)).abs() < 1e-6, "{times:?}");
    assert_eq!((rr(&record).count, rr(&record).completed), (10, 10));
}

/// Beside flows that keep a short queue full, a transfer's SYN, data, FIN or last ACK is lost somewhere. All
/// transfers must still end, one after the other.
#[test]
fn transfers_end_whatever_is_lost() {
    for direction in ["down", "up"] {
        let mut lossy = access_link(&json!([
            {"kind": "transfer", "size": "20kB", "interval": "10ms", "direction": direction},
            {"kind": "bulk", "count": 6},
            {"kind": "bulk", "count": 6, "name": "back", "direction": "up"},
        ]));
        lossy["bottleneck"]["qdisc"] = json!("pfifo limit 10");
        lossy["duration"] = json!("300s");
        let record = run(&lossy);
        let result = transfer(&record, 0);
        assert!(
            record.flows[0].loss_percent > Some(3.0) && record.flows[0].timeouts > Some(10),
            "{:?}",
            record.flows[0]
        );
        assert!(result.count > 100 && result.count - result.completed <= 1, "{result:?}");
        let flow = &record.flows[0];
        // A lost last segment is probed for before the timeout. If the segment was only late, the probe is a
        // duplicate.
        assert!(flow.tlp_probes.unwrap() > 10 && flow.spurious_retransmissions < flow.retransmitted);
        let new_bytes = flow.bytes_sent.unwrap() - flow.bytes_retrans.unwrap();
        let most = result.count * 20_000;
        assert!(new_bytes <= most && new_bytes >= most - 20_000, "{new_bytes} of {most}: {flow:?}");
    }
}

/// As with `write` and then `close` (RFC 9293, 3.10.4): 1 kB is segmented before the FIN, so the packets down are
/// SYN-ACK, data, FIN and the ACK of the user's FIN. Of 20 kB, 14 segments, four wait for the window, and the FIN is
/// in the last one: 16 packets. Linux 6.1 does the same. It would be wrong to send the FIN with the data whenever
/// both are due: if the tail of a short transfer were lost, a probe would then repair the tail, and not only the FIN.
#[test]
fn a_fin_goes_with_data_only_where_that_had_to_wait() {
    for (size, packets) in [("1kB", 4), ("20kB", 16)] {
        let record = run(&access_link(&json!([{"kind": "transfer", "size": size, "repeat": 1}])));
        assert_eq!(record.queues.down.packets.offered, packets, "{size}");
    }
}

#[test]
fn repeated_transfers_begin_so_long_after_the_one_before() {
    let asked = json!([{"kind": "transfer", "size": "1kB", "repeat": 5, "interval": "1s"}]);
    let record = run(&access_link(&asked.clone()));
    let result = transfer(&record, 0);
    // Three packets for the handshake and one of data, with 25 ms of propagation each: 101.0 ms.
    let one = (2.0 * 25_059.2 + 25_052.8 + 1066.0 * 0.8 + 25_000.0) / 1000.0;
    assert!((result.completion_ms.unwrap().mean - one).abs() < 1e-6, "{result:?}");
    assert_eq!((result.count, result.completed, record.flows[0].completion_ms), (5, 5, None));
    // The transfers begin at 0, 1.101, 2.202, 3.303 and 4.404 s: one after a warm-up of 3.35 s, two after 3.25 s.
    for (warmup, count) in [("3350ms", 1), ("3250ms", 2)] {
        let mut late = access_link(&asked.clone());
        late["warmup"] = json!(warmup);
        assert_eq!(transfer(&run(&late), 0).count, count);
    }
    let mut endless =
        access_link(&json!([{"kind": "transfer", "size": "1kB", "interval": "900ms", "stop": "5s"}]));
    assert_eq!(transfer(&run(&endless), 0).count, 5, "at 0, 1, 2, 3 and 4 s and a little");
    endless["traffic"][0]["stop"] = json!("3s");
    assert_eq!(transfer(&run(&endless), 0).count, 3);
}

#[test]
fn a_far_side_that_asks_is_answered_by_the_user() {
    let record = run(&access_link(
        &json!([{"kind": "rr", "request": "100B", "response": "1kB", "direction": "up", "repeat": 3}]),
    ));
    // 166 bytes down and 1066 bytes up.
    let one = 50.0 + (166.0 + 1066.0) * 0.8e-3;
    assert!((rr(&record).response_ms.unwrap().min - one).abs() < 1e-6, "{record:?}");
    assert_eq!(record.flows[0].bytes_sent, Some(3000), "the responses, which go up");
}

/// An exchange and its think time take 151.7 ms, which gives 131 or 132 exchanges in 20 s after a handshake of 50 ms.
/// With random think times the sum has a standard deviation of a sixteenth of it.
#[test]
fn thinking_takes_its_time() {
    let asked = |key: &str, seed: u64| {
        let mut asked =
            access_link(&json!([{"kind": "rr", "request": "1kB", "response": "1kB", key: "100ms"}]));
        asked["seed"] = json!(seed);
        rr(&run(&asked)).count
    };
    assert_eq!(asked("think", 1), 132);
    let drawn: Vec<u64> = (1..=20).map(|seed| asked("think_mean", seed)).collect();
    assert!(drawn.iter().all(|count| (100..165).contains(count)), "{drawn:?}");
    assert!(drawn.iter().any(|count| *count != drawn[0]), "every seed draws the same: {drawn:?}");
    let mean = drawn.iter().sum::<u64>() as f64 / 20.0;
    assert!((mean - 131.5).abs() < 6.0, "three standard deviations of the mean: {mean}");
}

/// A chunk of 2500 bytes is 1514 and 1118 bytes on the wire: 2.1056 ms plus the propagation. The first chunk is
/// written when the handshake ends, 75.1712 ms after the start, and 996 more in the remaining 19.9248 s.
#[test]
fn a_stream_that_fits_takes_its_chunks_time_and_never_stalls() {
    let record = run(&access_link(&json!([{"kind": "stream", "rate": "1mbit", "interval": "20ms"}])));
    let result = stream(&record);
    let delay = result.delay_ms.unwrap();
    assert!((delay.min - 27.1056).abs() < 1e-6 && (delay.max - 27.1056).abs() < 1e-6, "{delay:?}");
    assert_eq!((result.count, result.completed), (997, 995), "two are on their way");
    let start_ms = 75.1712 + 27.1056;
    assert_eq!(
        (result.stalls, result.stalled_ms, result.start_ms),
        (0, start_ms, Some(start_ms)),
        "the start alone"
    );
    assert_eq!(result.played_ms, 20_000.0 - start_ms);
    assert_eq!(undone(&record), (0, 0));
    assert_eq!(record.flows[0].goodput_mbps, 0.995);
}

/// A chunk of 6 s at 5 Mbit/s takes more than 30 s at 1 Mbit/s. The player waits for all of the 20 s, and it would be
/// wrong to say that it never stalled. A `stop` at 12 s ends the wait.
#[test]
fn a_stream_that_never_starts_is_waited_for_all_the_time() {
    let mut asked = access_link(&json!([{"kind": "stream", "rate": "5mbit", "interval": "6s"}]));
    asked["bottleneck"]["rate"] = json!("1mbit");
    let record = run(&asked);
    let result = stream(&record);
    assert_eq!((result.completed, result.delay_ms.is_none(), result.start_ms), (0, true, None));
    assert_eq!((result.stalls, result.stalled_ms, result.played_ms), (1, 20_000.0, 0.0));
    assert_eq!(undone(&record), (1, 0));
    asked["warmup"] = json!("5s");
    let late = stream(&run(&asked));
    assert_eq!((late.stalls, late.stalled_ms, late.played_ms), (1, 15_000.0, 0.0));
}

/// Three transfers of 1 MB, one after the other, take 8 s each at 1 Mbit/s. In 5 s not even the first one ends. In 12 s
/// one has ended and one is under way. What began in the warm-up must not be forgotten.
#[test]
fn transfers_that_the_end_of_the_run_cuts_are_counted() {
    let mut asked = access_link(&json!([{"kind": "transfer", "size": "1MB", "repeat": 3}]));
    asked["bottleneck"]["rate"] = json!("1mbit");
    for (seconds, warmup, count, completed, of_all) in
        [(5, 0, 1, 0, (2, 1)), (12, 0, 2, 1, (1, 1)), (5, 3, 0, 0, (2, 1)), (40, 0, 3, 3, (0, 0))]
    {
        (asked["duration"], asked["warmup"]) = (json!(format!("{seconds}s")), json!(format!("{warmup}s")));
        let record = run(&asked);
        let found = record.apps[0].result::<TransferResult>().unwrap();
        assert_eq!(
            (found.count, found.completed, undone(&record)),
            (count, completed, of_all),
            "{seconds} s"
        );
    }
    asked["traffic"][0]["stop"] = json!("4s");
    assert_eq!(
        undone(&run(&asked)),
        (2, 0),
        "the first one ends after the stop, and the others do not begin"
    );
}

/// A page whose packets all get lost never starts, nor does a call, a ping, an exchange, a video, a test, or media.
#[test]
fn what_gets_nothing_through_never_starts() {
    let kinds = [
        "stream",
        "voip",
        "ping",
        "page",
        "rr",
        "video",
        "rpm",
        "media",
        "web_users",
        "packmime",
        "transfer",
    ];
    for kind in kinds {
        let mut traffic = json!({"kind": kind});
        let more = match kind {
            "stream" => json!({"rate": "1mbit"}),
            "rr" => json!({"request": "1kB", "response": "1kB"}),
            "web_users" => json!({"users": 3, "think": "1s"}),
            "transfer" => json!({"size": "1kB"}),
            _ => json!({}),
        };
        traffic.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut asked = access_link(&json!([traffic]));
        asked["hop"] = json!([{"name": "gone", "kind": "wire", "loss": "100%"}]);
        let record = run(&asked);
        let (never_started, unfinished) = undone(&record);
        assert!(never_started > 0 && unfinished == 0, "{kind}: {:?}", record.apps[0]);
        assert!(record.flows.iter().all(|flow| flow.goodput_mbps == 0.0), "{kind}");
        if !matches!(kind, "packmime" | "web_users") {
            assert_eq!(never_started, 1, "{kind}");
        }
    }
}

/// The stream has twice the rate of the link. The player gets 0.956 Mbit/s of the 2 Mbit/s that it needs, and waits
/// for the rest of the time.
#[test]
fn a_stream_that_does_not_fit_stalls_for_what_is_missing() {
    let mut asked = access_link(&json!([{"kind": "stream", "rate": "2mbit", "interval": "20ms"}]));
    asked["bottleneck"]["rate"] = json!("1mbit");
    let result = stream(&run(&asked));
    // The player plays 20 ms per chunk that arrived. It began when the first chunk had arrived.
    let first_ms = 75.0 + (74.0 + 74.0 + 66.0) * 8e-3 + 25.0 + (5000.0 + 4.0 * 66.0) * 8e-3;
    assert!((result.start_ms.unwrap() - first_ms).abs() < 1e-3, "{result:?} {first_ms}");
    let unplayed_ms = 20_000.0 - 20.0 * result.completed as f64;
    assert!((result.stalled_ms - unplayed_ms).abs() < 1e-3, "{result:?} {unplayed_ms}");
    assert!(result.stalled_ms > 9_000.0 && result.stalls > 100, "{result:?}");
    let goodput = result.completed as f64 * 5000.0 * 8.0 / 20e6;
    assert!((goodput - 0.956).abs() < 0.02, "{goodput}");
}

/// The series are what `ss -tin` would show of a sender that sends for two seconds. They are null after its
/// connection has ended.
#[test]
fn tcps_variables_are_sampled_on_request() {
    let mut asked = access_link(&json!([{"kind": "transfer", "size": "2MB"}, {"kind": "ping"}]));
    asked["series"] = json!({"interval": "100ms", "tcp": true});
    let record = run(&asked);
    let series = &record.series.unwrap().flows;
    assert!(series[1].tcp.is_none(), "a ping has none");
    let tcp = series[0].tcp.as_ref().unwrap();
    assert_eq!(tcp.rtt_ms.len(), 200);
    let rtt = tcp.rtt_ms[5].unwrap();
    assert!(rtt > 50.0 && rtt < 200.0, "{rtt}");
    assert!(tcp.rto_ms[5].unwrap() >= rtt + 200.0, "Linux's floor: {:?}", tcp.rto_ms[5]);
    assert!(tcp.rttvar_ms[5].unwrap() > 0.0 && tcp.unacked_packets[5].unwrap() > 30, "{tcp:?}");
    assert_eq!((tcp.rtt_ms[100], tcp.rto_ms[100], series[0].cwnd_packets[100]), (None, None, None));
}

#[test]
fn applications_repeat_and_seeds_differ_and_a_cut_run_is_the_same() {
    let mut asked = access_link(&json!([
        {"kind": "transfer", "size": "50kB", "interval": "50ms", "count": 5, "start_spread": "1s"},
        {"kind": "rr", "request": "2kB", "response": "30kB", "think_mean": "80ms", "count": 3, "direction": "up"},
        {"kind": "stream", "rate": "1500kbit", "start_spread": "1s"},
        {"kind": "bulk", "ecn": true},
    ]));
    asked["bottleneck"]["qdisc"] = json!("fq_codel limit 60 flows 8");
    asked["warmup"] = json!("2s");
    assert_cut_is_the_same_and_seeds_differ(asked);
}
