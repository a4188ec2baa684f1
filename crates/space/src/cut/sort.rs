//! Cutting trees and points: one walk sorts everything into chunks.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    rc::Rc,
};

use super::Piece;
use crate::{
    Coords, Points, Result, Selection, Space,
    ordinal::Numbered,
    span::{self, Span},
    tree::{self, Level, Link},
};

/// The parts by chunk, and the memory they go to.
#[derive(Debug)]
pub(super) struct Sorted<'a> {
    /// Parts that are ready.
    parts: std::vec::IntoIter<(Coords, Part)>,
    /// For trees: the whole selection, whose order numbers the elements.
    whole: Option<&'a Link>,
    /// For trees: rows of chunks before this one are through.
    next_row: u64,
    /// For trees: nodes that were split already.
    known: HashMap<usize, Split>,
    chunk: Space,
    memory: &'a Space,
    target: Numbered<'a>,
}

#[derive(Debug)]
enum Part {
    /// In coordinates of the whole extent.
    Tree(Link),
    /// In coordinates of the chunk, with the places of the points.
    Points(Vec<u64>, Vec<Range<u64>>),
}

impl<'a> Sorted<'a> {
    pub(super) fn tree(whole: &'a Link, chunk: Space, memory: &'a Space) -> Result<Sorted<'a>> {
        let target = memory.numbered()?;
        let (parts, known) = (Vec::new().into_iter(), HashMap::new());
        Ok(Sorted { parts, whole: Some(whole), next_row: 0, known, chunk, memory, target })
    }

    pub(super) fn points(points: &'a Points, chunk: Space, memory: &'a Space) -> Result<Sorted<'a>> {
        let mut parts: HashMap<Coords, (Vec<u64>, Vec<Range<u64>>)> = HashMap::new();
        let (sizes, mut rest) = (chunk.dims(), points.flat());
        let mut place = 0;
        while let Some(first) = rest.get(..sizes.len()).filter(|first| !first.is_empty()) {
            // Points that follow each other in one chunk are found without a look-up, and cost no division.
            let coord: Coords = first.iter().zip(sizes).map(|(index, size)| index / size).collect();
            let corner: Coords = coord.iter().zip(sizes).map(|(nth, size)| nth * size).collect();
            let (flat, places) = parts.entry(coord).or_default();
            let is_here = |point: &&[u64]| {
                let sides = point.iter().zip(corner.iter().zip(sizes));
                sides.into_iter().all(|(index, (corner, size))| index.wrapping_sub(*corner) < *size)
            };
            let here = rest.chunks_exact(sizes.len()).take_while(is_here);
            let before = flat.len();
            here.for_each(|point| flat.extend(point.iter().zip(&corner).map(|(index, corner)| index - corner)));
            let taken = flat.len() - before;
            let count = (taken / sizes.len()) as u64;
            tree::append(places, place..place + count);
            place += count;
            rest = rest.get(taken..).unwrap_or_default();
        }
        let mut parts: Vec<_> =
            parts.into_iter().map(|(chunk, (flat, places))| (chunk, Part::Points(flat, places))).collect();
        parts.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        let (parts, known, target) = (parts.into_iter(), HashMap::new(), memory.numbered()?);
        Ok(Sorted { parts, whole: None, next_row: 0, known, chunk, memory, target })
    }

    pub(super) fn next(&mut self) -> Option<Result<Piece>> {
        if self.parts.len() == 0 {
            self.parts = self.next_parts()?.into_iter();
        }
        let (chunk, part) = self.parts.next()?;
        Some(self.piece(chunk, part))
    }

    /// The parts of the next row of chunks that is touched. One row at a time, so that the first piece does not wait for the last.
    fn next_parts(&mut self) -> Option<Vec<(Coords, Part)>> {
        let whole = self.whole?;
        let size = self.chunk.dims().first().copied()?;
        let nth = whole.first_after(self.next_row.checked_mul(size)?);
        let row = whole.get(nth)?.0.max(self.next_row * size) / size;
        self.next_row = row + 1;
        let slab = tree::rows(whole, row * size, self.next_row.saturating_mul(size))?;
        let parts = split(&slab, self.chunk.dims(), &mut self.known);
        // The slab's own node goes away, and with it its identity.
        self.known.remove(&slab.id());
        Some(parts.iter().map(|(chunk, tree)| (chunk.clone(), Part::Tree(tree.clone()))).collect())
    }

    fn piece(&self, chunk: Coords, part: Part) -> Result<Piece> {
        let (selection, places) = match part {
            Part::Points(flat, places) => (Selection::from_points(Points::new(self.chunk.rank(), flat)?), places),
            Part::Tree(tree) => {
                let places = self.whole.map(|whole| tree::ordinals(whole, &tree)).transpose()?.unwrap_or_default();
                let to_origin: Vec<i64> = chunk
                    .iter()
                    .zip(self.chunk.dims())
                    .map(|(chunk, size)| (chunk * size).cast_signed().wrapping_neg())
                    .collect();
                (Selection::from_tree(Some(tree::moved(&tree, &to_origin))), places)
            }
        };
        let mut file = self.chunk.clone();
        file.selection = selection;
        let memory = Space { extent: self.memory.extent.clone(), selection: self.target.take(&places)? };
        Ok(Piece { chunk, file, memory })
    }
}

type Split = Rc<Vec<(Coords, Link)>>;

/// A tree as one tree per chunk. Shared nodes are split once.
fn split(link: &Link, chunk: &[u64], known: &mut HashMap<usize, Split>) -> Split {
    let Some((&size, further)) = chunk.split_first() else { return Split::default() };
    if let Some(known) = known.get(&link.id()) {
        return known.clone();
    }
    let in_chunks = |start: u64, end: u64| {
        (start / size..=(end - 1) / size).map(move |chunk| {
            let edge = (chunk + 1).saturating_mul(size);
            (chunk, start.max(chunk * size), end.min(edge))
        })
    };
    let result: Split = Rc::new(match &link.level {
        Level::Leaf(spans) => {
            let mut parts: BTreeMap<u64, Vec<Span<()>>> = BTreeMap::new();
            for (chunk, start, end) in spans.iter().flat_map(|span| in_chunks(span.start, span.end)) {
                parts.entry(chunk).or_default().push(Span { start, end, down: () });
            }
            let tree = |(chunk, spans)| Some((Coords::from_slice(&[chunk]), Link::leaf(spans)?));
            parts.into_iter().filter_map(tree).collect()
        }
        Level::Inner(spans) => {
            let mut parts: BTreeMap<Coords, Vec<Span<Link>>> = BTreeMap::new();
            for span in spans {
                let below = split(&span.down, further, known);
                for (chunk, start, end) in in_chunks(span.start, span.end) {
                    for (further, down) in below.iter() {
                        let coord = std::iter::once(chunk).chain(further.iter().copied()).collect();
                        span::push(parts.entry(coord).or_default(), Span { start, end, down: down.clone() });
                    }
                }
            }
            parts.into_iter().filter_map(|(chunk, spans)| Some((chunk, Link::inner(spans)?))).collect()
        }
    });
    known.insert(link.id(), result.clone());
    result
}
