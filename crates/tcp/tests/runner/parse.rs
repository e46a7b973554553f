//! Turns the text of a script into steps, with errors that name what was found and what is accepted.

use super::Fault;
use super::accecn::{ace, option};
use super::wire::{Acks, CODEPOINTS, FLAGS, Wire};
use goodqueue_tcp::{Buffer, Config, EcnMode, Flags, OptionUse};
use goodqueue_units::Duration;
use goodqueue_units::parse::{duration_with_unit, nearest, tc_bytes};

pub struct Script {
    /// The line of `awaits`, and the feature without which the script cannot pass.
    pub awaits: Option<(usize, String)>,
    pub settings: Settings,
    pub steps: Vec<Step>,
    /// The last line.
    pub end: usize,
}

/// The lines above the first event.
pub struct Settings {
    /// All settings except `stack` and `cc`, whose names the connection's crate knows.
    pub config: Config,
    /// Line and name, where given.
    pub stack: Option<(usize, String)>,
    pub cc: Option<(usize, String)>,
    pub is_server: bool,
    /// The handshake is over, with this RTT, when the script begins.
    pub connected: Option<Duration>,
    /// The bytes that the peer offers until a segment has `win`.
    pub peer_window: u32,
    /// The peer uses timestamps, and each of its segments in the script states them.
    pub timestamps: bool,
    /// How much earlier or later than stated a segment may leave.
    pub tolerance: Duration,
}

pub struct Step {
    pub line: usize,
    /// The time since the script's beginning.
    pub at: Duration,
    pub event: Event,
}

pub enum Event {
    Arrives(Wire),
    Leaves(Wire),
    Write(u64),
    WriteUnlimited,
    Close,
    /// The application stops reading, or reads all and continues to read.
    Pause,
    Resume,
    Check(Vec<(&'static str, Value)>),
    Silence,
}

/// The value that a check expects, or finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Count(u64),
    Time(Duration),
    Word(&'static str),
}

enum Kind {
    Count,
    Time,
    Word(&'static [&'static str]),
    CountOr(&'static str),
}

const YES: Kind = Kind::Word(&["yes", "no"]);

/// The checks of a script, and the kind of their values. `play` finds the values.
const CHECKS: [(&str, Kind); 18] = [
    ("cwnd", Kind::Count),
    ("ssthresh", Kind::CountOr("infinite")),
    ("state", Kind::Word(&["open", "disorder", "cwr", "recovery", "loss"])),
    ("in_flight", Kind::Count),
    ("rto", Kind::Time),
    ("srtt", Kind::Time),
    ("min_rtt", Kind::Time),
    ("sent", Kind::Count),
    ("retransmitted", Kind::Count),
    ("timeouts", Kind::Count),
    ("recoveries", Kind::Count),
    ("ecn_reductions", Kind::Count),
    ("delivered", Kind::Count),
    ("acked", Kind::Count),
    ("established", YES),
    ("ecn", YES),
    ("closed", YES),
    ("peer_finished", YES),
];

const SETTINGS: [&str; 17] = [
    "awaits",
    "role",
    "connected",
    "stack",
    "cc",
    "ecn",
    "tcp_ecn_option",
    "mss",
    "initial_window",
    "initial_ssthresh",
    "receive_window",
    "tcp_wmem",
    "peer_window",
    "timestamps",
    "abe",
    "pacing",
    "tolerance",
];

const EVENTS: [&str; 7] = ["<", ">", "write", "pause", "resume", "close", "silence"];

const TIME: &str = "a time with its unit such as 100ms, or +5ms after the line before";

pub fn parse(text: &str) -> Result<Script, Fault> {
    let config = Config { mss: 1000, ..Config::default() };
    let settings = Settings {
        config,
        stack: None,
        cc: None,
        is_server: false,
        connected: None,
        peer_window: 1 << 30,
        timestamps: false,
        tolerance: Duration::ZERO,
    };
    let mut script = Script { awaits: None, settings, steps: Vec::new(), end: 0 };
    let mut at = Duration::ZERO;
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        script.end = line_number;
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        let fault = |text: String| Fault::new(line_number, text);
        let is_check = *first == "ecn" && !script.steps.is_empty(); // the one word that is a setting and a check
        if SETTINGS.contains(first) && !is_check {
            if !script.steps.is_empty() {
                return Err(fault(format!("{first} is a setting; it belongs above the first event")));
            }
            setting(&mut script, line_number, &words).map_err(fault)?;
            continue;
        }
        let mut words = words.as_slice();
        if first.starts_with(|c: char| c == '+' || c.is_ascii_digit()) {
            at = time(first, at).map_err(fault)?;
            words = &words[1..];
        }
        let event = event(words).map_err(fault)?;
        script.steps.push(Step { line: line_number, at, event });
    }
    if script.steps.is_empty() {
        return Err(Fault::new(script.end, "no event; a script has one at least"));
    }
    Ok(script)
}

/// Reads `100ms`, or `+5ms` after `last`.
fn time(word: &str, last: Duration) -> Result<Duration, String> {
    let span = |text: &str| duration_with_unit(text).map_err(|_| found(word, TIME));
    match word.strip_prefix('+') {
        Some(later) => Ok(last + span(later)?),
        None => match span(word)? {
            at if at < last => Err(format!("{at} is before the line above, which is at {last}")),
            at => Ok(at),
        },
    }
}

pub fn found(word: &str, accepted: &str) -> String {
    format!("found {word:?}; accepted: {accepted}")
}

fn unknown(word: &str, known: &[&str]) -> String {
    let hint = nearest(word, known.iter().copied()).map(|near| format!(" (did you mean {near}?)"));
    format!("found {word:?}{}; accepted: {}", hint.unwrap_or_default(), known.join(", "))
}

pub fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| found(word, "a whole number"))
}

