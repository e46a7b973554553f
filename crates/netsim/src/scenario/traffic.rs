//! Reading `[[traffic]]`: what each kind takes, its defaults, and what contradicts what.

use super::resolve::{FRAME_BYTES, MOST_FLOWS, Result, check_span, refuse, unknown};
use super::{Dscp, EcnAsked, ScenarioError, Span, Traffic};
use crate::flow::codec;
use crate::traffic::Kind;
use crate::traffic::voip::Codec;
use goodqueue_tcp::{CcLine, Config, EcnMode, Stack};
use goodqueue_units::Duration;

/// The smallest Ethernet frame, without its checksum.
const LEAST_FRAME_BYTES: u64 = 60;

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
            Kind::Transfer | Kind::Rr | Kind::Stream | Kind::Page => {
                self.resolve_tcp(key)?;
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
            ("pacing", self.pacing.is_some()),
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
        let paces = line.cc.paces();
        if paces && self.pacing == Some(false) {
            let accepted = format!("true, or none, as {} always paces", line.cc.name());
            return refuse(&key("pacing"), false, &accepted);
        }
        self.pacing = self.pacing.filter(|&pacing| pacing && !paces);
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
}

impl Traffic {
    /// How many packets of it a time series has at the most, where it is a ping or a call.
    pub(super) fn packets(&self, whole: Duration) -> u64 {
        let interval = match self.kind {
            Kind::Ping => self.interval.map(|interval| interval.0),
            Kind::Voip => codec(self).ok().map(Codec::interval),
            _ => None,
        };
        interval.map_or(0, |interval| {
            self.count.unwrap_or(1).saturating_mul(whole.as_nanos() / interval.as_nanos().max(1))
        })
    }
}
