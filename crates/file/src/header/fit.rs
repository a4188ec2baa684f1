//! A place in some block for every message.

use hyperslab_format::{message::kind, object_header::Flags};

use super::{
    HeaderEdit,
    edit::{Block, Piece},
};
use crate::{Error, Result};

/// What every block has room for: a continuation message.
pub(super) const LEAST_ROOM: usize = 22;
/// A block with more bytes does not grow; another one follows it.
const MOST_GROWN: usize = 1 << 16;
/// A block that cannot grow where it is moves if it has fewer bytes than this. Else another one follows it: the space that it leaves would be as large as
/// itself, and too small for the next move.
const MOST_MOVED: usize = 512;
/// A block that moves, or is new, gets room for this part of the header: messages that come later change it in place.
const PART: usize = 32;
/// A header with so many messages has no empty ones to spare: version 1 counts to 65,535.
const MANY: usize = 1 << 15;

impl HeaderEdit<'_> {
    /// Gives every message a place. What fits nowhere goes to the last of the further blocks, which grows, or to a new one.
    pub(super) fn fit(&mut self) -> Result<()> {
        let mut displaced = Vec::new();
        for nth in self.unplaced() {
            let needed = self.size(nth);
            match (0..self.blocks.len()).find(|&block| self.left(block) >= needed) {
                Some(block) => {
                    self.place(nth, block);
                    self.divide(block, needed);
                }
                None => displaced.push(nth),
            }
        }
        if displaced.is_empty() {
            return Ok(());
        }
        let (last, needed) = (self.blocks.len() - 1, displaced.iter().map(|&nth| self.size(nth)).sum::<usize>());
        let more = needed - self.left(last).min(needed);
        let all: usize = self.blocks.iter().map(|block| block.room).sum();
        let part = (all / PART).min(MOST_GROWN);
        let in_place = self.can_grow(last, more)?;
        let moves = || self.blocks.get(last).is_some_and(|block| last > 0 && block.room < MOST_MOVED);
        let further = if in_place || moves() { last } else { self.continue_with(&mut displaced)? };
        let size = displaced.last().map_or(0, |&nth| self.size(nth));
        displaced.into_iter().for_each(|nth| self.place(nth, further));
        let used = self.block(further).used;
        // What the file does not know yet grows in place as a rule.
        let spare = if in_place || self.file.is_fresh(self.address()) { 0 } else { self.spare(further, part)? };
        self.block(further).room = used.max(self.aligned(LEAST_ROOM)) + spare / size.max(1) * size;
        self.divide(further, size);
        Ok(())
    }

    /// Whether a further block can get `more` bytes where it is.
    fn can_grow(&self, nth: usize, more: usize) -> Result<bool> {
        match self.blocks.get(nth).filter(|block| nth > 0 && block.room < MOST_GROWN) {
            Some(Block { address: Some(at), stored, .. }) if self.file.is_fresh(*at) => {
                self.file.can_extend(*at, *stored as u64, more as u64)
            }
            _ => Ok(false),
        }
    }

    /// How many bytes a block that gets another place has beside its messages, so that all are at most `most`, and fill free space if there is some.
    fn spare(&self, nth: usize, most: usize) -> Result<usize> {
        let Some(used) = self.blocks.get(nth).map(|block| block.used) else { return Ok(0) };
        let around = self.around(nth);
        let fitting = self.file.fitting((used + around) as u64, (most.max(used) + around) as u64)?;
        Ok(fitting.map_or(most, |length| length as usize - around).saturating_sub(used))
    }

    /// Divides what is left of a further block into as many empty messages as it has room for messages of `size` bytes: each that comes takes the place of
    /// one, so that the count of messages stays, which is in the first block of version 1.
    fn divide(&mut self, block: usize, size: usize) {
        if block > 0 && self.prefix.version == 1 && self.pieces.len() < MANY {
            self.block(block).parts = self.left(block) / size.max(1);
        }
    }

    /// Takes out further blocks that lost their last message, and the messages that name them.
    pub(super) fn take_empty(&mut self) -> Vec<Block> {
        let mut empty = Vec::new();
        // A block comes behind the one that names it, which may be empty without that message.
        for nth in (1..self.blocks.len()).rev() {
            if !self.blocks.get(nth).is_some_and(|block| block.changed && block.used == 0) {
                continue;
            }
            let block = self.blocks.remove(nth);
            if let Some(named_by) = block.named_by {
                self.unplace(named_by);
                self.pieces.get_mut(named_by).into_iter().for_each(|piece| piece.gone = true);
            }
            let behind = self.pieces.iter_mut().filter_map(|piece| piece.block.as_mut()).filter(|block| **block > nth);
            behind.for_each(|block| *block -= 1);
            empty.push(block);
        }
        empty
    }

    /// A new block, and the message that names it. Messages that must leave a block to make room for that one join `displaced`.
    fn continue_with(&mut self, displaced: &mut Vec<usize>) -> Result<usize> {
        let body = self.continuation(0, 0)?;
        let needed = self.prefix.message_size(body.len());
        let block = self.naming_block(needed);
        while self.left(block) < needed {
            let missing = needed - self.left(block);
            let nth = self.to_move(block, missing).ok_or_else(|| {
                Error::broken("object header", self.address(), "it has no room for the address of another block")
            })?;
            self.unplace(nth);
            displaced.push(nth);
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

    /// The block that gets a continuation message of so many bytes: the first one with room for it, or with attributes that can make room. A block that
    /// changes moves, and so does the one that names it, so the names of all blocks are near the first one. If there is no such block, it is the last one.
    fn naming_block(&self, needed: usize) -> usize {
        let mut free: Vec<usize> = (0..self.blocks.len()).map(|nth| self.left(nth)).collect();
        for (nth, piece) in self.pieces.iter().enumerate().filter(|(_, piece)| piece.kind == kind::ATTRIBUTE) {
            let here = piece.block.and_then(|block| free.get_mut(block));
            here.into_iter().for_each(|free| *free += self.size(nth));
        }
        free.iter().position(|&free| free >= needed).unwrap_or(self.blocks.len() - 1)
    }

    /// The message that makes room for `missing` bytes when it moves: the smallest that does it alone; if there is none, the last one. For the second
    /// block of a header that is rather not an attribute, for others rather one, so that few messages leave the first block.
    fn to_move(&self, block: usize, missing: usize) -> Option<usize> {
        let movable = |nth: &usize| {
            self.pieces.get(*nth).is_some_and(|piece| piece.block == Some(block) && piece.kind != kind::CONTINUATION)
        };
        let all = || (0..self.pieces.len()).filter(movable);
        let (is_first, attribute) = (self.blocks.len() == 1, kind::ATTRIBUTE);
        let is_last_choice = |nth: usize| self.pieces.get(nth).is_some_and(|p| (p.kind == attribute) == is_first);
        let alone =
            all().filter(|&nth| self.size(nth) >= missing).min_by_key(|&nth| (is_last_choice(nth), self.size(nth)));
        alone.or_else(|| all().next_back())
    }

    fn unplaced(&self) -> Vec<usize> {
        let all = self.pieces.iter().enumerate();
        all.filter(|(_, piece)| piece.block.is_none() && !piece.gone).map(|(nth, _)| nth).collect()
    }

    fn place(&mut self, nth: usize, block: usize) {
        let size = self.size(nth);
        if let Some(piece) = self.pieces.get_mut(nth) {
            piece.block = Some(block);
        }
        let block = self.block(block);
        (block.changed, block.used) = (true, block.used + size);
    }

    /// How many bytes a message takes.
    pub(super) fn size(&self, nth: usize) -> usize {
        self.pieces.get(nth).map_or(0, |piece| self.prefix.message_size(piece.body.len()))
    }

    /// How many bytes a block has left.
    pub(super) fn left(&self, block: usize) -> usize {
        self.blocks.get(block).map_or(0, |found| found.room.saturating_sub(found.used))
    }

    fn aligned(&self, size: usize) -> usize {
        if self.prefix.version == 1 { size.next_multiple_of(8) } else { size }
    }
}
