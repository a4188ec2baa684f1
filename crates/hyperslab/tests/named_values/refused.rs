//! Chunks that cannot be written, of values that name objects: the file goes on to name the old ones, and these stay until the user decides.

use std::sync::Arc;

use fastrand::Rng;
use hyperslab::{
    CacheConfig, Dataset, Element, File, OpenOptions,
    driver::{Damage, Driver, Fault, Memory, Target, Transfer},
    filter::Lzf,
};

use super::collections;

const NOISE: usize = 4000;

/// A value that a filter may refuse.
#[derive(Clone, Debug, PartialEq, Element)]
struct Value {
    text: String,
    noise: [u8; NOISE],
}

fn plain(text: &str) -> Value {
    Value { text: text.into(), noise: [0; NOISE] }
}

fn noise(text: &str) -> Value {
    let mut rng = Rng::with_seed(7);
    Value { text: text.into(), noise: [(); NOISE].map(|()| rng.u8(..)) }
}

fn copied(storage: &impl Driver) -> Arc<Memory> {
    let mut bytes = vec![0; storage.len(&Transfer::default()).unwrap() as usize];
    storage.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    Arc::new(Memory::from(bytes))
}

fn texts(dataset: &Dataset) -> Vec<String> {
    dataset.read::<Value>().unwrap().into_iter().map(|value| value.text).collect()
}

#[test]
fn old_texts_stay_until_the_user_decides() {
    type Decide = fn(&File, &Dataset) -> Option<Vec<&'static str>>;
    let ways: [(&str, Decide); 6] = [
        ("overwrite", |_, bad| {
            bad.write_slice(1..2, &[plain("newest")]).unwrap();
            Some(vec!["a", "newest", "C"])
        }),
        ("discard", |_, bad| {
            bad.discard().unwrap();
            Some(vec!["a", "b", "c"])
        }),
        ("delete", |file, _| {
            file.root().unwrap().delete("x").unwrap();
            None
        }),
        ("resize", |_, bad| {
            bad.resize([1]).unwrap();
            Some(vec!["a"])
        }),
        ("close", |_, _| Some(vec!["a", "b", "C"])),
        ("evict", |_, bad| {
            bad.evict().unwrap_err();
            bad.write_slice(1..2, &[plain("B")]).unwrap();
            bad.evict().unwrap();
            Some(vec!["a", "B", "C"])
        }),
    ];
    for (way, decide) in ways {
        let storage = Arc::new(Memory::new());
        let cache = CacheConfig::default().bytes(1 << 20);
        let file = OpenOptions::new().create().truncate().cache(cache).open_on(storage.clone()).unwrap();
        let new = file.root().unwrap().new_dataset::<Value>().shape([3]).max_shape([None]).chunks([1]);
        let new = new.mandatory_filter(Lzf::ID, &Lzf::params(NOISE as u32 + 16));
        let bad = new.write("x", &["a", "b", "c"].map(plain)).unwrap();
        file.flush().unwrap();
        bad.write_slice(1..2, &[noise("an unwritten one")]).unwrap();
        bad.write_slice(1..2, &[noise("B")]).unwrap();
        if way != "discard" {
            bad.write_slice(2..3, &[plain("C")]).unwrap();
        }
        for _ in 0..2 {
            assert!(file.flush().unwrap_err().to_string().contains("lzf"), "{way}");
            let seen = File::open_driver(copied(&storage)).unwrap();
            assert_eq!(texts(&seen.dataset("x").unwrap())[..2], ["a", "b"], "{way}");
            assert_eq!(texts(&bad)[1], "B");
        }
        let wanted = decide(&file, &bad);
        drop(bad);
        let closed = file.close();
        assert_eq!(closed.is_err(), way == "close", "{way}: {closed:?}");
        let file = OpenOptions::new().read_write().unlocked().open_on(storage.clone()).unwrap();
        if let Some(wanted) = wanted {
            assert_eq!(texts(&file.dataset("x").unwrap()), wanted, "{way}");
            file.root().unwrap().delete("x").unwrap();
        }
        file.close().unwrap();
        assert_eq!(collections(&storage), 0, "{way}: objects that no value names");
    }
}

