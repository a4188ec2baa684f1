//! Files in memory, damaged and whole.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use hyperslab::{
    File, FileSpace, LibVersion, OpenOptions, Repack, check,
    driver::{Driver, Memory, Transfer},
};

pub(crate) const LOWS: [LibVersion; 3] = [LibVersion::Earliest, LibVersion::V18, LibVersion::V200];

pub(crate) fn new_file(low: LibVersion) -> (File, Arc<Memory>) {
    let storage = Arc::new(Memory::new());
    // Free space is listed, so that none is taken for lost.
    let space = FileSpace { persist: true, ..FileSpace::default() };
    let options = OpenOptions::new().create().truncate().libver_min(low).file_space(space);
    (options.open_on(storage.clone()).unwrap(), storage)
}

pub(crate) fn bytes(storage: &Memory) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(storage.len(&Transfer::default()).unwrap()).unwrap()];
    storage.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    bytes
}

/// No object header is at this address any more.
pub(crate) fn damage(storage: &Memory, address: u64) {
    storage.write_at(address, b"?", &Transfer::default()).unwrap();
}

/// A file of the structures that there are, and every byte of it belongs to something that has a name.
#[track_caller]
pub(crate) fn nothing_is_lost(storage: &Arc<Memory>) {
    let report = check::storage(storage.clone()).unwrap();
    assert_eq!(report.problems().map(|found| &found.why).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(report.lost, 0, "{:?}", report.findings);
}

/// A path for the new file of one test, where no file is.
pub(crate) fn path(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("copying-{name}.h5"));
    let _ = fs::remove_file(&path);
    path
}

/// The bytes of a file that is written anew.
pub(crate) fn repacked(name: &str, from: &File, repack: &Repack) -> File {
    let path = path(name);
    repack.run(from, &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    File::open_driver(Arc::new(Memory::from(bytes))).unwrap()
}
