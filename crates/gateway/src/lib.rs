//! Real packets across the path of a scenario, in real time: the only crate with a clock.
//!
//! ```text
//!   server's device ─▶ Port ─▶ Path [ netsim: hops, disciplines, wires ] ─▶ Port ─▶ client's device
//! ```
//!
//! A [`Path`] is a run of the simulator that packets from outside are put into: their headers cross its hops in the
//! run's time while their bytes wait in a pool. So a path does to real packets what it does to simulated ones, changes
//! over time, Wi-Fi and disciplines in Python included, and measures the same. [`Live`] lets the run's time be the
//! clock's, between two [`Port`]s; nothing below it knows a clock, so a test can replay any arrivals in no time.

mod capture;
mod flows;
mod join;
#[cfg(target_os = "linux")]
mod live;
mod offload;
mod packet;
mod path;
mod pool;
#[cfg(target_os = "linux")]
mod port;

pub use goodqueue_capture::Error;
#[cfg(target_os = "linux")]
pub use live::Live;
pub use offload::Offload;
pub use path::{Path, Way};
#[cfg(target_os = "linux")]
pub use port::Port;
