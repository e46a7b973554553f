//! Stands for what the feature `complete` adds to a run: no scenario has cards, `[autorate]` or subscribers.

use super::Simulation;
use super::places::Places;
use super::row::{Node, Routes};
use crate::flow::Flow;
use crate::ids::{CardId, FlowId, HopId, PipeId};
use crate::lists::PerFlow;
use crate::observer::Watch;
use crate::packet::Packet;
use crate::probe::series::PacketLog;
use crate::receive::Card;
use crate::scenario::{HostName, Scenario};
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::traffic::application::SocketId;
use goodqueue_tcp::Handled;
use goodqueue_units::Duration;
use std::convert::Infallible;

/// No scenario has subscribers.
pub(super) type OfFlows = Infallible;

pub(super) fn subscribers_of_flows(_scenario: &Scenario) -> Option<OfFlows> {
    None
}

pub(super) fn watch(
    _scenario: &Scenario,
    _of_flows: Option<&OfFlows>,
    direction: Direction,
    log: Option<PacketLog>,
) -> Option<Box<Watch>> {
    Some(Box::new(Watch::new(direction, Some(log?))))
}

/// The cards that this build has not.
pub(crate) struct Cards;

impl Cards {
    pub(super) fn are_in(_scenario: &Scenario) -> bool {
        false
    }

    pub(super) fn is_at_host(_scenario: &Scenario, _direction: Direction) -> bool {
        false
    }

    pub(super) fn of(_scenario: &Scenario, _routes: &Routes, _places: &mut Places) -> Self {
        Self
    }

    pub(super) fn at_host(&self, _flow: FlowId, _direction: Direction, _pipe: PipeId) -> Option<CardId> {
        None
    }

    pub(super) fn is_exit(&self, _direction: Direction, _pipe: PipeId) -> bool {
        false
    }

    pub(super) fn are_read_late(&self, _flow: FlowId, _direction: Direction, _pipe: PipeId) -> bool {
        false
    }

    pub(super) fn before(&self, _node: Node, _direction: Direction) -> Option<CardId> {
        None
    }

    pub(super) fn begin_measuring(&mut self) {}

    pub(crate) fn of_bottleneck(&self, _direction: Direction) -> Option<&Card> {
        None
    }

    pub(crate) fn of_hop(&self, _hop: HopId) -> Option<&Card> {
        None
    }

    pub(crate) fn of_host(&self, _name: &HostName, _side: Side) -> Option<&Card> {
        None
    }
}

impl Simulation {
    pub(super) fn enter_card(&mut self, _id: CardId, _packet: Packet) {}

    pub(super) fn arrived_at_card(&mut self, _id: CardId, _direction: Direction, _pipe: PipeId) {}

    pub(super) fn interrupt(&mut self, _id: CardId) {}

    pub(super) fn heard_in_poll(
        &mut self,
        _packet: (FlowId, u32),
        _direction: Direction,
        _socket: Option<SocketId>,
        _handled: Handled,
    ) {
    }

    pub(super) fn autorate(&mut self, _flow: FlowId, _rtt: Duration) {}
}

/// The program that this build has not.
pub(super) enum Controller {}

impl Controller {
    pub(super) fn of(_scenario: &Scenario, _flows: &PerFlow<Flow>) -> Option<Box<Self>> {
        None
    }
}
