//! Finds the line of a key in a TOML file, for error messages.

use pyo3::prelude::*;
use toml::de::{DeArray, DeTable};

/// Returns the line, counted from 1, of `key` (such as `traffic[0].cc`) in the TOML `text`.
///
/// If the key's table lacks the key, returns the line of the table's heading. Returns None if that table is the top
/// one, if there is no such table, or if the text is not TOML.
#[pyfunction]
pub(crate) fn toml_line(text: &str, key: &str) -> Option<usize> {
    let top = DeTable::parse(text).ok()?;
    let (mut table, mut list): (Option<&DeTable<'_>>, Option<&DeArray<'_>>) = (Some(top.get_ref()), None);
    let mut found = None;
    let mut parts = key.split(['.', '[']).peekable();
    while let Some(part) = parts.next() {
        let inner = match part.strip_suffix(']') {
            None => {
                table.and_then(|table| table.get_key_value(part)).map(|(name, value)| (name.span(), value))
            }
            Some(place) => {
                let item = place.parse().ok().and_then(|place: usize| list?.get(place));
                item.map(|value| (value.span(), value))
            }
        };
        match inner {
            Some((span, value)) => {
                found = Some(span.start);
                (table, list) = (value.get_ref().as_table(), value.get_ref().as_array());
            }
            None if parts.peek().is_none() => break,
            None => return None,
        }
    }
    found.map(|start| 1 + text[..start].matches('\n').count())
}
