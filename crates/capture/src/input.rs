//! The bytes of a file, decompressed if they are compressed by gzip or zstd.

use crate::file::BUFFER_BYTES;
use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: u32 = 0xfd2f_b528;
/// Frames of zstd without content (RFC 8878, 3.1.2).
const ZSTD_SKIPPED: std::ops::RangeInclusive<u32> = 0x184d_2a50..=0x184d_2a5f;

/// First bytes of files that are known, but not read.
const FOREIGN: [(&[u8], &str); 9] = [
    (&[0x04, 0x22, 0x4d, 0x18], "an lz4 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"PK\x03\x04", "a zip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip file"),
    (&[0x1f, 0x9d], "a file of compress"),
    (b"snoop\0\0\0", "a capture of snoop"),
    (b"GMBU", "a capture of Microsoft's Network Monitor"),
    (b"\x0a\x02\x02\x01", "a capture of AIX's iptrace"),
];

/// Enough bytes to recognise any of these files.
const MAGIC_BYTES: usize = 8;

type Bytes = io::Chain<Cursor<Vec<u8>>, Noticing>;

pub(crate) struct Input {
    bytes: Box<dyn Read + Send>,
    /// Whether the file's last byte was read, and a program asked for more.
    at_end: Arc<AtomicBool>,
    is_compressed: bool,
    /// Whether the compressed data end before their end.
    pub(crate) is_cut: bool,
}

impl Input {
    /// Begins to read `file`.
    ///
    /// # Errors
    /// Returns what is wrong, in words: the operating system's refusal, or a format that is not read.
    pub(crate) fn new(file: Box<dyn Read + Send>) -> Result<Self, String> {
        let at_end = Arc::new(AtomicBool::new(false));
        let mut file = Noticing { file, at_end: Arc::clone(&at_end) };
        let mut magic = Vec::new();
        let head = (&mut file).take(MAGIC_BYTES as u64).read_to_end(&mut magic);
        head.map_err(|error| format!("cannot be read: {error}"))?;
        at_end.store(false, Ordering::Relaxed);
        if let Some((_, name)) = FOREIGN.iter().find(|(begin, _)| magic.starts_with(begin)) {
            return Err(format!("found {name}"));
        }
        let word = magic.first_chunk().map(|word| u32::from_le_bytes(*word));
        let is_zstd = word.is_some_and(|word| word == ZSTD || ZSTD_SKIPPED.contains(&word));
        let is_gzip = magic.starts_with(&GZIP);
        let bytes = Cursor::new(magic).chain(file);
        let bytes: Box<dyn Read + Send> = match (is_gzip, is_zstd) {
            (true, _) => Box::new(MultiGzDecoder::new(bytes)),
            (_, true) => Box::new(Zstd::new(bytes)),
            _ => Box::new(bytes),
        };
        Ok(Self { bytes, at_end, is_compressed: is_gzip || is_zstd, is_cut: false })
    }

    /// Reads some bytes into `space`, which is not empty. Returns 0 at the end, also if compressed data are cut there.
    ///
    /// # Errors
    /// Returns what is wrong, in words.
    pub(crate) fn read(&mut self, space: &mut [u8]) -> Result<usize, String> {
        loop {
            return match self.bytes.read(space) {
                Ok(read) => Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) if self.is_compressed && self.at_end.load(Ordering::Relaxed) => {
                    self.is_cut = true;
                    Ok(0)
                }
                Err(error) if self.is_compressed => Err(format!("cannot be decompressed: {error}")),
                Err(error) => Err(format!("cannot be read: {error}")),
            };
        }
    }
}

/// A file that notices that its end was reached. So data that are cut differ from damaged data, whatever a
/// decompressor says of them.
struct Noticing {
    file: Box<dyn Read + Send>,
    at_end: Arc<AtomicBool>,
}

impl Read for Noticing {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(space)?;
        if read == 0 && !space.is_empty() {
            self.at_end.store(true, Ordering::Relaxed);
        }
        Ok(read)
    }
}

/// The frames of a zstd file, one after the other. The decoder holds at most a window of 128 MiB, as zstd itself does
/// unless it is told otherwise. It refuses frames that ask for more.
struct Zstd {
    rest: BufReader<Bytes>,
    decoder: FrameDecoder,
    is_within_frame: bool,
}

impl Zstd {
    fn new(bytes: Bytes) -> Self {
        let rest = BufReader::with_capacity(BUFFER_BYTES, bytes);
        Self { rest, decoder: FrameDecoder::new(), is_within_frame: false }
    }

    /// Begins the next frame. Returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.rest.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.rest) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut (&mut self.rest).take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    /// Checks the sum of the frame's content (XXH64), if the frame has one.
    fn check(&self) -> io::Result<()> {
        let found = self.decoder.get_checksum_from_data();
        if found.is_some() && found != self.decoder.get_calculated_checksum() {
            return Err(io::Error::other("a checksum is wrong"));
        }
        Ok(())
    }
}

impl Read for Zstd {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_within_frame {
                while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                    let one = BlockDecodingStrategy::UptoBlocks(1);
                    self.decoder.decode_blocks(&mut self.rest, one).map_err(io::Error::other)?;
                }
                let read = self.decoder.read(space)?;
                if read > 0 || space.is_empty() {
                    return Ok(read);
                }
                self.check()?;
                self.is_within_frame = false;
            }
            if !self.begin()? {
                return Ok(0);
            }
            self.is_within_frame = true;
        }
    }
}
