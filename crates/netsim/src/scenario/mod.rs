//! The scenario: the description of a run, as in its TOML file.
//!
//! A file is read once, table by table ([`Table`]), and every default is filled in: a [`Scenario`] has no open
//! values. Its JSON form reads back as the same scenario and gives the same run.

mod change;
#[cfg_attr(feature = "complete", path = "complete/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "complete/disabled.rs")]
pub(crate) mod complete;
mod hop;
mod host;
mod link;
mod linux;
mod names;
#[cfg(feature = "reference")]
pub mod reference;
mod series;
mod stack;
mod sysctls;
mod traffic;

pub use change::Change;
pub use complete::autorate::Autorate;
use complete::isp;
use goodqueue_hosts::direction::Direction;
pub use hop::{BOTTLENECK, Hop, Hops};
pub use host::HostName;
pub use link::{Bottleneck, Line, LinkSpec, without_buffer};
pub(crate) use linux::Linux;
pub use series::{Series, Window};
pub(crate) use sysctls::Sysctls;
pub use traffic::Traffic;

use crate::foreign::{CcMaker, CcRequest};
use crate::outside::OutsideRoute;
use goodqueue_hosts::keys::{AnyKey, FRAME_BYTES, Json, Key, Result, ScenarioError, Span, Table, refuse};
use goodqueue_hosts::traffic::kind::Make;
use goodqueue_hosts::traffic::tcp;
use goodqueue_tcp::OwnCc;
use goodqueue_units::{Duration, Release};
use serde::Serialize;

const DURATION: Key<Span> = Key::required("duration", "\"60s\"")
    .range(Span(Duration::from_micros(1)), Span(Duration::from_secs(1_000_000)))
    .help("how long the run lasts");
const WARMUP: Key<Span> = Key::with_default("warmup", "\"0s\"")
    .example("\"5s\"")
    .help("the statistics leave out this time at the start");
const SEED: Key<u64> = Key::with_default("seed", "1").help("the seed of all random streams");
const PATH_RTT: Key<Span> = Key::required("rtt", "\"50ms\"")
    .range(Span(Duration::ZERO), Span(Duration::from_secs(1000)))
    .help("base round-trip time, without queueing and transmission; half of it each way");

/// Nichols and Jacobson 2012 ran slow links with an MTU of 500 bytes.
const PATH_MTU: Key<u64> = Key::optional("mtu", "500")
    .unit("bytes")
    .range(128, FULL_MTU)
    .help(
        "largest IP packet in bytes, 1500 if left out. TCP's MSS and the full frame (14 bytes more) follow from it",
    )
    .source("RFC 9293, 3.7.1")
    .simulator_only();
const FULL_MTU: u64 = 1500;
/// The headers of Ethernet, and of TCP with timestamps and IPv4, in bytes.
const ETHERNET_BYTES: u64 = 14;
const TCP_BYTES: u64 = 52;
const _: () = assert!(FRAME_BYTES as u64 == FULL_MTU + ETHERNET_BYTES);

/// The tables of a scenario.
const TABLES: &[&str] = &[
    "bottleneck",
    "path",
    "linux",
    "hop",
    "host",
    "traffic",
    #[cfg(feature = "complete")]
    "node",
    #[cfg(feature = "complete")]
    "subscriber",
    #[cfg(feature = "complete")]
    "evening",
    #[cfg(feature = "complete")]
    "isp",
    "change",
    "autorate",
    "series",
];
const KEYS: &[&dyn AnyKey] = &[&DURATION, &WARMUP, &SEED];
const PATH_KEYS: &[&dyn AnyKey] = &[&PATH_RTT, &PATH_MTU];

/// The description of a run, with every default filled in.
#[derive(Clone, Debug, Serialize)]
pub struct Scenario {
    /// How long the run lasts.
    pub duration: Span,
    /// Time at the start that is left out of the statistics.
    pub warmup: Span,
    /// The number from which all random streams derive.
    pub seed: u64,
    /// The queues and links.
    pub bottleneck: Bottleneck,
    /// Propagation.
    pub path: Path,
    /// The release of Linux, and the buffers of TCP.
    #[serde(skip_serializing_if = "Linux::is_default")]
    pub(crate) linux: Linux,
    /// The hops beside the bottleneck.
    #[serde(flatten)]
    pub hops: Hops,
    /// The flows.
    #[cfg_attr(feature = "complete", serde(serialize_with = "isp::write_traffic"))]
    pub traffic: Vec<Traffic>,
    /// The subscribers, if there are any.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) isp: Option<isp::Isp>,
    /// The changes during the run, in the order of time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<Change>,
    /// The program that sets the shapers' rates, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autorate: Option<Autorate>,
    /// Time series, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Whether the run's owner has the endpoints of traffic such as `quic`.
    #[serde(skip)]
    pub(crate) is_served: bool,
}

