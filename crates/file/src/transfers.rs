//! The options that go with each request of a file to its storage.

use hyperslab_driver::{MemoryType, Transfer};

/// The options that the user gave for the requests of a file, for each kind of content that it tells apart.
#[derive(Clone, Debug)]
pub(crate) struct Transfers {
    /// For any content, or the storage as a whole.
    pub(crate) any: Transfer,
    pub(crate) superblock: Transfer,
    /// For blocks; the end of the storage for this kind is the end of the file that its superblock tells.
    pub(crate) metadata: Transfer,
    pub(crate) raw: Transfer,
}

impl Transfers {
    pub(crate) fn new(options: &Transfer) -> Transfers {
        let of = |kind| options.clone().with_kind(kind);
        Transfers {
            any: of(MemoryType::Default),
            superblock: of(MemoryType::Superblock),
            metadata: of(MemoryType::ObjectHeader),
            raw: of(MemoryType::RawData),
        }
    }
}
