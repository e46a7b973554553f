//! The two directions of a path, and the two hosts at its ends.

use crate::part::Shape;
use goodqueue_units::Duration;
use serde::Serialize;

/// The direction in which data go.
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
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::Down, Self::Up];

    /// Returns the word for the direction in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    /// Returns the other direction.
    #[inline]
    #[must_use]
    pub fn reverse(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }

    /// Returns the part of the base round-trip time `rtt` that a packet in this direction takes.
    #[must_use]
    pub fn half_of(self, rtt: Duration) -> Duration {
        match self {
            Self::Down => rtt / 2,
            Self::Up => rtt - rtt / 2,
        }
    }

    /// Returns the host that sends in this direction.
    #[inline]
    #[must_use]
    pub fn sender(self) -> Side {
        self.receiver().other()
    }

    /// Returns the host that receives in this direction.
    #[inline]
    #[must_use]
    pub fn receiver(self) -> Side {
        match self {
            Self::Down => Side::User,
            Self::Up => Side::Remote,
        }
    }
}

/// A side of the path: one end of each connection across it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The user's host.
    User,
    /// The remote host.
    Remote,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::User, Self::Remote];

    /// Returns the key of `[[traffic]]` that names a host of this side.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "host",
            Self::Remote => "server",
        }
    }

    /// Returns the other side.
    #[inline]
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::User => Self::Remote,
            Self::Remote => Self::User,
        }
    }

    /// Returns the direction in which this side sends.
    #[inline]
    #[must_use]
    pub fn sends(self) -> Direction {
        self.hears().reverse()
    }

    /// Returns the direction from which this side receives.
    #[inline]
    #[must_use]
    pub fn hears(self) -> Direction {
        match self {
            Self::User => Direction::Down,
            Self::Remote => Direction::Up,
        }
    }
}

crate::word!(Direction);
crate::word!(Side);
crate::shapes! { Direction => Shape::Text }
