//! Writes the decisions of our disciplines in the format that [`replay`](crate::replay()) reads (`golden/README.md`).
//!
//! The model around the discipline is that of the recorded traces. One link asks for a packet as soon as a packet has
//! left, and after each arrival while it is idle. Timers run when they are due. At equal times the timer comes first,
//! then the end of a transmission, then the arrival. Random numbers come from a stream of the seed.

use crate::arrival::Arrival;
use crate::load::{Load, Offer};
use crate::setup;
use crate::state::Seen;
use crate::trace::FORMAT;
use flate2::Compression;
use flate2::write::GzEncoder;
use goodqueue_qdisc::{AnyQdisc, Args, Backlog, Drop, Link, Mark, Owner, Qdisc, registry};
use goodqueue_units::{Ecn, Instant, Stream, Streams};
use std::fmt::Write as _;
use std::io::{self, Write};

mod options;
pub use options::{Ecns, Options, Pattern, Sizes, Words};

const START_NS: u64 = 10_000_000_000;
const DRAIN_NS: u64 = 1_000_000_000;
const MTU: u32 = 1514;
/// Number of calls of enqueue and dequeue between two state lines.
const STATE_EVERY: u64 = 40;
/// DSCPs that cake sorts into its tins: CS0, CS1, AF11, AF21, AF41, CS5, EF, CS6.
const CODEPOINTS: [u8; 8] = [0, 8, 10, 18, 34, 40, 46, 48];

/// The reason why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option or the discipline's line is refused, with the reason in one line.
    #[error("{0}")]
    Refused(String),
    /// The output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The totals of a decision trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// Packets offered.
    pub offered: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets newly set to CE.
    pub marked: u64,
    /// Random numbers drawn.
    pub draws: u64,
}

/// Records the discipline of the `tc` line `line` under `options` into `out`, as gzip if `gzip` is set.
///
/// The same arguments give the same bytes. Memory does not grow with the number of packets.
///
/// # Errors
/// Fails if the line is refused, if the format has no header for the discipline or for one of its parameters, or if
/// `out` fails.
pub fn record(line: &str, options: &Options, gzip: bool, out: impl Write) -> Result<Totals, Error> {
    let refuse = |error: goodqueue_qdisc::Error| Error::Refused(error.0);
    let link = Link { rate: options.rate, mtu: MTU };
    let args = registry::parse_line(line).map_err(refuse)?;
    let qdisc = AnyQdisc::build(&args, &link).map_err(refuse)?;
    let header = header(&args, options, &link)?;
    if !gzip {
        return Recorder::new(&args, options, qdisc, out).run(&header).map(|(totals, _)| totals);
    }
    // The encoder writes no name and no time, so the bytes depend only on the text.
    let encoder = GzEncoder::new(out, Compression::new(6));
    let (totals, encoder) = Recorder::new(&args, options, qdisc, encoder).run(&header)?;
    encoder.finish()?.flush()?;
    Ok(totals)
}

fn header(args: &Args, options: &Options, link: &Link) -> Result<String, Error> {
    let pairs = setup::header(args, link).map_err(Error::Refused)?;
    let mut text = format!(
        "# format={FORMAT}\n# algorithm={}\n# made_by=goodqueue {}\n# timer_model=exact\n# start_ns={START_NS}\n\
         # mtu_bytes={}\n# psched_mtu_bytes={MTU}\n{}# options={args}\n",
        args.spec.name,
        env!("CARGO_PKG_VERSION"),
        MTU - 14,
        options.header(),
    );
    for (key, value) in pairs.iter() {
        let _ = writeln!(text, "# {key}={value}");
    }
    let further = further_columns(args.spec.name, innermost(args));
    let _ = write!(
        text,
        "# columns_enq=t_ns,enq,id,len,flow,hash,ecn,prio,fate,ret,drops,marks,qlen,backlog{further}\n\
         # columns_deq=t_ns,deq,id,ecn,drops,marks,qlen,backlog\n"
    );
    Ok(text)
}

/// The owner of a recorded discipline. It notes drops, marks and draws.
struct Notes {
    dice: Stream,
    drops: Vec<Arrival>,
    marks: Vec<u64>,
    /// Width and value of each random number that the call drew.
    draws: Vec<(u8, u64)>,
}

impl Notes {
    fn draw(&mut self, bits: u8) -> u64 {
        let value = self.dice.next_u64() >> (64 - bits);
        self.draws.push((bits, value));
        value
    }
}

impl Owner<Arrival> for Notes {
    fn dropped(&mut self, packet: Arrival, _why: Drop) {
        self.drops.push(packet);
    }
    fn marked(&mut self, packet: &Arrival, _why: Mark) {
        self.marks.push(packet.id);
    }
    fn random_u16(&mut self) -> u16 {
        self.draw(16) as u16
    }
    fn random_u32(&mut self) -> u32 {
        self.draw(32) as u32
    }
    fn random_u64(&mut self) -> u64 {
        self.draw(64)
    }
}

