//! Small files with one sparse dataset, for each chunk index and kind of filters, and where the sections of its chunks are.

use std::{ops::Range, sync::Arc};

use hyperslab::{
    Dataset, File, NewDataset, OpenOptions,
    driver::{Driver, Memory, Transfer},
    filter::Registry,
};
use hyperslab_chunk::{ChunkCoord, ChunkFilters, Chunked, ChunkedParts, EncodedChunk, Filling, VlenParts};
use hyperslab_file::{Header, HeaderEdit, OpenFile};
use hyperslab_format::{
    ChunkEntry,
    message::{AllocTime, DataLayout, DatasetFilters, FillTime, FillValue, FillWrite, Layout, SectionFilters, kind},
    version::LibVersion,
};
use hyperslab_space::{Extent, Space};

use super::options;

/// The dataset of each file.
pub(super) const NAME: &str = "a";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Index {
    Single,
    FixedArray,
    ExtensibleArray,
    BtreeV2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filters {
    None,
    Deflate,
    Fletcher32,
}

/// What chunks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sparse,
    SparseVlen,
    DenseVlen,
}

impl Kind {
    pub(super) const VLEN: [Kind; 2] = [Kind::SparseVlen, Kind::DenseVlen];

    pub(super) fn is_sparse(self) -> bool {
        self != Kind::DenseVlen
    }

    /// Writes a value to each selected element: a number, or the text of it.
    pub(super) fn write(self, dataset: &Dataset, part: &Space, values: &[i16]) -> hyperslab::Result<()> {
        match self {
            Kind::Sparse => dataset.write_selection(part, values),
            _ => dataset.write_selection(part, &values.iter().map(|value| text(*value)).collect::<Vec<_>>()),
        }
    }

    /// Reads what was written so; elements that were not are 0.
    pub(super) fn read(self, dataset: &Dataset, part: &Space) -> hyperslab::Result<Vec<i16>> {
        if self == Kind::Sparse {
            return dataset.read_selection::<i16>(part);
        }
        let number = |found: &String| {
            let number = found.split(' ').next().unwrap().parse().unwrap_or_default();
            assert_eq!(*found, text(number));
            number
        };
        Ok(dataset.read_selection::<String>(part)?.iter().map(number).collect())
    }

    /// Erases elements, or lets them be as if they were never written.
    pub(super) fn erase(self, dataset: &Dataset, part: &Space) -> hyperslab::Result<()> {
        if self.is_sparse() { dataset.erase(part) } else { dataset.write_fill(part) }
    }
}

/// Text that says a number, of any length; none for 0.
fn text(number: i16) -> String {
    match number {
        0 => String::new(),
        _ => format!("{number} {}", "long".repeat(usize::from(number.unsigned_abs()) % 9)),
    }
}

impl Index {
    pub(super) const ALL: [Index; 4] = [Index::Single, Index::FixedArray, Index::ExtensibleArray, Index::BtreeV2];

    /// The chunk of a dataset of 6 × 7 elements.
    pub(super) fn chunk(self) -> [u64; 2] {
        if self == Index::Single { [6, 7] } else { [4, 3] }
    }

    /// How far a dataset of 6 × 7 elements may grow.
    pub(super) fn max(self) -> [Option<u64>; 2] {
        match self {
            Index::Single | Index::FixedArray => [Some(6), Some(7)],
            Index::ExtensibleArray => [None, Some(7)],
            Index::BtreeV2 => [None, None],
        }
    }

    /// A file with a dataset of 6 × 7 elements, of 16 bits or texts, without values.
    pub(super) fn create(
        self,
        (kind, filters): (Kind, Filters),
        options: OpenOptions,
        storage: Arc<dyn Driver>,
    ) -> (File, Dataset) {
        let file = options.create_new().open_on(storage).unwrap();
        let root = file.root().unwrap();
        let new = match kind {
            Kind::Sparse => root.new_dataset::<i16>().sparse(),
            Kind::SparseVlen => root.new_dataset::<String>().sparse(),
            Kind::DenseVlen => root.new_dataset::<String>().vlen_in_chunks(),
        };
        let new = new.shape([6, 7]).max_shape(self.max()).chunks(self.chunk());
        let dataset = filters.of(new).create(NAME).unwrap();
        (file, dataset)
    }
}

impl Filters {
    pub(super) const ALL: [Filters; 3] = [Filters::None, Filters::Deflate, Filters::Fletcher32];

    pub(super) fn of(self, new: NewDataset) -> NewDataset {
        match self {
            Filters::None => new,
            Filters::Deflate => new.shuffle().deflate(6),
            Filters::Fletcher32 => new.fletcher32(),
        }
    }
}

/// The bytes of a file with a dataset in which these points have these values.
pub(super) fn file(index: Index, filters: Filters, points: &[u64], values: &[i16]) -> Vec<u8> {
    file_of((Kind::Sparse, index, filters), points, values)
}

/// As [`file`], with chunks of a kind.
pub(super) fn file_of((kind, index, filters): (Kind, Index, Filters), points: &[u64], values: &[i16]) -> Vec<u8> {
    let storage = Arc::new(Memory::new());
    let (file, dataset) = index.create((kind, filters), options(), storage.clone());
    if !values.is_empty() {
        kind.write(&dataset, &points_of(&[6, 7], points), values).unwrap();
    }
    drop(dataset);
    file.close().unwrap();
    bytes_of(&*storage)
}

pub(super) fn bytes_of(storage: &dyn Driver) -> Vec<u8> {
    let mut bytes = vec![0; storage.len(&Transfer::default()).unwrap() as usize];
    storage.read_at(0, &mut bytes, &Transfer::default()).unwrap();
    bytes
}

