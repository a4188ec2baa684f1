//! What stored values of variable length name in the global heap, so that it can be taken away with them.

use hyperslab_dtype::{Class, Datatype, HeapReference};

use crate::{Heap, Session};

/// An object of the global heap that a value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HeapObjectId {
    /// Its collection.
    pub address: u64,
    /// Its number in the collection.
    pub index: u32,
    /// How long the value says that it is.
    pub length: u64,
}

/// Leaves each object once, in any order.
pub(crate) fn each_once(objects: &mut Vec<HeapObjectId>) {
    objects.sort_unstable_by_key(HeapObjectId::number);
    objects.dedup_by_key(|object| object.number());
}

impl HeapObjectId {
    /// What tells it apart from others.
    pub(crate) fn number(&self) -> (u64, u32) {
        (self.address, self.index)
    }
}

impl Session {
    /// The objects of the heap that stored values name, and those that these name in turn. What cannot be read names nothing.
    pub fn heap_objects(&self, datatype: &Datatype, bytes: &[u8]) -> Vec<HeapObjectId> {
        let mut found = Vec::new();
        if datatype.has_vlen() && bytes.iter().any(|byte| *byte != 0) {
            // Bad references may lead to the same bytes again and again.
            let mut walk = Walk { heap: self.heap(), left: self.size(), found: &mut found };
            walk.all(datatype, bytes);
        }
        found
    }
}

struct Walk<'a> {
    heap: Heap<'a>,
    /// How many bytes of the heap are looked at yet.
    left: u64,
    found: &'a mut Vec<HeapObjectId>,
}

impl Walk<'_> {
    fn all(&mut self, datatype: &Datatype, bytes: &[u8]) {
        bytes.chunks_exact(datatype.size().max(1)).for_each(|value| self.value(datatype, value));
    }

    fn value(&mut self, datatype: &Datatype, bytes: &[u8]) {
        match datatype.class() {
            Class::Vlen(vlen) => {
                let Some(reference) = HeapReference::decode(bytes).ok().filter(|found| !found.is_null()) else {
                    return;
                };
                let length = if vlen.text.is_some() { 1 } else { vlen.base.size() as u64 };
                let length = length.saturating_mul(u64::from(reference.count));
                self.found.push(HeapObjectId { address: reference.address, index: reference.index, length });
                if vlen.text.is_some() || !vlen.base.has_vlen() {
                    return;
                }
                let Ok(elements) = self.heap.object(reference.address, reference.index) else { return };
                let Some(left) = self.left.checked_sub(elements.len() as u64) else { return };
                self.left = left;
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                self.all(&vlen.base, elements.get(..length).unwrap_or(&elements));
            }
            Class::Compound(compound) => {
                for member in compound.members().iter().filter(|member| member.datatype.has_vlen()) {
                    let part = bytes.get(member.offset as usize..).and_then(|rest| rest.get(..member.datatype.size()));
                    self.value(&member.datatype, part.unwrap_or_default());
                }
            }
            Class::Array(array) if array.base().has_vlen() => self.all(array.base(), bytes),
            _ => {}
        }
    }
}
