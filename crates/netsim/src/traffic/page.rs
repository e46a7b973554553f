//! Web pages as a browser fetches them over HTTP/1.1: the name is looked up, the document fetched, and then every object that it
//! asks for, over up to so many connections to each host.
//!
//! A connection is kept (RFC 9112, 9.3) and has one request at a time, none in advance of the last response; one is opened where
//! an object waits and all others are busy. Each fetch begins with nothing: names are looked up and connections opened anew. As
//! Høiland-Jørgensen et al. (2015) define it, the time to load is that until all objects are there; scripts and drawing
//! take none, nor do servers think.

use super::app::{Application, Host};
use crate::probe::delay::{FlowDelays, Summary};
use crate::record::AppResult;
use crate::scenario::{DEFAULT_REQUEST, Object, Size};
use crate::sockets::SocketId;
use goodqueue_units::{Duration, Instant};
use serde::Serialize;
use std::collections::VecDeque;

/// Bytes on Ethernet of a query with EDNS for the address of a name of 17 bytes (RFC 1035, 4.1; RFC 6891, 6.1.2): 14 + 20 + 8 + 12 + 17 + 4 + 11,
/// and of the answer, which has a record of 16 bytes besides.
const QUERY_BYTES: u16 = 86;
const ANSWER_BYTES: u16 = 102;
/// After which a resolver asks again: resolv.conf(5), `timeout`. Here it does so until there is an answer.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// The fetches of one flow, one after the other.
pub(crate) struct Page {
    /// The document, and then the other objects.
    items: Vec<Item>,
    hosts: usize,
    /// To each host, at the most.
    connections: usize,
    /// From the end of one fetch to the start of the next.
    gap: Duration,
    /// How many are yet to begin; none: without end.
    left: Option<u64>,
    fetch: Option<Fetch>,
    /// Lookups so far: what numbers them.
    lookups: u32,
    begun: u64,
    times: FlowDelays,
    /// When each completed fetch began and how long it took, if the scenario asks for time series.
    pub(crate) log: Option<Vec<(Instant, Duration)>>,
}

/// An object of a page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Item {
    /// Its host's number, from 0; the document's is the first.
    pub host: usize,
    /// Bytes of the request for it.
    pub request_bytes: u64,
    /// Bytes of the response.
    pub response_bytes: u64,
}

/// The `objects` of a page; `request` is the request where they say none.
pub(crate) fn items(objects: &[Object], request: Option<Size>) -> Vec<Item> {
    let mut names: Vec<Option<&str>> = Vec::new();
    let mut items = Vec::with_capacity(objects.len());
    for object in objects {
        let name = object.host.as_deref();
        let host = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let request_bytes = object.request.or(request).unwrap_or(DEFAULT_REQUEST).0;
        items.push(Item { host, request_bytes, response_bytes: object.response.0 });
    }
    items
}

/// The fetch under way.
struct Fetch {
    begun: Instant,
    /// Whether it began within the measured time.
    counts: bool,
    sites: Vec<Site>,
    /// Objects that are yet to be whole.
    missing: usize,
}

/// A host, as the browser knows it in this fetch.
struct Site {
    address: Address,
    /// Of its lookup.
    number: u32,
    hash: [u32; 2],
    /// Objects that are yet to be asked for.
    waiting: VecDeque<usize>,
    channels: Vec<Channel>,
}

enum Address {
    Unknown,
    /// The lookup is under way; when it is to be repeated.
    Asked(Instant),
    Known,
}

/// A connection of a fetch.
struct Channel {
    socket: SocketId,
    /// The object under way.
    item: Option<usize>,
    /// Whether the server is yet to answer.
    owed: bool,
    /// Bytes of all requests, and of all responses to them.
    asked: u64,
    wanted: u64,
}

/// Fetches that began within the measured time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PageResult {
    /// From the lookup of the document's host to the last byte of the last object.
    pub load_ms: Option<Summary>,
    /// How many began.
    pub count: u64,
    /// How many of them were completed.
    pub completed: u64,
}

impl Page {
    /// A page of `items`, the document first.
    pub(crate) fn new(items: Vec<Item>, connections: u64, gap: Duration, repeat: Option<u64>) -> Self {
        Self {
            hosts: items.iter().map(|item| item.host + 1).max().unwrap_or(0),
            items,
            connections: connections as usize,
            gap,
            left: repeat,
            fetch: None,
            lookups: 0,
            begun: 0,
            times: FlowDelays::new(),
            log: None,
        }
    }

