//! The datatype message: how a datatype stands in a file.
//!
//! Lives here: versions 1 to 5 of the message, both ways. Does not live here: messages that are shared or committed
//! elsewhere; the room of object headers follows those. Called by headers, attributes, links of committed datatypes.
//!
//! ```text
//!  byte 0      1..4         4..8   8..
//! +-----------+------------+------+------------------------------+
//! | ver class | class bits | size | properties, of each class    |   version in the upper half of byte 0
//! +-----------+------------+------+------------------------------+
//! ```

mod decode;
mod encode;
mod version;

pub use version::Version;

/// The class numbers of the format.
mod code {
    pub(super) const FIXED: u8 = 0;
    pub(super) const FLOAT: u8 = 1;
    pub(super) const TIME: u8 = 2;
    pub(super) const STRING: u8 = 3;
    pub(super) const BITFIELD: u8 = 4;
    pub(super) const OPAQUE: u8 = 5;
    pub(super) const COMPOUND: u8 = 6;
    pub(super) const REFERENCE: u8 = 7;
    pub(super) const ENUM: u8 = 8;
    pub(super) const VLEN: u8 = 9;
    pub(super) const ARRAY: u8 = 10;
    pub(super) const COMPLEX: u8 = 11;
}

/// The class bits.
mod flag {
    pub(super) const BIG: u32 = 0x01;
    pub(super) const LOW_PAD: u32 = 0x02;
    pub(super) const HIGH_PAD: u32 = 0x04;
    pub(super) const SIGNED: u32 = 0x08;
    pub(super) const INNER_PAD: u32 = 0x08;
    pub(super) const VAX: u32 = 0x40;
    pub(super) const HOMOGENEOUS: u32 = 0x01;
}

/// The version of the encoding of revised references.
const REVISED_VERSION: u32 = 1;

/// How many bytes a member offset takes from version 3 on: as many as the size of the compound needs.
fn offset_width(size: u32) -> hyperslab_base::Width {
    let bytes = 4 - size.leading_zeros() / 8;
    hyperslab_base::Width::new(bytes as u8).unwrap_or(hyperslab_base::Width::W4)
}
