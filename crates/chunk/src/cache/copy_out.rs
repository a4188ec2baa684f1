//! Pieces of chunks on their way to the caller, on all cores.

use hyperslab_driver::{cores, lower};
use hyperslab_space::Piece;

use crate::{Result, transfer::scatter};

/// Fewer bytes are copied by one core.
const WORTH: u64 = 1 << 20;

/// Copies pieces of chunks to the caller.
pub(super) fn copy_out(items: &[(&[u8], &Piece)], buf: &mut [u8], element: u64) -> Result<()> {
    let bytes: u64 = items.iter().map(|(_, piece)| piece.file.npoints().saturating_mul(element)).sum();
    if bytes < WORTH {
        return items
            .iter()
            .try_for_each(|(from, piece)| scatter::copy(from, &piece.file, buf, &piece.memory, element));
    }
    let ranges: Vec<_> = items.iter().map(|(_, piece)| scatter::touched(&piece.memory, element)).collect();
    let copied = cores::map(lower::bands(buf, &ranges), |_: &mut (), band| {
        let own = band.items.iter().filter_map(|&item| items.get(item));
        for (from, piece) in own {
            scatter::copy_to_part(from, &piece.file, band.bytes, band.start as u64, &piece.memory, element)?;
        }
        Ok(())
    });
    copied.map(drop)
}
