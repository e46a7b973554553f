//! The part of a record for the subscribers of a provider, and for the nodes of its tree.

mod plans;

use crate::ledger::Ledger;
use crate::probe::subscribers::{Share, Shares};
use crate::record::PerDirection;
use crate::scenario::Scenario;
use crate::scenario::complete::isp::Isp;
use crate::sim::Simulation;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::part::Value;
use goodqueue_hosts::probe::delay::Summary;
use goodqueue_hosts::probe::{percent, ratio, rounded};
use goodqueue_qdisc::tree::Limits;
use goodqueue_units::{Duration, Instant};
use plans::plans;

goodqueue_hosts::part! {
    /// The subscribers of an Internet provider and its tree, within the measured time.
    pub struct IspRecord as "Isp" {
        /// What was sold, in the order of the scenario.
        pub plans: Vec<PlanRecord>,
        /// The nodes of the tree. The first is the link.
        pub nodes: Vec<NodeRecord>,
        /// The subscribers, in the order of the scenario.
        pub subscribers: Vec<SubscriberRecord>,
    }
}

goodqueue_hosts::part! {
    /// The subscribers with one plan.
    pub struct PlanRecord as "Plan" {
        /// Its name.
        pub name: String,
        /// The number of its subscribers.
        pub subscribers: u64,
        /// Each direction.
        pub down: PlanSide,
        /// The same for the way up.
        pub up: PlanSide,
    }
}

goodqueue_hosts::part! {
    /// What the subscribers with one plan got in one direction. Those without packets do not count.
    #[derive(Copy)]
    pub struct PlanSide as "PlanSide" {
        /// The number of subscribers with packets.
        pub active: u64,
        /// The sum of what they got.
        pub throughput_mbps: f64,
        /// The 95th percentiles of their delays.
        pub delay_p95_ms: Option<Spread>,
        /// The most that each got within one second, in percent of the rate sold.
        pub peak_percent: Option<Spread>,
        /// The mean share of the time in which the rate sold held packets back.
        pub limiting_percent: Option<f64>,
        /// The mean percentage of packets dropped.
        pub drop_percent: Option<f64>,
        /// Jain's index of what they got: 1 if all got the same.
        pub jain_throughput: Option<f64>,
    }
}

goodqueue_hosts::part! {
    /// A number of many subscribers. The worst are those with the most delay, or with the least of a rate.
    #[derive(Copy)]
    pub struct Spread as "Spread" {
        /// Half of the subscribers have this or less.
        pub median: f64,
        /// A tenth of the subscribers, the worst, have this or worse.
        pub worst_tenth: f64,
        /// The worst subscriber has this.
        pub worst: f64,
    }
}

goodqueue_hosts::part! {
    /// A node of the tree.
    pub struct NodeRecord as "Node" {
        /// Its name. Empty for the link.
        pub name: String,
        /// The name of the node above. Empty for the link, and for nodes below the link.
        pub parent: String,
        /// The number of subscribers below it.
        pub subscribers: u64,
        /// Each direction.
        pub down: NodeSide,
        /// The same for the way up.
        pub up: NodeSide,
    }
}

goodqueue_hosts::part! {
    /// A node in one direction.
    #[derive(Copy)]
    pub struct NodeSide as "NodeSide" {
        /// Its rate.
        pub rate_mbps: f64,
        /// Rate of its subscribers' bits that left.
        pub throughput_mbps: f64,
        /// Share of the time in which the node held packets back: its class may not send, while a subscriber below it
        /// has packets that nothing below the node holds back. For the link also the time of the wire.
        #[null_from(Kernel)]
        pub limiting_percent: f64,
    }
}

goodqueue_hosts::part! {
    /// A subscriber.
    pub struct SubscriberRecord as "Subscriber" {
        /// The name.
        pub name: String,
        /// The name of the plan.
        pub plan: String,
        /// The name of the node above. Empty: the link.
        pub parent: String,
        /// The first address.
        pub address: String,
        /// Each direction.
        pub down: SubscriberSide,
        /// The same for the way up.
        pub up: SubscriberSide,
    }
}

