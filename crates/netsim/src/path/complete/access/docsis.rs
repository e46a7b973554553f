//! DOCSIS 3.1 upstream: a cable modem asks the head end for its turns, and sends when they come.
//!
//! What is modelled, of one service flow (MULPI 3.1, section 7.2; the numbers of the plant are those of CableLabs'
//! public model of an OFDMA upstream with frames of six symbols):
//!
//! - **Request.** A packet in an empty queue waits for a request opportunity, which is at a random place within a MAP
//!   interval. The request takes 310 us to the head end.
//! - **MAP.** The head end writes one MAP per interval, for requests that came 200 us before it or earlier. A grant of
//!   this MAP begins at a random place of the interval that begins 800 us later.
//! - **Grant.** Packets leave at the rate of the channel. A packet that does not fit into the rest of a grant goes on
//!   in the next grant. What no packet uses of a grant is lost. 445 us after its last bit the packet is at the head
//!   end: a frame at the modem, a frame at the head end, one on the channel, and 8 km.
//! - **Piggyback.** At the beginning of each grant the modem asks for everything that waits and is not yet asked for.
//! - **Service flow.** The head end grants at most `rate` in the long run, with a burst of `burst` bytes above it and
//!   never more than `peak`, as token buckets (annex C.2.2.8). What was asked for and not granted stays with the head
//!   end, which grants it in later MAPs.
//! - **Contention.** `modems` other modems send `requests` requests per second each, at 16 opportunities per MAP. A
//!   request that meets another one at its opportunity is lost. The modem knows when a MAP comes without its grant.
//!   Then it doubles its window, from 16 to 256 opportunities, and draws its next one (a head end's default is 4 to
//!   256). The others are no state machines: with their own repetitions their requests are a Poisson process, as in
//!   slotted ALOHA, and the load must have an equilibrium. After 16 tries a modem would drop the packet. Here it begins
//!   again with the smallest window.
//! - **Proactive grants** (PGS): with `ggr`, each MAP has a grant of at least this rate without a request, always at
//!   the same place.
//!
//! A lone packet therefore takes 1.75 ms, and three times a random part of a MAP interval: 4.75 ms on average at 2 ms,
//! and 3.25 ms at 1 ms. With proactive grants it takes 0.45 ms and once a random part.
//!
//! Not modelled: several channels, ranging, the head end's schedule among flows, grants above the request. A packet
//! takes 14 bytes more on the channel (MAC header, FCS), and a grant 8. `rate` and `peak` count packets without these.

use super::{Channel, Draws, Kind};
use goodqueue_qdisc::param::{Args, Param, QdiscSpec, bps, ms, us};
use goodqueue_qdisc::params;
use goodqueue_units::{Duration, Instant, Rate, Stream};
use std::collections::VecDeque;

const MODEL: &str = "CableLabs' model of a DOCSIS 3.1 upstream";
const MULPI: &str = "MULPI 3.1, C.2.2.8";

const MAP: Param<Duration> =
    Param::time("map", "MAP interval").range(us(100), ms(50)).default(ms(2)).source(MODEL);
const CHANNEL: Param<Rate> = Param::rate("channel", "rate of the upstream channel, at which a grant is sent")
    .default(bps(400_000_000))
    .source("an assumption");
const PEAK: Param<Option<Rate>> =
    Param::rate("peak", "peak traffic rate; unset: that of the channel").source(MULPI);
const BURST: Param<u64> = Param::bytes("burst", "maximum traffic burst above the rate")
    .range(1522, 1_000_000_000)
    .default(3044)
    .source(MULPI);
const MODEMS: Param<u32> =
    Param::count("modems", "other modems that ask at the same opportunities").range(0, 1000).default(0);
const REQUESTS: Param<u32> = Param::count("requests", "requests per second of each other modem")
    .range(1, 1000)
    .default(10)
    .source("an assumption");
const GGR: Param<Option<Rate>> =
    Param::rate("ggr", "guaranteed grant rate: proactive grants, one per MAP").source("MULPI 3.1, PGS");

const SPEC: QdiscSpec =
    QdiscSpec::new("docsis", params! { MAP, CHANNEL, PEAK, BURST, MODEMS, REQUESTS, GGR })
        .not_in_linux()
        .summary("a DOCSIS 3.1 upstream: requests, grants once per MAP, and a service flow's rates")
        .source("MULPI 3.1");

