//! Properties that every discipline of the registry must have, as code that the property tests and the fuzz targets
//! share (`fuzz/` includes this file by its path).

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::param::{Form, ParamSpec, QdiscSpec, Unit, Value};
use goodqueue_qdisc::{AnyQdisc, Args, Backlog, Drop, Enqueued, Error, Link, Mark, Owner, Probe, Qdisc};
use goodqueue_units::{Duration, Ecn, Instant, Rate, Stream, Streams};
use std::collections::HashMap;

/// One year in ns. Ten years leave a discipline idle for longer than any of its tick counters lasts.
pub(crate) const YEAR: u64 = 365 * 24 * 3600 * 1_000_000_000;
/// The time at which CoDel's 32 bits of 1024 ns wrap.
pub(crate) const TICKS_WRAP: u64 = 1 << 42;
/// The time at which PIE's ticks of 64 ns exceed 32 bits.
pub(crate) const PIE_WRAP: u64 = 1 << 38;

/// An owner's action on a discipline.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Offers a packet.
    Enqueue {
        /// The packet's length in bytes.
        len: u32,
        /// The packet's flow.
        flow: u32,
        /// The packet's ECN codepoint, in the low two bits.
        ecn: u8,
    },
    /// Asks for a packet.
    Dequeue,
    /// Lets nanoseconds pass and calls the timer if it is due.
    Advance(u64),
    /// Lets nanoseconds pass and forgets the timer.
    Oversleep(u64),
    /// Sets one parameter, of the discipline or of one inside it, to an [unusual] value. The number after the last
    /// parameter sets all parameters to their present values.
    Change {
        /// The parameter's number, modulo the number of parameters.
        param: usize,
        /// The value's number.
        value: usize,
    },
    /// Sets another rate of the link, in bits per second.
    LinkRate(u64),
}

macro_rules! ensure {
    ($cond:expr, $($why:tt)*) => {
        if !$cond {
            return Err(format!($($why)*));
        }
    };
}

/// Checks these properties:
///
/// - Each offered packet is delivered or dropped, once.
/// - The backlog equals the held packets and is within the limit.
/// - No flow is reordered.
/// - Only ECN-capable packets are marked.
/// - A discipline that says that it is work-conserving gives a packet whenever it holds one. Any other discipline gives
///   one now or at the time that it said.
///
/// # Errors
/// Says which property does not hold. If `args` cannot make a discipline, all properties hold.
pub(crate) fn every_packet_has_one_fate(
    args: &Args,
    link: &Link,
    start: u64,
    ops: &[Op],
) -> Result<(), String> {
    let Ok(qdisc) = AnyQdisc::build(args, link) else { return Ok(()) };
    let mut bench = Bench::new(qdisc, args, start);
    for op in ops {
        bench.step(op)?;
    }
    bench.qdisc.probe(&mut Shown::default()); // showing the state changes nothing, and does not panic
    bench.drain()?;
    ensure!(bench.ledger.held.is_empty(), "empty, it still holds {:?}", bench.ledger.held);
    Ok(())
}

/// Disciplines inside another one: with a timer, with random numbers, with several queues, and shapers.
const CHILDREN: [&str; 7] = [
    "codel target 1ms interval 10ms",
    "pi limit 20 w 1000",
    "fq_codel flows 8 limit 20",
    "cake bandwidth 1mbit",
    "tbf rate 1mbit burst 20000 child pie limit 20",
    "red limit 60000",
    "netem delay 1ms 5ms loss 10% duplicate 10% corrupt 10% limit 20",
];

/// Returns the words for `param` with an unusual value: the smallest, the largest, or one so small that 400 events
/// reach it.
pub(crate) fn unusual(spec: &QdiscSpec, param: &ParamSpec, which: usize) -> String {
    let Some(parent) = param.follows.and_then(|parent| spec.param(parent)) else {
        return unusual_alone(param, which);
    };
    let following = spec.params.iter().filter(|other| other.follows == param.follows);
    let upto = following.clone().position(|other| other.name == param.name).map_or(0, |at| at + 1);
    let values = following.take(upto).map(|other| unusual_alone(other, which).replacen(other.name, "", 1));
    unusual_alone(parent, which) + &values.collect::<String>()
}

