use super::*;
use proptest::prelude::*;

const RTO: Duration = Duration::from_millis(300);
const WINDOW: u32 = 64_240;
/// How late Linux 6.1's timer of held ACKs may be.
const SLACK: Duration = Duration::from_micros(100);

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Returns the arrival of a full segment in order, after `unacked` others.
fn full(unacked: u32) -> Arrived {
    Arrived {
        unacked: (unacked + 1) * 1448,
        nxt: SeqNumber(1),
        gap: false,
        is_read: true,
        rtt: Duration::from_millis(10),
    }
}

/// Builds a state whose quick ACKs are used up, at 0 ms.
fn settled() -> DelayedAck {
    settled_on(Stack::Linux6_1)
}

fn settled_on(stack: Stack) -> DelayedAck {
    let mut d = DelayedAck::new(stack, None);
    for _ in 0..QUICK_ACKS {
        d.on_data(at(0), 1448, false, || RTO, || WINDOW);
        d.on_taken(at(0), full(0), || None);
        assert!(d.is_due());
        d.on_sent_ack();
    }
    d
}

/// Returns when the ACK of a full segment that arrives at `ms` is due.
fn due(d: &mut DelayedAck, ms: u64) -> Instant {
    d.on_data(at(ms), 1448, false, || RTO, || WINDOW);
    d.on_taken(at(ms), full(0), || None);
    d.deadline()
}

/// A timer of Linux 6.1 fires a tick of 4 ms after its time, which counts from the last tick. 40 ms at first: 2 + 10 +
/// 1 ticks are 52 ms. From tick 2 to tick 10 are 32 ms, and half of 40 ms with them is 52: 10 + 13 + 1 ticks are 96 ms.
/// From tick 10 to tick 18 are 32 ms, and half of 13 ticks, 6 ticks, with them are 14: 18 + 14 + 1 ticks are 132 ms.
#[test]
fn the_delay_follows_the_rhythm_of_the_peer() {
    let mut d = settled();
    for (ms, due_ms) in [(10, 52), (40, 96), (75, 132)] {
        assert_eq!(due(&mut d, ms), at(due_ms));
        d.on_sent_ack();
    }
}

/// A delay without a second segment doubles, up to the RTO. From tick 2 to tick 20 are 72 ms, less than the delay of
/// 80: half of 80 ms and 72 are 28 ticks, and 20 + 28 + 1 ticks are 196 ms.
#[test]
fn an_ack_that_nothing_came_for_waits_longer_the_next_time() {
    let mut d = settled();
    assert_eq!(due(&mut d, 10), at(52));
    d.on_timeout(at(51), RTO);
    assert_eq!((d.is_due(), d.deadline()), (false, at(52)));
    d.on_timeout(at(52), RTO);
    assert!(d.is_due() && d.deadline() == Instant::MAX);
    d.on_sent_ack();
    assert_eq!(due(&mut d, 80), at(196));
}

/// A second small segment does not lengthen the wait, and ends a wait that is nearly over.
#[test]
fn the_first_segment_decides_when_the_wait_ends() {
    let mut d = settled();
    let tiny = |unacked: u32| Arrived { unacked: 100 * unacked, ..full(0) };
    d.on_data(at(10), 1448, false, || RTO, || WINDOW);
    d.on_taken(at(10), tiny(1), || None);
    d.on_data(at(20), 1448, false, || RTO, || WINDOW);
    d.on_taken(at(20), tiny(2), || None);
    assert_eq!((d.is_due(), d.deadline()), (false, at(52)));
    d.on_data(at(41), 1448, false, || RTO, || WINDOW);
    d.on_taken(at(41), tiny(3), || None);
    assert!(d.is_due(), "a quarter of 40 ms after tick 10 is over at tick 13, as the wait is");
}

#[test]
fn a_short_segment_is_acknowledged_at_once_when_it_was_read() {
    let mut d = settled();
    let short = Arrived { unacked: 100, ..full(0) };
    d.on_data(at(10), 100, false, || RTO, || WINDOW);
    d.on_taken(at(10), Arrived { is_read: false, ..short }, || None);
    assert!(!d.is_due());
    d.on_sent_ack();
    d.on_data(at(11), 90, false, || RTO, || WINDOW);
    d.on_taken(at(11), short, || None);
    assert!(d.is_due());
}

/// It would be wrong to acknowledge a question at once after one answer within an `ato`: Linux waits for the next
/// answer.
#[test]
fn in_a_ping_pong_the_answer_carries_the_ack() {
    let mut d = DelayedAck::new(Stack::Linux6_1, None);
    for n in 0..=1 {
        d.on_data(at(n), 100 - n as u16, false, || RTO, || WINDOW);
        d.on_taken(at(n), Arrived { unacked: 100, ..full(0) }, || None);
        assert_eq!(d.is_due(), n < 1, "question {n}");
        d.on_sent_data(at(n));
        d.on_sent_ack();
    }
    d.on_taken(at(10), Arrived { unacked: 100, ..full(0) }, || None);
    d.on_timeout(at(52), RTO);
    assert!(d.is_due() && !d.in_ping_pong, "the application did not answer");
}

