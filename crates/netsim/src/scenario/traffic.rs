//! `[[traffic]]`: one table, as it was written and as it runs.

use super::Direction;
use super::complete::isp::OfSubscriber;
use super::host::HostName;
use super::names::Names;
use crate::outside::{self, OutsideRoute};
use goodqueue_hosts::direction::Side;
use goodqueue_hosts::keys::{AnyKey, Json, Key, Result, ScenarioError, Span, Table, Values, refuse};
use goodqueue_hosts::traffic::kind::{Kind, MOST_USERS, Make};
use goodqueue_hosts::traffic::{KINDS, application, bulk, flent, tcp};
use goodqueue_units::Duration;
use serde::ser::{Serialize, SerializeMap, Serializer};

pub(super) const MOST_FLOWS: u64 = 100_000;

const KIND: Key<&'static Kind> =
    Key::required("kind", "\"bulk\"").help("what the flows do (`goodqueue list traffic`)");
const NAME: Key<String> =
    Key::derived("name", "the kind", "\"calls\"").help("the flows' name; `/` and a number follow it");
const COUNT: Key<u64> = Key::with_default("count", "1").range(1, MOST_FLOWS).help("number of flows");
pub(super) const DIRECTION: Key<Direction> = Key::with_default("direction", "\"down\"")
    .help("which way the data go: \"down\" to the user, \"up\" from the user");
const START: Key<Span> = Key::with_default("start", "\"0s\"").help("when the first flow starts");
const START_SPREAD: Key<Span> = Key::with_default("start_spread", "\"0s\"")
    .example("\"1s\"")
    .help("each flow starts later by a random time, uniform between zero and this");
const STAGGER: Key<Span> = Key::with_default("stagger", "\"0s\"")
    .example("\"5s\"")
    .help("time between the start of one flow and the start of the next");
const STOP: Key<Span> =
    Key::derived("stop", "the end of the run", "\"50s\"").help("when the applications stop writing");
const MOST_RTT: Span = Span(Duration::from_secs(1000));
const RTT: Key<Span> = Key::derived("rtt", "path.rtt", "\"20ms\"")
    .range(Span(Duration::ZERO), MOST_RTT)
    .help("base round-trip time of these flows");
const RTT_STEP: Key<Span> = Key::optional("rtt_step", "\"2ms\"")
    .help("each flow has a base round-trip time that is longer by this than that of the flow before");

const HOST: Key<HostName> = Key::derived("host", "one per flow", "\"alice\"")
    .help(
        "the user's host. All flows of the entry share it, and flows of other entries that name it, too. cake's host \
         isolation, captures and tables of hosts know it",
    );
const SERVER: Key<HostName> = Key::derived("server", "one per flow", "\"cdn\"")
    .help("the host at the other end, likewise. A server and a user's host of the same name are two hosts");

const PORT: Key<u64> = Key::derived("port", "one per flow", "443")
    .range(1, u16::MAX as u64)
    .help("the server's port in all packets of these flows, for filters of a tree");
const MARK: Key<u64> = Key::with_default("mark", "0")
    .range(0, u32::MAX as u64)
    .example("1")
    .help(
        "the mark that a firewall sets on the packets of these flows in both directions, for filters and `cake \
         fwmark`",
    )
    .simulator_only();

const HOPS: Key<Names> = Key::derived("hops", "all", "[\"bottleneck\", \"modem\"]")
    .help("the hops that these flows cross, in both directions");

const STATION: Key<String> = Key::derived("station", "all in turn", "\"slow\"")
    .help("the station of the Wi-Fi cell that these flows use, or a group of stations that they use in turn")
    .simulator_only();

/// The keys that every kind has.
pub(super) const COMMON: &[&dyn AnyKey] = &[
    &KIND,
    &NAME,
    &COUNT,
    &DIRECTION,
    &START,
    &START_SPREAD,
    &STAGGER,
    &STOP,
    &RTT,
    &RTT_STEP,
    &HOST,
    &SERVER,
    &PORT,
    &MARK,
    &HOPS,
    &STATION,
];

