//! What a discipline shows of its inner state, as a trace writes it.

use goodqueue_qdisc::{AnyQdisc, Backlog, Packet, Probe, Qdisc};

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
