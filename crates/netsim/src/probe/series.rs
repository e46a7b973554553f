//! Time series: means and samples per interval, and the delays of single packets within a window.

use super::law::LawSeries;
use goodqueue_hosts::part::Value;
use goodqueue_hosts::probe::rounded;
use goodqueue_qdisc::Probe;
use goodqueue_tcp::{Connection, INFINITE_SSTHRESH};
use goodqueue_units::{Duration, Instant, Rate};

/// Each packet's delay within a window.
#[derive(Clone, Debug)]
pub(crate) struct PacketLog {
    pub(crate) from: Instant,
    pub(crate) to: Instant,
    /// Whether the series has the flow of each packet.
    flows: bool,
    /// When a packet left the queue, how long it had waited, and the index of its flow.
    packets: Vec<(Instant, Duration, u32)>,
}

impl PacketLog {
    pub(crate) fn new(from: Instant, to: Instant, flows: bool) -> Self {
        Self { from, to, flows, packets: Vec::new() }
    }

    pub(crate) fn record(&mut self, now: Instant, delay: Duration, flow: u32) {
        if self.from <= now && now < self.to {
            self.packets.push((now, delay, flow));
        }
    }

    pub(crate) fn series(&self) -> PacketSeries {
        PacketSeries {
            time_s: self.packets.iter().map(|(time, ..)| time.as_secs_f64()).collect(),
            delay_ms: self.packets.iter().map(|(_, delay, _)| delay.as_millis_f64()).collect(),
            flow: self.flows.then(|| self.packets.iter().map(|(.., flow)| *flow).collect()),
        }
    }
}

goodqueue_hosts::part! {
    /// Every forwarded packet of a window of time.
    pub struct PacketSeries {
        /// When its transmission began, in seconds of the run.
        pub time_s: Vec<f64>,
        /// How long it had waited in the queue.
        pub delay_ms: Vec<f64>,
        /// The index of its flow in the scenario, from 0, if `series.packets.flows` asks for it.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel)]
        pub flow: Option<Vec<u32>>,
    }
}

goodqueue_hosts::part! {
    /// A queue over time. The lists are as long as the series' `time_s`.
    #[derive(Default)]
    pub struct QueueSeries {
        /// Mean delay of the packets that left within the interval. Null if no packet left.
        pub delay_ms: Vec<Option<f64>>,
        /// Packets that waited at the end of the interval.
        #[wider(Vec<Option<f64>>)]
        pub backlog_packets: Vec<u32>,
        /// The law's drop probability at the end of the interval. Null if the law has none.
        pub drop_probability: Vec<Option<f64>>,
        /// The law's variables at the end of the interval, if `series.law` asks for them. The names are Linux's or the
        /// RFC's, with the unit behind: `_ms`, `_bytes`, `_packets`, `_mbps`, none for a plain number. A point of time
        /// is in ms from the interval's end, negative if it has passed. Null: there is no value.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub law: Option<LawSeries>,
        // Number and sum of the delays when the last interval ended.
        #[serde(skip)]
        before: (u64, u128),
    }
}

impl QueueSeries {
    /// Builds an empty series. With `law` it has the law's variables, too.
    pub(crate) fn new(law: bool) -> Self {
        Self { law: law.then(LawSeries::default), ..Self::default() }
    }

    /// Ends an interval. `totals` are the number and the sum of the queue's delays so far.
    pub(crate) fn end_interval(&mut self, totals: (u64, u128), backlog: u32, drop_probability: Option<f64>) {
        self.delay_ms.push(mean_ms(totals, self.before));
        self.before = totals;
        self.backlog_packets.push(backlog);
        self.drop_probability.push(drop_probability.map(rounded));
    }
}

goodqueue_hosts::part! {
    /// A flow over time.
    pub struct FlowSeries {
        /// The flow's name.
        pub name: String,
        /// Congestion window at the end of the interval. Null if the flow has none.
        #[wider(Vec<Option<f64>>)]
        pub cwnd_packets: Vec<Option<u32>>,
        /// Bytes delivered in order within the interval, as a rate.
        #[wider(Vec<Option<f64>>)]
        pub goodput_mbps: Vec<f64>,
        /// Packets of its sender that were dropped at the bottleneck or lost at another hop within the interval.
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub dropped_packets: Vec<u64>,
        /// Mean round-trip time of a ping's echoes that returned within the interval, null if none did. Only for pings.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub rtt_ms: Option<Vec<Option<f64>>>,
        /// Its sender's variables, if `series.tcp` asks for them. Only for TCP.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        pub tcp: Option<TcpSeries>,
        /// The variables of its sender's congestion control, if `series.cc` asks for them, with the unit behind each
        /// name: `bw_mbps`, `pacing_gain`. Only for TCP. Null: there is no value.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Flent, Irtt, Iperf3)]
        pub cc: Option<LawSeries>,
        #[serde(skip)]
        before: FlowTotals,
    }
}

