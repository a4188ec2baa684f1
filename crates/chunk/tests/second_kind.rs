//! The chunk is open: a second kind of chunk lives in the cache beside the dense one, with no change in `cache`, the loader or the storer.
//!
//! A packed chunk has its defined elements alone, in two sections: runs, and the values of the runs one after the other. It is loaded in part (the
//! runs tell which elements are defined), completed when values are wanted, grows with what is written, gives its values back when memory is short,
//! is evicted, and comes back.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use hyperslab_cache::{
    Cache, Config, Demand, Eviction, Footprint, Grant, Lookup, Partition, Pinned, Unwritten, WriteBack,
};
use hyperslab_chunk::{ChunkCoord, EncodedChunk, Error, Loader, Result, Section, Sections, StoredAt, Storer};
use hyperslab_driver::Memory;
use hyperslab_file::{CreateOptions, Kind as SpaceKind, OpenFile, OpenOptions};
use hyperslab_format::{object_header::Prefix, superblock::Root};

/// The elements of a chunk, of one byte each.
const ELEMENTS: usize = 200;
const CHUNKS: u64 = 12;
/// What the slots of a cache take in this test besides values.
const BESIDES: usize = 16;
/// What the cache may hold: a fourth of all values.
const LIMIT: usize = 700;

/// Elements that are defined, one after the other: the first one, and their number.
type Run = (u8, u8);

/// Defined elements alone.
#[derive(Default)]
struct Packed {
    runs: Vec<Run>,
    /// Not loaded yet, or given back, if nothing.
    values: Option<Vec<u8>>,
}

/// Either kind, by the number of the chunk.
enum Chunk {
    Dense(Vec<u8>),
    Packed(Packed),
}

/// A dataset in the file, its index, and what happened to its chunks.
struct Source {
    file: OpenFile,
    index: Mutex<BTreeMap<ChunkCoord, StoredAt>>,
    in_part: AtomicUsize,
    completed: AtomicUsize,
}

/// How often chunks gave part of themselves back.
static SHED: AtomicUsize = AtomicUsize::new(0);

impl Footprint for Chunk {
    type Source = Source;
    type Encoded = EncodedChunk<'static>;

    fn sheds(_source: &Source) -> bool {
        true
    }

    fn footprint(&self) -> usize {
        match self {
            Chunk::Dense(values) => BESIDES + values.capacity(),
            Chunk::Packed(packed) => {
                let runs = packed.runs.capacity() * size_of::<Run>();
                BESIDES + runs + packed.values.as_ref().map_or(0, Vec::capacity)
            }
        }
    }

    fn encoded_footprint(encoded: &EncodedChunk<'static>) -> usize {
        encoded.bytes().map_or(0, <[u8]>::len)
    }

