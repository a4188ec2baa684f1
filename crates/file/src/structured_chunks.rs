//! Files that get what structured chunks need: version 3 of the superblock.

use hyperslab_format::{
    Superblock,
    message::{BtreeK, kind},
    object_header::Flags,
    superblock::Root,
    version::LibVersion,
};

use crate::{Error, Kind, OpenFile, Result, create::mark, extension};

/// The first version of the superblock of files that may have structured chunks.
const VERSION: u8 = 3;

/// What the K of B-trees are if the file does not say it.
const USUAL: [u16; 3] = [32, 16, 4];

impl OpenFile {
    /// The version of the superblock as it is now.
    pub fn superblock_version(&self) -> u8 {
        self.store.as_ref().map_or(self.superblock.version, |store| store.superblock.lock().0.version)
    }

    /// Refuses a file that cannot have structured chunks: it was asked for as one that older libraries read, or its superblock says what no newer one can say.
    pub fn check_structured_chunks(&self) -> Result<()> {
        let store = self.store()?;
        if let Some(most) = store.libver_max.filter(|most| *most < LibVersion::NEWEST) {
            return Err(Error::Refused(format!(
                "structured chunks are newer than {most}, and the file was opened for structures up to that (the upper bound of libver)"
            )));
        }
        let superblock = store.superblock.lock().0.clone();
        if superblock.version >= VERSION {
            return Ok(());
        }
        if self.libver_min() != LibVersion::Earliest {
            return Err(Error::Refused(format!(
                "structured chunks need version {VERSION} of the superblock, and the file has version {}: ask for libhdf5 1.10 or later (libver)",
                superblock.version
            )));
        }
        if superblock.driver_info.is_some() {
            return Err(Error::Refused("structured chunks are not possible in a file of several members".into()));
        }
        Ok(())
    }

    /// Lets the file have structured chunks: with the next flush it has a newer superblock, if it needs one. Within an operation.
    pub fn allow_structured_chunks(&self) -> Result<()> {
        self.check_structured_chunks()?;
        let store = self.store()?;
        let before = store.superblock.lock().0.clone();
        if before.version >= VERSION {
            return Ok(());
        }
        let [chunk_internal, group_internal, group_leaf] =
            [before.chunk_internal_k, before.group_internal_k, before.group_leaf_k];
        // Older superblocks say this themselves.
        if before.version < 2 && [chunk_internal, group_internal, group_leaf] != USUAL {
            let k = BtreeK { chunk_internal, group_internal, group_leaf };
            extension::change(self, store, |header| {
                header.add(kind::BTREE_K, Flags::CONSTANT, None, k.encode()).map(drop)
            })?;
        }
        let extension = store.superblock.lock().0.extension;
        let root = Root::Header(before.root.header());
        let mut after = Superblock { version: VERSION, free_space: None, extension, root, flags: 0, ..before.clone() };
        mark(&mut after, store.marks_whole);
        let (old, new) = (before.encode()?.len() as u64, after.encode()?.len() as u64);
        store.superblock.lock().0 = after;
        // It is used again when the file has the new one.
        if old > new { self.free_of(Kind::Metadata, new, old - new) } else { Ok(()) }
    }
}
