//! Observes single packets: where each one is, its fate, and the state of the law at that time.

use goodqueue_netsim::{Direction, Event, LawSeries, Observer, Packet, Simulation};
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Ecn, Instant};
use std::collections::{HashMap, VecDeque};

/// The number of columns in a row. Times are in seconds of the run, and NaN if the event has not happened.
///
/// - `id`: the packet's number, in the order in which packets were offered;
/// - `direction`: 0 down, 1 up;
/// - `flow`: the index of its flow in the scenario;
/// - `bytes`: its length on Ethernet;
/// - `offered_s`: when it was offered to the queue;
/// - `decided_s`: when its transmission began, or when it was dropped;
/// - `arrived_s`: when it arrived at the other host;
/// - `fate`: 0 waiting, 1 sent, 2 sent with a CE mark set by this queue, 3 and higher dropped, by
///   [`goodqueue_qdisc::Drop`];
/// - `law`: the index of the law's state in the lists of its direction, from the same call;
/// - `queue`: the index of its queue among those that the discipline sorts packets into
///   ([`goodqueue_qdisc::Qdisc::queues`]), 0 if there are none.
pub const COLUMNS: usize = 10;

const WAITING: f64 = 0.0;
const SENT: f64 = 1.0;
const MARKED: f64 = 2.0;
const DROPPED: f64 = 3.0;

/// Identifies a packet on its way. Two packets with equal fields are interchangeable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Likeness {
    direction: u8,
    flow: u32,
    connection: u32,
    bytes: u32,
    /// Sequence number, acknowledgment number and timestamp of a segment, or the number of a datagram.
    numbers: [u32; 3],
}

impl Likeness {
    fn of(direction: Direction, packet: &Packet) -> Self {
        let numbers = match packet.segment() {
            Some(segment) => [segment.seq.0, segment.ack.0, segment.tsval],
            None => [packet.datagram().unwrap_or(0), 0, 0],
        };
        let (flow, connection, bytes) = (packet.flow(), packet.connection(direction), packet.len());
        Self { direction: direction as u8, flow, connection, bytes, numbers }
    }
}

/// A packet that has neither arrived nor been dropped.
#[derive(Clone, Copy)]
struct Known {
    row: [f64; COLUMNS],
    /// Whether it arrived at the queue with a CE mark.
    came_marked: bool,
    /// Its index among the rows, if it has a row yet.
    place: Option<usize>,
}

/// Observes the packets of a run.
#[derive(Default)]
pub struct Look {
    known: HashMap<Likeness, VecDeque<Known>>,
    offered: u64,
    rows: Vec<[f64; COLUMNS]>,
    /// Rows of this step, by direction, for which the law's state is still to be noted.
    undecided: [Vec<usize>; 2],
    /// Packets of this step, as they were offered, for which the queue is still to be noted, with their rows.
    unsorted: Vec<(usize, Packet)>,
    laws: [LawSeries; 2],
    noted: [u32; 2],
}

const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];

impl Look {
    /// Notes the queues of the packets that a step of `simulation` offered, and the state of the laws if it had packets
    /// leave or dropped them.
    pub(crate) fn note(&mut self, simulation: &Simulation) {
        for (place, packet) in self.unsorted.drain(..) {
            let direction = DIRECTIONS[self.rows[place][1] as usize];
            self.rows[place][9] = simulation.queue_of(direction, &packet) as f64;
        }
        for direction in DIRECTIONS {
            let index = direction as usize;
            if self.undecided[index].is_empty() {
                continue;
            }
            simulation.note_law(direction, &mut self.laws[index]);
            for place in self.undecided[index].drain(..) {
                self.rows[place][8] = f64::from(self.noted[index]);
            }
            self.noted[index] += 1;
        }
    }

    /// Returns the rows since the last call, one after the other. The next rows begin with the packets that are on
    /// their way now.
    pub(crate) fn take_rows(&mut self) -> Vec<f64> {
        let taken = std::mem::take(&mut self.rows);
        for known in self.known.values_mut().flatten() {
            if let Some(row) = known.place.and_then(|place| taken.get(place)) {
                known.row[9] = row[9];
            }
            known.place = Some(self.rows.len());
            self.rows.push(known.row);
        }
        taken.into_flattened()
    }

    /// Returns the states of the laws since the last call, as JSON.
    pub(crate) fn take_laws(&mut self) -> String {
        self.noted = [0; 2];
        let [down, up] = std::mem::take(&mut self.laws);
        serde_json::to_string(&HashMap::from([("down", down), ("up", up)])).unwrap_or_default()
    }

    /// Writes a packet's row, and returns its index.
    fn put(&mut self, known: &mut Known) -> usize {
        let place = *known.place.get_or_insert(self.rows.len());
        if place == self.rows.len() {
            self.rows.push(known.row);
        } else {
            known.row[8..].copy_from_slice(&self.rows[place][8..]); // a decision's law and the queue, noted since
            self.rows[place] = known.row;
        }
        place
    }

    /// Begins to track a packet that is offered, or that was offered before the first look.
    fn begin(&mut self, direction: Direction, packet: &Packet, offered: Instant) -> Known {
        let [direction, flow, bytes] =
            [f64::from(direction as u8), f64::from(packet.flow()), f64::from(packet.len())];
        let (id, none) = (self.offered as f64, f64::NAN);
        self.offered += 1;
        let row = [id, direction, flow, bytes, offered.as_secs_f64(), none, none, WAITING, none, 0.0];
        Known { row, came_marked: packet.ecn() == Ecn::Ce, place: None }
    }

