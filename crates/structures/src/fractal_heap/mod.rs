//! The fractal heap: objects by id, in blocks of growing size, alone, or in the id itself.

mod blocks;
mod change;
mod direct;
mod flush_pending;
mod free_list;
mod huge;
mod insert;
mod parameters;
mod remove;
mod state;

use std::sync::{Arc, Mutex, PoisonError};

use hyperslab_base::{AnyError, Widths};
use hyperslab_file::{Block, Error, Extent, OpenFile, Owned, Owner, Result, Seal, Structure};
use hyperslab_format::{
    Malformed,
    heap::fractal::{self, Child, HeapId, Huge},
    index::record::{Form, Record},
    message::FilterPipeline,
};

use crate::{
    Tree,
    lazy::{Encode, Lazy},
    node_cache::NodeCache,
};
pub(crate) use blocks::{Direct, IndirectBlock, StoredBlock};
use direct::DirectBlock;
pub use parameters::Parameters;
use state::State;

const WHAT: &str = "fractal heap";
const DIRECT: &str = "fractal heap direct block";
const HUGE: &str = "huge object of a fractal heap";
/// No stream of deflate, the filter that heaps have if any, grows by more than this factor.
const MAX_RATIO: u64 = 1032;

/// Undoes filters: the pipeline, the stored bytes, the filter mask, the size it must give.
pub type Unfilter = dyn Fn(&FilterPipeline, Vec<u8>, u32, u64) -> Result<Vec<u8>, UnfilterError> + Send + Sync;

/// Why filters could not be undone.
#[derive(Debug)]
pub struct UnfilterError {
    /// Which filter, and why.
    pub source: AnyError,
    /// Whether other stored bytes might be decoded: those that were read may be of two times.
    pub may_be_torn: bool,
}

impl UnfilterError {
    /// For `map_err`: says which structure it is, and where.
    fn of(what: &'static str, address: u64) -> impl Fn(UnfilterError) -> Error {
        move |UnfilterError { source, may_be_torn }| Error::Undecoded { what, address, source, may_be_torn }
    }
}

/// A heap whose header was read. Whatever changes the heap meanwhile, through this handle or another one, is seen.
pub struct FractalHeap {
    address: u64,
    /// The object that it belongs to.
    owner: Owner,
    unfilter: Arc<Unfilter>,
    /// The header as it was when the heap was opened.
    header: Arc<Header>,
    /// The heap as it was last looked at.
    view: Mutex<Option<Arc<View>>>,
    /// Published blocks that objects were added to through this handle.
    touched: Vec<u64>,
}

type Header = Lazy<fractal::FractalHeap>;

/// The heap as it was read, good until it changes.
struct View {
    address: u64,
    /// When that was.
    stamp: (u64, u64),
    header: Arc<Header>,
    huge: Option<Tree>,
    unfilter: Arc<Unfilter>,
    direct: NodeCache<Vec<u8>>,
    indirect: NodeCache<Vec<Child>>,
}

/// The header in the file.
pub(crate) struct HeapHeader;

impl Block for HeapHeader {
    type Value = Header;
    const WHAT: &'static str = WHAT;

    fn seal(&self, _: &[u8]) -> Seal {
        Seal::Checksum
    }

    /// Only filters make it longer.
    fn extent(&self, file: &OpenFile) -> Extent {
        Extent::Told(fractal::head_size(file.widths()) as u64 + 4)
    }

