//! Web pages: what a `page` fetches, built in or object by object.
//!
//! Høiland-Jørgensen et al. (2015), 5.3, mirrored two pages: Google's, "56 kB data in a total of three requests", and
//! the Huffington Post's, "3 MB in a total of 110 requests". The paper does not print the sizes of single objects, so
//! the split is ours. The first page is a document of 20 kB and objects of 14 and 22 kB. The second page is a
//! document of 100 kB with 60 objects of 5 kB, 30 of 20 kB, 14 of 60 kB and 5 of 232 kB. Like real pages it has few
//! large objects among many small ones; each size is spread evenly over the document.

use crate::keys::{Json, Key, Quantity, Result, ScenarioError, Size, Table, Values, describe, no_such_word, refuse};
use crate::sorting::sort_by_key;
use crate::traffic::application::MOST_BYTES;
use serde::Serialize;
use serde_json::json;

/// The most objects that a page has.
const MOST_OBJECTS: usize = 10_000;

/// Which page is fetched.
pub(super) const PAGE: Key<String> = Key::derived("page", "\"google\", where `objects` is left out too", "\"huffpost\"")
    .help("which page is fetched: \"google\" or \"huffpost\"; on the command line and in a file also \"FILE.har\", or its \
           second page, \"FILE.har#2\"")
    .source("Høiland-Jørgensen et al. 2015, 5.3");
/// The objects that the page is made of.
pub(super) const OBJECTS: Key<Objects> = Key::optional("objects", "[{response = \"20kB\"}]")
    .help("a page's objects; the first one is the document. The browser requests the others when the document is complete");
/// The objects of a page, the document first.
#[derive(Clone, Debug)]
pub(super) struct Objects(Vec<Object>);

/// One object of a page.
#[derive(Clone, Debug)]
pub(super) struct Object {
    host: Option<String>,
    request: Option<Size>,
    response: Size,
}

/// The host that has the object. Objects that name no host are all on one host.
const HOST: Key<String> = Key::optional("host", "\"example.org\"");
/// Bytes of the request for the object; if left out, the page's `request`.
const OWN_REQUEST: Key<Size> = Key::optional("request", "\"400B\"").range(Size(1), MOST_BYTES);
/// Bytes of the response, its headers included.
const RESPONSE: Key<Size> = Key::required("response", "\"100kB\"").range(Size(1), MOST_BYTES);

/// A built-in page: the document's bytes, and pairs of a number of objects and the bytes of each.
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

impl Page {
    /// Returns the document, and then the other objects: each size is spread evenly over the whole.
    fn objects(&self) -> Vec<Object> {
        let total: usize = self.objects.iter().map(|(count, _)| count).sum();
        let mut placed: Vec<(usize, u64)> = Vec::with_capacity(total);
        for (count, bytes) in self.objects {
            // The objects of one size stand in the middles of `count` equal parts. The unit of a place is half of one
            // of the `total` places.
            placed.extend((0..*count).map(|nth| ((2 * nth + 1) * total / count, *bytes)));
        }
        sort_by_key(&mut placed, |(place, _)| *place); // at one place the small ones stay first
        let sizes = std::iter::once(self.document).chain(placed.into_iter().map(|(_, bytes)| bytes));
        sizes.map(|bytes| Object { host: None, request: None, response: Size(bytes) }).collect()
    }
}

impl Object {
    fn read(table: &Table<'_>) -> Result<Self> {
        table.refuse_others(&[&HOST, &OWN_REQUEST, &RESPONSE], &[])?;
        let (host, request) = (table.find(&HOST)?, table.find(&OWN_REQUEST)?);
        Ok(Self { host, request, response: table.take(&RESPONSE)? })
    }

    fn write(&self) -> Json {
        let mut object = json!({});
        if let Some(host) = &self.host {
            object["host"] = json!(host);
        }
        if let Some(request) = self.request {
            object["request"] = request.write();
        }
        object["response"] = self.response.write();
        object
    }
}

