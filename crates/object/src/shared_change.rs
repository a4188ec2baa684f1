//! Messages that objects share lose users: their counts go down, and what no object uses leaves table and heap. Nothing is shared anew.
//!
//! Lists and trees are shadowed, so that the table switches to all changes with one write, after what no longer uses the messages.

use std::cmp::Ordering;

use hyperslab_base::{Reader, lookup3_seeded};
use hyperslab_file::{Block, Change, Error, Header, Owner, Result};
use hyperslab_format::{
    index::record::{Form, Record, kind as record},
    message::{self, Shared, kind},
    object_header::Flags,
    shared_messages::{self, MessageLocation, SharedIndex, SharedRecord},
};
use hyperslab_structures::{FractalHeap, Tree};

use crate::{
    Context,
    shared_blocks::{SharedList, SharedTable},
};

const TABLE: &str = SharedTable::WHAT;

/// A use of a message that the table of shared messages knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    kind: u16,
    place: Known,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// In the heap, with this id.
    Heap([u8; 8]),
    /// In the header at this address, which has one of its kind, until others use it too; with its bytes, which the header may have lost when the table
    /// changes.
    Header(u64, Vec<u8>),
}

impl Use {
    /// The use of a message in the heap.
    pub(crate) fn of_shared(kind: u16, id: [u8; 8]) -> Use {
        Use { kind, place: Known::Heap(id) }
    }

    /// What a message of the header at `header` uses.
    pub(crate) fn of_message(context: &Context, header: u64, kind: u16, flags: Flags, body: &[u8]) -> Result<Vec<Use>> {
        if context.file().shared_table().is_none() {
            return Ok(Vec::new());
        }
        if flags.is_shared() {
            return Ok(in_heap(context, header, kind, body)?.into_iter().collect());
        }
        if flags.is_in_table() {
            return Ok(vec![Use { kind, place: Known::Header(header, body.to_vec()) }]);
        }
        if kind == kind::ATTRIBUTE { Use::of_attribute(context, header, body) } else { Ok(Vec::new()) }
    }

    /// What an attribute of the object at `object` uses as its type and its size.
    pub(crate) fn of_attribute(context: &Context, object: u64, body: &[u8]) -> Result<Vec<Use>> {
        let parts = message::Attribute::decode(body).map_err(Error::at(object))?;
        let mut uses = Vec::new();
        for (kind, body, is_shared) in [
            (kind::DATATYPE, parts.datatype, parts.datatype_shared),
            (kind::DATASPACE, parts.dataspace, parts.dataspace_shared),
        ] {
            if is_shared {
                uses.extend(in_heap(context, object, kind, body)?);
            }
        }
        Ok(uses)
    }

    /// Whether a record tells of this message.
    fn is(&self, record: &SharedRecord) -> bool {
        match (&self.place, record.location) {
            (Known::Heap(wanted), MessageLocation::Heap { id, .. }) => *wanted == id,
            (Known::Header(wanted, _), MessageLocation::Header { kind, header, .. }) => {
                header == Some(*wanted) && u16::from(kind) == self.kind
            }
            _ => false,
        }
    }
}

fn in_heap(context: &Context, object: u64, kind: u16, body: &[u8]) -> Result<Option<Use>> {
    match Shared::decode(body, context.file().widths()).map_err(Error::at(object))?.0 {
        Shared::Heap(id) => Ok(Some(Use::of_shared(kind, id))),
        Shared::Committed(_) => Ok(None),
    }
}

/// Lowers the counts of messages, after the block at `after` no longer uses them, if something in the file led to it.
pub(crate) fn release(context: &Context, change: &Change<'_>, mut uses: Vec<Use>, after: Option<u64>) -> Result<()> {
    let file = context.file();
    let table = file.shared_table().and_then(|shared| Some((shared.table?, shared.indexes)));
    let (Some((address, indexes)), false) = (table, uses.is_empty()) else { return Ok(()) };
    let mut table = file.load_once(&SharedTable(indexes), address)?;
    while let Some(lost) = uses.pop() {
        // Both fill value messages are one to the table.
        let kind = if lost.kind == kind::OLD_FILL_VALUE { kind::FILL_VALUE } else { lost.kind };
        let Some(index) = table.iter_mut().find(|index| index.types & (1 << kind) != 0) else { continue };
        let (Some(heap), Some(_)) = (index.heap, index.index) else { continue };
        let mut index = Index { context, heap: context.heap(Owner::FILE, heap)?, index };
        let Some(record) = index.find(&lost)? else { continue };
        match record.location {
            MessageLocation::Heap { references, id } if references > 1 => {
                index.change(&record, Some(MessageLocation::Heap { references: references - 1, id }))?;
            }
            MessageLocation::Heap { id, .. } => {
                if lost.kind == kind::ATTRIBUTE {
                    uses.extend(Use::of_attribute(context, address, &index.heap.get(file, &id)?)?);
                }
                index.change(&record, None)?;
                index.heap.remove(file, &id)?;
            }
            MessageLocation::Header { .. } => index.change(&record, None)?,
        }
    }
    file.put(address, shared_messages::encode_table(&table, file.widths())?)?;
    after.map_or(Ok(()), |after| change.order(after, address))
}

