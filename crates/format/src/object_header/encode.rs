//! Writing the blocks of object headers.

use std::ops::Range;

use hyperslab_base::{Width, Writer, lookup3};

use super::{Flags, Message, Prefix};
use crate::{Encoded, message::kind};

impl Prefix {
    /// The prefix of a header of version 1, with a first block of `size` bytes.
    pub fn old(messages: u16, references: u32, size: usize) -> Prefix {
        let (messages, references) = (Some(messages), Some(references));
        Prefix { version: 1, messages, references, size_width: Width::W4, ..Prefix::new(0) }.sized(size)
    }

    /// The prefix of a header of version 2 that keeps neither times nor orders, with a first block of `size` bytes. Who wants it to
    /// keep more sets the fields and calls [`Prefix::sized`] again.
    pub fn new(size: usize) -> Prefix {
        Prefix {
            version: 2,
            times: None,
            references: None,
            messages: None,
            ordered: false,
            indexed: false,
            attribute_limits: None,
            size_width: Width::W1,
            first: 0..0,
        }
        .sized(size)
    }

    /// The same prefix with a first block of `size` bytes, where all fields before it leave it.
    pub fn sized(mut self, size: usize) -> Prefix {
        if self.version == 2 {
            self.size_width = match Width::of(size as u64).bytes() {
                1 => Width::W1,
                2 => Width::W2,
                3 | 4 => Width::W4,
                _ => Width::W8,
            };
        }
        let start = self.first_start();
        self.first = start..start.saturating_add(size);
        self
    }

    fn first_start(&self) -> usize {
        if self.version == 1 {
            return 16;
        }
        let times = if self.times.is_some() { 16 } else { 0 };
        let limits = if self.attribute_limits.is_some() { 4 } else { 0 };
        6 + times + limits + self.size_width.bytes()
    }

    /// How many bytes a message takes with a body of `body` bytes.
    pub const fn message_size(&self, body: usize) -> usize {
        self.message_head() + if self.version == 1 { body.next_multiple_of(8) } else { body }
    }

