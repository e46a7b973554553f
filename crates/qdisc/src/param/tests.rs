//! A toy discipline's lines.

use super::*;
use alloc::format;
use alloc::string::ToString;
use goodqueue_units::Duration;

const SPEC: QdiscSpec = QdiscSpec {
    name: "toy",
    summary: "",
    source: "",
    params: &[
        ParamSpec {
            name: "target",
            unit: Unit::Time,
            default: Value::Integer(5_000_000),
            range: (1e3, 1e9),
            source: "",
            help: "",
        },
        ParamSpec {
            name: "ecn",
            unit: Unit::Flag,
            default: Value::Flag(false),
            range: (0.0, 0.0),
            source: "",
            help: "",
        },
        ParamSpec {
            name: "variant",
            unit: Unit::Choice(&["a", "b"]),
            default: Value::Integer(0),
            range: (0.0, 0.0),
            source: "",
            help: "",
        },
        ParamSpec {
            name: "quick_start",
            unit: Unit::Flag,
            default: Value::PerVariant(&[Value::Flag(false), Value::Flag(true)]),
            range: (0.0, 0.0),
            source: "",
            help: "",
        },
    ],
};

#[test]
fn a_line_is_read_and_printed_back() {
    let args = Args::parse(&SPEC, "ecn target 10ms").unwrap();
    assert_eq!(args.to_string(), "toy target 10ms ecn variant a no_quick_start");
    assert_eq!(args.time("target"), Some(Duration::from_millis(10)));
    let again = Args::parse(&SPEC, args.to_string().strip_prefix("toy").unwrap()).unwrap();
    assert_eq!(again.to_string(), args.to_string());
    assert!(!Args::parse(&SPEC, "noecn").unwrap().flag("ecn"));
}

/// Else a result's line would name a variant beside numbers that it did not run with.
#[test]
fn a_default_follows_the_variant_unless_the_line_sets_the_parameter() {
    let line = |words| Args::parse(&SPEC, words).unwrap().to_string();
    assert_eq!(line("variant b"), "toy target 5ms noecn variant b quick_start");
    assert_eq!(line("no_quick_start variant b"), "toy target 5ms noecn variant b no_quick_start");
    assert!(!Args::defaults(&SPEC).flag("quick_start"));
    assert_eq!(SPEC.params[3].show(SPEC.params[3].default), "off or by variant on");
}

/// `tc` has words without a name before them: each is known by itself, and two of one parameter exclude each
/// other.
#[test]
fn words_that_stand_by_themselves_are_read_and_printed_back() {
    const ALONE: QdiscSpec = QdiscSpec {
        params: &[ParamSpec {
            name: "drop_at",
            unit: Unit::Word(&["drop_dequeue", "drop_enqueue"]),
            default: Value::Integer(0),
            range: (0.0, 0.0),
            source: "",
            help: "",
        }],
        ..SPEC
    };
    let line = |words| Args::parse(&ALONE, words).map(|args| args.to_string());
    assert_eq!(line("").unwrap(), "toy drop_dequeue");
    assert_eq!(line("drop_enqueue").unwrap(), "toy drop_enqueue");
    assert_eq!(Args::parse(&ALONE, "drop_enqueue").unwrap().choice("drop_at"), "drop_enqueue");
    assert_eq!(line("drop_enqueue drop_dequeue").unwrap_err().0, "toy drop_at: given twice");
    let unknown = line("drop_at").unwrap_err().0;
    assert!(unknown.ends_with("accepted: drop_dequeue, drop_enqueue"), "{unknown}");
}

/// As `tc cake` has them: `ethernet` adds to an overhead, `raw` takes it back and is a parameter's own word besides.
#[test]
fn a_shorthand_sets_adds_and_takes_back() {
    const fn param(name: &'static str, unit: Unit, range: (f64, f64)) -> ParamSpec {
        ParamSpec { name, unit, default: Value::Unset, range, source: "", help: "" }
    }
    const LINK: QdiscSpec = QdiscSpec {
        params: &[
            param("preset", Unit::Shorthand(&[("lan", "delay 1ms"), ("never", "delay unset")]), (0.0, 0.0)),
            param("framing", Unit::Shorthand(&[("vlan", "extra +4"), ("raw", "raw extra 0")]), (0.0, 0.0)),
            param("base", Unit::Word(&["raw"]), (0.0, 0.0)),
            param("delay", Unit::Time, (0.0, 1e9)),
            param("extra", Unit::Real, (-64.0, 10.0)),
        ],
        ..SPEC
    };
    let line = |words| Args::parse(&LINK, words).map_or_else(|error| error.0, |args| args.to_string());
    assert_eq!(line("vlan vlan"), "toy extra 8");
    assert_eq!(line("extra -3 vlan"), "toy extra 1");
    assert_eq!(line("vlan extra -3"), "toy extra -3", "the parameter's own word has the last word");
    assert_eq!(line("vlan raw vlan"), "toy raw extra 4");
    assert_eq!(line("raw extra 4"), "toy raw extra 4", "what is printed is read back");
    assert_eq!(line("delay 5ms never"), "toy");
    assert_eq!(line("lan never"), "toy preset: given twice");
    assert_eq!(line("vlan vlan vlan"), "toy extra: found \"12\"; accepted: -64 to 10");
    assert!(line("vlam").contains("did you mean \"vlan\"? accepted: lan, never, vlan, raw, raw, delay"));
}

