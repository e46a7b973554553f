//! `[bottleneck.wifi]`: a cell in place of the bottleneck's links, with its stations.

use super::driver::Driver;
use super::mode::{Ht, Mode};
use super::standard::{Band, Standard};
use goodqueue_hosts::keys::{
    AnyKey, Json, Key, Quantity, Result, ScenarioError, Size, Span, Table, describe, refuse,
};
use goodqueue_hosts::sorting::sort_by_key;
use goodqueue_units::{Duration, Rate, parse};
use serde::{Serialize, Serializer};
use serde_json::json;

const STANDARD: Key<Standard> = Key::required("standard", "\"802.11n\"")
    .help("the standard of the access point and its stations")
    .simulator_only();
const BAND: Key<Band> = Key::derived("band", "5ghz for 802.11a and 802.11n, else 2.4ghz", "\"2.4ghz\"")
    .help("the band; OFDM frames have a signal extension at 2.4 GHz")
    .simulator_only();
const WIDTH: Key<u64> = Key::with_default("width", "20")
    .range(20, 40)
    .unit("MHz")
    .help("the channel: 20, or 40 with 802.11n")
    .simulator_only();
const SHORT_GUARD: Key<bool> = Key::with_default("short_guard", "false")
    .help("whether the guard interval is 400 ns (802.11n) instead of 800 ns")
    .simulator_only();
const RTS: Key<bool> =
    Key::with_default("rts", "false").help("whether RTS and CTS go before each exchange").simulator_only();
const PROTECTION: Key<bool> = Key::with_default("protection", "false")
    .help("whether a CTS-to-self goes before each exchange of 802.11g, and slots are long, because stations of 802.11b are near")
    .simulator_only();
const DRIVER: Key<Driver> =
    Key::derived("driver", "ath9k for 802.11n, else ath5k", "\"iwlwifi\"")
        .help("what the driver holds below the discipline: `ath5k` 50 frames, `ath9k` 123 frames and two aggregates, `iwlwifi` a ring of 256, `ath10k` as much as mac80211 allows by time, `ideal` a window of 64")
        .source("Linux 3.x to 6.1")
        .simulator_only();

const NAME: Key<String> = Key::derived("name", "station", "\"slow\"")
    .help("the station's name; several stations have `/` and a number after it");
const COUNT: Key<u64> = Key::with_default("count", "1").range(1, 1000).help("number of such stations");
const RATE: Key<Rates> = Key::with_default("rate", "\"minstrel\"").example("\"mcs15\"")
    .help("the rate both ways: `minstrel` (Linux's rate control chooses), `mcs0` to `mcs31`, or a rate such as `54mbit`; for a rate that changes, a list of [time, rate]")
    .simulator_only();
const SNR: Key<f64> = Key::optional("snr", "25.0")
    .range(-10.0, 100.0)
    .unit("dB")
    .help("signal-to-noise ratio both ways; it decides the share of lost frames. If left out, only collisions lose frames")
    .simulator_only();
const STREAMS: Key<u64> = Key::with_default("streams", "2")
    .range(1, 3)
    .help("number of spatial streams that rate control may use, with 802.11n")
    .simulator_only();
const STATION_DRIVER: Key<Driver> = Key::derived("driver", "as the access point's", "\"iwlwifi\"")
    .help("what the station's driver holds below the discipline")
    .simulator_only();

const STATION_STANDARD: Key<Standard> = Key::derived("standard", "as the cell's", "\"802.11b\"")
    .help("the station's standard: `802.11b` in a cell of 802.11g or 802.11n at 2.4 GHz. The others then protect their frames by a CTS-to-self, and all slots are long")
    .source("802.11-2012, 9.23 and 19.4.5")
    .simulator_only();
const AGGREGATE: Key<u64> = Key::optional("aggregate", "3")
    .range(1, 64)
    .unit("frames")
    .help("the most frames of an aggregate that the station sends. If left out, the driver's")
    .simulator_only();

const LIFETIME: Key<Span> = Key::optional("lifetime", "\"500ms\"")
    .range(Span(Duration::from_millis(1)), Span(Duration::from_secs(3600)))
    .help("how old a frame may become in a driver before it is dropped (802.11's MSDU lifetime). If left out, as in Linux, no frame is dropped for its age; ns-3 has 500 ms")
    .source("802.11-2012, dot11EDCATableMSDULifetime")
    .simulator_only();
const AMPDU: Key<Size> = Key::derived("ampdu", "65535B, or what the driver makes of it", "\"8kB\"")
    .range(Size(0), Size(65_535))
    .help("the largest aggregate of 802.11n; 0B: none")
    .simulator_only();

