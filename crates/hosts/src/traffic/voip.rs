//! Calls: the packets of a voice codec, one way, and how their listener judges the call.
//!
//! A packet is voice, RTP (12 bytes), UDP (8), IPv4 (20) and Ethernet (14). `g711` has 160 bytes of voice per 20 ms
//! (RFC 3551, 4.5.14), 214 bytes on the wire. `ditg` is D-ITG's default call, which Høiland-Jørgensen et al. (2015)
//! ran as 64 kbit/s: 80 bytes of voice per 10 ms, 134 bytes on the wire.

use super::isochronous::{DATAGRAM_KEYS, Far, Listener, Log, Pace, Packets, ecn_of};
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult};
use crate::keys::Key;
use crate::probe::delay::{FlowDelays, Summary};
use crate::probe::jitter::Jitter;
use crate::probe::mos::mos;
use crate::probe::rounded;
use goodqueue_units::Duration;
use serde_json::json;
use std::sync::Arc;

const CODEC: Key<Codec> = Key::with_default("codec", "\"g711\"")
    .help("the codec of a call: g711 (214 bytes every 20 ms) or ditg (134 bytes every 10 ms)")
    .source("RFC 3551, 4.5.14; D-ITG");

pub(crate) const KIND: Kind = Kind {
    keys: &[&CODEC],
    transport: DATAGRAM_KEYS,
    outline: |values| {
        let codec = values.get(&CODEC);
        vec![("interval_s", json!(codec.interval().as_secs_f64()))]
    },
    plural: "calls",
    ended: "",
    result: Some(VoipResult::PART),
    measures: &[
        Measure::time("voip_delay_p95_ms", "delay_ms.p95", "voip p95", "voip", "p95"),
        Measure {
            unit: "%",
            better: "low",
            decimals: Some(2),
            ..Measure::new("voip_loss_percent", "loss_percent", "voip loss")
        },
        Measure {
            better: "high",
            decimals: Some(2),
            note: "1 to 4.5 by ITU-T G.107",
            scale: Some((1.0, 4.5)),
            sentence: ["A call is rated MOS {}", "{}", " (1 is bad, 4.4 is good)"],
            ..Measure::new("voip_mos", "mos", "MOS").main()
        },
    ],
    times: "delay_ms",
    times_are: "one way",
    series: Some(("calls", CallSeries::PART)),
    option: Shorthand { detail: "codec", example: "", sets: &[] },
    ..Kind::new(
        "voip",
        "a call's packets, one way (codec g711 or ditg): delay, jitter, loss, MOS by the E-model",
        Make::Datagrams(|values| {
            let codec = values.get(&CODEC);
            Pace {
                interval: codec.interval(),
                packets: 1,
                len: codec.packet_bytes(),
                ecn: ecn_of(values),
                far: Far::Listens(Box::new(Call::new())),
            }
        }),
    )
};

crate::word!(Codec);

/// Bytes of the headers: RTP (RFC 3550, 5.1), UDP, IPv4 and Ethernet.
const HEADER_BYTES: u16 = 12 + 8 + 20 + 14;

/// What a call's packets are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Codec {
    /// ITU-T G.711, 20 ms per packet.
    #[default]
    G711,
    /// ITU-T G.711, 10 ms per packet.
    Ditg,
}

impl Codec {
    const ALL: [Self; 2] = [Self::G711, Self::Ditg];

    fn name(self) -> &'static str {
        match self {
            Self::G711 => "g711",
            Self::Ditg => "ditg",
        }
    }

    /// Returns the time from one packet to the next.
    fn interval(self) -> Duration {
        match self {
            Self::G711 => Duration::from_millis(20),
            Self::Ditg => Duration::from_millis(10),
        }
    }

    /// Returns the bytes of a packet as `tc` counts them: 64 kbit/s of voice for the interval, and headers.
    fn packet_bytes(self) -> u16 {
        let voice = match self {
            Self::G711 => 160,
            Self::Ditg => 80,
        };
        voice + HEADER_BYTES
    }
}

/// The listener of a call.
struct Call {
    delays: FlowDelays,
    jitter: Jitter,
}

