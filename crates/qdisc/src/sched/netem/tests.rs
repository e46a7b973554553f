mod changes;

use super::random::{Loss, share};
use super::*;
use crate::packet::Plain;
use crate::registry::{AnyQdisc, parse_line};
use goodqueue_units::{Ecn, Rate, Stream, Streams};
use std::string::{String, ToString};

/// An owner whose dice show given numbers, or those of a stream, and which can copy packets.
#[derive(Default)]
struct Thrown {
    shows: Vec<u32>,
    stream: Option<Stream>,
    dropped: Vec<(u64, Drop)>,
    marked: u64,
    copies: u64,
    corrupted: Vec<(u64, Flipped)>,
}

impl Thrown {
    fn showing(shows: &[u32]) -> Self {
        Self { shows: shows.iter().rev().copied().collect(), ..Self::default() }
    }

    fn throwing(seed: u64) -> Self {
        Self { stream: Some(Streams::new(seed).stream("netem", 0)), ..Self::default() }
    }
}

impl Owner<Plain> for Thrown {
    fn dropped(&mut self, packet: Plain, why: Drop) {
        self.dropped.push((packet.id, why));
    }
    fn marked(&mut self, _packet: &Plain, _why: Mark) {
        self.marked += 1;
    }
    fn duplicated(&mut self, packet: &Plain) -> Option<Plain> {
        self.copies += 1;
        Some(Plain { id: packet.id + 1000, ..*packet })
    }
    fn corrupted(&mut self, packet: &Plain, flipped: Flipped) {
        self.corrupted.push((packet.id, flipped));
    }
    fn random_u32(&mut self) -> u32 {
        match &mut self.stream {
            Some(stream) => stream.next_u32(),
            None => self.shows.pop().unwrap_or_else(|| panic!("a draw")),
        }
    }
    fn random_u64(&mut self) -> u64 {
        panic!("a draw of 64 bits")
    }
}

const MS: u64 = 1_000_000;

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

fn netem(words: &str) -> AnyQdisc<Plain> {
    let link = Link { rate: Rate::from_bps(1_000_000_000).unwrap(), mtu: 1514 };
    AnyQdisc::parse(&std::format!("netem {words}"), &link).unwrap()
}

fn refused(words: &str) -> String {
    let link = Link { rate: Rate::from_bps(1_000_000_000).unwrap(), mtu: 1514 };
    match AnyQdisc::<Plain>::parse(&std::format!("netem {words}"), &link) {
        Ok(_) => panic!("netem {words} is taken"),
        Err(error) => error.0,
    }
}

/// Offers packets 0, 1, … of `len` bytes, `gap` ns apart. Returns which left when, in ns.
fn through(
    netem: &mut AnyQdisc<Plain>,
    owner: &mut Thrown,
    count: u64,
    gap: u64,
    len: u32,
) -> Vec<(u64, u64)> {
    let mut left = Vec::new();
    let mut drain = |netem: &mut AnyQdisc<Plain>, owner: &mut Thrown, until: u64, mut now: u64| loop {
        while let Some(packet) = netem.dequeue(at(now), owner) {
            left.push((packet.id, now));
        }
        match netem.next_timer() {
            Some(due) if due.as_nanos() <= until => now = due.as_nanos(),
            _ => return,
        }
        netem.on_timer(at(now), owner);
    };
    for id in 0..count {
        let now = id * gap;
        netem.enqueue(at(now), Plain { id, ecn: Ecn::Ect0, ..Plain::new(len) }, owner);
        if gap > 0 || id + 1 == count {
            drain(netem, owner, if id + 1 < count { now + gap - 1 } else { u64::MAX }, now);
        }
    }
    assert_eq!(netem.backlog(), Backlog::default());
    left
}

/// rho = 25 % is 2^30 of 2^32 - 1, and weighs 2^30 + 1 of 2^32. From 0 and 2^31 follows 2^31 (2^32 - 2^30 - 1) / 2^32 =
/// 1,610,612,735.5; from that and 0 follows 1,610,612,735 (2^30 + 1) / 2^32 = 402,653,184.1. Both are rounded down.
#[test]
fn correlated_numbers_are_means_in_fixed_point() {
    let mut correlated = Correlated::new(Some(25.0));
    let (mut source, mut owner) = (Source::new(None), Thrown::showing(&[0, 1 << 31, 0]));
    assert_eq!(correlated.next(&mut source, &mut owner), 1_610_612_735);
    assert_eq!(correlated.next(&mut source, &mut owner), 402_653_184);
    // A correlation of 100 % repeats the first number for ever, and the new one counts for nothing.
    let mut fixed = Correlated::new(Some(100.0));
    let mut owner = Thrown::showing(&[77, 1, u32::MAX]);
    assert_eq!([0; 2].map(|_| fixed.next(&mut source, &mut owner)), [77, 77]);
    assert_eq!([0.0, 50.0, 100.0].map(share), [0, 1 << 31, u32::MAX]);
}

