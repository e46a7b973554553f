//! Reading a scenario: defaults filled in, contradictions refused, each with its key.

use super::{Bottleneck, Buffer, Direction, RateText, Scenario, ScenarioError, Series, Span, Traffic};
use crate::foreign::is_foreign;
use goodqueue_qdisc::param::{ParamSpec, Unit, Value};
use goodqueue_qdisc::{AnyQdisc, Args, Link, packet::Plain, registry};
use goodqueue_units::{Duration, Rate, parse};

/// Bytes of a full frame: MSS 1448, timestamps, IPv4, Ethernet.
pub(crate) const FRAME_BYTES: u32 = 1514;
pub(super) const MOST_FLOWS: u64 = 100_000;
const MOST_INTERVALS: u64 = 1_000_000;
/// Of each kind, in a time series.
const MOST_VALUES: u64 = 20_000_000;
const MOST_BPS: u64 = 1_000_000_000_000;

pub(super) type Result<T> = std::result::Result<T, ScenarioError>;

/// A qdisc line, understood as far as it is ours.
pub(crate) enum Line {
    /// A discipline of the registry, with its parameters.
    Registry(Args),
    /// A discipline of somebody else's, in its own words.
    Foreign(String),
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Registry(args) => args.fmt(f),
            Self::Foreign(line) => f.write_str(line),
        }
    }
}

impl Scenario {
    /// Reads a scenario from JSON (the TOML file's content), fills in the defaults and checks it.
    ///
    /// # Errors
    /// The first key that is unknown, missing, ill-formed, out of range or in contradiction with another.
    pub fn from_json(json: &str) -> Result<Self> {
        let value: serde_json::Value =
            serde_json::from_str(json).map_err(|error| ScenarioError::new("", error.to_string()))?;
        let mut scenario: Self = serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            readable(if path == "." { "" } else { &path }, &error.inner().to_string())
        })?;
        scenario.resolve()?;
        Ok(scenario)
    }

    fn resolve(&mut self) -> Result<()> {
        let whole = self.duration.0;
        check_span("duration", self.duration, Duration::from_micros(1), Duration::from_secs(1_000_000))?;
        if self.warmup.0 >= whole {
            return refuse("warmup", self.warmup.0, &format!("less than the duration, {whole}"));
        }
        check_span("path.rtt", self.path.rtt, Duration::ZERO, Duration::from_secs(1000))?;
        self.bottleneck.resolve(self.path.rtt.0)?;
        self.resolve_changes()?;
        if self.traffic.is_empty() {
            return Err(ScenarioError::new("traffic", "found none; accepted: at least one [[traffic]]"));
        }
        let mut resolved: Vec<(usize, Traffic)> = Vec::new();
        for (index, asked) in std::mem::take(&mut self.traffic).into_iter().enumerate() {
            let key = |name: &str| format!("traffic[{index}].{name}");
            asked.refuse_foreign_keys(&key)?;
            let parts = asked.parts(&key)?;
            let of_test = parts.len() > 1;
            for mut part in parts {
                if !(of_test && part.is_probe_among(&resolved, self.path.rtt)) {
                    part.resolve(&key, &resolved, whole, self.path.rtt)?;
                    resolved.push((index, part));
                }
            }
        }
        self.traffic = resolved.into_iter().map(|(_, traffic)| traffic).collect();
        let flows: u64 = self.traffic.iter().filter_map(|traffic| traffic.count).sum();
        if flows > MOST_FLOWS {
            return refuse("traffic", format!("{flows} flows in all"), &format!("at most {MOST_FLOWS}"));
        }
        let packets = self.traffic.iter().map(|traffic| traffic.packets(whole)).sum();
        let Some(series) = &self.series else { return Ok(()) };
        series.check(whole, flows, packets).and_then(|()| self.check_memory(series, flows))
    }

    /// The key and the qdisc line of `direction`; what [`Scenario::from_json`] returned has one for both.
    pub(crate) fn qdisc(&self, direction: Direction) -> Result<(&'static str, Line, Link)> {
        let (key, rate, line) = match direction {
            Direction::Down => ("bottleneck.qdisc", Some(self.bottleneck.rate), Some(&self.bottleneck.qdisc)),
            Direction::Up => {
                ("bottleneck.up.qdisc", self.bottleneck.up.rate, self.bottleneck.up.qdisc.as_ref())
            }
        };
        let (Some(RateText(rate)), Some(line)) = (rate, line) else {
            return Err(ScenarioError::new(key, "not resolved"));
        };
        let link = Link { rate, mtu: FRAME_BYTES };
        if is_foreign(line) {
            return Ok((key, Line::Foreign(line.clone()), link));
        }
        let args = registry::parse_line(line).map_err(|error| ScenarioError::new(key, error.0))?;
        Ok((key, Line::Registry(args), link))
    }

    /// Puts `line` in place of the qdisc line of `direction`.
    pub(crate) fn set_qdisc(&mut self, direction: Direction, line: String) {
        match direction {
            Direction::Down => self.bottleneck.qdisc = line,
            Direction::Up => self.bottleneck.up.qdisc = Some(line),
        }
    }
}

