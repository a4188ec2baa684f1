//! Finds all blocks of a file: superblock, object headers and everything they name.

use std::collections::HashSet;

use hyperslab_format::{
    DriverInfoBlock, Result, Superblock, Unfit, Widths,
    message::{Continuation, kind},
    object_header::{Prefix, RawMessage},
    superblock::{Root, SIGNATURE},
    symbol_table::{Cache, Entry},
    version::{self, LibVersion},
};

use crate::harvest::tally::Tally;

/// Why a file could not be walked to its end.
pub type Walked<T = ()> = std::result::Result<T, String>;

pub struct Walk<'a> {
    file: &'a [u8],
    pub superblock: Superblock,
    pub widths: Widths,
    pub tally: &'a mut Tally,
    /// The lower bound the file was made with, if all versions shall be those of the bound.
    pub low: Option<LibVersion>,
    /// Whether a library wrote it that leaves nothing behind.
    clean: bool,
    seen: HashSet<u64>,
    headers: Vec<u64>,
}

impl<'a> Walk<'a> {
    /// Compares all blocks of a file.
    pub fn all(file: &'a [u8], low: Option<LibVersion>, clean: bool, tally: &'a mut Tally) -> Walked {
        let places = std::iter::once(0).chain((9..40).map(|bit| 1usize << bit));
        let start = places.take_while(|&at| at < file.len()).find(|&at| file[at..].starts_with(&SIGNATURE));
        let start = start.ok_or("no superblock")?;
        let superblock = walked(Superblock::decode(&file[start..]))?;
        let kind = format!("superblock {}", superblock.version);
        tally.front(&kind, &file[start..], superblock.encode());
        let widths = superblock.widths;
        // A file that got a user block later still has all addresses from its superblock.
        let file = &file[start..];
        let mut walk = Walk { file, widths, superblock, tally, low, clean, seen: HashSet::new(), headers: Vec::new() };
        let mut result = walk.roots();
        while let Some(address) = walk.headers.pop() {
            result = result.and(walk.header(address).map_err(|why| format!("header at {address:#x}: {why}")));
        }
        result.and(walk.collections())
    }

    fn roots(&mut self) -> Walked {
        if let Some(at) = self.superblock.driver_info {
            let size = walked(DriverInfoBlock::full_size(self.bytes(at, DriverInfoBlock::HEAD as u64)?))?;
            let bytes = self.bytes(at, size as u64)?;
            self.tally.same("driver information block", bytes, walked(DriverInfoBlock::decode(bytes))?.encode());
        }
        if let Some(at) = self.superblock.extension {
            self.header(at)?;
        }
        self.headers.extend(self.superblock.root.header());
        match self.superblock.root.clone() {
            Root::Entry(Entry { cache: Cache::Group { btree, heap }, .. }) => self.group(btree, heap),
            _ => Ok(()),
        }
    }

    /// The bytes at an address.
    pub fn bytes(&self, at: u64, size: u64) -> Walked<&'a [u8]> {
        let range = usize::try_from(at).ok().zip(at.checked_add(size).and_then(|end| usize::try_from(end).ok()));
        let bytes = range.and_then(|(start, end)| self.file.get(start..end));
        bytes.ok_or_else(|| format!("no {size} bytes at {at:#x}"))
    }

    /// All bytes from an address on, but no more than `most`.
    pub fn up_to(&self, at: u64, most: usize) -> Walked<&'a [u8]> {
        let rest = usize::try_from(at).ok().and_then(|at| self.file.get(at..));
        rest.map(|rest| &rest[..most.min(rest.len())]).ok_or_else(|| format!("nothing at {at:#x}"))
    }

    /// Compares a block that older libraries did not clear behind what they used.
    pub fn padded(&mut self, kind: &str, stored: &[u8], used: usize, encoded: std::result::Result<Vec<u8>, Unfit>) {
        let used = if self.clean { stored.len() } else { used.min(stored.len()) };
        let cut = encoded.map(|mut encoded| {
            encoded.truncate(used);
            encoded
        });
        self.tally.same(kind, &stored[..used], cut);
    }

    /// The whole file from the superblock on.
    pub fn whole(&self) -> &'a [u8] {
        self.file
    }

    /// Whether an address comes up for the first time.
    pub fn first_time(&mut self, at: u64) -> bool {
        self.seen.insert(at)
    }

    /// Remembers an object header for later.
    pub fn later(&mut self, header: u64) {
        self.headers.push(header);
    }

    fn header(&mut self, address: u64) -> Walked {
        if !self.first_time(address) {
            return Ok(());
        }
        let prefix = walked(Prefix::decode(self.up_to(address, 64)?))?;
        let bytes = self.bytes(address, prefix.full_size() as u64)?;
        let found = walked(prefix.first_messages(bytes))?;
        let version = prefix.version;
        let messages: Vec<_> = found.iter().map(|message| message.in_block(bytes)).collect();
        self.tally.same(&format!("header {version}"), bytes, prefix.encode_first(&messages));
        if let Some(low) = self.low {
            self.tally.expect("version of a header", version, version::object_header(low, prefix.ordered));
        }
        let mut all: Vec<(RawMessage, &[u8])> = found.into_iter().map(|message| (message, bytes)).collect();
        let mut next = 0;
        while let Some((message, block)) = all.get(next).cloned() {
            next += 1;
            if message.kind != kind::CONTINUATION || message.flags.is_shared() {
                continue;
            }
            let body = &block[message.body.clone()];
            let at = walked(Continuation::decode(body, self.widths))?;
            self.tally.front("continuation message", body, at.encode(self.widths));
            if !self.first_time(at.address) {
                return Err("a continuation twice".into());
            }
            let further = self.bytes(at.address, at.length)?;
            let found = walked(prefix.further_messages(further))?;
            let messages: Vec<_> = found.iter().map(|message| message.in_block(further)).collect();
            let encoded = prefix.encode_further(&messages, further.len());
            self.tally.same(&format!("continuation {version}"), further, encoded);
            all.extend(found.into_iter().map(|message| (message, further)));
        }
        let messages: Vec<_> = all.iter().map(|(message, block)| message.in_block(block)).collect();
        self.messages(&messages)
    }
}

/// A decoder's result, its error as text.
pub fn walked<T>(result: Result<T>) -> Walked<T> {
    result.map_err(|why| why.to_string())
}
