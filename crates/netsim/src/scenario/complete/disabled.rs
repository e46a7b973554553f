//! Stands for what the feature `complete` adds to scenarios: none has subscribers or `[autorate]`.

pub(crate) mod autorate {
    use crate::scenario::link::Bottleneck;
    use crate::scenario::traffic::Traffic;
    #[cfg(feature = "reference")]
    use goodqueue_hosts::keys::AnyKey;
    use goodqueue_hosts::keys::{Result, Table, refuse};
    use serde::Serialize;

    /// The program that this build has not.
    #[derive(Clone, Debug, Serialize)]
    pub enum Autorate {}

    #[cfg(feature = "reference")]
    pub(in crate::scenario) const KEYS: &[&dyn AnyKey] = &[];
    #[cfg(feature = "reference")]
    pub(in crate::scenario) const BOUNDS: &[&dyn AnyKey] = KEYS;

    impl Autorate {
        /// Refuses the table.
        pub(in crate::scenario) fn read(table: &Table<'_>, _bottleneck: &Bottleneck) -> Result<Self> {
            refuse(table.path(), "a program that sets rates", "none here; the complete program has it")
        }

        pub(in crate::scenario) fn check(&self, _traffic: &[Traffic]) -> Result<()> {
            match *self {}
        }
    }
}

pub(crate) mod isp {
    #[cfg(feature = "reference")]
    use goodqueue_hosts::keys::AnyKey;
    use goodqueue_hosts::keys::{Json, Result, Table};
    use goodqueue_units::Duration;
    use serde::Serialize;
    use std::sync::Arc;

    /// The tables that this build has not.
    #[derive(Clone, Debug, Serialize)]
    pub(crate) enum Isp {}

    /// What the tables mean.
    pub(in crate::scenario) struct Expanded {
        pub(in crate::scenario) isp: Isp,
        pub(in crate::scenario) lines: [Arc<str>; 2],
        pub(in crate::scenario) bottleneck: Json,
        pub(in crate::scenario) traffic: Vec<OfSubscriber>,
    }

    /// A table of `[[traffic]]` that a subscriber has.
    pub(in crate::scenario) struct OfSubscriber {
        pub(in crate::scenario) subscriber: u32,
        pub(in crate::scenario) path: String,
        pub(in crate::scenario) table: Json,
    }

    /// Returns that there are none.
    #[allow(clippy::unnecessary_wraps, reason = "as in the build that has them")]
    pub(in crate::scenario) fn read(
        _: &Table<'_>,
        _: &Table<'_>,
        _: (Duration, u64),
    ) -> Result<Option<Expanded>> {
        Ok(None)
    }

    #[cfg(feature = "reference")]
    pub(in crate::scenario) const NODE_KEYS: &[&dyn AnyKey] = &[];
    #[cfg(feature = "reference")]
    pub(in crate::scenario) const KEYS: &[&dyn AnyKey] = NODE_KEYS;
    #[cfg(feature = "reference")]
    pub(in crate::scenario) const EVENING_KEYS: &[&dyn AnyKey] = NODE_KEYS;
    #[cfg(feature = "reference")]
    pub(in crate::scenario) const FILES_KEYS: &[&dyn AnyKey] = NODE_KEYS;
}
