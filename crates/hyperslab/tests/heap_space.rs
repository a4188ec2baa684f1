//! Values of variable length that are overwritten or deleted give their space back: against a model, after every single write, and in turns
//! with libhdf5.
//!
//! Needs a Python with h5py and numpy: `$HYPERSLAB_PYTHON`, or `target/venv`; without one a test says that it is skipped.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use hyperslab::{
    Dataset, File, Group, LibVersion, OpenOptions, Result, check,
    driver::{Driver, Memory, Tape, Transfer},
    space::Space,
};

/// Texts with what they are part of: nested as far as people nest them.
type Nested = Vec<Vec<String>>;

fn text(random: &mut fastrand::Rng) -> String {
    let most = [1, 8, 60, 300, 5000][random.usize(..5)];
    let length = random.usize(..most);
    std::iter::repeat_with(|| random.alphanumeric()).take(length).collect()
}

fn nested(random: &mut fastrand::Rng) -> Nested {
    let line = |random: &mut fastrand::Rng| (0..random.usize(..4)).map(|_| text(random)).collect();
    (0..random.usize(..3)).map(|_| line(random)).collect()
}

fn on(storage: &Arc<Memory>, low: LibVersion, new: bool) -> File {
    let options = OpenOptions::new().libver_min(low);
    let options = if new { options.create().truncate() } else { options.read_write() };
    options.open_on(storage.clone()).unwrap()
}

#[test]
fn files_do_not_grow_with_what_is_overwritten() {
    type Make = fn(&Group) -> Result<Dataset>;
    let ways: [(&str, Make); 4] = [
        ("contiguous", |root| root.new_dataset::<String>().shape([100]).create("x")),
        ("compact", |root| root.new_dataset::<String>().shape([100]).compact().create("x")),
        ("chunks", |root| root.new_dataset::<String>().shape([100]).chunks([7]).create("x")),
        ("filtered", |root| root.new_dataset::<String>().shape([100]).chunks([7]).deflate(3).create("x")),
    ];
    for (what, make) in ways {
        for low in [LibVersion::Earliest, LibVersion::V110] {
            let storage = Arc::new(Memory::new());
            let file = on(&storage, low, true);
            let dataset = make(&file.root().unwrap()).unwrap();
            let mut sizes = Vec::new();
            for nth in 0..100 {
                let texts: Vec<String> = (0..100).map(|n| format!("{:040}", n * nth)).collect();
                dataset.write(&texts).unwrap();
                file.root().unwrap().set_attribute_values("lines", &texts[..20]).unwrap();
                file.flush().unwrap();
                sizes.push(storage.len(&Transfer::default()).unwrap());
                assert_eq!(dataset.read::<String>().unwrap(), texts);
                assert_eq!(file.root().unwrap().attribute("lines").unwrap().read::<String>().unwrap(), texts[..20]);
            }
            assert_eq!(sizes[20], sizes[99], "{what}, {low:?}");
            file.close().unwrap();
            let file = on(&storage, low, false);
            file.root().unwrap().delete("x").unwrap();
            file.root().unwrap().remove_attribute("lines").unwrap();
            file.close().unwrap();
            let report = check::storage(storage.clone()).unwrap();
            // Old files do not remember free space.
            assert!(low == LibVersion::Earliest || report.size - report.free < 4096, "{what}, {low:?}: {report:#?}");
        }
    }
}