/// A flow's totals since the run began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowTotals {
    pub(crate) delivered_bytes: u64,
    pub(crate) dropped: u64,
    /// Number and sum of a ping's round-trip times.
    pub(crate) echoes: (u64, u128),
}

goodqueue_hosts::part! {
    /// A TCP sender's variables at the end of each interval, by the names of `ss -tin`. They are those of the
    /// connection that was opened last. A value is null if there is no connection, or if the variable has no value
    /// yet. `cwnd` is the flow's `cwnd_packets`.
    #[derive(Default)]
    pub struct TcpSeries {
        /// Slow-start threshold. Null before it is set.
        #[wider(Vec<Option<f64>>)]
        pub ssthresh_packets: Vec<Option<u32>>,
        /// Smoothed RTT.
        pub rtt_ms: Vec<Option<f64>>,
        /// Smoothed deviation of the RTT.
        pub rttvar_ms: Vec<Option<f64>>,
        /// Retransmission timeout, backoff included.
        pub rto_ms: Vec<Option<f64>>,
        /// Segments that no cumulative ACK has covered.
        #[wider(Vec<Option<f64>>)]
        pub unacked_packets: Vec<Option<u32>>,
        /// Rate at which the path delivers payload, as the sender estimates it.
        pub delivery_rate_mbps: Vec<Option<f64>>,
        /// Pacing rate of payload. Without pacing, too, this rate decides how many bytes leave together.
        pub pacing_rate_mbps: Vec<Option<f64>>,
    }
}

impl TcpSeries {
    fn end_interval(&mut self, sender: Option<&Connection>) {
        let ms = |duration: Duration| rounded(duration.as_millis_f64());
        self.ssthresh_packets
            .push(sender.map(Connection::ssthresh).filter(|ssthresh| *ssthresh != INFINITE_SSTHRESH));
        self.rtt_ms.push(sender.and_then(Connection::srtt).map(ms));
        self.rttvar_ms.push(sender.and_then(Connection::rttvar).map(ms));
        self.rto_ms.push(sender.map(|sender| ms(sender.rto())));
        self.unacked_packets.push(sender.map(Connection::unacked));
        let mbps = |rate: Rate| rounded(rate.as_bps() as f64 / 1e6);
        self.delivery_rate_mbps.push(sender.and_then(Connection::delivery_rate).map(mbps));
        self.pacing_rate_mbps.push(sender.and_then(Connection::pacing_rate).map(mbps));
    }
}

impl FlowSeries {
    /// Builds an empty series. It has TCP's variables if `tcp`, those of the congestion control if `cc`, and round-trip
    /// times if the flow is a `ping`.
    pub(crate) fn new(name: String, tcp: bool, cc: bool, ping: bool) -> Self {
        Self {
            name,
            cwnd_packets: Vec::new(),
            goodput_mbps: Vec::new(),
            dropped_packets: Vec::new(),
            rtt_ms: ping.then(Vec::new),
            tcp: tcp.then(TcpSeries::default),
            cc: cc.then(LawSeries::default),
            before: FlowTotals::default(),
        }
    }

    /// Ends an interval at `now`. `totals` are the totals so far, `sender` is the TCP sender if there is one.
    pub(crate) fn end_interval(
        &mut self,
        now: Instant,
        totals: FlowTotals,
        sender: Option<&Connection>,
        interval: Duration,
    ) {
        self.cwnd_packets.push(sender.map(Connection::cwnd));
        if let Some(tcp) = &mut self.tcp {
            tcp.end_interval(sender);
        }
        if let Some(cc) = &mut self.cc {
            let show = |cc: &mut LawSeries| {
                if let Some(sender) = sender {
                    sender.probe(&mut |name, value| cc.real(name, value));
                }
            };
            cc.end_interval(now, show);
        }
        let before = std::mem::replace(&mut self.before, totals);
        let bytes = totals.delivered_bytes - before.delivered_bytes;
        self.goodput_mbps.push(rounded(bytes as f64 * 8e-6 / interval.as_secs_f64()));
        self.dropped_packets.push(totals.dropped - before.dropped);
        if let Some(rtt_ms) = &mut self.rtt_ms {
            rtt_ms.push(mean_ms(totals.echoes, before.echoes));
        }
    }
}

/// Returns the mean of the times added since `before`, if any. Totals are number and sum.
fn mean_ms(after: (u64, u128), before: (u64, u128)) -> Option<f64> {
    let (count, sum) = (after.0 - before.0, after.1 - before.1);
    (count > 0).then(|| rounded(sum as f64 / count as f64 / 1e6))
}