/// Propagation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Path {
    /// Base round-trip time, without queueing and transmission. Half of it applies to each direction.
    pub rtt: Span,
    /// Most bytes of an IP packet, if it is not 1500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u64>,
    /// The release of Linux whose laws the queues along it have.
    #[serde(skip)]
    pub(crate) release: Release,
}

impl Path {
    fn read(table: &Table<'_>, release: Release) -> Result<Self> {
        table.refuse_others(PATH_KEYS, &[])?;
        // 1500 and no MTU are the same scenario.
        let mtu = table.find(&PATH_MTU)?.filter(|&mtu| mtu != FULL_MTU);
        Ok(Self { rtt: table.take(&PATH_RTT)?, mtu, release })
    }

    /// Returns the bytes of a full frame.
    pub(crate) fn frame_bytes(self) -> u32 {
        (self.mtu.unwrap_or(FULL_MTU) + ETHERNET_BYTES) as u32
    }

    /// Returns the payload bytes of a full segment.
    pub(crate) fn segment_bytes(self) -> u16 {
        (self.mtu.unwrap_or(FULL_MTU) - TCP_BYTES) as u16
    }
}

impl Scenario {
    /// Reads a scenario from JSON (the TOML file's content), fills in the defaults and checks it.
    ///
    /// # Errors
    /// The first key that is unknown, missing, ill-formed, out of range or in contradiction with another key.
    pub fn from_json(json: &str) -> Result<Self> {
        Self::read(json, None)
    }

    /// Does the same as [`from_json`](Self::from_json). If packets come from outside, on the ways `outside`, the
    /// scenario may have no traffic of its own.
    pub(crate) fn read(json: &str, outside: Option<&[OutsideRoute]>) -> Result<Self> {
        let content: Json =
            serde_json::from_str(json).map_err(|error| ScenarioError::new("", error.to_string()))?;
        let table = Table::new("", &content)?;
        table.refuse_others(KEYS, TABLES)?;
        let (duration, warmup) = (table.take(&DURATION)?, table.take(&WARMUP)?);
        let seed = table.take(&SEED)?;
        if warmup >= duration {
            return refuse("warmup", warmup.0, &format!("less than the duration, {}", duration.0));
        }
        let there = |name: &str| {
            let missing = || ScenarioError::new(name, "missing, and it has no default");
            table.table(name)?.ok_or_else(missing)
        };
        let (bottleneck, path) = (there("bottleneck")?, there("path")?);
        let linux = linux::read(&table)?;
        let path = Path::read(&path, linux.release)?;
        let expanded = isp::read(&table, &bottleneck, (duration.0, seed))?;
        let with_tree = expanded.as_ref().map(|expanded| Table::new("bottleneck", &expanded.bottleneck));
        let mut bottleneck = Bottleneck::read(&with_tree.unwrap_or(Ok(bottleneck))?, path)?;
        let hops = Hops::read(&table, path, bottleneck.wifi.is_some())?;
        if outside.is_some() {
            let of_hops = hops.list.iter().filter_map(|hop| hop.link.as_ref());
            let mut links = [&bottleneck.down, &bottleneck.up].into_iter().chain(of_hops);
            links.try_for_each(LinkSpec::check_outside)?;
        }
        let change = change::read(&table, duration.0, &bottleneck, &hops, path)?;
        let is_alone = expanded.is_some() && table.tables("traffic")?.is_empty();
        let mut traffic = if is_alone || outside.is_some() && !table.has("traffic") {
            Vec::new()
        } else {
            traffic::read(&table, duration.0, path.rtt, outside.is_some_and(<[_]>::is_empty))?
        };
        let mut isp = None;
        if let Some(expanded) = expanded {
            traffic::add_subscribers(&mut traffic, &expanded.traffic, duration.0, path.rtt)?;
            let [down, up] = expanded.lines;
            (bottleneck.down.of_leaves, bottleneck.up.of_leaves) = (Some(down), Some(up));
            isp = Some(expanded.isp);
        }
        let whole_path = [OutsideRoute::default()];
        let routes = match outside {
            Some([]) if !traffic.iter().any(Traffic::is_outside) => Some(&whole_path[..]),
            routes => routes,
        };
        for route in routes.into_iter().flatten() {
            traffic.push(Traffic::from_outside(duration, path.rtt, route));
        }
        let most = u64::from(path.frame_bytes());
        if let Some(place) =
            traffic.iter().position(|one| one.packet_bytes().is_some_and(|bytes| bytes > most))
        {
            let found = format!("{} bytes", traffic[place].packet_bytes().unwrap_or_default());
            let accepted = format!("at most {most}, a full frame of path.mtu");
            return refuse(&format!("traffic[{place}].packet_size"), found, &accepted);
        }
        change::check(&change, path, &traffic)?;
        hops.check(&traffic)?;
        if crate::complete::COMPLETE {
            sysctls::check(linux.sysctls, &hops, &traffic)?;
        }
        bottleneck.check(&traffic)?;
        let autorate =
            table.table("autorate")?.map(|table| Autorate::read(&table, &bottleneck)).transpose()?;
        autorate.as_ref().map_or(Ok(()), |autorate| autorate.check(&traffic))?;
        let series = table.table("series")?.map(|table| Series::read(&table)).transpose()?;
        let is_served = false;
        let scenario = Self {
            duration,
            warmup,
            seed,
            bottleneck,
            path,
            linux,
            hops,
            traffic,
            isp,
            change,
            autorate,
            series,
            is_served,
        };
        scenario.series.as_ref().map_or(Ok(()), |series| series.check(&scenario))?;
        Ok(scenario)
    }