/// The numbers are those by which the GNU Scientific Library and Linux (lib/random32.c) test LFSR113: the first after
/// ten, from states that follow from seeds 1 to 4.
#[test]
fn the_generator_with_a_seed_is_lfsr113() {
    for (seed, first) in
        [(1_u32, 3_484_351_685_u32), (2, 2_623_130_059), (3, 3_125_133_893), (4, 984_847_254)]
    {
        let mut state = [0; 4];
        let mut before = seed;
        for (z, least) in state.iter_mut().zip([2, 8, 16, 128]) {
            let next = before.wrapping_mul(69069);
            *z = if next < least { next + least } else { next };
            before = *z;
        }
        let (mut source, mut owner) = (Source::of_state(state), Thrown::default());
        let numbers: Vec<u32> = (0..11).map(|_| source.next(&mut owner)).collect();
        assert_eq!(numbers[10], first);
    }
}

/// Two runs with a seed must lose the same packets, whatever the owner's dice show.
#[test]
fn a_seed_repeats_the_losses_and_another_seed_does_not() {
    let lost = |words: &str, dice: u64| {
        let mut owner = Thrown::throwing(dice);
        through(&mut netem(words), &mut owner, 200, 0, 100);
        owner.dropped
    };
    assert_eq!(lost("loss 20% seed 7", 1), lost("loss 20% seed 7", 2));
    assert_ne!(lost("loss 20% seed 7", 1), lost("loss 20% seed 8", 1));
    assert_ne!(lost("loss 20%", 1), lost("loss 20%", 2));
}

/// A uniform delay is the number modulo twice the jitter. 10 ms ± 2 ms: 4,000,001 mod 4,000,000 is 1 ns above 8 ms.
/// The first packet leaves at 12 ms - 1 ns, so the second, 1 ms later, overtakes it.
#[test]
fn jitter_is_a_modulus_and_lets_packets_overtake() {
    let mut owner = Thrown::showing(&[3_999_999, 4_000_001]);
    let left = through(&mut netem("delay 10ms 2ms"), &mut owner, 2, MS, 100);
    assert_eq!(left, [(1, 9 * MS + 1), (0, 12 * MS - 1)]);
}

/// The jitter is larger than the delay: 1 ms + 0 - 3 ms lies in the past, and the packet leaves before the one that
/// came with it and is due now.
#[test]
fn a_negative_delay_overtakes_what_would_leave_now() {
    let (mut netem, mut owner) = (netem("delay 1ms 3ms"), Thrown::showing(&[2_000_000, 0]));
    for id in 0..2 {
        netem.enqueue(at(10 * MS), Plain { id, ..Plain::new(100) }, &mut owner);
    }
    assert_eq!([0; 2].map(|_| netem.dequeue(at(10 * MS), &mut owner).unwrap().id), [1, 0]);
}

/// 1 ms of jitter is 122 * 8192 + 576 ns. Entry 0 of the normal table is -4 * 8192 (its quantile is -4.01), which is 4
/// ms less. Entry 2048 is 0.00008 jitters, rounded to 1 in the table: 122 ns, and 576 / 8192 is 0.1.
#[test]
fn a_distribution_is_a_table_entry_times_the_jitter() {
    let mut owner = Thrown::showing(&[0, 4096 + 2048]);
    let left = through(&mut netem("delay 10ms 1ms distribution normal"), &mut owner, 2, 20 * MS, 100);
    assert_eq!(left, [(0, 6 * MS), (1, 30 * MS + 122)]);
}

