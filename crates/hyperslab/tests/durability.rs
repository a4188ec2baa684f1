//! What reaches the storage when a file is flushed or closed, and when it is made durable.

use std::sync::Arc;

use hyperslab::driver::{Damage, Fault, Local, Log, Memory, PageBuffer, Target};
use hyperslab::{Durability, File, OpenOptions, check};

struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("hyperslab-durability-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn write(file: &File) {
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
}

#[test]
fn memory_with_a_file_behind_it_is_written_by_a_flush_and_by_a_close() {
    let scratch = Scratch::new("memory");
    let path = scratch.0.join("a.h5");
    let file = File::create_on(Arc::new(Memory::backed_by(&path).unwrap())).unwrap();
    write(&file);
    file.flush().unwrap();
    let flushed = OpenOptions::new().unlocked().open(&path).unwrap();
    assert_eq!(flushed.dataset("numbers").unwrap().read::<i32>().unwrap(), [1, 2, 3]);
    drop(flushed);
    file.dataset("numbers").unwrap().write(&[4, 5, 6]).unwrap();
    file.close().unwrap();
    assert_eq!(File::open(&path).unwrap().dataset("numbers").unwrap().read::<i32>().unwrap(), [4, 5, 6]);
}

#[test]
fn pages_that_are_written_back_later_are_written_by_a_close() {
    let scratch = Scratch::new("pages");
    let path = scratch.0.join("a.h5");
    let local = Local::options().create(true).open(&path).unwrap();
    let file = File::create_on(Arc::new(PageBuffer::new(local, 4096, 64).unwrap())).unwrap();
    write(&file);
    file.close().unwrap();
    assert_eq!(File::open(&path).unwrap().dataset("numbers").unwrap().read::<i32>().unwrap(), [1, 2, 3]);
}

#[test]
fn the_storage_is_synced_as_the_user_asks() {
    for durability in Durability::ALL {
        let log = Arc::new(Log::new(Memory::new()));
        let file = OpenOptions::new().create().truncate().durability(durability).open_on(log.clone()).unwrap();
        write(&file);
        let before = log.counts().syncs;
        file.flush().unwrap();
        let by_flush = log.counts().syncs - before;
        file.close().unwrap();
        let by_close = log.counts().syncs - before - by_flush;
        match durability {
            Durability::None => assert_eq!((by_flush, by_close), (0, 0)),
            Durability::Flush => assert_eq!((by_flush, by_close), (1, 1)),
            _ => assert!(by_flush > 1 && by_close > 1, "{by_flush} by the flush, {by_close} by the close"),
        }
    }
}

/// The system may drop what it could not write, and the next sync would tell nothing of that.
#[test]
fn a_sync_that_failed_is_not_tried_again() {
    let fault = Arc::new(Fault::new(Memory::new()));
    let options = OpenOptions::new().create().truncate().durability(Durability::Flush);
    let file = options.open_on(fault.clone()).unwrap();
    write(&file);
    fault.arm(Target::Upkeep, 1, Damage::Fail); // the first is a change of length
    assert!(file.flush().is_err());
    let again = file.flush().unwrap_err().to_string();
    assert!(again.contains("injected"), "{again}");
    assert!(file.close().is_err());
}

#[test]
fn a_flush_that_failed_can_be_tried_again() {
    let scratch = Scratch::new("again");
    let path = scratch.0.join("later/a.h5");
    let storage = Arc::new(Memory::backed_by(&path).unwrap());
    std::fs::create_dir(scratch.0.join("later")).unwrap();
    let file = File::create_on(storage).unwrap();
    std::fs::remove_dir_all(scratch.0.join("later")).unwrap();
    write(&file);
    assert!(file.flush().is_err());
    std::fs::create_dir(scratch.0.join("later")).unwrap();
    file.close().unwrap();
    assert_eq!(File::open(&path).unwrap().dataset("numbers").unwrap().read::<i32>().unwrap(), [1, 2, 3]);
}

/// Writes fail from some moment on, in the middle of a block if they change one. What is in the storage then is what a killed process leaves, also if
/// it tried again before.
#[test]
fn a_journal_that_is_left_is_put_in_place_by_the_next_writer() {
    let scratch = Scratch::new("journal");
    let (path, left) = (scratch.0.join("a.h5"), scratch.0.join("left.h5"));
    let mut journals = 0;
    for spare in 0..100 {
        let fault = Arc::new(Fault::new(Local::options().create(true).open(&path).unwrap()));
        let options = OpenOptions::new().create().truncate().durability(Durability::Full);
        let file = options.open_on(fault.clone()).unwrap();
        write(&file);
        let group = file.root().unwrap().create_group("group").unwrap();
        file.flush().unwrap();
        let change = |value: i32| (0..20).try_for_each(|nth| group.set_attribute(format!("a{nth}"), [value; 20]));
        fault.arm_forever(Target::Writes, spare, Damage::Tear(700));
        change(1).unwrap();
        let first = file.flush().is_err();
        change(2).unwrap();
        let failed = file.flush().is_err();
        assert!(failed || !first);
        std::fs::copy(&path, &left).unwrap();
        fault.disarm();
        // The program itself goes on.
        change(3).unwrap();
        file.flush().unwrap();
        file.close().unwrap();
        assert!(!is_journaled(&path));
        assert_eq!(value(&path), Some(3));
        // Another one comes when it was killed.
        let before = value(&left);
        if is_journaled(&left) {
            journals += 1;
            assert!(check::clear(&left, false).unwrap().journal);
            assert!(!is_journaled(&left));
        }
        assert_eq!(value(&left), before);
        assert_eq!(check::file(&left, &mut |_| ()).unwrap().problems().count(), 0);
        if !failed {
            assert!(journals > 0);
            return;
        }
    }
    panic!("a flush has more than 100 writes");
}

fn is_journaled(path: &std::path::Path) -> bool {
    check::file(path, &mut |_| ()).unwrap().marks.journal
}

/// The value of all attributes, if they are there.
fn value(path: &std::path::Path) -> Option<i32> {
    let file = File::open(path).unwrap();
    assert_eq!(file.dataset("numbers").unwrap().read::<i32>().unwrap(), [1, 2, 3]);
    let group = file.group("group").unwrap();
    let values: Vec<_> = (0..20).filter_map(|nth| group.attribute(format!("a{nth}")).ok()).collect();
    let values: Vec<i32> = values.iter().map(|value| value.read_scalar::<[i32; 20]>().unwrap()[0]).collect();
    values.last().copied()
}
