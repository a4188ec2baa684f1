//! The blocks of an extensible array: header, index block, super blocks, data blocks, pages.

use std::sync::Arc;

use hyperslab_base::Reader;
use hyperslab_file::{Block, Error, Extent, OpenFile, Result, Seal};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        extensible_array::{self, ExtensibleArray, IndexBlock, SuperBlock},
    },
};

pub(crate) use crate::chunks::fixed_array::blocks::size;

/// The header.
pub(crate) struct Header;

impl Block for Header {
    type Value = ExtensibleArray;
    const WHAT: &'static str = "extensible array";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(ExtensibleArray::size(file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<ExtensibleArray> {
        ExtensibleArray::decode(bytes, file.widths()).map_err(Error::at(address))
    }
}

/// The index block.
pub(crate) struct Index<'a>(pub(crate) &'a ExtensibleArray, pub(crate) ChunkElement);

impl Block for Index<'_> {
    type Value = IndexBlock;
    const WHAT: &'static str = "extensible array index block";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(self.0.index_size(self.1, file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<IndexBlock> {
        extensible_array::decode_index(bytes, self.0, self.1, file.widths()).map_err(Error::at(address))
    }
}

/// A super block.
pub(crate) struct Super<'a>(pub(crate) &'a ExtensibleArray, pub(crate) &'a SuperBlock);

impl Block for Super<'_> {
    /// Per data block: where it is, and which of its pages were ever written.
    type Value = Vec<(Option<u64>, Vec<bool>)>;
    const WHAT: &'static str = "extensible array super block";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(self.0.super_size(self.1, file.widths()))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Self::Value> {
        extensible_array::decode_super(bytes, self.0, self.1, file.widths()).map_err(Error::at(address))
    }
}

/// A data block of a super block, without pages.
pub(crate) struct Data<'a>(pub(crate) &'a ExtensibleArray, pub(crate) &'a SuperBlock, pub(crate) ChunkElement);

impl Block for Data<'_> {
    type Value = Vec<ChunkEntry>;
    const WHAT: &'static str = "extensible array data block";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        let Data(header, block, element) = *self;
        Extent::Exact(data_size(file, header, block, element))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<ChunkEntry>> {
        let Data(header, block, element) = *self;
        extensible_array::decode_data(bytes, header, block.elements, element, file.widths()).map_err(Error::at(address))
    }
}

/// What a data block with pages has in front of them. Only a check looks at it: the super block tells which pages were written.
pub(crate) struct Head<'a>(pub(crate) &'a ExtensibleArray, pub(crate) &'a SuperBlock);

impl Block for Head<'_> {
    type Value = ();
    const WHAT: &'static str = Data::WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(self.0.data_head(self.1.elements, file.widths()))
    }

    fn decode(&self, _: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<()> {
        let mut reader = Reader::new(Self::WHAT, bytes);
        reader.signature(b"EADB").and_then(|()| reader.sealed(bytes.len())).map_err(Error::at(address))
    }
}

/// A page of a data block.
pub(crate) struct Page<'a>(pub(crate) &'a ExtensibleArray, pub(crate) ChunkElement);

impl Block for Page<'_> {
    type Value = Vec<ChunkEntry>;
    const WHAT: &'static str = "extensible array page";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(size(file, self.1, self.0.page()))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<ChunkEntry>> {
        extensible_array::decode_page(bytes, self.0, self.1, file.widths()).map_err(Error::at(address))
    }
}

/// What a data block takes, pages included.
pub(crate) fn data_size(file: &OpenFile, header: &ExtensibleArray, block: &SuperBlock, element: ChunkElement) -> u64 {
    let elements = match header.pages(block.elements) {
        0 => size(file, element, block.elements),
        pages => size(file, element, header.page()).saturating_mul(pages),
    };
    header.data_head(block.elements, file.widths()).saturating_add(elements)
}
