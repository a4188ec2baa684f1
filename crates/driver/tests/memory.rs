//! Memory with a file behind it, and its limits.

use hyperslab_driver::{Driver, Memory, Transfer, Why};

use crate::common::Scratch;

#[test]
fn the_file_changes_only_on_sync() {
    let scratch = Scratch::new("backed");
    let path = scratch.path("a.bin");
    let memory = Memory::backed_by(&path).unwrap();
    memory.write_at(3, b"abc", &Transfer::default()).unwrap();
    assert!(!path.exists());
    memory.sync(&Transfer::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"\0\0\0abc");
    memory.set_len(4, &Transfer::default()).unwrap();
    drop(memory);
    let again = Memory::backed_by(&path).unwrap();
    assert_eq!(again.len(&Transfer::default()).unwrap(), 6);
    again.set_len(1, &Transfer::default()).unwrap();
    again.sync(&Transfer::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"\0");
}

#[test]
fn a_flush_writes_the_file_and_a_sync_after_it_makes_it_durable() {
    let scratch = Scratch::new("flushed");
    let path = scratch.path("a.bin");
    let memory = Memory::backed_by(&path).unwrap();
    memory.write_at(0, b"abc", &Transfer::default()).unwrap();
    memory.flush(&Transfer::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    std::fs::remove_file(&path).unwrap();
    memory.flush(&Transfer::default()).unwrap();
    assert!(!path.exists(), "nothing changed since");
    memory.sync(&Transfer::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"abc", "what was flushed was not durable");
    Memory::backed_by(scratch.path("no/such/folder")).unwrap().flush(&Transfer::default()).unwrap();
    let lost = Memory::backed_by(scratch.path("no/such/folder")).unwrap();
    lost.set_len(1, &Transfer::default()).unwrap();
    assert!(lost.flush(&Transfer::default()).unwrap_err().to_string().contains("flush"));
}

/// The other tests of this binary use absolute paths only.
#[test]
fn a_relative_path_is_one_from_where_the_program_was() {
    let scratch = Scratch::new("relative");
    let old = std::env::current_dir().unwrap();
    std::fs::create_dir(scratch.path("elsewhere")).unwrap();
    std::env::set_current_dir(scratch.path("")).unwrap();
    let memory = Memory::backed_by("a.bin").unwrap();
    std::env::set_current_dir(scratch.path("elsewhere")).unwrap();
    memory.write_at(0, b"abc", &Transfer::default()).unwrap();
    memory.flush(&Transfer::default()).unwrap();
    std::env::set_current_dir(old).unwrap();
    assert_eq!(std::fs::read(scratch.path("a.bin")).unwrap(), b"abc");
    assert!(!scratch.path("elsewhere/a.bin").exists());
}

#[test]
fn many_threads_sync_and_leave_only_the_file() {
    let scratch = Scratch::new("synced");
    let (path, own) = (scratch.path("a.bin"), scratch.path("a.bin.new"));
    std::fs::write(&own, b"foreign").unwrap();
    let memory = Memory::backed_by(&path).unwrap();
    memory.set_len(100_000, &Transfer::default()).unwrap();
    std::thread::scope(|scope| {
        for thread in 1..5u8 {
            let (memory, path) = (&memory, &path);
            scope.spawn(move || {
                for step in 0..20u8 {
                    let at = usize::from(thread) * 1000;
                    memory.write_at(at as u64, &[thread, step], &Transfer::default()).unwrap();
                    memory.sync(&Transfer::default()).unwrap();
                    // Whichever thread did the work: when a sync returns, the file has what was written before it.
                    let found = std::fs::read(path).unwrap();
                    assert_eq!((found.len(), &found[at..at + 2]), (100_000, &[thread, step][..]));
                }
            });
        }
    });
    assert_eq!(std::fs::read(&own).unwrap(), b"foreign");
    assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), 2);
}

#[test]
fn a_failed_sync_is_tried_again() {
    let scratch = Scratch::new("unsynced");
    let path = scratch.path("there/a.bin");
    let memory = Memory::backed_by(&path).unwrap();
    memory.write_at(0, b"abc", &Transfer::default()).unwrap();
    assert!(memory.sync(&Transfer::default()).is_err());
    std::fs::create_dir(scratch.path("there")).unwrap();
    memory.sync(&Transfer::default()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"abc");
}

/// Each write doubles the storage and fills all of it, so that its length goes with its bytes.
#[test]
fn its_bytes_are_those_of_one_moment() {
    let memory = Memory::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for step in 0..14u8 {
                memory.write_at(0, &vec![step; 1 << step], &Transfer::default()).unwrap();
            }
        });
        while !writer.is_finished() {
            memory.inspect(|bytes| {
                let step = bytes.len().checked_ilog2().unwrap_or(0) as u8;
                assert!(bytes.iter().all(|&byte| byte == step), "{} bytes", bytes.len());
            });
        }
    });
    assert_eq!(memory.inspect(<[u8]>::len), 1 << 13);
}

#[test]
fn more_than_there_is_memory_for_is_an_error() {
    let memory = Memory::new();
    assert!(matches!(memory.set_len(1 << 62, &Transfer::default()).unwrap_err().why, Why::Io(_)));
    assert!(memory.write_at(u64::MAX, b"ab", &Transfer::default()).is_err());
    assert_eq!(memory.len(&Transfer::default()).unwrap(), 0);
}