/// Returns whether `tc` takes `param` after the words of `line`. A parameter that follows another one brings its word.
pub(crate) fn may_join(line: &str, spec: &QdiscSpec, param: &ParamSpec) -> bool {
    let head = param.follows.and_then(|name| spec.param(name)).unwrap_or(param);
    let has = |name: &str| format!("{line} ").contains(&format!(" {name} "));
    let excludes = |other: &ParamSpec| {
        head.rules.excludes == Some(other.name) || other.rules.excludes == Some(head.name)
    };
    !(head.rules.once && has(head.name) || spec.params.iter().any(|other| excludes(other) && has(other.name)))
}

fn unusual_alone(param: &ParamSpec, which: usize) -> String {
    let (least, greatest) = param.range;
    let unit = match param.form {
        Form::Number(unit) => unit,
        Form::Flag if which.is_multiple_of(2) => return param.negated(),
        Form::Flag => return param.name.to_string(),
        Form::Choice(words) => return format!("{} {}", param.name, words[which % words.len()]),
        Form::Word(words) => return words[which % words.len()].to_string(),
        Form::Shorthand(table) => return table[which % table.len()].0.to_string(),
        Form::Numbers { most, .. } => {
            let number = if which.is_multiple_of(2) { least } else { greatest };
            return format!("{}{}", param.name, format!(" {}", number as u64).repeat(most));
        }
        Form::Child => return format!("{} {}", param.name, CHILDREN[which % CHILDREN.len()]),
        // The parameter itself is tried elsewhere. A refused word makes no line.
        Form::Alias(_) | Form::Refused(_) => return String::new(),
    };
    let small = match unit {
        Unit::Time | Unit::TimeOrPackets | Unit::Milliseconds => 1e6,
        Unit::Bytes => 20_000.0,
        Unit::Packets => 20.0,
        Unit::Real | Unit::Percent => f64::midpoint(least, greatest),
        _ => 8.0,
    };
    let value = [least, greatest, small.clamp(least, greatest)][which % 3];
    let text = match unit {
        Unit::Masked => ["0x1/0x3", "0xff/0xff"][which % 2].to_string(),
        Unit::TimeOrPackets if which.is_multiple_of(2) => format!("{which}p"),
        Unit::Milliseconds => (value as u64 / 1_000_000).to_string(),
        Unit::Time | Unit::TimeOrPackets if param.rules.nanoseconds => format!("{}ns", value as u64),
        Unit::Time | Unit::TimeOrPackets => format!("{}us", value as u64 / 1_000),
        Unit::Rate => format!("{}bit", value as u64),
        Unit::Real | Unit::Percent | Unit::Signed => value.to_string(),
        _ => (value as u64).to_string(),
    };
    format!("{} {text}", param.name)
}

/// The owner of the packets that a discipline gives back. It knows which packets the discipline still holds.
struct Ledger {
    dice: Stream,
    /// Packets that were offered and not yet given back, by id, as they were offered or marked.
    held: HashMap<u64, Plain>,
    dropped: Vec<u64>,
    /// The last delivered packet by flow, and by codepoint if each codepoint has its own queue.
    last_delivered: HashMap<(u32, u8), u64>,
    /// The number of packets that were copied.
    copies: u64,
    faults: Vec<String>,
}

/// The id of the first copy, above those of all packets.
const FIRST_COPY: u64 = 1 << 40;

impl Ledger {
    /// Notes that `packet` leaves. It must be held, and unchanged except where a discipline may change it.
    fn leaves(&mut self, packet: &Plain, how: &str) {
        match self.held.remove(&packet.id) {
            Some(known) if known == (Plain { dscp: known.dscp, ..*packet }) => {} // cake may wash the codepoint
            Some(known) => self.faults.push(format!("{how}: {packet:?} was {known:?}")),
            None => self.faults.push(format!("{how}: {packet:?} is not held")),
        }
    }
}

impl Owner<Plain> for Ledger {
    fn dropped(&mut self, packet: Plain, _why: Drop) {
        self.leaves(&packet, "dropped");
        self.dropped.push(packet.id);
    }
    fn marked(&mut self, packet: &Plain, _why: Mark) {
        match self.held.get_mut(&packet.id) {
            Some(known) if known.ecn.is_capable() && known.ecn != Ecn::Ce => known.ecn = Ecn::Ce,
            known => self.faults.push(format!("marked: {packet:?}, known as {known:?}")),
        }
    }
    fn duplicated(&mut self, packet: &Plain) -> Option<Plain> {
        let copy = Plain { id: FIRST_COPY + self.copies, ..*packet };
        self.copies += 1;
        self.held.insert(copy.id, copy);
        Some(copy)
    }
    fn random_u32(&mut self) -> u32 {
        self.dice.next_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.dice.next_u64()
    }
}