/// It would be wrong to hold the third duplicate back: the sender would see its loss late.
#[test]
fn the_first_three_acks_of_a_gap_go_out_and_the_others_are_compressed() {
    let mut d = settled();
    let beyond = Arrived { unacked: 0, gap: true, rtt: Duration::from_millis(100), ..full(0) };
    for _ in 0..3 {
        d.on_taken(at(10), beyond, || None);
        assert!(d.is_due());
        d.on_sent_ack();
    }
    d.on_taken(at(10), beyond, || None);
    d.on_taken(at(10), beyond, || None);
    assert_eq!((d.is_due(), d.deadline()), (false, at(11) + SLACK), "1 ms is less than a twentieth");
    d.on_timeout(at(11) + SLACK, RTO);
    assert!(d.is_due());
    d.on_sent_ack();
    for held in 0..=HELD {
        d.on_taken(at(12), beyond, || Some(Duration::from_millis(10)));
        assert_eq!(d.is_due(), held == HELD, "{held}");
    }
    assert_eq!(d.held_until, at(12) + Duration::from_micros(600), "a twentieth of 10 ms");
    d.on_sent_ack();
    d.on_taken(at(13), Arrived { nxt: SeqNumber(2), ..beyond }, || None);
    assert!(d.is_due(), "a partial filling begins anew");
    let mut old = DelayedAck::new(Stack::Linux3_10, None);
    for _ in 0..9 {
        old.on_taken(at(10), beyond, || None);
        assert!(old.is_due(), "Linux 3.10 compresses nothing");
        old.on_sent_ack();
    }
}

#[test]
fn quick_acks_are_as_many_as_half_the_window_has_segments() {
    let mut d = DelayedAck::new(Stack::Linux6_1, None);
    d.on_data(at(0), 536, false, || RTO, || 8 * 536);
    assert_eq!(d.quick, 4);
    d.on_trouble(2, WINDOW);
    assert_eq!(d.quick, 4, "never fewer than there were");
}

/// Nichols and Jacobson 2012, figure 4: a receiver acknowledges once per window. Guards against an earlier ACK, or
/// none.
#[test]
fn a_receiver_may_acknowledge_each_segment_or_so_many_together() {
    let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
    for (every, first) in [(1, 1), (2, 2), (20, 20)] {
        let mut d = DelayedAck::new(Stack::Linux6_1, Some(every));
        let answered = (1..=40).find(|&count: &u32| {
            let now = ms(u64::from(count));
            d.on_data(now, 1448, false, || Duration::from_secs(1), || 65_536);
            let arrived = Arrived {
                unacked: count * 1448,
                nxt: SeqNumber(count * 1448),
                gap: false,
                is_read: true,
                rtt: Duration::ZERO,
            };
            d.on_taken(now, arrived, || None);
            d.now
        });
        assert_eq!(answered, Some(first));
        assert_eq!(d.deadline, ms(501), "what is fewer is acknowledged half a second after the first");
    }
}

/// Guards against half a second of silence behind a short segment, which is no full one.
#[test]
fn a_receiver_of_each_segment_acknowledges_short_ones_at_once() {
    let mut d = DelayedAck::new(Stack::Linux6_1, Some(1));
    d.on_data(at(1), 1448, false, || RTO, || WINDOW);
    let nxt = SeqNumber(752);
    d.on_taken(at(1), Arrived { unacked: 752, nxt, gap: false, is_read: true, rtt: Duration::ZERO }, || None);
    assert!(d.now);
}

/// Linux: the delay is at most 200 ms in a ping-pong or after a push, and 500 ms otherwise. 2 + 50 + 1 ticks are 212
/// ms. 2 + 125 ticks are more than 63, and end with the next eighth: at 128 ticks, 512 ms. Guards against an ACK after
/// the peer's RTO, or before an answer that could carry it.
#[test]
fn a_delay_is_at_most_200_ms_where_the_peer_waits() {
    for (pushed, in_ping_pong, due_ms) in [(0, false, 512), (1, false, 212), (0, true, 212)] {
        let mut d = DelayedAck { pushed, in_ping_pong, ..settled() };
        d.ato = Duration::from_secs(1);
        let segment = Arrived { is_read: pushed == 0, ..full(0) }; // unread data is not acknowledged at once
        d.on_taken(at(10), segment, || None);
        assert_eq!((d.is_due(), d.deadline()), (false, at(due_ms)), "{pushed} {in_ping_pong}");
    }
}

