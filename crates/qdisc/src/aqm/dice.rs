//! An owner for the tests of laws that use random numbers.

use crate::packet::Plain;
use crate::signal::{Drop, Mark, Owner};
use alloc::vec::Vec;

/// Dice that always show the same number in [0, 1), with the drops and marks that were reported.
pub(crate) struct Dice {
    shows: f64,
    pub(crate) dropped: Vec<Drop>,
    pub(crate) marked: u32,
}

impl Dice {
    pub(crate) fn showing(shows: f64) -> Self {
        Self { shows, dropped: Vec::new(), marked: 0 }
    }
}

impl Owner<Plain> for Dice {
    fn dropped(&mut self, _packet: Plain, why: Drop) {
        self.dropped.push(why);
    }
    fn marked(&mut self, _packet: &Plain, _why: Mark) {
        self.marked += 1;
    }
    fn random_u32(&mut self) -> u32 {
        (self.shows * (1_u64 << 32) as f64) as u32
    }
    fn random_u64(&mut self) -> u64 {
        (self.shows * (1_u64 << 53) as f64) as u64 * 2048
    }
}

/// An owner for calls that must neither drop, mark nor draw: each of these fails the test.
pub(crate) struct NoDice;

impl Owner<Plain> for NoDice {
    fn dropped(&mut self, packet: Plain, why: Drop) {
        panic!("{packet:?} {why}");
    }
    fn marked(&mut self, packet: &Plain, why: Mark) {
        panic!("{packet:?} {why}");
    }
    fn random_u32(&mut self) -> u32 {
        panic!("a draw");
    }
    fn random_u64(&mut self) -> u64 {
        panic!("a draw");
    }
}
