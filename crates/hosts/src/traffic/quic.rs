//! QUIC connections of real stacks. The stacks are not a part of goodqueue: the package goodqueue-transports has them,
//! and runs each scenario that has this kind. This file declares what a scenario may ask for, and what a record has.

use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::keys::{Key, MOST_RATE, RateText, Result, Size, Span, Table, Values, no_such_word, refuse};
use crate::probe::delay::Summary;
use goodqueue_units::Duration;

/// Whose QUIC both ends have.
pub const STACK: Key<QuicStack> =
    Key::required("stack", "\"quinn\"").help("whose QUIC both ends have (docs/guides/transports.md)");
/// The congestion control, by the stack's own name.
pub const CC: Key<String> = Key::derived("cc", "the stack's default", "\"cubic\"")
    .help("congestion control of both ends, one of the stack's own");
/// Whether packets are ECN-capable.
pub const ECN: Key<bool> = Key::derived("ecn", "whether the stack has ECN", "true")
    .help("whether data are ECN-capable (ECT(0)), as the stack itself decides, or never")
    .source("RFC 9000, 13.4");
/// Bytes of a transfer.
pub const SIZE: Key<Size> = Key::optional("size", "\"10MB\"")
    .range(Size(1), super::application::MOST_BYTES)
    .help("bytes to transfer. If left out, there are always data to send");
/// Rate of an application-limited flow.
pub const RATE: Key<RateText> = Key::optional("rate", "\"2mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("rate at which the application writes, headers not included. If left out, it writes what the stack takes");
/// Time between two writes.
pub const INTERVAL: Key<Span> = Key::optional("interval", "\"33ms\"")
    .range(Span(Duration::from_micros(1)), Span(Duration::from_secs(1000)))
    .help("with `rate`: time from one chunk to the next, 20ms if left out");
/// When the application's limit ends.
pub const UNLIMITED_FROM: Key<Span> = Key::optional("unlimited_from", "\"10s\"")
    .help("with `rate`: when the application's limit ends, in time of the run");

/// The default of `interval`.
pub const DEFAULT_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) const KIND: Kind = Kind {
    keys: &[&SIZE, &RATE, &INTERVAL, &UNLIMITED_FROM],
    transport: &[&STACK, &CC, &ECN, &tcp::DSCP],
    check,
    plural: "QUIC connections",
    result: Some(QuicResult::PART),
    measures: &[
        Measure::time("quic_rtt_p95_ms", "rtt_ms.p95", "QUIC RTT p95", "QUIC RTT", "p95"),
        Measure {
            note: "CE marks that reached the receiver's stack",
            sum: super::kind::Sum::Total,
            unit: "per run",
            decimals: Some(0),
            ..Measure::new("quic_marks_heard", "marks_heard", "marks heard")
        },
    ],
    times: "rtt_ms",
    times_are: "the RTT as the sender's stack smooths it",
    option: Shorthand { detail: "stack", example: "quinn", sets: &[] },
    ..Kind::new("quic", "a QUIC connection of a real stack (needs goodqueue-transports)", Make::Endpoints)
};

/// A QUIC stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicStack {
    /// quinn-proto.
    Quinn,
    /// noq-proto.
    Noq,
    /// quiche.
    Quiche,
    /// s2n-quic.
    S2n,
    /// aioquic.
    Aioquic,
}

crate::word!(QuicStack);

impl QuicStack {
    /// Every stack.
    pub const ALL: [Self; 5] = [Self::Quinn, Self::Noq, Self::Quiche, Self::S2n, Self::Aioquic];

    /// Returns the stack's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quinn => "quinn",
            Self::Noq => "noq",
            Self::Quiche => "quiche",
            Self::S2n => "s2n-quic",
            Self::Aioquic => "aioquic",
        }
    }

    /// Returns the names of its congestion controls. The first is its default.
    #[must_use]
    pub const fn ccs(self) -> &'static [&'static str] {
        match self {
            Self::Quinn => &["cubic", "newreno", "bbr"],
            Self::Noq => &["cubic", "newreno", "bbr3"],
            Self::Quiche => &["cubic", "reno", "bbr2"],
            Self::S2n => &["cubic", "bbr"],
            Self::Aioquic => &["reno", "cubic"],
        }
    }

    /// Returns whether the stack has ECN.
    #[must_use]
    pub const fn has_ecn(self) -> bool {
        match self {
            Self::Quinn | Self::Noq | Self::S2n => true,
            Self::Quiche | Self::Aioquic => false,
        }
    }
}

