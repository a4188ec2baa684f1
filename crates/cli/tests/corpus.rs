//! Real files: what `hyperslab digest` says of them is what libhdf5 says, and bad ones do no harm.
//!
//! The files are not in the repository. They are looked for in `$HYPERSLAB_CORPUS`, then in `../shared/corpus` beside the workspace.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;

/// Filters that need not be there; data behind others may be answered with an error.
const REQUIRED_FILTERS: [u64; 13] = [1, 2, 3, 4, 5, 6, 307, 32000, 32001, 32004, 32008, 32015, 32026];

fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let place = std::env::var_os("HYPERSLAB_CORPUS").map_or(beside, PathBuf::from);
    place.join("index.csv").exists().then_some(place)
}

/// The names of one set in the index, and whether there is an expected dump.
fn names(corpus: &Path, set: &str) -> Vec<(String, bool)> {
    let index = fs::read_to_string(corpus.join("index.csv")).unwrap();
    let rows = index.lines().map(|line| line.split(',').take(3).collect::<Vec<_>>());
    rows.filter(|row| row[0] == set).map(|row| (row[1].to_owned(), row[2] == "1")).collect()
}

fn digest(file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperslab")).arg("digest").arg(file).output().unwrap()
}

/// What libhdf5 says of a file, if that was written down.
fn expected(corpus: &Path, name: &str) -> Option<String> {
    fs::read_to_string(corpus.join("expected").join(format!("{}.jsonl", name.replace('/', "@@")))).ok()
}

/// Lines by path, without what is for people only.
fn lines(text: &str) -> BTreeMap<String, Value> {
    let parse = |line: &str| -> Option<Value> { serde_json::from_str(&line.replace("\\udc", "\\u00")).ok() };
    let key = |line: &Value| line.get("path").or(line.get("kind")).map(|key| key.to_string()).unwrap_or_default();
    text.lines().filter_map(parse).map(|line| (key(&line), strip(line))).collect()
}

