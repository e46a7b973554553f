//! A wire: a hop without a queue. It does what tc-netem(8) does: delay, jitter, loss, duplication, reordering.

use super::chance::Chance;
use super::kind::{Element, HopKind, Linux, Make};
use super::jitter::Jitter;
use super::loss::Loss;
use super::netem::{Accepted, Wire, WireCounts, WireParams};
use crate::packet::Packet;
use goodqueue_hosts::keys::{Json, Key, Percent, Quantity, ScenarioError, Span, Values, describe, no_such_word, percent};
use goodqueue_units::{Duration, Instant};
use serde_json::json;

const LONGEST: Span = Span(Duration::from_secs(1000));

/// How long packets take.
const DELAY: Key<Span> = Key::with_default("delay", "\"0s\"")
    .range(Span(Duration::ZERO), LONGEST)
    .example("\"10ms\"")
    .help("delay of each packet, in addition to the path's base RTT")
    .source("tc-netem(8)");
const JITTER: Key<Span> = Key::with_default("jitter", "\"0s\"")
    .range(Span(Duration::ZERO), LONGEST)
    .example("\"3ms\"")
    .help("variation of the delay, the unit of `distribution`")
    .source("tc-netem(8)");
const DISTRIBUTION: Key<Jitter> = Key::with_default("distribution", "\"uniform\"")
    .help("how the delay is distributed around its mean; with `wifi`, `jitter` is the mean of a crowded channel's delays")
    .source("tc-netem(8); draft-huitema-ccwg-c4-test-04");
const LOSS: Key<Loss> = Key::with_default("loss", "\"0%\"")
    .example("\"1%\"")
    .help("which packets are lost: \"1%\", \"1% 25%\" with correlation, or \"gemodel P R 1-H 1-K\" (Gilbert-Elliott)")
    .source("tc-netem(8)");
const DUPLICATE: Key<Share> = Key::with_default("duplicate", "\"0%\"")
    .example("\"1%\"")
    .help("share of the packets that are duplicated")
    .source("tc-netem(8)");
const REORDER: Key<Chance> = Key::with_default("reorder", "\"0%\"")
    .example("\"25% 50%\"")
    .help("share of the packets that are sent without delay and overtake others, with its correlation")
    .source("tc-netem(8)");
const GAP: Key<u64> = Key::with_default("gap", "1")
    .range(1, 1_000_000)
    .unit("packets")
    .help("`reorder` sends at most one packet in this many without delay")
    .source("tc-netem(8)");
const JITTER_REORDERS: Key<bool> = Key::with_default("jitter_reorders", "false")
    .help("whether jitter lets packets overtake each other, as in netem without a pfifo below it")
    .source("tc-netem(8)");
const LIMIT: Key<u64> = Key::with_default("limit", "1000000")
    .range(1, 100_000_000)
    .unit("packets")
    .help("most packets on their way at a time; further packets are lost")
    .source("tc-netem(8), where it is 1000");

/// A hop without a queue.
pub(crate) const KIND: HopKind = HopKind {
    keys: &[&DELAY, &JITTER, &DISTRIBUTION, &LOSS, &DUPLICATE, &REORDER, &GAP, &JITTER_REORDERS, &LIMIT],
    changes: &["delay", "jitter"],
    check: |table, values| {
        if values.get(&REORDER).probability > 0.0 && values.get(&DELAY).0 == Duration::ZERO {
            let message =
                "found none, where `reorder` needs one to overtake; accepted: a time such as \"10ms\"";
            return Err(ScenarioError::new(table.key("delay"), message));
        }
        Ok(())
    },
    // A normal distribution is seldom farther than four deviations from its mean.
    delay: |values| values.get(&DELAY).0 + values.get(&JITTER).0 * 4,
    plural: "wires",
    shows: &[
        ("delay", ", "),
        ("jitter", ", jitter "),
        ("loss", ", loss "),
        ("duplicate", ", duplicates "),
        ("reorder", ", reorders "),
    ],
    linux: Some(Linux::Netem),
    ..HopKind::new(
        "wire",
        "delay, jitter, loss, duplication and reordering, as tc-netem(8) has them",
        Make::Element(|values, random| Box::new(Wire::<Packet>::new(WireParams::of(values), random))),
    )
};

