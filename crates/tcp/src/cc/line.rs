//! A congestion control's line: its name, then words, as in `cubic hystart++ abe` and `none cwnd 20`.

use super::{Cc, OwnCc};
use crate::Config;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use goodqueue_units::parse;

/// A word that may follow a congestion control's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CcWord {
    /// The word.
    pub name: &'static str,
    /// The least and the greatest number that may follow the word. `None` if no number follows it.
    pub number: Option<(u32, u32)>,
    /// The document that describes it.
    pub source: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
}

/// What the words of a line ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CcOptions {
    /// Whether slow start is left by RFC 9406.
    pub hystart_plus_plus: bool,
    /// Whether the window falls less far at ECN marks than at a loss (RFC 8511).
    pub abe: bool,
    /// Whether slow start continues until a loss, without HyStart.
    pub no_hystart: bool,
    /// Whether linear growth counts acknowledged segments, whatever the stack counts (RFC 3465).
    pub abc: bool,
    /// Whether `prague` behaves by the path's RTT, however short that is.
    pub no_virtual_rtt: bool,
    /// Whether `prague` is that of Linux's module 0.7.
    pub module: bool,
    /// Whether `prague` reduces as classic controls do at a bottleneck that seems to have classic ECN.
    pub fallback: bool,
    /// Whether `bbr2` responds to marks on paths above 5 ms, too.
    pub any_rtt: bool,
    /// Whether `bbr` does not allow for ACKs that come in bunches.
    pub no_aggregation: bool,
    /// The window of `none`, in segments. If left out, the initial window.
    pub cwnd: Option<u32>,
    /// The queueing delay that `ledbat` steers to, in milliseconds. If left out, 100.
    pub target_ms: Option<u32>,
    /// How fast `ledbat` follows the delay. If left out, 1.
    pub gain: Option<u32>,
}

pub(super) const HYSTART_PLUS_PLUS: CcWord = CcWord {
    name: "hystart++",
    number: None,
    source: "RFC 9406",
    help: "leave the first slow start when RTTs rise, through a phase of slower growth",
};
pub(super) const ABE: CcWord = CcWord {
    name: "abe",
    number: None,
    source: "RFC 8511",
    help: "on a mark reduce the window to 0.8 (reno) or 0.85 (cubic)",
};
pub(super) const NO_HYSTART: CcWord = CcWord {
    name: "nohystart",
    number: None,
    source: "Linux, tcp_cubic's hystart=0",
    help: "leave slow start only at congestion",
};
pub(super) const ABC: CcWord = CcWord {
    name: "abc",
    number: None,
    source: "RFC 3465",
    help: "linear growth counts acknowledged bytes, not ACKs: Linux's tcp_abc = 1, up to 3.8",
};
pub(super) const NO_VIRTUAL_RTT: CcWord = CcWord {
    name: "novirtualrtt",
    number: None,
    source: "Linux's L4S branch, tcp_prague's prague_rtt_scaling=0",
    help: "use the path's RTT, however short: Linux's module of 2020",
};
pub(super) const MODULE: CcWord = CcWord {
    name: "module0.7",
    number: None,
    source: "Linux's tcp_prague 0.7",
    help: "an RTT counts as 25 ms after 4 round trips; a rate replaces small windows",
};
pub(super) const FALLBACK: CcWord = CcWord {
    name: "fallback",
    number: None,
    source: "arXiv:1911.00710; Linux's tcp_prague, prague_ecn_fallback=1",
    help: "take 31 % off the window at a mark where the RTT says classic ECN",
};
pub(super) const ANY_RTT: CcWord = CcWord {
    name: "anyrtt",
    number: None,
    source: "Google's tcp_bbr2, ecn_max_rtt_us=0",
    help: "respond to marks on paths above 5 ms, too",
};
pub(super) const NO_AGGREGATION: CcWord = CcWord {
    name: "noaggregation",
    number: None,
    source: "Linux's tcp_bbr up to 5.0",
    help: "add nothing to the window for ACKs that come in bunches",
};
pub(super) const CWND: CcWord = CcWord {
    name: "cwnd",
    number: Some((1, 1_000_000)),
    source: "this project",
    help: "the window in segments; the initial window if left out",
};
pub(super) const TARGET: CcWord = CcWord {
    name: "target",
    number: Some((1, 100)),
    source: "RFC 6817, 2.4.2",
    help: "target of the queueing delay in milliseconds; 100 if left out",
};
pub(super) const GAIN: CcWord = CcWord {
    name: "gain",
    number: Some((1, 100)),
    source: "RFC 6817, 2.4.2; above 1: RFC 7928, 5.4",
    help: "how fast the window follows the delay; 1 if left out",
};

