//! Looking at single packets: where each is, what became of it, and what the law thought then.

use goodqueue_netsim::scenario::Direction;
use goodqueue_netsim::{Event, LawSeries, Observer, Packet, Simulation};
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Ecn, Instant};
use std::collections::{HashMap, VecDeque};

/// The numbers of a row. Times are in seconds of the run, NaN where that has not come about.
///
/// - `id`: the packet's number, in the order in which packets were offered;
/// - `way`: 0 down, 1 up;
/// - `flow`: the place of its flow in the scenario;
/// - `bytes`: its length on Ethernet;
/// - `offered_s`: when it was offered to the queue;
/// - `decided_s`: when its transmission began, or it was dropped;
/// - `arrived_s`: when it came to the other host;
/// - `fate`: 0 waiting, 1 sent, 2 sent with a CE mark that it got here, from 3 on dropped, by [`goodqueue_qdisc::Drop`];
/// - `law`: the place of what the law thought in the lists of its direction, of the same call.
pub const COLUMNS: usize = 9;

const WAITING: f64 = 0.0;
const SENT: f64 = 1.0;
const MARKED: f64 = 2.0;
const DROPPED: f64 = 3.0;

/// What tells a packet from others on its way: two that are alike in this are as good as each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Likeness {
    way: u8,
    flow: u32,
    connection: u32,
    /// Of a segment its sequence number and its acknowledgment number; of a datagram its number.
    numbers: (u32, u32),
}

impl Likeness {
    fn of(way: Direction, packet: &Packet) -> Self {
        let numbers = match packet.segment() {
            Some(segment) => (segment.seq.0, segment.ack.0),
            None => (packet.datagram().unwrap_or(0), 0),
        };
        Self { way: way as u8, flow: packet.flow(), connection: packet.connection(way), numbers }
    }
}

/// A packet that has not arrived, and was not dropped.
#[derive(Clone, Copy)]
struct Known {
    row: [f64; COLUMNS],
    /// It came with a CE mark.
    came_marked: bool,
    /// Its place among the rows, if it is there yet.
    place: Option<usize>,
}

/// Looks on at a run.
#[derive(Default)]
pub struct Look {
    known: HashMap<Likeness, VecDeque<Known>>,
    offered: u64,
    rows: Vec<[f64; COLUMNS]>,
    /// Rows of this step, by direction, whose law is to be noted.
    undecided: [Vec<usize>; 2],
    laws: [LawSeries; 2],
    noted: [u32; 2],
}

const WAYS: [Direction; 2] = [Direction::Down, Direction::Up];

impl Look {
    /// Notes what the laws think now, where a step of `simulation` had packets leave or dropped them.
    pub(crate) fn note_laws(&mut self, simulation: &Simulation) {
        for way in WAYS {
            let index = way as usize;
            if self.undecided[index].is_empty() {
                continue;
            }
            simulation.note_law(way, &mut self.laws[index]);
            for place in self.undecided[index].drain(..) {
                self.rows[place][8] = f64::from(self.noted[index]);
            }
            self.noted[index] += 1;
        }
    }

    /// The rows since the call before, one after the other. Those that follow begin with the packets that are there now.
    pub(crate) fn take_rows(&mut self) -> Vec<f64> {
        let taken = std::mem::take(&mut self.rows).into_flattened();
        for known in self.known.values_mut().flatten() {
            known.place = Some(self.rows.len());
            self.rows.push(known.row);
        }
        taken
    }

    /// What the laws thought since the call before, as JSON.
    pub(crate) fn take_laws(&mut self) -> String {
        self.noted = [0; 2];
        let [down, up] = std::mem::take(&mut self.laws);
        serde_json::to_string(&HashMap::from([("down", down), ("up", up)])).unwrap_or_default()
    }

    /// Writes a packet's row, and returns its place.
    fn put(&mut self, known: &mut Known) -> usize {
        let place = *known.place.get_or_insert(self.rows.len());
        if place == self.rows.len() {
            self.rows.push(known.row);
        } else {
            known.row[8] = self.rows[place][8]; // a decision's law, noted since
            self.rows[place] = known.row;
        }
        place
    }

    /// A packet that is offered, or was before anybody looked.
    fn begin(&mut self, way: Direction, packet: &Packet, offered: Instant) -> Known {
        let [way, flow, bytes] = [f64::from(way as u8), f64::from(packet.flow()), f64::from(packet.len())];
        let (id, none) = (self.offered as f64, f64::NAN);
        self.offered += 1;
        let row = [id, way, flow, bytes, offered.as_secs_f64(), none, none, WAITING, none];
        Known { row, came_marked: packet.ecn() == Ecn::Ce, place: None }
    }

    /// The packet as it is known, and no longer known.
    fn forget(&mut self, likeness: &Likeness) -> Option<Known> {
        let alike = self.known.get_mut(likeness)?;
        let known = alike.pop_front();
        if alike.is_empty() {
            self.known.remove(likeness);
        }
        known
    }
}

impl Observer for Look {
    fn saw(&mut self, now: Instant, way: Direction, event: Event, packet: &Packet) {
        let likeness = Likeness::of(way, packet);
        let known = if event == Event::Offered { None } else { self.forget(&likeness) };
        let mut known = known.unwrap_or_else(|| self.begin(way, packet, now));
        match event {
            Event::Offered => {}
            Event::Dropped(why) => {
                (known.row[5], known.row[7]) = (now.as_secs_f64(), DROPPED + f64::from(why as u8));
            }
            Event::Started => {
                let marked = packet.ecn() == Ecn::Ce && !known.came_marked;
                (known.row[5], known.row[7]) = (now.as_secs_f64(), if marked { MARKED } else { SENT });
            }
            Event::Arrived => known.row[6] = now.as_secs_f64(),
        }
        let place = self.put(&mut known);
        if matches!(event, Event::Dropped(_) | Event::Started) {
            self.undecided[way as usize].push(place);
        }
        if matches!(event, Event::Offered | Event::Started) {
            self.known.entry(likeness).or_default().push_back(known);
        }
    }
}
