//! Packets that come from outside the run. No scenario names this kind: see [`crate::Scenario::open`].

use super::kind::{Kind, Make};

pub(crate) const KIND: Kind = Kind {
    is_probe: true, // what its packets are of knows who puts them in
    ..Kind::new("outside", "packets of real programs", Make::Outside)
};
