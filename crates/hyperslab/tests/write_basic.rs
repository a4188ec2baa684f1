//! What is written is read again, by ourselves.

use std::sync::Arc;

use hyperslab::{
    Element, File, LibVersion, OpenOptions, Result,
    driver::{Log, Memory},
    s,
};

const LOWS: [LibVersion; 6] =
    [LibVersion::Earliest, LibVersion::V18, LibVersion::V110, LibVersion::V112, LibVersion::V114, LibVersion::V200];

/// A new file for each lower bound, and the same opened again after it was closed.
fn each_low(change: impl Fn(&File) -> Result<()>, check: impl Fn(&File) -> Result<()>) {
    for low in LOWS {
        let storage = Arc::new(Memory::new());
        let file = OpenOptions::new().create().truncate().libver_min(low).open_on(storage.clone()).unwrap();
        change(&file).unwrap_or_else(|why| panic!("{low:?}: {why}"));
        check(&file).unwrap_or_else(|why| panic!("{low:?}, at once: {why}"));
        file.close().unwrap();
        let file = File::open_driver(storage).unwrap();
        check(&file).unwrap_or_else(|why| panic!("{low:?}, again: {why}"));
    }
}

#[test]
fn an_empty_file_has_a_root() {
    each_low(
        |_| Ok(()),
        |file| {
            assert!(file.root()?.is_empty()?);
            Ok(())
        },
    );
}

/// As libhdf5 does it: there is nothing that could be lost.
#[test]
fn an_empty_file_that_may_be_changed_becomes_one() {
    let storage = Arc::new(Memory::new());
    assert!(File::open_driver(storage.clone()).is_err());
    let file = OpenOptions::new().read_write().open_on(storage.clone()).unwrap();
    file.root().unwrap().create_group("a").unwrap();
    file.close().unwrap();
    assert!(File::open_driver(storage).unwrap().root().unwrap().get("a").is_ok());
    let junk = Arc::new(Memory::from(vec![7; 3000]));
    assert!(OpenOptions::new().read_write().open_on(junk).is_err());
}

/// The smaller the buffer of pages, the less is read for a small piece of metadata.
#[test]
fn the_page_buffer_has_the_size_that_is_asked_for() {
    let storage = Arc::new(Memory::new());
    let file = File::create_on(storage.clone()).unwrap();
    for nth in 0..1000 {
        file.root().unwrap().create_group(format!("{nth}")).unwrap();
    }
    file.close().unwrap();
    let read = |options: OpenOptions| {
        let log = Arc::new(Log::new(storage.clone()));
        options.open_on(log.clone()).unwrap().root().unwrap().get("7").unwrap();
        log.counts().read_bytes
    };
    let (usual, small, none) =
        (read(OpenOptions::new()), read(OpenOptions::new().page_buffer(4096)), read(OpenOptions::new().page_buffer(0)));
    assert!(2 * small < usual && none < small, "{usual} {small} {none}");
}

#[test]
fn numbers_in_every_layout() {
    let values: Vec<i32> = (0..600).collect();
    each_low(
        |file| {
            let root = file.root()?;
            let new = || root.new_dataset::<i32>().shape([20, 30]);
            new().contiguous().write("contiguous", &values)?;
            new().compact().write("compact", &values)?;
            new().chunks([7, 9]).write("chunked", &values)?;
            new().chunks([20, 30]).write("single", &values)?;
            new().max_shape([None, Some(30)]).chunks([3, 30]).write("growing", &values)?;
            new().max_shape([None, None]).chunks([7, 9]).write("both", &values)?;
            new().chunks([7, 9]).shuffle().deflate(4).fletcher32().write("filtered", &values)?;
            new().max_shape([None, Some(40)]).shuffle().zstd(3).write("auto", &values)?;
            new().chunks([7, 9]).alloc_time(hyperslab::AllocTime::Early).write("early", &values)?;
            Ok(())
        },
        |file| {
            for name in file.root()?.names()? {
                let dataset = file.dataset(&name)?;
                assert_eq!(dataset.read::<i32>()?, values, "{name}");
                assert_eq!(dataset.read_slice::<i64>(s![-1, 28..])?, [598, 599], "{name}");
            }
            assert_eq!(file.root()?.len()?, 9);
            Ok(())
        },
    );
}

