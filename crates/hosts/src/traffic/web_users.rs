//! A population of web users. Each user thinks, fetches a page, and thinks again (a closed loop, as Le, Aikat, Jeffay
//! and Smith 2003 load their link). So the longer pages take, the fewer pages are requested.
//!
//! A page is a document and then its objects, in one or more waves. With HTTP/1 an object has a connection of its
//! own, or, on a share of the pages, connections are persistent (RFC 9112, 9.3). The number of connections per page
//! is limited. With HTTP/2 (RFC 9113) there is one connection per server: it gets all requests of a wave at once and
//! answers them in order.
//!
//! Each user draws from a stream of its own, and draws all quantities of a request when it sends the request. So
//! another queue discipline or an additional user does not change what the other users ask for.

mod model;
mod state;
mod tally;

use super::application::{Application, Host, LossyWindows, RTT_MAX, SocketId};
use super::by_socket::BySocket;
use super::kind::{Kind, MOST_USERS, Make, Measure, Shorthand};
use super::result::{self, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::{Json, Key, Quantity, describe, refuse, share};
use goodqueue_units::{Duration, Instant, Stream as Random, Streams, parse};
use model::{Asked, Profile, Protocol, Visit};
use serde_json::json;
use state::{Answer, Channel, Exchange, Page, Plan, User};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use tally::{Response, Tally};
pub use tally::{WebUsersResult, WebUsersSeries};

/// An offered load: percent of the bottleneck's rate, or a rate.
#[derive(Clone, Debug)]
struct Load(String);

impl Quantity for Load {
    const TYPE: &'static str = "load";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let accepted = "1% to 500% of the bottleneck's rate, or a rate such as \"98mbit\"";
        let text = found.as_str().ok_or_else(|| format!("found {}; accepted: {accepted}", describe(found)))?;
        let is_read = share(text, 500.0).is_ok_and(|share| share >= 0.01) || parse::rate(text).is_ok();
        if is_read { Ok(Self(text.to_string())) } else { Err(format!("found {text:?}; accepted: {accepted}")) }
    }
    fn write(&self) -> Json {
        json!(self.0)
    }
    fn schema() -> Json {
        json!({"type": "string"})
    }
}

/// The number of users if the scenario says nothing.
const FEW: u64 = 500;
const USERS: Key<u64> =
    Key::derived("users", "500, where `load` is left out", "500").range(1, MOST_USERS).help("number of users");
const LOAD: Key<Load> = Key::optional("load", "\"98%\"")
    .help(
        "the users' offered load: percent of the bottleneck's rate, or a rate. The command line finds the number of users \
         that offers this load on a link ten times as fast, prints the number, and runs with it",
    )
    .source("Le et al. 2003");
const CONNECTIONS: Key<u64> = Key::with_default("connections", "2")
    .range(1, 100)
    .help("most connections of a page at a time, with HTTP/1")
    .source("RFC 2616, 8.1.4");

pub(crate) const KIND: Kind = Kind {
    keys: &[
        &USERS,
        &LOAD,
        &RTT_MAX,
        &model::MODEL,
        &model::THINK,
        &model::OBJECTS,
        &model::SERVERS,
        &model::REQUEST,
        &model::DOCUMENT,
        &model::OBJECT,
        &model::SERVER_DELAY,
        &model::GAP,
        &model::PROTOCOL,
        &model::PERSISTENT,
        &model::WAVES,
        &CONNECTIONS,
    ],
    transport: tcp::UNPACED,
    in_parallel: true,
    asks: true,
    check: |table, values| match (values.find(&USERS), values.find(&LOAD)) {
        (Some(_), None) => Ok(()),
        (Some(_), Some(_)) => refuse(&table.key("load"), "users, too", "one of them"),
        (None, Some(Load(load))) => {
            refuse(&table.key("load"), load, "users here; the command line finds how many offer a load")
        }
        (None, None) => {
            values.put(&USERS, FEW);
            Ok(())
        }
    },
    users: |values| values.find(&USERS).unwrap_or_default(),
    plural: "web users",
    things: "web pages",
    ended: "pages_completed",
    result: Some(WebUsersResult::PART),
    measures: &[
        Measure::time("web_response_p50_ms", "response_ms.p50", "response p50", "response", "p50")
            .main()
            .said("Half of the responses are there within {}", "within {}", ""),
        Measure::time("web_response_p95_ms", "response_ms.p95", "response p95", "response", "p95").main(),
        Measure::time("web_response_p99_ms", "response_ms.p99", "response p99", "response", "p99"),
        Measure::time("web_page_p50_ms", "page_ms.p50", "web page p50", "web page", "p50"),
        Measure {
            unit: "%",
            better: "low",
            heading: "with a",
            detail: "timeout",
            ..Measure::new("web_timeout_percent", "timeout_percent", "responses with a timeout")
        },
        Measure::completed("web_responses", "responses"),
        Measure { path: "pages_completed", ..Measure::completed("web_pages", "web pages") },
    ],
    times: "response_ms",
    times_are: "request, or SYN where the connection is new, to last byte",
    series: Some(("web_users", WebUsersSeries::PART)),
    option: Shorthand { detail: "users", example: "500", sets: &[] },
    ..Kind::new(
        "web_users",
        "a population of web users who think, fetch a page and think again: how long responses take",
        Make::App(|values, random| {
            let users = values.find(&USERS).unwrap_or_default();
            Box::new(WebUsers::new(Profile::of(values), users, values.get(&CONNECTIONS), random))
        }),
    )
};

