use super::*;
use proptest::prelude::*;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Returns how many segments in a row make the window grow.
fn growths(w: &mut ReceiveWindow) -> u32 {
    (0..).take_while(|_| w.grow_in(0, 1448)).count() as u32
}

/// Builds a window that has measured an RTT of 50 ms. The handshake has just ended.
fn measured(stack: Stack, most: u32) -> ReceiveWindow {
    let mut w = ReceiveWindow::new(stack, 1448, most, None);
    w.established(at(0));
    w.on_echo(51, 1);
    w
}

/// The MSS in the SYN is 1460. 44 segments are 64 240 bytes, the window of every Linux SYN. 65 536 − 1448 bytes are
/// allowed: the window does not grow, since growth would mean quick ACKs. Linux 3.10 offers 10 segments, and allows
/// 43 690 − 1460 bytes: (42 230 − 14 600) / 2920 = 9.5.
#[test]
fn the_first_window_is_the_one_in_linuxs_syns() {
    let first = |stack| {
        let syn = ReceiveWindow::new(stack, 1448, 3 << 20, None);
        (syn.of_syn(), syn.shift(), growths(&mut measured(stack, 3 << 20)))
    };
    assert_eq!(first(Stack::Linux6_1), (64_240, 7, 0));
    assert_eq!(first(Stack::Linux3_10), (14_600, 7, 10));
}

/// Linux 3.14 offers 20 segments, 29 200 bytes, and allows 187 200 − 1460. 24 segments in a round trip are less
/// than a quarter more than 20: 2·24 + 16 = 64 segments, which are allowed already. 36 are half as much again as
/// 24: 2·(2·36 + 16) = 176 segments or 256 960 bytes, and (256 960 − 185 740) / 2920 = 24.4 growths more. 46 are
/// more than a quarter above 36, but less than half: 1.5·(2·46 + 16) = 162 segments, less than is allowed.
#[test]
fn linux_3_14_makes_room_in_steps() {
    let mut w = measured(Stack::Linux3_14, 1 << 30);
    assert_eq!((w.of_syn(), growths(&mut w)), (29_200, 54));
    w.open(at(0), SeqNumber(1));
    w.on_read(at(50), 24 * 1460, Waits::default());
    assert_eq!(growths(&mut w), 0);
    w.on_read(at(100), 60 * 1460, Waits::default());
    assert_eq!(growths(&mut w), 25);
    w.on_read(at(150), 106 * 1460, Waits::default());
    assert_eq!(growths(&mut w), 0);
}

/// 35 segments after 24 are more by at least a quarter, but less than half: 1.5·(2·35 + 16) = 129 segments, 188 340
/// bytes. 43 are less than a quarter more: 2·43 + 16 = 102 segments are less than allowed. 54 after 43 are a
/// quarter more, to the segment: 186 segments or 271 560 bytes.
#[test]
fn linux_3_14_takes_a_quarter_more_half_as_far() {
    let mut w = measured(Stack::Linux3_14, 1 << 30);
    w.open(at(0), SeqNumber(1));
    let mut taken = 0;
    let mut allowed = |ms, segments: u64| {
        taken += segments * 1460;
        w.on_read(at(ms), taken, Waits::default());
        w.allowed
    };
    assert_eq!(allowed(50, 24), 185_740);
    assert_eq!(allowed(100, 35), 188_340);
    assert_eq!(allowed(150, 43), 188_340);
    assert_eq!(allowed(200, 54), 271_560);
}

/// Slow start computed by hand: 12 segments in the first round trip are a fifth more than 10. 2·12 + 16 = 40
/// segments, plus two fifths of 40, are 56. Each is worth 1492 bytes: 1448 + 896 are 2344, and steps of 128 reach
/// at least twice 1448 at 2984. 65 536 − 1448 bytes were allowed: (83 552 − 64 088) / 2896 = 6.7 growths. 24
/// segments in the next round trip: 64 segments, plus twice 64, are 192: (286 464 − 83 552) / 2896 = 70.1 growths.
#[test]
fn linux_6_makes_room_for_a_sender_that_goes_on_doubling() {
    let mut w = measured(Stack::Linux6_1, 1 << 30);
    growths(&mut w);
    w.open(at(0), SeqNumber(1));
    w.on_read(at(49), 12 * 1448, Waits::default());
    assert_eq!(growths(&mut w), 0, "before the round trip is over");
    w.on_read(at(50), 12 * 1448, Waits::default());
    assert_eq!(growths(&mut w), 7);
    w.on_read(at(100), 36 * 1448, Waits::default());
    assert_eq!(growths(&mut w), 71);
    w.on_read(at(150), 60 * 1448, Waits::default());
    assert_eq!(growths(&mut w), 0, "the same again is no growth");
}