/// So many that they are converted on all cores: new, over others, chosen, with none, and one that cannot be stored.
#[test]
fn many_strings_at_once() {
    const COUNT: usize = 20_000;
    let mut random = fastrand::Rng::with_seed(9);
    let mut texts = || -> Vec<Option<String>> {
        (0..COUNT)
            .map(|_| random.bool().then(|| text(&mut random)).or_else(|| random.bool().then(String::new)))
            .collect()
    };
    for low in [LibVersion::Earliest, LibVersion::V200] {
        for chunks in [None, Some(3000)] {
            let storage = Arc::new(Memory::new());
            let file = on(&storage, low, true);
            let new = file.root().unwrap().new_dataset::<String>().shape([COUNT as u64]);
            let new = match chunks {
                None => new.contiguous(),
                Some(chunk) => new.chunks([chunk]).deflate(1),
            };
            let mut wanted = texts();
            let dataset = new.write("x", &wanted).unwrap();
            assert_eq!(dataset.read::<Option<String>>().unwrap(), wanted);
            file.flush().unwrap();

            // Every other one.
            let mut bad = texts();
            for (old, new) in wanted.iter_mut().step_by(2).zip(&bad) {
                old.clone_from(new);
            }
            dataset.write_slice(hyperslab::s![..;2], &bad[..COUNT / 2]).unwrap();
            assert_eq!(dataset.read::<Option<String>>().unwrap(), wanted);

            bad[COUNT - 1] = Some("a\0b".into());
            assert!(dataset.write(&bad).is_err());
            assert_eq!(dataset.read::<Option<String>>().unwrap(), wanted);
            file.close().unwrap();
            let file = on(&storage, low, false);
            assert_eq!(file.dataset("x").unwrap().read::<Option<String>>().unwrap(), wanted);
            file.close().unwrap();
            let report = check::storage(storage.clone()).unwrap();
            assert!(report.problems().next().is_none(), "{report:#?}");
        }
    }
}

/// What a file should hold.
#[derive(Clone, Default)]
struct Model {
    texts: BTreeMap<String, Vec<String>>,
    nested: BTreeMap<String, Vec<Nested>>,
    attributes: BTreeMap<String, Vec<String>>,
}

impl Model {
    fn change(&mut self, file: &File, random: &mut fastrand::Rng) -> Result<()> {
        let (root, name) = (file.root()?, format!("{}", random.u8(..4)));
        let length = random.usize(1..30);
        match random.u8(..10) {
            0 | 1 if !self.texts.contains_key(&name) => {
                let new = root.new_dataset::<String>().shape([length as u64]);
                let dataset = match random.u8(..4) {
                    0 => new.create(format!("t{name}"))?,
                    1 => new.max_shape([None]).chunks([4]).create(format!("t{name}"))?,
                    2 => new.max_shape([None]).chunks([5]).deflate(1).create(format!("t{name}"))?,
                    _ => {
                        new.chunks([3.min(length as u64)]).fill_value("fill".to_string()).create(format!("t{name}"))?
                    }
                };
                self.texts.insert(name, dataset.read()?);
            }
            2 if !self.nested.contains_key(&name) => {
                let new = root.new_dataset::<Nested>().shape([length as u64]).max_shape([None]).chunks([4]);
                new.create(format!("n{name}"))?;
                self.nested.insert(name, vec![Nested::new(); length]);
            }
            3 => {
                let gone = self.texts.remove(&name).is_some();
                if gone {
                    root.delete(format!("t{name}"))?;
                }
                let gone = self.nested.remove(&name).is_some();
                if gone {
                    root.delete(format!("n{name}"))?;
                }
            }
            4 => {
                let texts: Vec<String> = (0..random.usize(..6)).map(|_| text(random)).collect();
                root.set_attribute_values(format!("a{name}"), &texts)?;
                self.attributes.insert(name, texts);
            }
            5 => {
                if self.attributes.remove(&name).is_some() {
                    root.remove_attribute(format!("a{name}"))?;
                }
            }
            6 => {
                let Some(texts) = self.texts.get_mut(&name) else { return Ok(()) };
                let dataset = file.dataset(format!("t{name}"))?;
                if dataset.extent().max()[0] == u64::MAX {
                    dataset.resize([length as u64])?;
                    let grown: Vec<String> = dataset.read_slice(texts.len().min(length) as u64..)?;
                    assert!(grown.iter().all(String::is_empty));
                    texts.truncate(length);
                    texts.extend(grown);
                }
            }
            7 => {
                let Some(all) = self.nested.get_mut(&name) else { return Ok(()) };
                let start = random.usize(..all.len());
                let values: Vec<_> = (start..all.len()).map(|_| nested(random)).collect();
                file.dataset(format!("n{name}"))?.write_slice(start as u64.., &values)?;
                all[start..].clone_from_slice(&values);
            }
            _ => {
                let Some(texts) = self.texts.get_mut(&name) else { return Ok(()) };
                let start = random.usize(..texts.len());
                let end = random.usize(start..texts.len()) + 1;
                let values: Vec<_> = (start..end).map(|_| text(random)).collect();
                file.dataset(format!("t{name}"))?.write_slice(start as u64..end as u64, &values)?;
                texts[start..end].clone_from_slice(&values);
            }
        }
        Ok(())
    }

