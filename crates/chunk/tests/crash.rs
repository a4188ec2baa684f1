//! Filtered chunks after every single write: each value is the one of the last flush or of the next.

use std::sync::Arc;

use hyperslab_chunk::{ChunkFilters, Chunked, ChunkedParts, Filling, Storage, Values};
use hyperslab_driver::{Driver, Memory, Tape};
use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions, Plan};
use hyperslab_filter::{Deflate, Fletcher32, Pipeline, Registry, Step};
use hyperslab_format::{
    message::{AllocTime, ArrayShape, ChunkIndex, FillTime, FillValue, FillWrite, Layout},
    object_header::Prefix,
    superblock::Root,
    version::LibVersion,
};
use hyperslab_space::{Extent, Op, Slab, Space};

const SIZE: u64 = 300;

fn open(file: &OpenFile, layout: &Layout, max: Option<u64>) -> Values {
    open_sized(file, layout, SIZE, max)
}

fn open_sized(file: &OpenFile, layout: &Layout, size: u64, max: Option<u64>) -> Values {
    let steps =
        vec![Step::optional(Deflate::ID, Deflate::params(1)), Step::mandatory(Fletcher32::ID, Fletcher32::params())];
    let extent = Extent::with_max(&[size], &[max]).unwrap();
    let (pipeline, registry) = (Pipeline::new(steps).unwrap(), Arc::new(Registry::default()));
    let (version, element, filters, fill) = (4, 1, ChunkFilters::Chunk(pipeline), None);
    let parts =
        ChunkedParts { layout, version, extent: &extent, element, filters, registry, fill, vlen: Default::default() };
    let chunked = Chunked::open(file, parts).unwrap();
    Values { extent, element: 1, fill: None, storage: Storage::Chunked(Box::new(chunked)) }
}

fn all(file: &OpenFile, values: &Values) -> Vec<u8> {
    let size = values.extent.dims()[0];
    let whole = Space::simple(&[size]).unwrap();
    let mut got = vec![0; size as usize];
    values.read(file, &whole, &whole, &mut got).unwrap();
    got
}

/// A file with a root group that has nothing.
fn create(tape: &Arc<Tape>) -> OpenFile {
    let mut create = CreateOptions::default();
    // Later files carry a mark while they are written, which would have to be cleared before they are opened.
    create.libver_min = LibVersion::V18;
    let file = OpenFile::create(tape.clone(), &create, &OpenOptions::default()).unwrap();
    let header = Prefix::new(0).encode_first(&[]).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file
}

fn after_every_write(index: ChunkIndex, max: Option<u64>) {
    let tape = Arc::new(Tape::default());
    let file = create(&tape);
    let layout = Layout::Chunked {
        structure: None,
        chunk: vec![2],
        element_size: 1,
        plain_edges: false,
        index: index.clone(),
        address: None,
    };
    let mut values = open(&file, &layout, max);
    let fill = FillWrite { value: FillValue::Default, alloc: AllocTime::Incremental, write: FillTime::IfSet };
    let mut random = fastrand::Rng::with_seed(7);
    let mut states = Vec::new();
    for _ in 0..20 {
        for _ in 0..random.u32(1..5) {
            let start = random.u64(0..SIZE);
            let count = random.u64(1..=(SIZE - start).min(40));
            let mut target = Space::simple(&[SIZE]).unwrap();
            target.select_hyperslab(Op::Set, &[Slab::block(start, count)]).unwrap();
            let buf: Vec<u8> = (0..count).map(|_| random.u8(1..)).collect();
            let source = Space::simple(&[count]).unwrap();
            values.write(&file, &target, &source, &buf, &Filling::new(&fill)).unwrap();
        }
        file.flush().unwrap();
        states.push((tape.changes().len(), all(&file, &values)));
    }
    // Without a header, the place of the index is known from the first flush on only.
    let (first, layout) = (states[0].0, values.layout(4).unwrap());
    let (mut seen, mut bytes) = (0, Vec::new());
    for (nth, change) in tape.changes().iter().enumerate() {
        change.apply(&mut bytes);
        if nth < first {
            continue;
        }
        let storage: Arc<dyn Driver> = Arc::new(Memory::from(bytes.clone()));
        let file = OpenFile::open(storage, &OpenOptions::default()).unwrap();
        let got = all(&file, &open(&file, &layout, max));
        let next = states.iter().position(|(changes, _)| nth < *changes).unwrap_or(states.len() - 1);
        let (before, after) = (&states[next.saturating_sub(1)].1, &states[next].1);
        for (at, value) in got.iter().enumerate() {
            assert!(*value == before[at] || *value == after[at], "element {at} after change {nth} of {index:?}");
        }
        seen += 1;
    }
    assert!(seen > 100, "{seen} changes");
}

