//! Reading structures of a file: a cursor that knows what it reads, for its errors.

use crate::{Cursor, Truncated, Width, Widths};

/// Bytes that are not what the format says: which structure, where in it, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at byte {at}: {why}")]
pub struct Malformed {
    /// Which structure.
    pub what: &'static str,
    /// Where in its bytes.
    pub at: usize,
    /// What is wrong.
    pub why: String,
}

/// Reads the fields of one structure, front to back.
///
/// ```
/// use hyperslab_base::Reader;
/// let mut reader = Reader::new("free list", b"FREE\x00\x07\x00");
/// reader.signature(b"FREE")?;
/// assert_eq!(reader.version(0..=1)?, 0);
/// assert_eq!(reader.u16()?, 7);
/// assert_eq!(reader.u8().unwrap_err().to_string(), "free list, at byte 7: 1 bytes wanted, but only 0 are left");
/// # Ok::<(), hyperslab_base::Malformed>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    what: &'static str,
    cursor: Cursor<'a>,
}

impl<'a> Reader<'a> {
    /// A reader at the front of `bytes`, which hold a `what`.
    #[inline]
    pub fn new(what: &'static str, bytes: &'a [u8]) -> Reader<'a> {
        Reader { what, cursor: Cursor::new(bytes) }
    }

    /// An error at the current place.
    pub fn refuse(&self, why: impl Into<String>) -> Malformed {
        Malformed { what: self.what, at: self.cursor.position(), why: why.into() }
    }

    /// How many bytes were read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.cursor.position()
    }

    /// How many bytes are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.cursor.left()
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        self.read(|cursor| cursor.take(count))
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.read(Cursor::array)
    }

    /// All bytes that are left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        self.cursor.rest()
    }

    /// Passes over `count` bytes.
    #[inline]
    pub fn skip(&mut self, count: usize) -> Result<(), Malformed> {
        self.take(count).map(drop)
    }

    /// Passes over bytes up to the next multiple of `unit`, counted from the front, or to the end.
    #[inline]
    pub fn align(&mut self, unit: usize) {
        let over = self.position().next_multiple_of(unit) - self.position();
        let _ = self.cursor.skip(over.min(self.left()));
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.read(Cursor::u8)
    }

    /// Two bytes.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.read(Cursor::u16)
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.read(Cursor::u32)
    }

    /// Eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.uint(Width::W8)
    }

    /// An unsigned integer of `width` bytes.
    #[inline]
    pub fn uint(&mut self, width: Width) -> Result<u64, Malformed> {
        self.read(|cursor| cursor.uint(width))
    }

    /// An address; all ones mean that there is none.
    #[inline]
    pub fn address(&mut self, widths: Widths) -> Result<Option<u64>, Malformed> {
        let address = self.uint(widths.offsets)?;
        Ok((address != widths.offsets.max()).then_some(address))
    }

    /// A length.
    #[inline]
    pub fn length(&mut self, widths: Widths) -> Result<u64, Malformed> {
        self.uint(widths.lengths)
    }

    /// Four bytes that must be there.
    pub fn signature(&mut self, expected: &[u8; 4]) -> Result<(), Malformed> {
        let before = self.clone();
        let found = self.take(4)?;
        if found == expected {
            return Ok(());
        }
        Err(before.refuse(format!("signature {} where {} belongs", found.escape_ascii(), expected.escape_ascii())))
    }

    /// A version byte, which must be one of those we know.
    pub fn version(&mut self, known: std::ops::RangeInclusive<u8>) -> Result<u8, Malformed> {
        let before = self.clone();
        let version = self.u8()?;
        if known.contains(&version) { Ok(version) } else { Err(before.refuse(format!("unknown version {version}"))) }
    }

    /// The checksum of everything before it must follow.
    pub fn checksum(&mut self, whole: &[u8]) -> Result<(), Malformed> {
        let covered = whole.get(..self.position()).unwrap_or(whole);
        self.checksum_is(crate::lookup3(covered))
    }

    /// This checksum must follow.
    pub fn checksum_is(&mut self, computed: u32) -> Result<(), Malformed> {
        let stored = self.u32()?;
        if stored == computed {
            return Ok(());
        }
        Err(self.refuse(format!("checksum {stored:#010x} stored, {computed:#010x} computed: the bytes are damaged")))
    }

    #[inline]
    fn read<T>(&mut self, read: impl FnOnce(&mut Cursor<'a>) -> Result<T, Truncated>) -> Result<T, Malformed> {
        read(&mut self.cursor).map_err(|truncated| self.truncated(truncated))
    }

    #[cold]
    fn truncated(&self, Truncated { at, needed, left }: Truncated) -> Malformed {
        Malformed { what: self.what, at, why: format!("{needed} bytes wanted, but only {left} are left") }
    }
}
