//! ACKs by hand, as in the sender's tests: segments of 1000 bytes, RTT 100 ms.

use super::*;
use crate::ecn::EcnMode;
use crate::sender::tests::{MSS, WIDE, at, config, plain, sacked, sender, transmit};
use crate::{Config, Segment, SmallQueues};
use goodqueue_units::Duration;
use std::{vec, vec::Vec};

/// Returns the numbers of the segments that carry PSH, of those that may be sent now.
fn pushed(s: &mut Sender, ms: u64) -> Vec<u32> {
    core::iter::from_fn(|| s.poll_transmit(at(ms)))
        .filter(|(_, flags, _)| flags.contains(Flags::PSH))
        .map(|(chunk, _, _)| (chunk.seq.0 - 1) / MSS)
        .collect()
}

/// An interface with `gso_max_segs 1` gets single segments, which say no PSH. Guards against pairs there.
#[test]
fn a_host_without_offload_sends_single_segments() {
    for (offload, expected) in [(true, &[1, 3, 5, 7, 9][..]), (false, &[])] {
        let mut s = sender(&config(10), 1000);
        s.limit_queue(SmallQueues { pacing_shift: 0, offload });
        assert_eq!(pushed(&mut s, 0), expected, "offload {offload}");
    }
}

/// Guards against a packet that goes on with the next ACK: what leaves then is another one.
#[test]
fn segments_leave_in_pairs_and_the_second_says_push() {
    let mut s = sender(&config(10), 1000);
    assert_eq!(pushed(&mut s, 0), [1, 3, 5, 7, 9]);
    s.window.ssthresh = 10;
    plain(&mut s, 100, 1);
    assert_eq!(pushed(&mut s, 100), [], "one alone");
    plain(&mut s, 101, 4);
    assert_eq!(pushed(&mut s, 101), [12], "two, and the third waits");
}

/// Guards against a third segment alone behind a pair though the next ACK is due: its own ACK would be of one segment
/// too. The window counts as used while the segment waits, or it would not grow.
#[test]
fn the_third_segment_waits_for_the_next_ack() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    s.window.ssthresh = 10;
    s.window.cwnd = 11;
    plain(&mut s, 100, 2);
    assert_eq!(transmit(&mut s, 100).0, [10, 11]);
    assert_eq!(s.board.in_flight() + 1, s.window.cwnd);
    assert!(s.usage.is_cwnd_limited(&s.window));
    plain(&mut s, 103, 3);
    assert_eq!(transmit(&mut s, 103).0, [12, 13]);
    s.window.cwnd += 1;
    assert_eq!(transmit(&mut s, 105).0, [14], "behind a pause it does not wait");
}

#[test]
fn the_receive_window_is_honoured() {
    let mut s = Sender::new(&config(10), SeqNumber(1));
    s.open(at(0), None, 0, &Segment { window: 3500, ..WIDE }, EcnMode::Off);
    s.write(1 << 20);
    assert_eq!(transmit(&mut s, 0).0, [0, 1, 2]);
}

#[test]
fn fin_goes_with_the_last_byte_or_alone() {
    let mut s = sender(&config(10), 1);
    s.close();
    s.write(5000); // after the end: ignored
    let (chunk, ..) = s.poll_transmit(at(0)).expect("data");
    assert!(chunk.ends.contains(Flags::FIN) && chunk.len == 1000 && s.poll_transmit(at(0)).is_none());
    let all = Segment { ack: SeqNumber(1002), ..WIDE };
    s.on_ack::<true>(at(100), &all, false);
    assert!(s.is_finished() && s.acked_bytes() == 1000);

    let mut s = sender(&config(10), 1);
    transmit(&mut s, 0);
    s.close();
    let (chunk, _, ect) = s.poll_transmit(at(1)).expect("FIN");
    assert_eq!((chunk.ends, chunk.len, ect), (Flags::FIN, 0, false));
}

/// Two SACKs, the second of which lets nothing out, then an ACK of 3: a window of 11 with 8 out has room for a pair and
/// one. It would be wrong that the one leaves because somebody asked again, as timers do that had moved on.
#[test]
fn a_segment_that_waits_for_company_waits_for_an_ack_and_not_for_the_next_question() {
    let mut s = sender(&config(10), 1000);
    transmit(&mut s, 0);
    sacked(&mut s, 100, 0, &[(1, 2)]);
    assert_eq!(transmit(&mut s, 100).0, [10]);
    sacked(&mut s, 101, 0, &[(1, 3)]);
    assert_eq!(transmit(&mut s, 101).0, []);
    plain(&mut s, 101, 3);
    assert_eq!((transmit(&mut s, 101).0, s.window.cwnd), (vec![11, 12], 11));
    assert_eq!(transmit(&mut s, 105).0, []);
    plain(&mut s, 106, 4);
    assert_eq!(transmit(&mut s, 106).0, [13, 14]);
}

