//! The list of filters that come with the crate. Called by the default registry.

use std::sync::Arc;

use crate::*;

/// One of each.
pub(crate) fn built_in() -> Vec<Arc<dyn Filter>> {
    vec![
        Arc::new(Deflate),
        Arc::new(Shuffle),
        Arc::new(Fletcher32),
        Arc::new(Szip),
        Arc::new(Nbit),
        Arc::new(ScaleOffset),
        Arc::new(Bzip2),
        Arc::new(Lzf),
        Arc::new(Blosc),
        Arc::new(Lz4),
        Arc::new(Bitshuffle),
        Arc::new(Zstd),
        Arc::new(Vbz),
        Arc::new(Blosc2),
        Arc::new(Delta),
    ]
}