crate::part! {
    /// A call within the measured time.
    pub struct VoipResult {
        /// From sending a packet to its arrival at the listener.
        pub delay_ms: Option<Summary> => result::times("delay", "mean p50 p95 p99"),
        /// The 0th to 100th percentile of that delay.
        #[wider(Option<Vec<Option<f64>>>)]
        pub delay_percentiles_ms: Option<Vec<f64>>,
        /// Mean of the differences, without their signs, between the delays of packets that arrived one after the
        /// other.
        pub jitter_ms: Option<f64> => result::column("jitter", "mean ms", 2),
        /// RFC 3550's interarrival jitter (6.4.1) as it was at the end: a moving average of the same differences.
        pub jitter_rfc3550_ms: Option<f64> => result::column("", "RFC 3550", 2),
        /// Packets sent.
        pub sent: u64 => result::column("sent", "", 0),
        /// Packets that arrived.
        pub received: u64 => result::column("came", "", 0),
        /// Share of the packets that did not arrive, up to the last one that did. Of the packets after it, those count
        /// that were under way for more than three times the longest delay. 100 if none arrived, null if none was sent.
        pub loss_percent: Option<f64> => result::column("lost", "%", 2),
        /// Mean opinion score of the E-model (ITU-T G.107), 1 to 4.5, for the mean delay and the loss. Null if nothing
        /// was sent.
        pub mos: Option<f64> => result::column("MOS", "", 2),
    }
}

crate::part! {
    /// The packets of a call that arrived, in order of arrival, including those of the warm-up. Lost packets are
    /// missing.
    pub struct CallSeries {
        /// The flow's name.
        pub name: String,
        /// The packet's number, from 0.
        pub seq: Vec<u64>,
        /// When the packet was sent, in seconds of the run.
        pub sent_s: Vec<f64>,
        /// The packet's one-way delay.
        pub delay_ms: Vec<f64>,
    }
}

impl AppResult for VoipResult {}

impl Call {
    fn new() -> Self {
        Self { delays: FlowDelays::new(), jitter: Jitter::default() }
    }

    /// Returns the listener's judgement of the call, given what became of the packets.
    fn judged(&self, packets: Packets) -> VoipResult {
        let Packets { sent, received, loss_percent } = packets;
        let delay_ms = self.delays.summary();
        let (jitter_ms, jitter_rfc3550_ms) = self.jitter.in_ms().unzip();
        // If nothing arrives there is no delay, but the loss of 100 % makes the call as bad as it can be.
        let delay = delay_ms.map_or(0.0, |delay| delay.mean);
        VoipResult {
            delay_ms,
            delay_percentiles_ms: self.delays.percentiles_ms(),
            jitter_ms,
            jitter_rfc3550_ms,
            sent,
            received,
            loss_percent,
            mos: loss_percent.map(|loss| rounded(mos(delay, loss))),
        }
    }
}

impl Listener for Call {
    fn reset(&mut self) {
        *self = Self::new();
    }

    fn took(&mut self, delay: Duration) {
        self.delays.record(delay);
        self.jitter.took(delay.as_nanos() as i64);
    }

    fn result(&self, packets: Packets) -> result::Result {
        Arc::new(self.judged(packets))
    }

    fn series(&self, name: &str, log: &Log) -> result::Series {
        let name = name.to_string();
        Arc::new(CallSeries { name, seq: log.numbers(), sent_s: log.sent_s(), delay_ms: log.times_ms() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays of 30, 34, 28 and 28 ms differ by 4, 6 and 0: a mean of 10/3. J goes 4/16 = 0.25, 0.25 + 5.75/16 =
    /// 0.609375, and 0.609375 * 15/16 = 0.571289.
    #[test]
    fn jitter_is_both_a_mean_and_rfc_3550s() {
        let mut listener = Call::new();
        [30, 34, 28, 28].into_iter().for_each(|ms| listener.took(Duration::from_millis(ms)));
        let packets = Packets { sent: 4, received: 4, loss_percent: Some(0.0) };
        let result = listener.judged(packets);
        assert_eq!((result.jitter_ms, result.jitter_rfc3550_ms), (Some(3.333333), Some(0.571289)));
        assert_eq!(result.delay_ms.map(|delay| delay.mean), Some(30.0));
        listener.reset();
        let silent = listener.judged(Packets { received: 0, loss_percent: Some(100.0), ..packets });
        assert_eq!((silent.jitter_ms, silent.delay_ms.map(|delay| delay.mean)), (None, None));
        assert_eq!(silent.mos, Some(1.0), "R is 93.2 - 95 * 100 / 104.3 = 2.1");
    }

    /// Three packets of four take 10 ms and one takes 810 ms: the mean is 210 ms, although the median is 10 ms.
    #[test]
    fn the_score_is_of_the_mean_delay() {
        let mut listener = Call::new();
        [10, 10, 810, 10].into_iter().for_each(|ms| listener.took(Duration::from_millis(ms)));
        let score = listener.judged(Packets { sent: 4, received: 4, loss_percent: Some(0.0) }).mos;
        assert_eq!(score, Some(rounded(mos(210.0, 0.0))));
        assert!(score < Some(rounded(mos(10.0, 0.0))) && score > Some(rounded(mos(810.0, 0.0))));
    }
}
