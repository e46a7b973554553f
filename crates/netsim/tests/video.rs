//! Videos over whole paths.

use crate::common::run;
use goodqueue_hosts::traffic::video::{VideoResult, VideoSeries};
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

/// A video over a link of `kbps` and 20 ms, with a queue of 100 kB. `more` are keys of the video.
fn scenario(kbps: u64, seconds: u64, more: &Value) -> Value {
    let mut video = json!({"kind": "video"});
    video.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    json!({
        "duration": format!("{seconds}s"), "warmup": "0s", "path": {"rtt": "20ms"}, "series": {"interval": "1s"},
        "bottleneck": {"rate": format!("{kbps}kbit"), "qdisc": "bfifo limit 100000"},
        "traffic": [video],
    })
}

fn found(record: &Record) -> (VideoResult, &VideoSeries) {
    let series = record.series.as_ref().unwrap().kinds.of::<VideoSeries>("videos").next().unwrap();
    (*record.apps[0].result::<VideoResult>().unwrap(), series)
}

/// The ladder's greatest rate below 5 Mbit/s is 2.962 Mbit/s. The throughput rule stays on it once it has seen a
/// segment.
#[test]
fn the_throughput_rule_takes_what_the_link_carries() {
    let record = run(&scenario(5_000, 60, &json!({"rule": "throughput"})));
    let (video, series) = found(&record);
    assert_eq!((video.stalls, Some(video.stalled_ms)), (0, video.start_ms), "it waits for the start alone");
    assert_eq!(series.rate_mbps[0], 0.23, "nothing is known before the first segment");
    assert!(series.rate_mbps[5..].iter().all(|mbps| *mbps == 2.962), "{:?}", series.rate_mbps);
    assert!(series.buffer_s.iter().all(|level| *level <= 25.0), "the buffer holds no more");
}

/// BOLA's buffer settles where the rates below and above the link's take turns, so the link is used.
#[test]
fn bola_uses_the_link_and_stalls_not() {
    let record = run(&scenario(4_000, 120, &json!({"rule": "bola"})));
    let (video, series) = found(&record);
    assert_eq!(video.stalls, 0);
    let late = &series.rate_mbps[series.rate_mbps.len() / 2..];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((2.9..=4.0).contains(&mean), "{mean}");
}

/// A segment of 3 s at 200 kbit/s is 75 kB, 52 packets: 78,432 bytes on Ethernet take 6.275 s at 100 kbit/s. A request
/// and its first packet take a round trip in addition. So a segment comes every 6.3 to 6.5 s and plays for 3 s.
#[test]
fn a_link_of_half_the_rate_stalls_it_for_half_of_the_time() {
    let record = run(&scenario(100, 300, &json!({"rates": ["200kbit"]})));
    let (video, series) = found(&record);
    let times = series.time_s.windows(2).map(|two| two[1] - two[0]);
    assert!(times.clone().all(|s| (6.3..=6.5).contains(&s)), "{:?}", times.collect::<Vec<_>>());
    assert!(
        video.stalls + 2 >= video.segments && video.stalls <= video.segments,
        "one stall per segment: {video:?}"
    );
    assert!((video.played_ms + video.stalled_ms - 300_000.0).abs() < 0.01, "no time is lost: {video:?}");
}

/// A segment of the lowest rate, 86.25 kB, takes more than 23 s at 30 kbit/s. A player that waited for 20 s has no
/// rate: it would be wrong to take the one that it asked for.
#[test]
fn a_video_that_never_starts_has_no_rate_and_waits() {
    let record = run(&scenario(30, 20, &json!({})));
    let (video, _) = found(&record);
    assert_eq!((video.segments, video.completed, video.rate_mbps, video.start_ms), (1, 0, None, None));
    assert_eq!((video.stalls, video.stalled_ms, video.played_ms), (1, 20_000.0, 0.0));
    assert_eq!((record.apps[0].never_started, record.apps[0].unfinished), (1, 0));
}

/// A video of 60 s in a run of 20 s has started, and has not ended. Without a length it has no end.
#[test]
fn a_video_with_a_length_that_is_cut_is_unfinished() {
    for (more, unfinished) in [(json!({"length": "60s"}), 1), (json!({"length": "10s"}), 0), (json!({}), 0)] {
        let record = run(&scenario(5_000, 20, &more));
        assert_eq!((record.apps[0].never_started, record.apps[0].unfinished), (0, unfinished), "{more}");
    }
}

/// 10 s are four segments of 3 s. After the last one the connection closes, and an empty buffer is no stall.
#[test]
fn a_video_has_an_end() {
    let record = run(&scenario(5_000, 60, &json!({"length": "10s", "rates": ["1mbit"]})));
    let (video, series) = found(&record);
    assert_eq!((video.segments, series.time_s.len()), (4, 4));
    assert_eq!((video.played_ms, video.stalls), (12_000.0, 0));
}

/// A stop is the viewer's: what is in the buffer is shown, and no stall follows.
#[test]
fn a_stop_is_no_stall() {
    let record = run(&scenario(5_000, 60, &json!({"stop": "20s", "rates": ["1mbit"]})));
    let (video, series) = found(&record);
    assert_eq!(video.stalls, 0);
    assert_eq!(video.played_ms, 3_000.0 * series.time_s.len() as f64);
}

#[test]
fn a_mistake_is_one_line() {
    let said =
        |more: Value| Scenario::from_json(&scenario(5_000, 60, &more).to_string()).unwrap_err().to_string();
    let wrong = [
        (json!({"rates": []}), "traffic[0].rates: found 0 rates; accepted: 1 to 100"),
        (json!({"rates": "1mbit"}), "traffic[0].rates: found string \"1mbit\"; accepted: a list of rates"),
        (
            json!({"rates": ["2mbit", "1mbit"]}),
            "traffic[0].rates[1]: found 1mbit after 2mbit; accepted: a greater rate",
        ),
        (json!({"buffer": "5s"}), "traffic[0].buffer: found 5s; accepted: two segments or more, 6s"),
        (json!({"rule": "bolo"}), "traffic[0].rule: found \"bolo\"; did you mean \"bola\"?"),
    ];
    for (more, line) in wrong {
        assert!(said(more.clone()).starts_with(line), "{more}: {}", said(more.clone()));
    }
}
