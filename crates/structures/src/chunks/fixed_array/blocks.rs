//! The blocks of a fixed array: header, data block, pages.

use std::sync::Arc;

use hyperslab_file::{Block, Error, Extent, OpenFile, Result, Seal};
use hyperslab_format::{
    ChunkEntry,
    index::{
        ChunkElement,
        fixed_array::{self, FixedArray},
    },
};

/// The header.
pub(crate) struct Header;

impl Block for Header {
    type Value = FixedArray;
    const WHAT: &'static str = "fixed array";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(FixedArray::size(file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<FixedArray> {
        FixedArray::decode(bytes, file.widths()).map_err(Error::at(address))
    }
}

/// What a data block has in front of its elements or pages: which pages were ever written.
pub(crate) struct Head<'a>(pub(crate) &'a FixedArray);

impl Block for Head<'_> {
    type Value = Vec<bool>;
    const WHAT: &'static str = "fixed array data block";

    /// Without pages, the checksum is behind the elements.
    fn seal(&self, _: &[u8]) -> Seal {
        if self.0.pages() == 0 { Seal::Signature } else { Seal::Checksum }
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(self.0.data_head(file.widths()))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<bool>> {
        fixed_array::decode_head(bytes, self.0, file.widths()).map_err(Error::at(address))
    }
}

/// A data block without pages.
pub(crate) struct Data<'a>(pub(crate) &'a FixedArray, pub(crate) ChunkElement);

impl Block for Data<'_> {
    type Value = Vec<ChunkEntry>;
    const WHAT: &'static str = Head::WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        let Data(header, element) = *self;
        Extent::Exact(header.data_head(file.widths()).saturating_add(size(file, element, header.elements)))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<ChunkEntry>> {
        fixed_array::decode_data(bytes, self.0, self.1, file.widths()).map_err(Error::at(address))
    }
}

/// A page of so many elements.
pub(crate) struct Page(pub(crate) u64, pub(crate) ChunkElement);

impl Block for Page {
    type Value = Vec<ChunkEntry>;
    const WHAT: &'static str = "fixed array page";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(size(file, self.1, self.0))
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<ChunkEntry>> {
        fixed_array::decode_page(bytes, self.0, self.1, file.widths()).map_err(Error::at(address))
    }
}

/// What so many elements and their checksum take.
pub(crate) fn size(file: &OpenFile, element: ChunkElement, elements: u64) -> u64 {
    elements.saturating_mul(element.size(file.widths()) as u64).saturating_add(4)
}
