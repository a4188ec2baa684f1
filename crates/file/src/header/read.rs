//! An object header with all its blocks, messages not yet understood.

use std::{collections::HashSet, ops::Range, sync::Arc};

use hyperslab_format::{
    Malformed,
    message::{Continuation, kind},
    object_header::{Flags, Prefix, RawMessage},
};

use smallvec::{SmallVec, smallvec};

use super::Life;
use crate::{Block, Error, Extent, OpenFile, Result, Seal};

/// An object header.
#[derive(Clone, Debug)]
pub struct Header {
    pub(super) life: Life,
    address: u64,
    prefix: Prefix,
    /// Most headers have one.
    blocks: SmallVec<[Arc<Vec<u8>>; 1]>,
    /// Where the blocks are.
    pub(super) places: SmallVec<[u64; 1]>,
    /// Those of the first block come first. Shared by headers that differ in the first block only.
    messages: Arc<Vec<Message>>,
    /// Which types there are: one bit a type, the last one for all from there on.
    kinds: u64,
}

/// A message of a header.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its type.
    pub kind: u16,
    /// Its flags.
    pub flags: Flags,
    /// Its place in the order of creation, if that is kept.
    pub order: Option<u16>,
    block: usize,
    body: Range<usize>,
}

impl Message {
    /// Where the first block has its body, if that has it.
    pub(super) fn in_first_block(&self) -> Option<Range<usize>> {
        (self.block == 0).then(|| self.body.clone())
    }
}

/// A block of a header that is written.
pub(super) struct Written {
    pub(super) nth: usize,
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) messages: Vec<RawMessage>,
}

/// What is read at once, in the hope that it holds the whole first block.
const GUESS: u64 = 512;
/// More blocks than any header has.
const MAX_BLOCKS: usize = 1 << 16;
const WHAT: &str = "object header";
/// The types that are understood.
const KNOWN: u64 = (bit(kind::UNKNOWN) - 1) & !bit(kind::BOGUS);

/// The bit of a type of messages.
const fn bit(kind: u16) -> u64 {
    1 << if kind < 63 { kind } else { 63 }
}

/// Whether messages of this type are not understood here.
pub(super) fn is_unknown(of: u16) -> bool {
    of >= kind::UNKNOWN || of == kind::BOGUS
}

/// The first block of a header. The header that is kept with it has all blocks.
struct First;

impl Block for First {
    type Value = Header;
    const WHAT: &'static str = WHAT;

    fn seal(&self, first: &[u8]) -> Seal {
        if first.starts_with(b"OHDR") { Seal::Checksum } else { Seal::Signature }
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Told(GUESS)
    }

    fn length(&self, _: &OpenFile, _: u64, first: &[u8]) -> Result<u64, Malformed> {
        Ok(Prefix::decode(first)?.full_size() as u64)
    }

    fn decode(&self, file: &OpenFile, address: u64, first: &Arc<Vec<u8>>) -> Result<Header> {
        let life = file.life(address)?;
        let prefix = Prefix::decode(first).map_err(Error::at(address))?;
        let found = prefix.first_messages(first).map_err(Error::at(address))?;
        let (blocks, places, messages) = (smallvec![first.clone()], smallvec![address], Arc::default());
        let mut header = Header { life, address, prefix, blocks, places, messages, kinds: 0 };
        header.add(found);
        header.follow(file)?;
        Ok(header)
    }
}

/// A further block of a header.
struct Further<'a> {
    prefix: &'a Prefix,
    length: u64,
}

impl Block for Further<'_> {
    type Value = (Arc<Vec<u8>>, Vec<RawMessage>);
    const WHAT: &'static str = "object header continuation";

    fn seal(&self, _: &[u8]) -> Seal {
        if self.prefix.version == 1 { Seal::None } else { Seal::Checksum }
    }

    fn extent(&self, _: &OpenFile) -> Extent {
        Extent::Exact(self.length)
    }

    fn decode(&self, _: &OpenFile, address: u64, bytes: &Arc<Vec<u8>>) -> Result<Self::Value> {
        Ok((bytes.clone(), self.prefix.further_messages(bytes).map_err(Error::at(address))?))
    }
}

