use super::*;
use crate::delack::QUICK_ACKS;
use crate::{EcnMode, EcnUse, Stack};
use std::{vec, vec::Vec};

const MSS: u16 = 500;

fn echo(mode: EcnMode) -> Echo {
    Echo::new(mode, EcnUse::Classic, Ecn::NotEct, false)
}

/// Builds an estimator with an RTT of 100 ms and an RTO of 300 ms.
fn rtt() -> RttEstimator {
    let mut rtt = RttEstimator::new(Duration::ZERO, Duration::ZERO);
    let sample = Duration::from_millis(100);
    rtt.sample(sample, sample, SeqNumber(1), SeqNumber(1));
    rtt
}

const RTO: Duration = Duration::from_millis(300);

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn receiver() -> Receiver {
    let mut r = Receiver::new(64_000, &Config { mss: MSS, ..Config::default() });
    r.open(at(0), SeqNumber(5000), 0, echo(EcnMode::Classic));
    r
}

/// Builds a receiver that has used up its quick ACKs.
fn settled() -> Receiver {
    let mut r = receiver();
    for _ in 0..QUICK_ACKS {
        let seq = r.nxt;
        data(&mut r, 0, seq.0);
        ack(&mut r).expect("a quick ACK");
    }
    r
}

fn segment(seq: u32) -> Segment {
    Segment { seq: SeqNumber(seq), payload_len: MSS, flags: Flags::ACK, ..Segment::default() }
}

fn data(r: &mut Receiver, ms: u64, seq: u32) -> u32 {
    r.on_data(at(ms), &segment(seq), &rtt(), false)
}

/// Returns the bare ACK, if an ACK is due.
fn ack(r: &mut Receiver) -> Option<Segment> {
    r.is_ack_due().then(|| r.carry(Instant::ZERO, SeqNumber(1), 0, Flags::NONE, Ecn::NotEct))
}

fn blocks(segment: Segment) -> Vec<(u32, u32)> {
    segment.sack_blocks().iter().map(|b| (b.start.0, b.end.0)).collect()
}

/// The examples at the end of RFC 2018, section 4: eight segments of 500 bytes, from sequence number 5000.
#[test]
fn the_blocks_are_those_of_rfc_2018_where_every_other_segment_is_lost() {
    let mut r = receiver();
    data(&mut r, 0, 5000);
    assert_eq!(ack(&mut r).map(|a| (a.ack.0, blocks(a))), Some((5500, vec![])));
    let steps: [(u32, &[(u32, u32)]); 3] = [
        (6000, &[(6000, 6500)]),
        (7000, &[(7000, 7500), (6000, 6500)]),
        (8000, &[(8000, 8500), (7000, 7500), (6000, 6500)]),
    ];
    for (seq, expected) in steps {
        assert_eq!(data(&mut r, 0, seq), 0);
        assert_eq!(ack(&mut r).map(|a| (a.ack.0, blocks(a))), Some((5500, expected.to_vec())));
    }
    // The fourth segment arrives late: it joins two ranges.
    data(&mut r, 0, 6500);
    assert_eq!(ack(&mut r).map(blocks), Some(vec![(6000, 7500), (8000, 8500)]));
    // The second one fills the first hole.
    assert_eq!(data(&mut r, 0, 5500), 2000);
    assert_eq!(ack(&mut r).map(|a| (a.ack.0, blocks(a))), Some((7500, vec![(8000, 8500)])));
    assert_eq!((r.delivered(), r.ranges.len()), (2500, 1));
}

#[test]
fn a_run_of_lost_leading_segments_is_one_growing_block() {
    let mut r = receiver();
    for n in 1..8 {
        data(&mut r, 0, 5000 + n * 500);
        r.delack.demand();
        assert_eq!(
            ack(&mut r).map(|a| (a.ack.0, blocks(a))),
            Some((5000, vec![(5500, 6000 + (n - 1) * 500)]))
        );
    }
    assert_eq!(data(&mut r, 0, 5000), 4000);
}

#[test]
fn the_first_sixteen_segments_are_acknowledged_one_by_one_then_every_second() {
    let mut r = receiver();
    let acks: Vec<bool> = (0..22)
        .map(|n| {
            data(&mut r, 0, 5000 + n * 500);
            ack(&mut r).is_some()
        })
        .collect();
    assert!(acks[..16].iter().all(|&ack| ack));
    assert_eq!(acks[16..], [false, true, false, true, false, true]);
}

