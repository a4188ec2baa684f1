//! Datasets that are written, resized, flushed and opened again, held against an array in memory: every index, with and without filters.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use hyperslab_chunk::{ChunkFilters, Chunked, ChunkedParts, EncodedChunk, Filling, Sections, Storage, Values};
use hyperslab_driver::{Driver, Memory, Transfer};
use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions};
use hyperslab_filter::{Deflate, Fletcher32, Pipeline, Registry, Shuffle, Step};
use hyperslab_format::{
    message::{AllocTime, ArrayShape, ChunkIndex, FillTime, FillValue, FillWrite, Layout},
    object_header::Prefix,
    superblock::Root,
    version::LibVersion,
};
use hyperslab_space::{Extent, Op, Slab, Space};

/// The bytes of an element.
const ELEMENT: usize = 2;

/// What a dataset is made with.
#[derive(Clone, Debug)]
struct Case {
    index: ChunkIndex,
    chunk: Vec<u64>,
    dims: Vec<u64>,
    max: Vec<Option<u64>>,
    filters: usize,
    plain_edges: bool,
    fill: FillWrite,
}

/// The dataset as it should be.
struct Twin {
    dims: Vec<u64>,
    values: HashMap<Vec<u64>, [u8; ELEMENT]>,
}

impl Twin {
    fn all(&self, fill: [u8; ELEMENT]) -> Vec<u8> {
        let places = coords(&self.dims);
        places.iter().flat_map(|place| self.values.get(place).copied().unwrap_or(fill)).collect()
    }
}

fn coords(dims: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for &dim in dims {
        all = all.iter().flat_map(|head| (0..dim).map(move |at| [head.as_slice(), &[at]].concat())).collect();
    }
    all
}

fn new_file(storage: Arc<dyn Driver>) -> OpenFile {
    let mut create = CreateOptions::default();
    create.libver_min = LibVersion::V110;
    let file = OpenFile::create(storage, &create, &OpenOptions::default()).unwrap();
    let header = Prefix::new(0).encode_first(&[]).unwrap();
    let address = file.allocate(Kind::Metadata, header.len() as u64).unwrap();
    file.put(address, header).unwrap();
    file.set_root(Root::Header(Some(address))).unwrap();
    file
}

fn pipeline(filters: usize) -> Pipeline {
    let steps = match filters {
        0 => vec![],
        1 => {
            vec![Step::optional(Deflate::ID, Deflate::params(1)), Step::mandatory(Fletcher32::ID, Fletcher32::params())]
        }
        _ => vec![
            Step::optional(Shuffle::ID, Shuffle::params(ELEMENT as u32)),
            Step::optional(Deflate::ID, Deflate::params(1)),
        ],
    };
    Pipeline::new(steps).unwrap()
}

impl Case {
    fn open(&self, file: &OpenFile, layout: &Layout, dims: &[u64]) -> Values {
        let extent = Extent::with_max(dims, &self.max).unwrap();
        let (filters, registry) = (ChunkFilters::Chunk(pipeline(self.filters)), Arc::new(Registry::default()));
        let (version, extent, element, fill) = (4, &extent, ELEMENT as u64, None);
        let parts =
            ChunkedParts { layout, version, extent, element, filters, registry, fill, vlen: Default::default() };
        let chunked = Chunked::open(file, parts).unwrap();
        let fill = Some(self.filled().to_vec());
        Values { extent: extent.clone(), element: ELEMENT as u64, fill, storage: Storage::Chunked(Box::new(chunked)) }
    }

    fn layout(&self) -> Layout {
        Layout::Chunked {
            structure: None,
            chunk: self.chunk.clone(),
            element_size: ELEMENT as u64,
            plain_edges: self.plain_edges,
            index: self.index.clone(),
            address: None,
        }
    }

    fn filled(&self) -> [u8; ELEMENT] {
        match &self.fill.value {
            FillValue::User(value) => value.as_slice().try_into().unwrap(),
            _ => [0; ELEMENT],
        }
    }

