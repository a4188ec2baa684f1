//! Writing structures of a file: a sink that knows what it writes, for its errors. The twin of [`Reader`](crate::Reader).

use crate::{Sink, Width, Widths};

/// A value that has no place in the format: in which structure, which field, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}, {field}: {why}")]
pub struct Unfit {
    /// Which structure.
    pub what: &'static str,
    /// Which of its fields.
    pub field: &'static str,
    /// What is wrong.
    pub why: String,
}

/// Writes the fields of one structure, front to back. Numbers that could be too large come with the name of their field.
///
/// ```
/// use hyperslab_base::{Width, Writer};
/// let mut writer = Writer::new("free list");
/// writer.extend(b"FREE");
/// writer.u8(0);
/// writer.uint("count", Width::W2, 7)?;
/// let wrong = writer.uint("count", Width::W2, 70_000).unwrap_err();
/// assert_eq!(wrong.to_string(), "free list, count: 70000 does not fit 2 bytes");
/// assert_eq!(writer.into_bytes(), b"FREE\x00\x07\x00");
/// # Ok::<(), hyperslab_base::Unfit>(())
/// ```
#[derive(Clone, Debug)]
pub struct Writer {
    what: &'static str,
    sink: Sink,
}

/// Most structures have fewer bytes, so that they need one allocation.
const USUAL: usize = 128;

impl Writer {
    /// A writer of a `what`.
    pub fn new(what: &'static str) -> Writer {
        Writer { what, sink: Sink::with_capacity(USUAL) }
    }

    /// A writer of a `what` that has about so many bytes. A file may have said so: much more room than usual is made when it is needed.
    pub fn sized(what: &'static str, bytes: usize) -> Writer {
        Writer { what, sink: Sink::with_capacity(bytes.min(32 * USUAL)) }
    }

    /// An error about a field.
    pub fn refuse(&self, field: &'static str, why: impl Into<String>) -> Unfit {
        Unfit { what: self.what, field, why: why.into() }
    }

    /// How many bytes were written so far.
    pub fn position(&self) -> usize {
        self.sink.len()
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self, value: u8) {
        self.sink.u8(value);
    }

    /// Two bytes.
    #[inline]
    pub fn u16(&mut self, value: u16) {
        self.sink.extend(&value.to_le_bytes());
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self, value: u32) {
        self.sink.u32(value);
    }

    /// Eight bytes.
    #[inline]
    pub fn u64(&mut self, value: u64) {
        self.sink.extend(&value.to_le_bytes());
    }

    /// `bytes` as they are.
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        self.sink.extend(bytes);
    }

    /// `count` zero bytes.
    #[inline]
    pub fn zeros(&mut self, count: usize) {
        self.sink.zeros(count);
    }

    /// An unsigned integer of `width` bytes.
    #[inline]
    pub fn uint(&mut self, field: &'static str, width: Width, value: u64) -> Result<(), Unfit> {
        if value > width.max() {
            return Err(self.too_large(field, width, value));
        }
        self.sink.uint(width, value);
        Ok(())
    }

    #[cold]
    fn too_large(&self, field: &'static str, width: Width, value: u64) -> Unfit {
        self.refuse(field, format!("{value} does not fit {} bytes", width.bytes()))
    }

    /// A length in memory, or a number of things, in `width` bytes.
    #[inline]
    pub fn count(&mut self, field: &'static str, width: Width, value: usize) -> Result<(), Unfit> {
        self.uint(field, width, value as u64)
    }

    /// An address; all ones mean that there is none, so none can be all ones.
    #[inline]
    pub fn address(&mut self, field: &'static str, widths: Widths, value: Option<u64>) -> Result<(), Unfit> {
        let max = widths.offsets.max();
        match value {
            Some(value) if value == max => {
                Err(self.refuse(field, format!("{value:#x} means that there is no address")))
            }
            value => self.uint(field, widths.offsets, value.unwrap_or(max)),
        }
    }

    /// A length.
    #[inline]
    pub fn length(&mut self, field: &'static str, widths: Widths, value: u64) -> Result<(), Unfit> {
        self.uint(field, widths.lengths, value)
    }

    /// Zeros up to the next multiple of `unit`, counted from the front.
    pub fn align(&mut self, unit: usize) {
        self.zeros(self.position().next_multiple_of(unit) - self.position());
    }

    /// Zeros up to `size` bytes in all; an error that names `field` if there are more already.
    pub fn fill_to(&mut self, field: &'static str, size: usize) -> Result<(), Unfit> {
        let Some(missing) = size.checked_sub(self.position()) else {
            return Err(self.refuse(field, format!("{} bytes where {size} have room", self.position())));
        };
        if !self.sink.try_reserve_exact(missing) {
            return Err(self.refuse(field, format!("no memory for {size} bytes")));
        }
        self.sink.zeros(missing);
        Ok(())
    }

    /// The checksum of everything before it.
    pub fn checksum(&mut self) {
        let sum = crate::lookup3(self.sink.as_bytes());
        self.sink.u32(sum);
    }

    /// The bytes written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.sink.into_bytes()
    }
}