/// Returns the name of the timer of the discipline `name`. `None`: the timer only asks to be called again (cake's
/// shaper, fq's pacing), which shows as dequeues.
fn timer_name(name: &str) -> Option<&'static str> {
    match name {
        "red" => Some("adapt"),
        "sfq" => Some("perturb"),
        "cake" | "cake_mq" | "fq" => None,
        "netem" | "tbf" | "htb" => Some("wake"),
        _ => Some("tupdate"),
    }
}

/// Returns the name of the innermost discipline, which determines the columns of a packet.
fn innermost(args: &Args) -> &'static str {
    args.child().map_or(args.spec.name, innermost)
}

/// The columns of departure times and sockets. No packet of a recording has them.
/// The mark and the class, in traces of trees.
const TIMES: &str = ",edt_ns,pace_Bps";
/// The mark of a packet and its class, in recordings of trees.
const CLASSES: &str = ",mark,class";

/// Returns the columns of an arrival after `backlog`.
fn further_columns(name: &str, innermost: &str) -> &'static str {
    match (name, innermost) {
        ("fq", _) => TIMES,
        ("tc", _) => CLASSES,
        (_, "cake" | "cake_mq") => ",src_hash,dst_hash",
        _ => "",
    }
}

struct Recorder<'a, W: Write> {
    name: &'static str,
    innermost: &'static str,
    options: &'a Options,
    qdisc: AnyQdisc<Arrival>,
    owner: Notes,
    load: Load,
    out: io::BufWriter<W>,
    now: u64,
    /// The time at which the packet on the link will have left it.
    busy: Option<u64>,
    totals: Totals,
    calls: u64,
    /// SFQ's present keys.
    keys: [u64; 2],
}

impl<'a, W: Write> Recorder<'a, W> {
    fn new(args: &Args, options: &'a Options, qdisc: AnyQdisc<Arrival>, out: W) -> Self {
        Self {
            name: args.spec.name,
            innermost: innermost(args),
            options,
            qdisc,
            owner: Notes {
                dice: Streams::new(options.seed).stream("qdisc", 0),
                drops: Vec::new(),
                marks: Vec::new(),
                draws: Vec::new(),
            },
            load: Load::new(options, START_NS),
            out: io::BufWriter::new(out),
            now: START_NS,
            busy: None,
            totals: Totals::default(),
            calls: 0,
            keys: [0; 2],
        }
    }

    /// Runs until all packets have arrived and left, and one second more. Returns the output.
    fn run(mut self, header: &str) -> Result<(Totals, W), Error> {
        self.out.write_all(header.as_bytes())?;
        // SFQ draws its keys with the first packet. Other disciplines draw them at set-up, so their draws precede the
        // first line.
        if self.name != "sfq" {
            self.rate()?;
        }
        let mut end = None;
        loop {
            let arrival = self.load.next();
            let timer = self.qdisc.next_timer().map(|due| due.as_nanos().max(self.now));
            if arrival.is_none() && self.busy.is_none() && self.qdisc.backlog().packets == 0 {
                end.get_or_insert(self.now + DRAIN_NS);
            }
            let timer = timer.filter(|due| end.is_none_or(|end| *due <= end));
            let Some((at, what)) = first([timer, self.busy, arrival]) else { break };
            self.now = at;
            match what {
                0 => self.timer()?,
                1 => self.dequeue()?,
                _ => self.arrive()?,
            }
        }
        self.state()?;
        let Totals { offered, delivered, dropped, marked, draws } = self.totals;
        let left = self.qdisc.backlog().packets;
        writeln!(
            self.out,
            "{},end,enq={offered},deq={delivered},drop={dropped},left={left},mark={marked},rnd={draws}",
            self.now
        )?;
        let out = self.out.into_inner().map_err(|error| Error::Io(error.into_error()))?;
        Ok((self.totals, out))
    }

    fn rate(&mut self) -> io::Result<()> {
        writeln!(self.out, "{START_NS},rate,{}", self.options.rate.as_bps())
    }

