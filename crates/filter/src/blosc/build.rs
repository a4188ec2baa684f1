//! Making a container. `cut` says how large its blocks are, and whether they have several streams.

use hyperslab_base::{Sink, memory};

use super::{
    BloscCodec,
    cut::cut,
    header::{BITSHUFFLED, COPIED, EXTENDED_LEN, LEN, SHUFFLED, Stage, UNSPLIT, delta_width},
};
use crate::{
    Fault,
    bitplanes::{Scratch, to_bitplanes},
    output::{extend_stale, put_at, stale},
    transpose::to_columns,
    zstd,
};

/// Smaller data is copied.
const MIN_LEN: usize = 128;

/// Formats of the two headers.
const FORMAT: u8 = 2;
const EXTENDED_FORMAT: u8 = 5;

/// How a container is to be made.
pub(crate) struct Plan {
    pub(crate) extended: bool,
    pub(crate) size: u8,
    pub(crate) level: u32,
    pub(crate) stage: Stage,
    pub(crate) codec: BloscCodec,
    /// The bytes of a block, where they do not follow from the level.
    pub(crate) block: Option<usize>,
}

/// Appends a container; if nothing is gained, one with a copy of the data.
pub(crate) fn build(plan: &Plan, input: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let header_len = if plan.extended { EXTENDED_LEN } else { LEN };
    if i32::try_from(input.len() + header_len).is_err() {
        return Err(Fault::Params("blosc takes chunks of up to 2 GiB"));
    }
    let (block, split) = cut(plan, input.len());
    let start = out.len();
    // More than the worst case: what is appended from here on finds its room.
    memory::reserve(out, input.len() + input.len() / 16 + (1 << 16))?;
    let worth = plan.level > 0 && input.len() >= MIN_LEN && {
        extend_stale(out, header_len)?;
        append_blocks(plan, input, (block, split), start, out)?;
        out.len() - start < input.len() + header_len
    };
    if !worth {
        out.truncate(start);
        extend_stale(out, header_len)?;
        memory::append(out, input)?;
    }
    let header = header(plan, input.len(), (block, split), out.len() - start, !worth);
    if let Some(place) = out.get_mut(start..start + header_len) {
        place.copy_from_slice(&header);
    }
    Ok(())
}

fn append_blocks(
    plan: &Plan,
    input: &[u8],
    (block, split): (usize, bool),
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut place = out.len();
    extend_stale(out, input.len().div_ceil(block) * 4)?;
    let (mut staged, mut room, mut frames) = (Vec::new(), Scratch::default(), zstd::Encoder::default());
    for (index, part) in input.chunks(block).enumerate() {
        let at = (out.len() - start) as u32;
        put_at(out, place, at.to_le_bytes());
        place += 4;
        let staged = stage(plan, part, (index > 0).then_some(input), &mut staged, &mut room)?;
        let count = if split && part.len() == block { usize::from(plan.size) } else { 1 };
        for stream in staged.chunks(part.len().div_ceil(count).max(1)) {
            append_stream(plan, stream, out, &mut frames)?;
        }
    }
    Ok(())
}

/// Appends a stream with its length before it. Streams of equal bytes are told, where the format can.
fn append_stream(plan: &Plan, stream: &[u8], out: &mut Vec<u8>, frames: &mut zstd::Encoder) -> Result<(), Fault> {
    if let (true, Some(byte)) = (plan.extended, equal_byte(stream)) {
        out.extend((-i32::from(byte)).to_le_bytes());
        // The kind of the stream.
        out.extend((byte != 0).then_some(1));
        return Ok(());
    }
    let at = out.len();
    out.extend([0; 4]);
    plan.codec.compress(plan.level, stream, out, frames)?;
    if out.len() == at + 4 || out.len() - at - 4 >= stream.len() {
        out.truncate(at + 4);
        memory::append(out, stream)?;
    }
    let stored = (out.len() - at - 4) as u32;
    put_at(out, at, stored.to_le_bytes());
    Ok(())
}

/// The byte that all bytes are equal to.
fn equal_byte(stream: &[u8]) -> Option<u8> {
    let (first, last) = (stream.first()?, stream.last()?);
    let (blocks, rest) = stream.as_chunks();
    let whole = [*first; 32];
    let equal = first == last && blocks.iter().all(|block| *block == whole) && rest.iter().all(|byte| byte == first);
    equal.then_some(*first)
}

/// What is to be compressed of a block. Deltas refer to the first block, in which they refer to the element before.
fn stage<'a>(
    plan: &Plan,
    block: &'a [u8],
    first: Option<&[u8]>,
    staged: &'a mut Vec<u8>,
    room: &mut Scratch,
) -> Result<&'a [u8], Fault> {
    let size = usize::from(plan.size);
    let reach = plan.stage.reach(size, block.len(), !plan.extended);
    if reach == 0 || matches!(plan.stage, Stage::None | Stage::Truncate) {
        return Ok(block);
    }
    let staged = stale(staged, block.len(), block.len())?;
    let (Some((from, rest)), Some((to, after))) = (block.split_at_checked(reach), staged.split_at_mut_checked(reach))
    else {
        return Ok(block);
    };
    after.copy_from_slice(rest);
    match first {
        _ if plan.stage == Stage::Bitshuffle => to_bitplanes(size, from, to, room)?,
        _ if plan.stage != Stage::Delta => to_columns(size, from, to),
        Some(first) => to.iter_mut().zip(from).zip(first).for_each(|((to, byte), reference)| *to = byte ^ reference),
        None => {
            to.copy_from_slice(from);
            let later = to.iter_mut().skip(delta_width(size));
            later.zip(from).for_each(|(byte, before)| *byte ^= before);
        }
    }
    Ok(staged)
}

fn header(plan: &Plan, len: usize, (block, split): (usize, bool), stored: usize, copied: bool) -> Vec<u8> {
    let shuffled = match plan.stage {
        _ if plan.extended => SHUFFLED | BITSHUFFLED,
        Stage::Shuffle(_) => SHUFFLED,
        Stage::Bitshuffle => BITSHUFFLED,
        _ => 0,
    };
    let copied = if copied { COPIED } else { 0 };
    let mut sink = Sink::new();
    sink.u8(if plan.extended { EXTENDED_FORMAT } else { FORMAT });
    sink.u8(1);
    let unsplit = if split { 0 } else { UNSPLIT };
    sink.u8(shuffled | copied | unsplit | (plan.codec.inner() as u8) << 5);
    sink.u8(plan.size);
    for number in [len, block, stored] {
        sink.u32(number as u32);
    }
    if plan.extended {
        sink.extend(&[0, 0, 0, 0, 0, plan.stage.id(), plan.codec as u8, 0]);
        sink.extend(&[0; 8]);
    }
    sink.into_bytes()
}