    /// Returns what is known of a packet, and forgets it.
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
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet) {
        let likeness = Likeness::of(direction, packet);
        let known = if event == Event::Offered { None } else { self.forget(&likeness) };
        let is_new = known.is_none();
        let mut known = known.unwrap_or_else(|| self.begin(direction, packet, now));
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
        if is_new {
            self.unsorted.push((place, *packet));
        }
        if matches!(event, Event::Dropped(_) | Event::Started) {
            self.undecided[direction as usize].push(place);
        }
        if matches!(event, Event::Offered | Event::Started) {
            self.known.entry(likeness).or_default().push_back(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_netsim::Scenario;
    use goodqueue_units::Duration;
    use std::sync::{Arc, Mutex};

    /// Runs a scenario in pieces of `piece_ms`. Returns all rows (the last one per packet) and the states of the
    /// laws.
    fn rows(qdisc: &str, piece_ms: u64) -> (Simulation, Vec<[f64; COLUMNS]>, Vec<serde_json::Value>) {
        let json = serde_json::json!({
            "duration": "3s", "bottleneck": {"rate": "5mbit", "qdisc": qdisc}, "path": {"rtt": "30ms"},
            "traffic": [{"kind": "bulk", "count": 2, "ecn": qdisc.contains(" ecn")}, {"kind": "ping"}]
        });
        let mut simulation = Simulation::new(Scenario::from_json(&json.to_string()).unwrap()).unwrap();
        let look = Arc::new(Mutex::new(Look::default()));
        simulation.observe(Arc::clone(&look) as _);
        let (mut all, mut laws) = (HashMap::new(), Vec::new());
        for piece in 1..=3000 / piece_ms {
            while simulation.step(Duration::from_millis(piece * piece_ms)) {
                look.lock().unwrap().note(&simulation);
            }
            let mut look = look.lock().unwrap();
            for row in look.take_rows().as_chunks::<COLUMNS>().0 {
                all.insert(row[0] as u64, *row);
            }
            laws.push(serde_json::from_str(&look.take_laws()).unwrap());
        }
        let mut rows: Vec<_> = all.into_values().collect();
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        (simulation, rows, laws)
    }

    fn count(rows: &[[f64; COLUMNS]], wanted: impl Fn(f64) -> bool) -> u64 {
        rows.iter().filter(|row| row[1] == 0.0 && wanted(row[7])).count() as u64
    }

    /// The page must show the packets that the record counts.
    #[test]
    fn each_packet_of_the_record_has_a_row() {
        for line in ["pfifo limit 20", "codel", "codel ecn", "pie", "fq_codel"] {
            let (simulation, rows, _) = rows(line, 100);
            let packets = simulation.record().queues.down.packets;
            assert_eq!(count(&rows, |_| true), packets.offered, "{line}");
            assert_eq!(count(&rows, |fate| fate >= DROPPED), packets.dropped, "{line}");
            assert_eq!(count(&rows, |fate| fate == MARKED), packets.marked, "{line}");
            assert_eq!(count(&rows, |fate| fate == SENT || fate == MARKED), packets.forwarded, "{line}");
        }
    }

    /// A packet is offered, leaves, and arrives after its transmission time plus half of the base RTT.
    #[test]
    fn times_follow_each_other() {
        let (_, rows, _) = rows("codel", 100);
        let arrived: Vec<_> = rows.iter().filter(|row| row[1] == 0.0 && row[6] > 0.0).collect();
        assert!(arrived.len() > 500);
        for row in arrived {
            let travel = 0.015 + row[3] * 8.0 / 5e6;
            assert!(row[4] <= row[5] && (row[6] - row[5] - travel).abs() < 1e-6, "{row:?}");
        }
    }

    /// A run in pieces shows the same packets. A packet that is on its way at a cut has a row in both pieces.
    #[test]
    fn pieces_show_what_the_whole_shows() {
        let [whole, pieces] = [3000, 50].map(|ms| rows("codel", ms).1);
        assert_eq!(whole.len(), pieces.len());
        for (one, other) in whole.iter().zip(&pieces) {
            let same = |column: usize| one[column].to_bits() == other[column].to_bits();
            assert!((0..8).all(same), "{one:?} {other:?}");
        }
    }

    /// A packet keeps its queue when it moves on and in later pieces. DualPI2's L holds what is ECT(1) or CE.
    #[test]
    fn each_packet_is_in_the_queue_of_its_codepoint() {
        for (line, queues) in
            [("dualpi2", 2), ("cake", 3), ("cake besteffort", 0), ("htb child dualpi2", 2), ("codel", 0)]
        {
            let (simulation, rows, _) = rows(line, 50);
            assert_eq!(simulation.queues(Direction::Down).len(), queues, "{line}");
            let classic = usize::from(queues > 0) as f64; // no packet has a codepoint, and this queue is the second
            assert!(rows.len() > 100 && rows.iter().all(|row| row[9] == classic), "{line}");
        }
    }

    /// CoDel counts its drops: after a drop, the law's list has a count of at least 1 at the packet's index.
    #[test]
    fn each_drop_has_what_the_law_thought() {
        let (_, rows, laws) = rows("codel", 3000);
        let thought = &laws[0]["down"]["count"];
        let dropped: Vec<_> = rows.iter().filter(|row| row[1] == 0.0 && row[7] >= DROPPED).collect();
        assert!(!dropped.is_empty());
        for row in dropped {
            assert!(thought[row[8] as usize].as_f64().unwrap() >= 1.0, "{row:?}");
        }
    }
}
