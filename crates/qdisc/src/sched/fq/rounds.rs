//! The rounds: which band has the turn, and which of its lists.

use super::flows::List;
use super::{BANDS, Band, Fq};
use crate::packet::Packet;

impl<P: Packet> Fq<P> {
    /// Finds the list whose turn it is: the first list of the present band, or of the next band that has credit and
    /// flows. Returns whether it is the list of new flows. `None`: no flow may send.
    pub(super) fn choose_list(&mut self) -> Option<bool> {
        let mut fruitless = 0;
        loop {
            let band = &self.bands[self.band];
            if band.credit > 0 {
                if !band.new.is_empty() {
                    return Some(true);
                }
                if !band.old.is_empty() {
                    return Some(false);
                }
            }
            loop {
                fruitless += 1;
                if fruitless > BANDS {
                    return None;
                }
                self.band = (self.band + 1) % BANDS;
                let weight = self.settings.weights[self.band];
                let band = &mut self.bands[self.band];
                band.credit = band.credit.saturating_add(weight).min(weight);
                if band.credit > 0 {
                    break;
                }
                fruitless = 0; // a band in debt may still hold flows
            }
        }
    }

    pub(super) fn join_old(&mut self, index: u32) {
        let band = usize::from(self.flows[index].band);
        self.bands[band].old.push(&mut self.flows, index);
    }
}

pub(super) fn list_of(band: &mut Band, is_new: bool) -> &mut List {
    if is_new { &mut band.new } else { &mut band.old }
}
