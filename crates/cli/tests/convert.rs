//! `repack --from` and `--to`: lists of other programs, and sparse datasets that are made of them.

use fastrand::Rng;
use hyperslab::{File, Group};

use crate::common::{Folder, run, text};

/// Random elements of rows and columns, by rising row and column.
fn elements(seed: u64, (rows, columns): (u64, u64), count: usize) -> Vec<(u64, u64, f32)> {
    let mut random = Rng::with_seed(seed);
    let mut places: Vec<(u64, u64)> = (0..count).map(|_| (random.u64(0..rows), random.u64(0..columns))).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().map(|(row, column)| (row, column, random.f32() + 1.0)).collect()
}

/// Where the elements of each index begin, and behind that where the last ones end.
fn offsets(indices: impl Iterator<Item = u64>, length: u64) -> Vec<u64> {
    let mut offsets = vec![0u64; length as usize + 1];
    indices.for_each(|index| offsets[index as usize + 1] += 1);
    (1..offsets.len()).for_each(|at| offsets[at] += offsets[at - 1]);
    offsets
}

fn write<T: hyperslab::Storable>(group: &Group, name: &str, values: &[T]) {
    let new = group.new_dataset::<T>().shape([values.len() as u64]);
    if values.is_empty() { new } else { new.chunks([values.len().min(1000) as u64]).deflate(1) }
        .write(name, values)
        .unwrap();
}

/// A matrix with the given orientation; 10x says it by the number of offsets.
fn compressed(group: &Group, elements: &[(u64, u64, f32)], shape: (u64, u64), kind: &str) {
    let by_rows = kind == "csr_matrix";
    let mut elements = elements.to_vec();
    if !by_rows {
        elements.sort_by_key(|(row, column, _)| (*column, *row));
    }
    let majors = elements.iter().map(|(row, column, _)| if by_rows { *row } else { *column });
    let minors = elements.iter().map(|(row, column, _)| if by_rows { *column } else { *row });
    write(group, "indptr", &offsets(majors, if by_rows { shape.0 } else { shape.1 }));
    write(group, "indices", &minors.map(|minor| minor as i32).collect::<Vec<_>>());
    write(group, "data", &elements.iter().map(|(.., value)| *value).collect::<Vec<_>>());
    if kind == "10x" {
        write(group, "shape", &[shape.0 as i32, shape.1 as i32]);
    } else {
        group.set_attribute("encoding-type", kind).unwrap();
        group.set_attribute("encoding-version", "0.1.0").unwrap();
        group.set_attribute_values("shape", &[shape.0 as i64, shape.1 as i64]).unwrap();
    }
}

