//! First names in groups without links wait in memory; no reader sees a difference.

use std::{collections::BTreeMap, sync::Arc};

use fastrand::Rng;
use hyperslab::{CopyOptions, ErrorKind, File, Group, LibVersion, OpenOptions, driver::Memory, dtype::Datatype};

const LOWS: [LibVersion; 2] = [LibVersion::Earliest, LibVersion::V200];

/// Each name, and the value of its dataset.
type Twin = BTreeMap<String, i64>;

fn make(group: &Group, twin: &mut Twin, name: &str, value: i64) {
    let made = group.new_dataset::<i64>().scalar().attribute("value", value).write(name, &[value]);
    match twin.contains_key(name) {
        true => assert_eq!(made.unwrap_err().kind(), ErrorKind::AlreadyExists),
        false => {
            made.unwrap();
            twin.insert(name.into(), value);
        }
    }
}

fn check(group: &Group, twin: &Twin) {
    assert_eq!(group.names().unwrap(), twin.keys().cloned().collect::<Vec<_>>());
    assert_eq!(group.len().unwrap(), twin.len() as u64);
    for (name, value) in twin {
        let dataset = group.dataset(name).unwrap();
        assert_eq!(dataset.read_scalar::<i64>().unwrap(), *value);
        assert_eq!(dataset.attribute("value").unwrap().read_scalar::<i64>().unwrap(), *value);
    }
}

fn check_whole(storage: Arc<Memory>) {
    let report = hyperslab::check::storage(storage).unwrap();
    assert_eq!(report.problems().collect::<Vec<_>>(), Vec::<&hyperslab::check::Finding>::new());
}

/// Everything that can happen to a group while names of it wait.
fn happen(file: &File, group: &Group, twin: &mut Twin, rng: &mut Rng) {
    let some = twin.keys().nth(rng.usize(..twin.len().max(1))).cloned();
    match (rng.u8(..12), some) {
        (0, _) => file.flush().unwrap(),
        (1, Some(name)) => {
            group.delete(&name).unwrap();
            twin.remove(&name);
        }
        (2, Some(name)) => {
            let to = format!("renamed {}", rng.u32(..));
            group.rename(&name, &to).unwrap();
            let value = twin.remove(&name).unwrap();
            twin.insert(to, value);
        }
        (3, Some(name)) => {
            let (to, node) = (format!("other {}", rng.u32(..)), group.get(&name).unwrap());
            group.hard_link(&to, &node).unwrap();
            twin.insert(to, twin[&name]);
        }
        (4, _) => group.set_attribute("note", rng.i32(..)).unwrap(),
        (5, _) => make(group, twin, &format!("Ü{}", rng.u8(..)), rng.i64(..)),
        _ => {}
    }
}

#[test]
fn a_group_is_what_it_is_without_waiting() {
    for low in LOWS {
        for seed in 0..60 {
            let (storage, mut rng) = (Arc::new(Memory::new()), Rng::with_seed(seed));
            let file = OpenOptions::new().create().libver_min(low).open_on(storage.clone()).unwrap();
            let root = file.root().unwrap();
            let groups = [root.clone(), root.create_group("~group").unwrap()];
            let mut twins = [Twin::new(), Twin::new()];
            let seldom = rng.usize(1..200);
            for nth in 0..rng.usize(1..400) {
                let at = rng.usize(..2);
                let name = format!("data{}", rng.u32(..600));
                if at == 1 {
                    make(&groups[1], &mut twins[1], &name, nth as i64);
                    if rng.usize(..seldom) == 0 {
                        happen(&file, &groups[1], &mut twins[1], &mut rng);
                        check(&groups[1], &twins[1]);
                    }
                } else if seed % 3 == 0 {
                    make(&groups[0], &mut twins[0], &format!("{name} of the root"), nth as i64);
                }
            }
            check(&groups[1], &twins[1]);
            file.close().unwrap();
            check_whole(storage.clone());
            let file = File::open_driver(storage).unwrap();
            check(&file.group("~group").unwrap(), &twins[1]);
            assert_eq!(file.root().unwrap().len().unwrap(), twins[0].len() as u64 + 1, "{low:?} {seed}");
        }
    }
}

#[test]
fn a_group_goes_with_the_names_that_wait() {
    for low in LOWS {
        let storage = Arc::new(Memory::new());
        let file = OpenOptions::new().create().libver_min(low).open_on(storage.clone()).unwrap();
        let root = file.root().unwrap();
        for round in 0..3 {
            let group = root.create_group("group").unwrap();
            for nth in 0..100 {
                make(&group, &mut Twin::new(), &format!("data{nth}"), nth);
            }
            let kept = group.dataset("data7").unwrap();
            drop(group);
            root.delete("group").unwrap();
            assert_eq!(kept.read_scalar::<i64>().unwrap(), 7);
            if round == 1 {
                file.flush().unwrap();
            }
        }
        file.close().unwrap();
        check_whole(storage.clone());
        assert!(File::open_driver(storage).unwrap().root().unwrap().is_empty().unwrap());
    }
}

/// The progress of a copy is told to a program, which may use the target.
#[test]
fn a_name_that_is_taken_during_a_copy_poisons_no_file() {
    let [from, to] = [(); 2].map(|()| File::create_on(Arc::new(Memory::new())).unwrap());
    let datatype = from.root().unwrap().commit_datatype("type", &Datatype::of::<i32>()).unwrap();
    from.root().unwrap().new_dataset::<i32>().committed(&datatype).write("data", &[1]).unwrap();
    let (root, source) = (to.root().unwrap(), from.root().unwrap().get("data").unwrap());
    let copied = CopyOptions::new().copy_showing(&source, &root, "data", &mut |_| drop(root.create_group("data")));
    assert_eq!(copied.unwrap_err().kind(), ErrorKind::AlreadyExists);
    root.create_group("after").unwrap();
    to.close().unwrap();
}
