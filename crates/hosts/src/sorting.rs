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

/// Sorts numbers by four bits at a time, from the lowest on. Only bits in which some of them differ count.
pub(crate) fn sort_numbers<N: Copy + Into<u64>>(numbers: &mut Vec<N>) {
    let bits = |(any, all), &number: &N| (any | number.into(), all & number.into());
    let (any, all) = numbers.iter().fold((0, u64::MAX), bits);
    let mut sorted = numbers.clone();
    for shift in (0..u64::BITS).step_by(4).filter(|shift| (any & !all) >> shift & 15 != 0) {
        let digit = |number: N| (number.into() >> shift & 15) as usize;
        let mut places = [0; 17]; // where the next number with each digit goes
        numbers.iter().for_each(|&number| places[digit(number) + 1] += 1);
        (1..17).for_each(|digit| places[digit] += places[digit - 1]);
        for &number in numbers.iter() {
            let place = &mut places[digit(number)];
            sorted[*place] = number;
            *place += 1;
        }
        std::mem::swap(numbers, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_sorted(narrow in prop::collection::vec(1000_u32..1300, 0..200), wide: Vec<u64>) {
            let (mut found, mut expected) = (narrow.clone(), narrow);
            sort_numbers(&mut found);
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
            let (mut found, mut expected) = (wide.clone(), wide);
            sort_numbers(&mut found);
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

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