/// Seen on Linux 6.1: 11 segments in a round trip are a tenth more than 10. 2·11 + 16 = 38, plus a fifth of 38, are
/// 45.6. 45 · 1492 = 67 140.
#[test]
fn the_buffer_holds_whole_segments() {
    let mut w = measured(Stack::Linux6_1, 1 << 30);
    w.on_read(at(50), 11 * 1448, Waits::default());
    growths(&mut w);
    assert_eq!(w.offered, 67_140);
}

/// Seen on Linux 6.1.192, on the passive side: 65 535 bytes are 45 whole segments of 1448, and a segment of 1448 is
/// kept back: 65 536 − 1448 = 64 088. 11 segments in the round trip after the handshake, 15 928 bytes, are a tenth more
/// than 10: 2 · 15 928 + 16 · 1448 = 55 024, plus a fifth of it, are 66 028, or 45 segments; 45 · 1492 = 67 140. With a
/// round trip that began with the SYN it would be no growth: only one segment comes in the rest of that round trip.
///
/// A segment in order takes up (1280 + 1448) / 2 bytes until it is read, so the window stays 1364 bytes below. One that
/// is out of order is charged later, and the window grows once more. Guards against an ACK too few after a loss: such a
/// growth gives a quick ACK.
#[test]
fn a_server_grows_up_to_what_an_unread_segment_leaves() {
    let mut w = ReceiveWindow::new(Stack::Linux6_1, 1448, 3 << 20, None);
    w.accept();
    w.open(at(0), SeqNumber(1));
    assert_eq!(w.of_syn(), 65_160);
    w.established(at(50));
    w.on_echo(51, 1);
    w.on_read(at(51), 1448, Waits::default());
    assert_eq!((growths(&mut w), w.allowed), (0, 64_088));
    w.on_read(at(101), 11 * 1448, Waits::default());
    assert_eq!(w.allowed, 67_140);
    while w.grow(None, 1448) {}
    assert_eq!(w.offered, 67_140 - 1364);
    assert!(w.grow_over_hole(0, 1448, 0) && !w.grow_over_hole(0, 1448, 0));
    assert_eq!(w.offered, 67_140);
}

/// 24 segments allow 70 080 bytes; 42 230 were allowed: 9.5 growths of 2920.
#[test]
fn linux_3_10_allows_twice_a_round_trip() {
    let mut w = measured(Stack::Linux3_10, 1 << 30);
    growths(&mut w);
    w.on_read(at(50), 24 * 1460, Waits::default());
    assert_eq!(growths(&mut w), 10);
}

/// Linux does so since 3.13. Guards against a window that does not grow during a long recovery.
#[test]
fn segments_out_of_order_make_the_window_grow() {
    for (stack, grows) in [(Stack::Linux3_10, false), (Stack::Linux3_14, true), (Stack::Linux6_1, true)] {
        let mut w = measured(stack, 1 << 30);
        growths(&mut w);
        w.on_read(at(50), 100 * 1460, Waits::default());
        assert_eq!(w.grow_over_hole(0, 1448, 0), grows, "{stack:?}");
    }
}

#[test]
fn the_window_does_not_grow_beyond_the_configured_one() {
    let mut w = measured(Stack::Linux6_1, 70_000);
    w.on_read(at(50), 100 * 1460, Waits::default());
    growths(&mut w);
    assert_eq!(w.offered, 70_000);
    assert_eq!(growths(&mut ReceiveWindow::new(Stack::Linux3_10, 1448, 3000, None)), 0);
}

/// RFC 9293, 3.8.6.2. The buffer has 40 000 bytes of memory, half of which may be offered. Guards against an edge that
/// moves back, and an offer of less than a segment.
#[test]
fn what_waits_takes_room_and_the_edge_never_moves_back() {
    let mut w = ReceiveWindow::new(Stack::Linux6_1, 1448, 20_000, None);
    w.open(at(0), SeqNumber(1));
    assert_eq!(w.offer(SeqNumber(1), 0), 20_000);
    // 10 000 bytes of memory wait, half of which are payload: the edge stays.
    assert_eq!(w.offer(SeqNumber(5001), 10_000), 15_000);
    // 6000 bytes of memory were read: 4000 wait.
    assert_eq!(w.offer(SeqNumber(5001), 4000), 18_000);
    // The buffer is full: nothing is left. Room for less than a segment, 1400 bytes, also counts as nothing.
    assert_eq!(w.offer(SeqNumber(23_001), 40_000), 0);
    assert_eq!(w.offer(SeqNumber(23_001), 37_200), 0);
    assert!(!w.is_news(SeqNumber(23_001), 37_200) && w.is_news(SeqNumber(23_001), 20_000));
    assert_eq!(w.offer(SeqNumber(23_001), 20_000), 10_000);
    assert!(!w.is_news(SeqNumber(23_001), 10_000), "15 000 are no news to who knows of 10 000");
}

