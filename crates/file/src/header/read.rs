//! An object header with all its blocks, messages not yet understood.

use std::{cmp::Ordering, collections::HashSet, ops::Range, sync::Arc};

use hyperslab_format::{
    message::{Continuation, kind},
    object_header::{Flags, Prefix, RawMessage},
};

use super::Life;
use crate::{Error, OpenFile, Result};

/// An object header.
#[derive(Clone, Debug)]
pub struct Header {
    pub(super) life: Life,
    address: u64,
    prefix: Prefix,
    blocks: Vec<Arc<Vec<u8>>>,
    /// Where the blocks are.
    pub(super) places: Vec<u64>,
    messages: Vec<Message>,
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

/// What is read at once, in the hope that it holds the whole first block.
const GUESS: u64 = 512;
/// More blocks than any header has.
const MAX_BLOCKS: usize = 1 << 16;
const WHAT: &str = "object header";

impl Header {
    /// Reads a header and everything that continues it.
    pub fn read(file: &OpenFile, address: u64) -> Result<Arc<Header>> {
        file.decoded(WHAT, address, GUESS, |first| Self::decode(file, address, first))
    }

    fn decode(file: &OpenFile, address: u64, guessed: &Arc<Vec<u8>>) -> Result<Header> {
        let life = file.life(address)?;
        let prefix = Prefix::decode(guessed).map_err(Error::at(address))?;
        let size = prefix.full_size();
        let first = match guessed.len().cmp(&size) {
            Ordering::Less => Arc::new(file.metadata(WHAT, address, size as u64)?),
            Ordering::Equal => guessed.clone(),
            Ordering::Greater => Arc::new(guessed.get(..size).unwrap_or_default().to_vec()),
        };
        let found = prefix.first_messages(&first).map_err(Error::at(address))?;
        let mut header =
            Header { life, address, prefix, blocks: vec![first], places: vec![address], messages: Vec::new() };
        header.add(found);
        header.follow(file)?;
        Ok(header)
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
        self.messages().find(|message| message.kind == kind)
    }

    /// The bytes of a message of this header.
    pub fn body(&self, message: &Message) -> &[u8] {
        self.blocks.get(message.block).and_then(|block| block.get(message.body.clone())).unwrap_or_default()
    }

    /// All messages, empty ones and continuations too, with the number of the block that each is in.
    pub(crate) fn framed(&self) -> impl Iterator<Item = (&Message, usize)> {
        self.messages.iter().map(|message| (message, message.block))
    }

    /// Where its blocks are, and how many bytes each has.
    pub fn spans(&self) -> impl Iterator<Item = (u64, u64)> {
        self.places.iter().zip(&self.blocks).map(|(&place, block)| (place, block.len() as u64))
    }

    /// The bytes of all blocks.
    pub(super) fn blocks(&self) -> &[Arc<Vec<u8>>] {
        &self.blocks
    }

    fn add(&mut self, found: Vec<RawMessage>) {
        let block = self.blocks.len() - 1;
        let framed = |RawMessage { kind, flags, order, body }| Message { kind, flags, order, block, body };
        self.messages.extend(found.into_iter().map(framed));
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
            let block = file.view("object header continuation", at.address, at.length)?;
            let block = match block.get(..usize::try_from(at.length).unwrap_or(usize::MAX)) {
                Some(part) if part.len() < block.len() => Arc::new(part.to_vec()),
                _ => block,
            };
            let found = self.prefix.further_messages(&block).map_err(Error::at(at.address))?;
            self.blocks.push(block);
            self.places.push(at.address);
            self.add(found);
        }
        Ok(())
    }
}
