//! A recorded trace must be replayed without a difference, and a changed line of it must be found.

use goodqueue_conformance::record::{Options, Totals, Words, record};
use goodqueue_conformance::replay_reader;

const STEADY: Words<'_> = Words {
    pattern: "steady",
    load: 1.1,
    rate: "10mbit",
    packets: 2000,
    sizes: "mix",
    flows: 9,
    ecn: "mix",
    seed: 1,
};

fn trace(line: &str, words: &Words<'_>, gzip: bool) -> (Totals, Vec<u8>) {
    let mut bytes = Vec::new();
    let options = Options::parse(words).expect("options that are accepted");
    let totals = record(line, &options, gzip, &mut bytes).unwrap_or_else(|why| panic!("{line}: {why}"));
    (totals, bytes)
}

fn refusal(line: &str, words: &Words<'_>) -> String {
    let refused = Options::parse(words).and_then(|options| record(line, &options, false, std::io::sink()));
    refused.expect_err("a refusal").to_string()
}

/// Every discipline that has its own header, with the words that reach each key.
const LINES: &[&str] = &[
    "netem limit 50 delay 3ms 5ms loss 10% 25% reorder 10%",
    "stab overhead -4 linklayer atm tbf rate 2mbit burst 5000",
    "pfifo limit 30",
    "bfifo limit 40000",
    "pfifo_head_drop limit 30",
    "pfifo_fast txqueuelen 20",
    "pfifo_fast",
    "codel",
    "codel target 2ms interval 30ms ecn ce_threshold 1ms limit 40",
    "fq_codel",
    "fq_codel flows 4 limit 30 quantum 300 drop_batch 8 memory_limit 60000 noecn",
    "fq_codel ce_threshold 1ms ce_threshold_selector 0x1/0x3",
    "fq",
    "fq limit 30 flow_limit 20 quantum 600 initial_quantum 1500 weights 20000 40000 90000 refill_delay 8ms",
    "fq maxrate 2mbit orphan_mask 3 buckets 64 priomap 0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 0 low_rate_threshold 800kbit",
    "fq ce_threshold 2ms timer_slack 1ms horizon 1s horizon_cap nopacing flow_limit 50",
    "pie",
    "pie target 5ms tupdate 10ms alpha 3 beta 25 ecn bytemode limit 60",
    "pie dq_rate_estimator",
    "fq_pie flows 8 ecn ecn_prob 30 memory_limit 90000 limit 80 quantum 500",
    "red",
    "red limit 200000 min 8000 max 30000 avpkt 1000 burst 12 probability 0.1 ecn harddrop",
    "red limit 200000 max 40000 adaptive",
    "red limit 100000 min 6000 ecn nodrop bandwidth 5mbit",
    "choke limit 60",
    "choke limit 100 min 8 max 20 probability 0.1 ecn burst 20 avpkt 700",
    "sfq",
    "sfq limit 40 depth 10 flows 5 divisor 64 headdrop perturb 1 quantum 3000",
    "sfq limit 60 redflowlimit 60000 probability 0.1 ecn",
    "sfq limit 60 redflowlimit 60000 min 3000 max 9000 burst 4 headdrop harddrop ecn",
    "cake",
    "cake bandwidth 9mbit diffserv8 ingress wash dual-srchost overhead 18 mpu 64 atm memlimit 100000",
    "cake besteffort flows metro bandwidth 8mbit",
    "cake precedence rtt 20ms target 2ms overhead -4 ptm",
    "cake raw overhead 20 ptm nat fwmark 0xff00 ack-filter-aggressive no-split-gso",
    "cake bandwidth 4mbit autorate-ingress pppoe-ptm ether-vlan",
    "cake bandwidth 4mbit autorate-ingress diffserv4 ingress memlimit 200000 ack-filter",
    "dualpi2",
    "dualpi2 target 5ms tupdate 8ms alpha 0.2 beta 4 drop_enqueue overflow any_ect classic_protection 20",
    "dualpi2 step_thresh 5p min_qlen_step 2 coupling_factor 3 limit 50 memlimit 100000",
    "dualpi2 max_rtt 60ms limit 200",
    "dualpi2 ect0 limit 200",
    // Disciplines and variants that no kernel has: their line stands in the header.
    "dualpi2 variant rfc9332",
    "dualpi2 variant rfc9332 scheduler ts_fifo memlimit 60000",
    "codel variant rfc8289",
    "codel variant acm2012 target 1500ns",
    "pie variant rfc8033 limit 100",
    "pie variant draft2013 ecn limit 100",
    "docsis_pie",
    "docsis_lld",
    "docsis_lld noprotection target 5ms low_buffer 2ms",
    "cake_mq txqueues 3 bandwidth 9mbit memlimit 100000",
    "cobalt limit 40",
    "fq_nocodel limit 60 flows 8",
    "red_gentle limit 60 min 3 weight 0.1 max_p 0.5 ecn",
    "ared limit 60",
    "blue limit 40 freeze_time 10ms",
    "sfb limit 60 target 5 increment 0.01",
    "pi limit 60 q_ref 5",
    "rem limit 60",
    "prio bands 4 priomap 3 2 1 0 txqueuelen 30",
    "tbf rate 5mbit burst 3000 latency 20ms",
    "tbf rate 5mbit burst 3000 child red limit 60000",
    "htb rate 5mbit child pi limit 40",
    // The innermost discipline determines the columns of the packets.
    "htb child tbf rate 8mbit child cake bandwidth 7mbit",
    "tbf rate 8mbit child pfifo_fast txqueuelen 20",
    "tbf rate 8mbit child fq maxrate 3mbit",
    "htb rate 8mbit child sfq perturb 1",
];