impl WireParams {
    fn of(values: &Values) -> Self {
        Self {
            delay: values.get(&DELAY).0,
            jitter: values.get(&JITTER).0,
            distribution: values.get(&DISTRIBUTION),
            loss: values.get(&LOSS),
            duplicate: values.get(&DUPLICATE).0,
            reorder: values.get(&REORDER),
            gap: u32::try_from(values.get(&GAP)).unwrap_or(u32::MAX),
            may_reorder: values.get(&JITTER_REORDERS),
            limit: usize::try_from(values.get(&LIMIT)).unwrap_or(usize::MAX),
        }
    }
}

/// A share of the packets, in percent.
#[derive(Clone, Copy, Debug)]
struct Share(f64);

/// Returns a value as text.
fn text(found: &Json) -> Result<&str, String> {
    let described = || format!("found {}; accepted: a share such as \"1%\"", describe(found));
    found.as_str().ok_or_else(described)
}

impl Quantity for Share {
    const TYPE: &'static str = "percent";
    fn read(found: &Json) -> Result<Self, String> {
        text(found).and_then(percent).map(Self)
    }
    fn write(&self) -> Json {
        json!(Percent(self.0).to_string())
    }
    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[0-9.]+%$"})
    }
}

impl Quantity for Chance {
    const TYPE: &'static str = "percent, with its correlation";
    fn read(found: &Json) -> Result<Self, String> {
        let words: Vec<&str> = text(found)?.split_ascii_whitespace().collect();
        match words[..] {
            [probability] => percent(probability).map(Self::of),
            [probability, correlation] => {
                Ok(Self { probability: percent(probability)?, correlation: percent(correlation)? })
            }
            _ => Err(format!("found {found}; accepted: one or two shares such as \"25% 50%\"")),
        }
    }
    fn write(&self) -> Json {
        let Self { probability, correlation } = *self;
        if correlation == 0.0 {
            return json!(Percent(probability).to_string());
        }
        json!(format!("{} {}", Percent(probability), Percent(correlation)))
    }
    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[0-9.]+%( [0-9.]+%)?$"})
    }
}

impl Quantity for Loss {
    const TYPE: &'static str = "loss";
    fn read(found: &Json) -> Result<Self, String> {
        text(found).and_then(Self::parse)
    }
    fn write(&self) -> Json {
        json!(self.to_string())
    }
    fn schema() -> Json {
        json!({"type": "string", "pattern": "^((random )?[0-9.]+%( [0-9.]+%)?|gemodel( [0-9.]+%){1,4})$"})
    }
}

impl Quantity for Jitter {
    const TYPE: &'static str = "word";
    fn read(found: &Json) -> Result<Self, String> {
        let names: Vec<&str> = Self::all().map(|(name, _)| name).collect();
        let known = Self::all().find(|(name, _)| Some(*name) == found.as_str());
        known.map(|(_, one)| one).ok_or_else(|| match found.as_str() {
            Some(text) => no_such_word(text, &names),
            None => format!("found {}; accepted: {}", describe(found), names.join(", ")),
        })
    }
    fn write(&self) -> Json {
        let known = Self::all().find(|(_, one)| one == self);
        json!(known.map_or("uniform", |(name, _)| name))
    }
    fn schema() -> Json {
        let names: Vec<&str> = Self::all().map(|(name, _)| name).collect();
        json!({"type": "string", "enum": names})
    }
}

impl Element for Wire<Packet> {
    fn accept(&mut self, now: Instant, packet: Packet) -> Accepted {
        Self::accept(self, now, packet)
    }
    fn next_time(&self) -> Option<Instant> {
        Self::next_time(self)
    }
    fn release(&mut self, now: Instant) -> Option<Packet> {
        Self::release(self, now)
    }
    fn change(&mut self, values: &Values) {
        self.set_delay(values.get(&DELAY).0, values.get(&JITTER).0);
    }
    fn counts(&self) -> WireCounts {
        Self::counts(self)
    }
}
