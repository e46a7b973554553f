use super::*;
use crate::packet::Plain;
use crate::signal::Mark;
use goodqueue_units::{Ecn, Rate};
use std::format;
use std::vec::Vec;

/// An owner that returns the given random numbers and then zeros, and notes drops and marks.
#[derive(Default)]
struct Loaded {
    dice: Vec<u32>,
    drawn: usize,
    dropped: Vec<(u64, Drop)>,
    marked: Vec<u64>,
}

impl Owner<Plain> for Loaded {
    fn dropped(&mut self, packet: Plain, why: Drop) {
        self.dropped.push((packet.id, why));
    }
    fn marked(&mut self, packet: &Plain, _why: Mark) {
        self.marked.push(packet.id);
    }
    fn random_u32(&mut self) -> u32 {
        self.drawn += 1;
        self.dice.get(self.drawn - 1).copied().unwrap_or(0)
    }
    fn random_u64(&mut self) -> u64 {
        0
    }
}

fn choke(words: &str) -> Result<Choke<Plain>, Error> {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    static SPEC: QdiscSpec = Choke::<Plain>::SPEC;
    Choke::build(&Args::parse(&SPEC, words)?, &link)
}

/// A draw that hits the place after the first quarter of all places.
const QUARTER: u32 = 1 << 30;

fn offer(choke: &mut Choke<Plain>, owner: &mut Loaded, id: u64, flow: u32, ecn: Ecn) -> Enqueued {
    choke.enqueue(Instant::ZERO, Plain { id, flow_hash: flow, ecn, ..Plain::new(100) }, owner)
}

/// Offers packets 0 to 3, each of the flow of its number, with thresholds of 1 and 3 packets.
///
/// A burst of 1 over 1 packet makes the weight 1/2: 1 + 1 - 1 = 1 = (1 - 1/2) * 2. So the average is kept
/// doubled, and so are the thresholds: 2 and 6. With 0, 1, 2, 3 packets waiting the average is 0, 1, 1 + 2, 3 - 1 +
/// 3 = 5. The third and the fourth packet are compared. For the third there are two places, and place 0 is
/// drawn. Another draw puts the next drop beyond all tests. For the fourth there are three places: a draw of 0 is
/// not accepted, because 2^32 = 1 mod 3, and a quarter is place 0.
fn four(words: &str, dice: &[u32]) -> (Choke<Plain>, Loaded) {
    let dice = [&[0, u32::MAX, 0, QUARTER], dice].concat();
    let mut owner = Loaded { dice, ..Loaded::default() };
    let mut choke =
        choke(&format!("min 1 max 3 burst 1 probability 0.000001 {words}")).unwrap_or_else(|e| panic!("{e}"));
    for id in 0..4 {
        assert_eq!(offer(&mut choke, &mut owner, id, id as u32, Ecn::Ect0), Enqueued::Success);
    }
    assert_eq!((choke.vars.shown().0, owner.drawn), (5, 4));
    (choke, owner)
}

fn drain(choke: &mut Choke<Plain>, owner: &mut Loaded) -> Vec<u64> {
    core::iter::from_fn(|| choke.dequeue(Instant::ZERO, owner)).map(|packet| packet.id).collect()
}

/// The place drawn, 1 of 4, has a packet of the same flow. Both must be dropped, the older one first, although
/// both could be marked. RED's count and random number must not change. A hole must not be delivered.
#[test]
fn a_match_costs_both_packets() {
    let (mut choke, mut owner) = four("ecn", &[QUARTER]);
    let (_, count, random) = choke.vars.shown();
    assert_eq!(offer(&mut choke, &mut owner, 4, 1, Ecn::Ect0), Enqueued::Congestion);
    assert_eq!(owner.dropped, [(1, Drop::Flow), (4, Drop::Flow)]);
    assert_eq!(choke.vars.shown(), (7, count, random));
    assert_eq!(choke.backlog(), Backlog { packets: 3, bytes: 300 });
    assert_eq!(drain(&mut choke, &mut owner), [0, 2, 3]);
    assert_eq!((choke.head, choke.places.len()), (4, 0));
}

/// Place 1 is a hole. After three draws that hit it the head must be compared. When the head leaves, the hole
/// must go with it. There must be three draws and no more.
#[test]
fn three_holes_are_answered_by_the_head() {
    let (mut choke, mut owner) = four("", &[QUARTER, QUARTER, QUARTER, QUARTER]);
    offer(&mut choke, &mut owner, 4, 1, Ecn::NotEct);
    assert_eq!(offer(&mut choke, &mut owner, 5, 0, Ecn::NotEct), Enqueued::Congestion);
    assert_eq!((owner.dropped[2..].to_vec(), owner.drawn), ([(0, Drop::Flow), (5, Drop::Flow)].to_vec(), 8));
    assert_eq!((choke.head, choke.places.len(), choke.backlog.packets), (2, 2, 2));
}