    fn begin(&mut self, host: &mut Host<'_>) {
        if self.left == Some(0) {
            return;
        }
        self.left = self.left.map(|left| left - 1);
        self.begun += 1;
        let site = |_| Site {
            address: Address::Unknown,
            number: 0,
            hash: [0; 2],
            waiting: VecDeque::new(),
            channels: Vec::new(),
        };
        let sites = (0..self.hosts).map(site).collect();
        let mut fetch = Fetch { begun: host.now, counts: true, sites, missing: self.items.len() };
        self.want(&mut fetch, 0..1, host);
        self.fetch = Some(fetch);
    }

    /// The document names the objects `range`.
    fn want(&mut self, fetch: &mut Fetch, range: std::ops::Range<usize>, host: &mut Host<'_>) {
        for item in range {
            fetch.sites[self.items[item].host].waiting.push_back(item);
        }
        for site in fetch.sites.iter_mut().filter(|site| !site.waiting.is_empty()) {
            match site.address {
                Address::Unknown => {
                    self.lookups = self.lookups.wrapping_add(1);
                    (site.number, site.hash) = (self.lookups, host.exchange());
                    site.look_up(host);
                }
                Address::Asked(_) => {}
                Address::Known => site.ask(&self.items, self.connections, host),
            }
        }
        fetch.plan(host);
    }

    /// The object `item` of `site` is there.
    fn came(&mut self, mut fetch: Fetch, (site, item): (usize, usize), host: &mut Host<'_>) {
        fetch.missing -= 1;
        fetch.sites[site].ask(&self.items, self.connections, host);
        if item == 0 {
            self.want(&mut fetch, 1..self.items.len(), host);
        }
        if fetch.missing > 0 {
            self.fetch = Some(fetch);
            return;
        }
        let time = host.now.since(fetch.begun);
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
            host.wake_at(host.now + self.gap);
        }
    }
}

impl Fetch {
    /// Wakes the browser when the next lookup is to be repeated.
    fn plan(&self, host: &mut Host<'_>) {
        let again = self.sites.iter().filter_map(|site| match site.address {
            Address::Asked(again) => Some(again),
            Address::Unknown | Address::Known => None,
        });
        host.wake_at(again.min().unwrap_or(Instant::MAX));
    }
}

impl Site {
    fn look_up(&mut self, host: &mut Host<'_>) {
        host.send_datagram(host.receiver(), self.hash, self.number, QUERY_BYTES);
        self.address = Address::Asked(host.now + ASK_AGAIN);
    }

    /// Asks for what waits, where a connection is idle or may be opened.
    fn ask(&mut self, items: &[Item], most: usize, host: &mut Host<'_>) {
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
    fn start(&mut self, host: &mut Host<'_>) {
        self.begin(host);
    }

    /// A fetch is due, or a lookup is to be repeated.
    fn wake(&mut self, host: &mut Host<'_>) {
        let Some(fetch) = &mut self.fetch else { return self.begin(host) };
        for site in &mut fetch.sites {
            if matches!(site.address, Address::Asked(again) if again <= host.now) {
                site.look_up(host);
            }
        }
        fetch.plan(host);
    }

    fn notice(&mut self, socket: SocketId, end: usize, host: &mut Host<'_>) {
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

    fn datagram(&mut self, number: u32, end: usize, host: &mut Host<'_>) {
        let Some(fetch) = &mut self.fetch else { return };
        let Some(site) = fetch.sites.iter_mut().find(|site| site.number == number) else { return };
        if end == host.sender() {
            host.send_datagram(end, site.hash, number, ANSWER_BYTES);
        } else if let Address::Asked(_) = site.address {
            site.address = Address::Known;
            site.ask(&self.items, self.connections, host);
            fetch.plan(host);
        }
    }

    fn stop(&mut self, _host: &mut Host<'_>) {
        self.left = Some(0);
    }

    fn measure_from(&mut self, _now: Instant) {
        self.begun = 0;
        self.times.reset();
        if let Some(fetch) = &mut self.fetch {
            fetch.counts = false;
        }
    }

    fn result(&self, _now: Instant) -> AppResult {
        AppResult::Page(PageResult {
            load_ms: self.times.summary(),
            count: self.begun,
            completed: self.times.count(),
        })
    }
}
