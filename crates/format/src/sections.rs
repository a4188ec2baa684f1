//! The sections of a stored chunk: one of a dense chunk, two or three of a structured one, back to back.

use hyperslab_base::{Reader, Writer};

use crate::{Encoded, Result};

/// The most sections that a chunk has.
const MOST: usize = 3;

/// What an index knows of one section of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The number of stored bytes.
    pub size: u64,
    /// The filters that were skipped: bit n stands for the n-th of the pipeline.
    pub mask: u32,
    /// The number of bytes before the filters, where the index says it: of filtered structured chunks.
    pub unfiltered: Option<u64>,
}

/// The sections of a chunk, one to three. The one section of a dense chunk takes no more memory than its numbers: reads have these by the million.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sections(Repr);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    One { size: u64, mask: u32 },
    Several(Box<Several>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Several {
    sections: [Section; MOST],
    count: usize,
}

impl Sections {
    /// The only section of a dense chunk.
    pub const fn one(size: u64, mask: u32) -> Sections {
        Sections(Repr::One { size, mask })
    }

    /// Sections without a byte, for a chunk that is not stored; `filtered` if the index says how long sections are before their filters. A number of
    /// sections that no chunk has gives those of a dense chunk.
    ///
    /// ```
    /// use hyperslab_format::Sections;
    /// let sections = Sections::nothing(3, true);
    /// assert_eq!((sections.len(), sections.bytes(), sections.has_unfiltered()), (3, 0, true));
    /// assert!(Sections::nothing(4, true).is_dense());
    /// ```
    pub fn nothing(count: u8, filtered: bool) -> Sections {
        let section = Section { unfiltered: filtered.then_some(0), ..Section::default() };
        let sections = [section; MOST].get(..usize::from(count)).and_then(Sections::new);
        sections.unwrap_or(Sections::one(0, 0))
    }

    /// Several sections; nothing if a chunk cannot have so many or so long ones, or if the size before the filters is known of some only.
    ///
    /// ```
    /// use hyperslab_format::{Section, Sections};
    /// let [first, second] = [Section { size: 8, ..Section::default() }, Section { size: 5, mask: 1, unfiltered: None }];
    /// let sections = Sections::new(&[first, second]).ok_or("too many")?;
    /// assert_eq!((sections.bytes(), sections.get(1)), (13, Some(second)));
    /// assert!(Sections::new(&[first; 4]).is_none());
    /// # Ok::<(), &str>(())
    /// ```
    pub fn new(sections: &[Section]) -> Option<Sections> {
        if let [Section { size, mask, unfiltered: None }] = *sections {
            return Some(Sections::one(size, mask));
        }
        let mut several = Several { sections: [Section::default(); MOST], count: sections.len() };
        several.sections.get_mut(..sections.len())?.copy_from_slice(sections);
        let has_unfiltered = sections.first()?.unfiltered.is_some();
        let is_alike = sections.iter().all(|section| section.unfiltered.is_some() == has_unfiltered);
        let bytes = sections.iter().try_fold(0u64, |bytes, section| bytes.checked_add(section.size));
        bytes.filter(|_| is_alike).map(|_| Sections(Repr::Several(Box::new(several))))
    }

    /// Whether they are those of a dense chunk: one, and what it was before the filters is not told.
    pub const fn is_dense(&self) -> bool {
        matches!(self.0, Repr::One { .. })
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub const fn len(&self) -> usize {
        match &self.0 {
            Repr::One { .. } => 1,
            Repr::Several(several) => several.count,
        }
    }

    /// The sections in their order.
    pub fn iter(&self) -> impl Iterator<Item = Section> {
        (0..self.len()).filter_map(|number| self.get(number))
    }

    /// A section.
    pub fn get(&self, number: usize) -> Option<Section> {
        match &self.0 {
            Repr::One { size, mask } => (number == 0).then_some(Section { size: *size, mask: *mask, unfiltered: None }),
            Repr::Several(several) => several.sections.get(number).filter(|_| number < several.count).copied(),
        }
    }

    /// How many bytes are stored before a section.
    pub fn before(&self, number: usize) -> u64 {
        self.iter().take(number).fold(0, |before, section| before.saturating_add(section.size))
    }

    /// The stored bytes of all sections.
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Repr::One { size, .. } => *size,
            Repr::Several(_) => self.before(MOST),
        }
    }

    /// Whether the sizes before the filters are told.
    pub const fn has_unfiltered(&self) -> bool {
        match &self.0 {
            Repr::One { .. } => false,
            Repr::Several(several) => {
                let [first, ..] = several.sections;
                first.unfiltered.is_some()
            }
        }
    }

    /// The mask of the first section, which is all of a dense chunk.
    pub const fn mask(&self) -> u32 {
        match &self.0 {
            Repr::One { mask, .. } => *mask,
            Repr::Several(several) => {
                let [first, ..] = several.sections;
                first.mask
            }
        }
    }

    /// The memory that they take beside themselves.
    pub const fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::One { .. } => 0,
            Repr::Several(_) => size_of::<Several>(),
        }
    }
}

/// What an index keeps of sections, behind the size of all.
impl Sections {
    /// Reads what tells apart `count` sections, which have `size` bytes together.
    pub(crate) fn decode(reader: &mut Reader<'_>, size: u64, count: usize, filtered: bool) -> Result<Sections> {
        let mut sections = vec![Section::default(); count];
        let mut before = 0;
        for number in 0..count {
            let end = if number + 1 < count { reader.u64()? } else { size };
            let Some(bytes) = end.checked_sub(before).filter(|_| end <= size) else {
                return Err(reader.refuse(format!("a section from {before} to {end} in a chunk of {size} bytes")));
            };
            sections.get_mut(number).into_iter().for_each(|section| section.size = bytes);
            before = end;
        }
        if filtered {
            sections.iter_mut().try_for_each(|section| reader.u64().map(|bytes| section.unfiltered = Some(bytes)))?;
            sections.iter_mut().try_for_each(|section| reader.u32().map(|mask| section.mask = mask))?;
        }
        Sections::new(&sections).ok_or_else(|| reader.refuse(format!("a chunk of {count} sections")))
    }

    /// Writes what tells the sections apart: their offsets but for the first, and with filters sizes and masks.
    pub(crate) fn encode(&self, writer: &mut Writer, filtered: bool) -> Encoded<()> {
        (1..self.len()).for_each(|number| writer.u64(self.before(number)));
        for section in self.iter() {
            match section.unfiltered {
                Some(bytes) if filtered => writer.u64(bytes),
                None if !filtered && section.mask == 0 => {}
                _ => return Err(writer.refuse("size before the filters", "sections with filters have one, no others")),
            }
        }
        if filtered {
            self.iter().for_each(|section| writer.u32(section.mask));
        }
        Ok(())
    }
}
