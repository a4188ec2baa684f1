//! Typed reads of random datasets and slices give what libhdf5 gives.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.
//! `$HYPERSLAB_CASES` and `$HYPERSLAB_SEED` change how much is tried.

use std::{fs, path::Path, process::Command};

use hyperslab::{Dataset, Element, File, Index, Slice};
use serde_json::{Value, json};

#[derive(Element)]
struct Row {
    v: Vec<i32>,
    b: f64,
    #[hyperslab(rename = "a")]
    first: i128,
    s: Option<String>,
    t: String,
    c: [f32; 3],
    #[hyperslab(default)]
    missing: u8,
}

#[test]
fn typed_reads_equal_those_of_libhdf5() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [file, expected, bytes] = ["typed.h5", "typed.json", "typed.bin"].map(|name| folder.join(name));
    let setting = |name: &str, default: &str| std::env::var(name).unwrap_or(default.into());
    let made = Command::new(python)
        .args(["-W", "ignore"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libhdf5.py"))
        .args([&file, &expected, &bytes])
        .args([setting("HYPERSLAB_CASES", "180"), setting("HYPERSLAB_SEED", "1")])
        .status();
    assert!(made.unwrap().success());
    let questions: Vec<Value> = serde_json::from_slice(&fs::read(&expected).unwrap()).unwrap();
    let answers = fs::read(&bytes).unwrap();
    let opened = File::open(&file).unwrap();
    let wrong: Vec<String> = questions.iter().filter_map(|question| check(&opened, question, &answers).err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), questions.len(), wrong[..wrong.len().min(20)].join("\n"));
    println!("{} reads compared", questions.len());
    for file in [file, expected, bytes] {
        fs::remove_file(file).unwrap();
    }
}

fn check(file: &File, question: &Value, answers: &[u8]) -> Result<(), String> {
    let about = || format!("{}{} as {}", question["dataset"], question["slice"], question["kind"]);
    let dataset = file.dataset(question["dataset"].as_str().unwrap()).map_err(|why| format!("{}: {why}", about()))?;
    let slice = slice(&question["slice"]);
    let view = dataset.slice(slice.clone()).map_err(|why| format!("{}: {why}", about()))?;
    let same = match json!(view.shape()) == question["shape"] {
        true => compare(&dataset, &slice, question, answers),
        false => return Err(format!("{}: shape {:?}, not {}", about(), view.shape(), question["shape"])),
    };
    match same {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{} of {}: other values", about(), dataset.datatype())),
        Err(why) => Err(format!("{} of {}: {why}", about(), dataset.datatype())),
    }
}

fn slice(indices: &Value) -> Slice {
    let index = |index: &Value| match index.as_array() {
        None => Index::from(index.as_i64().unwrap()),
        Some(range) => {
            let [start, stop, step] = [0, 1, 2].map(|nth: usize| range[nth].as_i64().unwrap());
            Index::from(start..stop).every(step)
        }
    };
    Slice::new(indices.as_array().unwrap().iter().map(index))
}

fn compare(dataset: &Dataset, slice: &Slice, question: &Value, answers: &[u8]) -> hyperslab::Result<bool> {
    let bytes = || {
        let [start, end] = ["start", "end"].map(|name| question[name].as_u64().unwrap() as usize);
        &answers[start..end]
    };
    let lists = &question["values"];
    use num_complex::Complex;
    Ok(match question["kind"].as_str().unwrap() {
        "i1" => plain::<i8>(dataset, slice)? == bytes(),
        "i2" => plain::<i16>(dataset, slice)? == bytes(),
        "i4" => plain::<i32>(dataset, slice)? == bytes(),
        "i8" => plain::<i64>(dataset, slice)? == bytes(),
        "u1" => plain::<u8>(dataset, slice)? == bytes(),
        "u2" => plain::<u16>(dataset, slice)? == bytes(),
        "u4" => plain::<u32>(dataset, slice)? == bytes(),
        "u8" => plain::<u64>(dataset, slice)? == bytes(),
        "f2" => plain::<half::f16>(dataset, slice)? == bytes(),
        "f4" => plain::<f32>(dataset, slice)? == bytes(),
        "f8" => plain::<f64>(dataset, slice)? == bytes(),
        "c8" => plain::<Complex<f32>>(dataset, slice)? == bytes(),
        "c16" => plain::<Complex<f64>>(dataset, slice)? == bytes(),
        "bool" => json!(both::<bool>(dataset, slice)?) == *lists,
        "text" | "fixed" => json!(both::<String>(dataset, slice)?) == *lists,
        "bytes" | "opaque" => json!(both::<Vec<u8>>(dataset, slice)?) == *lists,
        "array" => {
            let rows = dataset.read_slice::<[[f64; 3]; 2]>(slice.clone())?;
            let nested = dataset.read_slice::<Vec<Vec<i128>>>(slice.clone())?;
            let flat: Vec<Vec<f64>> = rows.iter().map(|row| row.as_flattened().to_vec()).collect();
            numbers(&flat) == numbers(&parse(lists))
                && nested.iter().flatten().flatten().map(|&number| number as f64).eq(flat.iter().flatten().copied())
        }
        "vlen" => {
            let values: Vec<Vec<f64>> = dataset.read_slice(slice.clone())?;
            numbers(&values) == numbers(&parse(lists))
        }
        "struct" => {
            let rows: Vec<Row> = dataset.read_slice(slice.clone())?;
            let row = |row: &Row| {
                let c = row.c.map(|number| number as i64);
                assert_eq!(row.missing, 0);
                json!([row.first as i64, row.b, row.s.clone().unwrap_or_default(), row.t, c, row.v])
            };
            Value::Array(rows.iter().map(row).collect()) == *lists
        }
        other => panic!("{other}"),
    })
}

/// Numbers as stored bytes, read in both ways.
fn plain<T: Element + bytemuck::Pod>(dataset: &Dataset, slice: &Slice) -> hyperslab::Result<Vec<u8>> {
    let values: Vec<T> = dataset.read_slice(slice.clone())?;
    let mut again = vec![T::zeroed(); values.len()];
    dataset.read_slice_into(slice.clone(), &mut again)?;
    assert!(bytemuck::cast_slice::<T, u8>(&values) == bytemuck::cast_slice::<T, u8>(&again));
    Ok(bytemuck::cast_slice(&values).to_vec())
}

/// Values read in both ways.
fn both<T: Element + Clone + Default + PartialEq>(dataset: &Dataset, slice: &Slice) -> hyperslab::Result<Vec<T>> {
    let values: Vec<T> = dataset.read_slice(slice.clone())?;
    let mut again = vec![T::default(); values.len()];
    dataset.read_slice_into(slice.clone(), &mut again)?;
    assert!(values == again);
    Ok(values)
}

fn parse(lists: &Value) -> Vec<Vec<f64>> {
    let list = |list: &Value| list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
    lists.as_array().unwrap().iter().map(list).collect()
}

/// Equal as bits, so that NaNs are equal too.
fn numbers(lists: &[Vec<f64>]) -> Vec<Vec<u64>> {
    lists.iter().map(|list| list.iter().map(|number| number.to_bits()).collect()).collect()
}
