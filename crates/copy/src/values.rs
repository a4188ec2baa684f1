//! Values of copies: chunks as they are stored where nothing in them changes, else part after part.

use hyperslab_format::message::{DatasetFilters, FilterStep, Layout, SectionFilters};
use hyperslab_space::{Op, Slab, Space};

use super::{
    damage::{OfSource, Step},
    tree::Copier,
};
use hyperslab_dtype::Arena;
use hyperslab_session::{OpenDataset, room};

/// Stored bytes that are in memory at once, if no chunk is larger.
pub(super) const BATCH: u64 = 16 << 20;

/// The same for values that refer to more in the heap.
pub(super) const BATCH_IN_HEAP: u64 = 1 << 18;

impl Copier<'_> {
    /// Copies the values, and the size if it is another one by now. Requests that write to the dataset or resize it wait meanwhile, so that all is of
    /// one time.
    pub(super) fn values(&mut self, from: &OpenDataset, to: &OpenDataset) -> Step<()> {
        let new = to.stored_layout().layout;
        // Neither has values in this file.
        let is_elsewhere = |old| matches!(old, Layout::Contiguous { address: None, .. } | Layout::Virtual { .. });
        if is_elsewhere(from.stored_layout().layout) && !matches!(new, Layout::Compact(_)) {
            return Ok(());
        }
        let guard = from.lock_to_read_all().of_source()?;
        self.shows = guard.is_none();
        let copied = self.values_under_lock(&if guard.is_some() { from.under_lock() } else { from.clone() }, to, &new);
        drop(guard);
        self.shows = true;
        self.show(0);
        copied
    }

    fn values_under_lock(&mut self, from: &OpenDataset, to: &OpenDataset, new: &Layout) -> Step<()> {
        if !from.is_virtual() && from.shape() != to.shape() {
            to.resize(from.shape())?;
        }
        self.all_values(from, to, new)
    }

    fn all_values(&mut self, from: &OpenDataset, to: &OpenDataset, new: &Layout) -> Step<()> {
        let stay = !from.datatype().has_reference() || *from.session() == self.target;
        let is_alike = from.datatype() == to.datatype() && stay;
        let in_chunks = from.has_vlen_chunks() && to.has_vlen_chunks();
        let changes = !(is_alike && in_chunks) && self.changes(from.session(), from.datatype(), to.datatype());
        let old = from.stored_layout().layout;
        let is_same = same_filters(from.dataset_filters(), to.dataset_filters()) && alike(&old, new);
        match &old {
            // The header has them already.
            Layout::Compact(_) if !changes && old == *new => Ok(()),
            // The header has room for each element, so those that were never written are stored, too.
            _ if matches!(new, Layout::Compact(_)) => self.part_by_part(from, to, new),
            Layout::Chunked { .. } if !changes && is_same => self.chunks(from, to),
            Layout::Chunked { structure: None, .. } | Layout::Contiguous { .. } | Layout::Compact(_)
                if to.is_sparse() =>
            {
                self.differing_values(from, to)
            }
            Layout::Chunked { structure: Some(_), chunk, .. } => self.defined_values(from, to, chunk),
            Layout::Chunked { chunk, .. } => self.chunk_by_chunk(from, to, chunk, new),
            Layout::Compact(_) | Layout::Contiguous { address: Some(_), .. } => self.part_by_part(from, to, new),
            Layout::Contiguous { address: None, .. } | Layout::Virtual { .. } => Ok(()),
        }
    }

    /// Values of chunks that are stored in another way.
    fn chunk_by_chunk(&mut self, from: &OpenDataset, to: &OpenDataset, chunk: &[u64], new: &Layout) -> Step<()> {
        let (entries, dims) = (from.stored_entries().of_source()?, from.shape());
        let all = dims.iter().zip(chunk).fold(1u64, |all, (dim, side)| all.saturating_mul(dim.div_ceil(*side)));
        let is_same = matches!(new, Layout::Chunked { chunk: new, .. } if new == chunk);
        if !is_same && entries.len() as u64 >= all / 2 {
            // Each new chunk is made once.
            return self.part_by_part(from, to, new);
        }
        for (place, _) in entries {
            self.part(from, to, &slabs(&place, chunk, &dims))?;
        }
        Ok(())
    }

    /// All values, in parts that are whole chunks where there will be some.
    fn part_by_part(&mut self, from: &OpenDataset, to: &OpenDataset, new: &Layout) -> Step<()> {
        let changes = self.changes(from.session(), from.datatype(), to.datatype());
        let most = if changes { BATCH_IN_HEAP } else { BATCH };
        let most = most / (from.datatype().size() as u64).max(1);
        let parts = match new {
            Layout::Chunked { chunk, .. } => Parts::of_chunks(from.shape(), chunk, most),
            _ => Parts::new(from.shape(), most),
        };
        for part in parts {
            self.part(from, to, &part)?;
        }
        Ok(())
    }

    /// All chunks, as they are.
    fn chunks(&mut self, from: &OpenDataset, to: &OpenDataset) -> Step<()> {
        let entries = from.stored_entries().of_source()?;
        let mut rest = entries.as_slice();
        while !rest.is_empty() {
            let mut bytes = 0u64;
            let fits = rest.iter().take_while(|(_, entry)| {
                bytes = bytes.saturating_add(entry.size());
                bytes <= BATCH
            });
            let (batch, others) = rest.split_at(fits.count().clamp(1, rest.len()));
            to.write_entries(&from.read_entries(batch).of_source()?)?;
            self.show(batch.iter().map(|(_, entry)| entry.size()).sum());
            rest = others;
        }
        Ok(())
    }

    /// Some of the values.
    fn part(&mut self, from: &OpenDataset, to: &OpenDataset, part: &[Slab]) -> Step<()> {
        let mut selection = from.space();
        if !part.is_empty() {
            selection.select_hyperslab(Op::Set, part).of_source()?;
        }
        self.selected(from, to, &selection)
    }

    /// The selected values, where what is of variable length is in chunks here or there.
    fn selected_in_memory(&mut self, from: &OpenDataset, to: &OpenDataset, selection: &Space) -> Step<()> {
        if from.datatype().has_reference() {
            return self.selected_with_references(from, to, selection);
        }
        let (datatype, count) = (from.memory_datatype().of_source()?, selection.npoints());
        let (mut values, mut arena) = (room(count, datatype.size())?, Arena::default());
        let places = Space::simple(&[count]).of_source()?;
        from.read_converted(selection, &datatype, &places, &mut values, &mut arena).of_source()?;
        let there = Space::with(to.extent(), selection.selection().clone()).of_source()?;
        to.write_converted(&there, &datatype, &places, &values, &arena)?;
        self.show((values.len() + arena.bytes().len()) as u64);
        Ok(())
    }

    /// As [`Copier::selected_in_memory`], of values that refer to others.
    fn selected_with_references(&mut self, from: &OpenDataset, to: &OpenDataset, selection: &Space) -> Step<()> {
        let (places, mut arena) = (Space::simple(&[selection.npoints()]).of_source()?, Arena::default());
        let (datatype, values) = match from.has_vlen_chunks() {
            true => {
                let datatype = from.memory_datatype().of_source()?;
                let mut values = room(selection.npoints(), datatype.size())?;
                from.read_converted(selection, &datatype, &places, &mut values, &mut arena).of_source()?;
                (datatype, values)
            }
            false => (from.datatype().clone(), from.read_stored_selection(selection).of_source()?),
        };
        let (bytes, given) = ((values.len() + arena.bytes().len()) as u64, from.has_vlen_chunks().then_some(&arena));
        let beside = to.has_vlen_chunks();
        let target = if beside { to.memory_datatype()? } else { to.datatype().clone() };
        let gathered = self.gather_all(from.session(), (&datatype, &target), (&values, given), beside).of_source()?;
        let there = Space::with(to.extent(), selection.selection().clone()).of_source()?;
        if beside {
            let (values, arena) = gathered.into_arena()?;
            to.write_converted(&there, &target, &places, &values, &arena)?;
        } else {
            to.write_stored(&there, || gathered.store(to.session()))?;
        }
        self.show(bytes);
        Ok(())
    }

    /// The selected values.
    pub(super) fn selected(&mut self, from: &OpenDataset, to: &OpenDataset, selection: &Space) -> Step<()> {
        if from.has_vlen_chunks() || to.has_vlen_chunks() {
            return self.selected_in_memory(from, to, selection);
        }
        let stored = from.read_stored_selection(selection).of_source()?;
        let gathered = self.gather(from.session(), from.datatype(), to.datatype(), &stored).of_source()?;
        let there = Space::with(to.extent(), selection.selection().clone()).of_source()?;
        let bytes = stored.len() as u64;
        to.write_stored(&there, || match gathered {
            Some(gathered) => gathered.store(to.session()),
            None => Ok(stored),
        })?;
        self.show(bytes);
        Ok(())
    }
}

