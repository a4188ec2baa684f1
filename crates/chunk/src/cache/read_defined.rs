//! Reads of what is defined: elements and their values, of one moment.

use hyperslab_space::Space;

use super::{ChunkCache, ChunkPartition, RequestOptions, element_numbers::ElementNumbers};
use crate::{
    Error, Result,
    layout::Part,
    structured::{DefinedPart, DefinedPieces, OwnValues},
};

/// Values that wait until no element before them can come have at least so many bytes: fewer are not worth a conversion of their own.
const WAITING: usize = 4 << 20;

impl ChunkCache {
    /// Hands out the selected elements of a sparse dataset that are defined, with their values as they are stored: in row-major order, each once, some at a time.
    /// Each chunk is looked at once. Memory holds the values of the chunks that are asked together, and of those that share rows with them. The caller holds its range lock.
    pub fn read_defined<E: From<Error>>(
        &self,
        partition: &ChunkPartition,
        options: RequestOptions<'_>,
        selection: &Space,
        each: &mut dyn FnMut(DefinedPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        selection.check_inside().map_err(Error::from)?;
        let layout = partition.source().layout();
        let (numbers, mut found) = (ElementNumbers::of(selection)?, DefinedPieces::default());
        self.cache.touch(partition);
        self.for_each_stored(partition, selection, &mut |pieces| {
            self.for_each_list(partition, &pieces, (None, Part::All), &mut |list, bytes| -> Result<(), E> {
                let next = list.first().map_or(0, |piece| numbers.first_of(layout.chunk(), &piece.chunk));
                // Chunks come by rising coordinate, so no element comes any more that is before the first one of the next chunk.
                if found.bytes() >= WAITING {
                    found.hand_out(next, layout.shape(), &mut *each)?;
                }
                let visited = self.visit_list((options, partition), (list, bytes, Part::All), &mut |chunk, piece| {
                    let mut in_chunk = numbers.in_chunk(layout.chunk(), &piece.chunk);
                    let (mut runs, mut values) = (Vec::new(), OwnValues::default());
                    chunk.append_defined(&piece.file, &mut values, &mut |run| {
                        in_chunk.add(run.start.into()..run.end.into(), &mut runs)
                    })?;
                    found.add_values(runs, values)
                });
                Ok(visited?)
            })
        })?;
        found.hand_out(u64::MAX, layout.shape(), each)
    }
}
