//! Which elements are defined, chunk by chunk.

use std::vec;

use hyperslab_chunk::ChunkCoord;
use hyperslab_session::OpenDataset;
use hyperslab_space::{ElementRuns, Space};

use super::Dataset;
use crate::Result;

/// So many chunks are asked with one request.
const TOGETHER: usize = 256;

/// The defined elements of one chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinedChunk {
    /// Its place in the grid of chunks.
    pub place: Vec<u64>,
    /// The selected elements that are defined in it, at least one.
    pub elements: ElementRuns,
}

/// The chunks of a sparse dataset that have selected elements which are defined, by rising place. Made by [`Dataset::defined_chunks`].
#[derive(Debug)]
pub struct DefinedChunks {
    dataset: OpenDataset,
    selection: Space,
    chunks: vec::IntoIter<ChunkCoord>,
    /// Chunks that were asked already.
    ready: vec::IntoIter<(ChunkCoord, ElementRuns)>,
}

impl Dataset {
    /// The selected elements that are defined, chunk by chunk. Of some hundred chunks at a time it is found out with one request, and no values are read. Chunks that come while the
    /// iterator is used may be missing, and elements that are written or erased meanwhile are as they are when their chunk is asked; a dataset that is resized meanwhile gives
    /// [`Error::Extent`](crate::Error::Extent). An error for datasets that are not [sparse](crate::NewDataset::sparse).
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u8>().shape([1000, 1000]).chunks([100, 100]).sparse();
    /// let image = new.create("image")?;
    /// image.write_coords(&[999, 999, 0, 250, 0, 260], &[1u8, 2, 3])?;
    /// let chunks = image.defined_chunks(&image.space())?.collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!((chunks[0].place.as_slice(), chunks[0].elements.coords()?), (&[0, 2][..], vec![0, 250, 0, 260]));
    /// assert_eq!((chunks[1].place.as_slice(), chunks.len()), (&[9, 9][..], 2));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn defined_chunks(&self, selection: &Space) -> Result<DefinedChunks> {
        let (selection, chunks) = (selection.to_set()?, self.open.stored_chunks(selection)?);
        Ok(DefinedChunks {
            dataset: self.open.clone(),
            selection,
            chunks: chunks.into_iter(),
            ready: Vec::new().into_iter(),
        })
    }
}

impl Iterator for DefinedChunks {
    type Item = Result<DefinedChunk>;

    fn next(&mut self) -> Option<Result<DefinedChunk>> {
        loop {
            if let Some((place, elements)) = self.ready.next() {
                return Some(Ok(DefinedChunk { place: place.to_vec(), elements }));
            }
            let asked: Vec<ChunkCoord> = self.chunks.by_ref().take(TOGETHER).collect();
            if asked.is_empty() {
                return None;
            }
            match self.dataset.defined_in_chunks(&self.selection, &asked) {
                Ok(found) => self.ready = found.into_iter(),
                Err(why) => {
                    self.chunks = Vec::new().into_iter();
                    return Some(Err(why));
                }
            }
        }
    }
}
