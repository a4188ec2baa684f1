//! A flush while another thread writes.

use std::{sync::Barrier, thread};

use fastrand::Rng;
use hyperslab::{
    File,
    driver::{Damage, Target},
};

use crate::unwritable::scene::{CACHES, Disk, Good, create, disk, picky, spoil, stored};

/// Runs `other` in another thread, and flushes at the same time: what the flush said, and the file as it was then. What the other thread writes later
/// must not hide what the flush left out.
fn flush_beside<T: Send>(
    file: &File,
    disk: &Disk,
    other: impl FnOnce() -> T + Send,
) -> (hyperslab::Result<()>, File, T) {
    let start = Barrier::new(2);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            start.wait();
            other()
        });
        start.wait();
        let flushed = file.flush();
        (flushed, stored(disk), other.join().unwrap())
    })
}

/// Whichever of the two threads the failure strikes: a flush that succeeds has stored all that was written before it began.
#[test]
fn a_flush_beside_a_thread_that_fails_tells_the_truth() {
    let mut outcomes = [0; 4];
    for cache in &CACHES[1..] {
        let disk = disk();
        let file = create(&disk, *cache);
        let mut goods = ["one", "two"].map(|name| Good::new(&file, name));
        for round in 0..200 {
            let mut rng = Rng::with_seed(round);
            (0..6).for_each(|nth| goods[nth % 2].step(&mut rng).unwrap());
            let [one, two] = &goods;
            let start = rng.usize(..one.values.len() - 900);
            (0..rng.u64(1..4)).for_each(|_| disk.arm(Target::Writes, rng.u64(..5), Damage::Fail));
            let work = || match round % 4 {
                0 => one.dataset.evict(),
                1 => one.dataset.flush(),
                2 => file.flush(),
                // The values that are there already, so that it does not matter how much of it is done.
                _ => one.dataset.write_slice(start as u64..start as u64 + 900, &one.values[start..start + 900]),
            };
            let (flushed, seen, other) = flush_beside(&file, &disk, || work().and(work()));
            disk.disarm();
            outcomes[usize::from(flushed.is_ok()) * 2 + usize::from(other.is_ok())] += 1;
            if flushed.is_ok() {
                one.assert_in(&seen, "one");
                two.assert_in(&seen, "two");
            }
        }
        file.close().unwrap();
        for (good, name) in goods.iter().zip(["one", "two"]) {
            good.assert_in(&stored(&disk), name);
        }
    }
    println!("both fail, the flush fails, the other thread fails, both succeed: {outcomes:?}");
    assert!(outcomes[1] > 0 && outcomes[2] > 0, "{outcomes:?}");
}

/// Also if the other thread has the chunk in hand when the flush looks for it.
#[test]
fn a_flush_tells_of_noise_that_another_thread_cannot_write_either() {
    for cache in &CACHES[1..] {
        let disk = disk();
        let file = create(&disk, *cache);
        let (bad, mut good) = (picky(&file), Good::new(&file, "good"));
        file.flush().unwrap();
        spoil(&bad, 5).unwrap();
        for round in 0..200 {
            let mut rng = Rng::with_seed(round);
            (0..3).for_each(|_| good.step(&mut rng).unwrap());
            let (flushed, seen, other) = flush_beside(&file, &disk, || match round % 3 {
                0 => bad.evict(),
                1 => bad.flush(),
                _ => file.flush(),
            });
            for told in [flushed, other] {
                let why = told.expect_err("the chunk is not in the file").to_string();
                assert!(why.contains("chunk [5] of the dataset at address") && why.contains("lzf"), "{why}");
            }
            good.assert_in(&seen, "good");
        }
        bad.discard().unwrap();
        file.close().unwrap();
    }
}
