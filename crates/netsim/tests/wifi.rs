//! Wi-Fi cells: goodputs that another simulator measured, shares of airtime, places where packets wait, and error
//! messages.

use crate::common::run;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

/// A cell with the given `wifi` table and traffic.
fn cell(wifi: &Value, qdisc: &str, traffic: &Value) -> Value {
    json!({
        "duration": "20s", "warmup": "5s",
        "bottleneck": {"qdisc": qdisc, "wifi": wifi},
        "path": {"rtt": "20ms"},
        "traffic": traffic,
    })
}

/// Two fast stations and a slow one, as in Høiland-Jørgensen et al. 2017.
fn anomaly(qdisc: &str, traffic: &Value) -> Value {
    let stations = json!([{"name": "fast", "count": 2, "rate": "mcs15"}, {"name": "slow", "rate": "mcs0"}]);
    cell(&json!({"standard": "802.11n", "short_guard": true, "station": stations}), qdisc, traffic)
}

fn json_of(record: &Record) -> Value {
    serde_json::to_value(record).unwrap()
}

fn total_mbps(record: &Record) -> f64 {
    record.flows.iter().map(|flow| flow.goodput_mbps).sum()
}

fn ping_p50_ms(record: &Value) -> f64 {
    let apps = record["apps"].as_array().unwrap();
    let pings = apps.iter().filter(|app| app["kind"] == "ping");
    pings.map(|ping| ping["rtt_ms"]["p50"].as_f64().unwrap()).fold(0.0, f64::max)
}

/// A cell in which all stations always have a packet to send, and the goodput that ns-3 3.37 has in it.
struct Saturated {
    standard: &'static str,
    rate: &'static str,
    width: u64,
    short_guard: bool,
    ampdu: &'static str,
    lifetime: &'static str,
    stations: u64,
    direction: &'static str,
    payload: u64,
    rts: bool,
    ns3_mbps: f64,
}

const G: Saturated = Saturated {
    standard: "802.11g",
    rate: "54mbit",
    width: 20,
    short_guard: false,
    ampdu: "",
    lifetime: "",
    stations: 1,
    direction: "up",
    payload: 1472,
    rts: false,
    ns3_mbps: 29.732,
};
const N: Saturated = Saturated {
    standard: "802.11n",
    rate: "mcs7",
    ampdu: "65535B",
    direction: "down",
    ns3_mbps: 59.587,
    ..G
};

/// Measured with ns-3 3.37 over 5 s after 1 s. If several stations contend, the mean of three runs.
const MEASURED: &[Saturated] = &[
    Saturated { rate: "6mbit", ns3_mbps: 5.233, ..G },
    Saturated { rate: "9mbit", direction: "down", payload: 512, ns3_mbps: 5.830, ..G },
    Saturated { rate: "18mbit", ns3_mbps: 13.698, ..G },
    Saturated { rate: "36mbit", direction: "down", payload: 512, ns3_mbps: 13.661, ..G },
    G,
    Saturated { payload: 100, ns3_mbps: 4.114, ..G },
    Saturated { rate: "6mbit", stations: 5, ns3_mbps: 4.584, ..G },
    Saturated { rate: "6mbit", stations: 10, ns3_mbps: 4.288, ..G },
    Saturated { stations: 2, ns3_mbps: 30.001, ..G },
    Saturated { stations: 5, ns3_mbps: 28.916, ..G },
    Saturated { stations: 20, ns3_mbps: 25.256, ..G },
    Saturated { stations: 5, rts: true, ns3_mbps: 25.660, ..G },
    Saturated { rate: "mcs0", ns3_mbps: 5.822, ..N },
    Saturated { rate: "mcs3", ns3_mbps: 23.825, ..N },
    N,
    Saturated { rate: "mcs1", width: 40, ns3_mbps: 24.645, ..N },
    Saturated { rate: "mcs7", width: 40, ns3_mbps: 122.138, ..N },
    Saturated { width: 40, short_guard: true, ns3_mbps: 134.991, ..N },
    Saturated { rate: "mcs3", short_guard: true, ns3_mbps: 26.451, ..N },
    Saturated { ampdu: "0B", ns3_mbps: 30.707, ..N },
    Saturated { ampdu: "8000B", ns3_mbps: 51.249, ..N },
    Saturated { ampdu: "16000B", ns3_mbps: 56.000, ..N },
    Saturated { payload: 100, ns3_mbps: 32.941, ..N },
    Saturated { stations: 5, ns3_mbps: 59.603, ..N },
    Saturated { stations: 2, direction: "up", ns3_mbps: 55.786, ..N },
    Saturated { rate: "mcs1", stations: 2, direction: "up", ns3_mbps: 11.008, ..N },
    // With a queue of 64 frames, as the driver has here. ns-3 drops frames that are older than 500 ms.
    Saturated { rate: "mcs1", lifetime: "500ms", stations: 5, direction: "up", ns3_mbps: 9.583, ..N },
];

