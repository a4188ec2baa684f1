//! Lists become a sparse dataset.

use super::Converter;
use super::form::Form;
use super::lists::{Lists, Part};
use super::note::Note;
use crate::failure::Failure;
use hyperslab::dtype::Arena;
use hyperslab::space::Space;
use hyperslab::{Dataset, Group, Node, PathId, Result};

/// Chunks have about so many defined elements.
const ELEMENTS: f64 = 65_536.0;
/// The height of a flat chunk.
const FLAT: u64 = 64;

impl Converter<'_> {
    /// Makes a sparse dataset of the lists of a group.
    pub(super) fn import(
        &mut self,
        path: PathId,
        form: Form,
        (group, above): (&Group, &Group),
        (to, name): (&Group, &[u8]),
    ) -> std::result::Result<Node, Failure> {
        let lists = self.at(path, form.lists(group, above))?;
        let mut lists = lists.map_err(|why| self.refuse(path, why))?;
        let new = to.new_dataset_of(lists.values.datatype().clone()).shape(&lists.dims).chunks(chunk(&lists)).sparse();
        let new = match self.filters {
            Some(filters) => filters.give(new, lists.dims.len()),
            None => new,
        };
        let new = self.sections.give(new, lists.dims.len());
        let dataset = self.at(path, new.create(name))?;
        loop {
            let part = self.at(path, lists.next())?.map_err(|why| self.refuse(path, why))?;
            let Some(part) = part else { break };
            self.at(path, write(&lists, &part, &dataset))?;
            self.show(0, part.values.len() as u64);
        }
        if let Some(why) = self.at(path, lists.contradiction())? {
            return Err(self.refuse(path, why));
        }
        let stored = self.at(path, dataset.stored_sections())?;
        let (defined, listed) = (stored.unwrap_or_default().defined, lists.len());
        if defined != listed {
            let why = format!("{} of {listed} elements are named more than once", listed - defined.min(listed));
            return Err(self.refuse(path, why));
        }
        if let Some(note) = self.at(path, Note::of_group(form, group))? {
            self.at(path, note.write(&dataset))?;
        }
        self.converted += 1;
        self.show(1, 0);
        Ok(Node::from(dataset))
    }
}

/// Writes some elements.
fn write(lists: &Lists, part: &Part, dataset: &Dataset) -> Result<()> {
    let selection = part.places(dataset.space())?;
    let places = Space::simple(&[selection.npoints()])?;
    dataset.write_converted(&selection, lists.values.datatype(), &places, &part.values, &Arena::default())
}

/// The shape of chunks that have some ten thousand elements each, if these lie everywhere as densely. Chunks are flat in the dimension whose indices follow each other in the
/// lists, so that few of them are in hand while the lists are read or written.
fn chunk(lists: &Lists) -> Vec<u64> {
    let elements = |chunk: &[u64]| chunk.iter().map(|side| *side as f64).product::<f64>();
    let density = lists.len() as f64 / elements(&lists.dims).max(1.0);
    let mut chunk: Vec<u64> = lists.dims.iter().map(|dim| (*dim).max(1)).collect();
    while elements(&chunk) * density > ELEMENTS || elements(&chunk) > f64::from(u32::MAX) {
        let is_high = chunk.get(lists.leading()).is_some_and(|side| *side > FLAT);
        let side = if is_high { chunk.get_mut(lists.leading()) } else { chunk.iter_mut().max() };
        let Some(side) = side.filter(|side| **side > 1) else { break };
        *side = side.div_ceil(2);
    }
    chunk
}
