//! Free-space managers: which parts of a file, or of a fractal heap, are free.
//!
//! ```text
//!  header    | FSHD | version 0 | client | free bytes L | sections L | those in the list L | others L | classes, 2 | shrink %, 2 | expand %, 2 |
//!            | bits of an address, 2 | largest section L | list O | its bytes L | bytes allocated for it L | checksum, 4 |
//!  list      | FSSE | version 0 | header O | per size: sections | size | per section: offset | class | by class | … | 0… | checksum, 4 |
//!  by class  first row and indirect sections of a heap: | offset of the indirect block | row, 2 | column, 2 | entries, 2 |
//! ```

use hyperslab_base::{Reader, Width, Widths, Writer};

use crate::{Encoded, Result};

/// What the header of a free-space manager says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// Whose space it is.
    pub client: Client,
    /// Free bytes in all sections.
    pub space: u64,
    /// All sections.
    pub sections: u64,
    /// The sections that are in the list.
    pub listed: u64,
    /// The sections that are not: they follow from others.
    pub ghosts: u64,
    /// How many classes of sections there are.
    pub classes: u16,
    /// How much of the allocated list must be used, in percent, for it not to shrink.
    pub shrink: u16,
    /// By how much a list grows, in percent.
    pub expand: u16,
    /// How many bits an offset has.
    pub address_bits: u16,
    /// The largest section.
    pub max_section: u64,
    /// Where the list is.
    pub list: Option<u64>,
    /// How many bytes of the list are used.
    pub list_size: u64,
    /// How many bytes are allocated for it.
    pub list_allocated: u64,
}

/// Whose space a manager keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// A fractal heap's.
    Heap,
    /// The file's.
    File,
}

/// A free section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes.
    pub size: u64,
    /// Its class: what it is a part of.
    pub class: u8,
    /// For sections of whole blocks in a heap: which blocks.
    pub blocks: Option<Blocks>,
}

/// Blocks of a fractal heap that do not exist yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Where their indirect block begins in the heap.
    pub parent: u64,
    /// The row of the first one.
    pub row: u16,
    /// The column of the first one.
    pub column: u16,
    /// How many.
    pub entries: u16,
}

/// The class of a first row of blocks in a heap.
const FIRST_ROW: u8 = 1;
/// The class of blocks below an indirect block that does not exist.
const INDIRECT: u8 = 3;

impl FreeSpace {
    /// How many bytes the header takes.
    pub const fn size(widths: Widths) -> usize {
        6 + 7 * widths.lengths.bytes() + 8 + widths.offsets.bytes() + 4
    }

