//! Reading `[[traffic]]`: what each kind takes, its defaults, and what contradicts what.

use super::resolve::{FRAME_BYTES, MOST_FLOWS, Result, check_rate, check_span, refuse, unknown};
use super::{Dscp, EcnAsked, RateText, ScenarioError, Size, Span, Traffic};
use crate::traffic::Kind;
use crate::traffic::voip::Codec;
use goodqueue_tcp::{CcLine, Config, EcnMode, Stack};
use goodqueue_units::Duration;

/// The smallest Ethernet frame, without its checksum.
const LEAST_FRAME_BYTES: u64 = 60;
const MOST_REPEATS: u64 = 1_000_000_000;
const MOST_BYTES: u64 = 1_000_000_000_000_000;

impl Traffic {
    /// Fills in and checks one table, of which `key` makes full keys; those `before` it, with their places in the file, are
    /// done. The run lasts for `whole` and has the base RTT `rtt`.
    pub(super) fn resolve(
        &mut self,
        key: &dyn Fn(&str) -> String,
        before: &[(usize, Self)],
        whole: Duration,
        rtt: Span,
    ) -> Result<()> {
        if let Some(name) = &self.name
            && let Some((twin, _)) = before.iter().find(|(_, other)| other.name.as_deref() == Some(name))
        {
            return refuse(&key("name"), format!("{name:?}, which traffic[{twin}] has"), "a name of its own");
        }
        let count = *self.count.get_or_insert(1);
        if !(1..=MOST_FLOWS).contains(&count) {
            return refuse(&key("count"), count, &format!("1 to {MOST_FLOWS}"));
        }
        self.direction.get_or_insert_default();
        self.dscp = self.dscp.filter(|dscp| *dscp != Dscp::default());
        check_span(&key("rtt"), *self.rtt.get_or_insert(rtt), Duration::ZERO, Duration::from_secs(1000))?;
        self.resolve_times(key, count, whole)?;
        match self.kind {
            Kind::Bulk => self.resolve_tcp(key),
            Kind::Cbr | Kind::Ping => self.resolve_datagrams(key),
            Kind::Voip => self.resolve_voip(key),
            Kind::Page => {
                self.resolve_tcp(key)?;
                self.resolve_repeat(key)?;
                self.resolve_page(key)
            }
            Kind::Transfer | Kind::Rr | Kind::Stream => {
                self.resolve_tcp(key)?;
                self.resolve_repeat(key)?;
                self.resolve_application(key)
            }
            Kind::Rrul | Kind::RrulBe | Kind::TcpNup | Kind::TcpNdown => {
                Err(ScenarioError::new(key("kind"), "not resolved"))
            }
        }
    }

    /// Keys that belong to other kinds: a `cc` on a `cbr` is a misunderstanding, not a default.
    pub(super) fn refuse_foreign_keys(&self, key: &dyn Fn(&str) -> String) -> Result<()> {
        let set = [
            ("cc", self.cc.is_some()),
            ("stack", self.stack.is_some()),
            ("rate", self.rate.is_some()),
            ("packet_size", self.packet_size.is_some()),
            ("interval", self.interval.is_some()),
            ("size", self.size.is_some()),
            ("repeat", self.repeat.is_some()),
            ("request", self.request.is_some()),
            ("response", self.response.is_some()),
            ("think", self.think.is_some()),
            ("think_mean", self.think_mean.is_some()),
            ("ecn", self.ecn.is_some()),
            ("dscp", self.dscp.is_some()),
            ("codec", self.codec.is_some()),
            ("page", self.page.is_some()),
            ("objects", self.objects.is_some()),
            ("connections", self.connections.is_some()),
        ];
        let (kind, keys) = (self.kind.name(), self.kind.keys());
        match set.into_iter().find(|(name, set)| *set && !keys.contains(name)) {
            Some((name, _)) => Err(ScenarioError::new(
                key(name),
                format!(
                    "kind {kind:?} has no such key; accepted beside the common ones: {}",
                    keys.join(", ")
                ),
            )),
            None => Ok(()),
        }
    }

    fn resolve_times(&mut self, key: &dyn Fn(&str) -> String, count: u64, whole: Duration) -> Result<()> {
        let start = self.start.get_or_insert_default().0;
        let spread = self.start_spread.get_or_insert_default().0;
        let stagger = self.stagger.get_or_insert_default().0;
        let last = start + spread + stagger * (count - 1);
        let stop = self.stop.get_or_insert(Span(whole)).0;
        if last >= whole {
            return refuse(
                &key("start"),
                format!("a last start at up to {last}"),
                &format!("before the end, {whole}"),
            );
        }
        if stop <= last {
            return refuse(&key("stop"), stop, &format!("after the last start, {last}"));
        }
        Ok(())
    }

    fn resolve_tcp(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
        let asked = self.cc.get_or_insert_with(|| CcLine::from(Config::default().cc).to_string());
        let line = CcLine::parse(asked).map_err(|message| ScenarioError::new(key("cc"), message))?;
        *asked = line.to_string();
        let ecn = self.ecn.get_or_insert(EcnAsked::default_of(line.cc));
        ecn.check(line.cc).map_err(|message| ScenarioError::new(key("ecn"), message))?;
        let stack = self.stack.get_or_insert_with(|| Stack::default().name().to_string());
        if Stack::from_name(stack).is_none() {
            return unknown(&key("stack"), stack, Stack::ALL.iter().map(|stack| stack.name()));
        }
        Ok(())
    }

    /// Datagrams have no feedback.
    fn resolve_datagram_ecn(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
        match *self.ecn.get_or_insert_default() {
            EcnAsked(EcnMode::Accurate) => {
                refuse(&key("ecn"), EcnAsked(EcnMode::Accurate), "false or true: datagrams have no feedback")
            }
            _ => Ok(()),
        }
    }

    fn resolve_voip(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
        self.resolve_datagram_ecn(key)?;
        let codec = self.codec.get_or_insert_with(|| Codec::default().name().to_string());
        match Codec::from_name(codec) {
            Some(_) => Ok(()),
            None => unknown(&key("codec"), codec, Codec::ALL.iter().map(|codec| codec.name())),
        }
    }

    fn resolve_repeat(&self, key: &dyn Fn(&str) -> String) -> Result<()> {
        match self.repeat {
            Some(repeat) if !(1..=MOST_REPEATS).contains(&repeat) => {
                refuse(&key("repeat"), repeat, &format!("1 to {MOST_REPEATS}"))
            }
            _ => Ok(()),
        }
    }

    fn resolve_datagrams(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
        self.resolve_datagram_ecn(key)?;
        // 98 bytes is what `ping` sends on Ethernet by default.
        let default = if self.kind == Kind::Ping { 98 } else { FRAME_BYTES.into() };
        let size = *self.packet_size.get_or_insert(default);
        if !(LEAST_FRAME_BYTES..=FRAME_BYTES.into()).contains(&size) {
            return refuse(&key("packet_size"), size, &format!("{LEAST_FRAME_BYTES} to {FRAME_BYTES} bytes"));
        }
        if self.kind == Kind::Ping {
            let interval = *self.interval.get_or_insert(Span(Duration::from_millis(200)));
            return check_span(
                &key("interval"),
                interval,
                Duration::from_micros(1),
                Duration::from_secs(1000),
            );
        }
        match self.rate {
            Some(_) => Ok(()),
            None => Err(ScenarioError::new(key("rate"), "missing; accepted: a rate such as \"10mbit\"")),
        }
    }

    fn resolve_application(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
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
