//! Copies are those that libhdf5 makes, and files that are written anew have everything that they had.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the tests say that they are skipped.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use hyperslab::{CopyOptions, Error, File, LibVersion, OpenOptions, Repack, check};

const LOWS: [(&str, LibVersion); 3] =
    [("earliest", LibVersion::Earliest), ("v110", LibVersion::V110), ("latest", LibVersion::V200)];

fn run(python: &Path, arguments: &[&dyn AsRef<std::ffi::OsStr>]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/copies.py");
    let mut command = Command::new(python);
    command.args(["-W", "ignore"]).arg(script).args(arguments.iter().map(|argument| argument.as_ref()));
    let done = command.output().unwrap();
    let shown: Vec<_> = arguments.iter().map(|argument| argument.as_ref().to_string_lossy()).collect();
    assert!(done.status.success(), "{shown:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn clean(path: &Path) {
    let report = check::file(path, &mut |_| {}).unwrap();
    let problems: Vec<_> = report.problems().collect();
    assert!(problems.is_empty(), "{}: {problems:?}", path.display());
}

fn options(names: &str) -> CopyOptions {
    names.split(',').fold(CopyOptions::new(), |options, name| match name {
        "shallow" => options.shallow(),
        "expand_soft" => options.expand_soft(),
        "expand_external" => options.expand_external(),
        "expand_refs" => options.expand_references(),
        "without_attrs" => options.without_attributes(),
        _ => options,
    })
}

/// Which copies are made; those within a file begin with `inside`.
const COPIES: [&str; 9] = [
    "",
    "inside",
    "shallow",
    "without_attrs",
    "expand_soft",
    "expand_external",
    "expand_refs",
    "inside,expand_soft,expand_external",
    "inside,shallow,without_attrs",
];

fn copy(source: &Path, ours: &Path, names: &str, low: LibVersion) {
    if names.contains("inside") {
        std::fs::copy(source, ours).unwrap();
        let file = OpenOptions::new().read_write().libver_min(low).open(ours).unwrap();
        let root = file.root().unwrap();
        options(names).copy(&root.get("tree").unwrap(), &root, "copied").unwrap();
        return file.close().unwrap();
    }
    let file = OpenOptions::new().create().truncate().libver_min(low).open(ours).unwrap();
    let (from, root) = (File::open(source).unwrap(), file.root().unwrap());
    options(names).copy(&from.get("tree").unwrap(), &root, "copied").unwrap();
    options(names).copy(&from.get("references").unwrap(), &root, "references").unwrap();
    file.close().unwrap();
}

#[test]
fn copies_are_those_of_libhdf5() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = folder("copies");
    run(&python, &[&"make", &folder]);
    let made: Vec<_> = LOWS.into_iter().flat_map(|low| COPIES.map(|names| (low, names))).collect();
    let path = |name: &str, names: &str| folder.join(format!("ours-{name}-{names}.h5"));
    for ((name, low), names) in &made {
        copy(&folder.join(format!("source-{name}.h5")), &path(name, names), names, *low);
        clean(&path(name, names));
    }
    run(&python, &[&"copies", &folder, &COPIES.join(" ")]);
    // libhdf5 went on with them.
    made.iter().for_each(|((name, _), names)| clean(&path(name, names)));
}

#[test]
fn files_written_anew_are_the_same() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = folder("repacked");
    run(&python, &[&"make", &folder]);
    let pairs = || LOWS.into_iter().flat_map(|(name, _)| LOWS.map(|low| (name, low)));
    let path = |name: &str, to: &str| folder.join(format!("ours-{name}-{to}.h5"));
    for (name, (to, low)) in pairs() {
        let (source, ours) = (folder.join(format!("source-{name}.h5")), path(name, to));
        let _ = std::fs::remove_file(&ours);
        Repack::new().libver_min(low).run(&File::open(&source).unwrap(), &ours).unwrap();
        clean(&ours);
        let mango = File::open(&ours).unwrap().get("tree/mango").unwrap();
        assert_eq!(mango.comment().unwrap().as_deref(), Some(&b"a fruit"[..]));
    }
    run(&python, &[&"repacked", &folder]);
    pairs().for_each(|(name, (to, _))| clean(&path(name, to)));
}

