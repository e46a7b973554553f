//! Packets that come from outside the run. No scenario names this kind: see [`crate::Scenario::open`].

use super::kind::{Kind, Make};

pub(crate) const KIND: Kind = Kind {
    is_probe: true, // whoever puts the packets in knows what they belong to
    ..Kind::new("outside", "packets of real programs", Make::Outside)
};