/// The segment comes after tick 2, 40 ms are 10 ticks, and the timer fires a tick later: at 13 ticks, 52 ms.
#[test]
fn a_lone_segment_waits_40_ms_and_for_a_tick_and_the_wait_is_not_prolonged() {
    let mut r = settled();
    let seq = r.nxt.0;
    data(&mut r, 10, seq);
    assert_eq!((ack(&mut r), r.deadline()), (None, at(52)));
    r.on_timeout(at(51), RTO);
    assert_eq!((ack(&mut r), r.deadline()), (None, at(52)));
    r.on_timeout(at(52), RTO);
    assert_eq!(ack(&mut r).map(|a| a.ack.0), Some(seq + 500));
    assert_eq!(r.deadline(), Instant::MAX);
}

/// RTO is 300 ms, 75 ticks, and Linux counts a silence in whole ticks.
#[test]
fn after_a_silence_of_an_rto_acks_are_quick_again() {
    for (ms, is_quick) in [(303, false), (304, true)] {
        let mut r = settled();
        let seq = r.nxt.0;
        data(&mut r, ms, seq);
        assert_eq!(ack(&mut r).is_some(), is_quick, "{ms}");
    }
}

/// No data asks for the ACK of a segment that lies before the last ACK, so it is none of the quick ones
/// (`tcp_send_dupack`, `tcp_dec_quickack_mode`): 16 follow.
#[test]
fn the_ack_of_old_data_is_none_of_the_quick_ones() {
    let mut r = settled();
    let seq = r.nxt.0;
    r.refuse(at(10), &segment(seq - 1000));
    assert!(ack(&mut r).is_some());
    let is_acked = |r: &mut Receiver, n: u32| {
        data(r, 10, seq + n * u32::from(MSS));
        ack(r).is_some()
    };
    assert_eq!((0..).take_while(|n| is_acked(&mut r, *n)).count(), QUICK_ACKS.into());
}

/// After a silence a segment fills a hole, behind which four fifths of the window wait. Half of the window are 26
/// segments, so 16 ACKs are quick, the first with the hole's. Half of what is left would be five (`tcp_incr_quickack`:
/// `rcv_wnd` is what the last ACK offered).
#[test]
fn quick_acks_count_by_the_window_that_was_offered() {
    let config = Config { stack: crate::Stack::Linux7_3, ..Config::default() };
    let mut r = Receiver::new(160_000, &config);
    r.open(at(0), SeqNumber(0), 0, echo(EcnMode::Off));
    let is_acked = |r: &mut Receiver, ms, n: u32| {
        let segment = Segment { payload_len: 1448, ..segment(n * 1448) };
        r.on_data(at(ms), &segment, &rtt(), false);
        ack(r).is_some()
    };
    for n in 0..200 {
        is_acked(&mut r, 0, n);
    }
    let held = r.window.left(r.nxt) / 1448 * 4 / 5;
    for n in 1..=held {
        is_acked(&mut r, 10, 200 + n);
    }
    assert!(is_acked(&mut r, 400, 200));
    let quick = (201 + held..).take_while(|n| is_acked(&mut r, 400, *n)).count();
    assert!(quick >= 15, "{quick}");
}

/// RTT 100 ms by timestamps. Our SYN offered 127 · 512 = 65 024 bytes, and 65 536 − 500 are allowed: one growth, which
/// gives one quick ACK more than 16. 11 segments of 500 bytes in a round trip are one more than 10: 22 + 16 = 38, plus
/// a fifth of 38, are 45. Each of them is worth (500 + 896) / 2 = 698 bytes; the sum is less than the first window. The
/// 60 segments of the next round trip are 49 more than 11: 136, plus 98/11 of 136, are 1347. Less the 890 bytes
/// of memory that a segment takes up before it is read, (1347 · 698 − 890 − 65 024) / 1000 = 874.3 segments of growth.
#[test]
fn while_the_window_grows_every_segment_is_acknowledged_at_once() {
    let mut r = Receiver::new(1 << 20, &Config { mss: MSS, ..Config::default() });
    r.open(at(0), SeqNumber(5000), 0, echo(EcnMode::Off));
    r.established(at(0));
    let mut acks = |ms, segments| {
        let one = |r: &mut Receiver| {
            let segment = Segment { tsecr: 1, ..segment(r.nxt.0) };
            r.on_data(at(ms), &segment, &rtt(), false);
            ack(r).is_some()
        };
        (0..segments).filter(|_| one(&mut r)).count()
    };
    assert_eq!(acks(100, 11), 11, "quick at the start");
    assert_eq!(acks(200, 60), 5 + 55 / 2, "then delayed; the first window has no room to grow");
    assert_eq!(acks(300, 1), 1, "the second of two; from here on the window grows");
    assert_eq!(acks(300, 875), 875);
    assert_eq!(acks(300, 60), 30);
}