    fn check(&self, file: &File) {
        for (name, texts) in &self.texts {
            assert_eq!(&file.dataset(format!("t{name}")).unwrap().read::<String>().unwrap(), texts);
        }
        for (name, values) in &self.nested {
            assert_eq!(&file.dataset(format!("n{name}")).unwrap().read::<Nested>().unwrap(), values);
        }
        for (name, texts) in &self.attributes {
            let attribute = file.root().unwrap().attribute(format!("a{name}")).unwrap();
            assert_eq!(&attribute.read::<String>().unwrap(), texts);
        }
    }
}

#[test]
fn lists_of_sources_go_with_their_datasets() {
    let storage = Arc::new(Memory::new());
    let file = on(&storage, LibVersion::V110, true);
    let (root, mut sizes) = (file.root().unwrap(), Vec::new());
    for _ in 0..60 {
        let all = Space::simple(&[4]).unwrap();
        let new = root.new_dataset::<i32>().shape([4]).virtual_source(&all, "a file that is not there", "x", &all);
        new.create("virtual").unwrap();
        file.flush().unwrap();
        root.delete("virtual").unwrap();
        file.flush().unwrap();
        sizes.push(storage.len(&Transfer::default()).unwrap());
    }
    assert_eq!(sizes[10], sizes[59], "{sizes:?}");
}

#[test]
fn any_changes_leave_what_a_model_has() {
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let low = [LibVersion::Earliest, LibVersion::V18, LibVersion::V110][seed as usize % 3];
        let (storage, mut model) = (Arc::new(Memory::new()), Model::default());
        let mut file = on(&storage, low, true);
        let mut largest = 0;
        for nth in 0..400 {
            model.change(&file, &mut random).unwrap_or_else(|why| panic!("seed {seed}, change {nth}: {why}"));
            match random.u8(..30) {
                0..4 => file.flush().unwrap(),
                4 => {
                    file.close().unwrap();
                    file = on(&storage, low, false);
                }
                _ => {}
            }
            if nth % 10 == 0 {
                model.check(&file);
            }
            if nth == 200 {
                largest = storage.len(&Transfer::default()).unwrap();
            }
        }
        model.check(&file);
        assert!(
            storage.len(&Transfer::default()).unwrap() < 4 * largest + 200_000,
            "seed {seed}: from {largest} bytes on"
        );
        file.close().unwrap();
        assert_eq!(check::storage(storage.clone()).unwrap().problems().count(), 0, "seed {seed}");
        let file = on(&storage, low, false);
        model.check(&file);
        let root = file.root().unwrap();
        root.names().unwrap().iter().for_each(|name| root.delete(name).unwrap());
        root.attribute_names().unwrap().iter().for_each(|name| root.remove_attribute(name).unwrap());
        drop(root);
        file.close().unwrap();
        let report = check::storage(storage.clone()).unwrap();
        // Old files do not remember free space.
        assert!(low == LibVersion::Earliest || report.size - report.free < 8192, "seed {seed}: {report:#?}");
    }
}

