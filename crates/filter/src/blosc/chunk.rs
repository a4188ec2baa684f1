//! Decoding a container, as a whole or block by block.
//!
//! After the header stand the places of the blocks, 4 bytes each. A block is one stream, or one for each byte of an element; a
//! stream has its stored length in 4 bytes before it. With the longer header a length of 0 tells a stream of zeros and a
//! negative one, with a byte after it, a stream of equal bytes.

use std::mem;

use hyperslab_base::{Cursor, memory};

use super::header::{Header, LEN, Special, Stage, delta_width};
use crate::{
    Fault,
    bitplanes::{Scratch, to_elements},
    output::{stale, to_len},
    transpose::to_rows,
    zstd,
};

/// Elements of more bytes, or blocks of fewer elements, were not split before there was a flag for it.
const MAX_SPLITS: usize = 16;
const MIN_SPLIT: usize = 128;

/// A container that has been looked at.
pub(crate) struct Chunk<'a> {
    header: Header,
    bytes: &'a [u8],
}

/// Scratch for work on the way, to be used again, and the first block if others refer to it.
#[derive(Default)]
pub(crate) struct Work {
    staged: Vec<u8>,
    bits: Scratch,
    frames: zstd::Decoder,
    reference: Vec<u8>,
}

impl<'a> Chunk<'a> {
    pub(crate) fn read(input: &'a [u8]) -> Result<Chunk<'a>, Fault> {
        let header = Header::read(input)?;
        let bytes = input.get(..header.stored.max(LEN)).ok_or(Fault::Corrupt("shorter than it says"))?;
        if header.len as u64 > header.most_decoded(bytes.len() as u64) {
            return Err(Fault::Corrupt("longer than its blocks can be"));
        }
        Ok(Chunk { header, bytes })
    }

    /// The decoded length.
    pub(crate) fn len(&self) -> usize {
        self.header.len
    }

    /// The decoded length of a block; the last one may be shorter.
    pub(crate) fn block_len(&self) -> usize {
        self.header.block
    }

    /// Decodes all blocks into `out`, which has the decoded length.
    pub(crate) fn decode(&self, out: &mut [u8]) -> Result<(), Fault> {
        let mut work = Work::default();
        out.chunks_mut(self.header.block).enumerate().try_for_each(|(index, block)| self.block(index, block, &mut work))
    }

    /// Decodes a block. Block 0 must come first if there are others.
    pub(crate) fn block(&self, index: usize, out: &mut [u8], work: &mut Work) -> Result<(), Fault> {
        let header = &self.header;
        if let Some(special) = header.special {
            let value = self.bytes.get(header.len_in_file()..).unwrap_or_default();
            return fill(special, header.size, value, out);
        }
        if header.copied {
            let start = index.saturating_mul(header.block).saturating_add(header.len_in_file());
            let stored = self.bytes.get(start..).and_then(|rest| rest.get(..out.len()));
            out.copy_from_slice(stored.ok_or(Fault::Corrupt("the data ends early"))?);
            return Ok(());
        }
        // What shuffles takes its bytes from elsewhere: streams are decoded there.
        let last = header.stages.iter().rev().find(|stage| !matches!(stage, Stage::None | Stage::Truncate));
        let staged = matches!(last, Some(Stage::Shuffle(_) | Stage::Bitshuffle));
        let to = if staged { stale(&mut work.staged, out.len(), out.len())? } else { &mut *out };
        self.streams(index, to, &mut work.frames)?;
        self.undo_stages(index, out, staged, work)
    }

    /// Decodes the streams of a block.
    fn streams(&self, index: usize, out: &mut [u8], frames: &mut zstd::Decoder) -> Result<(), Fault> {
        let header = &self.header;
        let inner = header.inner.ok_or(Fault::Unsupported("a codec that is a plugin of blosc2"))?;
        let mut places = Cursor::new(self.bytes);
        places.skip(index.saturating_mul(4).saturating_add(header.len_in_file()))?;
        let mut cursor = Cursor::new(self.bytes);
        cursor.skip(to_len(places.u32()?)?)?;

        let worth = header.extended || header.size <= MAX_SPLITS && header.block / header.size >= MIN_SPLIT;
        let whole = out.len() == header.block;
        let count = if header.split && worth && whole { header.size } else { 1 };
        let stream = out.len() / count;
        if stream == 0 || stream * count != out.len() {
            return Err(Fault::Corrupt("a block that does not split into its streams"));
        }
        for out in out.chunks_exact_mut(stream) {
            match cursor.u32()? as i32 {
                0 if header.extended => out.fill(0),
                value @ -255..0 if header.extended => {
                    if cursor.u8()? & 1 == 0 {
                        return Err(Fault::Corrupt("an unknown kind of stream"));
                    }
                    out.fill(value.unsigned_abs() as u8);
                }
                stored => {
                    let stored = cursor.take(to_len(stored)?)?;
                    if stored.len() == out.len() {
                        out.copy_from_slice(stored);
                    } else {
                        inner.decompress(stored, out, frames)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes back what was done to a block, last to first. If it is `staged`, it is not yet in its place.
    fn undo_stages(&self, index: usize, block: &mut [u8], mut staged: bool, work: &mut Work) -> Result<(), Fault> {
        let size = self.header.size;
        for stage in self.header.stages.iter().rev() {
            if matches!(stage, Stage::Shuffle(_) | Stage::Bitshuffle) && !mem::take(&mut staged) {
                work.staged.clear();
                memory::append(&mut work.staged, block)?;
            }
            let reach = stage.reach(size, block.len(), self.header.whole_bitshuffle);
            let Some((reached, after)) = block.split_at_mut_checked(reach) else { continue };
            match *stage {
                Stage::None | Stage::Truncate => {}
                Stage::Shuffle(by) => to_rows(if by == 0 { size } else { usize::from(by) }, &work.staged, reached),
                Stage::Bitshuffle => {
                    let (shuffled, rest) = work.staged.split_at_checked(reach).unwrap_or_default();
                    to_elements(size, shuffled, reached, &mut work.bits)?;
                    after.copy_from_slice(rest);
                }
                Stage::Delta if index == 0 => {
                    undo_delta(delta_width(size), reached);
                    work.reference = memory::copied(reached)?;
                }
                Stage::Delta => {
                    reached.iter_mut().zip(&work.reference).for_each(|(byte, reference)| *byte ^= reference);
                }
            }
        }
        Ok(())
    }
}

fn undo_delta(width: usize, block: &mut [u8]) {
    for at in width..block.len() {
        let before = block.get(at - width).copied().unwrap_or(0);
        if let Some(byte) = block.get_mut(at) {
            *byte ^= before;
        }
    }
}

/// Fills a chunk or block that is told, not stored.
pub(crate) fn fill(special: Special, size: usize, value: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let value = match (special, size) {
        (Special::Zeros | Special::Uninitialized, _) => &[0][..],
        (Special::Nans, 4) => &f32::NAN.to_le_bytes(),
        (Special::Nans, 8) => &f64::NAN.to_le_bytes(),
        (Special::Value, _) if !value.is_empty() => value,
        _ => return Err(Fault::Corrupt("a special chunk that does not fit its type")),
    };
    for part in out.chunks_mut(value.len()) {
        part.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A container with the longer header, of elements of 4 bytes and blocks of 8.
    fn container(flags: u8, blosc2_flags: u8, len: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![5, 1, flags | 5, 4, len, 0, 0, 0, 8, 0, 0, 0, 32 + body.len() as u8, 0, 0, 0];
        bytes.extend([0; 15]);
        bytes.push(blosc2_flags);
        bytes.extend_from_slice(body);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
        let chunk = Chunk::read(bytes)?;
        let mut out = vec![1; chunk.len()];
        chunk.decode(&mut out).map(|()| out)
    }

    #[test]
    fn special_chunks() {
        assert_eq!(decode(&container(2, 1 << 4, 10, &[])).unwrap(), [0; 10]);
        let nans = decode(&container(2, 2 << 4, 8, &[])).unwrap();
        assert!(nans.as_chunks().0.iter().all(|nan| f32::from_le_bytes(*nan).is_nan()));
        assert_eq!(decode(&container(2, 3 << 4, 8, &[1, 2, 3, 4])).unwrap(), [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(decode(&container(2, 4 << 4, 8, &[])).unwrap(), [0; 8]);
        assert!(decode(&container(2, 5 << 4, 8, &[])).is_err());
        assert!(decode(&container(2, 3 << 4, 8, &[])).is_err());
    }

    #[test]
    fn streams_that_are_told() {
        // Two blocks without shuffling: one of zeros, one of sevens.
        let body = [40, 0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0, 0xf9, 0xff, 0xff, 0xff, 1];
        assert_eq!(decode(&container(16, 0, 16, &body)).unwrap(), [[0; 8], [7; 8]].concat());
        // One block, split into a stream for each of four bytes.
        let split = [36, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 5, 6, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0];
        assert_eq!(decode(&container(0, 0, 8, &split)).unwrap(), [0, 0, 5, 6, 1, 1, 0, 0]);
    }
}
