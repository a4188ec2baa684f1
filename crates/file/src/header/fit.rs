//! A place in some block for every message.

use hyperslab_format::{message::kind, object_header::Flags};

use super::{
    HeaderEdit,
    edit::{Block, Piece},
};
use crate::{Error, Result};

/// What every block has room for: a continuation message.
const LEAST_ROOM: usize = 22;
/// A block with more bytes does not grow; another one follows it.
const MOST_GROWN: usize = 1 << 16;

impl HeaderEdit<'_> {
    /// Gives every message a place. What fits nowhere goes to the last of the further blocks, which grows, or to a new one.
    pub(super) fn fit(&mut self) -> Result<()> {
        if self.blocks.iter().all(|block| block.address.is_none()) {
            self.fit_new();
            return Ok(());
        }
        let mut homeless = Vec::new();
        for nth in self.unplaced() {
            let needed = self.size(nth);
            match (0..self.blocks.len()).find(|&block| self.left(block) >= needed) {
                Some(block) => self.place(nth, block),
                None => homeless.push(nth),
            }
        }
        if homeless.is_empty() {
            return Ok(());
        }
        let last = self.blocks.len() - 1;
        if last > 0 && self.block(last).room < MOST_GROWN {
            homeless.into_iter().for_each(|nth| self.place(nth, last));
            self.block(last).room = self.used(last);
            return Ok(());
        }
        let further = self.continue_from(last, &mut homeless)?;
        homeless.into_iter().for_each(|nth| self.place(nth, further));
        self.block(further).room = self.used(further).max(self.aligned(LEAST_ROOM));
        Ok(())
    }

    /// A new header has one block.
    fn fit_new(&mut self) {
        self.unplaced().into_iter().for_each(|nth| self.place(nth, 0));
        let least = self.block(0).room.max(LEAST_ROOM);
        self.block(0).room = self.used(0).max(self.aligned(least));
    }

    /// A new block, named by a message of `block`. If there is no room for that message, others join the homeless.
    fn continue_from(&mut self, block: usize, homeless: &mut Vec<usize>) -> Result<usize> {
        let body = self.continuation(0, 0)?;
        let needed = self.prefix.message_size(body.len());
        while self.left(block) < needed {
            let missing = needed - self.left(block);
            let nth = self.to_move(block, missing).ok_or_else(|| {
                Error::broken("object header", self.address(), "it has no room for the address of another block")
            })?;
            self.unplace(nth);
            homeless.push(nth);
        }
        let order = self.prefix.ordered.then_some(0);
        let (kind, flags) = (kind::CONTINUATION, Flags::NONE);
        self.pieces.push(Piece { kind, flags, order, body, block: None, gone: false });
        let named_by = self.pieces.len() - 1;
        self.place(named_by, block);
        let named_by = Some(named_by);
        self.blocks.push(Block { changed: true, named_by, ..Block::default() });
        Ok(self.blocks.len() - 1)
    }

    /// The message that makes room for `missing` bytes when it moves: the smallest that does it alone, rather not an attribute; if there
    /// is none, the last one.
    fn to_move(&self, block: usize, missing: usize) -> Option<usize> {
        let movable = |nth: &usize| {
            self.pieces.get(*nth).is_some_and(|piece| piece.block == Some(block) && piece.kind != kind::CONTINUATION)
        };
        let all = || (0..self.pieces.len()).filter(movable);
        let is_attribute = |nth: usize| self.pieces.get(nth).is_some_and(|piece| piece.kind == kind::ATTRIBUTE);
        let alone =
            all().filter(|&nth| self.size(nth) >= missing).min_by_key(|&nth| (is_attribute(nth), self.size(nth)));
        alone.or_else(|| all().next_back())
    }

    fn unplaced(&self) -> Vec<usize> {
        let all = self.pieces.iter().enumerate();
        all.filter(|(_, piece)| piece.block.is_none() && !piece.gone).map(|(nth, _)| nth).collect()
    }

    fn place(&mut self, nth: usize, block: usize) {
        if let Some(piece) = self.pieces.get_mut(nth) {
            piece.block = Some(block);
        }
        self.block(block).changed = true;
    }

    /// How many bytes a message takes.
    fn size(&self, nth: usize) -> usize {
        self.pieces.get(nth).map_or(0, |piece| self.prefix.message_size(piece.body.len()))
    }

    /// How many bytes a block has left.
    pub(super) fn left(&self, block: usize) -> usize {
        self.blocks.get(block).map_or(0, |found| found.room.saturating_sub(self.used(block)))
    }

    fn aligned(&self, size: usize) -> usize {
        if self.prefix.version == 1 { size.next_multiple_of(8) } else { size }
    }
}
