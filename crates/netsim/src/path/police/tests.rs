use super::*;
use crate::ids::{FlowId, Number};
use crate::packet::{Body, Datagram};
use goodqueue_hosts::keys::Table;
use goodqueue_units::Ecn;
use serde_json::{Value as Json, json};

fn police(keys: &Json) -> Result<Police, String> {
    let table = Table::new("hop[0]", keys).map_err(|error| error.to_string())?;
    let mut values = Values::default();
    KIND.keys.iter().try_for_each(|key| key.read(&table, &mut values)).map_err(|error| error.to_string())?;
    (KIND.check)(&table, &values).map_err(|error| error.to_string())?;
    Ok(Police::new(&values))
}

fn packet(len: u16) -> Packet {
    let body = Body::Datagram(Datagram { number: 0, len, ecn: Ecn::NotEct, dscp: 0, envelope: None });
    Packet { arrival: Instant::ZERO, flow: FlowId::at(0), hash: 0, body }
}

/// Offers packets at times in us, and returns which are lost.
fn lost(police: &mut Police, packets: &[(u64, u16)]) -> String {
    let mut fate = |&(us, len): &(u64, u16)| {
        let now = Instant::from_nanos(us * 1000);
        let lost = police.accept(now, packet(len)).lost;
        while police.release(now).is_some() {}
        if lost { 'x' } else { '.' }
    };
    packets.iter().map(&mut fate).collect()
}

/// 8 Mbit/s are 1 us per byte. 3000 bytes of burst let two packets of 1500 pass. At 1499 us the third has 1 us too
/// little, and pays nothing; at 1500 us it passes. After a long pause the bucket has no more than the burst.
#[test]
fn tokens_are_the_time_since_the_last_packet_that_conformed() {
    let mut police = police(&json!({"rate": "8mbit", "burst": "3000B"})).unwrap();
    let times = [(0, 1500), (0, 1500), (0, 60), (1499, 1500), (1500, 1500), (1500, 60)];
    assert_eq!(lost(&mut police, &times), "..xx.x");
    assert_eq!(lost(&mut police, &[(99_000, 1500), (99_000, 1500), (99_000, 1)]), "..x");
    let WireCounts { offered, lost, delivered, exceeded, .. } = police.counts();
    assert_eq!((offered, lost, delivered, exceeded), (9, 4, 5, 4));
}

/// 16 Mbit/s of peakrate refill 1500 bytes in 750 us. The burst of 4500 bytes would let three packets pass at once.
#[test]
fn a_peakrate_spreads_the_burst() {
    let keys = json!({"rate": "8mbit", "burst": "4500B", "peakrate": "16mbit", "mtu": "1500B"});
    let mut police = police(&keys).unwrap();
    assert_eq!(lost(&mut police, &[(0, 1500), (0, 1500), (749, 1500), (750, 1500)]), ".xx.");
    assert_eq!(lost(&mut police, &[(90_000, 1501)]), "x", "above mtu");
}

/// 44 bytes and 4 of overhead are one cell, 53 us; 45 and 4 are two. With `mpu` the smallest packet counts 100 bytes.
#[test]
fn packets_count_with_overhead_in_cells() {
    let keys = json!({"rate": "8mbit", "burst": "106B", "overhead": 4, "linklayer": "atm"});
    assert_eq!(lost(&mut police(&keys).unwrap(), &[(0, 44), (0, 45), (0, 44), (0, 1)]), ".x.x");
    let keys = json!({"rate": "8mbit", "burst": "200B", "mpu": 100});
    assert_eq!(lost(&mut police(&keys).unwrap(), &[(0, 60), (0, 60), (0, 60)]), "..x");
}

#[test]
fn what_exceeds_may_pass_and_is_counted() {
    for exceed in ["continue", "pass"] {
        let keys = json!({"rate": "8mbit", "burst": "1500B", "exceed": exceed});
        let mut police = police(&keys).unwrap();
        assert_eq!(lost(&mut police, &[(0, 1500), (0, 1500)]), "..");
        assert_eq!((police.counts().exceeded, police.counts().delivered), (1, 2));
    }
}

#[test]
fn keys_that_contradict_each_other_are_refused() {
    let refused = |keys| police(&keys).err().unwrap();
    assert_eq!(
        refused(json!({"rate": "8mbit", "burst": "1500B", "peakrate": "8mbit", "mtu": "1500B"})),
        "hop[0].peakrate: found 8mbit; accepted: a rate above `rate`, 8mbit"
    );
    assert_eq!(
        refused(json!({"rate": "8mbit", "burst": "1500B", "peakrate": "9mbit"})),
        "hop[0].mtu: missing; accepted: a size such as \"1514B\", which peakrate needs for its bucket"
    );
    assert_eq!(
        refused(json!({"rate": "8mbit"})),
        "hop[0].burst: missing; accepted: a size such as \"15kB\""
    );
    assert_eq!(
        refused(json!({"rate": "8mbit", "burst": "1500B", "exceed": "mark"})),
        "hop[0].exceed: found \"mark\"; accepted: drop, continue, pass"
    );
}
