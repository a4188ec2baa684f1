//! Datasets that libhdf5 makes are written and resized here; libhdf5 reads them, changes them further, and deletes them.
//!
//! Needs a Python with h5py: `$HYPERSLAB_PYTHON`, or `target/venv`; without one the tests say that they are skipped.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use hyperslab_chunk::{ChunkFilters, Chunked, ChunkedParts, Filling, Storage, Values};
use hyperslab_driver::Local;
use hyperslab_file::{Header, HeaderEdit, OpenFile, OpenOptions};
use hyperslab_filter::{Pipeline, Registry};
use hyperslab_format::{
    message::{DataLayout, FillValue, FillWrite, FilterPipeline, Layout, kind},
    version::LibVersion,
};
use hyperslab_space::{Extent, Op, Slab, Space};

/// A dataset of a file, with what its header says.
struct Opened {
    values: Values,
    layout_version: u8,
    space_version: u8,
    fill: FillWrite,
}

fn open(file: &OpenFile, address: u64) -> Opened {
    let header = Header::read(file, address).unwrap();
    let body = |kind| header.find(kind).map(|message| header.body(message));
    let extent = Extent::decode(body(kind::DATASPACE).unwrap(), file.widths().lengths).unwrap();
    let layout = DataLayout::decode(body(kind::DATA_LAYOUT).unwrap(), file.widths()).unwrap();
    let fill = FillWrite::decode(body(kind::FILL_VALUE).unwrap()).unwrap();
    let filters = body(kind::FILTER_PIPELINE).map(|body| FilterPipeline::decode(body).unwrap());
    let pipeline = filters.map_or_else(Pipeline::default, |message| hyperslab_chunk::pipeline(&message).unwrap());
    let storage = match &layout.layout {
        Layout::Contiguous { address, .. } => Storage::Contiguous(*address),
        chunked => {
            let registry = Arc::new(Registry::default());
            let (layout, version, extent) = (chunked, layout.version, &extent);
            let (element, filters, fill) = (2, ChunkFilters::Chunk(pipeline), None);
            let parts =
                ChunkedParts { layout, version, extent, element, filters, registry, fill, vlen: Default::default() };
            let chunked = Chunked::open(file, parts).unwrap();
            Storage::Chunked(Box::new(chunked))
        }
    };
    let value = match &fill.value {
        FillValue::User(value) => Some(value.clone()),
        _ => None,
    };
    let values = Values { extent, element: 2, fill: value, storage };
    let space_version = body(kind::DATASPACE).unwrap()[0];
    Opened { values, layout_version: layout.version, space_version, fill }
}

/// Says in the header what changed.
fn save(file: &OpenFile, address: u64, opened: &Opened) {
    let mut header = HeaderEdit::open(file, address).unwrap();
    let (layout, version) = (opened.values.layout(opened.layout_version).unwrap(), opened.layout_version);
    let message = DataLayout { version, old_sizes: Vec::new(), layout }.encode(file.widths()).unwrap();
    let id = header.find(kind::DATA_LAYOUT).unwrap();
    header.replace(id, message).unwrap();
    let id = header.find(kind::DATASPACE).unwrap();
    header.replace(id, opened.values.extent.encode(opened.space_version, false).unwrap()).unwrap();
    header.save().unwrap();
}

/// What both sides know: a value for each place.
fn pattern(dims: &[u64], seed: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut place = vec![0i64; dims.len()];
    for _ in 0..dims.iter().product::<u64>() {
        let total: i64 = place.iter().zip(0..).map(|(at, dim)| (7 * dim + 3) * at).sum();
        bytes.extend(((total * 5 + seed * 1000) as i16).to_le_bytes());
        for (at, dim) in place.iter_mut().zip(dims).rev() {
            *at += 1;
            if *at < *dim as i64 {
                break;
            }
            *at = 0;
        }
    }
    bytes
}

fn write_rows(file: &OpenFile, opened: &mut Opened, first: u64, count: u64, seed: i64) {
    let dims = opened.values.extent.dims().to_vec();
    let mut rows = Space::simple(&dims).unwrap();
    let slabs = dims
        .iter()
        .enumerate()
        .map(|(dim, size)| if dim == 0 { Slab::block(first, count) } else { Slab::block(0, *size) });
    rows.select_hyperslab(Op::Set, &slabs.collect::<Vec<_>>()).unwrap();
    let buf = pattern(&dims, seed);
    let filling = Filling::new(&opened.fill);
    opened.values.write(file, &rows, &rows, &buf, &filling).unwrap();
}

fn change(file: &OpenFile, address: u64) {
    let mut opened = open(file, address);
    let dims = opened.values.extent.dims().to_vec();
    write_rows(file, &mut opened, dims[0] / 4, dims[0] / 2, 1);
    let max = opened.values.extent.max().to_vec();
    let large: Vec<u64> =
        dims.iter().zip(&max).map(|(dim, max)| if *max == u64::MAX { dim + 3 } else { *dim }).collect();
    let fill = opened.fill.clone();
    let resize = |values: &mut Values, dims: &[u64]| {
        let resizing = values.begin_resize(file, dims, &Filling::new(&fill)).unwrap();
        values.end_resize(file, resizing, &Filling::new(&fill)).unwrap();
    };
    resize(&mut opened.values, &large);
    write_rows(file, &mut opened, large[0] - 5, 5, 2);
    if matches!(opened.values.storage, Storage::Chunked(_)) {
        let less: Vec<u64> =
            large.iter().enumerate().map(|(dim, size)| if dim == 0 { size - 2 } else { *size }).collect();
        resize(&mut opened.values, &less);
    }
    save(file, address, &opened);
}

fn python(arguments: &[&str]) -> Option<Vec<(String, u64)>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libhdf5.py");
    let output = Command::new(hyperslab_workshop::python()?).arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let parts = lines.lines().filter_map(|line| line.split_once(' '));
    Some(parts.map(|(name, address)| (name.to_owned(), address.parse().unwrap())).collect())
}

fn storage(path: &Path) -> Arc<Local> {
    Arc::new(Local::options().write(true).open(path).unwrap())
}

fn there_and_back(libver: &str) {
    let path: PathBuf =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chunks-{libver}-{}.h5", std::process::id()));
    let name = path.to_str().unwrap();
    let Some(datasets) = python(&["make", name, libver]) else { return };
    let file = OpenFile::open_writable(storage(&path), &OpenOptions::default(), LibVersion::V110).unwrap();
    for (nth, (_, address)) in datasets.iter().enumerate() {
        change(&file, *address);
        if nth % 2 == 0 {
            file.flush().unwrap();
        }
    }
    file.close().unwrap();
    drop(file);
    let datasets = python(&["check", name]).unwrap();
    let file = OpenFile::open(storage(&path), &OpenOptions::default()).unwrap();
    for (dataset, address) in &datasets {
        let opened = open(&file, *address);
        let whole = Space::new(opened.values.extent.clone());
        let mut got = vec![0; whole.npoints() as usize * 2];
        opened.values.read(&file, &whole, &whole, &mut got).unwrap();
        assert!(got == fs::read(format!("{name}.{dataset}")).unwrap(), "{dataset}");
        fs::remove_file(format!("{name}.{dataset}")).unwrap();
    }
    drop(file);
    python(&["delete", name]).unwrap();
    println!("{} datasets of {libver}", datasets.len());
    fs::remove_file(&path).unwrap();
}

#[test]
fn libhdf5_goes_on_with_old_datasets() {
    there_and_back("earliest");
}

#[test]
fn libhdf5_goes_on_with_new_datasets() {
    there_and_back("v110");
}
