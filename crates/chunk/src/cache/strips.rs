//! Requests whose values are converted: in chunks, or strip by strip.

use hyperslab_driver::cores;
use hyperslab_dtype::Plan;
use hyperslab_space::Space;

use super::{ChunkCache, ChunkPartition, RequestOptions, reach::Reach};
use crate::{
    ChunkKind, ChunkLayout, Error, Filling, ReadBuffer, Result, StripCut, StripReader, StripWriter, WriteBuffer,
    read_strips, transfer::PIECES, write_strips,
};

/// Whether values are converted on the way between a chunk in memory and the caller, as those of sparse chunks are. Of dense chunks, those that the file has as they are in memory go in strips, because they
/// need not come as whole chunks; so do those of more chunks than are looked at one by one.
pub(super) fn converts_in_chunks(layout: &ChunkLayout, reach: Option<&Reach>) -> bool {
    let is_sparse = layout.kind() == ChunkKind::Sparse;
    is_sparse || layout.codec_of_all().is_some() && reach.is_some_and(|reach| reach.most() <= PIECES as u64)
}

/// The dataset of a request that goes strip by strip, and how the request goes.
type Request<'a> = (&'a ChunkPartition, RequestOptions<'a>);

impl ChunkCache {
    /// Reads values strip by strip, each as [`ChunkCache::read`] does.
    pub(super) fn read_in_strips(
        &self,
        (partition, options): Request<'_>,
        plan: &Plan,
        spaces: (&Space, &Space),
        to: ReadBuffer<'_>,
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let cut = cut(partition, spaces.0);
        let mut strips = Reads { cache: self, partition, options, fill };
        read_strips(&mut strips, plan, spaces, cut.as_ref(), to.into_bytes())
    }

    /// Writes values strip by strip, each as [`ChunkCache::write`] does.
    pub(super) fn write_in_strips(
        &self,
        (partition, options): Request<'_>,
        plan: &Plan,
        spaces: (&Space, &Space),
        from: WriteBuffer<'_>,
        filling: &Filling<'_>,
    ) -> Result<()> {
        let cut = cut(partition, spaces.0);
        let mut strips = Writes { old: Reads { cache: self, partition, options, fill: filling.value }, filling };
        write_strips(&mut strips, plan, spaces, cut.as_ref(), from.bytes())
    }
}

/// Reads of one request, strip by strip.
struct Reads<'a> {
    cache: &'a ChunkCache,
    partition: &'a ChunkPartition,
    options: RequestOptions<'a>,
    fill: Option<&'a [u8]>,
}

/// Writes of one request, strip by strip.
struct Writes<'a> {
    old: Reads<'a>,
    filling: &'a Filling<'a>,
}

impl StripReader for Reads<'_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        let mem_selection = Space::simple(&[part.npoints()])?;
        self.cache.read(self.partition, self.options, part, &mem_selection, ReadBuffer::stored(stored), self.fill)
    }
}

impl StripWriter for Writes<'_> {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        self.old.read(part, stored)
    }

    fn write(&mut self, part: &Space, stored: &[u8]) -> Result<()> {
        let (mem_selection, Reads { cache, partition, options, .. }) = (Space::simple(&[part.npoints()])?, &self.old);
        cache.write(partition, *options, part, &mem_selection, WriteBuffer::stored(stored), self.filling)
    }
}

fn cut(partition: &ChunkPartition, selection: &Space) -> Option<StripCut> {
    let layout = partition.source().layout();
    let element = usize::try_from(layout.element()).unwrap_or(usize::MAX);
    let is_dense = layout.has_index() && layout.kind() == ChunkKind::Dense;
    StripCut::of(is_dense.then(|| layout.chunk()), element, selection, false)
}

/// Fewer bytes are converted by one core.
const WORTH: u64 = 512 << 10;

/// Does `work` for chunks whose values are converted, on all cores if they have so many bytes that it is worth it.
pub(super) fn on_cores<I: Send, T: Send>(
    items: Vec<I>,
    bytes: u64,
    work: impl Fn(I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    if bytes <= WORTH {
        return items.into_iter().map(work).collect();
    }
    cores::map(items, |_: &mut (), item| work(item))
}
