//! Pieces of chunks on their way to the caller, on all cores.

use hyperslab_driver::{cores, lower};
use hyperslab_space::Piece;

use crate::{ChunkLayout, ResidentChunk, Result, transfer::scatter};

/// Fewer bytes are copied by one core.
const WORTH: u64 = 1 << 20;

/// Copies pieces of chunks to the caller.
pub(super) fn hand_out(items: &[(&ResidentChunk, &Piece)], buf: &mut [u8], layout: &ChunkLayout) -> Result<()> {
    let element = layout.element();
    let bytes: u64 = items.iter().map(|(_, piece)| piece.file.npoints().saturating_mul(element)).sum();
    if bytes < WORTH {
        return items.iter().try_for_each(|(chunk, piece)| chunk.scatter(layout, piece, buf));
    }
    let ranges: Vec<_> = items.iter().map(|(_, piece)| scatter::touched(&piece.memory, element)).collect();
    let copied = cores::map(lower::bands(buf, &ranges), |_: &mut (), band| {
        let mut own = band.items.iter().filter_map(|&item| items.get(item));
        own.try_for_each(|(chunk, piece)| chunk.scatter_to_part(layout, piece, band.bytes, band.start as u64))
    });
    copied.map(drop)
}
