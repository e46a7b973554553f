//! The words of `stab`, the size table that may stand in front of a line. [`crate::sched::stab`] says what it does.

use super::{Args, Error, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::sched::bucket::{LINKLAYER, LinkLayer};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub(crate) const MTU: Param<u32> = Param::count("mtu", "longest packet for which the table is made")
    .default(2047)
    .range(1, 1_000_000)
    .once();
pub(crate) const MPU: Param<u32> =
    Param::count("mpu", "least bytes that a packet counts for").default(0).range(0, 1_000_000).once();
pub(crate) const OVERHEAD: Param<i32> =
    Param::signed("overhead", "bytes that the wire adds to each packet; a negative number takes bytes away")
        .default(0)
        .range(-1_000_000, 1_000_000)
        .once();
pub(crate) const TSIZE: Param<u32> =
    Param::count("tsize", "slots of the table").default(512).range(1, 32_000).once();

/// In the order in which tc compares a word that is a prefix of several names.
const PARAMS: &[ParamSpec] = params! { from "tc-stab(8)" => MTU, MPU, OVERHEAD, TSIZE, LINKLAYER.once() };

/// The words of a size table.
pub static STAB: QdiscSpec = QdiscSpec::new("stab", PARAMS)
    .summary("Size table: the discipline counts each packet as many bytes as it has on the wire")
    .source("tc-stab(8)");

impl Args {
    /// Splits a line into the table in front of it, if there is one, and the discipline's own line. As in tc, prefixes
    /// of the table's words are enough, and of several tables the last one holds.
    ///
    /// # Errors
    /// Fails as [`Args::parse`] does.
    pub(crate) fn split_stab(line: &str) -> Result<(Option<Self>, String), Error> {
        let mut words = line.split_whitespace().peekable();
        let mut stab = None;
        while words.next_if_eq(&STAB.name).is_some() {
            let mut own: Vec<&str> = Vec::new();
            while let Some(param) =
                words.peek().and_then(|word| PARAMS.iter().find(|param| param.name.starts_with(word)))
            {
                words.next();
                own.push(param.name);
                own.extend(words.next());
            }
            stab = Some(Self::parse(&STAB, &own.join(" "))?);
        }
        Ok((stab, words.collect::<Vec<_>>().join(" ")))
    }

    /// Returns whether the words describe a table without any effect. tc sends none then.
    pub(crate) fn is_idle_stab(&self) -> bool {
        let ethernet = self.get(&LINKLAYER) == LinkLayer::Ethernet;
        ethernet && self.get(&OVERHEAD) == 0 && self.get(&MPU) == 0
    }

    /// Returns the table after a change to `stab`. A line without one keeps the table. (In Linux it takes the table
    /// away.)
    pub(super) fn changed_stab(&self, stab: Option<Self>) -> Result<Option<Self>, Error> {
        match (self.stab(), stab) {
            (None, Some(_)) => Err(Error(
                "stab: found one; accepted: none, as the qdisc was made without a size table".to_string(),
            )),
            (before, None) => Ok(before.cloned()),
            (Some(_), after) => Ok(after),
        }
    }
}

/// Returns whether `word` is one of a size table, or its first letters.
pub(crate) fn begins(word: &str) -> bool {
    PARAMS.iter().any(|param| param.name.starts_with(word))
}
