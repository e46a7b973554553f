//! `[[host]]`: the stack of a user's host or of a server.
//!
//! A host without such a table is ideal: it has no queue of its own, and TCP hands down whatever its window allows.

use super::host::HostName;
use super::link::LinkSpec;
use super::sysctls::Sysctls;
use super::traffic::Traffic;
use super::{Direction, Path};
use crate::byte_limit::Bql;
use crate::ids::HopId;
use crate::path::link;
use crate::receive::Receive;
use goodqueue_hosts::direction::Side;
use goodqueue_hosts::keys::{
    AnyKey, Key, MOST_RATE, RateText, Result, ScenarioError, Table, no_such_word, refuse,
};
use goodqueue_tcp::SmallQueues;
use serde::Serialize;

/// The most tables of hosts.
const MOST_HOSTS: usize = 1000;

const NAME: Key<HostName> =
    Key::derived("name", "every host of its role that no other table names", "\"alice\"")
        .help("the host, as `host` or `server` of [[traffic]] names it");
const ROLE: Key<Side> = Key::with_default("role", "\"host\"")
    .help("`host` for a user's host, or `server` for one at the other end");
const RATE: Key<RateText> = Key::optional("rate", "\"1gbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help(
        "the rate of the host's interface. If left out, it has no queue of its own, and the first hop is its queue: \
         a router's own uplink, a station of a cell",
    );
const QDISC: Key<String> = Key::optional("qdisc", "\"fq\"")
    .help(
        "the discipline of the interface, as of [bottleneck]: Linux has `pfifo_fast`, distributions `fq_codel` or `fq`",
    );
const RING: Key<u64> = link::RING.help("packets that the driver's ring below the discipline holds");
const BQL: Key<Bql> = link::BQL.help("byte queue limits of the ring, as of [bottleneck]");
const SMALL_QUEUES: Key<bool> = Key::with_default("small_queues", "true")
    .help(
        "whether TCP limits what each connection has in the host's queues (TCP small queues), by the rule of its \
         `stack`",
    )
    .source("Linux since 3.6");
const PACING_SHIFT: Key<u64> = Key::derived("pacing_shift", "10, and 7 for users' hosts in a Wi-Fi cell", "\"8\"")
    .range(0, 30)
    .help(
        "the share of a second that `linux-6.1` allows at the pacing rate, as a power of a half: 10 is about 1 ms, \
         7 about 8 ms",
    )
    .source("Linux `sk_pacing_shift`; mac80211 since 4.16");
const TSO: Key<bool> = Key::with_default("tso", "true")
    .help(
        "whether TCP hands down packets of several segments, each one piece of memory in small queues until its last \
         segment has left (segmentation offload). Without it all segments are single, and those of `linux-3.x` take \
         more memory",
    );

#[cfg(feature = "complete")]
const GSO: Key<bool> = Key::optional("gso", "true")
    .help(
        "whether the host's discipline sees the segments that TCP hands down together as one packet, which the device \
         cuts behind it (generic segmentation offload); false if left out",
    )
    .source("Linux `validate_xmit_skb`; since 4.17 with `ethtool -K gso off`, too")
    .simulator_only();

/// The keys of a host.
pub(super) const KEYS: &[&dyn AnyKey] = &[
    &NAME,
    &ROLE,
    &RATE,
    &QDISC,
    &RING,
    &BQL,
    &SMALL_QUEUES,
    &PACING_SHIFT,
    &TSO,
    #[cfg(feature = "complete")]
    &GSO,
    #[cfg(feature = "complete")]
    &super::sysctls::TCP_ECN,
    #[cfg(feature = "complete")]
    &super::sysctls::TCP_ECN_OPTION,
    #[cfg(feature = "complete")]
    &crate::receive::RX_USECS,
    #[cfg(feature = "complete")]
    &crate::receive::RX_FRAMES,
    #[cfg(feature = "complete")]
    &crate::receive::GRO,
    #[cfg(feature = "complete")]
    &crate::receive::READS_AFTER_POLL,
];

/// The stack of a host, or of all hosts of a role that have no table of their own.
#[derive(Clone, Debug)]
pub(crate) struct HostSpec {
    name: Option<HostName>,
    role: Side,
    /// The rule of small queues that connections get, if they get one.
    pub(crate) small_queues: Option<SmallQueues>,
    /// Whether TCP hands packets of several segments to the first queue as one.
    pub(crate) gso: bool,
    /// The hop that is its interface, if it has a queue of its own.
    pub(crate) interface: Option<HopId>,
    /// The receive side of its card, if packets wait or merge there, or applications read after a poll.
    pub(crate) receive: Option<Receive>,
    pub(crate) sysctls: Sysctls,
    /// The place of its table, for messages.
    key: String,
}

