//! Web pages as a browser fetches them over HTTP/1.1. The browser looks up the name and fetches the document. Then it
//! fetches every object of the document, over a limited number of connections per host.
//!
//! A connection is persistent (RFC 9112, 9.3). It has one request at a time, and sends the next request only after
//! the last response. The browser opens a connection if an object waits and all other connections are busy. Each
//! fetch begins with nothing: names are looked up and connections are opened anew. The time to load a page ends when
//! all objects are there, as Høiland-Jørgensen et al. (2015) define it. Scripts, drawing and the server's thinking
//! take no time.

mod objects;

use super::application::{self as app, AGAIN, Application, Host, Message, SocketId};
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::{Key, Size, Span, Values};
use crate::probe::delay::{FlowDelays, Summary};
use crate::probe::rounded;
use goodqueue_units::{Duration, Ecn, Instant};
use objects::{Item, OBJECTS, PAGE, items};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of a request, as a browser of the paper's years sent it: a request line, `Host`, `User-Agent`, `Accept` and
/// similar headers, a cookie.
const REQUEST: Key<Size> = Key::with_default("request", "\"400B\"")
    .range(Size(1), app::MOST_BYTES)
    .help("bytes of a request, for objects without a size of their own");
/// The number of connections per host that browsers have had since 2008 or so. (The paper's own client had four.)
const CONNECTIONS: Key<u64> = Key::with_default("connections", "6")
    .range(1, 100)
    .help("most connections that a browser has to a host at a time");
const INTERVAL: Key<Span> = AGAIN.help("time from the end of a fetch to the start of the next");
const REPEAT: Key<u64> =
    app::REPEAT.help("number of pages, one after the other. If left out, they go on until `stop`");

pub(crate) const KIND: Kind = Kind {
    keys: &[&INTERVAL, &REPEAT, &REQUEST, &PAGE, &OBJECTS, &CONNECTIONS],
    transport: tcp::UNPACED,
    in_parallel: true,
    asks: true,
    check: objects::check,
    plural: "pages",
    things: "pages",
    result: Some(PageResult::PART),
    measures: &[
        Measure::time("page_load_mean_ms", "load_ms.mean", "page mean", "page", "mean")
            .main()
            .said("A page loads in {} on average", "in {}", ""),
        Measure::time("page_load_p95_ms", "load_ms.p95", "page p95", "page", "p95"),
        Measure::completed("page_loads", "pages"),
    ],
    times: "load_ms",
    times_are: "from the lookup to the last object",
    series: Some(("pages", PageSeries::PART)),
    option: Shorthand { detail: "page", example: "", sets: &[] },
    ..Kind::new(
        "page",
        "web pages, DNS lookup to last object (page google, huffpost or FILE.har): how long each takes",
        Make::App(|values, _| {
            let gap = values.get(&INTERVAL).0;
            Box::new(Page::new(items_of(values), values.get(&CONNECTIONS), gap, values.find(&REPEAT)))
        }),
    )
};

fn items_of(values: &Values) -> Vec<Item> {
    items(&objects::of(values), values.get(&REQUEST))
}

/// Bytes on Ethernet of a DNS query with EDNS for the address of a name of 17 bytes (RFC 1035, 4.1; RFC 6891, 6.1.2):
/// 14 + 20 + 8 + 12 + 17 + 4 + 11. The answer has a record of 16 bytes in addition.
const QUERY_BYTES: u16 = 86;
const ANSWER_BYTES: u16 = 102;
/// The time after which a resolver asks again: resolv.conf(5), `timeout`. Here the resolver repeats this until it has
/// an answer.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// The fetches of one flow, one after the other.
struct Page {
    /// The document first, then the other objects.
    items: Vec<Item>,
    hosts: usize,
    /// The greatest number of connections to each host.
    connections: usize,
    /// From the end of one fetch to the start of the next.
    gap: Duration,
    /// How many fetches are still to begin; none: without end.
    left: Option<u64>,
    /// How many had not begun at the flow's `stop`.
    skipped: u64,
    fetch: Option<Fetch>,
    /// Whether any object ever arrived.
    has_come: bool,
    /// How many lookups there were. This number identifies a lookup.
    lookups: u32,
    begun: u64,
    times: FlowDelays,
    /// When each completed fetch began and how long it took, if the scenario asks for time series.
    log: Option<Vec<(Instant, Duration)>>,
}

/// The fetch under way.
struct Fetch {
    begun: Instant,
    /// Whether the fetch began within the measured time.
    counts: bool,
    sites: Vec<Site>,
    /// How many objects have not arrived completely.
    missing: usize,
}

