//! Transmission modes, and the duration of a frame in each mode.
//!
//! Source: IEEE 802.11-2012, clauses 17 (DSSS and CCK, "802.11b"), 18 (OFDM, "802.11a"), 19 (ERP, "802.11g") and 20
//! (HT, "802.11n").

use super::standard::Standard;
use goodqueue_units::Duration;
use std::fmt;

/// How the bits of a frame are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// DSSS and CCK of 802.11b. The rate is in units of 100 kbit/s.
    Dsss(u16),
    /// OFDM of 802.11a and 802.11g. The rate is in Mbit/s.
    Ofdm(u8),
    /// HT of 802.11n.
    Ht(Ht),
}

/// A mode of 802.11n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ht {
    /// Modulation and coding scheme, 0 to 31: eight per number of spatial streams.
    pub mcs: u8,
    /// Whether the channel is 40 MHz wide instead of 20 MHz.
    pub is_wide: bool,
    /// Whether the guard interval is 400 ns instead of 800 ns.
    pub has_short_guard: bool,
}

/// Data bits per symbol of one stream, for MCS 0 to 7 at 20 MHz (table 20-30) and 40 MHz (table 20-35).
const HT_BITS: [[u32; 8]; 2] =
    [[26, 52, 78, 104, 156, 208, 234, 260], [54, 108, 162, 216, 324, 432, 486, 540]];
/// The rates of OFDM in Mbit/s, and of DSSS in units of 100 kbit/s.
pub(crate) const OFDM: [u8; 8] = [6, 9, 12, 18, 24, 36, 48, 54];
pub(crate) const DSSS: [u16; 4] = [10, 20, 55, 110];
/// The mandatory rates of OFDM in Mbit/s, which every device has. ACKs are sent at one of these rates.
const MANDATORY: [u8; 3] = [24, 12, 6];
/// The silence that a receiver needs after an OFDM frame in the 2.4 GHz band.
const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);
/// Bits before and after the bits of the frame: SERVICE and the tail of the coder.
const SERVICE_AND_TAIL_BITS: u64 = 16 + 6;

impl Ht {
    pub(crate) fn streams(self) -> u8 {
        self.mcs / 8 + 1
    }

    /// Returns the data bits per symbol.
    pub(super) fn symbol_bits(self) -> u64 {
        u64::from(HT_BITS[usize::from(self.is_wide)][usize::from(self.mcs % 8)]) * u64::from(self.streams())
    }

    pub(super) fn symbol(self) -> Duration {
        Duration::from_nanos(if self.has_short_guard { 3600 } else { 4000 })
    }

    /// Returns the duration of the preamble: legacy preamble and signal field, HT signal field, short training field,
    /// and one long training field for one stream, two for two, four for more.
    fn preamble(self) -> Duration {
        let long_fields = [1, 2, 4, 4][usize::from(self.streams() - 1)];
        Duration::from_micros(8 + 8 + 4 + 8 + 4 + 4 * long_fields)
    }
}

impl Mode {
    /// Returns how long a frame of `bytes` bytes, FCS included, is on the air. `extended` says that a signal
    /// extension follows OFDM frames, as in the 2.4 GHz band.
    pub(crate) fn duration(self, bytes: u32, extended: bool) -> Duration {
        let bits = 8 * u64::from(bytes);
        let extension = if extended { SIGNAL_EXTENSION } else { Duration::ZERO };
        match self {
            // 192 µs are the long preamble and header.
            Self::Dsss(rate) => Duration::from_micros(192 + (10 * bits).div_ceil(u64::from(rate))),
            Self::Ofdm(rate) => {
                let symbols = (bits + SERVICE_AND_TAIL_BITS).div_ceil(4 * u64::from(rate));
                Duration::from_micros(20 + 4 * symbols) + extension
            }
            Self::Ht(ht) => {
                let symbols = (bits + SERVICE_AND_TAIL_BITS).div_ceil(ht.symbol_bits());
                ht.preamble() + ht.symbol() * symbols + extension
            }
        }
    }

    /// Returns the largest number of bytes whose frame is on the air for at most `longest`.
    pub(crate) fn bytes_in(self, longest: Duration, extended: bool) -> u32 {
        let fits = |bytes: u32| self.duration(bytes, extended) <= longest;
        let (mut least, mut most) = (0, 1 << 17);
        while least + 1 < most {
            let middle = u32::midpoint(least, most);
            *(if fits(middle) { &mut least } else { &mut most }) = middle;
        }
        least
    }

    /// Returns the mode of the control frames that answer a frame of this mode (ACK, BlockAck, CTS): the fastest
    /// mandatory rate that is not above the frame's rate (9.7.6.5). For an HT frame the 802.11a rate with the same
    /// modulation and coding counts.
    pub(crate) fn control(self) -> Self {
        match self {
            Self::Dsss(rate) => Self::Dsss(rate),
            Self::Ofdm(rate) => {
                Self::Ofdm(MANDATORY.into_iter().find(|mandatory| *mandatory <= rate).unwrap_or(6))
            }
            Self::Ht(ht) => Self::Ofdm([6, 12, 12, 24, 24, 24, 24, 24][usize::from(ht.mcs % 8)]),
        }
    }

    /// Returns the rate in Mbit/s.
    pub(crate) fn mbps(self) -> f64 {
        match self {
            Self::Dsss(rate) => f64::from(rate) / 10.0,
            Self::Ofdm(rate) => f64::from(rate),
            Self::Ht(ht) => ht.symbol_bits() as f64 * 1e-6 / ht.symbol().as_secs_f64(),
        }
    }