/// Returns the timeouts at both ends of `socket`, if the host counts them.
fn timeouts(socket: SocketId, host: &dyn Host) -> Option<u32> {
    host.timeouts(socket).map(|timeouts| u32::try_from(timeouts).unwrap_or(u32::MAX))
}

/// Returns the stream from which user `number` draws.
fn of_user(streams: Streams, number: u64) -> Random {
    streams.stream("user", number)
}

/// The users of one flow.
// For the processor: what most packets need not is in boxes.
struct WebUsers {
    profile: Box<Profile>,
    /// The greatest number of connections per page.
    connections: usize,
    users: Vec<User>,
    /// The plans, the earliest first. Plans for the same time are in the order in which they were made.
    plans: BinaryHeap<Reverse<(Instant, u64, Plan)>>,
    planned: u64,
    /// The connections in use.
    channels: BySocket<Box<Channel>>, // few places of the table are taken
    opened: u64,
    tally: Box<Tally>,
    is_over: bool,
}

impl WebUsers {
    fn new(profile: Profile, users: u64, connections: u64, mut random: Random) -> Self {
        let streams = Streams::new(random.next_u64());
        let users = (0..users).map(|number| User { random: of_user(streams, number), page: None, has_come: false });
        Self {
            profile: Box::new(profile),
            connections: connections as usize,
            users: users.collect(),
            plans: BinaryHeap::new(),
            planned: 0,
            channels: BySocket::new(),
            opened: 0,
            tally: Box::new(Tally::new(streams.stream("sample", 0))),
            is_over: false,
        }
    }

    fn plan(&mut self, time: Instant, what: Plan) {
        self.plans.push(Reverse((time, self.planned, what)));
        self.planned += 1;
    }

    /// Does what is due, and asks to be woken for what is next.
    fn carry_on(&mut self, host: &mut dyn Host) {
        while let Some(&Reverse((time, _, plan))) = self.plans.peek() {
            if time > host.now() {
                return host.wake_at(time);
            }
            self.plans.pop();
            match plan {
                Plan::Page(user) => self.begin(user, host),
                Plan::Answer(socket, serial) if self.is_current(socket, serial) => self.answer(socket, host),
                Plan::Ask(socket, serial) if self.is_current(socket, serial) => self.ask(socket, host),
                Plan::Open(user) => self.open_again(user, host),
                Plan::Answer(..) | Plan::Ask(..) => {}
            }
        }
    }

    fn is_current(&self, socket: SocketId, serial: u64) -> bool {
        self.channels.get(socket).is_some_and(|channel| channel.serial == serial)
    }

    fn channel(&mut self, socket: SocketId) -> Option<&mut Channel> {
        self.channels.get_mut(socket).map(|channel| &mut **channel)
    }

    /// Begins a page of `user` and requests its document.
    fn begin(&mut self, user: u32, host: &mut dyn Host) {
        if self.is_over {
            return;
        }
        let Self { profile, users, tally, .. } = self;
        let User { random, page, .. } = &mut users[user as usize];
        let Visit { objects, servers, is_persistent } = profile.visit(random);
        *page = Some(Box::new(Page {
            begun: host.now(),
            counts: true,
            is_persistent,
            servers,
            unasked: 0,
            unknown: objects,
            missing: 1,
            waves_left: profile.waves,
            open: Vec::new(),
            to_open: 0,
        }));
        tally.page_begins();
        let socket = self.open(user, 0, host);
        self.request(socket, host);
    }

    /// Opens a connection from `user` to the server `server`.
    fn open(&mut self, user: u32, server: u64, host: &mut dyn Host) -> SocketId {
        let socket = host.open(host.receiver());
        let channel = Channel {
            user,
            serial: self.opened,
            exchanges: VecDeque::with_capacity(1),
            asked: 0,
            wanted: 0,
            lost_syn: Some(false),
            is_established: false,
            lossy: LossyWindows::default(),
        };
        self.channels.insert(socket, Box::new(channel));
        self.opened += 1;
        self.tally.connection_opens();
        if let Some(page) = &mut self.users[user as usize].page {
            page.open.push((socket, server));
        }
        socket
    }

