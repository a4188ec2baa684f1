//! Taking a header apart when its first message changes: most operations on objects with many links or attributes only look at messages.

use hyperslab_format::message::kind;

use super::{
    Header, HeaderEdit,
    edit::{Block, Body, Piece},
};

impl HeaderEdit<'_> {
    /// The header as it was, as long as no message changed.
    pub(super) fn whole(&self) -> Option<&Header> {
        self.before.as_deref().filter(|_| !self.is_apart)
    }

    /// Makes blocks and pieces of the header as it was, before those that were added. Messages keep their numbers.
    pub(super) fn take_apart(&mut self) {
        let Some(header) = self.before.clone().filter(|_| !self.is_apart) else { return };
        self.is_apart = true;
        for (nth, (address, length)) in header.spans().enumerate() {
            let stored = length as usize;
            let room = stored.saturating_sub(self.around(nth));
            self.blocks.push(Block { address: Some(address), stored, room, ..Block::default() });
        }
        let added = std::mem::take(&mut self.pieces);
        self.pieces.reserve(header.framed().count() + added.len() + 1);
        let (mut continuations, widths) = (0, self.file.widths());
        let size = widths.offsets.bytes() + widths.lengths.bytes();
        for (message, block) in header.framed() {
            let (is_empty, mut body) = (message.kind == kind::NIL, header.body(message));
            if message.kind == kind::CONTINUATION {
                // They are read in this order, so blocks have it too.
                continuations += 1;
                self.block(continuations).named_by = Some(self.pieces.len());
                // Other libraries may pad it. The padding is dropped, because the message gets our size when its block moves.
                body = body.get(..size).unwrap_or(body);
            }
            match is_empty {
                true => self.block(block).empty += 1,
                false => self.block(block).used += header.prefix().message_size(body.len()),
            }
            self.pieces.push(Piece {
                kind: message.kind,
                flags: message.flags,
                order: message.order,
                body: if is_empty { Body::new() } else { body.into() },
                block: (!is_empty).then_some(block),
                gone: is_empty,
            });
        }
        self.pieces.extend(added);
    }
}
