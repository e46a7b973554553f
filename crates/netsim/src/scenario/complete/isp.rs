//! `[[subscriber]]`, `[[node]]` and `[evening]`: the customers of an Internet provider, as data.
//!
//! The tables become what any scenario has: a tree of `htb` in both directions (`tree`), and `[[traffic]]` with the
//! subscribers' addresses (`mixes`, `evening`). A record has the tables as they were written, and not what follows
//! from them.

mod addresses;
mod evening;
mod groups;
mod mixes;
mod nodes;
mod tree;

use crate::scenario::traffic::Traffic;
use addresses::{Addresses, address};
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::{
    AnyKey, Json, Key, MOST_RATE, Quantity, RateText, Result, ScenarioError, Span, Table, refuse,
};
use goodqueue_qdisc::registry;
use goodqueue_units::{Duration, Rate, Streams};
use groups::{Group, Groups};
use mixes::Mix;
pub(in crate::scenario) use mixes::OfSubscriber;
use nodes::nodes;
use serde::{Serialize, Serializer};
use serde_json::{Map, json};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The shared address space of providers (RFC 6598, 7), from which subscribers without an address take theirs.
const FIRST_ADDRESS: u32 = 0x6440_0000;
const ADDRESSES: u32 = 1 << 22;
/// The rate that a subscriber has for certain: LibreQoS advises 1 Mbit/s.
const LEAST: u64 = 1_000_000;

/// The rates of the link, which the first node has.
const LINK_RATE: Key<RateText> = Key::required("rate", "\"1gbit\"").range(MOST_RATE.0, MOST_RATE.1);
const LINK_UP_RATE: Key<RateText> = Key::optional("rate", "\"1gbit\"").range(MOST_RATE.0, MOST_RATE.1);

const DEVICES: Key<String> = Key::required("devices", "\"ShapedDevices.csv\"")
    .help("LibreQoS's file of circuits, next to the scenario: each becomes a [[subscriber]]")
    .source("LibreQoS 2.2");
const NETWORK: Key<String> = Key::optional("network", "\"network.json\"")
    .help("LibreQoS's file of sites: each becomes a [[node]]. Without it all circuits are below the link")
    .source("LibreQoS 2.2");
pub(in crate::scenario) const FILES_KEYS: &[&dyn AnyKey] = &[&DEVICES, &NETWORK, &TRAFFIC];

/// The line of leaves that have none of their own.
const LEAF: Key<String> = Key::required("qdisc", "\"cake diffserv4\"");

const NODE_NAME: Key<String> = Key::required("name", "\"tower\"")
    .help("the node's name, which subscribers and other nodes have as `parent`");
const PARENT: Key<String> =
    Key::derived("parent", "the link", "\"tower\"").help("the node above: packets share its rate");
