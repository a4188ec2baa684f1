//! Objects that come, change and go: random programs against a twin, the file after every single write, and libhdf5 on the same files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod listing;
mod owners;
mod program;
mod twin;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    process::Command,
    sync::Arc,
};

use hyperslab_driver::{Driver, Memory, Tape, Transfer};
use hyperslab_dtype::{Datatype, Order};
use hyperslab_file::{CreateOptions, OpenFile, OpenOptions};
use hyperslab_format::version::LibVersion;
use hyperslab_object::{
    CharSet, Context, GroupSettings, Name, NewAttribute, NewType, ObjectSettings, Target, link, link_new, new_group,
    new_root, set_attribute,
};
use hyperslab_space::Extent;
use listing::listing;
use program::Program;
use twin::Twin;

const LOWS: [LibVersion; 4] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200];

fn in_context(file: OpenFile) -> Context {
    Context::new(file, Arc::new(|_, bytes, _, _| Ok(bytes)))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::default();
    options.alone = true;
    options
}

/// Runs a program; what it leaves, and the twin at each flush with the number of changes before it.
fn run(seed: u64, steps: usize, tape: &Arc<Tape>) -> (Twin, Vec<(usize, Twin)>) {
    let low = LOWS[seed as usize % LOWS.len()];
    let mut create = CreateOptions::default();
    create.libver_min = low;
    let context = in_context(OpenFile::create(tape.clone(), &create, &options()).unwrap());
    let mut program = Program::new(seed, low);
    program.begin(&context).unwrap();
    context.file().flush().unwrap();
    go(program, context, steps, tape)
}

/// Goes on with a program.
fn go(mut program: Program, mut context: Context, steps: usize, tape: &Arc<Tape>) -> (Twin, Vec<(usize, Twin)>) {
    let (seed, low) = (program.seed, program.low);
    let mut flushed = vec![(tape.changes().len(), program.twin.clone())];
    for step in 0..steps {
        program.step(&context).unwrap_or_else(|why| panic!("seed {seed}, step {step}: {why}"));
        program.twin.age();
        if seed.is_multiple_of(3) {
            evict_one(&context, &program.twin, step);
        }
        if program.random.u8(0..8) == 0 {
            check(&context, &program.twin, seed, step);
            context.file().flush().unwrap();
            flushed.push((tape.changes().len(), program.twin.clone()));
            check(&context, &program.twin, seed, step);
            if program.random.u8(0..3) == 0 {
                context.file().close().unwrap();
                context = in_context(OpenFile::open_writable(tape.clone(), &options(), low).unwrap());
                check(&context, &program.twin, seed, step);
            }
        }
    }
    check(&context, &program.twin, seed, steps);
    context.file().close().unwrap();
    flushed.push((tape.changes().len(), program.twin.clone()));
    (program.twin, flushed)
}

/// Forgets what is in memory of a single object.
fn evict_one(context: &Context, twin: &Twin, step: usize) {
    let mut things: Vec<u64> = twin.things.keys().copied().collect();
    things.sort_unstable();
    let (file, object) = (context.file(), things[step * 7 % things.len()]);
    let stay = file.evict_object(object).unwrap().unwrap();
    assert_eq!(file.blocks_of(object).len(), stay);
}

fn check(context: &Context, twin: &Twin, seed: u64, step: usize) {
    let found = listing(context, true).unwrap_or_else(|why| panic!("seed {seed}, step {step}: {why}"));
    assert_same(&found, &twin.listing(), &format!("seed {seed}, step {step}"));
}

fn assert_same(left: &[String], right: &[String], what: &str) {
    let differs = left.iter().zip(right).position(|(left, right)| left != right);
    if let Some(nth) = differs {
        panic!("{what}: line {nth}:\n{}\n{}", left[nth], right[nth]);
    }
    assert_eq!(left.len(), right.len(), "{what}: {:?}", left.get(right.len()).or(right.get(left.len())));
}

