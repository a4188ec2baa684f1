//! Little memory: whatever asks for more than there is gets an error, and the file stays usable.

#![cfg(target_os = "linux")]

use std::process::Command;

use hyperslab::{
    Dataset, ErrorKind, File, NewDataset,
    filter::{BitshuffleCodec, Blosc2Stage, BloscCodec, BloscShuffle},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The bytes of a chunk.
const CHUNK: usize = 2 << 20;
/// How much more than now may be taken, in KiB.
const MORE: [u64; 5] = [700, 1_500, 2_800, 5_300, 9_900];

type With = fn(NewDataset) -> NewDataset;

const WAYS: [(&str, With); 16] = [
    ("plain", |new| new),
    ("contiguous", NewDataset::contiguous),
    ("deflate", |new| new.shuffle().deflate(6)),
    ("fletcher32", NewDataset::fletcher32),
    ("szip", |new| new.szip(true, 16)),
    ("scaleoffset", |new| new.scaleoffset(0)),
    ("nbit", NewDataset::nbit),
    ("lzf", NewDataset::lzf),
    ("zstd", |new| new.zstd(3)),
    ("lz4", NewDataset::lz4),
    ("bzip2", |new| new.bzip2(1)),
    ("bitshuffle", |new| new.bitshuffle(BitshuffleCodec::Lz4)),
    ("bitshuffle alone", |new| new.bitshuffle(BitshuffleCodec::None)),
    ("blosc", |new| new.blosc(5, BloscShuffle::Byte, BloscCodec::Zlib)),
    ("blosc bits", |new| new.blosc(5, BloscShuffle::Bit, BloscCodec::BloscLz)),
    ("blosc2", |new| new.blosc2(5, Blosc2Stage::Delta, BloscCodec::Zstd)),
];

/// What this process has mapped, in KiB.
fn mapped() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Does something with so much more memory than now; whether there was enough.
fn within<T>(more: u64, work: impl FnOnce() -> hyperslab::Result<T>) -> bool {
    let before = getrlimit(Resource::As);
    setrlimit(Resource::As, Rlimit { current: Some((mapped() + more) << 10), ..before }).unwrap();
    let done = work();
    setrlimit(Resource::As, before).unwrap();
    match done {
        Ok(_) => true,
        Err(why) => {
            assert_eq!(why.kind(), ErrorKind::OutOfMemory, "{why}");
            false
        }
    }
}

fn values(salt: u32) -> Vec<u16> {
    (0..2 * CHUNK as u32 / 2).map(|nth| (nth / 7).wrapping_mul(nth >> 9) as u16 ^ salt as u16).collect()
}

fn create(file: &File, name: &str, with: With) -> Dataset {
    let new = file.root().unwrap().new_dataset::<u16>().shape([CHUNK as u64]);
    let new = if name == "contiguous" { new } else { new.chunks([CHUNK as u64 / 2]) };
    with(new).create(name).unwrap()
}

fn try_all() {
    let path = std::env::temp_dir().join(format!("hyperslab-memory-{}.h5", std::process::id()));
    let file = File::create(&path).unwrap();
    let (mut failed, mut done) = (0, 0);
    for (nth, (name, with)) in WAYS.into_iter().enumerate() {
        let (first, second) = (values(1), values(nth as u32 + 2));
        let dataset = create(&file, name, with);
        // Threads and their stacks are there from now on.
        dataset.write(&first).unwrap();
        file.flush().unwrap();
        let mut wanted = first;
        for more in MORE {
            for past in [false, true] {
                let handle = if past { dataset.past_cache() } else { dataset.clone() };
                let written = within(more, || handle.write(&second));
                let flushed = within(more, || file.flush());
                if written {
                    wanted.clone_from(&second);
                } else {
                    // A part of it may be written: what was there, or what is new.
                    let now = dataset.read::<u16>().unwrap();
                    let known = now.iter().zip(wanted.iter().zip(&second));
                    assert!(known.into_iter().all(|(now, (old, new))| now == old || now == new), "{name}");
                    wanted = now;
                }
                let _ = dataset.evict();
                let read = within(more, || {
                    let read = handle.read::<u16>()?;
                    assert!(read == wanted, "{name}");
                    Ok(())
                });
                for outcome in [written, flushed, read] {
                    if outcome { done += 1 } else { failed += 1 }
                }
            }
        }
        file.flush().unwrap();
        assert!(dataset.read::<u16>().unwrap() == wanted, "{name}");
        dataset.evict().unwrap();
        assert!(dataset.read::<u16>().unwrap() == wanted, "{name}");
    }
    // Values that are converted.
    let new = file.root().unwrap().new_dataset::<i64>().shape([CHUNK as u64]).chunks([CHUNK as u64 / 8]);
    let (wide, numbers) = (new.create("wide").unwrap(), values(0));
    wide.write(&numbers).unwrap();
    for more in MORE {
        let written = within(more, || wide.write(&numbers));
        let read = within(more, || wide.read::<u16>().map(|read| assert!(read == numbers)));
        for outcome in [written, read] {
            if outcome { done += 1 } else { failed += 1 }
        }
    }
    file.close().unwrap();
    std::fs::remove_file(&path).unwrap();
    println!("{failed} failed, {done} done");
    assert!(failed > 50 && done > 50, "{failed} failed, {done} done");
}

#[test]
fn little_memory_is_an_error_and_no_more() {
    const CHILD: &str = "HYPERSLAB_MEMORY_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return try_all();
    }
    // In a process of its own: one that dies takes no other test with it. Freed memory goes back to the system at once.
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "out_of_memory::little_memory_is_an_error_and_no_more", "--nocapture"]).env(CHILD, "1");
    child.envs([("MALLOC_MMAP_THRESHOLD_", "65536"), ("MALLOC_TRIM_THRESHOLD_", "65536"), ("MALLOC_ARENA_MAX", "1")]);
    let output = child.output().unwrap();
    let told = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{:?}: {told}", output.status);
}
