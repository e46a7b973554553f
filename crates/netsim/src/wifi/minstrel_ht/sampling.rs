//! Chooses the mode that is tried next.
//!
//! There are three kinds of candidates: the next faster mode of a group (increments), any faster mode (jumps), and
//! slower modes that may be surer. Groups take turns.

use super::group::{Group, RateId, percent};
use crate::wifi::minstrel::{SAMPLE_COLUMNS, sample_orders};
use goodqueue_units::Stream;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Increment,
    Jump,
    Slow,
}

/// The order in which the kinds take turns.
const TURNS: [Kind; 6] =
    [Kind::Increment, Kind::Jump, Kind::Increment, Kind::Jump, Kind::Increment, Kind::Slow];
/// The number of modes in a sample order. A group of 802.11n has eight; Linux leaves room for the modes of 802.11ac.
const ROWS: u8 = 10;

/// Candidates of one kind. There is a gap where a candidate was taken.
type Candidates = [Option<RateId>; 5];

/// The candidates of all kinds.
#[derive(Clone, Debug)]
pub(super) struct Sampling {
    candidates: [Candidates; 3],
    /// The groups that increments and jumps were taken from last.
    last_group: [usize; 2],
    turn: usize,
    /// The places in a group, in the order of each column.
    pub(super) order: Vec<Vec<u8>>,
}

/// The durations of the fastest and the slowest mode in use.
#[derive(Clone, Copy)]
struct Limits {
    fast_ns: u32,
    slow_ns: u32,
}

impl Sampling {
    pub(super) fn new(random: &mut Stream) -> Self {
        Self { candidates: [[None; 5]; 3], last_group: [0; 2], turn: 0, order: sample_orders(ROWS, random) }
    }

    /// Takes the next mode to try, if there is a candidate of the kind whose turn it is.
    pub(super) fn take(&mut self) -> Option<RateId> {
        let kind = TURNS[self.turn];
        self.turn = (self.turn + 1) % TURNS.len();
        self.candidates[kind as usize].iter_mut().find_map(Option::take)
    }

    /// Fills the candidates up, after `best` and `surest` became the modes in use.
    pub(super) fn refill(&mut self, groups: &mut [Group], best: &[RateId; 4], surest: RateId) {
        let duration_ns = |id: RateId| groups[id.group].durations_ns[id.place];
        let best_ns = duration_ns(best[0]);
        let used = [best_ns, duration_ns(best[1]), duration_ns(surest)];
        let limits =
            Limits { fast_ns: used[0].min(used[1]).min(used[2]), slow_ns: used[0].max(used[1]).max(used[2]) };

        let kept = self.keep(Kind::Increment, groups, limits);
        for place in kept..5 {
            let next = self.next_increment(groups, best_ns);
            self.candidates[Kind::Increment as usize][place] = next;
            if next.is_none() {
                break;
            }
        }
        let kept = self.keep(Kind::Jump, groups, limits);
        let mut slow = self.keep(Kind::Slow, groups, limits);
        for place in kept..5 {
            let next = self.next_jump(groups, limits, &mut slow);
            self.candidates[Kind::Jump as usize][place] = next;
            if next.is_none() {
                break;
            }
        }
    }

    /// Drops the candidates of `kind` that are no longer valid, and closes the gaps. Returns how many are left. As in
    /// Linux, the first candidate does not count if there is no gap before it, and is overwritten.
    fn keep(&mut self, kind: Kind, groups: &[Group], limits: Limits) -> usize {
        let candidates = &mut self.candidates[kind as usize];
        let mut kept = 0;
        for place in 0..candidates.len() {
            let Some(id) = candidates[place] else { continue };
            let duration_ns = groups[id.group].durations_ns[id.place];
            let is_valid = match kind {
                Kind::Increment | Kind::Jump => duration_ns < limits.fast_ns,
                Kind::Slow => duration_ns > limits.fast_ns && duration_ns < limits.slow_ns,
            };
            if !is_valid {
                candidates[place] = None;
            } else if place != kept {
                candidates[kept] = candidates[place].take();
                kept += 1;
            }
        }
        kept
    }

    /// Returns whether `id` is a candidate already. Only the candidates before the first gap are looked at.
    fn has(&self, kind: Kind, id: RateId) -> bool {
        self.candidates[kind as usize].iter().map_while(|one| *one).any(|one| one == id)
    }

    /// Returns the slowest mode of the next group that is faster than `limit_ns`.
    fn next_increment(&mut self, groups: &[Group], limit_ns: u32) -> Option<RateId> {
        for _ in 0..groups.len() {
            let group = self.advance(Kind::Increment, groups);
            let Some(place) = slowest_below(&groups[group], limit_ns) else { continue };
            let id = RateId { group, place };
            if !self.has(Kind::Increment, id) {
                return Some(id);
            }
        }
        None
    }

    /// Returns a faster mode of the next group, in the sample order. Slower modes that come up become candidates of
    /// their kind. `slow` counts the candidates of that kind.
    fn next_jump(&mut self, groups: &mut [Group], limits: Limits, slow: &mut usize) -> Option<RateId> {
        for _ in 0..groups.len() {
            let number = self.advance(Kind::Jump, groups);
            let has_room = *slow < 5;
            let limit_ns = if has_room { limits.slow_ns } else { limits.fast_ns };
            let group = &mut groups[number];
            let Some(slowest) = slowest_below(group, limit_ns) else { continue };
            let Some(place) = self.next_in(group, slowest) else { continue };
            let id = RateId { group: number, place };
            let duration_ns = group.durations_ns[place];
            if duration_ns < limits.fast_ns {
                if !self.has(Kind::Jump, id) {
                    return Some(id);
                }
            } else if !self.has(Kind::Slow, id)
                && has_room
                && duration_ns < limits.slow_ns
                && group.rates[place].probability <= percent(95)
            {
                self.candidates[Kind::Slow as usize][*slow] = Some(id);
                *slow += 1;
            }
        }
        None
    }

    /// Moves `kind` on to its next group, and returns that group.
    fn advance(&mut self, kind: Kind, groups: &[Group]) -> usize {
        let last = &mut self.last_group[kind as usize];
        *last = (*last + 1) % groups.len();
        *last
    }

    /// Returns the next mode of `group` in the sample order that is not below `slowest`.
    fn next_in(&self, group: &mut Group, slowest: usize) -> Option<usize> {
        for _ in 0..ROWS {
            let place = usize::from(self.order[group.column][group.row]);
            group.row += 1;
            if group.row == usize::from(ROWS) {
                group.row = 0;
                group.column = (group.column + 1) % SAMPLE_COLUMNS;
            }
            if place >= slowest && place < group.rates.len() {
                return Some(place);
            }
        }
        None
    }
}

fn slowest_below(group: &Group, limit_ns: u32) -> Option<usize> {
    group.durations_ns.iter().position(|duration_ns| *duration_ns < limit_ns)
}
