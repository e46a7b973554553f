//! Stands for the counters of subscribers in builds without the feature `complete`: no scenario has any.

use crate::ids::FlowId;
use goodqueue_qdisc::registry::Limits;
use goodqueue_units::{Duration, Instant};

/// The counters that this build has not.
pub(crate) enum OfSubscribers {}

impl OfSubscribers {
    pub(crate) fn offered(&mut self, _flow: FlowId) {
        match *self {}
    }

    pub(crate) fn dropped(&mut self, _flow: FlowId) {
        match *self {}
    }

    pub(crate) fn started(&mut self, _now: Instant, _delay: Duration, _flow: FlowId, _len: u32) {
        match *self {}
    }

    pub(crate) fn end_interval(&mut self, _limits: Limits) {
        match *self {}
    }

    pub(crate) fn begin_measuring(&mut self, _now: Instant, _limits: Option<Limits>) {
        match *self {}
    }
}
