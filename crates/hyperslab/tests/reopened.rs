//! Files that are opened again and again, each time to overwrite something: they do not grow, and `check` accounts for every byte of them.

use std::sync::Arc;

use hyperslab::{
    File, LibVersion, OpenOptions, check,
    driver::{Driver, Memory, Transfer},
};

type Change = fn(&File, usize);

const ROUNDS: usize = 60;

/// What a file begins with, and what each opening of it overwrites.
const KINDS: [(&str, Change, Change); 10] = [
    (
        "one of 200 attributes",
        |file, _| {
            let dataset = file.root().unwrap().new_dataset::<i32>().shape([10]).create("d").unwrap();
            (0..200).for_each(|nth| dataset.set_attribute_values(format!("a{nth}"), &[nth; 20]).unwrap());
        },
        |file, round| {
            let name = format!("a{}", round * 7 % 200);
            file.dataset("d").unwrap().set_attribute_values(&name, &[round as i32; 20]).unwrap();
        },
    ),
    (
        "one attribute of changing size",
        |file, _| drop(file.root().unwrap().new_dataset::<i32>().shape([1000]).create("d").unwrap()),
        |file, round| file.dataset("d").unwrap().set_attribute_values("x", &vec![1i64; 50 + round % 7]).unwrap(),
    ),
    (
        "one of 1,000 strings",
        |file, _| {
            let dataset = file.root().unwrap().new_dataset::<String>().shape([1000]).create("s").unwrap();
            dataset.write(&texts(1000, 0)).unwrap();
        },
        |file, round| {
            let at = (round * 7 % 1000) as i64;
            let text = "y".repeat(round * 13 % 90);
            file.dataset("s").unwrap().write_slice(hyperslab::s![at..at + 1], &[text]).unwrap();
        },
    ),
    (
        "a row of compressed chunks",
        |file, _| {
            let new = file.root().unwrap().new_dataset::<i32>().shape([200, 200]).chunks([10, 50]).deflate(1);
            new.create("z").unwrap().write(&random(40_000, 0)).unwrap();
        },
        |file, round| {
            let at = (round * 10 % 200) as i64;
            file.dataset("z")
                .unwrap()
                .write_slice(hyperslab::s![at..at + 10, ..], &random(2000, round as u64))
                .unwrap();
        },
    ),
    (
        "a group that goes and another that comes",
        |file, _| (0..100).for_each(|nth| drop(file.root().unwrap().create_group(format!("g{nth}")).unwrap())),
        |file, round| {
            let root = file.root().unwrap();
            root.delete(format!("g{round}")).unwrap();
            root.create_group(format!("g{}", round + 100)).unwrap();
        },
    ),
    (
        "a dataset that is made again",
        |file, _| make_again(file, 0),
        |file, round| (0..10).for_each(|nth| make_again(file, 10 * round + nth)),
    ),
    (
        "all strings at once",
        |file, _| drop(file.root().unwrap().new_dataset::<String>().write("s", &texts(3000, 89)).unwrap()),
        |file, round| file.dataset("s").unwrap().write(&texts(3000, round)).unwrap(),
    ),
    (
        "all compressed chunks at once",
        |file, _| {
            let new = file.root().unwrap().new_dataset::<i32>().shape([200, 200]).chunks([10, 50]).deflate(1);
            new.create("z").unwrap().write(&random(40_000, 0)).unwrap();
        },
        |file, round| file.dataset("z").unwrap().write(&random(40_000, round as u64)).unwrap(),
    ),
    ("links that come and go", |file, _| come_and_go(file, 0), |file, round| come_and_go(file, 1 + round)),
    (
        "attributes that come and go",
        |file, _| (0..300).for_each(|nth| file.root().unwrap().set_attribute(format!("a{nth}"), nth).unwrap()),
        |file, round| {
            let root = file.root().unwrap();
            (0..300).filter(|nth| nth % 2 == round as i32 % 2).for_each(|nth| {
                root.remove_attribute(format!("a{nth}")).unwrap();
            });
            (0..300).filter(|nth| nth % 2 == round as i32 % 2).for_each(|nth| {
                root.set_attribute(format!("a{nth}"), nth).unwrap();
            });
        },
    ),
];

fn texts(count: usize, round: usize) -> Vec<String> {
    (0..count).map(|nth| format!("text {nth} {}", "x".repeat((nth + round) % 90))).collect()
}

fn make_again(file: &File, round: usize) {
    let root = file.root().unwrap();
    let _was_there = root.delete("d");
    root.new_dataset::<i32>().write("d", &vec![1; 500 + round % 50]).unwrap();
}

/// Half of the links go, or come.
fn come_and_go(file: &File, round: usize) {
    let root = file.root().unwrap();
    for nth in 0..500 {
        let name = format!("link {nth}");
        match (round, nth % 2) {
            (0, _) => root.soft_link(&name, "/nowhere").unwrap(),
            (round, half) if half == (round - 1) / 2 % 2 => match round % 2 {
                1 => root.delete(&name).unwrap(),
                _ => root.soft_link(&name, "/nowhere").unwrap(),
            },
            _ => {}
        }
    }
}

fn random(count: usize, seed: u64) -> Vec<i32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| random.i32(0..100)).collect()
}

#[test]
fn files_do_not_grow_by_being_opened() {
    for (what, begin, change) in KINDS {
        for low in [LibVersion::Earliest, LibVersion::V110] {
            let storage = Arc::new(Memory::new());
            let options = OpenOptions::new().libver_min(low);
            let file = options.clone().create().truncate().open_on(storage.clone()).unwrap();
            begin(&file, 0);
            file.close().unwrap();
            let mut sizes = vec![storage.len(&Transfer::default()).unwrap()];
            for round in 0..ROUNDS {
                let file = options.clone().read_write().open_on(storage.clone()).unwrap();
                change(&file, round);
                file.close().unwrap();
                sizes.push(storage.len(&Transfer::default()).unwrap());
                let report = check::storage(storage.clone()).unwrap();
                assert_eq!(report.problems().count(), 0, "{what}, {low:?}, round {round}: {report:#?}");
            }
            // Lists of free space come and go with what is free, so that single sizes go up and down.
            let most = |third: usize| *sizes[third * ROUNDS / 3..][..ROUNDS / 3].iter().max().unwrap();
            let (first, middle, last) = (sizes[0], most(1), most(2).max(sizes[ROUNDS]));
            assert!(last <= middle + middle / 50, "{what}, {low:?}: it goes on growing, {sizes:?}");
            assert!(last <= first + first / 5 + 8192, "{what}, {low:?}: {sizes:?}");
        }
    }
}
