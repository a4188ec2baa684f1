//! Filter 32008: bitshuffle, alone or with LZ4 or Zstandard after it.
//!
//! The elements are taken in blocks, the last of them cut to a multiple of 8; elements after that stay as they are. With a
//! compressor, a chunk starts with its decoded length in 8 bytes and the bytes of a block in 4, and each block with its
//! stored length in 4, all big-endian.

use hyperslab_base::{Cursor, Width, memory};

use crate::{
    ChunkFacts, Decoded, Encoded, Fault, Filter,
    bitplanes::{Scratch, to_bitplanes, to_elements},
    lz4::{self, Mode},
    output::{put_at, stale, to_len},
    zstd,
};

/// Bitshuffle, filter 32008.
///
/// ```
/// use hyperslab_filter::{Bitshuffle, BitshuffleCodec, Encoded, Filter};
/// let params = Bitshuffle::params(4, 0, BitshuffleCodec::Lz4);
/// let values: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
/// let mut packed = Vec::new();
/// assert_eq!(Bitshuffle.encode(&params, &values, &mut packed)?, Encoded::Written);
/// assert!(packed.len() < 1000);
/// # Ok::<(), hyperslab_filter::Fault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bitshuffle;

/// What happens to the shuffled bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitshuffleCodec {
    /// Nothing.
    None,
    /// LZ4.
    Lz4,
    /// Zstandard, with its level.
    Zstd(u32),
}

impl BitshuffleCodec {
    /// How many bytes a stored one stands for at most.
    fn max_ratio(self) -> usize {
        match self {
            BitshuffleCodec::None => 1,
            BitshuffleCodec::Lz4 => lz4::MAX_RATIO,
            BitshuffleCodec::Zstd(_) => zstd::MAX_RATIO,
        }
    }
}

impl Bitshuffle {
    /// Its number.
    pub const ID: u16 = 32008;

    /// The parameters for elements of this many bytes, in blocks of so many elements; 0 is about 8 KiB.
    pub fn params(element_size: u32, block_elements: u32, codec: BitshuffleCodec) -> Vec<u32> {
        [vec![0, 4, element_size], Bitshuffle::options(block_elements, codec)].concat()
    }

    /// What a user gives of the parameters; the others follow from type and chunk.
    pub fn options(block_elements: u32, codec: BitshuffleCodec) -> Vec<u32> {
        match codec {
            BitshuffleCodec::None => vec![block_elements, 0],
            BitshuffleCodec::Lz4 => vec![block_elements, LZ4],
            BitshuffleCodec::Zstd(level) => vec![block_elements, ZSTD, level],
        }
    }
}

const LZ4: u32 = 2;
const ZSTD: u32 = 3;
const DEFAULT_BLOCK_BYTES: usize = 8192;
const MIN_DEFAULT_BLOCK: usize = 128;

impl Filter for Bitshuffle {
    fn id(&self) -> u16 {
        Bitshuffle::ID
    }

