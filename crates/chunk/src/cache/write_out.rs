//! Chunks on their way out: encoded on all cores, then written with one request, then entered in their indexes.
//!
//! What can be written is written: a chunk whose filters refuse it, or whose bytes the storage does not take, stays dirty in memory and keeps its entry in
//! the index, so that the file is whole without it.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Instant,
};

use hyperslab_base::memory;
use hyperslab_cache::{Reading, Taken, WriteFailure, assert_no_locks_held};
use hyperslab_driver::cores;
use hyperslab_space::Coords;

use super::{
    Chunk, ChunkCache, Home,
    failures::{Failures, is_of_file, kind_of},
    portions::{portions, replace},
};
use crate::{Error, Image, Reserved, Result};

/// Chunks of one dataset, by rising place.
struct Group {
    home: Arc<dyn Home>,
    taken: Vec<(Coords, Taken<Chunk>)>,
}

/// A chunk as the file will have it.
struct Form<'a> {
    bytes: Cow<'a, [u8]>,
    mask: u32,
    coded: bool,
}

/// A chunk of a group that is ready to be written.
struct Ready<'a> {
    group: usize,
    nth: usize,
    form: Form<'a>,
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
        let place = chunks.first().map_or(&[][..], |first| group.place(*first));
        self.failures.add(&*group.home, place, chunks.len(), why);
    }
}