#[test]
fn every_prefix_is_whole() {
    let shape = ArrayShape { count_bits: 16, in_index: 2, min_blocks: 2, min_elements: 2, page_bits: 2 };
    after_every_write(ChunkIndex::FixedArray { page_bits: 10 }, Some(SIZE));
    after_every_write(ChunkIndex::FixedArray { page_bits: 3 }, Some(SIZE));
    after_every_write(ChunkIndex::ExtensibleArray(shape), None);
    after_every_write(ChunkIndex::BtreeV2 { node_size: 128, split: 100, merge: 40 }, None);
    after_every_write(ChunkIndex::BtreeV1, None);
}

/// Sizes change while chunks at the edge go through no filters: whichever extent the header tells at a time, its values are there.
fn resized_after_every_write(index: ChunkIndex, plain_edges: bool) {
    let tape = Arc::new(Tape::default());
    let file = create(&tape);
    let layout = Layout::Chunked {
        structure: None,
        chunk: vec![7],
        element_size: 1,
        plain_edges,
        index: index.clone(),
        address: None,
    };
    let fill = FillWrite { value: FillValue::Default, alloc: AllocTime::Incremental, write: FillTime::IfSet };
    let (mut random, mut size) = (fastrand::Rng::with_seed(3), 40);
    let mut values = open_sized(&file, &layout, size, None);
    // From which change on the header tells a size, and what is there then; nothing while values are written.
    let mut told = Vec::new();
    for step in 0..40 {
        if step > 0 {
            size = random.u64(1..60);
            let mut expected = all(&file, &values);
            expected.resize(size as usize, 0);
            let resizing = values.begin_resize(&file, &[size], &Filling::new(&fill)).unwrap();
            drop(Plan::flushing_if(&file, true).begin().unwrap());
            // Here a header would change, with one write.
            told.push((tape.changes().len(), Some(expected.clone())));
            values.end_resize(&file, resizing, &Filling::new(&fill)).unwrap();
            file.flush().unwrap();
            assert_eq!(all(&file, &values), expected);
        }
        told.push((tape.changes().len(), None));
        let whole = Space::simple(&[size]).unwrap();
        let buf: Vec<u8> = (0..size).map(|_| random.u8(1..)).collect();
        values.write(&file, &whole, &whole, &buf, &Filling::new(&fill)).unwrap();
        file.flush().unwrap();
        told.push((tape.changes().len(), Some(all(&file, &values))));
    }
    let layout = values.layout(4).unwrap();
    let (mut seen, mut bytes) = (0, Vec::new());
    for (nth, change) in tape.changes().iter().enumerate() {
        change.apply(&mut bytes);
        let done = nth + 1;
        // At the moment of the change of the header, both sizes must do.
        for (which, (from, expected)) in told.iter().enumerate() {
            let is_over = told.get(which + 1).is_some_and(|(until, _)| *until < done);
            let Some(expected) = expected.as_ref().filter(|_| *from <= done && !is_over) else { continue };
            let storage: Arc<dyn Driver> = Arc::new(Memory::from(bytes.clone()));
            let file = OpenFile::open(storage, &OpenOptions::default()).unwrap();
            let got = all(&file, &open_sized(&file, &layout, expected.len() as u64, None));
            assert_eq!(&got, expected, "after change {nth} of {index:?}, told since {from}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} changes");
}

#[test]
fn every_prefix_of_a_resize_is_whole() {
    let shape = ArrayShape { count_bits: 16, in_index: 2, min_blocks: 2, min_elements: 2, page_bits: 2 };
    for plain_edges in [false, true] {
        resized_after_every_write(ChunkIndex::ExtensibleArray(shape), plain_edges);
        resized_after_every_write(ChunkIndex::BtreeV2 { node_size: 128, split: 100, merge: 40 }, plain_edges);
    }
    resized_after_every_write(ChunkIndex::BtreeV1, false);
}
