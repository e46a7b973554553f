//! Patterns of the shell (POSIX.1-2017, Shell Command Language, 2.13): `*`, `?`, `[…]`, and a backslash before a
//! character that stands for itself.

use alloc::vec::Vec;

/// The longest text of which a pattern may cut a part away.
const LONGEST: usize = 1024;

/// Returns whether all of `text` is as `pattern` says. The time is at most the product of both lengths.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    // Behind the last *, and where the text was then.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(at) == Some(&'*') {
            retry = Some((at + 1, place));
            at += 1;
            continue;
        }
        let step = text.get(place).and_then(|letter| one(&pattern[at..], *letter));
        if let Some(length) = step {
            (at, place) = (at + length, place + 1);
            continue;
        }
        if at == pattern.len() && place == text.len() {
            return true;
        }
        match retry {
            Some((after, from)) if from < text.len() => {
                retry = Some((after, from + 1));
                (at, place) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// Returns the length of the part of `pattern` that `letter` fits, if it fits.
fn one(pattern: &[char], letter: char) -> Option<usize> {
    match *pattern.first()? {
        '?' => Some(1),
        '\\' if pattern.len() > 1 => (pattern[1] == letter).then_some(2),
        '[' => match set(pattern, letter) {
            Some((fits, length)) => fits.then_some(length),
            None => (letter == '[').then_some(1),
        },
        own => (own == letter).then_some(1),
    }
}

/// Reads `[…]`: whether `letter` is one of it, and its length. `None`: it does not close.
fn set(pattern: &[char], letter: char) -> Option<(bool, usize)> {
    let is_not = matches!(pattern.get(1), Some('!' | '^'));
    let first = 1 + usize::from(is_not);
    let (mut at, mut fits) = (first, false);
    loop {
        match *pattern.get(at)? {
            ']' if at > first => return Some((fits != is_not, at + 1)),
            '[' if pattern.get(at + 1) == Some(&':') => {
                let name: Vec<char> =
                    pattern[at + 2..].iter().copied().take_while(|letter| *letter != ':').collect();
                fits |= class(&name, letter);
                at += name.len() + 4;
            }
            low => {
                let own = if low == '\\' { *pattern.get(at + 1)? } else { low };
                at += if low == '\\' { 2 } else { 1 };
                match (pattern.get(at), pattern.get(at + 1)) {
                    (Some('-'), Some(high)) if *high != ']' => {
                        fits |= (own..=*high).contains(&letter);
                        at += 2;
                    }
                    _ => fits |= own == letter,
                }
            }
        }
    }
}

fn class(name: &[char], letter: char) -> bool {
    match name {
        ['d', 'i', 'g', 'i', 't'] => letter.is_ascii_digit(),
        ['a', 'l', 'p', 'h', 'a'] => letter.is_ascii_alphabetic(),
        ['a', 'l', 'n', 'u', 'm'] => letter.is_ascii_alphanumeric(),
        ['s', 'p', 'a', 'c', 'e'] => letter.is_ascii_whitespace(),
        _ => false,
    }
}

/// Returns `text` without the shortest, or the longest, beginning that fits. `None`: the text is too long.
pub(super) fn without_prefix<'t>(text: &'t str, pattern: &str, longest: bool) -> Option<&'t str> {
    let ends = ends(text)?;
    let fits = |end: &&usize| matches(pattern, &text[..**end]);
    let end = if longest { ends.iter().rev().find(fits) } else { ends.iter().find(fits) };
    Some(end.map_or(text, |end| &text[*end..]))
}

/// Returns `text` without the shortest, or the longest, end that fits. `None`: the text is too long.
pub(super) fn without_suffix<'t>(text: &'t str, pattern: &str, longest: bool) -> Option<&'t str> {
    let ends = ends(text)?;
    let fits = |end: &&usize| matches(pattern, &text[**end..]);
    let end = if longest { ends.iter().find(fits) } else { ends.iter().rev().find(fits) };
    Some(end.map_or(text, |end| &text[..*end]))
}

/// Returns all places between characters.
fn ends(text: &str) -> Option<Vec<usize>> {
    let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    (text.len() <= LONGEST).then(|| places.collect())
}
