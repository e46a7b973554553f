//! How long users waited: times of responses and pages in streaming histograms, and a sample of single responses.

use crate::probe::delay::{FlowDelays, QueueDelays, Summary};
use crate::probe::rounded;
use crate::traffic::application::LossyWindows;
use crate::traffic::result::{self, AppResult};
use goodqueue_units::{Duration, Stream as Random};
use std::sync::Arc;

/// The greatest number of responses in the sample.
const SAMPLE: usize = 5000;
/// Lower bounds of the size classes in bytes, except that of the first class.
const CLASSES: [u64; 2] = [10_000, 100_000];

/// A response that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    /// From the request, or from the SYN if the connection is new, to the last byte.
    pub(super) time: Duration,
    pub(super) bytes: u64,
    /// Whether a retransmission timer fired at either end, including the timer of a SYN; none: the host does not know.
    pub(super) had_timeout: Option<bool>,
    pub(super) lost_syn: Option<bool>,
    /// The server's lossy windows since the response before it on this connection.
    pub(super) lossy: Option<LossyWindows>,
}

/// The measurements so far.
pub(super) struct Tally {
    responses: QueueDelays,
    by_size: [FlowDelays; 3],
    pages: FlowDelays,
    begun: u64,
    pages_begun: u64,
    connections: u64,
    bytes: u64,
    /// Responses with a timeout, and with a lost SYN, as long as the host knows it of each.
    timeouts: Option<u64>,
    lost_syns: Option<u64>,
    lossy: Option<LossyWindows>,
    /// A sample of all responses, if it is asked for. Each response is equally likely to be in it: algorithm R
    /// (Vitter 1985).
    sample: Option<Vec<Response>>,
    dice: Random,
}

crate::part! {
    /// Responses that were requested, and pages that were begun, within the measured time.
    pub struct WebUsersResult {
        /// From the request to the last byte of the response. On a new connection, from the SYN.
        pub response_ms: Option<Summary> => result::times("response", "mean p10 p50 p90 p95 p99"),
        /// The same for responses of less than 10 kB.
        pub response_small_ms: Option<Summary>,
        /// The same for responses of 10 to 100 kB.
        pub response_medium_ms: Option<Summary>,
        /// The same for responses of 100 kB and more.
        pub response_large_ms: Option<Summary>,
        /// The 0th to 100th percentile of the responses' times.
        #[wider(Option<Vec<Option<f64>>>)]
        pub response_percentiles_ms: Option<Vec<f64>>,
        /// From the first SYN of a page to the last byte of its last object.
        pub page_ms: Option<Summary> => result::times("page", "p50 p95"),
        /// Responses that were requested.
        pub count: u64 => result::column("asked", "", 0),
        /// Responses that arrived completely.
        pub completed: u64 => result::column("came", "", 0),
        /// Pages that were begun.
        pub pages: u64 => result::column("pages", "begun", 0),
        /// Pages that were complete.
        #[optional(by_schema)]
        pub pages_completed: u64 => result::column("", "ended", 0),
        /// Connections that were opened.
        pub connections: u64,
        /// Bytes of the responses that arrived.
        pub response_bytes: u64,
        /// Share of the arrived responses for which a retransmission timer fired at either end.
        pub timeout_percent: Option<f64> => result::column("timeout", "%", 2),
        /// Share of the arrived responses whose connection had lost a SYN or SYN-ACK.
        pub lost_syn_percent: Option<f64>,
        /// The servers' windows of data of which a segment was lost, and sent again before its response arrived.
        pub lossy_windows: Option<u64>,
        /// Share of these windows that lost more than one segment.
        pub multi_loss_window_percent: Option<f64>,
    }
}

crate::part! {
    /// A sample of at most 5000 responses. Each response is equally likely to be in it.
    pub struct WebUsersSeries {
        /// The flow's name.
        pub name: String,
        /// Bytes of each response.
        pub bytes: Vec<u64>,
        /// How long each response took.
        pub response_ms: Vec<f64>,
        /// Whether a retransmission timer fired for the response. The kernel engine does not see it, and writes null.
        pub timeout: Vec<Option<bool>>,
    }
}

