//! Flushes that fail in the middle, and work that goes on.

use std::path::Path;

use fastrand::Rng;
use hyperslab::{
    CacheConfig, File, LibVersion, OpenOptions,
    driver::{Damage, Driver, Target, Transfer},
};

use crate::unwritable::scene::{CHUNK, Disk, disk, positions, stored};

const CHUNKS: usize = 4;

/// The file as a process that is killed leaves it.
fn left(disk: &Disk) -> File {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("left-by-a-flush.h5");
    let mut bytes = vec![0; disk.len(&Transfer::default()).unwrap() as usize];
    disk.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    File::open(path).unwrap()
}

/// The file may name what the flush wrote as new before it failed: others must not get that space.
#[test]
fn what_was_given_out_before_a_flush_that_fails_is_not_given_out_again() {
    for spare in 0..positions().min(30) {
        let disk = disk();
        let file = OpenOptions::new()
            .create()
            .truncate()
            .libver_min(LibVersion::V114)
            .cache(CacheConfig::default().bytes(0))
            .open_on(disk.clone())
            .unwrap();
        let root = file.root().unwrap();
        let new = root.new_dataset::<u8>().shape([(CHUNK * CHUNKS) as u64]).chunks([CHUNK as u64]).deflate(1);
        let dataset = new.create("set").unwrap();
        let (mut rng, mut given) = (Rng::with_seed(spare), vec![Vec::new(); CHUNKS]);
        let mut put = |nth: usize| {
            let values: Vec<u8> = (0..CHUNK).map(|_| rng.u8(..)).collect();
            let from = nth * CHUNK;
            dataset.write_slice(from as u64..(from + CHUNK) as u64, &values).unwrap();
            given[nth].push(values);
        };
        (0..CHUNKS).for_each(&mut put);
        file.flush().unwrap();
        let groups: Vec<_> = (0..3).map(|nth| root.create_group(format!("group{nth}")).unwrap()).collect();
        file.flush().unwrap();
        put(0);
        groups.iter().for_each(|group| group.set_attribute("a", 1).unwrap());
        disk.arm(Target::Writes, spare / 2, if spare % 2 == 0 { Damage::Fail } else { Damage::TearAtPart(1) });
        let _ = file.flush();
        disk.disarm();
        [0, 1, 2, 1].into_iter().for_each(&mut put);
        let left = left(&disk).dataset("set").unwrap().read::<u8>().unwrap();
        for (nth, chunk) in left.chunks(CHUNK).enumerate() {
            assert!(
                given[nth].iter().any(|values| values == chunk),
                "write {spare}: chunk {nth} has values of another one"
            );
        }
        file.close().unwrap();
    }
}

/// A change may need a flush before it begins. If that fails, nothing was changed, and the file can be used.
#[test]
fn a_flush_before_a_change_may_fail() {
    for low in [LibVersion::Earliest, LibVersion::V18, LibVersion::V114] {
        let disk = disk();
        let file = OpenOptions::new().create().truncate().libver_min(low).open_on(disk.clone()).unwrap();
        let root = file.root().unwrap();
        (0..20).for_each(|nth| drop(root.new_dataset::<i32>().write(format!("set{nth}"), &[nth]).unwrap()));
        file.flush().unwrap();
        disk.arm_forever(Target::Writes, 0, Damage::Fail);
        (0..60).for_each(|nth| drop(root.create_group(format!("group{nth}")).unwrap()));
        root.hard_link("other", &root.get("set1").unwrap()).unwrap();
        let deleted = root.delete("set1");
        assert!(deleted.is_err(), "{low:?}: the other name must be written before");
        disk.disarm();
        root.new_dataset::<i32>().write("more", &[5]).unwrap_or_else(|why| panic!("{low:?}: {why}"));
        root.delete("set1").unwrap();
        file.close().unwrap();
        let file = stored(&disk);
        assert_eq!(file.dataset("other").unwrap().read::<i32>().unwrap(), [1]);
        assert_eq!(file.dataset("more").unwrap().read::<i32>().unwrap(), [5]);
        assert!(file.dataset("set1").is_err());
    }
}