/// The fifth packet finds an average of 5 - 2 + 4 = 7, above max: a packet without a match must be marked or
/// dropped.
#[test]
fn above_max_all_that_does_not_match_is_marked_or_dropped() {
    use Enqueued::{Congestion, Success};
    let table = [
        ("ecn", Ecn::Ect0, Success, 1),
        ("ecn", Ecn::NotEct, Congestion, 0),
        ("", Ecn::Ect0, Congestion, 0),
        ("ecn harddrop", Ecn::Ect0, Congestion, 0),
    ];
    for (words, ecn, told, marked) in table {
        let (mut choke, mut owner) = four(words, &[QUARTER]);
        assert_eq!(offer(&mut choke, &mut owner, 4, 9, ecn), told, "{words} {ecn:?}");
        assert_eq!((owner.marked.len(), owner.dropped.len()), (marked, 1 - marked), "{words} {ecn:?}");
        assert!(owner.dropped.iter().all(|(id, why)| (*id, *why) == (4, Drop::Forced)));
    }
}

/// An average of exactly max, 5 - 2 + 3 = 6, is not above max, where RED would drop. With an average of exactly
/// min, 1 + 1 = 2, nothing must be drawn.
#[test]
fn an_average_on_a_threshold_is_below_it() {
    let (mut choke, mut owner) = four("", &[QUARTER]);
    choke.dequeue(Instant::ZERO, &mut owner);
    assert_eq!(offer(&mut choke, &mut owner, 4, 9, Ecn::NotEct), Enqueued::Success);
    assert_eq!(choke.vars.shown().0, 6);

    let mut choke = self::choke("min 1 max 3 burst 1").unwrap();
    let mut owner = Loaded::default();
    offer(&mut choke, &mut owner, 0, 0, Ecn::NotEct);
    offer(&mut choke, &mut owner, 1, 0, Ecn::NotEct);
    choke.dequeue(Instant::ZERO, &mut owner);
    offer(&mut choke, &mut owner, 2, 0, Ecn::NotEct);
    assert_eq!((choke.vars.shown().0, owner.drawn), (2, 0));
}

/// A limit of 3 is a ring of 4 places, 3 of which may be in use. The draw of three quarters hits the packet in
/// the last of them, whose removal leaves a hole that stays. So two packets wait, and yet no place is free.
#[test]
fn a_ring_of_holes_is_full() {
    let dice = [0, u32::MAX, 3 * QUARTER, QUARTER].to_vec();
    let mut owner = Loaded { dice, ..Loaded::default() };
    let mut choke = choke("limit 3 min 1 max 3 burst 1 probability 0.000001").unwrap();
    for (id, flow) in [(0, 0), (1, 1), (2, 2), (3, 2)] {
        offer(&mut choke, &mut owner, id, flow, Ecn::NotEct);
    }
    assert_eq!((choke.backlog.packets, choke.places.len()), (2, 3));
    assert_eq!(offer(&mut choke, &mut owner, 4, 9, Ecn::NotEct), Enqueued::Dropped);
    assert_eq!(owner.dropped, [(2, Drop::Flow), (3, Drop::Flow), (4, Drop::Overlimit)]);
    assert_eq!(drain(&mut choke, &mut owner), [0, 1]);
    assert_eq!(choke.places.len(), 0, "a hole in front goes with the packet before it");
}

/// Linux's ring has roundup_pow_of_two(limit + 1) places, one of which stays free: 8 packets need 16 places, not
/// 8.
#[test]
fn a_limit_that_is_a_power_of_two_is_kept() {
    let (mut choke, mut owner) = (choke("limit 8 min 7 max 8 burst 8").unwrap(), Loaded::default());
    let told = [0; 9].map(|id| offer(&mut choke, &mut owner, id, 0, Ecn::NotEct));
    assert_eq!((told[7], told[8], choke.places.len()), (Enqueued::Success, Enqueued::Dropped, 8));
}

/// 3 * 0x55555556 = 2^32 + 2 gives 1. A lower half of 0 is the surplus value. Dice that always show it must not
/// loop forever.
#[test]
fn numbers_below_three_are_even() {
    let number = |dice: &[u32]| {
        let mut owner = Loaded { dice: dice.to_vec(), ..Loaded::default() };
        (below(3, &mut owner), owner.drawn)
    };
    assert_eq!(number(&[0x5555_5555]), (0, 1));
    assert_eq!(number(&[0x5555_5556]), (1, 1));
    assert_eq!(number(&[0, u32::MAX]), (2, 2));
    assert_eq!(number(&[]), (0, 32));
}

/// tc-choke(8) as in the golden headers: with a limit of 1000, max is 250, min 83, the burst 138 and the weight
/// 2^-6. 138 + 1 - 83 = 56 packets need (1 - (63/64)^138) * 64 = 56.7, while 2^-5 gives 31.6.
#[test]
fn what_the_line_leaves_out_is_derived_in_packets() {
    let said = choke("limit 1000 min 83 max 250 burst 138").unwrap();
    assert_eq!(format!("{:?}", choke("limit 1000").unwrap().params), format!("{:?}", said.params));
    assert!(format!("{:?}", said.params).contains("wlog: 6"));
    assert_eq!(choke("min 6 max 5").unwrap_err().0, "choke: max must be above zero and not less than min");
}
