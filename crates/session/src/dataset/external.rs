//! The files that hold the values of a dataset outside of its own.

use std::{collections::HashMap, sync::Arc};

use hyperslab_chunk::{ExternalFile, ExternalPart, Externals};
use hyperslab_format::message::ExternalSlot;
use hyperslab_structures::LocalHeap;

use super::{OpenDataset, external_rule::ExternalRule, raw_file::RawFile};
use crate::Result;

/// A part of an external file: its name, the first byte, and how many bytes if that is limited.
pub type ExternalName = (Vec<u8>, u64, Option<u64>);

impl OpenDataset {
    pub(super) fn external_names(&self) -> Result<Option<Vec<ExternalName>>> {
        let context = self.session.context();
        // One that was opened when it was made has none.
        let files = self.inner.object.object().map_or(Ok(None), |object| object.external(context))?;
        let Some(files) = files else { return Ok(None) };
        let heap = files.heap.ok_or_else(|| {
            hyperslab_file::Error::broken("list of external files", self.address(), "it has no heap with their names")
        })?;
        let heap = LocalHeap::open(context.file(), heap)?;
        let slot = |slot: &ExternalSlot| Ok((heap.string(slot.name)?.to_vec(), slot.offset, slot.size));
        files.slots.iter().map(slot).collect::<Result<_>>().map(Some)
    }

    /// The external files as this opening finds them.
    pub(super) fn externals(&self, rule: &Arc<ExternalRule>) -> Result<Option<Externals>> {
        let Some(names) = self.external_names()? else { return Ok(None) };
        // Slots often are parts of one file.
        let mut files: HashMap<Vec<u8>, Arc<dyn ExternalFile>> = HashMap::new();
        let part = |(name, offset, size): ExternalName| {
            let text = String::from_utf8_lossy(&name).into_owned();
            let file = files.entry(name).or_insert_with_key(|name| Arc::new(RawFile::new(name, rule)));
            ExternalPart { name: text, file: file.clone(), offset, size }
        };
        Ok(Some(Externals { parts: names.into_iter().map(part).collect() }))
    }
}