/// A state as the discipline shows it.
#[derive(Debug, Default, PartialEq)]
struct Shown(Vec<String>);
impl Probe for Shown {
    fn integer(&mut self, name: &'static str, value: i128) {
        self.0.push(format!("{name} {value}"));
    }
    fn real(&mut self, name: &'static str, value: f64) {
        self.0.push(format!("{name} {value}"));
    }
    fn text(&mut self, name: &'static str, value: String) {
        self.0.push(format!("{name} {value}"));
    }
}

/// Returns the line that sets one parameter of `args` to an unusual value, or all parameters to their present values.
fn change_of(args: &Args, param: usize, value: usize) -> String {
    let (name, params) = (args.spec.name, args.spec.params);
    match (params.get(param % (params.len() + 1)), args.child()) {
        (None, _) => args.to_string(),
        (Some(spec), Some(child)) if spec.form == Form::Child => {
            format!("{name} child {}", change_of(child, param / (params.len() + 1), value))
        }
        (Some(spec), _) => format!("{name} {}", unusual(args.spec, spec, value)),
    }
}

/// Returns the packets and bytes that a line lets wait, as far as the line has limits.
fn limit_of(args: &Args) -> Backlog {
    if args.spec.name == "fq" {
        return limit_of_fq(args);
    }
    match (args.spec.param("limit").and_then(ParamSpec::unit), args.value("limit")) {
        (Some(Unit::Packets), Some(Value::Integer(limit))) => {
            Backlog { packets: limit.try_into().unwrap_or(u32::MAX), ..Backlog::UNLIMITED }
        }
        (Some(Unit::Bytes), Some(Value::Integer(bytes))) => Backlog { bytes, ..Backlog::UNLIMITED },
        _ => Backlog::UNLIMITED,
    }
}

fn innermost(args: &Args) -> &Args {
    args.child().map_or(args, innermost)
}

/// Returns the limit of fq: its three bands have one each, and eight packets may take the fast path besides.
fn limit_of_fq(args: &Args) -> Backlog {
    let Some(Value::Integer(limit)) = args.value("limit") else { return Backlog::UNLIMITED };
    Backlog { packets: (3 * limit + 8).try_into().unwrap_or(u32::MAX), ..Backlog::UNLIMITED }
}

/// Returns the parameters by which a discipline, or one inside it, sorts packets into queues.
fn sorting(args: &Args) -> Vec<Option<Value>> {
    let mut values = ["l4s", "orphan_mask", "priomap"].map(|name| args.value(name)).to_vec();
    values.extend(args.child().map(sorting).into_iter().flatten());
    values
}

struct Bench {
    qdisc: AnyQdisc<Plain>,
    ledger: Ledger,
    now: Instant,
    next_id: u64,
    /// The packets and bytes that the discipline may hold, as far as its line has limits.
    limit: Backlog,
    /// Whether codepoints have queues of their own, and early drops are not reported (dualpi2).
    dual: bool,
    /// Whether packets of a flow may change their queue, and so overtake each other (docsis_lld).
    sanctions: bool,
    /// Whether it is a tree. `hfsc`, `drr` and `ets` drop packets without a class, and say success
    /// (`__NET_XMIT_BYPASS`).
    tree: bool,
    /// Whether the discipline, or the one inside it, plays a path: packets overtake each other, and losses are not
    /// reported (netem).
    path: bool,
    /// Whether the discipline holds others (tbf, htb, trees), or opens slots (netem). Its timer may be due more than
    /// once before a packet leaves.
    nested: bool,
    /// The codepoint with which each packet was offered.
    codepoints: Vec<u8>,
    /// Packets before this one may be overtaken, because a change made dualpi2 sort a codepoint, prio a priority or fq
    /// a hash into another queue.
    sorted_anew: u64,
}

impl Bench {
    fn new(qdisc: AnyQdisc<Plain>, args: &Args, start: u64) -> Self {
        let ledger = Ledger {
            dice: Streams::new(start).stream("dice", 0),
            held: HashMap::new(),
            dropped: Vec::new(),
            last_delivered: HashMap::new(),
            copies: 0,
            faults: Vec::new(),
        };
        Self {
            qdisc,
            ledger,
            now: Instant::from_nanos(start),
            next_id: 0,
            limit: limit_of(args),
            dual: args.spec.name == "dualpi2",
            sanctions: args.spec.name == "docsis_lld",
            tree: args.spec.name == "tc",
            path: innermost(args).spec.name == "netem",
            nested: args.child().is_some() || ["netem", "tc"].contains(&args.spec.name),
            codepoints: Vec::new(),
            sorted_anew: 0,
        }
    }

