//! TMIX's connection vectors of a capture (Weigle et al. 2006; Hernández-Campos 2006). For each TCP connection they
//! hold the data that its ends sent, and the waits between them, without the effects of TCP and the path. A capture may
//! be taken anywhere on the path.

use crate::connection::{ACCEPTOR, Connection, INITIATOR, Vector};
use crate::file::{Capture, Error};
use crate::frames::Frames;
use crate::network::Seen;
use crate::skipped::Tally;
use std::collections::HashMap;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;

/// The most connections with data: a scenario takes no more.
const MOST_CONNECTIONS: usize = 1_000_000;
/// The most units of data in all connections.
const MOST_UNITS: usize = 10_000_000;
/// The most connections without data, and connections that had begun before, of which something is remembered.
const MOST_SILENT: usize = 1_000_000;

/// The connections of a capture.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// Connections whose beginning was captured and that carried data, in the order of their beginnings.
    pub list: Vec<Vector>,
    /// Number of connections that had begun before the capture.
    pub partial: u64,
    /// Number of connections that carried no data.
    pub silent: u64,
    /// Number of connections in `list` of which only one direction was captured.
    pub one_sided: u64,
    /// What the frames of the capture held.
    pub tally: Tally,
    /// Number of frames without a time of their own. They have the time of the frame before.
    pub untimed: u64,
    /// Whether the file ends within a frame, which was left out.
    pub is_cut: bool,
}

/// The ends of a connection: who sent the SYN, and to whom.
type Ends = (SocketAddr, SocketAddr);

/// The connections as seen so far.
#[derive(Default)]
struct Table {
    /// `None`: the connection had begun before the capture.
    open: HashMap<Ends, (u64, Option<Box<Connection>>)>,
    /// Connections that others between the same ports have followed, with their numbers.
    ended: Vec<(u64, Vector)>,
    /// The number of the next connection.
    next: u64,
    /// How many connections in `open` carried no data or had begun before, and how many carried data altogether.
    quiet: usize,
    carrying: usize,
    units: usize,
    found: Vectors,
}

/// Reads the connections of a capture that `file` returns. Memory is bounded: it grows with connections and units of
/// data, which have limits, and not with frames. Errors name `path`.
///
/// # Errors
/// Fails at a file that is foreign or damaged, or that has too many connections, and names the offset.
pub fn vectors(path: &Path, file: Box<dyn Read + Send>) -> Result<Vectors, Error> {
    let mut frames = Frames::new(Capture::new(path, file)?);
    let mut table = Table::default();
    let mut origin_ns = None;
    while let Some(seen) = frames.next()? {
        let origin_ns = *origin_ns.get_or_insert(seen.time_ns);
        table.saw(&seen, seen.time_ns - origin_ns);
        if let Some(found) = table.excess() {
            let more = "accepted: a part of this capture, such as editcap or a filter of tcpdump cut out";
            return Err(frames.file.error(frames.file.offset(), &format!("{found}; {more}")));
        }
    }
    Ok(Vectors {
        tally: frames.tally,
        untimed: frames.file.untimed,
        is_cut: frames.file.is_cut,
        ..table.finish()
    })
}

impl Table {
    fn saw(&mut self, seen: &Seen, now_ns: i64) {
        let (there, back) = ((seen.from, seen.to), (seen.to, seen.from));
        let sides = [(there, INITIATOR), (back, ACCEPTOR)];
        if seen.syn {
            let is_known = sides.iter().any(|(ends, end)| {
                matches!(self.open.get(ends), Some((_, Some(known))) if known.begins_with(*end, seen))
            });
            if !is_known {
                self.end(&there);
                self.end(&back);
                // The SYN-ACK may be captured first, or alone.
                let ends = if seen.ack.is_some() { back } else { there };
                self.begin(ends, Some(Box::new(Connection::new(now_ns))));
            }
        }
        let known = sides.into_iter().find(|(ends, _)| self.open.contains_key(ends));
        let Some((ends, end)) = known else {
            self.found.partial += 1;
            self.begin(there, None);
            return;
        };
        if let Some((_, Some(connection))) = self.open.get_mut(&ends) {
            let before = connection.units();
            connection.saw(end, seen, now_ns);
            self.units += connection.units() - before;
            if before == 0 && connection.units() > 0 {
                self.carrying += 1;
                self.quiet -= 1;
            }
        }
    }

    fn begin(&mut self, ends: Ends, connection: Option<Box<Connection>>) {
        self.open.insert(ends, (self.next, connection));
        self.next += 1;
        self.quiet += 1;
        if self.quiet > MOST_SILENT {
            self.forget();
        }
    }

    /// Forgets the older half of the connections without data, as a scan of ports leaves them.
    fn forget(&mut self) {
        let is_quiet =
            |connection: &Option<Box<Connection>>| connection.as_ref().is_none_or(|one| one.units() == 0);
        let mut numbers: Vec<u64> = self
            .open
            .values()
            .filter(|(_, connection)| is_quiet(connection))
            .map(|(number, _)| *number)
            .collect();
        let half = numbers.len() / 2;
        let (_, middle, _) = numbers.select_nth_unstable(half);
        let middle = *middle;
        self.open.retain(|_, (number, connection)| {
            let stays = *number >= middle || !is_quiet(connection);
            self.found.silent += u64::from(!stays && connection.is_some());
            stays
        });
        self.quiet -= half;
    }

    /// Ends a connection, if it is there.
    fn end(&mut self, ends: &Ends) {
        if let Some((number, connection)) = self.open.remove(ends) {
            if connection.as_ref().is_none_or(|one| one.units() == 0) {
                self.quiet -= 1;
            }
            self.keep(number, connection);
        }
    }

    fn keep(&mut self, number: u64, connection: Option<Box<Connection>>) {
        let Some(connection) = connection else { return };
        let is_one_sided = connection.is_one_sided();
        match connection.vector() {
            Some(vector) => {
                self.found.one_sided += u64::from(is_one_sided);
                self.ended.push((number, vector));
            }
            None => self.found.silent += 1,
        }
    }

    /// Returns what there is too much of.
    fn excess(&self) -> Option<String> {
        match self {
            Self { carrying, .. } if *carrying > MOST_CONNECTIONS => {
                Some(format!("more than {MOST_CONNECTIONS} connections"))
            }
            Self { units, .. } if *units > MOST_UNITS => {
                Some(format!("more than {MOST_UNITS} units of data"))
            }
            _ => None,
        }
    }

    fn finish(mut self) -> Vectors {
        for (number, connection) in std::mem::take(&mut self.open).into_values() {
            self.keep(number, connection);
        }
        self.ended.sort_unstable_by_key(|(number, _)| *number);
        Vectors { list: self.ended.into_iter().map(|(_, vector)| vector).collect(), ..self.found }
    }
}