    fn run(&self, seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let storage: Arc<dyn Driver> = Arc::new(Memory::new());
        new_file(storage.clone()).close().unwrap();
        let empty = storage.len(&Transfer::default()).unwrap();
        let mut file = OpenFile::open_writable(storage.clone(), &OpenOptions::default(), LibVersion::V110).unwrap();
        let filling = Filling::new(&self.fill);
        let mut twin = Twin { dims: self.dims.clone(), values: HashMap::new() };
        let mut layout = self.layout();
        let mut values = self.open(&file, &layout, &self.dims);
        if self.fill.alloc == AllocTime::Early {
            assert_eq!(values.allocate(&file, &filling).unwrap(), self.dims.iter().all(|&dim| dim > 0));
            layout = values.layout(4).unwrap();
        }
        for step in 0..30 {
            let moved = match random.u32(0..10) {
                0..6 => write(&mut values, &file, &mut twin, &filling, &mut random),
                6..8 => {
                    let dims = self.other_dims(&mut random);
                    twin.values.retain(|place, _| place.iter().zip(&dims).all(|(at, dim)| at < dim));
                    twin.dims.clone_from(&dims);
                    let resizing = values.begin_resize(&file, &dims, &filling).unwrap();
                    resizing.moved | values.end_resize(&file, resizing, &filling).unwrap()
                }
                8 => self.write_stored(&mut values, &file, &mut twin, &filling, &mut random),
                _ => false,
            };
            let now = values.layout(4).unwrap();
            assert!(moved || now == layout, "step {step}: {layout:?} became {now:?} unsaid");
            layout = now;
            match random.u32(0..5) {
                0 => file.flush().unwrap(),
                1 => {
                    file.close().unwrap();
                    file = OpenFile::open_writable(storage.clone(), &OpenOptions::default(), LibVersion::V110).unwrap();
                    values = self.open(&file, &layout, &twin.dims);
                }
                _ => {}
            }
            let whole = Space::simple(&twin.dims).unwrap();
            let mut got = vec![99; whole.npoints() as usize * ELEMENT];
            values.read(&file, &whole, &whole, &mut got).unwrap();
            assert_eq!(got, twin.all(self.filled()), "step {step} of {self:?}");
            let mut again = vec![99; got.len()];
            self.open(&file, &layout, &twin.dims).read(&file, &whole, &whole, &mut again).unwrap();
            assert_eq!(got, again, "opened again");
        }
        values.delete(&file).unwrap();
        file.close().unwrap();
        // What an earlier opening of the file left free is not known to the next one.
        assert!(storage.len(&Transfer::default()).unwrap() >= empty, "more was given back than there was");
    }

    fn other_dims(&self, random: &mut fastrand::Rng) -> Vec<u64> {
        self.max.iter().map(|max| random.u64(0..=max.unwrap_or(14))).collect()
    }

