//! Changing the messages of a header. Nothing is in the file, or changed there, before [`HeaderEdit::save`].

use std::sync::Arc;

use hyperslab_format::{
    message::{Continuation, kind},
    object_header::{Flags, Message, Prefix},
};

use smallvec::SmallVec;

use super::{Header, NewHeader, now};
use crate::{Error, OpenFile, Result};

/// The most bytes that a message has.
const MAX_BODY: usize = 65_535;

/// A header that is being changed or made. Unknown messages stay as they are.
///
/// It is saved by one write: of its first block, and whatever else changes goes to space that nothing in the file names yet; or of another
/// block that keeps its size, if nothing but attributes in it changes. What must be written before or after a header is ordered by the address of the header, which
/// stands for the block that shows the change.
#[derive(Debug)]
pub struct HeaderEdit<'a> {
    pub(super) file: &'a OpenFile,
    /// As it was; a new one was not.
    pub(super) before: Option<Arc<Header>>,
    pub(super) prefix: Prefix,
    /// Whether `blocks` and `pieces` are filled: when the first message changes. Before that, `before` says it all, but for messages that were added.
    pub(super) is_apart: bool,
    pub(super) blocks: Vec<Block>,
    /// All messages; as long as the header is not taken apart, those that were added.
    pub(super) pieces: Vec<Piece>,
    /// Whether the time of the last change is to be noted.
    pub(super) touched: bool,
    /// Whether messages changed that are no attributes. Attributes are seen one by one, other messages belong together.
    pub(super) belongs_together: bool,
}

/// A message of a header that is being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageId(usize);

#[derive(Debug, Default)]
pub(super) struct Block {
    /// Where it is; nowhere yet if it is new.
    pub(super) address: Option<u64>,
    /// How many bytes it has there, with all that is not messages.
    pub(super) stored: usize,
    /// How many bytes of messages it will have room for.
    pub(super) room: usize,
    /// How many bytes its messages take.
    pub(super) used: usize,
    /// How many empty messages it has in the file.
    pub(super) empty: usize,
    /// How many empty messages it will have at least, if it changes and has room for them.
    pub(super) parts: usize,
    pub(super) changed: bool,
    /// The continuation message that names it; the first block has none.
    pub(super) named_by: Option<usize>,
}

/// The bytes of a message; most have few.
pub(super) type Body = SmallVec<[u8; 64]>;

#[derive(Debug)]
pub(super) struct Piece {
    pub(super) kind: u16,
    pub(super) flags: Flags,
    pub(super) order: Option<u16>,
    pub(super) body: Body,
    /// The block that it is in, if it has a place.
    pub(super) block: Option<usize>,
    pub(super) gone: bool,
}

impl Piece {
    pub(super) fn message(&self) -> Message<'_> {
        Message { kind: self.kind, flags: self.flags, order: self.order, body: &self.body }
    }
}

