//! The two queues and their scheduler.

use crate::fifo::Fifo;
use crate::kept::Kept;
use crate::packet::Packet;
use crate::qdisc::{Measure, Moment, Probe, Raw};
use alloc::collections::VecDeque;
use goodqueue_units::{Duration, Instant};

/// One of the two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The low-latency queue: L4S.
    Low,
    /// The classic queue.
    Classic,
}

/// The queue that sends next, and the change of the credit per byte that it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) side: Side,
    weight: i64,
}

/// Both queues. For each byte that L4S sends, the credit grows by the classic queue's weight. For each byte that
/// classic sends, it falls by the L4S queue's weight. Above zero classic is next. Bytes count only while both queues
/// wait.
#[derive(Clone, Debug)]
pub(super) struct Queues<P> {
    pub(super) low: Fifo<P>,
    classic: Fifo<P>,
    /// Whether Linux's step applies, for each packet of `low`.
    steps: VecDeque<bool>,
    /// The packet that was taken out for a shaper. In Linux it counts for the whole, and in neither queue.
    pub(super) kept: Kept<P>,
    /// Bytes of memory, see [`Packet::memory`].
    pub(super) memory: u64,
    credit: i64,
    /// The first credit: a full frame's worth for L4S, if its weight is the larger.
    initial: i64,
    classic_weight: i64,
    low_weight: i64,
}

impl<P: Packet> Queues<P> {
    /// Builds both queues with a share of `protection` percent for classic. Weights are in percent if that is a whole
    /// number, otherwise in hundredths of a percent.
    pub(super) fn new(protection: f64, mtu: u32) -> Self {
        let scale = if libm::floor(protection) < protection { 100.0 } else { 1.0 };
        let classic_weight = libm::rint(protection * scale) as i64;
        let low_weight = scale as i64 * 100 - classic_weight;
        let initial = i64::from(mtu) * (classic_weight - low_weight);
        Self {
            low: Fifo::default(),
            classic: Fifo::default(),
            steps: VecDeque::new(),
            kept: Kept::default(),
            memory: 0,
            credit: initial,
            initial,
            classic_weight,
            low_weight,
        }
    }

    /// Takes the shares of `other`. The credit is counted in its weights, so it starts anew if they change.
    pub(super) fn share_as(&mut self, other: &Self) {
        if (self.classic_weight, self.low_weight) != (other.classic_weight, other.low_weight) {
            (self.classic_weight, self.low_weight) = (other.classic_weight, other.low_weight);
            (self.initial, self.credit) = (other.initial, other.initial);
        }
    }

    fn of(&self, side: Side) -> &Fifo<P> {
        match side {
            Side::Low => &self.low,
            Side::Classic => &self.classic,
        }
    }

    pub(super) fn packets(&self) -> u32 {
        (self.low.len() + self.classic.len()) as u32 + self.kept.backlog.packets
    }

    pub(super) fn bytes(&self) -> u64 {
        self.low.bytes() + self.classic.bytes() + self.kept.backlog.bytes
    }

    /// Returns the time that the head of a queue has waited, or 0 for an empty queue.
    pub(super) fn waited(&self, side: Side, now: Instant) -> Duration {
        self.of(side).head().map_or(Duration::ZERO, |head| now.since(head.arrival()))
    }

    pub(super) fn push(&mut self, packet: P, side: Side, steps: bool) {
        self.memory += packet.memory(packet.len());
        match side {
            Side::Low => {
                self.low.push(packet);
                self.steps.push_back(steps);
            }
            Side::Classic => self.classic.push(packet),
        }
    }

    /// Takes the head of a queue. Returns also whether Linux's step applies to it.
    pub(super) fn take(&mut self, side: Side) -> Option<(P, bool)> {
        let (packet, steps) = match side {
            Side::Low => (self.low.pop()?, self.steps.pop_front().unwrap_or(false)),
            Side::Classic => (self.classic.pop()?, false),
        };
        self.memory -= packet.memory(packet.len());
        Some((packet, steps))
    }

    /// Returns the queue whose turn it is by the credit.
    pub(super) fn by_credit(&self) -> Option<Turn> {
        let weight = |weight| if self.low.is_empty() || self.classic.is_empty() { 0 } else { weight };
        if !self.low.is_empty() && (self.classic.is_empty() || self.credit <= 0) {
            Some(Turn { side: Side::Low, weight: weight(self.classic_weight) })
        } else if !self.classic.is_empty() {
            Some(Turn { side: Side::Classic, weight: weight(-self.low_weight) })
        } else {
            None
        }
    }

    /// Returns the queue whose turn it is in a time-shifted FIFO: L4S counts as having waited `shift` longer (4.2.2).
    pub(super) fn by_shifted_time(&self, now: Instant, shift: Duration) -> Option<Turn> {
        let low = self.waited(Side::Low, now).as_nanos().saturating_add(shift.as_nanos());
        let first = low >= self.waited(Side::Classic, now).as_nanos();
        let side = match (self.low.is_empty(), self.classic.is_empty()) {
            (true, true) => return None,
            (false, true) => Side::Low,
            (false, false) if first => Side::Low,
            _ => Side::Classic,
        };
        Some(Turn { side, weight: 0 })
    }

    /// Notes that a packet of `len` bytes is sent in this turn.
    pub(super) fn settle(&mut self, turn: Turn, len: u32) {
        self.credit += turn.weight * i64::from(len);
    }

    /// Resets the credit when both queues are empty.
    pub(super) fn reset(&mut self) {
        self.credit = self.initial;
    }

    pub(super) fn probe(&self, probe: &mut dyn Probe) {
        let packets = |count: usize| (Raw::Integer(count as i128), Measure::Packets(Some(count as f64)));
        let bytes = |bytes: u64| (bytes.into(), Measure::Bytes(Some(bytes as f64)));
        let head = |fifo: &Fifo<P>| {
            let arrival = fifo.head().map(Packet::arrival);
            (arrival.map_or(0, Instant::as_nanos).into(), Measure::Moment(arrival.map(Moment::from)))
        };
        let mut show = |name, (raw, measure)| probe.measured(name, raw, measure);
        show("c_head_ts", head(&self.classic));
        show("l_head_ts", head(&self.low));
        show("credit", (self.credit.into(), Measure::Number(Some(self.credit as f64))));
        show("l_qlen", packets(self.low.len()));
        show("l_backlog", bytes(self.low.bytes()));
        show("c_qlen", packets(self.classic.len()));
        show("memory_used", bytes(self.memory));
    }
}
