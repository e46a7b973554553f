//! Web pages: what a `page` fetches, built in or object by object.
//!
//! Høiland-Jørgensen et al. (2015), 5.3, mirrored two pages: Google's, "56 kB data in a total of three requests", and the
//! Huffington Post's, "3 MB in a total of 110 requests". The sizes of single objects are not printed. Our split: a document of
//! 20 kB and objects of 14 and 22 kB; and a document of 100 kB with 60 objects of 5 kB, 30 of 20 kB, 14 of 60 kB and 5 of 232
//! kB, few large ones among many small ones, as pages have them, spread evenly over the document.

use super::applications::check_size;
use super::resolve::{Result, check_span, refuse, unknown};
use super::{ScenarioError, Size, Span, Traffic};
use goodqueue_units::Duration;
use serde::{Deserialize, Serialize};

/// One object of a page.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// The host that has it; objects that name none are on one host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Bytes of the request for it; the page's `request`, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Size>,
    /// Bytes of the response, its headers included.
    pub response: Size,
}

/// A built-in page: the document's bytes, and how many objects there are of so many bytes each.
struct Page {
    name: &'static str,
    document: u64,
    objects: &'static [(usize, u64)],
}

const PAGES: [Page; 2] = [
    Page { name: "google", document: 20_000, objects: &[(1, 14_000), (1, 22_000)] },
    Page {
        name: "huffpost",
        document: 100_000,
        objects: &[(60, 5_000), (30, 20_000), (14, 60_000), (5, 232_000)],
    },
];

/// Bytes of a request, what a browser of the paper's years sent: a line, `Host`, `User-Agent`, `Accept` and its like, a cookie.
pub(crate) const DEFAULT_REQUEST: Size = Size(400);
/// What browsers have had per host since 2008 or so. (The paper's own client had four.)
const DEFAULT_CONNECTIONS: u64 = 6;
const MOST_CONNECTIONS: u64 = 100;
const MOST_OBJECTS: usize = 10_000;

impl Page {
    /// The document, and then each size spread evenly over the whole.
    fn objects(&self) -> Vec<Object> {
        let total: usize = self.objects.iter().map(|(count, _)| count).sum();
        let mut placed: Vec<(usize, u64)> = Vec::with_capacity(total);
        for (count, bytes) in self.objects {
            // In the middles of `count` equal parts, in units of half a part of all `total` of them.
            placed.extend((0..*count).map(|nth| ((2 * nth + 1) * total / count, *bytes)));
        }
        placed.sort_by_key(|(place, _)| *place); // stable: at one place the small ones first
        let sizes = std::iter::once(self.document).chain(placed.into_iter().map(|(_, bytes)| bytes));
        sizes.map(|bytes| Object { host: None, request: None, response: Size(bytes) }).collect()
    }
}

/// The objects of a resolved `page`.
pub(crate) fn objects_of(traffic: &Traffic) -> Result<Vec<Object>> {
    if let Some(objects) = &traffic.objects {
        return Ok(objects.clone());
    }
    let named = PAGES.iter().find(|page| Some(page.name) == traffic.page.as_deref());
    named.map(Page::objects).ok_or_else(|| ScenarioError::new("traffic.page", "not resolved"))
}

impl Traffic {
    pub(super) fn resolve_page(&mut self, key: &dyn Fn(&str) -> String) -> Result<()> {
        match &self.objects {
            Some(objects) => check_objects(&key("objects"), objects)?,
            None => {
                let page = self.page.get_or_insert_with(|| PAGES[0].name.to_string());
                if page.to_ascii_lowercase().ends_with(".har") {
                    let accepted = "its objects beside it, which the command line reads from the file";
                    return refuse(&key("page"), format!("{page:?}"), accepted);
                }
                if !PAGES.iter().any(|known| known.name == page) {
                    let names = PAGES.iter().map(|known| known.name).chain(["FILE.har"]);
                    return unknown(&key("page"), page, names);
                }
            }
        }
        let request = *self.request.get_or_insert(DEFAULT_REQUEST);
        check_size(&key("request"), Some(request))?;
        let connections = *self.connections.get_or_insert(DEFAULT_CONNECTIONS);
        if !(1..=MOST_CONNECTIONS).contains(&connections) {
            return refuse(&key("connections"), connections, &format!("1 to {MOST_CONNECTIONS}"));
        }
        let Span(gap) = *self.interval.get_or_insert_default();
        check_span(&key("interval"), Span(gap), Duration::ZERO, Duration::from_secs(1_000_000))
    }
}

fn check_objects(key: &str, objects: &[Object]) -> Result<()> {
    if !(1..=MOST_OBJECTS).contains(&objects.len()) {
        return refuse(key, format!("{} objects", objects.len()), &format!("1 to {MOST_OBJECTS}"));
    }
    for (place, object) in objects.iter().enumerate() {
        let request = object.request.unwrap_or(DEFAULT_REQUEST);
        check_size(&format!("{key}[{place}].request"), Some(request))?;
        check_size(&format!("{key}[{place}].response"), Some(object.response))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the paper prints of the two pages; else the split would be of another page.
    #[test]
    fn the_papers_pages_have_its_requests_and_bytes() {
        for (page, requests, bytes) in [(&PAGES[0], 3, 56_000), (&PAGES[1], 110, 3_000_000)] {
            let objects = page.objects();
            let sum: u64 = objects.iter().map(|object| object.response.0).sum();
            assert_eq!((objects.len(), sum), (requests, bytes), "{}", page.name);
        }
        // The five large objects stand one in each fifth of the 109.
        let large: Vec<usize> = PAGES[1].objects()[1..]
            .iter()
            .enumerate()
            .filter_map(|(place, object)| (object.response.0 == 232_000).then_some(place * 5 / 109))
            .collect();
        assert_eq!(large, [0, 1, 2, 3, 4]);
    }
}
