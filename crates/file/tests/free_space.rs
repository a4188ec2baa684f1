//! Free space that outlives the closing of a file, ours and libhdf5's.

use std::{path::Path, process::Command, sync::Arc};

use hyperslab_driver::{Damage, Driver, Fault, Local, Memory, Target, Transfer};
use hyperslab_file::{CreateOptions, Kind, NewHeader, OpenFile, OpenOptions};
use hyperslab_format::{message::kind, object_header::Flags, superblock::Root, version::LibVersion};

/// A group without links.
fn root(file: &OpenFile) {
    let new = NewHeader { version: 2, times: false, ordered: false, indexed: false, attribute_limits: None, room: 120 };
    let mut header = new.begin(file);
    let nowhere = [0xff; 8];
    header.add(kind::LINK_INFO, Flags::NONE, None, [&[0, 0][..], &nowhere, &nowhere].concat()).unwrap();
    header.add(kind::GROUP_INFO, Flags::NONE, None, vec![0, 0]).unwrap();
    file.set_root(Root::Header(Some(header.save().unwrap()))).unwrap();
    file.flush().unwrap();
}

pub(crate) fn create(storage: Arc<dyn Driver>) -> OpenFile {
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
    let file = OpenFile::create(storage, &create, &OpenOptions::default()).unwrap();
    root(&file);
    file
}

pub(crate) fn open(storage: Arc<dyn Driver>) -> OpenFile {
    OpenFile::open_writable(storage, &OpenOptions::default(), LibVersion::V110).unwrap()
}

fn write(file: &OpenFile, length: u64) -> u64 {
    let at = file.allocate(Kind::Raw, length).unwrap();
    file.write_raw("values", &[(at, &vec![7; length as usize])]).unwrap();
    at
}

#[test]
fn what_was_free_is_used_after_the_next_open() {
    let storage = Arc::new(Memory::new());
    let file = create(storage.clone());
    let hole = write(&file, 100_000);
    let kept = write(&file, 1000);
    file.flush().unwrap();
    file.free(hole, 100_000).unwrap();
    file.close().unwrap();
    let size = storage.len(&Transfer::default()).unwrap();
    for _ in 0..5 {
        let file = open(storage.clone());
        let (first, second) = (file.allocate(Kind::Raw, 90_000).unwrap(), file.allocate(Kind::Raw, 9_999).unwrap());
        assert!(first < hole + 10_000 && second + 9_999 <= kept, "{first}, {second} in {hole}");
        file.flush().unwrap();
        file.free(first, 90_000).unwrap();
        file.free(second, 9_999).unwrap();
        file.close().unwrap();
        assert_eq!(storage.len(&Transfer::default()).unwrap(), size);
    }
}

#[test]
fn a_file_that_is_open_lists_nothing() {
    let storage = Arc::new(Memory::new());
    let file = create(storage.clone());
    let hole = write(&file, 100_000);
    write(&file, 1000);
    file.flush().unwrap();
    file.free(hole, 100_000).unwrap();
    file.close().unwrap();
    let file = open(storage.clone());
    file.allocate(Kind::Raw, 5000).unwrap();
    file.flush().unwrap();
    drop(file); // as if the process were killed
    let mut options = OpenOptions::default();
    options.alone = true;
    let file = OpenFile::open_writable(storage, &options, LibVersion::V110).unwrap();
    assert_ne!(
        file.allocate(Kind::Raw, 5000).unwrap(),
        hole,
        "what was given out and published is gone from the lists"
    );
}

fn python(program: &str, path: &Path) -> Option<String> {
    let python = hyperslab_workshop::python()?;
    let output = Command::new(python).arg("-c").arg(program).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

const CHECK: &str = "
import h5py, sys, numpy as np
with h5py.File(sys.argv[1], 'r+', libver='latest') as f:
    free = f.id.get_freespace()
    for name in f:
        assert (f[name][...] == int(name[1:])).all(), name
    f['d100'] = np.full(700, 100)
    f['d101'] = np.full(9000, 101)
with h5py.File(sys.argv[1], 'r+') as f:
    for name in f:
        assert (f[name][...] == int(name[1:])).all(), name
print(free)
";

#[test]
fn libhdf5_uses_what_we_leave_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ours.h5");
    let file = create(Arc::new(Local::options().create(true).open(&path).unwrap()));
    let hole = write(&file, 100_000);
    write(&file, 1000);
    file.flush().unwrap();
    file.free(hole, 100_000).unwrap();
    file.close().unwrap();
    if let Some(free) = python(CHECK, &path) {
        assert!(free.parse::<u64>().unwrap() >= 100_000, "{free}");
    }
}

