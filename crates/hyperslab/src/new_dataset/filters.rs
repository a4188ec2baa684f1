//! The filters of a new dataset: what is wished for, and the parameters that type and chunk make of it.

use hyperslab_dtype::{Bits, Class, Datatype, Order};
use hyperslab_filter::{
    Bitshuffle, BitshuffleCodec, Blosc, Blosc2, Blosc2Stage, BloscCodec, BloscShuffle, Bzip2, ChunkFacts, Deflate,
    ElementType, Fletcher32, Lz4, Lzf, Nbit, NumberKind, NumberType, Registry, ScaleOffset, Shuffle, Szip, Zstd,
};
use hyperslab_format::message::FilterStep;

use super::NewDataset;
use crate::{Error, Result};

/// A filter that a new dataset shall have, as far as it is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFilter {
    /// Its number.
    pub id: u16,
    /// Whether it is left out of chunks where it fails; if not, the write fails.
    pub optional: bool,
    /// Its parameters; those that follow from type and chunk are not among them.
    pub params: Vec<u32>,
}

/// A section of a structured chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChunkSection {
    /// Which elements are defined.
    Selection,
    /// Their values.
    Values,
    /// What is of variable length in their values.
    Vlen,
}

/// The filters that chunks go through, in this order. A dataset with filters is stored in chunks.
impl NewDataset {
    fn with(mut self, id: u16, optional: bool, params: Vec<u32>) -> NewDataset {
        self.filters_mut().push(NewFilter { id, optional, params });
        self
    }

    /// The filters of the section that was named last; those for all if none was.
    pub(super) fn filters_mut(&mut self) -> &mut Vec<NewFilter> {
        match self.section {
            Some(section) => self.section_filters.entry(section).or_default(),
            None => &mut self.filters,
        }
    }

    /// The filters that follow go for one section of [sparse](NewDataset::sparse) chunks only, in place of those that go for all sections. If none follow, the section has none.
    /// A section that is named again keeps the filters that it has; [`NewDataset::all_sections`] ends that.
    ///
    /// ```
    /// use hyperslab::ChunkSection;
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let image = file.root()?.new_dataset::<u16>().shape([1000, 1000]).chunks([500, 500]).sparse().shuffle().deflate(6);
    /// let image = image.section(ChunkSection::Values).zstd(3).create("image")?;
    /// let filters = image.section_filters().ok_or(hyperslab::Error::Create("it has filters".into()))?;
    /// assert_eq!((filters.of(0).len(), filters.of(1).len()), (3, 1));
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn section(mut self, section: ChunkSection) -> NewDataset {
        self.section = Some(section);
        self.section_filters.entry(section).or_default();
        self
    }

    /// Sorts the bytes of values by their place, so that what follows compresses better.
    pub fn shuffle(self) -> NewDataset {
        self.filter(Shuffle::ID, &[])
    }

    /// Compresses as gzip does, with a level from 0 to 9.
    pub fn deflate(self, level: u32) -> NewDataset {
        self.filter(Deflate::ID, &Deflate::params(level))
    }

    /// A checksum, so that damage is noticed. Best the last of all filters.
    pub fn fletcher32(self) -> NewDataset {
        self.mandatory_filter(Fletcher32::ID, &Fletcher32::params())
    }

    /// Compresses numbers by szip; differences of neighbours if `nearest_neighbour`, in blocks of an even number of values up to 32.
    pub fn szip(self, nearest_neighbour: bool, pixels_per_block: u32) -> NewDataset {
        self.filter(Szip::ID, &Szip::options(nearest_neighbour, pixels_per_block))
    }

    /// Stores numbers as differences from the smallest: of integers so many bits, 0 to have them found; of floating-point numbers so
    /// many decimal digits after the point, the others are lost.
    pub fn scaleoffset(self, factor: i32) -> NewDataset {
        self.filter(ScaleOffset::ID, &ScaleOffset::options(factor))
    }

    /// Stores only the bits of numbers that their type uses.
    pub fn nbit(self) -> NewDataset {
        self.filter(Nbit::ID, &[])
    }

    /// Compresses fast.
    pub fn lzf(self) -> NewDataset {
        self.filter(Lzf::ID, &[])
    }

    /// Compresses by Zstandard, with a level from 1 to 22.
    pub fn zstd(self, level: u32) -> NewDataset {
        self.filter(Zstd::ID, &Zstd::params(level))
    }

