//! How many elements of a sparse dataset are defined, without the selection of them.

use std::collections::BTreeSet;

use hyperslab_space::Space;

use super::{ChunkCache, ChunkPartition, RequestOptions};
use crate::{ChunkCoord, Result, Storage, layout::Part, transfer::own_piece_of};

impl ChunkCache {
    /// How many elements are defined in all chunks: those in memory are asked, of others the index tells the bytes of values. No chunk is read or written, and the
    /// extent may have more elements than 64 bits can number. The caller holds the range lock of the whole dataset, of which `all` selects everything.
    pub fn defined_count(&self, partition: &ChunkPartition, options: RequestOptions<'_>, all: &Space) -> Result<u64> {
        let (source, mut count) = (partition.source(), 0u64);
        let (storage, layout) = (source.storage(), source.layout());
        let Some(grid) = layout.grid() else { return Ok(0) };
        // Memory is asked first: a chunk that leaves it meanwhile is in the file then.
        let here: BTreeSet<ChunkCoord> = partition.coords().into_iter().collect();
        if let Storage::Chunked(chunked) = &storage.live_view()?.values()?.storage {
            for (_, entry) in chunked.entries(storage.file())?.iter().filter(|(coord, _)| !here.contains(coord)) {
                let values = entry.sections.get(1).unwrap_or_default();
                let bytes = values.unfiltered.unwrap_or(values.size);
                count = count.saturating_add(bytes / layout.element().max(1));
            }
        }
        let pieces = here.iter().map(|coord| own_piece_of(all, grid, coord));
        let pieces = pieces.filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
        self.for_each_list(partition, &pieces, (None, Part::Selection), &mut |list, bytes| {
            self.visit_list((options, partition), (list, bytes, Part::Selection), &mut |chunk, piece| {
                chunk.defined(&piece.file, &mut |run| {
                    count = count.saturating_add(run.end - run.start);
                    Ok(())
                })
            })
        })?;
        Ok(count)
    }
}