fn is_on(word: &str) -> Result<bool, String> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(unknown(word, &["on", "off"])),
    }
}

fn setting(script: &mut Script, line: usize, words: &[&str]) -> Result<(), String> {
    let &[key, word] = words else {
        if let ["awaits", what @ ..] = words
            && !what.is_empty()
        {
            script.awaits = Some((line, what.join(" ")));
            return Ok(());
        }
        return Err(format!("found {:?}; accepted: {} and one word", words.join(" "), words[0]));
    };
    let size = |word| tc_bytes(word).map(|bytes| bytes.min(1 << 30) as u32);
    let settings = &mut script.settings;
    match key {
        "awaits" => script.awaits = Some((line, word.to_string())),
        "role" => match word {
            "client" => settings.is_server = false,
            "server" => settings.is_server = true,
            _ => return Err(unknown(word, &["client", "server"])),
        },
        "connected" => settings.connected = Some(duration_with_unit(word)?),
        "stack" => settings.stack = Some((line, word.to_string())),
        "cc" => settings.cc = Some((line, word.to_string())),
        "ecn" => match word {
            "off" => settings.config.ecn = EcnMode::Off,
            "classic" => settings.config.ecn = EcnMode::Classic,
            "accecn" => settings.config.ecn = EcnMode::Accurate,
            _ => return Err(unknown(word, &["off", "classic", "accecn"])),
        },
        "tcp_ecn_option" => {
            settings.config.accecn_option = match word {
                "0" => OptionUse::Never,
                "1" => OptionUse::OnDemand,
                "2" => OptionUse::Always,
                "3" => OptionUse::Persistent,
                _ => return Err(found(word, "0 to 3")),
            }
        }
        "mss" => settings.config.mss = number(word)?,
        "initial_window" => settings.config.initial_window = number(word)?,
        "initial_ssthresh" => settings.config.initial_ssthresh = number(word)?,
        "receive_window" => settings.config.receive_window = size(word)?,
        "tcp_wmem" => settings.config.send_buffer = Some(Buffer { most: size(word)?, ..Buffer::WMEM }),
        "peer_window" => settings.peer_window = size(word)?,
        "tolerance" => settings.tolerance = duration_with_unit(word)?,
        "timestamps" => settings.timestamps = is_on(word)?,
        "abe" => settings.config.cc_options.abe = is_on(word)?,
        "pacing" => settings.config.pacing = is_on(word)?,
        _ => {}
    }
    Ok(())
}

