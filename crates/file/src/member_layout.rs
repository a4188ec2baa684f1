//! The members of a file that is spread over several: which there are, what the file tells of them, and where a place is among them.

use hyperslab_format::{DriverInfoBlock, MemberFiles, MultiMember, Superblock, message::DriverInfo};

use crate::{Error, Result};

/// The first member of a family holds so many bytes behind the user block, so that one write suffices for the superblock.
const LEAST_FIRST: u64 = 512;
/// The memory types of values and of the global heap, as libhdf5 numbers them.
pub(crate) const VALUES: [u8; 2] = [3, 4];

/// The members of a file that may be changed.
#[derive(Clone, Debug)]
pub(crate) struct Members {
    pub(crate) files: MemberFiles,
}

impl Members {
    /// Of a new file, behind a user block of `base` bytes; refuses members that cannot be so.
    pub(crate) fn new(files: &MemberFiles, base: u64) -> Result<Members> {
        let members = Members { files: files.clone() };
        match files {
            MemberFiles::Family { size } if base.saturating_add(LEAST_FIRST) > *size => Err(Error::Refused(format!(
                "members of {size} bytes: the first must hold the user block and {LEAST_FIRST} bytes more"
            ))),
            MemberFiles::Multi(_) => members.check_split(base).map(|()| members),
            MemberFiles::Family { .. } => Ok(members),
        }
    }

    /// Refuses members that are neither for metadata nor for values.
    pub(crate) fn check_split(&self, base: u64) -> Result<()> {
        match &self.files {
            MemberFiles::Multi(members) => match members.as_slice() {
                [metadata, values] if metadata.start == 0 && values.kinds == VALUES && base == 0 => Ok(()),
                [_, _] if base != 0 => Err(Error::Refused("a split file has no user block".into())),
                _ => Err(read_only()),
            },
            MemberFiles::Family { .. } => Ok(()),
        }
    }

    /// Refuses space that is `managed` in another way than usual, if values have a member of their own.
    pub(crate) fn check_space(&self, managed: bool) -> Result<()> {
        match self.values_start().filter(|_| managed) {
            Some(_) => {
                Err(Error::Refused("the space of a split file is managed as usual, without pages or lists".into()))
            }
            None => Ok(()),
        }
    }

    /// Where the addresses of values begin, if they have a member of their own.
    pub(crate) fn values_start(&self) -> Option<u64> {
        self.values().map(|member| member.start)
    }

    pub(crate) fn values(&self) -> Option<&MultiMember> {
        match &self.files {
            MemberFiles::Multi(members) => members.iter().find(|member| member.kinds == VALUES),
            MemberFiles::Family { .. } => None,
        }
    }

    /// The superblock of a file with these members as it is stored: with the driver information block, if that follows it.
    pub(crate) fn head(members: Option<&Members>, superblock: &Superblock) -> Result<Vec<u8>> {
        let mut bytes = superblock.encode()?;
        if let Some(members) = members
            && superblock.driver_info == Some(bytes.len() as u64)
        {
            let (name, info) = members.files.encode();
            bytes.extend(DriverInfoBlock { name, info }.encode()?);
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

    pub(crate) fn message(&self) -> Result<Vec<u8>> {
        let (name, info) = self.files.encode();
        Ok(DriverInfo { name, info }.encode()?)
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
            MemberFiles::Multi(_) => match self.values_start() {
                Some(start) if start <= place => (1, place - start),
                _ => (0, place),
            },
        }
    }
}

/// The error of members that cannot be changed.
pub(crate) fn read_only() -> Error {
    let why = "a file with a member for each kind of content can only be read, unless it has two: one for metadata, one for values";
    Error::Refused(why.into())
}