fn done(folder: &Folder, words: &str) -> String {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// What a sparse dataset of two dimensions holds.
fn holds(file: &File, path: &str, elements: &[(u64, u64, f32)]) {
    let dataset = file.dataset(path).unwrap();
    assert!(dataset.is_sparse(), "{path}");
    let defined = dataset.defined(&dataset.space()).unwrap();
    let coords: Vec<(u64, u64)> = defined.coords().unwrap().map(|coord| (coord[0], coord[1])).collect();
    assert_eq!(coords, elements.iter().map(|(row, column, _)| (*row, *column)).collect::<Vec<_>>(), "{path}");
    let values = dataset.read_selection::<f32>(&defined).unwrap();
    assert_eq!(values, elements.iter().map(|(.., value)| *value).collect::<Vec<_>>(), "{path}");
}

#[test]
fn compressed_rows_and_columns_become_sparse_and_come_back() {
    let folder = Folder::new("convert-csr");
    let shape = (3000, 2000);
    let elements = elements(1, shape, 150_000);
    let file = File::create(folder.path("a.h5")).unwrap();
    let root = file.root().unwrap();
    root.set_attribute("encoding-type", "anndata").unwrap();
    compressed(&root.create_group("X").unwrap(), &elements, shape, "csr_matrix");
    root.group("X").unwrap().set_attribute("note", "counts").unwrap();
    compressed(&root.create_group("layers/columns").unwrap(), &elements, shape, "csc_matrix");
    let tenx = root.create_group("matrix").unwrap();
    compressed(&tenx, &elements, shape, "10x");
    tenx.new_dataset::<String>().write("barcodes", &["A".to_owned(), "C".to_owned()]).unwrap();
    compressed(&root.create_group("empty").unwrap(), &[], (7, 5), "csr_matrix");
    root.create_group("obs").unwrap().set_attribute("names", "cells").unwrap();
    root.group("obs").unwrap().new_dataset::<i32>().write("age", &[1, 2, 3]).unwrap();
    root.hard_link("again", &root.get("obs/age").unwrap()).unwrap();
    root.soft_link("raw", "/X").unwrap();
    file.close().unwrap();

    let told =
        done(&folder, "repack --from csr-group --filter shuffle+gzip:1 --section-filter selection=delta+lzf a.h5 b.h5");
    assert!(told.starts_with("4 datasets converted"), "{told}");
    let file = File::open(folder.path("b.h5")).unwrap();
    for path in ["X", "layers/columns", "matrix/matrix", "raw"] {
        holds(&file, path, &elements);
    }
    let dataset = file.dataset("X").unwrap();
    let ids = [0, 1]
        .map(|section| dataset.section_filters().unwrap().of(section).iter().map(|step| step.id).collect::<Vec<_>>());
    assert_eq!(ids, [vec![33001, 32000], vec![2, 1]]);
    assert_eq!(file.dataset("empty").unwrap().shape(), [7, 5]);
    assert_eq!(file.dataset("X").unwrap().attribute_names().unwrap(), ["hyperslab-lists", "note"]);
    assert_eq!(file.dataset("again").unwrap().address(), file.dataset("obs/age").unwrap().address());
    assert_eq!(file.dataset("matrix/barcodes").unwrap().read::<String>().unwrap(), ["A", "C"]);
    assert!(!file.root().unwrap().contains("matrix/shape").unwrap());
    assert_eq!(file.group("obs").unwrap().attribute("names").unwrap().read_scalar::<String>().unwrap(), "cells");
    drop(file);
    assert!(done(&folder, "check --strict b.h5").starts_with("b.h5: whole"));

    // The layout comes back: rows, columns, 10x's dataset `shape` beside the barcodes.
    done(&folder, "repack --to csr-group b.h5 c.h5");
    for path in ["/X", "/layers", "/matrix", "/empty"] {
        assert_eq!(done(&folder, &format!("diff --ignore types,links a.h5 c.h5 {path}")), "", "{path}");
    }
    assert_eq!(done(&folder, "diff a.h5 c.h5 /obs"), "");
    done(&folder, "repack --from csr-group c.h5 d.h5");
    assert_eq!(done(&folder, "diff b.h5 d.h5"), "");
}

#[test]
fn older_layouts_come_back() {
    let folder = Folder::new("convert-older");
    let elements = elements(5, (300, 400), 5000);
    let file = File::create(folder.path("a.h5")).unwrap();
    for kind in ["csr", "csc"] {
        let group = file.root().unwrap().create_group(kind).unwrap();
        compressed(&group, &elements, (300, 400), &format!("{kind}_matrix"));
        ["encoding-type", "encoding-version", "shape"].iter().for_each(|name| group.remove_attribute(name).unwrap());
        group.set_attribute("h5sparse_format", kind).unwrap();
        group.set_attribute_values("h5sparse_shape", &[300i64, 400]).unwrap();
    }
    file.close().unwrap();
    done(&folder, "repack --from csr-group a.h5 b.h5");
    done(&folder, "repack --to csr-group b.h5 c.h5");
    assert_eq!(done(&folder, "diff --ignore types,links a.h5 c.h5"), "");
}

/// What a conversion says that fails.
fn refused(folder: &Folder, words: &str) -> String {
    let output = run(folder, words);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(!folder.names().iter().any(|name| name.contains("new")), "{words}: {:?}", folder.names());
    text(&output.stderr)
}

#[test]
fn a_name_that_is_taken_is_an_error_and_no_loss() {
    let folder = Folder::new("convert-taken");
    let file = File::create(folder.path("a.h5")).unwrap();
    let tenx = file.root().unwrap().create_group("cells").unwrap();
    compressed(&tenx, &[(0, 1, 1.0), (2, 0, 3.0)], (3, 4), "10x");
    write(&tenx, "matrix", &[7i32]);
    let scan = file.root().unwrap().create_group("1.1").unwrap();
    write(&scan, "nnz", &[1u32, 0]);
    write(&scan, "row", &[5u16]);
    write(&scan, "col", &[6u16]);
    write(&scan, "intensity", &[1.5f32]);
    scan.set_attribute("shape0", 10i64).unwrap();
    scan.set_attribute("shape1", 10i64).unwrap();
    scan.soft_link("frames", "/cells/matrix").unwrap();
    // Two stacks that would both become the lists of the root group, and a matrix that is no table of contacts.
    let root = file.root().unwrap();
    for name in ["first", "second"] {
        root.new_dataset::<u16>().shape([2, 4, 4]).chunks([1, 4, 4]).sparse().create(name).unwrap();
    }
    root.new_dataset::<u16>().shape([4, 4]).chunks([4, 4]).sparse().create("square").unwrap();
    file.close().unwrap();
    let why = refused(&folder, "repack --from csr-group a.h5 new.h5");
    assert!(why.contains("/cells: ") && why.contains("a dataset matrix here, and this name is taken"), "{why}");
    let why = refused(&folder, "repack --from imaged11 a.h5 new.h5");
    assert!(why.contains("/1.1: ") && why.contains("a dataset frames here, and this name is taken"), "{why}");
    let why = refused(&folder, "repack --to imaged11 a.h5 new.h5");
    assert!(why.contains("first and second would both become the lists nnz, row, col, intensity"), "{why}");
    let why = refused(&folder, "repack --to cooler a.h5 new.h5");
    assert!(why.contains("nothing in a.h5 can be converted"), "{why}");

    let file = File::edit(folder.path("a.h5")).unwrap();
    file.root().unwrap().delete("second").unwrap();
    write(&file.root().unwrap(), "col", &[1u8]);
    file.close().unwrap();
    let why = refused(&folder, "repack --to imaged11 a.h5 new.h5");
    assert!(why.contains("first would become the lists") && why.contains("the name col is taken"), "{why}");
}

#[test]
fn images_and_contacts_become_sparse_and_come_back() {
    let folder = Folder::new("convert-others");
    let file = File::create(folder.path("a.h5")).unwrap();
    let root = file.root().unwrap();
    // 40 images of which some are empty, each row of elements one image.
    let pixels = elements(2, (40, 300 * 200), 20_000).into_iter().filter(|(frame, ..)| frame % 7 != 3);
    let pixels: Vec<_> = pixels.collect();
    let scan = root.create_group("1.1").unwrap();
    let counts = offsets(pixels.iter().map(|(frame, ..)| *frame), 40);
    write(&scan, "nnz", &counts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect::<Vec<_>>());
    write(&scan, "row", &pixels.iter().map(|(_, pixel, _)| (pixel / 200) as u16).collect::<Vec<_>>());
    write(&scan, "col", &pixels.iter().map(|(_, pixel, _)| (pixel % 200) as u16).collect::<Vec<_>>());
    write(&scan, "intensity", &pixels.iter().map(|(.., value)| *value).collect::<Vec<_>>());
    scan.set_attribute("itype", "uint16").unwrap();
    for (name, value) in [("nframes", 40i64), ("shape0", 300), ("shape1", 200)] {
        scan.set_attribute(name, value).unwrap();
    }
    scan.new_dataset::<f64>().write("measurement/rot", &[0.5; 40]).unwrap();
    // Contacts of 5000 bins, of which the upper half is kept.
    let contacts: Vec<_> =
        elements(3, (5000, 5000), 30_000).into_iter().filter(|(first, second, _)| first <= second).collect();
    let table = root.create_group("resolutions/1000/pixels").unwrap();
    write(&table, "bin1_id", &contacts.iter().map(|(first, ..)| *first as i64).collect::<Vec<_>>());
    write(&table, "bin2_id", &contacts.iter().map(|(_, second, _)| *second as i64).collect::<Vec<_>>());
    write(&table, "count", &contacts.iter().map(|(.., value)| *value as i32).collect::<Vec<_>>());
    let above = root.group("resolutions/1000").unwrap();
    above.set_attribute("nbins", 5000i64).unwrap();
    let starts = offsets(contacts.iter().map(|(first, ..)| *first), 5000);
    write(
        &above.create_group("indexes").unwrap(),
        "bin1_offset",
        &starts.iter().map(|&at| at as i64).collect::<Vec<_>>(),
    );
    write(&above.group("indexes").unwrap(), "chrom_offset", &[0i64, 2000, 5000]);
    file.close().unwrap();

    done(&folder, "repack --from imaged11 a.h5 b.h5");
    let file = File::open(folder.path("b.h5")).unwrap();
    let frames = file.dataset("1.1/frames").unwrap();
    assert_eq!((frames.shape(), frames.is_sparse()), (vec![40, 300, 200], true));
    let defined = frames.defined(&frames.space()).unwrap();
    let coords: Vec<(u64, u64)> =
        defined.coords().unwrap().map(|coord| (coord[0], coord[1] * 200 + coord[2])).collect();
    assert_eq!(coords, pixels.iter().map(|(frame, pixel, _)| (*frame, *pixel)).collect::<Vec<_>>());
    assert_eq!(file.group("1.1").unwrap().names().unwrap(), ["frames", "measurement"]);
    drop((frames, file));
    done(&folder, "repack --to imaged11 b.h5 c.h5");
    assert_eq!(done(&folder, "diff a.h5 c.h5"), "");

    done(&folder, "repack --from cooler a.h5 d.h5");
    let file = File::open(folder.path("d.h5")).unwrap();
    let whole: Vec<_> =
        contacts.iter().map(|(first, second, value)| (*first, *second, (*value as i32) as f32)).collect();
    holds(&file, "resolutions/1000/pixels", &whole);
    drop(file);
    done(&folder, "repack --to cooler d.h5 e.h5");
    assert_eq!(done(&folder, "diff a.h5 e.h5"), "");
}

#[test]
fn lists_that_contradict_each_other_are_refused() {
    let folder = Folder::new("convert-bad");
    let make = |name: &str, change: &dyn Fn(&Group)| {
        let file = File::create(folder.path(name)).unwrap();
        let group = file.root().unwrap().create_group("X").unwrap();
        let elements = [(0, 1, 1.0), (0, 3, 2.0), (2, 0, 3.0)];
        compressed(&group, &elements, (3, 4), "csr_matrix");
        change(&group);
        file.close().unwrap();
    };
    make("twice.h5", &|group| group.dataset("indices").unwrap().write(&[1, 1, 0]).unwrap());
    make("negative.h5", &|group| group.dataset("indices").unwrap().write(&[1, 3, -1]).unwrap());
    make("before.h5", &|group| {
        group.delete("indptr").unwrap();
        write(group, "indptr", &[-1i64, 2, 2, 3]);
    });
    make("minus.h5", &|group| group.set_attribute_values("shape", &[3i64, -4]).unwrap());
    make("half.h5", &|group| {
        group.delete("indices").unwrap();
        write(group, "indices", &[1.0, 2.5, 0.0]);
    });
    make("outside.h5", &|group| group.dataset("indices").unwrap().write(&[1, 4, 0]).unwrap());
    make("short.h5", &|group| group.dataset("indptr").unwrap().write(&[0, 1, 1, 2]).unwrap());
    make("falling.h5", &|group| group.dataset("indptr").unwrap().write(&[0, 3, 1, 3]).unwrap());
    make("long.h5", &|group| group.dataset("indptr").unwrap().write(&[0, 1, 1, 4]).unwrap());
    make("shape.h5", &|group| group.set_attribute_values("shape", &[5i64, 4]).unwrap());
    make("shapeless.h5", &|group| group.remove_attribute("shape").unwrap());
    make("good.h5", &|_| ());
    for (name, why) in [
        ("twice", "1 of 3 elements are named more than once"),
        ("negative", "/X: number 2 of indices is negative: -1"),
        ("before", "/X: number 0 of indptr is negative: -1"),
        ("minus", "/X: attribute shape is negative: -4"),
        ("half", "/X: number 1 of indices is no natural number: 2.5"),
        ("outside", "/X: "),
        ("short", "/X: "),
        ("long", "its offsets are for 4 elements, but there are 3"),
        ("falling", "its offsets do not rise from 0"),
        ("shape", "4 offsets for a shape of 5×4"),
        ("shapeless", "does not say a shape"),
    ] {
        let output = run(&folder, &format!("repack --from csr-group {name}.h5 new.h5"));
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(text(&output.stderr).contains(why), "{name}: {}", text(&output.stderr));
    }
    let output = run(&folder, "repack --from cooler good.h5 new.h5");
    assert!(text(&output.stderr).contains("nothing in good.h5 can be converted"), "{}", text(&output.stderr));
    assert!(!folder.names().iter().any(|name| name.contains("new")), "{:?}", folder.names());
}
