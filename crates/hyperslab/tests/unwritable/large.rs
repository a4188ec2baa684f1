//! Values that reach the storage in several requests, of which one fails.

use fastrand::Rng;
use hyperslab::{
    AllocTime, File, Result, check,
    driver::{Damage, Target},
};

use crate::unwritable::scene::{CACHES, Good, create, disk, stored};

const SOME: usize = 5 << 20;
/// More than what is encoded at once.
const MANY: usize = 72 << 20;
const CHUNK: u64 = 4 << 20;

/// A name, how many bytes are written, and how.
type Way = (&'static str, usize, fn(&File, &[u8]) -> Result<()>);

const WAYS: [Way; 4] = [
    ("contiguous", SOME, |file, values| file.root()?.new_dataset::<u8>().contiguous().write("large", values).map(drop)),
    ("chunked", SOME, |file, values| file.root()?.new_dataset::<u8>().chunks([CHUNK]).write("large", values).map(drop)),
    ("filtered", SOME, |file, values| {
        file.root()?.new_dataset::<u8>().chunks([CHUNK]).deflate(1).write("large", values).map(drop)
    }),
    // The first values bring space for all others, so they do not wait in the cache.
    ("filtered, allocated late", MANY, |file, values| {
        let new = file.root()?.new_dataset::<u8>().chunks([CHUNK]).deflate(1).alloc_time(AllocTime::Late);
        new.write("large", values).map(drop)
    }),
];

#[test]
fn a_large_write_that_fails_leaves_the_file_usable() {
    let values: Vec<u8> = (0..MANY).map(|nth| (nth >> 12) as u8).collect();
    for (name, count, write) in WAYS {
        let values = &values[..count];
        for position in 0..2 {
            let disk = disk();
            let file = create(&disk, CACHES[1]);
            let (mut good, mut rng) = (Good::new(&file, "good"), Rng::with_seed(position));
            good.step(&mut rng).unwrap();
            file.flush().unwrap();
            disk.arm(Target::Writes, position, Damage::Fail);
            let done = write(&file, values);
            disk.disarm();
            let what = format!("{name}, write {position}: {done:?}");
            good.step(&mut rng).unwrap_or_else(|why| panic!("{what}, then {why}"));
            file.flush().unwrap_or_else(|why| panic!("{what}, then {why}"));
            if done.is_err() {
                let _ = file.root().unwrap().delete("large");
                write(&file, values).unwrap_or_else(|why| panic!("{what}, then {why}"));
            }
            assert!(file.dataset("large").unwrap().read::<u8>().unwrap() == values, "{what}");
            file.close().unwrap();
            good.assert_in(&stored(&disk), "good");
            let report = check::storage(disk.clone()).unwrap();
            assert_eq!(report.problems().count(), 0, "{what}: {:?}", report.findings);
        }
    }
}
