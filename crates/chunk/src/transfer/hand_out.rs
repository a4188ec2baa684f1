//! Pieces of chunks on their way to the caller, on all cores.

use hyperslab_driver::{cores, lower};
use hyperslab_dtype::Plan;
use hyperslab_space::{Grid, Kind, Piece};

use super::{ResidentChunk, buffers::ReadBuffer, convert::BLOCK, scatter, strip_cut::placed};
use crate::{ChunkLayout, Result};

/// Fewer bytes are copied by one core.
const WORTH: u64 = 1 << 20;

/// Bytes of values for each core, where they are converted: parts differ, so each core gets some.
const PARTS: u64 = 4;

/// What is wanted of a chunk.
type Item<'a> = (&'a ResidentChunk, &'a Piece);

/// Copies pieces of chunks to the caller, or converts them on the way.
pub(crate) fn hand_out(items: &[Item<'_>], to: &mut ReadBuffer<'_>, layout: &ChunkLayout) -> Result<()> {
    let bytes = |element: u64| items.iter().map(|(_, piece)| piece.file.npoints().saturating_mul(element)).sum::<u64>();
    let Some(plan) = to.plan() else {
        // What is of variable length goes to one place.
        if bytes(layout.element()) < WORTH || layout.has_vlen() {
            return items.iter().try_for_each(|(chunk, piece)| chunk.scatter(layout, piece, to));
        }
        return on_all_cores(items, to, layout);
    };
    let bytes = bytes(plan.source_size().max(plan.target_size()) as u64);
    if bytes <= 2 * BLOCK as u64 {
        return items.iter().try_for_each(|(chunk, piece)| chunk.scatter(layout, piece, to));
    }
    let cut = cut(items, plan, bytes)?;
    on_all_cores(&cut.iter().map(|(chunk, piece)| (*chunk, piece)).collect::<Vec<_>>(), to, layout)
}

/// Each core has parts of the buffer of its own.
fn on_all_cores(items: &[Item<'_>], to: &mut ReadBuffer<'_>, layout: &ChunkLayout) -> Result<()> {
    let (element, plan) = (to.element(layout.element()), to.plan());
    let ranges: Vec<_> = items.iter().map(|(_, piece)| scatter::touched(&piece.memory, element)).collect();
    let copied = cores::map(lower::bands(to.bytes, &ranges), |_: &mut (), band| {
        let mut part = ReadBuffer::part(band.bytes, band.start as u64, plan);
        let mut own = band.items.iter().filter_map(|&item| items.get(item));
        own.try_for_each(|(chunk, piece)| chunk.scatter(layout, piece, &mut part))
    });
    copied.map(drop)
}

/// Pieces cut where the rows of the caller's buffer are cut, so that cores have different parts of the buffer also where chunks lie side by side.
fn cut<'a>(items: &[Item<'a>], plan: &Plan, bytes: u64) -> Result<Vec<(&'a ResidentChunk, Piece)>> {
    let parts = (bytes / BLOCK as u64).min(PARTS * cores::count() as u64).max(1);
    let mut cut = Vec::with_capacity(items.len());
    for (chunk, piece) in items {
        let (memory, dims) = (&piece.memory, piece.memory.dims());
        let rows = dims.iter().position(|dim| *dim > 1);
        let is_regular = matches!(memory.kind(), Kind::All | Kind::Hyperslab);
        let Some(rows) = rows.filter(|_| is_regular && plan.target_size() > 0) else {
            cut.push((*chunk, (*piece).clone()));
            continue;
        };
        let side = |(nth, dim): (usize, &u64)| if nth == rows { dim.div_ceil(parts) } else { *dim };
        let boxes: Vec<u64> = dims.iter().enumerate().map(side).collect();
        for part in memory.pieces(&Grid::new(&boxes)?, &piece.file)? {
            let part = part?;
            let memory = placed(memory.extent(), &part, &boxes)?;
            cut.push((*chunk, Piece { chunk: piece.chunk.clone(), file: part.memory, memory }));
        }
    }
    Ok(cut)
}
