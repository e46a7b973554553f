//! `tcp_ecn` and `tcp_ecn_option`: what the TCP of a host asks for and accepts, as Linux's sysctls say it. `[linux]`
//! has those of all hosts, and `[[host]]` those of one.

use super::hop::Hops;
use super::traffic::Traffic;
use crate::lists::PerSide;
use goodqueue_hosts::direction::Side;
use goodqueue_hosts::keys::{Key, Result, Table, refuse};
use goodqueue_hosts::traffic::tcp;
use goodqueue_tcp::{Config, EcnMode, EcnUse, OptionUse, Stack};
use serde::Serialize;

pub(super) const TCP_ECN: Key<u64> = Key::optional("tcp_ecn", "3")
    .range(0, 5)
    .help(
        "ECN that hosts accept and ask for: 0 none, 1 classic ECN both, 2 (as if left out) classic ECN accepted, 3 \
         AccECN both, 4 AccECN accepted and classic ECN asked for, 5 AccECN accepted. A flow's `ecn` asks too. 3 to 5 \
         need the stack linux-7.3",
    )
    .source("Linux, net.ipv4.tcp_ecn");
pub(super) const TCP_ECN_OPTION: Key<u64> = Key::optional("tcp_ecn_option", "1")
    .range(0, 3)
    .help(
        "segments with AccECN's option: 0 none, 1 after changes and three per round trip, 2 (as if left out) all with \
         room, 3 also where ACKs with the option are lost. It needs the stack linux-7.3",
    )
    .source("Linux, net.ipv4.tcp_ecn_option; RFC 9768, 3.2.3");

/// The sysctls of a host, as far as a table says them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Sysctls {
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_ecn: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tcp_ecn_option: Option<u64>,
}

impl Sysctls {
    /// Reads the sysctls in `table`.
    pub(super) fn read(table: &Table<'_>) -> Result<Self> {
        if !crate::complete::COMPLETE {
            return Ok(Self::default());
        }
        Ok(Self { tcp_ecn: table.find(&TCP_ECN)?, tcp_ecn_option: table.find(&TCP_ECN_OPTION)? })
    }

    /// Returns whether it says nothing.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the sysctls of the hosts at both ends of `traffic`: their own, or else those of `all` hosts.
    pub(crate) fn at_ends(all: Self, hops: &Hops, traffic: &Traffic) -> PerSide<Self> {
        PerSide::of(|side| {
            let own = hops.host_of(traffic, side).map_or(Self::default(), |host| host.sysctls);
            Self {
                tcp_ecn: own.tcp_ecn.or(all.tcp_ecn),
                tcp_ecn_option: own.tcp_ecn_option.or(all.tcp_ecn_option),
            }
        })
    }

    /// Returns `config` as an end has it that opens connections (`opens`), or accepts them. The end asks for at least
    /// what its flow's `ecn` says, as with the feature `ecn` of a route. It accepts what the sysctl says, and what its
    /// congestion control needs (Linux `tcp_ecn_send_syn` and `tcp_ecn_create_request`).
    pub(crate) fn apply(self, config: Config, opens: bool) -> Config {
        use EcnMode::{Accurate, Classic, Off};
        let (accepted, asked) = match self.tcp_ecn {
            None => (config.ecn.max(Classic), Off),
            Some(0) => (Off, Off),
            Some(1) => (Classic, Classic),
            Some(2) => (Classic, Off),
            Some(3) => (Accurate, Accurate),
            Some(4) => (Accurate, Classic),
            Some(_) => (Accurate, Off),
        };
        let needed = match config.ecn_use() {
            EcnUse::Classic => Off,
            EcnUse::Dctcp => Classic,
            EcnUse::L4s => Accurate,
        };
        let ecn = if opens { config.ecn.max(asked) } else { needed.max(accepted) };
        let accecn_option = match self.tcp_ecn_option {
            Some(0) => OptionUse::Never,
            Some(1) => OptionUse::OnDemand,
            Some(3) => OptionUse::Persistent,
            _ => OptionUse::Always,
        };
        Config { ecn, accecn_option, ..config }
    }

    /// Refuses values that the release of `stack` does not have. `key` is the table, and `beside` the traffic.
    fn check(self, key: &str, stack: Stack, beside: usize) -> Result<()> {
        let found = |value: u64| format!("{value} beside traffic[{beside}].stack {:?}", stack.name());
        let newest = "the stack linux-7.3";
        match self {
            _ if stack.has_accecn() => Ok(()),
            Self { tcp_ecn: Some(value @ 3..), .. } => {
                refuse(&format!("{key}.tcp_ecn"), found(value), &format!("0, 1 or 2, or {newest}"))
            }
            Self { tcp_ecn_option: Some(value), .. } => {
                refuse(&format!("{key}.tcp_ecn_option"), found(value), &format!("none, or {newest}"))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses sysctls that the stack of a flow does not have.
pub(super) fn check(all: Sysctls, hops: &Hops, traffic: &[Traffic]) -> Result<()> {
    for (place, one) in traffic.iter().enumerate() {
        let Some(stack) = one.values.find(&tcp::STACK) else { continue };
        all.check("linux", stack, place)?;
        for host in Side::ALL.into_iter().filter_map(|side| hops.host_of(one, side)) {
            host.sysctls.check(host.key(), stack, place)?;
        }
    }
    Ok(())
}
