//! `[[change]]`: what becomes different in the course of a run, a link's rate or its discipline's parameters.

use super::resolve::{FRAME_BYTES, Line, check_rate, refuse};
use super::{Direction, RateText, Scenario, ScenarioError, Span};
use goodqueue_qdisc::{AnyQdisc, Args, Link, packet::Plain};
use goodqueue_units::Duration;
use serde::{Deserialize, Serialize};

type Result<T> = std::result::Result<T, ScenarioError>;

/// A change of one bottleneck.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When.
    pub at: Span,
    /// Which bottleneck.
    #[serde(default)]
    pub direction: Direction,
    /// The link's rate from then on. What is on the wire leaves at the rate of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// What would follow `tc qdisc change dev X root`: the discipline's name, and the parameters that change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<String>,
}

impl Scenario {
    /// Checks the changes one after the other, each on top of those before it, and fills in what a line leaves out.
    pub(crate) fn resolve_changes(&mut self) -> Result<()> {
        let mut changes = std::mem::take(&mut self.change);
        let mut state = [self.qdisc(Direction::Down)?, self.qdisc(Direction::Up)?];
        let mut before = Duration::ZERO;
        for (index, change) in changes.iter_mut().enumerate() {
            let key = |name: &str| format!("change[{index}].{name}");
            if change.at.0 >= self.duration.0 {
                let accepted = format!("before the end, {}", self.duration.0);
                return refuse(&key("at"), change.at.0, &accepted);
            }
            if change.at.0 < before {
                return refuse(&key("at"), change.at.0, &format!("{before}, the time before it, or later"));
            }
            before = change.at.0;
            let (_, line, link) = &mut state[change.direction.index()];
            change.resolve(&key, line, link)?;
        }
        self.change = changes;
        Ok(())
    }
}

impl Change {
    /// Applies the change to what `line` and `link` are by then.
    fn resolve(&mut self, key: &dyn Fn(&str) -> String, line: &mut Line, link: &mut Link) -> Result<()> {
        if self.rate.is_none() && self.qdisc.is_none() {
            return Err(ScenarioError::new(key("rate"), "missing; accepted: a rate, a qdisc or both"));
        }
        let possible = |args: &Args, link: &Link, name: &str| match AnyQdisc::<Plain>::build(args, link) {
            Ok(_) => Ok(()),
            Err(error) => Err(ScenarioError::new(key(name), error.0)),
        };
        if let Some(RateText(rate)) = self.rate {
            check_rate(&key("rate"), rate)?;
            *link = Link { rate, mtu: FRAME_BYTES };
            if let Line::Registry(args) = line {
                possible(args, link, "rate")?;
            }
        }
        match (&self.qdisc, line) {
            (Some(words), Line::Registry(args)) => {
                let refused = |error: goodqueue_qdisc::Error| ScenarioError::new(key("qdisc"), error.0);
                let changed = args.changed(words).map_err(refused)?;
                possible(&changed, link, "qdisc")?;
                // A full line cannot say that something is unset: what takes back (`cake unlimited`) stays as it was written.
                let full = changed.to_string();
                let says_all = args.changed(&full).is_ok_and(|again| again.to_string() == full);
                self.qdisc = Some(if says_all { full } else { words.clone() });
                *args = changed;
                Ok(())
            }
            (Some(words), Line::Foreign(_)) => {
                let accepted =
                    "none, since a discipline written in Python cannot change in the course of a run";
                refuse(&key("qdisc"), format!("{words:?}"), accepted)
            }
            (None, _) => Ok(()),
        }
    }
}
