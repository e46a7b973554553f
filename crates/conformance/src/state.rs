//! What a discipline shows of its inner state, as a trace writes it.

use goodqueue_qdisc::{AnyQdisc, Backlog, Packet, Probe, Qdisc};

/// Why a variable of a trace may be missing from what we show.
enum Excuse {
    /// What it counts is in the trace's other columns, or no decision depends on it.
    Untold,
    /// Ours shows it only with an option; without, it can be nothing but 0.
    Zero,
}

/// The variables of recorded traces that our probe does not show, by algorithm. Any other that is missing is a
/// difference: else a renamed or lost variable of a probe would be a check that is no longer made.
const UNSHOWN: &[(&str, &[&str], Excuse)] = &[
    // Counters of marks and of drops at the limit, which the columns `marks` and `drops` tell packet by packet; and
    // the largest packet so far, which Linux's law no longer looks at.
    ("codel", &["ecn_mark", "ce_mark", "drop_overlimit", "maxpacket"], Excuse::Untold),
    ("fq_codel", &["ecn_mark", "ce_mark", "maxpacket"], Excuse::Untold),
    // The counters of RED, which a line without `redflowlimit` does not have; Linux shows them all the same.
    ("sfq", &["prob_drop", "forced_drop", "prob_mark", "forced_mark"], Excuse::Zero),
    ("sfq", &["prob_mark_head", "forced_mark_head"], Excuse::Zero),
];

/// Whether a trace of `algorithm` may say `name=value` although our probe does not show `name`.
pub(crate) fn may_be_unshown(algorithm: &str, name: &str, value: &str) -> bool {
    UNSHOWN.iter().any(|(of, names, excuse)| {
        let excused = matches!(excuse, Excuse::Untold) || value == "0";
        *of == algorithm && names.contains(&name) && excused
    })
}

/// Our inner state, as the trace would write it.
#[derive(Default)]
pub(crate) struct Seen(Vec<(&'static str, Shown)>);

/// The value of one variable.
pub(crate) enum Shown {
    Integer(i128),
    Real(f64),
    Text(String),
}

impl Seen {
    /// What `qdisc` shows, with what every discipline can tell added.
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

    /// The variable called `name`, under the discipline's own spelling.
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
    /// Whether `text` says the same: integers exactly, reals to nine digits.
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
