//! The boxes that a chunk of more dimensions is cut into: as the plugin of libhdf5 chooses them, since what a level leaves depends on it.

/// The extent of a block of at most so many elements. Each dimension begins with two elements; then all are doubled in turn, the last first, as long as
/// blocks do not get too large, and come to the chunk's extent where doubling would go beyond it.
pub(super) fn block_shape(chunk: &[usize], elements: usize) -> Vec<usize> {
    let mut block: Vec<usize> = chunk.iter().map(|dim| (*dim).min(2)).collect();
    let mut product = block.iter().product::<usize>();
    loop {
        let before = product;
        for (extent, dim) in block.iter_mut().zip(chunk).rev() {
            let wider = if *extent * 2 <= *dim { *extent * 2 } else { *dim };
            let larger = (product / (*extent).max(1)).saturating_mul(wider);
            if larger <= elements {
                (*extent, product) = (wider, larger);
            }
        }
        if product == before {
            return block;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_as_the_plugin_cuts_them() {
        // Seen in files that hdf5plugin 7.1 made.
        for (chunk, elements, block) in [
            (&[400, 256][..], 2048, &[32, 64][..]),
            (&[400, 256], 32_768, &[128, 256]),
            (&[400, 256], 131_072, &[400, 256]),
            (&[2, 200, 300], 65_536, &[2, 128, 256]),
            (&[1024, 1024], 65_536, &[256, 256]),
            (&[3, 5, 7, 11], 1155, &[3, 5, 7, 11]),
            (&[1000, 1], 1000, &[1000, 1]),
            (&[100, 30_000], 65_536, &[100, 512]),
        ] {
            assert_eq!(block_shape(chunk, elements), block, "{chunk:?}");
        }
    }
}
