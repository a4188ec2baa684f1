//! What a block of metadata is: how long, by what its bytes are verified, and what they say.

use std::{any::Any, sync::Arc};

use hyperslab_base::Malformed;

use crate::{OpenFile, Result, Structure};

/// A kind of block, with what must be known from elsewhere to understand one: [`OpenFile::load`] reads, verifies, decodes and keeps it.
///
/// ```
/// # use std::sync::Arc;
/// # use hyperslab_driver::Memory;
/// use hyperslab_base::Reader;
/// use hyperslab_file::{Block, CreateOptions, Error, Extent, Kind, OpenFile, OpenOptions, Result, Seal};
///
/// /// A block of a signature and a count.
/// struct Count;
///
/// impl Block for Count {
///     type Value = u8;
///     const WHAT: &'static str = "count";
///
///     fn seal(&self, _: &[u8]) -> Seal {
///         Seal::Signature
///     }
///
///     fn extent(&self, _: &OpenFile) -> Extent {
///         Extent::Exact(5)
///     }
///
///     fn decode(&self, _: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<u8> {
///         let mut reader = Reader::new(Self::WHAT, bytes);
///         reader.signature(b"CONT").and_then(|()| reader.u8()).map_err(Error::at(address))
///     }
/// }
///
/// let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default())?;
/// let address = file.allocate(Kind::Metadata, 5)?;
/// file.put(address, b"CONT\x07".to_vec())?;
/// assert_eq!(*file.load(&Count, address)?, 7);
/// # Ok::<(), hyperslab_file::Error>(())
/// ```
pub trait Block {
    /// What the bytes of a block say.
    type Value: Any + Send + Sync;
    /// The name of the structure, for errors.
    const WHAT: &'static str;
    /// Whether it takes longer to keep a value beside its bytes than to make it of them once more.
    const IS_CHEAP: bool = false;

    /// What proves that the bytes of a block belong together; it may depend on the version in its first bytes.
    fn seal(&self, first: &[u8]) -> Seal;

    /// How many bytes a block has.
    fn extent(&self, file: &OpenFile) -> Extent;

    /// How many bytes the block at `address` has in all, by its first bytes: of blocks whose extent is [told](Extent::Told) there.
    fn length(&self, file: &OpenFile, address: u64, first: &[u8]) -> Result<u64, Malformed> {
        let _ = (file, address);
        Ok(first.len() as u64)
    }

    /// Verifies and understands the bytes of the block at `address`, all of them and no more.
    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Self::Value>;

    /// Whether a value that was understood before is what is asked for now: damaged structures may name one block in two ways.
    fn fits(&self, value: &Self::Value) -> bool {
        let _ = value;
        true
    }

    /// The value as the one form that the block has in memory, if it can be encoded again. Else its bytes stay there too.
    fn structure(value: &Arc<Self::Value>) -> Option<Arc<dyn Structure>> {
        let _ = value;
        None
    }
}

/// How many bytes a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// So many.
    Exact(u64),
    /// So many, or fewer where the file ends before: libhdf5 does not fill the last node of a file.
    UpTo(u64),
    /// As [`Block::length`] says by the first bytes. So many are read first: all, in most cases.
    Told(u64),
}

/// What proves that the bytes of a block belong together: how a read that meets a write of another process is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// A checksum of all bytes.
    Checksum,
    /// A signature or a version in front: later bytes may be of another time.
    Signature,
    /// Nothing.
    None,
}
