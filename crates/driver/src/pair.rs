//! One pair of selections of a selection request.
//!
//! Lives here: [`SelectionPair`] and which buffer belongs to which pair. Does not live here: walking the selections (that is
//! `lower`). Made by `chunk`, read by every driver that takes selections.

use hyperslab_space::Space;

use crate::Why;

/// A selection in the file and the selection in memory that its elements go to or come from.
///
/// The n-th selected element of `file` is at `offset` + its index × `element_size`; the n-th of `memory` is at its index ×
/// `element_size` of the buffer of the pair.
///
/// ```
/// use hyperslab_driver::{Driver, Memory, SelectionPair, Transfer};
/// use hyperslab_space::{Op, Slab, Space};
/// let storage = Memory::from((0..100).collect::<Vec<u8>>());
/// let mut file = Space::simple(&[10, 10])?;
/// file.select_hyperslab(Op::Set, &[Slab::new(2, 1, 2, 1), Slab::new(3, 1, 2, 1)])?;
/// let memory = Space::simple(&[4])?;
/// let pair = SelectionPair { memory: &memory, file: &file, offset: 0, element_size: 1 };
/// let mut bytes = [0; 4];
/// storage.read_selection(&[pair], &mut [&mut bytes], &Transfer::default())?;
/// assert_eq!(bytes, [23, 24, 33, 34]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SelectionPair<'a> {
    /// Where the elements are in the buffer.
    pub memory: &'a Space,
    /// Where the elements are in the file.
    pub file: &'a Space,
    /// The address of element zero of `file`.
    pub offset: u64,
    /// Bytes per element.
    pub element_size: u64,
}

impl SelectionPair<'_> {
    /// How many bytes the pair moves; saturating, since checks come with lowering.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.file.npoints().saturating_mul(self.element_size)
    }
}

/// Which buffer the pair at `index` uses: its own, or the only one there is (the document's shortened `bufs`).
pub(crate) fn buffer_index(index: usize, buffers: usize) -> usize {
    if buffers == 1 { 0 } else { index }
}

/// There must be one buffer per pair, or one for all.
pub(crate) fn check_buffers(pairs: usize, buffers: usize) -> Result<(), Why> {
    if buffers == pairs || buffers == 1 {
        return Ok(());
    }
    Err(Why::invalid(format!("{pairs} pairs with {buffers} buffers: there must be one for each, or one for all")))
}