    /// Writes a chunk past the filters, all of them left out or not.
    fn write_stored(
        &self,
        values: &mut Values,
        file: &OpenFile,
        twin: &mut Twin,
        filling: &Filling<'_>,
        random: &mut fastrand::Rng,
    ) -> bool {
        let Storage::Chunked(chunked) = &mut values.storage else { panic!() };
        if twin.dims.contains(&0) {
            return false;
        }
        let place: Vec<u64> =
            twin.dims.iter().zip(&self.chunk).map(|(dim, size)| random.u64(0..dim.div_ceil(*size))).collect();
        let elements: u64 = self.chunk.iter().product();
        let bytes: Vec<u8> = (0..elements * ELEMENT as u64).map(|_| random.u8(..)).collect();
        for (at, within) in coords(&self.chunk).iter().enumerate() {
            let whole: Vec<u64> = (0..place.len()).map(|dim| place[dim] * self.chunk[dim] + within[dim]).collect();
            if whole.iter().zip(&twin.dims).all(|(at, dim)| at < dim) {
                twin.values.insert(whole, bytes[at * ELEMENT..][..ELEMENT].try_into().unwrap());
            }
        }
        let is_edge =
            place.iter().zip(self.chunk.iter().zip(&twin.dims)).any(|(at, (size, dim))| (at + 1) * size > *dim);
        let mut mask = 0;
        let mut stored = bytes.clone();
        // Growing would show what lies beyond the edge, and that must be the fill value.
        if is_edge {
            let fill = self.filled();
            for (at, within) in coords(&self.chunk).iter().enumerate() {
                let outside = (0..place.len()).any(|dim| place[dim] * self.chunk[dim] + within[dim] >= twin.dims[dim]);
                if outside {
                    stored[at * ELEMENT..][..ELEMENT].copy_from_slice(&fill);
                }
            }
        }
        if self.filters > 0 && !(self.plain_edges && is_edge) {
            if random.bool() {
                mask = (1 << pipeline(self.filters).steps().len()) - 1;
            } else {
                let raw = stored.clone();
                mask =
                    pipeline(self.filters).encode(&Registry::default(), &raw, 0, &mut stored, &mut Vec::new()).unwrap();
            }
        }
        let moved = chunked.write_chunk(file, &place, mask, &stored, filling).unwrap();
        assert_eq!(chunked.read_chunk(file, &place).unwrap(), Some((mask, stored)));
        moved
    }
}

/// Writes a random selection of random values from a random place in memory.
fn write(
    values: &mut Values,
    file: &OpenFile,
    twin: &mut Twin,
    filling: &Filling<'_>,
    random: &mut fastrand::Rng,
) -> bool {
    let mut target = Space::simple(&twin.dims).unwrap();
    let empty = twin.dims.contains(&0);
    match random.u32(0..8) {
        _ if empty => target.select_none(),
        0 => {}
        1 => {
            let points: Vec<u64> = (0..random.usize(1..20))
                .flat_map(|_| twin.dims.iter().map(|&dim| random.u64(0..dim)).collect::<Vec<_>>())
                .collect();
            target.select_points(&points).unwrap();
        }
        kind => {
            for nth in 0..if kind == 2 { 3 } else { 1 } {
                let slabs: Vec<Slab> = twin
                    .dims
                    .iter()
                    .map(|&dim| {
                        let start = random.u64(0..dim);
                        match random.u32(0..3) {
                            0 if dim - start > 3 => Slab { start, stride: 3, count: (dim - start) / 3, block: 2 },
                            1 => Slab::block(0, dim),
                            _ => Slab::block(start, random.u64(1..=dim - start)),
                        }
                    })
                    .collect();
                target.select_hyperslab(if nth == 0 { Op::Set } else { Op::Or }, &slabs).unwrap();
            }
        }
    }
    let count = target.npoints();
    let before = random.u64(0..4);
    let mut source = Space::simple(&[before + count]).unwrap();
    if count == 0 {
        source.select_none();
    } else if before > 0 {
        source.select_hyperslab(Op::Set, &[Slab::block(before, count)]).unwrap();
    }
    let buf: Vec<u8> = (0..(before + count) as usize * ELEMENT).map(|_| random.u8(..)).collect();
    if count > 0 {
        for (nth, place) in target.coords().unwrap().enumerate() {
            let at = (before as usize + nth) * ELEMENT;
            twin.values.insert(place.to_vec(), buf[at..][..ELEMENT].try_into().unwrap());
        }
    }
    values.write(file, &target, &source, &buf, filling).unwrap()
}

fn array() -> ChunkIndex {
    ChunkIndex::ExtensibleArray(ArrayShape {
        count_bits: 32,
        in_index: 4,
        min_blocks: 4,
        min_elements: 16,
        page_bits: 10,
    })
}

