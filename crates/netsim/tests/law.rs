//! `series.law` and `series.cc`: the variables of a law and of a congestion control at the end of each interval, in the
//! units that their names say.

use crate::common::run;
use goodqueue_netsim::{Record, Scenario};
use goodqueue_qdisc::registry;
use serde_json::{Value, json};

/// Packets of 1500 bytes arrive every 0.5 ms at a link that takes 1 ms per packet. As long as none is dropped, packet
/// n begins its transmission at n ms and has waited n/2 ms.
fn overload(qdisc: &str, duration: &str) -> Value {
    json!({
        "duration": duration,
        "bottleneck": {"rate": "12mbit", "qdisc": qdisc, "up": {"rate": "12mbit", "qdisc": "pfifo"}},
        "path": {"rtt": "10ms"},
        "traffic": [{"kind": "cbr", "rate": "24mbit", "packet_size": 1500}],
        "series": {"interval": "50ms", "law": true},
    })
}

fn variable(record: &Record, name: &str) -> Vec<Option<f64>> {
    let law = record.series.as_ref().unwrap().queues.down.law.as_ref().unwrap();
    law.get(name).unwrap_or_else(|| panic!("no {name} in {law:?}")).to_vec()
}

fn number(record: &Record, name: &str, interval: usize) -> f64 {
    variable(record, name)[interval].unwrap_or_else(|| panic!("{name} is null in interval {interval}"))
}

/// Checks a value within four ticks of CoDel's clock: each drop's time is rounded down to a tick.
#[track_caller]
fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 4.0 * 0.001_024, "{found} {wanted}");
}

/// The delay is above 5 ms from packet 10 on, so dropping begins one interval later, at 110 ms. Then RFC 8289's
/// control law applies. The second drop is due at 210 ms. The third is due at 210 + 100/sqrt(2) = 280.711 ms and
/// happens when the wire is free, at 281 ms. The fourth is due at 280.711 + 100/sqrt(3) = 338.446 ms.
#[test]
fn codels_count_rises_while_it_drops_and_the_next_drop_is_told_from_now() {
    let record = run(&overload("codel variant rfc8289", "1s"));
    let at = |ms: usize| ms / 50 - 1;
    let count = variable(&record, "count");
    let dropping = variable(&record, "dropping");
    for (ms, drops) in [(50, 0.0), (100, 0.0), (150, 1.0), (200, 1.0), (250, 2.0), (300, 3.0), (350, 4.0)] {
        assert_eq!(count[at(ms)], Some(drops), "{ms} ms");
        assert_eq!(dropping[at(ms)], Some(f64::from(u8::from(drops > 0.0))), "{ms} ms");
    }
    assert!(count.is_sorted(), "the load does not yield, so the count only rises: {count:?}");
    let drop_next = variable(&record, "drop_next_ms");
    assert_eq!(drop_next[at(100)], None, "no drop is due before dropping");
    near(number(&record, "drop_next_ms", at(150)), 60.0);
    near(number(&record, "drop_next_ms", at(250)), 30.711);
    near(number(&record, "drop_next_ms", at(300)), 38.446);
    near(number(&record, "first_above_time_ms", at(50)), 60.0); // 110 ms is in the future
    near(number(&record, "first_above_time_ms", at(150)), -40.0); // 110 ms has passed
    near(number(&record, "ldelay_ms", at(50)), 24.5); // packet 49's
}

/// The root that Linux keeps in 16 bits is 1 at the start of dropping, and never above 1.
#[test]
fn codels_root_is_a_fraction() {
    let record = run(&overload("codel", "1s"));
    near(number(&record, "rec_inv_sqrt", 2), 1.0);
    assert!(variable(&record, "rec_inv_sqrt").iter().flatten().all(|root| (0.0..=1.0).contains(root)));
}

/// As long as p is 0, packet 49 has waited 24.5 ms, and 49 ms of the burst allowance of 150 ms are used.
#[test]
fn pies_prob_is_the_drop_probability_and_its_delays_are_milliseconds() {
    let record = run(&overload("pie", "5s"));
    let series = &record.series.as_ref().unwrap().queues.down;
    let prob = variable(&record, "prob");
    let capped: Vec<_> = prob.iter().map(|p| p.map(|p| p.min(1.0))).collect(); // Linux's value may exceed 1
    assert_eq!(capped, series.drop_probability, "prob was not scaled to 1");
    assert!(prob.iter().flatten().any(|p| (0.01..1.0).contains(p)), "p never moved: {prob:?}");
    near(number(&record, "qdelay_ms", 0), 24.5);
    near(number(&record, "burst_time_ms", 0), 101.0);
    near(number(&record, "dq_tstamp_ms", 0), -1.0); // packet 49 left a millisecond ago
    assert_eq!(variable(&record, "avg_dq_rate_mbps")[0], None, "nothing measures a rate");
    assert_eq!(variable(&record, "dq_count_bytes")[0], None, "nothing measures a rate");
    let law = series.law.as_ref().unwrap();
    assert!(law.get("drop_probability").is_none(), "it stands beside the law already");
}

/// The wire is never free, so packets leave at the link's 12 Mbit/s, whichever quantity the variant averages.
#[test]
fn pies_departure_rate_is_the_links() {
    for line in ["pie dq_rate_estimator", "pie variant draft2013", "pie variant rfc8033 dq_rate_estimator"] {
        let rate = number(&run(&overload(line, "2s")), "avg_dq_rate_mbps", 30);
        assert!((rate / 12.0 - 1.0).abs() < 0.1, "{line}: {rate}");
    }
}

