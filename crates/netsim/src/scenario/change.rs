//! `[[change]]`: what changes during a run: a link's rate, its discipline's parameters, the delay of a path or a wire.

use super::hop::{BOTTLENECK, Hops};
use super::link::{Bottleneck, Line, LinkSpec};
use super::{Direction, Path, Traffic, traffic};
use crate::ids::HopId;
use crate::lists::{ByDirection, PerHop};
use crate::packet::Packet;
use crate::path::{HOPS, HopKind};
use goodqueue_hosts::keys::{
    AnyKey, Key, MOST_RATE, RateText, Result, ScenarioError, Span, Table, Values, no_such_word, refuse,
};
use goodqueue_qdisc::{AnyQdisc, Args, Link};
use goodqueue_units::Duration;
use serde::Serialize;

const AT: Key<Span> = Key::required("at", "\"30s\"").help("when");
const RATE: Key<RateText> = Key::optional("rate", "\"1mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the link's new rate; a packet that is being sent leaves at the old rate");
const QDISC: Key<String> = Key::optional("qdisc", "\"codel target 10ms\"").help(
    "the words after `tc qdisc change dev X root`: the discipline's name, and the parameters that change. At a tree of \
     classes: its commands, `tc class change` and `tc qdisc change`, with `;` between them",
);

const HOP: Key<String> = Key::derived("hop", "the bottleneck of the direction", "\"modem\"")
    .help("name of the hop that changes, instead of the direction");

const SHORTEST: Span = Span(Duration::ZERO);
const LONGEST: Span = Span(Duration::from_secs(1000));
const RTT: Key<Span> = Key::optional("rtt", "\"100ms\"").range(SHORTEST, LONGEST).simulator_only().help(
    "the new `path.rtt`: each base RTT changes by as much. Packets on their way keep the old one, and none overtakes",
);
const DELAY: Key<Span> = Key::optional("delay", "\"60ms\"").range(SHORTEST, LONGEST).simulator_only().help(
    "a wire's new delay. Packets on their way keep the old one, and only `jitter_reorders` lets others overtake them",
);
const JITTER: Key<Span> = Key::optional("jitter", "\"12ms\"")
    .range(SHORTEST, LONGEST)
    .simulator_only()
    .help("a wire's new jitter, in the unit of its `distribution`");

pub(super) const KEYS: &[&dyn AnyKey] =
    &[&AT, &traffic::DIRECTION, &HOP, &RATE, &QDISC, &RTT, &DELAY, &JITTER];

/// A change of a link, of a wire or of the path's delay. A link's line has every parameter, including those that were
/// left out.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// When it takes place.
    pub at: Span,
    /// The direction that changes.
    pub direction: Direction,
    /// The name of the hop that changes, if it is not the bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop: Option<String>,
    /// The number of this hop.
    #[serde(skip)]
    pub(crate) place: Option<HopId>,
    /// The link's rate from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// The words that would follow `tc qdisc change dev X root`, or the commands that change a tree of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<String>,
    /// The base round-trip time of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
    /// The delay of the hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// The jitter of the hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Span>,
    /// The base round-trip time before the change.
    #[serde(skip)]
    pub(crate) rtt_before: Duration,
    /// The values of all keys of the hop from then on, if its delay or jitter changes.
    #[serde(skip)]
    pub(crate) values: Option<Values>,
}

