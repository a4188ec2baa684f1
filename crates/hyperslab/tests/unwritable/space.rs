//! Space that cannot be had: the request fails, nothing has changed, and the same request succeeds when there is space again.

use hyperslab::{
    AllocTime, Dataset, File, FileSpace, Group, LibVersion, NewDataset, OpenOptions, Result, check,
    driver::{Damage, Target},
};

use crate::unwritable::scene::{Disk, disk};

const LOWS: [LibVersion; 3] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V200];
const SIDE: u64 = 1000;
const COUNT: u64 = 12 * SIDE;

/// A new file of one format, and what is there before the request.
fn new_file(low: LibVersion, prepare: impl Fn(&Group)) -> (File, Disk) {
    let disk = disk();
    // Free space is listed, so that none is taken for lost.
    let space = FileSpace { persist: true, ..FileSpace::default() };
    let file = OpenOptions::new().create().truncate().libver_min(low).file_space(space).open_on(disk.clone()).unwrap();
    prepare(&file.root().unwrap());
    file.flush().unwrap();
    (file, disk)
}

/// Lets the request fail at each write that it does, and checks what is there after it succeeded.
#[track_caller]
fn fails_anywhere(prepare: impl Fn(&Group), request: impl Fn(&Group) -> Result<()>, seen: impl Fn(&Group)) {
    for low in LOWS {
        let mut failures = 0;
        for position in 0.. {
            let (file, disk) = new_file(low, &prepare);
            let root = file.root().unwrap();
            disk.arm_forever(Target::Writes, position, Damage::Fail);
            let failed = request(&root).is_err();
            disk.disarm();
            failures += u32::from(failed);
            if failed {
                let probe = root.create_group("probe").map(drop);
                probe.unwrap_or_else(|why| panic!("{low:?}, write {position}: {why}"));
                request(&root).unwrap_or_else(|why| panic!("{low:?}, write {position}: {why}"));
            }
            seen(&root);
            drop(root);
            file.close().unwrap();
            seen(&File::open_driver(disk.clone()).unwrap().root().unwrap());
            let report = check::storage(disk).unwrap();
            assert_eq!(report.problems().map(|found| &found.why).collect::<Vec<_>>(), Vec::<&String>::new());
            // Rests of blocks of small pieces are on no list.
            assert!(report.lost <= 4096, "{low:?}, write {position}: {:?}", report.findings);
            if !failed {
                break;
            }
        }
        assert!(failures > 0, "{low:?}: nothing was written");
    }
}

type Wish = fn(NewDataset) -> NewDataset;

/// All kinds of indexes, filtered and not.
const WISHES: [Wish; 6] = [
    |new| new.chunks([SIDE]),
    |new| new.chunks([SIDE]).deflate(1),
    |new| new.chunks([SIDE]).max_shape([None]),
    |new| new.chunks([SIDE]).max_shape([None]).deflate(1),
    |new| new.chunks([COUNT]).fletcher32(),
    |new| new.contiguous(),
];

fn numbers(root: &Group, alloc: AllocTime) -> NewDataset {
    root.new_dataset::<i64>().shape([COUNT]).fill_value(7i64).alloc_time(alloc)
}

fn is(root: &Group, wanted: impl Fn(u64) -> i64) {
    let values = root.dataset("a").unwrap().read::<i64>().unwrap();
    assert!(values.iter().zip(0..).all(|(value, at)| *value == wanted(at)));
}

fn dataset(root: &Group) -> Dataset {
    root.dataset("a").unwrap()
}

#[test]
fn of_all_chunks_with_the_first_value() {
    for wish in WISHES {
        fails_anywhere(
            |root| drop(wish(numbers(root, AllocTime::Late)).create("a").unwrap()),
            |root| dataset(root).write_slice(SIDE + 5..SIDE + 6, &[1i64]),
            |root| is(root, |at| if at == SIDE + 5 { 1 } else { 7 }),
        );
    }
}

#[test]
fn of_a_new_dataset() {
    for wish in WISHES {
        fails_anywhere(
            |_| {},
            |root| wish(numbers(root, AllocTime::Early)).create("a").map(drop),
            |root| is(root, |_| 7),
        );
    }
}

#[test]
fn of_a_dataset_that_grows_or_shrinks() {
    for wish in &WISHES[2..4] {
        for (alloc, new) in [(AllocTime::Early, 2 * COUNT), (AllocTime::Incremental, SIDE / 2)] {
            fails_anywhere(
                |root| wish(numbers(root, alloc)).write("a", &vec![3; COUNT as usize]).map(drop).unwrap(),
                |root| dataset(root).resize([new]),
                |root| {
                    assert_eq!(dataset(root).shape(), [new]);
                    is(root, |at| if at < COUNT { 3 } else { 7 });
                },
            );
        }
    }
}

fn texts(from: usize, count: usize, length: usize) -> Vec<String> {
    (from..from + count).map(|nth| format!("{nth:0length$}")).collect()
}

#[test]
fn of_texts() {
    for (wish, count, length) in [
        (WISHES[0], 60, 400),
        (WISHES[1], 3000, 20),
        (WISHES[5], 60, 400),
        (WISHES[5], 9000, 20),
        (WISHES[3], 50, 5000),
    ] {
        let new = |root: &Group| wish(root.new_dataset::<String>().shape([COUNT]));
        let part = |root: &Group, from| dataset(root).write_slice(0..count as u64, &texts(from, count, length));
        let is = |root: &Group| {
            let seen = dataset(root).read::<String>().unwrap();
            assert!(seen[..count] == texts(5, count, length) && seen[count..].iter().all(String::is_empty));
        };
        fails_anywhere(|root| drop(new(root).create("a").unwrap()), |root| part(root, 5), is);
        // Objects of the heap that are there, and others that are taken back.
        fails_anywhere(
            |root| {
                new(root).create("a").unwrap();
                part(root, 100).unwrap();
                root.file().flush().unwrap();
                part(root, 200).unwrap();
            },
            |root| part(root, 5),
            is,
        );
    }
}

#[test]
fn of_an_attribute() {
    let is = |root: &Group| assert_eq!(root.attribute("a").unwrap().read::<String>().unwrap(), texts(9, 20, 900));
    fails_anywhere(
        |root| root.set_attribute_values("a", &texts(1, 20, 900)).unwrap(),
        |root| root.set_attribute_values("a", &texts(9, 20, 900)),
        is,
    );
}

/// Objects of a file that has no space take none: the file is as large as before.
#[test]
fn requests_that_fail_again_and_again_take_no_space() {
    let (file, disk) =
        new_file(LibVersion::V18, |root| drop(root.new_dataset::<String>().shape([COUNT]).create("a").unwrap()));
    let root = file.root().unwrap();
    dataset(&root).write_slice(0..2, &texts(0, 2, 100)).unwrap();
    file.flush().unwrap();
    let before = file.size();
    disk.arm_forever(Target::Writes, 0, Damage::Fail);
    for _ in 0..20 {
        assert!(dataset(&root).write(&texts(0, COUNT as usize, 30)).is_err());
        assert!(numbers(&root, AllocTime::Early).chunks([SIDE]).create("b").is_err());
    }
    disk.disarm();
    file.flush().unwrap();
    assert!(file.size() <= before + 8192, "{before} bytes became {}", file.size());
}