impl HostSpec {
    /// Reads the tables of `scenario`, each with the link that is the host's interface. `has_wifi` is whether users'
    /// hosts are stations of a cell.
    pub(super) fn read_all(
        scenario: &Table<'_>,
        path: Path,
        has_wifi: bool,
    ) -> Result<Vec<(Self, Option<LinkSpec>)>> {
        let tables = scenario.tables("host")?;
        if tables.len() > MOST_HOSTS {
            return refuse("host", format!("{} hosts", tables.len()), &format!("at most {MOST_HOSTS}"));
        }
        let mut hosts: Vec<(Self, Option<LinkSpec>)> = Vec::new();
        for table in tables {
            let (host, link) = Self::read(&table, path, has_wifi)?;
            if hosts.iter().any(|(other, _)| (&other.name, other.role) == (&host.name, host.role)) {
                let found =
                    host.name.as_ref().map_or("none".to_string(), |name| format!("{:?}", name.as_str()));
                let found = format!("{found}, which another {} has", host.role.name());
                return refuse(&table.key("name"), found, "a name of its own");
            }
            hosts.push((host, link));
        }
        Ok(hosts)
    }

    fn read(table: &Table<'_>, path: Path, has_wifi: bool) -> Result<(Self, Option<LinkSpec>)> {
        table.refuse_others(KEYS, &[])?;
        let (name, role) = (table.find(&NAME)?, table.take(&ROLE)?);
        let of_interface = [RATE.name(), QDISC.name(), RING.name(), BQL.name()];
        let link = match of_interface.into_iter().find(|key| table.has(key)) {
            Some(key) if name.is_none() => {
                return refuse(&table.key(key), "one without a name", "an interface of a host with a `name`");
            }
            Some(_) => Some(LinkSpec::of_hop(table, path)?.at_sender()),
            None => None,
        };
        let receive = Receive::of_host(table)?;
        if receive.is_some() && name.is_none() {
            return refuse(
                table.path(),
                "`rx_usecs`, `gro` or `reads_after_poll` without a name",
                "a card of a host with a `name`",
            );
        }
        let usual = if has_wifi && role == Side::User { 7 } else { u64::from(SmallQueues::PACING_SHIFT) };
        let pacing_shift = table.find(&PACING_SHIFT)?.unwrap_or(usual) as u8;
        let offload = table.take(&TSO)?;
        let small_queues = table.take(&SMALL_QUEUES)?.then_some(SmallQueues { pacing_shift, offload });
        let gso = Self::gso(table)?;
        if gso && !offload {
            return refuse(
                &table.key("gso"),
                "true beside `tso = false`",
                "a host whose TCP makes longer packets",
            );
        }
        let (sysctls, key) = (Sysctls::read(table)?, table.path().to_string());
        Ok((Self { name, role, small_queues, gso, interface: None, receive, sysctls, key }, link))
    }

    #[cfg(feature = "complete")]
    fn gso(table: &Table<'_>) -> Result<bool> {
        Ok(table.find(&GSO)? == Some(true))
    }

    #[cfg(not(feature = "complete"))]
    #[allow(clippy::unnecessary_wraps)] // as with the feature
    fn gso(_table: &Table<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Returns the place of its table, for messages.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Returns the direction in which the host sends.
    pub(super) fn direction(&self) -> Direction {
        self.role.sends()
    }

    /// Returns the name of the hop that is its interface, in the record and in other keys.
    pub(super) fn hop_name(&self) -> String {
        let name = self.name.as_ref().map_or("", HostName::as_str);
        format!("{} {name}", self.role.name())
    }

    /// Returns the host's name and role, if it has a name.
    pub(crate) fn owner(&self) -> Option<(Side, HostName)> {
        Some((self.role, self.name.clone()?))
    }

    /// Returns the host at the end `side` of `traffic` among `hosts`, if it has a table.
    pub(super) fn find<'a>(hosts: &'a [Self], traffic: &Traffic, side: Side) -> Option<&'a Self> {
        let own = traffic.host_at(side);
        let of_role = |name: Option<&HostName>| {
            hosts.iter().find(move |host| host.role == side && host.name.as_ref() == name)
        };
        own.and_then(|name| of_role(Some(name))).or_else(|| of_role(None))
    }

    /// Refuses a name that `traffic` does not have.
    pub(super) fn check(&self, traffic: &[Traffic]) -> Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        let names: Vec<&str> =
            traffic.iter().filter_map(|one| one.host_at(self.role)).map(HostName::as_str).collect();
        if names.contains(&name.as_str()) {
            return Ok(());
        }
        let key = format!("{}.name", self.key);
        if names.is_empty() {
            let accepted = format!("the `{}` of a [[traffic]]; none has one", self.role.name());
            return refuse(&key, format!("{:?}", name.as_str()), &accepted);
        }
        Err(ScenarioError::new(key, no_such_word(name.as_str(), &names)))
    }
}

/// A host's table with its interface.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a HostName>,
    role: &'static str,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    link: Option<&'a LinkSpec>,
    small_queues: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pacing_shift: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tso: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gso: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    receive: Option<Receive>,
    #[serde(flatten)]
    sysctls: Sysctls,
}

impl HostSpec {
    /// Returns its table, in which `link` is its interface.
    pub(super) fn written<'a>(&'a self, link: Option<&'a LinkSpec>) -> Written<'a> {
        let &Self { ref name, role, ref small_queues, gso, receive, sysctls, .. } = self;
        Written {
            name: name.as_ref(),
            role: role.name(),
            link,
            small_queues: small_queues.is_some(),
            pacing_shift: small_queues.map(|queues| queues.pacing_shift),
            tso: small_queues.map(|queues| queues.offload),
            gso,
            receive,
            sysctls,
        }
    }
}