#[test]
fn saturated_cells_have_the_goodput_that_ns3_has() {
    for one in MEASURED {
        let size = one.payload + 28 + 14;
        let mut wifi = json!({
            "standard": one.standard, "width": one.width, "short_guard": one.short_guard, "rts": one.rts,
            "driver": "ideal",
            "station": [{"count": one.stations, "rate": one.rate}],
        });
        if !one.ampdu.is_empty() {
            wifi["ampdu"] = json!(one.ampdu);
        }
        if !one.lifetime.is_empty() {
            wifi["lifetime"] = json!(one.lifetime);
        }
        let traffic = json!([{
            "kind": "cbr", "count": one.stations, "direction": one.direction, "rate": "200mbit", "packet_size": size,
        }]);
        let mut asked = cell(&wifi, "pfifo limit 400", &traffic);
        (asked["duration"], asked["warmup"]) = (json!("11s"), json!("1s"));
        let got = total_mbps(&run(&asked)) * one.payload as f64 / size as f64;
        let off = got / one.ns3_mbps - 1.0;
        assert!(off.abs() < 0.015, "{} {}: {got:.3} for {} Mbit/s", one.standard, one.rate, one.ns3_mbps);
    }
}

/// The anomaly of Heusse et al. 2003: under one FIFO a slow station takes most of the airtime. mac80211's airtime
/// fairness gives it a third. The stations of "Ending the Anomaly" (table 1) had 10, 11 and 79 % of the airtime and
/// 26 Mbit/s in all. With airtime fairness each had a third, and all together 87 Mbit/s.
#[test]
fn a_slow_station_takes_the_air_under_a_fifo_and_a_third_of_it_with_airtime_fairness() {
    let flood = json!([{"kind": "cbr", "count": 3, "rate": "100mbit"}]);
    for (qdisc, shares, total) in
        [("pfifo limit 1000", [10.0, 11.0, 79.0], 26.2), ("mac80211", [33.3, 33.3, 33.3], 86.8)]
    {
        let record = run(&anomaly(qdisc, &flood));
        let stations = &record.wifi.as_ref().unwrap().stations;
        for (station, share) in stations.iter().zip(shares) {
            assert!((station.airtime_percent - share).abs() < 2.0, "{qdisc}: {station:?}");
        }
        let got = total_mbps(&record);
        assert!((got / total - 1.0).abs() < 0.05, "{qdisc}: {got} Mbit/s");
        // The slow station's 4 ms have room for two frames, whichever queue is above.
        assert_eq!(stations[2].down.aggregate_frames.unwrap().round(), 2.0);
    }
}

/// TCP's queues are empty at times, and its ACKs use airtime, too. With ACKs counted, the shares are still a third
/// each.
#[test]
fn airtime_is_shared_with_tcp_too() {
    let record = run(&anomaly("mac80211", &json!([{"kind": "bulk", "count": 3}])));
    for station in &record.wifi.unwrap().stations {
        assert!((29.0..38.0).contains(&station.airtime_percent), "{station:?}");
    }
}

