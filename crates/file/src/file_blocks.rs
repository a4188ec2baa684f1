//! Blocks that belong to the file as a whole: free-space managers and their lists, the driver information block.

use std::sync::Arc;

use hyperslab_format::{
    Defect, DriverInfoBlock, Fault, Malformed,
    free_space::{FreeSpace, Section},
};

use crate::{Block, Error, Extent, OpenFile, Result, Seal};

/// More bytes than any driver leaves.
pub(crate) const MOST: usize = 4096;

/// A free-space manager, of the file or of a fractal heap.
pub struct FreeSpaceManager;

impl Block for FreeSpaceManager {
    type Value = FreeSpace;
    const WHAT: &'static str = "free-space manager";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Exact(FreeSpace::size(file.widths()) as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<FreeSpace> {
        FreeSpace::decode(bytes, file.widths()).map_err(Error::at(address))
    }
}

/// The list of sections that a free-space manager names.
pub struct FreeSections<'a>(pub &'a FreeSpace);

impl Block for FreeSections<'_> {
    type Value = Vec<Section>;
    const WHAT: &'static str = "list of free sections";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(self.0.list_size)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Vec<Section>> {
        self.0.decode_list(bytes, file.widths()).map_err(Error::at(address))
    }
}

/// What a driver of libhdf5 left behind superblocks of versions 0 and 1.
pub(crate) struct DriverInfo;

impl Block for DriverInfo {
    /// With the bytes that it has.
    type Value = (DriverInfoBlock, u64);
    const WHAT: &'static str = "driver information block";

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::None
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Told(DriverInfoBlock::HEAD as u64)
    }

    fn length(&self, _: &OpenFile, _: u64, first: &[u8]) -> Result<u64, Malformed> {
        let size = DriverInfoBlock::full_size(first)?;
        if size > MOST {
            let why = format!("it has {size} bytes, more than any driver leaves");
            return Err(Malformed::new(Defect { what: Self::WHAT, at: 4, fault: Fault::Length, why }));
        }
        Ok(size as u64)
    }

    fn decode(&self, _: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Self::Value> {
        let block = DriverInfoBlock::decode(bytes).map_err(Error::at(address))?;
        Ok((block, bytes.len() as u64))
    }
}
