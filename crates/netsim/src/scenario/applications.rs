//! What `[[traffic]]` says of applications above TCP: defaults filled in, contradictions refused.

use super::resolve::{Result, check_rate, check_span, refuse};
use super::{RateText, ScenarioError, Size, Span, Traffic};
use crate::traffic::Kind;
use goodqueue_units::Duration;

const MOST_REPEATS: u64 = 1_000_000_000;
const MOST_BYTES: u64 = 1_000_000_000_000_000;

impl Traffic {
    pub(super) fn resolve_application(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
        if self.repeat.is_some_and(|repeat| !(1..=MOST_REPEATS).contains(&repeat)) {
            return refuse(&key("repeat"), self.repeat.unwrap_or(0), &format!("1 to {MOST_REPEATS}"));
        }
        match self.kind {
            Kind::Transfer => {
                check_size(&key("size"), self.size)?;
                if self.repeat.is_none() && self.interval.is_none() {
                    self.repeat = Some(1);
                }
                let gap = *self.interval.get_or_insert_default();
                check_span(&key("interval"), gap, Duration::ZERO, Duration::from_secs(1_000_000))
            }
            Kind::Rr => {
                check_size(&key("request"), self.request)?;
                check_size(&key("response"), self.response)?;
                if self.think.is_some() && self.think_mean.is_some() {
                    return Err(ScenarioError::new(
                        key("think_mean"),
                        "found a think time besides; accepted: think (fixed) or think_mean (exponential)",
                    ));
                }
                if self.think_mean.is_none() {
                    self.think.get_or_insert_default();
                }
                for (name, span) in [("think", self.think), ("think_mean", self.think_mean)] {
                    let span = span.unwrap_or_default();
                    check_span(&key(name), span, Duration::ZERO, Duration::from_secs(1_000_000))?;
                }
                Ok(())
            }
            Kind::Page => self.resolve_page(key),
            _ => self.resolve_stream(key),
        }
    }

    fn resolve_stream(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
        let Some(RateText(rate)) = self.rate else {
            return Err(ScenarioError::new(key("rate"), "missing; accepted: a rate such as \"10mbit\""));
        };
        check_rate(&key("rate"), rate)?;
        let interval = *self.interval.get_or_insert(Span(Duration::from_millis(20)));
        check_span(&key("interval"), interval, Duration::from_micros(1), Duration::from_secs(1000))?;
        if rate.bytes_in(interval.0) == 0 {
            let found = format!("{}, in which {rate} makes no byte", interval.0);
            return refuse(&key("interval"), found, "a time for a chunk of one byte or more");
        }
        Ok(())
    }
}

/// A size that must be there.
pub(super) fn check_size(key: &str, size: Option<Size>) -> Result<()> {
    match size {
        Some(Size(bytes)) if (1..=MOST_BYTES).contains(&bytes) => Ok(()),
        Some(Size(bytes)) => refuse(key, format!("{bytes} bytes"), "1B to 1000000GB"),
        None => Err(ScenarioError::new(key, "missing; accepted: a size such as \"100kB\" or \"1MB\"")),
    }
}
