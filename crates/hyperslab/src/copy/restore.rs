//! Datasets that are stored in another way in a file that is written anew.

use hyperslab_dtype::Arena;
use hyperslab_format::{
    message::{FillValue, Layout},
    version,
};
use hyperslab_space::{Extent, UNLIMITED};

use super::tree::Copier;
use crate::{Dataset, Group, NewDataset, Result, new_dataset::Planned};

/// Is given a dataset and a description of one like it that says nothing of layout and filters; if it says more, the dataset is stored
/// like that, else as it was.
pub(super) type Restore = dyn Fn(&Dataset, NewDataset) -> Option<NewDataset> + Send + Sync;

impl Copier<'_> {
    /// Gives a dataset the layout and the filters that somebody wants it to have. Values that are elsewhere stay there.
    pub(super) fn restore(&self, from: &Dataset, planned: &mut Planned) -> Result<()> {
        let Some(how) = &self.restore else { return Ok(()) };
        if !planned.external.is_empty() || matches!(planned.layout, Layout::Virtual { .. }) {
            return Ok(());
        }
        let Some(wanted) = how(from, like(planned, self.target.root()?)) else { return Ok(()) };
        let wanted = wanted.plan(&self.target)?;
        let is_same = std::mem::discriminant(&wanted.layout) == std::mem::discriminant(&planned.layout);
        if !is_same {
            planned.fill.alloc = wanted.fill.alloc;
        }
        (planned.layout, planned.filters) = (wanted.layout, wanted.filters);
        planned.layout_version = wanted.layout_version;
        if let Layout::Chunked { chunk, index, .. } = &mut planned.layout {
            let filtered = !planned.filters.steps.is_empty();
            *index = version::chunk_index(planned.layout_version, &planned.extent, chunk, filtered, planned.fill.alloc);
        }
        Ok(())
    }
}

/// A new dataset of the same type, size and fill value.
fn like(planned: &Planned, group: Group) -> NewDataset {
    let new = group.new_dataset_of(planned.datatype.clone());
    let extent = &planned.extent;
    let new = match extent.rank() {
        0 if *extent == Extent::null() => new.empty(),
        0 => new.scalar(),
        _ => {
            let max: Vec<_> = extent.max().iter().map(|&max| (max != UNLIMITED).then_some(max)).collect();
            new.shape(extent.dims()).max_shape(max)
        }
    };
    match &planned.fill.value {
        FillValue::User(value) if !planned.datatype.has_vlen() => {
            new.fill_converted(planned.datatype.clone(), value.clone(), Arena::default())
        }
        FillValue::Undefined => new.no_fill_value(),
        _ => new,
    }
}
