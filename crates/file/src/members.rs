//! How a logical file is spread over several: what the one with the superblock says of the others.

use std::sync::Arc;

use hyperslab_driver::Driver;
use hyperslab_format::{
    DriverInfoBlock, MemberFiles, Superblock,
    message::{self, kind},
    object_header::Flags,
};

use crate::{
    Error, Header, OpenFile, OpenOptions, Result, extension,
    file_blocks::{DriverInfo, MOST},
    store::Store,
};

const WHAT: &str = "driver information block";
/// The flags of the message, as libhdf5 has them: to be marked by programs that do not understand it.
const FLAGS: Flags = Flags(0x04);
/// The first member of a family holds so many bytes behind the user block, so that one write suffices for the superblock.
const LEAST_FIRST: u64 = 512;

/// The members of the file whose superblock is in `storage`; nothing if it is one file, or if what tells is in another member.
pub fn members(storage: Arc<dyn Driver>) -> Result<Option<MemberFiles>> {
    let file = OpenFile::begin(storage, &OpenOptions { page_size: MOST, pages: 4, ..OpenOptions::default() })?;
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

/// The members of a file that may be changed.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    files: MemberFiles,
}

impl Members {
    /// Of a new file, behind a user block of `base` bytes; refuses members that cannot be so.
    pub(crate) fn new(files: &MemberFiles, base: u64) -> Result<Members> {
        match files {
            MemberFiles::Family { size } if base.saturating_add(LEAST_FIRST) > *size => Err(Error::Refused(format!(
                "members of {size} bytes: the first must hold the user block and {LEAST_FIRST} bytes more"
            ))),
            _ => Ok(Members { files: files.clone() }),
        }
    }

    /// Of a file in the storage. What its driver left may be unreadable, where the storage knows its members without.
    pub(crate) fn of(file: &OpenFile) -> Option<Members> {
        let block = file.superblock.driver_info.map(|address| from_block(file, address));
        let found = block.or_else(|| file.superblock.extension.map(|address| from_extension(file, address)))?;
        found.ok().flatten().map(|files| Members { files })
    }

    /// The superblock of a file with these members as it is stored: with the driver information block, if that follows it.
    pub(crate) fn head(members: Option<&Members>, superblock: &Superblock) -> Result<Vec<u8>> {
        let mut bytes = superblock.encode()?;
        if let Some(members) = members
            && superblock.driver_info == Some(bytes.len() as u64)
        {
            bytes.extend(members.block()?);
        }
        Ok(bytes)
    }

    /// Gives a new superblock of version 0 or 1 the driver information block that follows it.
    pub(crate) fn announce(&self, superblock: &mut Superblock) -> Result<()> {
        if superblock.version < 2 {
            superblock.driver_info = Some(superblock.encode()?.len() as u64);
        }
        Ok(())
    }

    /// Gives a new file with a later superblock the message that tells of the members.
    pub(crate) fn begin(&self, file: &OpenFile, store: &Store) -> Result<()> {
        if file.superblock.version < 2 {
            return Ok(());
        }
        let (name, info) = self.files.encode();
        let body = message::DriverInfo { name, info }.encode()?;
        extension::change(file, store, |header| header.add(kind::DRIVER_INFO, FLAGS, None, body).map(drop))
    }

    fn block(&self) -> Result<Vec<u8>> {
        let (name, info) = self.files.encode();
        Ok(DriverInfoBlock { name, info }.encode()?)
    }

    /// Refuses a superblock of so many bytes behind the user block that is in two members: it could be left half written.
    pub(crate) fn check_head(&self, base: u64, length: usize) -> Result<()> {
        let (first, last) = (self.locate(base).0, self.locate(base.saturating_add(length as u64)).0);
        match first == last {
            true => Ok(()),
            false => Err(Error::Refused("the superblock is in two members of the family: it can only be read".into())),
        }
    }

    /// Which member has the byte at a place of the storage, and where.
    pub(crate) fn locate(&self, place: u64) -> (u64, u64) {
        match &self.files {
            MemberFiles::Family { size } => (place / size, place % size),
            MemberFiles::Multi(_) => (0, place),
        }
    }
}