/// A resize that fails cuts no chunk off that is only in the cache, and takes none of its texts away.
#[test]
fn texts_stay_when_a_resize_fails() {
    for resizes_again in [false, true] {
        let disk = Arc::new(Fault::new(Memory::new()));
        let cache = CacheConfig::default().bytes(1 << 20);
        let file = OpenOptions::new().create().truncate().cache(cache).open_on(disk.clone()).unwrap();
        let new = file.root().unwrap().new_dataset::<Value>().shape([3]).max_shape([None]).chunks([1]);
        let new = new.mandatory_filter(Lzf::ID, &Lzf::params(NOISE as u32 + 16));
        let bad = new.write("x", &["a", "b", "c"].map(plain)).unwrap();
        file.flush().unwrap();
        bad.write_slice(2..3, &[noise("an unwritten one")]).unwrap();
        bad.write_slice(2..3, &[noise("C")]).unwrap();
        for _ in 0..2 {
            disk.arm_forever(Target::Writes, 0, Damage::Fail);
            assert!(bad.resize([1]).is_err());
            disk.disarm();
            assert_eq!(texts(&bad), ["a", "b", "C"]);
        }
        let wanted = if resizes_again {
            bad.resize([1]).unwrap();
            vec!["a"]
        } else {
            bad.write_slice(2..3, &[plain("D")]).unwrap();
            vec!["a", "b", "D"]
        };
        assert_eq!(texts(&bad), wanted);
        drop(bad);
        file.close().unwrap();
        let file = OpenOptions::new().read_write().unlocked().open_on(disk.clone()).unwrap();
        assert_eq!(texts(&file.dataset("x").unwrap()), wanted);
        file.root().unwrap().delete("x").unwrap();
        file.close().unwrap();
        assert_eq!(collections(&copied(&disk)), 0, "objects that no value names");
    }
}

/// Storage that fails at any write, for a while: each text is as it was before the write or as after it, and after that everything is as before.
#[test]
fn storage_that_fails_loses_no_text() {
    for (chunks, filtered, damage) in
        [(true, true, Damage::Fail), (true, false, Damage::Fail), (false, false, Damage::TearAtPart(1))]
    {
        for position in 0..60 {
            let disk = Arc::new(Fault::new(Memory::new()));
            let cache = CacheConfig::default().bytes(600).reserve(0);
            let file = OpenOptions::new().create().truncate().cache(cache).open_on(disk.clone()).unwrap();
            let mut new = file.root().unwrap().new_dataset::<String>().shape([40]);
            new = if chunks { new.chunks([8]) } else { new.contiguous() };
            new = if filtered { new.deflate(1) } else { new };
            let mut wanted: Vec<String> = (0..40).map(|nth| format!("first {nth}")).collect();
            let dataset = new.write("x", &wanted).unwrap();
            file.flush().unwrap();
            let mut rng = Rng::with_seed(position);
            disk.arm(Target::Writes, position, damage);
            for nth in 0..60 {
                let at = rng.usize(..40);
                let text = format!("text {nth} of some length");
                if dataset.write_slice(at as u64..=at as u64, std::slice::from_ref(&text)).is_ok() {
                    wanted[at] = text;
                } else {
                    let now = dataset.read_slice::<String>(at as u64..=at as u64).unwrap().remove(0);
                    assert!(now == wanted[at] || now == text, "{now}");
                    wanted[at] = now;
                }
                if nth % 9 == 0 {
                    let _ = file.flush();
                }
            }
            disk.disarm();
            assert_eq!(dataset.read::<String>().unwrap(), wanted);
            drop(dataset);
            if file.close().is_err() {
                // The file is poisoned: it is as it was flushed last.
                continue;
            }
            let seen = File::open_driver(copied(&disk)).unwrap();
            assert_eq!(seen.dataset("x").unwrap().read::<String>().unwrap(), wanted);
        }
    }
}
