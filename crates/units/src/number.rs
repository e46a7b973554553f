//! Numbers as C reads them: `strtod` and `strtoul`, with which `tc` reads every number of a line.

/// Reads the number at the beginning of `text` as C's `strtod` does: `5`, `.5`, `1e6`, `0x1f`, with a sign. Returns the
/// number and the rest of the text. `None`: there is no number, or it is too large.
///
/// `strtod` also knows infinity and "not a number". They are refused, because `tc` converts them to an integer, which
/// C leaves undefined.
#[must_use]
pub fn real(text: &str) -> Option<(f64, &str)> {
    let (negative, unsigned) = signed(text);
    let (number, rest) = match unsigned.get(..2) {
        Some("0x" | "0X") => hexadecimal(&unsigned[2..]).unwrap_or((0.0, &unsigned[1..])),
        _ => decimal(unsigned)?,
    };
    number.is_finite().then_some((if negative { -number } else { number }, rest))
}

/// Reads `text` as C's `strtoul` does with base 0: decimal, hexadecimal after `0x`, octal after `0`. A negative number
/// wraps, as in C. `None`: `text` has anything else, or the number exceeds 64 bits.
#[must_use]
pub fn whole(text: &str) -> Option<u64> {
    let unsigned = signed(text).1;
    match unsigned.get(..2) {
        Some("0x" | "0X") => whole_in(16, text),
        _ if unsigned.starts_with('0') => whole_in(8, text),
        _ => whole_in(10, text),
    }
}

/// Reads `text` as C's `strtoul` does with this base (10 or 16): see [`whole`].
#[must_use]
pub fn whole_in(base: u32, text: &str) -> Option<u64> {
    let (negative, unsigned) = signed(text);
    let prefixed = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let digits = prefixed.filter(|_| base == 16).unwrap_or(unsigned);
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = u64::from_str_radix(digits, base).ok()?;
    Some(if negative { number.wrapping_neg() } else { number })
}

/// Returns whether `text` begins with a minus, and the text after its sign.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Returns the length of the digits at the beginning of `text`.
fn digits(text: &str, is_digit: impl Fn(&u8) -> bool) -> usize {
    text.bytes().take_while(is_digit).count()
}

/// Returns the length of the digits at the beginning of `text`, with a point among or around them.
fn mantissa(text: &str, is_digit: impl Fn(&u8) -> bool + Copy) -> Option<usize> {
    let before = digits(text, is_digit);
    let after = text[before..].strip_prefix('.').map(|rest| digits(rest, is_digit));
    (before + after.unwrap_or(0) > 0).then(|| before + after.map_or(0, |after| after + 1))
}

/// Returns the length of an exponent: the letter, a sign, and at least one digit. 0: there is none.
fn exponent(text: &str, letters: [char; 2]) -> usize {
    let Some(after) = text.strip_prefix(letters) else { return 0 };
    let count = digits(after.strip_prefix(['+', '-']).unwrap_or(after), u8::is_ascii_digit);
    let sign = usize::from(after.starts_with(['+', '-']));
    if count == 0 { 0 } else { 1 + sign + count }
}

fn decimal(text: &str) -> Option<(f64, &str)> {
    let end = mantissa(text, u8::is_ascii_digit)?;
    let (number, rest) = text.split_at(end + exponent(&text[end..], ['e', 'E']));
    number.parse().ok().map(|number| (number, rest))
}

/// Reads the hexadecimal number after `0x`.
fn hexadecimal(text: &str) -> Option<(f64, &str)> {
    let end = mantissa(text, u8::is_ascii_hexdigit)?;
    let (whole, fraction) = text[..end].split_once('.').unwrap_or((&text[..end], ""));
    let digit = |digit: char| f64::from(digit.to_digit(16).unwrap_or(0));
    let whole = whole.chars().fold(0.0, |number, next| number * 16.0 + digit(next));
    let fraction = fraction.chars().rev().fold(0.0, |number, next| (number + digit(next)) / 16.0);
    let (power, rest) = text[end..].split_at(exponent(&text[end..], ['p', 'P']));
    let power: i32 = power.get(1..).map_or(Some(0), |power| power.parse().ok())?;
    let mut number = whole + fraction;
    for _ in 0..power.unsigned_abs().min(1100) {
        number = if power < 0 { number / 2.0 } else { number * 2.0 };
    }
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row is what C's function returns, by hand.
    #[test]
    fn a_real_number_ends_where_strtod_ends() {
        let table = [
            ("5ms", 5.0, "ms"),
            (".5", 0.5, ""),
            ("5.", 5.0, ""),
            ("1e6", 1e6, ""),
            ("1e3bit", 1e3, "bit"),
            ("1ebit", 1.0, "ebit"),
            ("1e+", 1.0, "e+"),
            ("-2.5E-1x", -0.25, "x"),
            ("+7", 7.0, ""),
            ("0x1f", 31.0, ""),
            ("0x1.8p1k", 3.0, "k"),
            ("0xg", 0.0, "xg"),
            ("010", 10.0, ""),
        ];
        for (text, number, rest) in table {
            assert_eq!(real(text), Some((number, rest)), "{text}");
        }
        for text in ["", ".", "-", "ms", "inf", "nan", "1e400", "--5", "e5", " 5"] {
            assert_eq!(real(text), None, "{text}");
        }
    }

    #[test]
    fn a_whole_number_has_c_s_bases() {
        let table = [("16", 16), ("0x10", 16), ("010", 8), ("0", 0), ("+5", 5), ("-18446744073709551611", 5)];
        for (text, number) in table {
            assert_eq!(whole(text), Some(number), "{text}");
        }
        for text in ["", "0x", "08", "5p", "1e3", "5.0", "--1", "18446744073709551616", "0x-5"] {
            assert_eq!(whole(text), None, "{text}");
        }
        assert_eq!(
            (whole_in(10, "010"), whole_in(10, "0x10"), whole_in(16, "0x1F")),
            (Some(10), None, Some(31))
        );
    }
}
