//! The queues below a queue discipline on Wi-Fi, by driver.
//!
//! A discipline does not see the packets that the driver below it holds, and cannot take them back. So every
//! discipline has the delay of a full driver queue as well. On a slow link that is most of the delay.

use goodqueue_units::{Duration, Instant};

/// A driver, under the name that Linux has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Atheros, 802.11a, b and g: sends frames one by one.
    Ath5k,
    /// Atheros, 802.11n: has one queue per station and makes aggregates ahead.
    Ath9k,
    /// Intel, 802.11n: has a ring of descriptors and makes aggregates when they are sent.
    Iwlwifi,
    /// Qualcomm Atheros, 802.11n and later: the firmware has one queue per station, which mac80211 limits by time.
    Ath10k,
    /// No driver of Linux: holds as much as the standard lets a sender send at a time, and nothing beyond that.
    Ideal,
}

/// The longest A-MPDU (802.11-2012, 8.4.2.58.3).
const MOST_AMPDU_BYTES: u32 = 65_535;

impl Driver {
    const ALL: [Self; 5] = [Self::Ath5k, Self::Ath9k, Self::Iwlwifi, Self::Ath10k, Self::Ideal];

    /// Returns the name.
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

    /// Returns the limits of the driver in a cell whose aggregates have at most `ampdu` bytes, and whose frames get
    /// no older than `lifetime`.
    pub(crate) fn limits(self, ampdu: Option<u32>, lifetime: Option<Duration>) -> Limits {
        let limits = self.own_limits();
        Limits { most_bytes: limits.most_bytes.min(ampdu.unwrap_or(u32::MAX)), lifetime, ..limits }
    }

    fn own_limits(self) -> Limits {
        match self {
            // Linux 3.x to 6.1, ath5k.h: ATH_TXBUF is 200 for four queues. A queue is woken when it is half empty.
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
                lifetime: None,
            },
            // Linux up to 4.10, ath9k: 123 frames are 512 buffers divided by four queues, less five.
            // ATH_AGGR_MIN_QDEPTH is 2. An aggregate has at most half the window of 64 frames, and takes at most 4
            // ms.
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
                lifetime: None,
            },
            // Linux 3.x, iwlwifi: a ring of 256. It is stopped when an eighth is left, and woken when a quarter is
            // left.
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
                lifetime: None,
            },
            // Linux, ath10k: the firmware has 1424 descriptors. They are the limit where mac80211's queues are not in
            // use.
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
                lifetime: None,
            },
            // 802.11-2012: a window of 64 frames, 5.484 ms (20.3.1), a retry limit of 7. ns-3 does the same.
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
                lifetime: None,
            },
        }
    }
}

goodqueue_hosts::word!(Driver);

/// How much a driver holds of one category, and how it sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The most frames that the driver holds, the frames in the hardware included.
    pub(crate) frames: u32,
    /// A driver that was full asks the discipline for more when it holds fewer frames than this.
    pub(crate) wakes_below: u32,
    /// Whether each station has a queue and the queues take turns; else there is one queue, served in order.
    pub(crate) by_station: bool,
    /// The most aggregates in the hardware at a time: the one that contends, and those made ahead.
    pub(crate) ahead: usize,
    pub(crate) most_subframes: usize,
    /// The bytes of the largest aggregate.
    pub(crate) most_bytes: u32,
    /// The longest time that an aggregate may be on the air.
    pub(crate) longest: Duration,
    /// How often the hardware tries a frame or an aggregate at one rate if nobody answers.
    pub(crate) tries: u8,
    /// How often a frame goes to the hardware before it is given up. With `asks` this holds only for a frame in an
    /// aggregate: a single frame goes to the hardware once.
    pub(crate) rounds: u8,
    /// Whether a sender whose aggregate nobody answered first asks which frames arrived (BlockAckReq). An answer to
    /// that resets the contention window.
    pub(crate) asks: bool,
    /// Whether mac80211 limits by time how much the driver holds (AQL).
    pub(crate) has_firmware: bool,
    /// How long a frame may be in the driver. None of the drivers limits that by itself.
    pub(crate) lifetime: Option<Duration>,
}

impl Limits {
    /// Returns whether a frame that the driver has had `since` then is too old to be sent at `now`.
    pub(super) fn is_too_old(&self, since: Instant, now: Instant) -> bool {
        self.lifetime.is_some_and(|lifetime| now.since(since) > lifetime)
    }
}
