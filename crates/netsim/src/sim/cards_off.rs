//! Stands for the cards that receive in builds without the feature `complete`.

use super::Simulation;
use super::places::Places;
use super::row::{Node, Routes};
use crate::ids::{CardId, FlowId, HopId, PipeId};
use crate::packet::Packet;
use crate::receive::Card;
use crate::scenario::{HostName, Scenario};
use goodqueue_hosts::direction::{Direction, Side};

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
}
