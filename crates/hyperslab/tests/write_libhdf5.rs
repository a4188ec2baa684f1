//! What is written is what libhdf5 reads, and what libhdf5 changes afterwards is read by us; and the other way round.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the test says that it is skipped.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use hyperslab::{
    AllocTime, Element, File, FillTime, Group, LibVersion, NewDataset, OpenOptions, Result, Storable,
    dtype::{Charset, Datatype, Order, Padding},
    filter::{BitshuffleCodec, Blosc2Stage, BloscCodec, BloscShuffle},
    space::{Op, Slab, Space},
};

const LOWS: [(&str, LibVersion); 6] = [
    ("earliest", LibVersion::Earliest),
    ("v108", LibVersion::V18),
    ("v110", LibVersion::V110),
    ("v112", LibVersion::V112),
    ("v114", LibVersion::V114),
    ("v200", LibVersion::V200),
];

fn python(python: &Path, what: &str, path: &Path, low: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/write_libhdf5.py");
    let done = Command::new(python).args(["-W", "ignore"]).arg(script).arg(what).arg(path).arg(low).output().unwrap();
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{what} {low}: {error}");
}

fn path(name: &str, low: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{low}.h5"))
}

/// Numbers that Python can find out again.
fn numbers<T: TryFrom<u64> + Default>(count: u64) -> Vec<T> {
    (0..count).map(|n| T::try_from(n % 101).ok().unwrap_or_default()).collect()
}

/// Every layout, index and way of filtering.
fn layouts(root: &Group) -> Result<()> {
    type Wish = fn(NewDataset) -> NewDataset;
    let layouts: [(&str, Wish); 12] = [
        ("contiguous", |new| new.contiguous()),
        ("compact", |new| new.compact()),
        ("early", |new| new.contiguous().alloc_time(AllocTime::Early)),
        ("chunks", |new| new.chunks([5, 7])),
        ("one chunk", |new| new.chunks([23, 31])),
        ("implicit", |new| new.chunks([5, 7]).alloc_time(AllocTime::Early)),
        ("grows", |new| new.chunks([2, 31]).max_shape([None, Some(31)])),
        ("grows second", |new| new.chunks([5, 7]).max_shape([Some(23), None])),
        ("grows both", |new| new.chunks([5, 7]).max_shape([None, None])),
        ("limited", |new| new.chunks([5, 7]).max_shape([Some(40), Some(50)])),
        ("auto", |new| new.auto_chunks()),
        ("never filled", |new| new.chunks([5, 7]).fill_time(FillTime::Never)),
    ];
    let group = root.create_group("layouts")?;
    for (name, wish) in layouts {
        let new = || wish(group.new_dataset::<i32>().shape([23, 31]));
        new().write(name, &numbers::<i32>(23 * 31))?;
        let partly = new().fill_value(-5).create(format!("{name}, partly"))?;
        partly.write_slice((3..20, 4..6), &[9; 34])?;
        new().create(format!("{name}, empty"))?;
    }
    let filters: [(&str, Wish); 16] = [
        ("deflate", |new| new.deflate(6)),
        ("shuffle", |new| new.shuffle()),
        ("shuffle deflate fletcher32", |new| new.shuffle().deflate(1).fletcher32()),
        ("fletcher32", |new| new.fletcher32()),
        ("lzf", |new| new.lzf()),
        ("szip ec", |new| new.szip(false, 8)),
        ("szip nn", |new| new.szip(true, 16)),
        ("scaleoffset", |new| new.scaleoffset(0)),
        ("nbit", |new| new.nbit()),
        ("zstd", |new| new.zstd(3)),
        ("lz4", |new| new.lz4()),
        ("bzip2", |new| new.bzip2(5)),
        ("bitshuffle", |new| new.bitshuffle(BitshuffleCodec::Lz4)),
        ("blosc", |new| new.blosc(5, BloscShuffle::Byte, BloscCodec::Lz4)),
        ("blosc2", |new| new.blosc2(5, Blosc2Stage::Shuffle, BloscCodec::Zstd)),
        ("any", |new| new.filter(1, &[9])),
    ];
    let group = root.create_group("filters")?;
    for (name, wish) in filters {
        let new = || wish(group.new_dataset::<i32>().shape([23, 31]));
        new().chunks([5, 7]).write(name, &numbers::<i32>(23 * 31))?;
        new().chunks([23, 31]).write(format!("{name}, one chunk"), &numbers::<i32>(23 * 31))?;
        new().chunks([5, 7]).max_shape([None, Some(31)]).write(format!("{name}, grows"), &numbers::<i32>(23 * 31))?;
        let both = new().chunks([5, 7]).max_shape([None, None]).create(format!("{name}, both"))?;
        for row in 0..23 {
            both.write_slice(row, &numbers::<i32>(23 * 31)[row * 31..][..31])?;
        }
    }
    Ok(())
}