/// Every correlation of the delay is nearly without effect, because the modulus keeps the low bits. With 99 % the
/// correlation of successive delays would be 0.99 if the numbers themselves were taken.
#[test]
fn the_correlation_of_a_delay_is_lost_in_the_modulus() {
    let mut owner = Thrown::throwing(3);
    let left = through(&mut netem("delay 100ms 10ms 90%"), &mut owner, 20_000, 1000 * MS, 100);
    let delays: Vec<f64> =
        left.iter().map(|(id, time)| (*time - id * 1000 * MS) as f64 / 1e6 - 100.0).collect();
    let product = delays.windows(2).map(|two| two[0] * two[1]).sum::<f64>();
    let square = delays.iter().map(|delay| delay * delay).sum::<f64>();
    assert!((product / square).abs() < 0.05, "{}", product / square);
    assert!((square / 20_000.0 - 100.0 / 3.0).abs() < 1.0, "uniform: {}", square / 20_000.0);
}

/// 1 Mbit/s are 8 us per byte: 1000 bytes take 8 ms. The second packet, which comes at 1 ms, waits for the first: it
/// leaves at 5 + 8 + 8 ms, because its delay of 5 ms passes while it waits. After a pause the delay counts again.
#[test]
fn the_rate_counts_from_the_last_packet_and_the_delay_passes_meanwhile() {
    let mut owner = Thrown::default();
    let left = through(&mut netem("delay 5ms rate 1mbit"), &mut owner, 2, MS, 1000);
    assert_eq!(left, [(0, 13 * MS), (1, 21 * MS)]);
    let left = through(&mut netem("delay 5ms rate 1mbit"), &mut owner, 2, 100 * MS, 1000);
    assert_eq!(left, [(0, 13 * MS), (1, 113 * MS)]);
}

/// 1000 + 20 bytes are 22 cells of 48, each with 5 bytes more: 22 * 53 = 1166 bytes, 9.328 ms at 1 Mbit/s. With -100
/// bytes of overhead 900 bytes take 7.2 ms.
#[test]
fn a_rate_counts_overhead_and_cells() {
    let time = |words: &str| through(&mut netem(words), &mut Thrown::default(), 1, 0, 1000)[0].1;
    assert_eq!(time("rate 1mbit 20 48 5"), 9_328_000);
    assert_eq!(time("rate 1mbit -100"), 7_200_000);
}

/// A loss at a number that is at most the probability, as Linux compares. 1 % is 42,949,673.
#[test]
fn a_loss_is_drawn_and_ecn_marks_instead() {
    let mut owner = Thrown::showing(&[42_949_673, 42_949_674]);
    let left = through(&mut netem("loss 1%"), &mut owner, 2, MS, 100);
    assert_eq!((left, &owner.dropped[..]), ([(1, MS)].to_vec(), &[(0, Drop::Loss)][..]));
    let mut owner = Thrown::showing(&[0, 0]);
    let (mut netem, plain) = (netem("loss 1% ecn"), Plain::new(100));
    assert_eq!(netem.enqueue(at(0), Plain { ecn: Ecn::Ect1, ..plain }, &mut owner), Enqueued::Success);
    assert_eq!(netem.enqueue(at(0), plain, &mut owner), Enqueued::Success, "as Linux says of a lost packet");
    assert_eq!((owner.marked, owner.dropped.len()), (1, 1));
    assert_eq!(netem.dequeue(at(0), &mut owner).unwrap().ecn, Ecn::Ce);
}

/// Returns which of the packets are lost, for these numbers.
fn lost(words: &str, numbers: &[u32]) -> String {
    let mut owner = Thrown::showing(numbers);
    let per_packet = if words.contains("gemodel") { 2 } else { 1 };
    let count = (numbers.len() / per_packet) as u64;
    let left = through(&mut netem(words), &mut owner, count, MS, 100);
    (0..count).map(|id| if left.iter().any(|one| one.0 == id) { '.' } else { 'x' }).collect()
}

/// The four states, worked by hand: 1 % is 42,949,673 of 2^32. A gap; a loss alone (p14) and the packet after it, for
/// which the number is drawn in vain; a burst (p13); packets that pass within it (p32) and losses again (p23); its end
/// (p31).
#[test]
fn the_four_states_change_at_their_probabilities() {
    const P: u32 = 42_949_673;
    let words = "loss state 1% 10% 1% 50% 1%";
    let (most, half) = (u32::MAX, 1 << 31);
    assert_eq!(lost(words, &[most, 0, 0, most]), ".x..", "alone");
    assert_eq!(lost(words, &[P + 1, most, 0, most, half - 1, most]), "xx..xx", "burst, pass, burst");
    assert_eq!(lost(words, &[P + 1, P + 1, most]), "x..", "the burst ends");
    assert_eq!(lost(words, &[P, P, P]), "...", "a number equal to a bound changes nothing");
    // Without further numbers: p31 = 99 %, and a burst has one packet on the average.
    assert_eq!(lost("loss state 1%", &[1, most, 1, most]), "xx..");
}

