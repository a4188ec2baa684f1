//! Sparse chunks whose checksums are right and whose sections are not: nothing panics or takes long, and errors name chunk and section.

use std::time::{Duration, Instant};

use fastrand::Rng;
use hyperslab::{
    ErrorKind,
    space::{Form, LibVersion, Op, Slab, Space},
};
use hyperslab_hostile::{cause, edit, mutate, repair_file, sparse_file, sparse_seed, sparse_vlen_file, walk};
use hyperslab_workshop::{cases, setting};

use crate::{editing, mutation};

/// More time than one small file takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Selections of a chunk of 20 × 30 elements, of each kind.
fn selections() -> Vec<Space> {
    let mut spaces = vec![Space::simple(&[20, 30]).unwrap(); 5];
    spaces[1].select_hyperslab(Op::Set, &[Slab::new(1, 3, 5, 2), Slab::new(0, 7, 4, 3)]).unwrap();
    spaces[2].select_points(&[3, 4, 19, 29, 0, 0, 7, 7]).unwrap();
    spaces[3].select_hyperslab(Op::Set, &[Slab::block(2, 5), Slab::block(3, 9)]).unwrap();
    spaces[3].select_hyperslab(Op::Or, &[Slab::block(4, 7), Slab::block(10, 15)]).unwrap();
    spaces[4].select_none();
    spaces
}

/// Encodings of all versions, with as many values as each selects.
fn encodings() -> Vec<(Vec<u8>, usize)> {
    let forms = LibVersion::ALL.map(Form::from).into_iter().chain([Form::Smallest]);
    let all = forms.flat_map(|form| selections().into_iter().map(move |space| (form, space)));
    all.map(|(form, space)| (space.encode(form).unwrap(), 2 * space.npoints() as usize)).collect()
}

#[test]
fn the_seed_is_read_and_changed_whole() {
    let seed = sparse_seed().unwrap();
    let report = walk(seed.clone());
    assert!(report.errors.is_empty() && report.reads > 40, "{report:?}");
    for nth in 0..8 {
        let (_, after) = edit(seed.clone(), &mut Rng::with_seed(nth));
        assert!(walk(after).errors.iter().all(|error| error.kind() == ErrorKind::NotFound), "{nth}");
    }
}

#[test]
fn spoiled_seeds_do_no_harm() {
    let (mut rng, seed) = (Rng::with_seed(setting("HYPERSLAB_SEED", 1)), sparse_seed().unwrap());
    for _ in 0..cases("HYPERSLAB_MUTATIONS", 200) {
        let mut bytes = seed.clone();
        mutate(&mut bytes, &seed, seed.len() + 4096, &mut rng);
        mutation::survives("sparse", &bytes);
        repair_file(&mut bytes);
        mutation::survives("sparse", &bytes);
        editing::survives("sparse", &bytes, rng.u64(..));
    }
}

#[test]
fn sections_of_all_kinds_are_read_and_changed() {
    for (selection, bytes) in encodings() {
        let file = sparse_file(&selection, &vec![1; bytes]).unwrap();
        let report = walk(file.clone());
        assert!(report.errors.is_empty() && report.reads > 0, "{report:?}");
        let (_, after) = edit(file, &mut Rng::with_seed(1));
        assert!(walk(after).errors.is_empty());
    }
}

#[test]
fn spoiled_sections_do_no_harm() {
    let mut rng = Rng::with_seed(setting("HYPERSLAB_SEED", 1));
    let (encodings, mut refused) = (encodings(), 0);
    let rounds = cases("HYPERSLAB_SECTIONS", 60);
    for nth in 0..rounds * encodings.len() as u64 {
        let (selection, bytes) = &encodings[nth as usize % encodings.len()];
        let (mut selection, mut bytes) = (selection.clone(), *bytes);
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..selection.len());
            let end = (at + (1 << rng.u32(..4))).min(selection.len());
            match rng.u8(..5) {
                0 => selection.truncate(at.max(1)),
                1 => selection[at..end].fill(0xff),
                2 => selection[at] ^= 1 << rng.u32(..8),
                3 => selection[at] = rng.u8(..40),
                _ => bytes = (bytes + rng.usize(..9)).saturating_sub(rng.usize(..9)),
            }
        }
        let file = sparse_file(&selection, &vec![1; bytes]).unwrap();
        let begin = Instant::now();
        let report = walk(file.clone());
        for error in &report.errors {
            assert!(cause::section(error).is_some_and(|(chunk, _)| chunk == [0, 0]), "{error}");
        }
        refused += u64::from(!report.errors.is_empty());
        let (_, after) = edit(file, &mut rng);
        walk(after);
        assert!(begin.elapsed() < PATIENCE, "{selection:02x?}: {:?}", begin.elapsed());
    }
    assert!(refused > 10 * rounds, "{refused}");
}

/// The sections of a chunk in which some elements are sequences of bytes: null, empty and of up to 20 bytes.
fn sequences(space: &Space) -> [Vec<u8>; 3] {
    let (mut slots, mut segments) = (Vec::new(), vec![0; 4]);
    for nth in 0..space.npoints() {
        let (offset, length) = if nth % 7 == 0 { (0, 0) } else { (segments.len() as u64, nth % 21) };
        slots.extend([offset.to_le_bytes(), length.to_le_bytes()].concat());
        segments.extend(vec![nth as u8; length as usize]);
    }
    [space.encode(Form::Smallest).unwrap(), slots, segments]
}

#[test]
fn spoiled_sequences_do_no_harm() {
    let mut rng = Rng::with_seed(setting("HYPERSLAB_SEED", 1));
    let chunks: Vec<_> = selections().iter().filter(|space| space.npoints() > 0).map(sequences).collect();
    for [selection, slots, segments] in &chunks {
        let file = sparse_vlen_file(selection, slots, segments).unwrap();
        let report = walk(file.clone());
        assert!(report.errors.is_empty() && report.reads > 0, "{report:?}");
        assert!(walk(edit(file, &mut Rng::with_seed(1)).1).errors.is_empty());
    }
    let (rounds, mut refused) = (cases("HYPERSLAB_SECTIONS", 60), 0);
    for nth in 0..rounds * chunks.len() as u64 {
        let mut sections = chunks[nth as usize % chunks.len()].clone();
        for _ in 0..rng.usize(1..4) {
            // Slots and the unused count of segments are what is worth spoiling.
            let section = &mut sections[[0, 1, 1, 2][rng.usize(..4)]];
            let at = rng.usize(..section.len().max(1)).min(section.len().saturating_sub(1));
            let end = (at + (1 << rng.u32(..4))).min(section.len());
            match rng.u8(..5) {
                0 => section.truncate(at),
                1 => section[at..end].fill(0xff),
                2 if !section.is_empty() => section[at] ^= 1 << rng.u32(..8),
                3 => section.extend([rng.u8(..); 3]),
                _ => section[at..end].fill(rng.u8(..5)),
            }
        }
        let [selection, slots, segments] = &sections;
        let file = sparse_vlen_file(selection, slots, segments).unwrap();
        let begin = Instant::now();
        let report = walk(file.clone());
        for error in &report.errors {
            assert!(error.to_string().contains("chunk [0, 0], section "), "{error}");
        }
        refused += u64::from(!report.errors.is_empty());
        walk(edit(file, &mut rng).1);
        assert!(begin.elapsed() < PATIENCE, "{sections:02x?}: {:?}", begin.elapsed());
    }
    assert!(refused > rounds, "{refused}");
}
