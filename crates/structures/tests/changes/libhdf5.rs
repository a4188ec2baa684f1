//! A group of many links, which libhdf5 and we change in turn.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.

use std::{cmp::Ordering, collections::BTreeMap, fmt::Write, fs, path::Path, process::Command, sync::Arc};

use fastrand::Rng;
use hyperslab_base::lookup3;
use hyperslab_base::{AnyError, ErrorKind};
use hyperslab_file::{Error, OpenFile};
use hyperslab_format::{
    index::record::{Form, Record, kind as record_kind},
    message::{CharSet, GroupInfo, Link, LinkInfo, Target, kind},
};
use hyperslab_structures::{
    FractalHeap, Tree,
    fractal_heap::{Parameters, Unfilter, UnfilterError},
};

use crate::{
    changes::tape::{new_file_with, read},
    common::{self, Played},
};

type Twin = BTreeMap<String, String>;

/// Reads the links and compares them; then does what it is told, one line per link: a name, and a target or nothing to remove the link.
const SCRIPT: &str = r#"
import sys, h5py
path, expected, changes = sys.argv[1:]
lines = lambda name: [line.rstrip("\n").split(" ") for line in open(name)]
with h5py.File(path, "r+") as file:
    there = {name: file.get(name, getlink=True).path for name in file}
    wanted = {name: target for name, target in lines(expected)}
    assert there == wanted, (len(there), len(wanted), [n for n in wanted if there.get(n) != wanted[n]][:5])
    for name, target in lines(changes):
        if target:
            file[name] = h5py.SoftLink(target)
        else:
            del file[name]
with h5py.File(path, "r") as file:
    for name, target in lines(changes):
        assert (name in file.keys()) == bool(target)
"#;

fn no_filters() -> Arc<Unfilter> {
    Arc::new(|_, _, _, _| {
        Err(UnfilterError { source: AnyError::new(ErrorKind::Filter, "no filters here"), may_be_torn: false })
    })
}

struct Group {
    heap: FractalHeap,
    names: Tree,
}

impl Group {
    fn open(file: &OpenFile, heap: u64, names: u64) -> Group {
        let names = Tree::open(file, names, &[record_kind::LINK_NAME]).unwrap();
        Group { heap: FractalHeap::open(file, heap, no_filters()).unwrap(), names }
    }

    fn link(heap: &FractalHeap, file: &OpenFile, record: &[u8]) -> (u32, Vec<u8>, Link) {
        let form = Form::Plain(record_kind::LINK_NAME);
        let Record::LinkName { hash, id } = form.decode(record, file.widths()).unwrap() else { panic!() };
        (hash, id.to_vec(), Link::decode(&heap.get(file, &id).unwrap(), file.widths()).unwrap())
    }

    fn order<'a>(
        heap: &'a FractalHeap,
        file: &'a OpenFile,
        name: &'a str,
    ) -> impl FnMut(&[u8]) -> Result<Ordering, Error> {
        let wanted = lookup3(name.as_bytes());
        move |record| {
            let (hash, _, link) = Group::link(heap, file, record);
            Ok(hash.cmp(&wanted).then_with(|| link.name.as_slice().cmp(name.as_bytes())))
        }
    }

    fn insert(&mut self, file: &OpenFile, name: &str, target: &str) {
        let target = Target::Soft(target.as_bytes().to_vec());
        let link = Link { name: name.as_bytes().to_vec(), charset: CharSet::Utf8, order: None, target };
        let id = self.heap.insert(file, &link.encode(file.widths()).unwrap()).unwrap();
        let record = Record::LinkName { hash: lookup3(name.as_bytes()), id: id.try_into().unwrap() };
        let record = Form::Plain(record_kind::LINK_NAME).encode(&record, file.widths()).unwrap();
        self.names.insert(file, &record, &mut Group::order(&self.heap, file, name)).unwrap();
        self.heap.before(file, self.names.address()).unwrap();
    }

    fn remove(&mut self, file: &OpenFile, name: &str) {
        let record = self.names.remove(file, &mut Group::order(&self.heap, file, name)).unwrap().unwrap();
        let (_, id, _) = Group::link(&self.heap, file, &record);
        self.heap.remove(file, &id).unwrap();
    }

    fn all(&self, file: &OpenFile) -> Twin {
        let mut links = Twin::new();
        let each = &mut |record: &[u8]| {
            let (_, _, link) = Group::link(&self.heap, file, record);
            let Target::Soft(target) = link.target else { panic!() };
            links.insert(String::from_utf8(link.name).unwrap(), String::from_utf8(target).unwrap());
            Ok(())
        };
        self.names.for_each(file, each).unwrap();
        links
    }
}