impl Bottleneck {
    fn resolve(&mut self, rtt: Duration) -> Result<()> {
        for (key, rate) in [("bottleneck.rate", Some(self.rate)), ("bottleneck.up.rate", self.up.rate)] {
            if let Some(RateText(rate)) = rate {
                check_rate(key, rate)?;
            }
        }
        let down = canonical("bottleneck", &self.qdisc, self.rate.0, self.buffer, rtt)?;
        let up_rate = *self.up.rate.get_or_insert(self.rate);
        // A qdisc line of its own comes without the other direction's buffer.
        let inherited = if self.up.qdisc.is_none() { self.buffer } else { None };
        let up_line = self.up.qdisc.as_ref().unwrap_or(&self.qdisc);
        self.up.qdisc =
            Some(canonical("bottleneck.up", up_line, up_rate.0, self.up.buffer.or(inherited), rtt)?);
        self.qdisc = down;
        (self.buffer, self.up.buffer) = (None, None); // the lines hold the limits now
        Ok(())
    }
}

/// The qdisc line with all its parameters, the limit from `buffer` among them.
fn canonical(table: &str, line: &str, rate: Rate, buffer: Option<Buffer>, rtt: Duration) -> Result<String> {
    if is_foreign(line) {
        return foreign(table, line, rate, buffer, rtt);
    }
    let link = Link { rate, mtu: FRAME_BYTES };
    let refuse_line = |error: goodqueue_qdisc::Error| ScenarioError::new(format!("{table}.qdisc"), error.0);
    let mut args = registry::parse_line(line).map_err(refuse_line)?;
    if let Some(buffer) = buffer {
        apply_buffer(table, &mut args, buffer, rate, rtt)?;
    }
    AnyQdisc::<Plain>::build(&args, &link).map_err(refuse_line)?;
    Ok(args.to_string())
}

/// A foreign line, tidied; a buffer becomes its parameter `limit`, in packets.
fn foreign(table: &str, line: &str, rate: Rate, buffer: Option<Buffer>, rtt: Duration) -> Result<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some(buffer) = buffer {
        if words.contains(&"limit") {
            return Err(twice(&format!("{table}.buffer"), "the discipline", "limit"));
        }
        line += &format!(" limit {}", frames(table, buffer, rate, rtt)?);
    }
    Ok(line)
}

fn twice(key: &str, name: &str, word: &str) -> ScenarioError {
    ScenarioError::new(key, format!("{name} has a {word} in its line already; accepted: one of them"))
}

/// `buffer` in full frames.
fn frames(table: &str, buffer: Buffer, rate: Rate, rtt: Duration) -> Result<u64> {
    if !(buffer.bdp >= 0.0 && buffer.bdp <= 1e6) {
        return refuse(&format!("{table}.buffer.bdp"), buffer.bdp, "0 to 1000000");
    }
    if buffer.min_packets > 1_000_000_000 {
        return refuse(&format!("{table}.buffer.min_packets"), buffer.min_packets, "0 to 1000000000");
    }
    let frames = (buffer.bdp * rate.bytes_in(rtt) as f64 / f64::from(FRAME_BYTES)) as u64;
    Ok(frames.max(buffer.min_packets).max(1))
}

/// Makes `buffer` the limit of the discipline, or of the one inside it, which queues.
fn apply_buffer(table: &str, args: &mut Args, buffer: Buffer, rate: Rate, rtt: Duration) -> Result<()> {
    if let Some(child) = args.child_mut() {
        return apply_buffer(table, child, buffer, rate, rtt);
    }
    let key = format!("{table}.buffer");
    let name = args.spec.name;
    if let Some(word) = ["limit", "latency"].into_iter().find(|word| args.is_given(word)) {
        return Err(twice(&key, name, word));
    }
    let frames = frames(table, buffer, rate, rtt)?;
    let limit = args.spec.params.iter().find(|param| param.name == "limit");
    let limit = match limit.and_then(ParamSpec::unit) {
        Some(Unit::Packets) => frames,
        Some(Unit::Bytes) => frames.saturating_mul(FRAME_BYTES.into()),
        _ => return Err(ScenarioError::new(key, format!("{name} has no limit that a buffer could set"))),
    };
    args.set_default("limit", Value::Integer(limit));
    Ok(())
}

