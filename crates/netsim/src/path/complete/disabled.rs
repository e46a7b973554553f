//! Stands for what the feature `complete` adds to paths: the keys `access` and `tc` of a link are unknown, and no wire
//! has the jitter `wifi`.

use super::jitter::Jitter;
use goodqueue_units::Stream;

/// The jitter that this build has not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Crowded {}

impl Crowded {
    pub(super) fn draw_ms(self, _mean: f64, _random: &mut Stream) -> f64 {
        match self {}
    }
}

pub(super) fn with_crowded(
    all: impl Iterator<Item = (&'static str, Jitter)>,
) -> impl Iterator<Item = (&'static str, Jitter)> {
    all
}

pub(crate) mod commands {
    use goodqueue_hosts::direction::Direction;
    use goodqueue_hosts::keys::{Result, Table};
    use goodqueue_qdisc::Args;
    use goodqueue_units::Release;

    #[allow(clippy::unnecessary_wraps)] // as in builds with the feature
    pub(in crate::path) fn tree(
        _table: &Table<'_>,
        _direction: Option<Direction>,
        _release: Release,
    ) -> Result<Option<Args>> {
        Ok(None)
    }
}

pub(crate) mod access {
    use crate::path::transmitter::Transmitter;
    use goodqueue_hosts::keys::{Result, Table};
    use goodqueue_units::{Duration, Instant, Rate, Streams};
    use serde::Serialize;

    /// The access network that this build has not.
    #[derive(Clone, Debug, Serialize)]
    pub enum Access {}

    /// The random numbers that nothing draws here.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Draws;

    impl Draws {
        pub(crate) const fn new(_streams: Streams, _link: u64) -> Self {
            Self
        }

        /// The only value.
        pub(crate) const TRIAL: Self = Self;
    }

    impl Access {
        #[allow(clippy::unnecessary_wraps)] // as in builds with the feature
        pub(crate) fn read(_table: &Table<'_>, _other: Option<&Self>) -> Result<Option<Self>> {
            Ok(None)
        }

        pub(crate) fn transmitter(
            &self,
            _rate: Rate,
            _draws: Draws,
        ) -> std::result::Result<Transmitter, String> {
            match *self {}
        }
    }

    /// The channel that this build has not.
    #[derive(Debug)]
    pub(crate) enum AnyChannel {}

    impl AnyChannel {
        pub(crate) fn note(&mut self, _bytes: u64, _packets: u64) {
            match *self {}
        }

        pub(crate) fn start(&mut self, _now: Instant) -> Instant {
            match *self {}
        }

        pub(crate) fn occupy(&mut self, _now: Instant, _bytes: u32) -> Duration {
            match *self {}
        }

        pub(crate) fn idle(&mut self) {
            match *self {}
        }

        pub(crate) fn crosses(&mut self, _sent: Instant) -> Option<Instant> {
            match *self {}
        }

        pub(crate) fn capacity_bits(&self, _from: Instant, _to: Instant) -> f64 {
            match *self {}
        }

        pub(crate) fn mean_rate(&self) -> Rate {
            match *self {}
        }
    }
}
