//! Matching: the packets that one capture saw arrive, and those that the other saw leave.

use crate::file::Error;
use crate::packet::{Key, Pair};
use crate::sightings::{Reader, Sighting};
use crate::{Direction, Transfer, Writer};
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::Ipv4Addr;
use std::path::Path;

/// [`Queue::departure_ns`] of a packet that never left.
const NEVER: i64 = -1;

/// The packets of one direction in the order of their arrival, as columns.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Nanoseconds since 1970.
    pub arrival_ns: Vec<i64>,
    /// Nanoseconds since 1970; -1: the packet never left.
    pub departure_ns: Vec<i64>,
    /// Bytes of the frame.
    pub length: Vec<u32>,
    /// The flow's index in [`Crossing::flows`].
    pub flow: Vec<u32>,
    /// ECN codepoint on arrival: 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn_in: Vec<u8>,
    /// ECN codepoint when the packet left. For a packet that never left, the codepoint on arrival.
    pub ecn_out: Vec<u8>,
    /// Packets that left a second time, as netem duplicates them: the row of each in the columns above.
    pub copy_of: Vec<u32>,
    /// The time of each second departure, in nanoseconds since 1970.
    pub copy_ns: Vec<i64>,
}

/// The two ends of a flow and, for TCP, the fate of the data in each direction.
#[derive(Clone, Debug)]
pub struct Flow {
    /// IP's protocol number: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// The server's address and port.
    pub server: (Ipv4Addr, u16),
    /// The client's address and port.
    pub client: (Ipv4Addr, u16),
    /// The data that went down, and those that went up.
    pub transfers: [Transfer; 2],
}

/// The result of both captures together.
#[derive(Clone, Debug, Default)]
pub struct Crossing {
    /// The queue down and the queue up.
    pub queues: [Queue; 2],
    /// The flows in the order of their first packets.
    pub flows: Vec<Flow>,
    /// Frames in both files that do not go between a server and a client.
    pub ignored: u64,
}

/// Reads `wan`, the capture of the router's interface to the servers, and `cli`, the capture of its interface to the
/// clients.
///
/// # Errors
/// Fails at a file that is missing, foreign or cut off, and at a packet that left without having arrived. Each error
/// names the offset.
pub fn read(wan: &Path, cli: &Path) -> Result<Crossing, Error> {
    let mut files = [Reader::open(wan)?, Reader::open(cli)?];
    let mut heads = [files[0].next()?, files[1].next()?];
    let mut matching = Matching::default();
    // The two files are merged by time, so that only waiting packets must be remembered, not the whole capture.
    while let Some(file) = earlier(&heads) {
        let next = files[file].next()?;
        if let Some(sighting) = std::mem::replace(&mut heads[file], next) {
            matching.saw(file, sighting);
        }
    }
    matching.find_copies();
    if let Some((file, offset)) = matching.unexplained() {
        let why = "a packet leaves that never arrived; accepted: captures of one run, begun before its first packet";
        return Err(files[file].error(offset, why));
    }
    matching.crossing.ignored = files.iter().map(|file| file.ignored).sum();
    Ok(matching.crossing)
}

/// Copies the frames of both captures into one file, in the order of time and `shift_ns` later. `interfaces` gives
/// the interface of each frame, by its direction and by whether it arrives at the router or leaves it. `None`: the
/// frame is left out.
///
/// # Errors
/// Fails as [`read`] does, and if `into` cannot be written.
pub fn merge(
    wan: &Path,
    cli: &Path,
    into: &mut Writer,
    interfaces: [[Option<u32>; 2]; 2],
    shift_ns: i64,
) -> Result<(), Error> {
    let mut files = [Reader::open(wan)?, Reader::open(cli)?];
    let mut heads = [files[0].next()?, files[1].next()?];
    while let Some(file) = earlier(&heads) {
        if let Some(Sighting { time_ns, len, packet, .. }) = &heads[file]
            && let Some(interface) =
                interfaces[packet.direction.index()][usize::from(!arrives(file, packet.direction))]
        {
            let time_ns = u64::try_from(time_ns + shift_ns).unwrap_or_default();
            into.frame(interface, time_ns, *len, files[file].data(), None)?;
        }
        heads[file] = files[file].next()?;
    }
    Ok(())
}

/// Returns the file whose next packet was seen first. At equal times a packet that arrives goes first.
fn earlier(heads: &[Option<Sighting>; 2]) -> Option<usize> {
    let order =
        |file: usize| heads[file].as_ref().map(|head| (head.time_ns, !arrives(file, head.packet.direction)));
    match (order(0), order(1)) {
        (None, None) => None,
        (Some(_), None) => Some(0),
        (None, Some(_)) => Some(1),
        (Some(wan), Some(cli)) => Some(usize::from(cli < wan)),
    }
}

/// Returns whether a packet that goes `direction` arrives at the interface of `file`. Otherwise it leaves by it.
fn arrives(file: usize, direction: Direction) -> bool {
    (file == 0) == (direction == Direction::Down)
}

