//! The data layout message: how and where a dataset's values are stored.
//!
//! ```text
//!  1, 2     | version | rank | class | 0, 5 | (address O) | sizes of 4… | (compact: size, 4 | values) |
//!  3        | version 3 | class | compact: size, 2 | values     contiguous: address O | size L     chunked: rank + 1 | tree O | sizes of 4… |
//!  4, 5     | version | class | as 3, but chunked: flags | rank + 1 | width | sizes… | index | by index | address O |     virtual: heap O | index, 4 |
//!  5        | version | class | structured: 0 | type, 2 | flags | rank + 1 | width | sizes… | 8 | sections | count | sections with checksums… |
//!             index | by index | address O |
//!  classes  0 compact   1 contiguous   2 chunked   3 virtual   4 structured
//!  flags    1 partial chunks at the edge have no filters   2 the single chunk has filters
//!  type     1 sparse   2 variable-length   3 both
//!  indexes  1 single (filtered: size L | mask, 4)   2 implicit   3 fixed array: page bits
//!             (structured: size, see `ChunkStructure::size_width` | the rest as in an index, see `ChunkElement`)
//!           4 extensible array: bits of the count | elements in the index block | least data blocks of a super block |
//!             least elements of a data block | page bits   5 tree: node size, 4 | split % | merge %
//! ```

mod chunk_index;
mod chunk_shape;
mod encode;
mod structure;
mod structured;

use hyperslab_base::{Reader, Widths};

use self::chunk_shape::ChunkShape;
use crate::Result;

pub use chunk_index::{ArrayShape, ChunkIndex};
pub use structure::ChunkStructure;

/// How values are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// The version of the message, on which details of chunk indexes depend.
    pub version: u8,
    /// The sizes of the dataset, which versions 1 and 2 repeat for values that are not in chunks.
    pub old_sizes: Vec<u32>,
    /// How.
    pub layout: Layout,
}

/// The ways to store values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In the object header itself.
    Compact(Vec<u8>),
    /// In one piece.
    Contiguous {
        /// Where; undefined if never allocated.
        address: Option<u64>,
        /// How many bytes, if the message says so.
        size: Option<u64>,
    },
    /// In chunks.
    Chunked {
        /// What structured chunks hold; ordinary chunks have one section with all values.
        structure: Option<ChunkStructure>,
        /// The shape of a chunk.
        chunk: Vec<u64>,
        /// The size of an element, as the message has it.
        element_size: u64,
        /// Chunks that reach over the extent are stored without filters.
        plain_edges: bool,
        /// How chunks are found.
        index: ChunkIndex,
        /// Where the index is; for some indexes, where the chunks are.
        address: Option<u64>,
    },
    /// In other datasets.
    Virtual {
        /// The global heap collection of the mapping.
        heap: Option<u64>,
        /// The object in it.
        index: u32,
    },
}

const COMPACT: u8 = 0;
const CONTIGUOUS: u8 = 1;
const CHUNKED: u8 = 2;
const VIRTUAL: u8 = 3;
const STRUCTURED: u8 = 4;

impl DataLayout {
    /// Reads the message.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<DataLayout> {
        let mut reader = Reader::new("data layout message", bytes);
        let version = reader.version(1..=5)?;
        let (layout, old_sizes) = match version {
            1 | 2 => oldest(&mut reader, widths)?,
            _ => (newer(&mut reader, version, widths)?, Vec::new()),
        };
        Ok(DataLayout { version, old_sizes, layout })
    }
}

fn oldest(reader: &mut Reader<'_>, widths: Widths) -> Result<(Layout, Vec<u32>)> {
    let rank = usize::from(reader.u8()?);
    let class = reader.u8()?;
    reader.skip(5)?;
    let address = if class == COMPACT { None } else { reader.address(widths)? };
    let sizes = (0..rank).map(|_| reader.u32()).collect::<Result<Vec<_>>>()?;
    match class {
        COMPACT => {
            let size = reader.u32()? as usize;
            Ok((Layout::Compact(reader.take(size)?.to_vec()), sizes))
        }
        CONTIGUOUS => Ok((Layout::Contiguous { address, size: None }, sizes)),
        CHUNKED => {
            let sizes = sizes.into_iter().map(u64::from).collect();
            Ok((chunked(reader, None, sizes, false, ChunkIndex::BtreeV1, address)?, Vec::new()))
        }
        _ => Err(reader.refuse(format!("unknown class {class}"))),
    }
}

fn newer(reader: &mut Reader<'_>, version: u8, widths: Widths) -> Result<Layout> {
    match reader.u8()? {
        COMPACT => {
            let size = usize::from(reader.u16()?);
            Ok(Layout::Compact(reader.take(size)?.to_vec()))
        }
        CONTIGUOUS => {
            let (address, size) = (reader.address(widths)?, reader.length(widths)?);
            Ok(Layout::Contiguous { address, size: Some(size) })
        }
        CHUNKED if version == 3 => {
            let rank = reader.u8()?;
            let address = reader.address(widths)?;
            let sizes = (0..rank).map(|_| reader.u32().map(u64::from)).collect::<Result<_>>()?;
            chunked(reader, None, sizes, false, ChunkIndex::BtreeV1, address)
        }
        CHUNKED => {
            let ChunkShape { plain_edges, filtered_single, sizes } = ChunkShape::decode(reader)?;
            let index = ChunkIndex::decode(reader, filtered_single, widths)?;
            let address = reader.address(widths)?;
            chunked(reader, None, sizes, plain_edges, index, address)
        }
        STRUCTURED if version > 4 => structured::decode(reader, widths),
        VIRTUAL if version > 3 => Ok(Layout::Virtual { heap: reader.address(widths)?, index: reader.u32()? }),
        class => Err(reader.refuse(format!("unknown class {class}"))),
    }
}

/// The last size is that of an element.
fn chunked(
    reader: &Reader<'_>,
    structure: Option<ChunkStructure>,
    mut sizes: Vec<u64>,
    plain_edges: bool,
    index: ChunkIndex,
    address: Option<u64>,
) -> Result<Layout> {
    let element_size = sizes.pop().unwrap_or(0);
    if sizes.is_empty() || element_size == 0 || sizes.contains(&0) {
        return Err(reader.refuse(format!("a chunk of {sizes:?} elements of {element_size} bytes")));
    }
    Ok(Layout::Chunked { structure, chunk: sizes, element_size, plain_edges, index, address })
}
