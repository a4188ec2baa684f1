//! Filter 6: scale-offset. What each value is above the least one, packed in as few bits as the greatest needs; floats are
//! first scaled by a power of ten and rounded, so that they lose digits.
//!
//! A chunk starts with 21 bytes (the bits of a value in 4, the number 8, the least value in 8, zeros in 8), then the packed
//! values. All ones stand for the fill value, if there is one. As many bits as the type has mean: values as they are.
//!
//! `params` has the parameters, `integer` and `float` what a value becomes; here is the packing.

mod float;
mod integer;
mod params;

pub use params::{ScaleOffsetKind, ScaleOffsetType};

use hyperslab_base::{Cursor, Sink, Width, memory};

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    bits::{BitReader, BitWriter},
    output::stale,
};
use params::Params;

/// Scale-offset, filter 6.
///
/// ```
/// use hyperslab_filter::{Filter, ScaleOffset, ScaleOffsetKind, ScaleOffsetType};
/// let of = ScaleOffsetType { kind: ScaleOffsetKind::Unsigned, size: 4, big_endian: false };
/// let params = ScaleOffset::params(1000, of, 0, None)?;
/// let values: Vec<u8> = (0..1000u32).flat_map(|n| (1_000_000 + n % 8).to_le_bytes()).collect();
/// let mut packed = Vec::new();
/// ScaleOffset.encode(&params, &values, &mut packed)?;
/// assert_eq!(packed.len(), 21 + 1000 * 3 / 8 + 1); // three bits each
/// # Ok::<(), hyperslab_filter::Fault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ScaleOffset;

impl ScaleOffset {
    /// Its number.
    pub const ID: u16 = 6;

    /// The parameters for a chunk of so many elements of a type. `factor` is for integers the bits of a value, or 0 to have
    /// them found for each chunk, and for floats the decimal digits to keep after the point. `fill` is the fill value as
    /// the file has it.
    pub fn params(elements: u32, of: ScaleOffsetType, factor: i32, fill: Option<&[u8]>) -> Result<Vec<u32>, Fault> {
        params::to_params(elements, of, factor, fill)
    }

    /// What a user gives of the parameters; the others follow from type and chunk.
    pub fn options(factor: i32) -> Vec<u32> {
        vec![0, factor as u32]
    }
}

impl Filter for ScaleOffset {
    fn id(&self) -> u16 {
        ScaleOffset::ID
    }

    fn name(&self) -> &'static str {
        "scaleoffset"
    }

    fn complete(&self, params: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        // The way of scaling follows from the type.
        let &[_, factor, ..] = params else {
            return Err(Fault::Params("the factor is missing"));
        };
        let of = ScaleOffsetType::try_from(chunk.element.number()?)?;
        ScaleOffset::params(chunk.elements()?, of, factor as i32, chunk.fill)
    }

    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let params = Params::read(params)?;
        if params.is_identity() {
            return Ok(Decoded::Prefix(input.len()));
        }
        let len = params.elements.checked_mul(params.of.size).ok_or(Fault::TooLong(limit))?;
        let (header, values) = Header::read(input)?;
        if header.bits > params.of.bits() {
            return Err(Fault::Corrupt("a packed value has more bits than the type"));
        }
        if (values.len() as u64).saturating_mul(8) < params.elements as u64 * u64::from(header.bits) {
            return Err(Fault::Corrupt("the values end early"));
        }
        let out = stale(out, len, limit)?;
        match (header.bits, params.of.kind) {
            (bits, _) if bits == params.of.bits() => {
                let values = values.get(..len).ok_or(Fault::Corrupt("the values end early"))?;
                out.copy_from_slice(values);
                params.of.swap_to_little_endian(out);
            }
            (bits, ScaleOffsetKind::Float) => unpack(&params, bits, values, out, float::restore(&params, header))?,
            (bits, _) => unpack(&params, bits, values, out, integer::restore(&params, header))?,
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let params = Params::read(params)?;
        if params.is_identity() {
            return Ok(Encoded::Unchanged);
        }
        if params.elements.checked_mul(params.of.size) != Some(input.len()) {
            return Err(Fault::Params("the data has another length than the parameters say"));
        }
        let header = match params.of.kind {
            ScaleOffsetKind::Float => float::measure(&params, input),
            _ => integer::measure(&params, input),
        };
        out.clear();
        memory::reserve(out, Header::LEN + input.len())?;
        out.extend(header.to_bytes());
        match (header.bits, params.of.kind) {
            (bits, _) if bits == params.of.bits() => {
                out.extend_from_slice(input);
                params.of.swap_to_little_endian(out.get_mut(Header::LEN..).unwrap_or_default());
            }
            (bits, ScaleOffsetKind::Float) => pack(&params, bits, input, out, float::reduce(&params, header)),
            (bits, _) => pack(&params, bits, input, out, integer::reduce(&params, header)),
        }
        Ok(Encoded::Written)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        // Packed values begin a byte more when the last one is full.
        Some(len.saturating_add(Header::BYTES + 1))
    }

    fn decoded_bound(&self, params: &[u32], len: u64) -> Option<u64> {
        let params = Params::read(params).ok()?;
        match len {
            _ if params.is_identity() => Some(len),
            ..Header::BYTES => Some(0),
            // Values that are all the same take no bits.
            _ => (params.elements as u64).checked_mul(params.of.size as u64),
        }
    }
}