#[derive(Default)]
struct Matching {
    crossing: Crossing,
    places: HashMap<Pair, u32>,
    /// Rows of packets that have not left, per direction. Identical packets leave in the order of their arrival.
    waiting: [HashMap<Key, VecDeque<u32>>; 2],
    /// The row of the last packet that left, by a hash of its key. A second departure is found by it.
    gone: [HashMap<u64, u32>; 2],
    /// Departures that were read before the arrival of the same time, and second departures, with file and offset.
    early: [HashMap<Key, VecDeque<(Sighting, usize)>>; 2],
}

impl Matching {
    fn saw(&mut self, file: usize, sighting: Sighting) {
        if arrives(file, sighting.packet.direction) {
            self.arrived(&sighting);
        } else {
            self.left(file, sighting);
        }
    }

    fn arrived(&mut self, sighting: &Sighting) {
        let Sighting { time_ns, len, packet, .. } = sighting;
        let place = self.place(packet.pair);
        let queue = &mut self.crossing.queues[packet.direction.index()];
        let row = queue.arrival_ns.len() as u32;
        queue.arrival_ns.push(*time_ns);
        queue.departure_ns.push(NEVER);
        queue.length.push(*len);
        queue.flow.push(place);
        queue.ecn_in.push(packet.ecn);
        queue.ecn_out.push(packet.ecn);
        if let Some(segment) = &packet.tcp {
            let transfers = &mut self.crossing.flows[place as usize].transfers;
            transfers[packet.direction.index()].offered(*time_ns, segment);
            transfers[packet.direction.back().index()].acknowledged(*time_ns, segment);
        }
        self.waiting[packet.direction.index()].entry(packet.key).or_default().push_back(row);
        let early = &mut self.early[packet.direction.index()];
        if early.is_empty() {
            return;
        }
        if let Some(departures) = early.get_mut(&packet.key)
            && let Some((departure, file)) = departures.pop_front()
        {
            if departures.is_empty() {
                early.remove(&packet.key);
            }
            self.left(file, departure);
        }
    }

    fn left(&mut self, file: usize, sighting: Sighting) {
        let (direction, key) = (sighting.packet.direction, sighting.packet.key);
        let waiting = &mut self.waiting[direction.index()];
        let queue = &mut self.crossing.queues[direction.index()];
        let found = waiting.get_mut(&key).and_then(|rows| {
            let row = *rows.front()? as usize;
            if queue.arrival_ns[row] > sighting.time_ns {
                return None;
            }
            rows.pop_front();
            Some((row, rows.is_empty()))
        });
        let Some((row, last)) = found else {
            self.early[direction.index()].entry(key).or_default().push_back((sighting, file));
            return;
        };
        if last {
            waiting.remove(&key);
        }
        queue.departure_ns[row] = sighting.time_ns;
        self.gone[direction.index()].insert(hash(&key), row as u32);
        queue.ecn_out[row] = sighting.packet.ecn;
        if let Some(segment) = &sighting.packet.tcp {
            let flow = &mut self.crossing.flows[queue.flow[row] as usize];
            flow.transfers[direction.back().index()].heard(sighting.time_ns, segment);
        }
    }

    /// Returns the index of `pair` among the flows.
    fn place(&mut self, pair: Pair) -> u32 {
        let flows = &mut self.crossing.flows;
        *self.places.entry(pair).or_insert_with(|| {
            let address = |(address, port): ([u8; 4], u16)| (Ipv4Addr::from(address), port);
            flows.push(Flow {
                protocol: pair.protocol,
                server: address(pair.server),
                client: address(pair.client),
                transfers: Default::default(),
            });
            flows.len() as u32 - 1
        })
    }

    /// Separates second departures from departures of packets that never arrived.
    fn find_copies(&mut self) {
        for (end, early) in self.early.iter_mut().enumerate() {
            let (gone, queue) = (&self.gone[end], &mut self.crossing.queues[end]);
            let mut copies = Vec::new();
            early.retain(|key, departures| {
                let row = gone.get(&hash(key));
                copies.extend(
                    row.into_iter()
                        .flat_map(|row| departures.iter().map(|(sighting, _)| (sighting.time_ns, *row))),
                );
                row.is_none()
            });
            copies.sort_unstable();
            (queue.copy_ns, queue.copy_of) = copies.into_iter().unzip();
        }
    }

    /// Returns file and offset of the first packet that left without having arrived.
    fn unexplained(&self) -> Option<(usize, u64)> {
        let left = self.early.iter().flat_map(HashMap::values).flatten();
        left.min_by_key(|(sighting, _)| sighting.time_ns).map(|(sighting, file)| (*file, sighting.offset))
    }
}

/// Returns a number for `key` that hardly any other key has. The number is kept for each packet, because a key is
/// long.
fn hash(key: &Key) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