/// Those that say when a flow sends, and which way.
const WHEN: [&str; 5] = ["direction", "start", "start_spread", "stagger", "stop"];

/// One flow, or several flows of the same sort, with every default filled in.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Their kind.
    pub kind: &'static Kind,
    /// Their name, if the scenario has one.
    pub name: Option<String>,
    /// The number of flows.
    pub count: u64,
    /// The direction of their data.
    pub direction: Direction,
    /// When the first flow starts.
    pub start: Span,
    /// Each flow starts later by a time drawn uniformly from zero to this one.
    pub start_spread: Span,
    /// Each flow starts later than the one before it by this time.
    pub stagger: Span,
    /// When the flows stop sending.
    pub stop: Span,
    /// Base round-trip time of the first flow.
    pub rtt: Span,
    /// Each flow's base round-trip time is longer than that of the one before it by this time.
    pub rtt_step: Option<Span>,
    /// The user's host that the flows share, if the scenario names it.
    pub host: Option<HostName>,
    /// The server that the flows share, if the scenario names it.
    pub server: Option<HostName>,
    /// The port of the server, if the scenario says it.
    pub port: Option<u16>,
    /// The mark of a firewall. 0: none.
    pub mark: u32,
    /// The hops that the flows cross, if they do not cross all.
    pub hops: Option<Vec<String>>,
    /// The station or group of stations of the flows, if they do not use all.
    pub station: Option<String>,
    /// The values of the kind's keys.
    pub values: Values,
    /// The place of the subscriber whose traffic it is, if it is not written in `[[traffic]]`.
    pub(crate) subscriber: Option<u32>,
}

/// Reads the tables of `scenario`, whose run lasts for `whole` and whose path has the base RTT `rtt`. With `outside`,
/// flows may be of packets from outside.
pub(super) fn read(scenario: &Table<'_>, whole: Duration, rtt: Span, outside: bool) -> Result<Vec<Traffic>> {
    let tables = scenario.tables("traffic")?;
    if tables.is_empty() {
        return Err(ScenarioError::new("traffic", "found none; accepted: at least one [[traffic]]"));
    }
    let mut read: Vec<(usize, Traffic)> = Vec::new();
    for (place, table) in tables.iter().enumerate() {
        let kind = if outside { kind_or_outside(table)? } else { table.take(&KIND)? };
        refuse_foreign_keys(table, kind)?;
        read_port(table, kind)?;
        let Make::Flows(flows) = kind.make else {
            let traffic = Traffic::read(table, kind, &read, whole, rtt)?;
            read.push((place, traffic));
            continue;
        };
        for flow in flows(table)? {
            let flow = Json::Object(flow);
            let flow = Table::new(table.path(), &flow)?;
            if !is_shared_probe(&flow, &read, rtt)? {
                let traffic = Traffic::read(&flow, flow.take(&KIND)?, &read, whole, rtt)?;
                read.push((place, traffic));
            }
        }
    }
    let traffic: Vec<Traffic> = read.into_iter().map(|(_, traffic)| traffic).collect();
    check_counts(&traffic)?;
    Ok(traffic)
}

/// Adds the traffic of subscribers to that of the scenario.
pub(super) fn add_subscribers(
    traffic: &mut Vec<Traffic>,
    of_subscribers: &[OfSubscriber],
    whole: Duration,
    rtt: Span,
) -> Result<()> {
    for OfSubscriber { subscriber, path, table } in of_subscribers {
        let table = Table::new(path, table)?;
        let kind = table.take(&KIND)?;
        refuse_foreign_keys(&table, kind)?;
        if matches!(kind.make, Make::Flows(_)) {
            return refuse(&table.key("kind"), format!("{:?}", kind.name), "a kind of one flow");
        }
        let subscriber = Some(*subscriber);
        traffic.push(Traffic { subscriber, ..Traffic::read(&table, kind, &[], whole, rtt)? });
    }
    check_counts(traffic)
}

