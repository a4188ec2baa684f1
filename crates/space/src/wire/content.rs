//! What an encoded selection holds, and the selection that is made of it.

use hyperslab_base::{Malformed, Reader, Width};

use super::{blocks::Blocks, numbers::Numbers};
use crate::{Extent, Op, Points, Result, Selection, Slab, Space, UNLIMITED, selection::Slabs};

// The kinds of an encoded selection.
pub(super) const NONE: u32 = 0;
pub(super) const POINTS: u32 = 1;
pub(super) const HYPERSLAB: u32 = 2;
pub(super) const ALL: u32 = 3;

/// The flag of a hyperslab that is stored as patterns.
pub(super) const REGULAR: u8 = 1;

/// The widths that numbers of points and of hyperslabs may have.
const WIDTHS: [Width; 3] = [Width::W2, Width::W4, Width::W8];

/// What an encoded selection holds. Its lists stay where they are.
#[derive(Clone, Debug)]
pub(super) enum Content<'a> {
    Nothing,
    All,
    Points(Numbers<'a>),
    Pattern(Slabs),
    Blocks(Blocks<'a>),
}

impl<'a> Content<'a> {
    /// Reads a selection of an extent of this rank.
    pub(super) fn read(reader: &mut Reader<'a>, rank: usize) -> Result<Content<'a>> {
        let (kind, version) = (reader.u32()?, reader.u32()?);
        let unknown = |reader: &Reader<'_>| reader.refuse(format!("unknown version {version}"));
        match kind {
            NONE | ALL => {
                if version != 1 {
                    return Err(unknown(reader).into());
                }
                reader.skip(8)?;
                Ok(if kind == NONE { Content::Nothing } else { Content::All })
            }
            POINTS => {
                let width = match version {
                    1 => skipped(reader, 8, Width::W4)?,
                    2 => number_width(reader)?,
                    _ => return Err(unknown(reader).into()),
                };
                check_rank(reader, rank)?;
                Ok(Content::Points(Numbers::read(reader, width, rank)?))
            }
            HYPERSLAB => {
                let flags = if matches!(version, 2 | 3) { reader.u8()? } else { 0 };
                let width = match version {
                    1 => skipped(reader, 8, Width::W4)?,
                    2 => skipped(reader, 4, Width::W8)?,
                    3 => number_width(reader)?,
                    _ => return Err(unknown(reader).into()),
                };
                if flags & !REGULAR != 0 {
                    return Err(reader.refuse(format!("unknown flags {flags:#x}")).into());
                }
                check_rank(reader, rank)?;
                if flags & REGULAR != 0 {
                    let slabs = (0..rank).map(|_| decode_slab(reader, width)).collect::<Result<Slabs>>()?;
                    return Ok(Content::Pattern(slabs));
                }
                Ok(Content::Blocks(Blocks::read(reader, width, rank)?))
            }
            _ => Err(reader.refuse(format!("unknown kind {kind}")).into()),
        }
    }

    /// The selection in its extent.
    pub(super) fn of(&self, extent: Extent) -> Result<Space> {
        let mut space = Space::new(extent);
        match self {
            Content::Nothing => space.select_none(),
            Content::All => {}
            Content::Points(numbers) => {
                space.selection = Selection::from_points(Points::new(space.rank(), numbers.iter().collect())?);
            }
            Content::Pattern(slabs) => space.select_hyperslab(Op::Set, slabs)?,
            Content::Blocks(blocks) => space.selection = Selection::from_tree(blocks.union()?),
        }
        Ok(space)
    }
}

/// The width of numbers after bytes that tell nothing.
fn skipped(reader: &mut Reader<'_>, bytes: usize, width: Width) -> std::result::Result<Width, Malformed> {
    reader.skip(bytes)?;
    Ok(width)
}

fn number_width(reader: &mut Reader<'_>) -> std::result::Result<Width, Malformed> {
    let width = reader.u8()?;
    let known = Width::new(width).filter(|width| WIDTHS.contains(width));
    known.ok_or_else(|| reader.refuse(format!("numbers of {width} bytes")))
}

fn check_rank(reader: &mut Reader<'_>, expected: usize) -> std::result::Result<(), Malformed> {
    let rank = reader.u32()?;
    if rank == 0 || rank as usize != expected {
        return Err(reader.refuse(format!("{rank} dimensions where the extent has {expected}")));
    }
    Ok(())
}

fn decode_slab(reader: &mut Reader<'_>, width: Width) -> Result<Slab> {
    let (start, stride) = (reader.uint(width)?, reader.uint(width)?);
    let mut size = || reader.uint(width).map(|number| if number == width.max() { UNLIMITED } else { number });
    Ok(Slab::new(start, stride, size()?, size()?))
}
