//! Chunks of several datasets at once.

use hyperslab_cache::{Demand, Lookup};
use hyperslab_file::OpenFile;
use hyperslab_space::Space;

use super::{
    ChunkCache, ChunkPartition, Dataset, Keep,
    fetch::by_partition,
    io_path::{Worth, coords},
    reach::Reach,
};
use crate::{
    ChunkCoord, ChunkKind, Result,
    layout::{Part, chunk_layout::covers},
    transfer::PIECES,
};

impl ChunkCache {
    /// Brings the chunks that hold parts of several datasets into memory with one request, as far as they fit and are worth it. The caller
    /// holds the range locks of all of them. A request that writes needs no chunks that it writes as a whole.
    pub fn prefetch(&self, file: &OpenFile, parts: &[(&ChunkPartition, &Space)], to_write: bool) -> Result<()> {
        let (mut wanted, mut bytes) = (Vec::new(), 0usize);
        for (partition, selection) in parts {
            let layout = partition.source().layout();
            let Some((grid, reach)) = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, selection)?))) else {
                continue;
            };
            let joins = !to_write && parts.len() > 1 && self.joins((file, partition), &reach, selection);
            let is_dense = layout.kind() == ChunkKind::Dense;
            if !is_dense || reach.most() > PIECES as u64 || layout.is_addressable() && !joins {
                continue;
            }
            let memory = Space::simple(&[selection.npoints()])?;
            let mut pieces = selection.pieces(grid, &memory)?.batch(usize::MAX)?;
            if to_write {
                let view = partition.source().storage().live_view()?;
                let values = view.values()?;
                pieces.retain(|piece| !layout.is_whole(piece) && !covers(piece, values.inside(&piece.chunk)));
            }
            let worth = if joins { Worth::All } else { Worth::None };
            let through = coords(&self.paths(partition, pieces, Keep::Worthy, worth).through);
            let here = partition.has(&through);
            let missing = through.into_iter().zip(here).filter(|(_, here)| !here);
            let fits = self.available(partition).min(self.cache.available().saturating_sub(bytes));
            let fits = fits / layout.expected_footprint(1);
            let missing: Vec<_> = missing.take(fits).map(|(coord, _)| (*partition, coord)).collect();
            bytes += layout.expected_footprint(missing.len());
            wanted.extend(missing);
        }
        // Parts of one dataset may share chunks.
        wanted.sort_by(|left, right| (left.0.number(), &left.1).cmp(&(right.0.number(), &right.1)));
        let _reservation = self.cache.reserve(Demand { chunks: bytes, aside: bytes });
        let (mut loading, mut tickets, mut grants) = (Vec::new(), Vec::new(), Vec::new());
        for (partition, chunks) in by_partition(&wanted) {
            let missing = |coord: &ChunkCoord| match partition.find(coord) {
                Lookup::Miss(ticket) => Some((ticket, coord.clone())),
                Lookup::Hit(_) | Lookup::Loading(_) => None,
            };
            let missing: Vec<_> = chunks.iter().filter_map(|(_, coord)| missing(coord)).collect();
            // Chunks for which there is no room are left to the request that wants them.
            let bytes = partition.source().layout().expected_footprint(missing.len());
            let Some(grant) = self.room(partition, bytes) else { continue };
            for (ticket, coord) in missing {
                loading.push((partition, coord));
                tickets.push((ticket, grants.len()));
            }
            grants.push(grant);
        }
        for ((ticket, nth), chunk) in tickets.into_iter().zip(self.fetch(file, &loading, Part::All)?) {
            if let (Some(chunk), Some(grant)) = (chunk, grants.get_mut(nth)) {
                ticket.fill(chunk, grant, false);
            }
        }
        Ok(())
    }

    /// Whether chunks that are addressable in place come into memory because others come with the same request: few, most of whose bytes are wanted, or whose other
    /// bytes take the storage less time than a request of their own would. By itself a request for such chunks is as fast without the cache, until they earned their
    /// place there.
    fn joins(&self, (file, partition): Dataset<'_>, reach: &Reach, selection: &Space) -> bool {
        let layout = partition.source().layout();
        let (bytes, wanted) =
            (reach.count().saturating_mul(layout.expected_bytes() as u64), layout.selected(selection));
        let spare = file.latency_bytes().unwrap_or(0).max(bytes / 2);
        layout.is_addressable() && !self.is_stream(partition, reach) && bytes.saturating_sub(wanted) <= spare
    }
}
