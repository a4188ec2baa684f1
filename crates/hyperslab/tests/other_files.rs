//! Files that lead to other files, against libhdf5: virtual datasets, external links and raw data, families, multi and split files.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.
//! `$HYPERSLAB_CASES` and `$HYPERSLAB_SEED` change how much is tried.

use std::{path::Path, process::Command};

use hyperslab::{
    Dataset, File, OpenOptions, Result, Target, VirtualView,
    dtype::{Arena, Datatype},
    space::{Op, Slab, Space},
};
use serde_json::Value;

#[test]
fn what_libhdf5_reads_through_a_file() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other_files");
    std::fs::remove_dir_all(&folder).ok();
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or(default.into());
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/other_files.py"))
        .arg(&folder)
        .args([setting("HYPERSLAB_CASES", "40"), setting("HYPERSLAB_SEED", "1")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Names are looked for where the program runs, too.
    std::env::set_current_dir(&folder).unwrap();
    let questions: Vec<Value> =
        output.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let wrong: Vec<String> = questions.iter().filter_map(differs).collect();
    println!("{} questions", questions.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), questions.len(), wrong[..wrong.len().min(20)].join("\n"));
    user_links();
    many_mappings();
    tower();
}

/// What differs, if anything does.
fn differs(question: &Value) -> Option<String> {
    let error = question.get("error");
    match (answer(question), error) {
        (Err(why), Some(_)) if !why.to_string().is_empty() => None,
        (Err(why), _) => Some(format!("{question}: we have {why}")),
        (Ok((shape, values)), Some(_)) => Some(format!("{question}: we have {shape} {values}")),
        (Ok((shape, values)), None) if shape == question["shape"] && values == question["values"] => None,
        (Ok((shape, values)), None) => Some(format!("{question}: we have {shape} {values}")),
    }
}

fn answer(question: &Value) -> Result<(Value, Value)> {
    let dataset = open(question)?.dataset(question["path"].as_str().unwrap())?;
    let mut wanted = dataset.space();
    if let Some(slices) = question["slices"].as_array() {
        let slab = |slice: &Value| {
            let [start, step, count] = [0, 1, 2].map(|at| slice[at].as_u64().unwrap());
            Slab::new(start, step, count, 1)
        };
        wanted.select_hyperslab(Op::Set, &slices.iter().map(slab).collect::<Vec<_>>())?;
    }
    let values = if dataset.datatype().has_vlen() { texts(&dataset, &wanted)? } else { numbers(&dataset, &wanted)? };
    Ok((dataset.shape().into(), values))
}

fn open(question: &Value) -> Result<File> {
    let mut options = OpenOptions::new();
    let given = |name: &str| question["options"].get(name);
    if given("view").is_some() {
        options = options.virtual_view(VirtualView::FirstMissing);
    }
    if let Some(gap) = given("gap") {
        options = options.virtual_gap(gap.as_u64().unwrap());
    }
    if let Some(prefix) = given("virtual_prefix") {
        options = options.virtual_prefix(prefix.as_str().unwrap());
    }
    if let Some(prefix) = given("raw_prefix") {
        options = options.raw_prefix(prefix.as_str().unwrap());
    }
    options.open(question["file"].as_str().unwrap())
}

/// Read as Rust values and as bytes, which must agree.
fn numbers(dataset: &Dataset, wanted: &Space) -> Result<Value> {
    let mut buf = vec![0; wanted.npoints() as usize * 8];
    let places = Space::simple(&[wanted.npoints()])?;
    dataset.read_converted(wanted, &Datatype::of::<f64>(), &places, &mut buf, &mut Arena::default())?;
    let converted: Vec<f64> = buf.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
    assert_eq!(dataset.read_selection::<f64>(wanted)?, converted);
    Ok(converted.into())
}

fn texts(dataset: &Dataset, wanted: &Space) -> Result<Value> {
    Ok(dataset.read_selection::<String>(wanted)?.into())
}

/// A link of a class of ours: an external link whose class was changed by hand.
fn user_links() {
    let mut bytes = std::fs::read("one_link.h5").unwrap();
    let near = b"near";
    let at = bytes.windows(near.len()).position(|part| part == near).unwrap();
    let class = bytes[..at].iter().rposition(|&byte| byte == 64).unwrap();
    bytes[class] = 187;
    std::fs::write("user.h5", bytes).unwrap();
    let why = File::open("user.h5").unwrap().dataset("near").unwrap_err().to_string();
    assert!(why.contains("/near") && why.contains("187"), "{why}");
    let resolve = |data: &[u8]| match data.split(|&byte| byte == 0).collect::<Vec<_>>()[..] {
        // A zero for version and flags, then the file's name and the path.
        [b"", file, path, ..] => Ok(Target::External { file: file.to_vec(), path: path.to_vec() }),
        _ => Err("no two names".into()),
    };
    let dataset = OpenOptions::new().user_link(187, resolve).open("user.h5").unwrap().dataset("near").unwrap();
    assert_eq!(numbers(&dataset, &dataset.space()).unwrap(), Value::from(vec![0.0; 4]));
    let broken = OpenOptions::new().user_link(187, |_| Err("closed today".into())).open("user.h5").unwrap();
    assert!(broken.dataset("near").unwrap_err().to_string().contains("closed today"));
}

/// Ten thousand mappings are opened and read at once.
fn many_mappings() {
    let start = std::time::Instant::now();
    let dataset = File::open("many.h5").unwrap().dataset("v").unwrap();
    let all = numbers(&dataset, &dataset.space()).unwrap();
    assert_eq!(all, (0..10_000).map(f64::from).collect::<Value>());
    for row in (0..10_000).step_by(500) {
        let mut wanted = dataset.space();
        wanted.select_hyperslab(Op::Set, &[Slab::block(row, 1)]).unwrap();
        assert_eq!(numbers(&dataset, &wanted).unwrap(), Value::from(vec![row as f64]));
    }
    println!("10,000 mappings in {:?}", start.elapsed());
    assert!(start.elapsed().as_secs() < 30);
}

/// Mappings that multiply from level to level come to an end.
fn tower() {
    let start = std::time::Instant::now();
    let low = File::open("tower11.h5").unwrap().dataset("v").unwrap();
    assert!(low.read::<i8>().unwrap().iter().all(|&value| value == 7));
    let high = File::open("tower0.h5").unwrap().dataset("v").unwrap();
    let why = high.read::<i8>().unwrap_err().to_string();
    assert!(why.contains("its sources overlap"), "{why}");
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}
