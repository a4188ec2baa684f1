//! Values that are written between two operations: what flushes, closes and failures make of their space.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use hyperslab_driver::{Driver, Memory, Transfer};
use hyperslab_file::{Error, Kind, OpenFile, Result};

use crate::free_space::{create, open};

fn length(storage: &Memory) -> u64 {
    storage.len(&Transfer::default()).unwrap()
}

fn refused() -> Error {
    Error::Refused("no".into())
}

/// Takes space, writes there and lets a dataset in memory name it.
fn write(file: &OpenFile, length: usize) -> u64 {
    let (at, space) = file.take_space(|| file.allocate(Kind::Raw, length as u64)).unwrap();
    file.write_raw("values", &[(at, &vec![7; length])]).unwrap();
    space.name(|| Ok::<_, Error>(())).unwrap();
    at
}

#[test]
fn space_that_is_not_named_is_free_again() {
    for flushes in [false, true] {
        let file = create(Arc::new(Memory::new()));
        let end = file.end();
        let (first, space) = file.take_space(|| file.allocate(Kind::Raw, 100_000)).unwrap();
        // Few bytes wait in memory: they must not come over what lies there next.
        file.write_raw("values", &[(first + 8, &[1; 100])]).unwrap();
        if flushes {
            file.flush().unwrap();
        }
        drop(space);
        assert_eq!(file.end(), end);
        let again = write(&file, 100_000);
        assert_eq!(again, first);
        let mut seen = vec![0; 100_000];
        file.flush().unwrap();
        file.read_raw("values", vec![(again, &mut seen)]).unwrap();
        assert!(seen.iter().all(|&byte| byte == 7));
    }
}

#[test]
fn a_failure_in_either_operation_changes_nothing() {
    let file = create(Arc::new(Memory::new()));
    let end = file.end();
    let taken = file.take_space(|| file.allocate(Kind::Raw, 5000).and_then(|_| Result::<()>::Err(refused())));
    assert!(taken.is_err());
    assert_eq!(file.end(), end);
    let (_, space) = file.take_space(|| file.allocate(Kind::Raw, 5000)).unwrap();
    assert!(space.name(|| Result::<()>::Err(refused())).is_err());
    assert_eq!(file.end(), end);
    file.check_writable().unwrap();
}

#[test]
fn operations_and_flushes_go_on_between_the_two() {
    let storage = Arc::new(Memory::new());
    let file = create(storage.clone());
    let (first, space) = file.take_space(|| file.allocate(Kind::Raw, 10_000)).unwrap();
    file.write_raw("values", &[(first, &[1; 10_000])]).unwrap();
    let second = write(&file, 10_000);
    file.flush().unwrap();
    // What a process leaves that is killed now.
    let killed: Arc<dyn Driver> = Arc::new(Memory::from(storage.inspect(<[u8]>::to_vec)));
    hyperslab_file::clear(&killed).unwrap();
    assert!(open(killed).root().is_ok());
    space.name(|| Ok::<_, Error>(())).unwrap();
    let mut seen = (vec![0; 10_000], vec![0; 10_000]);
    file.read_raw("values", vec![(first, &mut seen.0), (second, &mut seen.1)]).unwrap();
    assert_eq!((seen.0, seen.1), (vec![1; 10_000], vec![7; 10_000]));
    file.close().unwrap();
}

#[test]
fn a_close_waits_for_writes_and_lists_their_space() {
    let storage = Arc::new(Memory::new());
    let file = create(storage.clone());
    let kept = write(&file, 1000);
    file.flush().unwrap();
    let (at, space) = file.take_space(|| file.allocate(Kind::Raw, 100_000)).unwrap();
    assert!(at > kept);
    let dropped = AtomicBool::new(false);
    thread::scope(|scope| {
        let close = scope.spawn(|| {
            file.close().unwrap();
            assert!(dropped.load(Ordering::SeqCst), "closed while a write goes on");
        });
        thread::sleep(Duration::from_millis(50));
        file.write_raw("values", &[(at, &vec![1; 100_000])]).unwrap();
        dropped.store(true, Ordering::SeqCst);
        drop(space);
        close.join().unwrap();
    });
    assert!(length(&storage) < 100_000, "the space is not in the file any more");
    assert!(matches!(file.take_space(|| file.allocate(Kind::Raw, 1)), Err(Error::Closed)));
}
