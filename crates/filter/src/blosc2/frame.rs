//! The frame around a chunk: a header and a trailer in the manner of msgpack, whose every number has a fixed place, so that it
//! can be read and written without one. Between them stand the chunks, then a chunk of their places.

use hyperslab_base::{Cursor, Width, memory};

use super::grid::Grid;
use crate::{
    BloscCodec, Fault,
    blosc::{Chunk, Plan, Special, Stage, build},
    output::to_len,
};

const MAGIC: &[u8] = b"\x9e\xa8b2frame\0";
const TRAILER: &[u8] = b"\x94\x01\x93\xcd\0\x06\xde\0\0\xdc\0\0\xce\0\0\0\x23\xd8\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Places of numbers in the header, after the byte that tells their type.
const AT_HEADER_LEN: usize = 11;
const AT_LEN: usize = 30;
const AT_STORED: usize = 39;
const AT_SIZE: usize = 48;
const AT_LAYERS: usize = 91;

pub(super) struct Frame<'a> {
    input: &'a [u8],
    /// Where the chunks start.
    chunks: usize,
    /// The bytes of all chunks in the file.
    stored: usize,
    /// The decoded bytes of all chunks.
    pub(super) len: usize,
    /// The bytes of an element.
    pub(super) size: usize,
    /// How an array of more dimensions is laid out.
    pub(super) grid: Option<Grid>,
}

/// What a frame has of a chunk.
pub(super) enum Stored<'a> {
    Chunk(Chunk<'a>),
    Special(Special),
}

impl<'a> Frame<'a> {
    pub(super) fn read(input: &'a [u8]) -> Result<Frame<'a>, Fault> {
        if !input.starts_with(MAGIC) {
            return Err(Fault::Corrupt("not a blosc2 frame"));
        }
        let chunks = to_len(number(input, AT_HEADER_LEN, Width::W4)?)?;
        let header = input.get(..chunks).ok_or(Fault::Corrupt("the header is longer than the frame"))?;
        Ok(Frame {
            input,
            chunks,
            stored: to_len(number(header, AT_STORED, Width::W8)?)?,
            len: to_len(number(header, AT_LEN, Width::W8)?)?,
            size: to_len(number(header, AT_SIZE, Width::W4)?)?,
            grid: layer(header)?.map(Grid::read).transpose()?,
        })
    }

    /// The only chunk.
    pub(super) fn chunk(&self) -> Result<Stored<'a>, Fault> {
        let index = self.chunks.checked_add(self.stored).and_then(|at| self.input.get(at..));
        let index = Chunk::read(index.ok_or(Fault::Corrupt("the chunks are longer than the frame"))?)?;
        if index.len() != 8 {
            return Err(Fault::Unsupported("a blosc2 frame with more or less than one chunk"));
        }
        let mut place = [0; 8];
        index.decode(&mut place)?;
        let [.., kind] = place;
        if kind & 0x80 != 0 {
            let special = Special::read(kind)?.ok_or(Fault::Corrupt("a special chunk of no kind"))?;
            return Ok(Stored::Special(special));
        }
        let at = to_len(u64::from_le_bytes(place))?.checked_add(self.chunks);
        let bytes = at.and_then(|at| self.input.get(at..)).ok_or(Fault::Corrupt("a chunk outside of its frame"))?;
        Ok(Stored::Chunk(Chunk::read(bytes)?))
    }
}

/// A big-endian number.
pub(super) fn number(bytes: &[u8], at: usize, width: Width) -> Result<u64, Fault> {
    let mut cursor = Cursor::new(bytes);
    cursor.skip(at)?;
    Ok(cursor.uint(width)?.swap_bytes() >> (64 - 8 * width.bytes()))
}

/// The layer that tells how an array of more dimensions is laid out: a map of names and places, then the layers.
fn layer(header: &[u8]) -> Result<Option<&[u8]>, Fault> {
    let mut cursor = Cursor::new(header);
    cursor.skip(AT_LAYERS)?;
    let count = number(header, AT_LAYERS + 1, Width::W2)?;
    cursor.skip(3)?;
    for _ in 0..count {
        let name_len = cursor.u8()? & 31;
        let name = cursor.take(usize::from(name_len))?;
        cursor.skip(1)?;
        let at = to_len(cursor.u32()?.swap_bytes())?;
        if matches!(name, b"b2nd" | b"caterva") {
            let len = to_len(number(header, at.saturating_add(1), Width::W4)?)?;
            let layer = at.checked_add(5).and_then(|at| header.get(at..)).and_then(|rest| rest.get(..len));
            return layer.map(Some).ok_or(Fault::Corrupt("a layer outside of its header"));
        }
    }
    Ok(None)
}

/// Replaces `out` by a frame with one chunk of so many bytes, which may be an array.
pub(super) fn write(
    plan: &Plan,
    grid: Option<&Grid>,
    len: usize,
    chunk: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    // The place of the chunk is 0, as a container of 8 bytes.
    let places =
        Plan { extended: true, size: 8, level: 0, stage: Stage::None, codec: BloscCodec::BloscLz, block: None };
    let mut index = Vec::new();
    build(&places, &[0; 8], &mut index)?;
    let layers = layers(grid.map(|grid| grid.to_layer(usize::from(plan.size))));
    let header_len = AT_LAYERS - 4 + layers.len();
    let total = header_len + chunk.len() + index.len() + TRAILER.len();

    out.clear();
    memory::reserve(out, total)?;
    out.extend_from_slice(MAGIC);
    out.push(0xd2);
    out.extend((header_len as u32).to_be_bytes());
    out.push(0xcf);
    out.extend((total as u64).to_be_bytes());
    // Format 2 with places of 64 bits; contiguous; codec and level; split as it fits.
    out.extend([0xa4, 0x12, 0, plan.level.min(9) as u8 * 16 + plan.codec as u8, 3]);
    for number in [len, chunk.len()] {
        out.push(0xd3);
        out.extend((number as u64).to_be_bytes());
    }
    for number in [usize::from(plan.size), plan.block.unwrap_or(0), len] {
        out.push(0xd2);
        out.extend((number as u32).to_be_bytes());
    }
    // One thread each way, no layers that may change.
    out.extend([0xd1, 0, 1, 0xd1, 0, 1, 0xc2]);
    out.extend([0xd8, 6, 0, 0, 0, 0, 0, plan.stage.id(), plan.codec as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend(layers);
    out.extend_from_slice(chunk);
    out.append(&mut index);
    out.extend_from_slice(TRAILER);
    Ok(())
}

/// The end of a header: a map of names and places, whose length comes before it, and the layers; here one or none.
fn layers(layer: Option<Vec<u8>>) -> Vec<u8> {
    let Some(layer) = layer else { return vec![0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0] };
    const MAP_LEN: u8 = 17;
    // After the map stands how many layers there are.
    let at = AT_LAYERS - 4 + usize::from(MAP_LEN) + 3;
    let mut layers = vec![0x93, 0xcd, 0, MAP_LEN, 0xde, 0, 1, 0xa4];
    layers.extend_from_slice(b"b2nd\xd2");
    layers.extend((at as u32).to_be_bytes());
    layers.extend([0xdc, 0, 1, 0xc6]);
    layers.extend((layer.len() as u32).to_be_bytes());
    layers.extend(layer);
    layers
}