/// Random changes: names with a target, or without one to remove them. The group never gets so small that links move to its header.
fn changes(rng: &mut Rng, twin: &mut Twin, round: usize) -> Vec<(String, String)> {
    let mut changes = BTreeMap::new();
    let grows = if round % 3 == 2 { 0.2 } else { 0.8 };
    for _ in 0..if twin.is_empty() { 400 } else { rng.usize(1..900) } {
        if twin.len() < 20 || rng.f64() < grows {
            let name = format!("{:x}{}", rng.u32(..), "n".repeat(rng.usize(..60)));
            let long = if rng.u32(..40) == 0 { 6000 } else { 80 };
            let target = format!("/{}", "t".repeat(rng.usize(1..long)));
            twin.insert(name.clone(), target.clone());
            changes.insert(name, target);
        } else {
            let from = format!("{:x}", rng.u32(..));
            let name = twin.range(from..).map(|(name, _)| name.clone()).find(|name| !changes.contains_key(name));
            if let Some(name) = name {
                twin.remove(&name);
                changes.insert(name, String::new());
            }
        }
    }
    changes.into_iter().collect()
}

fn lines<'a>(pairs: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    pairs.fold(String::new(), |mut text, (name, target)| {
        writeln!(text, "{name} {target}").unwrap();
        text
    })
}

#[test]
fn libhdf5_and_we_change_a_group_in_turn() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [path, expected, wanted] = ["links.h5", "links.expected", "links.changes"].map(|name| folder.join(name));
    for seed in 0..2 {
        let mut rng = Rng::with_seed(seed);
        let (mut heap, mut names) = (0, 0);
        let (tape, mut file) = new_file_with(|file| {
            heap = FractalHeap::create(file, &Parameters::links(), no_filters()).unwrap().address();
            names = Tree::create(file, record_kind::LINK_NAME, 11, 512, 100, 40).unwrap().address();
            let info = LinkInfo {
                tracked: false,
                next_order: 0,
                indexed: false,
                heap: Some(heap),
                names: Some(names),
                orders: None,
            };
            let info = info.encode(file.widths()).unwrap();
            vec![(kind::LINK_INFO, info), (kind::GROUP_INFO, GroupInfo::default().encode())]
        });
        let mut storage = tape.storage;
        let mut twin = Twin::new();
        for round in 0..7 {
            let mut group = Group::open(&file, heap, names);
            for (nth, (name, target)) in changes(&mut rng, &mut twin, round).iter().enumerate() {
                match target.as_str() {
                    "" => group.remove(&file, name),
                    target => group.insert(&file, name, target),
                }
                if nth % 100 == 99 {
                    file.flush().unwrap();
                }
            }
            file.close().unwrap();
            fs::write(&path, storage.content()).unwrap();
            fs::write(&expected, lines(twin.iter())).unwrap();
            let theirs = changes(&mut rng, &mut twin, round + 1);
            fs::write(&wanted, lines(theirs.iter().map(|(name, target)| (name, target)))).unwrap();
            let run = Command::new(&python).args(["-c", SCRIPT]).args([&path, &expected, &wanted]).output().unwrap();
            assert!(run.status.success(), "seed {seed}, round {round}: {}", String::from_utf8_lossy(&run.stderr));
            let bytes = fs::read(&path).unwrap();
            let other = read(bytes.clone());
            assert_eq!(Group::open(&other, heap, names).all(&other), twin);
            (storage, file) = common::open(bytes);
        }
    }
}
