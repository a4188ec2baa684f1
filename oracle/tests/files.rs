//! Files that libhdf5 writes, random ones and some for a purpose: everything in them, and random selections of every dataset.
//!
//! `HYPERSLAB_FILES` changes the number of random files, about 20 datasets each, and `HYPERSLAB_SEED` the seed of the first.

use hyperslab::dtype::{Class, Datatype, Normalization};
use hyperslab::{Dataset, File};
use hyperslab_oracle::{
    Answer, FileQuestion, Generator, Job, Made, Oracle, Program, Read, converted, differences, execute, objects,
    run_job, stored, unhex,
};
use serde_json::Value;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

const FILES: u64 = 48;
const SELECTIONS: usize = 3;
/// The fewest datasets that a run of the usual size compares whole; each is then read in parts too.
const DIGESTS: u64 = 800;

/// What was compared.
#[derive(Default)]
struct Counts {
    files: AtomicU64,
    objects: AtomicU64,
    datasets: AtomicU64,
    /// Datasets whose values libhdf5 reads.
    digests: AtomicU64,
    attributes: AtomicU64,
    selections: AtomicU64,
    /// Files that libhdf5 could not make, objects that it does not read back.
    refused: AtomicU64,
}

#[test]
fn random_files_read_as_libhdf5_reads_them() -> Result<(), Box<dyn Error>> {
    let counts = Counts::default();
    let job = Job { script: "files.py", cases: FILES, variable: "HYPERSLAB_FILES", batch: 4 };
    run_job(&job, |seed| ("random", seed), |oracle, cases| compare(oracle, cases, &counts))?;
    let count = |number: &AtomicU64| number.load(Relaxed);
    let (files, datasets) = (count(&counts.files), count(&counts.datasets));
    let (digests, selections) = (count(&counts.digests), count(&counts.selections));
    println!(
        "{files} files, {} links, {datasets} datasets, {} attributes; refused by libhdf5: {}",
        count(&counts.objects),
        count(&counts.attributes),
        count(&counts.refused),
    );
    println!("compared: {} = {digests} datasets whole + {selections} selections of them", digests + selections);
    assert!(count(&counts.refused) * 5 <= datasets, "libhdf5 refuses too much: the files are not what they should be");
    let usual = std::env::var_os("HYPERSLAB_FILES").is_none() && files > 0;
    assert!(!usual || digests >= DIGESTS, "{digests} datasets were compared, {DIGESTS} should be");
    Ok(())
}

/// Files made for a purpose; `making/special.py` has them by these names.
#[test]
fn special_files_read_as_libhdf5_reads_them() -> Result<(), Box<dyn Error>> {
    let Some(mut oracle) = Oracle::start_script("files.py")? else { return Ok(()) };
    let names: Vec<Answer<Vec<String>>> = oracle.ask(&[FileQuestion::Recipes])?;
    let Some(Answer::Given(names)) = names.into_iter().next() else { panic!("the oracle does not know its recipes") };
    let counts = Counts::default();
    let mut found = Vec::new();
    for name in &names {
        let (refused, files) = (counts.refused.load(Relaxed), counts.files.load(Relaxed));
        let start = Instant::now();
        found.extend(compare(&mut oracle, &[(name, 1)], &counts)?);
        assert!(counts.files.load(Relaxed) > files, "libhdf5 could not make {name}");
        let refused = counts.refused.load(Relaxed) - refused;
        println!("{name}: {:.1} s, libhdf5 refuses {refused}", start.elapsed().as_secs_f64());
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found[..found.len().min(20)].join("\n"));
    Ok(())
}

/// Makes files, and says how what we read differs.
fn compare(oracle: &mut Oracle, cases: &[(&str, u64)], counts: &Counts) -> Result<Vec<String>, Box<dyn Error>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("files");
    std::fs::create_dir_all(&folder)?;
    let paths: Vec<PathBuf> = cases.iter().map(|(recipe, seed)| folder.join(format!("{recipe}-{seed}.h5"))).collect();
    let questions: Vec<_> =
        cases.iter().zip(&paths).map(|(&(recipe, seed), path)| FileQuestion::Make { path, recipe, seed }).collect();
    let answers: Vec<Answer<Made>> = oracle.ask(&questions)?;
    let mut found = Vec::new();
    for ((case, path), answer) in cases.iter().zip(&paths).zip(answers) {
        let Answer::Given(made) = answer else {
            counts.refused.fetch_add(1, Relaxed);
            continue;
        };
        let differences = compare_file(oracle, path, &made, case.1, counts)?;
        if differences.is_empty() {
            clean(&folder, path)?;
        }
        found.extend(differences.into_iter().map(|difference| format!("{case:?} {difference}")));
    }
    Ok(found)
}