    fn shed(&mut self) {
        if let Chunk::Packed(Packed { values: values @ Some(_), .. }) = self {
            *values = None;
            SHED.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Packed {
    /// Where an element is among the values, if it is defined.
    fn position(&self, element: u8) -> Option<usize> {
        let mut before = 0;
        for (start, count) in &self.runs {
            if (*start..*start + *count).contains(&element) {
                return Some(before + usize::from(element - start));
            }
            before += usize::from(*count);
        }
        None
    }

    fn decode_runs(section: &[u8]) -> Packed {
        Packed { runs: section.chunks_exact(2).map(|run| (run[0], run[1])).collect(), values: None }
    }

    fn unpack(&self) -> Vec<Option<u8>> {
        let (mut elements, mut values) = (vec![None; ELEMENTS], self.values.as_deref().unwrap().iter());
        for (start, count) in &self.runs {
            let run = usize::from(*start)..usize::from(*start) + usize::from(*count);
            elements[run].iter_mut().for_each(|element| *element = values.next().copied());
        }
        elements
    }

    /// Both parts, with no more memory than they need.
    fn pack(elements: &[Option<u8>]) -> Packed {
        let mut runs: Vec<Run> = Vec::new();
        for (nth, _) in elements.iter().enumerate().filter(|(_, element)| element.is_some()) {
            let nth = u8::try_from(nth).unwrap();
            match runs.last_mut().filter(|(start, count)| *start + *count == nth) {
                Some((_, count)) => *count += 1,
                None => runs.push((nth, 1)),
            }
        }
        runs.shrink_to_fit();
        let mut values: Vec<u8> = elements.iter().copied().flatten().collect();
        values.shrink_to_fit();
        Packed { runs, values: Some(values) }
    }
}

fn is_dense(coord: &ChunkCoord) -> bool {
    coord[0].is_multiple_of(3)
}

impl Chunk {
    fn encode(&self, coord: &ChunkCoord) -> EncodedChunk<'static> {
        let section = |bytes: &[u8]| Section { size: bytes.len() as u64, ..Section::default() };
        match self {
            Chunk::Dense(values) => EncodedChunk::dense(coord.clone(), Cow::Owned(values.clone()), 0, false),
            Chunk::Packed(packed) => {
                let runs: Vec<u8> = packed.runs.iter().flat_map(|(start, count)| [*start, *count]).collect();
                let values = packed.values.as_ref().expect("a dirty chunk is complete");
                let sections = Sections::new(&[section(&runs), section(values)]).unwrap();
                let bytes = Cow::Owned([runs.as_slice(), values].concat());
                EncodedChunk::structured(coord.clone(), bytes, sections, false).unwrap()
            }
        }
    }
}

impl Source {
    fn new() -> Source {
        let file =
            OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default()).unwrap();
        let header = Prefix::new(0).encode_first(&[]).unwrap();
        let address = file.allocate(SpaceKind::Metadata, header.len() as u64).unwrap();
        file.put(address, header).unwrap();
        file.set_root(Root::Header(Some(address))).unwrap();
        let (index, in_part, completed) = Default::default();
        Source { file, index, in_part, completed }
    }

    fn at(&self, coord: &ChunkCoord) -> Option<StoredAt> {
        self.index.lock().unwrap().get(coord).cloned()
    }

    /// A chunk as the file has it: all of a dense one, the runs of a packed one.
    fn load(&self, coord: &ChunkCoord) -> Option<Chunk> {
        let at = self.at(coord)?;
        let at = if is_dense(coord) { at } else { at.sections(0..1)? };
        let decode = |encoded: EncodedChunk<'static>| match is_dense(coord) {
            true => Chunk::Dense(encoded.into_bytes().into_owned()),
            false => {
                self.in_part.fetch_add(1, Ordering::Relaxed);
                Chunk::Packed(Packed::decode_runs(encoded.section(0).unwrap()))
            }
        };
        let loaded =
            Loader::new(&self.file).load(&[(coord, Some(&at))], |_, _, _, stored| Ok(decode(stored)), &mut |_| ());
        loaded.unwrap().pop().unwrap()
    }

    /// The rest of a packed chunk.
    fn load_values(&self, coord: &ChunkCoord) -> Vec<u8> {
        let at = self.at(coord).unwrap().sections(1..2).unwrap();
        self.completed.fetch_add(1, Ordering::Relaxed);
        let stored = Loader::new(&self.file).read(&[(coord, Some(&at))]).unwrap().pop().unwrap().unwrap();
        stored.into_bytes().into_owned()
    }

    /// Stores chunks with one request, then tells the index.
    fn store(&self, chunks: &[EncodedChunk<'static>]) {
        let stored: Result<Vec<u64>> = self.file.operate(|| {
            self.file.tentative(|| {
                let space =
                    |chunk: &EncodedChunk<'_>| self.file.allocate(SpaceKind::Raw, chunk.sections.bytes().max(1));
                let addresses = chunks.iter().map(space).collect::<std::result::Result<Vec<_>, _>>()?;
                Storer::new(&self.file).write(addresses.iter().map(|&address| Some(address)).zip(chunks))?;
                Ok::<_, Error>(addresses)
            })
        });
        let mut index = self.index.lock().unwrap();
        for (chunk, address) in chunks.iter().zip(stored.unwrap()) {
            let at = StoredAt { address, sections: chunk.sections.clone(), filtered: false, needed: 0 };
            index.insert(chunk.coord.clone(), at);
        }
    }
}

/// A cache that is far too small for its dataset.
struct World {
    cache: Cache<Chunk>,
    partition: Partition<Chunk>,
}

impl World {
    fn new(source: &Arc<Source>) -> World {
        let cache = Cache::new(Config::default().bytes(LIMIT).reserve(0));
        let partition = cache.open(source.clone(), None, None);
        World { cache, partition }
    }

    fn room(&self, bytes: usize) -> Grant<'_> {
        loop {
            match self.cache.make_room(&self.partition, bytes) {
                Eviction::Granted(grant) => return grant,
                Eviction::Dirty(taken) => self.write_back(taken),
                Eviction::Full => panic!("all can be written"),
            }
        }
    }