#[test]
fn every_recording_is_replayed_without_a_difference() {
    let patterns =
        [("steady", 1.1), ("steady", 3.0), ("burst", 0.9), ("onoff", 1.0), ("saw", 1.2), ("aimd", 1.0)];
    for line in LINES {
        let mut dropped = 0;
        for (seed, (pattern, load)) in patterns.into_iter().enumerate() {
            let words = Words { pattern, load, seed: seed as u64, ..STEADY };
            let (totals, bytes) = trace(line, &words, seed == 0);
            let outcome = replay_reader(line, &bytes[..]).unwrap();
            assert!(outcome.is_ok(), "{line}, {pattern}: {outcome:?}");
            assert_eq!((outcome.packets, totals.offered), (2000, 2000));
            assert_eq!(totals.offered, totals.delivered + totals.dropped, "{line}, {pattern}");
            dropped += totals.dropped;
        }
        // The default limits of these are above 2000 packets.
        assert!(dropped > 0 || ["pfifo_fast", "pie dq_rate_estimator"].contains(line), "{line}: no drop");
    }
}

#[test]
fn every_discipline_is_recorded_and_what_a_kernel_cannot_have_is_refused_in_one_line() {
    for spec in goodqueue_qdisc::registry::ALL {
        assert!(LINES.iter().any(|line| line.split(' ').next() == Some(spec.name)), "{}", spec.name);
    }
    let table = [
        ("codel target 1500ns", "codel target: found \"1500ns\"; accepted in a trace: 1us"),
        ("netem duplicate 1%", "netem duplicate: found one; accepted in a trace: none"),
        ("codle", "unknown qdisc \"codle\"; did you mean \"codel\"?"),
        ("red limit 4000 min 3000 max 2000", "red: max must be above zero and not less than min"),
    ];
    for (line, why) in table {
        let said = refusal(line, &STEADY);
        assert!(said.starts_with(why) && !said.contains('\n'), "{line}: {said}");
    }
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_others() {
    for line in ["sfq perturb 1", "pie", "cake bandwidth 9mbit"] {
        let (_, bytes) = trace(line, &STEADY, true);
        assert_eq!(bytes, trace(line, &STEADY, true).1);
        assert_ne!(bytes, trace(line, &Words { seed: 2, ..STEADY }, true).1);
        // Gzip's time of modification.
        assert_eq!(bytes[4..8], [0; 4]);
    }
}

#[test]
fn a_recording_keeps_the_model_around_the_discipline() {
    let (_, bytes) = trace("pfifo limit 30", &Words { sizes: "1500", ..STEADY }, false);
    let text = String::from_utf8(bytes).unwrap();
    let events: Vec<Vec<&str>> =
        text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect()).collect();
    let mut free = 0;
    let mut calls = 0;
    for event in &events {
        let now: u64 = event[0].parse().unwrap();
        match event[1] {
            // The link asks at the moment when it becomes free, or when it is idle and sees an arrival.
            "deq" => {
                assert!(now >= free, "{event:?}");
                assert!(now == free || event[2] != "-1" && calls > 0, "{event:?}");
                free = if event[2] == "-1" { now } else { now + 1500 * 8 * 100 };
                calls += 1;
            }
            "enq" => calls += 1,
            "st" => assert!(calls % 40 == 0 || events[events.len() - 2] == *event),
            _ => {}
        }
    }
    assert_eq!(events[0][1..], ["rate", "10000000"]);
    assert_eq!(events[events.len() - 1][1], "end");
}

