//! Writing captures: a pcapng file. It is removed again if it is not finished.

use crate::Error;
use pcap_parser::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, Linktype, OptionCode, PcapNGOption, SectionHeaderBlock,
    ToVec,
};
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// Bytes of a buffer for many frames, so that writing is done in large pieces.
const BUFFER_BYTES: usize = 1 << 18;
/// `if_tsresol`: times are in units of 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

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
    const fn link_type(self) -> Linktype {
        match self {
            Self::Ethernet => Linktype::ETHERNET,
            Self::Wifi => Linktype(127), // LINKTYPE_IEEE802_11_RADIOTAP
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
        let mut writer = Self { path: path.to_path_buf(), file };
        let program = text(OptionCode::ShbUserAppl, concat!("goodqueue ", env!("CARGO_PKG_VERSION")));
        writer.write(&mut SectionHeaderBlock {
            block_type: 0,
            block_len1: 0,
            bom: 0,
            major_version: 1,
            minor_version: 0,
            section_len: -1, // not known yet
            options: vec![program],
            block_len2: 0,
        })?;
        for (name, medium) in interfaces {
            writer.write(&mut InterfaceDescriptionBlock {
                block_type: 0,
                block_len1: 0,
                linktype: medium.link_type(),
                reserved: 0,
                snaplen: snap_bytes,
                options: vec![text(OptionCode::IfName, name)],
                block_len2: 0,
                if_tsresol: NANOSECONDS,
                if_tsoffset: 0,
            })?;
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
        self.write(&mut EnhancedPacketBlock {
            block_type: 0,
            block_len1: 0,
            if_id: interface,
            ts_high: (time_ns >> 32) as u32,
            ts_low: time_ns as u32,
            caplen: data.len() as u32,
            origlen: len,
            data,
            options: comment.map(|comment| text(OptionCode::Comment, comment)).into_iter().collect(),
            block_len2: 0,
        })
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

    fn write(&mut self, block: &mut impl ToVec) -> Result<(), Error> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let bytes = block.to_vec().map_err(io::Error::other);
        bytes.and_then(|bytes| file.write_all(&bytes)).map_err(|error| refused(&self.path, &error))
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

/// Returns an option. Its value is padded to a multiple of four bytes.
fn text(code: OptionCode, value: &str) -> PcapNGOption<'static> {
    let mut padded = value.as_bytes().to_vec();
    padded.resize(value.len().next_multiple_of(4), 0);
    PcapNGOption { code, len: value.len() as u16, value: Cow::Owned(padded) }
}