fn strip(value: Value) -> Value {
    match value {
        Value::Object(entries) => entries
            .into_iter()
            .filter(|(key, _)| !key.starts_with('_'))
            .map(|(key, value)| (key, strip(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(strip).collect(),
        other => other,
    }
}

/// Data behind a filter that need not be there may be missing.
fn without_optional_data(mut line: Value, other: &Value) -> Value {
    let optional = line["filters"].as_array().is_some_and(|filters| {
        filters.iter().any(|filter| filter["id"].as_u64().is_some_and(|id| !REQUIRED_FILTERS.contains(&id)))
    });
    if optional && other["data"].get("error").is_some() {
        line["data"] = other["data"].clone();
    }
    line
}

fn equal(corpus: &Path, name: &str) -> Result<(), String> {
    let expected = expected(corpus, name).unwrap();
    let output = digest(&corpus.join("public").join(name));
    let first: Value = serde_json::from_str(expected.lines().next().unwrap_or("{}")).unwrap_or_default();
    if first.get("error").is_some() {
        return (output.status.code() == Some(1)).then_some(()).ok_or("libhdf5 refuses it, we do not".into());
    }
    let (want, got) = (lines(&expected), lines(&String::from_utf8_lossy(&output.stdout)));
    for (key, want) in &want {
        let found = got.get(key).ok_or_else(|| format!("no line for {key}"))?;
        if without_optional_data(want.clone(), found) != *found {
            return Err(format!("{key}: want {want} got {found}"));
        }
    }
    if got.len() == want.len() { Ok(()) } else { Err("lines that do not belong".into()) }
}

/// Calls `work` for all items on two threads.
fn on_all<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

#[test]
fn files_read_as_libhdf5_reads_them() {
    let Some(corpus) = corpus() else {
        return eprintln!("skipped all files: there is no corpus");
    };
    let files: Vec<String> =
        names(&corpus, "public").into_iter().filter(|(_, expected)| *expected).map(|(name, _)| name).collect();
    let wrong = Mutex::new(Vec::new());
    on_all(&files, |name| {
        if let Err(why) = equal(&corpus, name) {
            wrong.lock().unwrap().push(format!("{name}: {why}"));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} files differ:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
fn bad_files_end_with_values_or_a_clear_error() {
    let Some(corpus) = corpus() else {
        return eprintln!("skipped all files: there is no corpus");
    };
    let files = names(&corpus, "malformed");
    on_all(&files, |(name, _)| {
        let output = digest(&corpus.join("malformed").join(name));
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {:?} {complaint}", output.status);
        assert!(!complaint.contains("panicked"), "{name}: {complaint}");
        assert!(output.status.success() || !complaint.trim().is_empty(), "{name}: an error without a word");
    });
}

/// Nothing is wrong with a file that libhdf5 reads as a whole, and every byte of it has an owner, is free or lost.
#[test]
fn good_files_are_whole() {
    let Some(corpus) = corpus() else {
        return eprintln!("skipped all files: there is no corpus");
    };
    let (files, wrong, clean) = (names(&corpus, "public"), Mutex::new(Vec::new()), AtomicUsize::new(0));
    on_all(&files, |(name, _)| {
        // Without expectation it is a part of a file that has several, or no HDF5 file.
        let Some(expected) = expected(&corpus, name).filter(|expected| !expected.contains("\"error\"")) else { return };
        let Ok(report) = hyperslab::check::file(corpus.join("public").join(name), &mut |_| ()) else { return };
        let complain = |why: String| wrong.lock().unwrap().push(format!("{name}: {why}"));
        if let Some(problem) = report.problems().next() {
            return complain(format!("{problem:?}"));
        }
        clean.fetch_add(1, Ordering::Relaxed);
        let used: u64 = report.usage.iter().map(|usage| usage.bytes).sum();
        let said = expected.lines().next().unwrap_or_default();
        if said.contains("\"sec2\"") && used + report.free + report.lost > report.size {
            complain(format!("{used} used, {} free, {} lost of {}", report.free, report.lost, report.size));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    println!("{} files are whole", clean.load(Ordering::Relaxed));
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

/// A file is equal to itself, whatever is in it.
#[test]
#[cfg(target_os = "linux")]
fn files_equal_themselves() {
    let Some(corpus) = corpus() else {
        return eprintln!("skipped all files: there is no corpus");
    };
    let (files, wrong) = (names(&corpus, "public"), Mutex::new(Vec::new()));
    on_all(&files, |(name, _)| {
        let file = corpus.join("public").join(name);
        if fs::metadata(&file).is_ok_and(|facts| facts.len() > 4 << 20) {
            return;
        }
        // A few have datasets of more elements than anybody reads, most of them never written.
        let mut command = Command::new("timeout");
        let command = command.arg("20").arg(env!("CARGO_BIN_EXE_hyperslab")).arg("diff").arg(&file).arg(&file);
        let output = command.output().unwrap();
        if output.status.code() == Some(124) {
            return println!("{name} takes too long");
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        if !matches!(output.status.code(), Some(0 | 2)) || complaint.contains("panicked") {
            let told = String::from_utf8_lossy(&output.stdout).chars().take(300).collect::<String>();
            wrong.lock().unwrap().push(format!("{name}: {:?} {told}{complaint}", output.status));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} files:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}

#[test]
fn checks_of_bad_files_end() {
    let Some(corpus) = corpus() else {
        return eprintln!("skipped all files: there is no corpus");
    };
    let files = names(&corpus, "malformed");
    on_all(&files, |(name, _)| {
        let file = corpus.join("malformed").join(name);
        // Whatever the answer is, there is one.
        hyperslab::check::file(file, &mut |_| ()).map_or_else(|why| assert!(!why.to_string().is_empty()), |_| ());
    });
}
