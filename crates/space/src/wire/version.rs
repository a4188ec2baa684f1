//! Which version and integer width libhdf5 would choose.

use hyperslab_base::Width;

use crate::{Extent, Kind, Result, Slab, Space, UNLIMITED};

/// The oldest library that shall be able to read what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum LibVersion {
    /// Any library.
    #[default]
    Earliest,
    /// libhdf5 1.8.
    V18,
    /// libhdf5 1.10.
    V110,
    /// libhdf5 1.12.
    V112,
    /// libhdf5 1.14.
    V114,
    /// libhdf5 2.0.
    V200,
}

impl LibVersion {
    /// All of them, the oldest first.
    pub const ALL: [LibVersion; 6] =
        [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V112, LibVersion::V114, LibVersion::V200];
    /// The newest of them.
    pub const NEWEST: LibVersion = LibVersion::V200;
}

impl std::fmt::Display for LibVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LibVersion::Earliest => "earliest",
            LibVersion::V18 => "1.8",
            LibVersion::V110 => "1.10",
            LibVersion::V112 => "1.12",
            LibVersion::V114 => "1.14",
            LibVersion::V200 => "2.0",
        })
    }
}

/// How the version of an encoding is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// As libhdf5 chooses for this lower bound.
    LibVersion(LibVersion),
    /// Whatever takes fewest bytes.
    Smallest,
}

impl From<LibVersion> for Form {
    fn from(low: LibVersion) -> Form {
        Form::LibVersion(low)
    }
}

/// A version of an encoded selection and the width of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) version: u32,
    pub(super) width: Width,
}

/// Extents in memory have version 1 in libhdf5, except those that need version 2.
pub(super) fn of_extent(extent: &Extent, form: Form) -> u8 {
    if extent.is_null() || form == Form::Smallest { 2 } else { 1 }
}

/// The layouts to choose from, the chosen one first.
pub(super) fn of_selection(space: &Space, form: Form) -> Result<Layout> {
    let limits = Limits::of(space);
    match (space.kind(), form) {
        (Kind::None | Kind::All, _) => Ok(Layout { version: 1, width: Width::W4 }),
        (Kind::Points, form) => Ok(points(&limits, form)),
        (Kind::Hyperslab, Form::LibVersion(low)) => Ok(hyperslab(&limits, hyperslab_version(&limits, low))),
        (Kind::Hyperslab, Form::Smallest) => Ok(hyperslab(&limits, limits.smallest_hyperslab())),
    }
}

/// The layout that lists the selected elements as points in the fewest bytes, whatever kind of selection it is.
pub(super) fn of_points(space: &Space) -> Layout {
    Layout { version: 2, width: Width::of_selection(space.npoints().max(highest(space))) }
}

/// How many blocks a block list of the selection has: touching blocks of a pattern are stored as one.
pub(super) fn stored_blocks(space: &Space) -> u64 {
    match space.regular() {
        Some(slabs) => slabs.iter().fold(1u64, |product, slab| product.saturating_mul(slab.normal().count)),
        None => space.nblocks(),
    }
}

/// The highest index in any dimension.
fn highest(space: &Space) -> u64 {
    space.bounds().and_then(|(_, high)| high.iter().copied().max()).unwrap_or(0)
}

/// The numbers that decide.
struct Limits {
    /// Blocks or points; none for an unlimited selection.
    count: u64,
    /// The highest index in any dimension; none for an unlimited selection.
    high: u64,
    /// The patterns in normal form, if regular.
    slabs: Option<Vec<Slab>>,
    unlimited: bool,
}

impl Limits {
    fn of(space: &Space) -> Limits {
        let slabs: Option<Vec<Slab>> = space.regular().map(|slabs| slabs.iter().map(|slab| slab.normal()).collect());
        let unlimited = slabs.iter().flatten().any(Slab::is_unlimited);
        if unlimited {
            return Limits { count: 0, high: 0, slabs, unlimited };
        }
        Limits { count: stored_blocks(space), high: highest(space), slabs, unlimited }
    }

    fn over_32_bits(&self) -> bool {
        self.count.max(self.high) > Width::W4.max()
    }

    /// Version 1 has a block list of four-byte numbers, version 3 either form in the narrowest numbers; 2 is never smaller than 3.
    fn smallest_hyperslab(&self) -> u32 {
        let rank = self.slabs.as_ref().map_or(0, Vec::len) as u64;
        let width = hyperslab(self, 3).width.bytes() as u64;
        let one = self.count.saturating_mul(8 * rank).saturating_add(24);
        let three = 14 + 4 * width * rank;
        if self.slabs.is_some() && !self.unlimited && !self.over_32_bits() && one < three { 1 } else { 3 }
    }
}

fn points(limits: &Limits, form: Form) -> Layout {
    let low = match form {
        Form::LibVersion(low) => low,
        Form::Smallest => LibVersion::V112,
    };
    if low >= LibVersion::V112 || limits.over_32_bits() {
        Layout { version: 2, width: Width::of_selection(limits.count.max(limits.high)) }
    } else {
        Layout { version: 1, width: Width::W4 }
    }
}

fn hyperslab_version(limits: &Limits, low: LibVersion) -> u32 {
    let regular = limits.slabs.is_some();
    if low >= LibVersion::V112 {
        3
    } else if limits.unlimited {
        2
    } else if limits.over_32_bits() {
        if regular { 2 } else { 3 }
    } else if regular && limits.count >= 4 && low >= LibVersion::V110 {
        2
    } else {
        1
    }
}

fn hyperslab(limits: &Limits, version: u32) -> Layout {
    let width = match (version, &limits.slabs) {
        (1, _) => Width::W4,
        (2, _) => Width::W8,
        // All ones stand for "unlimited", so a count or block must stay below.
        (_, Some(slabs)) => {
            let limited = |number: u64| if number == UNLIMITED { 0 } else { number };
            let sizes = slabs.iter().flat_map(|slab| [limited(slab.count), limited(slab.block)]).max().unwrap_or(0);
            let places = slabs.iter().flat_map(|slab| [slab.start, slab.stride]).max().unwrap_or(0);
            Width::of_selection(places.max(sizes.saturating_add(1)))
        }
        (_, None) => Width::of_selection(limits.count.max(limits.high)),
    };
    Layout { version, width }
}