fn event(words: &[&str]) -> Result<Event, String> {
    match words {
        ["<", rest @ ..] => wire(rest).map(Event::Arrives),
        [">", rest @ ..] => wire(rest).map(Event::Leaves),
        ["write", "unlimited"] => Ok(Event::WriteUnlimited),
        ["write", bytes] => number(bytes).map(Event::Write).map_err(|_| found(bytes, "bytes, or unlimited")),
        ["pause"] => Ok(Event::Pause),
        ["resume"] => Ok(Event::Resume),
        ["close"] => Ok(Event::Close),
        ["silence"] => Ok(Event::Silence),
        [] => Err(format!("found a time alone; accepted after it: {}", EVENTS.join(", "))),
        [word, ..] if CHECKS.iter().any(|(name, _)| name == word) => checks(words).map(Event::Check),
        [word, ..] => {
            let checks = CHECKS.iter().map(|(name, _)| *name);
            let known: Vec<&str> = EVENTS.into_iter().chain(checks).chain(SETTINGS).collect();
            Err(unknown(word, &known))
        }
    }
}

/// Reads checks such as `cwnd 10, state open`.
fn checks(words: &[&str]) -> Result<Vec<(&'static str, Value)>, String> {
    let joined = words.join(" ");
    let one = |part: &str| {
        let mut words = part.split_whitespace();
        let (Some(name), Some(word), None) = (words.next(), words.next(), words.next()) else {
            return Err(found(part.trim(), "a name and a value, with a comma before the next name"));
        };
        let Some((name, kind)) = CHECKS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(name, &CHECKS.map(|(name, _)| name)));
        };
        let among = |known: &[&'static str]| {
            let found = known.iter().find(|known| **known == word);
            found.map(|word| Value::Word(word)).ok_or_else(|| unknown(word, known))
        };
        let value = match kind {
            Kind::Count => Value::Count(number(word)?),
            Kind::CountOr(other) if word == *other => Value::Word(other),
            Kind::CountOr(_) => Value::Count(number(word)?),
            Kind::Time => Value::Time(duration_with_unit(word)?),
            Kind::Word(known) => among(known)?,
        };
        Ok((*name, value))
    };
    joined.split(',').map(one).collect()
}

/// Reads the segment after `<` or `>`.
fn wire(words: &[&str]) -> Result<Wire, String> {
    const PARTS: &str = "START:END, syn, fin, ae, cwr, ece, psh, no-psh, ack N, ack A..B by STEP, sack A:B …, win BYTES, \
                         ts VALUE/ECHO, wscale N, ace N, accecn0|accecn1 A,B[,C], not-ect, ect0, ect1, ce, (N segments)";
    let mut wire = Wire { segments: 1, ..Wire::default() };
    let mut count = None;
    let mut words = words.iter().copied().peekable();
    if words.peek().is_none() {
        return Err(format!("found no segment; accepted: {PARTS}"));
    }
    while let Some(word) = words.next() {
        if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == word) {
            wire.flags |= *flag;
        } else if let Some((_, ecn)) = CODEPOINTS.iter().find(|(name, _)| *name == word) {
            wire.ecn = *ecn;
        } else if word.contains(':') {
            wire.range = Some(range(word)?);
        } else if let Some(digits) = word.strip_prefix('(') {
            match words.next() {
                Some("segments)") => count = Some(number(digits)?),
                other => return Err(found(other.unwrap_or(""), "(N segments)")),
            }
        } else {
            let mut argument = || words.next().ok_or_else(|| format!("found {word} without a value"));
            match word {
                "ack" => wire.acks = Some(acks(argument()?, &mut words)?),
                "win" => wire.win = Some(number(argument()?)?),
                "wscale" => wire.wscale = Some(number(argument()?)?),
                "ace" => wire.flags |= ace(argument()?)?,
                "accecn0" | "accecn1" => wire.accecn = Some(option(word, argument()?)?),
                "ts" => wire.ts = Some(pair(argument()?, '/')?),
                "sack" => {
                    while let Some(block) = words.next_if(|word| word.contains(':')) {
                        wire.sack.push(range(block)?);
                    }
                }
                "psh" | "no-psh" => wire.psh = Some(word == "psh"),
                _ => return Err(found(word, PARTS)),
            }
        }
    }
    count_segments(&mut wire, count)?;
    check_shape(&wire)?;
    Ok(wire)
}