/// Removes a file, and the external files that begin with its name.
fn clean(folder: &Path, path: &Path) -> Result<(), Box<dyn Error>> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&name) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn compare_file(
    oracle: &mut Oracle,
    path: &Path,
    made: &Made,
    seed: u64,
    counts: &Counts,
) -> Result<Vec<String>, Box<dyn Error>> {
    let (file, ours) = match open(path) {
        Ok(opened) => opened,
        Err(why) => return Ok(vec![format!("cannot be read: {why}")]),
    };
    count(made, counts);
    let mut found = differences(&made.objects, &ours);
    if found.is_empty() {
        found = compare_selections(oracle, path, &file, made, seed, counts)?;
    }
    Ok(found)
}

fn open(path: &Path) -> Result<(File, Vec<Value>), Box<dyn Error>> {
    let file = File::open(path)?;
    let objects = objects(&file)?;
    Ok((file, objects))
}

fn count(made: &Made, counts: &Counts) {
    counts.files.fetch_add(1, Relaxed);
    counts.objects.fetch_add(made.objects.len() as u64, Relaxed);
    for object in &made.objects {
        let attributes = object.get("attributes").and_then(Value::as_array).map_or(0, Vec::len);
        counts.attributes.fetch_add(attributes as u64, Relaxed);
        let dataset = object["target"] == "dataset";
        counts.datasets.fetch_add(u64::from(dataset), Relaxed);
        counts.digests.fetch_add(u64::from(dataset && object.get("values").is_some()), Relaxed);
        counts.refused.fetch_add(u64::from(object.get("refused").is_some()), Relaxed);
    }
}

/// A few random selections of every dataset that has elements, as stored and as numbers of this machine.
fn compare_selections(
    oracle: &mut Oracle,
    path: &Path,
    file: &File,
    made: &Made,
    seed: u64,
    counts: &Counts,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut generator = Generator::new(seed);
    let readable = made.objects.iter().filter(|object| object["target"] == "dataset" && object.get("values").is_some());
    let mut cases: Vec<(&str, Dataset, &str, Vec<Program>)> = Vec::new();
    for object in readable {
        let name = object["path"].as_str().unwrap();
        let dataset = file.dataset(unhex(name))?;
        let dims = dataset.shape().to_vec();
        if dims.is_empty() || dims.contains(&0) {
            continue;
        }
        let programs = (0..SELECTIONS).map(|_| generator.program_in(&dims)).collect();
        let memory = match dataset.datatype().class() {
            Class::Fixed(_) if generator.one_in(2) => "i64",
            Class::Float(float) if float.normalization != Normalization::MsbSet && generator.one_in(2) => "f64",
            _ => "stored",
        };
        cases.push((name, dataset, memory, programs));
    }
    let questions: Vec<_> = cases
        .iter()
        .map(|(dataset, _, memory, programs)| FileQuestion::Read { path, dataset, programs, memory })
        .collect();
    let answers: Vec<Answer<Read>> = oracle.ask(&questions)?;
    let mut found = Vec::new();
    for ((name, dataset, memory, programs), answer) in cases.iter().zip(answers) {
        let Answer::Given(read) = answer else { continue };
        for (program, theirs) in programs.iter().zip(read.values) {
            // Where nothing is selected, libhdf5 does not ask whether values can be converted.
            let Some(theirs) = theirs.filter(|theirs| !theirs.is_empty()) else { continue };
            counts.selections.fetch_add(1, Relaxed);
            let selection = execute(program)?;
            let ours = match *memory {
                "i64" => converted(dataset, &selection, &Datatype::of::<i64>()),
                "f64" => converted(dataset, &selection, &Datatype::of::<f64>()),
                _ => stored(dataset, &selection),
            };
            let ours = ours.unwrap_or_else(|why| why.to_string());
            if ours != theirs {
                let name = String::from_utf8_lossy(&unhex(name)).into_owned();
                let program = serde_json::to_string(program)?;
                found.push(format!("{name} as {memory}: libhdf5 reads {theirs}, we {ours}\n    in {program}"));
            }
        }
    }
    Ok(found)
}
