//! Blocks by the object that they belong to: its header, and all trees, heaps, arrays and further blocks that only it leads to.
//!
//! ```text
//!  file.owned_by(header) --> load, change, put, edit --> entry of the metadata cache, with its owner
//!  file ------------------->                             entry of the file as a whole
//! ```
//!
//! A structure has its owner beside its address, and goes through this view of the file. What is made before its object has an address belongs to the file until
//! the object first asks for it.

use std::{any::Any, ops::Deref, sync::Arc};

use hyperslab_meta::Membership;
pub use hyperslab_meta::Owner;

use crate::{
    Block, Error, OpenFile, Result, Structure,
    store::{CachedBlock, Decoded},
};

/// An open file as one of its objects sees it: blocks that are loaded or put through this belong to the object.
///
/// ```
/// # use std::sync::Arc;
/// # use hyperslab_driver::Memory;
/// use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions};
///
/// let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default())?;
/// let [object, block] = [(); 2].map(|()| file.allocate(Kind::Metadata, 8).unwrap());
/// file.owned_by(object).put(block, vec![0; 8])?;
/// assert_eq!(file.blocks_of(object), [block]);
/// # Ok::<(), hyperslab_file::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Owned<'a> {
    file: &'a OpenFile,
    pub(crate) owner: Owner,
}

impl Deref for Owned<'_> {
    type Target = OpenFile;

    fn deref(&self) -> &OpenFile {
        self.file
    }
}

/// Blocks of the file as a whole.
impl<'a> From<&'a OpenFile> for Owned<'a> {
    fn from(file: &'a OpenFile) -> Owned<'a> {
        file.owned(Owner::FILE)
    }
}

impl<'a> Owned<'a> {
    /// The file.
    pub fn file(&self) -> &'a OpenFile {
        self.file
    }

    /// What blocks belong to.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The block at `address` from now on: a new one, or all of a changed one.
    pub fn put(&self, address: u64, bytes: Vec<u8>) -> Result<()> {
        self.put_shared(address, Arc::new(bytes))
    }

    pub(crate) fn put_shared(&self, address: u64, bytes: Arc<Vec<u8>>) -> Result<()> {
        self.put_block(address, CachedBlock::new(bytes))
    }

    /// As [`Owned::put`], with what the bytes say, for the next [load](Owned::load).
    pub fn put_decoded<T: Any + Send + Sync>(&self, address: u64, bytes: Arc<Vec<u8>>, decoded: Arc<T>) -> Result<()> {
        self.put_block(address, CachedBlock::decoded_as(bytes, Some(decoded)))
    }

    /// As [`Owned::put`], of a block in space that the same operation took; with what the bytes say, if that is known.
    pub(crate) fn put_fresh(&self, address: u64, bytes: Arc<Vec<u8>>, decoded: Option<Decoded>) -> Result<()> {
        debug_assert!(self.is_fresh(address), "the file names it");
        self.put_at(address, CachedBlock::decoded_as(bytes, decoded), Membership::fresh(self.owner))
    }

    fn put_block(&self, address: u64, block: CachedBlock) -> Result<()> {
        let membership =
            if self.is_fresh(address) { Membership::fresh(self.owner) } else { Membership::user(self.owner) };
        self.put_at(address, block, membership)
    }

    fn put_at(&self, address: u64, block: CachedBlock, membership: Membership) -> Result<()> {
        let store = self.store()?;
        store.cache.put(address, block, membership)?;
        store.touch();
        Ok(())
    }

    /// The structure at `address` from now on: a new one, or a changed one.
    pub fn put_structure(&self, address: u64, structure: Arc<dyn Structure>) -> Result<()> {
        self.put_block(address, CachedBlock::of(structure))
    }

    /// Changes the block of `length` bytes at `address` in place; also says what it is then.
    pub fn edit<T>(
        &self,
        what: &'static str,
        address: u64,
        length: u64,
        change: impl FnOnce(&mut [u8]) -> Result<T>,
    ) -> Result<(T, Arc<Vec<u8>>)> {
        let store = self.store()?;
        let load = || Ok(CachedBlock::new(Arc::new(self.metadata(what, address, length)?)));
        let mut block = store.cache.get_mut(address, Membership::user(self.owner), load)?;
        let changed = change(block.change()?)?;
        store.touch();
        Ok((changed, block.bytes()?))
    }

    /// Puts bytes into the block of `length` bytes at `address`, where nothing in the file names them: pairs of place in the block and bytes. Says what it is
    /// then. Unless the whole block waits to be written, only these bytes are, with values and so before all blocks.
    pub fn amend(
        &self,
        what: &'static str,
        (address, length): (u64, u64),
        parts: &[(u64, &[u8])],
    ) -> Result<Arc<Vec<u8>>> {
        let store = self.store()?;
        let is_inside = |&(at, bytes): &(u64, &[u8])| at.saturating_add(bytes.len() as u64) <= length;
        if !parts.iter().all(is_inside) {
            return Err(Error::broken(what, address, "bytes for a place behind its end"));
        }
        let write = |&(at, bytes): &(u64, &[u8])| self.write_raw(what, &[(address.saturating_add(at), bytes)]);
        // If a write fails, the whole block becomes dirty and the next flush writes it, or tells why not.
        let is_amended = !self.is_changed(address) && parts.iter().try_for_each(write).is_ok();
        let load = || Ok(CachedBlock::new(Arc::new(self.metadata(what, address, length)?)));
        let mut block = store.cache.get_mut(address, Membership::user(self.owner), load)?;
        let all = if is_amended { block.amend().change()? } else { block.change()? };
        for &(at, bytes) in parts {
            let place = usize::try_from(at).ok().and_then(|at| all.get_mut(at..)?.get_mut(..bytes.len()));
            place.ok_or_else(|| Error::broken(what, address, "it is cut"))?.copy_from_slice(bytes);
        }
        store.touch();
        block.bytes()
    }
}

impl OpenFile {
    /// The file as the object whose header is at `object` sees it.
    pub fn owned_by(&self, object: u64) -> Owned<'_> {
        self.owned(Owner(object))
    }

    /// The file as an owner sees it.
    pub fn owned(&self, owner: Owner) -> Owned<'_> {
        Owned { file: self, owner }
    }

    /// As [`Owned::load`], of a block of the file as a whole.
    pub fn load<B: Block>(&self, block: &B, address: u64) -> Result<Arc<B::Value>> {
        Owned::from(self).load(block, address)
    }

    /// As [`Owned::put`], of a block of the file as a whole.
    pub fn put(&self, address: u64, bytes: Vec<u8>) -> Result<()> {
        Owned::from(self).put(address, bytes)
    }
}
