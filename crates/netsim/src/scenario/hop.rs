//! `[[hop]]`: the hops of a path beside the bottleneck. The hops of a direction form a row with the bottleneck in it.

use super::link::LinkSpec;
use super::stack::HostSpec;
use super::traffic::{DIRECTION, Traffic};
use super::{Direction, HostName, Path};
use crate::ids::HopId;
use crate::lists::{ByDirection, PerHop};
use crate::path::kind::Make;
use crate::path::{HOPS, HopKind, link};
use goodqueue_hosts::direction::Side;
use goodqueue_hosts::keys::{
    AnyKey, Json, Key, Quantity, Result, ScenarioError, Table, Values, describe, no_such_word, refuse,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

/// The name of the bottleneck in a row.
pub const BOTTLENECK: &str = "bottleneck";

/// The most hops in all.
const MOST_HOPS: usize = 30;

const NAME: Key<String> =
    Key::required("name", "\"modem\"").help("the hop's name, in the record and in other keys");
const KIND: Key<&'static HopKind> = Key::required("kind", "\"link\"").help("a link with a queue, or a wire");
const AFTER: Key<String> =
    Key::derived("after", "the last hop of the direction, where `before` is left out too", "\"bottleneck\"")
        .help("the hop before this one on the packets' way");
const BEFORE: Key<String> =
    Key::optional("before", "\"bottleneck\"").help("the hop after this one on the packets' way");

/// The keys that every kind has.
pub(super) const COMMON: &[&dyn AnyKey] = &[&NAME, &KIND, &DIRECTION, &AFTER, &BEFORE];

/// A hop beside the bottleneck, with every default filled in.
#[derive(Clone, Debug)]
pub struct Hop {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static HopKind,
    /// The direction of the packets that cross it.
    pub direction: Direction,
    /// The discipline and the link, if it is a link.
    pub link: Option<LinkSpec>,
    /// The values of its kind's keys, if it is not a link.
    pub values: Values,
    /// The name of its neighbour towards the bottleneck.
    next_to: String,
    /// Whether packets cross it before the bottleneck.
    is_before: bool,
    /// The host whose interface it is, if it is one. Only packets of this host cross it.
    owner: Option<(Side, HostName)>,
}

/// The hops of a scenario: first those of the direction `Down`, then those of `Up`, in the order in which packets
/// cross them.
#[derive(Clone, Debug)]
pub struct Hops {
    /// The hops beside the bottlenecks. Interfaces of hosts come first in their direction.
    pub(crate) list: PerHop<Hop>,
    /// The hosts that have a table.
    pub(crate) hosts: Vec<HostSpec>,
    /// The hops of each direction. `None` is the bottleneck.
    pub(crate) rows: ByDirection<Vec<Option<HopId>>>,
}

impl Quantity for &'static HopKind {
    const TYPE: &'static str = "kind of hop";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let names: Vec<&str> = HOPS.iter().map(|kind| kind.name).collect();
        let Some(text) = found.as_str() else {
            return Err(format!("found {}; accepted: {}", describe(found), names.join(", ")));
        };
        let known = HOPS.iter().copied().find(|kind| kind.name == text);
        known.ok_or_else(|| no_such_word(text, &names))
    }
    fn write(&self) -> Json {
        json!(self.name)
    }
    fn schema() -> Json {
        let names: Vec<&str> = HOPS.iter().map(|kind| kind.name).collect();
        json!({"type": "string", "enum": names})
    }
}

/// A hop as it was written, which has no place yet.
struct Asked<'a> {
    table: Table<'a>,
    hop: Hop,
    /// Whether it names its neighbour.
    is_placed: bool,
}