/// Reads the changes of `scenario`, whose run lasts for `whole`. Each change applies to the state after the ones
/// before it. `bottleneck`, `hops` and `path` are the state at the start.
pub(super) fn read(
    scenario: &Table<'_>,
    whole: Duration,
    bottleneck: &Bottleneck,
    hops: &Hops,
    path: Path,
) -> Result<Vec<Change>> {
    let mut bottlenecks = ByDirection::from([&bottleneck.down, &bottleneck.up].map(State::of));
    let of_hops = hops.list.iter().map(|hop| hop.link.as_ref().map(State::of));
    let mut of_hops: PerHop<Option<State>> = of_hops.collect();
    let mut values: PerHop<Values> = hops.list.iter().map(|hop| hop.values.clone()).collect();
    let (mut before, mut rtt) = (Duration::ZERO, path.rtt.0);
    let mut changes = Vec::new();
    for table in scenario.tables("change")? {
        table.refuse_others(KEYS, &[])?;
        let change = Change {
            at: table.take(&AT)?,
            direction: table.take(&traffic::DIRECTION)?,
            hop: table.find(&HOP)?.filter(|name| name != BOTTLENECK),
            place: None,
            rate: table.find(&RATE)?,
            qdisc: table.find(&QDISC)?,
            rtt: table.find(&RTT)?,
            delay: table.find(&DELAY)?,
            jitter: table.find(&JITTER)?,
            rtt_before: rtt,
            values: None,
        };
        let change = change.find_hop(&table, hops)?;
        if change.at.0 >= whole {
            return refuse(&table.key("at"), change.at.0, &format!("before the end, {whole}"));
        }
        if change.at.0 < before {
            let accepted = format!("{before}, the time before it, or later");
            return refuse(&table.key("at"), change.at.0, &accepted);
        }
        before = change.at.0;
        rtt = change.rtt.map_or(rtt, |rtt| rtt.0);
        let change = change.of_delays(&table, hops, &mut values)?;
        if !change.is_of_link() {
            changes.push(change);
            continue;
        }
        if change.place.is_none() && bottleneck.wifi.is_some() {
            return refuse(
                &table.key("hop"),
                "the bottleneck, which is Wi-Fi",
                "another hop; a station's rate may be a list",
            );
        }
        let state = match change.place {
            None => Some(&mut bottlenecks[change.direction]),
            Some(hop) => of_hops[hop].as_mut(),
        };
        let Some(state) = state else {
            let found = change.hop.unwrap_or_default();
            return refuse(
                &table.key("hop"),
                format!("{found:?}, which is no link"),
                "a hop of kind \"link\"",
            );
        };
        changes.push(change.apply(&table, state)?);
    }
    Ok(changes)
}

/// Refuses a change in `changes` after which a flow of `traffic` would have a base RTT below zero.
pub(super) fn check(changes: &[Change], path: Path, traffic: &[Traffic]) -> Result<()> {
    let rtts = traffic.iter().map(|one| one.rtt.0).enumerate();
    let Some((place, least)) = rtts.min_by_key(|(_, rtt)| *rtt) else { return Ok(()) };
    let lowest = path.rtt.0.saturating_sub(least);
    for (number, change) in changes.iter().enumerate() {
        if let Some(Span(rtt)) = change.rtt.filter(|rtt| rtt.0 < lowest) {
            let accepted = format!("{lowest} or more, as traffic[{place}].rtt, {least}, changes by as much");
            return refuse(&format!("change[{number}].rtt"), rtt, &accepted);
        }
    }
    Ok(())
}

/// The state of a link at the time of a change.
struct State {
    line: Line,
    link: Link,
    /// Whether its rate can change: a link with a trace of rates, bursts or an access network has no fixed rate.
    is_fixed: bool,
}

impl State {
    fn of(link: &LinkSpec) -> Self {
        Self { line: link.line.clone(), link: link.parameters(), is_fixed: link.below.is_fixed() }
    }
}

impl Change {
    /// Finds the hop that the change names, and its direction.
    fn find_hop(mut self, table: &Table<'_>, hops: &Hops) -> Result<Self> {
        let Some(name) = &self.hop else { return Ok(self) };
        let place = hops.list.numbered().find(|(_, hop)| hop.name == *name).map(|(id, _)| id);
        let names: Vec<&str> = hops.list.iter().map(|hop| hop.name.as_str()).chain([BOTTLENECK]).collect();
        let unknown = || ScenarioError::new(table.key("hop"), no_such_word(name, &names));
        let place = place.ok_or_else(unknown)?;
        (self.place, self.direction) = (Some(place), hops.list[place].direction);
        Ok(self)
    }

    /// Returns whether the rate or the discipline of a link changes.
    pub(crate) fn is_of_link(&self) -> bool {
        self.rate.is_some() || self.qdisc.is_some()
    }

