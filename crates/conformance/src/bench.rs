//! What a packet costs.

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::{AnyQdisc, Drop, Link, Mark, Owner, Qdisc};
use goodqueue_units::{Duration, Instant, Rate, Stream, Streams};
use std::hint::black_box;

/// The owner of a timed discipline: counts, and rolls real dice.
struct Counter {
    dropped: u64,
    dice: Stream,
}

impl Owner<Plain> for Counter {
    fn dropped(&mut self, packet: Plain, _why: Drop) {
        black_box(packet);
        self.dropped += 1;
    }
    fn marked(&mut self, packet: &Plain, _why: Mark) {
        black_box(packet);
    }
    fn random_u32(&mut self) -> u32 {
        self.dice.next_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.dice.next_u64()
    }
}

/// What a run took.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Packets that were offered, delivered or not.
    pub packets: u64,
    /// Packets of those that were dropped.
    pub dropped: u64,
    /// Wall time of one thread.
    pub seconds: f64,
}

impl Run {
    /// Nanoseconds a packet.
    #[must_use]
    pub fn packet_ns(&self) -> f64 {
        self.seconds * 1e9 / self.packets as f64
    }
}

/// Times packets through the discipline of the `tc` line `line`, in and out.
///
/// Full frames arrive from `flows` flows (at most 2^31) in turn, each followed by a departure, at a standing backlog of
/// `backlog_packets`, the one that departs included. Time passes so that a packet waits for a millisecond, which is good queue to every control
/// law. Before the arrivals of a pair, packets are added until the backlog is reached or one is dropped: so a
/// backlog above the discipline's limit times its overflow. Compare runs on one quiet machine only.
///
/// # Errors
/// Where the registry refuses `line`, or `flows` or `pairs` is zero, or `flows` above 2^31.
pub fn run(line: &str, flows: u32, backlog_packets: u32, pairs: u64) -> Result<Run, goodqueue_qdisc::Error> {
    if flows == 0 || flows > 1 << 31 || pairs == 0 {
        return Err(goodqueue_qdisc::Error("flows must be 1 to 2147483648 and pairs above zero".to_string()));
    }
    let rate = Rate::from_bps(1_000_000_000).ok_or_else(|| goodqueue_qdisc::Error("no rate".to_string()))?;
    let mut bench = Bench {
        qdisc: AnyQdisc::parse(line, &Link { rate, mtu: 1514 })?,
        owner: Counter { dropped: 0, dice: Streams::new(1).stream("bench", 0) },
        // Spread evenly over the hash's range, so that as many buckets are busy as there are flows.
        stride: (u64::from(u32::MAX) + 1).div_ceil(u64::from(flows)) as u32,
        flows,
        next: 0,
        step_flow: coprime_step(flows),
        now: Instant::from_nanos(10_000_000_000),
        step: Duration::from_nanos((1_000_000 / u64::from(backlog_packets).max(1)).max(1)),
        offered: 0,
    };
    // The first pass grows the rings and warms the caches; only the second is timed.
    bench.run(backlog_packets, pairs.min(4 * u64::from(backlog_packets) + 1000));
    (bench.offered, bench.owner.dropped) = (0, 0);
    let started = std::time::Instant::now();
    bench.run(backlog_packets, pairs);
    let seconds = started.elapsed().as_secs_f64();
    Ok(Run { packets: bench.offered, dropped: bench.owner.dropped, seconds })
}

/// A step that visits each of `flows` flows once a round, but not in the order of their buckets: what a prefetcher
/// would guess is not what a router sees.
fn coprime_step(flows: u32) -> u32 {
    fn gcd(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let golden = (f64::from(flows) * 0.618) as u32;
    (golden..flows).find(|step| gcd(*step, flows) == 1).unwrap_or(1)
}

struct Bench {
    qdisc: AnyQdisc<Plain>,
    owner: Counter,
    /// The hashes of flows that are neighbours are this far apart.
    stride: u32,
    flows: u32,
    next: u32,
    /// From the flow that sends to the flow that sends next.
    step_flow: u32,
    now: Instant,
    step: Duration,
    offered: u64,
}

impl Bench {
    fn run(&mut self, backlog: u32, pairs: u64) {
        for _ in 0..pairs {
            let dropped = self.owner.dropped;
            while self.qdisc.backlog().packets + 1 < backlog && self.owner.dropped == dropped {
                self.offer();
            }
            self.offer();
            black_box(self.qdisc.dequeue(self.now, &mut self.owner));
            self.now += self.step;
            if self.qdisc.next_timer().is_some_and(|due| due <= self.now) {
                self.qdisc.on_timer(self.now, &mut self.owner);
            }
        }
    }

    #[inline]
    fn offer(&mut self) {
        let flow_hash = self.next.wrapping_mul(self.stride);
        let next = self.next + self.step_flow;
        self.next = if next >= self.flows { next - self.flows } else { next };
        self.offered += 1;
        let host_hashes = (flow_hash, !flow_hash); // each flow between two hosts of its own, as in the simulator
        let packet = Plain { flow_hash, host_hashes, ..Plain::new(1514) };
        self.qdisc.enqueue(self.now, packet, &mut self.owner);
    }
}
