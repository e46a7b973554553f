//! How a run is cut into parts, and how the parts are built.

use super::Simulation;
use super::part::Part;
use super::shards::Shards;
use super::threads::{Threaded, Uncut};
use crate::scenario::Scenario;
use crate::sockets::Sockets;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::Duration;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, scope};

/// How a run is cut.
pub(super) struct Cut {
    /// The directions of each part with links.
    of_links: Vec<&'static [Direction]>,
    shards: Shards,
    threads: usize,
    /// No packet takes less time from a link to its host.
    delay: Duration,
}

/// What becomes the parts of a run.
pub(super) struct Copies {
    pub(super) shards: Vec<Simulation>,
    links: Vec<Simulation>,
}

impl Cut {
    /// Finds out how `run`, which has not begun, is cut for `threads` threads.
    ///
    /// # Errors
    /// Why it cannot be cut.
    pub(super) fn of(run: &Simulation, threads: usize) -> Result<Self, Uncut> {
        if let Some(why) = run.uncut(threads) {
            return Err(why);
        }
        let directions: &'static [Direction] = &Direction::ALL;
        let of_links: Vec<_> =
            directions.chunks(if run.row.is_some() { directions.len() } else { 1 }).collect();
        let shards = Shards::new(run, threads, &of_links);
        Ok(Self { of_links, shards, threads, delay: run.least_delay() })
    }

    /// Builds the run of `scenario` anew for all shards but the first `built`, and for all parts with links.
    ///
    /// # Errors
    /// If the scenario cannot be built: why the run cannot be cut.
    pub(super) fn copies(&self, scenario: &Scenario, built: usize) -> Result<Copies, Uncut> {
        let (shards, links) = (self.shards.count() - built, self.of_links.len());
        let mut copies =
            copies(scenario, shards, links, self.threads).ok_or("the scenario cannot be built twice")?;
        Ok(Copies { links: copies.split_off(shards), shards: copies })
    }

    /// Makes the parts of `copies`.
    pub(super) fn join(self, copies: Copies) -> Threaded {
        let Self { of_links, shards, threads, delay } = self;
        let links = of_links.len();
        let of_links = of_links.into_iter().zip(copies.links);
        let of_links = of_links.map(|(directions, copy)| Part::links(copy, directions, shards.clone()));
        let hosts = (0..).zip(copies.shards);
        let hosts = hosts.map(|(shard, copy)| Part::hosts(copy, shard, &shards, links));
        let parts = of_links.chain(hosts).collect();
        Threaded::new(parts, links, shards, threads, delay)
    }
}

/// Builds a run so many times, first for `shards`, then for parts with `links`, which need no connections. Several
/// threads build, because one would take as long as for many windows. Returns `None` if the scenario cannot be built.
fn copies(scenario: &Scenario, shards: usize, links: usize, threads: usize) -> Option<Vec<Simulation>> {
    let next = AtomicUsize::new(0);
    let build = || {
        let places = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let places = places.take_while(|place| *place < shards + links);
        let sockets = |place| if place < shards { Sockets::default() } else { Sockets::elsewhere() };
        let copies = places.map(|place| {
            Simulation::with_sockets(scenario.clone(), sockets(place)).ok().map(|copy| (place, copy))
        });
        copies.collect::<Option<Vec<_>>>()
    };
    let mut copies = scope(|scope| {
        // What a thread that cannot be started would have built, the others build.
        let others = (1..threads).filter_map(|_| Builder::new().spawn_scoped(scope, build).ok());
        let others: Vec<_> = others.collect();
        let mut copies = build()?;
        for other in others {
            copies.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Some(copies)
    })?;
    copies.sort_by_key(|(place, _)| *place);
    Some(copies.into_iter().map(|(_, copy)| copy).collect())
}
