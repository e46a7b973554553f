//! Disciplines with classes as data, for lists and reference pages: what each does, and the words that it takes.
//!
//! `params` reads these words. The tests below hold both against each other.

use super::params::HTB_CLASS;
use crate::param::ParamSpec;

/// A discipline whose classes are made by commands.
#[derive(Debug)]
pub struct Classful {
    /// The name in `tc`.
    pub name: &'static str,
    /// What it does, in a sentence without a full stop.
    pub summary: &'static str,
    /// Where that is said.
    pub source: &'static str,
    /// The words of the discipline itself.
    pub words: &'static [Word],
    /// The words of a class.
    pub of_class: OfClass,
}

/// The words of a class.
#[derive(Debug)]
pub enum OfClass {
    /// Parameters as disciplines have them.
    Params(&'static [ParamSpec]),
    /// Words that are read one by one. None: the classes are bands, which no command makes.
    Words(&'static [Word]),
}

/// A word that a value follows.
#[derive(Debug)]
pub struct Word {
    /// The word.
    pub name: &'static str,
    /// What its value counts.
    pub unit: &'static str,
    /// Its value if no command says it.
    pub default: &'static str,
    /// The values that it takes.
    pub accepted: &'static str,
    /// What it is.
    pub help: &'static str,
}

const fn word(
    name: &'static str,
    unit: &'static str,
    [default, accepted]: [&'static str; 2],
    help: &'static str,
) -> Word {
    Word { name, unit, default, accepted, help }
}

const CURVE: [&str; 2] = ["unset", "m1 RATE d TIME m2 RATE, or umax SIZE dmax TIME rate RATE"];
const OTHERS: &str = "hexadecimal, 0 to ffffffff";

/// Every discipline with classes, in the order of `goodqueue list qdiscs`.
pub const CLASSFUL: &[Classful] = &[
    Classful {
        name: "htb",
        summary: "Classes with a rate for certain, which borrow up to a ceiling what others leave",
        source: "tc-htb(8)",
        words: &[
            word(
                "default",
                "number",
                ["0x0", OTHERS],
                "minor number of the class of packets that no filter takes",
            ),
            word("r2q", "count", ["10", "1 to 4294967295"], "a class's rate divided by this is its quantum"),
            word(
                "direct_qlen",
                "packets",
                ["1000", "0 to 4294967295"],
                "packets without a class that may wait, unshaped",
            ),
        ],
        of_class: OfClass::Params(HTB_CLASS.params),
    },
    Classful {
        name: "hfsc",
        summary: "Classes with service curves: for delay (rt), for shares (ls) and as upper limits (ul)",
        source: "tc-hfsc(7)",
        words: &[word(
            "default",
            "number",
            ["0x0", OTHERS],
            "minor number of the class of packets that no filter takes; 0: they are dropped",
        )],
        of_class: OfClass::Words(&[
            word("rt", "curve", CURVE, "real-time curve of a leaf: what it gets for certain, with its delay"),
            word("ls", "curve", CURVE, "link-sharing curve: its share of what the parent has"),
            word("ul", "curve", CURVE, "upper limit of what link sharing gives; needs ls"),
            word("sc", "curve", CURVE, "rt and ls at once"),
        ]),
    },
    Classful {
        name: "drr",
        summary: "Classes in turns, each by its quantum (deficit round robin)",
        source: "tc-drr(8); Shreedhar, Varghese, SIGCOMM 1995",
        words: &[],
        of_class: OfClass::Words(&[word(
            "quantum",
            "bytes",
            ["a full frame", "256 to 1048576"],
            "bytes that the class sends in its turn",
        )]),
    },
    Classful {
        name: "ets",
        summary: "Bands as 802.1Qaz has them: strict ones first, the others in turns by their quanta",
        source: "tc-ets(8); IEEE 802.1Qaz",
        words: &[
            word("bands", "count", ["strict and quanta together", "1 to 16"], "number of bands"),
            word("strict", "count", ["0", "0 to bands"], "how many bands are strict, from the first on"),
            word(
                "quanta",
                "bytes",
                ["a full frame each", "256 to 1048576"],
                "a quantum for each band that is not strict",
            ),
            word(
                "priomap",
                "numbers",
                ["the last band for all", "up to 16 of 0 to bands - 1"],
                "band of each priority, from 0 to 15",
            ),
        ],
        of_class: OfClass::Words(&[]),
    },
    Classful {
        name: "prio",
        summary: "Bands by priority, each with a discipline of its own: serves the first one that is not empty",
        source: "tc-prio(8)",
        words: &[
            word("bands", "count", ["3", "2 to 16"], "number of bands"),
            word(
                "priomap",
                "numbers",
                ["1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1", "up to 16 of 0 to bands - 1"],
                "band of each priority, from 0 to 15",
            ),
        ],
        of_class: OfClass::Words(&[]),
    },
    Classful {
        name: "mq",
        summary: "One class per transmit queue of the device, of which a link here has one",
        source: "Linux 6.1: net/sched/sch_mq.c",
        words: &[],
        of_class: OfClass::Words(&[]),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::params::{Scheduler, TXQUEUELEN};
    use crate::tree::words::Line;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn read(kind: &str, text: &str) -> Result<Scheduler, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_string).collect();
        Ok(Scheduler::read(kind, &mut Line::new(&words), 1514, TXQUEUELEN)?.expect("it has classes"))
    }

    fn names(words: &[Word]) -> String {
        let names: Vec<&str> = words.iter().map(|word| word.name).collect();
        if names.is_empty() { "no words".to_string() } else { names.join(", ") }
    }

    /// A word that only one of the two knew would be on no page, or on a page and refused.
    #[test]
    fn the_words_are_those_that_are_read() {
        for one in CLASSFUL {
            let refused = read(one.name, "nonsense 1").unwrap_err();
            assert!(refused.ends_with(&alloc::format!("accepted: {}", names(one.words))), "{refused}");
            let OfClass::Words(own) = one.of_class else { continue };
            let words = ["nonsense".to_string()];
            let refused = Scheduler::class(one.name, &mut Line::new(&words)).unwrap_err();
            let mut listed: Vec<&str> =
                refused.rsplit("accepted: ").next().unwrap_or("").split(", ").collect();
            let mut known: Vec<&str> = own.iter().map(|word| word.name).collect();
            listed.sort_unstable();
            known.sort_unstable();
            let is_ets = one.name == "ets"; // a command sets the quantum of a band, and makes none
            assert!(
                listed == known || is_ets || own.is_empty() && refused.contains("classless"),
                "{refused}"
            );
        }
    }

    /// A default of the table is that of a command without words.
    #[test]
    fn the_defaults_are_those_of_an_empty_command() {
        for one in CLASSFUL.iter().filter(|one| one.name != "ets") {
            let all = one.words.iter().map(|word| alloc::format!(" {} {}", word.name, word.default));
            let said = all.fold(one.name.to_string(), |said, word| said + &word);
            assert_eq!(read(one.name, "").unwrap().words(), said);
        }
        let said = read("ets", "bands 3 strict 1").unwrap().words();
        assert_eq!(said, "ets bands 3 strict 1 quanta 1514 1514 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2");
    }
}
