//! The arrivals of a recorded decision trace, as a user describes them.

use super::{Error, MTU};
use goodqueue_units::{Ecn, Rate, parse};

/// The longest time for arrivals, in seconds: seven years.
const LONGEST_S: u128 = 220_000_000;

/// The pattern of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Gaps are uniform around their mean.
    Steady,
    /// 1 to 50 packets of one flow arrive at the same moment, then follows a gap.
    Burst,
    /// Twice the load for 250 ms, then no packets for 250 ms.
    Onoff,
    /// The load climbs from 0 to twice its mean within a second, again and again.
    Saw,
    /// Flows with windows respond to drops and marks, with a base round trip of 50 ms. The load follows from them.
    Aimd,
}

/// The lengths of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All packets have this length in bytes.
    Of(u32),
    /// Half of the packets have 1514 bytes, a quarter 64, and a quarter any length between.
    Mix,
}

/// The ECN codepoints of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecns {
    /// All packets have this codepoint.
    All(Ecn),
    /// Each of the four codepoints is equally frequent.
    Mix,
}

/// The options of a recording.
#[derive(Clone, Debug)]
pub struct Options {
    /// The pattern of arrivals.
    pub pattern: Pattern,
    /// Offered load in thousandths of the link's rate.
    pub load_permille: u64,
    /// The link's rate.
    pub rate: Rate,
    /// Number of arrivals.
    pub packets: u64,
    /// The lengths of packets.
    pub sizes: Sizes,
    /// Number of flows.
    pub flows: u64,
    /// The ECN codepoints of packets.
    pub ecn: Ecns,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Pattern, sizes and codepoints as the user wrote them, for the header.
    words: [String; 3],
}

/// The options as a user writes them.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// `steady`, `burst`, `onoff`, `saw` or `aimd`.
    pub pattern: &'a str,
    /// Offered load as a multiple of the link's rate.
    pub load: f64,
    /// The link's rate, such as `10mbit`.
    pub rate: &'a str,
    /// Number of arrivals.
    pub packets: u64,
    /// Bytes per packet, or `mix`.
    pub sizes: &'a str,
    /// Number of flows.
    pub flows: u64,
    /// `none`, `ect0`, `ect1` or `mix`.
    pub ecn: &'a str,
    /// The seed.
    pub seed: u64,
}

impl Options {
    /// Reads the options.
    ///
    /// # Errors
    /// In one line that begins with the option: what was found, and what is accepted.
    pub fn parse(words: &Words<'_>) -> Result<Self, Error> {
        let refuse = |key: &str, found: &dyn std::fmt::Debug, accepted: &str| {
            Err(Error::Refused(format!("{key}: found {found:?}; accepted: {accepted}")))
        };
        let pattern = match words.pattern {
            "steady" => Pattern::Steady,
            "burst" => Pattern::Burst,
            "onoff" => Pattern::Onoff,
            "saw" => Pattern::Saw,
            "aimd" => Pattern::Aimd,
            other => return refuse("pattern", &other, "steady, burst, onoff, saw, aimd"),
        };
        let sizes = match (words.sizes, words.sizes.parse()) {
            ("mix", _) => Sizes::Mix,
            (_, Ok(len @ 64..=65_535)) => Sizes::Of(len),
            (other, _) => return refuse("sizes", &other, "mix, or bytes from 64 to 65535"),
        };
        let ecn = match words.ecn {
            "none" => Ecns::All(Ecn::NotEct),
            "ect0" => Ecns::All(Ecn::Ect0),
            "ect1" => Ecns::All(Ecn::Ect1),
            "mix" => Ecns::Mix,
            other => return refuse("ecn", &other, "none, ect0, ect1, mix"),
        };
        let rate = parse::rate(words.rate).map_err(|why| Error::Refused(format!("rate: {why}")))?;
        if !(1_000..=1_000_000_000_000).contains(&rate.as_bps()) {
            return refuse("rate", &words.rate, "1kbit to 1tbit");
        }
        if !(0.05..=100.0).contains(&words.load) {
            return refuse("load", &words.load, "0.05 to 100");
        }
        if !(1..=10_000_000).contains(&words.packets) {
            return refuse("packets", &words.packets, "1 to 10000000");
        }
        if !(1..=1_000_000).contains(&words.flows) {
            return refuse("flows", &words.flows, "1 to 1000000");
        }
        let load_permille = (words.load * 1000.0).round() as u64;
        // The longest gaps, those of saw, are 40 times the mean: with this bound the clock stays within 63 bits.
        let longest = if let Sizes::Of(len) = sizes { len } else { MTU };
        let bits = u128::from(words.packets) * u128::from(longest) * 8;
        if bits * 1000 / (u128::from(rate.as_bps()) * u128::from(load_permille)) > LONGEST_S {
            return refuse("packets", &words.packets, "as many as arrive within seven years");
        }
        Ok(Self {
            pattern,
            load_permille,
            rate,
            packets: words.packets,
            sizes,
            flows: words.flows,
            ecn,
            seed: words.seed,
            words: [words.pattern, words.sizes, words.ecn].map(str::to_string),
        })
    }

    /// Returns the options as lines of a header.
    pub(super) fn header(&self) -> String {
        let [pattern, sizes, ecn] = &self.words;
        format!(
            "# seed={}\n# pattern={pattern}\n# packets={}\n# load={}\n# link_bps={}\n# sizes={sizes}\n\
             # ecn_pattern={ecn}\n# flows={flows}\n# hash_groups={flows}\n",
            self.seed,
            self.packets,
            self.load_permille as f64 / 1000.0,
            self.rate.as_bps(),
            flows = self.flows
        )
    }
}
