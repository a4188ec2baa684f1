//! What is refused is what libhdf5 refuses; and whatever is refused, the file stays as it was and can be used.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use hyperslab::{
    AllocTime, Dataset, File, FillTime, Group, LibVersion, NewDataset, OpenOptions, Result,
    dtype::{Charset, Datatype, Padding, Reference},
    filter::{Deflate, Fletcher32, Nbit},
};

/// Where we go another way than libhdf5: what, with which lower bound, and why.
fn is_otherwise(name: &str, low: &str) -> bool {
    match name {
        // libhdf5 makes a header that it cannot read.
        "compact near 64 KiB" => low == "earliest",
        // libhdf5 takes these filters, and leaves them out of every chunk or dataset.
        "filtered scalar" => true,
        _ => ["text", "sequence", "nested"].iter().any(|of| {
            ["scaleoffset", "float scaleoffset", "szip"].iter().any(|filter| name == format!("{filter} of {of}"))
        }),
    }
}

fn kind(name: &str) -> Datatype {
    let (integer, text) = (Datatype::of::<i32>(), Datatype::var_string(Charset::Utf8));
    let sequence = Datatype::vlen(integer.clone()).unwrap();
    match name {
        "integer" => integer,
        "float" => Datatype::of::<f64>(),
        "text" => text,
        "sequence" => sequence,
        "nested" => Datatype::vlen(sequence).unwrap(),
        "fixed" => Datatype::string(10, Padding::NullPad, Charset::Ascii).unwrap(),
        "compound" => Datatype::compound([("a", integer), ("b", Datatype::of::<f64>())]).unwrap(),
        "opaque" => Datatype::opaque(7, "").unwrap(),
        "enum" => Datatype::enumeration(integer, [("one", 1)]).unwrap(),
        "reference" => Datatype::reference(8, Reference::Object).unwrap(),
        "array" => Datatype::array(integer, &[3]).unwrap(),
        "vlen member" => Datatype::compound([("a", integer), ("b", text)]).unwrap(),
        _ => panic!("no type {name}"),
    }
}

/// A filter on values of a type, ten of them in chunks of five.
fn filtered(root: &Group, filter: &str, of: &str) -> Result<Dataset> {
    let new = root.new_dataset_of(kind(of)).shape([10]).chunks([5]);
    let new = match filter {
        "deflate" => new.deflate(4),
        "shuffle" => new.shuffle(),
        "fletcher32" => new.fletcher32(),
        "scaleoffset" => new.scaleoffset(0),
        "float scaleoffset" => new.scaleoffset(2),
        "nbit" => new.mandatory_filter(Nbit::ID, &[]),
        "optional nbit" => new.nbit(),
        "szip" => new.szip(true, 8),
        "mandatory deflate" => new.mandatory_filter(Deflate::ID, &[4]),
        "optional fletcher32" => new.filter(Fletcher32::ID, &[]),
        _ => panic!("no filter {filter}"),
    };
    new.create("new")
}

