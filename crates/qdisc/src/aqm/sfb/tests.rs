use super::super::dice::Dice;
use super::*;
use crate::packet::Plain;
use goodqueue_units::{Ecn, Rate};
use std::vec;
use std::vec::Vec;

static SPEC: QdiscSpec = Sfb::SPEC;
const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

fn sfb(words: &str) -> Sfb {
    Sfb::build(&Args::parse(&SPEC, words).unwrap(), &LINK).unwrap()
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn flow(flow_hash: u32) -> Plain {
    Plain { flow_hash, ..Plain::new(1000) }
}

/// Returns the smallest probability and the smallest length of a flow's bins.
fn state(sfb: &mut Sfb, flow_hash: u32) -> Verdict {
    let bins = bins_of(sfb, sfb.current, flow_hash);
    let (p, len) = (bins.iter().map(|bin| bin.p).min(), bins.iter().map(|bin| bin.len).min());
    Verdict { len: len.unwrap(), p: p.unwrap() }
}

/// Returns a flow's bins in one set.
fn bins_of(sfb: &Sfb, set: usize, flow_hash: u32) -> Vec<Bin> {
    let mut set = sfb.sets[set].clone();
    let hash = set.hash(flow_hash);
    set.of(hash).map(|bin| *bin).collect()
}

fn put(sfb: &mut Sfb, flow_hash: u32, put: Bin) {
    let hash = sfb.sets[0].hash(flow_hash);
    sfb.sets[0].of(hash).for_each(|bin| *bin = put);
}

/// 0.0005 and 0.00005 of 65535 are 32.8 and 3.3. The first 20 arrivals find 0 to 19 packets of their own: nothing
/// changes. The 21st to 25th find `target` and more: 5 steps up. The 26th finds `max`: it must be dropped, and the
/// probability rises once more. When all packets have left, the next arrival steps down.
#[test]
fn a_bin_learns_from_its_length() {
    let (mut sfb, mut queue, mut owner) = (sfb(""), Fifo::default(), Dice::showing(0.999));
    assert_eq!((sfb.increment, sfb.decrement), (33, 3));
    let offer = |sfb: &mut Sfb, queue: &mut Fifo<Plain>, owner: &mut Dice| {
        sfb.enqueue(at(0), flow(7), queue, owner);
    };
    for _ in 0..20 {
        offer(&mut sfb, &mut queue, &mut owner);
    }
    assert_eq!(state(&mut sfb, 7), Verdict { len: 20, p: 0 });
    for _ in 0..5 {
        offer(&mut sfb, &mut queue, &mut owner);
    }
    assert_eq!((state(&mut sfb, 7), owner.dropped.len()), (Verdict { len: 25, p: 5 * 33 }, 0));
    offer(&mut sfb, &mut queue, &mut owner);
    assert_eq!((state(&mut sfb, 7).p, owner.dropped.as_slice()), (6 * 33, [Drop::Flow].as_slice()));
    while sfb.dequeue(at(1), &mut queue, &mut owner).is_some() {}
    offer(&mut sfb, &mut queue, &mut owner);
    assert_eq!(state(&mut sfb, 7), Verdict { len: 1, p: 6 * 33 - 3 });
}

/// MurmurHash3's finalizer of 1 and of 2, computed by hand. A weaker mix would put flows with similar hashes into the
/// same bins on all levels. Each level takes four bits of the hash, the lowest first.
#[test]
fn the_hash_is_murmurs_and_each_level_takes_four_bits() {
    let hash = |salt, flow| Bins::new(salt).hash(flow);
    assert_eq!([1, 2, 0x1234_5678].map(|flow| hash(0, flow)), [0x514e_28b7, 0x30f4_c306, 0xe37c_d1bc]);
    assert_eq!((hash(3, 2), hash(0, 0)), (0x514e_28b7, 1), "0 stands for none");
    let mut bins = Bins::new(0);
    bins.of(0x514e_28b7).for_each(|bin| bin.len = 1);
    let taken = bins.levels.map(|level| level.iter().position(|bin| bin.len == 1).unwrap());
    assert_eq!(taken, [7, 11, 8, 2, 14, 4, 1, 5]);
}

/// A flood has probability 1 in its eight bins. A flow that shares some of these bins, but not all, must pass.
#[test]
fn a_flow_is_judged_by_its_least_bin() {
    let mut sfb = sfb("");
    put(&mut sfb, 7, Bin { len: 24, p: ONE });
    assert_eq!(state(&mut sfb, 7), Verdict { len: 24, p: ONE });
    let sharing = |hash: &u32| bins_of(&sfb, 0, *hash).iter().any(|bin| bin.p == ONE);
    let other = (8..).find(sharing).unwrap();
    assert_eq!(state(&mut sfb, other), Verdict { len: 0, p: 0 });
    let fate = |sfb: &mut Sfb, hash| {
        let (mut queue, mut owner) = (Fifo::default(), Dice::showing(0.0));
        sfb.enqueue(at(0), flow(hash), &mut queue, &mut owner);
        queue.len()
    };
    assert_eq!(fate(&mut sfb, other), 1);
}

/// At p = 1/4 dice below it must drop, or mark an ECN-capable packet. At 3/4 dice below 2 (3/4 - 1/2) = 1/2 must drop
/// even ECN-capable packets, and dice of 1/2 to 3/4 must mark.
#[test]
fn arrivals_are_marked_or_dropped_with_the_probability() {
    let fate = |p: f64, dice, ecn| {
        let (mut sfb, mut queue) = (sfb(""), Fifo::default());
        put(&mut sfb, 7, Bin { len: 1, p: (p * 65_535.0) as u16 });
        // Only the lower 16 of the 32 random bits count.
        let mut owner = Low(dice, Dice::showing(0.0));
        sfb.enqueue(at(0), Plain { ecn, ..flow(7) }, &mut queue, &mut owner);
        (queue.len(), owner.1.marked, owner.1.dropped)
    };
    assert_eq!(fate(0.25, 0.24, Ecn::NotEct), (0, 0, vec![Drop::Early]));
    assert_eq!(fate(0.25, 0.26, Ecn::NotEct), (1, 0, vec![]));
    assert_eq!(fate(0.25, 0.24, Ecn::Ect0), (1, 1, vec![]));
    assert_eq!(fate(0.75, 0.49, Ecn::Ect0), (0, 0, vec![Drop::Early]));
    assert_eq!(fate(0.75, 0.51, Ecn::Ect0), (1, 1, vec![]));
}

/// Dice whose lower 16 bits show a number.
struct Low(f64, Dice);

impl Owner<Plain> for Low {
    fn dropped(&mut self, packet: Plain, why: Drop) {
        self.1.dropped(packet, why);
    }
    fn marked(&mut self, packet: &Plain, why: Mark) {
        self.1.marked(packet, why);
    }
    fn random_u32(&mut self) -> u32 {
        0xffff_0000 | (self.0 * 65_536.0) as u32
    }
    fn random_u64(&mut self) -> u64 {
        0
    }
}

/// 10 packets per second and 3 at once: at 0 ms three packets pass. Then no token is left, and each arrival counts
/// the time since the arrival before: 99 ms make none, 2 ms none, 99 ms none. 100 ms make one, 250 ms two, and 10 s
/// three, which is the burst. (sch_sfb.c: tokens are counted only when none is left, in whole ones.)
#[test]
fn unresponsive_flows_get_the_penalty_rate_only_if_they_pause() {
    let (mut sfb, mut queue) = (sfb("penalty_burst 3"), Fifo::default());
    put(&mut sfb, 7, Bin { len: 1, p: ONE });
    let mut passed = |ms| {
        let before = queue.len();
        sfb.enqueue(at(ms), flow(7), &mut queue, &mut Dice::showing(0.999));
        queue.len() - before
    };
    assert_eq!([0, 0, 0, 0, 99, 101, 200].map(&mut passed), [1, 1, 1, 0, 0, 0, 0]);
    assert_eq!([300, 301, 551, 552, 553].map(&mut passed), [1, 0, 1, 1, 0]);
    assert_eq!([10_553, 10_553, 10_553, 10_553].map(&mut passed), [1, 1, 1, 0]);
    let mut closed = Penalty::new(0, 20);
    assert!(!closed.allows(at(5000)));
}

/// rehash 100 s, db 40 s: from 60 s on the second set learns of unresponsive flows, and counts their packets from
/// then on. The first packet finds none, the second one, the third `target`, which is a step of 0.5 (32768). At the
/// first arrival after 100 s the second set must take over with its probabilities. The first set must keep its
/// probabilities under another hash, and the packets that it counted must leave it as they leave the queue.
#[test]
fn the_second_set_warms_up_and_takes_over() {
    let words = "rehash 100000 db 40000 increment 0.5 target 2 max 9";
    let (mut sfb, mut queue, mut owner) = (sfb(words), Fifo::default(), Dice::showing(0.999));
    let mut offer = |sfb: &mut Sfb, ms, hash| {
        sfb.enqueue(at(ms), flow(hash), &mut queue, &mut owner);
    };
    offer(&mut sfb, 0, 7);
    put(&mut sfb, 7, Bin { len: 1, p: ONE });
    let second = |sfb: &Sfb| bins_of(sfb, 1, 7).into_iter().map(|bin| (bin.len, bin.p)).min().unwrap();
    offer(&mut sfb, 60_000, 7);
    assert_eq!((state(&mut sfb, 7).len, second(&sfb)), (2, (0, 0)));
    let mut learned = |ms| {
        offer(&mut sfb, ms, 7);
        second(&sfb)
    };
    assert_eq!([60_001, 60_002, 60_003].map(&mut learned), [(1, 0), (2, 0), (3, 32_768)]);
    offer(&mut sfb, 100_001, 9);
    assert_eq!((sfb.current, sfb.warming, second(&sfb)), (1, false, (3, 32_768)));
    let retired = || sfb.sets[0].levels.iter().flatten();
    assert_eq!((retired().map(|bin| bin.p).max(), retired().map(|bin| bin.len).max()), (Some(ONE), Some(5)));
    while sfb.dequeue(at(100_002), &mut queue, &mut owner).is_some() {}
    assert!(sfb.sets.iter().flat_map(|set| set.levels.iter().flatten()).all(|bin| bin.len == 0));
}

/// tc's q_sfb.c, in whole numbers: max is (5 target + 1) / 4, so 9 makes 46 / 4 = 11. target is (4 max + 3) / 5, so 7
/// makes 31 / 5 = 6.
#[test]
fn max_and_target_follow_from_each_other() {
    let of = |words| {
        let sfb = sfb(words);
        (sfb.max, sfb.target)
    };
    let table = [
        ("", (25, 20)),
        ("target 40", (50, 40)),
        ("target 9", (11, 9)),
        ("target 10", (12, 10)),
        ("target 3", (4, 3)),
        ("max 50", (50, 40)),
        ("max 7", (7, 6)),
        ("max 20 target 20", (20, 20)),
    ];
    for (words, want) in table {
        assert_eq!(of(words), want, "{words}");
    }
}

/// 10 packets per second, 3 at once. A change must not count as a pause: at 10 s six pass, three of them for the
/// pause, and 99 ms later none.
#[test]
fn a_change_gives_no_tokens() {
    let (mut sfb, mut queue) = (sfb("penalty_burst 3"), Fifo::default());
    put(&mut sfb, 7, Bin { len: 1, p: ONE });
    let mut offer = |sfb: &mut Sfb, ms| {
        sfb.enqueue(at(ms), flow(7), &mut queue, &mut Dice::showing(0.999));
        queue.len()
    };
    assert_eq!([0; 7].map(|_| offer(&mut sfb, 10_000)), [1, 2, 3, 4, 5, 6, 6]);
    sfb.change(at(10_001), &Args::parse(&SPEC, "penalty_burst 3").unwrap(), &LINK).unwrap();
    assert_eq!(offer(&mut sfb, 10_099), 6);
}

/// Otherwise bins that learn shortly before an exchange would miss the packets after a change.
#[test]
fn a_change_does_not_end_the_warming() {
    let mut sfb = sfb("");
    sfb.warming = true;
    sfb.change(at(1), &Args::parse(&SPEC, "").unwrap(), &LINK).unwrap();
    assert!(sfb.warming);
}

/// The mean over the 8 * 16 bins of a set: 8 bins of 48 are 3 on average. It takes no other number of bins.
#[test]
fn a_probe_shows_the_mean_of_all_bins() {
    struct Mean(Option<i128>);
    impl Probe for Mean {
        fn integer(&mut self, name: &'static str, value: i128) {
            if name == "avgprob" {
                self.0 = Some(value);
            }
        }
        fn real(&mut self, _name: &'static str, _value: f64) {}
    }
    let mut sfb = sfb("");
    put(&mut sfb, 7, Bin { p: 48, ..Bin::default() });
    let mut mean = Mean(None);
    sfb.probe(&mut mean);
    assert_eq!(mean.0, Some(3));
}

/// sch_sfb.c: `time_after` is strict, so at 60 s and 100 s to the nanosecond nothing happens yet. A draw drops what
/// cannot be helped by marks if it is less than 2 (p - 32767): at p = 49151 a draw of 32768 still marks.
#[test]
fn a_time_that_has_come_is_not_past_and_a_draw_of_p_is_not_below_it() {
    let (mut sfb, mut queue) = (sfb("rehash 100000 db 40000"), Fifo::default());
    let mut state_at = |ns| {
        sfb.enqueue(Instant::from_nanos(ns), flow(7), &mut queue, &mut Dice::showing(0.999));
        (sfb.warming, sfb.current)
    };
    let seconds = [0, 60_000_000_000, 60_000_000_001, 100_000_000_000, 100_000_000_001].map(&mut state_at);
    assert_eq!(seconds, [(false, 0), (false, 0), (true, 0), (true, 0), (false, 1)]);
    for (dice, marked) in [(32_767_u32, 0), (32_768, 1)] {
        let (mut sfb, mut queue) = (self::sfb(""), Fifo::default());
        put(&mut sfb, 7, Bin { len: 1, p: 49_151 });
        let mut owner = Low(f64::from(dice) / 65_536.0, Dice::showing(0.0));
        sfb.enqueue(at(0), Plain { ecn: Ecn::Ect0, ..flow(7) }, &mut queue, &mut owner);
        assert_eq!((owner.1.marked, owner.1.dropped.len() as u32), (marked, 1 - marked), "{dice}");
    }
}
