//! The two directions of a path.

use super::text::word;
use serde::Serialize;

/// Which way the data go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the user: the direction that a scenario's `[bottleneck]` describes.
    #[default]
    Down,
    /// From the user.
    Up,
}

impl Direction {
    pub(crate) const ALL: [Self; 2] = [Self::Down, Self::Up];

    /// The word in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    pub(crate) fn reverse(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

word!(Direction);
