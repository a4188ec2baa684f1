//! A dataset and the cache: range locks, and what goes through.

use hyperslab_cache::{LockRange, RangeGuard};
use hyperslab_chunk::{ChunkPartition, Keep, ReadBuffer, RequestOptions, Storage, Values, WriteBuffer, read_strips};
use hyperslab_dtype::Plan;
use hyperslab_space::{Coords, Space};

use super::{
    OpenDataset,
    change::{filling, resized},
    replaced::Emptied,
};
use crate::Result;

impl OpenDataset {
    /// Its chunks in the cache, and the range lock of its requests; nothing if other datasets have its values, or if nothing of it ever is in
    /// the cache or changes.
    pub(crate) fn partition(&self) -> Result<Option<&ChunkPartition>> {
        self.session().check_alive(self.life())?;
        if let Some(known) = self.inner.partition.get() {
            return Ok(known.as_ref());
        }
        let partitions = &self.session().engine.partitions;
        let layout = self.values(&self.now())?.chunk_layout()?;
        let layout = layout.filter(|layout| layout.has_chunks() || self.session().engine.is_writable());
        let partition = layout.map(|layout| partitions.partition(&self.inner.storage, layout));
        Ok(self.inner.partition.get_or_init(|| partition).as_ref())
    }

    /// Its chunks in the cache, if new values may wait there. The first ones may not, if they bring space for all others, nor those of which some chunks can never be
    /// written, nor those of external files, which each opening finds by a rule of its own. Nor may values that name objects, if the cache has no chunks of the
    /// dataset: they are written with what they name.
    pub(crate) fn partition_to_write(&self) -> Result<Option<&ChunkPartition>> {
        let Some(partition) = self.partition()? else { return Ok(None) };
        let is_at_once = |values: &Values| {
            let is_external = matches!(values.storage, Storage::External(_));
            is_external || values.allocates_with_first(&filling(self)) || values.exceeds_index()
        };
        // The operation lock is needed once, to find out where the values are.
        let known = self.inner.storage.with_state(|state| state.values().ok().map(is_at_once));
        let at_once = match known {
            Some(at_once) => at_once,
            None => is_at_once(&*self.values(&self.now())?),
        };
        let at_once = at_once || self.names_objects() && !partition.source().layout().has_chunks();
        Ok((!at_once).then_some(partition))
    }