/// 100 ms, then 180 ms: 800 − 100 + 180 = 880 eighths. Then 100 ms: Linux 6 takes it at once, the older stacks
/// smooth it: 880 − 110 + 100 = 870.
#[test]
fn round_trips_are_measured_once_a_timestamp_and_smoothed_upwards() {
    for (stack, after_low) in [(Stack::Linux6_1, 100_000), (Stack::Linux3_10, 108_750)] {
        let mut w = ReceiveWindow::new(stack, 1448, 1 << 20, None);
        w.on_echo(101, 1);
        w.on_echo(150, 1);
        assert_eq!(w.rtt(), Duration::from_millis(100));
        w.on_echo(200, 20);
        assert_eq!(w.rtt(), Duration::from_millis(110));
        w.on_echo(300, 200);
        assert_eq!(w.rtt(), Duration::from_micros(after_low));
    }
}

/// A window is rounded up to what the header can say (Linux), so that rounding never takes an edge back.
#[test]
fn scaled_windows_are_rounded_up() {
    let mut w = ReceiveWindow::new(Stack::Linux6_1, 1448, 1 << 30, None);
    w.open(at(0), SeqNumber(1));
    assert_eq!((w.shift(), w.offer(SeqNumber(1), 0)), (14, 4), "64 240 / 16 384 = 3.9");
    assert_eq!(w.left(SeqNumber(1)), 65_536);
}

/// RFC 9293, 3.8.6.2.2: a sixteenth of the window, or a segment, is worth an offer. One byte less is not. A window of
/// less than a segment is worth an offer while half of it is free (Linux `__tcp_select_window`).
#[test]
fn a_window_is_silly_below_a_sixteenth_of_the_buffer_and_below_a_segment() {
    for (allowed, least) in [(64_000, 4000), (16_000, 1448), (1000, 500)] {
        let buffer = 2 * allowed;
        let w = ReceiveWindow { allowed, offered: allowed, buffer, ..measured(Stack::Linux6_1, 32_767) };
        assert_eq!((w.wanted(buffer - 2 * least), w.wanted(buffer - 2 * least + 2)), (least, 0));
    }
}

/// Guards against a window that grows with the first read: without a known RTT no time is a round trip.
#[test]
fn nothing_grows_before_a_round_trip_is_measured() {
    let mut w = ReceiveWindow::new(Stack::Linux6_1, 1448, 1 << 30, None);
    w.open(at(0), SeqNumber(1));
    w.established(at(0));
    let before = w.allowed;
    w.on_read(at(50), 60 * 1448, Waits::default());
    w.on_read(at(100), 200 * 1448, Waits::default());
    assert_eq!(w.allowed, before);
}

/// Segments of 60 kB. Guards against a window of less than two segments: each would wait for the ACK of the one
/// before.
#[test]
fn the_first_window_holds_two_segments() {
    assert_eq!(reserve(65_536, 60_000), 120_000);
}

/// 1448 of 1448 + 960 bytes are 153/256. 131 072 bytes of memory are a window of 78 336 then, and less 1600 bytes of 77
/// 379. Segments of 448 bytes have 81/256: 41 472 bytes, less than was offered. Before Linux 6.6 the share is a half
/// whatever comes. A segment is kept back of what is offered first, 65 536 − 1448 bytes, unless the first buffer is
/// large.
#[test]
fn newer_releases_offer_the_share_of_the_payload() {
    let window = |stack, mss, first| {
        let mut w = ReceiveWindow::new(stack, mss, 3 << 20, first);
        w.established(at(0));
        (w.offered, w.allowed, w.most, w.space(1600))
    };
    for stack in [Stack::Linux6_12, Stack::Linux7_3] {
        assert_eq!(window(stack, 1448, None), (64_088, 78_336, 6 << 20, 77_379), "{stack:?}");
        assert_eq!(window(stack, 448, None), (65_088, 41_472, 6 << 20, 40_965), "{stack:?}");
        assert_eq!(window(stack, 1448, Some(1 << 20)), (64_240, 626_688, 6 << 20, 625_731), "{stack:?}");
    }
    assert_eq!(window(Stack::Linux6_1, 1448, None), (64_088, 64_088, 6 << 20, 64_736));
    assert_eq!(window(Stack::Linux6_1, 1448, Some(100_000)), (48_552, 48_552, 6 << 20, 49_200));
}

