//! The part of a record for a card that receives.

use crate::receive::{Card, Counts};
use goodqueue_hosts::probe::rounded;

goodqueue_hosts::part! {
    /// The receive side of a card: its interrupts, and what the host took there.
    #[derive(Copy)]
    pub struct CardRecord as "Card" {
        /// The interrupts.
        pub interrupts: u64,
        /// Packets that the host took.
        pub packets: u64,
        /// The same packets, where several merged ones count as one.
        pub handed_on: u64,
        /// Their mean length in bytes, as `tc` counts it. Null if there were none.
        pub mean_bytes: Option<f64>,
        /// Packets that waited for an interrupt at the end.
        pub waiting_at_end: u64,
    }
}

impl CardRecord {
    /// Returns what `card` did during the measured time.
    pub(in crate::record) fn of(card: &Card) -> Self {
        let Counts { interrupts, packets, handed_on, bytes } = card.measured();
        let mean_bytes = (handed_on > 0).then(|| rounded(bytes as f64 / handed_on as f64));
        Self { interrupts, packets, handed_on, mean_bytes, waiting_at_end: card.waiting() }
    }
}
