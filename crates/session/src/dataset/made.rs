//! A dataset that an operation has just made, opened by what it was made of: its header is not read.

use std::sync::{Arc, OnceLock};

use hyperslab_format::message::{DataLayout, DatasetFilters, FillWrite};

use super::{Inner, OpenDataset, in_chunks, structure};
use crate::{DatasetPlan, Result, Session, unnamed::Opened};

/// A dataset that has no name yet.
#[derive(Debug)]
pub struct MadeDataset {
    /// Where its header is.
    pub address: u64,
    /// What the header says of the layout.
    pub(crate) layout: DataLayout,
}

impl MadeDataset {
    /// Opens the dataset, within the operation that made it by a plan and with this fill value. None if the plan does not tell all: of virtual datasets, and of values in
    /// other files.
    pub fn open(self, session: &Session, plan: &DatasetPlan, fill: &FillWrite) -> Result<Option<OpenDataset>> {
        if !plan.external.is_empty() || !plan.mappings.is_empty() {
            return Ok(None);
        }
        let MadeDataset { address, layout } = self;
        let (object, committed) = (Opened::made(session, address)?, plan.committed);
        let (datatype, fill) = (plan.datatype.clone(), fill.clone());
        let filters = if plan.filters.is_empty() { DatasetFilters::default() } else { plan.filters.clone() };
        let structure = structure(&layout.layout);
        let storage = Inner::new_storage(session.context(), object.life(), plan.extent.clone(), layout);
        let (virtual_dataset, partition) = (None, OnceLock::new());
        let in_chunks = in_chunks(structure, &datatype)?;
        let inner = Inner {
            object,
            datatype,
            in_chunks,
            committed,
            filters,
            fill,
            structure,
            virtual_dataset,
            storage,
            partition,
        };
        debug_assert_eq!(inner.is_as_stored(session), Ok(()));
        let inner = session.engine.datasets.insert(address, Arc::new(inner));
        Ok(Some(OpenDataset::of(session, inner)))
    }
}

impl Inner {
    /// Whether the header says the same of the dataset; else what is different.
    fn is_as_stored(&self, session: &Session) -> std::result::Result<(), String> {
        let context = session.context();
        let object = hyperslab_object::Object::open(context, self.object.address()).map_err(|why| why.to_string())?;
        let stored = || -> hyperslab_file::Result<_> {
            let (datatype, committed) = object.datatype(context)?;
            let (extent, layout) = (object.extent(context)?, object.layout(context)?);
            Ok((datatype, committed, object.filters(context)?, object.fill(context)?, extent, layout))
        };
        let stored = stored().map_err(|why| why.to_string())?;
        let (extent, layout) = self.storage.with_state(|state| (state.extent.clone(), state.layout.clone()));
        let known = (self.datatype.clone(), self.committed, self.filters.clone(), self.fill.clone(), extent, layout);
        if known == stored { Ok(()) } else { Err(format!("{known:?} is stored as {stored:?}")) }
    }
}