/// As in Linux 6.1, 24 segments after 10 in a round trip are 64 segments, and twice 1.4 times that more, each time
/// whole bytes: 92 672 + 2 × 129 740 = 352 152 bytes. 153/256 of the buffer may be offered: 589 221 bytes of memory
/// hold all but one of these. 7.3 has no cushion of 16 segments: 48, and 2.8 times that more, are 264 115 bytes.
#[test]
fn newer_releases_grow_by_their_own_rules() {
    let allowed = |stack, rtt_ms: u32| {
        let mut w = ReceiveWindow::new(stack, 1448, 1 << 30, None);
        w.established(at(0));
        w.on_echo(1 + rtt_ms, 1);
        w.rtt_x8 = if rtt_ms == 0 { 4000 } else { w.rtt_x8 };
        w.on_read(at(50), 24 * 1448, Waits::default());
        w.allowed
    };
    assert_eq!(allowed(Stack::Linux6_12, 50), 352_151);
    assert_eq!(allowed(Stack::Linux7_3, 50), 264_114);
    assert_eq!(allowed(Stack::Linux7_3, 1), 264_114);
    // Half a millisecond adds a half: 72 segments are 104 256 bytes.
    assert_eq!(allowed(Stack::Linux7_3, 0), 104_255);
}

/// Twice the 10 segments of the first round trip, 28 960 bytes, and what lies between the next byte and the last:
/// 128 960 bytes, which 215 776 bytes of memory hold but for one.
/// Guards against a window that stalls in a long recovery.
#[test]
fn linux_7_3_makes_room_for_what_waits_out_of_order() {
    for (stack, allowed) in [(Stack::Linux6_12, 78_336), (Stack::Linux7_3, 128_959)] {
        let mut w = measured(stack, 1 << 30);
        w.grow_over_hole(0, 1448, 100_000);
        assert_eq!(w.allowed, allowed, "{stack:?}");
    }
    let mut unmeasured = ReceiveWindow::new(Stack::Linux7_3, 1448, 1 << 30, None);
    unmeasured.established(at(0));
    unmeasured.grow_over_hole(0, 1448, 100_000);
    assert_eq!(unmeasured.allowed, 128_959, "also before a round trip is known");
}

proptest! {
    /// Guards the way without a division: a round trip ends when as many whole microseconds are over as it lasts.
    #[test]
    fn a_round_trip_ends_by_whole_microseconds(
        start_ns in 0_u64..1 << 40, rtt_x8 in 0_u64..20_000_000, off in -4000_i64..4000,
    ) {
        let start = Instant::from_nanos(start_ns);
        let now = Instant::from_nanos((start_ns + rtt_x8 * EIGHTH_NS).saturating_add_signed(off).max(start_ns));
        let mut w = measured(Stack::Linux7_3, 3 << 20);
        (w.round_start, w.rtt_x8) = (start, rtt_x8);
        w.on_read(now, 1, Waits::default());
        let ends = rtt_x8 > 0 && now.as_nanos() / 1000 - start_ns / 1000 >= rtt_x8 / 8;
        prop_assert_eq!(w.round_start, if ends { now } else { start });
    }

    /// Guards the note that the window is grown: a window that has it grows as one that forgets it.
    #[test]
    fn a_window_that_is_grown_grows_again_when_there_is_room(
        steps in proptest::collection::vec(
            (0_u8..6, prop_oneof![Just(1448_u16), 100..1448_u16], 1_u64..2_000_000), 1..60,
        ),
    ) {
        let (mut noted, mut plain) = (measured(Stack::Linux7_3, 3 << 20), measured(Stack::Linux7_3, 3 << 20));
        let (mut now, mut taken) = (at(1), 0);
        for (kind, len, more) in steps {
            plain.is_grown = false;
            match kind {
                0 => {
                    (now, taken) = (now + Duration::from_millis(60), taken + more);
                    [&mut noted, &mut plain].into_iter().for_each(|w| w.on_read(now, taken, Waits::default()));
                }
                1 => prop_assert_eq!(noted.grow(Some(more as u32), len), plain.grow(Some(more as u32), len)),
                _ => prop_assert_eq!(noted.grow(None, len), plain.grow(None, len)),
            }
            prop_assert_eq!((noted.offered, noted.allowed), (plain.offered, plain.allowed));
        }
    }
}
