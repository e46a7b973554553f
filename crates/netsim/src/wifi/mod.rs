//! Wi-Fi: an 802.11 cell in place of the bottleneck's links.
//!
//! A cell is an access point, its stations, and the medium that they share. One exchange of frames is one step. The
//! station whose backoff ends first sends, its answer comes or does not, and the next contention begins. A packet
//! leaves the cell when its exchange ends, that is with the answer to it.
//!
//! - [`spec`]: the keys of a cell in a scenario; `build`: a cell of what a scenario says;
//! - [`standard`] and [`mode`]: the parameters that the standard sets, and the duration of frames;
//! - `cell`: how packets enter and leave; `exchange`: the medium;
//! - `contention`: which station sends next; `channel`: how often noise destroys a frame;
//! - `node`: an interface of the access point or of a station; `lane`: one access category of an interface;
//!   `session`: the frames for one receiver; `aggregate`: what is sent at a time;
//! - [`driver`]: the queues below a discipline; `firmware`: what mac80211 limits by time; `airtime`: whose turn it is
//!   among stations;
//! - `rate_control`: the modes that a sender tries; `minstrel` and `minstrel_ht`: how Linux finds them;
//! - `senders` and `stations`: the counts per direction and per station; `report`: what a record says of a cell;
//! - `watch`: the observers of the air; [`frames`]: the frames as an observer sees them; `log`: the transmissions of a
//!   window.

mod aggregate;
mod airtime;
mod build;
pub(crate) mod cell;
mod channel;
mod contention;
pub mod driver;
mod exchange;
mod firmware;
pub mod frames;
mod lane;
pub(crate) mod log;
mod minstrel;
mod minstrel_ht;
pub mod mode;
pub(crate) mod node;
mod rate_control;
pub(crate) mod report;
pub(crate) mod senders;
mod session;
pub mod spec;
pub mod standard;
pub(crate) mod stations;
mod watch;
