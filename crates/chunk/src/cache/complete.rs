//! Chunks of which memory has a part: the rest is loaded when values are wanted.
//!
//! Such a chunk is as in the file, so it can lose and get back its values at any time when no thread has it in hand. A chunk that is in hand keeps
//! what it has.

use hyperslab_cache::{Pinned, assert_no_locks_held};
use hyperslab_space::Piece;

use super::{ChunkCache, Dataset};
use crate::{Error, Loader, ResidentChunk, Rest, Result};

/// A chunk in hand, and what is wanted of it.
pub(super) type Held<'a> = (Pinned<ResidentChunk>, &'a Piece);

impl ChunkCache {
    /// Loads what is missing of chunks in hand, with one request. The pieces of those for which there is no room are handed out; the file has all of these chunks.
    pub(super) fn complete(&self, (file, partition): Dataset<'_>, here: &mut Vec<Held<'_>>) -> Result<Vec<Piece>> {
        let (mut whole, mut partial) = (Vec::new(), Vec::new());
        for (pinned, piece) in here.drain(..) {
            let first = pinned.read().first_missing();
            match first {
                Some(first) => partial.push((pinned, piece, first)),
                None => whole.push((pinned, piece)),
            }
        }
        *here = whole;
        if partial.is_empty() {
            return Ok(Vec::new());
        }
        // No chunk is locked while changes of the file are held off: a flush that has it locked may wait to change the file.
        assert_no_locks_held("before chunks are completed");
        let (loader, layout) = (Loader::holding(file), partition.source().layout());
        let chunks: Vec<_> = partial.iter().map(|(pinned, ..)| pinned.coord().clone()).collect();
        let located = partition.source().storage().locate(&chunks)?;
        let missing = partial.iter().zip(&located).map(|((_, _, first), at)| {
            let at = at.as_ref()?;
            at.sections(*first..at.sections.len())
        });
        let missing: Vec<_> = missing.collect();
        let wanted: Vec<_> = chunks.iter().zip(&missing).map(|(coord, at)| (coord, at.as_ref())).collect();
        let rests = loader.load(
            &wanted,
            |workspace, number, read, encoded| {
                let at = located.get(number).and_then(Option::as_ref).unwrap_or(read);
                Rest::decode(layout, &at.sections, &encoded, workspace)
            },
            &mut |time| partition.decoded_for(time),
        )?;
        let mut crowded = Vec::new();
        for ((pinned, piece, _), rest) in partial.into_iter().zip(rests) {
            let growth = rest.as_ref().map_or(0, Rest::memory);
            let Some(grant) = self.room(partition, growth) else {
                crowded.push(piece.clone());
                continue;
            };
            let mut chunk = pinned.complete_in(grant);
            if let Some(rest) = rest {
                chunk.complete(rest)?;
            }
            if !chunk.is_complete() {
                return Err(Error::Layout(format!("chunk {:?} is not in the file any more", pinned.coord())));
            }
            drop(chunk);
            here.push((pinned, piece));
        }
        Ok(crowded)
    }
}