#[test]
fn the_last_segment_of_a_burst_is_acknowledged_at_once() {
    let mut r = settled();
    let seq = r.nxt.0;
    let last = Segment { flags: Flags::ACK | Flags::PSH, ..segment(seq) };
    r.on_data(at(10), &last, &rtt(), false);
    assert_eq!(ack(&mut r).map(|a| a.ack.0), Some(seq + 500));
}

/// The examples of RFC 2883, section 4: a segment that comes twice, and a segment of which a part comes twice.
#[test]
fn what_comes_twice_is_told_once_and_first() {
    let mut r = settled();
    let nxt = r.nxt.0;
    data(&mut r, 1, nxt - 500);
    assert_eq!(ack(&mut r).map(blocks), Some(vec![(nxt - 500, nxt)]));
    data(&mut r, 1, nxt + 1000);
    assert_eq!(ack(&mut r).map(blocks), Some(vec![(nxt + 1000, nxt + 1500)]));
    data(&mut r, 1, nxt + 1000);
    r.delack.demand();
    assert_eq!(ack(&mut r).map(blocks), Some(vec![(nxt + 1000, nxt + 1500), (nxt + 1000, nxt + 1500)]));
    assert_eq!(r.held, 500);
    data(&mut r, 1, nxt - 250);
    assert_eq!(ack(&mut r).map(blocks), Some(vec![(nxt - 250, nxt), (nxt + 1000, nxt + 1500)]));
    data(&mut r, 1, nxt + 750);
    r.delack.demand();
    assert_eq!(ack(&mut r).map(blocks), Some(vec![(nxt + 1000, nxt + 1250), (nxt + 750, nxt + 1500)]));
    assert_eq!(r.held, 750);
    data(&mut r, 1, nxt + 250);
    assert_eq!(ack(&mut r).map(|a| (a.ack.0, blocks(a))), Some((nxt + 1500, vec![])));
    assert_eq!(r.held, 0);
}

/// Half of the buffer of 40 000 bytes may be offered. A packet joins the one before it, and a joined packet has 17
/// segments at most, and 1280 bytes of memory beside their payload. One segment: (40 000 − 500 − 1280) / 2 = 19 110,
/// but the first offer of 20 000 holds, and 19 500 of it are left. 39 segments are three packets: (40 000 − 19 500 −
/// 3840) / 2 = 8330. 59 are four packets: (40 000 − 29 500 − 5120) / 2 = 2690. Guards against a window that stays open,
/// or a window that opens without an ACK that reports it.
#[test]
fn an_application_that_pauses_closes_the_window_and_opens_it_when_it_goes_on() {
    let mut r = Receiver::new(20_000, &Config { mss: MSS, ..Config::default() });
    r.open(at(0), SeqNumber(5000), 0, echo(EcnMode::Off));
    r.pause();
    let mut windows = vec![];
    for n in 0..80_u32 {
        data(&mut r, n.into(), 5000 + 500 * n);
        r.delack.demand();
        windows.extend(ack(&mut r).map(|ack| ack.window));
    }
    assert_eq!((windows[0], windows[38], windows[58], windows[79]), (19_500, 8330, 2690, 0));
    assert_eq!(data(&mut r, 90, 45_000), 0, "no room");
    assert!(ack(&mut r).is_some_and(|ack| ack.window == 0 && ack.sack_len == 0));
    r.refuse(at(91), &Segment { payload_len: 0, ..segment(r.nxt.0 - 1) });
    assert!(ack(&mut r).is_some(), "a probe is answered");
    r.refuse(at(92), &Segment { payload_len: 0, ..segment(r.nxt.0 - 1) });
    assert!(ack(&mut r).is_none(), "but no flood of them");
    r.resume(at(100));
    assert_eq!(ack(&mut r).map(|ack| ack.window), Some(20_000));
}

/// Five segments that wait unread: the window falls with each, so none is acknowledged before the application reads.
/// That is more than a full segment, which leaves one ACK at once. A single segment waits for another as ever.
#[test]
fn a_burst_is_acknowledged_when_the_application_reads_it() {
    let mut r = settled();
    let nxt = r.nxt.0;
    r.pause();
    for n in 0..5 {
        data(&mut r, 0, nxt + 500 * n);
        assert!(ack(&mut r).is_none(), "segment {n}");
    }
    r.read(at(0));
    assert_eq!(ack(&mut r).map(|ack| ack.ack.0), Some(nxt + 2500));
    data(&mut r, 0, nxt + 2500);
    r.read(at(0));
    assert!(ack(&mut r).is_none(), "one segment");
}