/// A congestion control with its words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CcLine {
    /// The congestion control.
    pub cc: Cc,
    /// Its words.
    pub options: CcOptions,
    /// The caller's own, if `cc` is [`Cc::Own`].
    pub own: Option<OwnCc>,
}

impl CcLine {
    /// Reports what was found, what is accepted, and the nearest known word.
    /// A line that names a class in a Python file is one of the caller's own.
    pub fn parse(line: &str) -> Result<Self, String> {
        if parse::names_a_class(line) {
            let words: Vec<&str> = line.split_whitespace().collect();
            return Ok(OwnCc::named(&words.join(" ")).into());
        }
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        let Some(cc) = Cc::from_name(name) else {
            let known: Vec<_> = Cc::ALL.iter().map(|cc| cc.name()).collect();
            return Err(format!("found {name:?}; {}", accepted(name, &known)));
        };
        let mut options = CcOptions::default();
        while let Some(word) = words.next() {
            let Some(known) = cc.words().iter().find(|known| known.name == word) else {
                let known: Vec<_> = cc.words().iter().map(|word| word.name).collect();
                return Err(format!("found {word:?} after {name:?}; {}", accepted(word, &known)));
            };
            let number = match known.number {
                Some(range) => Some(number(word, words.next(), range)?),
                None => None,
            };
            if !options.set(known, number) {
                return Err(format!("found {word:?} twice after {name:?}; accepted: once"));
            }
        }
        if cc.words().contains(&CWND) {
            options.cwnd.get_or_insert(Config::default().initial_window);
        }
        Ok(Self { cc, options, own: None })
    }
}

fn number(word: &str, text: Option<&str>, (least, most): (u32, u32)) -> Result<u32, String> {
    let value = text.and_then(|text| text.parse().ok()).filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| {
        let found = text.map_or_else(|| "nothing".to_owned(), |text| format!("{text:?}"));
        format!("found {found} after {word:?}; accepted: {least} to {most}")
    })
}

fn accepted(found: &str, known: &[&str]) -> String {
    let hint = parse::nearest(found, known.iter().copied())
        .map_or_else(String::new, |near| format!("did you mean {near:?}? "));
    let list = if known.is_empty() { "no word".to_owned() } else { known.join(", ") };
    format!("{hint}accepted: {list}")
}

impl CcOptions {
    /// Sets the option of `word`. Returns whether the option was not set before.
    fn set(&mut self, word: &CcWord, number: Option<u32>) -> bool {
        if *word == HYSTART_PLUS_PLUS {
            !core::mem::replace(&mut self.hystart_plus_plus, true)
        } else if *word == ABE {
            !core::mem::replace(&mut self.abe, true)
        } else if *word == NO_HYSTART {
            !core::mem::replace(&mut self.no_hystart, true)
        } else if *word == ABC {
            !core::mem::replace(&mut self.abc, true)
        } else if *word == NO_VIRTUAL_RTT {
            !core::mem::replace(&mut self.no_virtual_rtt, true)
        } else if *word == MODULE {
            !core::mem::replace(&mut self.module, true)
        } else if cfg!(not(target_family = "wasm")) && *word == NO_AGGREGATION {
            !core::mem::replace(&mut self.no_aggregation, true)
        } else if cfg!(not(target_family = "wasm")) && *word == ANY_RTT {
            !core::mem::replace(&mut self.any_rtt, true)
        } else if cfg!(not(target_family = "wasm")) && *word == FALLBACK {
            !core::mem::replace(&mut self.fallback, true)
        } else if *word == TARGET {
            core::mem::replace(&mut self.target_ms, number).is_none()
        } else if *word == GAIN {
            core::mem::replace(&mut self.gain, number).is_none()
        } else {
            core::mem::replace(&mut self.cwnd, number).is_none()
        }
    }
}