impl Series {
    /// `packets` is how many packets of pings and calls a run of `whole` has at the most.
    fn check(&self, whole: Duration, flows: u64, packets: u64) -> Result<()> {
        if let Some(Span(interval)) = self.interval {
            let least = Duration::from_nanos(whole.as_nanos().div_ceil(MOST_INTERVALS).max(1));
            check_span("series.interval", Span(interval), least, whole)?;
            let values = (flows * (whole.as_nanos() / interval.as_nanos())).saturating_add(packets);
            if values > MOST_VALUES {
                let found = format!("{interval}, which makes {values} values for {flows} flows");
                return refuse("series.interval", found, &format!("at most {MOST_VALUES}"));
            }
        }
        for (key, asked) in [("series.tcp", self.tcp), ("series.law", self.law)] {
            if asked && self.interval.is_none() {
                let message =
                    format!("missing, and {key} samples at its ends; accepted: a time such as \"100ms\"");
                return Err(ScenarioError::new("series.interval", message));
            }
        }
        if let Some(window) = self.packets
            && (window.from >= window.to || window.to.0 > whole)
        {
            let found = format!("{} to {}", window.from.0, window.to.0);
            return refuse("series.packets", found, &format!("a window within the run, 0s to {whole}"));
        }
        Ok(())
    }
}

pub(super) fn check_rate(key: &str, rate: Rate) -> Result<()> {
    if rate.as_bps() <= MOST_BPS { Ok(()) } else { refuse(key, rate, "a rate up to 1000gbit") }
}

pub(super) fn refuse<T>(key: &str, found: impl std::fmt::Display, accepted: &str) -> Result<T> {
    Err(ScenarioError::new(key, format!("found {found}; accepted: {accepted}")))
}

pub(super) fn check_span(key: &str, span: Span, least: Duration, most: Duration) -> Result<()> {
    if (least..=most).contains(&span.0) { Ok(()) } else { refuse(key, span.0, &format!("{least} to {most}")) }
}

pub(super) fn unknown<T>(key: &str, found: &str, known: impl Iterator<Item = &'static str>) -> Result<T> {
    let known: Vec<&str> = known.collect();
    Err(ScenarioError::new(
        key,
        format!("found {found:?}; {}accepted: {}", hint(found, &known), known.join(", ")),
    ))
}

pub(super) fn hint(found: &str, known: &[&str]) -> String {
    parse::nearest(found, known.iter().copied())
        .map_or_else(String::new, |near| format!("did you mean {near:?}? "))
}

/// Turns serde's message about the key at `path` into ours. Serde quotes names in backticks: first what it found,
/// then what it expected.
fn readable(path: &str, message: &str) -> ScenarioError {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let known = quoted.get(1..).unwrap_or_default();
    let join = |parent: &str, child: &str| {
        if parent.is_empty() { child.to_string() } else { format!("{parent}.{child}") }
    };
    if message.starts_with("unknown field") {
        let found = quoted.first().unwrap_or(&"");
        let key = if path.ends_with(found) { path.to_string() } else { join(path, found) };
        ScenarioError::new(key, format!("unknown key; {}accepted: {}", hint(found, known), known.join(", ")))
    } else if message.starts_with("unknown variant") {
        let found = quoted.first().unwrap_or(&"");
        ScenarioError::new(
            path,
            format!("found {found:?}; {}accepted: {}", hint(found, known), known.join(", ")),
        )
    } else if message.starts_with("missing field") {
        ScenarioError::new(join(path, quoted.first().unwrap_or(&"")), "missing, and it has no default")
    } else {
        let mismatch = message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "));
        match mismatch.and_then(|mismatch| mismatch.split_once(", expected ")) {
            Some((found, accepted)) => {
                let found = found.replace('`', "");
                ScenarioError::new(path, format!("found {found}; accepted: {}", plain(accepted)))
            }
            None => ScenarioError::new(path, message),
        }
    }
}

/// What serde calls a type, in a scenario writer's words; our own texts pass.
fn plain(expected: &str) -> &str {
    match expected {
        "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        "a sequence" => "a list, such as [[traffic]] makes",
        _ if expected.starts_with("struct ") => "a table with keys",
        _ => expected,
    }
}
