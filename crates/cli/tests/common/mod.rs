//! What tests of the command share.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use hyperslab::File;

/// A folder of a test's own, which is gone afterwards.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names of all files in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) const COMMAND: &str = env!("CARGO_BIN_EXE_hyperslab");

/// The command in a folder, with words between spaces as its arguments.
pub(crate) fn command(folder: &Folder, words: &str) -> Command {
    let mut command = Command::new(COMMAND);
    command.args(words.split(' ')).current_dir(&folder.0);
    command
}

pub(crate) fn run(folder: &Folder, words: &str) -> Output {
    command(folder, words).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a file holds, without what depends on where it lies.
pub(crate) fn digest(folder: &Folder, file: &str) -> Option<String> {
    let output = run(folder, &format!("digest {file}"));
    let told = text(&output.stdout);
    output.status.success().then(|| {
        told.lines().filter(|line| !line.contains("\"kind\": \"file\"")).map(|line| format!("{line}\n")).collect()
    })
}

/// A file with something of everything that is small.
pub(crate) fn sample(path: &Path) {
    let file = File::create(path).unwrap();
    let root = file.root().unwrap();
    for nth in 0..40u32 {
        let group = root.create_group(format!("group {nth}")).unwrap();
        group.set_attribute("number", nth).unwrap();
        group.new_dataset::<u32>().write("numbers", &(0..200).map(|value| value * nth).collect::<Vec<_>>()).unwrap();
        let images = group.new_dataset::<u16>().shape([4, 100]).chunks([2, 50]).deflate(1);
        images.write("images", &(0..400).map(|value| (value * 7) as u16).collect::<Vec<u16>>()).unwrap();
        group.new_dataset::<String>().write("words", &["one".to_owned(), "two".to_owned()]).unwrap();
    }
    root.new_dataset::<u8>().write("mask", &[1u8, 2, 3]).unwrap();
    root.soft_link("latest", "/group 1/images").unwrap();
    file.close().unwrap();
}

/// How many moments or files a test tries: a few, unless `HYPERSLAB_MOMENTS` says more.
pub(crate) fn moments() -> u64 {
    hyperslab_workshop::cases("HYPERSLAB_MOMENTS", 4)
}