/// Between the thresholds p_b = max_p (avg - min) / (max - min) (Floyd and Jacobson 1993), in the units of the names.
#[test]
fn reds_probability_follows_from_its_average_and_max_p() {
    let line = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02";
    let record = run(&overload(line, "5s"));
    let probabilities = &record.series.as_ref().unwrap().queues.down.drop_probability;
    let (qavg, max_p) = (variable(&record, "qavg_bytes"), variable(&record, "max_P"));
    let mut between = 0;
    for ((avg, max_p), p_b) in
        qavg.iter().flatten().zip(max_p.iter().flatten()).zip(probabilities.iter().flatten())
    {
        if (30_000.0..90_000.0).contains(avg) {
            let wanted = max_p * (avg - 30_000.0) / 60_000.0;
            assert!((p_b - wanted).abs() < 2e-6, "avg {avg}, max_p {max_p}: {p_b} {wanted}");
            between += 1;
        }
    }
    assert!(between > 0, "the average never stood between the thresholds: {qavg:?}");
}

/// CHOKe is RED in packets: its average cannot exceed the most packets that waited.
#[test]
fn chokes_average_is_of_packets() {
    let record =
        run(&overload("choke limit 1000 min 83 max 250 burst 139 avpkt 1500 bandwidth 12mbit", "2s"));
    let qavg = variable(&record, "qavg_packets");
    let most = record.series.as_ref().unwrap().queues.down.backlog_packets.iter().max();
    let most = f64::from(*most.unwrap());
    assert!(qavg.iter().flatten().all(|avg| *avg <= most), "{qavg:?}");
    assert!(qavg.iter().flatten().any(|avg| *avg > 83.0), "{qavg:?}");
}

/// Every discipline gives one value per interval, and only a variable with a unit has a unit in its name.
#[test]
fn every_discipline_shows_what_it_has() {
    let units = ["_ms", "_bytes", "_packets", "_mbps"];
    for spec in registry::ALL {
        let record = serde_json::to_value(run(&overload(spec.name, "1s"))).unwrap();
        let queues = &record["series"]["queues"];
        assert_eq!(queues["up"]["law"], json!({}), "pfifo has no law");
        let law = queues["down"]["law"].as_object().unwrap();
        for (name, values) in law {
            let values = values.as_array().unwrap();
            assert_eq!(values.len(), 20, "{}: {name}", spec.name);
            assert!(values.iter().all(|value| value.is_null() || value.is_f64()), "{}: {name}", spec.name);
            let bare = units.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
            assert!(bare == name || !law.contains_key(bare), "{}: {name} twice", spec.name);
        }
        let is_share =
            |name: &str| ["prob", "p_drop", "maxprob", "avgprob", "max_P", "max_p"].contains(&name);
        for (name, values) in law.iter().filter(|(name, _)| is_share(name)) {
            let mut numbers = values.as_array().unwrap().iter().filter_map(Value::as_f64);
            assert!(numbers.all(|p| (0.0..=1.0).contains(&p)), "{}: {name} {values}", spec.name);
        }
    }
}

#[test]
fn who_does_not_ask_has_no_law_and_the_same_record() {
    let mut asked = overload("codel", "1s");
    let mut with = serde_json::to_value(run(&asked)).unwrap();
    asked["series"] = json!({"interval": "50ms"});
    let without = serde_json::to_value(run(&asked)).unwrap();
    for direction in ["down", "up"] {
        assert!(without["series"]["queues"][direction].get("law").is_none());
        with["series"]["queues"][direction].as_object_mut().unwrap().remove("law");
    }
    with["scenario"]["series"].as_object_mut().unwrap().remove("law");
    assert_eq!(with, without, "to look at a law changes the run");
}

#[test]
fn a_law_without_an_interval_is_refused() {
    let mut asked = overload("codel", "1s");
    asked["series"] = json!({"law": true});
    let error = Scenario::from_json(&asked.to_string()).unwrap_err();
    assert_eq!(
        (error.key.as_str(), error.message.as_str()),
        (
            "series.interval",
            "missing, and series.law samples at its ends; accepted: a time such as \"100ms\""
        )
    );
}

/// BBR starts with a pacing gain of 2.77 (draft-ietf-ccwg-bbr-06, 2.4). Alone on 10 Mbit/s it finds this rate within
/// 2 %, less headers, and drains the queue at half of it. Reno has no variables. A ping has none either, and no place
/// for them.
#[test]
fn a_congestion_control_shows_its_variables() {
    let scenario = |cc: &str| {
        json!({
            "duration": "2s",
            "bottleneck": {"rate": "10mbit", "qdisc": "pfifo limit 100"},
            "path": {"rtt": "40ms"},
            "traffic": [{"kind": "bulk", "cc": cc}, {"kind": "ping"}],
            "series": {"interval": "10ms", "cc": true},
        })
    };
    let record = run(&scenario("bbr3"));
    let flows = &record.series.as_ref().unwrap().flows;
    let shown = |name: &str| flows[0].cc.as_ref().unwrap().get(name).unwrap().to_vec();
    assert_eq!(shown("pacing_gain")[0], Some(2.773_438), "2.77 in units of 1/256");
    assert!(shown("pacing_gain").contains(&Some(0.5)), "no drain");
    let payload = 10.0 * 1448.0 / 1514.0;
    let found = shown("bw_mbps")[199].unwrap();
    assert!((found / payload - 1.0).abs() < 0.02, "{found} of {payload} Mbit/s");
    assert!(flows[1].cc.is_none());
    let record = run(&scenario("reno"));
    let flow = &record.series.as_ref().unwrap().flows[0];
    assert_eq!(serde_json::to_string(flow.cc.as_ref().unwrap()).unwrap(), "{}");
}
