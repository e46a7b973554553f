//! Properties that every discipline of the registry must have, for all parameters, loads and clocks.

use crate::invariants::{Op, PIE_WRAP, TICKS_WRAP, YEAR, every_packet_has_one_fate, may_join, unusual};
use crate::random_trees::tree_holds;
use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::param::Form;
use goodqueue_qdisc::registry::{ALL, parse_line};
use goodqueue_qdisc::{AnyQdisc, Args, Link};
use goodqueue_units::Rate;
use proptest::prelude::*;

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let len = prop_oneof![Just(1514_u32), Just(64), 1..9000_u32];
    let span = prop_oneof![
        10 => 0..2_000_000_u64,
        4 => 0..200_000_000_u64,
        1 => 0..20_000_000_000_u64,
        1 => Just(10 * YEAR),
    ];
    let op = prop_oneof![
        24 => (len, 0..8_u32, 0..4_u8).prop_map(|(len, flow, ecn)| Op::Enqueue { len, flow, ecn }),
        16 => Just(Op::Dequeue),
        12 => span.clone().prop_map(Op::Advance),
        4 => span.prop_map(Op::Oversleep),
        1 => (0..2000_usize, 0..60_usize).prop_map(|(param, value)| Op::Change { param, value }),
        1 => (0..40_u32).prop_map(|log| Op::LinkRate(1 << log)),
    ];
    proptest::collection::vec(op, 0..400)
}

fn start() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(10_000_000_000),
        (0..2_000_000_000_u64).prop_map(|back| TICKS_WRAP - back),
        (0..2_000_000_000_u64).prop_map(|back| TICKS_WRAP / 2 - back),
        (0..2_000_000_000_u64).prop_map(|back| PIE_WRAP - back),
    ]
}

/// Returns a discipline's line, in which each parameter has its default or, by chance, an unusual value.
fn line() -> impl Strategy<Value = String> {
    (0..ALL.len(), any::<bool>(), proptest::collection::vec((0..3_u8, 0..60_usize), 48)).prop_map(
        |(which, plain, luck)| {
            let spec = &ALL[which];
            let mut line = spec.name.to_string();
            for (param, (chance, which)) in spec.params.iter().zip(luck) {
                if !plain && chance == 0 && may_join(&line, spec, param) {
                    line.push(' ');
                    line.push_str(&unusual(spec, param, which));
                }
            }
            line
        },
    )
}