/// Half of the buffer of 128 000 bytes may be offered. The ACK of the last segment before the hole offers (128 000 −
/// 500 − 1280) / 2 = 63 110 bytes, because the application has not read that segment yet. Of these 52 610 are left when
/// the hole is filled, and the edge does not move back, although the 21 segments in order are three packets, and the 20
/// behind the second hole two: (128 000 − 20 500 − 5 · 1280) / 2 = 50 550. The next ACK counts the 21 segments behind
/// the second hole alone: (128 000 − 10 500 − 2 · 1280) / 2 = 57 470. Guards against data that takes up its whole
/// length of the window: our sender would stop at the window's end in a long recovery in which Linux's continues.
#[test]
fn what_waits_behind_a_hole_takes_its_memory_of_the_buffer() {
    let mut r = receiver();
    for seq in (5000..25_000).chain(25_500..35_500).chain(36_000..46_000).step_by(500) {
        data(&mut r, 0, seq);
    }
    data(&mut r, 0, 25_000);
    let told = ack(&mut r).map(|a| (a.ack.0, u32::from(a.window) << r.window.shift()));
    assert_eq!(told, Some((35_500, 52_610)));
    data(&mut r, 0, 46_000);
    r.delack.demand();
    assert_eq!(ack(&mut r).map(|a| u32::from(a.window) << r.window.shift()), Some(57_470));
}

#[test]
fn old_data_is_acknowledged_at_once_because_the_ack_must_have_been_lost() {
    let mut r = settled();
    assert_eq!(data(&mut r, 0, 5000), 0);
    assert!(ack(&mut r).is_some());
}

/// RFC 3168, 6.1.3.
#[test]
fn ce_is_echoed_until_cwr_and_the_change_is_told_at_once() {
    let mut r = settled();
    let echo = |r: &mut Receiver, flags, ecn| {
        let segment = Segment { flags, ecn, ..segment(r.nxt.0) };
        r.on_data(at(1), &segment, &rtt(), false);
        ack(r).map(|a| a.flags.contains(Flags::ECE))
    };
    assert_eq!(echo(&mut r, Flags::ACK, Ecn::Ce), Some(true));
    assert_eq!(echo(&mut r, Flags::ACK, Ecn::Ect0), Some(true));
    assert_eq!(echo(&mut r, Flags::ACK, Ecn::Ect0), None); // delayed again
    assert_eq!(echo(&mut r, Flags::ACK, Ecn::Ect0), Some(true)); // and still echoed
    assert_eq!(echo(&mut r, Flags::ACK | Flags::CWR, Ecn::Ect0), Some(false));
    assert_eq!(echo(&mut r, Flags::ACK | Flags::CWR, Ecn::Ce), Some(true));
}

#[test]
fn a_connection_without_ecn_echoes_nothing() {
    let mut r = settled();
    r.echo = echo(EcnMode::Off);
    r.on_data(at(1), &Segment { ecn: Ecn::Ce, ..segment(r.nxt.0) }, &rtt(), false);
    r.delack.demand();
    assert!(ack(&mut r).is_some_and(|a| !a.flags.contains(Flags::ECE)));
}

#[test]
fn fin_counts_once_and_not_as_data_even_out_of_order() {
    let mut r = receiver();
    let fin = Segment { flags: Flags::ACK | Flags::FIN, ..segment(5500) };
    assert_eq!(r.on_data(at(0), &fin, &rtt(), false), 0);
    assert!(!r.is_finished());
    assert_eq!(data(&mut r, 0, 5000), 1000);
    assert!(r.is_finished());
    assert_eq!(r.nxt, SeqNumber(6001));
    assert_eq!(r.on_data(at(0), &fin, &rtt(), false), 0);
    assert_eq!(r.delivered(), 1000);
}

#[test]
fn data_carries_the_ack_unless_there_are_blocks_to_tell() {
    let mut r = receiver();
    data(&mut r, 0, 5000);
    let carrier = r.carry(at(0), SeqNumber(1), 100, Flags::NONE, Ecn::NotEct);
    assert!(carrier.ack == SeqNumber(5500) && !r.is_ack_due());
    data(&mut r, 0, 6000);
    let carrier = r.carry(at(0), SeqNumber(101), 100, Flags::NONE, Ecn::NotEct);
    assert!(carrier.sack_len == 0 && r.is_ack_due());
    assert!(r.carry(at(0), SeqNumber(201), 0, Flags::FIN, Ecn::NotEct).sack_len == 0 && r.is_ack_due());
}

