//! Reading and writing little-endian fields with every bound checked.

use crate::Width;

/// The bytes ended before a field did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{needed} bytes wanted at byte {at}, but only {left} are left")]
pub struct Truncated {
    /// Where in the buffer the field starts.
    pub at: usize,
    /// How many bytes the field has.
    pub needed: usize,
    /// How many bytes there are.
    pub left: usize,
}

/// Reads little-endian fields from a byte slice, front to back.
///
/// ```
/// use hyperslab_base::Cursor;
/// let mut cursor = Cursor::new(&[7, 1, 0, 0, 0]);
/// assert_eq!(cursor.u8(), Ok(7));
/// assert_eq!(cursor.u32(), Ok(1));
/// assert!(cursor.u8().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the front of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    /// How many bytes were read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// All bytes, also those that were read.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Lets the bytes end at `end`, if they do not end before.
    #[inline]
    pub fn cut(&mut self, end: usize) {
        self.bytes = self.bytes.get(..end.max(self.at)).unwrap_or(self.bytes);
    }

    /// The next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Truncated> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..count).ok_or(Truncated { at: self.at, needed: count, left: rest.len() })?;
        self.at += count;
        Ok(taken)
    }

    /// Passes over `count` bytes.
    #[inline]
    pub fn skip(&mut self, count: usize) -> Result<(), Truncated> {
        self.take(count).map(drop)
    }

    /// An unsigned integer of `width` bytes.
    #[inline]
    pub fn uint(&mut self, width: Width) -> Result<u64, Truncated> {
        // The width of nearly all files.
        if width == Width::W8 {
            return self.array().map(u64::from_le_bytes);
        }
        let mut wide = [0u8; 8];
        for (to, from) in wide.iter_mut().zip(self.take(width.bytes())?) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(wide))
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Truncated> {
        self.array().map(|[byte]| byte)
    }

    /// All bytes that are left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    /// Two bytes.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Truncated> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Truncated> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Truncated> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }
}

/// Writes little-endian fields to the end of a byte vector.
///
/// ```
/// use hyperslab_base::{Sink, Width};
/// let mut sink = Sink::new();
/// sink.u8(7);
/// sink.uint(Width::W2, 513);
/// assert_eq!(sink.into_bytes(), [7, 1, 2]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sink {
    bytes: Vec<u8>,
}

impl Sink {
    /// An empty sink.
    pub fn new() -> Sink {
        Sink::default()
    }

    /// An empty sink with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Sink {
        Sink { bytes: Vec::with_capacity(bytes) }
    }

    /// The low `width` bytes of `value`.
    #[inline]
    pub fn uint(&mut self, width: Width, value: u64) {
        debug_assert!(value <= width.max(), "{value} does not fit {} bytes", width.bytes());
        match width.bytes() {
            // The usual ones are single stores.
            8 => self.bytes.extend_from_slice(&value.to_le_bytes()),
            4 => self.u32(value as u32),
            2 => self.bytes.extend_from_slice(&(value as u16).to_le_bytes()),
            bytes => self.bytes.extend_from_slice(value.to_le_bytes().get(..bytes).unwrap_or_default()),
        }
    }

    /// Makes room for so many bytes more; whether there is memory for them.
    pub fn try_reserve_exact(&mut self, more: usize) -> bool {
        self.bytes.try_reserve_exact(more).is_ok()
    }

    /// `count` zero bytes.
    #[inline]
    pub fn zeros(&mut self, count: usize) {
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// `bytes` as they are.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