    fn step(&mut self, op: &Op) -> Result<(), String> {
        match *op {
            Op::Enqueue { len, flow, ecn } => self.enqueue(len, flow, ecn)?,
            Op::Dequeue => {
                self.dequeue()?;
            }
            Op::Advance(span) => self.advance(span),
            Op::Oversleep(span) => self.pass(span),
            Op::Change { param, value } => {
                let line = change_of(self.qdisc.args(), param, value);
                self.change(&line, |qdisc, now, owner| qdisc.change(now, &line, owner))?;
            }
            Op::LinkRate(bps) => {
                let rate = Rate::from_bps(bps.max(1)).unwrap_or_else(|| self.qdisc.link().rate);
                self.change("", |qdisc, now, owner| qdisc.set_link_rate(now, rate, owner))?;
            }
        }
        self.check()
    }

    /// Returns the state that a discipline shows. The timer of a shaper is left out, because a shaper wants to be
    /// asked again after a change.
    fn shown(&self) -> (Shown, Option<Instant>, Backlog, String) {
        let mut shown = Shown::default();
        self.qdisc.probe(&mut shown);
        let args = self.qdisc.args();
        let timer = self.qdisc.next_timer().filter(|_| !matches!(args.spec.name, "tbf" | "htb" | "tc"));
        (shown, timer, self.qdisc.backlog(), args.to_string())
    }

    /// Makes a change. If it is refused or changes nothing, the state must stay as it was. Otherwise at most the new
    /// limit may wait, and no packet may appear or get lost (which [`Bench::check`] checks).
    fn change(
        &mut self,
        line: &str,
        change: impl FnOnce(&mut AnyQdisc<Plain>, Instant, &mut Ledger) -> Result<(), Error>,
    ) -> Result<(), String> {
        let (before, rate, sorted) = (self.shown(), self.qdisc.link().rate, sorting(self.qdisc.args()));
        self.ledger.dropped.clear();
        let changed = change(&mut self.qdisc, self.now, &mut self.ledger);
        let same = before.3 == self.qdisc.args().to_string() && rate == self.qdisc.link().rate;
        // At any change fq_codel drops the packets that its last overflow left above the limit, as Linux does.
        if changed.is_err() || same && self.ledger.dropped.is_empty() {
            let after = self.shown();
            ensure!(before == after, "{line}: {changed:?}, and {before:?} became {after:?}");
        }
        if sorted != sorting(self.qdisc.args()) {
            self.sorted_anew = self.next_id;
        }
        self.limit = limit_of(self.qdisc.args());
        let keeps = ["fq", "pfifo", "bfifo", "pfifo_head_drop", "tbf", "netem"];
        if keeps.contains(&self.qdisc.args().spec.name) {
            // Linux keeps above a smaller limit the packets of throttled flows, of fifos and of `netem`.
            let Backlog { packets, bytes } = self.qdisc.backlog();
            self.limit.packets = self.limit.packets.saturating_add(packets);
            self.limit.bytes = self.limit.bytes.saturating_add(bytes);
        }
        Ok(())
    }

    fn enqueue(&mut self, len: u32, flow: u32, ecn: u8) -> Result<(), String> {
        let packet = Plain {
            len,
            ecn: Ecn::from_bits(ecn),
            flow_hash: flow.wrapping_mul(0x9e37_79b1),
            host_hashes: (flow % 3, flow % 2),
            dscp: flow as u8,  // so that all bands and tins are used, and each flow has one
            arrival: self.now, // shows whether the discipline sets the arrival
            id: self.next_id,
        };
        self.codepoints.push(ecn);
        self.ledger.dropped.clear();
        self.ledger.held.insert(packet.id, packet);
        self.next_id += 1;
        let offered = Plain { arrival: Instant::MAX, ..packet };
        let told = self.qdisc.enqueue(self.now, offered, &mut self.ledger);
        let gone = self.ledger.dropped.contains(&packet.id);
        ensure!(gone || told != Enqueued::Dropped, "told {:?}, but packet {} is held", told, packet.id);
        ensure!(
            !gone || told != Enqueued::Success || self.dual || self.path || self.tree,
            "told {:?}, but packet {} was dropped",
            told,
            packet.id
        );
        Ok(())
    }

