//! `[autorate]`: a program beside the router that measures pings and sets the rates of the shapers, as cake-autorate
//! does. Its rules are numbers, and each number is a key.

use crate::lists::ByDirection;
use crate::scenario::Direction;
use crate::scenario::link::{Bottleneck, Line};
use crate::scenario::traffic::Traffic;
use goodqueue_hosts::keys::{AnyKey, Key, MOST_RATE, RateText, Result, Span, Table, Values, refuse};
use goodqueue_units::Duration;
use serde::ser::{Serialize, SerializeMap, Serializer};

const RULES: &str = "cake-autorate 3.5, config defaults";
const SHORT: (Span, Span) = (Span(Duration::from_micros(1)), Span(Duration::from_secs(60)));

pub(crate) const PINGS: Key<String> = Key::required("pings", "\"reflectors\"")
    .help("name of the [[traffic]] of kind \"ping\" that it measures; each of its flows is a reflector")
    .simulator_only();
pub(crate) const DELAYED: Key<Span> = Key::with_default("delayed", "\"30ms\"")
    .range(SHORT.0, SHORT.1)
    .help("a sample is delayed if its one-way delay is more than this above the baseline, and a full frame's time")
    .source(RULES)
    .simulator_only();
pub(crate) const WINDOW: Key<u64> = Key::with_default("window", "6")
    .range(1, 1000)
    .help("number of the last samples that are judged together")
    .source(RULES)
    .simulator_only();
pub(crate) const DETECTIONS: Key<u64> = Key::with_default("detections", "3")
    .range(1, 1000)
    .help("delayed samples within the window from which on there is bufferbloat")
    .source(RULES)
    .simulator_only();
pub(crate) const RAISE_UP_TO: Key<Span> = Key::with_default("raise_up_to", "\"10ms\"")
    .range(SHORT.0, SHORT.1)
    .help("mean delay above the baseline up to which the rate is raised by the whole `raise`")
    .source(RULES)
    .simulator_only();
pub(crate) const CUT_MOST_FROM: Key<Span> = Key::with_default("cut_most_from", "\"60ms\"")
    .range(SHORT.0, SHORT.1)
    .help("mean delay above the baseline from which on the rate is cut to `cut_most`")
    .source(RULES)
    .simulator_only();
pub(crate) const CUT_LEAST: Key<f64> = Key::with_default("cut_least", "0.99")
    .range(0.01, 1.0)
    .help("factor of the rate on bufferbloat, at a mean delay of `delayed`; linear from there")
    .source(RULES)
    .simulator_only();
pub(crate) const CUT_MOST: Key<f64> = Key::with_default("cut_most", "0.75")
    .range(0.01, 1.0)
    .help("factor of the rate on bufferbloat, at a mean delay of `cut_most_from`")
    .source(RULES)
    .simulator_only();
pub(crate) const RAISE: Key<f64> = Key::with_default("raise", "1.04")
    .range(1.0, 10.0)
    .help("factor of the rate under high load; linear to 1 at a mean delay of `delayed`")
    .source(RULES)
    .simulator_only();
pub(crate) const RETURN: Key<f64> = Key::with_default("back", "0.01")
    .range(0.0, 1.0)
    .help("share by which the rate returns to the line's own, without high load")
    .source(RULES)
    .simulator_only();
pub(crate) const AFTER_CUT: Key<Span> = Key::with_default("after_cut", "\"300ms\"")
    .range(SHORT.0, SHORT.1)
    .help("time after a cut without another cut, and without a raise")
    .source(RULES)
    .simulator_only();
pub(crate) const RETURN_EVERY: Key<Span> = Key::with_default("back_every", "\"1s\"")
    .range(SHORT.0, SHORT.1)
    .help("time between two steps back to the line's own rate")
    .source(RULES)
    .simulator_only();
pub(crate) const HIGH_LOAD: Key<f64> = Key::with_default("high_load", "0.75")
    .range(0.0, 1.0)
    .help("share of the rate from which on the load is high")
    .source(RULES)
    .simulator_only();
pub(crate) const LOAD_EVERY: Key<Span> = Key::with_default("load_every", "\"200ms\"")
    .range(SHORT.0, SHORT.1)
    .help("time over which the load is measured")
    .source(RULES)
    .simulator_only();
pub(crate) const BASELINE_UP: Key<f64> = Key::with_default("baseline_up", "0.001")
    .range(0.0, 1.0)
    .help("weight of a sample above the baseline in the baseline")
    .source(RULES)
    .simulator_only();
pub(crate) const BASELINE_DOWN: Key<f64> = Key::with_default("baseline_down", "0.9")
    .range(0.0, 1.0)
    .help("weight of a sample below the baseline")
    .source(RULES)
    .simulator_only();

