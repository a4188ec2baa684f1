//! The superblock: where the file begins to make sense.
//!
//! ```text
//!  0, 1   | signature, 8 | version | version of free space | of the root entry | 0 | of shared messages | width of offsets |
//!         | width of lengths | 0 | group leaf K, 2 | group internal K, 2 | flags, 4 | (1: chunk internal K, 2 | 0, 2) |
//!         | base O | free space O | end of file O | driver information O | symbol table entry of the root group |
//!  2, 3   | signature, 8 | version | width of offsets | width of lengths | flags | base O | extension O | end of file O |
//!         | root header O | checksum, 4 |
//! ```

use hyperslab_base::{Fault, Malformed, Reader, Width, Widths, Writer};

use crate::{Encoded, Result, symbol_table::Entry};

/// The eight bytes that every HDF5 file has at its superblock.
pub const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// The most bytes that a superblock takes.
pub const MAX_SIZE: usize = 28 + 4 * 8 + Entry::size(Widths::EIGHT);

/// What the superblock says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// 0 to 3.
    pub version: u8,
    /// How many bytes addresses and lengths take.
    pub widths: Widths,
    /// Consistency flags.
    pub flags: u32,
    /// Where address 0 is, in bytes from the front of the file, as stored.
    pub base: u64,
    /// Where the free space is (versions 0 and 1); no library ever used it.
    pub free_space: Option<u64>,
    /// The end of the file, counted from the base address.
    pub end_of_file: Option<u64>,
    /// The object header of the superblock extension.
    pub extension: Option<u64>,
    /// The driver information block (versions 0 and 1).
    pub driver_info: Option<u64>,
    /// The root group.
    pub root: Root,
    /// Half the number of symbols in a symbol table node.
    pub group_leaf_k: u16,
    /// Half the number of children of a group's B-tree node.
    pub group_internal_k: u16,
    /// Half the number of children of a chunk B-tree node.
    pub chunk_internal_k: u16,
}

/// How the superblock names the root group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// By a symbol table entry.
    Entry(Entry),
    /// By the address of its object header.
    Header(Option<u64>),
}

impl Root {
    /// The address of the root group's object header.
    pub fn header(&self) -> Option<u64> {
        match self {
            Root::Entry(entry) => entry.header,
            Root::Header(address) => *address,
        }
    }
}

/// What libhdf5 takes where the file does not say.
const DEFAULT_LEAF_K: u16 = 4;
const DEFAULT_GROUP_K: u16 = 16;
pub(crate) const DEFAULT_CHUNK_K: u16 = 32;

impl Superblock {
    /// Reads a superblock that starts at the front of `bytes`.
    pub fn decode(bytes: &[u8]) -> Result<Superblock> {
        let mut reader = Reader::new("superblock", bytes);
        if reader.take(8)? != SIGNATURE {
            return Err(reader.refuse_as(Fault::Signature, "this is not an HDF5 file: the signature is missing"));
        }
        match reader.version(0..=3)? {
            version @ (0 | 1) => Self::decode_old(reader, version),
            version => Self::decode_new(reader, version),
        }
    }

    fn decode_old(mut reader: Reader<'_>, version: u8) -> Result<Superblock> {
        for _ in 0..2 {
            reader.version(0..=0)?; // of free space, of the root entry
        }
        reader.skip(1)?;
        reader.version(0..=0)?; // of shared messages
        let widths = widths(&mut reader)?;
        reader.skip(1)?;
        let (group_leaf_k, group_internal_k) = (reader.u16()?, reader.u16()?);
        if group_leaf_k == 0 || group_internal_k == 0 {
            return Err(reader.refuse("a group tree with nodes of no size"));
        }
        let flags = reader.u32()?;
        let mut chunk_internal_k = DEFAULT_CHUNK_K;
        if version == 1 {
            chunk_internal_k = reader.u16()?;
            reader.skip(2)?;
            if chunk_internal_k == 0 {
                return Err(reader.refuse("a chunk tree with nodes of no size"));
            }
        }
        let base = base(&mut reader, widths)?;
        let free_space = reader.address(widths)?;
        let end_of_file = reader.address(widths)?;
        let driver_info = reader.address(widths)?;
        let root = Root::Entry(Entry::decode(&mut reader, widths)?);
        Ok(Superblock {
            version,
            widths,
            flags,
            base,
            free_space,
            end_of_file,
            extension: None,
            driver_info,
            root,
            group_leaf_k,
            group_internal_k,
            chunk_internal_k,
        })
    }