/// One damaged object does not cost the others, if that is asked for; what stands for it cannot be opened, and is kept when the file is written anew again.
#[test]
fn damaged_objects_stay_closed() {
    let folder = folder("damaged");
    for (name, low) in LOWS {
        let path = |nth: usize| folder.join(format!("{name}-{nth}.h5"));
        (0..3).for_each(|nth| drop(std::fs::remove_file(path(nth))));
        let file = OpenOptions::new().create().truncate().libver_min(low).open(path(0)).unwrap();
        let root = file.root().unwrap();
        let bad = root.new_dataset::<i32>().write("group/bad", &[1, 2, 3]).unwrap();
        root.hard_link("other name", &root.get("group/bad").unwrap()).unwrap();
        root.new_dataset::<i32>().write("group/good", &[4, 5, 6]).unwrap();
        let at = bad.address() as usize;
        file.close().unwrap();
        let mut bytes = std::fs::read(path(0)).unwrap();
        // The version, or the signature.
        bytes[at] = 99;
        std::fs::write(path(0), bytes).unwrap();

        let why = Repack::new().libver_min(low).run(&File::open(path(0)).unwrap(), path(1)).unwrap_err();
        assert!(matches!(&why, Error::Damaged(lost) if lost.len() == 1 && lost[0].path == "/other name"), "{why}");
        assert!(why.to_string().starts_with("not all can be read: /other name: "), "{why}");
        assert!(!path(1).exists());

        for nth in 0..2 {
            let repack = Repack::new().libver_min(low).skip_damaged();
            let lost = repack.run(&File::open(path(nth)).unwrap(), path(nth + 1)).unwrap().lost;
            let paths: Vec<_> = lost.iter().map(|lost| lost.path.as_str()).collect();
            assert_eq!(paths, if nth == 0 { vec!["/other name"] } else { vec![] }, "{name}");
            clean(&path(nth + 1));
            let file = File::open(path(nth + 1)).unwrap();
            assert_eq!(file.dataset("group/good").unwrap().read::<i32>().unwrap(), [4, 5, 6]);
            for path in ["group/bad", "other name"] {
                let why = file.get(path).unwrap_err().to_string();
                assert!(why.contains("was damaged when the file was copied"), "{why}");
            }
        }
    }
}

/// Values, links and the way to them may be damaged as well as headers.
#[test]
fn what_is_damaged_inside_of_objects_is_named() {
    let folder = folder("damaged-inside");
    let path = |name: &str| folder.join(name);
    let file = OpenOptions::new().create().truncate().open(path("whole.h5")).unwrap();
    let root = file.root().unwrap();
    root.new_dataset::<i32>().write("good", &[4, 5, 6]).unwrap();
    root.new_dataset::<i32>().shape([8]).chunks([2]).write("chunked", &[1; 8]).unwrap();
    root.new_dataset::<i32>().write("group/lost with it", &[1]).unwrap();
    file.close().unwrap();
    let whole = std::fs::read(path("whole.h5")).unwrap();
    for (signature, damaged) in [(&b"TREE\x01"[..], "/chunked"), (&b"SNOD"[..], "/group")] {
        let mut bytes = whole.clone();
        let places = bytes.windows(signature.len()).enumerate().filter(|(_, bytes)| *bytes == signature);
        // The root group, which was made first, has its node in front of the others.
        let at = places.map(|(at, _)| at).next_back().unwrap();
        bytes[at] = b'?';
        std::fs::write(path("bad.h5"), bytes).unwrap();
        let bad = File::open(path("bad.h5")).unwrap();
        drop(std::fs::remove_file(path("new.h5")));
        let why = Repack::new().run(&bad, path("new.h5")).unwrap_err().to_string();
        assert!(why.starts_with(&format!("not all can be read: {damaged}: ")), "{why}");
        assert!(!path("new.h5").exists());
        let lost = Repack::new().skip_damaged().run(&bad, path("new.h5")).unwrap().lost;
        assert_eq!(lost.iter().map(|lost| lost.path.as_str()).collect::<Vec<_>>(), [damaged]);
        clean(&path("new.h5"));
        let new = File::open(path("new.h5")).unwrap();
        assert_eq!(new.dataset("good").unwrap().read::<i32>().unwrap(), [4, 5, 6]);
        assert!(new.get(damaged).unwrap_err().to_string().contains("was damaged when the file was copied"));
        // The copy of one object is all or nothing.
        let target = File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new())).unwrap();
        let why = bad.root().unwrap().copy("/", &target.root().unwrap(), "all").unwrap_err().to_string();
        assert!(why.starts_with(&format!("not all can be read: .{damaged}: ")), "{why}");
        assert!(target.root().unwrap().is_empty().unwrap());
    }
}

#[test]
fn a_group_is_copied_into_itself() {
    let storage = std::sync::Arc::new(hyperslab::driver::Memory::new());
    let file = File::create_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    root.new_dataset::<i32>().write("a/b/numbers", &[1, 2, 3]).unwrap();
    root.hard_link("a/b/up", &root.get("a").unwrap()).unwrap();
    root.copy("a", &root.group("a/b").unwrap(), "inner").unwrap();
    root.copy("/", &root, "all").unwrap();
    file.close().unwrap();
    let file = File::open_driver(storage).unwrap();
    for path in ["a/b/numbers", "a/b/inner/b/numbers", "all/a/b/inner/b/up/b/numbers"] {
        assert_eq!(file.dataset(path).unwrap().read::<i32>().unwrap(), [1, 2, 3], "{path}");
    }
    assert!(!file.group("a/b/inner/b").unwrap().contains("inner").unwrap());
    let (up, inner) = (file.get("a/b/inner/b/up").unwrap(), file.get("a/b/inner").unwrap());
    assert_eq!(up.address(), inner.address());
}

#[test]
fn what_cannot_be_copied_leaves_nothing() {
    let file = File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new())).unwrap();
    let root = file.root().unwrap();
    root.create_group("a").unwrap();
    assert!(root.copy("a", &root, "a").is_err());
    assert!(root.copy("b", &root, "c").is_err());
    let read = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5")).unwrap();
    assert!(root.copy("a", &read.root().unwrap(), "copy").is_err());
    assert_eq!(root.names().unwrap(), ["a"]);
    read.root().unwrap().copy("station", &root, "x/station").unwrap();
    assert_eq!(root.group("x/station").unwrap().len().unwrap(), 6);
}