pub(in crate::scenario) const KEYS: &[&dyn AnyKey] = &[
    &PINGS,
    &DELAYED,
    &WINDOW,
    &DETECTIONS,
    &RAISE_UP_TO,
    &CUT_MOST_FROM,
    &CUT_LEAST,
    &CUT_MOST,
    &RAISE,
    &RETURN,
    &AFTER_CUT,
    &RETURN_EVERY,
    &HIGH_LOAD,
    &LOAD_EVERY,
    &BASELINE_UP,
    &BASELINE_DOWN,
];

const MIN: Key<RateText> = Key::required("min", "\"5mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the lowest rate of the shaper")
    .simulator_only();
const MAX: Key<RateText> = Key::required("max", "\"80mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the highest rate of the shaper")
    .simulator_only();

/// The keys of `[autorate.down]` and `[autorate.up]`.
pub(in crate::scenario) const BOUNDS: &[&dyn AnyKey] = &[&MIN, &MAX];

/// The program, with every number filled in.
#[derive(Clone, Debug)]
pub struct Autorate {
    pub(crate) values: Values,
    /// The directions whose shapers it sets. The other ones keep their rate.
    pub(crate) shapers: ByDirection<Option<Shaper>>,
}

/// The rates of one shaper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shaper {
    pub(crate) min: RateText,
    pub(crate) max: RateText,
    /// The bandwidth of the line, which the rate returns to without load.
    pub(crate) base: RateText,
}

impl Autorate {
    /// Reads the table of a scenario with this `bottleneck`.
    pub(in crate::scenario) fn read(table: &Table<'_>, bottleneck: &Bottleneck) -> Result<Self> {
        table.refuse_others(KEYS, &["down", "up"])?;
        if bottleneck.wifi.is_some() {
            return refuse(table.path(), "a Wi-Fi cell", "bottlenecks with cake");
        }
        let mut values = Values::default();
        for key in KEYS {
            key.read(table, &mut values)?;
        }
        let mut shapers = ByDirection::of(|_| None);
        for (direction, line) in
            [(Direction::Down, &bottleneck.down.line), (Direction::Up, &bottleneck.up.line)]
        {
            if let Some(bounds) = table.table(direction.name())? {
                shapers[direction] = Some(Shaper::read(&bounds, line)?);
            }
        }
        if shapers.iter().all(Option::is_none) {
            return refuse(table.path(), "no shaper", "the table [autorate.down], [autorate.up] or both");
        }
        Ok(Self { values, shapers })
    }

    /// Refuses a name of pings that no traffic has.
    pub(in crate::scenario) fn check(&self, traffic: &[Traffic]) -> Result<()> {
        let name = self.values.get(&PINGS);
        let is_meant = |one: &Traffic| one.kind.is_icmp && one.name.as_ref() == Some(&name);
        if traffic.iter().any(is_meant) {
            return Ok(());
        }
        refuse("autorate.pings", format!("{name:?}"), "the name of a [[traffic]] of kind \"ping\"")
    }
}

impl Shaper {
    fn read(table: &Table<'_>, line: &Line) -> Result<Self> {
        table.refuse_others(BOUNDS, &[])?;
        let (min, max) = (table.take(&MIN)?, table.take(&MAX)?);
        let shown = line.to_string();
        let Some(base) = bandwidth(&shown) else {
            return refuse(table.path(), format!("{shown:?}"), "a line of cake with a bandwidth");
        };
        if base.0 < min.0 {
            return refuse(
                &table.key("min"),
                min.0,
                &format!("at most the bandwidth of the line, {}", base.0),
            );
        }
        if base.0 > max.0 {
            return refuse(
                &table.key("max"),
                max.0,
                &format!("at least the bandwidth of the line, {}", base.0),
            );
        }
        Ok(Self { min, max, base })
    }
}

/// Returns the bandwidth in the full line of a cake.
fn bandwidth(line: &str) -> Option<RateText> {
    let mut words = line.split(' ').skip_while(|word| *word != "bandwidth");
    let text = line.starts_with("cake ").then(|| words.nth(1)).flatten()?;
    <RateText as goodqueue_hosts::keys::Quantity>::read(&serde_json::Value::from(text)).ok()
}

impl Serialize for Autorate {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.values.write(&mut map, |_| true)?;
        for direction in Direction::ALL {
            if let Some(shaper) = &self.shapers[direction] {
                map.serialize_entry(direction.name(), &Bounds { min: shaper.min, max: shaper.max })?;
            }
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
struct Bounds {
    min: RateText,
    max: RateText,
}
