//! Pattern segments: a selection as repeated patterns of bytes, level by level, for those who build other descriptions from it (MPI
//! derived types, scatter lists) and want to build each part only once.
//!
//! A segment says where a sub-pattern stands: `count` groups of `block` copies, the groups `stride` apart, the first at `start`, all counted
//! in units of the sub-pattern's size. A sub-pattern is either selected whole or has segments of its own.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use crate::{
    Points, Result, Slab, Space,
    selection::Slabs,
    span::Span,
    tree::{Level, Link},
    view::View,
};

/// How much repetition is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Irregular selections give one segment per block of patterns, with stride and count 1.
    Single,
    /// Equal patterns at equal distances become one segment.
    Repeats,
}

/// Where a pattern of bytes repeats. Distances are counted in units of `sub_size`.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The first sub-pattern.
    pub start: u64,
    /// From one group of sub-patterns to the next.
    pub stride: u64,
    /// How many groups.
    pub count: u64,
    /// How many sub-patterns in a group.
    pub block: u64,
    /// The size of a sub-pattern in bytes.
    pub sub_size: u64,
    sub: Option<Below>,
}

impl Segment {
    /// Whether every byte of the sub-pattern is selected; else [`Segments::enter`] tells which.
    pub fn is_whole(&self) -> bool {
        self.sub.is_none()
    }

    /// The five numbers: start, stride, count, block, and the sub-pattern's size.
    pub fn numbers(&self) -> [u64; 5] {
        [self.start, self.stride, self.count, self.block, self.sub_size]
    }

    fn key(&self) -> Key {
        Key(self.stride, self.count, self.block, self.sub_size, self.sub.clone())
    }
}

/// What makes two segments the same pattern, wherever they start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key(u64, u64, u64, u64, Option<Below>);

/// What a sub-pattern consists of. Equal content is the same pattern, wherever it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Below {
    /// The patterns from this dimension on.
    Slabs(usize),
    Tree(Link, usize),
}

/// The segments of one level. The caller's own data can be kept with each pattern; it comes back with every
/// segment of the same pattern, also at other levels of the same traversal.
///
/// ```
/// use hyperslab_space::{Detail, Op, Slab, Space};
/// let mut space = Space::simple(&[6, 10])?;
/// space.select_hyperslab(Op::Set, &[Slab::block(4, 2), Slab::new(0, 5, 2, 3)])?;
/// let mut rows = space.segments::<()>(4, Detail::Repeats)?;
/// let segment = rows.next().unwrap();
/// assert_eq!(segment.numbers(), [4, 1, 1, 2, 40]);
/// let mut columns = rows.enter(&segment).unwrap();
/// assert_eq!(columns.next().unwrap().numbers(), [0, 5, 2, 3, 4]);
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Segments<'a, U> {
    context: Rc<Context<'a, U>>,
    level: Here,
}

#[derive(Debug)]
struct Context<'a, U> {
    detail: Detail,
    slabs: Slabs,
    points: Option<&'a Points>,
    /// Bytes below one index, per dimension.
    strides: Vec<u64>,
    element_size: u64,
    kept: RefCell<HashMap<Key, U>>,
}

#[derive(Clone, Debug)]
enum Here {
    Done,
    Slabs(usize),
    /// A node, its dimension, and which range comes next.
    Tree(Link, usize, usize),
    Points(usize),
}

impl Space {
    /// The pattern segments of the outermost level, for elements of `element_size` bytes.
    pub fn segments<U>(&self, element_size: u64, detail: Detail) -> Result<Segments<'_, U>> {
        let strides = self.byte_strides(element_size)?;
        self.check_inside()?;
        let (mut slabs, mut points) = (Slabs::new(), None);
        let level = match self.view()? {
            View::Nothing => Here::Done,
            View::Slabs(own) => {
                slabs = own;
                Here::Slabs(0)
            }
            View::Tree(tree) => Here::Tree(tree.clone(), 0, 0),
            View::Points(own) => {
                points = Some(own);
                Here::Points(0)
            }
        };
        let kept = RefCell::default();
        Ok(Segments { context: Rc::new(Context { detail, slabs, points, strides, element_size, kept }), level })
    }
}

