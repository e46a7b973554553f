//! A toy discipline's lines.

use super::*;
use crate::{params, words};
use alloc::format;
use alloc::string::ToString;
use goodqueue_units::{Duration, Rate};

const TARGET: Param<Duration> = Param::time("target", "").default(ms(5)).range(us(1), secs(1));
const QUICK_START: Param<bool> = Param::flag("quick_start", "").by_variant([false, true]);
const VARIANT: Param<Variant> = Param::choice("variant", "", "a").fixed();

words! { enum Variant { A = "a", B = "b" } }

const SPEC: QdiscSpec = QdiscSpec::new("toy", params! { TARGET, ECN, VARIANT, QUICK_START });

#[test]
fn a_line_is_read_and_printed_back() {
    let args = Args::parse(&SPEC, "ecn target 10ms").unwrap();
    assert_eq!(args.to_string(), "toy target 10ms ecn variant a no_quick_start");
    assert_eq!(args.get(&TARGET), ms(10));
    let again = Args::parse(&SPEC, args.to_string().strip_prefix("toy").unwrap()).unwrap();
    assert_eq!(again.to_string(), args.to_string());
    assert!(!Args::parse(&SPEC, "noecn").unwrap().get(&ECN));
}

/// Otherwise a result's line would give another run. A decision trace has Linux's own times, in nanoseconds.
#[test]
fn a_time_is_printed_so_that_it_is_read_back() {
    const LONG: Param<Duration> = Param::time("long", "").default(ms(5)).range(us(1), secs(10_000));
    const TOY: QdiscSpec = QdiscSpec::new("toy", params! { LONG });
    // The second and the last were found by the fuzz target `line`.
    for words in ["long 1500ns", "long 4294967190ns", "long 5000000000000ns", "long 16755350000ns"] {
        let printed = Args::parse(&TOY, words).unwrap().to_string();
        assert_eq!(printed, format!("toy {words}"));
    }
    // netem's times are cut to nanoseconds. The fuzz target `line` found this one, too.
    let printed = crate::registry::parse_line("netem slot 65463").unwrap().to_string();
    assert!(printed.contains("slot 65463"), "{printed}");
    assert_eq!(crate::registry::parse_line(&printed).unwrap().to_string(), printed);
}

/// Otherwise a result's line would name a variant beside values that the run did not use.
#[test]
fn a_default_follows_the_variant_unless_the_line_sets_the_parameter() {
    let line = |words| Args::parse(&SPEC, words).unwrap().to_string();
    assert_eq!(line("variant b"), "toy target 5ms noecn variant b quick_start");
    assert_eq!(line("no_quick_start variant b"), "toy target 5ms noecn variant b no_quick_start");
    assert!(!Args::defaults(&SPEC).get(&QUICK_START));
    assert_eq!(SPEC.params[3].show_default(), "off or by variant on");
}

/// `tc` has words without a name before them. Each word must be known by itself, and two words of one parameter must
/// exclude each other.
#[test]
fn words_that_stand_by_themselves_are_read_and_printed_back() {
    words! { enum At { Dequeue = "drop_dequeue", Enqueue = "drop_enqueue" } }
    const DROP_AT: Param<At> = Param::word("drop_at", "", "drop_dequeue");
    const ALONE: QdiscSpec = QdiscSpec::new("toy", params! { DROP_AT });
    let line = |words| Args::parse(&ALONE, words).map(|args| args.to_string());
    assert_eq!(line("").unwrap(), "toy drop_dequeue");
    assert_eq!(line("drop_enqueue").unwrap(), "toy drop_enqueue");
    assert_eq!(Args::parse(&ALONE, "drop_enqueue").unwrap().get(&DROP_AT), At::Enqueue);
    assert_eq!(line("drop_enqueue drop_dequeue").unwrap(), "toy drop_dequeue", "the last word holds");
    let unknown = line("drop_at").unwrap_err().0;
    assert!(unknown.ends_with("accepted: drop_dequeue, drop_enqueue"), "{unknown}");
}

