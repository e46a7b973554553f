//! Any capture as a stream of TCP segments between any hosts.

use crate::file::{Capture, Error};
use crate::network::{Finder, Seen};
use crate::skipped::Tally;

pub(crate) struct Frames {
    pub(crate) file: Capture,
    pub(crate) tally: Tally,
    finder: Finder,
}

impl Frames {
    pub(crate) fn new(file: Capture) -> Self {
        Self { file, tally: Tally::default(), finder: Finder::default() }
    }

    /// Returns the next TCP segment. All other frames are counted.
    pub(crate) fn next(&mut self) -> Result<Option<Seen>, Error> {
        let finder = &mut self.finder;
        while finder.found.is_empty() {
            let read =
                self.file.next(|frame| finder.read(frame.time_ns, frame.link, frame.data, frame.len))?;
            let Some(read) = read else { return Ok(None) };
            self.tally.count(read);
        }
        Ok(finder.found.pop_front())
    }
}