/// Fills in what follows from the stack, and refuses contradictions.
fn check(table: &Table<'_>, values: &mut Values) -> Result<()> {
    let stack = values.get(&STACK);
    match values.find(&CC) {
        None => values.put(&CC, stack.ccs()[0].to_string()),
        Some(cc) if !stack.ccs().contains(&&*cc) => {
            let message = format!("{}, of {}", no_such_word(&cc, stack.ccs()), stack.name());
            return Err(crate::keys::ScenarioError::new(table.key("cc"), message));
        }
        Some(_) => {}
    }
    match values.find(&ECN) {
        Some(true) if !stack.has_ecn() => {
            return refuse(&table.key("ecn"), true, &format!("false, as {} has no ECN", stack.name()));
        }
        Some(_) => {}
        None => values.put(&ECN, stack.has_ecn()),
    }
    let Some(RateText(rate)) = values.find(&RATE) else {
        for key in ["interval", "unlimited_from"] {
            if table.has(key) {
                return refuse(&table.key(key), "no rate", "it only beside rate");
            }
        }
        return Ok(());
    };
    if values.find(&SIZE).is_some() {
        return refuse(&table.key("size"), "it beside rate", "one of them");
    }
    let interval = values.find(&INTERVAL).map_or(DEFAULT_INTERVAL, |interval| interval.0);
    if rate.bytes_in(interval) == 0 {
        let found = format!("{interval}, in which {rate} makes no byte");
        return refuse(&table.key("interval"), found, "a time for a chunk of one byte or more");
    }
    Ok(())
}

crate::part! {
    /// A QUIC connection within the measured time, as its stack counts.
    pub struct QuicResult {
        /// The sender's smoothed RTT, sampled whenever a datagram arrives at the sender.
        pub rtt_ms: Option<Summary> => result::times("smoothed RTT", "mean p50 p95 p99"),
        /// From the first datagram to the end of the handshake at the client. Null if the handshake did not end.
        pub handshake_ms: Option<f64> => result::column("handshake", "ms", 1),
        /// From the first datagram to the last byte in order, if a `size` arrived completely.
        pub completion_ms: Option<f64> => result::column("completion", "ms", 1),
        /// The mean congestion window, sampled as the RTT.
        pub cwnd_mean_bytes: u64 => result::column("cwnd", "bytes", 0),
        /// The greatest of these windows.
        pub cwnd_max_bytes: u64 => result::column("cwnd max", "bytes", 0),
        /// Packets that the sender's stack sent.
        pub packets_sent: u64 => result::column("sent", "packets", 0),
        /// Packets that the sender's stack took for lost.
        pub packets_lost: u64 => result::column("lost", "packets", 0),
        /// Datagrams with a CE mark that reached the receiver's stack.
        pub marks_heard: u64 => result::column("marks", "heard", 0),
        /// How often the congestion control answered to loss or marks. Null if the stack does not report it.
        pub congestion_events: Option<u64>,
        /// When an error closed the connection, in time of the run. Null if none did.
        pub closed_s: Option<f64> => result::column("closed", "s", 2),
        /// Which end's stack reported that error, and its words. Null if none did.
        pub closed: Option<String>,
    }
}

impl QuicResult {
    /// Returns what the connection has not done. `has_size` says whether it is a transfer of some bytes.
    #[must_use]
    pub fn undone(&self, has_size: bool) -> Undone {
        Undone::of_one(true, self.handshake_ms.is_some(), has_size && self.completion_ms.is_none())
    }
}

impl AppResult for QuicResult {
    fn completion_ms(&self) -> Option<f64> {
        self.completion_ms
    }
}