impl Hops {
    /// Reads the hops and the hosts of `scenario`. `has_wifi` is whether users' hosts are stations of a cell.
    pub(super) fn read(scenario: &Table<'_>, path: Path, has_wifi: bool) -> Result<Self> {
        let tables = scenario.tables("hop")?;
        if tables.len() > MOST_HOPS {
            return refuse("hop", format!("{} hops", tables.len()), &format!("at most {MOST_HOPS}"));
        }
        let mut asked: Vec<Asked<'_>> = Vec::new();
        for table in tables {
            let hop = Hop::read(&table, path)?;
            if hop.name == BOTTLENECK || asked.iter().any(|other| other.hop.name == hop.name) {
                let found = format!("{:?}, which another hop has", hop.name);
                return refuse(&table.key("name"), found, "a name of its own");
            }
            let is_placed = table.has("after") || table.has("before");
            asked.push(Asked { table, hop, is_placed });
        }
        let mut hosts = HostSpec::read_all(scenario, path, has_wifi)?;
        if let Some(twin) =
            asked.iter().find(|one| hosts.iter().any(|(host, _)| host.hop_name() == one.hop.name))
        {
            let found = format!("{:?}, which is the interface of a [[host]]", twin.hop.name);
            return refuse(&twin.table.key("name"), found, "a name of its own");
        }
        let mut hops =
            Self { list: PerHop::default(), hosts: Vec::new(), rows: ByDirection::of(|_| vec![None]) };
        for direction in Direction::ALL {
            for (host, link) in hosts.iter_mut().filter(|(host, _)| host.direction() == direction) {
                let interface = link.take().map(|link| Hop::of_host(host, link));
                host.interface = interface.map(|hop| hops.list.push(hop));
            }
            let (of_direction, others) =
                asked.into_iter().partition(|one: &Asked<'_>| one.hop.direction == direction);
            asked = others;
            hops.place(direction, of_direction)?;
            let interfaces = hosts.iter().filter(|(host, _)| host.direction() == direction);
            let interfaces = interfaces.filter_map(|(host, _)| host.interface).map(Some);
            hops.rows[direction].splice(0..0, interfaces.collect::<Vec<_>>());
        }
        hops.hosts = hosts.into_iter().map(|(host, _)| host).collect();
        Ok(hops)
    }

    /// Puts the hops of one direction into their row. Each hop is placed beside its neighbour, once the neighbour has
    /// its place.
    fn place(&mut self, direction: Direction, mut waiting: Vec<Asked<'_>>) -> Result<()> {
        let mut names = vec![BOTTLENECK.to_string()];
        let mut placed: Vec<Hop> = Vec::new();
        while !waiting.is_empty() {
            let is_next = |one: &Asked<'_>| !one.is_placed || names.contains(&one.hop.next_to);
            let Some(next) = waiting.iter().position(is_next) else {
                return Err(Self::nowhere(&waiting));
            };
            let Asked { table, mut hop, is_placed } = waiting.remove(next);
            if !is_placed {
                hop.next_to = names.last().cloned().unwrap_or_default();
            }
            if let Some(twin) =
                placed.iter().find(|one| (&one.next_to, one.is_before) == (&hop.next_to, hop.is_before))
            {
                let key = table.key(if hop.is_before { "before" } else { "after" });
                let found = format!("{:?}, where {:?} is already", hop.next_to, twin.name);
                return refuse(&key, found, &format!("{:?}, or another hop", twin.name));
            }
            let beside = names.iter().position(|name| *name == hop.next_to).unwrap_or(0);
            names.insert(if hop.is_before { beside } else { beside + 1 }, hop.name.clone());
            placed.push(hop);
        }
        self.rows[direction].clear();
        let at = names.iter().position(|name| name == BOTTLENECK).unwrap_or(0);
        for (place, name) in names.iter().enumerate() {
            let hop = placed.iter().position(|hop| hop.name == *name).map(|found| placed.swap_remove(found));
            // In the resolved scenario each hop names its neighbour towards the bottleneck.
            let id = hop.map(|hop| {
                let is_before = place < at;
                let next_to = names[if is_before { place + 1 } else { place - 1 }].clone();
                self.list.push(Hop { is_before, next_to, ..hop })
            });
            self.rows[direction].push(id);
        }
        Ok(())
    }

    /// Returns the error that says why none of `waiting` has a place.
    fn nowhere(waiting: &[Asked<'_>]) -> ScenarioError {
        let Asked { table, hop, .. } = &waiting[0];
        let key = table.key(if hop.is_before { "before" } else { "after" });
        let names: Vec<&str> = waiting.iter().map(|one| one.hop.name.as_str()).collect();
        if let Some(lost) = waiting.iter().find(|one| !names.contains(&one.hop.next_to.as_str())) {
            let key = lost.table.key(if lost.hop.is_before { "before" } else { "after" });
            let message = format!(
                "found {:?}; accepted: \"{BOTTLENECK}\", or the name of another hop {}",
                lost.hop.next_to,
                lost.hop.direction.name()
            );
            return ScenarioError::new(key, message);
        }
        let message = format!(
            "found {:?}, in a cycle of {}; accepted: a row that begins at \"{BOTTLENECK}\"",
            hop.next_to,
            names.join(", ")
        );
        ScenarioError::new(key, message)
    }

    /// Refuses names in `traffic` that are not hops, and hops that no flow crosses.
    pub(super) fn check(&self, traffic: &[Traffic]) -> Result<()> {
        self.hosts.iter().try_for_each(|host| host.check(traffic))?;
        let named = self.list.iter().filter(|hop| hop.owner.is_none());
        let names: Vec<&str> = [BOTTLENECK].into_iter().chain(named.map(|hop| hop.name.as_str())).collect();
        for (place, one) in traffic.iter().enumerate() {
            let unknown = one.hops.iter().flatten().find(|name| !names.contains(&name.as_str()));
            if let Some(name) = unknown {
                return Err(ScenarioError::new(format!("traffic[{place}].hops"), no_such_word(name, &names)));
            }
        }
        // Subscribers may have no traffic, or none by chance. Then nothing crosses the bottleneck.
        let is_idle = |name: &str| name == BOTTLENECK && traffic.is_empty();
        let is_crossed = |name: &str| is_idle(name) || traffic.iter().any(|one| one.crosses(name));
        match names.iter().find(|name| !is_crossed(name)) {
            Some(name) => {
                let key = if *name == BOTTLENECK { BOTTLENECK } else { "hop" };
                refuse(
                    key,
                    format!("{name:?}, which no flow crosses"),
                    "a hop that some [[traffic]] names in `hops`",
                )
            }
            None => Ok(()),
        }
    }
}

impl Hops {
    /// Returns the host at the end `side` of `traffic`, if it has a table.
    pub(crate) fn host_of(&self, traffic: &Traffic, side: Side) -> Option<&HostSpec> {
        HostSpec::find(&self.hosts, traffic, side)
    }
}

impl Hop {
    /// Returns whether packets of `traffic` cross it.
    pub(crate) fn is_crossed_by(&self, traffic: &Traffic) -> bool {
        match &self.owner {
            Some((side, name)) => traffic.host_at(*side) == Some(name),
            None => traffic.crosses(&self.name),
        }
    }

    /// Builds the interface `link` of `host`.
    fn of_host(host: &HostSpec, link: LinkSpec) -> Self {
        Self {
            name: host.hop_name(),
            kind: &link::KIND,
            direction: host.direction(),
            link: Some(link),
            values: Values::default(),
            next_to: String::new(),
            is_before: true,
            owner: host.owner(),
        }
    }

    fn read(table: &Table<'_>, path: Path) -> Result<Self> {
        let kind = table.take(&KIND)?;
        let keys: Vec<&dyn AnyKey> = COMMON.iter().chain(kind.keys).copied().collect();
        let is_link = matches!(kind.make, Make::Link);
        table.refuse_others(&keys, &[])?;
        let (after, before) = (table.find(&AFTER)?, table.find(&BEFORE)?);
        if let (Some(_), Some(before)) = (&after, &before) {
            return refuse(&table.key("before"), format!("{before:?} and an `after`"), "one of them");
        }
        let mut values = Values::default();
        if !is_link {
            kind.keys.iter().try_for_each(|key| key.read(table, &mut values))?;
            (kind.check)(table, &values)?;
        }
        Ok(Self {
            name: table.take(&NAME)?,
            kind,
            direction: table.take(&DIRECTION)?,
            link: is_link.then(|| LinkSpec::of_hop(table, path)).transpose()?,
            values,
            is_before: before.is_some(),
            next_to: before.or(after).unwrap_or_default(),
            owner: None,
        })
    }
}

impl Serialize for Hops {
    /// Writes the tables `hop` and `host`, each only if there is one.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut tables = serializer.serialize_map(None)?;
        let named: Vec<&Hop> = self.list.iter().filter(|hop| hop.owner.is_none()).collect();
        if !named.is_empty() {
            tables.serialize_entry("hop", &named)?;
        }
        if !self.hosts.is_empty() {
            let link = |hop: HopId| self.list[hop].link.as_ref();
            let hosts: Vec<_> =
                self.hosts.iter().map(|host| host.written(host.interface.and_then(link))).collect();
            tables.serialize_entry("host", &hosts)?;
        }
        tables.end()
    }
}

impl Serialize for Hop {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Written<'a> {
            name: &'a str,
            kind: &'a str,
            direction: Direction,
            #[serde(skip_serializing_if = "Option::is_none")]
            after: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            before: Option<&'a str>,
            #[serde(flatten, skip_serializing_if = "Option::is_none")]
            link: Option<&'a LinkSpec>,
            #[serde(flatten)]
            values: &'a Values,
        }
        let (after, before) =
            if self.is_before { (None, Some(&*self.next_to)) } else { (Some(&*self.next_to), None) };
        let (name, kind) = (&*self.name, self.kind.name);
        let (link, values) = (self.link.as_ref(), &self.values);
        Written { name, kind, direction: self.direction, after, before, link, values }.serialize(serializer)
    }
}
