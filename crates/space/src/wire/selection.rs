//! The selection part: one layout per kind and version.
//!
//! ```text
//!  none, all     | kind, 4 | 1, 4 | 8 zeros |
//!  points 1      | 1, 4 | 1, 4 | 4 zeros | length, 4 | rank, 4 | count, 4 | coordinates of 4… |
//!  points 2      | 1, 4 | 2, 4 | width | rank, 4 | count | coordinates… |
//!  hyperslab 1   | 2, 4 | 1, 4 | 4 zeros | length, 4 | rank, 4 | blocks, 4 | first and last corner of 4, per block… |
//!  hyperslab 2   | 2, 4 | 2, 4 | flags | length, 4 | rank, 4 | start stride count block of 8, per dimension… |
//!  hyperslab 3   | 2, 4 | 3, 4 | flags | width | rank, 4 | as 2 if regular; else blocks, first and last corner, per block… |
//! ```
//!
//! A length counts the bytes after it. Point lists are written in `points`; all of it is read in `content`.

use hyperslab_base::{Malformed, Reader, Sink};

use super::{
    Form,
    content::{ALL, Content, HYPERSLAB, NONE, POINTS, REGULAR},
    version::{self, Layout},
};
use crate::{Error, Extent, Kind, MAX_RANK, Op, Result, Selection, Space, UNLIMITED, selection::Slabs};

/// How many bytes a selection takes that holds nothing but its kind.
pub(super) const WITHOUT_CONTENT_BYTES: u64 = 16;

impl Space {
    /// The selection without its extent, as region references and virtual layouts store it.
    pub fn encode_selection(&self, form: impl Into<Form>) -> Result<Vec<u8>> {
        let mut sink = Sink::new();
        self.append_selection(&mut sink, form.into())?;
        Ok(sink.into_bytes())
    }

    /// Appends what [`Space::encode_selection`] gives.
    pub(super) fn append_selection(&self, sink: &mut Sink, form: Form) -> Result<()> {
        let layout = version::of_selection(self, form)?;
        match self.kind() {
            Kind::None => encode_without_content(sink, NONE),
            Kind::All => encode_without_content(sink, ALL),
            Kind::Points => self.encode_points(sink, layout)?,
            Kind::Hyperslab => self.encode_hyperslab(sink, layout)?,
        }
        Ok(())
    }

    /// How many bytes the selection takes in the smallest form.
    pub(super) fn selection_bytes(&self) -> Result<u64> {
        let layout = version::of_selection(self, Form::Smallest)?;
        let (rank, width) = (self.rank() as u64, layout.width.bytes() as u64);
        Ok(match self.kind() {
            Kind::None | Kind::All => WITHOUT_CONTENT_BYTES,
            Kind::Points => self.points_bytes(layout),
            Kind::Hyperslab if layout.version > 1 && self.regular().is_some() => 14 + 4 * rank * width,
            Kind::Hyperslab => {
                let head = if layout.version == 1 { 20 } else { 14 };
                version::stored_blocks(self).saturating_mul(2 * rank * width).saturating_add(head + width)
            }
        })
    }

    /// The selection `selection` in `extent`; fails if they have different ranks.
    pub fn with(extent: Extent, selection: Selection) -> Result<Space> {
        let mut space = Space::new(extent);
        space.select(Op::Set, &selection)?;
        Ok(space)
    }

    /// Reads a selection of `extent` and says how many bytes it took.
    pub fn decode_selection(extent: Extent, bytes: &[u8]) -> Result<(Space, usize)> {
        let mut reader = Reader::new("selection", bytes);
        let content = Content::read(&mut reader, extent.rank())?;
        Ok((content.of(extent)?, reader.position()))
    }

