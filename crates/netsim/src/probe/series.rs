//! Time series: means and samples per interval, and single packets' delays within a window.

use super::rounded;
use goodqueue_qdisc::Probe;
use goodqueue_units::{Duration, Instant, Rate};
use serde::Serialize;

/// Each packet's delay within a window.
#[derive(Clone, Debug)]
pub(crate) struct PacketLog {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    /// When a packet left the queue, and how long it had waited.
    packets: Vec<(Instant, Duration)>,
}

impl PacketLog {
    pub(crate) fn new(from: Instant, to: Instant) -> Self {
        Self { from, to, packets: Vec::new() }
    }

    pub(crate) fn record(&mut self, now: Instant, delay: Duration) {
        if self.from <= now && now < self.to {
            self.packets.push((now, delay));
        }
    }

    pub(crate) fn series(&self) -> PacketSeries {
        PacketSeries {
            time_s: self.packets.iter().map(|(time, _)| time.as_secs_f64()).collect(),
            delay_ms: self.packets.iter().map(|(_, delay)| delay.as_millis_f64()).collect(),
        }
    }
}

/// The delays of single packets.
#[derive(Clone, Debug, Serialize)]
pub struct PacketSeries {
    /// When the packet's transmission began, in seconds of the run.
    pub time_s: Vec<f64>,
    /// How long it had waited.
    pub delay_ms: Vec<f64>,
}

/// A queue over time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct QueueSeries {
    /// Mean delay of the packets that left within the interval; null where none did.
    pub delay_ms: Vec<Option<f64>>,
    /// Packets that waited at the interval's end.
    pub backlog_packets: Vec<u32>,
    /// The law's drop probability at the interval's end; null where the law has none.
    pub drop_probability: Vec<Option<f64>>,
    /// Number and sum of the delays when the last interval ended.
    #[serde(skip)]
    before: (u64, u128),
}

impl QueueSeries {
    /// Ends an interval, given the queue's delay totals so far.
    pub(crate) fn end_interval(&mut self, totals: (u64, u128), backlog: u32, drop_probability: Option<f64>) {
        let (count, sum) = (totals.0 - self.before.0, totals.1 - self.before.1);
        self.before = totals;
        self.delay_ms.push((count > 0).then(|| rounded(sum as f64 / count as f64 / 1e6)));
        self.backlog_packets.push(backlog);
        self.drop_probability.push(drop_probability.map(rounded));
    }
}

/// A flow over time.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSeries {
    /// The flow's name.
    pub name: String,
    /// Congestion window at the interval's end; null where the flow has none.
    pub cwnd_packets: Vec<Option<u32>>,
    /// The sender's estimate of the rate at which the path delivers its payload, at the interval's end (as `ss` shows it); null
    /// before the first, and where the flow has none.
    pub delivery_rate_mbps: Vec<Option<f64>>,
    /// Bytes delivered in order within the interval, as a rate.
    pub goodput_mbps: Vec<f64>,
    #[serde(skip)]
    before: u64,
}

impl FlowSeries {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            cwnd_packets: Vec::new(),
            delivery_rate_mbps: Vec::new(),
            goodput_mbps: Vec::new(),
            before: 0,
        }
    }

    /// Ends an interval, given the bytes delivered so far and what a TCP sender says: its window, its delivery rate.
    pub(crate) fn end_interval(
        &mut self,
        delivered: u64,
        sender: Option<(u32, Option<Rate>)>,
        interval: Duration,
    ) {
        self.cwnd_packets.push(sender.map(|(cwnd, _)| cwnd));
        let rate = sender.and_then(|(_, rate)| rate);
        self.delivery_rate_mbps.push(rate.map(|rate| rounded(rate.as_bps() as f64 / 1e6)));
        self.goodput_mbps.push(rounded((delivered - self.before) as f64 * 8e-6 / interval.as_secs_f64()));
        self.before = delivered;
    }
}

/// Picks one real variable out of a discipline's state.
pub(crate) struct Pick {
    pub(crate) name: &'static str,
    pub(crate) value: Option<f64>,
}

impl Probe for Pick {
    fn integer(&mut self, _name: &'static str, _value: i128) {}
    fn real(&mut self, name: &'static str, value: f64) {
        if name == self.name {
            self.value = Some(value);
        }
    }
}
