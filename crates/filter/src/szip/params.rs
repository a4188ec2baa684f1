//! The four parameters of szip: options, pixels per block, bits per pixel, pixels per scanline.

use crate::{Fault, NumberType, order};

const ALLOW_K13: u32 = 1;
const ENTROPY_CODING: u32 = 4;
const LITTLE_ENDIAN: u32 = 8;
const BIG_ENDIAN: u32 = 16;
const NEAREST_NEIGHBOUR: u32 = 32;
const RAW: u32 = 128;

/// Blocks of a segment; a run of zero blocks that is told in few bits does not cross its end.
pub(super) const SEGMENT: usize = 64;

const MAX_BLOCKS_PER_LINE: u64 = 128;
const MAX_PIXELS_PER_LINE: u64 = 4096;

/// What szip has to know of a datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SzipType {
    /// Its bytes: up to 4, or 8.
    pub size: u32,
    /// Whether the highest byte comes first.
    pub big_endian: bool,
    /// How many bits are used.
    pub precision: u32,
    /// Where they start, from the lowest bit.
    pub offset: u32,
}

impl From<NumberType> for SzipType {
    fn from(number: NumberType) -> SzipType {
        let NumberType { size, big_endian, precision, offset, .. } = number;
        SzipType { size, big_endian, precision, offset }
    }
}

/// The option that tells how samples are coded.
pub(super) fn coding(nearest_neighbour: bool) -> u32 {
    if nearest_neighbour { NEAREST_NEIGHBOUR } else { ENTROPY_CODING }
}

/// Whether these options ask for differences of neighbours.
pub(super) fn is_nearest_neighbour(mask: u32) -> bool {
    mask & NEAREST_NEIGHBOUR != 0
}

pub(super) struct Params {
    /// Pixels of a block.
    pub(super) block: usize,
    /// Blocks of a scanline.
    pub(super) blocks: usize,
    /// Pixels of a scanline.
    pub(super) line: usize,
    /// Bits of a coded sample.
    pub(super) bits: u32,
    /// Bytes of such a sample.
    pub(super) bytes: usize,
    /// The bytes of a pixel, if its bytes are coded apart.
    pub(super) interleaved: Option<usize>,
    /// Whether samples are coded as differences.
    pub(super) preprocess: bool,
    big_endian: bool,
}

impl Params {
    pub(super) fn read(params: &[u32]) -> Result<Params, Fault> {
        let &[mask, block, pixel, line] = params else {
            return Err(Fault::Params("there must be four"));
        };
        if !(2..=64).contains(&block) || block % 2 != 0 {
            return Err(Fault::Params("pixels per block must be an even number up to 64"));
        }
        if line == 0 || u64::from(line) > MAX_PIXELS_PER_LINE * 16 {
            return Err(Fault::Params("pixels per scanline out of range"));
        }
        let (bits, interleaved) = match pixel {
            32 | 64 => (8, Some(pixel as usize / 8)),
            1..32 => (pixel, None),
            _ => return Err(Fault::Params("bits per pixel must be up to 32, or 64")),
        };
        Ok(Params {
            block: block as usize,
            blocks: line.div_ceil(block) as usize,
            line: line as usize,
            bits,
            bytes: match bits {
                0..=8 => 1,
                9..=16 => 2,
                _ => 4,
            },
            interleaved,
            preprocess: is_nearest_neighbour(mask),
            big_endian: mask & BIG_ENDIAN != 0,
        })
    }

    /// Pixels of a scanline, filled up to whole blocks.
    pub(super) fn padded_line(&self) -> usize {
        self.blocks * self.block
    }

    /// The most bytes that so many coded ones stand for. A run of zero blocks ends with its segment, and takes the bits that name its code and one more at least, as other blocks do.
    pub(super) fn most_decoded(&self, coded: u64) -> u64 {
        let line = self.blocks.div_ceil(SEGMENT) as u64 * u64::from(self.id_bits() + 2);
        // The last line may be cut.
        let lines = coded.saturating_mul(8) / line.max(1) + 1;
        lines.saturating_mul((self.line * self.bytes) as u64)
    }

    /// The greatest sample.
    pub(super) fn greatest(&self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// How many bits say which code a block has.
    pub(super) fn id_bits(&self) -> u32 {
        match self.bytes {
            1 => 3,
            2 => 4,
            _ => 5,
        }
    }

    /// Appends the samples of pixels.
    pub(super) fn load(&self, pixels: &[u8], samples: &mut Vec<u32>) {
        let greatest = self.greatest();
        match (pixels.as_chunks(), self.big_endian) {
            _ if self.bytes == 1 => samples.extend(pixels.iter().map(|pixel| u32::from(*pixel) & greatest)),
            ((pixels, []), false) if self.bytes == 2 => {
                samples.extend(pixels.iter().map(|pixel| u32::from(u16::from_le_bytes(*pixel)) & greatest));
            }
            ((pixels, []), true) if self.bytes == 2 => {
                samples.extend(pixels.iter().map(|pixel| u32::from(u16::from_be_bytes(*pixel)) & greatest));
            }
            _ => {
                let pixels = pixels.chunks(self.bytes);
                samples.extend(pixels.map(|pixel| order::load(pixel, self.big_endian) as u32 & greatest));
            }
        }
    }

    /// Writes samples into pixels, the last of which may be cut.
    pub(super) fn store(&self, samples: &[u32], pixels: &mut [u8]) {
        if self.bytes == 1 {
            return pixels.iter_mut().zip(samples).for_each(|(pixel, sample)| *pixel = *sample as u8);
        }
        if let (2, (pixels, [])) = (self.bytes, pixels.as_chunks_mut()) {
            let swap = self.big_endian;
            for (pixel, sample) in pixels.iter_mut().zip(samples) {
                let sample = *sample as u16;
                *pixel = if swap { sample.to_be_bytes() } else { sample.to_le_bytes() };
            }
            return;
        }
        for (pixel, sample) in pixels.chunks_mut(self.bytes).zip(samples) {
            order::store(u64::from(*sample), self.big_endian, pixel);
        }
    }
}

pub(super) fn to_params(chunk: &[u64], of: SzipType, nearest_neighbour: bool, block: u32) -> Result<Vec<u32>, Fault> {
    if of.size == 0 || of.size > 4 && of.size != 8 {
        return Err(Fault::Params("szip takes types of up to 4 bytes, or 8"));
    }
    let bits = of.size * 8;
    let used = if of.precision < bits && of.offset != 0 { bits } else { of.precision.min(bits) };
    let pixel = match used {
        0..=24 => used,
        25..=32 => 32,
        _ => 64,
    };
    let elements = chunk.iter().fold(1, |product: u64, dim| product.saturating_mul(*dim));
    let last = chunk.last().copied().unwrap_or(1);
    let most = u64::from(block) * MAX_BLOCKS_PER_LINE;
    let line = if last >= u64::from(block) {
        if last <= MAX_PIXELS_PER_LINE { last.min(most) } else { most }
    } else if elements >= u64::from(block) {
        elements.min(most)
    } else {
        return Err(Fault::Params("a block has more pixels than the chunk"));
    };
    let coding = coding(nearest_neighbour);
    let order = if of.big_endian { BIG_ENDIAN } else { LITTLE_ENDIAN };
    let params = vec![ALLOW_K13 | RAW | coding | order, block, pixel, line as u32];
    Params::read(&params)?;
    Ok(params)
}
