//! The datasets behind a virtual one.

use std::sync::{Arc, OnceLock};

use hyperslab_chunk::{Error, Result, VirtualPart, VirtualSource};
use hyperslab_dtype::{Arena, Datatype, NoHeap, Plan};
use hyperslab_format::virtual_mapping::Mapping;
use hyperslab_space::{Extent, Space};

use crate::{Dataset, File};

/// Virtual datasets above one another before they are called endless.
const MAX_DEPTH: u8 = 16;

/// A source that is opened when first needed. One that cannot be opened has no values.
struct Lazy {
    file: File,
    depth: u8,
    mapping: Mapping,
    datatype: Datatype,
    opened: OnceLock<Option<Dataset>>,
}

/// The parts of a virtual dataset that its mappings describe.
pub(crate) fn parts(above: &Dataset, mappings: Vec<Mapping>) -> crate::Result<Vec<VirtualPart>> {
    if above.depth() == MAX_DEPTH {
        let why = format!("more than {MAX_DEPTH} virtual datasets stand above one another");
        return Err(Error::Source(why).into());
    }
    let part = |mapping: Mapping| {
        let (target, source) = (mapping.target.clone(), mapping.source.clone());
        let (file, depth, datatype) = (above.file().clone(), above.depth() + 1, above.datatype().clone());
        VirtualPart {
            target,
            source,
            dataset: Arc::new(Lazy { file, depth, mapping, datatype, opened: OnceLock::new() }),
        }
    };
    Ok(mappings.into_iter().map(part).collect())
}

impl Lazy {
    fn dataset(&self) -> Option<&Dataset> {
        self.opened.get_or_init(|| self.open().ok()).as_ref()
    }

    fn open(&self) -> crate::Result<Dataset> {
        let (path, depth) = (&self.mapping.dataset, self.depth);
        if self.mapping.file == b"." {
            return self.file.dataset_below(path, depth);
        }
        self.file.open_beside(&self.mapping.file)?.dataset_below(path, depth)
    }
}

fn failed(why: impl std::fmt::Display) -> Error {
    Error::Source(why.to_string())
}

impl VirtualSource for Lazy {
    fn extent(&self) -> Result<Option<Extent>> {
        Ok(self.dataset().map(|dataset| dataset.extent().clone()))
    }

    fn read(&self, selection: &Space) -> Result<Vec<u8>> {
        let dataset = self.dataset().ok_or_else(|| failed("it cannot be opened"))?;
        let bytes = dataset.read_stored_selection(selection).map_err(failed)?;
        if *dataset.datatype() == self.datatype {
            return Ok(bytes);
        }
        let plan = Plan::new(dataset.datatype(), &self.datatype).map_err(failed)?;
        let count = usize::try_from(selection.npoints()).unwrap_or(0);
        let mut converted = vec![0; count.saturating_mul(self.datatype.size())];
        plan.convert(count, &bytes, &mut converted, &NoHeap, &mut Arena::default()).map_err(failed)?;
        Ok(converted)
    }
}
