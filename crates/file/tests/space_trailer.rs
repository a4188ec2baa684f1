//! The space trailer: free space of files whose format keeps no list of it.

use std::{path::Path, process::Command, sync::Arc};

use hyperslab_driver::{Driver, Local, Memory, Transfer};
use hyperslab_file::{CreateOptions, Kind, NewHeader, OpenFile, OpenOptions, clear};
use hyperslab_format::{superblock::Root, symbol_table, version::LibVersion};

/// A new file of the oldest format, with an empty object for a root.
fn create(storage: Arc<dyn Driver>) -> OpenFile {
    let file = OpenFile::create(storage, &CreateOptions::default(), &OpenOptions::default()).unwrap();
    let new = NewHeader { version: 1, times: false, ordered: false, indexed: false, attribute_limits: None, room: 24 };
    let header = Some(new.begin(&file).save().unwrap());
    file.set_root(Root::Entry(symbol_table::Entry { name: 0, header, cache: symbol_table::Cache::Nothing })).unwrap();
    file.flush().unwrap();
    file
}

fn open(storage: Arc<dyn Driver>) -> OpenFile {
    OpenFile::open_writable(storage, &OpenOptions::default(), LibVersion::Earliest).unwrap()
}

fn write(file: &OpenFile, length: u64) -> u64 {
    let at = file.allocate(Kind::Raw, length).unwrap();
    file.write_raw("values", &[(at, &vec![7; length as usize])]).unwrap();
    at
}

/// A closed file with 100,000 free bytes before 1,000 used ones; where the free ones are.
fn with_hole(storage: &Arc<Memory>) -> u64 {
    let file = create(storage.clone());
    let hole = write(&file, 100_000);
    write(&file, 1000);
    file.flush().unwrap();
    file.free_values(hole, 100_000).unwrap();
    file.close().unwrap();
    hole
}

#[test]
fn what_was_free_is_used_after_the_next_open() {
    let storage = Arc::new(Memory::new());
    let hole = with_hole(&storage);
    let size = storage.len(&Transfer::default()).unwrap();
    for _ in 0..50 {
        let file = open(storage.clone());
        let (first, second) = (write(&file, 90_000), write(&file, 9_999));
        assert!([first, second].iter().all(|at| (hole..hole + 100_000).contains(at)), "{first}, {second} in {hole}");
        file.flush().unwrap();
        file.free_values(first, 90_000).unwrap();
        file.free_values(second, 9_999).unwrap();
        file.close().unwrap();
        assert_eq!(storage.len(&Transfer::default()).unwrap(), size);
    }
}

#[test]
fn collections_with_room_are_remembered_until_they_are_freed() {
    let storage = Arc::new(Memory::new());
    let file = create(storage.clone());
    let (first, second) = (write(&file, 4096), write(&file, 4096));
    file.note_collections(vec![second, first]).unwrap();
    file.close().unwrap();
    let file = open(storage.clone());
    assert_eq!(file.collections_with_room(), [second, first]);
    file.free_values(second, 4096).unwrap();
    file.close().unwrap();
    assert_eq!(open(storage).collections_with_room(), [first]);
}

/// As if the process were killed: what the trailer listed may be in use by then.
#[test]
fn a_file_that_is_open_has_no_trailer() {
    let storage = Arc::new(Memory::new());
    let hole = with_hole(&storage);
    let file = open(storage.clone());
    assert_eq!(write(&file, 100_000), hole);
    file.flush().unwrap();
    drop(file);
    let file = open(storage);
    assert_ne!(write(&file, 100_000), hole);
}

#[test]
fn a_trailer_that_is_not_the_end_of_the_storage_or_not_whole_is_none() {
    let storage = Arc::new(Memory::new());
    let hole = with_hole(&storage);
    let whole = storage.inspect(<[u8]>::to_vec);
    let is_used = |bytes: Vec<u8>| {
        let file = open(Arc::new(Memory::from(bytes)));
        write(&file, 100_000) == hole
    };
    assert!(is_used(whole.clone()));
    assert!(!is_used([whole.clone(), vec![0]].concat()), "something is behind it");
    assert!(!is_used(whole[..whole.len() - 1].to_vec()), "it lost its end");
    let mut spoiled = whole.clone();
    let last = spoiled.len() - 50;
    spoiled[last] ^= 1;
    assert!(!is_used(spoiled));
}

#[test]
fn who_reads_or_clears_a_file_leaves_its_trailer_alone() {
    let storage = Arc::new(Memory::new());
    let hole = with_hole(&storage);
    let raw: Arc<dyn Driver> = storage.clone();
    let before = storage.inspect(<[u8]>::to_vec);
    let file = OpenFile::open(raw.clone(), &OpenOptions::default()).unwrap();
    let trailer = file.trailer_length().unwrap();
    assert!(trailer > 0 && file.told_end().unwrap() + trailer == storage.len(&Transfer::default()).unwrap());
    clear(&raw).unwrap();
    assert!(storage.inspect(<[u8]>::to_vec) == before);
    assert_eq!(write(&open(storage), 100_000), hole);
}

fn python(program: &str, path: &Path) -> Option<String> {
    let python = hyperslab_workshop::python()?;
    let output = Command::new(python).arg("-c").arg(program).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// libhdf5 reads a file with a trailer, and cuts it off when it changes the file.
#[test]
fn libhdf5_takes_the_trailer_away_when_it_changes_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ours.h5");
    let local = || -> Arc<dyn Driver> { Arc::new(Local::options().write(true).create(true).open(&path).unwrap()) };
    let make = "
import h5py, sys, numpy as np
with h5py.File(sys.argv[1], 'w') as f:
    for i in range(10): f[f'd{i}'] = np.full(1000, i)
";
    if python(make, &path).is_none() {
        return;
    }
    let file = open(local());
    let hole = write(&file, 50_000);
    write(&file, 100);
    file.flush().unwrap();
    file.free_values(hole, 50_000).unwrap();
    file.close().unwrap();
    let trailer = || OpenFile::open(local(), &OpenOptions::default()).unwrap().trailer_length().unwrap();
    assert!(trailer() > 0);
    let read = "
import h5py, sys, numpy as np
with h5py.File(sys.argv[1], 'r') as f:
    for i in range(10): assert (f[f'd{i}'][...] == i).all()
";
    python(read, &path).unwrap();
    assert!(trailer() > 0, "it was only read");
    let change = "
import h5py, sys, numpy as np
with h5py.File(sys.argv[1], 'r+') as f: f['new'] = np.full(1000, 10)
with h5py.File(sys.argv[1], 'r') as f:
    for i in range(10): assert (f[f'd{i}'][...] == i).all()
    assert (f['new'][...] == 10).all()
";
    python(change, &path).unwrap();
    assert_eq!(trailer(), 0);
    open(local()).close().unwrap();
    python(read, &path).unwrap();
}