/// Without airtime fairness mac80211's queues serve stations in rounds of one aggregate each. So the slow station
/// gets nearly as much airtime as its aggregates are long.
#[test]
fn rounds_of_aggregates_share_neither_packets_nor_time() {
    let flood = json!([{"kind": "cbr", "count": 3, "rate": "100mbit"}]);
    let record = run(&anomaly("mac80211 noairtime", &flood));
    let stations = &record.wifi.as_ref().unwrap().stations;
    assert!((36.0..42.0).contains(&stations[2].airtime_percent), "{:?}", stations[2]);
    assert!(stations[0].down.aggregate_frames.unwrap() > 30.0, "{:?}", stations[0]);
}

/// The harmful queue is below the discipline. Above a driver's queue fq_codel cannot keep the delay of a slow
/// station's pings low. mac80211's queues can.
#[test]
fn what_a_driver_holds_no_discipline_can_take_back() {
    let traffic = json!([{"kind": "bulk"}, {"kind": "ping"}]);
    let slow = json!({"standard": "802.11n", "station": [{"rate": "mcs0"}]});
    let [above, own] = ["fq_codel", "mac80211"].map(|qdisc| json_of(&run(&cell(&slow, qdisc, &traffic))));
    // 123 frames at 6 Mbit/s take a quarter of a second.
    assert!(ping_p50_ms(&above) > 120.0, "{}", above["apps"]);
    assert!(ping_p50_ms(&own) < 60.0, "{}", own["apps"]);
    let below = |record: &Value| record["queues"]["down"]["ring"]["delay_ms"]["p50"].as_f64().unwrap();
    assert!(below(&above) > 100.0 && below(&own) < 20.0, "{} {}", below(&above), below(&own));
}

/// TCP's ACKs compete for the air with the data that they answer.
#[test]
fn acks_collide_with_data_and_take_air() {
    let wifi = json!({"standard": "802.11g", "station": [{"rate": "54mbit"}]});
    let record = json_of(&run(&cell(&wifi, "pfifo", &json!([{"kind": "bulk"}]))));
    let station = &record["wifi"]["stations"][0];
    assert!(station["up"]["airtime_percent"].as_f64().unwrap() > 5.0, "{station}");
    assert!(record["wifi"]["collision_percent"].as_f64().unwrap() > 3.0, "{}", record["wifi"]);
    // The goodput is between two cases: each delayed ACK costs a whole backoff, or its backoff overlaps with that of
    // the data.
    let goodput = record["flows"][0]["goodput_mbps"].as_f64().unwrap();
    assert!((23.0..26.0).contains(&goodput), "{goodput}");
}

/// On a lossy channel frames are retransmitted, TCP sees no loss, and rate control goes down as far as it must.
#[test]
fn rate_control_follows_the_channel() {
    let mbps = |snr: f64| {
        let wifi = json!({"standard": "802.11n", "station": [{"snr": snr}]});
        let record = run(&cell(&wifi, "fq_codel", &json!([{"kind": "bulk"}])));
        let station = record.wifi.unwrap().stations[0].clone();
        assert!(station.down.lost < station.down.transmissions / 100, "{station:?}");
        (record.flows[0].goodput_mbps, station.down.rate_mbps.unwrap())
    };
    let [good, fair, poor] = [40.0, 20.0, 10.0].map(mbps);
    assert!(good.0 > 1.3 * fair.0 && fair.0 > 1.5 * poor.0, "{good:?} {fair:?} {poor:?}");
    assert!(good.1 > fair.1 && fair.1 > poor.1, "{good:?} {fair:?} {poor:?}");
}