/// Shorthands as in `tc cake`: `ethernet` adds to an overhead. `raw` takes the sum back and is also a parameter's own
/// word.
#[test]
fn a_shorthand_sets_adds_and_takes_back() {
    words! { enum Base { Raw = "raw" } }
    const LINK: QdiscSpec = QdiscSpec::new(
        "toy",
        params! {
            Param::shorthand("preset", "", &[("lan", "delay 1ms"), ("never", "delay unset")]),
            Param::shorthand("framing", "", &[("vlan", "extra +4"), ("raw", "raw extra 0")]),
            Param::<Option<Base>>::optional_word("base", ""),
            Param::time("delay", "").range(us(0), secs(1)),
            Param::real("extra", "").range(-64.0, 10.0),
        },
    );
    let line = |words| Args::parse(&LINK, words).map_or_else(|error| error.0, |args| args.to_string());
    assert_eq!(line("vlan vlan"), "toy extra 8");
    assert_eq!(line("extra -3 vlan"), "toy extra 1");
    assert_eq!(line("vlan extra -3"), "toy extra -3", "the parameter's own word has the last word");
    assert_eq!(line("vlan raw vlan"), "toy raw extra 4");
    assert_eq!(line("raw extra 4"), "toy raw extra 4", "what is printed is read back");
    assert_eq!(line("delay 5ms never"), "toy");
    assert_eq!(line("lan never"), "toy");
    assert_eq!(line("vlan vlan vlan"), "toy extra: found \"12\"; accepted: -64 to 10");
    assert!(line("vlam").contains("did you mean \"vlan\"? accepted: lan, never, vlan, raw, raw, delay"));
}

/// `tc` reads a number with get_u32 and base 0, so that `cake fwmark 0xff` is a mask.
#[test]
fn a_number_may_be_hexadecimal() {
    const MASK: Param<Option<u32>> = Param::count("mask", "").range(0, 255);
    const COUNTED: QdiscSpec = QdiscSpec::new("toy", params! { MASK });
    let line = |words| Args::parse(&COUNTED, words).map(|args| args.get(&MASK));
    assert_eq!(line("mask 0xff"), Ok(Some(255)));
    assert_eq!(line("mask 0xfg").unwrap_err().0, "toy mask: found \"0xfg\"; accepted: 0 to 255");
}

/// `tc` has several words for one parameter, and words for features that do not exist here. The error must not call
/// such a word unknown.
#[test]
fn other_words_for_a_parameter_are_taken_and_words_without_meaning_get_a_reason() {
    const STEP: Param<TimeOrPackets> = Param::time_or_packets("step", "").default(TimeOrPackets::Time(ms(5)));
    const REHASH: Param<Duration> = Param::milliseconds("rehash", "").default(ms(5));
    const OTHERS: QdiscSpec = QdiscSpec::new(
        "toy",
        params! {
            TARGET, Param::alias("goal", &TARGET), Param::refused("offload", "there is no hardware"),
            Param::percent("share", "").default(5.0), STEP, REHASH,
        },
    );
    let parse = |words: &str| Args::parse(&OTHERS, words);
    let line = |words: &str| parse(words).map_or_else(|error| error.0, |args| args.to_string());
    assert!(line("goal 7ms").starts_with("toy target 7ms"));
    assert!(parse("goal 7ms").unwrap().is_given("target"));
    assert_eq!(line("goal 7ms target 8ms"), line("target 8ms"));
    assert_eq!(line("offload"), "toy offload: there is no hardware");
    assert!(line("of").ends_with("accepted: target, share, step, rehash"));
    assert_eq!((line("share 12.5%"), line("share 12.5")), (line("share 12.5"), line("share 12.5%")));
    assert_eq!(line("share 101%"), "toy share: found \"101%\"; accepted: 0% to 100%");
    for packets in ["5p", "5pkt", "5pkts", "5packet", "5packets"] {
        assert!(line(&format!("step {packets}")).contains(" step 5p"), "{packets}");
    }
    assert_eq!(parse("step 5").unwrap().get(&STEP), TimeOrPackets::Time(us(5)));
    assert_eq!(parse("step 5p").unwrap().get(&STEP), TimeOrPackets::Packets(5));
    assert_eq!(line("step 5pp").split(';').next(), Some("toy step: found \"5pp\""));
    assert_eq!(parse("rehash 600000").unwrap().get(&REHASH), secs(600));
    assert!(line("rehash 10s").contains("found \"10s\"") && line("rehash 0x10").ends_with("rehash 16"));
}