    fn length(&self, file: &OpenFile, _: u64, first: &[u8]) -> Result<u64, Malformed> {
        Ok(fractal::FractalHeap::full_size(first, file.widths())? as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Header> {
        let header = fractal::FractalHeap::decode(bytes, file.widths()).map_err(Error::at(address))?;
        Ok(Lazy::of(header, file.widths()))
    }

    fn structure(value: &Arc<Header>) -> Option<Arc<dyn Structure>> {
        Some(value.clone())
    }
}

impl Encode for fractal::FractalHeap {
    fn encode(&self, widths: Widths) -> Result<Vec<u8>> {
        Ok(self.encode(widths)?)
    }

    fn fits(&self) -> bool {
        self.filters.is_none()
    }
}

impl FractalHeap {
    /// Reads the header.
    pub fn open<'f>(file: impl Into<Owned<'f>>, address: u64, unfilter: Arc<Unfilter>) -> Result<FractalHeap> {
        let file = file.into();
        let header = file.load(&HeapHeader, address)?;
        let (owner, view, touched) = (file.owner(), Mutex::default(), Vec::new());
        Ok(FractalHeap { address, owner, unfilter, header, view, touched })
    }

    /// Where the header is.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// How many objects it says that it has; those too that are to leave it.
    pub fn objects(&self, file: &OpenFile) -> Result<u64> {
        let usage = &self.view(file)?.header.usage;
        Ok(usage.managed_objects.saturating_add(usage.huge_objects).saturating_add(usage.tiny_objects))
    }

    /// Whether its objects go through filters.
    pub fn is_filtered(&self, file: &OpenFile) -> Result<bool> {
        Ok(self.view(file)?.header.filters.is_some())
    }

    /// No more bytes than this are in all objects together: they lie in the file, or come out of filters.
    pub fn most(&self, file: &OpenFile) -> u64 {
        let filtered = self.header.filters.is_some();
        file.end().saturating_mul(if filtered { MAX_RATIO } else { 1 })
    }

    /// The object with this id.
    pub fn get(&self, file: &OpenFile, id: &[u8]) -> Result<Vec<u8>> {
        let (view, file) = (self.view(file)?, file.owned(self.owner));
        let id = HeapId::decode(id, &view.header, file.widths()).map_err(Error::at(self.address))?;
        match id {
            HeapId::Managed { offset, length } => view.managed(file, offset, length),
            HeapId::Huge(number) => view.huge(file, view.huge_record(file, number)?),
            HeapId::HugeDirect(huge) => view.huge(file, huge),
            HeapId::Tiny(bytes) => Ok(bytes),
        }
    }

    /// The heap as it is now.
    fn view(&self, file: &OpenFile) -> Result<Arc<View>> {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = State::stamp(file, self.address);
        if let Some(view) = view.as_ref().filter(|view| view.stamp == stamp) {
            return Ok(view.clone());
        }
        let file = file.owned(self.owner);
        let header = if file.is_writable() { file.load(&HeapHeader, self.address)? } else { self.header.clone() };
        let now = Arc::new(View::read(file, (header, self.address), stamp, self.unfilter.clone())?);
        *view = Some(now.clone());
        Ok(now)
    }
}

impl View {
    fn read(
        file: Owned<'_>,
        (header, address): (Arc<Header>, u64),
        stamp: (u64, u64),
        unfilter: Arc<Unfilter>,
    ) -> Result<View> {
        let huge = header.huge_tree.map(|tree| Tree::open(file, tree, &[1, 2, 3, 4])).transpose()?;
        let (direct, indirect) = (NodeCache::new(), NodeCache::new());
        Ok(View { address, stamp, header, huge, unfilter, direct, indirect })
    }

    fn broken(&self, why: impl Into<String>) -> Error {
        Error::broken(WHAT, self.address, why)
    }

    fn managed(&self, file: Owned<'_>, offset: u64, length: u64) -> Result<Vec<u8>> {
        let mut children = |at, rows| {
            let read = || blocks::read_indirect(file, &self.header, at, rows);
            // The metadata cache keeps those of a file that may be changed.
            if file.is_writable() { read() } else { self.indirect.get_or_share(at, read) }
        };
        let block = blocks::find(&self.header, self.address, offset, &mut children)?;
        let missing = || self.broken(format!("an object of {length} bytes at {offset} that is not there"));
        if file.is_writable() && block.filtered.is_none() {
            let block = DirectBlock::read(file, (&self.header, self.address), &block)?;
            return block.get(offset, length).map(<[u8]>::to_vec).ok_or_else(missing);
        }
        let stored = StoredBlock { heap: (&self.header, self.address), block: &block, unfilter: &*self.unfilter };
        let bytes = self.direct.get_or(block.address, || file.load_once(&stored, block.address))?;
        let start = usize::try_from(offset - block.offset).unwrap_or(usize::MAX);
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        end.and_then(|end| bytes.get(start..end)).map(<[u8]>::to_vec).ok_or_else(missing)
    }

    fn huge(&self, file: Owned<'_>, huge: Huge) -> Result<Vec<u8>> {
        let bytes = file.metadata(HUGE, huge.address, huge.length)?;
        match (&self.header.filters, huge.filtered) {
            (Some((pipeline, ..)), Some((mask, size))) => {
                (self.unfilter)(pipeline, bytes, mask, size).map_err(UnfilterError::of(HUGE, huge.address))
            }
            _ => Ok(bytes),
        }
    }

    fn huge_record(&self, file: Owned<'_>, number: u64) -> Result<Huge> {
        let tree = self.huge.as_ref().ok_or_else(|| self.broken("a huge object, but no tree of them"))?;
        let form = Form::Plain(tree.kind());
        let read = |record: &[u8]| match form.decode(record, file.widths()).map_err(Error::at(self.address))? {
            Record::Huge(huge, Some(number)) => Ok((huge, number)),
            _ => Err(self.broken("the tree of huge objects does not number them")),
        };
        let mut order = |record: &[u8]| Ok(read(record)?.1.cmp(&number));
        let found = tree.find(&file, &mut order, |record| read(record))?;
        found.map(|(huge, _)| huge).ok_or_else(|| self.broken(format!("there is no huge object {number}")))
    }
}

impl std::fmt::Debug for FractalHeap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FractalHeap").field("address", &self.address).field("header", &self.header).finish()
    }
}
