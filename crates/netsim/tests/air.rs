//! Logs of a cell's air: each transmission in a window, stations over time, and each frame. All logs must agree with
//! the record's own counts, and logging must change nothing.

use goodqueue_netsim::wifi::frames::{AirBody, AirFate, AirFrame, AirObserver, SharedAirObserver};
use goodqueue_netsim::{Scenario, Simulation};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Three stations of 802.11n with traffic in both directions, so that frames collide. The slow station's channel is
/// noisy.
fn cell() -> Value {
    json!({
        "duration": "2s", "warmup": "0s",
        "bottleneck": {"qdisc": "fq_codel", "wifi": {"standard": "802.11n", "driver": "ideal", "station": [
            {"name": "fast", "count": 2, "rate": "mcs15"},
            {"name": "slow", "rate": "mcs4", "snr": 16.0},
        ]}},
        "path": {"rtt": "10ms"},
        "traffic": [
            {"kind": "bulk", "count": 3}, {"kind": "bulk", "count": 3, "direction": "up"}, {"kind": "ping", "count": 3},
        ],
    })
}

fn simulation(scenario: &Value) -> Simulation {
    Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap()
}

fn run(scenario: &Value) -> Value {
    let mut simulation = simulation(scenario);
    simulation.run();
    serde_json::to_value(simulation.record()).unwrap()
}

fn logged() -> Value {
    let mut scenario = cell();
    scenario["series"] = json!({"interval": "100ms", "air": {"from": "0s", "to": "2s"}});
    run(&scenario)
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().sum()
}

/// Returns whether two values are equal except for rounding to six digits.
fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-4 * expected.abs().max(1.0)
}