    fn name(&self) -> &'static str {
        "bitshuffle"
    }

    fn complete(&self, given: &[u32], chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        // Users give the elements of a block, a codec and its level. Complete parameters have a version and the size of an element before these;
        // without options they are known by their version, which is no codec.
        let options = match given {
            [0, 4..=u32::MAX, _] => &[],
            [_, _, _, options @ ..] if !options.is_empty() => options,
            options => options,
        };
        if !matches!(options.get(1), None | Some(&(0 | LZ4 | ZSTD))) {
            return Err(Fault::Params("an unknown codec"));
        }
        let params = [&[0, 4, chunk.element.size()], options].concat();
        let Params { size, block, .. } = Params::read(&params)?;
        Blocks::of(0, size, block)?;
        Ok(params)
    }

    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
        let params = Params::read(params)?;
        let mut cursor = Cursor::new(input);
        let (len, block) = if params.codec == BitshuffleCodec::None {
            (input.len(), params.block)
        } else {
            let len = to_len(cursor.uint(Width::W8)?.swap_bytes())?;
            if len > input.len().saturating_mul(params.codec.max_ratio()) {
                return Err(Fault::Corrupt("longer than its blocks can be"));
            }
            (len, to_len(cursor.u32()?.swap_bytes())? / params.size)
        };
        let blocks = Blocks::of(len, params.size, block)?;
        let (planes, plain) = stale(out, len, limit)?.split_at_mut_checked(blocks.end).unwrap_or_default();
        let (mut unpacked, mut room, mut frames) = (Vec::new(), Scratch::default(), zstd::Decoder::default());
        for block in planes.chunks_mut(blocks.bytes) {
            if params.codec == BitshuffleCodec::None {
                to_elements(params.size, cursor.take(block.len())?, block, &mut room)?;
                continue;
            }
            let stored = to_len(cursor.u32()?.swap_bytes())?;
            let stored = cursor.take(stored)?;
            let unpacked = stale(&mut unpacked, block.len(), limit)?;
            match params.codec {
                BitshuffleCodec::Lz4 => lz4::decompress_exact(stored, unpacked)?,
                _ if frames.decompress(stored, unpacked)? == unpacked.len() => {}
                _ => return Err(Fault::Corrupt("a block decodes to too few bytes")),
            }
            to_elements(params.size, unpacked, block, &mut room)?;
        }
        plain.copy_from_slice(cursor.take(plain.len())?);
        Ok(Decoded::Written)
    }

    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        let params = Params::read(params)?;
        if !input.len().is_multiple_of(params.size) {
            return Err(Fault::Params("the data is not a whole number of elements"));
        }
        let blocks = Blocks::of(input.len(), params.size, params.block)?;
        let (elements, plain) = input.split_at_checked(blocks.end).unwrap_or_default();
        let (mut planes, mut room, mut frames) = (Vec::new(), Scratch::default(), zstd::Encoder::default());
        if params.codec == BitshuffleCodec::None {
            let out = stale(out, input.len(), input.len())?;
            let (to, after) = out.split_at_mut_checked(blocks.end).unwrap_or_default();
            for (block, planes) in elements.chunks(blocks.bytes).zip(to.chunks_mut(blocks.bytes)) {
                to_bitplanes(params.size, block, planes, &mut room)?;
            }
            after.copy_from_slice(plain);
            return Ok(Encoded::Written);
        }
        out.clear();
        out.extend((input.len() as u64).to_be_bytes());
        out.extend(((params.block * params.size) as u32).to_be_bytes());
        for block in elements.chunks(blocks.bytes) {
            let planes = stale(&mut planes, block.len(), block.len())?;
            to_bitplanes(params.size, block, planes, &mut room)?;
            let start = out.len();
            out.extend([0; 4]);
            match params.codec {
                BitshuffleCodec::Zstd(level) => frames.compress(level as i32, planes, out)?,
                _ => lz4::compress(Mode::DEFAULT, planes, out)?,
            }
            let stored = (out.len() - start - 4) as u32;
            put_at(out, start, stored.to_be_bytes());
        }
        memory::append(out, plain)?;
        Ok(Encoded::Written)
    }

    fn worst_case(&self, params: &[u32], len: u64) -> Option<u64> {
        let params = Params::read(params).ok()?;
        let block = (params.block as u64).saturating_mul(params.size as u64);
        let more = match params.codec {
            BitshuffleCodec::None => return Some(len),
            BitshuffleCodec::Lz4 => lz4::OVERHEAD,
            BitshuffleCodec::Zstd(_) => zstd::OVERHEAD,
        };
        // The codecs add a 255th and some bytes to each block, which has its length before it.
        let blocks = len.div_ceil(block.max(1)).saturating_mul(4 + more);
        Some(len.saturating_add(len / 255).saturating_add(blocks).saturating_add(12))
    }

    fn decoded_bound(&self, params: &[u32], len: u64) -> Option<u64> {
        Some(len.saturating_mul(Params::read(params).ok()?.codec.max_ratio() as u64))
    }
}

struct Params {
    size: usize,
    /// In elements.
    block: usize,
    codec: BitshuffleCodec,
}

impl Params {
    fn read(params: &[u32]) -> Result<Params, Fault> {
        let &[_, _, size @ 1..=u32::MAX, ref options @ ..] = params else {
            return Err(Fault::Params("the size of an element is missing"));
        };
        let size = size as usize;
        let default = (DEFAULT_BLOCK_BYTES / size / 8 * 8).max(MIN_DEFAULT_BLOCK);
        let block = options.first().map_or(0, |block| *block as usize);
        let codec = match options.get(1) {
            Some(&LZ4) => BitshuffleCodec::Lz4,
            Some(&ZSTD) => BitshuffleCodec::Zstd(options.get(2).copied().unwrap_or(0)),
            _ => BitshuffleCodec::None,
        };
        Ok(Params { size, block: if block == 0 { default } else { block }, codec })
    }
}

/// How a chunk falls into blocks.
struct Blocks {
    /// The bytes of a block.
    bytes: usize,
    /// Where the last block ends; it may be shorter.
    end: usize,
}

impl Blocks {
    fn of(len: usize, size: usize, block: usize) -> Result<Blocks, Fault> {
        let bytes = block.checked_mul(size).filter(|bytes| *bytes > 0 && block.is_multiple_of(8));
        let bytes = bytes.ok_or(Fault::Params("the elements of a block are not a multiple of 8"))?;
        Ok(Blocks { bytes, end: len / size / 8 * 8 * size })
    }
}
