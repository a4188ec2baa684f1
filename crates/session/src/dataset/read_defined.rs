//! Reads of what is defined: elements and their values, of one moment.

use std::ops::Range;

use hyperslab_base::memory;
use hyperslab_chunk::{DefinedPart, convert};
use hyperslab_dtype::{Arena, Datatype, Plan};
use hyperslab_space::{ElementRuns, Space};

use super::{OpenDataset, vlen_chunks::VlenReads};
use crate::{Result, value_buffer::room, virtual_dataset::Request, virtual_read_budget::VirtualReadBudget};

impl OpenDataset {
    /// The selected elements that are [defined](OpenDataset::defined), each once, and their values converted to `datatype`, one after the other in row-major order. What is of
    /// variable length goes to `arena`. No write comes between the elements and their values, also where the sources of a virtual dataset are asked one after the other.
    pub fn read_defined(
        &self,
        selection: &Space,
        datatype: &Datatype,
        arena: &mut Arena,
    ) -> Result<(ElementRuns, Vec<u8>)> {
        self.read_defined_below(selection, (datatype, &[]), arena, &VirtualReadBudget::default())
    }

    /// As [`OpenDataset::read_defined`], for a read that may have come here through virtual datasets. What values do not have of `datatype` is as in `background`, one
    /// element, or zero if there is none.
    pub(crate) fn read_defined_below(
        &self,
        selection: &Space,
        (datatype, background): (&Datatype, &[u8]),
        arena: &mut Arena,
        budget: &VirtualReadBudget,
    ) -> Result<(ElementRuns, Vec<u8>)> {
        self.check_extent(selection)?;
        if let Some(virtual_dataset) = &self.inner.virtual_dataset {
            return virtual_dataset.read_defined(&selection.to_set()?, datatype, arena, budget);
        }
        if !self.is_sparse() {
            let (set, elements) = (selection.to_set()?, ElementRuns::of(selection)?);
            let (mut values, mem_selection) =
                (room(elements.len(), datatype.size())?, Space::simple(&[elements.len()])?);
            start_with(background, &mut values);
            let request = Request { wanted: &set, datatype, mem_selection: &mem_selection };
            self.read_below(&request, &mut values, arena, budget)?;
            return Ok((elements, values));
        }
        let (plan, mut values) = (Plan::new(self.stored_datatype(), datatype)?, Vec::new());
        let mut vlen = self.has_vlen_chunks().then(|| VlenReads::new(self, arena)).transpose()?;
        let elements = self.for_each_defined_part(selection, &mut |part| {
            let (before, count) = (values.len(), part.stored.len() / plan.source_size().max(1));
            memory::resize(&mut values, before + count * plan.target_size(), 0)?;
            let to = values.get_mut(before..).unwrap_or_default();
            start_with(background, to);
            match &mut vlen {
                Some(vlen) => vlen.convert_with(&plan, part.stored, part.segments, to),
                None => Ok(convert(&plan, part.stored, to)?),
            }
        })?;
        Ok((elements, values))
    }

    /// The selected elements that are defined, each once. Hands their values as they are stored to `each`, one after the other in row-major order, some at a time.
    pub fn defined_in_order(
        &self,
        selection: &Space,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<ElementRuns> {
        self.check_whole_values()?;
        if self.is_sparse() {
            return self.for_each_defined_part(selection, &mut |part| each(part.stored));
        }
        if self.is_virtual() {
            let (elements, values) = self.read_defined(selection, self.datatype(), &mut Arena::default())?;
            return each(&values).map(|()| elements);
        }
        self.check_extent(selection)?;
        let elements = ElementRuns::of(selection)?;
        self.in_order(&selection.to_set()?, each).map(|()| elements)
    }

    /// Hands out the elements of a sparse dataset that are selected and defined, with their values as they are stored.
    fn for_each_defined_part(
        &self,
        selection: &Space,
        each: &mut dyn FnMut(DefinedPart<'_>) -> Result<()>,
    ) -> Result<ElementRuns> {
        let _guard = self.lock_to_read(selection)?;
        let partition = self.sparse_partition()?;
        let (cache, mut runs) = (&self.session().engine.partitions.cache, Vec::<Range<u64>>::new());
        let read = cache.read_defined(partition, self.request_options(), selection, &mut |part| -> Result<()> {
            memory::reserve(&mut runs, part.runs.len())?;
            runs.extend_from_slice(part.runs);
            each(part)
        });
        read.map_err(|why| self.locate(why))?;
        // A file that is only read may have been closed meanwhile, and another process may have changed it since.
        self.session().check_current()?;
        Ok(ElementRuns::new(selection.extent().clone(), runs)?)
    }
}

/// Lets all values be as one element, if there is one.
fn start_with(element: &[u8], values: &mut [u8]) {
    if element.iter().any(|byte| *byte != 0) {
        values.chunks_exact_mut(element.len()).for_each(|value| value.copy_from_slice(element));
    }
}