pub(super) const KIND: Kind = Kind { spec: &SPEC, make: |args, rate, draws| Docsis::make(args, rate, draws) };

/// A request's way to the head end.
const REQUEST_UP: Duration = us(310);
/// What the head end needs before a MAP.
const HEAD_END: Duration = us(200);
/// From a MAP to the interval that it describes: its way down, and the modem's processing.
const AHEAD: Duration = us(800);
/// From the last bit of a packet to the head end.
const DATA: Duration = us(445);
/// Request opportunities per MAP, and the modem's first window.
const OPPORTUNITIES: f64 = 16.0;
/// Doublings of the window.
const MOST_DOUBLINGS: u32 = 4;
/// Tries before the modem would drop the packet.
const MOST_TRIES: u32 = 16;
/// MAC header and FCS of a packet. Requests and grants count them, the link's rate does not.
const HEADER: u64 = 14;
/// Segment header of a grant.
const SEGMENT: u64 = 8;
/// The bucket of the peak rate.
const PEAK_BURST: u64 = 1522;

/// A token bucket in nanobits.
#[derive(Debug)]
struct Bucket {
    bps: u128,
    most: u128,
    tokens: u128,
    at: Instant,
}

const BYTE: u128 = 8_000_000_000;

impl Bucket {
    /// Builds a full bucket for grants of an interval `map`: `burst` bytes above the rate.
    fn new(rate: Rate, burst: u64, map: Duration) -> Self {
        let bps = u128::from(rate.as_bps());
        let most = bps * u128::from(map.as_nanos()) + u128::from(burst) * BYTE;
        Self { bps, most, tokens: most, at: Instant::ZERO }
    }

    /// Fills the bucket up to `now`, and returns how many bytes it has.
    fn bytes(&mut self, now: Instant) -> u64 {
        let filled = self.tokens + self.bps * u128::from(now.since(self.at).as_nanos());
        (self.tokens, self.at) = (filled.min(self.most), now);
        (self.tokens / BYTE) as u64
    }

    fn take(&mut self, bytes: u64) {
        self.tokens = self.tokens.saturating_sub(u128::from(bytes) * BYTE);
    }

    fn give_back(&mut self, bytes: u64) {
        self.tokens = (self.tokens + u128::from(bytes) * BYTE).min(self.most);
    }
}

/// A grant, or what is left of it.
#[derive(Clone, Copy, Debug)]
struct Grant {
    /// When the next packet can begin.
    from: Instant,
    ends: Instant,
    left: u64,
    /// Whether no packet has used it: the first one has the segment header, with the request.
    is_new: bool,
}

/// A request on its way, or waiting at the head end.
#[derive(Clone, Copy, Debug)]
struct Request {
    arrives: Instant,
    bytes: u64,
}

#[derive(Debug)]
struct Docsis {
    map: Duration,
    channel: Rate,
    rate: Rate,
    sustained: Bucket,
    peak: Option<Bucket>,
    /// Bytes of a proactive grant, and its place in the interval.
    proactive: Option<(u64, Duration)>,
    /// The probability that a request is lost.
    collides: f64,
    random: Stream,
    /// Bytes in the queue, with their headers.
    waiting: u64,
    /// When the modem sends its first request, if it has drawn an opportunity.
    asks: Option<Instant>,
    requests: VecDeque<Request>,
    grant: Option<Grant>,
    /// The number of the next MAP that may have a grant.
    next_map: u64,
}

/// Returns the probability that a request meets another one, of slotted ALOHA: `offered` new requests per opportunity
/// become `all` with repetitions, of which exp(-`all`) get through.
fn collision(offered: f64) -> Option<f64> {
    if offered > 0.36 {
        return None; // 1/e is the most that gets through
    }
    let mut all = offered;
    for _ in 0..200 {
        all = offered * libm::exp(all);
    }
    Some(1.0 - libm::exp(-all))
}

