//! Sorting in little code.

use std::cmp::Ordering;

/// Sorts `items` by `key`. Items with equal keys keep their order.
///
/// Only the numbers of the items are sorted, by one function for all types of items. The standard library's sort is
/// made anew for each type, which is 5 kB of the page's module per type. Lists that a run sorts often use the standard
/// library's.
pub fn sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    let mut places: Vec<usize> = (0..items.len()).collect();
    sort_places(&mut places, &|one, other| key(&items[one]).cmp(&key(&items[other])));
    let mut taken: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(places.into_iter().filter_map(|place| taken[place].take()));
}

fn sort_places(places: &mut [usize], order: &dyn Fn(usize, usize) -> Ordering) {
    places.sort_unstable_by(|&one, &other| order(one, other).then(one.cmp(&other)));
}

/// Sorts numbers, which a run does often: by the standard library's sort, except on the page.
pub(crate) fn sort_numbers<N: Copy + Into<u64>>(numbers: &mut Vec<N>) {
    if cfg!(target_family = "wasm") {
        sort_by_key(numbers, |&number| number.into());
    } else {
        numbers.sort_unstable_by_key(|&number| number.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections that start at one time would change places with the others of that time.
    #[test]
    fn equal_keys_keep_their_order() {
        let mut items: Vec<(u32, u32)> = (0..100).map(|place| (place * 7 % 10, place)).collect();
        let mut expected = items.clone();
        sort_by_key(&mut items, |item| item.0);
        expected.sort_by_key(|item| item.0);
        assert_eq!(items, expected);
        sort_by_key(&mut Vec::<(u32, u32)>::new(), |item| item.0);
    }
}
