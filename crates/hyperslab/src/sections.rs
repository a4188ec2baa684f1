//! What the sections of sparse chunks take.

use crate::{Dataset, Result};

/// What the sections of all chunks of a sparse dataset take, as the index tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSections {
    /// The stored bytes that tell which elements are defined.
    pub selection: u64,
    /// The stored bytes of their values.
    pub values: u64,
    /// The stored bytes of what is of variable length in them.
    pub vlen: u64,
    /// How many elements are defined.
    pub defined: u64,
}

impl Dataset {
    /// What each section of the chunks of a [sparse](crate::NewDataset::sparse) dataset takes, and how many elements are defined; nothing for other datasets. Reads the
    /// index of chunks as a whole when the file has all chunks, and no chunk.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let row = file.root()?.new_dataset::<u16>().shape([1 << 40]).chunks([1 << 20]).sparse().create("row")?;
    /// row.write_slice(5..8, &[1, 2, 3])?;
    /// let stored = row.stored_sections()?.unwrap_or_default();
    /// assert_eq!((stored.defined, stored.values), (3, 6));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn stored_sections(&self) -> Result<Option<StoredSections>> {
        if !self.is_sparse() {
            return Ok(None);
        }
        let (mut stored, element) = (StoredSections::default(), self.open.stored_datatype().size().max(1) as u64);
        for (_, entry) in self.open.stored_entries()? {
            let [selection, values, vlen] = [0, 1, 2].map(|number| entry.sections.get(number).unwrap_or_default());
            stored.selection = stored.selection.saturating_add(selection.size);
            stored.values = stored.values.saturating_add(values.size);
            stored.vlen = stored.vlen.saturating_add(vlen.size);
            let bytes = values.unfiltered.unwrap_or(values.size);
            stored.defined = stored.defined.saturating_add(bytes / element);
        }
        Ok(Some(stored))
    }
}
