//! Object headers: the messages that make an object.
//!
//! ```text
//!  1   | version 1 | 0 | messages, 2 | references, 4 | size of the first block, 4 | 0, 4 | messages…
//!      message: | type, 2 | size, 2 | flags | 0, 3 | body, padded to 8 |
//!  2   | OHDR | version 2 | flags | (times, 4 × 4) | (attribute limits, 2 × 2) | size of the first block, 1 2 4 or 8 | messages… | gap | checksum, 4 |
//!      message: | type | size, 2 | flags | (creation order, 2) | body |
//!      further blocks: | OCHK | messages… | gap | checksum, 4 |
//! ```

mod encode;

use std::ops::Range;

use hyperslab_base::{Fault, Reader, Width};

use crate::{Result, message::kind};

/// The most bytes before the first message.
pub const MAX_PREFIX: usize = 4 + 2 + 16 + 4 + 8;

/// What stands before the first message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// 1 or 2.
    pub version: u8,
    /// Access, modification, change and birth time in seconds since 1970, if kept.
    pub times: Option<[u32; 4]>,
    /// Hard links, as version 1 counts them here.
    pub references: Option<u32>,
    /// Messages in all blocks, as version 1 counts them.
    pub messages: Option<u16>,
    /// Whether messages carry their creation order.
    pub ordered: bool,
    /// Whether attributes that lie outside can be found by their creation order.
    pub indexed: bool,
    /// How many attributes lie in the header at most, and how many outside at least, if version 2 says so.
    pub attribute_limits: Option<[u16; 2]>,
    /// How many bytes the size of the first block takes; always four in version 1.
    pub size_width: Width,
    /// Where the messages of the first block are, counted from the front of the header.
    pub first: Range<usize>,
}

impl Prefix {
    /// Reads what stands before the first message. Inline: a caller that wants its size alone decodes no more than that.
    #[inline]
    pub fn decode(bytes: &[u8]) -> Result<Prefix> {
        if bytes.starts_with(b"OHDR") { Self::decode_new(bytes) } else { Self::decode_old(bytes) }
    }

    #[inline]
    fn decode_old(bytes: &[u8]) -> Result<Prefix> {
        let mut reader = Reader::new("object header", bytes);
        reader.version(1..=1)?;
        reader.skip(1)?;
        let messages = reader.u16()?;
        let references = reader.u32()?;
        let size = reader.u32()? as usize;
        reader.skip(4)?;
        let start = reader.position();
        Ok(Prefix {
            version: 1,
            times: None,
            references: Some(references),
            messages: Some(messages),
            ordered: false,
            indexed: false,
            attribute_limits: None,
            size_width: Width::W4,
            first: start..start + size,
        })
    }

    #[inline]
    fn decode_new(bytes: &[u8]) -> Result<Prefix> {
        let mut reader = Reader::new("object header", bytes);
        reader.signature(b"OHDR")?;
        reader.version(2..=2)?;
        let flags = reader.u8()?;
        if flags & !0x3f != 0 {
            return Err(reader.refuse_as(Fault::Version, format!("unknown flags {flags:#x}")));
        }
        let mut times = None;
        if flags & 0x20 != 0 {
            times = Some([reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?]);
        }
        let mut attribute_limits = None;
        if flags & 0x10 != 0 {
            attribute_limits = Some([reader.u16()?, reader.u16()?]);
        }
        let size_width = Width::new(1 << (flags & 3)).unwrap_or(Width::W8);
        let size = usize::try_from(reader.uint(size_width)?).unwrap_or(usize::MAX);
        let start = reader.position();
        let end = start
            .checked_add(size)
            .ok_or_else(|| reader.refuse_as(Fault::Length, "a first block of no possible size"))?;
        Ok(Prefix {
            version: 2,
            times,
            references: None,
            messages: None,
            ordered: flags & 4 != 0,
            indexed: flags & 8 != 0,
            attribute_limits,
            size_width,
            first: start..end,
        })
    }

    /// How many bytes the header takes with its first block.
    #[inline]
    pub fn full_size(&self) -> usize {
        self.first.end.saturating_add(if self.version == 2 { 4 } else { 0 })
    }

    /// How many bytes stand before the body of a message.
    pub const fn message_head(&self) -> usize {
        match (self.version, self.ordered) {
            (1, _) => 8,
            (_, true) => 6,
            _ => 4,
        }
    }

    /// Reads the messages of the first block; `bytes` are the whole header, [`Prefix::full_size`] long.
    pub fn first_messages(&self, bytes: &[u8]) -> Result<Vec<RawMessage>> {
        let mut reader = Reader::new("object header", bytes);
        reader.skip(self.first.start)?;
        self.messages(reader)
    }

