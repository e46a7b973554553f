//! Two endpoints on a virtual clock, with a path between them that a test controls.

#![allow(unreachable_pub)] // a module of a test

use goodqueue_tcp::{Config, Connection, Segment, Wire};
use goodqueue_units::{Duration, Ecn, Instant};
use std::collections::{BTreeMap, HashSet};

/// Bytes of a full segment, timestamps on.
pub const MSS: u64 = 1448;

/// Builds a client that sends `segments` and closes, and a server that closes too.
pub fn upload(config: Config, segments: u64, up: Path) -> Pair {
    let mut pair = Pair::alike(config);
    pair.client.write(segments * MSS);
    pair.client.close();
    pair.server.close();
    pair.up = up;
    pair
}

/// One direction of the path. Segments are counted from 0: `data` counts segments with payload, FIN or SYN, and `acks`
/// counts bare ones.
#[derive(Debug, Default)]
pub struct Path {
    pub drop_data: HashSet<u64>,
    pub drop_acks: HashSet<u64>,
    /// Data segments that are marked CE if they are ECN-capable.
    pub mark_data: HashSet<u64>,
    /// Data segments that take longer, and their extra delay.
    pub late_data: BTreeMap<u64, Duration>,
    /// Segments sent between these times wait until the second one.
    pub pause: Option<(Instant, Instant)>,
    /// The least time between two data segments that leave the path.
    pub spacing: Option<Duration>,
    pub last_departure: Instant,
    /// The longest wait behind earlier segments, as in a full buffer. A data segment that would wait longer is lost.
    pub room: Option<Duration>,
    /// Segments of either kind that arrive twice.
    pub twice: HashSet<u64>,
    pub data_seen: u64,
    pub acks_seen: u64,
    /// Every data segment offered, with its time.
    pub log: Vec<(Instant, Segment)>,
}

impl Path {
    /// Builds a path that loses the data segments `numbers`.
    pub fn drop(numbers: impl IntoIterator<Item = u64>) -> Self {
        Self { drop_data: numbers.into_iter().collect(), ..Self::default() }
    }

    /// Returns the arrival delays on top of the path's. No delay means a loss, two mean a duplicate.
    fn fate(&mut self, now: Instant, segment: &mut Segment) -> Vec<Duration> {
        let (number, dropped) = if segment.seq_len() > 0 {
            self.log.push((now, *segment));
            self.data_seen += 1;
            (self.data_seen - 1, self.drop_data.contains(&(self.data_seen - 1)))
        } else {
            self.acks_seen += 1;
            (self.acks_seen - 1, self.drop_acks.contains(&(self.acks_seen - 1)))
        };
        if dropped {
            return vec![];
        }
        if segment.seq_len() > 0 && self.mark_data.contains(&number) && segment.ecn.is_capable() {
            segment.ecn = Ecn::Ce;
        }
        let late = if segment.seq_len() > 0 { self.late_data.get(&number).copied() } else { None };
        let mut queued = Duration::ZERO;
        if let Some(spacing) = self.spacing.filter(|_| segment.seq_len() > 0) {
            let departure = now.max(self.last_departure + spacing);
            queued = departure.since(now);
            if self.room.is_some_and(|room| queued > room) {
                return vec![];
            }
            self.last_departure = departure;
        }
        if let Some((_, end)) = self.pause.filter(|&(start, end)| now >= start && now < end) {
            queued = queued + end.since(now);
        }
        let mut fate = vec![queued + late.unwrap_or(Duration::ZERO)];
        if self.twice.contains(&number) {
            fate.push(Duration::from_micros(10));
        }
        fate
    }
}

/// The segments that [`Connection::transmit`] puts on the wire.
#[derive(Default)]
struct AtOnce(Vec<Segment>);

impl Wire for AtOnce {
    fn prepare(&mut self) {}
    fn put(&mut self, segment: Segment) {
        self.0.push(segment);
    }
}

