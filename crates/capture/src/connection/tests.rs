//! Connections whose segments are given one by one, with waits worked by hand.

use super::*;
use std::net::SocketAddr;

const MS: i64 = 1_000_000;

/// Returns a connection after its handshake. The capture is 10 ms from the acceptor and 30 ms from the initiator.
fn opened() -> Connection {
    let mut connection = Connection::new(0);
    send(&mut connection, INITIATOR, 0, (100, None, 0));
    send(&mut connection, ACCEPTOR, 10, (500, Some(101), 0));
    send(&mut connection, INITIATOR, 40, (101, Some(501), 0));
    connection
}

/// Lets a segment pass at `ms`: sequence number, acknowledgement and bytes. The first segment of each end is its
/// SYN.
fn send(connection: &mut Connection, end: usize, ms: i64, (seq, ack, payload): (u32, Option<u32>, u32)) {
    let nobody: SocketAddr = ([10, 0, 0, 1], 1).into();
    let syn = connection.first[end].is_none();
    let segment = Seen {
        time_ns: ms * MS,
        from: nobody,
        to: nobody,
        seq,
        ack,
        payload,
        syn,
        fin: false,
        rst: false,
        window: 1000,
        window_scale: syn.then_some(7),
    };
    connection.saw(end, &segment, ms * MS);
}

fn sends(connection: Connection) -> Vec<(bool, u64, u64)> {
    let vector = connection.vector().unwrap();
    vector.sends.iter().map(|send| (send.is_initiators, send.bytes, send.wait_us)).collect()
}

/// The server thinks for 25 ms, the user for 200 ms. Each wait is seen longer by the way there and back.
/// Retransmitted and reordered data must not count again.
#[test]
fn waits_are_without_the_path_and_bytes_count_once() {
    let mut connection = opened();
    send(&mut connection, INITIATOR, 41, (101, Some(501), 300));
    send(&mut connection, ACCEPTOR, 76, (501, Some(401), 1000));
    send(&mut connection, ACCEPTOR, 77, (1501, Some(401), 500));
    send(&mut connection, ACCEPTOR, 90, (501, Some(401), 1000));
    send(&mut connection, INITIATOR, 320, (401, Some(2001), 50));
    let vector = connection.vector().unwrap();
    assert_eq!((vector.is_concurrent, vector.rtt_us, vector.windows), (false, Some(40_000), [128_000; 2]));
    let found: Vec<_> = vector.sends.iter().map(|one| (one.is_initiators, one.bytes, one.wait_us)).collect();
    assert_eq!(found, [(true, 300, 25_000), (false, 1500, 213_000), (true, 50, 0)]);
}

/// Half a second of quiet is a pause of the program. But while an acknowledgement is awaited, it is a pause of
/// TCP.
#[test]
fn an_end_that_was_quiet_begins_anew() {
    let mut connection = opened();
    send(&mut connection, ACCEPTOR, 50, (501, Some(101), 1000));
    send(&mut connection, ACCEPTOR, 700, (1501, Some(101), 1000));
    send(&mut connection, INITIATOR, 740, (101, Some(2501), 0));
    send(&mut connection, ACCEPTOR, 1500, (2501, Some(101), 1000));
    assert_eq!(sends(connection), [(false, 2000, 800_000), (false, 1000, 0)]);
}

/// Both ends have sent data before hearing of the other's. Then the other end's data must not divide a unit, but
/// a pause of a second must.
#[test]
fn ends_that_send_at_once_are_concurrent() {
    let mut connection = opened();
    send(&mut connection, INITIATOR, 50, (101, Some(501), 100));
    send(&mut connection, ACCEPTOR, 52, (501, Some(101), 1000));
    send(&mut connection, INITIATOR, 90, (201, Some(1501), 100));
    send(&mut connection, ACCEPTOR, 95, (1501, Some(301), 1000));
    send(&mut connection, INITIATOR, 130, (301, Some(2501), 0));
    send(&mut connection, INITIATOR, 1090, (301, Some(2501), 70));
    assert!(connection.is_concurrent);
    assert_eq!(sends(connection), [(true, 200, 1_000_000), (false, 2000, 0), (true, 70, 0)]);
}