#[test]
fn each_refusal_names_the_word_what_was_found_and_what_is_accepted() {
    let table = [
        (
            "targte 5ms",
            "toy: unknown word \"targte\"; did you mean \"target\"? accepted: target, ecn, variant, quick_start",
        ),
        ("target", "toy target: no value; accepted: 1us to 1s"),
        ("target 5parsec", "toy target: found \"5parsec\"; accepted: a time such as 5ms, 100us or 1.5s"),
        ("target 2s", "toy target: found \"2s\"; accepted: 1us to 1s"),
        ("variant c", "toy variant: found \"c\"; accepted: a, b"),
    ];
    for (line, error) in table {
        assert_eq!(Args::parse(&SPEC, line).unwrap_err().to_string(), error);
    }
}

/// A share of a slow device may be less than a byte per second. The fuzz target `line` found that setting up such a
/// line panicked.
#[test]
fn a_share_of_nothing_is_refused() {
    let link = Link { rate: Rate::from_bps(13).unwrap(), mtu: 1514 };
    for line in ["tbf burst 5kb limit 60kb rate 0.6%", "red bandwidth 0.6%"] {
        let args = crate::registry::parse_line(line).unwrap();
        let refused = crate::AnyQdisc::<crate::packet::Plain>::build(&args, &link).err().unwrap();
        assert!(refused.0.ends_with("0.6% of 13bit: 0bit"), "{refused}");
    }
}

/// Each value must come back as the type that its parameter was declared with.
#[test]
fn a_parameter_is_read_as_its_own_type() {
    const LIMIT_BYTES: Param<u64> = Param::bytes("limit", "").default(7);
    const RATE: Param<Option<Rate>> = Param::rate("rate", "");
    const GAIN: Param<f64> = Param::real("gain", "").default(0.5);
    const FIELD: Param<Option<Masked>> = Param::masked("field", "");
    const TYPES: QdiscSpec = QdiscSpec::new("toy", params! { LIMIT_BYTES, RATE, GAIN, FIELD, TARGET });
    let args = Args::parse(&TYPES, "rate 8mbit gain 0.25 field 0x1/0x3").unwrap();
    assert_eq!((args.get(&LIMIT_BYTES), args.get(&GAIN), args.get(&TARGET)), (7, 0.25, ms(5)));
    assert_eq!(
        (args.get(&RATE), args.get(&FIELD)),
        (Rate::from_bps(8_000_000), Some(Masked { value: 1, mask: 3 }))
    );
    assert_eq!(Args::defaults(&TYPES).get(&RATE), None);
}

/// A law must not read a parameter that its discipline does not list: it would run with another number than the line
/// says.
#[test]
#[should_panic(expected = "toy does not list the parameter limit (Number(Packets))")]
fn a_parameter_that_is_not_listed_is_no_silent_zero() {
    const LIMIT_BYTES: Param<u64> = Param::bytes("limit", "").default(7);
    const BYTES: QdiscSpec = QdiscSpec::new("toy", params! { LIMIT_BYTES });
    let _ = Args::defaults(&BYTES).get(&LIMIT); // the same word in packets
}

/// A parameter that cannot be unset must have a value in each variant.
#[test]
#[should_panic(expected = "toy b: cannot be Unset")]
fn a_parameter_without_a_value_is_no_silent_zero() {
    const B: Param<Option<u32>> = Param::packets("b", "");
    const SURE: Param<u32> = Param::packets("b", "").default(1);
    const UNSURE: QdiscSpec = QdiscSpec::new("toy", params! { B });
    let _ = Args::defaults(&UNSURE).get(&SURE);
}

