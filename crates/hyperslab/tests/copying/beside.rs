//! Copies of what other threads change meanwhile: each is what the object was at some moment.

use std::sync::{
    Arc, Barrier,
    atomic::{AtomicBool, Ordering},
};

use hyperslab::{CacheConfig, CopyOptions, Dataset, File, LibVersion, OpenOptions, Repack, driver::Memory};

use crate::copying::scene::{new_file, path};

const CHUNKS: u64 = 64;
const SIDE: u64 = 512;

/// Runs `change` in another thread again and again, and `copy` so many times in this one.
fn beside(times: usize, change: impl Fn(u64) + Sync, mut copy: impl FnMut(usize)) {
    let (done, begun) = (AtomicBool::new(false), Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            begun.wait();
            let mut nth = 0;
            while !done.load(Ordering::Relaxed) {
                change(nth);
                nth += 1;
            }
        });
        begun.wait();
        // The other thread ends also if this one fails.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (0..times).for_each(&mut copy)));
        done.store(true, Ordering::Relaxed);
        if let Err(why) = ended {
            std::panic::resume_unwind(why);
        }
    });
}

/// A file whose cache holds a few chunks.
fn small_cache() -> File {
    let config = CacheConfig::default().bytes(8 * SIDE as usize * 8).reserve(0);
    OpenOptions::new().create().truncate().cache(config).open_on(Arc::new(Memory::new())).unwrap()
}

fn write_chunk_values(dataset: &Dataset, nth: u64) {
    let values: Vec<u64> = (0..SIDE).map(|_| nth).collect();
    dataset.write_slice(nth * SIDE..(nth + 1) * SIDE, &values).unwrap();
}

/// Each value of chunk `n` is `n` at all times, but the chunks move in the file.
#[test]
fn chunks_that_are_written_meanwhile() {
    // More bytes than are copied with one request.
    const SIDE: u64 = 40 << 10;
    let file = small_cache();
    let root = file.root().unwrap();
    let new = root.new_dataset::<u64>().shape([SIDE * CHUNKS]).chunks([SIDE]).fletcher32();
    let from = new.create("from").unwrap();
    let write = |nth: u64| from.write_slice(nth * SIDE..(nth + 1) * SIDE, &vec![nth; SIDE as usize]).unwrap();
    (0..CHUNKS).for_each(write);
    file.flush().unwrap();
    // A few that change places with each flush.
    let change = |nth: u64| {
        write(nth % 3);
        write(CHUNKS - 1 - nth % 2);
        file.flush().unwrap();
    };
    beside(5, change, |_| {
        let copy = root.copy("from", &root, "copy").unwrap().into_dataset().unwrap();
        let values = copy.read::<u64>().unwrap();
        let wrong = values.iter().zip(0..).find(|(value, at)| **value != at / SIDE);
        assert_eq!(wrong, None);
        drop(copy);
        root.delete("copy").unwrap();
    });
}

/// All texts of a column are of one round.
#[test]
fn texts_that_are_written_meanwhile() {
    let (file, _storage) = new_file(LibVersion::V18);
    let root = file.root().unwrap();
    let texts = |nth: u64| vec![format!("{nth:060}"); 3000];
    let from = root.new_dataset::<String>().chunks([100]).write("from", &texts(0)).unwrap();
    root.set_attribute("text", &*format!("{:0200}", 0)).unwrap();
    let change = |nth: u64| {
        from.write(&texts(nth)).unwrap();
        root.set_attribute("text", &*format!("{nth:0200}")).unwrap();
    };
    beside(20, change, |_| {
        let copy = root.copy("/", &root, "copy");
        let copy = copy.and_then(hyperslab::Node::into_group).unwrap();
        let values = copy.dataset("from").unwrap().read::<String>().unwrap();
        assert_eq!(values.iter().find(|value| **value != values[0]), None);
        let text = copy.attribute("text").unwrap().read_scalar::<String>().unwrap();
        assert!(text.len() == 200 && text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
        drop(copy);
        root.delete("copy").unwrap();
    });
}

/// A copy of a dataset that grows and shrinks has one of the sizes, and the values that belong to it.
#[test]
fn a_size_that_changes_meanwhile() {
    let file = small_cache();
    let root = file.root().unwrap();
    let new = root.new_dataset::<u64>().shape([SIDE]).max_shape([None]).chunks([SIDE]).deflate(1).fill_value(u64::MAX);
    let from = new.create("from").unwrap();
    let change = |nth: u64| {
        let rows = 1 + nth * 5 % CHUNKS;
        from.resize([rows * SIDE]).unwrap();
        write_chunk_values(&from, rows - 1);
    };
    let target = path("sizes");
    beside(40, change, |nth| {
        let (copied, other) = match nth % 4 {
            0 => {
                Repack::new().run(&file, &target).unwrap();
                let other = File::open(&target).unwrap();
                (other.dataset("from").unwrap(), Some(other))
            }
            _ => (root.copy("from", &root, "copy").unwrap().into_dataset().unwrap(), None),
        };
        let values = copied.read::<u64>().unwrap();
        assert_eq!(values.len() as u64 % SIDE, 0);
        let good = |(value, at): (&u64, u64)| *value == at / SIDE || *value == u64::MAX;
        assert!(values.iter().zip(0..).all(good), "copy {nth}");
        drop(copied);
        match other {
            Some(other) => {
                drop(other);
                std::fs::remove_file(&target).unwrap();
            }
            None => root.delete("copy").unwrap(),
        }
    });
}

/// What shows how far a copy is may read, write and resize all datasets.
#[test]
fn progress_may_use_what_is_copied() {
    let file = small_cache();
    let root = file.root().unwrap();
    let from = root.new_dataset::<u64>().shape([SIDE * 8]).max_shape([None]).chunks([SIDE]).create("from").unwrap();
    (0..8).for_each(|nth| write_chunk_values(&from, nth));
    let (mut shown, other) = (0, new_file(LibVersion::V110).0);
    let mut show = |_| {
        shown += 1;
        write_chunk_values(&from, 0);
        from.resize([SIDE * (8 + shown)]).unwrap();
    };
    let copy = CopyOptions::new().copy_showing(&root.get("from").unwrap(), &other.root().unwrap(), "to", &mut show);
    let copy = copy.unwrap().into_dataset().unwrap();
    assert!(shown > 0 && copy.shape()[0].is_multiple_of(SIDE));
    assert_eq!(copy.read_slice::<u64>(7 * SIDE..8 * SIDE).unwrap(), [7; SIDE as usize]);
}
