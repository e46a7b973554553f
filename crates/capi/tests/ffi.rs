//! Calls the C functions from Rust with pointers, as C does, so that Miri can check them: `make miri`.

use goodqueue_capi::{
    CPacket, CSender, CallBacks, ProbeTo, goodqueue_backlog, goodqueue_change, goodqueue_dequeue,
    goodqueue_drop_name, goodqueue_enqueue, goodqueue_enqueue_ip, goodqueue_enqueue_sent, goodqueue_free,
    goodqueue_mark_name, goodqueue_new, goodqueue_next_timer, goodqueue_on_timer, goodqueue_probe,
    goodqueue_set_link_rate,
};
use goodqueue_qdisc::{Drop, Mark};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

#[derive(Default)]
struct Seen {
    dropped: Vec<(u64, c_int)>,
    marked: u64,
    draws: u64,
    names: Vec<String>,
}

// SAFETY of the four callbacks below: each is called with the `Seen` that the test made. The test keeps it until the
// discipline is freed, and does not touch it during a call. Packet and name live until the call returns, which the
// library promises.
unsafe extern "C" fn dropped(context: *mut c_void, packet: *const CPacket, why: c_int) {
    // SAFETY: see above.
    unsafe { (*context.cast::<Seen>()).dropped.push(((*packet).id, why)) }
}
unsafe extern "C" fn marked(context: *mut c_void, packet: *const CPacket, _why: c_int) {
    // SAFETY: see above.
    unsafe { (*context.cast::<Seen>()).marked += u64::from((*packet).ecn == 3) }
}
unsafe extern "C" fn random(context: *mut c_void) -> u64 {
    // SAFETY: see above.
    unsafe {
        (*context.cast::<Seen>()).draws += 1;
        (*context.cast::<Seen>()).draws.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
unsafe extern "C" fn integer(context: *mut c_void, name: *const c_char, _value: i64) {
    // SAFETY: see above.
    unsafe { (*context.cast::<Seen>()).names.push(CStr::from_ptr(name).to_str().expect("ASCII").to_string()) }
}

fn owner(seen: *mut Seen) -> CallBacks {
    CallBacks { context: seen.cast(), dropped: Some(dropped), marked: Some(marked), random: Some(random) }
}

#[test]
fn packets_come_back_once_from_each_discipline() {
    for spec in goodqueue_qdisc::registry::ALL {
        let line = CString::new(spec.name).expect("no zero byte");
        let seen = Box::into_raw(Box::<Seen>::default());
        let (mut taken, mut packet) = (0, CPacket::default());
        let (mut packets, mut bytes) = (0, 0);
        // SAFETY: all pointers point to live values of the expected types, or are NULL where that is allowed. `seen`
        // is freed after the discipline, and this is the only thread.
        unsafe {
            let qdisc = goodqueue_new(line.as_ptr(), 10_000_000, 1514, owner(seen), null_mut(), 0);
            assert!(!qdisc.is_null(), "{}", spec.name);
            for id in 0..60_u64 {
                let now = id * 20_000_000;
                let ecn = (id % 4) as u8;
                let offered = CPacket { id, len: 1514, flow_hash: id as u32 % 3, ecn, ..CPacket::default() };
                goodqueue_enqueue(qdisc, now, &raw const offered);
                if id % 2 == 1 {
                    taken += goodqueue_dequeue(qdisc, now, &raw mut packet); // half of what arrives
                }
                if goodqueue_next_timer(qdisc) <= now {
                    goodqueue_on_timer(qdisc, now);
                }
                if id == 30 {
                    assert_eq!(
                        goodqueue_change(qdisc, now, line.as_ptr(), null_mut(), 0),
                        1,
                        "{}",
                        spec.name
                    );
                    assert_eq!(goodqueue_set_link_rate(qdisc, now, 1_000_000, null_mut(), 0), 1);
                }
            }
            goodqueue_probe(qdisc, ProbeTo { context: seen.cast(), integer: Some(integer), real: None });
            goodqueue_backlog(qdisc, &raw mut packets, &raw mut bytes);
            goodqueue_backlog(qdisc, null_mut(), null_mut());
            goodqueue_free(qdisc);
            let seen = Box::from_raw(seen);
            assert_eq!(taken as u32 + packets + seen.dropped.len() as u32, 60, "{}", spec.name);
            assert_eq!(bytes, u64::from(packets) * 1514);
        }
    }
}

#[test]
fn a_refusal_is_cut_to_the_caller_s_buffer() {
    let whole = goodqueue_qdisc::registry::parse_line("codel target 5parsec").expect_err("no such unit").0;
    for size in [0_usize, 1, 10, 4096] {
        let mut buffer = vec![0x7f_u8; size];
        // SAFETY: the buffer has `size` bytes. The line ends with a zero byte. No callback is set.
        unsafe {
            let nobody = CallBacks { context: null_mut(), dropped: None, marked: None, random: None };
            let error = buffer.as_mut_ptr().cast();
            let line = c"codel target 5parsec".as_ptr();
            assert!(goodqueue_new(line, 10_000_000, 1514, nobody, error, size).is_null());
            assert!(goodqueue_new(line, 10_000_000, 1514, nobody, null_mut(), 0).is_null());
            goodqueue_free(null_mut());
        }
        if size > 0 {
            let told = CStr::from_bytes_until_nul(&buffer)
                .expect("it ends with a zero byte")
                .to_str()
                .expect("UTF-8");
            assert_eq!(told, &whole[..whole.len().min(size - 1)]);
        }
    }
}

/// C must not go on with parameters other than those that it assumes.
#[test]
fn a_change_is_made_or_refused_with_the_reason() {
    let seen = Box::into_raw(Box::<Seen>::default());
    let mut buffer = [0_u8; 200];
    let error: *mut c_char = buffer.as_mut_ptr().cast();
    let mut packets = 0;
    // SAFETY: as above. The buffer has 200 bytes.
    unsafe {
        let qdisc = goodqueue_new(
            c"tbf peakrate 20mbit limit 90000".as_ptr(),
            10_000_000,
            1514,
            owner(seen),
            null_mut(),
            0,
        );
        for id in 0..10 {
            let packet = CPacket { id, len: 1514, ..CPacket::default() };
            goodqueue_enqueue(qdisc, 0, &raw const packet);
        }
        for (line, rate, says) in [
            (c"pie target 5ms", 1, "found \"pie\"; accepted: tbf, which cannot become another qdisc"),
            (c"\xff", 1, "found \"\\xff\"; accepted: a tc line in UTF-8"),
            (c"", 0, "rate_bps: found 0; accepted: 1 or more bits per second"),
            (c"", 30_000_000, "tbf: peakrate must be greater than rate"),
        ] {
            let told = if line.is_empty() {
                goodqueue_set_link_rate(qdisc, 0, rate, error, 200)
            } else {
                goodqueue_change(qdisc, 0, line.as_ptr(), error, 200)
            };
            assert_eq!((told, CStr::from_ptr(error).to_str()), (0, Ok(says)));
        }
        assert_eq!(goodqueue_change(qdisc, 0, c"tbf limit 5000".as_ptr(), error, 200), 1);
        goodqueue_backlog(qdisc, &raw mut packets, null_mut());
        goodqueue_free(qdisc);
        let dropped: Vec<u64> = Box::from_raw(seen).dropped.iter().map(|(id, _)| *id).collect();
        // A fifo keeps the packets above a smaller limit, as in Linux.
        assert_eq!((packets, dropped), (10, Vec::new()));
    }
}

/// Guards against a read beyond the given bytes, which Miri detects. Also guards against dropping
/// an ACK whose header C passed only in part.
#[test]
fn a_header_is_read_as_far_as_there_are_bytes() {
    let mut header = [0_u8; 40]; // an IPv4 packet of 40 bytes: TCP without options
    (header[0], header[3], header[9], header[32], header[33]) = (0x45, 40, 6, 0x50, 0x10);
    let step = if cfg!(miri) { 8 } else { 1 }; // Miri builds a cake in seconds
    for size in (0..=header.len()).step_by(step) {
        let seen = Box::into_raw(Box::<Seen>::default());
        // SAFETY: as above. `bytes` has `size` bytes until the call returns.
        unsafe {
            let line = c"cake bandwidth 1mbit ack-filter".as_ptr();
            let qdisc = goodqueue_new(line, 1_000_000, 1514, owner(seen), null_mut(), 0);
            for id in 0..10 {
                header[31] = id; // the acknowledgement number
                let bytes: Box<[u8]> = header[..size].into();
                let packet = CPacket { id: id.into(), len: 54, ..CPacket::default() };
                goodqueue_enqueue_ip(qdisc, 0, &raw const packet, bytes.as_ptr().cast(), size);
            }
            goodqueue_enqueue_ip(qdisc, 0, &CPacket { len: 54, ..CPacket::default() }, null(), 0);
            goodqueue_free(qdisc);
            let dropped = Box::from_raw(seen).dropped;
            let expected = if size == header.len() { (0..8).collect() } else { vec![] };
            assert_eq!(
                dropped,
                expected.iter().map(|id| (*id, Drop::Ack as c_int)).collect::<Vec<_>>(),
                "{size}"
            );
        }
    }
}

#[test]
fn what_cannot_be_is_refused_in_a_line() {
    for (line, rate, mtu, says) in [
        (c"codel", 0, 1514, "rate_bps: found 0; accepted: 1 or more bits per second"),
        (c"codel", 1, 0, "mtu: found 0; accepted: 1 or more bytes"),
        (c"\xff", 1, 1514, "found \"\\xff\"; accepted: a tc line in UTF-8"),
    ] {
        let mut buffer = [0_u8; 200];
        // SAFETY: as above.
        unsafe {
            let nobody = CallBacks { context: null_mut(), dropped: None, marked: None, random: None };
            assert!(
                goodqueue_new(line.as_ptr(), rate, mtu, nobody, buffer.as_mut_ptr().cast(), 200).is_null()
            );
        }
        assert_eq!(CStr::from_bytes_until_nul(&buffer).expect("it ends").to_str(), Ok(says));
    }
}

#[test]
fn the_words_for_reasons_are_those_of_results() {
    // SAFETY: the names are static strings that end with a zero byte.
    let text = |name: *const c_char| unsafe { CStr::from_ptr(name) }.to_str().expect("ASCII");
    for why in Drop::ALL {
        assert_eq!(text(goodqueue_drop_name(why as c_int)), why.name());
    }
    for why in Mark::ALL {
        assert_eq!(text(goodqueue_mark_name(why as c_int)), why.name());
    }
    assert_eq!((text(goodqueue_drop_name(-1)), text(goodqueue_mark_name(99))), ("?", "?"));
    assert_ne!(goodqueue_drop_name(0), null());
}

/// A packet of a socket waits for its departure time, and another one of the same socket for the socket's rate.
#[test]
fn a_sent_packet_has_a_time_and_a_socket() {
    let seen = Box::into_raw(Box::<Seen>::default());
    let mut packet = CPacket { len: 1000, ..CPacket::default() };
    let timed = CSender { socket: 1, departure_ns: 5_000_000, is_tcp: 1, ..CSender::default() };
    // 400 kbit/s is 50,000 bytes per second, so that 1000 bytes take 20 ms.
    let paced = CSender { socket: 2, pacing_bps: 400_000, ..CSender::default() };
    // SAFETY: all pointers point to live values of the expected types, or are NULL where that is allowed. `seen` is
    // freed after the discipline, and this is the only thread.
    unsafe {
        let qdisc =
            goodqueue_new(c"fq timer_slack 0us".as_ptr(), 10_000_000, 1514, owner(seen), null_mut(), 0);
        for sender in [timed, paced, paced] {
            assert_eq!(goodqueue_enqueue_sent(qdisc, 1, &raw const packet, sender), 0);
        }
        for (now, given, next) in [(1, 1, u64::MAX), (1, 0, 5_000_000), (5_000_000, 1, 5_000_000)] {
            assert_eq!(goodqueue_dequeue(qdisc, now, &raw mut packet), given);
            assert_eq!(goodqueue_next_timer(qdisc), next);
        }
        goodqueue_on_timer(qdisc, 5_000_000);
        assert_eq!(goodqueue_dequeue(qdisc, 5_000_000, &raw mut packet), 0);
        assert_eq!(goodqueue_next_timer(qdisc), 20_000_001);
        goodqueue_free(qdisc);
        drop(Box::from_raw(seen));
    }
}
