//! Chunks on their way out: encoded on all cores, then written with one request, then entered in their indexes.
//!
//! What can be written is written: a chunk whose filters refuse it, or whose bytes the storage does not take, stays dirty in memory and keeps its entry in
//! the index, so that the file is whole without it.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
    time::Instant,
};

use hyperslab_cache::{Cache, Demand, Reading, Reservation, WriteBack, WriteFailure, assert_no_locks_held};
use hyperslab_driver::cores;
use hyperslab_file::OpenFile;

use super::{
    ChunkCache, ChunkPartition, ChunkSource,
    failures::{Failures, is_of_file, kind_of},
    portions::{portions, replace},
};
use crate::{ChunkCoord, EncodedChunk, Error, ResidentChunk, Result, StoredAs, Storer, Workspace};

/// Chunks of one dataset, by rising coordinate.
struct Group {
    partition: ChunkPartition,
    taken: Vec<(ChunkCoord, WriteBack<ResidentChunk>)>,
}

/// The value of a chunk, which no thread changes meanwhile.
type Open<'a> = Reading<'a, ResidentChunk>;

/// A chunk of a group that is ready to be written.
struct Ready<'a> {
    group: usize,
    nth: usize,
    chunk: EncodedChunk<'a>,
}

/// What became of chunks: why some could not be written, by group and chunk.
#[derive(Default)]
struct Outcome {
    failures: Failures,
    failed: HashMap<(usize, usize), WriteFailure>,
}

impl Outcome {
    /// Chunks of one group, by their numbers in it, could not be written.
    fn fail(&mut self, (nth, group): (usize, &Group), chunks: &[usize], why: Error) {
        let kind = kind_of(&why);
        self.failed.extend(chunks.iter().map(|chunk| ((nth, *chunk), kind)));
        let coord = chunks.first().map_or(&[][..], |first| group.coord(*first));
        self.failures.add(group.source().storage(), coord, chunks.len(), why);
    }
}

impl ChunkCache {
    /// Writes chunks, of any datasets, as many as can be written; says which could not. Those of datasets that are no more are forgotten. The requests have the
    /// options of `file`.
    pub(super) fn write_back(&self, file: &OpenFile, taken: Vec<WriteBack<ResidentChunk>>) -> Failures {
        let (groups, mut outcome) = (grouped(taken), Outcome::default());
        if groups.is_empty() {
            return outcome.failures;
        }
        let any_stored = {
            // A thread that wants to change a chunk waits until it is written.
            let open: Vec<Vec<_>> =
                groups.iter().map(|group| group.taken.iter().map(|(_, taken)| taken.read()).collect()).collect();
            let costs = groups.iter().zip(&open).flat_map(|(group, open)| group.encoding_excess(open)).collect();
            let mut rounds = Rounds { cache: &self.cache, costs, begun: 0 };
            let mut any_stored = false;
            while let Some((round, _aside)) = rounds.next() {
                let (mut ready, mut first) = (Vec::new(), 0);
                for ((nth, group), open) in groups.iter().enumerate().zip(&open) {
                    let last = first + group.taken.len();
                    let of_group = round.start.max(first)..round.end.min(last);
                    if !of_group.is_empty() {
                        let begun = Instant::now();
                        encode(
                            (nth, group),
                            of_group.start - first..of_group.end - first,
                            open,
                            &mut ready,
                            &mut outcome,
                        );
                        group.partition.encoded_for(begun.elapsed());
                    }
                    first = last;
                }
                assert_no_locks_held("before chunks are written");
                any_stored |= store_in_portions(file, &groups, &ready, &mut outcome);
            }
            any_stored
        };
        if any_stored {
            self.cache.retry_failed();
        }
        for (nth, group) in groups.into_iter().enumerate() {
            for (chunk, (_, taken)) in group.taken.into_iter().enumerate() {
                match outcome.failed.get(&(nth, chunk)) {
                    Some(failure) => taken.failed(*failure),
                    None => taken.written(),
                }
            }
        }
        outcome.failures
    }
}