    fn decode_new(mut reader: Reader<'_>, version: u8) -> Result<Superblock> {
        let widths = widths(&mut reader)?;
        reader.sealed(reader.position() + 1 + 4 * widths.offsets.bytes() + 4)?;
        let flags = u32::from(reader.u8()?);
        let base = base(&mut reader, widths)?;
        let extension = reader.address(widths)?;
        let end_of_file = reader.address(widths)?;
        let root = Root::Header(reader.address(widths)?);
        Ok(Superblock {
            version,
            widths,
            flags,
            base,
            free_space: None,
            end_of_file,
            extension,
            driver_info: None,
            root,
            group_leaf_k: DEFAULT_LEAF_K,
            group_internal_k: DEFAULT_GROUP_K,
            chunk_internal_k: DEFAULT_CHUNK_K,
        })
    }
}

impl Superblock {
    /// Writes the superblock. The K of B-trees have no place in versions 2 and 3, where a message of the extension holds them.
    pub fn encode(&self) -> Encoded {
        let mut writer = Writer::new("superblock");
        writer.extend(&SIGNATURE);
        writer.u8(self.version);
        match self.version {
            0 | 1 => self.encode_old(&mut writer)?,
            2 | 3 => self.encode_new(&mut writer)?,
            version => return Err(writer.refuse("version", format!("there is no version {version}"))),
        }
        Ok(writer.into_bytes())
    }

    fn encode_old(&self, writer: &mut Writer) -> Encoded<()> {
        let Root::Entry(root) = &self.root else {
            return Err(writer.refuse("root", "versions 0 and 1 name the root group by an entry"));
        };
        if self.extension.is_some() {
            return Err(writer.refuse("extension", "versions 0 and 1 have none"));
        }
        if self.version == 0 && self.chunk_internal_k != DEFAULT_CHUNK_K {
            return Err(
                writer.refuse("chunk internal K", format!("version 0 has no place for {}", self.chunk_internal_k))
            );
        }
        if [self.group_leaf_k, self.group_internal_k, self.chunk_internal_k].contains(&0) {
            return Err(writer.refuse("K", "nodes of no size"));
        }
        writer.zeros(4); // versions of free space, of the root entry and of shared messages
        self.encode_widths(writer)?;
        writer.zeros(1);
        writer.u16(self.group_leaf_k);
        writer.u16(self.group_internal_k);
        writer.u32(self.flags);
        if self.version == 1 {
            writer.u16(self.chunk_internal_k);
            writer.zeros(2);
        }
        writer.address("base address", self.widths, Some(self.base))?;
        writer.address("free space", self.widths, self.free_space)?;
        writer.address("end of file", self.widths, self.end_of_file)?;
        writer.address("driver information", self.widths, self.driver_info)?;
        root.encode(writer, self.widths)
    }

    fn encode_new(&self, writer: &mut Writer) -> Encoded<()> {
        let Root::Header(root) = self.root else {
            return Err(writer.refuse("root", "versions 2 and 3 name the root group by its header"));
        };
        if self.driver_info.or(self.free_space).is_some() {
            return Err(writer.refuse("driver information, free space", "versions 2 and 3 have no place for them"));
        }
        self.encode_widths(writer)?;
        writer.uint("flags", Width::W1, self.flags.into())?;
        writer.address("base address", self.widths, Some(self.base))?;
        writer.address("extension", self.widths, self.extension)?;
        writer.address("end of file", self.widths, self.end_of_file)?;
        writer.address("root", self.widths, root)?;
        writer.checksum();
        Ok(())
    }

    fn encode_widths(&self, writer: &mut Writer) -> Encoded<()> {
        for (field, width) in [("width of offsets", self.widths.offsets), ("width of lengths", self.widths.lengths)] {
            if ![2, 4, 8].contains(&width.bytes()) {
                return Err(writer.refuse(field, format!("{} bytes, where 2, 4 and 8 are allowed", width.bytes())));
            }
            writer.u8(width.bytes() as u8);
        }
        Ok(())
    }
}

fn base(reader: &mut Reader<'_>, widths: Widths) -> Result<u64> {
    let base = reader.address(widths)?;
    base.ok_or_else(|| reader.refuse("the base address is undefined"))
}

fn widths(reader: &mut Reader<'_>) -> Result<Widths> {
    let mut width = |what: &str| -> Result<Width> {
        let bytes = reader.u8()?;
        let known = Width::new(bytes).filter(|width| [2, 4, 8].contains(&width.bytes()));
        known.ok_or_else(|| -> Malformed { reader.refuse_as(Fault::Length, format!("{what} of {bytes} bytes")) })
    };
    Ok(Widths { offsets: width("offsets")?, lengths: width("lengths")? })
}
