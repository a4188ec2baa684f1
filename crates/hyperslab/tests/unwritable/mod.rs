//! Chunks that cannot be written: everything else goes on, and their values stay until the user decides.
//!
//! `HYPERSLAB_FULL` says at how many positions storage fails.

mod beside;
mod flushes;
mod large;
mod replaced;
mod scene;
mod space;

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, File, LibVersion, OpenOptions,
    driver::{Damage, Target},
    filter::Lzf,
    s,
};
use scene::{CACHES, CHUNK, CHUNKS, Good, create, disk, noise, picky, positions, spoil, stored};

#[test]
fn noise_in_one_dataset_holds_no_other_off() {
    for cache in CACHES {
        let disk = disk();
        let file = create(&disk, cache);
        let (bad, mut good) = (picky(&file), Good::new(&file, "good"));
        file.flush().unwrap();
        if cache == 0 {
            // Nothing waits: the write itself tells.
            assert!(spoil(&bad, 5).unwrap_err().to_string().contains("lzf"));
            (0..100).for_each(|nth| good.step(&mut Rng::with_seed(nth)).unwrap());
            file.close().unwrap();
            continue;
        }
        spoil(&bad, 5).unwrap();
        let mut rng = Rng::with_seed(1);
        (0..1024).for_each(|_| good.step(&mut rng).unwrap());
        assert!(file.cache_statistics().peak_bytes <= 2 * cache);
        // Each flush tells of it, and stores everything else.
        for _ in 0..2 {
            let why = file.flush().unwrap_err().to_string();
            assert!(why.contains("chunk [5] of the dataset at address") && why.contains("lzf"), "{why}");
            good.step(&mut rng).unwrap();
        }
        file.flush().unwrap_err();
        let seen = stored(&disk);
        good.assert_in(&seen, "good");
        assert!(seen.dataset("picky").unwrap().read::<u8>().unwrap().iter().all(|byte| *byte == 0));
        // It is all there for those who have the file open, also when they ask for much or for points.
        let noise = noise(5);
        let from = 5 * CHUNK;
        assert_eq!(bad.read::<u8>().unwrap()[from..from + CHUNK], noise);
        assert_eq!(bad.read_slice::<u8>(from as u64..(from + 9) as u64).unwrap(), noise[..9]);
        good.step(&mut rng).unwrap();
        let why = file.close().unwrap_err().to_string();
        assert!(why.contains("chunk [5]"), "{why}");
        good.assert_in(&stored(&disk), "good");
    }
}

#[test]
fn the_user_decides_what_becomes_of_noise() {
    type Decide = fn(&File, &Dataset);
    let ways: [(&str, Decide); 6] = [
        ("overwrite", |_, bad| bad.write_slice(5 * CHUNK as u64..6 * CHUNK as u64, &[7u8; CHUNK]).unwrap()),
        ("overwrite a part", |_, bad| {
            bad.write_slice(5 * CHUNK as u64..6 * CHUNK as u64 - 9, &[7u8; CHUNK - 9]).unwrap()
        }),
        ("discard", |_, bad| bad.discard().unwrap()),
        ("delete", |file, _| file.root().unwrap().delete("picky").unwrap()),
        ("resize", |_, bad| bad.resize([5 * CHUNK as u64]).unwrap()),
        ("replace", |_, bad| bad.write_chunk([5], 1, &[9u8; CHUNK]).unwrap()),
    ];
    for (way, decide) in ways {
        for cache in &CACHES[1..] {
            let disk = disk();
            let file = create(&disk, *cache);
            let bad = picky(&file);
            file.flush().unwrap();
            spoil(&bad, 5).unwrap();
            file.flush().unwrap_err();
            assert!(bad.evict().is_err() && bad.flush().is_err(), "{way}");
            decide(&file, &bad);
            // A dataset without a name stays while it has handles.
            let bad = (way != "delete").then_some(bad);
            file.flush().unwrap_or_else(|why| panic!("{way}: {why}"));
            let seen = stored(&disk);
            match bad {
                None => assert!(seen.dataset("picky").is_err()),
                Some(bad) => {
                    assert_eq!(seen.dataset("picky").unwrap().read::<u8>().unwrap(), bad.read::<u8>().unwrap(), "{way}")
                }
            }
            assert!(file.cache_statistics().bytes <= *cache);
            file.close().unwrap();
        }
    }
}