    fn arrive(&mut self) -> Result<(), Error> {
        let id = self.totals.offered;
        let Offer { flow, len, ecn } = self.load.take();
        let hash = |group| setup::flow_hash(self.options.seed, group);
        // Two flows share a source, and each goes to its own host.
        let hosts = (hash(self.options.flows + flow / 2), hash(2 * self.options.flows + flow));
        let prio = match self.innermost {
            "fq" | "pfifo_fast" | "prio" => (flow % 16) as u8,
            "cake" | "cake_mq" => CODEPOINTS[(flow % 8) as usize],
            _ => 0,
        };
        let hash = hash(flow);
        let (departure, socket, arrival) = (None, None, Instant::ZERO);
        // The marks are 0, 1 and so on, as filters may want them.
        let (class, mark) = (prio.into(), flow as u32);
        let packet =
            Arrival { id, len, ecn, flow, hash, hosts, prio, class, mark, departure, socket, arrival };
        let decision =
            self.qdisc.decide(&packet, &self.owner).map(|class| class.to_string()).unwrap_or_default();
        self.totals.offered += 1;
        let ret = self.qdisc.enqueue(Instant::from_nanos(self.now), packet, &mut self.owner) as u8;
        let set_up = self.name == "sfq" && id == 0;
        self.draws(if set_up { START_NS } else { self.now })?;
        if set_up {
            self.rate()?;
        }
        let fate = match &self.owner {
            owner if owner.drops.iter().any(|packet| packet.id == id) => 'd',
            owner if owner.marks.contains(&id) => 'm',
            _ => 'q',
        };
        let column = if self.name == "sfq" { setup::perturbed(hash, self.keys) } else { hash };
        let after = self.after();
        let ecn = ecn.bits();
        let now = self.now;
        write!(self.out, "{now},enq,{id},{len},{flow},{column},{ecn},{prio},{fate},{ret},{after}")?;
        match further_columns(self.name, self.innermost) {
            "" => writeln!(self.out)?,
            TIMES => writeln!(self.out, ",0,0")?,
            CLASSES => writeln!(self.out, ",{mark},{decision}")?,
            _ => writeln!(self.out, ",{},{}", hosts.0, hosts.1)?,
        }
        self.called()?;
        if self.busy.is_none() { self.dequeue() } else { Ok(()) }
    }

    /// Asks for a packet, because the link is idle or has become idle.
    fn dequeue(&mut self) -> Result<(), Error> {
        let packet = self.qdisc.dequeue(Instant::from_nanos(self.now), &mut self.owner);
        self.draws(self.now)?;
        self.busy =
            packet.map(|packet| self.now + self.options.rate.transmission_time(packet.len).as_nanos());
        let after = self.after();
        let now = self.now;
        match packet {
            Some(packet) => {
                self.totals.delivered += 1;
                self.load.tell(packet.flow, self.now, packet.ecn == Ecn::Ce);
                writeln!(self.out, "{now},deq,{},{},{after}", packet.id, packet.ecn.bits())?;
            }
            None => writeln!(self.out, "{now},deq,-1,0,{after}")?,
        }
        self.called()
    }

    fn timer(&mut self) -> Result<(), Error> {
        self.qdisc.on_timer(Instant::from_nanos(self.now), &mut self.owner);
        let Some(timer) = timer_name(self.name) else {
            return if self.busy.is_none() { self.dequeue() } else { Ok(()) };
        };
        self.draws(self.now)?;
        let drops = ids(self.owner.drops.iter().map(|packet| packet.id));
        self.settle();
        writeln!(self.out, "{},timer,{timer},{drops},{}", self.now, Seen::of(&self.qdisc))?;
        // A packet that was held back may leave now.
        if timer == "wake" && self.busy.is_none() { self.dequeue() } else { Ok(()) }
    }

    /// Writes the random numbers that the call drew.
    fn draws(&mut self, at: u64) -> io::Result<()> {
        for &(bits, value) in &self.owner.draws {
            writeln!(self.out, "{at},rnd,{bits},{value}")?;
        }
        self.totals.draws += self.owner.draws.len() as u64;
        if let (true, [(64, k0), (64, k1), ..]) = (self.name == "sfq", &self.owner.draws[..]) {
            self.keys = [*k0, *k1];
        }
        self.owner.draws.clear();
        Ok(())
    }

    /// Returns the columns of the state after a call.
    fn after(&mut self) -> String {
        let drops = ids(self.owner.drops.iter().map(|packet| packet.id));
        let marks = ids(self.owner.marks.iter().copied());
        let Backlog { packets, bytes } = self.qdisc.backlog();
        self.settle();
        format!("{drops},{marks},{packets},{bytes}")
    }

    /// Counts a call's drops and marks, and tells the senders about their losses.
    fn settle(&mut self) {
        self.totals.dropped += self.owner.drops.len() as u64;
        self.totals.marked += self.owner.marks.len() as u64;
        for packet in self.owner.drops.drain(..) {
            self.load.tell(packet.flow, self.now, true);
        }
        self.owner.marks.clear();
    }

    fn called(&mut self) -> Result<(), Error> {
        self.calls += 1;
        if self.calls.is_multiple_of(STATE_EVERY) { self.state() } else { Ok(()) }
    }

    fn state(&mut self) -> Result<(), Error> {
        Ok(writeln!(self.out, "{},st,{}", self.now, Seen::of(&self.qdisc))?)
    }
}

/// Returns the earliest time and its index; of equal times, the first.
fn first(times: [Option<u64>; 3]) -> Option<(u64, usize)> {
    times.iter().enumerate().filter_map(|(index, time)| time.map(|time| (time, index))).min()
}

fn ids(ids: impl Iterator<Item = u64>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join("|")
}
