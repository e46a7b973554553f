//! The times of `fq`: when a packet may leave, when its flow may send again, and which flows wait for a time.

use super::{Fq, NEVER, Settings};
use crate::packet::Packet;

const SECOND: u64 = 1_000_000_000;

impl<P: Packet> Fq<P> {
    /// Returns the time before which the packet does not leave. `None`: the time is beyond the horizon.
    pub(super) fn time_to_send(&mut self, packet: &P, now: u64) -> Option<u64> {
        let Some(departure) = packet.departure() else { return Some(now) };
        let (departure, latest) = (departure.as_nanos(), now.saturating_add(self.settings.horizon));
        if departure <= latest {
            return Some(departure);
        }
        if self.settings.horizon_drop {
            self.counts.horizon_drops += 1;
            return None;
        }
        self.counts.horizon_caps += 1;
        Some(latest)
    }

    /// Throttles the flow, which is in no list, until `due`.
    pub(super) fn throttle(&mut self, index: u32, due: u64) {
        let flow = &mut self.flows[index];
        flow.paced_until = flow.time_next_packet;
        flow.set_throttled();
        self.counts.throttled += 1;
        self.delay(index, due);
    }

    /// Enters a throttled flow into the order of times.
    pub(super) fn delay(&mut self, index: u32, due: u64) {
        self.order += 1;
        let flow = &mut self.flows[index];
        (flow.time_next_packet, flow.order) = (due, self.order);
        self.delayed.insert((0, due, self.order), index);
        self.time_next_delayed_flow = self.time_next_delayed_flow.min(due);
    }

    /// Moves throttled flows whose time has come to their old lists.
    pub(super) fn release(&mut self, now: u64) {
        if self.time_next_delayed_flow > now {
            return;
        }
        self.time_next_delayed_flow = NEVER;
        while let Some(first) = self.delayed.first_entry() {
            let (_, due, _) = *first.key();
            if due > now {
                self.time_next_delayed_flow = due;
                break;
            }
            let index = first.remove();
            self.join_old(index);
        }
    }

    /// Sets when the flow may send again, after it sent `packet`. Rates are in bytes per second.
    pub(super) fn pace(&mut self, index: u32, now: u64, packet: &P) {
        let Settings { quantum, maxrate, low_rate_threshold, .. } = self.settings;
        let flow = &mut self.flows[index];
        let (mut rate, mut len) = (maxrate, u64::from(packet.len()));
        if packet.departure().is_none() {
            let of_socket = packet.socket().and_then(|socket| socket.pacing);
            rate = rate.into_iter().chain(of_socket.map(|rate| rate.as_bps() / 8)).min();
            if rate.is_some_and(|rate| rate <= low_rate_threshold) {
                flow.credit = 0;
            } else {
                len = len.max(quantum as u64);
                if flow.credit > 0 {
                    return;
                }
            }
        }
        let Some(rate) = rate else { return };
        // A rate may rise again, so that no gap is longer than a second.
        let mut gap = (len * SECOND).checked_div(rate).map_or(SECOND, |gap| gap.min(SECOND));
        if flow.time_next_packet > 0 {
            gap -= now.saturating_sub(flow.time_next_packet).min(gap / 2); // made up for a late dequeue
        }
        flow.time_next_packet = now + gap;
    }

    /// Sets the timer for the first throttled flow. A timer that is due within the slack of that time stays.
    pub(super) fn set_timer(&mut self) {
        let next = self.time_next_delayed_flow;
        let stays = |set: u64| set.checked_sub(next).is_some_and(|later| later <= self.settings.timer_slack);
        if next != NEVER && !self.wake.is_some_and(stays) {
            self.wake = Some(next);
        }
    }
}
