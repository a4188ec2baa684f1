//! Stored values on their way to another file: what lies in the heap is gathered first, and gets its new place when all is there.

use hyperslab_base::{Reader, Sink};
use hyperslab_dtype::{Class, Datatype, HeapReference, Reference, Source};

use hyperslab_session::{Heap, Result, Session, room};

use crate::{
    gathered::{Form, Gathered, Piece},
    tree::{Copier, key},
};

/// The kinds of revised references, and the flag of those into other files.
const OBJECT: u8 = 2;
const EXTERNAL: u8 = 1;

impl Copier<'_> {
    /// Values of the type `from` as values of `to`, which is the same in the target; nothing if they are the same bytes there.
    pub(super) fn gather(
        &mut self,
        session: &Session,
        from: &Datatype,
        to: &Datatype,
        values: &[u8],
    ) -> Result<Option<Gathered>> {
        if !self.changes(session, from, to) {
            return Ok(None);
        }
        let count = values.len() / from.size().max(1);
        let gathered = Gathered { values: room(count as u64, to.size())?, pieces: Vec::new() };
        let heap = session.heap();
        let mut work = Work { copier: self, heap: &heap, gathered, nested: 0 };
        work.row(None, 0, (from, to), values, count)?;
        let Work { gathered, nested, .. } = work;
        // Values that cannot be copied take nothing from others.
        let left = self.nested_left(&heap);
        *left = left.saturating_sub(nested);
        Ok(Some(gathered))
    }

    /// How many bytes of sequences that hold references themselves may still come: each is in the file once, unless bad references lead back
    /// to where they are.
    fn nested_left(&mut self, heap: &Heap<'_>) -> &mut u64 {
        let (file, _) = key(heap.session(), 0);
        self.nested_left.entry(file).or_insert_with(|| heap.most())
    }

    /// Whether values of a type are other bytes in the target.
    pub(super) fn changes(&self, session: &Session, from: &Datatype, to: &Datatype) -> bool {
        from.has_vlen() || from.size() != to.size() || from.has_reference() && *session != self.target
    }
}

struct Work<'a, 'b> {
    copier: &'a mut Copier<'b>,
    heap: &'a Heap<'a>,
    gathered: Gathered,
    /// Bytes of sequences that hold references themselves.
    nested: u64,
}

impl Work<'_, '_> {
    /// Values one after the other, to a place in a piece.
    fn row(
        &mut self,
        parent: Option<usize>,
        at: usize,
        (from, to): (&Datatype, &Datatype),
        bytes: &[u8],
        count: usize,
    ) -> Result<()> {
        if !self.copier.changes(self.heap.session(), from, to) {
            self.put(parent, at, bytes.get(..count.saturating_mul(from.size())).unwrap_or(bytes));
            return Ok(());
        }
        let places = (0..count).map(|nth| at + nth * to.size());
        places
            .zip(bytes.chunks_exact(from.size().max(1)))
            .try_for_each(|(at, value)| self.one(parent, at, (from, to), value))
    }

    fn one(
        &mut self,
        parent: Option<usize>,
        at: usize,
        (from, to): (&Datatype, &Datatype),
        value: &[u8],
    ) -> Result<()> {
        match (from.class(), to.class()) {
            (Class::Compound(from_members), Class::Compound(to_members)) => {
                if from.size() == to.size() {
                    // What lies between members stays, too.
                    self.put(parent, at, value);
                }
                for (from, to) in from_members.members().iter().zip(to_members.members()) {
                    let start = from.offset as usize;
                    let part = value.get(start..start + from.datatype.size()).unwrap_or_default();
                    self.row(parent, at + to.offset as usize, (&from.datatype, &to.datatype), part, 1)?;
                }
                Ok(())
            }
            (Class::Array(from), Class::Array(to)) => {
                self.row(parent, at, (from.base(), to.base()), value, from.elements())
            }
            (Class::Vlen(from_vlen), Class::Vlen(to_vlen)) => {
                let reference = HeapReference::decode(value)?;
                if reference.is_null() {
                    self.clear(parent, at, to.size());
                    return Ok(());
                }
                let (from, size) = (&*from_vlen.base, to.size());
                let count = reference.count as usize;
                let stored = self.heap.object(reference.address, reference.index)?;
                if let (Class::Reference(Reference::Revised(_)), true) = (from.class(), count > 0) {
                    // libhdf5 gives each of them the room that it takes in memory, whatever its type says.
                    let room = (stored.len() / count).max(from.size()).max(1);
                    let bytes = vec![0; stored.len()];
                    let nth = self.add(Piece { bytes, parent, at, size, form: Form::Sequence(reference.count) });
                    let each = (0..count).map(|nth| nth * room).zip(stored.chunks_exact(room));
                    let target = (from, &*to_vlen.base);
                    return each.into_iter().try_for_each(|(at, value)| {
                        self.one(Some(nth), at, target, value.get(..from.size()).unwrap_or(value))
                    });
                }
                let bytes = stored.get(..count.saturating_mul(from.size())).ok_or_else(|| {
                    let why = format!("{count} elements of {} bytes where the heap has {}", from.size(), stored.len());
                    hyperslab_dtype::Error::Sequence(why)
                })?;
                if from.has_vlen() {
                    self.nested = self.nested.saturating_add(bytes.len() as u64);
                    if self.nested > *self.copier.nested_left(self.heap) {
                        let why = "references lead to more bytes than the file has".to_owned();
                        return Err(hyperslab_dtype::Error::Sequence(why).into());
                    }
                }
                let room = room(count as u64, to_vlen.base.size())?;
                let piece = Piece { bytes: room, parent, at, size, form: Form::Sequence(reference.count) };
                let nth = self.add(piece);
                self.row(Some(nth), 0, (from, &to_vlen.base), bytes, count)
            }
            (Class::Reference(reference), _) => self.reference(parent, at, *reference, (from, to), value),
            _ => {
                self.put(parent, at, value);
                Ok(())
            }
        }
    }