/// 40 segments of 500 bytes wait behind a hole. The application reads first the segment that fills the hole, and the
/// round trip ends with it: 1 segment is no more than 10. 16 waiting segments are one packet with the first: 17
/// segments are 7 more than 10, and 34 + 16 = 50, plus 14/10 of 50, are 120 segments worth 698 bytes each. A segment in
/// order has (500 + 1280) / 2 bytes less to grow into, because it takes up memory until it is read. Guards
/// against a window that grows by all 41 segments at once where Linux's window still limits its sender.
#[test]
fn what_waited_behind_a_hole_counts_for_the_next_round_trip() {
    for (waiting, window) in [(40, 65_036), (16, 83_760 - 890)] {
        let mut r = Receiver::new(1 << 20, &Config { mss: MSS, ..Config::default() });
        r.open(at(0), SeqNumber(5000), 0, echo(EcnMode::Off));
        r.established(at(0));
        for n in (1..=waiting).chain([0]) {
            r.on_data(at(200), &Segment { tsecr: 101, ..segment(5000 + 500 * n) }, &rtt(), false);
        }
        while r.window.grow(None, MSS) {}
        let told = u32::from(r.window.offer(r.nxt, 0)) << r.window.shift();
        assert_eq!(told, window_in_header(window), "{waiting} wait");
    }
}

/// Returns the window that a header can say: units of 64 bytes here, rounded up.
fn window_in_header(bytes: u32) -> u32 {
    bytes.next_multiple_of(64)
}

/// Data that came a second time is reported, even if it is the end of the segment that fills a hole (RFC 2883, section
/// 4). Guards against a sender that never learns that it sent too much.
#[test]
fn what_overlaps_with_what_was_held_is_told_as_come_twice() {
    let mut r = receiver();
    data(&mut r, 0, 5500);
    ack(&mut r).expect("it is out of order");
    r.on_data(at(0), &Segment { payload_len: 700, ..segment(5000) }, &rtt(), false);
    let told = ack(&mut r).expect("a gap is filled");
    assert_eq!((told.ack, blocks(told)), (SeqNumber(6000), [(5500, 5700)].to_vec()));
}

/// A segment that begins exactly at the right edge of an open window is still taken, as on Linux (RFC 9293, 3.10.7.4).
/// A segment that begins one byte later is refused.
#[test]
fn the_right_edge_of_the_window_is_within() {
    let held = [0, 1].map(|beyond| {
        let mut r = receiver();
        let edge = r.nxt + r.window.left(r.nxt);
        data(&mut r, 0, edge.0 + beyond);
        r.has_gap()
    });
    assert_eq!(held, [true, false]);
}

/// Data has no room for SACK blocks here, so the ACK that must carry them stays due. Guards against a sender that never
/// hears of the data out of order, or a needless bare ACK after a data segment that carried the whole acknowledgement.
#[test]
fn data_carries_the_ack_but_for_blocks() {
    for gap in [0, 500] {
        let mut r = receiver();
        let seq = r.nxt.0 + gap;
        data(&mut r, 0, seq);
        assert!(r.is_ack_due());
        r.on_split(at(0));
        assert_eq!(r.is_ack_due(), gap > 0);
    }
}

/// Until 6.13 Linux does not read the clock when it sends what it held back (`tcp_compressed_ack_kick`): the ACK has
/// the timestamp of the segment that came last. Here that is 0.95 ms into the 14th millisecond, and the timer fires in
/// the 15th.
#[test]
fn what_was_held_back_has_the_timestamp_of_the_last_segment_before_6_13() {
    let stamps = [Stack::Linux6_1, Stack::Linux6_12, Stack::Linux7_3].map(|stack| {
        let mut r = Receiver::new(64_000, &Config { mss: MSS, stack, ..Config::default() });
        r.open(at(0), SeqNumber(5000), 0, echo(EcnMode::Classic));
        for ms in 10..13 {
            data(&mut r, ms, 5500 + 500 * (ms as u32 - 10));
            assert!(ack(&mut r).is_some(), "three leave at once");
        }
        while r.delack.is_at_once() {
            r.delack.on_sent_ack();
        }
        let late = at(13) + Duration::from_micros(950);
        r.on_data(late, &segment(7000), &rtt(), false);
        assert!(ack(&mut r).is_none(), "held back");
        let fires = r.deadline();
        assert!(fires < at(15) && fires >= late);
        r.on_timeout(fires, RTO);
        let stamp = |r: &mut Receiver| r.carry(fires, SeqNumber(1), 0, Flags::NONE, Ecn::NotEct).tsval;
        (timestamp(fires) - stamp(&mut r), timestamp(fires) - stamp(&mut r))
    });
    assert_eq!(stamps, [(1, 0), (1, 0), (0, 0)]);
}