    /// Reads the messages of a further block.
    pub fn further_messages(&self, bytes: &[u8]) -> Result<Vec<RawMessage>> {
        let mut reader = Reader::new("object header continuation", bytes);
        if self.version == 2 {
            reader.signature(b"OCHK")?;
        }
        self.messages(reader)
    }

    fn messages(&self, mut reader: Reader<'_>) -> Result<Vec<RawMessage>> {
        if self.version == 2 {
            reader.sealed(reader.position() + reader.left())?;
        }
        let mut messages = Vec::new();
        // A gap too small for a message may lie at the end.
        while reader.left() >= self.message_head() {
            messages.push(self.message(&mut reader)?);
        }
        Ok(messages)
    }

    fn message(&self, reader: &mut Reader<'_>) -> Result<RawMessage> {
        let kind = if self.version == 1 { reader.u16()? } else { u16::from(reader.u8()?) };
        let size = usize::from(reader.u16()?);
        let flags = Flags(reader.u8()?);
        if let Some(why) = flags.contradiction(kind) {
            return Err(reader.refuse(format!("a message of type {kind:#x} with flags {:#x}: {why}", flags.0)));
        }
        let mut order = None;
        if self.version == 1 {
            reader.skip(3)?;
        } else if self.ordered {
            order = Some(reader.u16()?);
        }
        let start = reader.position();
        reader.take(size)?;
        Ok(RawMessage { kind, flags, order, body: start..start + size })
    }
}

/// A message of which nothing but its frame was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawMessage {
    /// Its type.
    pub kind: u16,
    /// Its flags.
    pub flags: Flags,
    /// Its place in the order of creation, if that is kept.
    pub order: Option<u16>,
    /// Where its body is in the block.
    pub body: Range<usize>,
}

/// A message to be written, its body already encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its type.
    pub kind: u16,
    /// Its flags.
    pub flags: Flags,
    /// Its place in the order of creation, if the header keeps that.
    pub order: Option<u16>,
    /// Its body.
    pub body: &'a [u8],
}

impl RawMessage {
    /// The message with its body, which is in `block`.
    pub fn in_block<'a>(&self, block: &'a [u8]) -> Message<'a> {
        let body = block.get(self.body.clone()).unwrap_or_default();
        Message { kind: self.kind, flags: self.flags, order: self.order, body }
    }
}

/// The flags of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// Nothing special.
    pub const NONE: Flags = Flags(0);
    /// Who does not know the message must not use the object.
    pub const MUST_BE_KNOWN: Flags = Flags(0x80);
    /// The message never changes.
    pub const CONSTANT: Flags = Flags(0x01);
    /// The body names the place where the message really is.
    pub const SHARED: Flags = Flags(0x02);
    /// The message must not be shared.
    pub const NEVER_SHARED: Flags = Flags(0x04);

    /// The body names the place where the message really is.
    pub const fn is_shared(self) -> bool {
        self.0 & 0x02 != 0
    }

    /// The table of shared messages knows the message here, should others want to share it.
    pub const fn is_in_table(self) -> bool {
        self.0 & 0x40 != 0
    }

    /// The same for a message with bytes of its own, which are not shared.
    pub const fn unshared(self) -> Flags {
        Flags(self.0 & !0x42)
    }

    /// The same for a message that is not understood by a program that changes the object, and asks for a mark then.
    #[must_use]
    pub const fn marked(self) -> Flags {
        if self.0 & 0x30 == 0x10 { Flags(self.0 | 0x20) } else { self }
    }

    /// Who does not know the type must not open the object.
    pub const fn fails_if_unknown(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// Who does not know the type must not open the object for writing.
    pub const fn fails_writers_if_unknown(self) -> bool {
        self.0 & 0x08 != 0
    }

    /// Why no message of this type has these flags: libhdf5 opens no object with such a message.
    fn contradiction(self, of: u16) -> Option<&'static str> {
        const SHAREABLE: [u16; 7] = [
            kind::DATASPACE,
            kind::DATATYPE,
            kind::OLD_FILL_VALUE,
            kind::FILL_VALUE,
            kind::FILTER_PIPELINE,
            kind::ATTRIBUTE,
            // libhdf5 does not know this type and lets it have the flag.
            kind::SECTION_FILTERS,
        ];
        let has = |flag: u8| self.0 & flag != 0;
        let known = of < kind::UNKNOWN && of != kind::BOGUS;
        match () {
            () if has(0x02) && has(0x04) => Some("it is shared and must not be"),
            () if has(0x20) && has(0x08) => Some("a writer let it pass that had to refuse it"),
            () if has(0x20) && !has(0x10) => Some("it is marked as unknown and must not be"),
            () if has(0x40) && known && !SHAREABLE.contains(&of) => Some("this type cannot be shared"),
            () => None,
        }
    }
}