pub(super) fn open(bytes: &[u8]) -> hyperslab::Result<Dataset> {
    File::open_driver(Arc::new(Memory::from(bytes.to_vec())))?.dataset(NAME)
}

/// A file below the level of objects, and the address of the header of its dataset.
fn open_below(bytes: &[u8]) -> (Arc<Memory>, OpenFile, u64) {
    let address = open(bytes).unwrap().address();
    let storage = Arc::new(Memory::from(bytes.to_vec()));
    let file =
        OpenFile::open_writable(storage.clone(), &hyperslab_file::OpenOptions::default(), LibVersion::V110).unwrap();
    (storage, file, address)
}

fn layout_of(file: &OpenFile, address: u64) -> DataLayout {
    let header = Header::read(file, address).unwrap();
    DataLayout::decode(header.body(header.find(kind::DATA_LAYOUT).unwrap()), file.widths()).unwrap()
}

fn chunked(file: &OpenFile, address: u64) -> Chunked {
    let header = Header::read(file, address).unwrap();
    let extent = header.body(header.find(kind::DATASPACE).unwrap());
    let extent = Extent::decode(extent, file.widths().lengths).unwrap();
    let filters = header.find(kind::SECTION_FILTERS).map(|found| SectionFilters::decode(header.body(found)).unwrap());
    let filters = filters.map(DatasetFilters::Sections);
    let filters =
        filters.map_or(ChunkFilters::Sections(Vec::new()), |message| hyperslab_chunk::filters(&message).unwrap());
    let DataLayout { layout, version, .. } = layout_of(file, address);
    let (registry, layout, extent) = (Arc::new(Registry::default()), &layout, &extent);
    let has_vlen = matches!(layout, Layout::Chunked { structure: Some(structure), .. } if structure.has_vlen());
    let (element, slots) = if has_vlen { (16, vec![0]) } else { (2, Vec::new()) };
    let vlen = VlenParts { slots, ..VlenParts::default() };
    let parts = ChunkedParts { layout, version, extent, element, filters, registry, fill: None, vlen };
    Chunked::open(file, parts).unwrap()
}

/// The stored chunks, and what the index says of each.
pub(super) fn entries(bytes: &[u8]) -> Vec<(ChunkCoord, ChunkEntry)> {
    let (_, file, address) = open_below(bytes);
    chunked(&file, address).entries(&file).unwrap()
}

/// The coordinate of a chunk, the number of one of its sections, and where the bytes of that are in the file.
pub(super) type StoredSection = (ChunkCoord, usize, Range<usize>);

/// The sections of all chunks.
pub(super) fn sections(bytes: &[u8]) -> Vec<StoredSection> {
    let sections = |(coord, entry): (ChunkCoord, ChunkEntry)| {
        let (address, count) = (entry.address.unwrap() as usize, entry.sections.len());
        let section = move |number| {
            let start = address + entry.sections.before(number) as usize;
            (coord.clone(), number, start..start + entry.sections.get(number).unwrap().size as usize)
        };
        (0..count).map(section)
    };
    entries(bytes).into_iter().flat_map(sections).collect()
}

/// The body of a message of the dataset's header.
pub(super) fn message(bytes: &[u8], kind: u16) -> Option<Vec<u8>> {
    let (_, file, address) = open_below(bytes);
    let header = Header::read(&file, address).unwrap();
    header.find(kind).map(|found| header.body(found).to_vec())
}

/// The file with a message of the dataset's header in another form: its type and its body.
pub(super) fn with_message(bytes: &[u8], old: u16, change: impl FnOnce(&[u8]) -> (u16, Vec<u8>)) -> Vec<u8> {
    let (storage, file, address) = open_below(bytes);
    let mut header = HeaderEdit::open(&file, address).unwrap();
    let id = header.find(old).unwrap();
    let (flags, (kind, body)) = (header.message(id).flags, change(header.body(id)));
    if kind == old {
        header.replace(id, body).unwrap();
    } else {
        header.remove(id);
        header.add(kind, flags, None, body).unwrap();
    }
    header.save().unwrap();
    file.close().unwrap();
    bytes_of(&*storage)
}

/// The file with another stored chunk at a coordinate.
pub(super) fn with_chunk(bytes: &[u8], chunk: &EncodedChunk<'_>) -> Vec<u8> {
    let (storage, file, address) = open_below(bytes);
    let mut chunked = chunked(&file, address);
    let fill = FillWrite { value: FillValue::Default, alloc: AllocTime::Incremental, write: FillTime::IfSet };
    chunked.write_stored(&file, std::slice::from_ref(chunk), &Filling::new(&fill)).unwrap();
    let mut header = HeaderEdit::open(&file, address).unwrap();
    let message = DataLayout { layout: chunked.layout(), ..layout_of(&file, address) };
    let id = header.find(kind::DATA_LAYOUT).unwrap();
    header.replace(id, message.encode(file.widths()).unwrap()).unwrap();
    header.save().unwrap();
    drop(chunked);
    file.close().unwrap();
    bytes_of(&*storage)
}

/// What a read of all gives.
pub(super) fn values(dataset: &Dataset) -> hyperslab::Result<Vec<i16>> {
    dataset.read::<i16>()
}

/// A dataset of 6 × 7 elements of which these points have these values.
pub(super) fn dense(points: &[u64], values: &[i16]) -> Vec<i16> {
    let mut all = vec![0; 42];
    points.chunks_exact(2).zip(values).for_each(|(point, value)| all[(7 * point[0] + point[1]) as usize] = *value);
    all
}

/// A selection of a chunk.
pub(super) fn points_of(dims: &[u64], points: &[u64]) -> Space {
    let mut space = Space::simple(dims).unwrap();
    space.select_points(points).unwrap();
    space
}