/// Lines whose parameters fit together, so that 400 events reach states that random parameters rarely reach.
const TUNED: &[&str] = &[
    "red limit 60000 min 3000 max 9000 burst 4 probability 0.3 ecn",
    "choke limit 12 min 2 max 8 burst 4 probability 0.3 ecn",
    "choke limit 3 min 1 max 3 burst 1 probability 0.9",
    "sfq limit 40 redflowlimit 36000 min 1500 max 6000 burst 3 probability 0.5 ecn perturb 1",
    "sfq limit 40 redflowlimit 36000 min 1500 max 6000 burst 3 probability 0.5 ecn headdrop harddrop",
    "pfifo_fast txqueuelen 32",
    "sfb max 4 target 2 increment 0.4 decrement 0.1 penalty_rate 100 penalty_burst 2 rehash 2000 db 1000",
    "sfb max 9 target 1 increment 0.6 limit 30 rehash 300 db 200",
    "fq limit 12 flow_limit 5 maxrate 3mbit quantum 256 weights 16384 16384 16384",
    "fq limit 12 priomap 0 0 1 1 2 2 0 0 1 1 2 2 0 1 2 0 initial_quantum 1514",
    "fq limit 12 flow_limit 5 maxrate 100kbit orphan_mask 1 buckets 2 ce_threshold 1ms timer_slack 1ms",
    "prio bands 4 priomap 0 1 2 3 0 1 2 3 txqueuelen 5",
    "tbf rate 2mbit burst 3028 child prio bands 2 priomap 1 0 0 0 0 1 1 1",
    "tbf rate 2mbit burst 20000 child fq maxrate 1mbit limit 20",
    "fq_nocodel limit 12 flows 4 drop_batch 2",
    "codel variant acm2012 target 1ms interval 5ms ecn",
    "tbf rate 2mbit burst 3028 limit 20000",
    "tbf rate 2mbit burst 20000 peakrate 8mbit minburst 9000 child sfq limit 20",
    "htb rate 2mbit ceil 4mbit burst 1b cburst 4000 child pi limit 20 w 500 a 0.01 b 0.009",
    "htb rate 2mbit idle told child red_gentle limit 20 min 2 max 6 weight 0.2 max_p 0.5",
    "netem limit 20 delay 10ms 20ms distribution normal loss 10% 25% duplicate 10% reorder 25% 50% gap 3 corrupt 5%",
    "netem limit 30 delay 2ms 5ms rate 8mbit 20 48 5 loss state 5% 50% 10% 50% 1% ecn seed 5",
    "netem limit 30 slot distribution pareto 5ms 3ms packets 3 bytes 9000 loss gemodel 5% 50% 70% 1% duplicate 50%",
    "htb rate 8mbit child tbf rate 2mbit burst 9000 child cake bandwidth 1mbit",
    "tc qdisc add dev e root handle 1: htb default 1; tc class add dev e parent 1: classid 1:9 htb rate 8mbit; \
        tc class add dev e parent 1:9 classid 1:1 htb rate 1mbit ceil 8mbit; \
        tc class add dev e parent 1:9 classid 1:3 htb rate 100kbit ceil 4mbit prio 1 quantum 1000; \
        tc class add dev e parent 1:9 classid 1:5 htb rate 10kbit burst 1b cburst 1b; \
        tc qdisc add dev e parent 1:1 fq_codel limit 12 target 1ms interval 5ms; \
        tc qdisc add dev e parent 1:3 pie limit 9; \
        tc qdisc add dev e parent 1:5 cake bandwidth 1mbit; \
        tc filter add dev e parent 1: handle 1 flow map key priority baseclass 1:1",
    "tc qdisc add dev e root handle 1: hfsc default 1; \
        tc class add dev e parent 1: classid 1:9 hfsc ls rate 5mbit ul rate 5mbit; \
        tc class add dev e parent 1:9 classid 1:1 hfsc sc rate 1mbit; \
        tc class add dev e parent 1:9 classid 1:3 hfsc rt m1 2mbit d 10ms m2 10kbit; \
        tc class add dev e parent 1:9 classid 1:5 hfsc ls rate 1kbit ul rate 1mbit; \
        tc qdisc add dev e parent 1:5 handle 5: drr; \
        tc class add dev e parent 5: classid 5:1 drr quantum 256; tc filter add dev e parent 5: matchall flowid 5:1; \
        tc filter add dev e parent 1: handle 1 flow map key priority baseclass 1:1",
    "tc qdisc add dev e root handle 1: ets strict 1 quanta 300 9000 priomap 0 0 1 1 2 2 2; \
        tc qdisc add dev e parent 1:1 handle 2: prio; tc qdisc add dev e parent 2:2 codel limit 9; \
        tc qdisc add dev e parent 1:2 pfifo limit 5; tc qdisc add dev e parent 1:3 bfifo limit 20000",
];