    /// Draws and sends the next request on `socket`.
    fn request(&mut self, socket: SocketId, host: &mut dyn Host) {
        let Some(channel) = self.channels.get_mut(socket) else { return };
        let User { random, page, .. } = &mut self.users[channel.user as usize];
        let Some(page) = page else { return };
        let is_document = page.waves_left == self.profile.waves;
        let Asked { request, response: bytes, server_delay: delay, gap } = self.profile.ask(is_document, random);
        channel.asked += request;
        channel.wanted += bytes;
        let timeouts = timeouts(socket, host);
        channel.exchanges.push_back(Exchange {
            begun: host.now(),
            counts: true,
            asked: channel.asked,
            wanted: channel.wanted,
            bytes,
            gap,
            answer: Answer::After(delay),
            timeouts,
        });
        self.tally.response_begins();
        if channel.exchanges.len() == 1 {
            host.await_bytes(socket, host.receiver(), channel.wanted);
        }
        host.write(socket, host.receiver(), request);
    }

    /// Takes what the server of `socket` has received. The server answers requests as soon as it can, in order.
    fn hear(&mut self, socket: SocketId, host: &mut dyn Host) {
        let delivered = host.delivered(socket, host.sender());
        let Some(channel) = self.channel(socket) else { return };
        for exchange in &mut channel.exchanges {
            let Answer::After(delay) = exchange.answer else { continue };
            if delivered < exchange.asked {
                break;
            }
            exchange.answer = Answer::From(host.now() + delay);
        }
        self.answer(socket, host);
    }

    fn answer(&mut self, socket: SocketId, host: &mut dyn Host) {
        let Some(channel) = self.channel(socket) else { return };
        let serial = channel.serial;
        let mut later = None;
        for exchange in &mut channel.exchanges {
            match exchange.answer {
                Answer::Given => {}
                Answer::From(time) if time <= host.now() => {
                    exchange.answer = Answer::Given;
                    host.write(socket, host.sender(), exchange.bytes);
                }
                Answer::From(time) => {
                    later = Some(time);
                    break;
                }
                Answer::After(_) => break,
            }
        }
        if let Some(time) = later {
            self.plan(time, Plan::Answer(socket, serial));
        }
    }

    /// Takes what the user of `socket` has received.
    fn receive(&mut self, socket: SocketId, host: &mut dyn Host) {
        let delivered = host.delivered(socket, host.receiver());
        let established = host.is_established(socket, host.receiver());
        let Some(channel) = self.channel(socket) else { return };
        if established && !channel.is_established {
            channel.is_established = true;
            channel.lost_syn = host.timeouts(socket).map(|timeouts| timeouts > 0);
        }
        while let Some(channel) = self.channel(socket)
            && channel.exchanges.front().is_some_and(|exchange| delivered >= exchange.wanted)
            && let Some(exchange) = channel.exchanges.pop_front()
        {
            let timeouts = timeouts(socket, host);
            let lost_syn = channel.lost_syn.replace(false);
            let user = channel.user;
            let lossy = host.lossy_windows(socket, host.sender());
            let before = std::mem::replace(&mut channel.lossy, lossy.unwrap_or_default());
            if exchange.counts {
                self.tally.response(&Response {
                    time: host.now().since(exchange.begun),
                    bytes: exchange.bytes,
                    had_timeout: timeouts.zip(exchange.timeouts).map(|(now, before)| now > before),
                    lost_syn,
                    lossy: lossy.map(|LossyWindows { all, multi }| LossyWindows {
                        all: all - before.all,
                        multi: multi - before.multi,
                    }),
                });
            }
            self.came(user, socket, exchange.gap, host);
        }
        if let Some(next) = self.channel(socket).and_then(|channel| channel.exchanges.front()) {
            let wanted = next.wanted;
            host.await_bytes(socket, host.receiver(), wanted);
        }
    }

    /// Takes an object of `user`'s page that has arrived on `socket`. The next request in its place follows after
    /// `gap`.
    fn came(&mut self, user: u32, socket: SocketId, gap: Duration, host: &mut dyn Host) {
        self.users[user as usize].has_come = true;
        let Some(page) = &mut self.users[user as usize].page else { return };
        page.missing -= 1;
        if page.missing == 0 && page.unknown > 0 && page.waves_left > 0 {
            let share = page.unknown.div_ceil(page.waves_left);
            page.waves_left -= 1;
            page.unknown -= share;
            page.unasked += share;
            page.missing += share;
        }
        if page.missing == 0 {
            return self.end(user, host);
        }
        match self.profile.protocol {
            Protocol::Http1 => self.go_on(user, socket, gap, host),
            Protocol::Http2 => self.ask_for_all(user, host),
        }
    }

