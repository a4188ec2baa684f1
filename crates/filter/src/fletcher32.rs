//! Filter 3: fletcher32, a checksum after the data. It is verified on every read.

use hyperslab_base::memory;

use crate::{Decoded, Encoded, Fault, Filter};

/// Fletcher32, filter 3.
#[derive(Clone, Copy, Debug)]
pub struct Fletcher32;

impl Fletcher32 {
    /// Its number.
    pub const ID: u16 = 3;

    /// It has no parameters.
    pub fn params() -> Vec<u32> {
        Vec::new()
    }
}

impl Filter for Fletcher32 {
    fn id(&self) -> u16 {
        Fletcher32::ID
    }

    fn name(&self) -> &'static str {
        "fletcher32"
    }

    fn decode(&self, _: &[u32], input: &[u8], _: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let (data, stored) = input.split_last_chunk().ok_or(Fault::Corrupt("shorter than a checksum"))?;
        if data.len() > limit {
            return Err(Fault::TooLong(limit));
        }
        let (stored, computed) = (u32::from_le_bytes(*stored), checksum(data));
        if stored != computed && stored != as_written_before_1_6_3(computed) {
            return Err(Fault::Checksum { stored, computed });
        }
        Ok(Decoded::Prefix(data.len()))
    }

    fn encode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        out.clear();
        memory::reserve(out, input.len() + 4)?;
        out.extend_from_slice(input);
        out.extend(checksum(input).to_le_bytes());
        Ok(Encoded::Written)
    }

    fn encoded_bound(&self, _: &[u32], len: usize) -> usize {
        len.saturating_add(4)
    }

    fn worst_case(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_add(4))
    }

    fn decoded_bound(&self, _: &[u32], len: u64) -> Option<u64> {
        Some(len)
    }
}

/// Old libraries on little-endian machines swapped the bytes of both halves.
fn as_written_before_1_6_3(checksum: u32) -> u32 {
    checksum.swap_bytes().rotate_left(16)
}

/// Words that are summed side by side.
const GROUP: usize = 64;

/// Fletcher's checksum over 16-bit big-endian words; an odd last byte is the high half of a word.
fn checksum(data: &[u8]) -> u32 {
    /// So many bytes cannot overflow 64 bits: half the square of the words, times 65535.
    const BLOCK: usize = 1 << 20;
    let (mut sum, mut sums) = (0u64, 0u64);
    for block in data.chunks(BLOCK) {
        let (words, odd) = block.as_chunks();
        let (groups, rest) = words.as_chunks::<GROUP>();
        for group in groups {
            // Each word is in the sums from its place on: a product, so that words are summed side by side.
            let (mut here, mut weighted) = (0, 0);
            for (nth, word) in group.iter().enumerate() {
                let word = u32::from(u16::from_be_bytes(*word));
                here += word;
                weighted += word * (GROUP - nth) as u32;
            }
            sums += sum * GROUP as u64 + u64::from(weighted);
            sum += u64::from(here);
        }
        for word in rest {
            sum += u64::from(u16::from_be_bytes(*word));
            sums += sum;
        }
        for byte in odd {
            sum += u64::from(*byte) << 8;
            sums += sum;
        }
        (sum, sums) = (fold(sum), fold(sums));
    }
    (sums as u32) << 16 | sum as u32
}

/// The remainder by 65535, where a multiple other than 0 stays 65535.
fn fold(sum: u64) -> u64 {
    if sum == 0 { 0 } else { (sum - 1) % 65535 + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sums in 32 bits, folded after every word.
    fn twin(data: &[u8]) -> u32 {
        let (mut sum, mut sums) = (0u32, 0u32);
        for pair in data.chunks(2) {
            sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
            sum = (sum & 0xffff) + (sum >> 16);
            sums += sum;
            sums = (sums & 0xffff) + (sums >> 16);
        }
        sums << 16 | sum
    }

    proptest! {
        #[test]
        fn sums_as_its_twin(data in prop::collection::vec(any::<u8>(), 0..3000), ones in 0usize..3000) {
            prop_assert_eq!(checksum(&data), twin(&data));
            let ones = vec![255; ones];
            prop_assert_eq!(checksum(&ones), twin(&ones));
        }
    }

    #[test]
    fn sums_more_than_a_block() {
        let data: Vec<u8> = (0..3_000_001u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        assert_eq!(checksum(&data), twin(&data));
        let ones = vec![255; 3_000_001];
        assert_eq!(checksum(&ones), twin(&ones));
    }

    #[test]
    fn takes_the_old_checksum_too() {
        let mut old = b"some bytes".to_vec();
        let [a, b, c, d] = checksum(&old).to_le_bytes();
        old.extend([b, a, d, c]);
        assert_eq!(Fletcher32.decode(&[], &old, &mut Vec::new(), 100).unwrap(), Decoded::Prefix(10));
        old[0] ^= 1;
        assert!(matches!(Fletcher32.decode(&[], &old, &mut Vec::new(), 100), Err(Fault::Checksum { .. })));
    }
}
