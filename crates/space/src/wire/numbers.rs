//! Lists of numbers of one width, read where they are.

use hyperslab_base::{Malformed, Reader, Width};

/// Entries of so many numbers each, all of which are there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers<'a> {
    bytes: &'a [u8],
    width: Width,
    per_entry: usize,
}

impl<'a> Numbers<'a> {
    /// Reads a count of entries, and passes over them. The count is held against the bytes that are left.
    pub(super) fn read(reader: &mut Reader<'a>, width: Width, per_entry: usize) -> Result<Numbers<'a>, Malformed> {
        let count = reader.uint(width)?;
        let entry = width.bytes() * per_entry;
        let there = (reader.left() / entry) as u64;
        if count > there {
            return Err(reader.refuse(format!("{count} entries, but there are bytes for {there} only")));
        }
        Ok(Numbers { bytes: reader.take(count as usize * entry)?, width, per_entry })
    }

    /// How many entries there are.
    pub(super) fn entries(&self) -> usize {
        self.bytes.len() / (self.width.bytes() * self.per_entry)
    }

    /// A number of an entry; zero for what is not there.
    #[inline]
    pub(super) fn get(&self, entry: usize, nth: usize) -> u64 {
        let at = (entry * self.per_entry + nth) * self.width.bytes();
        let from = self.bytes.get(at..).unwrap_or_default();
        match self.width {
            Width::W2 => from.first_chunk().map_or(0, |bytes| u64::from(u16::from_le_bytes(*bytes))),
            Width::W4 => from.first_chunk().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes))),
            _ => from.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)),
        }
    }

    /// All numbers of all entries.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = u64> {
        (0..self.bytes.len() / self.width.bytes()).map(|nth| self.get(0, nth))
    }
}