    /// Reads the header.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<FreeSpace> {
        let mut reader = Reader::new("free-space manager", bytes);
        reader.signature(b"FSHD")?;
        reader.version(0..=0)?;
        reader.sealed(Self::size(widths))?;
        let client = match reader.u8()? {
            0 => Client::Heap,
            1 => Client::File,
            other => return Err(reader.refuse(format!("unknown client {other}"))),
        };
        let manager = FreeSpace {
            client,
            space: reader.length(widths)?,
            sections: reader.length(widths)?,
            listed: reader.length(widths)?,
            ghosts: reader.length(widths)?,
            classes: reader.u16()?,
            shrink: reader.u16()?,
            expand: reader.u16()?,
            address_bits: reader.u16()?,
            max_section: reader.length(widths)?,
            list: reader.address(widths)?,
            list_size: reader.length(widths)?,
            list_allocated: reader.length(widths)?,
        };
        if manager.offset_width().is_none() {
            return Err(reader.refuse(format!("offsets of {} bits", manager.address_bits)));
        }
        Ok(manager)
    }

    /// Writes the header.
    pub fn encode(&self, widths: Widths) -> Encoded {
        let mut writer = Writer::new("free-space manager");
        if self.offset_width().is_none() {
            return Err(writer.refuse("bits of an address", format!("{} where 1 to 64 belong", self.address_bits)));
        }
        writer.extend(b"FSHD\0");
        writer.u8(match self.client {
            Client::Heap => 0,
            Client::File => 1,
        });
        writer.length("free bytes", widths, self.space)?;
        writer.length("sections", widths, self.sections)?;
        writer.length("sections in the list", widths, self.listed)?;
        writer.length("other sections", widths, self.ghosts)?;
        [self.classes, self.shrink, self.expand, self.address_bits].iter().for_each(|&number| writer.u16(number));
        writer.length("largest section", widths, self.max_section)?;
        writer.address("list", widths, self.list)?;
        writer.length("bytes of the list", widths, self.list_size)?;
        writer.length("bytes for the list", widths, self.list_allocated)?;
        writer.checksum();
        Ok(writer.into_bytes())
    }

    /// Reads the list of sections, [`FreeSpace::list_size`] bytes.
    ///
    /// Sizes take as many bytes as the largest section needs. The first releases that wrote lists counted one less for a power of two; the
    /// checksum tells. Where lengths are short, the header has no room for what libhdf5 takes for the largest section of a file, and the sum
    /// of the sizes tells.
    pub fn decode_list(&self, bytes: &[u8], widths: Widths) -> Result<Vec<Section>> {
        let width = Width::of(self.max_section);
        let narrow = Width::of(self.max_section.saturating_sub(1));
        let sum = |sections: &[Section]| sections.iter().fold(0u64, |sum, section| sum.saturating_add(section.size));
        if self.client == Client::File
            && widths.lengths != Width::W8
            && let Ok(sections) = self.decode_sized(bytes, Width::W8, widths)
            && sum(&sections) == self.space
        {
            return Ok(sections);
        }
        let sections = self.decode_sized(bytes, width, widths);
        if sections.is_err() && narrow != width {
            return self.decode_sized(bytes, narrow, widths).or(sections);
        }
        sections
    }

    fn decode_sized(&self, bytes: &[u8], size_width: Width, widths: Widths) -> Result<Vec<Section>> {
        let mut reader = Reader::new("list of free sections", bytes);
        reader.signature(b"FSSE")?;
        reader.version(0..=0)?;
        reader.sealed(bytes.len())?;
        reader.address(widths)?;
        let mut sections = Vec::new();
        while (sections.len() as u64) < self.listed {
            let count = reader.uint(Width::of(self.listed))?;
            let size = reader.uint(size_width)?;
            if count == 0 || count > self.listed - sections.len() as u64 {
                return Err(reader.refuse(format!("{count} sections of {size} bytes, but {} in all", self.listed)));
            }
            for _ in 0..count {
                sections.push(self.section(&mut reader, size)?);
            }
        }
        Ok(sections)
    }

    fn section(&self, reader: &mut Reader<'_>, size: u64) -> Result<Section> {
        let width = self.offset_width().unwrap_or(Width::W8);
        let (offset, class) = (reader.uint(width)?, reader.u8()?);
        let mut blocks = None;
        if self.has_blocks(class) {
            let parent = reader.uint(width)?;
            blocks = Some(Blocks { parent, row: reader.u16()?, column: reader.u16()?, entries: reader.u16()? });
        }
        Ok(Section { offset, size, class, blocks })
    }

    /// Writes the list of sections of the manager at `header`. libhdf5 has smaller sections first, those of one size by offset.
    pub fn encode_list(&self, sections: &[Section], header: u64, widths: Widths) -> Encoded {
        let mut writer = Writer::new("list of free sections");
        if sections.len() as u64 != self.listed {
            return Err(writer.refuse("sections", format!("{} where {} belong", sections.len(), self.listed)));
        }
        writer.extend(b"FSSE\0");
        writer.address("header", widths, Some(header))?;
        for same in sections.chunk_by(|left, right| left.size == right.size) {
            writer.count("sections", Width::of(self.listed), same.len())?;
            let size = same.first().map_or(0, |section| section.size);
            writer.uint("size", Width::of(self.max_section), size)?;
            same.iter().try_for_each(|section| self.encode_section(&mut writer, section))?;
        }
        let size = usize::try_from(self.list_size).unwrap_or(usize::MAX);
        writer.fill_to("sections", size.saturating_sub(4))?;
        writer.checksum();
        Ok(writer.into_bytes())
    }

    fn encode_section(&self, writer: &mut Writer, section: &Section) -> Encoded<()> {
        let Some(width) = self.offset_width() else {
            return Err(writer.refuse("bits of an address", format!("{} where 1 to 64 belong", self.address_bits)));
        };
        writer.uint("offset", width, section.offset)?;
        writer.u8(section.class);
        match section.blocks {
            Some(blocks) if self.has_blocks(section.class) => {
                writer.uint("offset of the indirect block", width, blocks.parent)?;
                [blocks.row, blocks.column, blocks.entries].iter().for_each(|&number| writer.u16(number));
                Ok(())
            }
            None if !self.has_blocks(section.class) => Ok(()),
            _ => Err(writer.refuse("class", format!("{} does not say what the section says", section.class))),
        }
    }

    /// Whether sections of a class tell which blocks they are.
    fn has_blocks(&self, class: u8) -> bool {
        self.client == Client::Heap && matches!(class, FIRST_ROW | INDIRECT)
    }

    fn offset_width(&self) -> Option<Width> {
        Width::new(u8::try_from(self.address_bits.div_ceil(8)).ok()?)
    }
}
