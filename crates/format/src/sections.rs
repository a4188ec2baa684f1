//! The sections of a stored chunk: one of a dense chunk, two or three of a structured one, back to back.

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

/// The sections of a chunk, one to three. They are kept inline, so that a chunk needs no memory for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sections {
    sizes: [u64; MOST],
    unfiltered: [u64; MOST],
    masks: [u32; MOST],
    count: u8,
    /// Whether the sizes before the filters are known.
    has_unfiltered: bool,
}

impl Sections {
    /// The only section of a dense chunk.
    pub const fn one(size: u64, mask: u32) -> Sections {
        Sections { sizes: [size, 0, 0], unfiltered: [0; MOST], masks: [mask, 0, 0], count: 1, has_unfiltered: false }
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
        let count = u8::try_from(sections.len()).ok().filter(|count| (1..=MOST as u8).contains(count))?;
        let has_unfiltered = sections.first()?.unfiltered.is_some();
        let mut all = Sections { count, has_unfiltered, ..Sections::one(0, 0) };
        let fields = all.sizes.iter_mut().zip(&mut all.unfiltered).zip(&mut all.masks);
        for (section, ((size, unfiltered), mask)) in sections.iter().zip(fields) {
            if section.unfiltered.is_some() != has_unfiltered {
                return None;
            }
            (*size, *unfiltered, *mask) = (section.size, section.unfiltered.unwrap_or(0), section.mask);
        }
        all.sizes.iter().try_fold(0u64, |bytes, size| bytes.checked_add(*size))?;
        Some(all)
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// The sections in their order.
    pub fn iter(&self) -> impl Iterator<Item = Section> {
        (0..self.len()).filter_map(|number| self.get(number))
    }

    /// A section.
    pub fn get(&self, number: usize) -> Option<Section> {
        let (size, mask) = (*self.sizes.get(number)?, *self.masks.get(number)?);
        let unfiltered = self.unfiltered.get(number).copied().filter(|_| self.has_unfiltered);
        (number < self.len()).then_some(Section { size, mask, unfiltered })
    }

    /// How many bytes are stored before a section.
    pub fn before(&self, number: usize) -> u64 {
        self.sizes.iter().take(number).fold(0, |before, size| before.saturating_add(*size))
    }

    /// The stored bytes of all sections.
    pub fn bytes(&self) -> u64 {
        self.before(MOST)
    }

    /// The mask of the first section, which is all of a dense chunk.
    pub const fn mask(&self) -> u32 {
        let [first, ..] = self.masks;
        first
    }
}
