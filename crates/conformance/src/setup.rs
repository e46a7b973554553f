//! The header of a decision trace, as the `tc` line that our registry takes. For a trace of ours also the reverse
//! (`write`).
//!
//! There is one table per algorithm of the kernel (`table`). Other disciplines and variants have their line in the
//! header. If our discipline does not know a value, the registry refuses it, so the tables need not know what is
//! implemented.

mod cake;
mod read;
mod table;
mod write;

use crate::arrival::Arrival;
use crate::trace::{self, Header};
use goodqueue_qdisc::packet::Socket;
use goodqueue_qdisc::{AnyQdisc, Args, Link, param, registry};
use goodqueue_units::{Rate, Release};

pub(crate) use write::{Pairs, header};

/// The way from one key of the header to words of the line, and back. A missing key gives no words.
enum Rule {
    /// `key=V` becomes `word Vunit`.
    Value(&'static str, &'static str, &'static str),
    /// `key=V V V` becomes `word V V V`.
    List(&'static str, &'static str),
    /// `key=1` becomes `word`, `key=0` becomes `noword`.
    Flag(&'static str, &'static str),
    /// Bit number `1` of `key` becomes `word` if it is set.
    Bit(&'static str, u32, &'static str),
    /// `key`, if present, must have this value. Any other value is an option that our line has no word for.
    Only(&'static str, &'static str),
    /// Words that need more than one key, with functions to read and to write them.
    Words(fn(&Header) -> Result<String, Refusal>, fn(&Args, &Link, &mut Pairs)),
    /// `key` always has this value. It is written for readers of our traces, and not read.
    Note(&'static str, &'static str),
    /// `key` is the time `word` in units of 2^n ns, where `n` is the third field. Written, not read.
    Ticks(&'static str, &'static str, u32),
}
use Rule::{Bit, Flag, List, Note, Only, Ticks, Value, Words};

/// The reason why there is no discipline for a header.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The header is broken.
    Malformed(String),
    /// We have no such discipline, or our discipline has no such option.
    Unsupported(String),
}

impl From<String> for Refusal {
    fn from(what: String) -> Self {
        Self::Malformed(what)
    }
}

/// Returns the value of the parameter `word`, which the discipline of `args` must list.
fn value(args: &Args, word: &str) -> param::Value {
    args.value(word).unwrap_or_else(|| panic!("{} does not list {word}", args.spec.name))
}

fn integer(args: &Args, word: &str) -> Option<u64> {
    if let param::Value::Integer(integer) = value(args, word) { Some(integer) } else { None }
}

fn real(args: &Args, word: &str) -> Option<f64> {
    if let param::Value::Real(real) = value(args, word) { Some(real) } else { None }
}

fn flag(args: &Args, word: &str) -> bool {
    value(args, word) == param::Value::Flag(true)
}

/// Returns whether `chosen` is the word that the parameter `word` has as its value.
fn is(args: &Args, word: &str, chosen: &str) -> bool {
    let value = value(args, word);
    args.spec.param(word).is_some_and(|param| param.show(value) == chosen)
}

/// The key of a `tc` line, for disciplines and variants that the kernel does not have, and which have no table.
const LINE: &str = "line";

/// The kernel's timer frequency, in whose ticks headers give periods.
const HZ: u64 = 250;
const JIFFY_NS: u64 = 1_000_000_000 / HZ;

/// The sockets that send a trace's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Packets are forwarded.
    None,
    /// Each flow has a TCP socket.
    Tcp,
    /// Each flow of odd number has a TCP socket.
    TcpOdd,
    /// Each flow has a socket that is not TCP's.
    Other,
}

impl Sockets {
    /// Reads the header's `pace` (fq) and `local_flows` (fq_codel).
    fn read(header: &Header) -> Result<Self, Refusal> {
        match header.get("local_flows") {
            None | Some("none") => {}
            Some("all") => return Ok(Self::Tcp),
            Some("odd") => return Ok(Self::TcpOdd),
            Some(other) => {
                return Err(format!("local_flows: found {other:?}; accepted: none, odd, all").into());
            }
        }
        match header.get("pace") {
            None | Some("none") => Ok(Self::None),
            Some("sk") => Ok(Self::Other),
            Some("edt" | "edt_any") => Ok(Self::Tcp),
            Some(other) => Err(format!("pace: found {other:?}; accepted: none, sk, edt, edt_any").into()),
        }
    }

    /// Returns the socket of a packet of the sender `flow`, with the column `pace_Bps` as its rate.
    pub(crate) fn of(self, flow: u64, pacing: Option<Rate>) -> Option<Socket> {
        let has_one = match self {
            Self::None => false,
            Self::TcpOdd => flow % 2 == 1,
            Self::Tcp | Self::Other => true,
        };
        has_one.then_some(Socket { id: flow, is_tcp: self != Self::Other, pacing })
    }
}

/// The source of a packet's flow hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlowHash {
    /// The `hash` column.
    Column,
    /// The number from which the column was computed with a key. Our discipline draws this key itself (SFQ).
    Unperturbed {
        /// The trace's seed.
        seed: u64,
        /// Number of hashes.
        groups: u64,
    },
}