impl ChunkCache {
    /// Writes chunks, of any datasets, as many as can be written; says which could not. Those of datasets that are no more are forgotten.
    pub(super) fn write_out(&self, taken: Vec<Taken<Chunk>>) -> Failures {
        let (groups, mut outcome) = (grouped(taken), Outcome::default());
        if groups.is_empty() {
            return outcome.failures;
        }
        let any_stored = {
            // A thread that wants to change a chunk waits until it is written.
            let open: Vec<Vec<_>> =
                groups.iter().map(|group| group.taken.iter().map(|(_, taken)| taken.read()).collect()).collect();
            let (mut ready, begun) = (Vec::new(), Instant::now());
            for (group, open) in groups.iter().enumerate().zip(&open) {
                encode(group, open, &mut ready, &mut outcome);
            }
            self.cache.encoded_for(begun.elapsed());
            assert_no_locks_held("before chunks are written");
            store_in_portions(&groups, &ready, &mut outcome)
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

/// Adds the chunks of a group, as the file will have them, to those that are `ready`.
fn encode<'a>(
    (group, of): (usize, &'a Group),
    open: &'a [Option<Reading<'_, Chunk>>],
    ready: &mut Vec<Ready<'a>>,
    outcome: &mut Outcome,
) {
    let forms = match of.forms(open) {
        Ok(forms) => forms,
        // Chunks of a dataset that is deleted need not be written.
        Err(_) if !of.home.is_alive() => return,
        Err(why) => return outcome.fail((group, of), &(0..of.taken.len()).collect::<Vec<_>>(), why),
    };
    for (nth, form) in forms.into_iter().enumerate() {
        match form {
            Ok(form) => ready.push(Ready { group, nth, form }),
            Err(_) if !of.home.is_alive() => {}
            Err(why) => outcome.fail((group, of), &[nth], why),
        }
    }
}

/// Writes chunks, in portions if they replace others. Whether some were written.
fn store_in_portions(groups: &[Group], ready: &[Ready<'_>], outcome: &mut Outcome) -> bool {
    let replaces = |group: &Group| match &*group.taken {
        [(first, _), .., (last, _)] => replace(&*group.home, first, last),
        _ => false,
    };
    let Some(file) = groups.first().map(|group| group.home.file()).filter(|_| groups.iter().any(replaces)) else {
        return store(groups, ready, outcome);
    };
    let sizes = || ready.iter().map(|chunk| chunk.form.bytes.len() as u64);
    let portions = portions(sizes(), file.portion(sizes().fold(0, u64::saturating_add)));
    let mut stored = false;
    for portion in portions.into_iter().filter_map(|range| ready.get(range)) {
        stored |= store(groups, portion, outcome);
    }
    stored
}

/// Writes chunks with one request and enters them in their indexes; if that fails, each half alone, so that only those are left that cannot be written.
/// Whether some were written.
fn store(groups: &[Group], ready: &[Ready<'_>], outcome: &mut Outcome) -> bool {
    let Err(why) = store_together(groups, ready) else { return !ready.is_empty() };
    let (first, last) = (ready.first().map(|chunk| chunk.group), ready.last().map(|chunk| chunk.group));
    if ready.len() > 1 && !is_of_file(&why) || first != last {
        let (left, right) = ready.split_at(ready.len() / 2);
        let left = store(groups, left, outcome);
        return store(groups, right, outcome) || left;
    }
    if let Some((nth, group)) = first.and_then(|nth| Some((nth, groups.get(nth)?))) {
        outcome.fail((nth, group), &ready.iter().map(|chunk| chunk.nth).collect::<Vec<_>>(), why);
    }
    false
}

/// All or none.
fn store_together(groups: &[Group], ready: &[Ready<'_>]) -> Result<()> {
    let parts = ready.chunk_by(|left, right| left.group == right.group);
    let parts = parts.filter_map(|part| Some((groups.get(part.first()?.group)?, part)));
    let parts: Vec<_> = parts.collect();
    let Some(file) = parts.first().map(|(group, _)| group.home.file()) else { return Ok(()) };
    file.operate(|| {
        let alive: Vec<_> = parts.iter().filter(|(group, _)| group.home.is_alive()).collect();
        let reserved = file.tentative(|| {
            let reserved = alive.iter().map(|(group, part)| group.reserve(part)).collect::<Result<Vec<_>>>()?;
            let forms = alive.iter().zip(&reserved).flat_map(|((_, part), space)| space.addresses.iter().zip(*part));
            let parts: Vec<_> = forms.map(|(address, chunk)| (*address, &*chunk.form.bytes)).collect();
            if !parts.is_empty() {
                file.write_raw("chunk", &parts)?;
            }
            Ok::<_, Error>(reserved)
        })?;
        alive.iter().zip(reserved).try_for_each(|((group, _), space)| group.insert(space))
    })
}

impl Group {
    fn place(&self, nth: usize) -> &[u64] {
        self.taken.get(nth).map_or(&[], |(place, _)| place)
    }

    /// The chunks as the file will have them, those that can be encoded.
    fn forms<'a>(&'a self, open: &'a [Option<Reading<'_, Chunk>>]) -> Result<Vec<Result<Form<'a>>>> {
        // How many bytes of each are stored if they are not coded.
        let mut plain = vec![None; self.taken.len()];
        self.home.look(&mut |layout| {
            let size = |place: &Coords| usize::try_from(layout.plain_size(place)).unwrap_or(usize::MAX);
            let plain_size = |place: &Coords| (!layout.is_coded(place)).then(|| size(place));
            plain = self.taken.iter().map(|(place, _)| plain_size(place)).collect();
            Ok(())
        })?;
        let coder = self.home.facts().coder.as_ref();
        let bytes = open.iter().map(|chunk| chunk.as_ref().map_or(&[][..], |chunk| &chunk.bytes));
        let items: Vec<_> = self.taken.iter().zip(bytes).zip(plain).collect();
        let form =
            |(out, scratch): &mut (Vec<u8>, Vec<u8>), (place, taken): &'a (Coords, Taken<Chunk>), bytes, plain| {
                let Some(coder) = coder.filter(|_| Option::is_none(&plain)) else {
                    let bytes: &'a [u8] = plain.and_then(|size| <[u8]>::get(bytes, ..size)).unwrap_or(bytes);
                    return Ok(Form { bytes: Cow::Borrowed(bytes), mask: 0, coded: false });
                };
                if let Some(ahead) = taken.encoded() {
                    let mask = u32::try_from(ahead.note).unwrap_or(0);
                    return Ok(Form { bytes: Cow::Borrowed(ahead.bytes.as_slice()), mask, coded: true });
                }
                let mask = coder.encode(place, bytes, out, scratch)?;
                // Filters take room for the worst case; what waits for the others takes what it has.
                Ok(Form { bytes: Cow::Owned(memory::copied(out)?), mask, coded: true })
            };
        cores::map(items, |rooms, ((taken, bytes), plain): (_, Option<usize>)| Ok(form(rooms, taken, bytes, plain)))
    }

    fn reserve(&self, part: &[Ready<'_>]) -> Result<Reserved> {
        let images = part.iter().map(|chunk| Image {
            place: self.place(chunk.nth).into(),
            bytes: &chunk.form.bytes,
            mask: chunk.form.mask,
            coded: chunk.form.coded,
        });
        let (images, mut reserved) = (images.collect::<Vec<_>>(), Reserved::default());
        self.home.change(&mut |layout| {
            reserved = layout.reserve(self.home.file(), &images)?;
            Ok(false)
        })?;
        Ok(reserved)
    }

    fn insert(&self, reserved: Reserved) -> Result<()> {
        let mut reserved = Some(reserved);
        self.home.change(&mut |layout| layout.insert(self.home.file(), reserved.take().unwrap_or_default()))
    }
}

/// By dataset, and by rising place.
fn grouped(taken: Vec<Taken<Chunk>>) -> Vec<Group> {
    let mut groups: BTreeMap<u64, Group> = BTreeMap::new();
    for taken in taken {
        let (Some(shelf), Some(place)) = (taken.shelf(), taken.place().cloned()) else { continue };
        let group = groups.entry(shelf.number());
        let group = group.or_insert_with(|| Group { home: shelf.home().clone(), taken: Vec::new() });
        group.taken.push((place, taken));
    }
    groups.values_mut().for_each(|group| group.taken.sort_by(|left, right| left.0.cmp(&right.0)));
    groups.into_values().collect()
}