/// Picks one real variable from a discipline's state.
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

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_tcp::Config;

    /// Two values are added, 3 and 6 ms: the mean is 4.5. Without an added value there is no mean.
    #[test]
    fn a_mean_is_of_what_came_since() {
        assert_eq!(mean_ms((7, 19_000_000), (5, 10_000_000)), Some(4.5));
        assert_eq!(mean_ms((7, 19_000_000), (7, 19_000_000)), None);
    }

    /// The window is from 1 to 2 s: the first instant is within it, the last is not.
    #[test]
    fn packets_are_noted_within_the_window() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut log = PacketLog::new(at(1000), at(2000), true);
        for ms in [999, 1000, 1999, 2000] {
            log.record(at(ms), Duration::from_millis(ms / 100), 7);
        }
        let PacketSeries { time_s, delay_ms, flow } = log.series();
        assert_eq!((time_s, delay_ms, flow), (vec![1.0, 1.999], vec![10.0, 19.0], Some(vec![7, 7])));
    }
    /// Two packets that waited 3 and 6 ms, then none. It would be wrong to take the mean of all packets since the
    /// start, or to keep no values over time.
    #[test]
    fn a_queue_has_a_value_an_interval() {
        let mut queue = QueueSeries::new(false);
        queue.end_interval((2, 9_000_000), 7, Some(0.125_000_04));
        queue.end_interval((2, 9_000_000), 0, None);
        assert_eq!(queue.delay_ms, [Some(4.5), None]);
        assert_eq!(queue.backlog_packets, [7, 0]);
        assert_eq!(queue.drop_probability, [Some(0.125), None]);
    }

    /// 25,000 bytes in 100 ms are 2 Mbit/s, and 12,500 bytes more are 1 Mbit/s. It would be wrong to take the goodput
    /// of the whole run, or to count drops twice. An interval without a sender has no window.
    #[test]
    fn a_flow_has_what_came_within_each_interval() {
        let mut flow = FlowSeries::new("a".to_string(), true, true, true);
        let interval = Duration::from_millis(100);
        let totals = |delivered_bytes, dropped, echoes| FlowTotals { delivered_bytes, dropped, echoes };
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        flow.end_interval(
            at(100),
            totals(25_000, 3, (1, 20_000_000)),
            Some(&Connection::client(Config::default())),
            interval,
        );
        flow.end_interval(at(200), totals(37_500, 5, (1, 20_000_000)), None, interval);
        assert_eq!(flow.goodput_mbps, [2.0, 1.0]);
        assert_eq!(flow.dropped_packets, [3, 2]);
        assert_eq!(flow.rtt_ms, Some(vec![Some(20.0), None]));
        assert_eq!(flow.cwnd_packets, [Some(10), None]);
        assert_eq!(flow.tcp.unwrap().rto_ms, [Some(1000.0), None]); // RFC 6298, 2.1
    }

    /// A handshake over 20 ms: SRTT is 20 ms, RTTVAR half of it, and RTO is 20 ms plus Linux's floor of 200 ms. Ten
    /// segments of 1448 bytes are on their way, paced at two windows per RTT: 11.584 Mbit/s. They are acknowledged
    /// together 20 ms later, so the delivery rate is 10 * 1448 * 8 bits in 20 ms. The threshold is that of the
    /// configuration, if there is one.
    #[test]
    fn a_sender_shows_what_ss_shows() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        for (initial_ssthresh, shown) in [(INFINITE_SSTHRESH, None), (64, Some(64))] {
            let config = Config { delivery_rate: true, initial_ssthresh, ..Config::default() };
            let (mut client, mut server) =
                (Connection::client(config), Connection::server(Config::default()));
            let mut series = TcpSeries::default();
            client.write_unlimited();
            let syn = client.poll_transmit(at(0)).unwrap();
            server.handle_segment(at(10), &syn);
            let syn_ack = server.poll_transmit(at(10)).unwrap();
            client.handle_segment(at(20), &syn_ack);
            let sent: Vec<_> = std::iter::from_fn(|| client.poll_transmit(at(20))).collect();
            series.end_interval(Some(&client));
            sent.iter().for_each(|segment| _ = server.handle_segment(at(30), segment));
            let acks: Vec<_> = std::iter::from_fn(|| server.poll_transmit(at(30))).collect();
            acks.iter().for_each(|segment| _ = client.handle_segment(at(40), segment));
            series.end_interval(Some(&client));
            series.end_interval(None);
            assert_eq!(series.ssthresh_packets, [shown, shown, None]);
            assert_eq!(series.rtt_ms, [Some(20.0), Some(20.0), None]);
            assert_eq!((series.rttvar_ms[0], series.rto_ms[0]), (Some(10.0), Some(220.0)));
            assert_eq!(series.unacked_packets, [Some(10), Some(0), None]);
            assert_eq!(series.delivery_rate_mbps, [None, Some(5.792), None]);
            assert_eq!(series.pacing_rate_mbps[0], Some(11.584));
            assert_eq!(
                (series.rttvar_ms[2], series.rto_ms[2], series.pacing_rate_mbps[2]),
                (None, None, None)
            );
        }
    }

    /// It would be wrong to pick a value of another name.
    #[test]
    fn one_variable_is_picked_by_its_name() {
        let mut pick = Pick { name: "p", value: None };
        pick.real("q", 0.5);
        assert_eq!(pick.value, None);
        pick.real("p", 0.25);
        pick.real("q", 0.5);
        assert_eq!(pick.value, Some(0.25));
    }
}
