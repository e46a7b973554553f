//! Files for the qlogs that stacks write.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Opens the file of one connection's qlog.
///
/// # Errors
/// One line with the file's name.
pub(crate) fn writer(path: &Path) -> Result<Box<dyn Write + Send + Sync>, String> {
    let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}