/// Sets the number of segments. Several acknowledgements in a row state it by their range, data states it in brackets.
fn count_segments(wire: &mut Wire, count: Option<u32>) -> Result<(), String> {
    let several = wire.acks.filter(|acks| acks.last != acks.first);
    match (several, wire.range, count) {
        (Some(_), Some(_), _) => Err("several acknowledgements go with no payload".to_string()),
        (Some(acks), None, _) => {
            wire.segments = (acks.last - acks.first) / acks.step + 1;
            match count {
                Some(count) if count != wire.segments => {
                    Err(format!("these are {} segments, not {count}", wire.segments))
                }
                _ => Ok(()),
            }
        }
        (None, _, Some(0)) => Err(found("(0 segments)", "one segment at least")),
        (None, _, Some(count)) => {
            wire.segments = count;
            Ok(())
        }
        (None, ..) => Ok(()),
    }
}

fn check_shape(wire: &Wire) -> Result<(), String> {
    if wire.sack.len() > 3 {
        return Err(format!("found {} SACK blocks; accepted: three at most", wire.sack.len()));
    }
    let silent = wire.acks.is_none() && wire.range.is_none() && !wire.flags.contains(Flags::SYN);
    if silent {
        return Err("a segment has a range, an ack number, or syn".to_string());
    }
    if wire.flags.contains(Flags::FIN) && wire.range.is_none() {
        return Err("fin needs a range; one without payload is as 1001:1001 fin".to_string());
    }
    if wire.flags.contains(Flags::SYN) && wire.range.is_some() {
        return Err("a syn has no payload".to_string());
    }
    Ok(())
}

/// Reads `N`, or `A..B by STEP`.
fn acks<'a>(word: &str, rest: &mut impl Iterator<Item = &'a str>) -> Result<Acks, String> {
    const ACCEPTED: &str = "ack N, or ack A..B by STEP where STEP divides B - A";
    let Some((first, last)) = word.split_once("..") else {
        let ack = number(word)?;
        return Ok(Acks { first: ack, last: ack, step: 0 });
    };
    let (first, last): (u32, u32) = (number(first)?, number(last)?);
    let (Some("by"), Some(step)) = (rest.next(), rest.next()) else {
        return Err(found(word, ACCEPTED));
    };
    let step: u32 = number(step)?;
    if last <= first || step == 0 || (last - first) % step != 0 {
        return Err(found(&format!("{word} by {step}"), ACCEPTED));
    }
    Ok(Acks { first, last, step })
}

/// Reads a range such as `1:1001`. For a FIN alone the end is the start.
fn range(word: &str) -> Result<(u32, u32), String> {
    let (start, end) = pair(word, ':')?;
    if start > end {
        return Err(found(word, "START:END with START not after END"));
    }
    Ok((start, end))
}

fn pair(word: &str, between: char) -> Result<(u32, u32), String> {
    let accepted = format!("two numbers with {between:?} between them");
    let parsed = word.split_once(between).and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parsed.ok_or_else(|| found(word, &accepted))
}