impl Header {
    /// Reads a header and everything that continues it.
    pub fn read(file: &OpenFile, address: u64) -> Result<Arc<Header>> {
        file.owned_by(address).load(&First, address)
    }

    /// Where it is.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// What stands before the first message.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The messages in order, without empty ones and continuations.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| !matches!(message.kind, kind::NIL | kind::CONTINUATION))
    }

    /// The first message of a type.
    pub fn find(&self, kind: u16) -> Option<&Message> {
        if self.kinds & bit(kind) == 0 {
            return None;
        }
        self.messages().find(|message| message.kind == kind)
    }

    /// The messages that are not understood here.
    pub fn unknown(&self) -> impl Iterator<Item = &Message> {
        let some = self.kinds & !KNOWN != 0;
        self.messages().take(if some { usize::MAX } else { 0 }).filter(|message| is_unknown(message.kind))
    }

    /// Refuses a header that must not be changed, or cannot be.
    pub fn check_changeable(&self) -> Result<()> {
        let refused = |why: &str| Error::broken(WHAT, self.address, format!("it cannot be changed, since {why}"));
        if self.unknown().any(|message| message.flags.fails_writers_if_unknown()) {
            return Err(refused("it has a message that writers must understand, and that is not understood"));
        }
        let further = self.blocks.iter().skip(1).map(|block| block.len());
        if self.prefix.version == 1 && further.chain([self.prefix.first.len()]).any(|room| room % 8 != 0) {
            return Err(refused("its blocks are not of a multiple of eight bytes"));
        }
        Ok(())
    }

    /// As it is with another prefix and first block, whose messages are where they were.
    pub(super) fn with_first(&self, prefix: Prefix, first: Arc<Vec<u8>>) -> Header {
        let mut header = Header { prefix, ..self.clone() };
        if let Some(block) = header.blocks.first_mut() {
            *block = first;
        }
        header
    }

    /// The bytes of the empty message that is the last one of the first block.
    pub(super) fn room(&self) -> Option<Range<usize>> {
        let last = self.messages.iter().take_while(|message| message.block == 0).last();
        let last = last.filter(|message| message.kind == kind::NIL)?;
        Some(last.body.start.checked_sub(self.prefix.message_head())?..last.body.end)
    }

    /// As it is with another prefix and first block, whose last message gave way to others.
    pub(super) fn with_last(&self, prefix: Prefix, first: Arc<Vec<u8>>, messages: Vec<RawMessage>) -> Header {
        let mut header = self.with_first(prefix, first);
        let last = self.messages.iter().take_while(|message| message.block == 0).count().saturating_sub(1);
        header.kinds = messages.iter().fold(self.kinds, |kinds, message| kinds | bit(message.kind));
        let framed = messages.into_iter().map(|RawMessage { kind, flags, order, body }| Message {
            kind,
            flags,
            order,
            block: 0,
            body,
        });
        let mut all = Vec::with_capacity(self.messages.len() + framed.len());
        all.extend(self.messages.iter().take(last).cloned());
        all.extend(framed);
        all.extend(self.messages.iter().skip(last + 1).cloned());
        header.messages = Arc::new(all);
        header
    }

    /// As it is with another prefix and other blocks in the same places.
    pub(super) fn with(&self, prefix: Prefix, written: &[Written]) -> Header {
        let (blocks, messages) = (SmallVec::with_capacity(self.blocks.len()), Arc::default());
        let (life, address, places) = (self.life, self.address, self.places.clone());
        let mut header = Header { life, address, prefix, blocks, places, messages, kinds: 0 };
        for (nth, block) in self.blocks.iter().enumerate() {
            match written.iter().find(|written| written.nth == nth) {
                Some(written) => {
                    header.blocks.push(written.bytes.clone());
                    header.add(written.messages.iter().cloned());
                }
                None => {
                    header.blocks.push(block.clone());
                    let same = self.messages.iter().filter(|message| message.block == nth);
                    header.add(same.map(|Message { kind, flags, order, body, .. }| RawMessage {
                        kind: *kind,
                        flags: *flags,
                        order: *order,
                        body: body.clone(),
                    }));
                }
            }
        }
        header
    }

    /// A new one, of one block; messages are where they are behind the first.
    pub(super) fn made(
        file: &OpenFile,
        address: u64,
        prefix: Prefix,
        block: Arc<Vec<u8>>,
        frames: Vec<RawMessage>,
    ) -> Result<Header> {
        let (life, start, mut kinds) = (file.life(address)?, prefix.first.start, 0);
        let messages = frames.into_iter().map(|RawMessage { kind, flags, order, body }| {
            kinds |= bit(kind);
            Message { kind, flags, order, block: 0, body: start + body.start..start + body.end }
        });
        let messages = Arc::new(messages.collect());
        Ok(Header { life, address, prefix, blocks: smallvec![block], places: smallvec![address], messages, kinds })
    }

    /// The bytes of a message of this header.
    pub fn body(&self, message: &Message) -> &[u8] {
        self.blocks.get(message.block).and_then(|block| block.get(message.body.clone())).unwrap_or_default()
    }

    /// All messages, empty ones and continuations too, with the number of the block that each is in.
    pub(crate) fn framed(&self) -> impl Iterator<Item = (&Message, usize)> {
        self.messages.iter().map(|message| (message, message.block))
    }

    /// A message by its number among all of them.
    pub(super) fn nth(&self, nth: usize) -> Option<&Message> {
        self.messages.get(nth)
    }

    /// Where its blocks are, and how many bytes each has.
    pub fn spans(&self) -> impl Iterator<Item = (u64, u64)> {
        self.places.iter().zip(&self.blocks).map(|(&place, block)| (place, block.len() as u64))
    }

    /// The bytes of all blocks.
    pub(crate) fn blocks(&self) -> &[Arc<Vec<u8>>] {
        &self.blocks
    }

    /// Adds the messages of the last block.
    fn add(&mut self, found: impl IntoIterator<Item = RawMessage>) {
        let (block, before) = (self.blocks.len() - 1, self.messages.len());
        let framed = |RawMessage { kind, flags, order, body }| Message { kind, flags, order, block, body };
        let messages = Arc::make_mut(&mut self.messages);
        messages.extend(found.into_iter().map(framed));
        self.kinds = messages.iter().skip(before).fold(self.kinds, |kinds, message| kinds | bit(message.kind));
    }

    /// Reads the blocks that continuation messages name, and those that they name.
    fn follow(&mut self, file: &OpenFile) -> Result<()> {
        let mut seen = HashSet::new();
        let mut left = file.end();
        let mut next = 0;
        while let Some(message) = self.messages.get(next) {
            next += 1;
            if message.kind != kind::CONTINUATION {
                continue;
            }
            let at = Continuation::decode(self.body(message), file.widths()).map_err(Error::at(self.address))?;
            if at.address == self.address || !seen.insert(at.address) || seen.len() > MAX_BLOCKS {
                return Err(Error::broken(WHAT, self.address, format!("it continues at {:#x} again", at.address)));
            }
            // Blocks do not overlap: all of them together are in the file.
            left = left
                .checked_sub(at.length)
                .ok_or_else(|| Error::broken(WHAT, self.address, "its continuations have more bytes than the file"))?;
            let (block, found) = file.load_once(&Further { prefix: &self.prefix, length: at.length }, at.address)?;
            self.blocks.push(block);
            self.places.push(at.address);
            self.add(found);
        }
        Ok(())
    }
}
