use super::super::Noted;
use super::*;
use crate::packet::Plain;
use goodqueue_units::Rate;

fn sfq(words: &str) -> Sfq<Plain> {
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    Sfq::build(&Args::parse(&Sfq::<Plain>::SPEC, words).unwrap(), &link).unwrap()
}

/// Offers packets: packet `id` belongs to flow `id / 100`.
fn offer(sfq: &mut Sfq<Plain>, owner: &mut Noted, len: u32, ids: impl IntoIterator<Item = u64>) {
    for id in ids {
        let packet = Plain { id, flow_hash: (id / 100) as u32, ..Plain::new(len) };
        sfq.enqueue(Instant::ZERO, packet, owner);
    }
}

fn drain(sfq: &mut Sfq<Plain>, owner: &mut Noted) -> Vec<u64> {
    core::iter::from_fn(|| sfq.dequeue(Instant::ZERO, owner)).map(|packet| packet.id).collect()
}

#[test]
fn flows_take_turns_by_bytes() {
    let (mut sfq, mut owner) = (sfq("quantum 1000"), Noted::default());
    offer(&mut sfq, &mut owner, 1000, [0, 1, 2]);
    offer(&mut sfq, &mut owner, 500, [100, 101, 102]);
    assert_eq!(drain(&mut sfq, &mut owner), [0, 100, 101, 1, 102, 2]);
}

#[test]
fn the_longest_flow_pays_and_of_several_the_one_that_grew_last() {
    let (mut sfq, mut owner) = (sfq("limit 5"), Noted::default());
    offer(&mut sfq, &mut owner, 1000, [0, 1, 100, 101, 200]);
    assert!(owner.dropped.is_empty());
    offer(&mut sfq, &mut owner, 1000, [201, 300]);
    // 201 makes flow 2 the newest with two packets. For 300 flow 2 is back at one packet, and flow 1 is the
    // victim.
    assert_eq!(owner.dropped, [201, 101]);
}

#[test]
fn a_flow_is_depth_packets_at_most_and_headdrop_keeps_the_newest() {
    for (words, kept) in [("depth 2", [0, 1]), ("depth 2 headdrop", [1, 2])] {
        let (mut sfq, mut owner) = (sfq(words), Noted::default());
        offer(&mut sfq, &mut owner, 1000, [0, 1, 2]);
        assert_eq!((owner.dropped.len(), drain(&mut sfq, &mut owner).as_slice()), (1, kept.as_slice()));
    }
}

/// sch_sfq.c: maxflows is at most divisor, and at most limit. With 3 slots of one packet each, a fourth flow must
/// find no slot. With one slot more it would be let in, and the flow to be served next would lose its packet.
#[test]
fn there_are_no_more_slots_than_packets() {
    use crate::registry::parse_line;
    let flows = |line: &str| parse_line(line).unwrap().get(&FLOWS);
    assert_eq!((flows("sfq"), flows("sfq limit 127"), flows("sfq limit 127 flows 128")), (128, 127, 128));
    assert_eq!(
        (flows("sfq divisor 16"), flows("sfq limit 20 flows 100"), flows("sfq limit 900 flows 400")),
        (16, 20, 400)
    );
    for (line, kept) in [("sfq", 128), ("sfq flows 300", 300), ("sfq flows 300 divisor 256", 256)] {
        let printed = std::string::ToString::to_string(&parse_line(line).unwrap());
        assert_eq!(flows(&printed), kept, "the canonical line of {line} is read back");
    }
    let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
    let mut sfq = Sfq::build(&parse_line("sfq limit 3").unwrap(), &link).unwrap();
    let mut owner = Noted::default();
    offer(&mut sfq, &mut owner, 1000, [0, 100, 200, 300]);
    assert_eq!(owner.dropped, [300]);
}

#[test]
fn new_keys_keep_every_packet_and_the_order_of_a_flow() {
    let (mut sfq, mut owner) = (sfq("perturb 10"), Noted::default());
    offer(&mut sfq, &mut owner, 1000, [0, 100, 1, 200, 101, 2]);
    // 10 s are 2500 jiffies, which the timer wheel rounds up to a multiple of 64 (golden/sfq has 1.024 s for 1 s).
    let due = Instant::ZERO + Duration::from_millis(10_240);
    assert_eq!(sfq.next_timer(), Some(due));
    sfq.on_timer(due, &mut owner);
    assert_eq!(sfq.backlog(), Backlog { packets: 6, bytes: 6000 });
    let mut left = drain(&mut sfq, &mut owner);
    left.sort_by_key(|id| id / 100); // stable
    assert_eq!((left.as_slice(), owner.dropped.len()), ([0, 1, 2, 100, 101, 200].as_slice(), 0));
}

/// sch_sfq.c, `sfq_drop`: if all slots hold one packet, the slot to be served next loses it and leaves the round.
/// This happens because a line without a limit has 128 slots for 127 packets.
#[test]
fn of_single_packets_the_next_to_be_served_is_dropped() {
    let (mut sfq, mut owner) = (sfq("divisor 65536"), Noted::default());
    let keys = [0; 2]; // as the test's random numbers
    let mut taken = std::collections::BTreeSet::new();
    let flows: Vec<u64> = (0..)
        .filter(|flow| {
            let packet = Plain { flow_hash: *flow as u32, ..Plain::new(1000) };
            taken.insert(sfq.bucket(&packet, keys))
        })
        .take(128)
        .collect();
    offer(&mut sfq, &mut owner, 1000, flows.iter().map(|flow| 100 * flow));
    assert_eq!(owner.dropped, [100 * flows[0]]);
    let rest: Vec<u64> = flows[1..].iter().map(|flow| 100 * flow).collect();
    assert_eq!(drain(&mut sfq, &mut owner), rest);
}

/// sch_sfq.c, `sfq_rehash`: flows that meet in one bucket under the new keys share a slot of `depth` packets. The
/// packets above it are dropped. Flow 0 is dealt first, because it took the last slot, and slots are dealt in their
/// order.
#[test]
fn flows_that_new_keys_bring_together_share_one_depth() {
    let (mut sfq, mut owner) = (sfq("depth 2 divisor 2"), Noted::default());
    let flow = |id: u64| Plain { flow_hash: id as u32, ..Plain::new(1000) };
    let apart = |keys| sfq.bucket(&flow(0), keys) != sfq.bucket(&flow(1), keys);
    let keys = (0..).map(|key| [key, 0]).find(|keys| !apart(*keys)).unwrap();
    assert!(apart([0, 0]), "the first keys");
    offer(&mut sfq, &mut owner, 1000, [0, 1, 100, 101]);
    assert!(owner.dropped.is_empty());
    sfq.deal_anew(Instant::ZERO, keys, &mut owner);
    assert_eq!((owner.dropped.len(), sfq.backlog()), (2, Backlog { packets: 2, bytes: 2000 }));
    assert_eq!(drain(&mut sfq, &mut owner).len(), 2);
}
