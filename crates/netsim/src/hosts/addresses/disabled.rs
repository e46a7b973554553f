//! Stands for the addresses of hosts in builds without the feature `complete`: only filters of trees ask for them.

use super::Hosts;
use crate::ids::FlowId;
use goodqueue_hosts::direction::Direction;

/// The addresses that nothing asks for.
#[derive(Clone)]
pub(super) struct Addresses;

/// The addresses that nothing asks for.
#[derive(Default)]
pub(super) struct Given;

impl Given {
    pub(super) fn add<N>(&mut self, _names: [&Option<N>; 2], _count: u64) {}

    pub(super) fn finish(self) -> Addresses {
        Addresses
    }
}

/// The direction that nothing asks for.
pub(crate) type Heading = ();

pub(crate) fn heading(_direction: Direction) -> Heading {}

pub(crate) fn addresses(_hosts: Option<&Hosts>, _flow: FlowId, _heading: Heading) -> Option<(u32, u32)> {
    None
}
