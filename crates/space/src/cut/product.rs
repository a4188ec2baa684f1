//! Cutting patterns: each dimension by itself, pieces are the combinations.

use std::ops::Range;

use super::{Piece, places::places_of_box};
use crate::{Result, Selection, Slab, Space, ordinal::Numbered, selection::Slabs, slab::Parts, view::View};

#[derive(Debug)]
pub(super) struct ProductCut<'a> {
    slabs: Slabs,
    chunk: Space,
    /// The touched chunk of each dimension that comes next; none when all are through.
    next: Vec<Touch>,
    memory: &'a Space,
    target: Target<'a>,
}

/// A chunk in one dimension, and which of the pattern's indices it holds, by ordinal.
#[derive(Clone, Debug)]
struct Touch {
    chunk: u64,
    ordinals: Range<u64>,
}

/// How the memory part of a piece is found.
#[derive(Debug)]
enum Target<'a> {
    /// The memory is a pattern with as many indices, dimension by dimension; each of its dimensions follows one of
    /// the file, or none if it has one index.
    Aligned { slabs: Slabs, follows: Vec<Option<usize>> },
    /// Anything else: elements by number.
    Numbered(Numbered<'a>),
}

impl<'a> ProductCut<'a> {
    pub(super) fn new(slabs: Slabs, chunk: Space, memory: &'a Space) -> Result<ProductCut<'a>> {
        let next = slabs.iter().zip(chunk.dims()).map(|(slab, &size)| Touch::at(slab, size, 0)).collect();
        let target = match memory.view()? {
            View::Slabs(own) => match follows(&slabs, &own) {
                Some(follows) => Target::Aligned { slabs: own, follows },
                None => Target::Numbered(memory.numbered()?),
            },
            _ => Target::Numbered(memory.numbered()?),
        };
        Ok(ProductCut { slabs, chunk, next, memory, target })
    }

    pub(super) fn next(&mut self) -> Option<Result<Piece>> {
        if self.next.is_empty() {
            return None;
        }
        let piece = self.piece(&self.next);
        self.step();
        Some(piece)
    }

    /// Moves on to the next combination, the last dimension fastest.
    fn step(&mut self) {
        for (touch, (slab, &size)) in self.next.iter_mut().zip(self.slabs.iter().zip(self.chunk.dims())).rev() {
            if touch.ordinals.end < slab.indices() {
                *touch = Touch::at(slab, size, touch.ordinals.end);
                return;
            }
            *touch = Touch::at(slab, size, 0);
        }
        self.next.clear();
    }

    /// How many come, or a few more: patterns may pass chunks by.
    pub(super) fn left(&self) -> u64 {
        if self.next.is_empty() {
            return 0;
        }
        let sides = self.next.iter().zip(self.slabs.iter().zip(self.chunk.dims()));
        let behind = sides.fold(0u64, |behind, (touch, (slab, size))| {
            let (first, last) = (slab.start / size, slab.nth(slab.indices().saturating_sub(1)) / size);
            let all = (last - first).saturating_add(1).min(slab.indices());
            let here = (last - touch.chunk).min(slab.indices() - touch.ordinals.end);
            behind.saturating_mul(all).saturating_add(here)
        });
        behind.saturating_add(1)
    }

    fn piece(&self, touches: &[Touch]) -> Result<Piece> {
        let parts: Vec<Parts> = touches
            .iter()
            .zip(self.slabs.iter().zip(self.chunk.dims()))
            .map(|(touch, (slab, size))| {
                let origin = touch.chunk * size;
                let parts = slab.take(touch.ordinals.start, touch.ordinals.end);
                parts.into_iter().map(|part| Slab { start: part.start - origin, ..part }.normal()).collect()
            })
            .collect();
        let memory = match &self.target {
            Target::Aligned { slabs, follows } => {
                let part = |(slab, follows): (&Slab, &Option<usize>)| {
                    let touch = follows.and_then(|dim| touches.get(dim));
                    touch.map_or(Parts::from_slice(&[*slab]), |touch| {
                        slab.take(touch.ordinals.start, touch.ordinals.end)
                    })
                };
                match slabs.is_empty() {
                    true => Selection::ALL,
                    false => Selection::from_parts(&slabs.iter().zip(follows).map(part).collect::<Vec<_>>())?,
                }
            }
            Target::Numbered(numbered) => {
                let ranges = touches.iter().map(|touch| touch.ordinals.clone());
                let counts: Vec<u64> = self.slabs.iter().map(Slab::indices).collect();
                numbered.take(&places_of_box(&counts, ranges)?)?
            }
        };
        let mut file = self.chunk.clone();
        file.selection = Selection::from_parts(&parts)?;
        Ok(Piece {
            chunk: touches.iter().map(|touch| touch.chunk).collect(),
            file,
            memory: Space { extent: self.memory.extent.clone(), selection: memory },
        })
    }
}

impl Touch {
    /// The chunk that holds the pattern's index with this ordinal.
    fn at(slab: &Slab, size: u64, ordinal: u64) -> Touch {
        let chunk = slab.nth(ordinal) / size;
        let edge = chunk.checked_add(1).and_then(|next| next.checked_mul(size));
        Touch { chunk, ordinals: ordinal..edge.map_or(slab.indices(), |edge| slab.rank(edge)) }
    }
}

/// For each dimension of the memory, which dimension of the file it runs along, if they correspond one to one.
pub(crate) fn follows(file: &[Slab], memory: &[Slab]) -> Option<Vec<Option<usize>>> {
    let mut wide = file.iter().enumerate().filter(|(_, slab)| slab.indices() > 1);
    let mut follows = Vec::with_capacity(memory.len());
    for slab in memory {
        follows.push(match slab.indices() {
            1 => None,
            indices => match wide.next() {
                Some((dim, slab)) if slab.indices() == indices => Some(dim),
                _ => return None,
            },
        });
    }
    wide.next().is_none().then_some(follows)
}
