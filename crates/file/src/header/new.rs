//! Headers of new objects.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use hyperslab_base::Writer;
use hyperslab_format::object_header::{Flags, Message, Prefix, RawMessage};

use super::{
    Header,
    edit::check_size,
    fit::LEAST_ROOM,
    read::is_unknown,
    save::{counted, empty_messages},
};
use crate::{Kind, OpenFile, Result};

/// New headers have no more messages as a rule.
const USUAL: usize = 8;

/// What the header of a new object is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHeader {
    /// 1 or 2. Version 1 has no place for anything but messages.
    pub version: u8,
    /// Whether version 2 keeps the times of the object, which then are now.
    pub times: bool,
    /// Whether attributes carry their creation order.
    pub ordered: bool,
    /// Whether attributes that lie outside can be found by their creation order.
    pub indexed: bool,
    /// How many attributes lie in the header at most, and how many outside at least, if not 8 and 6.
    pub attribute_limits: Option<[u16; 2]>,
    /// How many bytes of messages the first block has room for, at least.
    pub room: usize,
}

impl NewHeader {
    /// How many bytes of the first block are not messages, if these take less than 256 bytes.
    pub fn around(&self) -> usize {
        self.prefix().sized(0).full_size()
    }

    pub(super) fn prefix(&self) -> Prefix {
        match self.version {
            1 => Prefix::old(0, 1, 0),
            _ => Prefix {
                times: self.times.then(|| [now(); 4]),
                ordered: self.ordered,
                indexed: self.indexed,
                attribute_limits: self.attribute_limits,
                ..Prefix::new(0)
            },
        }
    }
}

/// Seconds since 1970.
pub fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}

/// A header that is not in the file yet: its messages are written one behind the other, as they come. One hard link is counted: the name that the object is about
/// to get.
///
/// ```
/// # use std::sync::Arc;
/// # use hyperslab_driver::Memory;
/// # use hyperslab_format::{object_header::Flags, superblock::Root};
/// use hyperslab_file::{CreateOptions, Header, HeaderEdit, NewHeader, OpenFile, OpenOptions};
/// let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default())?;
/// let new = NewHeader { version: 2, times: false, ordered: false, indexed: false, attribute_limits: None, room: 0 };
/// let mut header = new.begin(&file);
/// header.add(0x0d, Flags::NONE, None, b"a comment\0")?;
/// let address = header.save()?;
/// let mut header = HeaderEdit::open(&file, address)?;
/// header.set_references(2)?;
/// header.save()?;
/// let header = Header::read(&file, address)?;
/// assert_eq!(header.messages().map(|message| message.kind).collect::<Vec<_>>(), [0x0d, 0x16]);
/// # Ok::<(), hyperslab_file::Error>(())
/// ```
pub struct HeaderBuilder<'a> {
    file: &'a OpenFile,
    prefix: Prefix,
    room: usize,
    messages: Writer,
    count: usize,
    /// Where messages are, counted from the first one, if the header stays decoded.
    frames: Option<Vec<RawMessage>>,
}

impl NewHeader {
    /// A header without messages.
    pub fn begin<'a>(&self, file: &'a OpenFile) -> HeaderBuilder<'a> {
        HeaderBuilder::of(file, self.prefix(), self.room)
    }
}

impl<'a> HeaderBuilder<'a> {
    pub(super) fn of(file: &'a OpenFile, prefix: Prefix, room: usize) -> HeaderBuilder<'a> {
        let (messages, frames) = (Writer::sized("object header", room), Some(Vec::with_capacity(USUAL)));
        HeaderBuilder { file, prefix, room, messages, count: 0, frames }
    }

    /// What stands before the first message; the size of the first block is not known yet.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The header is seldom asked for: it does not stay decoded in memory. To be said before the first message is added.
    pub fn decode_later(&mut self) {
        self.frames = None;
    }

    /// Adds a message. Headers that keep orders take 0 where none is given; others have no place for one.
    pub fn add(&mut self, kind: u16, flags: Flags, order: Option<u16>, body: impl AsRef<[u8]>) -> Result<()> {
        let body = body.as_ref();
        check_size(&self.prefix, body)?;
        let flags = if is_unknown(kind) { flags.marked() } else { flags };
        let order = self.prefix.ordered.then(|| order.unwrap_or(0));
        self.put(&Message { kind, flags, order, body })
    }

    fn put(&mut self, message: &Message<'_>) -> Result<()> {
        let start = self.messages.position() + self.prefix.message_head();
        self.prefix.write_message(&mut self.messages, message)?;
        self.count += 1;
        if let Some(frames) = &mut self.frames {
            let Message { kind, flags, order, .. } = *message;
            frames.push(RawMessage { kind, flags, order, body: start..self.messages.position() });
        }
        Ok(())
    }

    /// Puts the header into the file: one block with all messages, and empty ones up to its end. Where it is.
    pub fn save(mut self) -> Result<u64> {
        let (used, least) = (self.messages.position(), self.room.max(LEAST_ROOM));
        let room = used.max(if self.prefix.version == 1 { least.next_multiple_of(8) } else { least });
        for empty in empty_messages(&self.prefix, room - used, 0) {
            self.put(&empty)?;
        }
        let HeaderBuilder { file, mut prefix, messages, count, frames, .. } = self;
        if prefix.version == 1 {
            prefix.messages = Some(counted(count)?);
        }
        prefix = prefix.sized(room);
        let bytes = prefix.encode_written(&messages.into_bytes())?;
        let address = file.allocate(Kind::Metadata, bytes.len() as u64)?;
        file.store()?.deleted.made(address);
        let bytes = Arc::new(bytes);
        let header = frames.map(|frames| Header::made(file, address, prefix, bytes.clone(), frames)).transpose()?;
        file.owned_by(address).put_fresh(address, bytes, header.map(|header| Arc::new(header) as _))?;
        Ok(address)
    }
}

impl std::fmt::Debug for HeaderBuilder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeaderBuilder")
            .field("prefix", &self.prefix)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}
