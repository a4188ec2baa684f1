//! Objects that lie alone, and the tree that knows them. The tree belongs to the heap alone, so its header is shadowed too.

use std::cmp::Ordering;

use hyperslab_file::{Error, Kind, Result};
use hyperslab_format::{
    heap::fractal::{HeapId, Huge},
    index::record::{Form, Record, kind},
    message::FilterPipeline,
};

use super::{WHAT, change::Change};
use crate::Tree;

const NODE_SIZE: u32 = 512;
const SPLIT: u8 = 100;
const MERGE: u8 = 40;

/// The filter mask of what went past all filters.
fn past_all(pipeline: &FilterPipeline) -> u32 {
    (0..pipeline.steps.len()).fold(0, |mask, nth| mask | 1u32.checked_shl(nth as u32).unwrap_or(0))
}

impl Change<'_> {
    fn huge_form(&self) -> Form {
        let direct = self.header.huge_direct(self.file.widths());
        Form::Plain(match (direct, self.header.filters.is_some()) {
            (false, false) => kind::HUGE,
            (false, true) => kind::FILTERED_HUGE,
            (true, false) => kind::DIRECT_HUGE,
            (true, true) => kind::DIRECT_FILTERED_HUGE,
        })
    }

    fn huge_tree(&self) -> Result<Option<Tree>> {
        let open = |tree| Tree::open(self.file, tree, &[self.huge_form().kind()]);
        self.header.huge_tree.map(open).transpose()
    }

    /// How a record stands to an object: by number, or by place if ids say that.
    fn huge_order<'a>(&'a self, id: &'a HeapId) -> impl FnMut(&[u8]) -> Result<Ordering> + 'a {
        let (form, widths) = (self.huge_form(), self.file.widths());
        move |record| match (form.decode(record, widths).map_err(Error::at(self.address))?, id) {
            (Record::Huge(_, Some(number)), HeapId::Huge(wanted)) => Ok(number.cmp(wanted)),
            (Record::Huge(huge, None), HeapId::HugeDirect(wanted)) => {
                Ok((huge.address, huge.length).cmp(&(wanted.address, wanted.length)))
            }
            _ => Err(Error::broken(WHAT, self.address, "ids and the tree of huge objects do not belong together")),
        }
    }

    /// Looks whether there can be another one.
    pub(super) fn check_huge(&self) -> Result<()> {
        self.huge_tree()?;
        if self.header.huge_direct(self.file.widths()) || !self.header.huge_wrapped {
            return Ok(());
        }
        Err(Error::Refused(format!("{WHAT} at address {:#x}: all numbers for huge objects were used", self.address)))
    }

    /// Whether the object is in the tree.
    pub(super) fn has_huge(&self, id: &HeapId) -> Result<bool> {
        let Some(tree) = self.huge_tree()? else { return Ok(false) };
        Ok(tree.find(&self.file, &mut self.huge_order(id), |_| Ok(()))?.is_some())
    }

    /// Adds an object; gives its id.
    pub(super) fn insert_huge(&mut self, object: &[u8]) -> Result<Vec<u8>> {
        let (file, widths, form) = (self.file, self.file.widths(), self.huge_form());
        let mut tree = match self.huge_tree()? {
            Some(tree) => tree,
            None => {
                let size = form.size(widths).unwrap_or(0);
                Tree::create(file, form.kind(), size, NODE_SIZE, SPLIT, MERGE)?
            }
        };
        let length = object.len() as u64;
        let address = file.allocate(Kind::Metadata, length)?;
        file.put(address, object.to_vec())?;
        let filtered = self.header.filters.as_ref().map(|(pipeline, ..)| (past_all(pipeline), length));
        let huge = Huge { address, length, filtered };
        let (id, number) = if self.header.huge_direct(widths) {
            (HeapId::HugeDirect(huge), None)
        } else {
            self.header.next_huge += 1;
            let bytes = u32::from(self.header.id_len).saturating_sub(1).min(8);
            self.header.huge_wrapped = self.header.next_huge == u64::MAX >> (64 - 8 * bytes.max(1));
            (HeapId::Huge(self.header.next_huge), Some(self.header.next_huge))
        };
        let record = form.encode(&Record::Huge(huge, number), widths)?;
        tree.relocate(&file)?;
        tree.insert(&file, &record, &mut self.huge_order(&id))?;
        self.header.huge_tree = Some(tree.address());
        self.header.usage.huge_size = self.header.usage.huge_size.saturating_add(length);
        self.header.usage.huge_objects += 1;
        Ok(id.encode(&self.header, widths)?)
    }

    /// Takes an object out of the tree and gives back its space; with the last one the tree goes.
    pub(super) fn remove_huge(&mut self, id: &HeapId) -> Result<()> {
        let Some(mut tree) = self.huge_tree()? else { return Err(self.broken("there is no tree of huge objects")) };
        tree.relocate(&self.file)?;
        let removed = tree.remove(&self.file, &mut self.huge_order(id))?;
        let record = removed.ok_or_else(|| self.broken("there is no such huge object"))?;
        let size = self.free_huge(&record)?;
        let usage = &mut self.header.usage;
        usage.huge_size = usage.huge_size.saturating_sub(size);
        usage.huge_objects = usage.huge_objects.saturating_sub(1);
        self.header.huge_tree = Some(tree.address());
        if tree.is_empty() {
            tree.delete(&self.file, &mut |_| Ok(()))?;
            (self.header.huge_tree, self.header.next_huge, self.header.huge_wrapped) = (None, 0, false);
        }
        Ok(())
    }

    /// Gives back all of them, and the tree.
    pub(super) fn delete_huge(&mut self) -> Result<()> {
        let Some(tree) = self.huge_tree()? else { return Ok(()) };
        tree.delete(&self.file, &mut |record| self.free_huge(record).map(drop))
    }

    /// Gives back the space of an object; says how many bytes it had.
    fn free_huge(&self, record: &[u8]) -> Result<u64> {
        let decoded = self.huge_form().decode(record, self.file.widths()).map_err(Error::at(self.address))?;
        let Record::Huge(huge, _) = decoded else { return Err(self.broken("no record of a huge object")) };
        self.file.free(huge.address, huge.length)?;
        Ok(huge.filtered.map_or(huge.length, |(_, size)| size))
    }
}