/// A host, as the browser knows it in this fetch.
struct Site {
    address: Address,
    /// The number of the host's lookup, and the exchange of its datagrams.
    number: u32,
    exchange: u32,
    /// Objects that have not been requested yet.
    waiting: VecDeque<usize>,
    channels: Vec<Channel>,
}

enum Address {
    Unknown,
    /// The lookup is under way, and is repeated at this time.
    Asked(Instant),
    Known,
}

/// A connection of a fetch.
struct Channel {
    socket: SocketId,
    /// The object under way.
    item: Option<usize>,
    /// Whether the server still has to answer.
    owed: bool,
    /// Bytes of all requests so far, and of all responses to them.
    asked: u64,
    wanted: u64,
}

crate::part! {
    /// Fetches that began within the measured time.
    #[derive(Copy)]
    pub struct PageResult {
        /// From the lookup of the document's host to the last byte of the last object.
        pub load_ms: Option<Summary> => result::times("page load", "mean p10 p50 p90 p95 p99"),
        /// Fetches that began.
        pub count: u64 => result::column("begun", "", 0),
        /// Fetches that were completed.
        pub completed: u64 => result::column("ended", "", 0),
    }
}

crate::part! {
    /// The fetches of a page that were completed, including those of the warm-up.
    pub struct PageSeries {
        /// The flow's name.
        pub name: String,
        /// When each fetch began, in seconds of the run.
        pub begun_s: Vec<f64>,
        /// How long each fetch took.
        pub load_ms: Vec<f64>,
    }
}

impl AppResult for PageResult {}

impl Page {
    /// Makes a page of `items`, the document first.
    fn new(items: Vec<Item>, connections: u64, gap: Duration, repeat: Option<u64>) -> Self {
        Self {
            hosts: items.iter().map(|item| item.host + 1).max().unwrap_or(0),
            items,
            connections: connections as usize,
            gap,
            left: repeat,
            skipped: 0,
            fetch: None,
            has_come: false,
            lookups: 0,
            begun: 0,
            times: FlowDelays::new(),
            log: None,
        }
    }

    fn begin(&mut self, host: &mut dyn Host) {
        if self.left == Some(0) {
            return;
        }
        self.left = self.left.map(|left| left - 1);
        self.begun += 1;
        let site = |_| Site {
            address: Address::Unknown,
            number: 0,
            exchange: 0,
            waiting: VecDeque::new(),
            channels: Vec::new(),
        };
        let sites = (0..self.hosts).map(site).collect();
        let mut fetch = Fetch { begun: host.now(), counts: true, sites, missing: self.items.len() };
        self.want(&mut fetch, 0..1, host);
        self.fetch = Some(fetch);
    }

    /// Queues the objects `range`, and requests or looks up what can be requested or looked up now.
    fn want(&mut self, fetch: &mut Fetch, range: std::ops::Range<usize>, host: &mut dyn Host) {
        for item in range {
            fetch.sites[self.items[item].host].waiting.push_back(item);
        }
        for site in fetch.sites.iter_mut().filter(|site| !site.waiting.is_empty()) {
            match site.address {
                Address::Unknown => {
                    self.lookups = self.lookups.wrapping_add(1);
                    (site.number, site.exchange) = (self.lookups, host.exchange());
                    site.look_up(host);
                }
                Address::Asked(_) => {}
                Address::Known => site.ask(&self.items, self.connections, host),
            }
        }
        fetch.plan(host);
    }

    /// Takes the object `item` of `site`, which has arrived.
    fn came(&mut self, mut fetch: Fetch, (site, item): (usize, usize), host: &mut dyn Host) {
        fetch.missing -= 1;
        self.has_come = true;
        fetch.sites[site].ask(&self.items, self.connections, host);
        if item == 0 {
            self.want(&mut fetch, 1..self.items.len(), host);
        }
        if fetch.missing > 0 {
            self.fetch = Some(fetch);
            return;
        }
        let time = host.now().since(fetch.begun);
        if let Some(log) = &mut self.log {
            log.push((fetch.begun, time));
        }
        if fetch.counts {
            self.times.record(time);
        }
        for channel in fetch.sites.iter().flat_map(|site| &site.channels) {
            host.close(channel.socket, host.receiver());
        }
        if self.left != Some(0) {
            host.wake_at(host.now() + self.gap);
        }
    }
}