    /// Returns an upper bound of how much longer a round trip takes after the change than before. The whole new delay
    /// of a hop counts.
    pub(crate) fn lengthens(&self, hops: &Hops) -> Duration {
        let of_path = self.rtt.map_or(Duration::ZERO, |rtt| rtt.0.saturating_sub(self.rtt_before));
        let hop = self.place.zip(self.values.as_ref());
        of_path + hop.map_or(Duration::ZERO, |(place, values)| (hops.list[place].kind.delay)(values))
    }

    /// Applies the change of the path's or a hop's delay to `values`, which are those of all `hops`.
    fn of_delays(mut self, table: &Table<'_>, hops: &Hops, values: &mut PerHop<Values>) -> Result<Self> {
        if !self.is_of_link() && self.rtt.is_none() && self.delay.is_none() && self.jitter.is_none() {
            let missing = "missing; accepted: a rate, a qdisc or both, an rtt, or a hop's delay or jitter";
            return Err(ScenarioError::new(table.key("rate"), missing));
        }
        if let Some(Span(rtt)) = self.rtt
            && (self.place.is_some() || self.direction == Direction::Up)
        {
            let accepted = "none beside `hop` or `direction = \"up\"`, as it is of the whole path, both ways";
            return refuse(&table.key("rtt"), rtt, accepted);
        }
        for (key, value) in [(&DELAY, self.delay), (&JITTER, self.jitter)] {
            let Some(value) = value else { continue };
            let changes = |kind: &HopKind| kind.changes.contains(&key.name());
            let Some(place) = self.place.filter(|place| changes(hops.list[*place].kind)) else {
                let kinds: Vec<&str> =
                    HOPS.iter().filter(|kind| changes(kind)).map(|kind| kind.name).collect();
                let accepted =
                    format!("beside `hop`, the name of a {}; the path has `rtt`", kinds.join(" or "));
                return refuse(&table.key(key.name()), value.0, &accepted);
            };
            values[place].put(key, value);
            self.values = Some(values[place].clone());
        }
        if let (Some(values), Some(place)) = (&self.values, self.place) {
            (hops.list[place].kind.check)(table, values)?;
        }
        Ok(self)
    }

    /// Applies the change to `state`, and fills in the parameters that its line leaves out.
    fn apply(mut self, table: &Table<'_>, state: &mut State) -> Result<Self> {
        let State { line, link, is_fixed } = state;
        let possible = |args: &Args, link: &Link, name: &str| match AnyQdisc::<Packet>::build(args, link) {
            Ok(_) => Ok(()),
            Err(error) => Err(ScenarioError::new(table.key(name), error.0)),
        };
        if let (Some(RateText(rate)), false) = (self.rate, *is_fixed) {
            return refuse(
                &table.key("rate"),
                rate,
                "none, since the link has a trace, bursts or an access network",
            );
        }
        if let Some(RateText(rate)) = self.rate {
            *link = Link { rate, ..*link };
            if let Line::Registry(args) = line {
                possible(args, link, "rate")?;
            }
        }
        match (&self.qdisc, line) {
            (Some(words), Line::Registry(args)) => {
                let refused = |error: goodqueue_qdisc::Error| ScenarioError::new(table.key("qdisc"), error.0);
                let mut changed = args.changed(words).map_err(refused)?;
                changed.refuse_newer().map_err(refused)?;
                changed.resolve(link.rate).map_err(refused)?;
                possible(&changed, link, "qdisc")?;
                // A full line cannot say that a parameter is unset. A line that unsets one (`cake unlimited`) stays as
                // it was written. So does a line of netem, because what it names begins anew. A tree has the commands
                // of this change alone.
                let full = args.commands_of_change(words).unwrap_or_else(|| {
                    let full = changed.to_string();
                    let says_all = changed.spec.begins_anew.is_none()
                        && args.changed(&full).is_ok_and(|again| again.to_string() == full);
                    if says_all { full } else { words.clone() }
                });
                self.qdisc = Some(full);
                *args = changed;
            }
            (Some(words), Line::Foreign(_) | Line::Mac80211(_)) => {
                let accepted = "none, since a discipline written in Python cannot change during a run";
                return refuse(&table.key("qdisc"), format!("{words:?}"), accepted);
            }
            (None, _) => {}
        }
        Ok(self)
    }
}