fn dataset(root: &Group, name: &str) -> Option<Result<Dataset>> {
    let new = |shape: &[u64]| root.new_dataset::<i32>().shape(shape);
    let small = |shape: &[u64]| root.new_dataset::<i8>().shape(shape);
    let text = || root.new_dataset_of(kind("text")).shape([10]);
    let external = |new: NewDataset, room: Option<u64>| new.external([("external.raw", 0, room)]);
    Some(match name {
        "chunk of other rank" => new(&[10, 10]).chunks([5]),
        "chunk of zero" => new(&[10]).chunks([0]),
        "chunk larger than fixed" => new(&[10]).chunks([11]),
        "chunk larger than limited" => new(&[10]).max_shape([Some(20)]).chunks([21]),
        "chunk up to limit" => new(&[10]).max_shape([Some(20)]).chunks([20]),
        "chunk larger, unlimited" => new(&[10]).max_shape([None]).chunks([100]),
        "chunk of 4 GiB" => new(&[1 << 40]).chunks([1 << 30]),
        "chunk just below 4 GiB" => small(&[1 << 40]).chunks([(1 << 32) - 1]),
        "chunk side of 4 Gi" => small(&[1 << 40, 4]).chunks([1 << 32, 1]),
        "limit below size" => new(&[10]).max_shape([Some(5)]).chunks([5]),
        "limit of zero" => new(&[0]).max_shape([Some(0)]).chunks([1]),
        "unlimited without chunks" => new(&[10]).max_shape([None]).contiguous(),
        "limit without chunks" => new(&[10]).max_shape([Some(20)]).contiguous(),
        "limit as size without chunks" => new(&[10]).max_shape([Some(10)]).contiguous(),
        "chunked scalar" => root.new_dataset::<i32>().scalar().chunks([1]),
        "no elements" => new(&[0]),
        "no elements, chunks" => new(&[0]).chunks([1]),
        "no elements, unlimited" => new(&[0, 5]).max_shape([None, Some(5)]).chunks([1, 5]),
        "no elements, larger chunk" => new(&[0]).max_shape([Some(0)]).chunks([5]),
        "rank 32" => new(&[1; 32]),
        "rank 32, chunks" => new(&[1; 32]).chunks([1; 32]),
        "rank 33" => new(&[1; 33]),
        "huge contiguous" => new(&[1 << 62]).contiguous(),
        "compact" => new(&[100]).compact(),
        "compact at 64 KiB" => small(&[65520]).compact(),
        "compact over 64 KiB" => small(&[65536]).compact(),
        "compact near 64 KiB" => small(&[65530]).compact(),
        "compact text" => text().compact(),
        "compact that grows" => new(&[10]).max_shape([Some(20)]).compact(),
        "compact late" => new(&[10]).compact().alloc_time(AllocTime::Late),
        "filtered contiguous" => new(&[10]).deflate(4).contiguous(),
        "filtered compact" => new(&[10]).deflate(4).compact(),
        "filtered scalar" => root.new_dataset::<i32>().scalar().deflate(4),
        "fill of text" => text(),
        "external that grows" => external(new(&[10]).max_shape([None]), None),
        "external too small" => external(new(&[10]), Some(30)),
        "external of text" => external(text(), Some(160)),
        "external scalar" => external(root.new_dataset::<i32>().scalar(), Some(4)),
        "null dataset in chunks" => root.new_dataset::<i32>().empty().chunks([5]),
        "never filled, but a fill value" => new(&[3]).fill_value(3).fill_time(FillTime::Never),
        "number to fill integer" => new(&[3]).fill_value(3.5),
        "number to fill fixed text" => root.new_dataset_of(kind("fixed")).shape([3]).fill_value(3.5),
        "number to fill compound" => root.new_dataset_of(kind("compound")).shape([3]).fill_value(3.5),
        "enum without members" => {
            let none: [(&str, i128); 0] = [];
            let made = Datatype::enumeration(kind("integer"), none);
            return Some(made.map_err(Into::into).and_then(|made| root.new_dataset_of(made).shape([3]).create("new")));
        }
        "compound without members" => {
            let none: [(&str, Datatype); 0] = [];
            let made = Datatype::compound(none);
            return Some(made.map_err(Into::into).and_then(|made| root.new_dataset_of(made).shape([3]).create("new")));
        }
        _ => return None,
    })
    .map(|new| new.create("new"))
}

fn resized(root: &Group, name: &str) -> Option<Result<()>> {
    let new = || root.new_dataset::<i32>().shape([10]);
    let external = |max, room: Option<u64>| new().max_shape([max]).external([("external.raw", 0, room)]);
    let (new, to): (NewDataset, &[u64]) = match name {
        "contiguous" => (new().contiguous(), &[5]),
        "contiguous to the same" => (new().contiguous(), &[10]),
        "over the limit" => (new().max_shape([Some(20)]).chunks([5]), &[21]),
        "to the limit" => (new().max_shape([Some(20)]).chunks([5]), &[20]),
        "smaller than fixed" => (new().chunks([5]), &[4]),
        "larger than fixed" => (new().chunks([5]), &[11]),
        "other rank" => (new().max_shape([None]).chunks([5]), &[10, 10]),
        "to nothing" => (new().max_shape([None]).chunks([5]), &[0]),
        "external" => (external(None, None), &[20]),
        "external, smaller" => (external(None, None), &[5]),
        "external over its room" => (external(Some(20), Some(100)), &[20]),
        "compact" => (new().compact(), &[5]),
        _ => return None,
    };
    Some(new.create("new").unwrap_or_else(|why| panic!("resize, {name}: {why}")).resize(to))
}

fn named(name: &str) -> Option<Vec<u8>> {
    Some(match name {
        "empty name" => b"".to_vec(),
        "dot" => b".".to_vec(),
        "slash" => b"/".to_vec(),
        "dots" => b"..".to_vec(),
        "name with slash" => b"a/b".to_vec(),
        "name ends in slash" => b"a/".to_vec(),
        "double slash" => b"a//b".to_vec(),
        "dot in path" => b"./a".to_vec(),
        "taken" => b"there".to_vec(),
        "through a dataset" => b"there/a".to_vec(),
        "taken by a dangling link" => b"dangling".to_vec(),
        "through a dangling link" => b"dangling/a".to_vec(),
        "long name" => vec![b'n'; 70_000],
        _ => return None,
    })
}

fn attribute(root: &Group, name: &str) -> Option<Result<()>> {
    let zeros =
        |name: &[u8], count: usize| root.new_attribute::<i32>().shape([count as u64]).write(name, &vec![0; count]);
    Some(match name {
        "empty name" => zeros(b"", 1),
        "slash" => zeros(b"a/b", 1),
        "dot" => zeros(b".", 1),
        "60 KiB" => zeros(b"new", 15_000),
        "64 KiB" => zeros(b"new", 16_384),
        "1 MiB" => zeros(b"new", 262_144),
        "long name" => zeros(&[b'n'; 60_000], 1),
        "too long name" => zeros(&[b'n'; 65_540], 1),
        "no values" => zeros(b"new", 0),
        "rename to taken" => {
            zeros(b"new", 1).unwrap();
            root.rename_attribute("new", "there")
        }
        "rename what is missing" => root.rename_attribute("missing", "new"),
        "delete what is missing" => root.remove_attribute("missing"),
        _ => return None,
    })
}