fn run_all(index: ChunkIndex, chunk: &[u64], dims: &[u64], max: &[Option<u64>], filters: std::ops::Range<usize>) {
    for filters in filters {
        for (nth, alloc) in [AllocTime::Incremental, AllocTime::Early, AllocTime::Late].into_iter().enumerate() {
            for (fill, plain_edges) in [(FillValue::Default, true), (FillValue::User(vec![7, 1]), false)] {
                // The old layout cannot say it.
                let plain_edges = plain_edges && filters > 0 && index != ChunkIndex::BtreeV1;
                let index = match &index {
                    ChunkIndex::Single(_) => ChunkIndex::Single((filters > 0).then_some(Sections::one(0, 0))),
                    other => other.clone(),
                };
                let fill = FillWrite { value: fill, alloc, write: FillTime::IfSet };
                let (chunk, dims, max) = (chunk.to_vec(), dims.to_vec(), max.to_vec());
                let case = Case { index, chunk, dims, max, filters, plain_edges, fill };
                for seed in 0..2 {
                    case.run(seed * 100 + nth as u64);
                }
            }
        }
    }
}

#[test]
fn one_chunk() {
    run_all(ChunkIndex::Single(None), &[5, 3], &[5, 3], &[Some(5), Some(3)], 0..3);
}

#[test]
fn chunks_one_after_the_other() {
    run_all(ChunkIndex::Implicit, &[2, 3], &[7, 5], &[Some(9), Some(11)], 0..1);
}

#[test]
fn fixed_arrays() {
    run_all(ChunkIndex::FixedArray { page_bits: 10 }, &[2, 3], &[7, 5], &[Some(9), Some(11)], 0..3);
    run_all(ChunkIndex::FixedArray { page_bits: 2 }, &[2], &[7], &[Some(40)], 0..3);
}

#[test]
fn extensible_arrays() {
    run_all(array(), &[2, 3], &[7, 5], &[None, Some(11)], 0..3);
    run_all(array(), &[3, 2], &[2, 0], &[Some(9), None], 0..3);
}

#[test]
fn old_trees() {
    run_all(ChunkIndex::BtreeV1, &[2, 3], &[7, 5], &[None, None], 0..3);
    run_all(ChunkIndex::BtreeV1, &[1, 2, 2], &[3, 5, 4], &[None, Some(6), None], 0..3);
}

#[test]
fn trees() {
    let index = ChunkIndex::BtreeV2 { node_size: 512, split: 100, merge: 40 };
    run_all(index.clone(), &[2, 3], &[7, 5], &[None, None], 0..3);
    run_all(index, &[1, 2, 2], &[3, 5, 4], &[None, Some(6), None], 0..3);
}

/// Other programs make datasets with more chunks than an array holds. Those beyond are refused before anything changes.
#[test]
fn chunks_beyond_an_array() {
    for filters in [0, 1] {
        let file = new_file(Arc::new(Memory::new()));
        let dims = vec![(1 << 32) + 10];
        let fill = FillWrite { value: FillValue::Default, alloc: AllocTime::Incremental, write: FillTime::IfSet };
        let (chunk, max, index) = (vec![1], vec![None], array());
        let case = Case { index, chunk, dims: dims.clone(), max, filters, plain_edges: false, fill };
        let (mut values, filling) = (case.open(&file, &case.layout(), &dims), Filling::new(&case.fill));
        let Storage::Chunked(chunked) = &mut values.storage else { unreachable!() };
        for place in [1 << 32, (1 << 32) + 9] {
            let refused = file.operate(|| chunked.write_chunk(&file, &[place], 0, &[1, 2], &filling));
            assert!(refused.unwrap_err().to_string().contains("holds 2^32"));
            let chunk = |(at, bytes): (u64, [u8; 2])| {
                EncodedChunk::dense([at].as_slice().into(), Cow::Owned(bytes.to_vec()), 0, filters > 0)
            };
            let two = [(0, [1, 2]), (place, [3, 4])].map(chunk);
            let refused = file.operate(|| chunked.write_stored(&file, &two, &filling));
            assert!(refused.unwrap_err().to_string().contains("holds 2^32"));
        }
        assert!(file.operate(|| chunked.write_chunk(&file, &[(1 << 32) - 1], 0, &[1, 2], &filling)).unwrap());
        assert_eq!(chunked.read_chunk(&file, &[(1 << 32) - 1]).unwrap(), Some((0, vec![1, 2])));
    }
}
