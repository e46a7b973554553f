//! Transfers of a fixed size. Each transfer has a new connection, which the user opens; the sender's end writes all
//! bytes and closes.

use super::application::{self as app, AGAIN, Application, Host, MOST_BYTES, SocketId};
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::{Key, Size, Span};
use crate::probe::delay::{FlowDelays, Summary};
use goodqueue_units::{Duration, Instant};
use std::sync::Arc;

/// Bytes of a transfer.
const SIZE: Key<Size> =
    Key::required("size", "\"100kB\"").range(Size(1), MOST_BYTES).help("bytes of each transfer");
const INTERVAL: Key<Span> = AGAIN.help("time from the end of a transfer to the start of the next");
const REPEAT: Key<u64> = app::REPEAT.help(
    "number of transfers, one after the other. If left out, they go on until `stop`, and without `interval` there is one",
);

pub(crate) const KIND: Kind = Kind {
    keys: &[&INTERVAL, &SIZE, &REPEAT],
    transport: tcp::KEYS,
    check: |table, values| {
        // One transfer, if neither key asks for more.
        if !table.has("repeat") && !table.has("interval") {
            values.put(&REPEAT, 1);
        }
        Ok(())
    },
    plural: "transfers",
    things: "transfers",
    result: Some(TransferResult::PART),
    measures: &[
        Measure::time("completion_p50_ms", "completion_ms.p50", "transfer p50", "transfer", "p50")
            .said("Half of the transfers are done within {}", "within {}", ""),
        Measure::time("completion_p95_ms", "completion_ms.p95", "transfer p95", "transfer", "p95").main(),
        Measure::completed("transfers", "transfers"),
    ],
    times: "completion_ms",
    times_are: "SYN to last byte",
    option: Shorthand {
        detail: "size",
        example: "100kB",
        sets: &[("interval", "100ms"), ("start_spread", "1s")],
    },
    ..Kind::new(
        "transfer",
        "TCP transfers of one size, each on a new connection: how long they take",
        Make::App(|values, _| {
            let (size, gap) = (values.get(&SIZE).0, values.get(&INTERVAL).0);
            Box::new(Transfer::new(size, values.find(&REPEAT), gap))
        }),
    )
};

/// The transfers of one flow, one after the other.
struct Transfer {
    size: u64,
    /// Time from the end of one transfer, as the user sees it, to the start of the next.
    gap: Duration,
    /// How many transfers are still to begin; none: without end.
    left: Option<u64>,
    /// How many had not begun at the flow's `stop`.
    skipped: u64,
    current: Option<Current>,
    /// Whether any byte ever arrived.
    has_come: bool,
    begun: u64,
    times: FlowDelays,
}

/// The transfer under way.
struct Current {
    socket: SocketId,
    begun: Instant,
    /// Whether the transfer began within the measured time.
    counts: bool,
    /// Whether all bytes have arrived.
    is_there: bool,
}

crate::part! {
    /// Transfers that began within the measured time.
    #[derive(Copy)]
    pub struct TransferResult {
        /// From the SYN to the last byte in order at the receiver.
        pub completion_ms: Option<Summary> => result::times("completion", "mean p10 p50 p90 p95 p99"),
        /// Transfers that began.
        pub count: u64 => result::column("begun", "", 0),
        /// Transfers that were completed.
        pub completed: u64 => result::column("ended", "", 0),
    }
}

impl AppResult for TransferResult {
    fn completion_ms(&self) -> Option<f64> {
        self.completion_ms.filter(|_| self.count == 1).map(|times| times.mean)
    }
}

impl Transfer {
    fn new(size: u64, repeat: Option<u64>, gap: Duration) -> Self {
        Self {
            size,
            gap,
            left: repeat,
            skipped: 0,
            current: None,
            has_come: false,
            begun: 0,
            times: FlowDelays::new(),
        }
    }

    fn begin(&mut self, host: &mut dyn Host) {
        self.left = self.left.map(|left| left - 1);
        self.begun += 1;
        let (socket, sender) = (host.open(Side::User), host.sender());
        host.write(socket, sender, self.size);
        host.close(socket, sender);
        self.current = Some(Current { socket, begun: host.now(), counts: true, is_there: false });
    }
}

impl Application for Transfer {
    fn start(&mut self, host: &mut dyn Host) {
        self.begin(host);
    }

    fn wake(&mut self, host: &mut dyn Host) {
        self.begin(host);
    }

    /// Ends a transfer. The user learns that an upload has ended when the far end, which has received everything,
    /// closes.
    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host) {
        let Some(current) = self.current.as_mut().filter(|current| current.socket == socket) else { return };
        if end == host.receiver() {
            let delivered = host.delivered(socket, end);
            self.has_come |= delivered > 0;
            if !current.is_there && delivered >= self.size {
                current.is_there = true;
                if current.counts {
                    self.times.record(host.now().since(current.begun));
                }
            }
        }
        if end == Side::User && host.is_peer_finished(socket, end) {
            self.current = None;
            if self.left != Some(0) {
                host.wake_at(host.now() + self.gap);
            }
        }
    }

    fn stop(&mut self, _host: &mut dyn Host) {
        self.skipped = self.left.replace(0).unwrap_or(0);
    }

    fn measure_from(&mut self, _now: Instant) {
        self.begun = 0;
        self.times.reset();
        if let Some(current) = &mut self.current {
            current.counts = false;
        }
    }

    fn result(&self, _now: Instant) -> Option<result::Result> {
        Some(Arc::new(TransferResult {
            completion_ms: self.times.summary(),
            count: self.begun,
            completed: self.times.count(),
        }))
    }

    fn undone(&self) -> Undone {
        let under_way = self.current.as_ref().is_some_and(|current| !current.is_there);
        Undone::in_turn(u64::from(under_way), self.left.unwrap_or(0) + self.skipped, self.has_come)
    }
}