impl AppResult for WebUsersResult {}

impl Tally {
    pub(super) fn new(dice: Random) -> Self {
        Self {
            responses: QueueDelays::new(),
            by_size: std::array::from_fn(|_| FlowDelays::new()),
            pages: FlowDelays::new(),
            begun: 0,
            pages_begun: 0,
            connections: 0,
            bytes: 0,
            timeouts: Some(0),
            lost_syns: Some(0),
            lossy: Some(LossyWindows::default()),
            sample: None,
            dice,
        }
    }

    pub(super) fn page_begins(&mut self) {
        self.pages_begun += 1;
    }

    pub(super) fn connection_opens(&mut self) {
        self.connections += 1;
    }

    pub(super) fn page(&mut self, time: Duration) {
        self.pages.record(time);
    }

    pub(super) fn response_begins(&mut self) {
        self.begun += 1;
    }

    pub(super) fn response(&mut self, response: &Response) {
        self.responses.record(response.time);
        let class = CLASSES.iter().filter(|&&least| response.bytes >= least).count();
        self.by_size[class].record(response.time);
        self.bytes += response.bytes;
        let add = |sum: Option<u64>, one: Option<bool>| Some(sum? + u64::from(one?));
        self.timeouts = add(self.timeouts, response.had_timeout);
        self.lost_syns = add(self.lost_syns, response.lost_syn);
        self.lossy = self.lossy.zip(response.lossy).map(|(sum, one)| LossyWindows {
            all: sum.all + one.all,
            multi: sum.multi + one.multi,
        });
        let Some(sample) = &mut self.sample else { return };
        if sample.len() < SAMPLE {
            sample.push(*response);
        } else {
            let place = (self.dice.next_f64() * self.responses.count() as f64) as usize;
            if let Some(slot) = sample.get_mut(place) {
                *slot = *response;
            }
        }
    }

    /// Forgets everything: the warm-up is over.
    pub(super) fn reset(&mut self) {
        let mut fresh = Self::new(self.dice.clone());
        fresh.sample = self.sample.as_ref().map(|_| Vec::new());
        *self = fresh;
    }

    pub(super) fn result(&self) -> WebUsersResult {
        let came = self.responses.count();
        let share = |part: u64, of: u64| (of > 0).then(|| rounded(100.0 * part as f64 / of as f64));
        let percent = |part: Option<u64>| part.and_then(|part| share(part, came));
        let [small, medium, large] = self.by_size.each_ref().map(FlowDelays::summary);
        WebUsersResult {
            response_ms: self.responses.summary(),
            response_small_ms: small,
            response_medium_ms: medium,
            response_large_ms: large,
            response_percentiles_ms: self.responses.percentiles_ms(),
            page_ms: self.pages.summary(),
            count: self.begun,
            completed: came,
            pages: self.pages_begun,
            pages_completed: self.pages.count(),
            connections: self.connections,
            response_bytes: self.bytes,
            timeout_percent: percent(self.timeouts),
            lost_syn_percent: percent(self.lost_syns),
            lossy_windows: self.lossy.map(|lossy| lossy.all),
            multi_loss_window_percent: self.lossy.and_then(|LossyWindows { all, multi }| share(multi, all)),
        }
    }

    pub(super) fn log(&mut self) {
        self.sample = Some(Vec::new());
    }

    pub(super) fn series(&self, name: &str) -> Option<result::Series> {
        let sample = self.sample.as_ref()?;
        Some(Arc::new(WebUsersSeries {
            name: name.to_string(),
            bytes: sample.iter().map(|one| one.bytes).collect(),
            response_ms: sample.iter().map(|one| rounded(one.time.as_millis_f64())).collect(),
            timeout: sample.iter().map(|one| one.had_timeout).collect(),
        }))
    }
}