impl<'a> HeaderEdit<'a> {
    /// Reads a header in order to change it.
    pub fn open(file: &'a OpenFile, address: u64) -> Result<HeaderEdit<'a>> {
        let header = Header::read(file, address)?;
        let prefix = header.prefix().clone();
        header.check_changeable()?;
        Ok(HeaderEdit {
            file,
            before: Some(header),
            prefix,
            is_apart: false,
            blocks: Vec::new(),
            pieces: Vec::new(),
            touched: false,
            belongs_together: false,
        })
    }

    /// A header that is not there yet, for a caller that changes the one that is, if there is one.
    pub(crate) fn new(file: &'a OpenFile, new: &NewHeader) -> HeaderEdit<'a> {
        let first = Block { room: new.room, changed: true, ..Block::default() };
        let (before, blocks, pieces, touched, belongs_together) = (None, vec![first], Vec::new(), false, false);
        HeaderEdit { file, before, prefix: new.prefix(), is_apart: true, blocks, pieces, touched, belongs_together }
    }

    /// What stands before the first message.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The messages of a type, in their order.
    pub fn all(&self, kind: u16) -> impl Iterator<Item = MessageId> {
        let stored = self.whole().into_iter().flat_map(Header::framed).map(|(message, _)| (message.kind, false));
        let pieces = self.pieces.iter().map(|piece| (piece.kind, piece.gone));
        let all = stored.chain(pieces).enumerate().filter(move |(_, (found, gone))| *found == kind && !gone);
        all.map(|(nth, _)| MessageId(nth))
    }

    /// The first message of a type.
    pub fn find(&self, kind: u16) -> Option<MessageId> {
        self.all(kind).next()
    }

    /// A message with its body; an empty one if it was removed.
    pub fn message(&self, id: MessageId) -> Message<'_> {
        if let Some((header, found)) = self.whole().and_then(|header| Some((header, header.nth(id.0)?))) {
            return Message { kind: found.kind, flags: found.flags, order: found.order, body: header.body(found) };
        }
        match self.pieces.get(id.0 - self.stored_messages()).filter(|piece| !piece.gone) {
            Some(piece) => piece.message(),
            None => Message { kind: kind::NIL, flags: Flags::NONE, order: None, body: &[] },
        }
    }

    /// The bytes of a message.
    pub fn body(&self, id: MessageId) -> &[u8] {
        self.message(id).body
    }

    /// Adds a message. Headers that keep orders take 0 where none is given; others have no place for one.
    pub fn add(&mut self, kind: u16, flags: Flags, order: Option<u16>, body: Vec<u8>) -> Result<MessageId> {
        check_size(&self.prefix, &body)?;
        let order = self.prefix.ordered.then(|| order.unwrap_or(0));
        self.note_change(kind);
        self.pieces.push(Piece { kind, flags, order, body: body.into(), block: None, gone: false });
        Ok(MessageId(self.stored_messages() + self.pieces.len() - 1))
    }

    /// How many messages are numbered before the first of `pieces`.
    fn stored_messages(&self) -> usize {
        self.whole().map_or(0, |header| header.framed().count())
    }

    /// Gives a message another body. It moves if it does not fit where it is.
    pub fn replace(&mut self, id: MessageId, body: Vec<u8>) -> Result<()> {
        check_size(&self.prefix, &body)?;
        if self.body(id) == body {
            return Ok(());
        }
        self.take_apart();
        let Some(piece) = self.pieces.get_mut(id.0) else { return Ok(()) };
        let (before, after) = (self.prefix.message_size(piece.body.len()), self.prefix.message_size(body.len()));
        piece.body = body.into();
        let (block, kind) = (piece.block, piece.kind);
        self.note_change(kind);
        if let Some(block) = block.map(|nth| self.block(nth)) {
            block.changed = true;
            block.used = block.used - before + after;
            if after > before && block.used > block.room {
                self.unplace(id.0);
            }
        }
        Ok(())
    }

    /// Sets the body and the flags of a message.
    pub fn replace_flagged(&mut self, id: MessageId, flags: Flags, body: Vec<u8>) -> Result<()> {
        self.replace(id, body)?;
        if self.message(id).flags == flags {
            return Ok(());
        }
        self.take_apart();
        if let Some(piece) = self.pieces.get_mut(id.0) {
            piece.flags = flags;
            let (block, kind) = (piece.block, piece.kind);
            self.note_change(kind);
            block.into_iter().for_each(|block| self.block(block).changed = true);
        }
        Ok(())
    }

    /// Takes a message out.
    pub fn remove(&mut self, id: MessageId) {
        self.take_apart();
        self.unplace(id.0);
        if let Some(piece) = self.pieces.get_mut(id.0) {
            piece.gone = true;
            let kind = piece.kind;
            self.note_change(kind);
        }
    }

    fn note_change(&mut self, kind: u16) {
        self.belongs_together |= kind != kind::ATTRIBUTE;
    }

    /// Says how many hard links name the object: in front of version 1, in a message of version 2 if it is not one.
    pub fn set_references(&mut self, count: u32) -> Result<()> {
        if self.prefix.version == 1 {
            self.take_apart();
            self.prefix.references = Some(count);
            self.block(0).changed = true;
            return Ok(());
        }
        let body = hyperslab_format::message::encode_reference_count(count);
        match self.find(kind::REFERENCE_COUNT) {
            Some(id) if count <= 1 => self.remove(id),
            Some(id) => self.replace(id, body)?,
            None if count > 1 => {
                self.add(kind::REFERENCE_COUNT, Flags::NEVER_SHARED, None, body)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Notes that the object was changed now, if it keeps that time. The header gets the time when it is saved.
    pub fn touch(&mut self) {
        self.touched = true;
    }

    /// Whether the header tells when it was changed.
    pub(super) fn has_time(&self) -> bool {
        self.prefix.times.is_some() || self.prefix.version == 1 && self.find(kind::MODIFICATION_TIME).is_some()
    }

    pub(super) fn set_time(&mut self) -> Result<()> {
        if let Some([access, _, change, _]) = &mut self.prefix.times {
            // libhdf5 leaves the modification time alone.
            (*access, *change) = (now(), now());
            self.block(0).changed = true;
        } else if let Some(id) = self.find(kind::MODIFICATION_TIME).filter(|_| self.prefix.version == 1) {
            self.replace(id, hyperslab_format::message::encode_modification_time(now()))?;
        }
        Ok(())
    }

    /// Gives all its space back.
    pub fn delete(mut self) -> Result<()> {
        self.take_apart();
        let file = self.file;
        file.store()?.deleted.add(self.address());
        let stored = self.blocks.iter().filter_map(|block| Some((block.address?, block.stored)));
        stored.into_iter().try_for_each(|(address, length)| file.free(address, length as u64))
    }

    pub(super) fn address(&self) -> u64 {
        let stored = self.before.as_ref().map(|before| before.address());
        stored.or_else(|| self.blocks.first()?.address).unwrap_or(0)
    }

    /// How many bytes of a block are not messages.
    pub(super) fn around(&self, block: usize) -> usize {
        match (block, self.prefix.version) {
            (0, _) => self.prefix.full_size().saturating_sub(self.prefix.first.len()),
            (_, 1) => 0,
            _ => 8,
        }
    }

    #[expect(clippy::indexing_slicing, reason = "every number of a block comes from the list of blocks")]
    pub(super) fn block(&mut self, nth: usize) -> &mut Block {
        &mut self.blocks[nth]
    }

    /// Takes a message from its place.
    pub(super) fn unplace(&mut self, nth: usize) {
        let size = self.size(nth);
        if let Some(block) = self.pieces.get_mut(nth).and_then(|piece| piece.block.take()) {
            let block = self.block(block);
            (block.changed, block.used) = (true, block.used - size);
        }
    }

    /// The continuation message for a block; its bytes come when the block has its place.
    pub(super) fn continuation(&self, address: u64, length: usize) -> Result<Body> {
        Ok(Continuation { address, length: length as u64 }.encode(self.file.widths())?.into())
    }
}

/// Refuses the body of a message that is too long.
pub(super) fn check_size(prefix: &Prefix, body: &[u8]) -> Result<()> {
    let size = prefix.message_size(body.len()) - prefix.message_head();
    match size > MAX_BODY {
        true => Err(Error::Refused(format!("a header message has at most {MAX_BODY} bytes, not {size}"))),
        false => Ok(()),
    }
}
