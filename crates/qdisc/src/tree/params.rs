//! The words of classful disciplines and of their classes, as `tc` takes them.
//!
//! Source: iproute2's q_htb.c, q_hfsc.c, q_drr.c, q_ets.c and q_prio.c.

mod curves;

use super::curve::Spec;
use super::htb::PRIORITIES;
use super::plan::refusal::{by_linux, by_tc};
use super::rounds::QUANTA;
use super::words::{Line, hexadecimal, number};
use crate::param::{Args, Digits, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::sched::bucket::{ANY_RATE, LINKLAYER, MPU, OVERHEAD};
use crate::sched::htb::{BURST, CBURST, CEIL, MTU};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write as _;
use goodqueue_units::{Rate, parse};

const MAN: &str = "tc-htb(8)";

pub(super) const RATE: Param<Option<Rate>> =
    ANY_RATE.help("rate of the first bucket: what the class may send without borrowing");
pub(super) const PRIO: Param<u32> =
    Param::count("prio", "priority of a leaf: the lowest number borrows first")
        .default(0)
        .range(0, u32::MAX)
        .digits(Digits::Decimal)
        .abbreviates();
pub(super) const QUANTUM: Param<u32> = Param::count(
    "quantum",
    "bytes that a leaf sends in its turn; 0: the rate divided by r2q, 1000 to 200000",
)
.default(0)
.range(0, i32::MAX as u32)
.digits(Digits::Decimal)
.abbreviates();

const HTB_CLASS_PARAMS: &[ParamSpec] = params! { from MAN =>
    PRIO, MTU, MPU.digits(Digits::Decimal).abbreviates(), OVERHEAD, LINKLAYER, QUANTUM,
    BURST, Param::alias("buffer", &BURST), Param::alias("maxburst", &BURST),
    CBURST, Param::alias("cbuffer", &CBURST), Param::alias("cmaxburst", &CBURST),
    CEIL, RATE,
};

/// The words of a class of `htb`.
pub(super) static HTB_CLASS: QdiscSpec = QdiscSpec::new("htb", HTB_CLASS_PARAMS)
    .summary("A class of the hierarchical token bucket: rate, ceiling, and its turn among its siblings")
    .source(MAN);

/// Words of a tree as a discipline. It has none: a tree is made of commands.
pub static TREE: QdiscSpec = QdiscSpec::new("tc", &[])
    .summary("A tree of classes (htb, hfsc, drr, ets, prio, mq), as the tc commands that make it")
    .source("tc(8), tc-htb(8), tc-hfsc(7), tc-drr(8), tc-ets(8), tc-prio(8)");

/// The parameters of a classful discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scheduler {
    Htb { default: u32, r2q: u32, direct_qlen: u32 },
    Hfsc { default: u16 },
    Drr,
    Ets { strict: u32, quanta: Vec<u32>, priomap: [u32; 16] },
    Prio { bands: u32, priomap: [u32; 16] },
    Mq,
}

/// The parameters of a class.
#[derive(Clone, Debug)]
pub(super) enum Class {
    Htb(Arc<Args>),
    Hfsc([Option<Spec>; 3]),
    /// Of `drr`. `None`: a full frame.
    Drr(Option<u32>),
    /// What a command says of a band of `ets`.
    Ets(Option<u32>),
    /// A band of `ets`, `prio` or `mq`, which comes with its discipline.
    Band,
    /// A class of `mq` whose discipline a command has deleted: unlike other classes it has none then (`noop`).
    Closed,
}

