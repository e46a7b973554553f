//! Writing captures: a pcapng file. It is removed again if it is not finished.

use crate::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of a buffer for many frames, so that writing is done in large pieces.
const BUFFER_BYTES: usize = 1 << 18;
/// `if_tsresol`: times are in units of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;
/// The number from whose bytes a reader learns their order.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;

/// The types of blocks.
const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;

/// The codes of options.
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const SHB_USERAPPL: u16 = 4;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

/// The format of frames at an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Ethernet frames.
    Ethernet,
    /// 802.11 frames, each after a radiotap header.
    Wifi,
}

impl Medium {
    /// Returns the number in the list of link types of tcpdump's authors.
    const fn link_type(self) -> u16 {
        match self {
            Self::Ethernet => 1, // LINKTYPE_ETHERNET
            Self::Wifi => 127,   // LINKTYPE_IEEE802_11_RADIOTAP
        }
    }
}

/// A pcapng file of frames in progress (draft-ietf-opsawg-pcapng).
///
/// The caller names a draft, and renames it when [`Writer::finish`] has returned: only the caller knows which drafts
/// ended processes left (`goodqueue.files.drafts`). A writer that is dropped before removes the file.
pub struct Writer {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    /// The memory of the block that is written.
    block: Vec<u8>,
}

impl Writer {
    /// Begins the file at `path`, new or to be replaced, with `interfaces`, each with a name and a medium. Frames are
    /// cut at `snap_bytes`.
    ///
    /// # Errors
    /// Fails if the operating system refuses, or if `path` exists and is no regular file.
    pub fn create(path: &Path, interfaces: &[(&str, Medium)], snap_bytes: u32) -> Result<Self, Error> {
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let message =
                "found what is no regular file; accepted: a file, new or to be replaced".to_string();
            return Err(Error { file: path.to_path_buf(), message });
        }
        let file = File::create(path).map_err(|error| refused(path, &error))?;
        let file = Some(BufWriter::with_capacity(BUFFER_BYTES, file));
        let mut writer = Self { path: path.to_path_buf(), file, block: Vec::new() };
        let (version, unknown_length) = ([1_u16, 0].map(u16::to_le_bytes), (-1_i64).to_le_bytes());
        let body = [&BYTE_ORDER.to_le_bytes()[..], version.as_flattened(), &unknown_length];
        let program = concat!("goodqueue ", env!("CARGO_PKG_VERSION"));
        writer.write(SECTION, &body, &[(SHB_USERAPPL, program.as_bytes())])?;
        for (name, medium) in interfaces {
            let [link_type, reserved] = [medium.link_type(), 0].map(u16::to_le_bytes);
            let body = [&link_type[..], &reserved, &snap_bytes.to_le_bytes()];
            let options = [(IF_NAME, name.as_bytes()), (IF_TSRESOL, &[NANOSECONDS]), (IF_TSOFFSET, &[0; 8])];
            writer.write(INTERFACE, &body, &options)?;
        }
        Ok(writer)
    }

    /// Adds a frame that was seen at interface number `interface`, `time_ns` after the beginning of 1970. `data`
    /// holds the kept part of its `len` bytes.
    ///
    /// # Errors
    /// Fails if the operating system refuses, for example because the disk is full.
    pub fn frame(
        &mut self,
        interface: u32,
        time_ns: u64,
        len: u32,
        data: &[u8],
        comment: Option<&str>,
    ) -> Result<(), Error> {
        let numbers = [interface, (time_ns >> 32) as u32, time_ns as u32, data.len() as u32, len];
        let comment = comment.map(|comment| (COMMENT, comment.as_bytes()));
        self.write(PACKET, &[numbers.map(u32::to_le_bytes).as_flattened(), data], comment.as_slice())
    }

    /// Writes the rest, and waits until all of it is on the disk.
    ///
    /// # Errors
    /// Fails if the operating system refuses. Then there is no file.
    pub fn finish(mut self) -> Result<(), Error> {
        let Some(file) = self.file.take() else { return Ok(()) };
        let written = file.into_inner().map_err(io::IntoInnerError::into_error);
        let finished = written.and_then(|file| file.sync_all()); // a full disk may show only here
        finished.map_err(|error| {
            let _ = fs::remove_file(&self.path);
            refused(&self.path, &error)
        })
    }

    /// Writes a block of type `kind`: what is in `body`, padded, and the options, each a code and a value.
    fn write(&mut self, kind: u32, body: &[&[u8]], options: &[(u16, &[u8])]) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let block = &mut self.block;
        block.clear();
        block.extend(kind.to_le_bytes());
        block.extend([0; 4]); // the length of the block, which begins and ends it
        body.iter().for_each(|part| block.extend(*part));
        pad(block);
        for (code, value) in options {
            block.extend([*code, value.len() as u16].map(u16::to_le_bytes).as_flattened());
            block.extend(*value);
            pad(block);
        }
        if !options.is_empty() {
            block.extend([0; 4]); // opt_endofopt
        }
        let len = (block.len() as u32 + 4).to_le_bytes();
        block.extend(len);
        block[4..8].copy_from_slice(&len);
        file.write_all(block).map_err(|error| refused(&self.path, &error))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            drop(file.into_parts()); // unwritten bytes are not needed
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn refused(path: &Path, error: &io::Error) -> Error {
    Error { file: path.to_path_buf(), message: format!("cannot be written: {error}") }
}

/// Fills `block` up to a multiple of four bytes.
fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}