impl<'a, U: Clone> Segments<'a, U> {
    /// The segments of a segment's sub-pattern; `None` if that is selected whole.
    pub fn enter(&self, segment: &Segment) -> Option<Segments<'a, U>> {
        let level = match segment.sub.clone()? {
            Below::Slabs(dim) => Here::Slabs(dim),
            Below::Tree(link, dim) => Here::Tree(link, dim, 0),
        };
        Some(Segments { context: self.context.clone(), level })
    }

    /// Keeps `data` with the pattern of this segment.
    pub fn keep(&self, segment: &Segment, data: U) {
        self.context.kept.borrow_mut().insert(segment.key(), data);
    }

    /// What was kept with the pattern of this segment.
    pub fn kept(&self, segment: &Segment) -> Option<U> {
        self.context.kept.borrow().get(&segment.key()).cloned()
    }
}

impl<U> Iterator for Segments<'_, U> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        match &mut self.level {
            Here::Done => None,
            Here::Slabs(dim) => {
                let segment = self.context.of_slabs(*dim);
                self.level = Here::Done;
                Some(segment)
            }
            Here::Tree(link, dim, next) => self.context.of_tree(link, *dim, next),
            Here::Points(next) => self.context.of_points(next),
        }
    }
}

impl<U> Context<'_, U> {
    fn segment(&self, slab: Slab, sub_size: u64, sub: Option<Below>) -> Segment {
        Segment { start: slab.start, stride: slab.stride, count: slab.count, block: slab.block, sub_size, sub }
    }

    /// A regular dimension is one segment; a scalar is one element.
    fn of_slabs(&self, dim: usize) -> Segment {
        let slab = self.slabs.get(dim).copied().unwrap_or(Slab::block(0, 1));
        let size = self.strides.get(dim).copied().unwrap_or(self.element_size);
        let below =
            self.slabs.iter().skip(dim + 1).fold(self.element_size, |bytes, slab| bytes.saturating_mul(slab.indices()));
        self.segment(slab, size, (below != size).then_some(Below::Slabs(dim + 1)))
    }

    fn of_tree(&self, link: &Link, dim: usize, next: &mut usize) -> Option<Segment> {
        let size = self.strides.get(dim).copied()?;
        match &link.level {
            Level::Leaf(spans) => Some(self.segment(self.repeats(spans, next)?, size, None)),
            Level::Inner(spans) => {
                let down = &spans.get(*next)?.down;
                let whole = down.elements.saturating_mul(self.element_size) == size;
                let slab = self.repeats(spans, next)?;
                Some(self.segment(slab, size, (!whole).then(|| Below::Tree(down.clone(), dim + 1))))
            }
        }
    }

    /// The ranges from `next` on that repeat the first of them, as one pattern.
    fn repeats<T: PartialEq>(&self, spans: &[Span<T>], next: &mut usize) -> Option<Slab> {
        let rest = spans.get(*next..)?;
        let first = rest.first()?;
        let distance = rest.get(1).map_or(0, |second| second.start - first.start);
        let repeats = |(span, nth): &(&Span<T>, u64)| {
            Some(span.start - first.start) == nth.checked_mul(distance)
                && span.len() == first.len()
                && span.down == first.down
        };
        let count = match self.detail {
            Detail::Single => 1,
            Detail::Repeats => rest.iter().zip(0u64..).skip(1).take_while(repeats).count() + 1,
        };
        *next += count;
        Some(Slab::new(first.start, if count > 1 { distance } else { 1 }, count as u64, first.len()))
    }

    /// Points are patterns of single elements, in their order: a segment goes on while they rise by equal distances.
    fn of_points(&self, next: &mut usize) -> Option<Segment> {
        let points = self.points?;
        let place = |nth: usize| {
            let bytes: u64 = points.get(nth)?.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
            Some(bytes / self.element_size)
        };
        let first = place(*next)?;
        let distance = place(*next + 1).and_then(|second| second.checked_sub(first)).unwrap_or(0);
        let mut count = 1u64;
        if self.detail == Detail::Repeats && distance > 0 {
            let nth = |nth: u64| first.checked_add(distance.checked_mul(nth)?);
            while nth(count).is_some_and(|expected| place(*next + count as usize) == Some(expected)) {
                count += 1;
            }
        }
        *next += count as usize;
        let slab = if count > 1 { Slab::new(first, distance, count, 1) } else { Slab::block(first, 1) };
        Some(self.segment(slab.normal(), self.element_size, None))
    }
}