/// The largest number of bands (`TCQ_PRIO_BANDS`).
pub(super) const MOST_BANDS: u32 = 16;
/// The band of each priority, if `prio` is given none (tc-prio(8)).
const PRIOMAP: [u32; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
/// The txqueuelen of an Ethernet device (`DEFAULT_TX_QUEUE_LEN`), and of an ifb (drivers/net/ifb.c, `TX_Q_LIMIT`).
pub(super) const TXQUEUELEN: u32 = 1000;
const OF_IFB: u32 = 32;

/// Returns the txqueuelen of the device `name`. The commands do not say its type, so an ifb has a name that begins so.
pub(super) fn txqueuelen(name: &str) -> u32 {
    if name.starts_with("ifb") { OF_IFB } else { TXQUEUELEN }
}

impl Scheduler {
    /// Reads the words of the discipline `kind` on a device with this `txqueuelen`. `None`: it has no classes.
    pub(super) fn read(
        kind: &str,
        line: &mut Line<'_>,
        frame: u32,
        txqueuelen: u32,
    ) -> Result<Option<Self>, String> {
        Ok(Some(match kind {
            "htb" => Self::htb(line, txqueuelen)?,
            "hfsc" => {
                let mut default = 0;
                while let Some(word) = line.next() {
                    default = match word {
                        "default" => hexadecimal(line.value(word)?)?,
                        _ => return Err(unknown("hfsc", word, "default")),
                    };
                }
                Self::Hfsc { default: default as u16 }
            }
            "drr" | "mq" => match (line.next(), kind) {
                (Some(word), _) => return Err(unknown(kind, word, "no words")),
                (None, "drr") => Self::Drr,
                (None, _) => Self::Mq,
            },
            "ets" => Self::ets(line, frame)?,
            "prio" => {
                let (mut bands, mut priomap) = (3, PRIOMAP);
                while let Some(word) = line.next() {
                    match word {
                        "bands" => bands = number(line.value(word)?)?,
                        "priomap" => priomap_of(line, &mut priomap)?,
                        _ => return Err(unknown("prio", word, "bands, priomap")),
                    }
                }
                Self::Prio { bands, priomap }
            }
            _ => return Ok(None),
        }))
    }

    fn htb(line: &mut Line<'_>, txqueuelen: u32) -> Result<Self, String> {
        let (mut default, mut r2q, mut direct_qlen) = (0, 10, txqueuelen);
        while let Some(word) = line.next() {
            match word {
                _ if !word.is_empty() && "r2q".starts_with(word) => r2q = number(line.value(word)?)?.max(1),
                _ if word.len() > 1 && "default".starts_with(word) => {
                    default = hexadecimal(line.value(word)?)?
                }
                _ if word.len() > 1 && "direct_qlen".starts_with(word) => {
                    direct_qlen = number(line.value(word)?)?
                }
                "offload" => return Err("htb: found \"offload\"; accepted: htb in software".to_string()),
                _ => return Err(unknown("htb", word, "default, r2q, direct_qlen")),
            }
        }
        Ok(Self::Htb { default, r2q, direct_qlen })
    }

    fn ets(line: &mut Line<'_>, frame: u32) -> Result<Self, String> {
        let (mut bands, mut strict, mut quanta, mut priomap) = (0, 0, Vec::new(), None);
        while let Some(word) = line.next() {
            match word {
                "bands" => bands = number(line.value(word)?)?,
                "strict" => strict = number(line.value(word)?)?,
                "quanta" => {
                    while let Some(text) =
                        line.peek().filter(|text| text.starts_with(|one: char| one.is_ascii_digit()))
                    {
                        quanta.push(quantum("ets quanta", text)?);
                        line.next();
                    }
                }
                "priomap" => {
                    let mut numbers = [u32::MAX; 16];
                    priomap_of(line, &mut numbers)?;
                    priomap = Some(numbers);
                }
                _ => return Err(unknown("ets", word, "bands, strict, quanta, priomap")),
            }
        }
        if bands == 0 {
            bands = strict + quanta.len() as u32;
        }
        check("ets bands", bands, (1, MOST_BANDS))?;
        if strict + quanta.len() as u32 > bands {
            let found = format!("{strict} strict bands and {} quanta of ets", quanta.len());
            let said = "Not enough total bands to cover all the strict bands and quanta";
            return Err(by_tc(&found, &format!("{bands} bands in all"), said));
        }
        let of_frame = frame.clamp(QUANTA.0, QUANTA.1);
        let quanta = (0..bands).map(|band| match band.checked_sub(strict) {
            Some(at) => quanta.get(at as usize).copied().unwrap_or(of_frame),
            None => 0,
        });
        // Unless overridden, traffic goes to the last band.
        let priomap =
            priomap.unwrap_or([u32::MAX; 16]).map(|band| if band == u32::MAX { bands - 1 } else { band });
        priomap.iter().try_for_each(|band| check("ets priomap", *band, (0, bands - 1)))?;
        Ok(Self::Ets { strict, quanta: quanta.collect(), priomap })
    }

    /// Refuses what Linux refuses of words that `tc` has taken (`prio_tune`).
    pub(super) fn check(&self) -> Result<(), String> {
        let Self::Prio { bands, priomap } = self else { return Ok(()) };
        let refused = |what: &str, found: u32, accepted: &str| {
            Err(by_linux(&format!("prio {what} {found}"), accepted, "Invalid argument"))
        };
        match priomap.iter().find(|band| *band >= bands) {
            _ if !(2..=MOST_BANDS).contains(bands) => refused("bands", *bands, "2 to 16"),
            Some(band) => refused("priomap", *band, &format!("0 to {}", bands - 1)),
            None => Ok(()),
        }
    }

    /// Returns the name of the discipline.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Htb { .. } => "htb",
            Self::Hfsc { .. } => "hfsc",
            Self::Drr => "drr",
            Self::Ets { .. } => "ets",
            Self::Prio { .. } => "prio",
            Self::Mq => "mq",
        }
    }

    /// Returns how many bands there are. 0: classes are made by commands.
    pub(super) fn bands(&self) -> u32 {
        match self {
            Self::Ets { quanta, .. } => quanta.len() as u32,
            Self::Prio { bands, .. } => *bands,
            Self::Mq => 1,
            Self::Htb { .. } | Self::Hfsc { .. } | Self::Drr => 0,
        }
    }

    /// Returns the words that [`Scheduler::read`] reads, with the name.
    pub(super) fn words(&self) -> String {
        let list = |numbers: &[u32]| {
            numbers.iter().fold(String::new(), |mut all, number| {
                _ = write!(all, " {number}");
                all
            })
        };
        match self {
            Self::Htb { default, r2q, direct_qlen } => {
                format!("htb default {default:#x} r2q {r2q} direct_qlen {direct_qlen}")
            }
            Self::Hfsc { default } => format!("hfsc default {default:#x}"),
            Self::Drr => "drr".to_string(),
            Self::Mq => "mq".to_string(),
            Self::Prio { bands, priomap } => format!("prio bands {bands} priomap{}", list(priomap)),
            Self::Ets { strict, quanta, priomap } => {
                let bands = quanta.len();
                let strict_words = if *strict > 0 { format!(" strict {strict}") } else { String::new() };
                let quanta = &quanta[*strict as usize..];
                let quanta =
                    if quanta.is_empty() { String::new() } else { format!(" quanta{}", list(quanta)) };
                format!("ets bands {bands}{strict_words}{quanta} priomap{}", list(priomap))
            }
        }
    }

    /// Reads the words of a class of `kind`, before it is known of what its qdisc is.
    pub(super) fn class(kind: &str, line: &mut Line<'_>) -> Result<Class, String> {
        match kind {
            "htb" => {
                let args = Args::parse(&HTB_CLASS, &line.rest().join(" ")).map_err(|error| error.0)?;
                if !args.is_given("rate") {
                    return Err(by_tc(
                        "a class of htb without rate",
                        "rate and a rate",
                        "\"rate\" is required.",
                    ));
                }
                Ok(Class::Htb(Arc::new(args)))
            }
            "hfsc" => curves::read(line).map(Class::Hfsc),
            "drr" => quantum_alone("drr", line).map(Class::Drr),
            "ets" => quantum_alone("ets", line).map(Class::Ets),
            _ => {
                let said = format!("Qdisc \"{kind}\" is classless.");
                Err(by_tc(&format!("a class of {kind}"), "a class of htb, hfsc, drr or ets", &said))
            }
        }
    }
}