/// Linux's `tcp_measure_rcv_mss`: two segments of equal length are full ones if they are longer than 76 bytes and not
/// pushed. Guards against a window of quick ACKs, and ACKs of every second segment, counted in messages.
#[test]
fn two_short_segments_alike_are_messages_where_they_are_pushed() {
    for (len, push, mss) in [(100, true, 1448), (75, false, 1448), (100, false, 100), (600, true, 600)] {
        let mut d = settled();
        (0..2).for_each(|_| d.on_data(at(1), len, push, || RTO, || WINDOW));
        assert_eq!(d.mss, mss, "{len} {push}");
    }
    let mut d = settled();
    [1000, 1448, 1000].into_iter().for_each(|len| d.on_data(at(1), len, true, || RTO, || WINDOW));
    assert_eq!(d.mss, 1448, "the two must come in a row");
}

/// Linux: data that leaves within the ATO after data arrived is an answer. Data that leaves exactly at the ATO is none.
#[test]
fn what_leaves_within_the_ato_is_an_answer() {
    for (after, is_answer) in [(0, true), (39, true), (40, false)] {
        let mut d = settled();
        (d.last_data, d.ato) = (at(100), Duration::from_millis(40));
        d.on_sent_data(at(100 + after));
        assert_eq!(d.in_ping_pong, is_answer, "after {after} ms");
    }
}

/// Linux holds ACKs back for a twentieth of an RTT up to 6.18, and for a third since, but never for more than 1 ms.
#[test]
fn a_release_has_its_share_of_a_round_trip() {
    for (stack, rtt_ms, held_us) in [
        (Stack::Linux6_1, 4, 300),
        (Stack::Linux6_12, 4, 300),
        (Stack::Linux7_3, 4, 1010),
        (Stack::Linux7_3, 1, 340),
    ] {
        let mut d = settled_on(stack);
        let beyond = Arrived { unacked: 0, gap: true, rtt: Duration::from_millis(rtt_ms), ..full(0) };
        for _ in 0..4 {
            d.on_sent_ack();
            d.on_taken(at(10), beyond, || None);
        }
        assert_eq!(d.deadline(), at(10) + Duration::from_micros(held_us), "{stack:?}, {rtt_ms} ms");
    }
}

/// Since 6.8 a delay stays below 200 ms: 2 + 49 + 1 ticks are 208 ms. Before it grew up to half a second: 320 ms are 80
/// ticks, which end with an eighth tick, and the next one after 2 + 80 ticks is the 88th, at 352 ms.
#[test]
fn a_release_has_its_longest_delay() {
    for (stack, due_ms) in [(Stack::Linux6_1, 352), (Stack::Linux6_12, 208), (Stack::Linux7_3, 208)] {
        let mut d = settled_on(stack);
        d.ato = Duration::from_millis(320);
        d.on_taken(at(10), full(0), || None);
        assert_eq!(d.deadline(), at(due_ms), "{stack:?}");
    }
}

proptest! {
    /// Guards the ways without ticks: a delayed ACK is due when the ticks say so, and the rhythm is the one that they
    /// give (`tcp_send_delayed_ack`, `tcp_event_data_recv`).
    #[test]
    fn what_is_known_without_ticks_is_what_ticks_say(
        now_us in 100_000_u64..600_000, ato_ms in 40_u64..45, since_us in 0_u64..60_000,
        due_us in proptest::option::of(-20_000_i64..80_000), exact in any::<bool>(),
    ) {
        let stack = if exact { Stack::Rfc } else { Stack::Linux7_3 };
        let now = Instant::from_nanos(now_us * 1000);
        let last = Instant::from_nanos((now_us - since_us) * 1000);
        let ato = Duration::from_millis(ato_ms);
        let settled = DelayedAck { ato, last_data: last, mss: 1448, ..DelayedAck::new(stack, None) };
        let tick = settled.tick();
        let due = |us| Instant::from_nanos(now_us.saturating_add_signed(us) * 1000);
        let deadline = due_us.map_or(Instant::MAX, |us| wheel::floor(tick, due(us))); // every timer is due with a tick
        let settled = DelayedAck { deadline, ..settled };

        let mut delayed = settled.clone();
        let is_due = deadline != Instant::MAX && deadline <= wheel::after(tick, now, ato / 4);
        let wanted = if is_due { deadline } else { deadline.min(wheel::fires_at(tick, now, ato)) };
        prop_assert_eq!(delayed.delay(now, || None), is_due);
        prop_assert_eq!((delayed.now, delayed.deadline), (is_due, wanted));

        let mut heard = settled.clone();
        heard.on_data(now, 1448, false, || RTO, || WINDOW);
        let (gap, half) = (settled.since_data(now), settled.half_ato());
        let rhythm = if gap <= HALF_MIN { half + HALF_MIN } else if gap < ato { (half + gap).min(RTO) } else { ato };
        prop_assert_eq!((heard.ato, heard.last_data), (rhythm, now));
    }
}
