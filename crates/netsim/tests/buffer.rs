//! The buffer of a link, as a limit of its discipline.

use crate::common::smallest;
use goodqueue_netsim::Scenario;
use goodqueue_netsim::scenario::without_buffer;
use serde_json::json;

#[test]
fn a_buffer_of_two_bdp_is_a_limit_in_full_frames() {
    // 25 Mbit/s x 50 ms = 156,250 bytes. Twice that is 206.4 frames of 1514. At 1 Mbit/s it is 8.2 frames, so the
    // minimum holds.
    for (rate, limit) in [("25mbit", "limit 206 "), ("1mbit", "limit 10 ")] {
        let mut scenario = smallest();
        scenario["bottleneck"] =
            json!({"rate": rate, "qdisc": "codel", "buffer": {"bdp": 2.0, "min_packets": 10}});
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
        assert!(
            scenario.bottleneck.down.line.to_string().contains(limit),
            "{}",
            scenario.bottleneck.down.line
        );
    }
}

/// A shaper does not queue, the discipline inside it does. `tbf` without a child has its own queue.
#[test]
fn a_buffer_reaches_the_queue_inside_a_shaper() {
    // 206 frames, as above, or their bytes for a queue in bytes.
    let table = [
        ("htb rate 20mbit child codel", "child codel limit 206 "),
        ("htb rate 20mbit", "child pfifo limit 206"),
        ("tbf rate 20mbit child htb child red", "child red limit 311884 "),
        ("tbf rate 20mbit", " limit 311884 "),
    ];
    for (qdisc, limit) in table {
        let mut scenario = smallest();
        scenario["bottleneck"] = json!({"rate": "25mbit", "qdisc": qdisc, "buffer": {"bdp": 2.0}});
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
        assert!(
            scenario.bottleneck.down.line.to_string().contains(limit),
            "{}",
            scenario.bottleneck.down.line
        );
    }
    let mut scenario = smallest();
    scenario["bottleneck"] =
        json!({"rate": "25mbit", "qdisc": "htb child codel limit 9", "buffer": {"bdp": 2.0}});
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert_eq!(error, "bottleneck.buffer: codel has a limit in its line already; accepted: one of them");
}

/// The page leaves the buffer out of the scenario where it does not apply. If the two rules differed, the page would
/// have lines refused that run, or would run lines without the buffer that its slider shows.
#[test]
fn a_buffer_is_refused_exactly_where_it_does_not_apply() {
    let bare = goodqueue_qdisc::registry::ALL.iter().map(|spec| spec.name);
    let lines = [
        "codel limit 9",
        "tbf rate 1mbit burst 5kb latency 50ms",
        "tbf rate 1mbit burst 5kb",
        "htb child cake",
        "htb rate 1mbit child fq_codel",
        "htb child codel limit 9",
        "cake bandwidth 19mbit besteffort",
    ];
    for line in bare.chain(lines) {
        let run = |buffer: bool| {
            let mut scenario = smallest();
            scenario["bottleneck"] = json!({"rate": "25mbit", "qdisc": line});
            if buffer {
                scenario["bottleneck"]["buffer"] = json!({"bdp": 2.0});
            }
            Scenario::from_json(&scenario.to_string()).map(|_| ()).map_err(|error| error.message)
        };
        assert_eq!(run(false), Ok(()), "{line}");
        let why = without_buffer(line);
        let refused = run(true).err().map(|message| message.replace("; accepted: one of them", ""));
        assert_eq!(why, refused, "{line}");
    }
    // A refused line has no buffer that the reader would have to hear of.
    assert_eq!(["", "codle", "codel traget 5ms"].map(without_buffer), [None, None, None]);
    assert!(without_buffer("mac80211").unwrap().contains("no limit"));
}