/// With any queue above any driver, packets come out, and frames that noise destroys are retransmitted.
#[test]
fn every_driver_sends_below_every_kind_of_queue() {
    for (standard, rate, driver, least) in [
        ("802.11g", "54mbit", "ath5k", 15.0),
        ("802.11g", "54mbit", "ath9k", 15.0),
        ("802.11g", "54mbit", "ideal", 15.0),
        ("802.11n", "mcs7", "ath9k", 35.0),
        ("802.11n", "mcs7", "iwlwifi", 35.0),
        ("802.11n", "mcs7", "ath10k", 35.0),
        ("802.11n", "mcs7", "ideal", 35.0),
    ] {
        for qdisc in ["mac80211", "mac80211 noairtime", "fq_codel", "pie", "pfifo"] {
            // At 27 dB between 5 % and 10 % of the frames at these rates are lost.
            let stations = json!([{"count": 2, "rate": rate, "snr": 27.0}]);
            let wifi = json!({"standard": standard, "driver": driver, "station": stations});
            let record = run(&cell(&wifi, qdisc, &json!([{"kind": "bulk", "count": 2}])));
            let lost: u64 = record.wifi.as_ref().unwrap().stations.iter().map(|one| one.down.lost).sum();
            assert!(total_mbps(&record) > least, "{qdisc} above {driver}: {} Mbit/s", total_mbps(&record));
            assert!(lost < 5, "{qdisc} above {driver}: {lost} frames were given up");
        }
    }
}

/// A driver of a slow station has frames that are too old: some in its queue, and with a noisy channel some that were
/// sent. Guards against frames that are dropped without being counted, and against those that are counted twice
/// (each run checks conservation).
#[test]
fn frames_that_are_too_old_are_dropped_and_counted() {
    let dropped = |lifetime: Option<&str>| {
        let mut wifi =
            json!({"standard": "802.11n", "driver": "ideal", "station": [{"rate": "mcs0", "snr": 3.0}]});
        if let Some(lifetime) = lifetime {
            wifi["lifetime"] = json!(lifetime);
        }
        let record = run(&cell(&wifi, "pfifo", &json!([{"kind": "cbr", "rate": "20mbit"}])));
        let unsent = record.queues.down.drops_by_reason.get("lifetime").copied().unwrap_or(0);
        (unsent, record.wifi.unwrap().stations[0].down.expired)
    };
    assert_eq!(dropped(None), (0, 0));
    let (unsent, sent) = dropped(Some("50ms"));
    assert!(unsent > 100 && sent > 10, "{unsent} {sent}");
    assert_eq!(dropped(Some("1min")), (0, 0));
}

/// Guards against a limit that is another direction's, or another station's.
#[test]
fn a_station_may_send_small_aggregates_while_the_access_point_sends_long_ones() {
    let wifi = json!({"standard": "802.11n", "station": [
        {"name": "small", "rate": "mcs7", "aggregate": 3}, {"name": "usual", "rate": "mcs7"},
    ]});
    let flood = |direction: &str| json!({"kind": "cbr", "count": 2, "rate": "100mbit", "direction": direction, "name": direction});
    let record = run(&cell(&wifi, "pfifo", &json!([flood("down"), flood("up")])));
    let stations = record.wifi.unwrap().stations;
    assert_eq!(stations[0].up.aggregate_frames, Some(3.0));
    for others in [&stations[1].up, &stations[0].down, &stations[1].down] {
        assert!(others.aggregate_frames.unwrap() > 15.0, "{others:?}");
    }
}