#[derive(Element, Debug, Clone, PartialEq)]
struct Reading {
    time: f64,
    note: String,
    #[hyperslab(rename = "wind speed")]
    wind: [f32; 2],
    sky: Sky,
    visits: Vec<Vec<u16>>,
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
enum Sky {
    Clear,
    Cloudy = 7,
}

#[test]
fn structs_with_everything_in_them() {
    let one = |n: u16| Reading {
        time: n.into(),
        note: "n".repeat(n.into()),
        wind: [n.into(), -1.0],
        sky: if n.is_multiple_of(2) { Sky::Clear } else { Sky::Cloudy },
        visits: (0..n % 4).map(|m| (0..m).collect()).collect(),
    };
    let values: Vec<Reading> = (0..300).map(one).collect();
    each_low(
        |file| {
            let root = file.root()?;
            root.new_dataset::<Reading>().write("a/b/readings", &values)?;
            root.new_dataset::<Reading>().chunks([17]).deflate(1).write("a/filtered", &values)?;
            root.set_attribute_values("readings", &values[..2])
        },
        |file| {
            assert_eq!(file.dataset("a/b/readings")?.read::<Reading>()?, values);
            assert_eq!(file.dataset("a/filtered")?.read::<Reading>()?, values);
            assert_eq!(file.root()?.attribute("readings")?.read::<Reading>()?, values[..2]);
            Ok(())
        },
    );
}

#[test]
fn text_of_all_kinds() {
    use hyperslab::dtype::{Charset, Datatype, Padding};
    let words = ["", "a", "Zürich", "long enough to be cut"];
    each_low(
        |file| {
            let root = file.root()?;
            root.new_dataset::<str>().write("variable", &words)?;
            root.new_dataset::<str>()
                .datatype(Datatype::string(24, Padding::SpacePad, Charset::Utf8)?)
                .write("fixed", &words)?;
            let few = Datatype::string(4, Padding::NullPad, Charset::Utf8)?;
            let failed = root.new_dataset::<str>().datatype(few).write("failed", &words);
            assert!(failed.unwrap_err().to_string().contains("has 7 bytes, but the stored type has room for 4"));
            root.new_dataset::<Option<String>>().write("optional", &[None, Some("x".to_owned())])?;
            root.new_dataset::<[u8]>().write("bytes", &[&b"ab"[..], b""])?;
            Ok(())
        },
        |file| {
            assert_eq!(file.dataset("variable")?.read::<String>()?, words);
            assert_eq!(file.dataset("fixed")?.read::<String>()?, words);
            assert_eq!(file.dataset("optional")?.read::<Option<String>>()?, [None, Some("x".to_owned())]);
            assert_eq!(file.dataset("bytes")?.read::<Vec<u8>>()?, [b"ab".to_vec(), vec![]]);
            assert!(!file.root()?.contains("failed")?);
            Ok(())
        },
    );
}

#[test]
fn handles_share_what_changes() {
    each_low(
        |file| {
            let root = file.root()?;
            let first = root.new_dataset::<u8>().shape([2]).max_shape([None]).fill_value(9u8).create("log")?;
            let second = file.dataset("log")?;
            second.resize([5])?;
            assert_eq!(first.shape(), [5]);
            second.write_slice(3.., &[1, 2])?;
            assert_eq!(first.read::<u8>()?, [9, 9, 9, 1, 2]);
            first.resize([4])?;
            first.resize([6])?;
            assert_eq!(second.read::<u8>()?, [9, 9, 9, 1, 9, 9]);
            Ok(())
        },
        |file| {
            assert_eq!(file.dataset("log")?.read::<u8>()?, [9, 9, 9, 1, 9, 9]);
            Ok(())
        },
    );
}

#[test]
fn links_attributes_and_deletions() {
    each_low(
        |file| {
            let root = file.root()?;
            let group = root.create_group("one/two")?;
            root.hard_link("again", &root.get("one/two")?)?;
            root.soft_link("soft", "/one/two")?;
            root.external_link("outside", "other.h5", "/x")?;
            group.set_attribute("answer", 42)?;
            for n in 0..20 {
                group.set_attribute(format!("number {n}"), n)?;
                root.create_group(format!("many/{n}"))?;
            }
            for n in 0..15 {
                group.remove_attribute(format!("number {n}"))?;
                root.delete(format!("many/{n}"))?;
            }
            group.rename_attribute("number 19", "renamed")?;
            root.rename("many/19", "other/place")?;
            root.delete("one")?;
            group.set_comment(Some("a group"))?;
            let big = root.new_dataset::<u8>().chunks([10]).write("gone", &[1; 100])?;
            drop(big);
            root.delete("gone")?;
            let named = root.commit_datatype("type", &hyperslab::dtype::Datatype::of::<f32>())?;
            root.new_dataset::<f32>().committed(&named).write("typed", &[1.0])?;
            assert!(root.create_group("again").is_err());
            assert!(root.delete("nothing").is_err());
            Ok(())
        },
        |file| {
            let root = file.root()?;
            assert_eq!(root.names()?, ["again", "many", "other", "outside", "soft", "type", "typed"]);
            let group = root.group("again")?;
            assert_eq!(group.attribute_names()?.len(), 6);
            assert_eq!(group.attribute("renamed")?.read_scalar::<u8>()?, 19);
            assert_eq!(root.group("many")?.names()?, ["15", "16", "17", "18"]);
            assert_eq!(root.get("again")?.comment()?.as_deref(), Some(&b"a group"[..]));
            assert!(root.group("soft").is_err());
            assert!(root.dataset("typed")?.has_committed_datatype());
            root.group("other/place")?;
            Ok(())
        },
    );
}

#[test]
fn mistakes_are_found_before_anything_changes() {
    let file = File::create_on(Arc::new(Memory::new())).unwrap();
    let root = file.root().unwrap();
    let why = |result: Result<hyperslab::Dataset>| result.unwrap_err().to_string();
    let new = || root.new_dataset::<f32>();
    assert!(why(new().create("x")).contains("say its shape"));
    assert!(why(new().shape([3]).contiguous().deflate(1).create("x")).contains("only chunks go through filters"));
    assert!(why(new().shape([3]).chunks([4]).create("x")).contains("never has more than 3"));
    assert!(why(new().shape([3]).chunks([1, 1]).create("x")).contains("both need as many"));
    assert!(why(new().shape([3]).max_shape([None]).contiguous().create("x")).contains("cannot grow"));
    assert!(why(new().shape([30000]).compact().create("x")).contains("a header has room for"));
    assert!(why(new().shape([3]).filter(4711, &[]).create("x")).contains("filter 4711 is not there"));
    assert!(why(new().shape([3]).write("x", &[1.0])).contains("1 values do not fit a place for 3"));
    assert!(why(new().write("x", &["text"])).contains("cannot be written as f32"));
    assert!(root.is_empty().unwrap());
    new().write("x", &[1.0]).unwrap();
    assert!(why(new().write("x", &[1.0])).contains("exists already"));
    let read = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/weather.h5")).unwrap();
    assert!(read.root().unwrap().create_group("x").unwrap_err().to_string().contains("for reading only"));
    assert!(read.dataset("height").unwrap().write_scalar(&1.0).unwrap_err().to_string().contains("for reading only"));
}

/// A process that is killed after a flush leaves a marked file; the mark need not be cleared before it is read or changed.
#[test]
fn what_a_killed_process_flushed_is_read_at_once() {
    let folder = std::env::temp_dir().join(format!("hyperslab-killed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (path, left) = (folder.join("alive.h5"), folder.join("left.h5"));
    let file = OpenOptions::new().create().truncate().libver_min(LibVersion::V110).open(&path).unwrap();
    file.root().unwrap().new_dataset::<i32>().write("numbers", &[1, 2, 3]).unwrap();
    file.flush().unwrap();
    std::fs::copy(&path, &left).unwrap();
    let numbers = |file: &File| file.dataset("numbers").unwrap().read::<i32>().unwrap();
    assert_eq!(numbers(&File::open(&left).unwrap()), [1, 2, 3]);
    let edited = File::edit(&left).unwrap();
    assert_eq!(numbers(&edited), [1, 2, 3]);
    edited.close().unwrap();
    // The file that is still open is marked, too: its process shares it, others are refused (`locks.rs`).
    assert_eq!(numbers(&File::open(&path).unwrap()), [1, 2, 3]);
    file.close().unwrap();
    assert_eq!(numbers(&File::open(&path).unwrap()), [1, 2, 3]);
    std::fs::remove_dir_all(&folder).unwrap();
}