/// The elements of a chunk that the dataset has.
pub(super) fn slabs(place: &[u64], chunk: &[u64], dims: &[u64]) -> Vec<Slab> {
    let corner = place.iter().zip(chunk).map(|(nth, size)| nth.saturating_mul(*size));
    let sides = corner.zip(chunk).zip(dims);
    sides.map(|((start, size), dim)| Slab::block(start, (*size).min(dim.saturating_sub(start)))).collect()
}

/// Whether chunks went through the same filters; names are not kept everywhere.
fn same_filters(old: &DatasetFilters, new: &DatasetFilters) -> bool {
    let told = |step: &FilterStep| (step.id, step.params.clone());
    match (old, new) {
        (DatasetFilters::Chunk(old), DatasetFilters::Chunk(new)) => {
            old.steps.iter().map(told).eq(new.steps.iter().map(told))
        }
        (DatasetFilters::Sections(old), DatasetFilters::Sections(new)) => {
            let of = |filters: &SectionFilters, section| filters.of(section).iter().map(told).collect::<Vec<_>>();
            (0..3).all(|section| of(old, section) == of(new, section))
        }
        (old, new) => old.is_empty() && new.is_empty(),
    }
}

/// Whether chunks of one are chunks of the other.
fn alike(old: &Layout, new: &Layout) -> bool {
    match (old, new) {
        (
            Layout::Chunked { structure, chunk, plain_edges, .. },
            Layout::Chunked { structure: of, chunk: other, plain_edges: plain, .. },
        ) => structure == of && chunk == other && plain_edges == plain,
        _ => false,
    }
}