    /// Goes on after `socket` has become free (HTTP/1). Opens connections if objects wait and more connections are
    /// allowed.
    fn go_on(&mut self, user: u32, socket: SocketId, gap: Duration, host: &mut dyn Host) {
        let most = self.connections;
        let Some(page) = &mut self.users[user as usize].page else { return };
        if page.is_persistent {
            let Some(serial) = self.channels.get(socket).map(|channel| channel.serial) else { return };
            self.plan(host.now() + gap, Plan::Ask(socket, serial));
        } else {
            page.open.retain(|&(open, _)| open != socket);
            self.channels.remove(socket);
            host.close(socket, host.sender());
        }
        while let Some(page) = &mut self.users[user as usize].page
            && page.open.len() + page.to_open < most
            && page.unasked > (page.to_open + page.idle()) as u64
        {
            page.to_open += 1;
            self.plan(host.now() + gap, Plan::Open(user));
        }
        self.carry_on(host);
    }

    /// Opens a connection of `user`, because the gap before it is over.
    fn open_again(&mut self, user: u32, host: &mut dyn Host) {
        let Some(page) = &mut self.users[user as usize].page else { return };
        page.to_open -= 1;
        if page.unasked > 0 {
            page.unasked -= 1;
            let socket = self.open(user, 0, host);
            self.request(socket, host);
        }
    }

    /// Uses `socket` again, because the gap before that is over.
    fn ask(&mut self, socket: SocketId, host: &mut dyn Host) {
        let Some(user) = self.channel(socket).map(|channel| channel.user) else { return };
        let Some(page) = &mut self.users[user as usize].page else { return };
        if page.unasked > 0 {
            page.unasked -= 1;
            self.request(socket, host);
        }
    }

    /// Requests all known objects (HTTP/2). A draw decides the server of each object.
    fn ask_for_all(&mut self, user: u32, host: &mut dyn Host) {
        loop {
            let User { random, page, .. } = &mut self.users[user as usize];
            let Some(page) = page.as_mut().filter(|page| page.unasked > 0) else { return };
            page.unasked -= 1;
            let server = (random.next_f64() * page.servers as f64) as u64;
            let known = page.open.iter().find(|&&(_, one)| one == server).map(|&(socket, _)| socket);
            let socket = known.unwrap_or_else(|| self.open(user, server, host));
            self.request(socket, host);
        }
    }

    /// Ends the page of `user`, which is complete.
    fn end(&mut self, user: u32, host: &mut dyn Host) {
        let User { random, page, .. } = &mut self.users[user as usize];
        let Some(page) = page.take() else { return };
        let think = self.profile.think(random);
        // If a connection has only one request, the server closes it. Else the user closes, because it does not need
        // the connection any more.
        let closer = match self.profile.protocol {
            Protocol::Http1 if !page.is_persistent => host.sender(),
            Protocol::Http1 | Protocol::Http2 => host.receiver(),
        };
        for &(socket, _) in &page.open {
            self.channels.remove(socket);
            host.close(socket, closer);
        }
        if page.counts {
            self.tally.page(host.now().since(page.begun));
        }
        self.plan(host.now() + think, Plan::Page(user));
        self.carry_on(host);
    }
}

impl Application for WebUsers {
    /// Begins with users that have been thinking before. Each first page starts within a think time of its user.
    fn start(&mut self, host: &mut dyn Host) {
        for number in 0..self.users.len() {
            let think = self.profile.first_think(&mut self.users[number].random);
            self.plan(host.now() + think, Plan::Page(number as u32));
        }
        self.carry_on(host);
    }

    fn wake(&mut self, host: &mut dyn Host) {
        self.carry_on(host);
    }

    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host) {
        if end == host.sender() {
            self.hear(socket, host);
        } else {
            self.receive(socket, host);
        }
        self.carry_on(host);
    }

    fn stop(&mut self, _host: &mut dyn Host) {
        self.is_over = true;
    }

    fn measure_from(&mut self, _now: Instant) {
        self.tally.reset();
        for channel in self.channels.values_mut() {
            channel.exchanges.iter_mut().for_each(|exchange| exchange.counts = false);
        }
        for page in self.users.iter_mut().filter_map(|user| user.page.as_mut()) {
            page.counts = false;
        }
    }

    fn result(&self, _now: Instant) -> Option<result::Result> {
        Some(Arc::new(self.tally.result()))
    }

    /// Counts the pages. A page has not started if nothing has come to its user, of this page or of another.
    fn undone(&self) -> Undone {
        let waiting = self.users.iter().filter(|user| user.page.is_some());
        let (begun, new): (Vec<&User>, Vec<&User>) = waiting.partition(|user| user.has_come);
        Undone { never_started: new.len() as u64, unfinished: begun.len() as u64 }
    }

    fn log(&mut self) {
        self.tally.log();
    }

    fn series(&self, name: &str) -> Option<result::Series> {
        self.tally.series(name)
    }
}
