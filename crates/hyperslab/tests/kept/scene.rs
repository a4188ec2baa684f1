//! A folder with files that lead to each other.

use std::{
    fs,
    ops::Deref,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use hyperslab::{
    Dataset, File, LibVersion, OpenOptions,
    driver::{Local, Lock},
    space::{Op, Slab, Space},
};

/// A folder of one test; it goes with this.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A new file, whose superblock has room for marks.
    pub(crate) fn make(&self, name: &str) -> File {
        OpenOptions::new().create().truncate().libver_min(LibVersion::V200).open(self.join(name)).unwrap()
    }

    /// A file with some datasets of the same values.
    pub(crate) fn make_with(&self, name: &str, datasets: &[&str], values: &[i32]) {
        let file = self.make(name);
        for dataset in datasets {
            file.root().unwrap().new_dataset::<i32>().write(dataset, values).unwrap();
        }
        file.close().unwrap();
    }

    /// `main.h5`, whose dataset `v` has these sources of four values one after the other.
    pub(crate) fn make_virtual(&self, sources: &[(&str, &str)]) {
        let (file, count) = (self.make("main.h5"), 4 * sources.len() as u64);
        let mut dataset = file.root().unwrap().new_dataset::<i32>().shape([count]).fill_value(-1);
        for (nth, (name, path)) in sources.iter().enumerate() {
            let mut place = Space::simple(&[count]).unwrap();
            place.select_hyperslab(Op::Set, &[Slab::block(4 * nth as u64, 4)]).unwrap();
            dataset = dataset.virtual_source(&place, *name, *path, &Space::simple(&[4]).unwrap());
        }
        dataset.create("v").unwrap();
        file.close().unwrap();
    }

    /// The consistency flags of a file.
    pub(crate) fn flags(&self, name: &str) -> u8 {
        fs::read(self.join(name)).unwrap()[11]
    }

    /// Whether no opening of any process has the file locked.
    pub(crate) fn is_unlocked(&self, name: &str) -> bool {
        Local::open(self.join(name)).unwrap().lock(Lock::Exclusive).is_ok()
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Longer than a step of the clock of files.
pub(crate) fn wait() {
    thread::sleep(Duration::from_millis(40));
}

pub(crate) fn read(dataset: &Dataset) -> Vec<i32> {
    dataset.read().unwrap()
}