#[test]
fn the_log_has_every_transmission_that_the_record_counts() {
    let record = logged();
    let air = &record["series"]["air"];
    let (duration_us, frames) = (numbers(&air["duration_us"]), numbers(&air["frames"]));
    for station in record["wifi"]["stations"].as_array().unwrap() {
        for direction in ["down", "up"] {
            let own: Vec<usize> = (0..frames.len())
                .filter(|at| air["station"][at] == station["name"] && air["direction"][at] == direction)
                .collect();
            let counted = &station[direction];
            assert_eq!(counted["transmissions"], own.len(), "{station}");
            // A BlockAckReq has no frames, and is left out of the mean.
            let with_frames = own.iter().filter(|at| frames[**at] > 0.0).count();
            let mean = sum(own.iter().map(|at| frames[*at])) / with_frames as f64;
            assert!(close(mean, counted["aggregate_frames"].as_f64().unwrap()), "{mean} frames: {counted}");
            let percent = sum(own.iter().map(|at| duration_us[*at])) / 2e6 * 100.0;
            assert!(close(percent, counted["airtime_percent"].as_f64().unwrap()), "{percent} %: {counted}");
            let unanswered = own.iter().filter(|at| {
                let outcome = air["outcome"][**at].as_str().unwrap();
                ["collided", "unanswered"].contains(&outcome)
            });
            let retried = 100.0 * unanswered.count() as f64 / own.len() as f64;
            assert!(close(retried, counted["retry_percent"].as_f64().unwrap()), "{retried} %: {counted}");
        }
    }
    let outcomes: Vec<&str> =
        air["outcome"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    for outcome in ["came", "partly", "unanswered", "collided"] {
        assert!(outcomes.contains(&outcome), "the cell was to show each kind, and there is none {outcome}");
    }
    let collided = outcomes.iter().filter(|outcome| **outcome == "collided").count() as f64;
    let percent = 100.0 * collided / frames.len() as f64;
    assert!(close(percent, record["wifi"]["collision_percent"].as_f64().unwrap()), "{percent}");
}

/// There is one medium: transmissions at the same time collide, and no others do.
#[test]
fn only_what_collides_is_on_the_air_together() {
    let record = logged();
    let air = &record["series"]["air"];
    let (time_s, duration_us) = (numbers(&air["time_s"]), numbers(&air["duration_us"]));
    let collided = |at: usize| air["outcome"][at] == "collided";
    for next in 1..time_s.len() {
        let last = next - 1;
        let overlap = time_s[next] < time_s[last] + duration_us[last] * 1e-6 - 1e-9;
        assert!(time_s[last] <= time_s[next], "out of order at {}", time_s[next]);
        if overlap {
            assert!(collided(last) && collided(next) && time_s[last] == time_s[next], "{}", time_s[next]);
        }
    }
    for at in 0..time_s.len() {
        assert!(numbers(&air["came"])[at] <= numbers(&air["frames"])[at]);
        if collided(at) {
            let others = (0..time_s.len()).filter(|other| time_s[*other] == time_s[at]).count();
            assert!(others > 1, "nobody collides with what is sent at {}", time_s[at]);
        }
    }
}

#[test]
fn the_stations_over_time_add_up_to_the_record() {
    let record = logged();
    for (series, station) in record["series"]["stations"]
        .as_array()
        .unwrap()
        .iter()
        .zip(record["wifi"]["stations"].as_array().unwrap())
    {
        assert_eq!(series["name"], station["name"]);
        for direction in ["down", "up"] {
            let shares = numbers(&series[direction]["airtime_percent"]);
            assert_eq!(shares.len(), 20);
            let mean = sum(shares) / 20.0;
            assert!(
                close(mean, station[direction]["airtime_percent"].as_f64().unwrap()),
                "{mean}: {station}"
            );
            let rates = series[direction]["rate_mbps"].as_array().unwrap();
            let rate = if station["name"] == "slow" { 39.0 } else { 130.0 };
            assert!(rates.iter().all(|found| found.is_null() || found == rate), "{rates:?}");
            assert!(rates.iter().any(|found| found == rate));
        }
    }
}

/// The frames that an observer is told of.
#[derive(Default)]
struct Told(Vec<AirFrame>);

impl AirObserver for Told {
    fn aired(&mut self, frame: &AirFrame) {
        self.0.push(*frame);
    }
}

/// Returns the record of `scenario`, and the frames that an observer was told of.
fn watched(scenario: &Value) -> (Value, Vec<AirFrame>) {
    let told = Arc::new(Mutex::new(Told::default()));
    let mut watched = simulation(scenario);
    watched.observe_air(Arc::clone(&told) as SharedAirObserver);
    watched.run();
    let frames = told.lock().unwrap().0.clone();
    (serde_json::to_value(watched.record()).unwrap(), frames)
}

/// Returns the sum of a count over all stations and both directions.
fn total(record: &Value, name: &str) -> u64 {
    let stations = record["wifi"]["stations"].as_array().unwrap().iter();
    stations
        .flat_map(|station| ["down", "up"].map(|direction| station[direction][name].as_u64().unwrap()))
        .sum()
}

#[test]
fn an_observer_is_told_of_each_frame_in_order_and_changes_nothing() {
    let mut scenario = cell();
    scenario["bottleneck"]["wifi"]["rts"] = json!(true);
    let (found, frames) = watched(&scenario);
    assert_eq!(found, run(&scenario), "somebody looked on");
    assert!(frames.windows(2).all(|pair| pair[0].time <= pair[1].time));

    let count = |wanted: &dyn Fn(&AirFrame) -> bool| frames.iter().filter(|frame| wanted(frame)).count();
    let is_rts = |frame: &AirFrame| matches!(frame.body, AirBody::Rts);
    // Each transmission begins with an RTS. Stations that send one at the same time get no CTS, and do not send data.
    assert_eq!(count(&is_rts) as u64, total(&found, "transmissions"));
    assert!(frames.iter().all(|frame| frame.fate != AirFate::Collided || is_rts(frame)));
    let cleared = count(&|frame| matches!(frame.body, AirBody::Cts));
    assert_eq!(cleared, count(&|frame| is_rts(frame) && frame.fate == AirFate::Came));
    assert!(cleared < count(&is_rts), "none collided");
}

/// A frame is given up once. It counts as lost when the frames before it have left the window of 64.
#[test]
fn what_is_given_up_is_said_at_its_last_try() {
    let mut scenario = cell();
    scenario["bottleneck"]["wifi"]["station"][1]["snr"] = json!(15.0);
    let (found, frames) = watched(&scenario);
    let given_up = frames.iter().filter(|frame| frame.fate == AirFate::GivenUp).count() as u64;
    let lost = total(&found, "lost");
    assert!(lost > 0 && (lost..lost + 64).contains(&given_up), "{given_up} given up, {lost} lost");
}

#[test]
fn what_cannot_be_logged_is_refused() {
    let mut wired = cell();
    wired["bottleneck"] = json!({"rate": "10mbit", "qdisc": "pfifo"});
    let window = |to: &str| json!({"air": {"from": "0s", "to": to}});
    let mut long = cell();
    long["duration"] = json!("200s");
    for (mut scenario, to, expected) in [
        (wired, "1s", "series.air: found a window; accepted: none; the air is of [bottleneck.wifi]"),
        (cell(), "3s", "series.air: found 0s to 3s; accepted: a window within the run, 0s to 2s"),
        (
            long,
            "200s",
            "series.air: found 200s, in which there may be 4000000 transmissions; accepted: a window of at most 2000000",
        ),
    ] {
        scenario["series"] = window(to);
        let error = Scenario::from_json(&scenario.to_string()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