    fn encode_hyperslab(&self, sink: &mut Sink, layout: Layout) -> Result<()> {
        let rank = self.rank() as u64;
        let slabs = self.regular().filter(|_| layout.version > 1);
        if let Some(slabs) = slabs {
            self.encode_head(sink, HYPERSLAB, layout, Some(REGULAR), 4 + 32 * rank)?;
            for slab in slabs.iter().map(|slab| slab.normal()) {
                for number in [slab.start, slab.stride, slab.count, slab.block] {
                    sink.uint(layout.width, if number == UNLIMITED { layout.width.max() } else { number });
                }
            }
            return Ok(());
        }
        let mut blocks = self.clone();
        if let Some(slabs) = self.regular() {
            // Touching blocks are stored as one, as libhdf5 does.
            blocks.select_hyperslab(Op::Set, &slabs.iter().map(|slab| slab.normal()).collect::<Slabs>())?;
        }
        let count = blocks.nblocks();
        let flags = (layout.version > 1).then_some(0);
        self.encode_head(sink, HYPERSLAB, layout, flags, count.saturating_mul(8 * rank).saturating_add(8))?;
        sink.uint(layout.width, count);
        for block in blocks.blocks()? {
            for &index in block.start.iter().chain(&block.end) {
                sink.uint(layout.width, index);
            }
        }
        Ok(())
    }

    /// Kind and version, then what the version has before the rank, then the rank.
    pub(super) fn encode_head(
        &self,
        sink: &mut Sink,
        kind: u32,
        layout: Layout,
        flags: Option<u8>,
        length: u64,
    ) -> Result<()> {
        sink.u32(kind);
        sink.u32(layout.version);
        let has_width = matches!((kind, layout.version), (POINTS, 2) | (HYPERSLAB, 3));
        match flags {
            Some(flags) => sink.u8(flags),
            None if !has_width => sink.u32(0),
            None => {}
        }
        if has_width {
            sink.u8(layout.width.bytes() as u8);
        } else {
            let too_long = Error::Encode("the selection is too long for this version; allow a newer one");
            sink.u32(u32::try_from(length).map_err(|_| too_long)?);
        }
        sink.u32(self.rank() as u32);
        Ok(())
    }
}

impl Selection {
    /// Reads a selection whose extent is known only later, and says how many bytes it took.
    pub fn decode(bytes: &[u8]) -> Result<(Selection, usize)> {
        let rank = usize::try_from(stored_rank(bytes)?).unwrap_or(usize::MAX);
        if rank > MAX_RANK {
            return Err(Error::Rank(rank));
        }
        let (space, taken) = Space::decode_selection(Extent::simple(&vec![0; rank])?, bytes)?;
        Ok((space.selection, taken))
    }

    /// The selection as region references and virtual layouts store it; nothing of its extent goes in.
    ///
    /// ```
    /// use hyperslab_space::{LibVersion, Selection};
    /// let bytes = Selection::ALL.encode(LibVersion::Earliest)?;
    /// assert_eq!(Selection::decode(&bytes)?, (Selection::ALL, bytes.len()));
    /// # Ok::<(), hyperslab_space::Error>(())
    /// ```
    pub fn encode(&self, form: impl Into<Form>) -> Result<Vec<u8>> {
        let extent = Extent::simple(&vec![0; self.rank().unwrap_or(0)])?;
        Space::with(extent, self.clone())?.encode_selection(form)
    }
}

/// A selection of nothing or of everything.
pub(super) fn encode_without_content(sink: &mut Sink, kind: u32) {
    sink.u32(kind);
    sink.u32(1);
    sink.zeros(8);
}

/// The rank that a stored selection names; none for nothing and everything.
fn stored_rank(bytes: &[u8]) -> std::result::Result<u32, Malformed> {
    let mut reader = Reader::new("selection", bytes);
    let (kind, version) = (reader.u32()?, reader.u32()?);
    reader.skip(match (kind, version) {
        (POINTS, 2) => 1,
        (HYPERSLAB, 2) => 5,
        (HYPERSLAB, 3) => 2,
        (POINTS | HYPERSLAB, _) => 8,
        _ => return Ok(0),
    })?;
    reader.u32()
}
