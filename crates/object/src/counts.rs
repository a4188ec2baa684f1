//! How many hard links name an object, and what happens to one that loses its last.

use std::collections::{HashMap, HashSet};

use hyperslab_file::{Change, Error, Header, HeaderEdit, Result};
use hyperslab_format::message::{self, Shared, kind};
use hyperslab_structures::LocalHeap;

use crate::{
    Context, Kind, Links, Object, Target, attributes, links,
    plan::Plan,
    shared_change::{self, Use},
};

/// Gives back what the values of an object and of its attributes take outside of it, which is not known here.
pub type DropValues<'a> = dyn FnMut(&Object) -> Result<()> + 'a;

/// Plans one more name of an object. Refused where there is no room to count it.
pub(crate) fn plan_gain(context: &Context, plan: &mut Plan<'_>, object: u64) -> Result<()> {
    plan.names_again(object);
    if references(context, object)? == u32::MAX {
        return Err(Error::Refused(format!("the object at {object:#x} has as many names as can be counted")));
    }
    Ok(())
}

/// Counts one more name of an object, which is written before the block at `by`, where it is named.
pub(crate) fn gain(context: &Context, change: &Change<'_>, object: u64, by: u64) -> Result<()> {
    if context.file().gain_first_name(object)? {
        return Ok(());
    }
    Header::set_references(context.file(), object, references(context, object)?.saturating_add(1))?;
    change.order(object, by)
}

/// How many names an object has whose header may be changed.
fn references(context: &Context, object: u64) -> Result<u32> {
    let header = Header::read(context.file(), object)?;
    header.check_changeable()?;
    header.references()
}

/// Takes back the name that every new object counts from the start: this one only is the type of others. Only for an object that nothing
/// named before this operation, and that something does now.
pub fn without_name(context: &Context, object: u64) -> Result<()> {
    Header::set_references(context.file(), object, references(context, object)?.saturating_sub(1))
}

/// What becomes of objects that lose names.
#[derive(Debug, Default)]
pub(crate) struct Loss {
    /// Those that still have names, and how many.
    fewer: Vec<(u64, u32)>,
    /// Those that have none, but open handles.
    unnamed: Vec<u64>,
    /// Those that have neither.
    gone: Vec<Object>,
}

impl Loss {
    /// Finds out, and plans, what happens if something no longer names the objects at `named`. An object without names takes its links with it, unless
    /// there are handles of it.
    pub(crate) fn plan(context: &Context, plan: &mut Plan<'_>, named: impl IntoIterator<Item = u64>) -> Result<Loss> {
        let (mut counts, mut gone, mut open) = (HashMap::new(), Vec::new(), Vec::from_iter(named));
        let (mut dead, mut unnamed) = (HashSet::new(), Vec::new());
        while let Some(address) = open.pop() {
            if dead.contains(&address) {
                continue;
            }
            let known = counts.get(&address).copied();
            let count = match known {
                Some(count) => count,
                None => references(context, address)?,
            };
            if count > 1 {
                counts.insert(address, count - 1);
                continue;
            }
            counts.remove(&address);
            dead.insert(address);
            if context.file().has_handle(address) {
                unnamed.push(address);
                continue;
            }
            let object = Object::open(context, address)?;
            open.extend(named_by(context, &object)?);
            gone.push(object);
        }
        counts.keys().for_each(|&address| plan.takes_name(address));
        // What moved away since the last flush is seen elsewhere before its old group is gone.
        gone.iter().for_each(|object| plan.moves_losses(object.address()));
        Ok(Loss { fewer: counts.into_iter().collect(), unnamed, gone })
    }

    /// Whether something names an object anew that is about to lose a name: then its count stays as it is.
    pub(crate) fn regain(&mut self, context: &Context, object: u64) -> Result<bool> {
        let counted = references(context, object)?;
        let mut regained = false;
        if let Some((_, count)) = self.fewer.iter_mut().find(|(address, _)| *address == object) {
            *count += 1;
            regained = true;
        }
        self.fewer.retain(|&(address, count)| address != object || count != counted);
        self.unnamed.retain(|&address| {
            regained |= address == object;
            address != object
        });
        Ok(regained)
    }

