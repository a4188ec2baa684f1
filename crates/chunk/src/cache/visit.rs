//! Chunks that a request looks at, each in turn.

use hyperslab_cache::{Demand, Lookup};
use hyperslab_space::Piece;

use super::{ChunkCache, Dataset};
use crate::{ResidentChunk, Result};

/// What a request does with a chunk.
type Visit<'a> = dyn FnMut(&ResidentChunk, &Piece) -> Result<()> + 'a;

impl ChunkCache {
    /// Calls `each` for the chunks of pieces, those that are not in memory after they were loaded. Those that were never written are left out.
    pub(super) fn visit_list(
        &self,
        (file, partition): Dataset<'_>,
        (list, bytes): (&[Piece], usize),
        each: &mut Visit<'_>,
    ) -> Result<()> {
        let is_large = bytes > self.available(partition);
        let _reservation = (!is_large).then(|| partition.reserve(Demand { chunks: bytes, aside: bytes }));
        for piece in list {
            if is_large && let Some(pinned) = partition.peek(&piece.chunk) {
                each(&pinned.read(), piece)?;
                continue;
            }
            let mut found = partition.find(&piece.chunk);
            while let Lookup::Loading(waiter) = found {
                found = waiter.wait();
            }
            match found {
                Lookup::Hit(pinned) => each(&pinned.read(), piece)?,
                Lookup::Loading(_) => {}
                Lookup::Miss(ticket) => {
                    let loaded = self.fetch(file, &[(partition, piece.chunk.clone())])?.pop().flatten();
                    let Some(chunk) = loaded else { continue };
                    each(&chunk, piece)?;
                    let room = self.footprint(partition, &[(&piece.chunk, 0)])?;
                    if !is_large && let Some(mut grant) = self.room(partition, room) {
                        ticket.fill(chunk, &mut grant, false);
                    }
                }
            }
        }
        Ok(())
    }
}
