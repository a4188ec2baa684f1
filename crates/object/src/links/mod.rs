//! The links of a group, in whichever of the three forms they are kept.

mod change;
mod dense;
mod free_name;
mod group_change;
mod group_plan;
mod old;
mod waiting;
mod waiting_names;

pub use change::{Name, link, link_new, relink, rename, unlink};
pub(crate) use change::{delete_all, lag, mend};
pub use free_name::FreeName;
pub(crate) use waiting::WaitingLinks;
pub use waiting::{add_all_waiting, add_waiting};

use hyperslab_file::{Error, Owner, Result};
use hyperslab_format::{
    message::{self, CharSet, Link, Target, kind},
    symbol_table::{Cache, Entry},
};
use hyperslab_structures::{FractalHeap, LocalHeap, Tree, group_tree};

use crate::{Context, Object};

/// Where the links of a group are.
#[derive(Debug)]
pub struct Links<'a> {
    context: &'a Context,
    object: &'a Object,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// In a B-tree, the names in a local heap.
    Old { btree: Option<u64>, heap: Option<LocalHeap> },
    /// In the header itself.
    Compact,
    /// In a fractal heap, the names in a B-tree.
    Dense { heap: Box<FractalHeap>, names: Tree },
}

/// B-tree records of links by name.
const BY_NAME: u8 = 5;

impl<'a> Links<'a> {
    /// The links of a group; fails if the object is none.
    pub fn of(context: &'a Context, object: &'a Object) -> Result<Links<'a>> {
        let (header, address, widths) = (object.header(), object.address(), context.file().widths());
        let form = if let Some(found) = header.find(kind::SYMBOL_TABLE) {
            let table = message::SymbolTable::decode(header.body(found), widths).map_err(Error::at(address))?;
            let heap = table.heap.map(|heap| LocalHeap::open(context.file().owned_by(address), heap)).transpose()?;
            Form::Old { btree: table.btree, heap }
        } else if let Some(found) = header.find(kind::LINK_INFO) {
            let info = message::LinkInfo::decode(header.body(found), widths).map_err(Error::at(address))?;
            match (info.heap, info.names) {
                (Some(heap), Some(names)) => Form::Dense {
                    heap: Box::new(context.heap(Owner(address), heap)?),
                    names: Tree::open(context.file().owned_by(address), names, &[BY_NAME])?,
                },
                _ => Form::Compact,
            }
        } else {
            return Err(Error::broken("object header", address, "it is not a group"));
        };
        Ok(Links { context, object, form })
    }

    /// All links, in the order of their names' bytes.
    pub fn all(&self) -> Result<Vec<Link>> {
        let (mut links, file) = (Vec::new(), self.context.file());
        match &self.form {
            Form::Old { btree: Some(btree), heap: Some(heap) } => {
                let mut budget = NameBudget { left: file.end(), group: self.object.address() };
                group_tree::for_each(file.owned_by(self.object.address()), *btree, &mut |entry| {
                    let link = old_link(&entry, heap, self.object.address())?;
                    budget.take(&link)?;
                    links.push(link);
                    Ok(())
                })?;
            }
            Form::Old { .. } => {}
            Form::Compact => links = self.compact()?,
            Form::Dense { heap, names } => {
                let mut budget = NameBudget { left: heap.most(file), group: self.object.address() };
                names.for_each(file, &mut |record| {
                    let link = self.dense_link(heap, record)?;
                    budget.take(&link)?;
                    links.push(link);
                    Ok(())
                })?;
            }
        }
        links.extend(self.context.waiting_links().all(self.object.address()));
        links.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(links)
    }

    /// How many links there are.
    pub fn count(&self) -> Result<u64> {
        Ok(self.stored_count()? + self.context.waiting_links().count(self.object.address()))
    }

    fn stored_count(&self) -> Result<u64> {
        match &self.form {
            Form::Old { btree: Some(btree), .. } => {
                group_tree::count(self.context.file().owned_by(self.object.address()), *btree)
            }
            Form::Old { .. } => Ok(0),
            Form::Compact => {
                let messages = self.object.header().messages();
                Ok(messages.filter(|message| message.kind == kind::LINK).count() as u64)
            }
            Form::Dense { names, .. } => Ok(names.len()),
        }
    }

    /// The link with this name.
    pub fn find(&self, name: &[u8]) -> Result<Option<Link>> {
        if let Some(link) = self.context.waiting_links().find(self.object.address(), name) {
            return Ok(Some(link));
        }
        match &self.form {
            Form::Old { btree: Some(btree), heap: Some(heap) } => {
                let entry = group_tree::find(self.context.file(), *btree, heap, name)?;
                entry.map(|entry| old_link(&entry, heap, self.object.address())).transpose()
            }
            Form::Old { .. } => Ok(None),
            Form::Compact => Ok(self.compact()?.into_iter().find(|link| link.name == name)),
            Form::Dense { heap, names } => self.find_dense(heap, names, name),
        }
    }

    fn compact(&self) -> Result<Vec<Link>> {
        let header = self.object.header();
        let links = header.messages().filter(|message| message.kind == kind::LINK);
        links.map(|link| self.decode(header.body(link))).collect()
    }

    fn decode(&self, bytes: &[u8]) -> Result<Link> {
        Link::decode(bytes, self.context.file().widths()).map_err(Error::at(self.object.address()))
    }

    fn dense_link(&self, heap: &FractalHeap, record: &[u8]) -> Result<Link> {
        let id = record.get(4..).unwrap_or_default(); // behind the hash of the name
        self.decode(&heap.get(self.context.file(), id)?)
    }

    /// Records are ordered by the hash of the name, then by the name.
    fn find_dense(&self, heap: &FractalHeap, names: &Tree, name: &[u8]) -> Result<Option<Link>> {
        let wanted = hyperslab_base::lookup3(name);
        let mut order = |record: &[u8]| {
            let hash = record.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            if hash != wanted {
                return Ok(hash.cmp(&wanted));
            }
            Ok(self.dense_link(heap, record)?.name.as_slice().cmp(name))
        };
        names.find(self.context.file(), &mut order, |record| self.dense_link(heap, record))
    }
}

/// How many bytes of names and targets may still come. Each link has its own, so all together have no more than their heap;
/// entries that share them could name more than there is memory for.
struct NameBudget {
    left: u64,
    group: u64,
}

impl NameBudget {
    fn take(&mut self, link: &Link) -> Result<()> {
        let target = match &link.target {
            Target::Soft(path) => path.len(),
            _ => 0,
        };
        let more = || Error::broken("group", self.group, "the names of its links have more bytes than the file");
        self.left = self.left.checked_sub((link.name.len() + target) as u64).ok_or_else(more)?;
        Ok(())
    }
}

/// A symbol table entry as a link.
fn old_link(entry: &Entry, heap: &LocalHeap, group: u64) -> Result<Link> {
    let target = match &entry.cache {
        Cache::SoftLink(place) => Target::Soft(heap.string(u64::from(*place))?.to_vec()),
        _ => {
            let missing = || Error::broken("symbol table entry", group, "a link without an address");
            Target::Hard(entry.header.ok_or_else(missing)?)
        }
    };
    Ok(Link { name: heap.string(entry.name)?.to_vec(), charset: CharSet::Ascii, order: None, target })
}
