//! Files that are spread over several: made and changed by us and by libhdf5 in turns.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the parts with libhdf5 are left out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use hyperslab::{
    ErrorKind, File, LibVersion, OpenOptions, check,
    driver::{Driver, Family, Memory, Multi, Transfer},
};

/// Whether libhdf5 did it; false if it is not there.
fn python(what: &str, size: u64, path: &Path) -> bool {
    let Some(python) = hyperslab_workshop::python() else { return false };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spread.py");
    let mut command = Command::new(python);
    command.args(["-W", "ignore"]).arg(script).arg(what).arg(size.to_string()).arg(path);
    let done = command.output().unwrap();
    assert!(done.status.success(), "{what} {}: {}", path.display(), String::from_utf8_lossy(&done.stderr));
    true
}

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn sound(path: &Path) {
    let report = check::file(path, &mut |_| ()).unwrap();
    assert_eq!(report.problems().count(), 0, "{}: {:#?}", path.display(), report.findings);
}

/// What the script verifies.
fn fill(file: &File) {
    let root = file.root().unwrap();
    root.new_dataset::<i64>().write("plain", &(0..3000).collect::<Vec<_>>()).unwrap();
    let packed = root.new_dataset::<i64>().shape([50, 100]).chunks([7, 30]).deflate(3).create("packed").unwrap();
    packed.write(&(0..5000).map(|n| n % 17).collect::<Vec<_>>()).unwrap();
    let texts: Vec<String> = (0..200).map(|n| format!("text {n}")).collect();
    root.new_dataset::<String>().write("texts", &texts).unwrap();
    let group = root.create_group("group").unwrap();
    group.set_attribute("number", 7).unwrap();
    (0..40).for_each(|n| drop(group.create_group(format!("member {n}")).unwrap()));
}

fn verify(file: &File) {
    assert_eq!(file.dataset("plain").unwrap().read::<i64>().unwrap(), (0..3000).collect::<Vec<_>>());
    let packed = file.dataset("packed").unwrap().read::<i64>().unwrap();
    assert_eq!(packed, (0..5000).map(|n| n % 17).collect::<Vec<_>>());
    let texts = file.dataset("texts").unwrap().read::<String>().unwrap();
    assert_eq!(texts, (0..200).map(|n| format!("text {n}")).collect::<Vec<_>>());
    assert_eq!(file.group("group").unwrap().len().unwrap(), 40);
}

/// Changes by us and by libhdf5 in turns.
fn take_turns(path: &Path, theirs: &Path, size: u64) {
    for turn in 0..3 {
        if !python("change", size, theirs) {
            return;
        }
        sound(path);
        let file = File::edit(path).unwrap();
        verify(&file);
        let root = file.root().unwrap();
        assert_eq!(root.dataset("theirs").unwrap().len(), 2000);
        root.delete("theirs").unwrap();
        root.delete("packed").unwrap();
        root.delete("texts").unwrap();
        root.delete("plain").unwrap();
        root.delete("group").unwrap();
        fill(&file);
        root.new_dataset::<i32>().write(format!("turn {turn}"), &[turn; 500]).unwrap();
        drop(root);
        file.close().unwrap();
        sound(path);
        python("check", size, theirs);
    }
}

#[test]
fn families_are_made_as_libhdf5_makes_them() {
    let folder = folder("made-families");
    for (nth, low) in
        [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200].into_iter().enumerate()
    {
        for (size, user_block) in [(3000, 0), (1 << 16, 512), (i32::MAX as u64, 0)] {
            let path = folder.join(format!("{nth}-{size}-%04d.h5"));
            let new = OpenOptions::new().create_new().libver_min(low).user_block(user_block).family(size);
            let file = new.clone().open(&path).unwrap();
            fill(&file);
            assert_eq!(file.driver(), "family");
            assert!(new.open(&path).is_err(), "it is there");
            file.close().unwrap();
            let first = folder.join(format!("{nth}-{size}-0000.h5"));
            assert!(fs::metadata(first).unwrap().len() <= size);
            sound(&path);
            verify(&File::open(&path).unwrap());
            python("check", size, &path);
            take_turns(&path, &path, size);
        }
    }
}

#[test]
fn a_family_takes_the_place_of_another() {
    let folder = folder("replaced-families");
    let path = folder.join("%d.h5");
    for size in [512, 100_000, 4096] {
        let file = OpenOptions::new().create().truncate().family(size).open(&path).unwrap();
        fill(&file);
        file.close().unwrap();
        sound(&path);
        verify(&File::open(&path).unwrap());
        python("check", size, &path);
    }
    let file = OpenOptions::new().create().family(77_777).open(&path).unwrap();
    verify(&file);
    file.close().unwrap();
    python("check", 4096, &path);
}

