//! The time that a discipline takes per packet.

use goodqueue_qdisc::packet::{Plain, hosts_of_flow};
use goodqueue_qdisc::{AnyQdisc, Drop, Link, Mark, Owner, Qdisc};
use goodqueue_units::{Duration, Instant, Rate, Stream, Streams};
use std::hint::black_box;

/// The owner of a timed discipline. It counts drops, and its random numbers are real.
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

/// The result of a run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Packets offered, whether delivered or not.
    pub packets: u64,
    /// Offered packets that were dropped.
    pub dropped: u64,
    /// Wall time of one thread.
    pub seconds: f64,
}

impl Run {
    /// Returns the nanoseconds per packet.
    #[must_use]
    pub fn packet_ns(&self) -> f64 {
        self.seconds * 1e9 / self.packets as f64
    }
}

/// Times packets through the discipline of the `tc` line `line`, in and out.
///
/// Full frames arrive from `flows` flows (at most 2^31) in turn. A departure follows each arrival, at a standing
/// backlog of `backlog_packets`, including the departing packet. Time passes so that a packet waits for one
/// millisecond, which no control law takes for a standing queue. Before the arrival of a pair, packets are added
/// until the backlog is reached or one is dropped. So a backlog above the discipline's limit times its overflow.
/// Compare only runs on one quiet machine.
///
/// # Errors
/// Fails if the registry refuses `line`, if `flows` or `pairs` is zero, or if `flows` is above 2^31.
pub fn run(line: &str, flows: u32, backlog_packets: u32, pairs: u64) -> Result<Run, goodqueue_qdisc::Error> {
    if flows == 0 || flows > 1 << 31 || pairs == 0 {
        return Err(goodqueue_qdisc::Error("flows must be 1 to 2147483648 and pairs above zero".to_string()));
    }
    let rate = Rate::from_bps(1_000_000_000).ok_or_else(|| goodqueue_qdisc::Error("no rate".to_string()))?;
    let mut bench = Bench {
        qdisc: AnyQdisc::parse(line, &Link { rate, mtu: 1514 })?,
        owner: Counter { dropped: 0, dice: Streams::new(1).stream("bench", 0) },
        // Spreads flows evenly over the range of the hash, so that as many buckets are busy as there are flows.
        stride: (u64::from(u32::MAX) + 1).div_ceil(u64::from(flows)) as u32,
        flows,
        next: 0,
        step_flow: coprime_step(flows),
        now: Instant::from_nanos(10_000_000_000),
        step: Duration::from_nanos((1_000_000 / u64::from(backlog_packets).max(1)).max(1)),
        offered: 0,
    };
    // The first pass grows the rings and warms the caches. Only the second pass is timed.
    bench.run(backlog_packets, pairs.min(4 * u64::from(backlog_packets) + 1000));
    (bench.offered, bench.owner.dropped) = (0, 0);
    let started = std::time::Instant::now();
    bench.run(backlog_packets, pairs);
    let seconds = started.elapsed().as_secs_f64();
    Ok(Run { packets: bench.offered, dropped: bench.owner.dropped, seconds })
}

/// Returns a step that visits each of `flows` flows once per round, but not in the order of their buckets. A router
/// does not see them in order either, and the processor's prefetcher must not be able to predict them.
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
    /// Distance between the hashes of neighbouring flows.
    stride: u32,
    flows: u32,
    next: u32,
    /// Distance from the sending flow to the next one.
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
        let host_hashes = hosts_of_flow(flow_hash); // each flow has its own two hosts, as in the simulator
        let packet = Plain { flow_hash, host_hashes, ..Plain::new(1514) };
        self.qdisc.enqueue(self.now, packet, &mut self.owner);
    }
}
