//! What a check of a file finds: nothing in good files, and damage where it was done.

use std::{fs, path::Path, sync::Arc};

use hyperslab::{
    File,
    check::{self, Report},
    driver::{Driver, Memory, Transfer},
};

fn read(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// An old-style file: symbol tables, headers of version 1.
fn old() -> Vec<u8> {
    read("tests/data/weather.h5")
}

fn look(bytes: &[u8]) -> Report {
    check::storage(Arc::new(Memory::from(bytes.to_vec()))).unwrap()
}

/// Whether a problem says this, of this object.
fn says(report: &Report, owner: &str, words: &str) -> bool {
    let of = |path: &Option<Vec<u8>>| path.as_deref().map(String::from_utf8_lossy).is_some_and(|path| path == owner);
    report.problems().any(|problem| problem.why.contains(words) && (owner.is_empty() || of(&problem.owner)))
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).unwrap()
}

fn address(bytes: &[u8], path: &str) -> usize {
    let file = File::open_driver(Arc::new(Memory::from(bytes.to_vec()))).unwrap();
    file.get(path).unwrap().address() as usize
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn set(bytes: &mut [u8], at: usize, number: u64) {
    bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

#[test]
fn every_byte_of_a_good_file_belongs_to_a_structure() {
    let seeds = ["dense-old", "dense", "filtered-heap", "filters", "growing-virtual", "indexes-v110", "indexes"];
    let seeds = seeds.map(|name| format!("../../hostile/seeds/{name}.h5"));
    let own = ["tests/data/weather.h5", "tests/data/rewritten.h5"].map(str::to_owned);
    for name in seeds.into_iter().chain(own) {
        let report = look(&read(&name));
        assert_eq!(report.problems().collect::<Vec<_>>(), Vec::<&check::Finding>::new(), "{name}");
        let used: u64 = report.usage.iter().map(|usage| usage.bytes).sum();
        assert_eq!(used + report.free + report.lost, report.size, "{name}");
        assert!(report.objects() > 0 && used > 0, "{name}");
    }
}

#[test]
fn a_wrong_count_of_links() {
    let mut bytes = old();
    let header = address(&bytes, "temperature");
    assert_eq!(bytes[header], 1, "a header of version 1");
    bytes[header + 4] = 7;
    assert!(says(&look(&bytes), "/temperature", "says that it has 7 hard links, but has 1"));
}

#[test]
fn a_wrong_count_of_messages() {
    let mut bytes = old();
    let header = address(&bytes, "temperature");
    bytes[header + 2] += 1;
    assert!(says(&look(&bytes), "/temperature", "messages, but has"));
}

#[test]
fn names_that_do_not_rise() {
    let mut bytes = old();
    let symbols = find(&bytes, b"SNOD") + 8;
    let (first, second) = (number(&bytes, symbols), number(&bytes, symbols + 40));
    set(&mut bytes, symbols, second);
    set(&mut bytes, symbols + 40, first);
    assert!(says(&look(&bytes), "/", "names do not rise"));
}

#[test]
fn blocks_that_overlap() {
    let mut bytes = old();
    // The only chunk of /temperature is said to begin in the middle of the local heap of the root group.
    let heap = find(&bytes, b"HEAP") as u64;
    let child = find(&bytes, b"TREE\x01") + 24 + 8 + 8 * 3;
    set(&mut bytes, child, heap + 8);
    let report = look(&bytes);
    assert!(says(&report, "/temperature", "it overlaps with the local heap"), "{:?}", report.findings);
}

#[test]
fn two_objects_with_one_place() {
    let mut bytes = old();
    let (left, right) = (address(&bytes, "temperature"), address(&bytes, "height"));
    // The second name leads to the first object now: that one has two links, and the other has none.
    let symbols = find(&bytes, b"SNOD");
    let entry = (symbols..symbols + 400).find(|&at| number(&bytes, at) == right as u64).unwrap();
    set(&mut bytes, entry, left as u64);
    let report = look(&bytes);
    assert!(says(&report, "", "hard links, but has 2"));
    assert!(report.lost > look(&old()).lost);
}

#[test]
fn neighbours_that_do_not_know_each_other() {
    let mut bytes = old();
    let tree = find(&bytes, b"TREE\x01");
    set(&mut bytes, tree + 16, 0x100);
    assert!(says(&look(&bytes), "/temperature", "right neighbour"));
    set(&mut bytes, tree + 8, 0x100);
    assert!(says(&look(&bytes), "/temperature", "left neighbour"));
}

#[test]
fn a_file_that_lost_its_end() {
    let whole = old();
    let report = look(&whole[..whole.len() - 100]);
    assert!(says(&report, "", "the file is truncated"));
    assert!(report.objects() > 1, "what is left is looked at");
}

/// Whatever byte changes, a check ends and says something if a checksum covers it.
#[test]
fn flipped_bytes() {
    for name in ["indexes", "dense", "filtered-heap"] {
        let whole = read(&format!("../../hostile/seeds/{name}.h5"));
        let (mut found, mut tried) = (0, 0);
        for at in (0..whole.len()).step_by(5) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            let Ok(report) = check::storage(Arc::new(Memory::from(bytes))) else { continue };
            tried += 1;
            found += usize::from(report.problems().next().is_some());
        }
        println!("{name}: {found} of {tried} flips found");
        assert!(found * 4 > tried, "{name}: {found} of {tried}");
        let header = address(&whole, "/");
        for at in (0..48).chain(header..header + 24) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            let report = check::storage(Arc::new(Memory::from(bytes)));
            assert!(report.is_err() || report.is_ok_and(|report| report.problems().next().is_some()), "{name} at {at}");
        }
    }
}