#[test]
fn what_was_flushed_is_read_after_every_single_write() {
    for seed in 0..6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let tape = Arc::new(Tape::default());
        let file = OpenOptions::new().create().truncate().libver_min(LibVersion::V18).open_on(tape.clone()).unwrap();
        // Chunks with filters, and attributes: nothing of them changes in place.
        let root = file.root().unwrap();
        let new = root.new_dataset::<String>().shape([20]).chunks([3]).deflate(1);
        let dataset = new.write("x", &vec![String::new(); 20]).unwrap();
        root.set_attribute_values("a", &["".to_string()]).unwrap();
        let now = || [dataset.read::<String>().unwrap(), root.attribute("a").unwrap().read::<String>().unwrap()];
        // After how many writes the file was flushed, and what it had then and after each change since.
        let mut states: Vec<(usize, Vec<[Vec<String>; 2]>)> = Vec::new();
        for _ in 0..15 {
            file.flush().unwrap();
            states.push((tape.changes().len(), vec![now()]));
            for _ in 0..random.usize(1..4) {
                let start = random.u64(..20);
                let texts: Vec<_> = (start..20).map(|_| text(&mut random)).collect();
                dataset.write_slice(start.., &texts).unwrap();
                states.last_mut().unwrap().1.push(now());
                root.set_attribute_values("a", &texts).unwrap();
                states.last_mut().unwrap().1.push(now());
            }
        }
        let (mut bytes, mut seen) = (Vec::new(), 0);
        for (nth, change) in tape.changes().iter().enumerate() {
            change.apply(&mut bytes);
            if nth + 1 < states[0].0 {
                continue;
            }
            while states.get(seen + 1).is_some_and(|(from, ..)| *from <= nth + 1) {
                seen += 1;
            }
            let file = File::open_driver(Arc::new(Memory::from(bytes.clone()))).unwrap();
            let texts = file.dataset("x").unwrap().read::<String>().unwrap();
            let lines = file.root().unwrap().attribute("a").unwrap().read::<String>().unwrap();
            // Each chunk is of the last flush, or of a change since.
            let since = &states[seen].1;
            texts.iter().enumerate().for_each(|(at, text)| {
                assert!(since.iter().any(|[texts, _]| texts[at] == *text), "seed {seed}, write {nth}");
            });
            assert!(since.iter().any(|[_, found]| *found == lines), "seed {seed}, write {nth}");
        }
    }
}

fn turn(python: &Path, script: &str, path: &Path) {
    let done = Command::new(python).args(["-W", "ignore", "-c", script]).arg(path).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

const THEIR_TURN: &str = "
import sys, h5py
with h5py.File(sys.argv[1], 'r+') as f:
    nth = int(f.attrs['nth'])
    for name in ('x', 'chunks'):
        assert list(f[name].asstr()[...]) == [f'{n * nth:040}' for n in range(100)], name
        f[name][...] = [f'{n * nth + 1:040}' for n in range(100)]
";

#[test]
fn in_turns_with_libhdf5_a_file_grows_by_no_more_than_it_cannot_remember() {
    let Some(python) = hyperslab_workshop::python() else { return };
    let path = |name: &str| -> PathBuf { Path::new(env!("CARGO_TARGET_TMPDIR")).join(name) };
    let (both, alone) = (path("heap-both.h5"), path("heap-alone.h5"));
    let begin = "
import sys, h5py
with h5py.File(sys.argv[1], 'w') as f:
    for name, chunks in (('x', None), ('chunks', (9,))):
        f.create_dataset(name, (100,), chunks=chunks, dtype=h5py.string_dtype())[...] = ['0' * 40] * 100
    f.attrs['nth'] = 0
";
    turn(&python, begin, &both);
    turn(&python, begin, &alone);
    for nth in 1..10u64 {
        let file = File::edit(&both).unwrap();
        let texts: Vec<String> = (0..100).map(|n| format!("{:040}", n * nth)).collect();
        if nth > 1 {
            let theirs: Vec<String> = (0..100).map(|n| format!("{:040}", n * (nth - 1) + 1)).collect();
            assert_eq!(file.dataset("x").unwrap().read::<String>().unwrap(), theirs);
            assert_eq!(file.dataset("chunks").unwrap().read::<String>().unwrap(), theirs);
        }
        file.dataset("x").unwrap().write(&texts).unwrap();
        file.dataset("chunks").unwrap().write(&texts).unwrap();
        file.root().unwrap().set_attribute("nth", nth).unwrap();
        file.close().unwrap();
        turn(&python, THEIR_TURN, &both);
    }
    turn(
        &python,
        "
import sys, h5py
for nth in range(1, 10):
    for turn in (0, 1):
        with h5py.File(sys.argv[1], 'r+') as f:
            for name in ('x', 'chunks'):
                f[name][...] = [f'{n * nth + turn:040}' for n in range(100)]
",
        &alone,
    );
    let size = |path| std::fs::metadata(path).unwrap().len();
    // Files that libhdf5 makes do not remember free space. We write new values before old ones go, so each time that the file is open costs
    // the room of one more set of values, four collections here.
    assert!(size(&both) <= size(&alone) + 9 * 4 * 4096, "{} bytes in turns, {} alone", size(&both), size(&alone));
    println!("{} bytes in turns, {} by libhdf5 alone", size(&both), size(&alone));
}