#[test]
fn we_use_what_libhdf5_leaves_free() {
    let make = "
import h5py, sys, numpy as np
kind = sys.argv[1].rsplit('/', 1)[1].split('.')[0]
with h5py.File(sys.argv[1], 'w', libver='latest', fs_strategy=kind, fs_persist=True) as f:
    for i in range(20): f[f'd{i}'] = np.full(1000 + 50 * i, i)
with h5py.File(sys.argv[1], 'r+', libver='latest') as f:
    for i in range(1, 20, 2): del f[f'd{i}']
";
    let folder = tempfile::tempdir().unwrap();
    for kind in ["fsm", "page"] {
        let path = folder.path().join(format!("{kind}.h5"));
        if python(make, &path).is_none() {
            return;
        }
        let size = std::fs::metadata(&path).unwrap().len();
        for round in 0..3 {
            let file = open(Arc::new(Local::options().write(true).open(&path).unwrap()));
            let pieces: Vec<u64> = (1..8).map(|nth| write(&file, nth * 900)).collect();
            assert!(pieces.iter().all(|&at| at < size + 4096), "{kind}, {round}: {pieces:?} in {size}");
            file.flush().unwrap();
            (1..8).zip(pieces).for_each(|(nth, at)| file.free(at, nth * 900).unwrap());
            file.close().unwrap();
            let now = std::fs::metadata(&path).unwrap().len();
            assert!(now <= size + 4096, "{kind}, {round}: {size} became {now}");
        }
        let free = python(CHECK, &path).unwrap();
        assert!(free.parse::<u64>().unwrap() > 50_000, "{kind}: {free}");
    }
}

/// A process that is killed while it lists free space leaves all that the file names: here, the rest of a superblock extension that moves.
#[test]
fn a_process_may_be_killed_while_it_lists_free_space() {
    let make = "
import ctypes, glob, h5py, os, sys
from h5py import h5f, h5p
library = glob.glob(os.path.join(os.path.dirname(os.path.dirname(h5py.__file__)), 'h5py.libs', 'libhdf5-*'))[0]
create, access = h5p.create(h5p.FILE_CREATE), h5p.create(h5p.FILE_ACCESS)
assert ctypes.CDLL(library).H5Pset_sym_k(ctypes.c_int64(create.id), 8, 8) >= 0
access.set_libver_bounds(h5f.LIBVER_LATEST, h5f.LIBVER_LATEST)
with h5py.File(h5f.create(sys.argv[1].encode(), h5f.ACC_TRUNC, create, access)) as f: f['x'] = 1
";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.h5");
    if python(make, &path).is_none() {
        return;
    }
    let made = std::fs::read(&path).unwrap();
    let mut failed = 0;
    for spare in 0..12 {
        for length in (0..4000).step_by(200) {
            let disk = Arc::new(Fault::new(Memory::from(made.clone())));
            let leave_holes = |count: u64| {
                let file = open(disk.clone());
                let pieces: Vec<u64> = (0..count).map(|_| write(&file, 1200)).collect();
                // The extension gets its place behind this, or, before the border of a page, at the end of the file.
                file.allocate(Kind::Metadata, length + 1).unwrap();
                file.flush().unwrap();
                pieces.iter().step_by(2).for_each(|&at| file.free_values(at, 1200).unwrap());
                file
            };
            leave_holes(800).close().unwrap();
            let file = leave_holes(120);
            file.flush().unwrap();
            disk.arm_forever(Target::Writes, spare, Damage::Fail);
            failed += usize::from(file.close().is_err());
            let mut left = vec![0; disk.len(&Transfer::default()).unwrap() as usize];
            disk.disarm();
            disk.read_at(0, &mut left, &Transfer::default()).unwrap();
            let mut options = OpenOptions::default();
            options.alone = true;
            let left = OpenFile::open_writable(Arc::new(Memory::from(left)), &options, LibVersion::V110);
            left.unwrap_or_else(|why| panic!("write {spare}, {length} bytes: {why}"));
        }
    }
    assert!(failed > 20, "{failed}");
}
