//! The inner state that a discipline shows, in the form of a decision trace.

use goodqueue_qdisc::{AnyQdisc, Backlog, Packet, Probe, Qdisc};

/// The reason why our probe may leave out a variable of a decision trace.
enum Excuse {
    /// Its information is in other columns of the trace, or no decision depends on it.
    Untold,
    /// Our discipline shows it only with an option. Without the option it can only be 0.
    Zero,
}

/// The variables of recorded decision traces that our probe does not show, by algorithm. Any other missing variable
/// is a difference. Otherwise a renamed or lost variable of a probe would be a check that is no longer made.
const UNSHOWN: &[(&str, &[&str], Excuse)] = &[
    // Counters of marks and of drops at the limit, which the columns `marks` and `drops` give packet by packet. And
    // the largest packet so far, which Linux's law no longer uses.
    ("codel", &["ecn_mark", "ce_mark", "drop_overlimit", "maxpacket"], Excuse::Untold),
    ("fq_codel", &["ecn_mark", "ce_mark", "maxpacket"], Excuse::Untold),
    // RED's counters. A line without `redflowlimit` does not have them, but Linux shows them all the same.
    ("sfq", &["prob_drop", "forced_drop", "prob_mark", "forced_mark"], Excuse::Zero),
    ("sfq", &["prob_mark_head", "forced_mark_head"], Excuse::Zero),
];

/// Returns whether a trace of `algorithm` may have `name=value` although our probe does not show `name`.
pub(crate) fn may_be_unshown(algorithm: &str, name: &str, value: &str) -> bool {
    UNSHOWN.iter().any(|(of, names, excuse)| {
        let excused = matches!(excuse, Excuse::Untold) || value == "0";
        *of == algorithm && names.contains(&name) && excused
    })
}

/// Our inner state, as a decision trace writes it.
#[derive(Default)]
pub(crate) struct Seen(Vec<(&'static str, Shown)>);

/// The value of one variable.
pub(crate) enum Shown {
    Integer(i128),
    Real(f64),
    Text(String),
}

impl Seen {
    /// Returns the state that `qdisc` shows, and the backlog that every discipline has.
    pub(crate) fn of<P: Packet>(qdisc: &AnyQdisc<P>) -> Self {
        let mut seen = Self::default();
        qdisc.probe(&mut seen);
        let Backlog { packets, bytes } = qdisc.backlog();
        for (name, value) in [("qlen", packets.into()), ("backlog", bytes.into())] {
            if seen.get(name).is_none() {
                seen.integer(name, value);
            }
        }
        seen
    }

    /// Returns the variable called `name`, with the discipline's own spelling of the name.
    pub(crate) fn get(&self, name: &str) -> Option<&(&'static str, Shown)> {
        self.0.iter().find(|(known, _)| *known == name)
    }
}

impl Probe for Seen {
    fn integer(&mut self, name: &'static str, value: i128) {
        self.0.push((name, Shown::Integer(value)));
    }
    fn real(&mut self, name: &'static str, value: f64) {
        self.0.push((name, Shown::Real(value)));
    }
    fn text(&mut self, name: &'static str, value: String) {
        self.0.push((name, Shown::Text(value)));
    }
}

impl Shown {
    /// Returns whether `text` is the same value: integers exactly, reals to nine digits.
    pub(crate) fn is(&self, text: &str) -> bool {
        match self {
            Self::Integer(ours) => text.parse() == Ok(*ours),
            Self::Real(ours) => text.parse::<f64>().is_ok_and(|theirs| {
                (ours - theirs).abs() <= 1e-9 * ours.abs().max(theirs.abs()).max(f64::MIN_POSITIVE)
            }),
            Self::Text(ours) => ours == text,
        }
    }
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}
