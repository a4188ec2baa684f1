//! Stored values on their way to another file: what lies in the heap, or is of variable length in chunks, is gathered first, and gets its new place when all is there.

use std::borrow::Cow;

use hyperslab_base::Sink;
use hyperslab_dtype::{Arena, Class, Datatype, HeapReference, Reference, Source};

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
        self.gather_all(session, (from, to), (values, None), false).map(Some)
    }

    /// As [`Copier::gather`], of values that may have what is of variable length in an arena; for the heap of the target or, if they are to be `beside`, for an arena.
    pub(super) fn gather_all(
        &mut self,
        session: &Session,
        (from, to): (&Datatype, &Datatype),
        (values, arena): (&[u8], Option<&Arena>),
        beside: bool,
    ) -> Result<Gathered> {
        let count = values.len() / from.size().max(1);
        let gathered = Gathered { values: room(count as u64, to.size())?, pieces: Vec::new() };
        let heap = session.heap();
        let mut work = Work { copier: self, heap: &heap, arena, beside, gathered, nested: 0 };
        work.row(None, 0, (from, to), values, count)?;
        let Work { gathered, nested, .. } = work;
        // Values that cannot be copied take nothing from others.
        let left = self.nested_left(&heap);
        *left = left.saturating_sub(nested);
        Ok(gathered)
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

/// The bytes that libhdf5 has for a revised reference in memory.
const IN_MEMORY: usize = 64;

struct Work<'a, 'b> {
    copier: &'a mut Copier<'b>,
    heap: &'a Heap<'a>,
    /// Where what is of variable length is, if not in the heap.
    arena: Option<&'a Arena>,
    /// Whether it goes to an arena, not to a heap.
    beside: bool,
    gathered: Gathered,
    /// Bytes of sequences that hold references themselves.
    nested: u64,
}

impl<'a> Work<'a, '_> {
    /// Values one after the other, to a place in a piece.
    fn row(
        &mut self,
        parent: Option<usize>,
        at: usize,
        (from, to): (&Datatype, &Datatype),
        bytes: &[u8],
        count: usize,
    ) -> Result<()> {
        if !self.changes(from, to) {
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
                let (from, size) = (&*from_vlen.base, to.size());
                // Chunks tell an empty sequence from a null one, the heap does not.
                let keeps_empty = to_vlen.text.is_some() || self.arena.is_none() || self.beside;
                let found = self.elements(value, from.size())?;
                let Some((count, stored)) = found.filter(|(count, _)| keeps_empty || *count > 0) else {
                    self.null(parent, at, to);
                    return Ok(());
                };
                let form = Form::Sequence(count);
                let bytes = stored.get(..count.saturating_mul(from.size())).ok_or_else(|| {
                    let why = format!("{count} elements of {} bytes where the heap has {}", from.size(), stored.len());
                    hyperslab_dtype::Error::Sequence(why)
                })?;
                if from.has_vlen() && self.arena.is_none() {
                    self.nested = self.nested.saturating_add(bytes.len() as u64);
                    if self.nested > *self.copier.nested_left(self.heap) {
                        let why = "references lead to more bytes than the file has".to_owned();
                        return Err(hyperslab_dtype::Error::Sequence(why).into());
                    }
                }
                let each = match from.class() {
                    // libhdf5 stores them one after the other, in objects that have room for them in memory.
                    Class::Reference(Reference::Revised(_)) if !self.beside => IN_MEMORY,
                    _ => to_vlen.base.size(),
                };
                let piece = Piece { bytes: room(count as u64, each)?, parent, at, size, form };
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

    /// How many elements a sequence has, and their bytes; nothing if it is null.
    fn elements(&self, value: &[u8], size: usize) -> Result<Option<(usize, Cow<'a, [u8]>)>> {
        if let Some(arena) = self.arena {
            return Ok(arena.get(value, size)?.map(|bytes| (bytes.len() / size.max(1), Cow::Borrowed(bytes))));
        }
        let reference = HeapReference::decode(value)?;
        if reference.is_null() {
            return Ok(None);
        }
        let stored = self.heap.object(reference.address, reference.index)?;
        Ok(Some((reference.count as usize, Cow::Owned(stored))))
    }

    /// Whether values of a type are other bytes in the target.
    fn changes(&self, from: &Datatype, to: &Datatype) -> bool {
        let is_beside = |part: &Datatype| part.encoded_reference().is_some();
        self.copier.changes(self.heap.session(), from, to) || from.any(&mut |part| is_beside(part))
    }

    /// A reference to something of another file than the target, or one that is kept elsewhere there. What has no copy is not referred to.
    fn reference(
        &mut self,
        parent: Option<usize>,
        at: usize,
        kind: Reference,
        (from, to): (&Datatype, &Datatype),
        value: &[u8],
    ) -> Result<()> {
        let file = self.heap.session();
        let is_own = *file == self.copier.target;
        if is_own && from.size() == to.size() && from.encoded_reference().is_none() {
            self.put(parent, at, value);
            return Ok(());
        }
        // Null, and what cannot be understood any more, are null in the copy.
        self.null(parent, at, to);
        if kind == Reference::Object {
            let Ok(Some(referent)) = self.heap.dereference(from, value) else { return Ok(()) };
            let Some(copy) = self.copier.referred(file, referent.address)? else { return Ok(()) };
            let mut sink = Sink::new();
            sink.uint(self.copier.target.file().widths().offsets, copy);
            self.put(parent, at, sink.as_bytes());
            return Ok(());
        }
        let Ok(Some(said)) = self.said(kind, from, value) else { return Ok(()) };
        let said = if is_own { Some(said) } else { self.translated(kind, said)? };
        let Some(said) = said else { return Ok(()) };
        let size = to.size();
        if to.encoded_reference().is_some() {
            self.add(Piece { bytes: said, parent, at, size, form: Form::Bytes });
            return Ok(());
        }
        match (kind, said.as_slice()) {
            (Reference::Revised(_), &[kind, flags, ref body @ ..]) => {
                if kind == OBJECT && flags & EXTERNAL == 0 {
                    self.put(parent, at, said.get(..size).unwrap_or(&said));
                    return Ok(());
                }
                let mut front = vec![kind, flags];
                front.extend_from_slice(&(body.len() as u32).to_le_bytes());
                self.put(parent, at, &front);
                self.add(Piece { bytes: body.to_vec(), parent, at, size, form: Form::After(6) });
            }
            _ => {
                self.add(Piece { bytes: said, parent, at, size, form: Form::After(0) });
            }
        }
        Ok(())
    }

    /// All that a reference says; nothing if it is null.
    fn said(&self, kind: Reference, from: &Datatype, value: &[u8]) -> Result<Option<Vec<u8>>> {
        match (from.encoded_reference(), self.arena) {
            (Some(_), Some(arena)) => Ok(arena.get(value, 1)?.filter(|said| !said.is_empty()).map(<[u8]>::to_vec)),
            _ => self.heap.encoded_reference(kind, value),
        }
    }

    /// What a reference says of the copy of what it refers to; nothing if there is no copy.
    fn translated(&mut self, kind: Reference, said: Vec<u8>) -> Result<Option<Vec<u8>>> {
        let file = self.heap.session();
        let Ok(referent) = self.heap.decode_reference(kind, &said) else { return Ok(None) };
        if referent.file.is_some() {
            return Ok(Some(said));
        }
        let Some(copy) = self.copier.referred(file, referent.address)? else { return Ok(None) };
        let (from_width, to_width) = (file.file().widths().offsets, self.copier.target.file().widths().offsets);
        let mut sink = Sink::new();
        let rest = match (kind, said.as_slice()) {
            (Reference::Revised(_), &[kind, flags, token, ref rest @ ..]) => {
                sink.extend(&[kind, flags, to_width.bytes() as u8]);
                rest.get(usize::from(token)..)
            }
            _ => said.get(from_width.bytes()..),
        };
        sink.uint(to_width, copy);
        sink.extend(rest.unwrap_or_default());
        Ok(Some(sink.into_bytes()))
    }

    fn add(&mut self, piece: Piece) -> usize {
        self.gathered.pieces.push(piece);
        self.gathered.pieces.len() - 1
    }

    fn put(&mut self, parent: Option<usize>, at: usize, bytes: &[u8]) {
        self.slot(parent, at).iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    }

    /// Puts a null sequence or reference in place of what a structure around it has put there.
    fn null(&mut self, parent: Option<usize>, at: usize, to: &Datatype) {
        let is_named = matches!(to.class(), Class::Vlen(_)) || to.encoded_reference().is_some();
        let is_in_arena = self.beside && is_named;
        let slot = self.slot(parent, at).iter_mut().take(to.size());
        // The start of what is null in an arena is all ones.
        slot.enumerate().for_each(|(nth, to)| *to = if is_in_arena && nth < 8 { 0xff } else { 0 });
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