    fn dequeue(&mut self) -> Result<bool, String> {
        let Some(packet) = self.qdisc.dequeue(self.now, &mut self.ledger) else {
            let gives_all = !self.qdisc.is_work_conserving() || self.qdisc.backlog().packets == 0;
            ensure!(gives_all, "it says that it is work-conserving, and holds packets back");
            return Ok(false);
        };
        self.ledger.leaves(&packet, "delivered");
        let queue = if self.dual { self.codepoints[packet.id as usize] } else { 0 };
        let last = self.ledger.last_delivered.insert((packet.flow_hash, queue), packet.id);
        let in_order = self.path
            || self.sanctions
            || packet.id < self.sorted_anew
            || last.is_none_or(|last| last < packet.id);
        ensure!(in_order, "{last:?} overtook {packet:?}");
        Ok(true)
    }

    fn pass(&mut self, span: u64) {
        if self.now.as_nanos() < u64::MAX / 2 {
            self.now += Duration::from_nanos(span);
        }
    }

    fn advance(&mut self, span: u64) {
        self.pass(span);
        // A late owner calls a few times and does not make up for years of ticks.
        for _ in 0..3 {
            if self.qdisc.next_timer().is_some_and(|due| due <= self.now) {
                self.qdisc.on_timer(self.now, &mut self.ledger);
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        ensure!(self.ledger.faults.is_empty(), "{:?}", self.ledger.faults);
        let held = Backlog {
            packets: self.ledger.held.len() as u32,
            bytes: self.ledger.held.values().map(|packet| u64::from(packet.len)).sum(),
        };
        ensure!(self.qdisc.backlog() == held, "it says {:?} and holds {held:?}", self.qdisc.backlog());
        ensure!(!held.exceeds(self.limit), "{held:?} exceeds {:?}", self.limit);
        Ok(())
    }

    /// Waits for a discipline that holds another one. The next timer may be the child's own, which promises nothing. So
    /// later rounds wait longer, up to a year. That is enough for any packet: with `overhead` and `mpu` of 1 MB a
    /// shaper counts it as at most 2.2 MB in ATM cells, which take 205 days at 1 bit/s. A year for each of 400 packets
    /// would be longer than 2^63 nanoseconds, and no clock of Linux counts further.
    fn outlast(&mut self) -> Result<(), String> {
        const MINUTE: Duration = Duration::from_secs(60);
        const HOUR: Duration = Duration::from_secs(3600);
        const DAY: Duration = Duration::from_secs(24 * 3600);
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        const FURTHER: [Duration; 5] = [MINUTE, MINUTE, HOUR, DAY, YEAR];
        let before = self.qdisc.backlog().packets;
        for further in [Duration::ZERO; 5].into_iter().chain(FURTHER) {
            let due = self.qdisc.next_timer();
            ensure!(due.is_some(), "it holds packets, gives none, and does not say when it will");
            self.now = due.unwrap_or(self.now).max(self.now) + further;
            self.qdisc.on_timer(self.now, &mut self.ledger);
            self.dequeue()?;
            self.check()?;
            if self.qdisc.backlog().packets < before {
                return Ok(());
            }
        }
        Err("it gives nothing in a year".to_string())
    }

    /// Empties the discipline. If it gives no packet yet, it shapes, and its timer says when it will give one.
    fn drain(&mut self) -> Result<(), String> {
        while self.qdisc.backlog().packets > 0 {
            let before = self.qdisc.backlog().packets;
            self.dequeue()?;
            self.check()?;
            if self.qdisc.backlog().packets == before && self.nested {
                self.outlast()?;
            } else if self.qdisc.backlog().packets == before {
                let due = self.qdisc.next_timer().filter(|due| *due > self.now);
                ensure!(due.is_some(), "it holds packets, gives none, and does not say when it will");
                self.now = due.unwrap_or(self.now);
                self.qdisc.on_timer(self.now, &mut self.ledger);
                self.dequeue()?;
                self.check()?;
                ensure!(self.qdisc.backlog().packets < before, "it gives nothing when it said it would");
            }
            self.advance(1_000_000);
        }
        let more = self.dequeue()?;
        ensure!(!more, "empty, it gave a packet");
        self.check()
    }
}