/// The keys of a cell and of its stations.
pub(crate) const KEYS: &[&dyn AnyKey] =
    &[&STANDARD, &BAND, &WIDTH, &SHORT_GUARD, &RTS, &PROTECTION, &AMPDU, &LIFETIME, &DRIVER];
pub(crate) const STATION_KEYS: &[&dyn AnyKey] =
    &[&NAME, &STATION_STANDARD, &COUNT, &RATE, &STREAMS, &SNR, &AGGREGATE, &STATION_DRIVER];
const MOST_STATIONS: u64 = 1000;

/// A cell in which every parameter has a value.
#[derive(Clone, Debug, Serialize)]
pub struct WifiSpec {
    /// The standard of the access point and all stations.
    #[serde(serialize_with = "written")]
    pub standard: Standard,
    /// The band.
    #[serde(serialize_with = "written")]
    pub band: Band,
    /// The channel's width in MHz.
    pub width: u64,
    /// Whether the guard interval is short.
    pub short_guard: bool,
    /// Whether RTS and CTS go before each exchange.
    pub rts: bool,
    /// Whether a CTS-to-self goes before each exchange.
    pub protection: bool,
    /// The largest aggregate.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "written_if")]
    pub ampdu: Option<Size>,
    /// How old a frame may become in a driver.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "written_if")]
    pub(crate) lifetime: Option<Span>,
    /// The driver below the access point's discipline.
    #[serde(serialize_with = "written")]
    pub driver: Driver,
    /// The stations.
    #[serde(rename = "station")]
    pub stations: Vec<StationSpec>,
}

/// One or more stations with the same parameters.
#[derive(Clone, Debug, Serialize)]
pub struct StationSpec {
    /// The name of the stations.
    pub name: String,
    /// The standard, if it is not the cell's.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "written_if")]
    pub(crate) standard: Option<Standard>,
    /// The number of stations.
    pub count: u64,
    #[serde(serialize_with = "written")]
    pub(crate) rate: Rates,
    /// The modes of the fixed rate, each from its time on. Empty if rate control finds the modes.
    #[serde(skip)]
    pub(crate) modes: Vec<(Duration, Mode)>,
    /// Spatial streams that rate control can choose from.
    pub streams: u64,
    /// Signal-to-noise ratio in dB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr: Option<f64>,
    /// The most frames of an aggregate that the station sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<u64>,
    /// The driver below the stations' discipline.
    #[serde(serialize_with = "written")]
    pub driver: Driver,
}

fn written<T: Quantity, S: Serializer>(value: &T, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    value.write().serialize(serializer)
}

fn written_if<T: Quantity, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    value.as_ref().map(Quantity::write).serialize(serializer)
}

/// Rates as a scenario writes them, each from its time on.
#[derive(Clone, Debug)]
pub(crate) struct Rates(Vec<(Span, String)>);

/// The word for a rate that rate control finds.
const FOUND: &str = "minstrel";

impl Rates {
    /// Returns whether rate control finds the rate.
    fn is_found(&self) -> bool {
        matches!(self.0.as_slice(), [(_, word)] if word == FOUND)
    }
}