/// A frame of 1500 bytes takes 12.6 ms at 1 Mbit/s, and under one FIFO each station gets as many packets. The others
/// send a CTS-to-self at 2 Mbit/s before each exchange, which costs a lone station more than a sixth of its goodput.
#[test]
fn a_station_of_802_11b_slows_down_a_cell_of_802_11n() {
    let with = |old: Value, qdisc: &str| {
        let mut stations = json!([{"name": "new", "rate": "mcs7"}]);
        stations.as_array_mut().unwrap().push(old);
        let wifi = json!({"standard": "802.11n", "band": "2.4ghz", "station": stations});
        let flood = json!([{"kind": "cbr", "rate": "100mbit", "station": "new"}, {"kind": "cbr", "rate": "100mbit", "station": "old"}]);
        run(&cell(&wifi, qdisc, &flood)).wifi.unwrap().stations
    };
    let old = json!({"name": "old", "standard": "802.11b", "rate": "1mbit"});
    let stations = with(old.clone(), "pfifo");
    assert!(
        stations[1].airtime_percent > 90.0 && stations[1].down.aggregate_frames == Some(1.0),
        "{stations:?}"
    );
    let fair = with(old, "mac80211");
    assert!((fair[1].airtime_percent - 50.0).abs() < 3.0, "{fair:?}");
    assert!(
        (0.35..0.48).contains(&fair[1].down.throughput_mbps),
        "half of the 0.93 Mbit/s of a lone one: {fair:?}"
    );
}

/// A schedule of rates takes effect at its times.
#[test]
fn a_station_may_change_its_rate() {
    let wifi = json!({"standard": "802.11n", "station": [{"rate": [["0s", "mcs7"], ["10s", "mcs0"]]}]});
    let flood = json!([{"kind": "cbr", "rate": "100mbit"}]);
    let mut asked = cell(&wifi, "pfifo", &flood);
    let mbps = |asked: &Value| total_mbps(&run(asked));
    (asked["duration"], asked["warmup"]) = (json!("10s"), json!("1s"));
    let before = mbps(&asked);
    (asked["duration"], asked["warmup"]) = (json!("20s"), json!("11s"));
    let after = mbps(&asked);
    assert!(before > 50.0 && after < 7.0, "{before} {after}");
}

/// A link before the cell is a hop like any other.
#[test]
fn a_cell_stands_in_a_row_of_hops() {
    let wifi = json!({"standard": "802.11n", "station": [{"rate": "mcs15"}]});
    let mut asked = cell(&wifi, "fq_codel", &json!([{"kind": "bulk"}, {"kind": "ping"}]));
    asked["hop"] = json!([
        {"name": "dsl", "kind": "link", "before": "bottleneck", "rate": "10mbit", "qdisc": "fq_codel"},
        {"name": "dsl up", "kind": "link", "direction": "up", "after": "bottleneck", "rate": "1mbit", "qdisc": "fq_codel"},
    ]);
    let record = run(&asked);
    assert!((9.0..9.7).contains(&record.flows[0].goodput_mbps), "{}", record.flows[0].goodput_mbps);
    assert!(record.queues.down.delay_ms.unwrap().p95 < 5.0, "the queue is before the cell");
}

#[test]
fn a_run_can_be_cut_anywhere_and_seeds_differ() {
    let traffic = json!([{"kind": "bulk", "count": 3}, {"kind": "bulk", "name": "back", "direction": "up"}, {"kind": "ping"}]);
    let mut asked = anomaly("fq_codel", &traffic);
    asked["bottleneck"]["wifi"]["station"][1] = json!({"name": "slow", "snr": 12.0});
    crate::common::assert_cut_is_the_same_and_seeds_differ(asked);
}

