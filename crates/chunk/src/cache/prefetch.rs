//! Chunks of several datasets at once.

use hyperslab_cache::{Demand, Lookup};
use hyperslab_space::Space;

use super::{
    ChunkCache, ChunkPartition, Keep,
    io_path::{Worth, coords},
    reach::Reach,
};
use crate::{ChunkLayout, Result, layout::chunk_layout::covers, transfer::PIECES};

impl ChunkCache {
    /// Brings the chunks that hold parts of several datasets into memory with one request, as far as they fit and are worth it. It must be the
    /// caller's turn for all of them. A request that writes needs no chunks that it writes as a whole.
    pub fn prefetch(&self, parts: &[(&ChunkPartition, &Space)], to_write: bool) -> Result<()> {
        let (mut wanted, mut bytes) = (Vec::new(), 0usize);
        for (partition, selection) in parts {
            let layout = partition.home().layout();
            let Some((grid, reach)) = layout.grid().and_then(|grid| Some((grid, Reach::of(grid, selection)?))) else {
                continue;
            };
            let joins = !to_write && parts.len() > 1 && self.joins(layout, &reach, selection);
            if reach.most() > PIECES as u64 || layout.is_addressable() && !joins {
                continue;
            }
            let memory = Space::simple(&[selection.npoints()])?;
            let mut pieces = selection.pieces(grid, &memory)?.batch(usize::MAX)?;
            if to_write {
                let view = partition.home().storage().live_view()?;
                let values = view.values()?;
                pieces.retain(|piece| !layout.is_whole(piece) && !covers(piece, values.inside(&piece.chunk)));
            }
            let worth = if joins { Worth::All } else { Worth::None };
            let through = coords(&self.paths(partition, pieces, Keep::Worthy, worth).through);
            let here = partition.has(&through);
            let missing = through.into_iter().zip(here).filter(|(_, here)| !here);
            let fits = self.cache.available().saturating_sub(bytes) / layout.expected_footprint(1);
            let missing: Vec<_> = missing.take(fits).map(|(coord, _)| (*partition, coord)).collect();
            bytes += layout.expected_footprint(missing.len());
            wanted.extend(missing);
        }
        // Parts of one dataset may share chunks.
        wanted.sort_by(|left, right| (left.0.number(), &left.1).cmp(&(right.0.number(), &right.1)));
        let _reservation = self.cache.reserve(Demand { chunks: bytes, aside: bytes });
        let (mut vacant, mut bytes) = (Vec::new(), 0);
        wanted.retain(|(partition, coord)| match partition.find(coord) {
            Lookup::Miss(ticket) => {
                bytes += partition.home().layout().expected_footprint(1);
                vacant.push(ticket);
                true
            }
            Lookup::Hit(_) | Lookup::Loading(_) => false,
        });
        let Some(mut grant) = self.room(bytes) else { return Ok(()) };
        for (ticket, chunk) in vacant.into_iter().zip(self.fetch(&wanted)?) {
            chunk.and_then(|chunk| ticket.fill(chunk, &mut grant, false));
        }
        Ok(())
    }

    /// Whether chunks that are addressable in place come into memory because others come with the same request: few, most of whose bytes are wanted. By itself
    /// a request for such chunks is as fast without the cache, until they earned their place there.
    fn joins(&self, layout: &ChunkLayout, reach: &Reach, selection: &Space) -> bool {
        let bytes = reach.count().saturating_mul(layout.expected_bytes() as u64);
        layout.is_addressable() && !self.is_stream(layout, reach) && layout.selected(selection) >= bytes / 2
    }
}