/// Chunks that are encoded together: as many as there is memory for beside the chunks, at least one.
struct Rounds<'a> {
    cache: &'a Cache<ResidentChunk>,
    /// About how much more memory encoding takes than the chunk, of each.
    costs: Vec<usize>,
    begun: usize,
}

/// Where other threads have the memory, a round takes this part of it nevertheless: a chunk that is on its way out waits for no thread.
const UNRESERVED: usize = 16;

impl<'a> Rounds<'a> {
    fn next(&mut self) -> Option<(Range<usize>, Option<Reservation<'a>>)> {
        let limits = self.cache.limits();
        let most = limits.active.saturating_sub(limits.quiescent);
        let (mut round, mut aside) = self.round(most)?;
        let mut reservation = self.cache.try_reserve(Demand { chunks: 0, aside });
        if reservation.is_none() {
            (round, aside) = self.round(most / UNRESERVED)?;
            reservation = self.cache.try_reserve(Demand { chunks: 0, aside });
        }
        self.begun = round.end;
        Some((round, reservation))
    }

    /// The next chunks that take so much memory at most, or one, and what they take.
    fn round(&self, most: usize) -> Option<(Range<usize>, usize)> {
        let costs = self.costs.get(self.begun..).filter(|costs| !costs.is_empty())?;
        let (mut count, mut taken) = (0, 0usize);
        for cost in costs {
            let more = taken.saturating_add(*cost);
            if count > 0 && more > most {
                break;
            }
            (count, taken) = (count + 1, more);
        }
        Some((self.begun..self.begun + count, taken))
    }
}

/// Adds some chunks of a group, as the file will have them, to those that are `ready`.
fn encode<'a>(
    (group, of): (usize, &'a Group),
    range: Range<usize>,
    open: &'a [Option<Open<'_>>],
    ready: &mut Vec<Ready<'a>>,
    outcome: &mut Outcome,
) {
    let storage = of.source().storage();
    let encoded = match of.encode(range.clone(), open) {
        Ok(encoded) => encoded,
        // Chunks of a dataset that is deleted need not be written.
        Err(_) if !storage.is_alive() => return,
        Err(why) => return outcome.fail((group, of), &range.collect::<Vec<_>>(), why),
    };
    for (nth, encoded) in range.zip(encoded) {
        match encoded {
            Ok(chunk) => ready.push(Ready { group, nth, chunk }),
            Err(_) if !storage.is_alive() => {}
            Err(why) => outcome.fail((group, of), &[nth], why),
        }
    }
}