/// A request that is refused decides nothing.
#[test]
fn noise_stays_when_a_request_is_refused() {
    type Refused = fn(&Dataset) -> hyperslab::Result<()>;
    let ways: [(&str, Refused); 6] = [
        ("another rank", |bad| bad.resize([4, 4])),
        ("no dimensions", |bad| bad.resize([])),
        ("more chunks than an index holds", |bad| bad.resize([u64::MAX / 2])),
        ("a place with another rank", |bad| bad.write_chunk([5, 0], 0, &[9u8; CHUNK])),
        ("a place outside", |bad| bad.write_chunk([CHUNKS as u64], 0, &[9u8; CHUNK])),
        ("too large for its chunk", |bad| bad.write_chunk([5], 1, &vec![9u8; 1 << 26])),
    ];
    for (way, refused) in ways {
        let disk = disk();
        let options = OpenOptions::new().create().truncate().libver_min(LibVersion::V110);
        let file = options.cache(CacheConfig::default().bytes(4 * CHUNK)).open_on(disk.clone()).unwrap();
        let bad = picky(&file);
        file.flush().unwrap();
        spoil(&bad, 5).unwrap();
        // What goes with a smaller size cannot be written either.
        spoil(&bad, CHUNKS - 1).unwrap();
        let before = bad.read::<u8>().unwrap();
        assert!(refused(&bad).is_err(), "{way}");
        assert!(bad.read::<u8>().unwrap() == before, "{way}");
        assert!(file.flush().unwrap_err().to_string().contains("lzf"), "{way}");
        bad.discard().unwrap();
        file.close().unwrap();
    }
}

/// A shape that the dataset cannot have in one dimension, and that is smaller in another.
#[test]
fn noise_stays_when_a_smaller_shape_is_refused() {
    let disk = disk();
    let file = create(&disk, CACHES[2]);
    let new = file.root().unwrap().new_dataset::<u8>().shape([16 * 64, 64]).max_shape([Some(16 * 64), Some(128)]);
    let new = new.chunks([64, 64]).mandatory_filter(Lzf::ID, &Lzf::params(CHUNK as u32));
    let bad = new.create("bad").unwrap();
    bad.write_slice(s![..64, ..], &[1u8; CHUNK]).unwrap();
    bad.write_slice(s![5 * 64..6 * 64, ..], &noise(1)).unwrap();
    assert!(bad.resize([4 * 64, 129]).is_err());
    assert_eq!(bad.read_slice::<u8>(s![5 * 64..6 * 64, ..]).unwrap(), noise(1));
    assert!(file.flush().is_err());
    bad.resize([4 * 64, 64]).unwrap();
    file.close().unwrap();
}

#[test]
fn noise_that_fills_the_cache_sends_others_past_it() {
    let (disk, cache) = (disk(), CACHES[1]);
    let file = create(&disk, cache);
    let (bad, mut good) = (picky(&file), Good::new(&file, "good"));
    file.flush().unwrap();
    let spoiled: Vec<bool> = (0..CHUNKS).map(|nth| spoil(&bad, nth).is_ok()).collect();
    let kept = spoiled.iter().filter(|kept| **kept).count();
    // As many as fit are kept, and those who write more are told at once.
    assert!((1..=cache / CHUNK).contains(&kept), "{kept}");
    let mut rng = Rng::with_seed(3);
    (0..200).for_each(|_| good.step(&mut rng).unwrap());
    let statistics = file.cache_statistics();
    assert!(statistics.bytes <= cache && statistics.peak_bytes <= 2 * cache, "{statistics:?}");
    let why = file.flush().unwrap_err().to_string();
    assert!(why.contains("more)"), "{why}");
    good.assert_in(&stored(&disk), "good");
    let whole = bad.read::<u8>().unwrap();
    for (nth, _) in spoiled.iter().enumerate().filter(|(_, kept)| **kept) {
        assert_eq!(whole[nth * CHUNK..(nth + 1) * CHUNK], noise(nth as u64));
    }
    bad.discard().unwrap();
    file.close().unwrap();
}

