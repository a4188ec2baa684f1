//! Messages that are added where the first block has an empty one. No other message is looked at, and nothing moves.

use std::sync::Arc;

use hyperslab_format::{
    message::kind,
    object_header::{Flags, Message, RawMessage},
};

use super::{HeaderEdit, edit::Piece};
use crate::Result;

impl HeaderEdit<'_> {
    /// Saves the header if messages were added and nothing else changed, and if the empty message at the end of the first block has room for them. Whether it
    /// did.
    pub(super) fn append(&self) -> Result<bool> {
        let notes_time = self.touched && self.has_time();
        let Some(header) = self.whole().filter(|header| !notes_time && header.unknown().next().is_none()) else {
            return Ok(false);
        };
        let (head, needed) = (self.prefix.message_head(), (0..self.pieces.len()).map(|nth| self.size(nth)).sum());
        let Some(room) = header.room().filter(|room| room.len() == needed || room.len() >= needed + head) else {
            return Ok(false);
        };
        let mut prefix = self.prefix.clone();
        if let Some(count) = &mut prefix.messages {
            // The first of them takes the place of the empty message, unless something is left of that.
            let added = self.pieces.len() - usize::from(room.len() == needed);
            let more = u16::try_from(added).ok().and_then(|added| count.checked_add(added));
            let Some(more) = more.filter(|_| usize::from(*count) == header.framed().count()) else { return Ok(false) };
            *count = more;
        }
        let messages = self.pieces.iter();
        let messages: Vec<_> = messages.map(Piece::message).collect();
        let mut bytes = header.blocks().first().map_or_else(Vec::new, |first| first.to_vec());
        prefix.overwrite(&mut bytes, room.clone(), &messages)?;
        prefix.reseal(&mut bytes);
        let (mut framed, mut start) = (Vec::with_capacity(messages.len() + 1), room.start);
        for Message { kind, flags, order, body } in messages {
            let end = start + prefix.message_size(body.len());
            framed.push(RawMessage { kind, flags, order, body: start + head..end });
            start = end;
        }
        if start < room.end {
            let order = prefix.ordered.then_some(0);
            framed.push(RawMessage { kind: kind::NIL, flags: Flags::NONE, order, body: start + head..room.end });
        }
        let (file, bytes) = (self.file.owned_by(header.address()), Arc::new(bytes));
        let decoded = Arc::new(header.with_last(prefix, bytes.clone(), framed));
        file.put_decoded(header.address(), bytes, decoded).map(|()| true)
    }
}
