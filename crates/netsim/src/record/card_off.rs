//! Stands for the record of a card in builds without the feature `complete`.

use crate::receive::Card;
use goodqueue_hosts::part::Shape;
use serde::Serialize;

/// The record that this build has not.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum CardRecord {}

goodqueue_hosts::shapes!(CardRecord => Shape::Anything);

impl CardRecord {
    pub(super) fn of(card: &Card) -> Self {
        match *card {}
    }
}