#[test]
fn members_that_cannot_be_are_refused_before_anything_is_made() {
    let folder = folder("refused-families");
    let make = |name: &str, size, user_block| {
        let options = OpenOptions::new().create().truncate().user_block(user_block).family(size);
        options.open(folder.join(name)).unwrap_err().to_string()
    };
    assert!(make("%d.h5", 0, 0).contains("members of 0 bytes"));
    assert!(make("%d.h5", 511, 0).contains("members of 511 bytes"));
    assert!(make("%d.h5", 1535, 1024).contains("members of 1535 bytes"));
    assert!(make("one.h5", 4096, 0).contains("%d"));
    let unsaid = OpenOptions::new().create().truncate().open(folder.join("%d.h5")).unwrap_err();
    assert!(unsaid.to_string().contains("family"), "{unsaid}");
    assert!(OpenOptions::new().create().open(folder.join("%d.h5")).is_err());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

fn split() -> OpenOptions {
    OpenOptions::new().split("-m.h5", "-r.h5")
}

#[test]
fn split_files_are_made_as_libhdf5_makes_them() {
    let folder = folder("made-splits");
    for (nth, low) in
        [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V200].into_iter().enumerate()
    {
        let common = folder.join(format!("made-{nth}"));
        let metadata = folder.join(format!("made-{nth}-m.h5"));
        let file = split().create_new().libver_min(low).open(&common).unwrap();
        fill(&file);
        assert_eq!(file.driver(), "split");
        assert!(split().create_new().open(&common).is_err(), "it is there");
        file.close().unwrap();
        let values = fs::metadata(folder.join(format!("made-{nth}-r.h5"))).unwrap().len();
        assert!(values > 3000 * 8 && fs::metadata(&metadata).unwrap().len() < 100_000);
        sound(&metadata);
        assert_eq!(check::file(&metadata, &mut |_| ()).unwrap().lost, 0);
        verify(&File::open(&metadata).unwrap());
        verify(&split().open(&common).unwrap());
        python("check", 0, &common);
        take_turns(&metadata, &common, 0);
    }
}

/// Storage of the caller's own may be spread, too; storage that is not cannot hold what says that it is.
#[test]
fn storage_that_is_not_spread_is_refused() {
    let whole = || Arc::new(Memory::from(vec![7; 100]));
    let row = |size| Family::open("%d", size, Box::new(|_, create: bool| Ok(create.then(Memory::new)))).unwrap();
    for (options, spread) in [
        (split(), Arc::new(Multi::split(Memory::new(), Memory::new())) as Arc<dyn Driver>),
        (OpenOptions::new().family(4096), Arc::new(row(4096))),
    ] {
        let (options, storage) = (options.create().truncate(), whole());
        let refused = options.clone().open_on(storage.clone()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{refused}");
        assert!(refused.to_string().contains("and its storage, "), "{refused}");
        assert_eq!(storage.len(&Transfer::default()).unwrap(), 100, "nothing was done");
        let file = options.open_on(spread).unwrap();
        fill(&file);
        verify(&file);
        file.close().unwrap();
    }
}

/// What only the second member of a file had is still there when the file cannot be made, and no first member was made beside it.
#[test]
fn a_member_that_is_there_is_not_overwritten() {
    let folder = folder("kept-members");
    let split_file = (split(), folder.join("run"), folder.join("run-m.h5"), folder.join("run-r.h5"));
    let name = |nth: u32| folder.join(format!("part-{nth}.h5"));
    let family = (OpenOptions::new().family(4096), folder.join("part-%d.h5"), name(0), name(1));
    for (options, path, first, second) in [split_file, family] {
        for content in ["important", ""] {
            fs::write(&second, content).unwrap();
            let refused = options.clone().create_new().open(&path).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::AlreadyExists, "{refused}");
            assert!(refused.raw_os_error().is_some() && !first.exists());
            assert_eq!(fs::read_to_string(&second).unwrap(), content);
        }
        fs::write(&second, "important").unwrap();
        let refused = options.clone().create().open(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists, "{refused}");
        assert!(!first.exists());
        // An empty first member is a file to be made, too.
        fs::write(&first, "").unwrap();
        let refused = options.clone().read_write().open(&path).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists, "{refused}");
        assert_eq!(fs::read_to_string(&second).unwrap(), "important");
        // Content that the caller gives up, and members without content, are no hindrance.
        options.clone().create().truncate().open(&path).unwrap().close().unwrap();
        for path in [&first, &second] {
            fs::write(path, "").unwrap();
        }
        let file = options.clone().create().open(&path).unwrap();
        fill(&file);
        file.close().unwrap();
        verify(&options.open(&path).unwrap());
    }
}

#[test]
fn split_files_of_libhdf5_are_changed() {
    let folder = folder("changed-splits");
    for what in ["make", "latest"] {
        let common = folder.join(what);
        if !python(what, 0, &common) {
            return;
        }
        let metadata = folder.join(format!("{what}-m.h5"));
        for turn in 0..3 {
            let file = split().read_write().open(&common).unwrap();
            let growing = file.dataset("growing").unwrap();
            growing.resize([200 + turn * 100]).unwrap();
            assert_eq!(file.dataset("words").unwrap().read::<String>().unwrap(), ["one", "two"]);
            if turn == 0 {
                fill(&file);
            }
            file.close().unwrap();
            sound(&metadata);
            python("change", 0, &common);
            sound(&metadata);
        }
        fs::remove_file(folder.join(format!("{what}-r.h5"))).unwrap();
        assert!(split().read_write().open(&common).unwrap_err().to_string().contains("-r.h5"));
        assert_eq!(split().open(&common).unwrap().root().unwrap().len().unwrap(), 8);
    }
}

#[test]
fn split_files_have_any_endings_and_take_the_place_of_others() {
    let folder = folder("odd-splits");
    let common = folder.join("two%d");
    for endings in [(".meta", ".raw"), ("_a", "_b"), ("%s.first", "%s.second")] {
        let options = OpenOptions::new().split(endings.0, endings.1);
        for _ in 0..2 {
            let file = options.clone().create().truncate().open(&common).unwrap();
            fill(&file);
            file.flush().unwrap();
            file.close().unwrap();
            verify(&options.clone().open(&common).unwrap());
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 6);
    let refused = split().create().user_block(512).open(folder.join("b")).unwrap_err();
    assert!(refused.to_string().contains("user block"), "{refused}");
    let pages = hyperslab::FileSpace { strategy: hyperslab::SpaceStrategy::Pages, ..Default::default() };
    assert!(split().create().file_space(pages).open(folder.join("b")).is_err());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 6);
}