impl Docsis {
    fn make(args: &Args, rate: Rate, draws: Draws) -> Result<Box<dyn Channel>, String> {
        let (map, channel, peak) = (args.get(&MAP), args.get(&CHANNEL), args.get(&PEAK));
        let ggr = args.get(&GGR);
        if channel < rate {
            return Err(format!(
                "docsis channel: found {channel}; accepted: the link's rate, {rate}, or more"
            ));
        }
        if let Some(peak) = peak.filter(|peak| *peak < rate) {
            return Err(format!("docsis peak: found {peak}; accepted: the link's rate, {rate}, or more"));
        }
        if let Some(ggr) = ggr.filter(|ggr| *ggr > rate) {
            return Err(format!("docsis ggr: found {ggr}; accepted: up to the link's rate, {rate}"));
        }
        let modems = args.get(&MODEMS);
        let offered = f64::from(modems) * f64::from(args.get(&REQUESTS)) * map.as_secs_f64() / OPPORTUNITIES;
        let collides = collision(offered).ok_or_else(|| {
            format!(
                "docsis modems: found {modems}, which ask more often than requests can get through; accepted: \
                 fewer modems or requests, or a shorter map"
            )
        })?;
        let mut random = draws.streams.stream("docsis", draws.link);
        let place = random.next_f64();
        let proactive = ggr.map(|ggr| {
            let bytes = ggr.bytes_in(map).max(64);
            let room = map.saturating_sub(channel.transmission_time(bytes.min(u64::from(u32::MAX)) as u32));
            (bytes, part(room, place))
        });
        Ok(Box::new(Self {
            map,
            channel,
            rate,
            sustained: Bucket::new(rate, args.get(&BURST), map),
            peak: peak.map(|peak| Bucket::new(peak, PEAK_BURST, map)),
            proactive,
            collides,
            random,
            waiting: 0,
            asks: None,
            requests: VecDeque::new(),
            grant: None,
            next_map: 0,
        }))
    }

    /// Returns the time that `bytes` take on the channel.
    fn on_channel(&self, bytes: u64) -> Duration {
        let nanos = u128::from(bytes) * BYTE / u128::from(self.channel.as_bps());
        Duration::from_nanos(nanos as u64)
    }

    /// Returns bytes that were asked for and not granted.
    fn asked(&self) -> u64 {
        self.requests.iter().map(|request| request.bytes).sum()
    }

    /// Asks for `bytes` in a request that is sent at `now`.
    fn ask(&mut self, now: Instant, bytes: u64) {
        if bytes > 0 {
            self.requests.push_back(Request { arrives: now + REQUEST_UP + HEAD_END, bytes });
        }
    }

    /// Returns when a modem whose queue is no longer empty at `now` sends a request that gets through.
    fn opportunity(&mut self, now: Instant) -> Instant {
        let mut sent = now + part(self.map, self.random.next_f64());
        let mut tries = 0;
        while self.collides > 0.0 && self.random.next_f64() < self.collides {
            tries = (tries + 1) % MOST_TRIES;
            // The first MAP after the head end would have had the request shows that it has not.
            let number = (sent + REQUEST_UP + HEAD_END).as_nanos() / self.map.as_nanos() + 1;
            let knows = Instant::from_nanos(number * self.map.as_nanos()) + AHEAD;
            let window = self.map * (1 << tries.min(MOST_DOUBLINGS));
            sent = knows + part(window, self.random.next_f64());
        }
        sent
    }

    /// Returns the next grant that ends after `now`. Grants that ended before were nobody's. None: nothing was asked
    /// for.
    fn next_grant(&mut self, now: Instant) -> Option<Grant> {
        let map = self.map.as_nanos();
        if self.requests.is_empty() {
            // The grant of a MAP ends at most one interval and AHEAD after the MAP.
            let earliest = now.as_nanos().saturating_sub(AHEAD.as_nanos() + map) / map;
            self.next_map = self.next_map.max(earliest);
        }
        loop {
            let first = self.requests.front().map(|request| request.arrives.as_nanos().div_ceil(map));
            let (number, least) = match (first, self.proactive) {
                (_, Some((bytes, _))) => (self.next_map, bytes),
                (Some(first), None) => (self.next_map.max(first), 0),
                (None, None) => return None,
            };
            self.next_map = number + 1;
            let written = Instant::from_nanos(number * map);
            let bytes = self.granted(written).max(least);
            let room = self.map.saturating_sub(self.on_channel(bytes + SEGMENT));
            let place = match self.proactive {
                Some((_, place)) => place.min(room),
                None => part(room, self.random.next_f64()),
            };
            let from = written + AHEAD + place + self.on_channel(SEGMENT);
            let grant = Grant { from, ends: from + self.on_channel(bytes), left: bytes, is_new: true };
            if let Some(grant) = self.rest(grant, now) {
                return Some(grant);
            }
        }
    }