#[test]
fn random_programs_leave_what_their_twin_has() {
    for seed in programs(0, 40) {
        run(seed, 150, &Arc::new(Tape::default()));
    }
}

/// More programs than usual, if the environment asks for them.
fn programs(first: u64, usual: u64) -> std::ops::Range<u64> {
    first..first + hyperslab_workshop::cases("HYPERSLAB_PROGRAMS", usual)
}

/// No object has more names than it counts, or it could go while a link names it. One that moves has two for a moment.
fn check_counts(lines: &[String], what: &str) {
    let (mut counts, mut names, mut group) = (HashMap::new(), HashSet::new(), "");
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["", "link", name, "hard", at] => drop(names.insert((group, *name, *at))),
            ["", ..] => {}
            [_, at, count, ..] => {
                group = at;
                counts.insert(*at, count.parse::<usize>().unwrap());
            }
            _ => {}
        }
    }
    for (at, count) in counts {
        let named = names.iter().filter(|(_, _, to)| *to == at).count();
        assert!(named <= count, "{what}: the object at {at} has {named} names and counts {count}");
    }
}

/// After every write everything that can be reached is whole; what was there before the flush and is there after it is there meanwhile.
#[test]
fn the_file_is_whole_after_every_write() {
    for seed in programs(10_000, 24) {
        let tape = Arc::new(Tape::default());
        let (flushed, moves) = (run(seed, 60, &tape).1, Program::new(seed, LibVersion::Earliest).moves);
        let mut bytes = Vec::new();
        for (nth, change) in tape.changes().iter().enumerate() {
            change.apply(&mut bytes);
            let before = flushed.iter().rev().find(|(number, _)| *number <= nth);
            let after = flushed.iter().find(|(number, _)| *number > nth);
            let (Some((_, before)), Some((_, after))) = (before, after) else { continue };
            let file = OpenFile::open(Arc::new(Memory::from(bytes.clone())), &options()).unwrap();
            let lines =
                listing(&in_context(file), false).unwrap_or_else(|why| panic!("seed {seed}, write {nth}: {why}"));
            let heads = lines.iter().filter(|line| !line.starts_with(' '));
            let found: HashSet<u64> = heads.map(|line| line.split(' ').nth(1).unwrap().parse().unwrap()).collect();
            if !moves {
                check_counts(&lines, &format!("seed {seed}, write {nth}"));
            }
            let (before, after) = (before.reached(), after.reached());
            for (at, _) in before.intersection(&after) {
                assert!(found.contains(at), "seed {seed}, write {nth}: the object at {at} has no name");
            }
        }
    }
}

/// A listing without comments, of which h5py gives bytes that it has freed already.
fn without_comments(lines: &[String]) -> Vec<String> {
    let head = |line: &String| line.rsplit_once(' ').map_or(line.clone(), |(head, _)| head.to_string());
    lines.iter().map(|line| if line.starts_with(' ') { line.clone() } else { head(line) }).collect()
}

fn libhdf5(python: &Path, job: &str, file: &Path, seed: u64) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/listing.py");
    let out = Command::new(python).arg(script).arg(job).arg(file).arg(seed.to_string()).output().unwrap();
    assert!(out.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap().lines().map(str::to_string).collect()
}

