//! The parts of new objects as messages, in the versions that the file asks for.

use hyperslab_dtype::{Datatype, Version};
use hyperslab_file::{Error, Result};
use hyperslab_format::{
    message::Shared,
    object_header::Flags,
    version::{self, LibVersion},
};
use hyperslab_space::Extent;

use crate::Context;

/// The type of new values.
#[derive(Clone, Copy, Debug)]
pub enum NewType<'a> {
    /// A type of their own.
    Own(&'a Datatype),
    /// The committed datatype at an address.
    Committed(u64),
}

impl NewType<'_> {
    /// The message, and the flag that says whether it only tells where the type is.
    pub(crate) fn encode(&self, context: &Context) -> Result<(Vec<u8>, Flags)> {
        let file = context.file();
        match self {
            NewType::Own(datatype) => Ok((datatype.encode(datatype_version(file.libver_min())), Flags::NONE)),
            NewType::Committed(address) => {
                let place = Shared::Committed(*address);
                Ok((place.encode(version::shared(&place), file.widths())?, Flags::SHARED))
            }
        }
    }

    /// Where it is committed.
    pub(crate) fn committed(&self) -> Option<u64> {
        match self {
            NewType::Own(_) => None,
            NewType::Committed(address) => Some(*address),
        }
    }
}

/// The version of datatype messages under a lower bound.
pub(crate) fn datatype_version(libver_min: LibVersion) -> Version {
    match libver_min {
        LibVersion::Earliest => Version::V1,
        LibVersion::V18 | LibVersion::V110 => Version::V3,
        LibVersion::V112 | LibVersion::V114 => Version::V4,
        _ => Version::V5,
    }
}

/// The dataspace message, in this version at least.
pub(crate) fn extent(context: &Context, extent: &Extent, least: u8) -> Result<Vec<u8>> {
    let file = context.file();
    let version = version::dataspace(file.libver_min(), extent.is_null()).max(least);
    let encoded = extent.encode_wide(version, false, file.widths().lengths);
    encoded.map_err(|why| Error::Above(why.into()))
}
