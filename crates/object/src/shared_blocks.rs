//! The blocks of shared messages: the table, and lists of messages.

use std::sync::Arc;

use hyperslab_file::{Block, Error, Extent, OpenFile, Result, Seal};
use hyperslab_format::shared_messages::{self, SharedIndex, SharedRecord};

/// The table of shared messages, with so many indexes.
pub(crate) struct SharedTable(pub(crate) u8);

impl Block for SharedTable {
    type Value = Vec<SharedIndex>;
    const WHAT: &'static str = "shared message table";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(shared_messages::table_size(self.0, file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<SharedIndex>> {
        shared_messages::decode_table(bytes, self.0, file.widths()).map_err(Error::at(address))
    }
}

/// The list of messages that an index has.
pub(crate) struct SharedList<'a>(pub(crate) &'a SharedIndex);

impl Block for SharedList<'_> {
    type Value = Vec<SharedRecord>;
    const WHAT: &'static str = "shared message list";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(shared_messages::list_size(self.0.max_list, file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<SharedRecord>> {
        shared_messages::decode_list(bytes, self.0.messages, file.widths()).map_err(Error::at(address))
    }
}