/// An index of shared messages that changes.
struct Index<'a> {
    context: &'a Context,
    heap: FractalHeap,
    index: &'a mut SharedIndex,
}

impl Index<'_> {
    fn place(&self) -> u64 {
        self.index.index.unwrap_or(0)
    }

    fn tree(&self) -> Result<Tree> {
        Tree::open(self.context.file(), self.place(), &[record::SHARED])
    }

    fn list(&self) -> Result<Vec<SharedRecord>> {
        self.context.file().load_once(&SharedList(self.index), self.place())
    }

    fn decode(&self, record: &[u8]) -> Result<SharedRecord> {
        let widths = self.context.file().widths();
        SharedRecord::decode(&mut Reader::new(TABLE, record), widths).map_err(Error::at(self.place()))
    }

    /// What is known of a message.
    fn find(&self, lost: &Use) -> Result<Option<SharedRecord>> {
        if self.index.is_list {
            return Ok(self.list()?.into_iter().find(|record| lost.is(record)));
        }
        let tree = self.tree()?;
        if let Some(found) = self.find_by_hash(&tree, lost)? {
            return Ok(Some(found));
        }
        // A hash that was made in another way, of a message that lies in a header with other bytes behind it.
        let mut found = None;
        tree.for_each(self.context.file(), &mut |record| {
            found = found.or(Some(self.decode(record)?).filter(|record| lost.is(record)));
            Ok(())
        })?;
        Ok(found)
    }

    /// The record of a message, looked for on one way through the tree.
    fn find_by_hash(&self, tree: &Tree, lost: &Use) -> Result<Option<SharedRecord>> {
        let body = match &lost.place {
            // One that is not in the heap is not in the tree with its hash, either.
            Known::Heap(id) => self.heap.get(self.context.file(), id).unwrap_or_default(),
            Known::Header(_, body) => body.clone(),
        };
        let hash = lookup3_seeded(&body, lost.kind.into());
        let mut order = |record: &[u8]| {
            let record = self.decode(record)?;
            if record.hash != hash || lost.is(&record) {
                return Ok(record.hash.cmp(&hash));
            }
            Ok(compare(&self.body(&record)?, &body))
        };
        let found = tree.find(self.context.file(), &mut order, |record| self.decode(record))?;
        Ok(found.filter(|record| lost.is(record)))
    }

    /// Puts a record into another place, or takes it out.
    fn change(&mut self, old: &SharedRecord, location: Option<MessageLocation>) -> Result<()> {
        let (file, widths) = (self.context.file(), self.context.file().widths());
        let new = location.map(|location| SharedRecord { location, ..*old });
        self.index.index = Some(if self.index.is_list {
            let list = self.list()?.into_iter().filter_map(|record| if record == *old { new } else { Some(record) });
            let list: Vec<_> = list.collect();
            let bytes = shared_messages::encode_list(&list, self.index.max_list, widths)?;
            let place = file.shadow(self.place(), bytes.len() as u64)?;
            file.put(place, bytes)?;
            place
        } else {
            let mut tree = self.tree()?;
            tree.relocate(file)?;
            tree.remove(file, &mut |record| self.order(record, old))?;
            if let Some(new) = &new {
                let bytes = Form::Plain(record::SHARED).encode(&Record::Shared(*new), widths)?;
                tree.insert(file, &bytes, &mut |record| self.order(record, new))?;
            }
            tree.address()
        });
        self.index.messages = self.index.messages.saturating_sub(u16::from(new.is_none()));
        Ok(())
    }

    /// Records are ordered by the hash of the message, then by its bytes.
    fn order(&self, record: &[u8], other: &SharedRecord) -> Result<Ordering> {
        let record = self.decode(record)?;
        if record == *other || record.hash != other.hash {
            return Ok(record.hash.cmp(&other.hash));
        }
        Ok(compare(&self.body(&record)?, &self.body(other)?))
    }

    fn body(&self, record: &SharedRecord) -> Result<Vec<u8>> {
        let file = self.context.file();
        match record.location {
            MessageLocation::Heap { id, .. } => self.heap.get(file, &id),
            MessageLocation::Header { kind, header, .. } => {
                let header = Header::read(file, header.unwrap_or(0))?;
                Ok(header.find(kind.into()).map(|found| header.body(found).to_vec()).unwrap_or_default())
            }
        }
    }
}

/// Messages of one hash are ordered by their length, then by their bytes.
fn compare(left: &[u8], right: &[u8]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}