/// Does what a case says; nothing if there is no way to say it.
fn attempt(root: &Group, name: &str) -> Option<Result<()>> {
    if let Some((filter, of)) = name.split_once(" of ").filter(|(filter, _)| FILTERS.contains(filter)) {
        return Some(filtered(root, filter, of).map(drop));
    }
    if let Some(made) = dataset(root, name) {
        return Some(made.map(drop));
    }
    if let Some((what, name)) = name.split_once(", ") {
        match what {
            "group" => return named(name).map(|path| root.create_group(path).map(drop)),
            "soft link" => return named(name).map(|path| root.soft_link(path, "target")),
            "attribute" => return attribute(root, name),
            "resize" => return resized(root, name),
            _ => {}
        }
    }
    Some(match name {
        "soft link to nothing" => root.soft_link("new", ""),
        "external link to nothing" => root.external_link("new", "", "/"),
        "external link to no object" => root.external_link("new", "other.h5", ""),
        "hard link to what is missing" => root.get("missing").and_then(|node| root.hard_link("new", &node)),
        "delete what is missing" => root.delete("missing"),
        "delete the root" => root.delete("/"),
        "delete a dangling link" => root.delete("dangling"),
        "move to what is taken" => root.rename("there", "dangling"),
        "move to itself" => root.rename("there", "there"),
        "move the root" => root.rename("/", "new"),
        "move a group into itself" => root.rename("group", "group/inside"),
        _ => return None,
    })
}

const FILTERS: [&str; 10] = [
    "deflate",
    "shuffle",
    "fletcher32",
    "scaleoffset",
    "float scaleoffset",
    "nbit",
    "optional nbit",
    "szip",
    "mandatory deflate",
    "optional fletcher32",
];

/// Whether it was done. If it was refused, nothing changed, and other things can be done.
fn is_accepted(name: &str, path: &Path, low: LibVersion) -> Option<bool> {
    let file = OpenOptions::new().create().truncate().libver_min(low).open(path).unwrap();
    let root = file.root().unwrap();
    root.new_dataset::<i32>().scalar().write_scalar("there", &1).unwrap();
    root.set_attribute("there", 1).unwrap();
    root.soft_link("dangling", "/nowhere").unwrap();
    root.create_group("group").unwrap();
    let before = (root.names().unwrap(), root.attribute_names().unwrap());
    let done = attempt(&root, name)?;
    if let Err(why) = &done {
        let (mut names, mut attributes) = (root.names().unwrap(), root.attribute_names().unwrap());
        if name.starts_with("resize") || name.ends_with("rename to taken") {
            names.retain(|name| name != "new");
            attributes.retain(|name| name != "new");
        }
        assert_eq!((names, attributes), before, "{name}");
        root.create_group("after").unwrap_or_else(|poison| panic!("{name}: {why}, then {poison}"));
    }
    file.close().unwrap_or_else(|why| panic!("{name}: {why}"));
    let file = File::open(path).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert!(done.is_ok() || file.group("after").is_ok(), "{name}");
    Some(done.is_ok())
}

#[test]
fn refused_is_what_libhdf5_refuses() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let home = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refusals.py");
    let mut different = Vec::new();
    for (their_low, low) in [("earliest", LibVersion::Earliest), ("v110", LibVersion::V110)] {
        let path = |who: &str| -> PathBuf { home.join(format!("refusals-{who}-{their_low}.h5")) };
        let output =
            Command::new(&python).args(["-W", "ignore"]).arg(&script).arg(path("theirs")).arg(their_low).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let (mut said, mut unsaid) = (0, 0);
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (name, theirs) = line.split_once('\t').unwrap();
            match is_accepted(name, &path("ours"), low) {
                Some(ours) => {
                    said += 1;
                    if (ours == (theirs == "accepted")) == is_otherwise(name, their_low) {
                        different.push(format!("{name}, {their_low}: libhdf5 {theirs}, ours {ours}"));
                    }
                }
                None => unsaid += 1,
            }
        }
        println!("{their_low}: {said} cases compared, {unsaid} that cannot be said");
        assert!(said > 200);
    }
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn a_scalar_in_another_file() {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = File::create(home.join("external-scalar.h5")).unwrap();
    let root = file.root().unwrap();
    let dataset =
        root.new_dataset::<i32>().scalar().external([("external-scalar.raw", 0, Some(4))]).create("x").unwrap();
    dataset.write_scalar(&7).unwrap();
    file.close().unwrap();
    let file = File::open(home.join("external-scalar.h5")).unwrap();
    assert_eq!(file.dataset("x").unwrap().read_scalar::<i32>().unwrap(), 7);
}
