//! An 802.11 cell: one medium for an access point and its stations.
//!
//! - [`standard`] and [`mode`]: what the standard fixes, and how long frames take;
//! - [`contention`]: who may send next;
//! - [`channel`]: how often a frame is lost to noise;
//! - [`rate_control`]: which modes a sender tries; [`minstrel`] and [`minstrel_ht`]: how Linux finds them;
//! - [`driver`]: what hides below a discipline, [`firmware`] below that; [`session`] and [`airtime`]: frames of one receiver, and whose turn it is;
//! - [`aggregate`] and [`lane`]: what is sent at a time, and a category's queues; [`node`]: all queues of an interface; [`cell`]: the interfaces and the medium, step by step;
//! - [`spec`]: a cell in a scenario;
//! - [`books`] and [`stations`]: what is counted; [`report`]: what a record has of it;
//! - [`watch`]: who looks on: [`log`] each transmission of a window, [`frames`] each frame for a capture.

pub(crate) mod aggregate;
pub(crate) mod airtime;
pub(crate) mod books;
pub(crate) mod cell;
pub(crate) mod channel;
pub(crate) mod contention;
pub mod driver;
pub(crate) mod firmware;
pub mod frames;
pub(crate) mod lane;
pub mod log;
pub(crate) mod minstrel;
pub(crate) mod minstrel_ht;
pub mod mode;
pub(crate) mod node;
pub(crate) mod rate_control;
pub mod report;
pub(crate) mod session;
pub mod spec;
pub mod standard;
pub(crate) mod stations;
pub(crate) mod watch;