impl From<Cc> for CcLine {
    fn from(cc: Cc) -> Self {
        Self { cc, options: CcOptions::default(), own: None }
    }
}

impl From<OwnCc> for CcLine {
    fn from(own: OwnCc) -> Self {
        Self { own: Some(own), ..Cc::Own.into() }
    }
}

/// Prints the canonical line: the same words, always in the same order.
impl fmt::Display for CcLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.own.as_ref().map_or(self.cc.name(), OwnCc::line))?;
        let CcOptions { hystart_plus_plus, abe, no_hystart, abc, no_virtual_rtt, module, .. } = self.options;
        let CcOptions { fallback, any_rtt, no_aggregation, cwnd, target_ms, gain, .. } = self.options;
        for (word, set) in [
            (HYSTART_PLUS_PLUS, hystart_plus_plus),
            (ABE, abe),
            (NO_HYSTART, no_hystart),
            (ABC, abc),
            (NO_VIRTUAL_RTT, no_virtual_rtt),
            (MODULE, module),
            (FALLBACK, fallback),
            (ANY_RTT, any_rtt),
            (NO_AGGREGATION, no_aggregation),
        ] {
            if set {
                write!(f, " {}", word.name)?;
            }
        }
        for (word, number) in [(CWND, cwnd), (TARGET, target_ms), (GAIN, gain)] {
            if let Some(number) = number {
                write!(f, " {} {number}", word.name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// Guards against a line in a record that reads back as another.
    #[test]
    fn a_line_prints_as_one_that_reads_the_same() {
        for (line, canonical) in [
            ("cubic", "cubic"),
            ("  cubic  abe hystart++ ", "cubic hystart++ abe"),
            ("reno abe", "reno abe"),
            ("reno abc abe", "reno abe abc"),
            ("cubic nohystart", "cubic nohystart"),
            ("none cwnd 20", "none cwnd 20"),
            ("none", "none cwnd 10"),
            ("ledbat++", "ledbat++"),
            ("prague novirtualrtt", "prague novirtualrtt"),
            ("prague module0.7", "prague module0.7"),
            ("bbr2 anyrtt", "bbr2 anyrtt"),
            ("prague fallback module0.7", "prague module0.7 fallback"),
            ("ledbat gain 10 target 5", "ledbat target 5 gain 10"),
            (" ./my_cc.py:Slow  beta 0.5", "./my_cc.py:Slow beta 0.5"),
        ] {
            let parsed = CcLine::parse(line).unwrap();
            assert_eq!(parsed.to_string(), canonical);
            assert_eq!(CcLine::parse(canonical), Ok(parsed));
        }
        let all = CcLine::parse("cubic abe hystart++").unwrap().options;
        assert_eq!(all, CcOptions { hystart_plus_plus: true, abe: true, ..CcOptions::default() });
    }

    #[test]
    fn a_refusal_names_what_was_found_and_the_nearest_word() {
        let refused = |line: &str| CcLine::parse(line).unwrap_err();
        assert!(
            refused("cubik").starts_with(r#"found "cubik"; did you mean "cubic"? accepted: cubic, reno"#)
        );
        assert!(refused("").starts_with(r#"found ""; accepted: cubic"#));
        assert!(refused("own").starts_with(r#"found "own"; accepted: cubic"#));
        assert_eq!(
            refused("cubic hystart+"),
            r#"found "hystart+" after "cubic"; did you mean "hystart++"? accepted: hystart++, abe, nohystart"#
        );
        assert_eq!(refused("vegas abe"), r#"found "abe" after "vegas"; accepted: no word"#);
        assert_eq!(refused("reno abe abe"), r#"found "abe" twice after "reno"; accepted: once"#);
        assert_eq!(refused("none cwnd"), r#"found nothing after "cwnd"; accepted: 1 to 1000000"#);
        assert_eq!(refused("none cwnd 0"), r#"found "0" after "cwnd"; accepted: 1 to 1000000"#);
    }
}