/// As `tc`'s get_u32 with base 0; `cake fwmark 0xff` is how a mask is written.
#[test]
fn a_number_may_be_hexadecimal() {
    const COUNTED: QdiscSpec = QdiscSpec {
        params: &[ParamSpec { unit: Unit::Count, range: (0.0, 255.0), ..SPEC.params[0] }],
        ..SPEC
    };
    let line = |words| Args::parse(&COUNTED, words).map(|args| args.integer("target"));
    assert_eq!(line("target 0xff"), Ok(Some(255)));
    assert_eq!(line("target 0xfg").unwrap_err().0, "toy target: found \"0xfg\"; accepted: 0 to 255");
}

/// `tc` has several words for a thing, and words for things that are not here: an unknown word would be a lie.
#[test]
fn other_words_for_a_parameter_are_taken_and_words_without_meaning_get_a_reason() {
    const OTHERS: QdiscSpec = QdiscSpec {
        params: &[
            SPEC.params[0],
            ParamSpec::alias("goal", "target", ""),
            ParamSpec::refused("offload", "there is no hardware", ""),
            ParamSpec { name: "share", unit: Unit::Percent, range: (0.0, 100.0), ..SPEC.params[0] },
            ParamSpec { name: "step", unit: Unit::TimeOrPackets, ..SPEC.params[0] },
            ParamSpec { name: "rehash", unit: Unit::Milliseconds, range: (0.0, 1e15), ..SPEC.params[0] },
        ],
        ..SPEC
    };
    let parse = |words: &str| Args::parse(&OTHERS, words);
    let line = |words: &str| parse(words).map_or_else(|error| error.0, |args| args.to_string());
    assert!(line("goal 7ms").starts_with("toy target 7ms"));
    assert!(parse("goal 7ms").unwrap().is_given("target"));
    assert_eq!(line("goal 7ms target 7ms"), "toy target: given twice");
    assert_eq!(line("offload"), "toy offload: there is no hardware");
    assert!(line("of").ends_with("accepted: target, share, step, rehash"));
    assert_eq!((line("share 12.5%"), line("share 12.5")), (line("share 12.5"), line("share 12.5%")));
    assert_eq!(line("share 101%"), "toy share: found \"101%\"; accepted: 0% to 100%");
    for packets in ["5p", "5pkt", "5pkts", "5packet", "5packets"] {
        assert!(line(&format!("step {packets}")).contains(" step 5p"), "{packets}");
    }
    assert_eq!(parse("step 5").unwrap().time("step"), Some(Duration::from_micros(5)));
    assert_eq!(parse("step 5p").unwrap().packets("step"), Some(5));
    assert_eq!(line("step 5pp").split(';').next(), Some("toy step: found \"5pp\""));
    assert_eq!(parse("rehash 600000").unwrap().time("rehash"), Some(Duration::from_secs(600)));
    assert!(line("rehash 10s").ends_with("rehash 10000") && line("rehash 5us").ends_with("rehash 5us"));
}

#[test]
fn each_refusal_names_the_word_what_was_found_and_what_is_accepted() {
    let table = [
        (
            "targte 5ms",
            "toy: unknown word \"targte\"; did you mean \"target\"? accepted: target, ecn, variant, quick_start",
        ),
        ("target", "toy target: no value; accepted: 1us to 1s"),
        (
            "target 5parsec",
            "toy target: found \"5parsec\"; accepted: a time such as 5ms, 100us, 1.5s or 2min",
        ),
        ("target 2s", "toy target: found \"2s\"; accepted: 1us to 1s"),
        ("variant c", "toy variant: found \"c\"; accepted: a, b"),
        ("ecn noecn", "toy ecn: given twice"),
    ];
    for (line, error) in table {
        assert_eq!(Args::parse(&SPEC, line).unwrap_err().to_string(), error);
    }
}