/// A written scenario resolves to itself, and flows know their stations.
#[test]
fn flows_take_stations_in_turn_or_the_one_they_name() {
    let traffic = json!([{"kind": "cbr", "count": 3, "rate": "1mbit"}, {"kind": "cbr", "name": "to", "rate": "2mbit", "station": "slow"}]);
    let scenario = anomaly("fq_codel", &traffic);
    let read = Scenario::from_json(&scenario.to_string()).unwrap();
    let written = serde_json::to_string(&read).unwrap();
    let again = Scenario::from_json(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    let record = run(&scenario);
    let mbps: Vec<f64> =
        record.wifi.unwrap().stations.iter().map(|station| station.down.throughput_mbps.round()).collect();
    assert_eq!(mbps, [1.0, 1.0, 3.0]);
}

#[test]
fn nonsense_is_refused_with_a_line() {
    let ok = json!({"standard": "802.11n", "station": [{"rate": "mcs3"}]});
    let refused = |wifi: &Value, traffic: &Value| {
        let asked = cell(wifi, "fq_codel", traffic);
        Scenario::from_json(&asked.to_string()).map(|_| ()).unwrap_err().to_string()
    };
    let bulk = json!([{"kind": "bulk"}]);
    for (key, value, want) in [
        ("standard", json!("802.11ac"), "bottleneck.wifi.standard: found \"802.11ac\"; "),
        ("station", json!([]), "bottleneck.wifi.station: found none; accepted: at least one station"),
        (
            "station",
            json!([{"rate": "mcs77"}]),
            "bottleneck.wifi.station[0].rate: found \"mcs77\"; accepted in 802.11n: mcs0 to mcs31",
        ),
        (
            "station",
            json!([{"rate": "54mbit"}]),
            "bottleneck.wifi.station[0].rate: found \"54mbit\"; accepted in 802.11n: mcs0 to mcs31",
        ),
        (
            "station",
            json!([{"count": 0, "rate": "mcs3"}]),
            "bottleneck.wifi.station[0].count: found 0; accepted: 1 to 1000",
        ),
        (
            "station",
            json!([{"rate": [["1s", "mcs3"]]}]),
            "bottleneck.wifi.station[0].rate: found times that do not rise from 0s; ",
        ),
        ("width", json!(30), "bottleneck.wifi.width: found 30 MHz with 802.11n; accepted: 20 or 40 MHz"),
        ("band", json!("6ghz"), "bottleneck.wifi.band: found \"6ghz\"; "),
        (
            "driver",
            json!("ath5k"),
            "bottleneck.wifi.driver: found \"ath5k\" with 802.11n, which it does not speak; accepted: ",
        ),
        ("protection", json!(true), "bottleneck.wifi.protection: found true with 802.11n; "),
        ("lifetime", json!("0s"), "bottleneck.wifi.lifetime: found 0s; accepted: 1ms to 3600s"),
        (
            "station",
            json!([{"rate": "1mbit", "standard": "802.11b"}]),
            "bottleneck.wifi.station[0].standard: found \"802.11b\" in a cell at 5ghz; accepted: ",
        ),
        (
            "station",
            json!([{"rate": "24mbit", "standard": "802.11a"}]),
            "bottleneck.wifi.station[0].standard: found \"802.11a\" in a cell of 802.11n; accepted: 802.11n, or 802.11b",
        ),
    ] {
        let mut wifi = ok.clone();
        wifi[key] = value;
        let got = refused(&wifi, &bulk);
        assert!(got.starts_with(want), "{got}");
    }
    for (key, value) in [("width", json!(40)), ("short_guard", json!(true)), ("ampdu", json!("8kB"))] {
        let mut wifi = json!({"standard": "802.11g", "station": [{"rate": "54mbit"}]});
        wifi[key] = value;
        let got = refused(&wifi, &bulk);
        assert!(
            got.starts_with(&format!("bottleneck.wifi.{key}: found ")) && got.contains("802.11n"),
            "{got}"
        );
    }
    let unknown = refused(&ok, &json!([{"kind": "bulk", "station": "attic"}]));
    assert!(unknown.starts_with("traffic[0].station: found \"attic\"; "), "{unknown}");
    let mut wired = cell(&ok, "mac80211", &bulk);
    wired["bottleneck"] = json!({"rate": "10mbit", "qdisc": "mac80211"});
    let got = Scenario::from_json(&wired.to_string()).map(|_| ()).unwrap_err().to_string();
    assert!(got.starts_with("bottleneck.qdisc: found \"mac80211\" without Wi-Fi; accepted: "), "{got}");
    let mut both = cell(&ok, "fq_codel", &bulk);
    both["bottleneck"]["rate"] = json!("10mbit");
    let got = Scenario::from_json(&both.to_string()).map(|_| ()).unwrap_err().to_string();
    assert!(got.starts_with("bottleneck.rate: found one with Wi-Fi; accepted: none"), "{got}");
}
