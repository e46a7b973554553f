//! A discipline that runs by its own timers, beside Linux: packets come at given times, and what leaves is compared
//! with what left Linux's device.
//!
//! A replay ([`crate::replay`]) makes the calls that Linux made. So a discipline that forgets to ask again, or asks
//! late, is not seen there. Here nobody calls it but a link that takes each packet at once.

mod frame;
mod hash;

use frame::Frame;
use goodqueue_qdisc::{AnyQdisc, Drop, Link, Mark, Owner, Packet as _, Qdisc, Rate, registry};
use goodqueue_units::{Instant, Release, Stream};

/// Linux as a process has each of its timers so late, in nanoseconds.
const LATE: u64 = 1;

/// What is played.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The commands of `tc`, one per line.
    pub commands: &'a str,
    /// The release of Linux whose laws count.
    pub release: Release,
    /// The packets in the order of their times, as `validation/trees/job.py` writes them.
    pub packets: &'a [u8],
    /// When the play ends, in nanoseconds after the tree was made. Packets come later than 0.
    pub end: u64,
    /// The state of the generator of random numbers when the first packet comes.
    pub draws: u128,
}

/// A packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When, in nanoseconds after the tree was made.
    pub at: u64,
    /// The number of the packet in the order of arrival.
    pub number: u32,
    /// The number of the segment, if a merged packet was split.
    pub segment: u32,
    /// Its length, with Ethernet's header.
    pub len: u32,
    /// The codepoints: the octet that was the type of service.
    pub tos: u8,
}

/// What became of the packets.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Packets that left, in order.
    pub sent: Vec<Sent>,
    /// Packets that were dropped, with their times.
    pub dropped: Vec<Sent>,
    /// How many packets wait at the end.
    pub left: u32,
}

/// The discipline's owner.
struct Dice {
    random: Stream,
    now: u64,
    dropped: Vec<Sent>,
}

impl Owner<Frame> for Dice {
    fn dropped(&mut self, frame: Frame, _why: Drop) {
        self.dropped.push(sent(self.now, &frame));
    }
    fn marked(&mut self, _frame: &Frame, _why: Mark) {}
    fn duplicated(&mut self, frame: &Frame) -> Option<Frame> {
        Some(frame.clone())
    }
    fn random_u32(&mut self) -> u32 {
        self.random.next_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.random.next_u64()
    }
}

fn sent(at: u64, frame: &Frame) -> Sent {
    let tos = frame.dscp() << 2 | frame.ecn() as u8;
    Sent { at, number: frame.number, segment: frame.segment, len: frame.bytes, tos }
}

/// Plays a job to its end.
///
/// # Errors
/// Fails with one line if the tree is refused or a packet is broken.
pub fn play(job: &Job<'_>) -> Result<Played, String> {
    let args = registry::parse_tree_of(job.commands, None, job.release).map_err(|error| error.0)?;
    let splits = splits(job.commands);
    let link = Link { rate: Rate::from_bps(10_000_000_000).ok_or("a rate above zero")?, mtu: 1514 };
    let args = args.in_release(job.release);
    let mut qdisc = AnyQdisc::<Frame>::build(&args, &link).map_err(|error| error.0)?;
    let mut dice = Dice { random: Stream::of_state(job.draws), now: 0, dropped: Vec::new() };
    let mut leaving = Vec::new();
    let mut send = |now: u64, qdisc: &mut AnyQdisc<Frame>, dice: &mut Dice| {
        while let Some(frame) = qdisc.dequeue(Instant::from_nanos(now), dice) {
            leaving.push(sent(now, &frame));
        }
    };
    let mut coming = frame::read(job.packets).peekable();
    loop {
        let next = match coming.peek() {
            Some(Ok((at, _))) => *at,
            Some(Err(why)) => return Err(why.clone()),
            None => u64::MAX,
        };
        let due = qdisc.next_timer().map_or(u64::MAX, Instant::as_nanos).max(dice.now);
        // What wakes the sender of a packet runs the timers that are due by then, too.
        let timer = if due == next { due } else { due.saturating_add(LATE) };
        dice.now = timer.min(next);
        if dice.now > job.end {
            break;
        }
        let now = Instant::from_nanos(dice.now);
        if timer <= next {
            qdisc.on_timer(now, &mut dice);
        } else if let Some(Ok((_, frame))) = coming.next() {
            frame.parts(splits).for_each(|part| _ = qdisc.enqueue(now, part, &mut dice));
        }
        send(dice.now, &mut qdisc, &mut dice);
    }
    Ok(Played { sent: leaving, dropped: dice.dropped, left: qdisc.backlog().packets })
}

/// Returns whether merged packets are split before the tree has them: those of `cake` are, which is at the root then.
fn splits(commands: &str) -> bool {
    let mut lines = commands.lines().filter(|line| line.contains(" root "));
    lines.any(|line| line.contains(" cake") && !line.contains("no-split-gso"))
}