    /// A reference to something of another file than the target. What has no copy is not referred to.
    fn reference(
        &mut self,
        parent: Option<usize>,
        at: usize,
        reference: Reference,
        (from, to): (&Datatype, &Datatype),
        value: &[u8],
    ) -> Result<()> {
        let file = self.heap.session();
        if *file == self.copier.target {
            self.put(parent, at, value);
            return Ok(());
        }
        // Null, and what cannot be understood any more, are null in the copy.
        self.clear(parent, at, to.size());
        let Ok(Some(referent)) = self.heap.dereference(from, value) else { return Ok(()) };
        let outside = referent.file.is_some();
        let copy = match outside {
            true => Some(referent.address),
            false => self.copier.referred(file, referent.address)?,
        };
        let Some(copy) = copy else { return Ok(()) };
        let (from_width, to_width) = (file.file().widths().offsets, self.copier.target.file().widths().offsets);
        let mut sink = Sink::new();
        match reference {
            Reference::Object => {
                sink.uint(to_width, copy);
                self.put(parent, at, sink.as_bytes());
            }
            Reference::Region => {
                let stored = self.heap_object(value)?;
                sink.uint(to_width, copy);
                sink.extend(stored.get(from_width.bytes()..).unwrap_or_default());
                let (bytes, form) = (sink.into_bytes(), Form::After(0));
                self.add(Piece { bytes, parent, at, size: to.size(), form });
            }
            Reference::Revised(_) => {
                let (kind, flags) = (value.first().copied().unwrap_or(0), value.get(1).copied().unwrap_or(0));
                let inline = kind == OBJECT && flags & EXTERNAL == 0;
                let stored = match inline {
                    true => value.get(2..).unwrap_or_default().to_vec(),
                    false => self.heap_object(value.get(6..).unwrap_or_default())?,
                };
                match outside {
                    true => sink.extend(&stored),
                    false => {
                        let token = stored.first().map_or(0, |length| usize::from(*length));
                        sink.extend(&[to_width.bytes() as u8]);
                        sink.uint(to_width, copy);
                        sink.extend(stored.get(1 + token..).unwrap_or_default());
                    }
                }
                let body = sink.into_bytes();
                let mut front = vec![kind, flags];
                if inline {
                    front.extend_from_slice(&body);
                    front.truncate(to.size());
                    self.put(parent, at, &front);
                    return Ok(());
                }
                front.extend_from_slice(&(body.len() as u32).to_le_bytes());
                self.put(parent, at, &front);
                self.add(Piece { bytes: body, parent, at, size: to.size(), form: Form::After(6) });
            }
        }
        Ok(())
    }

    /// What lies in the heap, by its address and index.
    fn heap_object(&self, place: &[u8]) -> Result<Vec<u8>> {
        let mut reader = Reader::new("reference", place);
        let address = reader.uint(self.heap.session().file().widths().offsets)?;
        self.heap.object(address, reader.u32()?)
    }

    fn add(&mut self, piece: Piece) -> usize {
        self.gathered.pieces.push(piece);
        self.gathered.pieces.len() - 1
    }

    fn put(&mut self, parent: Option<usize>, at: usize, bytes: &[u8]) {
        self.slot(parent, at).iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    }

    /// Takes away what a structure around a value has put in its place.
    fn clear(&mut self, parent: Option<usize>, at: usize, size: usize) {
        self.slot(parent, at).iter_mut().take(size).for_each(|to| *to = 0);
    }

    /// The bytes of a piece from a place on.
    fn slot(&mut self, parent: Option<usize>, at: usize) -> &mut [u8] {
        let room = match parent {
            Some(parent) => self.gathered.pieces.get_mut(parent).map(|piece| &mut piece.bytes),
            None => Some(&mut self.gathered.values),
        };
        room.and_then(|room| room.get_mut(at..)).unwrap_or_default()
    }
}