const NODE_DOWN: Key<RateText> = Key::required("down", "\"200mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("rate of the node on the way down");
const NODE_UP: Key<RateText> =
    Key::derived("up", "`down`", "\"50mbit\"").range(MOST_RATE.0, MOST_RATE.1).help("rate on the way up");
pub(in crate::scenario) const NODE_KEYS: &[&dyn AnyKey] = &[&NODE_NAME, &PARENT, &NODE_DOWN, &NODE_UP];

const NAME: Key<String> = Key::derived("name", "the plan", "\"street\"")
    .help("the subscriber's name; with `count`, `/` and a number follow it");
const COUNT: Key<u64> =
    Key::with_default("count", "1").range(1, tree::MOST_BELOW as u64).help("number of such subscribers");
const PLAN: Key<String> = Key::derived("plan", "the rates", "\"fibre 100\"")
    .help("the name of what was sold: tables have a line per plan");
const DOWN: Key<RateText> = Key::required("down", "\"100mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("rate sold on the way down: the `ceil` of the class");
const UP: Key<RateText> =
    Key::required("up", "\"20mbit\"").range(MOST_RATE.0, MOST_RATE.1).help("rate sold on the way up");
const DOWN_MIN: Key<RateText> = Key::derived("down_min", "1mbit, or `down` if that is less", "\"5mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help(
        "rate of the class on the way down. Where a node has less than all below it, they get the same share",
    );
const UP_MIN: Key<RateText> = Key::derived("up_min", "1mbit, or `up` if that is less", "\"2mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the same on the way up");
const QDISC: Key<String> = Key::derived("qdisc", "bottleneck.qdisc", "\"cake diffserv4\"")
    .help("the line of the subscriber's queue, both ways unless `up_qdisc` is given");
const UP_QDISC: Key<String> = Key::derived("up_qdisc", "`qdisc`, or bottleneck.up.qdisc", "\"fq_codel\"")
    .help("the line of its queue on the way up");
const TRAFFIC: Key<Mix> = Key::with_default("traffic", "\"household\"")
    .help("a mix of traffic, or a list of tables as [[traffic]] has, each with the `share` of subscribers that have it");
const RTT: Key<Span> = Key::derived("rtt", "path.rtt", "\"20ms\"")
    .range(Span(Duration::ZERO), Span(Duration::from_secs(1000)))
    .help("base round-trip time of the subscriber's traffic");
const ADDRESSES_KEY: Key<Addresses> =
    Key::derived("addresses", "the next of 100.64.0.0/10", "[\"100.64.0.1\"]")
        .help("the IPv4 addresses of one subscriber, or networks. The traffic uses them in turn")
        .source("RFC 6598");
pub(in crate::scenario) const KEYS: &[&dyn AnyKey] = &[
    &NAME,
    &COUNT,
    &PLAN,
    &PARENT,
    &DOWN,
    &UP,
    &DOWN_MIN,
    &UP_MIN,
    &QDISC,
    &UP_QDISC,
    &TRAFFIC,
    &RTT,
    &ADDRESSES_KEY,
];
#[cfg(feature = "reference")]
pub(in crate::scenario) use evening::KEYS as EVENING_KEYS;

/// The tables as they were written, with what the run needs of them.
#[derive(Clone, Debug)]
pub(crate) struct Isp {
    written: Map<String, Json>,
    /// The nodes of the tree. The first is the link.
    pub(crate) nodes: Arc<[Node]>,
    /// All subscribers, in the order of the tables.
    pub(crate) subscribers: Arc<[Subscriber]>,
}

impl Serialize for Isp {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.written.serialize(serializer)
    }
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Empty: the link.
    pub(crate) name: String,
    /// The place of the node above, which is before it. The link is its own.
    pub(crate) parent: usize,
    pub(crate) rates: [Rate; 2],
}

impl Node {
    /// Returns its table, with every default.
    fn write(&self, nodes: &[Self]) -> Json {
        let [down, up] = self.rates.map(|rate| RateText(rate).write());
        let mut table = json!({"name": self.name, "down": down, "up": up});
        if self.parent > 0 {
            table["parent"] = nodes[self.parent].name.clone().into();
        }
        table
    }
}

/// A subscriber.
#[derive(Clone, Debug)]
pub(crate) struct Subscriber {
    pub(crate) name: String,
    pub(crate) plan: Arc<str>,
    /// The place of its node.
    pub(crate) node: usize,
    pub(crate) rates: [Rate; 2],
    least: [Rate; 2],
    /// The line of its queue per direction, if it has one of its own.
    qdiscs: [Option<Arc<str>>; 2],
    /// Addresses and the lengths of their networks, at least one.
    addresses: Vec<(Ipv4Addr, u8)>,
}

impl Subscriber {
    /// Returns the address of the host that has its traffic number `nth`.
    fn host(&self, nth: usize) -> String {
        self.addresses[nth % self.addresses.len()].0.to_string()
    }

    /// Returns its first address.
    pub(crate) fn address(&self) -> String {
        self.host(0)
    }
}

/// What the tables mean.
pub(in crate::scenario) struct Expanded {
    pub(in crate::scenario) isp: Isp,
    /// The line of queues that have none of their own, per direction.
    pub(in crate::scenario) lines: [Arc<str>; 2],
    /// The bottleneck, with the commands of its trees.
    pub(in crate::scenario) bottleneck: Json,
    pub(in crate::scenario) traffic: Vec<OfSubscriber>,
}

/// Reads the tables of `scenario`, if it has subscribers behind `bottleneck`. The run has this length and seed.
pub(in crate::scenario) fn read(
    scenario: &Table<'_>,
    bottleneck: &Table<'_>,
    (whole, seed): (Duration, u64),
) -> Result<Option<Expanded>> {
    refuse_files(scenario)?;
    let tables = scenario.tables("subscriber")?;
    if tables.is_empty() {
        return refuse_without_subscribers(scenario).map(|()| None);
    }
    let up = bottleneck.table("up")?;
    refuse_beside_subscribers(bottleneck, up.as_ref())?;
    let lines = lines(bottleneck, up.as_ref())?;
    let rates = rates(bottleneck, up.as_ref())?;
    let (nodes, places) = nodes(&scenario.tables("node")?, rates)?;
    let Groups { list, mut subscribers, mixes } = Groups::read(&tables, &places)?;
    address(&tables, &mixes, &mut subscribers)?;
    let trees = Direction::ALL
        .map(|direction| tree::commands(direction, &nodes, &subscribers, &lines[direction as usize]));
    let evening = evening::read(scenario, whole, Streams::new(seed), subscribers.len())?;
    let traffic = mixes::traffic(&tables, &mixes, &subscribers, &evening, Streams::new(seed))?;
    let written = written(&nodes, &list, evening.write());
    let isp = Isp { written, nodes: nodes.into(), subscribers: subscribers.into() };
    Ok(Some(Expanded { isp, lines, bottleneck: with_trees(bottleneck, up.as_ref(), trees), traffic }))
}

/// Refuses files of LibreQoS, which become tables before a scenario comes here.
fn refuse_files(scenario: &Table<'_>) -> Result<()> {
    let Some(files) = scenario.table("isp")? else { return Ok(()) };
    files.refuse_others(FILES_KEYS, &[])?;
    files.take(&DEVICES)?;
    files.find(&NETWORK)?;
    refuse("isp", "files that this program does not read", "[[node]] and [[subscriber]]")
}

/// Refuses the tables that only mean something beside subscribers.
fn refuse_without_subscribers(scenario: &Table<'_>) -> Result<()> {
    match ["node", "evening"].into_iter().find(|name| scenario.has(name)) {
        Some(name) => refuse(name, "it without subscribers", "it beside [[subscriber]]"),
        None => Ok(()),
    }
}

/// Refuses what a bottleneck cannot have beside the trees of subscribers.
fn refuse_beside_subscribers(bottleneck: &Table<'_>, up: Option<&Table<'_>>) -> Result<()> {
    for table in [Some(bottleneck), up].into_iter().flatten() {
        for name in ["tc", "buffer", "wifi"] {
            if table.has(name) {
                return refuse(&table.key(name), "it beside subscribers", "qdisc, the line of their queues");
            }
        }
    }
    Ok(())
}

/// Refuses more classes than a tree may have.
fn refuse_too_many(nodes: usize, subscribers: u64) -> Result<()> {
    if subscribers.saturating_add(nodes as u64) > tree::MOST_BELOW as u64 {
        let found = format!("{nodes} nodes and {subscribers} subscribers");
        return refuse("subscriber", found, &format!("at most {} in all, as htb has", tree::MOST_BELOW));
    }
    Ok(())
}

/// Returns the lines of the queues that have none of their own, per direction.
fn lines(bottleneck: &Table<'_>, up: Option<&Table<'_>>) -> Result<[Arc<str>; 2]> {
    let down = leaf(bottleneck, "qdisc", &bottleneck.take(&LEAF)?)?;
    let up = match up {
        Some(up) if up.has("qdisc") => leaf(up, "qdisc", &up.take(&LEAF)?)?,
        _ => down.clone(),
    };
    Ok([down, up])
}

/// Returns the rates of the link, per direction.
fn rates(bottleneck: &Table<'_>, up: Option<&Table<'_>>) -> Result<[Rate; 2]> {
    let down = bottleneck.take(&LINK_RATE)?.0;
    let up = up.map_or(Ok(None), |up| up.find(&LINK_UP_RATE))?.map_or(down, |rate| rate.0);
    Ok([down, up])
}

/// Returns the table of the bottleneck with the commands of `trees` in place of its lines.
fn with_trees(bottleneck: &Table<'_>, up: Option<&Table<'_>>, trees: [String; 2]) -> Json {
    let mut tables = [bottleneck.content().clone(), up.map_or_else(Map::new, |up| up.content().clone())];
    for (table, tree) in tables.iter_mut().zip(trees) {
        table.remove("qdisc");
        table.insert("tc".to_string(), json!([tree]));
    }
    let [mut bottleneck, up] = tables;
    bottleneck.insert("up".to_string(), up.into());
    Json::Object(bottleneck)
}

/// Returns the tables as a scenario has them, with every default.
fn written(nodes: &[Node], groups: &[Group], evening: Option<Json>) -> Map<String, Json> {
    let of_nodes: Vec<Json> = nodes.iter().skip(1).map(|node| node.write(nodes)).collect();
    let of_groups: Vec<Json> = groups.iter().map(|group| group.write(nodes)).collect();
    let of_nodes = Some(of_nodes).filter(|list| !list.is_empty()).map(Json::from);
    let tables = [("node", of_nodes), ("subscriber", Some(of_groups.into())), ("evening", evening)];
    tables.into_iter().filter_map(|(name, table)| Some((name.to_string(), table?))).collect()
}

/// Writes the traffic that the scenario has beside its subscribers'.
pub(in crate::scenario) fn write_traffic<S: Serializer>(
    traffic: &[Traffic],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(traffic.iter().filter(|traffic| traffic.subscriber.is_none()))
}

/// Returns the line of a queue with every parameter.
fn leaf(table: &Table<'_>, key: &str, line: &str) -> Result<Arc<str>> {
    match registry::parse_line(line) {
        Ok(args) => Ok(args.to_string().into()),
        Err(error) => Err(ScenarioError::new(table.key(key), error.0)),
    }
}