goodqueue_hosts::part! {
    /// A subscriber in one direction.
    #[derive(Copy)]
    pub struct SubscriberSide as "SubscriberSide" {
        /// Rate sold.
        pub sold_mbps: f64,
        /// Rate of the bits that left, headers included.
        pub throughput_mbps: f64,
        /// The same within the best of the seconds since measuring began.
        pub peak_mbps: f64,
        /// Time from a packet's arrival at the queue to the start of its transmission. Null without packets.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        pub delay_ms: Option<Summary>,
        /// Packets dropped, as a percentage of packets offered.
        pub drop_percent: f64,
        /// Share of the time in which the rate sold held packets back.
        #[null_from(Kernel)]
        pub limiting_percent: f64,
    }
}

goodqueue_hosts::part! {
    /// A node's time series.
    pub struct NodeSeries as "NodeSeries" {
        /// Its name. Empty for the link.
        pub name: String,
        /// As `limiting_percent` of the node, per interval.
        pub limiting_percent: PerDirection<Vec<f64>>,
    }
}

impl IspRecord {
    fn of(isp: &Isp, [down, up]: [Sides; 2]) -> Self {
        let subscribers = isp.subscribers.iter().zip(down.subscribers.iter().zip(&up.subscribers));
        let subscribers: Vec<SubscriberRecord> = subscribers
            .map(|(one, (down, up))| SubscriberRecord {
                name: one.name.clone(),
                plan: one.plan.to_string(),
                parent: isp.nodes[one.node].name.clone(),
                address: one.address(),
                down: *down,
                up: *up,
            })
            .collect();
        let nodes = isp.nodes.iter().zip(down.nodes.iter().zip(&up.nodes));
        let nodes = nodes
            .map(|(node, ((count, down), (_, up)))| NodeRecord {
                name: node.name.clone(),
                parent: isp.nodes[node.parent].name.clone(),
                subscribers: *count,
                down: *down,
                up: *up,
            })
            .collect();
        Self { plans: plans(&subscribers), nodes, subscribers }
    }
}

impl Scenario {
    /// Returns the record of its subscribers from what other programs saw of them, one entry per subscriber in each
    /// direction. Nothing is known of what held packets back. `None`: it has no subscribers.
    #[must_use]
    pub fn isp_seen(&self, got: &[Vec<Got>; 2]) -> Option<IspRecord> {
        let isp = self.isp.as_ref()?;
        let seconds = self.duration.0.saturating_sub(self.warmup.0).as_secs_f64();
        // JSON has no such number, and says null.
        let unknown = |_| f64::NAN;
        let sides = Direction::ALL.map(|side| Sides::of(isp, side, seconds, &got[side as usize], unknown));
        Some(IspRecord::of(isp, sides))
    }
}

impl Simulation {
    fn shares(&self, direction: Direction) -> Option<&Shares> {
        let Ledger { fates, .. } = self.bottleneck(direction).ledger();
        fates.watch.as_ref()?.shares.as_deref()
    }

    /// Returns what the subscribers got, and what the tree did.
    pub(in crate::record) fn isp(&self) -> Option<IspRecord> {
        let isp = self.scenario.isp.as_ref()?;
        let [down, up] = Direction::ALL.map(|direction| self.side(isp, direction));
        Some(IspRecord::of(isp, [down?, up?]))
    }

    fn side(&self, isp: &Isp, direction: Direction) -> Option<Sides> {
        let shares = self.shares(direction)?;
        let seconds = self.measured_s(Instant::ZERO, Instant::MAX);
        let after = self.bottleneck(direction).discipline()?.limits(self.now)?;
        let limiting = Limiting { before: shares.before.as_ref(), after: &after, seconds };
        let got = |share: &Share| Got {
            bytes: share.bytes,
            peak_bytes: share.peak(),
            offered: share.offered,
            dropped: share.dropped,
            delay_ms: share.delays.summary(),
        };
        let got: Vec<Got> = shares.read(got);
        Some(Sides::of(isp, direction, seconds, &got, |at| limiting.of_node(at)))
    }

