//! How the space of new files is managed: as asked for, and so that libhdf5 goes on with it.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one that part says that it is skipped.

use std::{path::Path, process::Command, sync::Arc};

use hyperslab::{
    File, FileSpace, LibVersion, OpenOptions, Placement, SpaceStrategy,
    check::Severity,
    driver::{Driver, Memory, Transfer},
};

/// Prints strategy, persist, threshold and page size; checks what we wrote, and changes something.
const THEIRS: &str = "
import sys, h5py, numpy
with h5py.File(sys.argv[1], 'r+') as f:
    for nth in range(20):
        if f'd{nth}' in f:
            assert (f[f'd{nth}'][:] == numpy.arange(nth * 97)).all() and f[f'd{nth}'].attrs['nth'] == nth
    plist = f.id.get_create_plist()
    print(*map(int, plist.get_file_space_strategy()), plist.get_file_space_page_size())
    if 'theirs' in f:
        assert (f['theirs/values'][:] == numpy.arange(5000)).all()
        del f['theirs']
    else:
        f['theirs/values'] = numpy.arange(5000)
";

fn ours(file: &File, numbers: std::ops::Range<i64>) {
    for nth in numbers {
        let values: Vec<i64> = (0..nth * 97).collect();
        let dataset = file.root().unwrap().new_dataset::<i64>().write(format!("d{nth}"), &values).unwrap();
        dataset.set_attribute("nth", nth).unwrap();
    }
}

fn is_whole(path: &Path) {
    let report = hyperslab::check::file(path, &mut |_| ()).unwrap();
    // What is not remembered is lost.
    let wrong: Vec<_> = report.findings.iter().filter(|finding| finding.severity != Severity::Note).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn libhdf5_goes_on_with_any_strategy() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let strategies = [
        (0, SpaceStrategy::Managers),
        (1, SpaceStrategy::Pages),
        (2, SpaceStrategy::Gathered),
        (3, SpaceStrategy::End),
    ];
    for ((number, strategy), persist) in strategies.into_iter().flat_map(|one| [(one, false), (one, true)]) {
        // Only managers have something to remember.
        let persist = persist && number < 2;
        for (low, page_size) in [(LibVersion::Earliest, 4096), (LibVersion::V200, 1024)] {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("space-{number}-{persist}-{page_size}.h5"));
            let space = FileSpace { strategy, persist, page_size, ..FileSpace::default() };
            let file = OpenOptions::new().create().truncate().libver_min(low).file_space(space).open(&path).unwrap();
            ours(&file, 0..10);
            file.close().unwrap();
            is_whole(&path);
            for round in 0..2 {
                let told = Command::new(&python).args(["-W", "ignore", "-c", THEIRS]).arg(&path).output().unwrap();
                assert!(told.status.success(), "{space:?}: {}", String::from_utf8_lossy(&told.stderr));
                let told = String::from_utf8(told.stdout).unwrap();
                let wanted = format!("{number} {} 1 {page_size}", i32::from(persist));
                assert_eq!(told.trim(), wanted, "{space:?} in round {round}");
                let file = File::edit(&path).unwrap();
                file.root().unwrap().delete(format!("d{}", 3 + round)).unwrap();
                ours(&file, 10 + 5 * round..15 + 5 * round);
                file.close().unwrap();
                is_whole(&path);
            }
        }
    }
}

#[test]
fn large_pieces_are_aligned() {
    let placement = Placement { align_from: 1000, alignment: 4096, ..Placement::default() };
    let storage = Arc::new(Memory::new());
    let file = OpenOptions::new().create().truncate().placement(placement).open_on(storage.clone()).unwrap();
    ours(&file, 2..20);
    file.close().unwrap();
    let mut bytes = vec![0; storage.len(&Transfer::default()).unwrap() as usize];
    storage.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    for nth in 2..20 {
        let values: Vec<u8> = (0..nth * 97).flat_map(i64::to_le_bytes).collect();
        assert!(bytes.chunks(4096).any(|page| page.starts_with(&values[..1000])), "the values of d{nth}");
        assert!(bytes.windows(values.len()).any(|some| some == values), "the values of d{nth}, all of them");
    }
}

#[test]
fn pages_that_are_none_are_refused() {
    for page_size in [0, 100, 511, 1 << 31] {
        let space = FileSpace { strategy: SpaceStrategy::Pages, page_size, ..FileSpace::default() };
        let refused = OpenOptions::new().create().truncate().file_space(space).open_on(Arc::new(Memory::new()));
        assert!(refused.unwrap_err().to_string().contains("pages of"), "{page_size}");
    }
}

/// A file that cannot be made as it is asked for is not made at all, and one that is there stays as it is.
#[test]
fn options_are_checked_before_a_file_is_made() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("file_space-refused.h5");
    let pages = FileSpace { strategy: SpaceStrategy::Pages, page_size: 100, ..FileSpace::default() };
    let refused = [OpenOptions::new().file_space(pages), OpenOptions::new().user_block(100)];
    let modes = [OpenOptions::create, OpenOptions::truncate, OpenOptions::create_new];
    for (options, mode) in refused.iter().flat_map(|options| modes.map(|mode| (options, mode))) {
        std::fs::remove_file(&path).ok();
        let why = mode(options.clone()).open(&path).unwrap_err().to_string();
        assert!(why.contains("100 bytes"), "{why}");
        assert!(!path.exists(), "{why}");
        File::create(&path).unwrap().close().unwrap();
        let before = std::fs::read(&path).unwrap();
        mode(options.clone()).open(&path).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), before, "{why}");
    }
    std::fs::remove_file(&path).unwrap();
}
