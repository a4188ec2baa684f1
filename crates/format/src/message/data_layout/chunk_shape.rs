//! What messages of the data layout say of chunks, structured or not, from version 4 on: flags, and sizes.

use hyperslab_base::{Reader, Width, Writer};

use crate::{Encoded, Result};

/// The flag that chunks which reach over the extent are stored without filters.
const PLAIN_EDGES: u8 = 1;

/// The flag that there is a single chunk, and that it has filters.
const FILTERED_SINGLE: u8 = 2;

/// What chunks are like.
pub(super) struct ChunkShape {
    /// Chunks that reach over the extent are stored without filters.
    pub(super) plain_edges: bool,
    /// There is a single chunk, and it has filters.
    pub(super) filtered_single: bool,
    /// The sizes of a chunk, with that of an element behind them.
    pub(super) sizes: Vec<u64>,
}

impl ChunkShape {
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<ChunkShape> {
        let flags = reader.u8()?;
        if flags & !(PLAIN_EDGES | FILTERED_SINGLE) != 0 {
            return Err(reader.refuse(format!("unknown flags {flags:#x}")));
        }
        let (count, width) = (reader.u8()?, reader.u8()?);
        let width = Width::new(width).ok_or_else(|| reader.refuse(format!("sizes of {width} bytes")))?;
        let sizes = (0..count).map(|_| reader.uint(width)).collect::<Result<_>>()?;
        let [plain_edges, filtered_single] = [PLAIN_EDGES, FILTERED_SINGLE].map(|flag| flags & flag != 0);
        Ok(ChunkShape { plain_edges, filtered_single, sizes })
    }

    /// Sizes take as few bytes as all of them can.
    pub(super) fn encode(&self, writer: &mut Writer) -> Encoded<()> {
        let set = |flag, is_set| if is_set { flag } else { 0 };
        writer.u8(set(PLAIN_EDGES, self.plain_edges) | set(FILTERED_SINGLE, self.filtered_single));
        writer.count("rank", Width::W1, self.sizes.len())?;
        let width = Width::of(self.sizes.iter().copied().max().unwrap_or(1));
        writer.u8(width.bytes() as u8);
        self.sizes.iter().try_for_each(|&size| writer.uint("size", width, size))
    }

    /// How many bytes a chunk would take with the values of all its elements.
    pub(super) fn dense_bytes(&self) -> u64 {
        self.sizes.iter().fold(1, |bytes, size| bytes.saturating_mul(*size))
    }
}
