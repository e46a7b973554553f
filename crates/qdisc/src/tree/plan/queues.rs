//! Transmit queues that a link here does not have.
//!
//! A script for a card with several queues gives each of them a discipline below `mq`, as LibreQoS does. A link here
//! has one queue. So the commands of other queues do nothing, as those of `tc -force -batch` do on a card with one.

use super::{Id, Plan};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

/// What a script makes at other queues than the first.
#[derive(Default)]
pub(super) struct OtherQueues {
    /// The first numbers of the handles of qdiscs there.
    majors: BTreeSet<u16>,
    commands: usize,
}

impl OtherQueues {
    /// Returns whether the command with these words is about such a queue, or about a qdisc below one, and counts it.
    pub(super) fn take(&mut self, plan: &Plan, words: &[String]) -> bool {
        let number = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1).map(String::as_str)
        };
        let Some(parent) = number("parent").and_then(Id::read) else { return false };
        let is_mq = |place| plan.at(place).name() == "mq";
        let is_queue = parent.minor() > 1 && plan.find(Id::of(parent.major(), 0)).is_some_and(is_mq);
        if !is_queue && !self.majors.contains(&parent.major()) {
            return false;
        }
        self.majors.extend(number("handle").and_then(Id::read_qdisc).map(Id::major));
        self.commands += 1;
        true
    }

    /// Returns a sentence on what was skipped.
    pub(super) fn note(&self) -> Option<String> {
        let count = match self.commands {
            0 => return None,
            1 => "1 command".into(),
            commands => format!("{commands} commands"),
        };
        Some(format!("a link here has one transmit queue, so {count} of mq's other queues did nothing"))
    }
}