/// A change in one digit of any line with a decision must be found, at that line.
#[test]
fn a_changed_line_is_found() {
    for line in [
        "codel limit 20",
        "fq_pie flows 4",
        "sfq perturb 1 limit 20",
        "red limit 60000 adaptive",
        "cake",
        "dualpi2",
        "fq maxrate 2mbit",
    ] {
        let (_, bytes) = trace(line, &STEADY, false);
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let is_call =
            |line: &str| !line.starts_with('#') && (line.contains(",deq,") || line.contains(",enq,"));
        let calls = lines.iter().enumerate().filter(|(_, line)| is_call(line));
        for (index, call) in calls.step_by(97) {
            let mut columns: Vec<String> = call.split(',').map(str::to_string).collect();
            let column = if columns[1] == "deq" { 6 } else { 12 };
            columns[column] = (columns[column].parse::<u64>().unwrap() + 1).to_string();
            let mut wrong = lines.clone();
            let changed = columns.join(",");
            wrong[index] = &changed;
            let outcome = replay_reader("wrong", (wrong.join("\n") + "\n").as_bytes()).unwrap();
            let first = outcome.first.unwrap_or_else(|| panic!("{line}: {changed} passed"));
            assert_eq!(first.line, index as u64 + 1, "{line}: {changed}");
        }
    }
}

#[test]
fn options_that_are_wrong_are_refused_in_one_line() {
    let table = [
        (
            Words { pattern: "stedy", ..STEADY },
            "pattern: found \"stedy\"; accepted: steady, burst, onoff, saw, aimd",
        ),
        (Words { load: 0.0, ..STEADY }, "load: found 0.0; accepted: 0.05 to 100"),
        (Words { load: f64::NAN, ..STEADY }, "load: found NaN; accepted: 0.05 to 100"),
        (Words { rate: "1bit", ..STEADY }, "rate: found \"1bit\"; accepted: 1kbit to 1tbit"),
        (Words { rate: "fast", ..STEADY }, "rate: "),
        (Words { packets: 0, ..STEADY }, "packets: found 0; accepted: 1 to 10000000"),
        (Words { sizes: "9", ..STEADY }, "sizes: found \"9\"; accepted: mix, or bytes from 64 to 65535"),
        (Words { flows: 0, ..STEADY }, "flows: found 0; accepted: 1 to 1000000"),
        (Words { ecn: "yes", ..STEADY }, "ecn: found \"yes\"; accepted: none, ect0, ect1, mix"),
        (
            Words { rate: "1kbit", load: 0.05, packets: 10_000_000, ..STEADY },
            "packets: found 10000000; accepted: as many as arrive within seven years",
        ),
    ];
    for (words, why) in table {
        let said = refusal("codel", &words);
        assert!(said.starts_with(why) && !said.contains('\n'), "{said}");
    }
}

/// At the ends of every range there must be no overflow and no endless loop.
#[test]
fn extremes_end() {
    for pattern in ["steady", "burst", "onoff", "saw", "aimd"] {
        for (rate, load) in [("1kbit", 0.05), ("1tbit", 100.0)] {
            let words = Words { pattern, rate, load, packets: 500, flows: 100_000, sizes: "65535", ..STEADY };
            let (totals, _) = trace("pfifo limit 10", &words, false);
            assert_eq!(totals.offered, 500, "{pattern} {rate}");
        }
    }
}
