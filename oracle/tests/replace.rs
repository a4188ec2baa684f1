//! A dataset is put in the place of another: after a crash at any write one or the other is there, whole.

use std::{collections::BTreeMap, sync::Arc};

use hyperslab::driver::{Change, Memory, Tape};
use hyperslab::{File, Node, OpenOptions, Storable, check};
use hyperslab_oracle::changes::{LOWS, after_crash, states};

const VALUES: usize = 50;

/// What a check says of a file whose writer is gone: the mark, and counts that may be larger than what is there.
const LEFT: [&str; 3] = ["marked as open for writing", "objects in their heap", "hard links, but has"];

/// The version of each dataset.
type Versions = BTreeMap<String, i32>;

struct Case {
    low: usize,
    datasets: i32,
    ordered: bool,
}

impl Case {
    /// A file whose datasets are replaced again and again; the versions at each flush, with how many changes of the storage there were then.
    fn run(&self, tape: &Arc<Tape>) -> Vec<(usize, Versions)> {
        let file = OpenOptions::new().truncate().libver_min(LOWS[self.low].0).open_on(tape.clone()).unwrap();
        let (root, mut random) = (file.root().unwrap(), fastrand::Rng::with_seed(7));
        root.new_group().track_order(self.ordered).create("group").unwrap();
        root.commit_datatype("type", &i32::datatype().unwrap()).unwrap();
        let mut versions = Versions::new();
        for nth in 0..self.datasets {
            let path = format!("group/data{nth}");
            root.hard_link(&path, &made(&file, 0, nth % 3 == 0)).unwrap();
            versions.insert(path, 0);
        }
        file.flush().unwrap();
        let mut flushed = vec![(tape.changes().len(), versions.clone())];
        for round in 1..40 {
            let path = format!("group/data{}", random.i32(0..self.datasets));
            root.replace(&path, &made(&file, round, random.bool())).unwrap();
            versions.insert(path, round);
            match random.u8(..8) {
                0 => drop(root.create_group(format!("group/more{round}")).unwrap()),
                // It is deleted with its handle.
                1 => drop(made(&file, round, true)),
                2 => {
                    let path = format!("group/data{}", random.i32(0..self.datasets));
                    root.rename(&path, "group/moved").unwrap();
                    root.rename("group/moved", &path).unwrap();
                }
                3..5 => {
                    file.flush().unwrap();
                    flushed.push((tape.changes().len(), versions.clone()));
                }
                _ => {}
            }
        }
        file.close().unwrap();
        flushed.push((tape.changes().len(), versions));
        flushed
    }
}

/// A dataset without a name, of a type of its own or of the committed one.
fn made(file: &File, version: i32, committed: bool) -> Node {
    let root = file.root().unwrap();
    let Node::Datatype(datatype) = root.get("type").unwrap() else { panic!("no datatype") };
    let new = root.new_dataset::<i32>().shape([VALUES as u64]);
    // In one piece, or in chunks that wait in the cache.
    let new = if version % 2 == 0 { new } else { new.chunks([20]).deflate(1) };
    let new = if committed { new.committed(&datatype) } else { new };
    let dataset = new.write_unnamed(&[version; VALUES]).unwrap();
    dataset.set_attribute("version", version).unwrap();
    dataset.into()
}

/// What is wrong with a file that has everything of a flush, and perhaps more.
fn wrong(file: &File, flushed: &Versions) -> hyperslab::Result<Option<String>> {
    for (path, &least) in flushed {
        let dataset = match file.dataset(path) {
            // It was on its way.
            Err(hyperslab::Error::Missing(_)) => file.dataset("group/moved")?,
            found => found?,
        };
        let (values, version) = (dataset.read::<i32>()?, dataset.attribute("version")?.read_scalar::<i32>()?);
        if values != [version; VALUES] || version < least {
            return Ok(Some(format!("{path} has {} and version {version}, not {least} or later", values[0])));
        }
    }
    Ok(None)
}

#[test]
fn one_or_the_other_is_there_after_a_crash() {
    let mut prefixes = 0;
    let forms = [(3, false), (3, true), (40, false), (40, true)];
    for (low, (datasets, ordered)) in [0, 1, 2, 5].into_iter().flat_map(|low| forms.map(|form| (low, form))) {
        let tape = Arc::new(Tape::default());
        let flushed = Case { low, datasets, ordered }.run(&tape);
        let (mut bytes, mut last) = (Vec::new(), None);
        for (nth, change) in tape.changes().iter().enumerate() {
            last = flushed.iter().rfind(|(changes, _)| *changes <= nth + 1).or(last);
            for state in states(&mut bytes, change) {
                let Some((_, versions)) = last.filter(|_| !matches!(change, Change::Sync | Change::Flush)) else {
                    continue;
                };
                prefixes += 1;
                let what = format!("{}, {datasets} datasets, ordered: {ordered}, change {nth}", LOWS[low].1);
                let report = check::storage(Arc::new(Memory::from(state.clone()))).expect(&what);
                let problem = report.problems().find(|problem| !LEFT.iter().any(|left| problem.why.contains(left)));
                // Keys of the trees of old groups may lag behind names; a reader does not need the difference.
                assert!(problem.is_none() || low < 2, "{what}: {problem:?}");
                let file = after_crash(state).expect(&what);
                assert_eq!(wrong(&file, versions).expect(&what), None, "{what}");
            }
        }
        // Closed, everything is as it was replaced last, and no count is wrong.
        let file = File::open_driver(Arc::new(Memory::from(bytes.clone()))).unwrap();
        let (_, versions) = flushed.last().unwrap();
        for (path, &version) in versions {
            let dataset = file.dataset(path).unwrap();
            assert_eq!(dataset.read::<i32>().unwrap(), [version; VALUES], "{path}");
        }
        let report = check::storage(Arc::new(Memory::from(bytes))).unwrap();
        assert!(report.problems().next().is_none(), "{}: {:?}", LOWS[low].1, report.findings);
    }
    println!("{prefixes} prefixes");
}
