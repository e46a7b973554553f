//! The two directions of a path, and the two hosts at its ends.

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
    /// Both.
    pub const ALL: [Self; 2] = [Self::Down, Self::Up];

    /// The word in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    pub(crate) fn reverse(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }

    /// The host that sends this way.
    pub(crate) fn sender(self) -> Side {
        self.receiver().other()
    }

    /// The host that hears this way.
    pub(crate) fn receiver(self) -> Side {
        match self {
            Self::Down => Side::User,
            Self::Up => Side::Remote,
        }
    }
}

/// A side of the path, and so an end of a connection across it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The user's.
    User,
    /// The far one.
    Remote,
}

impl Side {
    pub(crate) const ALL: [Self; 2] = [Self::User, Self::Remote];

    pub(crate) fn other(self) -> Self {
        match self {
            Self::User => Self::Remote,
            Self::Remote => Self::User,
        }
    }

    /// The direction in which it sends.
    pub(crate) fn sends(self) -> Direction {
        self.hears().reverse()
    }

    /// The direction from which it hears.
    pub(crate) fn hears(self) -> Direction {
        match self {
            Self::User => Direction::Down,
            Self::Remote => Direction::Up,
        }
    }
}
