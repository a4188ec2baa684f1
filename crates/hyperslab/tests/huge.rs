//! Datasets with more elements than 64 bits can count: libhdf5 reads what is written to them here, and what it wrote is read.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the comparison says that it is skipped.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use hyperslab::{Dataset, Error, File, Layout, LibVersion, OpenOptions, check, driver::Memory, s};

const SIDE: u64 = 1_000_000_000_000;
const HALF: u64 = 1 << 39;
const FILL: f32 = -3.0;
/// The first corners of boxes of 10 × 10 elements that are written.
const BOXES: [(u64, u64); 4] = [(0, 0), (HALF + 60, HALF + 60), (SIDE - 10, SIDE - 10), (HALF, 0)];
/// The box that libhdf5 writes to files that were made here.
const MORE: (u64, u64) = (HALF / 2, SIDE - 30);

fn value(row: u64, column: u64) -> f32 {
    (row % 89 * 100 + column % 97) as f32
}

fn values((row, column): (u64, u64)) -> Vec<f32> {
    (row..row + 10).flat_map(|row| (column..column + 10).map(move |column| value(row, column))).collect()
}

fn put(dataset: &Dataset, (row, column): (u64, u64)) {
    dataset.write_slice((row..row + 10, column..column + 10), &values((row, column))).unwrap();
}

#[track_caller]
fn has(dataset: &Dataset, boxes: &[(u64, u64)]) {
    assert_eq!(dataset.shape(), [SIDE, SIDE]);
    for &(row, column) in boxes {
        let read = dataset.read_slice::<f32>((row..row + 10, column..column + 10)).unwrap();
        assert_eq!(read, values((row, column)), "{row}, {column}");
        let (top, left) = (row.saturating_sub(2), column.saturating_sub(2));
        let around = (top..(row + 12).min(SIDE), left..(column + 12).min(SIDE));
        let around = dataset.read_slice::<f32>(around).unwrap();
        assert_eq!(around.iter().filter(|value| **value == FILL).count(), around.len() - 100, "{row}, {column}");
    }
}

fn python(what: &str, path: &Path, libver: &str) -> Option<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/huge.py");
    let output =
        Command::new(hyperslab_workshop::python()?).arg(script).arg(what).arg(path).arg(libver).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("huge-{name}-{}.h5", std::process::id()))
}

fn is_whole(path: &Path) {
    let report = check::file(path, &mut |_| ()).unwrap();
    assert_eq!(report.problems().count(), 0, "{:?}", report.findings);
}