    /// Writes the whole header with its first block. Messages must fill the block; in version 2 a gap too small for a message may be
    /// left, for anything larger there are NIL messages.
    ///
    /// ```
    /// use hyperslab_format::object_header::{Flags, Message, Prefix};
    /// let message = Message { kind: 0x16, flags: Flags::NONE, order: None, body: &[0, 2, 0, 0, 0] };
    /// let prefix = Prefix::new(9);
    /// let bytes = prefix.encode_first(&[message])?;
    /// assert_eq!(Prefix::decode(&bytes).unwrap(), prefix);
    /// assert_eq!(prefix.first_messages(&bytes).unwrap()[0].in_block(&bytes), message);
    /// # Ok::<(), hyperslab_format::Unfit>(())
    /// ```
    pub fn encode_first(&self, messages: &[Message<'_>]) -> Encoded {
        let writer = self.encode_prefix()?;
        self.encode_messages(writer, messages, self.first.end)
    }

    /// As [`Prefix::encode_first`], of messages that were [written](Self::write_message) already.
    ///
    /// ```
    /// use hyperslab_base::Writer;
    /// use hyperslab_format::object_header::{Flags, Message, Prefix};
    /// let message = Message { kind: 0x16, flags: Flags::NONE, order: None, body: &[0, 2, 0, 0, 0] };
    /// let (prefix, mut messages) = (Prefix::new(9), Writer::new("messages"));
    /// prefix.write_message(&mut messages, &message)?;
    /// assert_eq!(prefix.encode_written(&messages.into_bytes())?, prefix.encode_first(&[message])?);
    /// # Ok::<(), hyperslab_format::Unfit>(())
    /// ```
    pub fn encode_written(&self, messages: &[u8]) -> Encoded {
        let mut writer = self.encode_prefix()?;
        writer.extend(messages);
        self.encode_messages(writer, &[], self.first.end)
    }

    /// What stands before the first message.
    fn encode_prefix(&self) -> Encoded<Writer> {
        let mut writer = Writer::sized("object header", self.full_size());
        if self.first.start != self.first_start() {
            return Err(writer.refuse("first block", "it does not begin where the prefix ends"));
        }
        let size = self.first.len();
        match self.version {
            1 => {
                let (Some(count), Some(references)) = (self.messages, self.references) else {
                    return Err(writer.refuse("messages, references", "version 1 counts them"));
                };
                writer.extend(&[1, 0]);
                writer.u16(count);
                writer.u32(references);
                writer.count("size of the first block", Width::W4, size)?;
                writer.zeros(4);
            }
            2 => {
                writer.extend(b"OHDR\x02");
                writer.u8(self.flags(&writer)?);
                self.times.iter().flatten().for_each(|&time| writer.u32(time));
                self.attribute_limits.iter().flatten().for_each(|&limit| writer.u16(limit));
                writer.count("size of the first block", self.size_width, size)?;
            }
            version => return Err(writer.refuse("version", format!("there is no version {version}"))),
        }
        Ok(writer)
    }

    /// Writes messages over an empty one that takes the bytes `room` of a block; what is left of it becomes a smaller empty one. The block has
    /// to be [sealed](Self::reseal) again.
    ///
    /// ```
    /// use hyperslab_format::object_header::{Flags, Message, Prefix};
    /// let (nil, note) = (Message { kind: 0, flags: Flags::NONE, order: None, body: &[0; 15] }, &[0, 2, 0, 0, 0]);
    /// let prefix = Prefix::new(19);
    /// let mut bytes = prefix.encode_first(&[nil])?;
    /// let message = Message { kind: 0x16, flags: Flags::NONE, order: None, body: note };
    /// prefix.overwrite(&mut bytes, prefix.first.clone(), &[message])?;
    /// prefix.reseal(&mut bytes);
    /// assert_eq!(bytes, prefix.encode_first(&[message, Message { body: &[0; 6], ..nil }])?);
    /// # Ok::<(), hyperslab_format::Unfit>(())
    /// ```
    pub fn overwrite(&self, block: &mut [u8], room: Range<usize>, messages: &[Message<'_>]) -> Encoded<()> {
        let mut writer = Writer::sized("object header", room.len());
        for message in messages {
            self.write_message(&mut writer, message)?;
        }
        let left = room.len().saturating_sub(writer.position());
        let order = self.ordered.then_some(0);
        if let Some(body) = left.checked_sub(self.message_head()) {
            let empty = Message { kind: kind::NIL, flags: Flags::NONE, order, body: &[] };
            self.encode_head(&mut writer, &empty, body)?;
        }
        writer.fill_to("messages", room.len())?;
        match block.get_mut(room) {
            Some(place) => place.copy_from_slice(&writer.into_bytes()),
            None => return Err(writer.refuse("messages", "the block ends before their place does")),
        }
        Ok(())
    }

    /// Brings a header with its first block up to date, in which messages were overwritten: times, the counts of version 1, and the checksum.
    ///
    /// ```
    /// use hyperslab_format::object_header::{Flags, Message, Prefix};
    /// let message = |body| [Message { kind: 0x16, flags: Flags::NONE, order: None, body }];
    /// let prefix = Prefix::new(9);
    /// let mut bytes = prefix.encode_first(&message(&[0, 2, 0, 0, 0]))?;
    /// bytes[12] = 3;
    /// prefix.reseal(&mut bytes);
    /// assert_eq!(bytes, prefix.encode_first(&message(&[0, 3, 0, 0, 0]))?);
    /// # Ok::<(), hyperslab_format::Unfit>(())
    /// ```
    pub fn reseal(&self, bytes: &mut [u8]) {
        let mut put = |at: usize, value: &[u8]| {
            let place = bytes.get_mut(at..).and_then(|bytes| bytes.get_mut(..value.len()));
            place.into_iter().for_each(|place| place.copy_from_slice(value));
        };
        match self.version {
            1 => {
                self.messages.iter().for_each(|count| put(2, &count.to_le_bytes()));
                self.references.iter().for_each(|count| put(4, &count.to_le_bytes()));
            }
            _ => {
                let times = (6..).step_by(4).zip(self.times.iter().flatten());
                times.for_each(|(at, time)| put(at, &time.to_le_bytes()));
            }
        }
        if let Some((sealed, sum)) = bytes.split_last_chunk_mut().filter(|_| self.version == 2) {
            *sum = lookup3(sealed).to_le_bytes();
        }
    }

    /// Writes a further block of `size` bytes in all, signature and checksum included.
    pub fn encode_further(&self, messages: &[Message<'_>], size: usize) -> Encoded {
        let mut writer = Writer::new("object header continuation");
        if self.version == 1 {
            return self.encode_messages(writer, messages, size);
        }
        writer.extend(b"OCHK");
        let Some(end) = size.checked_sub(4).filter(|end| *end >= 4) else {
            return Err(writer.refuse("size", format!("{size} bytes are no block")));
        };
        self.encode_messages(writer, messages, end)
    }

    fn flags(&self, writer: &Writer) -> Encoded<u8> {
        let width = match self.size_width.bytes() {
            1 => 0,
            2 => 1,
            4 => 2,
            8 => 3,
            bytes => {
                return Err(
                    writer.refuse("width of the size", format!("{bytes} bytes, where 1, 2, 4 and 8 are allowed"))
                );
            }
        };
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        let order = bit(self.ordered, 4) | bit(self.indexed, 8);
        Ok(width | order | bit(self.attribute_limits.is_some(), 0x10) | bit(self.times.is_some(), 0x20))
    }

    /// Writes messages up to `end`, then the checksum.
    fn encode_messages(&self, mut writer: Writer, messages: &[Message<'_>], end: usize) -> Encoded {
        for message in messages {
            self.write_message(&mut writer, message)?;
        }
        let gap = end.saturating_sub(writer.position());
        if gap > 0 && (self.version == 1 || gap >= self.message_head()) {
            return Err(writer.refuse("messages", format!("{gap} bytes are left, which a NIL message should take")));
        }
        writer.fill_to("messages", end)?;
        if self.version == 2 {
            writer.checksum();
        }
        Ok(writer.into_bytes())
    }

    /// Writes a message behind others.
    pub fn write_message(&self, writer: &mut Writer, message: &Message<'_>) -> Encoded<()> {
        let size = message.body.len();
        self.encode_head(writer, message, size)?;
        writer.extend(message.body);
        if self.version == 1 {
            writer.zeros(size.next_multiple_of(8) - size);
        }
        Ok(())
    }

    /// Writes what stands before the body of a message, which has `size` bytes.
    fn encode_head(&self, writer: &mut Writer, message: &Message<'_>, size: usize) -> Encoded<()> {
        let size = if self.version == 1 { size.next_multiple_of(8) } else { size };
        if let Some(why) = message.flags.contradiction(message.kind) {
            return Err(writer.refuse("message flags", why));
        }
        let Ok([low, high]) = u16::try_from(size).map(u16::to_le_bytes) else {
            return writer.count("message size", Width::W2, size);
        };
        let [first, second] = message.kind.to_le_bytes();
        match (self.version, self.ordered, message.order) {
            (1, false, None) => writer.extend(&[first, second, low, high, message.flags.0, 0, 0, 0]),
            (2.., ..) if second > 0 => return writer.uint("message type", Width::W1, message.kind.into()),
            (2.., false, None) => writer.extend(&[first, low, high, message.flags.0]),
            (2.., true, Some(order)) => {
                writer.extend(&[first, low, high, message.flags.0]);
                writer.u16(order);
            }
            _ => return Err(writer.refuse("creation order", "either the header and all its messages keep it, or none")),
        }
        Ok(())
    }
}
