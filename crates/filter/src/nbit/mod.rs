//! Filter 5: n-bit. Of each number only the bits that its type uses, packed without gaps; other members byte by byte.
//!
//! `layout` has the type as the parameters tell it; here is the packing.

mod layout;

pub use layout::NbitType;

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    bits::{BitReader, BitWriter},
    output::zeroed,
};
use layout::Layout;

/// N-bit, filter 5.
///
/// ```
/// use hyperslab_filter::{Filter, Nbit, NbitType};
/// // 12 bits in two bytes, as many cameras have them.
/// let of = NbitType::Number { size: 2, big_endian: false, precision: 12, offset: 0 };
/// let params = Nbit::params(4, &of)?;
/// let mut packed = Vec::new();
/// Nbit.encode(&params, &[0x23, 0x01, 0x56, 0x04, 0x89, 0x07, 0xbc, 0x0a], &mut packed)?;
/// assert_eq!(packed[..6], [0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc]);
/// # Ok::<(), hyperslab_filter::Fault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Nbit;

impl Nbit {
    /// Its number.
    pub const ID: u16 = 5;

    /// The parameters for a chunk of so many elements of a type.
    pub fn params(elements: u32, of: &NbitType) -> Result<Vec<u32>, Fault> {
        layout::to_params(elements, of)
    }
}

impl Filter for Nbit {
    fn id(&self) -> u16 {
        Nbit::ID
    }

    fn name(&self) -> &'static str {
        "nbit"
    }

    fn complete(&self, _: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        Nbit::params(chunk.elements()?, &NbitType::from(chunk.element))
    }

    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let Some(layout) = layout::from_params(params)? else {
            return Ok(Decoded::Prefix(input.len()));
        };
        let Layout { elements, ref of } = layout;
        let size = of.size();
        let len = elements.checked_mul(size).ok_or(Fault::TooLong(limit))?;
        if !layout.fits(input.len() as u64) {
            return Err(Fault::Corrupt("shorter than its elements"));
        }
        let mut bits = BitReader::new(input);
        for element in zeroed(out, len, limit)?.chunks_exact_mut(size) {
            unpack(of, &mut bits, element)?;
        }
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let Some(Layout { elements, of }) = layout::from_params(params)? else {
            return Ok(Encoded::Unchanged);
        };
        let size = of.size();
        if elements.checked_mul(size) != Some(input.len()) {
            return Err(Fault::Params("the data has another length than the parameters say"));
        }
        out.clear();
        let mut bits = BitWriter::new(out);
        for element in input.chunks_exact(size) {
            pack(&of, &mut bits, element);
        }
        // libhdf5 begins a byte more when the last one is full.
        bits.put(0, 1);
        bits.finish();
        Ok(Encoded::Written)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_add(1))
    }

    fn decoded_bound(&self, params: &[u32], len: u64) -> Option<u64> {
        match layout::from_params(params).ok()? {
            None => Some(len),
            Some(layout) if layout.fits(len) => (layout.elements as u64).checked_mul(layout.of.size() as u64),
            Some(_) => Some(0),
        }
    }
}

/// Fills one element, which is all zeros, from the stream.
fn unpack(of: &NbitType, bits: &mut BitReader<'_>, element: &mut [u8]) -> Result<(), Fault> {
    match of {
        NbitType::Number { .. } => {
            for field in fields(of) {
                if let Some(byte) = element.get_mut(field.byte) {
                    *byte = (bits.take(field.bits)? << field.shift) as u8;
                }
            }
        }
        NbitType::Opaque { .. } => {
            for byte in element {
                *byte = bits.take(8)? as u8;
            }
        }
        NbitType::Array { base, .. } => {
            for item in element.chunks_exact_mut(base.size()) {
                unpack(base, bits, item)?;
            }
        }
        NbitType::Compound { members, .. } => {
            for (offset, member) in members {
                let offset = *offset as usize;
                if let Some(bytes) = element.get_mut(offset..offset + member.size()) {
                    unpack(member, bits, bytes)?;
                }
            }
        }
    }
    Ok(())
}

/// Appends one element to the stream.
fn pack(of: &NbitType, bits: &mut BitWriter<'_>, element: &[u8]) {
    match of {
        NbitType::Number { .. } => {
            for field in fields(of) {
                if let Some(byte) = element.get(field.byte) {
                    bits.put(u64::from(*byte) >> field.shift, field.bits);
                }
            }
        }
        NbitType::Opaque { .. } => element.iter().for_each(|byte| bits.put(u64::from(*byte), 8)),
        NbitType::Array { base, .. } => element.chunks_exact(base.size()).for_each(|item| pack(base, bits, item)),
        NbitType::Compound { members, .. } => {
            for (offset, member) in members {
                let offset = *offset as usize;
                if let Some(bytes) = element.get(offset..offset + member.size()) {
                    pack(member, bits, bytes);
                }
            }
        }
    }
}