    /// Waits for the range lock to read a part, unless nothing is selected, and refuses a selection of another extent than the dataset has then. Where nothing changes, no
    /// thread waits.
    pub(super) fn lock_to_read(&self, selection: &Space) -> Result<Option<RangeGuard<'_>>> {
        let guard = self.enter_to_read(|| LockRange::of(selection))?;
        self.check_extent(selection)?;
        Ok(guard)
    }

    /// Waits for the range lock to read everything, the extent included, in any number of requests by a handle that is [under this lock](Self::under_lock). Until
    /// the guard is dropped, writers and resizes wait; so the thread that has it must not ask for another range lock of the dataset.
    pub fn lock_to_read_all(&self) -> Result<Option<RangeGuard<'_>>> {
        self.enter_to_read(|| Some(LockRange::Whole))
    }

    /// Waits for the range lock to read a stored chunk as a whole: chunks that are written in place are never seen half written.
    pub(super) fn lock_chunk_to_read(&self, coord: &[u64]) -> Result<Option<RangeGuard<'_>>> {
        let Some(partition) = self.partition()?.filter(|partition| partition.source().layout().has_chunks()) else {
            return Ok(None);
        };
        let (low, high) = partition.source().layout().elements_of(coord);
        self.enter_to_read(|| Some(LockRange::Box(low, high)))
    }

    /// Waits for the range lock to read a range; nothing to wait for if the range has no element, or if nothing changes.
    fn enter_to_read(&self, range: impl FnOnce() -> Option<LockRange>) -> Result<Option<RangeGuard<'_>>> {
        let partition = self.partition()?.filter(|_| self.session().engine.is_writable() && !self.is_locked);
        Ok(partition.and_then(|partition| Some(partition.enter(range()?, false))))
    }

    /// Waits for the range lock to write a part, unless nothing is selected, and refuses a selection of another extent than the dataset has then.
    pub(super) fn lock_to_write<'a>(
        &self,
        partition: &'a ChunkPartition,
        selection: &Space,
    ) -> Result<Option<RangeGuard<'a>>> {
        let range = LockRange::of(selection).filter(|_| !self.is_locked);
        let guard = range.map(|range| partition.enter(range, true));
        self.check_extent(selection)?;
        Ok(guard)
    }

    /// Waits for the range lock to write all of a chunk.
    pub(super) fn lock_chunk<'a>(&self, partition: &'a ChunkPartition, coord: &[u64]) -> Option<RangeGuard<'a>> {
        let (low, high) = partition.source().layout().elements_of(coord);
        (!self.is_locked).then(|| partition.enter(LockRange::Box(low, high), true))
    }

    /// A handle for a request that holds the range lock of all that it does with it.
    pub fn under_lock(&self) -> OpenDataset {
        OpenDataset { is_locked: true, ..self.clone() }
    }

    /// A handle whose reads and writes go between file and caller directly, and leave nothing new in the cache: for what is used once, next to
    /// what is used often. What the cache has already is used, and stays right. A virtual dataset has nothing there; its sources do as they do.
    #[must_use]
    pub fn past_cache(&self) -> OpenDataset {
        OpenDataset { keep: Keep::Nothing, ..self.clone() }
    }

    /// How requests by this handle go.
    pub(super) fn request_options(&self) -> RequestOptions<'_> {
        RequestOptions { keep: self.keep, file: self.stored() }
    }

    /// Whether what is read or written by this handle may stay in the cache.
    pub(crate) fn uses_cache(&self) -> bool {
        self.keep == Keep::Worthy
    }

    /// Waits until no other request uses the values. What the cache had of them is in the file then.
    pub(crate) fn lock_all(&self) -> Result<Option<RangeGuard<'_>>> {
        let (guard, emptied) = self.lock_all_but(&|_| false, || Ok(()))?;
        emptied.commit();
        Ok(guard)
    }

    /// As [`OpenDataset::lock_all`], for a request that takes some chunks away, unless `check` refuses it before: what cannot be written of them is forgotten when the
    /// request has succeeded.
    pub(super) fn lock_all_but(
        &self,
        goes: &dyn Fn(&Coords) -> bool,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<(Option<RangeGuard<'_>>, Emptied<'_>)> {
        let Some(partition) = self.partition()? else { return Ok((None, Emptied::none())) };
        let guard = (!self.is_locked).then(|| partition.enter(LockRange::Whole, true));
        check()?;
        let emptied = self.empty(partition, goes)?;
        Ok((guard, emptied))
    }

    /// Waits until no other request uses the values, to change their extent: to the sizes that `wanted` makes of the present ones, which no other
    /// resize changes then. Chunks that do not change stay in the cache; so do all if the dataset cannot have this shape. Those that are cut off are
    /// forgotten when it has the new size.
    pub(super) fn lock_to_resize(
        &self,
        wanted: impl FnOnce(&[u64]) -> Result<Vec<u64>>,
    ) -> Result<(Vec<u64>, Option<RangeGuard<'_>>, Emptied<'_>)> {
        let Some(partition) = self.partition()? else {
            return Ok((wanted(self.now().extent.dims())?, None, Emptied::none()));
        };
        let guard = partition.enter(LockRange::Whole, true);
        let (shape, keeps_chunks) = {
            let now = self.now();
            let (shape, values) = (wanted(now.extent.dims())?, self.values(&now)?);
            resized(&values, &now.extent, &shape)?;
            let keeps_chunks = values.keeps_chunks(&shape, &filling(self));
            (shape, keeps_chunks)
        };
        let goes = |place: &Coords| partition.source().layout().is_outside(place, &shape);
        let emptied = if keeps_chunks { Emptied::none() } else { self.empty(partition, &goes)? };
        Ok((shape, Some(guard), emptied))
    }

    /// Lets the file have what only the cache has.
    pub fn flush_chunks(&self) -> Result<()> {
        self.partition()?.map_or(Ok(()), |partition| self.write_back(partition))
    }

    /// Reads values to places of a buffer, as they are stored or converted by a plan that needs no heap, under the caller's range lock.
    pub(super) fn read_part(
        &self,
        selection: &Space,
        mem_selection: &Space,
        buf: &mut [u8],
        plan: Option<&Plan>,
    ) -> Result<()> {
        self.read_places(selection, mem_selection, buf, plan).map_err(|why| self.locate(why))?;
        // A file that is only read may have been closed meanwhile, and another process may have changed it since.
        self.session().check_current()
    }

    fn read_places(&self, selection: &Space, mem_selection: &Space, buf: &mut [u8], plan: Option<&Plan>) -> Result<()> {
        if let Some(partition) = self.partition()?.filter(|partition| partition.source().layout().has_chunks()) {
            let cache = &self.session().engine.partitions.cache;
            let to = match plan {
                Some(plan) => ReadBuffer::converted(buf, plan),
                None => ReadBuffer::stored(buf),
            };
            return Ok(cache.read(
                partition,
                self.request_options(),
                selection,
                mem_selection,
                to,
                self.shown_fill(),
            )?);
        }
        let now = self.now();
        let values = self.values(&now)?;
        if let Storage::Virtual(virtual_dataset) = &values.storage {
            // Its sources may be of the same file, and may have to change it to make room in the cache.
            let virtual_dataset = virtual_dataset.clone();
            drop(values);
            drop(now);
            let Some(plan) = plan else { return Ok(virtual_dataset.read(selection, mem_selection, buf)?) };
            let cut = self.strip_cut(selection, false);
            return Ok(read_strips(&mut &*virtual_dataset, plan, (selection, mem_selection), cut.as_ref(), buf)?);
        }
        match plan {
            Some(plan) => Ok(values.read_converted(self.stored(), (selection, mem_selection), buf, plan)?),
            None => Ok(values.read(self.stored(), selection, mem_selection, buf)?),
        }
    }

    /// Writes values from places of a buffer, through the cache, under the caller's range lock.
    pub(super) fn write_part(
        &self,
        partition: &ChunkPartition,
        part: &Space,
        mem_selection: &Space,
        from: WriteBuffer<'_>,
    ) -> Result<()> {
        let cache = &self.session().engine.partitions.cache;
        Ok(cache.write(partition, self.request_options(), part, mem_selection, from, &filling(self))?)
    }
}
