//! Flows of media over whole paths: RFC 8867's test cases, as far as they have a number that can be missed.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

mod common;

use common::{assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_netsim::record::MediaResult;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

/// RFC 8867, 4.2: 50 ms one way, drop-tail queues of 300 ms. `mbps` is what the link has.
fn scenario(seconds: u64, mbps: f64, traffic: &Value) -> Value {
    let (rate, limit) = (format!("{}kbit", mbps * 1e3), (mbps * 1e6 * 0.3 / 8.0) as u64);
    let queue = json!({"rate": rate, "qdisc": format!("bfifo limit {limit}")});
    let mut bottleneck = queue.clone();
    bottleneck["up"] = queue;
    json!({
        "duration": format!("{seconds}s"), "warmup": "0s", "path": {"rtt": "100ms"},
        "bottleneck": bottleneck, "series": {"interval": "100ms"}, "traffic": traffic,
    })
}

fn results(record: &Record) -> Vec<&MediaResult> {
    record.apps.iter().filter_map(|app| app.result()).collect()
}

/// Goodput of flow `number` between two times, in Mbit/s, headers included.
fn goodput(record: &Record, number: usize, from_s: f64, to_s: f64) -> f64 {
    let series = record.series.as_ref().unwrap();
    let goodputs = &series.flows[number].goodput_mbps;
    let within = series.time_s.iter().zip(goodputs).filter(|(end, _)| **end > from_s && **end <= to_s);
    let within: Vec<f64> = within.map(|(_, mbps)| *mbps).collect();
    within.iter().sum::<f64>() / within.len() as f64
}

#[test]
fn explore() {
    let show = |name: &str, record: &Record| {
        eprintln!("== {name}");
        for (number, flow) in record.flows.iter().enumerate() {
            let end = record.series.as_ref().unwrap().time_s.last().copied().unwrap();
            let step = 4.0;
            let line: Vec<String> = (0..(end / step) as u32)
                .map(|n| {
                    format!("{:.2}", goodput(record, number, f64::from(n) * step, f64::from(n + 1) * step))
                })
                .collect();
            eprintln!(
                "{} {:.3} loss {:.2}: {}",
                flow.name,
                flow.goodput_mbps,
                flow.loss_percent,
                line.join(" ")
            );
        }
        for result in results(record) {
            eprintln!(
                "rate {:?} p5 {:?} p50 {:?} p95 {:?} delay {:?} frame {:?} sent {} loss {} ramp {}",
                result.rate_mbps,
                result.rate_percentiles_mbps.as_ref().map(|all| all[5]),
                result.rate_percentiles_mbps.as_ref().map(|all| all[50]),
                result.rate_percentiles_mbps.as_ref().map(|all| all[95]),
                result.delay_ms.map(|d| (d.mean, d.p50, d.p95, d.p99)),
                result.frame_delay_ms.map(|d| (d.mean, d.p50, d.p95, d.p99)),
                result.sent,
                result.loss_percent,
                result.ramp_up_percent
            );
        }
    };
    let media = json!({"kind": "media"});
    show("alone 1M", &run(&scenario(60, 1.0, &json!([media]))));
    let mut changing = scenario(100, 1.0, &json!([media]));
    changing["change"] = json!([
        {"at": "40s", "rate": "2500kbit"}, {"at": "60s", "rate": "600kbit"}, {"at": "80s", "rate": "1mbit"}
    ]);
    show("5.1", &run(&changing));
    show("5.4", &run(&scenario(120, 3.5, &json!([{"kind": "media", "count": 3, "stagger": "20s"}]))));
    show(
        "5.8",
        &run(&scenario(120, 3.5, &json!([media, {"kind": "media", "pause": ["40s", "60s"]}, media]))),
    );
    let mut back = scenario(100, 2.0, &json!([media, {"kind": "media", "direction": "up"}]));
    back["change"] = json!([
        {"at": "20s", "rate": "1mbit"}, {"at": "35s", "rate": "800kbit", "direction": "up"},
        {"at": "40s", "rate": "500kbit"}, {"at": "60s", "rate": "2mbit"},
        {"at": "70s", "rate": "2mbit", "direction": "up"}
    ]);
    show("5.3", &run(&back));
    show("5.6", &run(&scenario(120, 2.0, &json!([media, {"kind": "bulk"}]))));
    for ecn in [false, true] {
        let mut marked = scenario(60, 1.0, &json!([{"kind": "media", "ecn": ecn}]));
        marked["bottleneck"]["qdisc"] = json!("fq_codel limit 1000");
        show(&format!("fq_codel ecn {ecn}"), &run(&marked));
        marked["bottleneck"]["qdisc"] = json!("codel limit 1000 ce_threshold 2ms ecn");
        show(&format!("ce_threshold ecn {ecn}"), &run(&marked));
    }
}