impl Quantity for Rates {
    const TYPE: &'static str = "Wi-Fi rate";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let accepted = "a rate such as \"mcs15\" or \"54mbit\", or a list such as [[\"0s\", \"mcs7\"], [\"10s\", \"mcs0\"]]";
        let refuse = || format!("found {}; accepted: {accepted}", describe(found));
        match found {
            Json::String(word) => Ok(Self(vec![(Span(Duration::ZERO), word.clone())])),
            Json::Array(list) => {
                let step = |one: &Json| match one.as_array()?.as_slice() {
                    [Json::String(time), Json::String(word)] => {
                        Some((Span(parse::duration_with_unit(time).ok()?), word.clone()))
                    }
                    _ => None,
                };
                let steps: Vec<_> = list.iter().map(step).collect::<Option<_>>().ok_or_else(refuse)?;
                let in_order = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let begins = steps.first().is_some_and(|(time, _)| time.0 == Duration::ZERO);
                let wrong = || {
                    "found times that do not rise from 0s; accepted: [\"0s\", …] first, then later ones"
                        .to_string()
                };
                (in_order && begins).then_some(Self(steps)).ok_or_else(wrong)
            }
            _ => Err(refuse()),
        }
    }
    fn write(&self) -> Json {
        match self.0.as_slice() {
            [(_, word)] => json!(word),
            steps => steps.iter().map(|(time, word)| json!([time.write(), word])).collect(),
        }
    }
    fn schema() -> Json {
        json!({"oneOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "array"}}]})
    }
}

impl WifiSpec {
    /// Reads the cell that `table` describes.
    pub(crate) fn read(table: &Table<'_>) -> Result<Self> {
        table.refuse_others(KEYS, &["station"])?;
        let standard = table.take(&STANDARD)?;
        let is_high = matches!(standard, Standard::A | Standard::N);
        let band = table.find(&BAND)?.unwrap_or(if is_high { Band::High } else { Band::Low });
        let usual = if standard == Standard::N { Driver::Ath9k } else { Driver::Ath5k };
        let mut spec = Self {
            standard,
            band,
            width: table.take(&WIDTH)?,
            short_guard: table.take(&SHORT_GUARD)?,
            rts: table.take(&RTS)?,
            protection: table.take(&PROTECTION)?,
            ampdu: table.find(&AMPDU)?,
            lifetime: table.find(&LIFETIME)?,
            driver: table.find(&DRIVER)?.unwrap_or(usual),
            stations: Vec::new(),
        };
        spec.check(table)?;
        for station in table.tables("station")? {
            let station = spec.station(&station)?;
            spec.stations.push(station);
        }
        if spec.stations.is_empty() {
            return Err(ScenarioError::new(
                table.key("station"),
                "found none; accepted: at least one station",
            ));
        }
        let count: u64 = spec.stations.iter().map(|station| station.count).sum();
        if count > MOST_STATIONS {
            let found = format!("{count} stations in all");
            return refuse(&table.key("station"), found, &format!("at most {MOST_STATIONS}"));
        }
        Ok(spec)
    }

    /// Refuses what the standard does not have, such as a band or a channel width.
    fn check(&self, table: &Table<'_>) -> Result<()> {
        let name = self.standard.name();
        let of_standard = match self.standard {
            Standard::B | Standard::G => self.band == Band::Low,
            Standard::A => self.band == Band::High,
            Standard::N => true,
        };
        if !of_standard {
            let accepted = if self.standard == Standard::A { "5ghz" } else { "2.4ghz" };
            return refuse(&table.key("band"), format!("{:?} with {name}", self.band.name()), accepted);
        }
        let is_n = self.standard == Standard::N;
        if self.width != 20 && !(is_n && self.width == 40) {
            let accepted = if is_n { "20 or 40 MHz" } else { "20 MHz; 40 is of 802.11n" };
            return refuse(&table.key("width"), format!("{} MHz with {name}", self.width), accepted);
        }
        if self.short_guard && !is_n {
            return refuse(
                &table.key("short_guard"),
                format!("true with {name}"),
                "false; a short guard interval is of 802.11n",
            );
        }
        if self.ampdu.is_some() && !is_n {
            return refuse(
                &table.key("ampdu"),
                format!("one with {name}"),
                "none; aggregates are of 802.11n",
            );
        }
        if self.protection && self.standard != Standard::G {
            return refuse(&table.key("protection"), format!("true with {name}"), "false; it is of 802.11g");
        }
        if self.protection && self.rts {
            return refuse(&table.key("rts"), "true, and protection besides", "one of them");
        }
        self.check_driver(table, self.driver, self.standard)
    }

    /// Refuses a driver that does not support `standard`.
    fn check_driver(&self, table: &Table<'_>, driver: Driver, standard: Standard) -> Result<()> {
        if driver == Driver::Ath5k && standard == Standard::N {
            let found = "\"ath5k\" with 802.11n, which it does not speak";
            return refuse(&table.key("driver"), found, "ath9k, iwlwifi, ath10k, ideal");
        }
        Ok(())
    }

    fn station(&self, table: &Table<'_>) -> Result<StationSpec> {
        table.refuse_others(STATION_KEYS, &[])?;
        let name = table.find(&NAME)?.unwrap_or_else(|| "station".to_string());
        if self.stations.iter().any(|other| other.name == name) {
            return refuse(
                &table.key("name"),
                format!("{name:?}, which another station has"),
                "a name of its own",
            );
        }
        let own = table.find(&STATION_STANDARD)?.filter(|own| *own != self.standard);
        if let Some(own) = own {
            self.check_station_standard(table, own)?;
        }
        let standard = own.unwrap_or(self.standard);
        let rate = table.take(&RATE)?;
        let mode = |(time, word): &(Span, String)| {
            let mode = Mode::read(word, standard, self.width == 40, self.short_guard);
            mode.map(|mode| (time.0, mode)).map_err(|why| ScenarioError::new(table.key("rate"), why))
        };
        let modes =
            if rate.is_found() { Vec::new() } else { rate.0.iter().map(mode).collect::<Result<_>>()? };
        let driver = table.find(&STATION_DRIVER)?.unwrap_or(self.driver);
        self.check_driver(table, driver, standard)?;
        let (count, streams, snr) = (table.take(&COUNT)?, table.take(&STREAMS)?, table.find(&SNR)?);
        let aggregate = table.find(&AGGREGATE)?;
        if aggregate.is_some() && standard != Standard::N {
            let found = format!("one with {}", standard.name());
            return refuse(&table.key("aggregate"), found, "none; aggregates are of 802.11n");
        }
        Ok(StationSpec { name, standard: own, count, rate, modes, streams, snr, aggregate, driver })
    }

    /// Refuses a standard of a station, `own`, that cannot be in this cell.
    fn check_station_standard(&self, table: &Table<'_>, own: Standard) -> Result<()> {
        let of_cell = self.standard.name();
        if own != Standard::B || self.standard == Standard::A {
            let accepted = format!("{of_cell}, or 802.11b in a cell of 802.11g or 802.11n");
            return refuse(
                &table.key("standard"),
                format!("{:?} in a cell of {of_cell}", own.name()),
                &accepted,
            );
        }
        if self.band != Band::Low {
            let found = format!("{:?} in a cell at {}", own.name(), self.band.name());
            return refuse(&table.key("standard"), found, &format!("{:?}; 802.11b is at 2.4ghz", of_cell));
        }
        if self.rts {
            let found = format!("{:?} in a cell with RTS and CTS", own.name());
            return refuse(&table.key("standard"), found, &format!("{of_cell:?}, or rts = false"));
        }
        Ok(())
    }

    /// Returns whether a station of 802.11b is near a cell of a later standard, in it or said to be there.
    pub(crate) fn is_protected(&self) -> bool {
        self.protection || self.stations.iter().any(|station| station.standard.is_some())
    }

    /// Returns the standard of `station`.
    pub(crate) fn standard_of(&self, station: &StationSpec) -> Standard {
        station.standard.unwrap_or(self.standard)
    }

    /// Returns each station's name with the entry that the station belongs to, in order.
    pub(crate) fn each(&self) -> impl Iterator<Item = (String, &StationSpec)> {
        self.stations.iter().flat_map(|spec| {
            (1..=spec.count).map(move |number| match spec.count {
                1 => (spec.name.clone(), spec),
                _ => (format!("{}/{number}", spec.name), spec),
            })
        })
    }

    /// Returns the fastest rate of all stations. The disciplines are told this rate.
    pub(crate) fn fastest(&self) -> Rate {
        let fixed = self.stations.iter().flat_map(|station| &station.modes).map(|(_, mode)| *mode);
        let found = self.stations.iter().filter(|station| station.rate.is_found());
        let modes = fixed.chain(found.flat_map(|station| self.modes(station)));
        let mbps = modes.map(Mode::mbps).fold(1.0, f64::max);
        Rate::from_bps((mbps * 1e6) as u64).unwrap_or(goodqueue_hosts::keys::MOST_RATE.0.0)
    }

    /// Returns the modes that rate control of `station` can choose from, slowest first.
    pub(crate) fn modes(&self, station: &StationSpec) -> Vec<Mode> {
        let mut modes: Vec<Mode> = match self.standard_of(station) {
            Standard::N => {
                let ht = |mcs| Ht { mcs, is_wide: self.width == 40, has_short_guard: self.short_guard };
                (0..8 * station.streams as u8).map(|mcs| Mode::Ht(ht(mcs))).collect()
            }
            // The rates of 802.11b are left out: a cell of 802.11g sends its data by OFDM.
            Standard::G => Mode::legacy(Standard::A).collect(),
            other => Mode::legacy(other).collect(),
        };
        sort_by_key(&mut modes, |mode| mode.mbps().to_bits()); // no rate is negative, so the bits have its order
        modes
    }

    /// Returns the numbers of the stations called `name`, or of all stations if there is no name.
    pub(crate) fn numbers(&self, name: Option<&str>) -> Vec<u32> {
        let named = |spec: &StationSpec| name.is_none_or(|name| spec.name == name);
        let each = (0..).zip(self.each());
        each.filter(|(_, (own, spec))| named(spec) || name == Some(own)).map(|(number, _)| number).collect()
    }
}
