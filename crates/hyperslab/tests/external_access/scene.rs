//! A folder with files inside and outside of it, and files that name them.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use hyperslab::{Dataset, ExternalAccess, File, OpenOptions, Result, space::Space};

pub(crate) const VALUES: [i32; 4] = [1, 2, 3, 4];
pub(crate) const OTHERS: [i32; 4] = [5, 6, 7, 8];
pub(crate) const POLICIES: [ExternalAccess; 3] =
    [ExternalAccess::Inside, ExternalAccess::ReadAnywhere, ExternalAccess::Anywhere];

/// How a file names another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Raw,
    Link,
    Virtual,
}

pub(crate) const KINDS: [Kind; 3] = [Kind::Raw, Kind::Link, Kind::Virtual];

/// Where the other file is, and how it is spelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TargetPath {
    Inside,
    Below,
    Absolute,
    Upwards,
    /// A symbolic link in the folder, to a file outside.
    LinkedFile,
    /// A symbolic link in the folder, to the folder outside.
    LinkedFolder,
    /// A name that leads out of the folder which the program gives as a prefix.
    OutOfPrefix,
    /// In the folder that the program gives as a prefix.
    Prefix,
}

pub(crate) const TARGET_PATHS: [TargetPath; 8] = [
    TargetPath::Inside,
    TargetPath::Below,
    TargetPath::Absolute,
    TargetPath::Upwards,
    TargetPath::LinkedFile,
    TargetPath::LinkedFolder,
    TargetPath::OutOfPrefix,
    TargetPath::Prefix,
];

impl TargetPath {
    pub(crate) fn is_allowed_inside(self) -> bool {
        matches!(self, TargetPath::Inside | TargetPath::Below | TargetPath::Prefix)
    }
}

/// The folder `home` with the file that names others, and the folders `outside` and `prefix` beside it.
pub(crate) struct Scene(PathBuf);

impl Scene {
    pub(crate) fn new(name: &str) -> Scene {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("access-{name}-{}", std::process::id()));
        fs::remove_dir_all(&folder).ok();
        for below in ["home/below", "outside", "prefix"] {
            fs::create_dir_all(folder.join(below)).unwrap();
        }
        let scene = Scene(folder.canonicalize().unwrap());
        symlink("../outside", scene.at("home/folder")).unwrap();
        for ending in ["bin", "h5"] {
            symlink(format!("../outside/far.{ending}"), scene.at(&format!("home/alias.{ending}"))).unwrap();
        }
        scene.refresh();
        scene
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    pub(crate) fn main(&self) -> PathBuf {
        self.at("home/main.h5")
    }

    /// All other files, with `VALUES` in them.
    pub(crate) fn refresh(&self) {
        let bytes = VALUES.map(i32::to_le_bytes).concat();
        for path in ["home/near", "home/below/near", "outside/far", "prefix/there"] {
            fs::write(self.at(&format!("{path}.bin")), &bytes).unwrap();
            let file = File::create(self.at(&format!("{path}.h5"))).unwrap();
            file.root().unwrap().new_dataset::<i32>().write("x", &VALUES).unwrap();
            file.close().unwrap();
        }
    }

    /// Each file outside of the folder, with its bytes.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let entries = ["outside", "prefix"].map(|folder| fs::read_dir(self.at(folder)).unwrap());
        let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
        paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    /// A name as the file has it, and the end of the path that it leads to.
    pub(crate) fn name(&self, kind: Kind, place: TargetPath) -> (String, String) {
        let ending = if kind == Kind::Raw { "bin" } else { "h5" };
        let (name, target) = match place {
            TargetPath::Inside => ("near".into(), "home/near"),
            TargetPath::Below => ("below/near".into(), "home/below/near"),
            TargetPath::Absolute => (self.at("outside/far").display().to_string(), "outside/far"),
            TargetPath::Upwards | TargetPath::OutOfPrefix => ("../outside/far".into(), "outside/far"),
            TargetPath::LinkedFile => ("alias".into(), "outside/far"),
            TargetPath::LinkedFolder => ("folder/far".into(), "outside/far"),
            TargetPath::Prefix => ("there".into(), "prefix/there"),
        };
        (format!("{name}.{ending}"), format!("{target}.{ending}"))
    }

    /// A file with one object `x` that leads to another file. No opening of it is left.
    pub(crate) fn make(&self, kind: Kind, name: &str) {
        let file = OpenOptions::new().truncate().external_access(ExternalAccess::Anywhere).open(self.main()).unwrap();
        plant(&file, kind, name);
        file.close().unwrap();
    }

    pub(crate) fn open(&self, access: ExternalAccess, place: TargetPath, write: bool) -> File {
        let mut options = OpenOptions::new().external_access(access);
        if matches!(place, TargetPath::Prefix | TargetPath::OutOfPrefix) {
            let prefix = self.at("prefix");
            options = options.raw_prefix(&prefix).link_prefix(&prefix).virtual_prefix(prefix);
        }
        if write { options.read_write() } else { options }.open(self.main()).unwrap()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// Makes an object `x` that leads to another file.
pub(crate) fn plant(file: &File, kind: Kind, name: &str) {
    let root = file.root().unwrap();
    let all = Space::simple(&[4]).unwrap();
    match kind {
        Kind::Raw => drop(root.new_dataset::<i32>().shape([4]).external([(name, 0, Some(16))]).create("x").unwrap()),
        Kind::Virtual => {
            drop(root.new_dataset::<i32>().shape([4]).virtual_source(&all, name, "x", &all).create("x").unwrap());
        }
        Kind::Link => root.external_link("x", name, "/x").unwrap(),
    }
}

pub(crate) fn read(file: &File) -> Result<Vec<i32>> {
    file.get("x").and_then(|_| file.dataset("x")).and_then(|dataset| dataset.read())
}

pub(crate) fn write(file: &File) -> Result<()> {
    file.dataset("x").and_then(|dataset: Dataset| dataset.write(&OTHERS))
}