    /// What has to be written in which order, if the object at `by` no longer names them.
    pub(crate) fn orders(&self, by: u64) -> impl Iterator<Item = (u64, u64)> {
        self.fewer.iter().map(move |(address, _)| (by, *address))
    }

    /// Does it, after the block at `after` no longer names them, if something in the file led to that.
    pub(crate) fn happen(
        self,
        context: &Context,
        change: &Change<'_>,
        after: Option<u64>,
        drop_values: &mut DropValues<'_>,
    ) -> Result<()> {
        for (address, count) in self.fewer {
            Header::set_references(context.file(), address, count)?;
            after.map_or(Ok(()), |after| change.order(after, address))?;
        }
        self.unnamed.into_iter().try_for_each(|address| context.file().lose_last_name(address))?;
        let mut unused = Vec::new();
        if context.file().shared_table().is_some() {
            for object in &self.gone {
                unused.extend(uses(context, object)?);
            }
        }
        self.gone.into_iter().try_for_each(|object| delete(context, &object, drop_values))?;
        shared_change::release(context, change, unused, after)
    }
}

/// Deletes an object that has neither names nor handles. `lost` is how many flushes there had been when it
/// [lost](hyperslab_file::OpenFile::lose_last_name) its last name, if it ever had one.
pub fn delete_unnamed(
    context: &Context,
    object: u64,
    lost: Option<u64>,
    drop_values: &mut DropValues<'_>,
) -> Result<()> {
    let (file, mut plan) = (context.file(), Plan::new(context));
    let loss = Loss::plan(context, &mut plan, [object])?;
    // Whatever it names loses that name after it lost its own.
    let names_others = !loss.fewer.is_empty() || file.shared_table().is_some();
    plan.flushes_if(lost == Some(file.flushes()) && names_others);
    // Nothing in the file leads to it by now, so that all counts may shrink at any time.
    loss.happen(context, &plan.begin()?, None, drop_values)
}

/// The objects that an object names: by hard links, and as the types of its values and attributes.
pub(crate) fn named_by(context: &Context, object: &Object) -> Result<Vec<u64>> {
    let mut named = attributes::committed_types(context, object)?;
    named.extend(committed_type(context, object)?);
    if object.kind() == Kind::Group {
        let links = Links::of(context, object)?.all()?;
        named.extend(links.iter().filter_map(|link| match link.target {
            Target::Hard(address) => Some(address),
            _ => None,
        }));
    }
    Ok(named)
}

/// What an object uses of shared messages.
fn uses(context: &Context, object: &Object) -> Result<Vec<Use>> {
    let mut uses = attributes::uses(context, object)?;
    for found in object.header().messages().filter(|found| found.kind != kind::ATTRIBUTE) {
        let body = object.header().body(found);
        uses.extend(Use::of_message(context, object.address(), found.kind, found.flags, body)?);
    }
    Ok(uses)
}

/// Where the type of a dataset is committed.
pub(crate) fn committed_type(context: &Context, object: &Object) -> Result<Option<u64>> {
    let header = object.header();
    let Some(found) = header.find(kind::DATATYPE).filter(|found| found.flags.is_shared()) else { return Ok(None) };
    let (place, _) =
        Shared::decode(header.body(found), context.file().widths()).map_err(Error::at(object.address()))?;
    match place {
        Shared::Committed(address) => Ok(Some(address)),
        Shared::Heap(_) => Ok(None),
    }
}

/// Gives back everything that an object owns.
fn delete(context: &Context, object: &Object, drop_values: &mut DropValues<'_>) -> Result<()> {
    let (file, header) = (context.file(), object.header());
    drop_values(object)?;
    if let Some(files) = header.find(kind::EXTERNAL_FILES) {
        let files = message::ExternalFiles::decode(header.body(files), file.widths());
        if let Some(heap) = files.map_err(Error::at(object.address()))?.heap {
            LocalHeap::open(file, heap)?.delete(file)?;
        }
    }
    links::delete_all(context, object)?;
    attributes::delete_all(context, object)?;
    HeaderEdit::open(file, object.address())?.delete()
}