    /// Compresses by LZ4.
    pub fn lz4(self) -> NewDataset {
        self.filter(Lz4::ID, &Lz4::params(0))
    }

    /// Compresses by bzip2, with a level from 1 to 9.
    pub fn bzip2(self, level: u32) -> NewDataset {
        self.filter(Bzip2::ID, &Bzip2::params(level))
    }

    /// Sorts the bits of values by their place, and compresses them.
    pub fn bitshuffle(self, codec: BitshuffleCodec) -> NewDataset {
        self.filter(Bitshuffle::ID, &Bitshuffle::options(0, codec))
    }

    /// Compresses by Blosc, with a level from 0 to 9.
    pub fn blosc(self, level: u32, shuffle: BloscShuffle, codec: BloscCodec) -> NewDataset {
        self.filter(Blosc::ID, &Blosc::options(level, shuffle, codec))
    }

    /// Compresses by Blosc2, with a level from 0 to 9.
    pub fn blosc2(self, level: u32, stage: Blosc2Stage, codec: BloscCodec) -> NewDataset {
        self.filter(Blosc2::ID, &Blosc2::options(level, stage, codec))
    }

    /// Any filter by its number, with its parameters; it completes those that follow from type and chunk. It is left out of chunks where it fails.
    pub fn filter(self, id: u16, params: &[u32]) -> NewDataset {
        self.with(id, true, params.to_vec())
    }

    /// As [`NewDataset::filter`], but where it fails, the write does.
    pub fn mandatory_filter(self, id: u16, params: &[u32]) -> NewDataset {
        self.with(id, false, params.to_vec())
    }
}

impl NewFilter {
    /// Whether the filter needs to know the numbers that values are.
    pub(super) fn needs_numbers(&self) -> bool {
        [ScaleOffset::ID, Nbit::ID, Szip::ID].contains(&self.id)
    }

    /// The step of the pipeline for chunks of this shape; `fill` is one element as stored, if there is such a value.
    pub(super) fn step(
        &self,
        registry: &Registry,
        datatype: &Datatype,
        chunk: &[u64],
        fill: Option<&[u8]>,
    ) -> Result<FilterStep> {
        let NewFilter { id, optional, params } = self;
        let Some(filter) = registry.get(*id) else {
            let name = hyperslab_filter::known_name(*id).map(|name| format!(" ({name})")).unwrap_or_default();
            return Err(refuse(format!("filter {id}{name} is not there, so nothing can be written through it")));
        };
        if !*optional && matches!(datatype.class(), Class::Vlen(_)) {
            let why = "values of variable length are not in the chunks, so a filter may be left out there";
            return Err(refuse(format!("{} cannot be made a must: {why}", filter.name())));
        }
        let params = filter
            .complete(params, &ChunkFacts { dims: chunk, element: &element(datatype), fill })
            .map_err(|why| refuse(format!("{} for {datatype}: {why}", filter.name())))?;
        Ok(FilterStep { id: *id, name: filter.name().into(), flags: u16::from(*optional), params })
    }
}

pub(super) fn refuse(why: impl Into<String>) -> Error {
    Error::Create(why.into())
}

/// A datatype as filters know it.
fn element(datatype: &Datatype) -> ElementType {
    let size = datatype.size() as u32;
    let number = |kind, bits: Bits| {
        ElementType::Number(NumberType {
            kind,
            size,
            big_endian: bits.order == Order::Big,
            precision: bits.precision.into(),
            offset: bits.offset.into(),
        })
    };
    match datatype.class() {
        Class::Fixed(fixed) if fixed.signed => number(NumberKind::Signed, fixed.bits),
        Class::Fixed(fixed) => number(NumberKind::Unsigned, fixed.bits),
        Class::Float(float) => number(NumberKind::Float, float.bits),
        Class::Bitfield(bits) => number(NumberKind::Bits, *bits),
        Class::Enum(names) => match element(names.base()) {
            ElementType::Number(base) => ElementType::Number(NumberType { kind: NumberKind::Bits, ..base }),
            _ => ElementType::Opaque { size },
        },
        Class::Array(array) => ElementType::Array { size, base: Box::new(element(array.base())) },
        Class::Compound(compound) => {
            let member = |member: &hyperslab_dtype::Member| (member.offset, element(&member.datatype));
            ElementType::Compound { size, members: compound.members().iter().map(member).collect() }
        }
        _ => ElementType::Opaque { size },
    }
}