    /// Returns the duration of the preamble, after which a receiver knows that a frame comes (PHY-RX-START delay).
    pub(crate) fn preamble(self) -> Duration {
        match self {
            Self::Dsss(_) => Duration::from_micros(192),
            Self::Ofdm(_) => Duration::from_micros(20),
            Self::Ht(ht) => ht.preamble(),
        }
    }

    /// Reads `word` as a mode of `standard`, such as `mcs15` or `54mbit`.
    ///
    /// # Errors
    /// Returns what was found and what is accepted.
    pub(crate) fn read(word: &str, standard: Standard, is_wide: bool, short: bool) -> Result<Self, String> {
        let refuse = || format!("found {word:?}; accepted in {}: {}", standard.name(), rates_of(standard));
        if let Some(number) = word.strip_prefix("mcs") {
            let mcs = number.parse().ok().filter(|mcs| *mcs < 32 && standard == Standard::N);
            return mcs.map(|mcs| Self::Ht(Ht { mcs, is_wide, has_short_guard: short })).ok_or_else(refuse);
        }
        let mbps: f64 =
            word.strip_suffix("mbit").and_then(|number| number.parse().ok()).ok_or_else(refuse)?;
        let known = Self::legacy(standard).find(|mode| mode.mbps() == mbps);
        known.ok_or_else(refuse)
    }

    /// Returns the rates of `standard` except MCSs.
    pub(crate) fn legacy(standard: Standard) -> impl Iterator<Item = Self> {
        let dsss = matches!(standard, Standard::B | Standard::G);
        let ofdm = matches!(standard, Standard::A | Standard::G);
        let dsss = DSSS.into_iter().filter(move |_| dsss).map(Self::Dsss);
        dsss.chain(OFDM.into_iter().filter(move |_| ofdm).map(Self::Ofdm))
    }
}

/// Returns the rates of `standard` as text for a person.
fn rates_of(standard: Standard) -> String {
    if standard == Standard::N {
        return "mcs0 to mcs31".to_string();
    }
    Mode::legacy(standard).map(|mode| mode.to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ht(ht) => write!(f, "mcs{}", ht.mcs),
            other => write!(f, "{}mbit", other.mbps()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ht(mcs: u8, is_wide: bool, has_short_guard: bool) -> Mode {
        Mode::Ht(Ht { mcs, is_wide, has_short_guard })
    }

    /// The expected durations of frames of 1536, 76 and 14 bytes were computed by hand by ns-3's authors
    /// (tx-duration-test.cc).
    #[test]
    fn frames_take_as_long_as_the_standard_says() {
        for (mode, extended, want_ns) in [
            (Mode::Dsss(110), true, [1_310_000, 248_000, 203_000]),
            (Mode::Ofdm(54), false, [248_000, 32_000, 24_000]),
            (Mode::Ofdm(54), true, [254_000, 38_000, 30_000]),
            (ht(7, false, false), false, [228_000, 48_000, 40_000]),
            (ht(0, false, true), false, [1_742_400, 126_000, 57_600]),
            (ht(6, false, true), false, [226_800, 46_800, 39_600]),
            (ht(7, true, false), false, [128_000, 44_000, 40_000]),
            (ht(7, true, true), false, [118_800, 43_200, 39_600]),
        ] {
            let got = [1536, 76, 14].map(|bytes| mode.duration(bytes, extended).as_nanos());
            assert_eq!(got, want_ns, "{mode:?}");
        }
        assert_eq!(Mode::Dsss(10).duration(14, true).as_nanos(), 304_000);
    }

    #[test]
    fn rates_are_those_of_the_standard() {
        let rates = [(15, false, false, 130.0), (15, false, true, 144.444), (0, false, true, 7.222)];
        for (mcs, wide, short, want) in rates {
            assert!((ht(mcs, wide, short).mbps() - want).abs() < 1e-3, "mcs{mcs}");
        }
        assert_eq!(ht(31, true, true).mbps().round(), 600.0);
    }

    #[test]
    fn answers_come_at_the_fastest_mandatory_rate_that_is_not_above() {
        let answers = OFDM.map(|rate| Mode::Ofdm(rate).control());
        assert_eq!(answers, [6, 6, 12, 12, 24, 24, 24, 24].map(Mode::Ofdm));
        assert_eq!(ht(9, true, true).control(), Mode::Ofdm(12)); // QPSK 1/2
        assert_eq!(Mode::Dsss(55).control(), Mode::Dsss(55));
    }

    #[test]
    fn the_most_bytes_in_a_time_just_fit() {
        let longest = Duration::from_micros(4096);
        for mode in [ht(0, false, true), ht(15, false, false), Mode::Ofdm(6), Mode::Dsss(110)] {
            let bytes = mode.bytes_in(longest, false);
            assert!(mode.duration(bytes, false) <= longest, "{mode:?}");
            assert!(mode.duration(bytes + 1, false) > longest, "{mode:?}: {bytes}");
        }
    }

    #[test]
    fn a_rate_that_the_standard_has_not_is_refused() {
        let read = |word: &str, standard| Mode::read(word, standard, false, false);
        assert_eq!(read("mcs15", Standard::N), Ok(ht(15, false, false)));
        assert_eq!(read("5.5mbit", Standard::G), Ok(Mode::Dsss(55)));
        for (word, standard) in
            [("mcs7", Standard::G), ("mcs32", Standard::N), ("54mbit", Standard::B), ("7mbit", Standard::A)]
        {
            let why = read(word, standard).unwrap_err();
            assert!(why.starts_with(&format!("found {word:?}; accepted in {}", standard.name())), "{why}");
        }
    }
}