    /// Returns the scenario for a run whose owner has the endpoints of all its traffic, that of the kind `quic`, too.
    #[must_use]
    pub fn served(self) -> Self {
        Self { is_served: true, ..self }
    }

    /// Refuses traffic whose endpoints nobody has.
    pub(crate) fn check_served(&self) -> Result<()> {
        let is_alone = |traffic: &Traffic| matches!(traffic.kind.make, Make::Endpoints) && !self.is_served;
        self.traffic.iter().position(is_alone).map_or(Ok(()), |place| {
            let found = format!("{:?}", self.traffic[place].kind.name);
            let accepted = "it where its endpoints are: in the package goodqueue-transports";
            refuse(&format!("traffic[{place}].kind"), found, accepted)
        })
    }

    /// Makes the congestion controls that are not in TCP's table, by `make`.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn make_ccs(&mut self, make: &mut CcMaker<'_>) -> Result<()> {
        for (place, traffic) in self.traffic.iter_mut().enumerate() {
            let line = traffic.values.find(&tcp::CC).and_then(|line| line.own);
            if let Some(own) = line.filter(|own| !own.is_made()) {
                let key = format!("traffic[{place}].cc");
                let made = make(CcRequest { key: &key, line: own.line() })?;
                let own = OwnCc::made(made);
                let ecn = traffic.values.get(&tcp::ECN);
                let refused = |message| ScenarioError::new(format!("traffic[{place}].ecn"), message);
                ecn.check(own.ecn_use(), own.line()).map_err(refused)?;
                traffic.values.put(&tcp::CC, own.into());
            }
        }
        Ok(())
    }

    /// Returns the scenario without the traffic of packets from outside, which only [`Scenario::open`] knows.
    pub(crate) fn without_outside(&self) -> Self {
        let mut scenario = self.clone();
        scenario.traffic.retain(|traffic| !traffic.is_outside());
        scenario
    }

    /// Returns the queue and the link of `direction`.
    #[must_use]
    pub fn link(&self, direction: Direction) -> &LinkSpec {
        match direction {
            Direction::Down => &self.bottleneck.down,
            Direction::Up => &self.bottleneck.up,
        }
    }

    pub(crate) fn link_mut(&mut self, direction: Direction) -> &mut LinkSpec {
        match direction {
            Direction::Down => &mut self.bottleneck.down,
            Direction::Up => &mut self.bottleneck.up,
        }
    }
}
