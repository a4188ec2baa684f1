//! Virtual datasets: values that other datasets hold.
//!
//! Lives here: what mappings mean, which sources there are, how large a dataset is that grows with them, reads and writes part by part,
//! which elements the sources define.
//! Does not live here: the geometry of a part (`hyperslab_chunk`). Used by `dataset`.

mod defined;
mod grow;
mod name;
mod part;
mod source;

use std::sync::Arc;

use hyperslab_chunk::{Correspondence, Error::Source as SourceError, SourcePart, VirtualSource, to_memory};
use hyperslab_dtype::{Arena, Datatype, Plan};
use hyperslab_format::{
    message::{FillValue, FillWrite},
    virtual_mapping::Mapping,
};
use hyperslab_space::{Extent, Kind as SelectionKind, Selection, Space};

use self::part::{Kind, Part};
pub(crate) use self::source::Sources;
use crate::{
    OpenDataset, Result, Session, VirtualName, renewal::Renewal, value_buffer::room,
    virtual_read_budget::VirtualReadBudget,
};

/// The mappings of a virtual dataset and what is behind them.
pub(crate) struct Virtual {
    session: Session,
    extent: Extent,
    datatype: Datatype,
    /// One element of the stored type: what no source has.
    fill: Vec<u8>,
    parts: Vec<Part>,
    names: Vec<VirtualName>,
    /// The opening of the file has them, too: it closes them when it ends.
    sources: Arc<Sources>,
    /// If the handle was refreshed: sources are read anew when they are first opened.
    renewal: Option<Arc<Renewal>>,
}

/// A read or write: what of the dataset, as which type, and where that is in memory.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) wanted: &'a Space,
    pub(crate) datatype: &'a Datatype,
    pub(crate) mem_selection: &'a Space,
}

impl Virtual {
    /// A dataset with these mappings, as large as is stored.
    pub(crate) fn open(
        session: &Session,
        mappings: Vec<Mapping>,
        stored: &Extent,
        datatype: &Datatype,
        fill: &FillWrite,
    ) -> Result<Virtual> {
        let fill = match &fill.value {
            FillValue::User(value) if value.len() == datatype.size() => value.clone(),
            _ => room(1, datatype.size())?,
        };
        let names = mappings.iter().map(|mapping| (mapping.file.clone(), mapping.dataset.clone())).collect();
        let parts = mappings.into_iter().map(|mapping| Part::new(mapping, stored)).collect::<Result<Vec<_>>>()?;
        let (session, extent, datatype) = (session.clone(), stored.clone(), datatype.clone());
        let sources = session.opening.new_sources();
        let virt = Virtual { session, extent, datatype, fill, parts, names, sources, renewal: None };
        if let Some(dim) = virt.least().iter().zip(stored.dims()).position(|(least, size)| least > size) {
            return Err(SourceError(format!("its mappings reach over its end in dimension {dim}")).into());
        }
        Ok(virt)
    }

    /// Finds out its size. Sources are opened only if it depends on them.
    pub(crate) fn grow(&mut self, budget: &VirtualReadBudget) -> Result<&Extent> {
        self.renewal = budget.renewal.clone();
        if self.parts.iter().any(|part| part.grows_in().is_some()) {
            self.extent = self.grown(budget)?;
        }
        Ok(&self.extent)
    }

    /// The names of its sources, as stored.
    pub(crate) fn names(&self) -> impl Iterator<Item = VirtualName> {
        self.names.iter().cloned()
    }

    /// Reads values converted to a type; what is of variable length goes to `arena`. Each source converts its own, as in libhdf5.
    pub(crate) fn read(
        &self,
        request: &Request<'_>,
        buf: &mut [u8],
        arena: &mut Arena,
        budget: &VirtualReadBudget,
    ) -> Result<()> {
        let Request { wanted, datatype, mem_selection } = *request;
        if wanted.npoints() != mem_selection.npoints() {
            let (left, right) = (wanted.npoints(), mem_selection.npoints());
            return Err(hyperslab_space::Error::Counts { left, right }.into());
        }
        wanted.check_inside()?;
        if wanted.npoints() == 0 {
            return Ok(());
        }
        let bytes = |points: u64| u128::from(points) * datatype.size() as u128;
        budget.ask(bytes(wanted.npoints()));
        self.fill(request, buf, arena)?;
        self.for_each_source(wanted, mem_selection, budget, &mut |taken, dataset| {
            budget.take(bytes(taken.from.npoints()))?;
            let request = Request { wanted: &taken.from, datatype, mem_selection: &taken.mem_selection };
            dataset.read_below(&request, buf, arena, &budget.below()?)
        })
    }

