//! Values on their way to another file, with what goes to its heap.

use hyperslab_base::Sink;
use hyperslab_dtype::{Arena, HeapReference, Target};
use hyperslab_session::{HeapWriter, Result, Session};

/// Values, and what of them goes to the heap.
pub(super) struct Gathered {
    pub(super) values: Vec<u8>,
    /// Those that others refer to come after them.
    pub(super) pieces: Vec<Piece>,
}

/// Bytes that go to the heap.
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// The piece that refers to them; none for the values themselves.
    pub(super) parent: Option<usize>,
    /// Where in it the reference is, and how long that is.
    pub(super) at: usize,
    pub(super) size: usize,
    pub(super) form: Form,
}

/// How heap objects are referred to.
pub(super) enum Form {
    /// With how many elements there are.
    Sequence(usize),
    /// By address and index alone, after so many other bytes.
    After(usize),
    /// As so many bytes, beside the values.
    Bytes,
}

impl Gathered {
    pub(super) fn values(&self) -> &[u8] {
        &self.values
    }

    /// Puts everything into the heap of a file; the values, which refer to it. Only within an operation.
    pub(super) fn store(self, session: &Session) -> Result<Vec<u8>> {
        HeapWriter::new(session).attempt(|heap| self.put(session, heap))
    }

    fn put(mut self, session: &Session, heap: &mut HeapWriter<'_>) -> Result<Vec<u8>> {
        while let Some(piece) = self.pieces.pop() {
            let (address, index) = heap.put(&piece.bytes)?;
            let parent = match piece.parent {
                Some(parent) => self.pieces.get_mut(parent).map(|parent| &mut parent.bytes),
                None => Some(&mut self.values),
            };
            let range = piece.at..piece.at.saturating_add(piece.size);
            let Some(slot) = parent.and_then(|parent| parent.get_mut(range)) else { continue };
            match piece.form {
                Form::Sequence(count) => {
                    let large =
                        || hyperslab_dtype::Error::Sequence(format!("{count} elements are more than a file can count"));
                    let count = u32::try_from(count).map_err(|_| large())?;
                    HeapReference { count, address, index }.encode(slot)?;
                }
                Form::After(others) => {
                    let mut sink = Sink::new();
                    sink.uint(session.file().widths().offsets, address);
                    sink.u32(index);
                    slot.iter_mut().skip(others).zip(sink.as_bytes()).for_each(|(to, from)| *to = *from);
                }
                Form::Bytes => {}
            }
        }
        heap.commit()?;
        Ok(self.values)
    }

    /// The values, with everything beside them in an arena.
    pub(super) fn into_arena(mut self) -> Result<(Vec<u8>, Arena)> {
        let mut arena = Arena::default();
        while let Some(piece) = self.pieces.pop() {
            let parent = match piece.parent {
                Some(parent) => self.pieces.get_mut(parent).map(|parent| &mut parent.bytes),
                None => Some(&mut self.values),
            };
            let range = piece.at..piece.at.saturating_add(piece.size);
            let Some(slot) = parent.and_then(|parent| parent.get_mut(range)) else { continue };
            let count = match piece.form {
                Form::Sequence(count) => count,
                Form::Bytes | Form::After(_) => piece.bytes.len(),
            };
            arena.store(Some((count, &piece.bytes)), slot)?;
        }
        Ok((self.values, arena))
    }
}
