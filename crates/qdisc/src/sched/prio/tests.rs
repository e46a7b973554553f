use super::super::Noted;
use super::*;
use crate::registry::parse_line;
use goodqueue_units::Rate;
use std::string::ToString;

const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
const NOW: Instant = Instant::ZERO;

/// Codepoints of the priorities 6, 0 and 2, which the default map sorts into the bands 0, 1 and 2.
const OF_BAND: [u8; 3] = [4, 0, 2];

fn prio(words: &str) -> (AnyQdisc<Plain>, Noted) {
    (AnyQdisc::parse(&format!("prio {words}"), &LINK).unwrap(), Noted::default())
}

fn offer(qdisc: &mut AnyQdisc<Plain>, owner: &mut Noted, id: u64, dscp: u8) -> Enqueued {
    qdisc.enqueue(NOW, Plain { id, dscp, ..Plain::new(100 + id as u32) }, owner)
}

fn drain(qdisc: &mut AnyQdisc<Plain>, owner: &mut Noted) -> Vec<u64> {
    core::iter::from_fn(|| qdisc.dequeue(NOW, owner)).map(|packet| packet.id).collect()
}

#[test]
fn a_later_band_waits_for_the_earlier_ones() {
    let (mut qdisc, mut owner) = prio("");
    for (id, band) in [(0, 2), (1, 1), (2, 0), (3, 1), (4, 0)] {
        offer(&mut qdisc, &mut owner, id, OF_BAND[band]);
    }
    assert_eq!(qdisc.look().length(), Some(102), "a shaper above sees the packet that leaves next");
    assert_eq!(qdisc.backlog(), Backlog { packets: 5, bytes: 510 });
    assert_eq!(drain(&mut qdisc, &mut owner), [2, 4, 1, 3, 0]);
    assert!(matches!(qdisc.look(), Look::Shown(None)));
}

/// EF is priority 4, which the default map of tc-prio(8) sorts into the band of best effort. A map of one's own does
/// what its user wants.
#[test]
fn expedited_forwarding_needs_a_map_of_its_own() {
    for (words, order) in [("", [0, 1]), ("bands 4 priomap 1 2 2 2 0", [1, 0])] {
        let (mut qdisc, mut owner) = prio(words);
        offer(&mut qdisc, &mut owner, 0, 0);
        offer(&mut qdisc, &mut owner, 1, 46);
        assert_eq!(drain(&mut qdisc, &mut owner), order, "{words}");
    }
}

#[test]
fn each_band_has_its_own_limit() {
    let (mut qdisc, mut owner) = prio("txqueuelen 2");
    let told: Vec<Enqueued> = (0..5).map(|id| offer(&mut qdisc, &mut owner, id, 0)).collect();
    assert_eq!(told[1..3], [Enqueued::Success, Enqueued::Dropped]);
    assert_eq!(offer(&mut qdisc, &mut owner, 5, OF_BAND[2]), Enqueued::Success);
    assert_eq!(owner.dropped, [2, 3, 4]);
}

/// The lines of `tc`, and what is refused. The kernel refuses a map that names a band which is not there.
#[test]
fn lines_are_read_as_tc_reads_them() {
    let printed = |line: &str| parse_line(line).unwrap().to_string();
    assert_eq!(printed("prio"), "prio bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 txqueuelen 1000");
    assert_eq!(
        printed("prio bands 4"),
        "prio bands 4 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 txqueuelen 1000"
    );
    assert!(printed("prio priomap 0 0 1").contains("priomap 0 0 1 2 1 2 0 0 1 1 1 1 1 1 1 1 "));
    let refused = |line: &str| match parse_line(line) {
        Ok(args) => AnyQdisc::<Plain>::build(&args, &LINK).err().unwrap().0,
        Err(error) => error.0,
    };
    assert_eq!(refused("prio bands 2"), "prio priomap: found 2; accepted: 0 to 1, as there are 2 bands");
    for (line, why) in [
        ("prio bands 1", "prio bands: found \"1\"; accepted: 2 to 16"),
        ("prio bands 17", "prio bands: found \"17\"; accepted: 2 to 16"),
        ("prio priomap 3", "prio priomap: found 3; accepted: 0 to 2, as there are 3 bands"),
        ("prio priomap 16", "prio priomap: found \"16\"; accepted: up to 16 numbers from 0 to 15"),
    ] {
        assert_eq!(refused(line), why);
    }
}

/// Bands that go lose their packets, others keep theirs. A packet that waits stays in its band.
#[test]
fn a_change_of_bands_drops_only_those_that_go() {
    let (mut qdisc, mut owner) = prio("bands 4 priomap 3 2 2 2 1 2 0");
    for (id, dscp) in [(0, 0), (1, 2), (2, 4), (3, 0)] {
        offer(&mut qdisc, &mut owner, id, dscp);
    }
    let refused = qdisc.change(NOW, "prio bands 3", &mut owner).unwrap_err();
    assert_eq!(refused.0, "prio priomap: found 3; accepted: 0 to 2, as there are 3 bands");
    assert_eq!((qdisc.backlog().packets, owner.dropped.len()), (4, 0), "nothing has changed");
    qdisc.change(NOW, "prio bands 3 priomap 0", &mut owner).unwrap();
    assert_eq!(owner.dropped, [0, 3]);
    offer(&mut qdisc, &mut owner, 4, 0);
    qdisc.change(NOW, "prio bands 16", &mut owner).unwrap();
    assert_eq!(drain(&mut qdisc, &mut owner), [2, 4, 1]);
}