/// Gilbert and Elliott: the state before the transition decides. In the bad state 1-h of the packets are lost.
#[test]
fn a_channel_turns_bad_and_good() {
    let most = u32::MAX;
    // Good, and turns bad; bad: lost, and stays bad; bad: passes by h, and turns good; good.
    assert_eq!(lost("loss gemodel 1% 10% 70%", &[0, 0, most, most, 0, 0, most, 0]), ".x..");
    assert_eq!(lost("loss gemodel 1% 10% 70% 0.1%", &[most, 0, most, most]), "x.", "1-k in the good state");
    let all = Setup::new(&parse_line("netem loss gemodel 5%").unwrap()).unwrap();
    assert_eq!(all.loss, Loss::Gemodel { p: share(5.0), r: share(95.0), h: 0, k1: 0 });
}

/// A duplicate has a loss of its own and is not duplicated again. Numbers: duplicate, loss of the packet, loss of the
/// copy. A packet that is duplicated and lost is sent once.
#[test]
fn a_duplicate_enters_again_without_being_doubled() {
    let mut owner = Thrown::showing(&[0, u32::MAX, u32::MAX, 0, u32::MAX, 0, 0, 0]);
    let left = through(&mut netem("duplicate 1% loss 1%"), &mut owner, 3, MS, 100);
    // 0: twice, and both pass; the copy leaves first. 1: twice, and the copy is lost. 2: doubled and lost.
    assert_eq!(left, [(1000, 0), (0, 0), (1, MS), (2, 2 * MS)]);
    assert_eq!((&owner.dropped[..], owner.copies), (&[(1001, Drop::Loss)][..], 2));
}

/// With `gap 3` the first two packets are delayed, and of the third one a number decides. Of two packets that were sent
/// at once, the later one leaves first.
#[test]
fn reorder_sends_at_once_after_a_gap_and_the_latest_first() {
    let mut owner = Thrown::showing(&[0, 0]);
    let left = through(&mut netem("delay 10ms reorder 25% gap 3"), &mut owner, 6, MS, 100);
    assert_eq!(left.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [2, 5, 0, 1, 3, 4]);
    assert_eq!(left[0].1, 2 * MS);
    let (mut netem, mut owner) = (netem("delay 10ms reorder 100%"), Thrown::showing(&[0, 0, 0]));
    (0..3).for_each(|id| _ = netem.enqueue(at(0), Plain { id, ..Plain::new(100) }, &mut owner));
    assert_eq!([0; 3].map(|_| netem.dequeue(at(0), &mut owner).unwrap().id), [2, 1, 0]);
}

/// A corrupted packet leaves as any other, and the owner is told before it is handed out. Three quarters of 100 bytes
/// lead to byte 75, and five eighths of a byte to bit 5 (`netem_enqueue`).
#[test]
fn a_corrupted_packet_leaves_and_is_reported() {
    let mut owner = Thrown::showing(&[0, 3 << 30, 5 << 29, u32::MAX]);
    let left = through(&mut netem("corrupt 1%"), &mut owner, 2, MS, 100);
    let flipped = Flipped { place: 3 << 30, bit: 5 };
    assert_eq!((left.len(), &owner.corrupted[..]), (2, &[(0, flipped)][..]));
    assert_eq!([100, 72, 1].map(|len| flipped.byte(len)), [75, 54, 0]);
}

