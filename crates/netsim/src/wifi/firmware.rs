//! The frames that a driver's firmware holds, if Linux limits them by time: airtime queue limits (AQL).
//!
//! Source: Linux 6.1, `net/mac80211/{tx,sta_info,airtime}.c`, since 5.5. A frame counts with the airtime that is
//! expected at its station's last rate. It counts from the time at which it is handed over until it is done with.

use super::airtime::Turns;
use super::mode::Mode;
use goodqueue_units::{Duration, Instant};

/// The airtime that a station may always have pending, and the airtime that it may have pending while all stations
/// together have less than `MOST_OF_ALL`.
const LEAST: Duration = Duration::from_micros(5000);
const MOST: Duration = Duration::from_micros(12_000);
const MOST_OF_ALL: Duration = Duration::from_micros(24_000);
/// The bytes of the frame by which rates are compared, and the bytes that are added to a packet's length.
const AVERAGE_BYTES: f64 = 1024.0;
const HEADER_BYTES: u32 = 38;
const LEAST_ESTIMATE: Duration = Duration::from_micros(4);

/// The frames of one category that the firmware holds, by their expected airtime.
#[derive(Debug)]
pub(super) struct Firmware {
    /// The firmware sends to its stations in rounds.
    pub(super) turns: Turns,
    /// Expected airtime of the frames held, by station.
    pending: Vec<Duration>,
    total: Duration,
    last_modes: Vec<Option<Mode>>,
}

impl Firmware {
    pub(super) fn new(stations: usize) -> Self {
        Self {
            turns: Turns::new(stations, false),
            pending: vec![Duration::ZERO; stations],
            total: Duration::ZERO,
            last_modes: vec![None; stations],
        }
    }

    /// Returns whether the firmware may get a frame for `station`.
    pub(super) fn has_room(&self, station: u32) -> bool {
        let pending = self.pending[station as usize];
        pending < LEAST || pending < MOST && self.total < MOST_OF_ALL
    }

    /// Takes a packet of so many `bytes` for `station`. Returns the airtime that the packet counts with.
    pub(super) fn hold(&mut self, now: Instant, station: u32, bytes: u32) -> Duration {
        let estimate = self.last_modes[station as usize].map_or(Duration::ZERO, |mode| estimate(mode, bytes));
        self.pending[station as usize] = self.pending[station as usize] + estimate;
        self.total = self.total + estimate;
        self.turns.wake(station, now);
        estimate
    }

    /// Ends frames for `station` that counted with `estimate` and were sent in `mode`.
    pub(super) fn done(&mut self, station: u32, estimate: Duration, mode: Mode) {
        self.release(station, estimate);
        self.last_modes[station as usize] = Some(mode);
    }

    /// Ends frames for `station` that counted with `estimate`.
    pub(super) fn release(&mut self, station: u32, estimate: Duration) {
        self.pending[station as usize] = self.pending[station as usize].saturating_sub(estimate);
        self.total = self.total.saturating_sub(estimate);
    }
}

/// Returns the expected airtime of a packet of so many `bytes` in `mode`. The frames that are sent together at such a
/// rate share one preamble.
fn estimate(mode: Mode, bytes: u32) -> Duration {
    let average_us = 8.0 * AVERAGE_BYTES / mode.mbps();
    let shared_by = match average_us {
        slow if slow > 400.0 => 2.0,
        slow if slow > 250.0 => 4.0,
        slow if slow > 150.0 => 8.0,
        slow if slow > 70.0 => 16.0,
        _ => 32.0,
    };
    let us = average_us * f64::from(bytes + HEADER_BYTES) / AVERAGE_BYTES;
    let estimate = Duration::from_secs_f64(us * 1e-6 + mode.preamble().as_secs_f64() / shared_by);
    estimate.max(LEAST_ESTIMATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::mode::Ht;

    const SLOW: Mode = Mode::Ht(Ht { mcs: 0, is_wide: false, has_short_guard: false });

    /// At 6.5 Mbit/s a packet of 1462 and 38 bytes takes 1.85 ms, and half a preamble.
    #[test]
    fn a_slow_station_has_5_ms_and_12_while_others_have_little() {
        let mut firmware = Firmware::new(3);
        assert_eq!(firmware.hold(Instant::ZERO, 0, 1462), Duration::ZERO, "no rate is known yet");
        (0..3).for_each(|station| firmware.done(station, Duration::ZERO, SLOW));
        let one = firmware.hold(Instant::ZERO, 0, 1462);
        assert!((1.86..1.87).contains(&one.as_millis_f64()), "{one}");
        let held = |firmware: &mut Firmware, station| {
            (0..)
                .take_while(|_| {
                    let has_room = firmware.has_room(station);
                    if has_room {
                        firmware.hold(Instant::ZERO, station, 1462);
                    }
                    has_room
                })
                .count()
        };
        assert_eq!(held(&mut firmware, 0), 6, "12 ms, one of seven was there");
        assert_eq!(held(&mut firmware, 1), 6, "up to 24 ms of all");
        assert_eq!(held(&mut firmware, 2), 3, "5 ms always");
        firmware.done(0, one, SLOW);
        assert!(!firmware.has_room(0), "it has more than 5 ms, and all together more than 24");
    }
}