fn link() -> Link {
    Link { rate: Rate::from_bps(10_000_000).expect("above zero"), mtu: 1514 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_parameters_the_load_and_the_clock(
        line in prop_oneof![5 => line(), 1 => prop::sample::select(TUNED).prop_map(str::to_string)],
        start in start(),
        ops in ops(),
    ) {
        // Parameters that contradict each other are refused, which is correct, too.
        let args = parse_line(&line).unwrap();
        every_packet_has_one_fate(&args, &link(), start, &ops).map_err(TestCaseError::fail)?;
    }

    /// Otherwise a record could not be run again, or its changes would change other parameters.
    #[test]
    fn what_is_printed_means_the_same_as_a_line_and_nothing_new_as_a_change(line in line()) {
        let args = parse_line(&line).unwrap();
        let printed = args.to_string();
        prop_assert_eq!(parse_line(&printed).unwrap().to_string(), &printed[..]);
        prop_assert_eq!(args.changed(&printed).unwrap().to_string(), printed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_is_refused_in_one_line_or_keeps_its_packets(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        tree_holds(&bytes);
    }
}

/// Otherwise the test above would say nothing of packets.
#[test]
fn half_of_the_random_trees_are_accepted() {
    let accepted = (0..200_u32).filter(|seed| {
        let bytes: Vec<u8> =
            (0..120_u32).map(|at| (seed * 7919 + at * at * 31 + at * seed * 17) as u8).collect();
        tree_holds(&bytes)
    });
    let count = accepted.count();
    assert!(count > 100, "{count} of 200");
}

/// A packet that counts as 64 kB leaves a debt of 524 kbit. Once the link has 1 bit/s, the debt takes 6 days.
#[test]
fn a_debt_of_days_is_paid_before_the_next_packet() {
    let args =
        parse_line("htb burst 1 cburst 1 mpu 65535 child tbf rate 1mbit burst 20000 child pie limit 20")
            .unwrap();
    let packet = Op::Enqueue { len: 1514, flow: 0, ecn: 0 };
    let ops = [packet.clone(), Op::Dequeue, Op::LinkRate(1), packet];
    every_packet_has_one_fate(&args, &link(), 0, &ops).unwrap();
}

#[test]
fn every_discipline_is_made_from_its_defaults_and_its_line_can_be_read_back() {
    for spec in ALL {
        let line = Args::defaults(spec).to_string();
        AnyQdisc::<Plain>::parse(spec.name, &link()).unwrap_or_else(|error| panic!("{error}"));
        let again = parse_line(&line).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.to_string(), line);
        assert!(!spec.summary.is_empty() && !spec.source.is_empty(), "{}", spec.name);
        for param in spec.params {
            assert!(!param.about().is_empty() && !param.source.is_empty(), "{} {}", spec.name, param.name);
        }
    }
}

/// A law must not read a parameter that its discipline does not list or that a variant leaves unset: that would
/// panic.
#[test]
fn every_discipline_is_made_in_every_variant() {
    for spec in ALL {
        let words = match spec.param("variant").map(|variant| variant.form) {
            Some(Form::Choice(words)) => {
                words.iter().map(|word| format!("{} variant {word}", spec.name)).collect()
            }
            _ => vec![spec.name.to_string()],
        };
        for line in words {
            AnyQdisc::<Plain>::parse(&line, &link()).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}

#[test]
fn unusual_values_are_accepted_one_at_a_time() {
    for spec in ALL {
        for param in spec.params {
            for which in 0..6 {
                let words = unusual(spec, param, which);
                Args::parse(spec, &words).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }
}

/// Found by fuzzing: `cobalt bandwidth` and sfq's quantum overflowed at an mtu beyond 2^31.
#[test]
fn any_link_serves() {
    let links = [(1, 1), (1, u32::MAX), (u64::MAX, 1), (u64::MAX, u32::MAX)];
    for (spec, (bps, mtu)) in ALL.iter().flat_map(|spec| links.map(|link| (spec, link))) {
        let link = Link { rate: Rate::from_bps(bps).unwrap(), mtu };
        let ops = [Op::Enqueue { len: 1514, flow: 1, ecn: 0 }, Op::Advance(1_000_000), Op::Dequeue];
        let bandwidth = spec.param("bandwidth").map(|param| unusual(spec, param, 0));
        for line in [spec.name.to_string(), format!("{} {}", spec.name, bandwidth.unwrap_or_default())] {
            let args = parse_line(&line).unwrap();
            every_packet_has_one_fate(&args, &link, 0, &ops)
                .unwrap_or_else(|why| panic!("{line} {link:?}: {why}"));
        }
    }
}
