//! `[[change]]`: what becomes different in the course of a run, a link's rate or its discipline's parameters.

use super::key::{AnyKey, Key, Result, Table};
use super::link::{FRAME_BYTES, Line, LinkSpec};
use super::{Direction, MOST_RATE, RateText, ScenarioError, Span, refuse, traffic};
use goodqueue_qdisc::{AnyQdisc, Args, Link, packet::Plain};
use goodqueue_units::Duration;
use serde::Serialize;

const AT: Key<Span> = Key::required("at", "\"30s\"").help("when");
const RATE: Key<RateText> = Key::optional("rate", "\"1mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the link's rate from then on; what is on the wire leaves at the rate of before")
    .simulator_only();
const QDISC: Key<String> = Key::optional("qdisc", "\"codel target 10ms\"")
    .help("what would follow `tc qdisc change dev X root`: the discipline's name, and the parameters that change")
    .simulator_only();

pub(super) const KEYS: &[&dyn AnyKey] = &[&AT, &traffic::DIRECTION, &RATE, &QDISC];

/// A change of one bottleneck, its line with what it leaves out filled in.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// When.
    pub at: Span,
    /// Which bottleneck.
    pub direction: Direction,
    /// The link's rate from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// What would follow `tc qdisc change dev X root`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<String>,
}

/// Reads the changes of `scenario`, whose run lasts for `whole`, each on top of those before it; `links` are what they begin with.
pub(super) fn read(scenario: &Table<'_>, whole: Duration, links: [&LinkSpec; 2]) -> Result<Vec<Change>> {
    let mut state = links.map(|link| (link.line.clone(), link.parameters()));
    let mut before = Duration::ZERO;
    let mut changes = Vec::new();
    for table in scenario.tables("change")? {
        table.refuse_others(KEYS, &[])?;
        let change = Change {
            at: table.take(&AT)?,
            direction: table.take(&traffic::DIRECTION)?,
            rate: table.find(&RATE)?,
            qdisc: table.find(&QDISC)?,
        };
        if change.at.0 >= whole {
            return refuse(&table.key("at"), change.at.0, &format!("before the end, {whole}"));
        }
        if change.at.0 < before {
            let accepted = format!("{before}, the time before it, or later");
            return refuse(&table.key("at"), change.at.0, &accepted);
        }
        before = change.at.0;
        let (line, link) = &mut state[change.direction.index()];
        changes.push(change.apply(&table, line, link)?);
    }
    Ok(changes)
}

impl Change {
    /// Applies the change to what `line` and `link` are by then, and fills in what its own line leaves out.
    fn apply(mut self, table: &Table<'_>, line: &mut Line, link: &mut Link) -> Result<Self> {
        if self.rate.is_none() && self.qdisc.is_none() {
            return Err(ScenarioError::new(table.key("rate"), "missing; accepted: a rate, a qdisc or both"));
        }
        let possible = |args: &Args, link: &Link, name: &str| match AnyQdisc::<Plain>::build(args, link) {
            Ok(_) => Ok(()),
            Err(error) => Err(ScenarioError::new(table.key(name), error.0)),
        };
        if let Some(RateText(rate)) = self.rate {
            *link = Link { rate, mtu: FRAME_BYTES };
            if let Line::Registry(args) = line {
                possible(args, link, "rate")?;
            }
        }
        match (&self.qdisc, line) {
            (Some(words), Line::Registry(args)) => {
                let refused = |error: goodqueue_qdisc::Error| ScenarioError::new(table.key("qdisc"), error.0);
                let changed = args.changed(words).map_err(refused)?;
                possible(&changed, link, "qdisc")?;
                // A full line cannot say that something is unset: what takes back (`cake unlimited`) stays as it was written.
                let full = changed.to_string();
                let says_all = args.changed(&full).is_ok_and(|again| again.to_string() == full);
                self.qdisc = Some(if says_all { full } else { words.clone() });
                *args = changed;
            }
            (Some(words), Line::Foreign(_)) => {
                let accepted =
                    "none, since a discipline written in Python cannot change in the course of a run";
                return refuse(&table.key("qdisc"), format!("{words:?}"), accepted);
            }
            (None, _) => {}
        }
        Ok(self)
    }
}