#[test]
fn libhdf5_reads_and_changes_what_is_written() {
    for (low, libver) in [(LibVersion::Earliest, "earliest"), (LibVersion::V110, "v110"), (LibVersion::V114, "latest")]
    {
        let path = path(&format!("ours-{libver}"));
        let file = OpenOptions::new().create().truncate().libver_min(low).open(&path).unwrap();
        let root = file.root().unwrap();
        for (kind, max) in [("fixed", [Some(SIDE); 2]), ("growing", [None, Some(SIDE)]), ("free", [None; 2])] {
            for filtered in [false, true] {
                let new =
                    root.new_dataset::<f32>().shape([SIDE, SIDE]).max_shape(max).chunks([64, 64]).fill_value(FILL);
                let new = if filtered { new.deflate(1) } else { new };
                let dataset = new.create(format!("{kind} {filtered}")).unwrap();
                BOXES.into_iter().for_each(|at| put(&dataset, at));
                has(&dataset, &BOXES);
                root.copy(format!("{kind} {filtered}"), &root, format!("copy of {kind} {filtered}")).unwrap();
            }
        }
        drop(root);
        file.close().unwrap();
        is_whole(&path);
        if python("read", &path, libver).is_some() {
            let file = File::open(&path).unwrap();
            for name in file.root().unwrap().names().unwrap() {
                let dataset = file.dataset(&name).unwrap();
                has(&dataset, &BOXES);
                has(&dataset, &[MORE]);
            }
            is_whole(&path);
        }
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn what_libhdf5_wrote_is_read_and_changed() {
    for (libver, written) in [("earliest", &["fixed", "growing", "free"][..]), ("latest", &["free"])] {
        let path = path(&format!("theirs-{libver}"));
        if python("write", &path, libver).is_none() {
            return;
        }
        is_whole(&path);
        let file = OpenOptions::new().read_write().open(&path).unwrap();
        for kind in ["fixed", "growing", "free"] {
            for filter in ["None", "gzip"] {
                let dataset = file.dataset(format!("{kind} {filter}")).unwrap();
                if written.contains(&kind) {
                    has(&dataset, &BOXES);
                    // Rows that lie far from each other, and chunks that were never written.
                    let apart = dataset.read_slice::<f32>(s![(HALF + 60)..;(SIDE - HALF - 61), HALF + 61]).unwrap();
                    assert_eq!(apart, [value(HALF + 60, HALF + 61), FILL]);
                    put(&dataset, MORE);
                    has(&dataset, &[MORE]);
                } else {
                    assert_eq!(dataset.read_slice::<f32>((SIDE - 1, SIDE - 2..)).unwrap(), [FILL; 2]);
                }
            }
        }
        let piece = file.dataset("in one piece").unwrap();
        assert_eq!(piece.read_slice::<f32>((HALF, SIDE - 2..)).unwrap(), [FILL; 2]);
        assert!(piece.write_slice((0, 0), &[1f32]).is_err(), "no file has room for its values");
        let part = file.dataset("virtual").unwrap().read_slice::<f32>((HALF + 59..HALF + 62, HALF + 60..HALF + 62));
        let (row, columns) = (HALF + 60, [HALF + 60, HALF + 61]);
        let there = [row, row + 1].into_iter().flat_map(|row| columns.map(|column| value(row, column)));
        assert_eq!(part.unwrap(), [FILL; 2].into_iter().chain(there).collect::<Vec<_>>());
        let none = file.dataset("none").unwrap();
        assert_eq!((none.is_empty(), none.read::<f32>().unwrap().len()), (true, 0));
        drop((piece, none));
        file.close().unwrap();
        is_whole(&path);
        std::fs::remove_file(path).unwrap();
    }
}

/// What would take more memory, or more bytes of the file, than there can be.
#[test]
fn too_much_at_once_is_refused() {
    let file = OpenOptions::new().create().truncate().open_on(Arc::new(Memory::new())).unwrap();
    let root = file.root().unwrap();
    let new = || root.new_dataset::<f32>().shape([SIDE, SIDE]);
    for refused in [new().create("x"), new().contiguous().create("x"), new().compact().create("x")] {
        assert!(matches!(refused, Err(Error::Create(_))), "{refused:?}");
    }
    assert!(matches!(new().chunks([64, 64]).write("x", &[1f32; 4]), Err(Error::Length { values: 4, .. })));
    assert!(root.names().unwrap().is_empty());
    let dataset = new().auto_chunks().create("x").unwrap();
    assert!(matches!(dataset.layout().unwrap(), Layout::Chunked { .. }));
    assert_eq!((dataset.len(), dataset.is_empty(), dataset.extent().elements()), (u64::MAX, false, None));
    assert!(matches!(dataset.read::<f32>(), Err(Error::Memory { .. })));
    assert!(dataset.read_stored().is_err() && dataset.read_scalar::<f32>().is_err());
    assert!(dataset.read_values(&dataset.space()).is_err());
    assert!(dataset.read_into(&mut [0f32; 4]).is_err());
    assert!(dataset.write(&[0f32; 4]).is_err());
    assert!(dataset.read_slice::<f32>((..HALF, ..)).is_err());
    assert!(dataset.read_slice::<f32>((5, ..)).is_err());
    let text = root.new_dataset::<String>().shape([SIDE, SIDE]).auto_chunks();
    assert!(text.fill_value("each element has a copy").create("text").is_err());
    // One that begins empty gets an index that holds its first row.
    let empty = root.new_dataset::<f32>().shape([0, SIDE]).max_shape([None, Some(SIDE)]).chunks([64, 64]);
    let grown = empty.create("grown").unwrap();
    grown.resize([64, SIDE]).unwrap();
    put(&grown, (3, SIDE - 10));
    assert_eq!(grown.read_slice::<f32>((3..13, SIDE - 10..)).unwrap(), values((3, SIDE - 10)));
    put(&dataset, BOXES[1]);
    assert!(dataset.stored_size().unwrap().chunks.unwrap() > 0);
    root.set_attribute("after", 1).unwrap();
}