impl Class {
    /// Returns the words that [`Scheduler::class`] reads, with the name.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Htb(args) => args.to_string(),
            Self::Drr(Some(quantum)) => format!("drr quantum {quantum}"),
            Self::Drr(None) => "drr".to_string(),
            Self::Ets(Some(quantum)) => format!("ets quantum {quantum}"),
            Self::Ets(None) => "ets".to_string(),
            Self::Band | Self::Closed => String::new(),
            Self::Hfsc(curves) => {
                let mut words = "hfsc".to_string();
                for (name, curve) in CURVES.iter().zip(curves) {
                    if let Some(Spec { m1, d, m2 }) = curve {
                        _ = write!(words, " {name} m1 {m1}bps d {d}us m2 {m2}bps");
                    }
                }
                words
            }
        }
    }
}

/// The names of a class's curves in `hfsc`.
const CURVES: [&str; 3] = ["rt", "ls", "ul"];

/// Returns the priority of a leaf within Linux's bounds.
pub(super) fn priority(args: &Args) -> usize {
    (args.get(&PRIO) as usize).min(PRIORITIES - 1)
}

fn priomap_of(line: &mut Line<'_>, map: &mut [u32; 16]) -> Result<(), String> {
    let mut places = map.iter_mut();
    while let Some(text) = line.peek().filter(|text| text.starts_with(|one: char| one.is_ascii_digit())) {
        let place = places.next().ok_or("priomap: found more than 16 numbers; accepted: 16 at most")?;
        *place = number(text)?;
        line.next();
    }
    Ok(())
}

fn check(what: &str, found: u32, (least, most): (u32, u32)) -> Result<(), String> {
    if (least..=most).contains(&found) {
        Ok(())
    } else {
        Err(format!("{what}: found {found}; accepted: {least} to {most}"))
    }
}

fn unknown(kind: &str, word: &str, accepted: &str) -> String {
    format!("{kind}: found {word:?}; accepted: {accepted}")
}

/// Reads the words of a class of `kind` that has a quantum and no more.
fn quantum_alone(kind: &str, line: &mut Line<'_>) -> Result<Option<u32>, String> {
    let mut own = None;
    while let Some(word) = line.next() {
        own = match word {
            "quantum" => Some(quantum(&format!("{kind} quantum"), line.value(word)?)?),
            _ => return Err(unknown(kind, word, "quantum")),
        };
    }
    Ok(own)
}

fn quantum(what: &str, text: &str) -> Result<u32, String> {
    match parse::tc_bytes(text) {
        Ok(0) | Err(_) => Err(format!("{what}: found {text:?}; accepted: bytes, as 1514")),
        Ok(bytes) => Ok(bytes.clamp(QUANTA.0.into(), QUANTA.1.into()) as u32),
    }
}