#[test]
fn a_disk_that_fails_for_a_while_loses_nothing() {
    for cache in CACHES {
        let disk = disk();
        let file = create(&disk, cache);
        let mut goods: Vec<Good> = (0..3).map(|nth| Good::new(&file, &format!("good{nth}"))).collect();
        let mut rng = Rng::with_seed(4);
        (0..60).for_each(|nth| goods[nth % 3].step(&mut rng).unwrap());
        file.flush().unwrap();
        let before: Vec<Vec<i32>> = goods.iter().map(|good| good.values.clone()).collect();
        disk.arm_forever(Target::Writes, 0, Damage::Fail);
        for nth in 0..60 {
            let good = &mut goods[nth % 3];
            // A write may fail if it finds no room; nothing else may, and what it was to change is as it was.
            let _ = good.dataset.write_slice(7..8, &[nth as i32]).map(|()| good.values[7] = nth as i32);
            assert!(good.dataset.read::<i32>().unwrap() == good.values);
        }
        assert!(file.flush().is_err());
        let seen = stored(&disk);
        for (nth, before) in before.iter().enumerate() {
            assert_eq!(&seen.dataset(format!("good{nth}")).unwrap().read::<i32>().unwrap(), before);
        }
        disk.disarm();
        file.flush().unwrap();
        (0..60).for_each(|nth| goods[nth % 3].step(&mut rng).unwrap());
        file.close().unwrap();
        goods.iter().enumerate().for_each(|(nth, good)| good.assert_in(&stored(&disk), &format!("good{nth}")));
    }
}

/// Any write fails, once or for a while; whatever was flushed stays, and what could be written is there after the next flush.
#[test]
fn a_write_that_fails_at_any_position_costs_nothing() {
    for (cache, forever, damage) in [
        (CACHES[1], false, Damage::Fail),
        (CACHES[1], true, Damage::Fail),
        (CACHES[1], false, Damage::Tear(700)),
        (CACHES[2], false, Damage::TearAtPart(1)),
        (0, false, Damage::Shorten(100)),
    ] {
        for position in 0..positions() {
            let disk = disk();
            let file = create(&disk, cache);
            let mut goods: Vec<Good> = (0..3).map(|nth| Good::new(&file, &format!("good{nth}"))).collect();
            let mut rng = Rng::with_seed(position);
            (0..20).for_each(|nth| goods[nth % 3].step(&mut rng).unwrap());
            file.flush().unwrap();
            let flushed: Vec<Vec<i32>> = goods.iter().map(|good| good.values.clone()).collect();
            match forever {
                true => disk.arm_forever(Target::Writes, position, damage),
                false => disk.arm(Target::Writes, position, damage),
            }
            let mut failed = false;
            for nth in 0..20 {
                let good = &mut goods[nth % 3];
                let (at, value) = (rng.usize(..good.values.len()), rng.i32(..));
                match good.dataset.write_slice(at as u64..at as u64 + 1, &[value]) {
                    Ok(()) => good.values[at] = value,
                    Err(_) => failed = true,
                }
                if nth % 8 == 7 {
                    failed |= file.flush().is_err() | good.dataset.evict().is_err();
                }
            }
            failed |= file.flush().is_err();
            if failed {
                let seen = stored(&disk);
                for (nth, (good, flushed)) in goods.iter().zip(&flushed).enumerate() {
                    let seen = seen.dataset(format!("good{nth}")).unwrap().read::<i32>().unwrap();
                    let is_known = |(at, value): (usize, &i32)| *value == flushed[at] || flushed[at] != good.values[at];
                    assert!(seen.iter().enumerate().all(is_known), "position {position}: what was flushed is gone");
                }
            }
            disk.disarm();
            file.flush().unwrap_or_else(|why| panic!("cache {cache}, {damage:?} at {position}: {why}"));
            goods.iter().enumerate().for_each(|(nth, good)| good.assert_in(&file, &format!("good{nth}")));
            file.close().unwrap();
            goods.iter().enumerate().for_each(|(nth, good)| good.assert_in(&stored(&disk), &format!("good{nth}")));
        }
    }
}