    /// Returns the time series of the nodes, if the scenario asks for intervals.
    pub(in crate::record) fn node_series(&self) -> Vec<NodeSeries> {
        let Some(isp) = &self.scenario.isp else { return Vec::new() };
        let of = |at: usize, direction: Direction| -> Vec<f64> {
            let Some(shares) = self.shares(direction) else { return Vec::new() };
            let mut before: Option<&Limits> = None;
            let mut since = Instant::ZERO;
            let intervals = shares.intervals.iter().zip(&self.interval_ends);
            intervals
                .map(|(after, end)| {
                    let seconds = end.since(since).as_secs_f64();
                    let share = Limiting { before, after, seconds }.of_node(at);
                    (before, since) = (Some(after), *end);
                    share
                })
                .collect()
        };
        let nodes = isp.nodes.iter().enumerate();
        nodes
            .map(|(at, node)| NodeSeries {
                name: node.name.clone(),
                limiting_percent: PerDirection { down: of(at, Direction::Down), up: of(at, Direction::Up) },
            })
            .collect()
    }
}

/// What one subscriber got in one direction, within the measured time.
#[derive(Clone, Copy, Debug)]
pub struct Got {
    /// Bytes that left.
    pub bytes: u64,
    /// The most bytes that left within one second.
    pub peak_bytes: u64,
    /// Packets offered to the queue.
    pub offered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Their delays.
    pub delay_ms: Option<Summary>,
}

/// The records of one direction.
struct Sides {
    subscribers: Vec<SubscriberSide>,
    nodes: Vec<(u64, NodeSide)>,
}

impl Sides {
    /// Returns the records of what subscribers `got` in `seconds`. `limiting` returns the share of the time in which
    /// the class at a place held packets back: nodes come first.
    fn of(
        isp: &Isp,
        direction: Direction,
        seconds: f64,
        got: &[Got],
        limiting: impl Fn(usize) -> f64,
    ) -> Self {
        let side = direction as usize;
        let mbps = |bytes: u64| rounded(ratio(bytes as f64 * 8e-6, seconds));
        let rate = |rate: goodqueue_units::Rate| rounded(rate.as_bps() as f64 / 1e6);
        let of_subscriber =
            |(at, (one, got)): (usize, (&crate::scenario::complete::isp::Subscriber, &Got))| SubscriberSide {
                sold_mbps: rate(one.rates[side]),
                throughput_mbps: mbps(got.bytes),
                peak_mbps: rounded(got.peak_bytes as f64 * 8e-6),
                delay_ms: got.delay_ms,
                drop_percent: percent(got.dropped, got.offered),
                limiting_percent: limiting(isp.nodes.len() + at),
            };
        let subscribers = isp.subscribers.iter().zip(got).enumerate().map(of_subscriber).collect();
        let (mut counts, mut bytes) = (vec![0; isp.nodes.len()], vec![0; isp.nodes.len()]);
        for (one, got) in isp.subscribers.iter().zip(got) {
            counts[one.node] += 1;
            bytes[one.node] += got.bytes;
        }
        for at in (1..isp.nodes.len()).rev() {
            let parent = isp.nodes[at].parent;
            counts[parent] += counts[at];
            bytes[parent] += bytes[at];
        }
        let of_node = |(at, node): (usize, &crate::scenario::complete::isp::Node)| {
            let node = NodeSide {
                rate_mbps: rate(node.rates[side]),
                throughput_mbps: mbps(bytes[at]),
                limiting_percent: limiting(at),
            };
            (counts[at], node)
        };
        Self { subscribers, nodes: isp.nodes.iter().enumerate().map(of_node).collect() }
    }
}

/// What the tree's classes did in a time of this many seconds.
struct Limiting<'a> {
    before: Option<&'a Limits>,
    after: &'a Limits,
    seconds: f64,
}

impl Limiting<'_> {
    fn held(&self, of: impl Fn(&Limits) -> Option<Duration>) -> Duration {
        let before = self.before.and_then(&of).unwrap_or_default();
        of(self.after).unwrap_or_default().saturating_sub(before)
    }

    fn share(&self, held: Duration) -> f64 {
        rounded(ratio(100.0 * held.as_secs_f64(), self.seconds).min(100.0))
    }

    /// Returns the share of the time in which the class at this place held packets back, in percent.
    fn of_class(&self, at: usize) -> f64 {
        self.share(self.held(|limits| Some(limits.classes.get(at)?.1)))
    }

    /// Returns the same for a node. The link is the wire, too.
    fn of_node(&self, at: usize) -> f64 {
        if at > 0 {
            return self.of_class(at);
        }
        self.share(self.held(|limits| Some(limits.classes.first()?.1 + limits.wire)))
    }
}
