//! The format of decision traces, `aqm-golden-1`, as lines that are parsed or refused (`golden/README.md`).

mod line;

use crate::Error;
use flate2::bufread::MultiGzDecoder;
use goodqueue_units::{Ecn, Instant, Rate};
pub(crate) use line::number;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::str::FromStr;

/// The format that this crate reads, as in the header's `format`.
pub const FORMAT: &str = "aqm-golden-1";

/// The longest line that is accepted, so that a file without line ends cannot fill the memory.
const LONGEST_LINE: u64 = 4 << 20;
/// The largest number of header keys that is accepted.
const LONGEST_HEADER: usize = 4096;
/// The largest header that is accepted, in bytes: a compressed file of many long header lines could fill the memory.
const LARGEST_HEADER: usize = 1 << 20;

/// A value from a file that another program wrote. The error says what was found and what is accepted.
type Parsed<T> = Result<T, String>;

/// The header's `key=value` lines.
#[derive(Clone, Debug, Default)]
pub struct Header(pub(crate) BTreeMap<String, String>);

impl Header {
    /// Returns the value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Returns the value of `key` as a number.
    ///
    /// # Errors
    /// Fails if the key is missing or its value is not a number of this type.
    pub fn number<T: FromStr>(&self, key: &str) -> Parsed<T> {
        number(self.get(key).ok_or_else(|| format!("the header has no {key:?}"))?, key)
    }
}

/// The ids in a `drops` or `marks` column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids<'a>(&'a str);

impl<'a> Ids<'a> {
    fn parse(text: &'a str, column: &str) -> Parsed<Self> {
        for id in text.split('|').filter(|_| !text.is_empty()) {
            number::<u64>(id, column)?;
        }
        Ok(Self(text))
    }

    /// Returns whether these are `ids`, in this order.
    #[must_use]
    pub fn are(self, ids: &[u64]) -> bool {
        let mut theirs = self.0.split('|').filter(|_| !self.0.is_empty());
        ids.iter().all(|id| theirs.next().and_then(|text| text.parse().ok()) == Some(*id))
            && theirs.next().is_none()
    }

    /// Returns the ids as the file writes them.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.0
    }
}

/// `key=value` pairs of a state, with checked syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairs<'a>(&'a str);

impl<'a> Pairs<'a> {
    fn parse(text: &'a str) -> Parsed<Self> {
        let bad = text.split(',').find(|pair| !text.is_empty() && !pair.contains('='));
        bad.map_or(Ok(Self(text)), |pair| Err(format!("found {pair:?}; accepted: key=value")))
    }

    /// Returns the pairs one after the other.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.split(',').filter_map(|pair| pair.split_once('='))
    }

    /// Returns the pairs as the file writes them.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.0
    }
}

/// The discipline's reports and backlog after a call.
#[derive(Clone, Copy, Debug)]
pub struct After<'a> {
    /// Ids of packets dropped in the call, in order.
    pub drops: Ids<'a>,
    /// Ids of packets newly set to CE in the call.
    pub marks: Ids<'a>,
    /// Packets in the queue.
    pub qlen: u32,
    /// Bytes in the queue.
    pub backlog: u64,
}

/// The columns of an arrival that only some traces have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// The hosts' hashes, in traces with a cake in them.
    pub hosts: (u32, u32),
    /// The earliest departure time, in traces of fq.
    pub departure: Option<Instant>,
    /// The pacing rate of the packet's socket, in traces of fq.
    pub pacing: Option<Rate>,
    /// The mark of a firewall, in traces of trees.
    pub mark: u32,
}

/// The columns that a trace has besides those of all traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// None, or hosts' hashes at the end of arrivals.
    Usual,
    /// `edt_ns,pace_Bps` at the end of arrivals (fq).
    Times,
    /// Hosts' hashes, and then the transmit queue, which departures have, too (cake_mq).
    Queues,
    /// `mark,class` at the end of arrivals (trees).
    Classes,
}