impl Quantity for Objects {
    const TYPE: &'static str = "list of tables";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let Some(list) = found.as_array() else {
            return Err(format!("found {}; accepted: a list of objects", describe(found)));
        };
        if !(1..=MOST_OBJECTS).contains(&list.len()) {
            return Err(format!("found {} objects; accepted: 1 to {MOST_OBJECTS}", list.len()));
        }
        let read = |(place, one)| Table::new(format!("[{place}]"), one).and_then(|table| Object::read(&table));
        let objects: Result<Vec<Object>> = list.iter().enumerate().map(read).collect();
        objects.map(Self).map_err(|error| error.to_string())
    }
    fn write(&self) -> Json {
        self.0.iter().map(Object::write).collect()
    }
    fn schema() -> Json {
        let size = Size::schema();
        let properties = json!({"host": {"type": "string"}, "request": size, "response": size});
        let object = json!({
            "type": "object",
            "properties": properties,
            "required": ["response"],
            "additionalProperties": false,
        });
        json!({"type": "array", "minItems": 1, "maxItems": MOST_OBJECTS, "items": object})
    }
}

/// Fills in the default page if neither a page nor objects are named. Refuses unknown pages.
pub(super) fn check(table: &Table<'_>, values: &mut Values) -> Result<()> {
    if values.find(&OBJECTS).is_some() {
        return Ok(());
    }
    let page = values.find(&PAGE).unwrap_or_else(|| PAGES[0].name.to_string());
    let name = page.to_ascii_lowercase();
    if name.ends_with(".har") || name.contains(".har#") {
        let accepted = "its objects beside it, which the command line reads from the file";
        return refuse(&table.key("page"), format!("{page:?}"), accepted);
    }
    if !PAGES.iter().any(|known| known.name == page) {
        let names: Vec<&str> = PAGES.iter().map(|known| known.name).chain(["FILE.har"]).collect();
        return Err(ScenarioError::new(table.key("page"), no_such_word(&page, &names)));
    }
    values.put(&PAGE, page);
    Ok(())
}

/// Returns the objects of a page.
pub(super) fn of(values: &Values) -> Vec<Object> {
    if let Some(Objects(objects)) = values.find(&OBJECTS) {
        return objects;
    }
    let page = values.get(&PAGE);
    PAGES.iter().find(|known| known.name == page).map(Page::objects).unwrap_or_default()
}

/// An object of a page.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Item {
    /// The number of its host, from 0. The document's host is the first.
    pub(super) host: usize,
    /// Bytes of the request for the object.
    pub(super) request_bytes: u64,
    /// Bytes of the response.
    pub(super) response_bytes: u64,
}

/// Returns the `objects` of a page with their hosts numbered. `request` is the size of a request for objects that
/// give none.
pub(super) fn items(objects: &[Object], request: Size) -> Vec<Item> {
    let mut names: Vec<Option<&str>> = Vec::new();
    let mut items = Vec::with_capacity(objects.len());
    for object in objects {
        let name = object.host.as_deref();
        let host = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        let request_bytes = object.request.unwrap_or(request).0;
        items.push(Item { host, request_bytes, response_bytes: object.response.0 });
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The built-in pages have the numbers of requests and bytes that the paper prints.
    #[test]
    fn the_papers_pages_have_its_requests_and_bytes() {
        for (page, requests, bytes) in [(&PAGES[0], 3, 56_000), (&PAGES[1], 110, 3_000_000)] {
            let objects = page.objects();
            let sum: u64 = objects.iter().map(|object| object.response.0).sum();
            assert_eq!((objects.len(), sum), (requests, bytes), "{}", page.name);
        }
        // Each fifth of the 109 objects has one of the five large objects.
        let large: Vec<usize> = PAGES[1].objects()[1..]
            .iter()
            .enumerate()
            .filter_map(|(place, object)| (object.response.0 == 232_000).then_some(place * 5 / 109))
            .collect();
        assert_eq!(large, [0, 1, 2, 3, 4]);
    }
}
