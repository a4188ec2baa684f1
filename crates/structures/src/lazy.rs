//! Headers of structures that stay decoded in the metadata cache, and are encoded when they are written.

use std::{ops::Deref, sync::Arc};

use hyperslab_base::{Width, Widths};
use hyperslab_file::{OpenFile, Owned, Result, Structure};

/// What the format has of a header.
pub(crate) trait Encode: Send + Sync + 'static {
    /// Its bytes in a file with numbers of these widths.
    fn encode(&self, widths: Widths) -> Result<Vec<u8>>;

    /// Whether it can be encoded in any file with numbers of eight bytes.
    fn fits(&self) -> bool;
}

/// A header in memory.
#[derive(Debug)]
pub(crate) struct Lazy<T> {
    value: T,
    widths: Widths,
}

impl<T: Encode> Lazy<T> {
    pub(crate) fn new(value: T, file: &OpenFile) -> Arc<Lazy<T>> {
        Arc::new(Lazy { value, widths: file.widths() })
    }

    pub(crate) fn of(value: T, widths: Widths) -> Lazy<T> {
        Lazy { value, widths }
    }

    /// It is at `address` from now on. A header that cannot be encoded is refused now, not when it is written.
    pub(crate) fn put(self: &Arc<Lazy<T>>, file: Owned<'_>, address: u64) -> Result<()> {
        if (self.widths.offsets, self.widths.lengths) != (Width::W8, Width::W8) || !self.value.fits() {
            self.value.encode(self.widths)?;
        }
        file.put_structure(address, self.clone())
    }
}

impl<T> Lazy<T> {
    /// The header.
    pub(crate) fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Encode> Structure for Lazy<T> {
    fn encode(&self) -> Result<Vec<u8>> {
        self.value.encode(self.widths)
    }

    fn footprint(&self) -> usize {
        size_of::<Lazy<T>>()
    }
}