    /// Returns what is left of `grant` at `now`: the channel does not wait for packets.
    fn rest(&self, grant: Grant, now: Instant) -> Option<Grant> {
        let Grant { from, ends, left, is_new } = grant;
        let fits = u128::from(ends.since(now).as_nanos()) * u128::from(self.channel.as_bps()) / BYTE;
        let left = if now > from { left.min(fits as u64) } else { left };
        (left > 0).then_some(Grant { from: from.max(now), ends, left, is_new })
    }

    /// Takes from the requests what the MAP written at `now` grants, in bytes.
    fn granted(&mut self, now: Instant) -> u64 {
        let mut most = self.sustained.bytes(now);
        if let Some(peak) = &mut self.peak {
            most = most.min(peak.bytes(now));
        }
        // An interval has room for so many bytes.
        most = most.min(self.channel.bytes_in(self.map).saturating_sub(SEGMENT));
        let mut bytes = 0;
        while let Some(request) = self.requests.front_mut().filter(|request| request.arrives <= now) {
            let part = request.bytes.min(most - bytes);
            bytes += part;
            request.bytes -= part;
            if request.bytes > 0 {
                break;
            }
            self.requests.pop_front();
        }
        self.sustained.take(bytes);
        if let Some(peak) = &mut self.peak {
            peak.take(bytes);
        }
        bytes
    }

    /// Returns the grant that can be used at `now` or later, if there is one or one was asked for.
    fn usable(&mut self, now: Instant) -> Option<Grant> {
        let rest = self.grant.and_then(|grant| self.rest(grant, now));
        self.grant = rest.or_else(|| self.next_grant(now));
        self.grant
    }
}

/// Returns the share `of_one` of a time.
fn part(of: Duration, of_one: f64) -> Duration {
    Duration::from_nanos((of.as_nanos() as f64 * of_one) as u64)
}

impl Channel for Docsis {
    fn note(&mut self, bytes: u64, packets: u64) {
        self.waiting = bytes + HEADER * packets;
    }

    fn start(&mut self, now: Instant) -> Instant {
        if self.waiting == 0 {
            self.asks = None;
            return now;
        }
        match self.asks {
            Some(asks) if now < asks => return asks,
            Some(_) => {
                self.asks = None;
                self.ask(now, self.waiting);
            }
            None => {}
        }
        if let Some(grant) = self.usable(now) {
            return grant.from;
        }
        let asks = self.opportunity(now).max(now + us(1));
        self.asks = Some(asks);
        asks
    }

    fn occupy(&mut self, now: Instant, bytes: u32) -> Duration {
        let (mut left, mut time) = (u64::from(bytes) + HEADER, now);
        let behind = self.waiting.saturating_sub(left);
        loop {
            let Some(grant) = self.usable(time) else {
                self.ask(time, left); // nobody asked for the rest of this packet: its first part does
                continue;
            };
            if grant.is_new {
                let unasked = (left + behind).saturating_sub(grant.left + self.asked());
                self.ask(grant.from, unasked);
            }
            let sent = left.min(grant.left);
            left -= sent;
            time = grant.from + self.on_channel(sent);
            self.grant = Some(Grant { from: time, left: grant.left - sent, is_new: false, ..grant });
            if left == 0 {
                self.sustained.give_back(HEADER);
                if let Some(peak) = &mut self.peak {
                    peak.give_back(HEADER);
                }
                return time.since(now);
            }
        }
    }

    fn idle(&mut self) {}

    fn crosses(&mut self, sent: Instant) -> Option<Instant> {
        Some(sent + DATA)
    }

    fn capacity_bits(&self, from: Instant, to: Instant) -> f64 {
        self.rate.as_bps() as f64 * to.since(from).as_secs_f64()
    }

    fn mean_rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests;