/// The content of a line.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    /// The link's rate from now on, in bit/s.
    Rate(u64),
    /// An arrival.
    Enqueue {
        /// The packet's number, from 0.
        id: u64,
        /// Bytes.
        len: u32,
        /// The sender's number.
        flow: u64,
        /// The classifier's hash.
        hash: u32,
        /// Codepoint on arrival.
        ecn: Ecn,
        /// The transmit queue, if the trace's device has several.
        queue: Option<usize>,
        /// Priority or DSCP.
        prio: u32,
        /// The class to which the packet goes, in traces of trees.
        class: Option<&'a str>,
        /// `q` queued, `m` queued and newly marked, `d` dropped.
        fate: char,
        /// The further columns.
        extra: Extra,
        /// The return value of enqueue.
        ret: u8,
        /// The state after the call.
        after: After<'a>,
    },
    /// A departure, or a dequeue that returned no packet.
    Dequeue {
        /// The packet's number. `None` is the file's -1.
        id: Option<u64>,
        /// The packet's codepoint when it leaves.
        ecn: Ecn,
        /// The transmit queue, if the trace's device has several.
        queue: Option<usize>,
        /// The state after the call.
        after: After<'a>,
    },
    /// A timer ran.
    Timer {
        /// Ids of packets that the timer dropped.
        drops: Ids<'a>,
        /// The state after the timer.
        state: Pairs<'a>,
    },
    /// A random number that the next call draws.
    Random {
        /// 16, 32 or 64.
        bits: u8,
        /// The number.
        value: u64,
    },
    /// Commands of `tc` that change a tree. What the change drops is not written: the backlog of later lines shows it.
    Change(&'a str),
    /// The inner state after the line before.
    State(Pairs<'a>),
    /// The totals.
    End(Pairs<'a>),
}

/// Reads a decision trace: the header at once, then line by line.
pub struct Reader<R: BufRead> {
    file: String,
    header: Header,
    input: Input<R>,
    line: Vec<u8>,
    /// Whether `line` was read ahead together with the header.
    pending: bool,
    number: u64,
    now: u64,
    columns: Columns,
}

/// The reader with the two bytes put back that were read to find the magic number.
type Peeked<R> = std::io::Chain<Cursor<Vec<u8>>, R>;

enum Input<R: BufRead> {
    Plain(Peeked<R>),
    Gzip(BufReader<MultiGzDecoder<Peeked<R>>>),
}

impl<R: BufRead> Reader<R> {
    /// Opens a decision trace, gzip (by its magic number) or plain, and reads its header.
    ///
    /// # Errors
    /// Fails if the input cannot be read, has no header, or has another version's.
    pub fn open(name: &str, mut reader: R) -> Result<Self, Error> {
        let mut magic = Vec::new();
        let read = reader.by_ref().take(2).read_to_end(&mut magic);
        let gzip = magic == [0x1f, 0x8b];
        let peeked = Cursor::new(magic).chain(reader);
        let mut this = Self {
            file: name.to_string(),
            header: Header::default(),
            input: if gzip {
                Input::Gzip(BufReader::new(MultiGzDecoder::new(peeked)))
            } else {
                Input::Plain(peeked)
            },
            line: Vec::new(),
            pending: false,
            number: 0,
            now: 0,
            columns: Columns::Usual,
        };
        read.map_err(|error| this.malformed(error.to_string()))?;
        this.read_header()?;
        this.columns = match this.header.get("algorithm") {
            Some("fq") => Columns::Times,
            Some("tc") => Columns::Classes,
            _ if this.header.get("tx_queues").is_some() => Columns::Queues,
            _ => Columns::Usual,
        };
        Ok(this)
    }

    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the name of the trace.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the number of the last line that was read, counted from 1.
    #[must_use]
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// Returns the first thousand characters of the last line that was read.
    #[must_use]
    pub fn line_text(&self) -> String {
        String::from_utf8_lossy(&self.line).chars().take(1000).collect()
    }

    /// Returns an error about the last line that was read.
    #[must_use]
    pub fn malformed(&self, what: String) -> Error {
        Error::Malformed { file: self.file.clone(), line: self.number.max(1), what }
    }

    fn read_header(&mut self) -> Result<(), Error> {
        let mut bytes = 0;
        while self.fill()? {
            let Some(pair) = self.line.strip_prefix(b"# ") else {
                self.pending = true;
                break;
            };
            bytes += pair.len();
            if bytes > LARGEST_HEADER {
                return Err(self.malformed(format!("the header is longer than {LARGEST_HEADER} bytes")));
            }
            let pair = String::from_utf8_lossy(pair);
            let Some((key, value)) = pair.split_once('=') else {
                return Err(self.malformed(format!("found {pair:?}; accepted: # key=value")));
            };
            let (key, value) = (key.to_string(), value.to_string());
            if self.header.0.len() == LONGEST_HEADER {
                return Err(self.malformed(format!("the header has more than {LONGEST_HEADER} keys")));
            }
            if self.header.0.insert(key.clone(), value).is_some() {
                return Err(self.malformed(format!("the header has {key:?} twice")));
            }
        }
        match self.header.get("format") {
            Some(FORMAT) => Ok(()),
            Some(other) => Err(self.malformed(format!("found format {other:?}; accepted: {FORMAT:?}"))),
            None => Err(self.malformed(format!("no header; accepted: a trace of format {FORMAT:?}"))),
        }
    }

    /// Returns the next event and its time, or `None` at the end of the file.
    ///
    /// # Errors
    /// Fails at a line that is not of the format, at a time before that of the line before, and if the input ends too
    /// early.
    pub fn next_line(&mut self) -> Result<Option<(Instant, Line<'_>)>, Error> {
        if !self.pending && !self.fill()? {
            return Ok(None);
        }
        self.pending = false;
        match line::understand(&self.line, self.now, self.columns) {
            Ok((now, line)) => {
                self.now = now;
                Ok(Some((Instant::from_nanos(now), line)))
            }
            Err(what) => Err(self.malformed(what)),
        }
    }

    /// Reads a line into `self.line`, without its end. Returns false at the end of the file.
    fn fill(&mut self) -> Result<bool, Error> {
        self.line.clear();
        let read = match &mut self.input {
            Input::Plain(input) => input.take(LONGEST_LINE).read_until(b'\n', &mut self.line),
            Input::Gzip(input) => input.take(LONGEST_LINE).read_until(b'\n', &mut self.line),
        };
        self.number += 1;
        match read {
            Ok(0) => {
                self.number -= 1;
                return Ok(false);
            }
            Ok(_) if self.line.last() == Some(&b'\n') => self.line.truncate(self.line.len() - 1),
            Ok(_) if self.line.len() as u64 == LONGEST_LINE => {
                return Err(self.malformed(format!("the line is longer than {LONGEST_LINE} bytes")));
            }
            Ok(_) => {}
            Err(error) => return Err(self.malformed(format!("cannot be read: {error}"))),
        }
        Ok(true)
    }
}
