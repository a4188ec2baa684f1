//! Writing the blocks of a header that changed.

use std::sync::Arc;

use hyperslab_format::{
    message::kind,
    object_header::{Flags, Message, Prefix, RawMessage},
};

use super::{
    Header, HeaderBuilder, HeaderEdit,
    edit::{Block, Piece},
    read::{Written, is_unknown},
};
use crate::{Error, Kind, Result};

/// Zeros for the bodies of empty messages.
static ZEROS: [u8; 65_528] = [0; 65_528];

impl HeaderEdit<'_> {
    /// Puts everything that changed; where the header is. Nothing is touched if the messages cannot be placed.
    pub fn save(mut self) -> Result<u64> {
        if self.before.is_none() {
            return self.save_new();
        }
        if !(self.is_apart || !self.pieces.is_empty() || self.touched && self.has_time()) || self.append()? {
            return Ok(self.address());
        }
        self.take_apart();
        self.fit()?;
        let empty = self.take_empty();
        if self.blocks.iter().any(|block| block.changed) {
            self.mark_unknown();
        }
        self.keep_count();
        self.recount()?;
        let in_place = self.sole_change();
        if self.touched {
            // The time is a part of its own: it need not be written with the rest.
            self.set_time()?;
        }
        // A block that moves changes the one that names it, which comes before it.
        for nth in (1..self.blocks.len()).rev() {
            if self.block(nth).changed && in_place != Some(nth) && self.moves(nth) {
                let parent = self.parent(nth);
                self.block(parent).changed = true;
            }
        }
        self.recount()?;
        let mut orders = Vec::new();
        for (at, stored) in empty.into_iter().filter_map(|block| Some((block.address?, block.stored))) {
            orders.push(self.file.orders_of(at)?);
            self.file.free(at, stored as u64)?;
        }
        for nth in (1..self.blocks.len()).rev() {
            if self.block(nth).changed && in_place != Some(nth) && self.moves(nth) {
                // The first block shows now what the old place showed.
                orders.extend(self.block(nth).address.map(|at| self.file.orders_of(at)).transpose()?);
                self.place_block(nth)?;
            }
        }
        self.put_changed()?;
        let header = self.address();
        if let Some(address) = in_place.and_then(|nth| self.block(nth).address) {
            self.file.show_by(header, address)?;
        }
        for (firsts, laters) in orders {
            firsts.into_iter().try_for_each(|first| self.file.order(first, header))?;
            laters.into_iter().try_for_each(|later| self.file.order(header, later))?;
        }
        Ok(header)
    }

    /// Puts a header that was not there before.
    fn save_new(self) -> Result<u64> {
        let room = self.blocks.first().map_or(0, |first| first.room);
        let mut new = HeaderBuilder::of(self.file, self.prefix, room);
        for piece in self.pieces.iter().filter(|piece| !piece.gone) {
            new.add(piece.kind, piece.flags, piece.order, &piece.body)?;
        }
        new.save()
    }

    /// Puts the blocks that changed, and with the first one what all of them say, if that is easily known.
    fn put_changed(&mut self) -> Result<()> {
        let changed: Vec<usize> = (0..self.blocks.len()).filter(|&nth| self.block(nth).changed).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let mut written = Vec::with_capacity(changed.len());
        for nth in changed {
            let (bytes, messages) = self.encode(nth)?;
            written.push(Written { nth, bytes: Arc::new(bytes), messages });
        }
        let (address, after) = (self.address(), self.after(&written)?);
        for Written { nth, bytes, .. } in written.into_iter().rev() {
            let place = self.block(nth).address.unwrap_or(0);
            self.file.owned_by(address).put_shared(place, bytes)?;
        }
        // What follows the first block is part of it.
        self.file.keep_decoded(address, after.map(|header| Arc::new(header) as _))
    }

    /// The header as it is when these blocks are written. Of a header with several continuations it is read anew in which order they come.
    fn after(&self, written: &[Written]) -> Result<Option<Header>> {
        let places = || self.blocks.iter().map(|block| block.address.unwrap_or(0));
        match &self.before {
            Some(before) if self.blocks.len() <= 2 && places().eq(before.places.iter().copied()) => {
                Ok(Some(before.with(self.prefix.clone(), written)))
            }
            _ => Ok(None),
        }
    }

    /// The first block of a header of version 1 says how many messages there are. If only a further block changes, what is left there is divided so that
    /// this stays true.
    fn keep_count(&mut self) {
        let Some((nth, count)) = self.sole_change().zip(self.prefix.messages.map(usize::from)) else { return };
        let (left, parts) = (self.left(nth), self.block(nth).parts);
        let others = self.count() - self.empty_count(left, parts);
        let fits = |parts: &usize| (1..=left / self.prefix.message_head()).contains(parts);
        if let Some(parts) = count.checked_sub(others).filter(fits) {
            self.block(nth).parts = parts;
        }
    }

    /// Says how many messages a header of version 1 has.
    fn recount(&mut self) -> Result<()> {
        if self.prefix.version == 1 && self.prefix.messages.map(usize::from) != Some(self.count()) {
            self.block(0).changed = true; // which may join empty messages of it
            self.prefix.messages = Some(counted(self.count())?);
        }
        Ok(())
    }

    /// The further block that alone changed, in attributes only, and keeps its place and size: one write of it shows all that changed.
    fn sole_change(&self) -> Option<usize> {
        if self.belongs_together {
            return None;
        }
        let mut changed = self.blocks.iter().enumerate().filter(|(_, block)| block.changed);
        let (nth, block) = changed.next().filter(|(nth, _)| *nth > 0)?;
        let stays = block.address.is_some() && block.room + self.around(nth) == block.stored;
        (stays && changed.next().is_none()).then_some(nth)
    }

    /// Leaves a mark on messages that ask for it when a program that does not understand them changes the object.
    fn mark_unknown(&mut self) {
        let mut marked = Vec::new();
        let unknown = self.pieces.iter_mut().filter(|piece| is_unknown(piece.kind));
        for piece in unknown.filter(|piece| piece.flags.marked() != piece.flags) {
            piece.flags = piece.flags.marked();
            marked.extend(piece.block);
        }
        marked.into_iter().for_each(|block| self.block(block).changed = true);
    }

    /// Whether a further block that changed cannot stay where it is, or not as long as it is.
    fn moves(&self, nth: usize) -> bool {
        let stays = |block: &Block| {
            block.room + self.around(nth) == block.stored && block.address.is_some_and(|at| self.file.is_fresh(at))
        };
        !self.blocks.get(nth).is_some_and(stays)
    }

    /// The block that names another one.
    fn parent(&self, nth: usize) -> usize {
        let naming = self.blocks.get(nth).and_then(|block| self.pieces.get(block.named_by?));
        naming.and_then(|piece| piece.block).unwrap_or(0)
    }

    /// Finds another place for a further block: longer where it is, if nothing in the file names it yet, else elsewhere.
    fn place_block(&mut self, nth: usize) -> Result<()> {
        let (file, around) = (self.file, self.around(nth));
        let block = self.block(nth);
        let (length, stored) = (block.room + around, block.stored);
        let address = match block.address {
            Some(at)
                if file.is_fresh(at)
                    && length > stored
                    && file.extend(at, stored as u64, (length - stored) as u64)? =>
            {
                at
            }
            Some(at) => {
                let address = file.allocate(Kind::Metadata, length as u64)?;
                file.free(at, stored as u64)?;
                address
            }
            None => file.allocate(Kind::Metadata, length as u64)?,
        };
        (block.address, block.stored) = (Some(address), length);
        let (named_by, body) = (block.named_by, self.continuation(address, length)?);
        let naming = named_by.and_then(|nth| self.pieces.get_mut(nth));
        naming.ok_or_else(|| Error::broken("object header", address, "nothing names a block of it"))?.body = body;
        Ok(())
    }

    /// How many messages all blocks will have, empty ones too.
    fn count(&self) -> usize {
        let empty = |nth: usize, block: &Block| match block.changed {
            true => self.empty_count(self.left(nth), block.parts),
            false => block.empty,
        };
        let empty: usize = self.blocks.iter().enumerate().map(|(nth, block)| empty(nth, block)).sum();
        empty + self.pieces.iter().filter(|piece| piece.block.is_some()).count()
    }

    /// How many [empty messages](empty_messages) take up so many bytes.
    fn empty_count(&self, left: usize, parts: usize) -> usize {
        let head = self.prefix.message_head();
        let small = parts.saturating_sub(1).min((left / head).saturating_sub(1));
        let (rest, most) = (left - small * head, head + ZEROS.len());
        small + rest / most + usize::from(rest % most >= head)
    }

    /// The bytes of a block, and where its messages are in them.
    fn encode(&self, nth: usize) -> Result<(Vec<u8>, Vec<RawMessage>)> {
        let here = self.pieces.iter().filter(|piece| piece.block == Some(nth));
        let mut messages: Vec<Message<'_>> = here.map(Piece::message).collect();
        let (room, parts) = self.blocks.get(nth).map_or((0, 0), |block| (block.room, block.parts));
        messages.extend(empty_messages(&self.prefix, self.left(nth), parts));
        let mut end = match (nth, self.prefix.version) {
            (0, _) => self.prefix.first.start,
            (_, 1) => 0,
            _ => 4,
        };
        let framed = messages.iter().map(|message| {
            let start = end;
            end += self.prefix.message_size(message.body.len());
            let Message { kind, flags, order, .. } = *message;
            RawMessage { kind, flags, order, body: start + self.prefix.message_head()..end }
        });
        let framed = framed.collect();
        let bytes = match nth {
            0 => self.prefix.encode_first(&messages)?,
            _ => self.prefix.encode_further(&messages, room + self.around(nth))?,
        };
        Ok((bytes, framed))
    }
}

/// How many messages a header of version 1 says to have.
pub(super) fn counted(count: usize) -> Result<u16> {
    let most = |_| Error::TooOld(format!("a header of version 1 has at most 65535 messages, not {count}"));
    u16::try_from(count).map_err(most)
}

/// The empty messages that take up so many bytes, at least so many if they fit; a gap too small for one may be left.
pub(super) fn empty_messages<'m>(
    prefix: &Prefix,
    mut left: usize,
    parts: usize,
) -> impl Iterator<Item = Message<'m>> + use<'m> {
    let (mut count, head, order) = (0, prefix.message_head(), prefix.ordered.then_some(0));
    std::iter::from_fn(move || {
        let most = left.checked_sub(head)?;
        count += 1;
        let body = if count >= parts { ZEROS.get(..most).unwrap_or(&ZEROS) } else { &[] };
        left = most - body.len();
        Some(Message { kind: kind::NIL, flags: Flags::NONE, order, body })
    })
}
