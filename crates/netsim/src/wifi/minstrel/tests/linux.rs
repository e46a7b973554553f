//! Compares decisions with Linux's own. The reference is `rc80211_minstrel.c` of Linux 4.2, with three of its
//! formulas taken back to those of 3.10: the first average of a probability begins at zero, averages are rounded
//! once, and throughput has no limit at 90 %.

use super::*;
use crate::wifi::rate_control::RateControl;
use crate::wifi::rate_control::traffic::Traffic;

/// Returns the load of `mode`, by which this traffic's losses grow: its rate in units of 100 kbit/s.
fn load(mode: Mode) -> i64 {
    (mode.mbps() * 10.0).round() as i64
}

fn values(chain: &Chain) -> Vec<u64> {
    let stages = chain.stages().iter().flat_map(|stage| [load(stage.mode) as u64, u64::from(stage.tries)]);
    [u64::from(chain.is_probe), u64::from(chain.is_deferred)].into_iter().chain(stages).collect()
}

fn digests(standard: Standard, band: Band, is_hard: bool) -> Vec<u64> {
    let traffic = Traffic::new(is_hard, 1, 700, load);
    let mut minstrel = minstrel(standard, band);
    minstrel.last_reckoning = traffic.now();
    // The same sample order as in the reference.
    let count = minstrel.rates.len();
    let place = |column: usize, row: usize| (row * [1, count - 1][column % 2] + column) % count;
    let column = |column| (0..count).map(|row| place(column, row) as u8).collect();
    minstrel.order = (0..10).map(column).collect();
    traffic.digests(RateControl::Minstrel(Box::new(minstrel)), values)
}

#[test]
fn each_decision_is_linuxs() {
    for (standard, band, is_hard, linux) in [
        (
            Standard::A,
            Band::High,
            false,
            [0x4518_8cb6_2345_19a2, 0x7a0a_36a9_910c_f382, 0x180f_736a_a83c_8497],
        ),
        (
            Standard::A,
            Band::High,
            true,
            [0xab3b_a08a_ce06_cde9, 0x14ae_e4e7_a984_2a58, 0xa2e9_1bbc_daf4_c3c7],
        ),
        (
            Standard::B,
            Band::Low,
            false,
            [0xcb3d_b8b1_9db9_39c1, 0x60b3_0869_d834_ef02, 0x55b1_4174_37d5_655c],
        ),
        (Standard::B, Band::Low, true, [0xb09c_3c7f_7709_38d7, 0x3d70_2d33_0524_39f2, 0xbfa9_2933_17f5_3af6]),
        (
            Standard::G,
            Band::Low,
            false,
            [0x360b_6275_62b5_4833, 0xfc3e_e40c_3c55_0004, 0x0543_25c0_f208_8ad2],
        ),
        (Standard::G, Band::Low, true, [0x0770_cbfc_b3b0_42ba, 0x8bd6_3e64_2bc5_ce56, 0x74ee_bcee_41cc_6ee0]),
    ] {
        assert_eq!(digests(standard, band, is_hard), linux, "{standard:?}, hard: {is_hard}");
    }
}
