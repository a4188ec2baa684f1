//! Reading structures of a file: a cursor that knows what it reads, for its errors.

use crate::{Cursor, ErrorKind, Truncated, Width, Widths};

/// Bytes that are not what the format says. As large as a pointer, so that fields which are as they should be are read at little cost.
///
/// ```
/// use hyperslab_base::{Fault, Reader};
/// let why = Reader::new("heap", b"HEAD").signature(b"HEAP").unwrap_err();
/// assert_eq!((why.what, why.at, why.fault), ("heap", 0, Fault::Signature));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Malformed(Box<Defect>);

/// What is wrong with a structure: which one, where in it, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at byte {at}: {why}")]
pub struct Defect {
    /// The structure.
    pub what: &'static str,
    /// Where in its bytes.
    pub at: usize,
    /// Which check they fail.
    pub fault: Fault,
    /// What is wrong.
    pub why: String,
}

impl std::ops::Deref for Malformed {
    type Target = Defect;

    fn deref(&self) -> &Defect {
        &self.0
    }
}

/// Which check the bytes of a structure fail. The checks are made in this order, so that content is looked at only if all before it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The signature is another one: these are bytes of something else.
    Signature,
    /// The version is unknown, and with it the layout.
    Version,
    /// The bytes end before the structure does, or no structure has the length that they tell.
    Length,
    /// The checksum is not that of the bytes. [`Defect::at`] is where it ends.
    Checksum {
        /// What is stored.
        stored: u32,
        /// What the bytes give.
        computed: u32,
    },
    /// A field has a value that the format does not allow.
    Content,
}

impl Malformed {
    /// The error of a structure that has a defect.
    #[cold]
    pub fn new(defect: Defect) -> Malformed {
        Malformed(Box::new(defect))
    }

    /// What went wrong, for a program that wants to act on it.
    pub fn kind(&self) -> ErrorKind {
        match self.fault {
            Fault::Version => ErrorKind::Unsupported,
            _ => ErrorKind::Malformed,
        }
    }
}

impl Fault {
    /// Whether bytes that were read while another process wrote them may fail this check.
    ///
    /// ```
    /// use hyperslab_base::Fault;
    /// assert!(Fault::Length.may_be_torn() && !Fault::Content.may_be_torn());
    /// ```
    pub fn may_be_torn(self) -> bool {
        self != Fault::Content
    }
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
    /// Whether a checksum proved that the bytes are as they were written.
    is_sealed: bool,
}

impl<'a> Reader<'a> {
    /// A reader at the front of `bytes`, which hold a `what`.
    #[inline]
    pub fn new(what: &'static str, bytes: &'a [u8]) -> Reader<'a> {
        Reader { what, cursor: Cursor::new(bytes), is_sealed: false }
    }

    /// An error at the current place: content that the format does not allow.
    pub fn refuse(&self, why: impl Into<String>) -> Malformed {
        self.refuse_as(Fault::Content, why)
    }

    /// An error at the current place.
    pub fn refuse_as(&self, fault: Fault, why: impl Into<String>) -> Malformed {
        Malformed::new(Defect { what: self.what, at: self.cursor.position(), fault, why: why.into() })
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
        Err(before.refuse_as(
            Fault::Signature,
            format!("signature {} where {} belongs", found.escape_ascii(), expected.escape_ascii()),
        ))
    }

    /// A version byte, which must be one of those we know.
    pub fn version(&mut self, known: std::ops::RangeInclusive<u8>) -> Result<u8, Malformed> {
        let before = self.clone();
        let version = self.u8()?;
        if known.contains(&version) {
            return Ok(version);
        }
        Err(before.refuse_as(Fault::Version, format!("unknown version {version}")))
    }

    /// Verifies the checksum of a structure of `length` bytes, the last four of which are the checksum of all others, before any content is read.
    /// From now on the structure ends where its checksum begins.
    ///
    /// ```
    /// use hyperslab_base::{Fault, Reader, lookup3};
    /// let mut bytes = b"FREE\x07".to_vec();
    /// bytes.extend(lookup3(&bytes).to_le_bytes());
    /// let mut reader = Reader::new("free list", &bytes);
    /// reader.signature(b"FREE")?;
    /// reader.sealed(9)?;
    /// assert_eq!((reader.u8()?, reader.left()), (7, 0));
    /// bytes[4] = 8;
    /// assert!(matches!(Reader::new("free list", &bytes).sealed(9).unwrap_err().fault, Fault::Checksum { .. }));
    /// assert_eq!(Reader::new("free list", &bytes).sealed(10).unwrap_err().fault, Fault::Length);
    /// # Ok::<(), hyperslab_base::Malformed>(())
    /// ```
    pub fn sealed(&mut self, length: usize) -> Result<(), Malformed> {
        let bytes = self.cursor.bytes();
        let (Some(bytes), Some(end)) = (bytes.get(..length), length.checked_sub(4)) else {
            let why = format!("{length} bytes wanted, but there are only {}", bytes.len());
            return Err(self.refuse_as(Fault::Length, why));
        };
        let mut seal = Reader::new(self.what, bytes);
        seal.skip(end)?;
        seal.checksum(bytes)?;
        self.cursor.cut(end);
        self.is_sealed = true;
        Ok(())
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
        let why = format!("checksum {stored:#010x} stored, {computed:#010x} computed: the bytes are damaged");
        Err(self.refuse_as(Fault::Checksum { stored, computed }, why))
    }

    #[inline]
    fn read<T>(&mut self, read: impl FnOnce(&mut Cursor<'a>) -> Result<T, Truncated>) -> Result<T, Malformed> {
        read(&mut self.cursor).map_err(|truncated| self.truncated(truncated))
    }

    #[cold]
    fn truncated(&self, Truncated { at, needed, left }: Truncated) -> Malformed {
        let fault = if self.is_sealed { Fault::Content } else { Fault::Length };
        let why = format!("{needed} bytes wanted, but only {left} are left");
        Malformed::new(Defect { what: self.what, at, fault, why })
    }
}
