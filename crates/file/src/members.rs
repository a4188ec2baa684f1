//! How a logical file is spread over several: what the one with the superblock says of the others.

use std::sync::Arc;

use hyperslab_driver::Driver;
use hyperslab_format::{
    MemberFiles,
    message::{self, kind},
};

use crate::{
    Error, Header, OpenFile, OpenOptions, Result,
    file_blocks::{DriverInfo, MOST},
};

/// The members of the file whose superblock is in `storage`; nothing if it is one file, or if what tells is in another member.
pub fn members(storage: Arc<dyn Driver>) -> Result<Option<MemberFiles>> {
    let file = OpenFile::begin(
        storage,
        &OpenOptions { page_size: Some(MOST), page_buffer: 4 * MOST, ..OpenOptions::default() },
    )?;
    let here = |address: &u64| *address < file.seen_end();
    if let Some(address) = file.superblock.driver_info.filter(here) {
        return from_block(&file, address);
    }
    match file.superblock.extension.filter(here) {
        Some(address) => from_extension(&file, address),
        None => Ok(None),
    }
}

fn from_block(file: &OpenFile, address: u64) -> Result<Option<MemberFiles>> {
    let (block, _) = file.load_once(&DriverInfo, address)?;
    MemberFiles::decode(block.name, &block.info).map_err(Error::at(address))
}

fn from_extension(file: &OpenFile, address: u64) -> Result<Option<MemberFiles>> {
    let header = Header::read(file, address)?;
    let Some(found) = header.find(kind::DRIVER_INFO) else { return Ok(None) };
    let info = message::DriverInfo::decode(header.body(found)).map_err(Error::at(address))?;
    MemberFiles::decode(info.name, &info.info).map_err(Error::at(address))
}

/// What the driver of a file in the storage left, if that can be read.
pub(crate) fn told(file: &OpenFile) -> Option<MemberFiles> {
    let block = file.superblock.driver_info.map(|address| from_block(file, address));
    let found = block.or_else(|| file.superblock.extension.map(|address| from_extension(file, address)))?;
    found.ok().flatten()
}
