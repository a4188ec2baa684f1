//! `check` and `clear` on files that libhdf5 made, and on one whose writer was killed.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the tests say that they are skipped.
#![cfg(target_os = "linux")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use hyperslab::{
    Durability, File, OpenOptions, check,
    driver::{Damage, Fault, Local, Lock, Target},
};

fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

fn hyperslab(arguments: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperslab")).args(arguments).arg(file).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn whatever_libhdf5_makes_is_whole() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let directory = directory("zoo");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo.py");
    let made = Command::new(python).arg(script).arg(&directory).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let mut seen = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "h5") {
            continue;
        }
        let report = hyperslab::check::file(&path, &mut |_| ()).unwrap();
        assert_eq!(report.problems().collect::<Vec<_>>(), Vec::<&hyperslab::check::Finding>::new(), "{path:?}");
        let used: u64 = report.usage.iter().map(|usage| usage.bytes).sum();
        assert_eq!(used + report.free + report.lost, report.size, "{path:?}");
        assert!(report.objects() > 200, "{path:?}");
        // Where libhdf5 keeps books of free space, ours agree with them to the byte. It loses some of old groups.
        if report.space.persists && report.superblock > 2 {
            assert_eq!(report.lost, 0, "{path:?}");
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
    fs::remove_dir_all(&directory).unwrap();
}

/// Flushes, and ends without closing the file.
const KILLED: &str = "
import os, sys, h5py
file = h5py.File(sys.argv[1], 'w', libver='latest')
file['x'] = range(10)
file.flush()
os._exit(0)
";

#[test]
fn marks_of_a_crash_are_cleared() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let directory = directory("clear");
    let file = directory.join("killed.h5");
    assert!(Command::new(&python).args(["-c", KILLED]).arg(&file).status().unwrap().success());
    let refused = hyperslab(&["ls"], &file);
    assert!(text(&refused.stderr).contains("marked as open for writing"), "{}", text(&refused.stderr));
    let checked = hyperslab(&["check"], &file);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked.stdout));

    // Not while a program has it open.
    let writer = Local::options().write(true).open(&file).unwrap();
    if writer.lock(Lock::Exclusive).unwrap() {
        let locked = hyperslab(&["clear"], &file);
        assert_eq!(locked.status.code(), Some(1));
        assert!(text(&locked.stderr).contains("another program has"), "{}", text(&locked.stderr));
    }
    drop(writer);

    let cleared = hyperslab(&["clear"], &file);
    assert!(cleared.status.success(), "{}", text(&cleared.stderr));
    let said = text(&cleared.stdout);
    assert!(
        said.contains("marked as open for writing\nthe file is whole: 2 objects") && said.ends_with("cleared\n"),
        "{said}"
    );
    assert!(hyperslab(&["ls"], &file).status.success() && hyperslab(&["check"], &file).status.success());
    let read = Command::new(&python)
        .args(["-c", "import h5py, sys; print(h5py.File(sys.argv[1], 'r+')['x'][9])"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(text(&read.stdout), "9\n", "{}", text(&read.stderr));
    fs::remove_dir_all(&directory).unwrap();
}

/// Leaves a file whose writes failed in the middle of a block, with the journal that has the whole of it: as a power failure leaves it. Says
/// whether there is a journal; nothing if all writes were done.
fn journaled(path: &Path, spare: u64) -> Option<bool> {
    let working = path.with_extension("working");
    let fault = Arc::new(Fault::new(Local::options().create(true).open(&working).unwrap()));
    let options = OpenOptions::new().create().truncate().durability(Durability::Full);
    let file = options.open_on(fault.clone()).unwrap();
    let group = file.root().unwrap().create_group("group").unwrap();
    let change = |value: i32| (0..20).try_for_each(|nth| group.set_attribute(format!("a{nth}"), [value; 20]));
    change(1).unwrap();
    file.flush().unwrap();
    change(2).unwrap();
    fault.arm_forever(Target::Writes, spare, Damage::Tear(700));
    let failed = file.flush().is_err();
    fs::copy(&working, path).unwrap();
    fault.disarm();
    drop(file.close());
    failed.then(|| check::file(path, &mut |_| ()).unwrap().marks.journal)
}

/// Prints the values of all attributes, of a copy that was made before and of the file: those of one flush, if it is whole.
const ATTRIBUTES: &str = "
import h5py, sys
for name in sys.argv[1:]:
    try:
        with h5py.File(name, 'r+') as file:
            values = [value for value in file['group'].attrs.values()]
        print(len(values), {int(number) for value in values for number in value})
    except Exception as why:
        print(why)
";

#[test]
fn a_journal_that_is_left_is_put_in_place() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let directory = directory("journal");
    let (file, before) = (directory.join("left.h5"), directory.join("before.h5"));
    let (mut journals, mut torn) = (0, 0);
    for _ in (0..40).map_while(|spare| journaled(&file, spare)).filter(|&is_left| is_left) {
        journals += 1;
        fs::copy(&file, &before).unwrap();
        let cleared = hyperslab(&["clear"], &file);
        let said = text(&cleared.stdout);
        assert!(cleared.status.success(), "{said}{}", text(&cleared.stderr));
        assert!(said.contains("journal") && said.ends_with("cleared\n"), "{said}");
        // Afterwards nothing is left to say.
        let again = hyperslab(&["clear"], &file);
        assert!(text(&again.stdout).contains("no marks"), "{}", text(&again.stdout));
        assert!(hyperslab(&["check"], &file).status.success());
        let read = Command::new(&python).args(["-c", ATTRIBUTES]).args([&before, &file]).output().unwrap();
        let read = text(&read.stdout);
        let [first, then] = read.lines().collect::<Vec<_>>()[..] else { panic!("{read}") };
        assert!(["20 {1}", "20 {2}"].contains(&then), "{read}");
        torn += usize::from(first != then);
    }
    println!("{journals} journals, {torn} of them for a file that libhdf5 could not read as it was flushed");
    assert!(torn > 0, "{journals} journals, none of which was needed");
    fs::remove_dir_all(&directory).unwrap();
}

/// `put` and `copy` with each durability, in a new file and in one that is there.
#[test]
fn commands_that_change_files_make_them_durable() {
    let directory = directory("durability");
    for durability in Durability::ALL.map(Durability::name) {
        let (first, second) =
            (directory.join(format!("{durability}.h5")), directory.join(format!("{durability}-2.h5")));
        let run = |words: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
            let done = command.args(words).args(["--durability", durability]).output().unwrap();
            assert!(done.status.success(), "{words:?} {durability}: {}", text(&done.stderr));
        };
        for value in ["1", "2"] {
            run(&["put", first.to_str().unwrap(), "/x", value]);
            let (from, to) = (format!("{}:/x", first.display()), format!("{}:/copies/{value}", second.display()));
            run(&["copy", &from, &to]);
        }
        let copies = File::open(&second).unwrap();
        let values = ["copies/1", "copies/2"].map(|path| copies.dataset(path).unwrap().read_scalar::<i64>().unwrap());
        assert_eq!(values, [1, 2], "{durability}");
        for path in [first, second] {
            let report = check::file(&path, &mut |_| ()).unwrap();
            assert_eq!((report.marks.bits, report.marks.journal, report.problems().count()), (0, false, 0), "{path:?}");
        }
    }
    fs::remove_dir_all(&directory).unwrap();
}