/// Refuses more flows, or more users, than a run may have.
fn check_counts(traffic: &[Traffic]) -> Result<()> {
    let flows: u64 = traffic.iter().map(|traffic| traffic.count).sum();
    if flows > MOST_FLOWS {
        return refuse("traffic", format!("{flows} flows in all"), &format!("at most {MOST_FLOWS}"));
    }
    let users: u64 =
        traffic.iter().map(|traffic| traffic.count * (traffic.kind.users)(&traffic.values)).sum();
    if users > MOST_USERS {
        return refuse("traffic", format!("{users} users in all"), &format!("at most {MOST_USERS}"));
    }
    Ok(())
}

/// Returns the kind of a table, which may be that of packets from outside.
fn kind_or_outside(table: &Table<'_>) -> Result<&'static Kind> {
    const WORD: Key<String> = Key::required("kind", "\"outside\"");
    match table.take(&WORD) {
        Ok(word) if word == outside::KIND.name => Ok(&outside::KIND),
        _ => table.take(&KIND),
    }
}

/// Refuses keys that belong to other kinds: a `cc` on a `cbr` is a misunderstanding, not a default.
fn refuse_foreign_keys(table: &Table<'_>, kind: &Kind) -> Result<()> {
    // Packets from outside come when and whence their owner likes.
    let of_outside = matches!(kind.make, Make::Outside);
    let common: Vec<_> =
        COMMON.iter().copied().filter(|key| !of_outside || !WHEN.contains(&key.name())).collect();
    let keys: Vec<&dyn AnyKey> = common.into_iter().chain(kind.all_keys()).collect();
    let is_known = |name: &str| keys.iter().any(|key| key.name() == name);
    let is_foreign = |name: &str| KINDS.iter().any(|kind| kind.all_keys().any(|key| key.name() == name));
    let Some(name) = table.names().find(|name| !is_known(name) && is_foreign(name)) else {
        return table.refuse_others(&keys, &[]);
    };
    let own: Vec<&str> = kind.all_keys().map(AnyKey::name).collect();
    let accepted = format!("accepted beside the common ones: {}", own.join(", "));
    let message = format!("kind {:?} has no such key; {accepted}", kind.name);
    Err(ScenarioError::new(table.key(name), message))
}

/// Returns the port of the server, which a kind without ports does not have.
fn read_port(table: &Table<'_>, kind: &Kind) -> Result<Option<u16>> {
    let Some(port) = table.find(&PORT)? else { return Ok(None) };
    let accepted = match kind.make {
        Make::Flows(_) => "none, as the flows of a test have ports of their own",
        _ if kind.is_icmp => "none, as ICMP has no ports",
        _ => return Ok(u16::try_from(port).ok()),
    };
    refuse(&table.key("port"), format!("{port} for kind {:?}", kind.name), accepted)
}

/// Returns whether the same probe is there already: two Flent tests in one run share it.
fn is_shared_probe(flow: &Table<'_>, before: &[(usize, Traffic)], path_rtt: Span) -> Result<bool> {
    let (kind, name) = (flow.take(&KIND)?, flow.find(&NAME)?);
    let rtt = flow.find(&RTT)?.unwrap_or(path_rtt);
    let hosts = (flow.find(&HOST)?, flow.find(&SERVER)?);
    Ok(kind.is_probe
        && name.as_deref().is_some_and(|name| name.ends_with(flent::ICMP))
        && before.iter().any(|(_, other)| {
            (other.kind, &other.name, other.rtt) == (kind, &name, rtt)
                && (&other.host, &other.server) == (&hosts.0, &hosts.1)
        }))
}

impl Traffic {
    /// Reads one table. `before` are the tables before it, with their places in the file.
    fn read(
        table: &Table<'_>,
        kind: &'static Kind,
        before: &[(usize, Self)],
        whole: Duration,
        path_rtt: Span,
    ) -> Result<Self> {
        let name = table.find(&NAME)?;
        if let Some(name) = &name
            && let Some((twin, _)) = before.iter().find(|(_, other)| other.name.as_ref() == Some(name))
        {
            return refuse(
                &table.key("name"),
                format!("{name:?}, which traffic[{twin}] has"),
                "a name of its own",
            );
        }
        let mut traffic = Self {
            kind,
            name,
            count: table.take(&COUNT)?,
            direction: table.take(&DIRECTION)?,
            start: table.take(&START)?,
            start_spread: table.take(&START_SPREAD)?,
            stagger: table.take(&STAGGER)?,
            stop: table.find(&STOP)?.unwrap_or(Span(whole)),
            rtt: table.find(&RTT)?.unwrap_or(path_rtt),
            rtt_step: table.find(&RTT_STEP)?,
            host: table.find(&HOST)?,
            server: table.find(&SERVER)?,
            port: read_port(table, kind)?,
            mark: table.take(&MARK)? as u32,
            hops: table.find(&HOPS)?.map(|names| names.0),
            station: table.find(&STATION)?,
            values: Values::default(),
            subscriber: None,
        };
        traffic.check_times(table, whole)?;
        traffic.values = kind.read(table, traffic.rtt)?;
        traffic.check_opening(table)?;
        traffic.check_last_rtt(table)?;
        Ok(traffic)
    }

    /// Returns the traffic of packets from outside, throughout the `whole` run.
    pub(super) fn from_outside(whole: Span, rtt: Span, direction: &OutsideRoute) -> Self {
        Self {
            kind: &outside::KIND,
            name: None,
            count: 1,
            direction: Direction::Down,
            start: Span(Duration::ZERO),
            start_spread: Span(Duration::ZERO),
            stagger: Span(Duration::ZERO),
            stop: whole,
            rtt: direction.rtt.map_or(rtt, Span),
            rtt_step: None,
            host: None,
            server: None,
            port: None,
            mark: 0,
            hops: direction.hops.clone(),
            station: None,
            values: Values::default(),
            subscriber: None,
        }
    }

    fn check_times(&self, table: &Table<'_>, whole: Duration) -> Result<()> {
        let last = self.start.0 + self.start_spread.0 + self.stagger.0 * (self.count - 1);
        if last >= whole {
            let found = format!("a last start at up to {last}");
            return refuse(&table.key("start"), found, &format!("before the end, {whole}"));
        }
        if self.stop.0 <= last {
            return refuse(&table.key("stop"), self.stop.0, &format!("after the last start, {last}"));
        }
        Ok(())
    }

    /// Refuses flows that would open before the run, or that do not send at one time.
    fn check_opening(&self, table: &Table<'_>) -> Result<()> {
        let Some(opening) = self.opening() else { return Ok(()) };
        if opening > self.start.0 {
            return refuse(&table.key("opening"), opening, &format!("at most start, {}", self.start.0));
        }
        if self.stagger.0 > Duration::ZERO {
            return refuse(&table.key("stagger"), self.stagger.0, "none beside opening");
        }
        Ok(())
    }

    /// Returns how long before its start it opens its connections, if that is not at its start.
    pub(crate) fn opening(&self) -> Option<Duration> {
        if !bulk::OPENS_FIRST {
            return None;
        }
        self.values.find(&bulk::OPENING).map(|opening| opening.0)
    }

    /// Returns the name of the host at the end `side` of its flows, if it has one.
    pub(crate) fn host_at(&self, side: Side) -> Option<&HostName> {
        match side {
            Side::User => self.host.as_ref(),
            Side::Remote => self.server.as_ref(),
        }
    }

    /// Returns whether its packets come from outside.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        matches!(self.kind.make, Make::Outside)
    }

    /// Returns whether its packets cross the hop `name`.
    pub(crate) fn crosses(&self, name: &str) -> bool {
        self.hops.as_ref().is_none_or(|hops| hops.iter().any(|hop| hop == name))
    }

    fn check_last_rtt(&self, table: &Table<'_>) -> Result<()> {
        let Some(step) = self.rtt_step else { return Ok(()) };
        if self.values.find(&application::RTT_MAX).is_some() {
            return refuse(&table.key("rtt_step"), step.0, "none beside rtt_max");
        }
        let last = self.rtt_of(self.count - 1);
        if last > MOST_RTT.0 {
            let found = format!("{}, so that the last flow has {last}", step.0);
            return refuse(&table.key("rtt_step"), found, &format!("at most {} for the last", MOST_RTT.0));
        }
        Ok(())
    }

    /// Returns the base round-trip time of its `nth` flow.
    pub(crate) fn rtt_of(&self, nth: u64) -> Duration {
        self.rtt.0 + self.rtt_step.map_or(Duration::ZERO, |step| step.0 * nth)
    }

    /// Returns the greatest base round-trip time of the connections of its `nth` flow.
    pub(crate) fn most_rtt_of(&self, nth: u64) -> Duration {
        self.values.find(&application::RTT_MAX).map_or(self.rtt_of(nth), |most| most.0)
    }

    /// Returns the greatest base round-trip time of its connections.
    pub(crate) fn most_rtt(&self) -> Duration {
        self.most_rtt_of(self.count - 1)
    }

    /// Returns the codepoint of its packets.
    pub(crate) fn dscp(&self) -> u8 {
        self.values.find(&tcp::DSCP).unwrap_or_default().0
    }

    /// Returns the greatest number of its packets in a time series that keeps each packet.
    pub(super) fn packets(&self, whole: Duration) -> u64 {
        let Make::Datagrams(pace) = self.kind.make else { return 0 };
        if self.kind.series.is_none() {
            return 0;
        }
        self.count.saturating_mul(whole.as_nanos() / pace(&self.values).interval.as_nanos().max(1))
    }

    /// Returns the size of its packets in bytes, if all have the same size.
    pub(super) fn packet_bytes(&self) -> Option<u64> {
        match self.kind.make {
            Make::Datagrams(pace) => Some(pace(&self.values).len.into()),
            _ => None,
        }
    }
}