/// The used bits of one byte of a number.
struct Field {
    byte: usize,
    bits: u32,
    shift: u32,
}

/// The bytes of a number that have used bits, the highest first.
fn fields(of: &NbitType) -> impl Iterator<Item = Field> {
    let (size, big_endian, low, high) = match *of {
        NbitType::Number { size, big_endian, precision, offset } => (size, big_endian, offset, offset + precision),
        _ => (0, false, 0, 0),
    };
    (low / 8..high.div_ceil(8)).rev().map(move |rank| {
        let (from, to) = (low.max(rank * 8), high.min(rank * 8 + 8));
        let byte = if big_endian { size - 1 - rank } else { rank };
        Field { byte: byte as usize, bits: to - from, shift: from - rank * 8 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = NbitType> {
        (1u32..20, any::<bool>()).prop_flat_map(|(size, big_endian)| {
            (1..=size * 8).prop_flat_map(move |precision| {
                let number = move |offset| NbitType::Number { size, big_endian, precision, offset };
                (0..=size * 8 - precision).prop_map(number)
            })
        })
    }

    fn any_type() -> impl Strategy<Value = NbitType> {
        let leaf = prop_oneof![4 => number(), 1 => (1u32..9).prop_map(|size| NbitType::Opaque { size })];
        leaf.prop_recursive(3, 20, 4, |inner| {
            let array = (inner.clone(), 1u32..4)
                .prop_map(|(base, n)| NbitType::Array { size: base.size() as u32 * n, base: Box::new(base) });
            let compound = prop::collection::vec((inner, 0u32..3), 1..4).prop_map(|parts| {
                let mut size = 0;
                let mut members = Vec::new();
                for (member, gap) in parts {
                    size += gap;
                    let end = size + member.size() as u32;
                    members.push((size, member));
                    size = end;
                }
                NbitType::Compound { size, members }
            });
            prop_oneof![array, compound]
        })
    }

    /// What is left of an element: padding is lost.
    fn used(of: &NbitType, element: &mut [u8]) {
        let mut packed = Vec::new();
        let mut bits = BitWriter::new(&mut packed);
        pack(of, &mut bits, element);
        bits.finish();
        element.fill(0);
        unpack(of, &mut BitReader::new(&packed), element).unwrap();
    }

    proptest! {
        #[test]
        fn keeps_the_used_bits(of in any_type(), elements in 1u32..40, seed in prop::collection::vec(any::<u8>(), 1..500)) {
            let params = Nbit::params(elements, &of).unwrap();
            let len = of.size() * elements as usize;
            let input: Vec<u8> = seed.iter().copied().cycle().take(len).collect();
            let (mut packed, mut back) = (Vec::new(), Vec::new());
            if Nbit.encode(&params, &input, &mut packed).unwrap() == Encoded::Unchanged {
                prop_assert_eq!(params[1], 1);
                return Ok(());
            }
            prop_assert!(packed.len() <= len + 1);
            prop_assert_eq!(Nbit.decode(&params, &packed, &mut back, len).unwrap(), Decoded::Written);
            let mut expected = input;
            expected.chunks_exact_mut(of.size()).for_each(|element| used(&of, element));
            prop_assert_eq!(&back, &expected);
            prop_assert!(Nbit.decode(&params, &packed, &mut back, len - 1).is_err());
        }
    }

    #[test]
    fn tells_a_compound_as_libhdf5_does() {
        let number = |size, big_endian, precision, offset| NbitType::Number { size, big_endian, precision, offset };
        let inner = NbitType::Compound { size: 9, members: vec![(1, number(8, false, 64, 0))] };
        let members = vec![
            (2, number(8, false, 15, 20)),
            (12, number(4, false, 32, 0)),
            (16, inner),
            (28, number(4, true, 6, 16)),
        ];
        let params = Nbit::params(98, &NbitType::Compound { size: 32, members }).unwrap();
        let theirs = [
            34, 0, 98, 3, 32, 4, 2, 1, 8, 0, 15, 20, 12, 1, 4, 0, 32, 0, 16, 3, 9, 1, 1, 1, 8, 0, 64, 0, 28, 1, 4, 1,
            6, 16,
        ];
        assert_eq!(params, theirs);
    }

    #[test]
    fn packs_as_the_document_says() {
        // 16 bits, of which 10 from bit 3 on: the value 0x2aa lies at 0x1550.
        let of = NbitType::Number { size: 2, big_endian: true, precision: 10, offset: 3 };
        let params = Nbit::params(2, &of).unwrap();
        assert_eq!(params, [8, 0, 2, 1, 2, 1, 10, 3]);
        let mut packed = Vec::new();
        Nbit.encode(&params, &[0x15, 0x50, 0xff, 0xff], &mut packed).unwrap();
        assert_eq!(packed, [0b1010_1010, 0b1011_1111, 0b1111_0000]);
    }
}
