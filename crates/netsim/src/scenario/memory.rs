//! Time series are the one thing in a run whose memory grows with it: what would fill a machine is refused before it runs.

use super::resolve::{FRAME_BYTES, Result, refuse};
use super::{Direction, RateText, Scenario, Series};
use goodqueue_units::Rate;

/// Packets whose delays are kept; each takes some 85 bytes, from the log to the text of the record.
const MOST_PACKETS: u64 = 10_000_000;

/// Of `series.tcp`, which has seven numbers for each; each number takes some 30 bytes.
const MOST_SAMPLES: u64 = 6_000_000;

impl Scenario {
    /// Refuses time series of a resolved scenario with `flows` flows that would be too large.
    pub(super) fn check_memory(&self, series: &Series, flows: u64) -> Result<()> {
        if let (true, Some(interval)) = (series.tcp, series.interval) {
            let samples = flows * (self.duration.0.as_nanos() / interval.0.as_nanos());
            if samples > MOST_SAMPLES {
                let found = format!("true, which takes {samples} samples of {flows} flows");
                let accepted = format!("at most {MOST_SAMPLES}, as with a longer series.interval");
                return refuse("series.tcp", found, &accepted);
            }
        }
        if let Some(window) = series.packets {
            let span = window.to.0 - window.from.0;
            let sizes = self.traffic.iter().filter_map(|traffic| traffic.packet_size);
            let least = sizes.min().unwrap_or(FRAME_BYTES.into()).clamp(1, FRAME_BYTES.into());
            let packets: u64 =
                Direction::BOTH.map(|way| self.fastest(way).bytes_in(span) / least).iter().sum();
            if packets > MOST_PACKETS {
                let found = format!("{span}, in which {packets} packets may leave");
                return refuse("series.packets", found, &format!("a window of at most {MOST_PACKETS}"));
            }
        }
        Ok(())
    }

    /// The highest rate that the link has in the course of the run.
    fn fastest(&self, way: Direction) -> Rate {
        let first = match way {
            Direction::Down => Some(self.bottleneck.rate),
            Direction::Up => self.bottleneck.up.rate,
        };
        let later =
            self.change.iter().filter(|change| change.direction == way).filter_map(|change| change.rate);
        let rates = first.into_iter().chain(later).map(|RateText(rate)| rate);
        rates.max_by_key(|rate| rate.as_bps()).unwrap_or(self.bottleneck.rate.0)
    }
}