/// Boxes that make up an array together, each with at most so many elements and in one piece.
pub(super) struct Parts {
    dims: Vec<u64>,
    /// The sides of a box.
    sides: Vec<u64>,
    next: Option<Vec<u64>>,
}

impl Parts {
    pub(super) fn new(dims: Vec<u64>, most: u64) -> Parts {
        let (mut left, mut sides) = (most.max(1), dims.clone());
        for side in sides.iter_mut().rev() {
            let whole = *side;
            *side = left.min(whole).max(1);
            left = if *side == whole { (left / whole.max(1)).max(1) } else { 1 };
        }
        Parts::with(dims, sides)
    }

    /// Boxes of whole chunks, at least one.
    fn of_chunks(dims: Vec<u64>, chunk: &[u64], most: u64) -> Parts {
        let mut left = (most / chunk.iter().fold(1u64, |product, side| product.saturating_mul(*side)).max(1)).max(1);
        let mut sides = chunk.to_vec();
        for (side, dim) in sides.iter_mut().zip(&dims).rev() {
            let chunks = dim.div_ceil((*side).max(1)).clamp(1, left);
            left /= chunks;
            *side = side.saturating_mul(chunks);
        }
        Parts::with(dims, sides)
    }

    fn with(dims: Vec<u64>, sides: Vec<u64>) -> Parts {
        let next = (!dims.contains(&0)).then(|| vec![0; dims.len()]);
        Parts { dims, sides, next }
    }
}

impl Iterator for Parts {
    type Item = Vec<Slab>;

    fn next(&mut self) -> Option<Vec<Slab>> {
        let start = self.next.take()?;
        let bounds = start.iter().zip(self.sides.iter().zip(&self.dims));
        let part = bounds.map(|(&start, (&side, &dim))| Slab::block(start, side.min(dim - start))).collect();
        let mut next = start;
        for ((place, side), dim) in next.iter_mut().zip(&self.sides).zip(&self.dims).rev() {
            *place = place.saturating_add(*side);
            if *place < *dim {
                self.next = Some(next);
                return Some(part);
            }
            *place = 0;
        }
        Some(part)
    }
}
