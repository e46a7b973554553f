//! Random paths: every path that resolves runs, conserves packets, resolves to itself and is the same in pieces.

use crate::random_paths::path_holds;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Enough bytes for every choice of a path with the most possible hops.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_path_runs_conserves_packets_resolves_to_itself_and_is_the_same_in_pieces(bytes in bytes()) {
        path_holds(&bytes);
    }
}

/// Otherwise the property above could hold for no path at all.
#[test]
fn many_random_paths_resolve() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let ran = (0..100).filter(|_| path_holds(&bytes().new_tree(&mut runner).unwrap().current())).count();
    assert!(ran > 30, "{ran} of 100");
}
