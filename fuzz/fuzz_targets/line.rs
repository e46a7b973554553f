//! The parser of `tc` lines: it refuses or accepts a line, never panics, and reads back its own output unchanged.
#![no_main]

use arbitrary::Arbitrary;
use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::param::Form;
use goodqueue_qdisc::registry::{ALL, parse_line};
use goodqueue_qdisc::{AnyQdisc, Link};
use goodqueue_units::Rate;
use libfuzzer_sys::fuzz_target;

const UNITS: &[&str] = &[
    "", "ns", "us", "ms", "s", "min", "b", "k", "kb", "m", "mb", "g", "kbit", "mbit", "gbit", "tbit", "mbps", "KiBps", "%",
    "e3", "p", "/16",
];

#[derive(Arbitrary, Debug)]
enum Word<'a> {
    /// A parameter's name, or its word if the parameter stands alone.
    Param(u8, u8),
    No(u8),
    Quantity(u32, u8),
    Decimal(u16, u16, u8),
    Text(&'a str),
}

#[derive(Arbitrary, Debug)]
enum Case<'a> {
    Raw(&'a str),
    Words(u8, Vec<Word<'a>>, u64, u32),
}

fn line(which: u8, words: &[Word]) -> String {
    let spec = &ALL[usize::from(which) % ALL.len()];
    let mut line = spec.name.to_string();
    let param = |index: u8| spec.params.get(usize::from(index) % spec.params.len().max(1));
    let unit = |index: u8| UNITS[usize::from(index) % UNITS.len()];
    for word in words {
        line.push(' ');
        match *word {
            Word::Param(index, choice) => match param(index).map(|param| (param.form, param.name)) {
                Some((Form::Word(words), _)) => line += words[usize::from(choice) % words.len()],
                Some((Form::Shorthand(table), _)) => line += table[usize::from(choice) % table.len()].0,
                Some((Form::Choice(words), name)) => {
                    line += &format!("{name} {}", words[usize::from(choice) % words.len()]);
                }
                Some((_, name)) => line += name,
                None => {}
            },
            Word::No(index) => line += &format!("no{}", param(index).map_or("", |param| param.name)),
            Word::Quantity(number, index) => line += &format!("{number}{}", unit(index)),
            Word::Decimal(whole, part, index) => line += &format!("{whole}.{part}{}", unit(index)),
            Word::Text(text) => line += text,
        }
    }
    line
}

fuzz_target!(|case: Case| {
    let (line, rate, mtu) = match case {
        Case::Raw(text) => (text.to_string(), 10_000_000, 1514),
        Case::Words(which, words, rate, mtu) => (line(which, &words), rate.max(1), mtu),
    };
    match parse_line(&line) {
        Ok(args) => {
            let printed = args.to_string();
            let again =
                parse_line(&printed).unwrap_or_else(|error| panic!("{line:?} prints {printed:?}: {error}"));
            assert_eq!(again.to_string(), printed, "of {line:?}");
            let rate = Rate::from_bps(rate).expect("above zero");
            let _ = AnyQdisc::<Plain>::build(&args, &Link { rate, mtu });
        }
        // An error message quotes the user's text with escapes, so that it is one line.
        Err(error) => assert!(!error.0.is_empty() && !error.0.contains('\n'), "{line:?}: {error}"),
    }
});
