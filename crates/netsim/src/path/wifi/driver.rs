//! What hides below a queue discipline on Wi-Fi, by driver.
//!
//! A discipline above a driver does not see what that holds, and cannot take it back: with these queues every
//! discipline has the delay of a full one, and on a slow link that is most of the delay.

use crate::scenario::word;
use goodqueue_units::Duration;

/// A driver, by the name that Linux has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Atheros, 802.11a, b and g: frames one by one.
    Ath5k,
    /// Atheros, 802.11n: a queue for each station, aggregates made ahead.
    Ath9k,
    /// Intel, 802.11n: a ring of descriptors, aggregates made when they are sent.
    Iwlwifi,
    /// Qualcomm Atheros, 802.11n and later: the firmware has a queue for each station, which mac80211 limits by time.
    Ath10k,
    /// None of Linux's: as much as the standard lets a sender send at a time, and nothing beyond that.
    Ideal,
}

/// The longest A-MPDU (802.11-2012, 8.4.2.58.3).
const MOST_AMPDU_BYTES: u32 = 65_535;

impl Driver {
    const ALL: [Self; 5] = [Self::Ath5k, Self::Ath9k, Self::Iwlwifi, Self::Ath10k, Self::Ideal];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ath5k => "ath5k",
            Self::Ath9k => "ath9k",
            Self::Iwlwifi => "iwlwifi",
            Self::Ath10k => "ath10k",
            Self::Ideal => "ideal",
        }
    }

    /// Its limits in a cell whose aggregates are of at most `ampdu` bytes.
    pub(crate) fn limits(self, ampdu: Option<u32>) -> Limits {
        let limits = self.own_limits();
        Limits { most_bytes: limits.most_bytes.min(ampdu.unwrap_or(u32::MAX)), ..limits }
    }

    fn own_limits(self) -> Limits {
        match self {
            // Linux 3.x to 6.1, ath5k.h: ATH_TXBUF 200 for four queues; a queue is woken when it is half empty.
            Self::Ath5k => Limits {
                frames: 50,
                wakes_below: 25,
                by_station: false,
                ahead: 1,
                most_subframes: 1,
                most_bytes: MOST_AMPDU_BYTES,
                longest: Duration::from_micros(5484),
                tries: 7,
                rounds: 1,
                asks: false,
                has_firmware: false,
            },
            // Linux up to 4.10, ath9k: 512 buffers for four queues and five more; ATH_AGGR_MIN_QDEPTH is 2; half the
            // window of 64 a time, and 4 ms.
            Self::Ath9k => Limits {
                frames: 123,
                wakes_below: 123,
                by_station: true,
                ahead: 2,
                most_subframes: 32,
                most_bytes: MOST_AMPDU_BYTES,
                longest: Duration::from_micros(4096),
                tries: 13,
                rounds: 30,
                asks: false,
                has_firmware: false,
            },
            // Linux 3.x, iwlwifi: a ring of 256; stopped with an eighth of it left, woken with a quarter.
            Self::Iwlwifi => Limits {
                frames: 224,
                wakes_below: 192,
                by_station: true,
                ahead: 1,
                most_subframes: 63,
                most_bytes: MOST_AMPDU_BYTES,
                longest: Duration::from_micros(4000),
                tries: 15,
                rounds: 15,
                asks: false,
                has_firmware: false,
            },
            // Linux, ath10k: 1424 descriptors of the firmware's for all that is above it, where mac80211's queues are
            // not.
            Self::Ath10k => Limits {
                frames: 1424,
                wakes_below: 1424,
                by_station: true,
                ahead: 1,
                most_subframes: 64,
                most_bytes: MOST_AMPDU_BYTES,
                longest: Duration::from_micros(5484),
                tries: 15,
                rounds: 15,
                asks: false,
                has_firmware: true,
            },
            // 802.11-2012: a window of 64, 5.484 ms (20.3.1), a retry limit of 7; as ns-3 does it, too.
            Self::Ideal => Limits {
                frames: 64,
                wakes_below: 64,
                by_station: true,
                ahead: 1,
                most_subframes: 64,
                most_bytes: MOST_AMPDU_BYTES,
                longest: Duration::from_micros(5484),
                tries: 7,
                rounds: 7,
                asks: true,
                has_firmware: false,
            },
        }
    }
}

word!(Driver);

/// What a driver holds of one category, and how it sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Frames, those in the hardware among them.
    pub(crate) frames: u32,
    /// A full driver asks the discipline for more when it holds less than this.
    pub(crate) wakes_below: u32,
    /// Whether each station has a queue, served in turns; else there is one, in order.
    pub(crate) by_station: bool,
    /// Aggregates that the hardware has at a time: the one that contends, and those made ahead.
    pub(crate) ahead: usize,
    pub(crate) most_subframes: usize,
    /// Bytes of the largest aggregate.
    pub(crate) most_bytes: u32,
    /// How long an aggregate may be on the air.
    pub(crate) longest: Duration,
    /// How often the hardware tries what nobody answers, at one rate.
    pub(crate) tries: u8,
    /// How often a frame goes to the hardware before it is given up; with `asks` only as a part of an aggregate.
    pub(crate) rounds: u8,
    /// Whether a sender whose aggregate nobody answered asks first what has come of it (BlockAckReq), which resets its
    /// window.
    pub(crate) asks: bool,
    /// Whether mac80211 limits by time what it holds (AQL).
    pub(crate) has_firmware: bool,
}
