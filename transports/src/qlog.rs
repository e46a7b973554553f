//! The qlogs of a run: all of them are whole, or none stays.
//!
//! A stack writes where it cannot report an error, and a stack that has panicked is not even dropped. So the run itself
//! has the files: it keeps the first error, and writes what waits in their buffers.

use std::fs::{File, remove_file};
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The files of a run.
#[derive(Default)]
struct Files {
    open: Vec<(PathBuf, BufWriter<File>)>,
    /// The first error of any of them, with the file's name.
    error: Option<String>,
}

/// The qlogs of a run, in one folder.
#[derive(Clone)]
pub(crate) struct Qlogs {
    folder: PathBuf,
    files: Arc<Mutex<Files>>,
}

impl Qlogs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, files: Arc::default() }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the qlog `name`, whose file is not open yet.
    pub(crate) fn named(&self, name: String) -> Qlog {
        Qlog { of: self.clone(), name }
    }

    /// Lets no run begin whose first file cannot be written.
    ///
    /// # Errors
    /// The first error so far, in one line with the file's name.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        self.files().error.clone().map_or(Ok(()), Err)
    }

    /// Writes what waits, and closes the files. After an error none of them stays.
    ///
    /// # Errors
    /// The first error of any write, in one line with the file's name.
    pub(crate) fn finish(&self) -> std::result::Result<(), String> {
        let mut files = self.files();
        let open = std::mem::take(&mut files.open);
        let mut written = Vec::new();
        for (path, mut file) in open {
            let flushed = file.flush();
            files.note(&path, flushed);
            let _unwritten = file.into_parts(); // a drop would try to write it again
            written.push(path);
        }
        let Some(error) = files.error.clone() else { return Ok(()) };
        written.iter().for_each(|path| drop(remove_file(path)));
        Err(error)
    }

    /// Removes the files that [`finish`](Self::finish) has not closed.
    pub(crate) fn discard(&self) {
        for (path, file) in std::mem::take(&mut self.files().open) {
            let _unwritten = file.into_parts();
            drop(remove_file(path));
        }
    }
}

impl Files {
    /// Returns what was made. Keeps the error if it is the first.
    fn note<T>(&mut self, path: &Path, made: Result<T>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(error) => {
                self.error.get_or_insert_with(|| format!("{}: {error}", path.display()));
                None
            }
        }
    }
}

/// One qlog of a run.
#[derive(Clone)]
pub(crate) struct Qlog {
    of: Qlogs,
    name: String,
}

impl Qlog {
    /// Opens the file. If that fails, [`Qlogs::finish`] says so, and nothing is written.
    pub(crate) fn writer(&self) -> Box<dyn Write + Send + Sync> {
        let path = self.of.folder.join(&self.name);
        let mut files = self.of.files();
        let made = File::create(&path);
        let at = files.note(&path, made).map(|file| {
            files.open.push((path, BufWriter::new(file)));
            files.open.len() - 1
        });
        Box::new(Writer { of: self.of.clone(), at })
    }
}

/// Where a stack writes. It never fails, since a stack would end its connection by that.
struct Writer {
    of: Qlogs,
    /// Which of the open files, if there is one.
    at: Option<usize>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut files = self.of.files();
        if files.error.is_none()
            && let Some((path, file)) = self.at.and_then(|at| files.open.get_mut(at))
        {
            let written = file.write_all(bytes).map_err(|error| (path.clone(), error));
            if let Err((path, error)) = written {
                files.note::<()>(&path, Err(error));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Returns a folder of this test's own, in which the file `full` is on a disk that is full.
    fn folder(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("goodqueue-{test}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        symlink("/dev/full", folder.join("full")).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let each = std::fs::read_dir(folder).unwrap();
        each.map(|one| one.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_disk_that_is_full_leaves_no_file_and_is_named() {
        let folder = folder("qlog-full");
        for bytes in [1, 100_000] {
            let qlogs = Qlogs::new(folder.clone());
            let (mut whole, mut cut) =
                (qlogs.named("whole".into()).writer(), qlogs.named("full".into()).writer());
            whole.write_all(b"event").unwrap();
            cut.write_all(&vec![0; bytes]).unwrap(); // the stack goes on, whether or not the buffer holds it
            assert!(qlogs.finish().unwrap_err().contains("full: No space left on device"), "{bytes}");
            assert_eq!(names(&folder), [""; 0]);
            symlink("/dev/full", folder.join("full")).unwrap();
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_made_is_known_at_once() {
        let folder = folder("qlog-none");
        let qlogs = Qlogs::new(folder.join("none"));
        assert_eq!(qlogs.check(), Ok(()));
        let mut cut = qlogs.named("cut".into()).writer();
        assert!(qlogs.check().unwrap_err().contains("none/cut: No such file"));
        cut.write_all(b"event").unwrap();
        assert_eq!(qlogs.finish(), qlogs.check());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_stack_wrote_is_in_the_file_even_if_the_stack_is_never_dropped() {
        let folder = folder("qlog-whole");
        std::fs::remove_file(folder.join("full")).unwrap();
        let qlogs = Qlogs::new(folder.clone());
        let mut kept = qlogs.named("kept".into()).writer();
        kept.write_all(b"event").unwrap();
        std::mem::forget(kept);
        qlogs.finish().unwrap();
        qlogs.discard();
        assert_eq!(std::fs::read(folder.join("kept")).unwrap(), b"event");
        let later = Qlogs::new(folder.clone());
        drop(later.named("later".into()).writer());
        later.discard();
        assert_eq!(names(&folder), ["kept"], "of a run that was stopped nothing stays");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