/// A group with many links and a dataset with many attributes, of which one each went with the last flush: heaps still have them.
fn killed() -> Vec<u8> {
    let storage = Arc::new(Memory::new());
    let options = hyperslab::OpenOptions::new().create().truncate().libver_min(hyperslab::LibVersion::V110);
    let file = options.open_on(storage.clone()).unwrap();
    let root = file.root().unwrap();
    let dataset = root.new_dataset::<i32>().write("x", &[1, 2, 3]).unwrap();
    for nth in 0..40 {
        root.hard_link(format!("group/{nth}"), &root.get("x").unwrap()).unwrap();
        dataset.set_attribute(format!("a{nth}"), nth).unwrap();
    }
    file.flush().unwrap();
    root.delete("group/7").unwrap();
    dataset.remove_attribute("a7").unwrap();
    file.flush().unwrap();
    let mut bytes = vec![0; storage.len(&Transfer::default()).unwrap() as usize];
    storage.read_at(0, &mut bytes, &Default::default()).unwrap();
    bytes
}

/// What is worth knowing of heaps and counts.
fn lags(report: &Report) -> usize {
    let is_lag = |why: &str| why.contains("objects in their heap") || why.contains("hard links, but has");
    report.findings.iter().filter(|finding| is_lag(&finding.why)).count()
}

#[test]
fn what_a_killed_program_leaves_is_no_damage() {
    let bytes = killed();
    let report = look(&bytes);
    assert_eq!(lags(&report), 2, "{:?}", report.findings);
    // The mark alone is one.
    assert_eq!(report.problems().map(|problem| problem.what).collect::<Vec<_>>(), [hyperslab::check::MARK]);

    let check_names = |file: &File| {
        let (group, dataset) = (file.group("group").unwrap(), file.dataset("x").unwrap());
        assert!(group.len().unwrap() == 39 && !group.contains("7").unwrap() && group.contains("8").unwrap());
        assert!(dataset.attribute_names().unwrap().len() == 39 && !dataset.has_attribute("a7").unwrap());
        assert_eq!(dataset.attribute("a8").unwrap().read_scalar::<i32>().unwrap(), 8);
    };
    // The next program that changes the file mends it.
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed.h5");
    fs::write(&path, &bytes).unwrap();
    let file = File::edit(&path).unwrap();
    check_names(&file);
    file.close().unwrap();
    let report = check::file(&path, &mut |_| ()).unwrap();
    assert_eq!((report.problems().count(), lags(&report)), (0, 0), "{:?}", report.findings);
    check_names(&File::open(&path).unwrap());

    fs::write(&path, &bytes).unwrap();
    assert!(check::clear(&path, false).unwrap().whole);
    let report = check::file(&path, &mut |_| ()).unwrap();
    assert_eq!((report.problems().count(), lags(&report)), (0, 0), "{:?}", report.findings);
    check_names(&File::open(&path).unwrap());

    // A file that is not whole gets its mark cleared, and nothing else.
    fs::write(&path, &bytes).unwrap();
    check::clear(&path, true).unwrap();
    assert_eq!(lags(&check::file(&path, &mut |_| ()).unwrap()), 2);
    check_names(&File::open(&path).unwrap());
    fs::remove_file(&path).unwrap();
}

/// Adds names, takes some away, then most, so that the rest lies in headers; says how many there are.
const GO_ON: &str = "
import h5py, sys
with h5py.File(sys.argv[1], 'r+') as file:
    group, attributes = file['group'], file['x'].attrs
    assert len(group) == 39 and '7' not in group and len(attributes) == 39 and 'a7' not in attributes
    for nth in range(100, 130):
        group[str(nth)] = file['x']
        attributes[f'a{nth}'] = nth
    for nth in (3, 8, 101):
        del group[str(nth)], attributes[f'a{nth}']
    assert len(group) == 66 and len(attributes) == 66
with h5py.File(sys.argv[1], 'r+') as file:
    group, attributes = file['group'], file['x'].attrs
    assert all(group[name] == file['x'] for name in group) and attributes['a9'] == 9
    if sys.argv[2] == 'few':
        for name in list(group)[3:]:
            del group[name]
        for name in list(attributes)[3:]:
            del attributes[name]
";

/// libhdf5 reads and changes what a killed program left.
#[test]
fn libhdf5_goes_on_with_what_a_killed_program_left() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("killed-libhdf5.h5");
    for (how, count) in [("many", 66), ("few", 3)] {
        fs::write(&path, killed()).unwrap();
        check::clear(&path, true).unwrap();
        let output = std::process::Command::new(&python).args(["-c", GO_ON]).arg(&path).arg(how).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let file = File::open(&path).unwrap();
        assert_eq!(file.group("group").unwrap().len().unwrap(), count);
        assert_eq!(file.dataset("x").unwrap().attribute_names().unwrap().len() as u64, count);
        let report = check::file(&path, &mut |_| ()).unwrap();
        let lags = lags(&report);
        assert_eq!(report.problems().count(), lags, "{:?}", report.findings);
        // With their heaps, what no name leads to is gone.
        assert_eq!(lags, if how == "many" { 2 } else { 0 });
    }
    fs::remove_file(&path).unwrap();
}
