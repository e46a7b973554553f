use super::*;
use crate::packet::Plain;
use crate::sched::Noted;
use goodqueue_units::Ecn;

/// 50 Mbit/s: 2000 B take 0.32 ms, so MINTH is 0.64 ms.
const LINK: Link = Link { rate: Rate::from_bps(50_000_000).unwrap(), mtu: 1514 };

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn build(words: &str) -> DocsisLld<Plain> {
    DocsisLld::build(&Args::parse(const { &DocsisLld::<Plain>::SPEC }, words).unwrap(), &LINK).unwrap()
}

fn packet(id: u64, ecn: Ecn, dscp: u8) -> Plain {
    Plain { id, ecn, dscp, flow_hash: u32::from(dscp), ..Plain::new(1250) }
}

#[test]
fn the_low_latency_queue_takes_l4s_and_nqb() {
    for (ecn, dscp, is_low) in [
        (Ecn::Ect1, 0, true),
        (Ecn::Ce, 0, true),
        (Ecn::NotEct, 45, true),
        (Ecn::Ect0, 45, true),
        (Ecn::Ect0, 0, false),
        (Ecn::NotEct, 46, false),
    ] {
        let mut lld = build("");
        lld.enqueue(at(0), packet(0, ecn, dscp), &mut Noted::default());
        assert_eq!(
            (lld.low.len(), lld.classic.len()),
            if is_low { (1, 0) } else { (0, 1) },
            "{ecn:?} {dscp}"
        );
    }
}

/// At 50 Mbit/s 1250 B take 0.2 ms. The ramp is 0 up to 0.64 ms and 1 from 1.164 ms.
#[test]
fn the_ramp_begins_above_two_packets_of_2000_bytes() {
    let lld = build("");
    let ms = |count: f64| Duration::from_secs_f64(count / 1e3);
    assert_eq!(lld.min_th, ms(0.64));
    assert_eq!(lld.ramp(ms(0.64)), 0.0);
    assert!((lld.ramp(ms(0.8)) - 0.16 / 0.524_288).abs() < 1e-6);
    assert_eq!(lld.ramp(ms(1.2)), 1.0);
    assert_eq!(lld.delay_of(1250), ms(0.2));
}

/// Only ECN-capable packets are marked, and the dice of `Noted` always hit.
#[test]
fn the_ramp_marks_l4s_and_leaves_nqb_alone() {
    let mut lld = build("noprotection");
    let mut noted = Noted::default();
    for id in 0..6 {
        let one = if id % 2 == 0 { packet(id, Ecn::Ect1, 0) } else { packet(id, Ecn::NotEct, 45) };
        lld.enqueue(at(0), one, &mut noted);
    }
    // From the fifth packet on, 0.8 ms and more wait.
    assert_eq!((noted.marked, noted.dropped.len(), lld.low.len()), (alloc::vec![4], 0, 6));
}

/// A flow that offers more than the link carries goes to the classic queue, packet by packet. A flow that sends little
/// stays.
#[test]
fn a_hog_is_sanctioned_and_its_neighbour_is_not() {
    let mut lld = build("");
    let mut noted = Noted::default();
    for id in 0..20 {
        lld.enqueue(at(0), packet(id, Ecn::NotEct, 45), &mut noted);
    }
    // 0.2 ms each. Packet 6 comes at 1.2 ms: it scores 2.4 ms and packet 5 at 1.0 ms scored 0.69 × 2.4 ms. The limit
    // at 1.2 ms is 3.33 ms. From then on, each packet of the flow is above it.
    assert!(lld.sanctioned >= 13, "{}", lld.sanctioned);
    assert_eq!(lld.low.len() + lld.classic.len(), 20);
    let before = lld.sanctioned;
    let low = lld.low.len();
    lld.enqueue(at(0), Plain { flow_hash: 2, len: 100, ..packet(99, Ecn::Ect1, 0) }, &mut noted);
    assert_eq!((lld.sanctioned, lld.low.len()), (before, low + 1), "100 B score 0.19 ms");
}

/// 230 of 256 parts for the low-latency queue while both wait.
#[test]
fn the_weights_are_230_and_26() {
    let mut lld = build("noprotection low_buffer 1s classic_buffer 1s");
    let mut noted = Noted::default();
    for id in 0..2560 {
        lld.enqueue(at(0), packet(id, Ecn::NotEct, if id % 2 == 0 { 45 } else { 0 }), &mut noted);
    }
    let low = (0..1024).filter(|_| lld.dequeue(at(1), &mut noted).unwrap().dscp == NQB).count();
    assert!((919..=921).contains(&low), "{low} of 1024");
}

/// p' rises by 0.25 times the excess of delay and 2.5 times its change: 32 ms from 0 give 0.004 + 0.08.
#[test]
fn the_base_probability_moves_as_worked_by_hand() {
    let mut lld = build("");
    let mut noted = Noted::default();
    for id in 0..160 {
        lld.enqueue(at(0), packet(id, Ecn::Ect0, 0), &mut noted);
    }
    lld.on_timer(at(16), &mut noted);
    assert!((lld.base - 0.084).abs() < 1e-9, "{}", lld.base);
    lld.on_timer(at(32), &mut noted);
    assert!((lld.base - 0.088).abs() < 1e-9, "{}", lld.base);
    // The dice always hit: the classic queue drops, and the other marks without a queue of its own.
    lld.enqueue(at(32), packet(160, Ecn::Ect0, 0), &mut noted);
    lld.enqueue(at(32), packet(161, Ecn::Ect1, 0), &mut noted);
    assert_eq!((noted.dropped, noted.marked), (alloc::vec![160], alloc::vec![161]));
}
