//! A message of the first block that changes where it is. All other blocks and messages stay as they are, and it costs the same however many there are.

use std::sync::Arc;

use hyperslab_format::{message::kind, object_header::Prefix};

use super::{Header, Message, now};
use crate::{OpenFile, Result};

/// Bodies for messages of the first block.
type Bodies<'a> = [(&'a Message, &'a [u8])];

impl Header {
    /// Gives a message of the header another body and notes the time, if that is one write of the first block and changes nothing else. Whether it was.
    pub fn patch(&self, file: &OpenFile, message: &Message, body: &[u8]) -> Result<bool> {
        let (mut prefix, time) = (self.prefix().clone(), now());
        if let Some([access, _, change, _]) = &mut prefix.times {
            (*access, *change) = (time, time);
        }
        let noted = self.find(kind::MODIFICATION_TIME).filter(|_| prefix.version == 1);
        let encoded = hyperslab_format::message::encode_modification_time(time);
        let noted = noted.map(|noted| (noted, encoded.as_slice()));
        let bodies: Vec<_> = [Some((message, body)), noted].into_iter().flatten().collect();
        self.put_patched(file, prefix, &bodies)
    }

    /// Puts the first block with another prefix and other bodies, if nothing else changes: no message comes, goes or moves, none is marked. Whether it did.
    pub(super) fn put_patched(&self, file: &OpenFile, prefix: Prefix, bodies: &Bodies<'_>) -> Result<bool> {
        self.check_changeable()?;
        let Some(first) = self.blocks().first().filter(|_| self.unknown().next().is_none()) else { return Ok(false) };
        let mut bytes = first.to_vec();
        for (message, body) in bodies {
            let Some(place) = message.in_first_block().and_then(|place| bytes.get_mut(place)) else { return Ok(false) };
            if prefix.message_size(body.len()) - prefix.message_head() != place.len() {
                return Ok(false);
            }
            place.fill(0);
            place.iter_mut().zip(*body).for_each(|(place, byte)| *place = *byte);
        }
        prefix.reseal(&mut bytes);
        let bytes = Arc::new(bytes);
        let decoded = Arc::new(self.with_first(prefix, bytes.clone()));
        file.owned_by(self.address()).put_decoded(self.address(), bytes, decoded)?;
        Ok(true)
    }
}
