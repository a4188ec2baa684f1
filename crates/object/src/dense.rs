//! What links and attributes outside of the header have in common: a fractal heap, a tree of names, and a tree of creation order where that is indexed.

use hyperslab_file::{Error, OpenFile, Owner, Result};
use hyperslab_format::{index::record::kind, message::DenseInfo};
use hyperslab_structures::{FractalHeap, Tree, fractal_heap::Parameters};

use crate::{Context, tree};

/// The types of records of the two trees.
pub(crate) struct RecordTypes {
    names: u8,
    orders: u8,
}

/// The trees of links.
pub(crate) const LINKS: RecordTypes = RecordTypes { names: kind::LINK_NAME, orders: kind::LINK_ORDER };
/// The trees of attributes.
pub(crate) const ATTRIBUTES: RecordTypes = RecordTypes { names: kind::ATTRIBUTE_NAME, orders: kind::ATTRIBUTE_ORDER };

/// The heap and the trees of one object.
pub(crate) struct DenseStorage {
    pub(crate) heap: FractalHeap,
    pub(crate) names: Tree,
    pub(crate) orders: Option<Tree>,
    tracked: bool,
    /// Whether the heap got something that trees name.
    inserted: bool,
}

impl DenseStorage {
    /// A heap and trees with nothing in them.
    pub(crate) fn create<O>(
        context: &Context,
        object: u64,
        info: &DenseInfo<O>,
        types: &RecordTypes,
        parameters: &Parameters,
    ) -> Result<DenseStorage> {
        let heap = context.new_heap(object, parameters)?;
        let names = tree::create(context, object, types.names)?;
        let orders = info.indexed.then(|| tree::create(context, object, types.orders)).transpose()?;
        Ok(DenseStorage { heap, names, orders, tracked: info.tracked, inserted: false })
    }

    /// The heap and the trees that the message names, if it does.
    pub(crate) fn open<O>(
        context: &Context,
        object: u64,
        info: &DenseInfo<O>,
        types: &RecordTypes,
    ) -> Result<Option<DenseStorage>> {
        let (Some(heap), Some(names)) = (info.heap, info.names) else { return Ok(None) };
        let open = |address, kind| Tree::open(context.file().owned_by(object), address, &[kind]);
        let orders = info.orders.map(|orders| open(orders, types.orders)).transpose()?;
        let (heap, names) = (context.heap(Owner(object), heap)?, open(names, types.names)?);
        Ok(Some(DenseStorage { heap, names, orders, tracked: info.tracked, inserted: false }))
    }

    /// Says in the message where they are.
    pub(crate) fn name_in<O>(&self, info: &mut DenseInfo<O>) {
        info.heap = Some(self.heap.address());
        info.names = Some(self.names.address());
        info.orders = self.orders.as_ref().map(Tree::address);
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> u64 {
        self.names.len()
    }

    /// Two trees, or a tree and the number of the next link or attribute, cannot change by one write. So where there is more than a tree of names, trees
    /// get new headers, and the header of the object switches to these.
    pub(crate) fn detach(&mut self, file: &OpenFile) -> Result<()> {
        if self.tracked {
            self.names.relocate(file)?;
            self.orders.iter_mut().try_for_each(|orders| orders.relocate(file))?;
        }
        Ok(())
    }

    /// The block whose write makes changes visible, if the header of the object is at `header`.
    pub(crate) fn published_by(&self, file: &OpenFile, header: u64) -> u64 {
        let names = self.names.address();
        if self.tracked || file.is_fresh(names) { header } else { names }
    }

    /// Has everything that lies in the heap written before the block that names it.
    pub(crate) fn before(&self, file: &OpenFile, header: u64) -> Result<()> {
        if self.inserted { self.heap.before(file, self.published_by(file, header)) } else { Ok(()) }
    }

    /// Puts a message into the heap; its id, for the trees.
    pub(crate) fn put<const N: usize>(&mut self, file: &OpenFile, message: &[u8]) -> Result<[u8; N]> {
        let id = self.heap.insert(file, message)?;
        self.inserted = true;
        id.try_into().map_err(|_| Error::broken("fractal heap", self.heap.address(), "ids of no such size"))
    }

    /// Puts messages into the heap; their ids.
    pub(crate) fn put_all<const N: usize>(&mut self, file: &OpenFile, messages: &[Vec<u8>]) -> Result<Vec<[u8; N]>> {
        let mut ids = Vec::with_capacity(messages.len());
        let messages: Vec<_> = messages.iter().map(Vec::as_slice).collect();
        self.heap.insert_all(file, &messages, &mut |id| ids.push(id.try_into()))?;
        self.inserted = true;
        let sized = ids.into_iter().map(|id| {
            id.map_err(|_: Vec<u8>| Error::broken("fractal heap", self.heap.address(), "ids of no such size"))
        });
        sized.collect()
    }

    /// Whether the heap has more objects than names lead to. One with filters stays as it is, since no new heap has any.
    pub(crate) fn lags(&self, file: &OpenFile, named: u64) -> Result<bool> {
        Ok(self.heap.objects(file)? > named && !self.heap.is_filtered(file)?)
    }

    /// Gives all space back.
    pub(crate) fn delete(self, file: &OpenFile) -> Result<()> {
        self.names.delete(file, &mut |_| Ok(()))?;
        self.orders.map_or(Ok(()), |orders| orders.delete(file, &mut |_| Ok(())))?;
        self.heap.delete(file)
    }
}
