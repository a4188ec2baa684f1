//! Chunks of several datasets at once.

use hyperslab_cache::{Demand, Lookup};
use hyperslab_space::Space;

use super::{
    ChunkCache, ChunkPartition, Keep,
    fetch::by_partition,
    io_path::{Worth, coords},
    reach::Reach,
};
use crate::{ChunkCoord, Result, layout::chunk_layout::covers, transfer::PIECES};

impl ChunkCache {
    /// Brings the chunks that hold parts of several datasets into memory with one request, as far as they fit and are worth it. It must be the
    /// caller's turn for all of them. A request that writes needs no chunks that it writes as a whole.
    pub fn prefetch(&self, parts: &[(&ChunkPartition, &Space)], to_write: bool) -> Result<()> {
        let (mut wanted, mut bytes) = (Vec::new(), 0usize);
        for (partition, selection) in parts {
            let layout = partition.home().layout();
            // Parts of chunks that are addressable in place are as fast without the cache, until they earned their place there.
            let grid = layout.grid().filter(|_| !layout.is_addressable());
            let Some((grid, reach)) = grid.and_then(|grid| Some((grid, Reach::of(grid, selection)?))) else { continue };
            if reach.most() > PIECES as u64 {
                continue;
            }
            let memory = Space::simple(&[selection.npoints()])?;
            let mut pieces = selection.pieces(grid, &memory)?.batch(usize::MAX)?;
            if to_write {
                let view = partition.home().storage().live_view()?;
                let values = view.values()?;
                pieces.retain(|piece| !layout.is_whole(piece) && !covers(piece, values.inside(&piece.chunk)));
            }
            let through = coords(&self.paths(partition, pieces, Keep::Worthy, Worth::None).through);
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
            let bytes = partition.home().layout().expected_footprint(missing.len());
            let Some(grant) = self.room(partition, bytes) else { continue };
            for (ticket, coord) in missing {
                loading.push((partition, coord));
                tickets.push((ticket, grants.len()));
            }
            grants.push(grant);
        }
        for ((ticket, nth), chunk) in tickets.into_iter().zip(self.fetch(&loading)?) {
            if let (Some(chunk), Some(grant)) = (chunk, grants.get_mut(nth)) {
                ticket.fill(chunk, grant, false);
            }
        }
        Ok(())
    }
}
