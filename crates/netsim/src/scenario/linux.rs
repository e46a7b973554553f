//! `[linux]`: the release of Linux whose disciplines and Wi-Fi queues the scenario has.

use crate::keys::{AnyKey, Key, Result, Table, word};
use goodqueue_units::Release;
use serde::Serialize;

const RELEASE: Key<Named> = Key::with_default("release", "\"6.1\"")
    .example("\"7.3\"")
    .help(
        "the release whose laws the disciplines have, and mac80211's queues: the default is the newest long-term \
         release that decision traces prove whole. `goodqueue list linux` shows what differs",
    )
    .source("golden traces");

/// The keys of `[linux]`.
pub(super) const KEYS: &[&dyn AnyKey] = &[&RELEASE];

/// A release as a word of a scenario.
#[derive(Clone, Copy, Debug)]
struct Named(Release);

impl Named {
    const ALL: [Self; Release::ALL.len()] = {
        let mut all = [Self(Release::Linux6_1); Release::ALL.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = Self(Release::ALL[at]);
            at += 1;
        }
        all
    };

    const fn name(self) -> &'static str {
        self.0.name()
    }
}

word!(Named);

/// The table. A scenario without it and one with the default are the same.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Linux {
    release: &'static str,
}

impl Linux {
    /// Returns the table that says `release`. `None`: it is the default.
    pub(super) fn written(release: Release) -> Option<Self> {
        (release != Release::default()).then(|| Self { release: release.name() })
    }
}

/// Reads the release of `scenario`.
pub(super) fn read(scenario: &Table<'_>) -> Result<Release> {
    let Some(table) = scenario.table("linux")? else { return Ok(Release::default()) };
    table.refuse_others(KEYS, &[])?;
    Ok(table.take(&RELEASE)?.0)
}