#[derive(Element, Clone, Debug, PartialEq)]
struct Row {
    number: i16,
    text: String,
    pair: [f32; 2],
    list: Vec<i32>,
    sky: Sky,
    yes: bool,
}

#[derive(Element, Clone, Copy, Debug, PartialEq)]
enum Sky {
    Clear = 1,
    #[hyperslab(rename = "very cloudy")]
    Cloudy = 300,
}

fn rows() -> Vec<Row> {
    let row = |n: i16| Row {
        number: n,
        text: format!("row {n}"),
        pair: [n.into(), 0.5],
        list: (0..i32::from(n % 4)).collect(),
        sky: if n % 2 == 0 { Sky::Clear } else { Sky::Cloudy },
        yes: n % 3 == 0,
    };
    (0..100).map(row).collect()
}

fn one_type<T: Storable>(group: &Group, name: &str, values: &[T]) -> Result<()> {
    group.new_dataset::<T>().write(name, values)?;
    group.new_dataset::<T>().chunks([2]).deflate(1).write(format!("{name}, filtered"), values)?;
    group.set_attribute_values(name, values)
}

fn types(root: &Group) -> Result<()> {
    let group = root.create_group("types")?;
    one_type(&group, "i8", &numbers::<i8>(10))?;
    one_type(&group, "u16", &numbers::<u16>(10))?;
    one_type(&group, "i64", &numbers::<i64>(10))?;
    one_type(&group, "f32", &numbers::<u16>(10).into_iter().map(f32::from).collect::<Vec<_>>())?;
    one_type(&group, "f64", &numbers::<u16>(10).into_iter().map(f64::from).collect::<Vec<_>>())?;
    let complex = |n: u16| num_complex::Complex::new(f64::from(n), -1.0);
    one_type(&group, "complex", &numbers::<u16>(10).into_iter().map(complex).collect::<Vec<_>>())?;
    one_type(&group, "bool", &[true, false, true, true, false])?;
    one_type(&group, "text", &["", "one", "zwölf", "a longer text than the others"])?;
    one_type(&group, "array", &[[1i32, 2], [3, 4], [5, 6], [7, 8], [9, 10]])?;
    one_type(&group, "lists", &[vec![1u8], vec![], vec![2, 3, 4]])?;
    one_type(&group, "words", &[vec!["a", "b"], vec![], vec!["c"]])?;
    one_type(&group, "rows", &rows())?;
    let big = Datatype::integer(4, true, Order::Big)?;
    group.new_dataset_of(big).write("big", &numbers::<u8>(10))?;
    let fixed = Datatype::string(8, Padding::NullPad, Charset::Utf8)?;
    group.new_dataset_of(fixed).write("fixed", &["", "one", "zwölf"])?;
    group.new_dataset::<f64>().write_scalar("scalar", &2.5)?;
    group.new_dataset::<f64>().empty().create("null")?;
    group.set_attribute("title", "Überschrift")?;
    group.new_attribute::<i32>().shape([2, 3]).write("matrix", &[1, 2, 3, 4, 5, 6])?;
    let named = group.commit_datatype("named", &Datatype::of::<f32>())?;
    group.new_dataset::<f32>().committed(&named).write("of named", &[1.0, 2.0])?;
    let references = [group.reference(), named.reference()];
    group.new_dataset::<hyperslab::ObjectReference>().write("references", &references)?;
    let dataset = group.dataset("i8")?;
    let region = dataset.region_reference(dataset.slice(2..5)?.selection())?;
    group.new_dataset::<hyperslab::RegionReference>().write("regions", &[region])?;
    Ok(())
}