/// RFC 3168, 6.1.2 and 6.1.5: CWR goes on the first new data segment, and what has no data is not ECN-capable. Guards
/// against a FIN that takes CWR away, or may be marked: within the window, or beyond it.
#[test]
fn a_fin_alone_says_no_cwr_and_is_not_ecn_capable() {
    for (segments, beyond) in [(0, false), (2, true)] {
        let mut s = sender(&config(2), segments);
        assert_eq!(transmit(&mut s, 0).0.len() as u64, segments);
        s.recovery.cwr_due = true;
        s.close();
        assert_eq!(s.board.in_flight() >= s.window.cwnd, beyond);
        let (chunk, flags, is_ect) = s.poll_transmit(at(0)).unwrap();
        assert_eq!(
            (chunk.len, chunk.ends, flags.contains(Flags::CWR), is_ect),
            (0, Flags::FIN, false, false)
        );
        assert!(s.recovery.cwr_due);
    }
}

/// A sender with nothing to send and nothing out is not asked again; one that has closed has FIN to send, and one that
/// owes a probe the probe. Guards against a connection that never ends.
#[test]
fn dormant_is_who_has_nothing_to_send() {
    let dormant = [(End::Open, Due::Nothing), (End::FinSent, Due::Nothing), (End::Open, Due::WindowProbe)]
        .map(|(end, due)| {
            let mut s = sender(&config(10), 0);
            (s.end, s.timer.due) = (end, due);
            assert_eq!(s.send_new(at(0)), None);
            s.is_dormant
        });
    assert_eq!(dormant, [true, true, false]);
}

/// Guards against a tail loss probe that is FIN alone, and may be marked (RFC 3168, 6.1.5).
#[test]
fn a_probe_without_data_is_not_ecn_capable() {
    let mut s = sender(&config(2), 2);
    transmit(&mut s, 0);
    s.close();
    s.timer.due = Due::TailProbe;
    let (chunk, _, is_ect) = s.poll_transmit(at(300)).unwrap();
    assert_eq!((chunk.len, chunk.ends, is_ect, s.stats.tlp_probes), (0, Flags::FIN, false, 1));
}

/// Packets have 19 segments: the pace is 20 Mbyte/s, for 1/1024 s. Without a limit they are split, so most segments are
/// not asked for one by one. The last packet ends with a part of a segment, which fills the room (Linux
/// `tcp_mss_split_point`), but no packet begins with one. Guards against a packet that goes on beyond the room of the
/// peer.
#[test]
fn a_packet_ends_where_the_room_of_the_peer_does() {
    let send = |room| {
        let mut s = sender(&config(1000), 100);
        s.peer_window = room;
        let (mut asked, mut sent) = (0, 0);
        while s.poll_transmit(at(0)).is_some() {
            (asked, sent) = (asked + 1, sent + 1);
            while s.split(at(0)).is_some() {
                sent += 1;
            }
        }
        (asked < sent / 2, sent)
    };
    assert_eq!(send(200_000), (true, 100));
    for segments in 3..40 {
        assert_eq!(send(segments * MSS + 500).1, segments + u32::from(segments % 19 > 0), "{segments}");
    }
}

/// Linux `tcp_xmit_retransmit_queue`: half a window does not limit what is sent again, and pacing counts a packet as a
/// whole. Guards against two packets of one segment, and with pacing against a wait between them.
#[test]
fn two_segments_that_are_sent_again_leave_together() {
    for pacing in [false, true] {
        let mut s = sender(&Config { pacing, ..config(10) }, 1000);
        transmit(&mut s, 0);
        s.board.lose_all(at(300), false);
        s.window.cwnd = 2;
        let sent = core::iter::from_fn(|| s.poll_transmit(at(400)));
        let pushed: Vec<bool> = sent.map(|(chunk, ..)| chunk.ends.contains(Flags::PSH)).collect();
        assert_eq!(pushed, [false, true], "pacing {pacing}");
        if let Some(rate) = s.pacing_rate().filter(|_| pacing) {
            // The packet is late, so half of the time of both segments is made good, and not that of the first alone.
            let time = rate.transmission_time(2 * MSS);
            assert_eq!(s.release(), at(400) + (time - time / 2));
        }
    }
}

/// Two windows of 20 segments per 100 ms are 400 kB/s. The ninth and the tenth segment are 5 ms: one tick of 4 ms.
#[test]
fn timers_count_from_when_pacing_lets_the_next_packet_leave() {
    let mut s = sender(&Config { pacing: true, ..config(20) }, 1000);
    transmit(&mut s, 0);
    assert_eq!(s.pacing_delay(at(0)), Duration::from_millis(4));
    assert_eq!(s.pacing_delay(at(2)), Duration::ZERO);
}

/// Linux `tcp_check_space`: the buffer grows whenever the window has room, not only once the application may write.
#[test]
fn the_buffer_grows_while_too_much_waits_unsent() {
    let mut s = sender(&config(10), 0);
    s.write_unlimited();
    transmit(&mut s, 0);
    (s.window.cwnd, s.held_back, s.offload.wake_unsent) = (1000, true, 0);
    assert!(s.poll_transmit(at(1)).is_none());
    assert!(!s.queue.expand(1000), "it has grown before");
}

/// The pacing rate follows from Linux's `mss_cache`, which has no room for AccECN's option.
#[test]
fn accecn_does_not_slow_the_pace() {
    let mut s = sender(&config(10), 1000);
    let rate = s.pacing_rate();
    s.use_bytes(crate::OptionUse::default());
    assert_eq!((s.pacing_rate(), u32::from(s.mss)), (rate, MSS - 12));
}