impl Fetch {
    /// Asks to be woken when the next lookup is to be repeated.
    fn plan(&self, host: &mut dyn Host) {
        let again = self.sites.iter().filter_map(|site| match site.address {
            Address::Asked(again) => Some(again),
            Address::Unknown | Address::Known => None,
        });
        host.wake_at(again.min().unwrap_or(Instant::MAX));
    }
}

impl Site {
    fn look_up(&mut self, host: &mut dyn Host) {
        let query = Message { number: self.number, len: QUERY_BYTES, ecn: Ecn::NotEct };
        host.send_datagram(host.receiver(), self.exchange, query);
        self.address = Address::Asked(host.now() + ASK_AGAIN);
    }

    /// Requests the waiting objects, as long as a connection is idle or may be opened.
    fn ask(&mut self, items: &[Item], most: usize, host: &mut dyn Host) {
        while !self.waiting.is_empty() {
            let idle = self.channels.iter().position(|channel| channel.item.is_none());
            let place = match idle {
                Some(place) => place,
                None if self.channels.len() == most => return,
                None => {
                    let socket = host.open(host.receiver());
                    self.channels.push(Channel { socket, item: None, owed: false, asked: 0, wanted: 0 });
                    self.channels.len() - 1
                }
            };
            let Some(item) = self.waiting.pop_front() else { return };
            let channel = &mut self.channels[place];
            (channel.item, channel.owed) = (Some(item), true);
            channel.asked += items[item].request_bytes;
            channel.wanted += items[item].response_bytes;
            host.write(channel.socket, host.receiver(), items[item].request_bytes);
        }
    }
}

impl Application for Page {
    fn start(&mut self, host: &mut dyn Host) {
        self.begin(host);
    }

    /// Begins the fetch that is due, or repeats a lookup.
    fn wake(&mut self, host: &mut dyn Host) {
        let Some(fetch) = &mut self.fetch else { return self.begin(host) };
        for site in &mut fetch.sites {
            if matches!(site.address, Address::Asked(again) if again <= host.now()) {
                site.look_up(host);
            }
        }
        fetch.plan(host);
    }

    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host) {
        let Some(fetch) = &mut self.fetch else { return };
        let sites = fetch.sites.iter_mut().enumerate();
        let mut channels =
            sites.flat_map(|(place, site)| site.channels.iter_mut().map(move |channel| (place, channel)));
        let Some((site, channel)) = channels.find(|(_, channel)| channel.socket == socket) else { return };
        let Some(item) = channel.item else { return };
        let delivered = host.delivered(socket, end);
        if end == host.sender() && channel.owed && delivered >= channel.asked {
            channel.owed = false;
            host.write(socket, end, self.items[item].response_bytes);
        } else if end == host.receiver() && delivered >= channel.wanted {
            channel.item = None;
            if let Some(fetch) = self.fetch.take() {
                self.came(fetch, (site, item), host);
            }
        }
    }

    fn datagram(&mut self, query: Message, end: Side, host: &mut dyn Host) {
        let Some(fetch) = &mut self.fetch else { return };
        let Some(site) = fetch.sites.iter_mut().find(|site| site.number == query.number) else { return };
        if end == host.sender() {
            host.send_datagram(end, site.exchange, Message { len: ANSWER_BYTES, ..query });
        } else if let Address::Asked(_) = site.address {
            site.address = Address::Known;
            site.ask(&self.items, self.connections, host);
            fetch.plan(host);
        }
    }

    fn stop(&mut self, _host: &mut dyn Host) {
        self.skipped = self.left.replace(0).unwrap_or(0);
    }

    fn measure_from(&mut self, _now: Instant) {
        self.begun = 0;
        self.times.reset();
        if let Some(fetch) = &mut self.fetch {
            fetch.counts = false;
        }
    }

    fn result(&self, _now: Instant) -> Option<result::Result> {
        Some(Arc::new(PageResult {
            load_ms: self.times.summary(),
            count: self.begun,
            completed: self.times.count(),
        }))
    }

    fn undone(&self) -> Undone {
        Undone::in_turn(u64::from(self.fetch.is_some()), self.left.unwrap_or(0) + self.skipped, self.has_come)
    }

    fn log(&mut self) {
        self.log = Some(Vec::new());
    }

    fn series(&self, name: &str) -> Option<result::Series> {
        let log = self.log.as_ref()?;
        let begun_s: Vec<f64> = log.iter().map(|(begun, _)| begun.as_secs_f64()).collect();
        let load_ms: Vec<f64> = log.iter().map(|(_, time)| rounded(time.as_millis_f64())).collect();
        Some(Arc::new(PageSeries { name: name.to_string(), begun_s, load_ms }))
    }
}