/// `priomap` gives a band to each of 16 priorities, and a line may give fewer: the others keep theirs.
#[test]
fn several_numbers_after_a_name_are_one_value() {
    const WEIGHTS: Param<[u32; 3]> = Param::numbers("weights", "").default([3, 2, 1]).range(1, 9);
    const MAP: Param<[u32; 4]> = Param::numbers("map", "").default([0, 1, 2, 2]).or_fewer();
    const LISTS: QdiscSpec = QdiscSpec::new("toy", params! { WEIGHTS, MAP, ECN });
    let parse = |words: &str| Args::parse(&LISTS, words);
    let line = |words: &str| parse(words).map_or_else(|error| error.0, |args| args.to_string());
    assert_eq!(line(""), "toy weights 3 2 1 map 0 1 2 2 noecn");
    assert_eq!(line("map 3 3 ecn weights 9 8 7"), "toy weights 9 8 7 map 3 3 2 2 ecn");
    assert_eq!(parse("map 3 weights 9 8 7").unwrap().get(&WEIGHTS), [9, 8, 7]);
    assert_eq!(parse("map 3").unwrap().get(&MAP), [3, 1, 2, 2]);
    assert_eq!(line("weights 9 8"), "toy weights: found 2 numbers; accepted: 3 numbers from 1 to 9");
    assert_eq!(line("weights 9 8 0"), "toy weights: found \"0\"; accepted: 3 numbers from 1 to 9");
    assert_eq!(
        line("map 1 2 3 4 5"),
        "toy map: found 5 numbers; accepted: up to 4 numbers from 0 to 4294967295"
    );
    assert_eq!(LISTS.params[0].show_default(), "3 2 1");
}

/// `netem delay 100ms 10ms 25%`: further values stand behind the first one, without words of their own.
#[test]
fn values_may_follow_another_value() {
    const DELAY: Param<Option<Duration>> = Param::time("delay", "").range(us(0), secs(60));
    const JITTER: Param<Option<Duration>> =
        Param::time("delay_jitter", "").range(us(0), secs(60)).follows(&DELAY);
    const CORRELATION: Param<Option<f64>> = Param::percent("delay_correlation", "").follows(&DELAY);
    const LOSS: Param<Option<f64>> = Param::percent("loss", "");
    const STATE: Param<Option<f64>> = Param::percent("loss state", "");
    const P31: Param<Option<f64>> = Param::percent("p31", "").follows(&STATE);
    const RATE: Param<Option<Rate>> = Param::rate("rate", "");
    const OVERHEAD: Param<Option<i32>> = Param::signed("rate_overhead", "").follows(&RATE);
    const FOLLOWED: QdiscSpec = QdiscSpec::new(
        "toy",
        params! {
            DELAY, JITTER, CORRELATION, LOSS, Param::alias("loss random", &LOSS), STATE, P31, RATE, OVERHEAD,
        },
    );
    let parse = |words: &str| Args::parse(&FOLLOWED, words);
    let line = |words: &str| parse(words).map_or_else(|error| error.0, |args| args.to_string());
    assert_eq!(line("delay 100ms 10ms 25% loss 1"), "toy delay 100ms 10ms 25 loss 1");
    assert_eq!(line("loss random 1% delay 100ms 10ms"), "toy delay 100ms 10ms loss 1");
    assert_eq!(line("loss state 1% 50% rate 1mbit -4"), "toy loss state 1 50 rate 1mbit -4");
    assert_eq!(
        line(line("loss state 1e-3% rate 1mbit -4").strip_prefix("toy").unwrap()),
        line("loss state 1e-3% rate 1mbit -4")
    );
    let args = parse("delay 100ms 10ms rate 1mbit -4").unwrap();
    assert_eq!((args.get(&JITTER), args.get(&CORRELATION)), (Some(ms(10)), None));
    assert_eq!(args.get(&OVERHEAD), Some(-4));
    assert!(line("delay_jitter 5ms").starts_with("toy: unknown word \"delay_jitter\""));
    assert!(line("delay 5ms -1").starts_with("toy: unknown word \"-1\""), "no time is negative");
    assert!(line("delay 5ms 5parsec").starts_with("toy delay_jitter: found \"5parsec\""));
}
