//! The filters of a new dataset: what is wished for, and the parameters that type and chunk make of it.

use hyperslab_dtype::{Bits, Class, Datatype, Order};
use hyperslab_filter::{
    Bitshuffle, BitshuffleCodec, Blosc, Blosc2, Blosc2Stage, BloscCodec, BloscShuffle, Bzip2, Deflate, Fault,
    Fletcher32, Lz4, Lzf, Nbit, NbitType, Registry, ScaleOffset, ScaleOffsetKind, ScaleOffsetType, Shuffle, Szip,
    SzipType, Zstd,
};
use hyperslab_format::message::FilterStep;

use super::NewDataset;
use crate::{Error, Result};

/// A filter, with what the user said of it.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    Shuffle,
    Deflate(u32),
    Fletcher32,
    Szip { nearest_neighbour: bool, pixels_per_block: u32 },
    ScaleOffset(i32),
    Nbit,
    Lzf,
    Bitshuffle(BitshuffleCodec),
    Blosc(u32, BloscShuffle, BloscCodec),
    Blosc2(u32, Blosc2Stage, BloscCodec),
    Other { id: u16, optional: bool, params: Vec<u32> },
}

/// The filters that chunks go through, in this order. A dataset with filters is stored in chunks.
impl NewDataset {
    fn with(mut self, wish: Wish) -> NewDataset {
        self.filters.push(wish);
        self
    }

    /// Sorts the bytes of values by their place, so that what follows compresses better.
    pub fn shuffle(self) -> NewDataset {
        self.with(Wish::Shuffle)
    }

    /// Compresses as gzip does, with a level from 0 to 9.
    pub fn deflate(self, level: u32) -> NewDataset {
        self.with(Wish::Deflate(level))
    }

    /// A checksum, so that damage is noticed. Best the last of all filters.
    pub fn fletcher32(self) -> NewDataset {
        self.with(Wish::Fletcher32)
    }

    /// Compresses numbers by szip; differences of neighbours if `nearest_neighbour`, in blocks of an even number of values up to 32.
    pub fn szip(self, nearest_neighbour: bool, pixels_per_block: u32) -> NewDataset {
        self.with(Wish::Szip { nearest_neighbour, pixels_per_block })
    }

    /// Stores numbers as differences from the smallest: of integers so many bits, 0 to have them found; of floating-point numbers so
    /// many decimal digits after the point, the others are lost.
    pub fn scaleoffset(self, factor: i32) -> NewDataset {
        self.with(Wish::ScaleOffset(factor))
    }

    /// Stores only the bits of numbers that their type uses.
    pub fn nbit(self) -> NewDataset {
        self.with(Wish::Nbit)
    }

    /// Compresses fast.
    pub fn lzf(self) -> NewDataset {
        self.with(Wish::Lzf)
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
        self.with(Wish::Bitshuffle(codec))
    }

    /// Compresses by Blosc, with a level from 0 to 9.
    pub fn blosc(self, level: u32, shuffle: BloscShuffle, codec: BloscCodec) -> NewDataset {
        self.with(Wish::Blosc(level, shuffle, codec))
    }

    /// Compresses by Blosc2, with a level from 0 to 9.
    pub fn blosc2(self, level: u32, stage: Blosc2Stage, codec: BloscCodec) -> NewDataset {
        self.with(Wish::Blosc2(level, stage, codec))
    }

    /// Any filter by its number, with its parameters. It is left out of chunks where it fails.
    pub fn filter(self, id: u16, params: &[u32]) -> NewDataset {
        self.with(Wish::Other { id, optional: true, params: params.to_vec() })
    }

    /// As [`NewDataset::filter`], but where it fails, the write does.
    pub fn mandatory_filter(self, id: u16, params: &[u32]) -> NewDataset {
        self.with(Wish::Other { id, optional: false, params: params.to_vec() })
    }
}

