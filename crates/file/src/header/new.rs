//! Headers of new objects.

use std::time::{SystemTime, UNIX_EPOCH};

use hyperslab_format::object_header::Prefix;

use super::HeaderEdit;
use crate::OpenFile;

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

    fn prefix(&self) -> Prefix {
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

impl<'a> HeaderEdit<'a> {
    /// A header that is not in the file yet. One hard link is counted: the name that the object is about to get.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use hyperslab_driver::Memory;
    /// # use hyperslab_format::{object_header::Flags, superblock::Root};
    /// use hyperslab_file::{CreateOptions, Header, HeaderEdit, NewHeader, OpenFile, OpenOptions};
    /// let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default())?;
    /// let new = NewHeader { version: 2, times: false, ordered: false, indexed: false, attribute_limits: None, room: 0 };
    /// let mut header = HeaderEdit::new(&file, &new);
    /// header.add(0x0d, Flags::NONE, None, b"a comment\0".to_vec())?;
    /// let address = header.save()?;
    /// let mut header = HeaderEdit::open(&file, address)?;
    /// header.set_references(2)?;
    /// header.save()?;
    /// let header = Header::read(&file, address)?;
    /// assert_eq!(header.messages().map(|message| message.kind).collect::<Vec<_>>(), [0x0d, 0x16]);
    /// # Ok::<(), hyperslab_file::Error>(())
    /// ```
    pub fn new(file: &'a OpenFile, new: &NewHeader) -> HeaderEdit<'a> {
        HeaderEdit::empty(file, new.prefix(), new.room)
    }
}
