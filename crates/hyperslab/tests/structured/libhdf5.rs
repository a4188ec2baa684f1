//! libhdf5 decodes section 0 of chunks that we write, and reads and changes the rest of a file with sparse datasets.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use fastrand::Rng;
use hyperslab::{Dataset, File, check, driver::Memory, space::Space};
use serde_json::{Value, json};

use super::{
    coords, defined, model, options,
    small::{self, NAME},
};

/// A sparse dataset of 40 × 30 elements in chunks of this shape, with any elements defined.
fn random(random: &mut Rng, chunk: [u64; 2]) -> (Vec<u8>, Dataset) {
    let storage = Arc::new(Memory::new());
    let file = options().create_new().open_on(storage.clone()).unwrap();
    let new = file.root().unwrap().new_dataset::<i16>().shape([40, 30]).chunks(chunk).sparse();
    let dataset = new.create(NAME).unwrap();
    for _ in 0..random.usize(1..4) {
        let part = model::selection(random, &[40, 30]);
        dataset.write_selection(&part, &vec![1i16; part.npoints() as usize]).unwrap();
    }
    drop(dataset);
    file.close().unwrap();
    let bytes = small::bytes_of(&*storage);
    let dataset = small::open(&bytes).unwrap();
    (bytes, dataset)
}

/// Section 0 of each chunk without its checksum, and the coordinates in the chunk that are defined.
fn selections(bytes: &[u8], dataset: &Dataset, chunk: [u64; 2]) -> Vec<(Vec<u8>, Value)> {
    let mut found = Vec::new();
    for (coord, _, range) in small::sections(bytes).into_iter().filter(|(_, number, _)| *number == 0) {
        let corner = [coord[0] * chunk[0], coord[1] * chunk[1]];
        let is_in =
            |at: &&Vec<u64>| at.iter().zip(corner).zip(chunk).all(|((at, low), side)| (low..low + side).contains(at));
        let all = defined(dataset);
        let inside: Vec<_> = all.iter().filter(is_in).map(|at| [at[0] - corner[0], at[1] - corner[1]]).collect();
        found.push((bytes[range.start..range.end - 4].to_vec(), json!([chunk, inside])));
    }
    found
}

/// A file with sparse datasets beside others.
fn mixed(path: &Path) {
    let file = options().create().truncate().open(path).unwrap();
    let root = file.root().unwrap();
    root.new_dataset::<i32>().write("dense", &[1, 2, 3]).unwrap();
    root.set_attribute("text", "some".to_owned()).unwrap();
    root.create_group("group").unwrap().create_group("inner").unwrap();
    for (name, max) in [("fixed", [Some(6), Some(7)]), ("both ways", [None, None])] {
        let new = root.new_dataset::<i16>().shape([6, 7]).max_shape(max).chunks([4, 3]).sparse().deflate(6);
        new.write(name, &[5i16; 42]).unwrap();
    }
    file.close().unwrap();
}

#[test]
fn libhdf5_decodes_selections_and_reads_the_rest() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("structured-{}.h5", std::process::id()));
    mixed(&path);
    let (mut rng, mut expected, mut lines) = (Rng::with_seed(3), Vec::new(), String::new());
    for nth in 0..60 {
        let chunk = [[40, 30], [7, 9], [16, 30]][nth % 3];
        let (bytes, dataset) = random(&mut rng, chunk);
        for (section, selected) in selections(&bytes, &dataset, chunk) {
            lines.extend(section.iter().map(|byte| format!("{byte:02x}")));
            lines.push('\n');
            expected.push(selected);
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/structured/libhdf5.py");
    let mut command = Command::new(python);
    command.arg(script).arg(&path);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(expected.len() > 300, "{} chunks", expected.len());
    for (found, expected) in found["spaces"].as_array().unwrap().iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found["spaces"].as_array().unwrap().len(), expected.len());
    assert_eq!(found["names"], json!(["both ways", "dense", "fixed", "group"]));
    assert_eq!(
        (&found["dense"], &found["text"], &found["group"]),
        (&json!([1, 2, 3]), &json!("some"), &json!(["inner"]))
    );
    assert_eq!(found["refused"], json!(["both ways", "fixed"]));
    after_libhdf5(&path);
    fs::remove_file(path).unwrap();
}

/// What libhdf5 changed is there, and what it does not know is as it was.
fn after_libhdf5(path: &Path) {
    let file = File::open(path).unwrap();
    assert_eq!(file.dataset("dense").unwrap().read::<i32>().unwrap(), [1, 77, 3]);
    assert_eq!(file.dataset("more").unwrap().read::<f64>().unwrap(), [1.5, 2.5]);
    for name in ["fixed", "both ways"] {
        let dataset = file.dataset(name).unwrap();
        assert_eq!(dataset.read::<i16>().unwrap(), [5; 42]);
        assert_eq!(defined(&dataset), coords(&Space::simple(&[6, 7]).unwrap()));
    }
    drop(file);
    let report = check::file(path, &mut |_| ()).unwrap();
    assert_eq!(report.problems().count(), 0, "{report:?}");
}