/// A client, a server, and the path between them.
pub struct Pair {
    pub client: Connection,
    pub server: Connection,
    /// Client to server.
    pub up: Path,
    /// Server to client.
    pub down: Path,
    pub delay: Duration,
    pub now: Instant,
    /// Whether a twin repeats each step on the slow path, to compare the results. This takes time.
    pub twins: bool,
    wire: BTreeMap<(Instant, u64), (bool, Segment)>,
    sequence: u64,
}

impl Pair {
    /// Builds a pair 50 ms apart each way: an RTT of 100 ms.
    pub fn new(client: Config, server: Config) -> Self {
        Self {
            client: Connection::client(client),
            server: Connection::server(server),
            up: Path::default(),
            down: Path::default(),
            delay: Duration::from_millis(50),
            now: Instant::ZERO,
            twins: true,
            wire: BTreeMap::new(),
            sequence: 0,
        }
    }

    /// Builds a pair with equal ends.
    pub fn alike(config: Config) -> Self {
        Self::new(config.clone(), config)
    }

    fn flush(&mut self) {
        for to_server in [true, false] {
            let (from, path) =
                if to_server { (&mut self.client, &mut self.up) } else { (&mut self.server, &mut self.down) };
            let (mut twin, mut at_once) = (self.twins.then(|| from.clone()), AtOnce::default());
            if let Some(twin) = &mut twin {
                twin.transmit(self.now, &mut at_once);
            }
            let mut sent = Vec::new();
            while let Some(mut segment) = from.poll_transmit(self.now) {
                sent.push(segment);
                for late in path.fate(self.now, &mut segment) {
                    let arrival = self.now + self.delay + late;
                    self.wire.insert((arrival, self.sequence), (to_server, segment));
                    self.sequence += 1;
                }
            }
            let Some(twin) = twin else { continue };
            assert!(from.is_consistent());
            assert_eq!(at_once.0, sent, "`transmit` puts what `poll_transmit` gives");
            if sent.len() > 2 && self.sequence.is_multiple_of(8) {
                assert_eq!(format!("{twin:?}"), format!("{from:?}"), "and leaves the same behind");
            }
        }
    }

    /// Does the next event, if it is not after `end`. Returns whether there was one.
    pub fn step(&mut self, end: Instant) -> bool {
        self.flush();
        let arrival = self.wire.first_key_value().map(|(key, _)| key.0);
        let timers = [self.client.poll_timeout(), self.server.poll_timeout()];
        let timer = timers.into_iter().flatten().min();
        let next = arrival.into_iter().chain(timer).min().filter(|&next| next <= end);
        let Some(next) = next else {
            self.now = end;
            return false;
        };
        self.now = self.now.max(next);
        if arrival == Some(next) {
            if let Some((_, (to_server, segment))) = self.wire.pop_first() {
                let to = if to_server { &mut self.server } else { &mut self.client };
                let twin = self.twins.then(|| to.clone());
                let handled = to.handle_segment(self.now, &segment);
                let Some(mut twin) = twin else { return true };
                assert_eq!(twin.handle_segment_slowly(self.now, &segment), handled, "on the fast path");
                if self.sequence.is_multiple_of(8) {
                    assert_eq!(
                        format!("{to:?}"),
                        format!("{twin:?}"),
                        "the fast path leaves the same behind"
                    );
                }
            }
        } else {
            self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
        }
        true
    }

    /// Runs until `ms` milliseconds after the start.
    pub fn run_until(&mut self, ms: u64) {
        let end = Instant::from_nanos(ms * 1_000_000);
        while self.step(end) {}
        self.flush();
    }

    /// Runs until nothing is left to do. Returns the time, or `None` if that does not happen within `seconds`.
    pub fn run(&mut self, seconds: u64) -> Option<Duration> {
        let end = self.now + Duration::from_secs(seconds);
        let mut last = self.now;
        while self.step(end) {
            last = self.now;
        }
        self.flush();
        (self.wire.is_empty() && self.client.poll_timeout().is_none() && self.server.poll_timeout().is_none())
            .then(|| last.since(Instant::ZERO))
    }
}