/// Writes chunks, in portions if they replace others. Whether some were written.
fn store_in_portions(file: &OpenFile, groups: &[Group], ready: &[Ready<'_>], outcome: &mut Outcome) -> bool {
    let replaces = |group: &Group| match &*group.taken {
        [(first, _), .., (last, _)] => replace(group.source(), first, last),
        _ => false,
    };
    if !groups.iter().any(replaces) {
        return store(file, groups, ready, outcome);
    }
    let sizes = || ready.iter().map(|chunk| chunk.chunk.sections.bytes());
    let portions = portions(sizes(), file.portion(sizes().fold(0, u64::saturating_add)));
    let mut stored = false;
    for portion in portions.into_iter().filter_map(|range| ready.get(range)) {
        stored |= store(file, groups, portion, outcome);
    }
    stored
}

/// Writes chunks with one request and enters them in their indexes; if that fails, each half alone, so that only those are left that cannot be written.
/// Whether some were written.
fn store(file: &OpenFile, groups: &[Group], ready: &[Ready<'_>], outcome: &mut Outcome) -> bool {
    let Err(why) = store_together(file, groups, ready) else { return !ready.is_empty() };
    let (first, last) = (ready.first().map(|chunk| chunk.group), ready.last().map(|chunk| chunk.group));
    if ready.len() > 1 && !is_of_file(&why) || first != last {
        let (left, right) = ready.split_at(ready.len() / 2);
        let left = store(file, groups, left, outcome);
        return store(file, groups, right, outcome) || left;
    }
    if let Some((nth, group)) = first.and_then(|nth| Some((nth, groups.get(nth)?))) {
        outcome.fail((nth, group), &ready.iter().map(|chunk| chunk.nth).collect::<Vec<_>>(), why);
    }
    false
}

/// All or none.
fn store_together(file: &OpenFile, groups: &[Group], ready: &[Ready<'_>]) -> Result<()> {
    let parts = ready.chunk_by(|left, right| left.group == right.group);
    let parts = parts.filter_map(|part| Some((groups.get(part.first()?.group)?, part)));
    let parts = parts.map(|(group, part)| (group.source().storage(), part.iter().map(|ready| &ready.chunk).collect()));
    let parts: Vec<_> = parts.collect();
    if parts.is_empty() { Ok(()) } else { Storer::new(file).store_all(&parts) }
}

impl Group {
    fn source(&self) -> &Arc<ChunkSource> {
        self.partition.source()
    }

    fn coord(&self, nth: usize) -> &[u64] {
        self.taken.get(nth).map_or(&[], |(coord, _)| coord)
    }

    /// About how much more memory encoding takes than the chunk, of each.
    fn encoding_excess(&self, open: &[Option<Open<'_>>]) -> impl Iterator<Item = usize> {
        let layout = self.source().layout();
        let cost = |(chunk, (_, taken)): (&Option<Open<'_>>, &(_, WriteBack<ResidentChunk>))| match chunk {
            // What is wrong with it is told when it is encoded.
            Some(chunk) if taken.encoded().is_none() => chunk.encoding_excess(layout).unwrap_or_default(),
            _ => 0,
        };
        open.iter().zip(&self.taken).map(cost)
    }

    /// The chunks as the file will have them, those that can be encoded.
    fn encode<'a>(
        &'a self,
        range: Range<usize>,
        open: &'a [Option<Open<'_>>],
    ) -> Result<Vec<Result<EncodedChunk<'a>>>> {
        let (taken, open) = (self.taken.get(range.clone()).unwrap_or_default(), open.get(range).unwrap_or_default());
        let view = self.source().storage().live_view()?;
        let values = view.values()?;
        let forms: Vec<_> = taken.iter().map(|(coord, _)| values.stored_as(coord)).collect();
        drop(view);
        let items = taken.iter().zip(open).zip(forms).collect();
        cores::map(items, |workspace, ((taken, chunk), form)| {
            Ok(self.encode_one(taken, chunk.as_ref(), form, workspace))
        })
    }

    fn encode_one<'a>(
        &self,
        (coord, taken): &'a (ChunkCoord, WriteBack<ResidentChunk>),
        chunk: Option<&'a Open<'_>>,
        form: StoredAs,
        workspace: &mut Workspace,
    ) -> Result<EncodedChunk<'a>> {
        match (form, taken.encoded()) {
            (StoredAs::Filtered, Some(ahead)) => Ok(ahead.borrowed()),
            _ => {
                let chunk = chunk.ok_or_else(|| Error::Layout(format!("chunk {coord:?} left the cache")))?;
                chunk.encode(self.source().layout(), coord, form, workspace)
            }
        }
    }
}

/// By dataset, and by rising coordinate.
fn grouped(taken: Vec<WriteBack<ResidentChunk>>) -> Vec<Group> {
    let mut groups: BTreeMap<u64, Group> = BTreeMap::new();
    for taken in taken {
        let (Some(partition), Some(coord)) = (taken.partition(), taken.coord().cloned()) else { continue };
        let group = groups.entry(partition.number());
        let group = group.or_insert_with(|| Group { partition, taken: Vec::new() });
        group.taken.push((coord, taken));
    }
    groups.values_mut().for_each(|group| group.taken.sort_by(|left, right| left.0.cmp(&right.0)));
    groups.into_values().collect()
}