fn others(root: &Group, path: &Path) -> Result<()> {
    let group = root.create_group("others")?;
    let raw = path.with_extension("raw");
    let _ = std::fs::remove_file(&raw);
    let raw = raw.to_str().unwrap();
    let external = group.new_dataset::<i32>().shape([10]).external([(raw, 8, Some(16)), (raw, 100, None)]);
    external.write("external", &numbers::<i32>(10))?;
    let source = group.new_dataset::<i32>().write("source", &numbers::<i32>(10))?;
    let mut target = Space::simple(&[2, 10])?;
    target.select_hyperslab(Op::Set, &[Slab::block(1, 1), Slab::block(0, 10)])?;
    let new = group.new_dataset::<i32>().shape([2, 10]).fill_value(-1);
    new.virtual_source(&target, ".", "/others/source", &source.space()).create("virtual")?;
    let ordered = group.new_group().track_order(true).create("ordered")?;
    for n in (0..30).rev() {
        ordered.create_group(format!("{n:02}"))?;
        ordered.set_attribute(format!("{n:02}"), n)?;
    }
    let many = group.create_group("many")?;
    for n in 0..500 {
        many.soft_link(format!("link {n}"), format!("/target/{n}"))?;
    }
    for n in (0..500).step_by(3) {
        many.delete(format!("link {n}"))?;
    }
    group.external_link("elsewhere", "other.h5", "/there")?;
    group.hard_link("again", &root.get("types")?)?;
    let scale = group.new_dataset::<f64>().write("scale", &[1.0; 10])?;
    scale.make_scale(Some("meters"))?;
    source.attach_scale(0, &scale)?;
    source.set_label(0, "x")?;
    root.get("others")?.set_comment(Some("more of it"))
}

#[test]
fn libhdf5_reads_and_changes_what_we_write() {
    let Some(interpreter) = hyperslab_workshop::python() else { return };
    for (name, low) in LOWS {
        let path = path("ours", name);
        let file = OpenOptions::new().create().truncate().libver_min(low).open(&path).unwrap();
        let root = file.root().unwrap();
        layouts(&root).unwrap_or_else(|why| panic!("{name}: {why}"));
        file.flush().unwrap();
        types(&root).unwrap_or_else(|why| panic!("{name}: {why}"));
        others(&root, &path).unwrap_or_else(|why| panic!("{name}: {why}"));
        file.close().unwrap();
        python(&interpreter, "check", &path, name);
        python(&interpreter, "change", &path, name);
        check_changed(&File::open(&path).unwrap()).unwrap_or_else(|why| panic!("{name}: {why}"));
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(path.with_extension("raw")).unwrap();
    }
}

/// What Python did to all datasets of layouts and filters: 7 in the last row.
fn check_changed(file: &File) -> Result<()> {
    for group in ["layouts", "filters"] {
        for (name, node) in file.group(group)?.members()? {
            let name = String::from_utf8(name).unwrap();
            let dataset = node?.into_dataset()?;
            assert_eq!(dataset.read_slice::<i32>(-1)?, vec![7; dataset.shape()[1] as usize], "{group} {name}");
            if !name.contains(',') {
                assert_eq!(dataset.read_slice::<i32>((..22, ..31))?, numbers::<i32>(22 * 31), "{group} {name}");
            }
            assert_eq!(dataset.attribute("changed")?.read_scalar::<String>()?, "yes");
        }
    }
    assert_eq!(file.dataset("types/rows")?.read::<Row>()?, rows());
    Ok(())
}

#[test]
fn we_change_what_libhdf5_writes() {
    let Some(interpreter) = hyperslab_workshop::python() else { return };
    for (name, low) in LOWS {
        let path = path("theirs", name);
        python(&interpreter, "make", &path, name);
        let file = OpenOptions::new().read_write().libver_min(low).open(&path).unwrap();
        change(&file).unwrap_or_else(|why| panic!("{name}: {why}"));
        file.close().unwrap();
        python(&interpreter, "verify", &path, name);
        std::fs::remove_file(&path).unwrap();
    }
}

fn change(file: &File) -> Result<()> {
    let root = file.root()?;
    for (_, node) in root.group("data")?.members()? {
        let dataset = node?.into_dataset()?;
        dataset.write_slice((4, ..), &[7; 11])?;
        if dataset.extent().max()[0] > 10 {
            dataset.resize([13, 11])?;
            dataset.write_slice((10.., ..), &[8; 33])?;
        }
        dataset.set_attribute("changed", "yes")?;
    }
    let texts = root.dataset("texts")?;
    texts.write_slice(1..3, &["changed", ""])?;
    let groups = root.group("groups")?;
    for n in 0..100 {
        groups.create_group(format!("new {n}"))?;
    }
    for n in 0..50 {
        groups.delete(format!("old {n}"))?;
        groups.delete(format!("new {}", 2 * n))?;
    }
    for n in 0..20 {
        groups.set_attribute(format!("a {n}"), n)?;
    }
    groups.remove_attribute("old")?;
    root.delete("gone")?;
    root.rename("here", "there/and/more")
}