/// What a chunk starts with.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    /// The bits of a packed value.
    bits: u32,
    /// The least value, as bits of its type.
    least: u64,
}

impl Header {
    const LEN: usize = 21;
    const BYTES: u64 = Header::LEN as u64;

    fn read(input: &[u8]) -> Result<(Header, &[u8]), Fault> {
        let mut cursor = Cursor::new(input);
        let bits = cursor.u32()?;
        let width = cursor.u8()?.min(8);
        let least = Width::new(width).map_or(Ok(0), |width| cursor.uint(width))?;
        let values = input.get(Header::LEN..).ok_or(Fault::Corrupt("shorter than its header"))?;
        Ok((Header { bits, least }, values))
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut sink = Sink::new();
        sink.u32(self.bits);
        sink.u8(8);
        sink.uint(Width::W8, self.least);
        sink.uint(Width::W8, 0);
        sink.into_bytes()
    }

    /// The packed value that stands for the fill value.
    fn ones(self) -> u64 {
        (1 << self.bits) - 1
    }
}

fn unpack(
    params: &Params,
    bits: u32,
    values: &[u8],
    out: &mut [u8],
    restore: impl Fn(u64) -> u64,
) -> Result<(), Fault> {
    match params.of.size {
        1 => unpack_sized::<1>(params, bits, values, out, restore),
        2 => unpack_sized::<2>(params, bits, values, out, restore),
        4 => unpack_sized::<4>(params, bits, values, out, restore),
        _ => unpack_sized::<8>(params, bits, values, out, restore),
    }
}

/// The most bits of a value that are in eight bytes from its first one on, wherever it starts in that.
const MAX_DIRECT: u32 = 57;

fn unpack_sized<const SIZE: usize>(
    params: &Params,
    bits: u32,
    values: &[u8],
    out: &mut [u8],
    restore: impl Fn(u64) -> u64,
) -> Result<(), Fault> {
    let elements = out.as_chunks_mut::<SIZE>().0;
    let mut done = 0;
    if (1..=MAX_DIRECT).contains(&bits) {
        // Each on its own, so that processors take several at a time.
        for element in &mut *elements {
            let at = done * bits as usize;
            let Some(word) = values.get(at / 8..).and_then(|rest| rest.first_chunk()) else { break };
            let value = u64::from_be_bytes(*word) << (at % 8) >> (64 - bits);
            store(restore(value), params.of.big_endian, element);
            done += 1;
        }
    }
    let start = done * bits as usize;
    let mut reader = BitReader::new(values.get(start / 8..).unwrap_or_default());
    reader.take(start as u32 % 8)?;
    for element in elements.iter_mut().skip(done) {
        store(restore(reader.take(bits)?), params.of.big_endian, element);
    }
    Ok(())
}

/// The low bytes of a value.
fn store<const SIZE: usize>(value: u64, big_endian: bool, element: &mut [u8; SIZE]) {
    let bytes = value.to_le_bytes();
    element.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    if big_endian {
        element.reverse();
    }
}

fn pack(params: &Params, bits: u32, input: &[u8], out: &mut Vec<u8>, reduce: impl Fn(u64) -> u64) {
    let mut writer = BitWriter::new(out);
    for element in input.chunks_exact(params.of.size) {
        writer.put(reduce(params.of.load(element)), bits);
    }
    // libhdf5 begins a byte more when the last one is full.
    writer.put(0, 1);
    writer.finish();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOUBLE: ScaleOffsetType = ScaleOffsetType { kind: ScaleOffsetKind::Float, size: 8, big_endian: true };

    fn through(params: &[u32], values: &[f64]) -> (usize, Vec<f64>) {
        let input: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        ScaleOffset.encode(params, &input, &mut packed).unwrap();
        ScaleOffset.decode(params, &packed, &mut back, input.len()).unwrap();
        (packed.len(), back.as_chunks().0.iter().map(|bytes| f64::from_be_bytes(*bytes)).collect())
    }

    proptest! {
        #[test]
        fn floats_keep_their_digits(values in prop::collection::vec(-1e6f64..1e6, 1..200), digits in 0..5, filled in any::<bool>()) {
            let fill = filled.then_some(values[0].to_be_bytes());
            let params = ScaleOffset::params(values.len() as u32, DOUBLE, digits, fill.as_ref().map(|fill| &fill[..]));
            let (_, back) = through(&params.unwrap(), &values);
            for (value, back) in values.iter().zip(back) {
                // Values near the fill value become it.
                let error = if filled { 1.0 } else { 0.5 } * 10f64.powi(-digits);
                prop_assert!((value - back).abs() <= error * 1.000_001 + 1e-9, "{} became {}", value, back);
            }
        }
    }

    #[test]
    fn values_that_are_no_numbers_are_stored_as_they_are() {
        let values = [1.5, f64::NAN, f64::INFINITY, -0.0, 1e300];
        let (len, back) = through(&ScaleOffset::params(5, DOUBLE, 2, None).unwrap(), &values);
        assert_eq!(len, Header::LEN + 40);
        assert!(back.iter().zip(values).all(|(back, value)| back.to_bits() == value.to_bits()));
    }
}
