//! BBR version 2, of Google's branch `v2alpha`: what differs from version 3. The rest is `bbr3`.
//!
//! - Startup paces and sends by 2.885, and Drain by its inverse, with Startup's window. Drain has no limit in time.
//! - Startup ends after eight ACKs with losses in a round, not six. Then the long-term bound is the BDP.
//! - Down paces by 3/4. Up has a window of twice the BDP, and ends once 1.25 BDP are in flight after a shortest RTT.
//! - Too many losses are 5/256 of the flight, counted as whole segments.
//! - Marks lower the bounds of the bandwidth like those of the flight. On paths above 5 ms they count only with the
//!   word `anyrtt`.
//! - The flight before an ACK counts. Version 3 takes the one after it.
//! - A loss that turns out to be none restores the bounds, and not the state.

use super::bandwidth::UNIT;
#[cfg(not(target_family = "wasm"))]
use super::bbr3::BoundedBbr;
use super::bbr3::State;

#[cfg(not(target_family = "wasm"))]
pub(crate) type Bbr2 = BoundedBbr<2>;

pub(super) const NAME: &str = "bbr2";
pub(super) const SUMMARY: &str = "BBR version 2: bounds from losses and marks";
pub(super) const SOURCE: &str =
    "Google's Linux branch v2alpha; draft-cardwell-iccrg-bbr-congestion-control-02";
pub(super) const DIFFERS: &str = "counts a packet as in flight while it waits for its pacing time";

/// ACKs with losses in a round that end Startup.
pub(super) const FULL_LOSSES: u32 = 8;
/// The flight in BDPs that ends a probe.
pub(super) const QUEUE_GAIN: u32 = UNIT * 5 / 4;
/// 2 / ln 2, rounded up.
const STARTUP_GAIN: u32 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// 2 % of 256: the share of losses that is too many.
const LOSS_THRESHOLD: u64 = UNIT as u64 * 2 / 100;

/// Returns the pacing gain and the window gain of `state`.
pub(super) fn gains(state: State) -> (u32, u32) {
    match state {
        State::Startup => (STARTUP_GAIN, STARTUP_GAIN),
        State::Drain => (DRAIN_GAIN, STARTUP_GAIN),
        State::Down => (UNIT * 3 / 4, 2 * UNIT),
        State::Cruise | State::Refill => (UNIT, 2 * UNIT),
        State::Up => (UNIT * 5 / 4, 2 * UNIT),
        State::ProbeRtt => (UNIT, UNIT),
    }
}

/// Returns whether `lost` of `tx_in_flight` segments are too many.
pub(super) fn are_losses_too_many(lost: u64, tx_in_flight: u32) -> bool {
    lost > u64::from(tx_in_flight) * LOSS_THRESHOLD / u64::from(UNIT)
}

/// Returns the flight at which losses passed the threshold.
pub(super) fn inflight_at_loss(tx_in_flight: u32, lost: u64) -> u32 {
    let (unit, before) = (u64::from(UNIT), u64::from(tx_in_flight.saturating_sub(1)));
    let budget = (before * LOSS_THRESHOLD).div_ceil(unit);
    let prefix = budget.saturating_sub(lost.saturating_sub(1)) * unit / (unit - LOSS_THRESHOLD);
    (before + prefix) as u32
}
