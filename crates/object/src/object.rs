//! An object: its header, and what kind of thing it is.

use std::{borrow::Cow, sync::Arc};

use hyperslab_file::{Error, Header, Life, Message, Result};
use hyperslab_format::message::{self, kind};

use crate::{Context, shared};

/// An object of the file.
#[derive(Clone, Debug)]
pub struct Object {
    header: Arc<Header>,
    kind: Kind,
}

/// The bytes of a message.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
    /// Where the committed datatype is that they come from.
    pub committed: Option<u64>,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It holds links.
    Group,
    /// It holds values.
    Dataset,
    /// It is a committed datatype.
    Datatype,
}

impl Object {
    /// Reads the header at an address and says what the object is.
    pub fn open(context: &Context, address: u64) -> Result<Object> {
        let object = Object::open_guarded(context, address)?;
        if let Some(message) = object.guards().next() {
            let text = String::from_utf8_lossy(object.header.body(message));
            let why = match message.kind {
                kind::LOST => format!("it stands for an object that was damaged when the file was copied: {text}"),
                other => format!("it has a message of type {other:#x} that must be understood and is not"),
            };
            return Err(Error::broken("object header", address, why));
        }
        Ok(object)
    }

    /// As [`Object::open`], but the object may have [guards](Object::guards): for who takes care of them.
    pub fn open_guarded(context: &Context, address: u64) -> Result<Object> {
        let header = Header::read(context.file(), address)?;
        let has = |kind| header.find(kind).is_some();
        let kind = if has(kind::SYMBOL_TABLE) || has(kind::LINK_INFO) {
            Kind::Group
        } else if has(kind::DATATYPE) && has(kind::DATASPACE) {
            Kind::Dataset
        } else if has(kind::DATATYPE) {
            Kind::Datatype
        } else {
            return Err(Error::broken("object header", address, "it is neither group nor dataset nor datatype"));
        };
        Ok(Object { header, kind })
    }

    /// Messages that are not understood here, and without which the object would be misunderstood.
    pub fn guards(&self) -> impl Iterator<Item = &Message> {
        self.header.unknown().filter(|message| message.flags.fails_if_unknown())
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where its header is; the same for all its names.
    pub fn address(&self) -> u64 {
        self.header.address()
    }

    /// Its life, for [`OpenFile::check_alive`](hyperslab_file::OpenFile::check_alive).
    pub fn life(&self) -> Life {
        self.header.life()
    }

    /// Its header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The first message of a type, wherever it is kept.
    pub fn message(&self, context: &Context, wanted: u16) -> Result<Option<Body<'_>>> {
        let Some(message) = self.header.find(wanted) else { return Ok(None) };
        let body = self.header.body(message);
        if !message.flags.is_shared() {
            return Ok(Some(Body { bytes: Cow::Borrowed(body), committed: None }));
        }
        let (body, committed) = shared::resolve(context, wanted, body, self.address())?;
        Ok(Some(Body { bytes: Cow::Owned(body), committed }))
    }

    /// How many hard links name it.
    pub fn references(&self) -> Result<u32> {
        self.header.references()
    }

    /// Its comment.
    pub fn comment(&self) -> Option<&[u8]> {
        self.header.find(kind::COMMENT).map(|found| message::comment(self.header.body(found)))
    }
}
