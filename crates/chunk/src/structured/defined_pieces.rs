//! Defined elements that leave their chunks with their values: they come chunk by chunk, and are handed out in row-major order of the dataset.
//!
//! ```text
//!  pieces   chunk [0, 0]: rows 0, 1, …     chunk [0, 1]: rows 0, 1, …         each by rising number
//!  parts    row 0 of both | row 1 of both | …                                 merged only where pieces lie between each other
//! ```

use std::ops::Range;

use hyperslab_base::memory;

use super::packed_values::{ElementShape, OwnValues};
use crate::{Error, Result, transfer::scatter::outside};

/// Bytes of values that are merged at once.
const MERGED: usize = 4 << 20;

/// Defined elements and their values, in row-major order.
#[derive(Clone, Copy, Debug)]
pub struct DefinedPart<'a> {
    /// The row-major numbers of the elements in the dataset. Runs rise; they may touch.
    pub runs: &'a [Range<u64>],
    /// The values as they are stored, one after the other.
    pub stored: &'a [u8],
    /// What is of variable length in them, whose places slots name.
    pub segments: &'a [u8],
}

/// Pieces of defined elements that come in any order. No element is in two of them.
#[derive(Debug, Default)]
pub struct DefinedPieces {
    pieces: Vec<Piece>,
    bytes: usize,
}

/// Elements by rising number, and their values.
#[derive(Debug, Default)]
struct Piece {
    runs: Vec<Range<u64>>,
    values: OwnValues,
}

/// A run of a piece: its elements, the number of the piece, and the first of its values there.
type Located = (Range<u64>, usize, usize);

impl DefinedPieces {
    /// Adds elements, whose runs rise, with their values, of which nothing is of variable length.
    pub fn add(&mut self, runs: Vec<Range<u64>>, values: Vec<u8>) -> Result<()> {
        self.add_values(runs, values.into())
    }

    /// Adds elements, whose runs rise, with their values.
    pub(crate) fn add_values(&mut self, runs: Vec<Range<u64>>, values: OwnValues) -> Result<()> {
        if runs.is_empty() {
            return Ok(());
        }
        self.bytes += values.bytes();
        memory::reserve(&mut self.pieces, 1)?;
        self.pieces.push(Piece { runs, values });
        Ok(())
    }

    /// How many bytes the values have.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Hands out elements in row-major order, and forgets them: those of pieces before a number that no piece between them reaches.
    pub fn hand_out<E: From<Error>>(
        &mut self,
        before: u64,
        shape: &ElementShape,
        each: &mut dyn FnMut(DefinedPart<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut pieces = std::mem::take(self).pieces;
        let start = |piece: &Piece| piece.runs.first().map_or(0, |run| run.start);
        pieces.sort_by_key(start);
        let mut done = 0;
        while let Some(first) = pieces.get(done) {
            // Pieces that lie between each other are merged; the others go as they are.
            let (mut next, mut end) = (done + 1, first.end());
            while let Some(piece) = pieces.get(next).filter(|piece| start(piece) < end) {
                (next, end) = (next + 1, end.max(piece.end()));
            }
            if end > before {
                break;
            }
            let now = pieces.get_mut(done..next).unwrap_or_default();
            match &*now {
                [one] => each(one.part())?,
                several => merge(several, shape, each)?,
            }
            now.iter_mut().for_each(|piece| *piece = Piece::default());
            done = next;
        }
        self.bytes = pieces.iter().map(|piece| piece.values.bytes()).sum();
        self.pieces = pieces.split_off(done);
        Ok(())
    }
}

impl Piece {
    /// The number after that of the last element.
    fn end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }

    fn part(&self) -> DefinedPart<'_> {
        let values = self.values.values();
        DefinedPart { runs: &self.runs, stored: values.fixed, segments: values.heap }
    }
}

/// Hands out the elements of pieces that lie between each other.
fn merge<E: From<Error>>(
    pieces: &[Piece],
    shape: &ElementShape,
    each: &mut dyn FnMut(DefinedPart<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let runs = pieces.iter().map(|piece| piece.runs.len()).sum();
    let mut located: Vec<Located> = memory::with_room(runs).map_err(Error::from)?;
    for (number, piece) in pieces.iter().enumerate() {
        let mut first = 0;
        for run in &piece.runs {
            located.push((run.clone(), number, first));
            first += (run.end - run.start) as usize;
        }
    }
    // The runs of a piece rise: a stable sort merges what is sorted already.
    located.sort_by_key(|(run, ..)| run.start);
    let (mut runs, mut values) = (Vec::new(), OwnValues::default());
    for (nth, (run, number, first)) in located.iter().enumerate() {
        let piece = pieces.get(*number).ok_or_else(outside)?;
        let own = piece.values.values().part(*first, (run.end - run.start) as usize, shape).ok_or_else(outside)?;
        values.append(own, shape)?;
        memory::reserve(&mut runs, 1).map_err(Error::from)?;
        runs.push(run.clone());
        if values.bytes() >= MERGED || nth + 1 == located.len() {
            let merged = values.values();
            each(DefinedPart { runs: &runs, stored: merged.fixed, segments: merged.heap })?;
            values.clear();
            runs.clear();
        }
    }
    Ok(())
}
