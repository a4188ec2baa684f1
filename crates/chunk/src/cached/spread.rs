//! Work on several chunks, for all cores.

use hyperslab_driver::{cores, lower};
use hyperslab_space::Piece;
use rayon::prelude::*;

use crate::{Result, scatter};

/// Fewer bytes are copied by one core.
const WORTH: u64 = 1 << 20;

/// Does `work` for all items, on all cores; each core has its own room for it. On a thread that others share work with, it is done there:
/// whoever waited for others could be given work that waits for the chunks that it has itself.
pub(super) fn spread<I: Send, W: Default, T: Send>(
    items: Vec<I>,
    work: impl Fn(&mut W, I) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    if items.len() < 2 || rayon::current_thread_index().is_some() {
        let mut room = W::default();
        return items.into_iter().map(|item| work(&mut room, item)).collect();
    }
    // Room is made again whenever work is split, so it is not split to the last chunk.
    let together = (items.len() / (4 * cores::count())).max(1);
    let items = || items.into_par_iter().with_min_len(together);
    let done: Vec<Result<T>> = cores::run(|| items().map_init(W::default, work).collect());
    done.into_iter().collect()
}

/// Copies pieces of chunks to the caller.
pub(super) fn copy_out(items: &[(&[u8], &Piece)], buf: &mut [u8], element: u64) -> Result<()> {
    let bytes: u64 = items.iter().map(|(_, piece)| piece.file.npoints().saturating_mul(element)).sum();
    if bytes < WORTH {
        return items
            .iter()
            .try_for_each(|(from, piece)| scatter::copy(from, &piece.file, buf, &piece.memory, element));
    }
    let ranges: Vec<_> = items.iter().map(|(_, piece)| scatter::touched(&piece.memory, element)).collect();
    let copied = spread(lower::bands(buf, &ranges), |_: &mut (), band| {
        let own = band.items.iter().filter_map(|&item| items.get(item));
        for (from, piece) in own {
            scatter::copy_to_part(from, &piece.file, band.bytes, band.start as u64, &piece.memory, element)?;
        }
        Ok(())
    });
    copied.map(drop)
}
