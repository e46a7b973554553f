//! What a stack's congestion control shows of itself at the end of an interval of `[series]`, under the names that the
//! simulator's BBR has there.

use goodqueue_netsim::LawSeries;
use goodqueue_qdisc::Probe;

/// A state of BBR, in the order of draft-ietf-ccwg-bbr-06, 5.3. Its number is `bbr_state` in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BbrState {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// What a congestion control shows. A value is missing if the stack does not show it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) state: Option<BbrState>,
    /// The bandwidth that it has found, and its short-term bound, in bit/s.
    pub(crate) bandwidth: Option<f64>,
    pub(crate) short_term: Option<f64>,
    /// inflight_longterm, in bytes.
    pub(crate) inflight_long_term: Option<f64>,
    /// The largest datagram that the path is known to carry. 0: the stack does not say.
    pub(crate) mtu_bytes: u64,
}

impl Shown {
    /// Puts the values into a series of the record.
    pub(crate) fn put(&self, series: &mut LawSeries) {
        let values = [
            ("bbr_state", self.state.map(|state| f64::from(state as u8))),
            ("bw_mbps", self.bandwidth.map(|rate| rate / 1e6)),
            ("bw_lo_mbps", self.short_term.map(|rate| rate / 1e6)),
            ("inflight_hi_segments", self.inflight_long_term.map(|bytes| bytes / self.mtu_bytes as f64)),
        ];
        for (name, value) in values {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                series.real(name, value);
            }
        }
    }
}

/// Returns the value of the first field `name` in what `Debug` writes of a struct: the stacks have no other way to the
/// state of their BBR.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!(" {name}: "))?;
    after.split([',', '}', ' ']).next()
}

/// Returns such a value as a number.
pub(crate) fn number(text: &str, name: &str) -> Option<f64> {
    field(text, name)?.parse().ok()
}