    /// Calls `take` for what a request takes of each source, in the order of the mappings. A source that was resized before it was asked is asked again.
    fn for_each_source(
        &self,
        wanted: &Space,
        mem_selection: &Space,
        budget: &VirtualReadBudget,
        take: &mut dyn FnMut(&SourcePart, &OpenDataset) -> Result<()>,
    ) -> Result<()> {
        let Some((low, high)) = wanted.bounds() else { return Ok(()) };
        for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| part.touches(&low, &high)) {
            for block in self.blocks(part, &low, &high)? {
                while let Some((taken, dataset)) = self.taken(index, block, wanted, mem_selection, budget)? {
                    match take(&taken, &dataset) {
                        Err(why) if dataset.was_resized(&why) => {}
                        done => {
                            done?;
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes values to the sources that hold them; each converts its own. All of them must be there, and are written to their files at once.
    pub(crate) fn write(
        &self,
        request: &Request<'_>,
        bytes: &[u8],
        sequences: &Arena,
        budget: &VirtualReadBudget,
    ) -> Result<()> {
        self.session.check_changeable()?;
        let Request { wanted, datatype, mem_selection } = *request;
        let Some((low, high)) = wanted.bounds() else { return Ok(()) };
        let (mut parts, mut held) = (Vec::new(), 0u64);
        for (index, part) in self.parts.iter().enumerate().filter(|(_, part)| part.touches(&low, &high)) {
            for block in self.blocks(part, &low, &high)? {
                if let Some((taken, dataset)) = self.taken(index, block, wanted, mem_selection, budget)? {
                    held = held.saturating_add(taken.from.npoints());
                    let dataset =
                        if dataset.session().is_writable() { dataset } else { self.writable(index, block, budget)? };
                    parts.push((taken, dataset));
                }
            }
        }
        if held != wanted.npoints() {
            let why = format!("{} values are written, but sources hold {held} of them", wanted.npoints());
            return Err(SourceError(why).into());
        }
        for (taken, dataset) in parts {
            let request = Request { wanted: &taken.from, datatype, mem_selection: &taken.mem_selection };
            dataset.write_below(&request, bytes, sequences, &budget.below()?)?;
            if *dataset.session() != self.session {
                dataset.session().flush()?;
            }
        }
        Ok(())
    }

    /// What a read takes of a source, and that source.
    fn taken(
        &self,
        index: usize,
        block: u64,
        wanted: &Space,
        mem_selection: &Space,
        budget: &VirtualReadBudget,
    ) -> Result<Option<(SourcePart, OpenDataset)>> {
        let Some(part) = self.parts.get(index) else { return Ok(None) };
        let in_target = |selection: Selection| Space::with(self.extent.clone(), selection);
        let target = match part.kind {
            Kind::Fixed => Some(in_target(part.target.clone())?),
            Kind::Numbered { .. } => part.target.unlimited_block(block).map(in_target).transpose()?,
            Kind::Growing { .. } => None,
        };
        // A source that has nothing to give is not opened.
        if let Some(target) = &target
            && wanted.project_intersection(mem_selection, target)?.npoints() == 0
        {
            return Ok(None);
        }
        let Some(dataset) = self.source(index, block, budget)? else { return Ok(None) };
        let in_source = |selection: Selection| Space::with(dataset.extent(), selection);
        let (target, source) = match (target, part.kind) {
            (None, Kind::Growing { target: (dim, slab), source: (source_dim, source_slab) }) => {
                let size = |extent: &Extent, dim| extent.dims().get(dim).copied().unwrap_or(0);
                let here = slab.indices_below(size(&self.extent, dim));
                let both = here.min(source_slab.indices_below(size(&dataset.extent(), source_dim)));
                (in_target(part.target.limited(both)?)?, in_source(part.source.limited(both)?)?)
            }
            (Some(target), _) => (target, in_source(part.source.clone())?),
            (None, _) => return Ok(None),
        };
        let taken = Correspondence::new(target, source)?.taken(wanted, mem_selection)?;
        Ok(taken.map(|taken| (taken, dataset)))
    }

    /// The blocks of a part that a read may touch.
    fn blocks(&self, part: &Part, low: &[u64], high: &[u64]) -> Result<std::ops::RangeInclusive<u64>> {
        let Kind::Numbered { dim, slab } = part.kind else { return Ok(0..=0) };
        let number = |corner: &[u64]| corner.get(dim).map_or(0, |at| at.saturating_sub(slab.start)) / slab.stride;
        let (first, last) = (number(low), number(high));
        if last - first > grow::MAX_BLOCKS {
            return Err(SourceError(format!("the read touches more than {} numbered sources", grow::MAX_BLOCKS)).into());
        }
        Ok(first..=last)
    }

    fn source(&self, part: usize, block: u64, budget: &VirtualReadBudget) -> Result<Option<OpenDataset>> {
        let Some(part) = self.parts.get(part) else { return Ok(None) };
        let (file, path) = part.names(block);
        let mut budget = budget.below()?;
        budget.renewal.clone_from(&self.renewal);
        self.sources.get(&self.session, file, path, &budget)
    }

    /// A source that may be changed.
    fn writable(&self, part: usize, block: u64, budget: &VirtualReadBudget) -> Result<OpenDataset> {
        let missing = || SourceError("a source that was there is gone".into());
        let part = self.parts.get(part).ok_or_else(missing)?;
        let (file, path) = part.names(block);
        Ok(self.sources.edit(&self.session, file, path, &budget.below()?)?.ok_or_else(missing)?)
    }

    /// Only a hyperslab says how large the dataset must be.
    fn is_hyperslab(&self, part: &Part) -> bool {
        part.target.kind() == SelectionKind::Hyperslab
    }

    /// One element that no source has.
    fn fill_as(&self, datatype: &Datatype, arena: &mut Arena) -> Result<Vec<u8>> {
        let mut fill = room(1, datatype.size())?;
        Plan::new(&self.datatype, datatype)?.convert(1, &self.fill, &mut fill, &self.session.heap(), arena)?;
        Ok(fill)
    }

    fn fill(&self, request: &Request<'_>, buf: &mut [u8], arena: &mut Arena) -> Result<()> {
        let plan = Plan::new(&self.datatype, request.datatype)?;
        let size = request.datatype.size();
        if plan.keeps_background() {
            return to_memory(buf, request.mem_selection, &plan, &mut |to| {
                let heap = self.session.heap();
                let each = |place| Ok(plan.convert(1, &self.fill, place, &heap, arena)?);
                to.chunks_exact_mut(size.max(1)).try_for_each(each)
            });
        }
        let fill = self.fill_as(request.datatype, arena)?;
        let fill = fill.iter().any(|&byte| byte != 0).then_some(fill.as_slice());
        Ok(hyperslab_chunk::fill(fill, buf, request.mem_selection, size as u64)?)
    }
}

impl VirtualSource for Virtual {
    fn read(&self, wanted: &Space, memory: &Space, buf: &mut [u8]) -> hyperslab_chunk::Result<()> {
        if self.datatype.has_vlen() {
            let why =
                "variable-length values of a virtual dataset are in the heaps of its sources, read them converted";
            return Err(SourceError(why.into()));
        }
        let request = Request { wanted, datatype: &self.datatype, mem_selection: memory };
        Virtual::read(self, &request, buf, &mut Arena::default(), &VirtualReadBudget::default())
            .map_err(crate::Error::of_source)
    }
}

impl std::fmt::Debug for Virtual {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Virtual").field("mappings", &self.parts.len()).finish_non_exhaustive()
    }
}
