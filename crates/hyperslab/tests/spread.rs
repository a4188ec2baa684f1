//! Files that are spread over several: made and changed by us and by libhdf5 in turns, and as a crash leaves them.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the parts with libhdf5 are left out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex},
};

use hyperslab::{
    File, Low, OpenOptions, check,
    driver::{Change, Driver, Family, Memory, Tape, Transfer},
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
    for (nth, low) in [Low::Earliest, Low::V18, Low::V110, Low::V200].into_iter().enumerate() {
        for (size, user_block) in [(3000, 0), (1 << 16, 512), (i32::MAX as u64, 0)] {
            let path = folder.join(format!("{nth}-{size}-%04d.h5"));
            let new = OpenOptions::new().create_new().low(low).user_block(user_block).family(size);
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

/// Changes of all members in their order.
type Changes = Arc<Mutex<Vec<(usize, Change)>>>;

/// A member whose changes are noted with those of the others.
struct Member {
    nth: usize,
    tape: Tape,
    changes: Changes,
}

impl Member {
    fn note<T>(&self, change: impl FnOnce(&Tape) -> T) -> T {
        // Held while the member changes, so that the order is the one that the members have.
        let mut changes = self.changes.lock().unwrap();
        let done = change(&self.tape);
        changes.extend(self.tape.changes().into_iter().map(|change| (self.nth, change)));
        self.tape.cut().unwrap();
        done
    }
}

impl Driver for Member {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> hyperslab::driver::Result<()> {
        self.tape.read_at(addr, buf, transfer)
    }
    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> hyperslab::driver::Result<()> {
        self.note(|tape| tape.write_at(addr, buf, transfer))
    }
    fn len(&self, transfer: &Transfer) -> hyperslab::driver::Result<u64> {
        self.tape.len(transfer)
    }
    fn set_len(&self, len: u64, transfer: &Transfer) -> hyperslab::driver::Result<()> {
        self.note(|tape| tape.set_len(len, transfer))
    }
    fn sync(&self, _: &Transfer) -> hyperslab::driver::Result<()> {
        Ok(())
    }
}

/// The members of a family, as many as there are bytes for.
fn family(size: u64, members: &[Vec<u8>]) -> Arc<dyn Driver> {
    let held: Mutex<Vec<Vec<u8>>> = Mutex::new(members.to_vec());
    let open = move |name: &str, create: bool| {
        let nth: usize = name.parse().unwrap();
        let bytes = held.lock().unwrap().get(nth).cloned();
        Ok(bytes.or(create.then(Vec::new)).map(Memory::from))
    };
    Arc::new(Family::open("%d", size, Box::new(open)).unwrap())
}

/// Opens what each write leaves, as the next writer does, and looks at all of it.
fn after_each_write(changes: &Changes, members: &mut Vec<Vec<u8>>, assemble: impl Fn(&[Vec<u8>]) -> Arc<dyn Driver>) {
    let mut flushed = false;
    for (nth, change) in std::mem::take(&mut *changes.lock().unwrap()) {
        if members.len() <= nth {
            members.resize(nth + 1, Vec::new());
        }
        change.apply(&mut members[nth]);
        let report = check::storage(assemble(members));
        if !flushed && report.is_err() {
            continue; // The first flush has not ended.
        }
        flushed = true;
        let problems: Vec<_> = report.as_ref().unwrap().problems().collect();
        let is_mark = |why: &str| why.contains("marked as open for writing");
        assert!(problems.iter().all(|found| is_mark(&found.why)), "{problems:#?}");
        let file = OpenOptions::new().read_write().unlocked().open_on(assemble(members)).unwrap();
        file.root().unwrap().new_dataset::<i32>().write("after", &[1; 3000]).unwrap();
        if let Ok(kept) = file.dataset("kept") {
            assert_eq!(kept.read::<i32>().unwrap(), [5; 700]);
        }
        file.close().unwrap();
    }
    assert!(flushed);
}

#[test]
fn a_crash_leaves_a_whole_family() {
    for (low, size) in [(Low::Earliest, 1000), (Low::V110, 1000), (Low::V110, 4096), (Low::V200, 777)] {
        let changes = Changes::default();
        let recorded = changes.clone();
        let open = move |name: &str, create: bool| {
            let (tape, changes) = (Tape::default(), recorded.clone());
            Ok(create.then(|| Member { nth: name.parse().unwrap(), tape, changes }))
        };
        let storage = Arc::new(Family::open("%d", size, Box::new(open)).unwrap());
        let file = OpenOptions::new().create().low(low).family(size).open_on(storage).unwrap();
        let mut members = Vec::new();
        let root = file.root().unwrap();
        root.new_dataset::<i32>().write("kept", &[5; 700]).unwrap();
        file.flush().unwrap();
        after_each_write(&changes, &mut members, |members| family(size, members));
        for n in 0..12 {
            let group = root.create_group(format!("group {n}")).unwrap();
            group.set_attribute("text", "long".repeat(50)).unwrap();
            group.new_dataset::<String>().write("texts", &["some".to_owned(), "text".repeat(n)]).unwrap();
            if n > 3 {
                root.delete(format!("group {}", n - 3)).unwrap();
            }
            file.flush().unwrap();
        }
        drop(root);
        file.close().unwrap();
        after_each_write(&changes, &mut members, |members| family(size, members));
    }
}