impl FlowHash {
    /// Returns the hash of a packet of the sender `flow` with the column `column`.
    pub(crate) fn of(self, flow: u64, column: u32) -> u32 {
        match self {
            Self::Column => column,
            Self::Unperturbed { seed, groups } => flow_hash(seed, flow % groups),
        }
    }
}

/// Returns the hash of a flow of the group `group` in the trace of `seed`.
pub(crate) const fn flow_hash(seed: u64, group: u64) -> u32 {
    mix(seed.wrapping_mul(1_000_003).wrapping_add(group).wrapping_add(0x9e37_79b9_7f4a_7c15)) as u32
}

/// Returns SFQ's hash with the present keys, which is the trace's column.
pub(crate) const fn perturbed(hash: u32, [k0, k1]: [u64; 2]) -> u32 {
    mix((hash as u64 ^ k0).wrapping_add(k1)) as u32
}

/// Computes the finaliser of splitmix64 (Steele, Lea, Flood 2014).
const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Rule {
    fn words(&self, header: &Header) -> Result<String, Refusal> {
        Ok(match *self {
            Value(key, word, unit) => match header.get(key) {
                None => String::new(),
                Some(value) => {
                    header.number::<f64>(key)?;
                    format!("{word} {value}{unit}")
                }
            },
            List(key, word) => match header.get(key) {
                None => String::new(),
                Some(list) => {
                    list.split(' ').try_for_each(|text| trace::number::<u64>(text, key).map(|_| ()))?;
                    format!("{word} {list}")
                }
            },
            Flag(key, word) => match header.get(key) {
                None => String::new(),
                Some(_) if header.number::<u64>(key)? == 0 => format!("no{word}"),
                Some(_) => word.to_string(),
            },
            Bit(key, bit, word) if header.number::<u64>(key)? >> bit & 1 != 0 => word.to_string(),
            Bit(..) => String::new(),
            Only(key, value) => match header.get(key) {
                Some(other) if other != value => {
                    return Err(Refusal::Unsupported(format!("{key}={other} has no word here")));
                }
                _ => String::new(),
            },
            Words(words, _) => words(header)?,
            Note(..) | Ticks(..) => String::new(),
        })
    }
}

/// The discipline of a header, ready for the replay.
pub(crate) struct Setup {
    pub(crate) qdisc: AnyQdisc<Arrival>,
    pub(crate) hash: FlowHash,
    pub(crate) sockets: Sockets,
}

/// Returns the `tc` line of the trace's discipline.
pub(crate) fn line(algorithm: &str, header: &Header) -> Result<String, Refusal> {
    if let Some(line) = header.get(LINE) {
        // A size table stands before the discipline's name.
        let name = registry::parse_line(line).ok().map(|args| args.spec.name);
        return match name.or_else(|| line.split_whitespace().next()) {
            Some(name) if name == algorithm => Ok(line.to_string()),
            _ => Err(format!("{LINE}: found {line:?}; accepted: a line of {algorithm}").into()),
        };
    }
    let rules = table::TABLE.iter().find(|(name, _)| *name == algorithm);
    let (_, rules) =
        rules.ok_or_else(|| Refusal::Unsupported(format!("{algorithm:?} is not implemented")))?;
    Ok(format!("{algorithm} {}", words(rules, header)?))
}

/// Returns the words of all `rules`.
fn words(rules: &[Rule], header: &Header) -> Result<String, Refusal> {
    let words = rules.iter().map(|rule| rule.words(header)).collect::<Result<Vec<_>, _>>()?;
    Ok(words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Returns the release whose law the trace shows: that of the kernel in the header.
fn release(header: &Header) -> Release {
    header.get("kernel").and_then(Release::of_kernel).unwrap_or_default()
}

/// Builds the discipline that `header` describes, with the law of `wanted` or else of the header's kernel, or says why
/// there is none.
pub(crate) fn build(algorithm: &str, header: &Header, wanted: Option<Release>) -> Result<Setup, Refusal> {
    // If the rate changes, the header lists all rates. Disciplines are set up with the first.
    let bps = header.get("link_bps").and_then(|list| list.split(',').next());
    let rate = bps.and_then(|bps| Rate::from_bps(bps.parse().ok()?));
    let rate = rate.ok_or_else(|| "the header has no link_bps above zero".to_string())?;
    let link = Link { rate, mtu: header.number("psched_mtu_bytes")? };
    let hash = if algorithm == "sfq" {
        let groups = header.number::<u64>("hash_groups")?.max(1);
        FlowHash::Unperturbed { seed: header.number("seed")?, groups }
    } else {
        FlowHash::Column
    };
    let unsupported = |error: goodqueue_qdisc::Error| Refusal::Unsupported(error.to_string());
    let args = registry::parse_line(&line(algorithm, header)?).map_err(unsupported)?;
    let args = args.in_release(wanted.unwrap_or_else(|| release(header)));
    let qdisc = AnyQdisc::build(&args, &link).map_err(unsupported)?;
    Ok(Setup { qdisc, hash, sockets: Sockets::read(header)? })
}