#[test]
fn libhdf5_lists_the_same_and_goes_on() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for seed in programs(20_000, 12) {
        let tape = Arc::new(Tape::default());
        let (twin, _) = run(seed, 150, &tape);
        let path = folder.join(format!("objects-{seed}.h5"));
        std::fs::write(&path, tape.cut().unwrap()).unwrap();
        let ours = without_comments(&twin.listing());
        assert_same(&libhdf5(&python, "list", &path, seed), &ours, &format!("seed {seed}, libhdf5"));
        let theirs = libhdf5(&python, "add", &path, seed);
        let storage = Arc::new(Memory::from(std::fs::read(&path).unwrap()));
        let context = in_context(OpenFile::open(storage, &options()).unwrap());
        let ours = without_comments(&listing(&context, true).unwrap());
        assert_same(&ours, &theirs, &format!("seed {seed}, after libhdf5"));
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn files_of_libhdf5_can_be_changed() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for seed in programs(30_000, 12) {
        let path = folder.join(format!("objects-{seed}.h5"));
        let theirs = libhdf5(&python, "make", &path, seed);
        let tape = Arc::new(Tape::from(std::fs::read(&path).unwrap()));
        let low = LOWS[seed as usize % LOWS.len()];
        let context = in_context(OpenFile::open_writable(tape.clone(), &options(), low).unwrap());
        assert_same(&without_comments(&listing(&context, true).unwrap()), &theirs, &format!("seed {seed}, as made"));
        let mut program = Program::new(seed, low);
        program.twin = Twin::of(&context).unwrap();
        let (twin, _) = go(program, context, 100, &tape);
        std::fs::write(&path, tape.cut().unwrap()).unwrap();
        let ours = without_comments(&twin.listing());
        assert_same(&libhdf5(&python, "list", &path, seed), &ours, &format!("seed {seed}, libhdf5"));
        let theirs = libhdf5(&python, "add", &path, seed);
        let storage = Arc::new(Memory::from(std::fs::read(&path).unwrap()));
        let context = in_context(OpenFile::open(storage, &options()).unwrap());
        let ours = without_comments(&listing(&context, true).unwrap());
        assert_same(&ours, &theirs, &format!("seed {seed}, after libhdf5"));
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn files_are_not_larger_than_those_of_libhdf5() {
    let Some(python) = hyperslab_workshop::python() else { return };
    for (nth, low) in [LibVersion::Earliest, LibVersion::V18].into_iter().enumerate() {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("many-{nth}.h5"));
        libhdf5(&python, "many", &path, nth as u64);
        let theirs = std::fs::metadata(&path).unwrap().len();
        std::fs::remove_file(&path).unwrap();
        let ours = many(low).unwrap();
        println!("{low:?}: {ours} bytes, libhdf5 {theirs}");
        assert!(ours * 100 <= theirs * 105, "{low:?}: {ours} bytes where libhdf5 takes {theirs}");
    }
}

/// Many groups with attributes and links, as `listing.py` makes them; the size of the file.
fn many(low: LibVersion) -> hyperslab_object::Result<u64> {
    let storage = Arc::new(Memory::new());
    let mut create = CreateOptions::default();
    create.libver_min = low;
    let context = in_context(OpenFile::create(storage.clone(), &create, &options())?);
    let (object, group) = (ObjectSettings::default(), GroupSettings::default());
    context.file().operate(|| new_root(&context, &object, &group))?;
    let datatype = Datatype::integer(4, true, Order::Little).unwrap();
    let (extent, data) = (Extent::simple(&[10]).unwrap(), [0; 40]);
    let (root, charset) = (context.file().root()?, CharSet::Ascii);
    for nth in 0..200 {
        let at = context.file().operate(|| {
            let at = new_group(&context, &object, &group)?;
            link_new(&context, root, &Name::new(format!("group {nth}").as_bytes(), charset), at)?;
            Ok::<u64, hyperslab_object::Error>(at)
        })?;
        for attribute in 0..nth % 20 {
            let name = format!("attribute {attribute}");
            let (name, datatype) = (name.as_bytes(), NewType::Own(&datatype));
            let attribute = NewAttribute { name, charset, datatype, extent: &extent, data: &data };
            context.file().operate(|| set_attribute(&context, at, &attribute))?;
        }
        for nth in 0..nth % 15 {
            let target = Target::Soft(b"/somewhere".to_vec());
            let name = format!("link {nth}");
            context.file().operate(|| link(&context, at, &Name::new(name.as_bytes(), charset), target))?;
        }
    }
    context.file().close()?;
    Ok(storage.len(&Transfer::default())?)
}