    fn write_back(&self, taken: Vec<WriteBack<Chunk>>) {
        let encode = |taken: &WriteBack<Chunk>| match taken.encoded() {
            Some(ahead) => (**ahead).clone(),
            None => taken.read().unwrap().encode(taken.coord().unwrap()),
        };
        self.partition.source().store(&taken.iter().map(encode).collect::<Vec<_>>());
        taken.into_iter().for_each(WriteBack::written);
    }

    fn pin(&self, coord: &ChunkCoord) -> Pinned<Chunk> {
        let ticket = match self.partition.find(coord) {
            Lookup::Hit(pinned) => return pinned,
            Lookup::Miss(ticket) => ticket,
            Lookup::Loading(_) => panic!("one thread"),
        };
        let new = || if is_dense(coord) { Chunk::Dense(vec![0; ELEMENTS]) } else { Chunk::Packed(Packed::pack(&[])) };
        let mut grant = self.room(BESIDES + ELEMENTS);
        let chunk = self.partition.source().load(coord).unwrap_or_else(new);
        ticket.fill(chunk, &mut grant, false).unwrap()
    }

    /// Loads what is missing of a chunk. It stays clean.
    fn complete(&self, pinned: &Pinned<Chunk>) {
        let is_partial = |chunk: &Chunk| matches!(chunk, Chunk::Packed(Packed { values: None, .. }));
        if !is_partial(&pinned.read()) {
            return;
        }
        let mut chunk = pinned.complete_in(self.room(ELEMENTS));
        if let Chunk::Packed(packed) = &mut *chunk {
            packed.values = Some(self.partition.source().load_values(pinned.coord()));
        }
    }

    fn read(&self, coord: &ChunkCoord, element: u8) -> Option<u8> {
        let _reservation = self.cache.reserve(Demand { chunks: BESIDES + 3 * ELEMENTS, aside: 0 });
        let pinned = self.pin(coord);
        let position = match &*pinned.read() {
            Chunk::Dense(values) => return Some(values[usize::from(element)]),
            Chunk::Packed(packed) => packed.position(element)?,
        };
        self.complete(&pinned);
        match &*pinned.read() {
            Chunk::Packed(Packed { values: Some(values), .. }) => Some(values[position]),
            _ => panic!("pinned, and so complete"),
        }
    }

    fn write(&self, coord: &ChunkCoord, first: u8, values: &[u8]) {
        let _reservation = self.cache.reserve(Demand { chunks: BESIDES + 3 * ELEMENTS, aside: 0 });
        let pinned = self.pin(coord);
        self.complete(&pinned);
        let range = usize::from(first)..usize::from(first) + values.len();
        // A run more at most, and as many values.
        let mut chunk = pinned.write_in(self.room(size_of::<Run>() + values.len()));
        match &mut *chunk {
            Chunk::Dense(all) => all[range].copy_from_slice(values),
            Chunk::Packed(packed) => {
                let mut elements = packed.unpack();
                elements[range].iter_mut().zip(values).for_each(|(element, value)| *element = Some(*value));
                *packed = Packed::pack(&elements);
            }
        }
    }

    fn flush(&self) {
        self.write_back(Unwritten::of_cache(&self.cache).take());
    }
}

#[test]
fn a_second_kind_of_chunk_lives_in_the_cache() {
    let source = Arc::new(Source::new());
    let mut world = World::new(&source);
    let (mut model, mut random) = (HashMap::<(u64, u8), u8>::new(), fastrand::Rng::with_seed(11));
    for step in 0..4000 {
        let (number, element) = (random.u64(..CHUNKS), random.u8(..180));
        let coord = ChunkCoord::from_slice(&[number]);
        if random.u8(..5) == 0 {
            let values: Vec<u8> = (0..random.usize(1..20)).map(|_| random.u8(1..)).collect();
            world.write(&coord, element, &values);
            model.extend((element..).zip(&values).map(|(element, value)| ((number, element), *value)));
        } else {
            let expected = model.get(&(number, element)).copied();
            // A dense chunk has a value for each element.
            let expected = if is_dense(&coord) { expected.or(Some(0)) } else { expected };
            assert_eq!(world.read(&coord, element), expected, "step {step}");
        }
        assert!(world.cache.statistics().peak_bytes <= LIMIT, "step {step}: memory is granted before it is taken");
        if step % 900 == 899 {
            // All chunks come back from the file.
            world.flush();
            world = World::new(&source);
        }
    }
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    assert!(world.cache.statistics().evictions > 0);
    assert!(count(&source.completed) > 0 && count(&source.in_part) > 0, "loaded in part");
    assert!(count(&SHED) > 0, "part of a chunk was given back");
}
