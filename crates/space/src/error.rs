//! What can go wrong with an extent or a selection.

use hyperslab_base::{Classified, ErrorKind, Malformed, memory::OutOfMemory};

/// The result of an operation on dataspaces.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a dataspace or selection was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// More dimensions than the format has room for.
    #[error("a dataspace has at most 32 dimensions, not {0}")]
    Rank(usize),
    /// Two things that must have the same number of dimensions do not.
    #[error("{what} has {found} dimensions where the extent has {expected}")]
    RankMismatch {
        /// What has the wrong rank.
        what: &'static str,
        /// The rank of the extent.
        expected: usize,
        /// The rank found.
        found: usize,
    },
    /// A dimension of the size that stands for "unlimited"; only its maximum may be.
    #[error("dimension {0} must have a size; only its maximum may be unlimited")]
    Size(usize),
    /// More elements are selected than 64 bits can count: no request moves so many.
    #[error("the selection has 2^64 elements or more of an extent of {0:?}; select less at a time")]
    Elements(Vec<u64>),
    /// A dimension is larger than its own maximum.
    #[error("dimension {dim} has size {size}, over its maximum of {max}")]
    OverMaximum {
        /// Which dimension.
        dim: usize,
        /// Its current size.
        size: u64,
        /// Its maximum.
        max: u64,
    },
    /// A hyperslab that the format does not allow.
    #[error(
        "hyperslab in dimension {dim} (start {start}, stride {stride}, count {count}, block {block}): {why}",
        start = slab.start, stride = slab.stride, count = slab.count, block = slab.block
    )]
    Slab {
        /// Which dimension.
        dim: usize,
        /// The hyperslab of that dimension.
        slab: crate::Slab,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A block whose corners are not the lowest and the highest.
    #[error("a block from {start:?} to {end:?} has its corners in the wrong order, or one of them is not an index")]
    Block {
        /// The first corner.
        start: Vec<u64>,
        /// The second corner.
        end: Vec<u64>,
    },
    /// A list of coordinates that does not divide into points.
    #[error("{coords} coordinates do not divide into points of {rank} dimensions")]
    Points {
        /// How many coordinates there are.
        coords: usize,
        /// The rank of the extent.
        rank: usize,
    },
    /// A point with the number that stands for "unlimited".
    #[error("2^64 - 1 is not the index of an element")]
    NotAnIndex,
    /// A range of row-major element numbers that is not in order.
    #[error(
        "the range {start}..{end} of element numbers does not rise or starts before {before}, where the previous range ends"
    )]
    RangeOrder {
        /// The first number of the range.
        start: u64,
        /// The number after its last one.
        end: u64,
        /// The end of the previous range; zero if there is none.
        before: u64,
    },
    /// A range of row-major element numbers that the extent does not have.
    #[error("the range {start}..{end} of element numbers reaches over the extent, which has {elements} elements")]
    RangeOutOfExtent {
        /// The first number of the range.
        start: u64,
        /// The number after its last one.
        end: u64,
        /// How many elements the extent has.
        elements: u64,
    },
    /// The selection reaches over the extent.
    #[error("the selection reaches index {high} in dimension {dim}, whose size is {size}; select inside the extent")]
    OutOfExtent {
        /// Which dimension.
        dim: usize,
        /// The highest selected index.
        high: u64,
        /// The size of the dimension.
        size: u64,
    },
    /// The selection has no end; it must be clipped to an extent first.
    #[error("the selection is unlimited; clip it to the extent first (`Space::clip_unlimited`)")]
    Unlimited,
    /// Moving a selection would leave the range of indices.
    #[error("moving the selection by {by} in dimension {dim} leaves the range of indices")]
    Moved {
        /// Which dimension.
        dim: usize,
        /// How far.
        by: i64,
    },
    /// Two selections that must hold equally many elements do not.
    #[error("{left} elements are selected on one side and {right} on the other; they must be equal in number")]
    Counts {
        /// Elements of the first selection.
        left: u64,
        /// Elements of the second selection.
        right: u64,
    },
    /// Byte offsets would not fit 64 bits, or an element has no bytes.
    #[error("elements of {element_size} bytes in an extent of {dims:?} cannot be addressed")]
    Bytes {
        /// The size of one element.
        element_size: u64,
        /// The extent.
        dims: Vec<u64>,
    },
    /// Working out the selection would take more memory than any use of it is worth.
    #[error("the selection falls into {0} ranges, more than can be worked with at once; select less at a time")]
    TooComplex(u64),
    /// There is no memory for the list of elements.
    #[error("selection: {0}; select less at a time")]
    Memory(#[from] OutOfMemory),
    /// A chunk shape with a zero.
    #[error("a chunk of {0:?} has no elements")]
    Chunk(Vec<u64>),
    /// The selection cannot be written in the version asked for.
    #[error("{0}")]
    Encode(&'static str),
    /// The bytes are not what the format says.
    #[error("encoded {0}")]
    Malformed(#[from] Malformed),
}

impl Error {
    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Malformed(why) => why.kind(),
            Error::Memory(_) => ErrorKind::OutOfMemory,
            _ => ErrorKind::InvalidArgument,
        }
    }
}

impl Classified for Error {
    fn kind(&self) -> ErrorKind {
        self.kind()
    }
}
