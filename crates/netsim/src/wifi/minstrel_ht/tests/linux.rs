//! Compares decisions with Linux's own. The reference is `rc80211_minstrel_ht.c` of Linux 6.1.192.

use super::*;
use crate::wifi::mode::Ht;
use crate::wifi::rate_control::RateControl;
use crate::wifi::rate_control::traffic::Traffic;

/// Returns the MCS, whether the channel is wide, and whether the guard interval is short.
fn parts(mode: Mode) -> [u64; 3] {
    let Mode::Ht(Ht { mcs, is_wide, has_short_guard }) = mode else { panic!("{mode:?}") };
    [u64::from(mcs), u64::from(is_wide), u64::from(has_short_guard)]
}

/// Returns the load of `mode`, by which this traffic's losses grow: the data bits of a 20 MHz symbol, twice as many
/// in a wide channel, and a ninth more with a short guard interval.
fn load(mode: Mode) -> i64 {
    let [mcs, is_wide, has_short_guard] = parts(mode).map(|part| part as i64);
    let bits = [26, 52, 78, 104, 156, 208, 234, 260][mcs as usize % 8] * (mcs / 8 + 1) * (1 + is_wide);
    bits * 10 / (10 - has_short_guard)
}

fn values(chain: &Chain) -> Vec<u64> {
    let of_stage = |stage: &Stage| {
        let [mcs, is_wide, short] = parts(stage.mode);
        [mcs, is_wide, short, u64::from(stage.tries), u64::from(stage.has_rts)]
    };
    let stages = chain.stages().iter().flat_map(of_stage);
    [u64::from(chain.is_probe)].into_iter().chain(stages).collect()
}

fn digests(streams: u8, is_wide: bool, short: bool, is_hard: bool) -> Vec<u64> {
    let traffic = Traffic::new(is_hard, 32, 1000, load);
    let mut minstrel = minstrel(streams, is_wide, short);
    // The same sample order as in the reference, from the beginning.
    minstrel.sampling = Sampling::new(&mut Streams::new(1).stream("samples", 0));
    let place = |column: usize, row: usize| (row * [1, 3, 7, 9][column % 4] + column) % 10;
    let column = |column| (0..10).map(|row| place(column, row) as u8).collect();
    minstrel.sampling.order = (0..10).map(column).collect();
    minstrel.groups = Group::all(streams, is_wide, short);
    minstrel.reckon(traffic.now());
    traffic.digests(RateControl::MinstrelHt(Box::new(minstrel)), values)
}

#[test]
fn each_decision_is_linuxs() {
    for (streams, is_wide, short, is_hard, linux) in [
        (1, false, false, false, [0x9910_26e4_2ac6_672f, 0x6c05_f513_700e_6d51, 0x10a8_ff4e_d6a2_1346]),
        (1, false, false, true, [0xe036_dfd8_a63a_b54d, 0xbb85_af32_bff2_5714, 0x9fe6_1a0e_59a2_55b0]),
        (1, false, true, false, [0xe6cd_4af0_6065_155f, 0xa530_4874_43a9_4719, 0x13a3_f5cc_303c_1157]),
        (1, false, true, true, [0xe249_f17f_4dce_94f6, 0x957c_0e72_3224_d0bd, 0x37e4_3d5f_21b4_a229]),
        (2, false, true, false, [0xcf6a_ca54_ebd2_3795, 0x9db6_4518_a5e6_83bf, 0x590b_1137_acc9_81e9]),
        (2, false, true, true, [0x5725_9c5c_1d59_6966, 0xac78_e5da_d184_c57f, 0x3a90_fe73_6db5_1db4]),
        (2, true, false, false, [0x77b8_5173_2ff0_0533, 0x38d0_f406_21bf_fa48, 0x5852_6fc9_cb09_3ae9]),
        (2, true, false, true, [0xc397_1534_55e3_f8ef, 0x3813_04bc_79e0_be86, 0x3679_d3e2_01fb_a4ab]),
        (2, true, true, false, [0xef61_a3ee_f6e6_17b7, 0xeebf_77b6_3f85_d3f9, 0x82d6_a06e_8371_d29a]),
        (2, true, true, true, [0xafbb_9495_fd02_0703, 0xbab8_cbe7_d6a7_9be6, 0xc6dd_fb62_1675_f0cb]),
        (3, true, true, false, [0x0516_7d88_bbc0_20e0, 0xef13_8aff_5cbf_ca31, 0x1511_f0a4_7421_fae1]),
        (3, true, true, true, [0xa733_3a8f_1939_8135, 0x671d_4610_937c_79e7, 0x175c_2bb7_dd31_9436]),
        (4, true, true, false, [0xcfdd_3654_d26c_62cc, 0x310e_bafe_e58a_660a, 0x5c67_c67a_9be8_b884]),
        (4, true, true, true, [0xf89a_b831_adcd_fd46, 0x009b_52e9_2e22_3d87, 0x17f9_7ee3_5a47_85c2]),
    ] {
        let got = digests(streams, is_wide, short, is_hard);
        assert_eq!(got, linux, "{streams} streams, wide: {is_wide}, short: {short}, hard: {is_hard}");
    }
}