impl Wish {
    /// The step of the pipeline for chunks of this shape; `fill` is one element as stored, if there is such a value.
    pub(super) fn step(
        &self,
        registry: &Registry,
        datatype: &Datatype,
        chunk: &[u64],
        fill: Option<&[u8]>,
    ) -> Result<FilterStep> {
        let size = datatype.size() as u32;
        let elements = chunk.iter().fold(1u64, |product, side| product.saturating_mul(*side));
        let large = || refuse("a chunk with more than 2^32 elements or bytes");
        let elements = u32::try_from(elements).map_err(|_| large());
        let bytes = elements.as_ref().ok().and_then(|elements| elements.checked_mul(size)).ok_or_else(large);
        let level = |name: &str, level: u32, most: u32| match level <= most {
            true => Ok(level),
            false => Err(refuse(format!("level {level} of {name}, which has 0 to {most}"))),
        };
        let part = match datatype.class() {
            Class::Array(array) => array.base().size() as u32,
            _ => size,
        };
        let (id, optional, params) = match self {
            Wish::Shuffle => (Shuffle::ID, true, Shuffle::params(size)),
            Wish::Deflate(wanted) => (Deflate::ID, true, Deflate::params(level("deflate", *wanted, 9)?)),
            Wish::Fletcher32 => (Fletcher32::ID, false, Fletcher32::params()),
            Wish::Szip { nearest_neighbour, pixels_per_block } => {
                let params = Szip::params(chunk, szip_type(datatype)?, *nearest_neighbour, *pixels_per_block);
                (Szip::ID, true, params.map_err(|why| unfit("szip", &why))?)
            }
            Wish::ScaleOffset(factor) => {
                let params = ScaleOffset::params(elements?, scale_type(datatype)?, *factor, fill);
                (ScaleOffset::ID, true, params.map_err(|why| unfit("scaleoffset", &why))?)
            }
            Wish::Nbit => {
                let params = Nbit::params(elements?, &nbit_type(datatype));
                (Nbit::ID, true, params.map_err(|why| unfit("nbit", &why))?)
            }
            Wish::Lzf => (Lzf::ID, true, Lzf::params(bytes?)),
            Wish::Bitshuffle(codec) => (Bitshuffle::ID, true, Bitshuffle::params(size, 0, *codec)),
            Wish::Blosc(wanted, shuffle, codec) => {
                let params = Blosc::params(part, bytes?, level("blosc", *wanted, 9)?, *shuffle, *codec);
                (Blosc::ID, true, params)
            }
            Wish::Blosc2(wanted, stage, codec) => {
                bytes?;
                let chunk: Vec<u32> = chunk.iter().map(|&side| side as u32).collect();
                let params = Blosc2::params(part, size, &chunk, level("blosc2", *wanted, 9)?, *stage, *codec);
                (Blosc2::ID, true, params)
            }
            Wish::Other { id, optional, params } => match own(*id, params) {
                Some(wish) => (*id, *optional, wish.step(registry, datatype, chunk, fill)?.params),
                None => (*id, *optional, params.clone()),
            },
        };
        let Some(filter) = registry.get(id) else {
            let name = hyperslab_filter::known_name(id).map(|name| format!(" ({name})")).unwrap_or_default();
            return Err(refuse(format!("filter {id}{name} is not there, so nothing can be written through it")));
        };
        if !optional && matches!(datatype.class(), Class::Vlen(_)) {
            let why = "values of variable length are not in the chunks, so a filter may be left out there";
            return Err(refuse(format!("{} cannot be made a must: {why}", filter.name())));
        }
        Ok(FilterStep { id, name: filter.name().into(), flags: u16::from(optional), params })
    }
}

/// A filter given by its number, whose parameters follow from type and chunk.
fn own(id: u16, params: &[u32]) -> Option<Wish> {
    match (id, params) {
        (Shuffle::ID, []) => Some(Wish::Shuffle),
        (Nbit::ID, []) => Some(Wish::Nbit),
        _ => None,
    }
}

fn refuse(why: impl Into<String>) -> Error {
    Error::Create(why.into())
}

fn unfit(filter: &str, why: &Fault) -> Error {
    refuse(format!("{filter}: {why}"))
}

/// The bits of a number.
fn bits(datatype: &Datatype) -> Option<Bits> {
    match datatype.class() {
        Class::Fixed(fixed) => Some(fixed.bits),
        Class::Float(float) => Some(float.bits),
        Class::Bitfield(bits) => Some(*bits),
        Class::Enum(names) => bits(names.base()),
        _ => None,
    }
}

fn szip_type(datatype: &Datatype) -> Result<SzipType> {
    let bits = bits(datatype).ok_or_else(|| refuse(format!("szip takes numbers, not {datatype}")))?;
    Ok(SzipType {
        size: datatype.size() as u32,
        big_endian: bits.order == Order::Big,
        precision: bits.precision.into(),
        offset: bits.offset.into(),
    })
}

fn scale_type(datatype: &Datatype) -> Result<ScaleOffsetType> {
    let (kind, order) = match datatype.class() {
        Class::Fixed(fixed) if fixed.signed => (ScaleOffsetKind::Signed, fixed.bits.order),
        Class::Fixed(fixed) => (ScaleOffsetKind::Unsigned, fixed.bits.order),
        Class::Float(float) => (ScaleOffsetKind::Float, float.bits.order),
        _ => return Err(refuse(format!("scaleoffset takes integers and floating-point numbers, not {datatype}"))),
    };
    Ok(ScaleOffsetType { kind, size: datatype.size(), big_endian: order == Order::Big })
}

fn nbit_type(datatype: &Datatype) -> NbitType {
    let size = datatype.size() as u32;
    match datatype.class() {
        Class::Fixed(_) | Class::Float(_) => {
            let bits = bits(datatype).unwrap_or(Bits::full(datatype.size() as u16, Order::Little));
            let (precision, offset) = (bits.precision.into(), bits.offset.into());
            NbitType::Number { size, big_endian: bits.order == Order::Big, precision, offset }
        }
        Class::Array(array) => NbitType::Array { size, base: Box::new(nbit_type(array.base())) },
        Class::Compound(compound) => {
            let member = |member: &hyperslab_dtype::Member| (member.offset, nbit_type(&member.datatype));
            NbitType::Compound { size, members: compound.members().iter().map(member).collect() }
        }
        _ => NbitType::Opaque { size },
    }
}