impl Serialize for Traffic {
    /// Writes the keys that all kinds of its transport share before the times, and the kind's own keys after them.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_map(None)?;
        table.serialize_entry("kind", self.kind.name)?;
        if let Some(name) = &self.name {
            table.serialize_entry("name", name)?;
        }
        table.serialize_entry("count", &self.count)?;
        table.serialize_entry("direction", &self.direction)?;
        let is_shared = |name: &str| self.kind.transport.iter().any(|key| key.name() == name);
        self.values.write(&mut table, is_shared)?;
        table.serialize_entry("start", &self.start)?;
        table.serialize_entry("start_spread", &self.start_spread)?;
        table.serialize_entry("stagger", &self.stagger)?;
        table.serialize_entry("stop", &self.stop)?;
        table.serialize_entry("rtt", &self.rtt)?;
        if let Some(step) = &self.rtt_step {
            table.serialize_entry("rtt_step", step)?;
        }
        for (role, name) in [("host", &self.host), ("server", &self.server)] {
            if let Some(name) = name {
                table.serialize_entry(role, name)?;
            }
        }
        if let Some(port) = &self.port {
            table.serialize_entry("port", port)?;
        }
        if self.mark != 0 {
            table.serialize_entry("mark", &self.mark)?;
        }
        if let Some(hops) = &self.hops {
            table.serialize_entry("hops", hops)?;
        }
        if let Some(station) = &self.station {
            table.serialize_entry("station", station)?;
        }
        self.values.write(&mut table, |name| !is_shared(name))?;
        table.end()
    }
}