/// Slots of 10 ms with two packets each. Packets 0 to 4 come at once: two leave now, in the slot that began with the
/// line, two at 10 ms, one at 20 ms. Of bytes, the slot ends with the packet that reaches the number.
#[test]
fn slots_let_out_so_many_packets_or_bytes() {
    let times = |words: &str| -> Vec<u64> {
        let mut owner = Thrown::showing(&[0; 9]);
        through(&mut netem(words), &mut owner, 5, 0, 100).iter().map(|(_, time)| time / MS).collect()
    };
    assert_eq!(times("slot 10ms packets 2"), [0, 0, 10, 10, 20]);
    assert_eq!(times("slot 10ms bytes 101"), [0, 0, 10, 10, 20]);
    assert_eq!(times("slot 0ms packets 2"), [0; 5], "no slots");
    // Half of the way from 10 to 20 ms.
    let mut owner = Thrown::showing(&[1 << 31; 9]);
    let left = through(&mut netem("slot 10ms 20ms packets 3"), &mut owner, 5, 0, 100);
    assert_eq!(left[3].1, 15 * MS);
    let mut owner = Thrown::showing(&[4_000_000; 9]);
    let left = through(&mut netem("slot distribution uniform 10ms 2ms packets 3"), &mut owner, 5, 0, 100);
    assert_eq!(left[3].1, 8 * MS, "4,000,000 is twice the jitter");
}

/// The limit counts all packets that are held. The packet above it is dropped, and Linux says so, except if its copy
/// was taken.
#[test]
fn packets_above_the_limit_are_dropped() {
    let (mut netem, mut owner) = (netem("limit 2 delay 1s"), Thrown::default());
    let told = [0, 1, 2].map(|id| netem.enqueue(at(0), Plain { id, ..Plain::new(100) }, &mut owner));
    assert_eq!(told, [Enqueued::Success, Enqueued::Success, Enqueued::Dropped]);
    assert_eq!((owner.dropped.clone(), netem.backlog().bytes), ([(2, Drop::Overlimit)].to_vec(), 200));
}

#[test]
fn a_line_is_printed_in_tc_s_order_and_reads_back() {
    let line = |words: &str| parse_line(&std::format!("netem {words}")).unwrap().to_string();
    for (words, printed) in [
        ("", "netem limit 1000 distribution uniform noecn"),
        ("latency 10ms 2ms 25%", "netem limit 1000 delay 10ms 2ms 25 distribution uniform noecn"),
        ("loss random 1% 25%", "netem limit 1000 distribution uniform loss 1 25 noecn"),
        ("drop 1%", "netem limit 1000 distribution uniform loss 1 noecn"),
        ("loss state 1% 10% ecn", "netem limit 1000 distribution uniform loss state 1 10 ecn"),
        (
            "rate 5mbit 20 48 5 slot distribution normal 10ms 2ms packets 3 seed 18446744073709551615",
            "netem limit 1000 distribution uniform noecn rate 5mbit 20 48 5 slot distribution normal 10ms 2ms \
             packets 3 seed 18446744073709551615",
        ),
        (
            "corrupt 1% duplicate 2% 3% delay 1ms reorder 25% 50% gap 5",
            "netem limit 1000 delay 1ms distribution uniform noecn corrupt 1 duplicate 2 3 reorder 25 50 gap 5",
        ),
    ] {
        assert_eq!(line(words), printed);
        assert_eq!(parse_line(printed).unwrap().to_string(), printed);
    }
    let changed = parse_line("netem loss 5% 25%").unwrap().changed("netem loss gemodel 1%").unwrap();
    assert!(changed.to_string().contains(" loss gemodel 1 noecn"), "{changed}");
}

#[test]
fn what_tc_refuses_is_refused() {
    for (words, why) in [
        ("reorder 25%", "netem: reorder needs a delay to overtake, such as delay 10ms"),
        ("delay 10ms gap 5", "netem: gap needs reorder, such as reorder 100% gap 5"),
        (
            "delay 10ms distribution normal",
            "netem: distribution needs a delay and its jitter, such as delay 20ms 5ms",
        ),
        ("ecn", "netem: ecn marks what loss would drop; accepted: ecn with a loss"),
        ("packets 3", "netem: packets and bytes need slot, such as slot 10ms packets 5"),
        ("slot distribution normal", "netem: slot distribution needs a delay and a jitter, such as 10ms 2ms"),
        ("loss 1% loss state 1%", "netem loss state: given with loss; tc takes one of them"),
        ("loss state 1% loss gemodel 1%", "netem loss gemodel: given with loss state; tc takes one of them"),
        ("loss 1% loss 2%", "netem loss: given twice; tc takes it once"),
        ("slot 10ms 5ms", "netem: slot: the longest time is below the shortest"),
        ("loss 101%", "netem loss: found \"101%\"; accepted: 0% to 100%"),
    ] {
        assert_eq!(refused(words), why);
    }
}
