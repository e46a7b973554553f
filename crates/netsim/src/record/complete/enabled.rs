//! What the feature `complete` adds to records: cards that receive, and subscribers.

mod card;
mod subscribers;

pub use card::CardRecord;
pub use subscribers::{Got, IspRecord, NodeSeries};
