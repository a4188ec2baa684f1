//! Strings.

use hyperslab_dtype::{Charset, Class, Datatype, Padding, Target};

use super::{Storable, Storing};
use crate::{Error, Result};

/// Where the characters of a string go.
#[derive(Clone, Copy, Debug)]
pub struct StoredText {
    storage: TextStorage,
    /// Whether only ASCII may be stored.
    ascii: bool,
}

#[derive(Clone, Copy, Debug)]
enum TextStorage {
    /// Into the value itself.
    Fixed(Padding),
    /// Into the heap.
    Variable,
}

impl StoredText {
    /// How strings go to values of a type, if it is one of strings: bytes that are no text if `raw`.
    pub(super) fn of(stored: &Datatype, raw: bool) -> Result<Option<Storing<StoredText>>> {
        let is_ascii = |charset: &Charset| !raw && *charset == Charset::Ascii;
        Ok(match stored.class() {
            Class::String(padding, charset) => {
                let text = StoredText { storage: TextStorage::Fixed(*padding), ascii: is_ascii(charset) };
                Some(Storing::verbatim(stored, text)?)
            }
            Class::Vlen(vlen) => match &vlen.text {
                Some((_, charset)) => {
                    let encoder = StoredText { storage: TextStorage::Variable, ascii: is_ascii(charset) };
                    Some(Storing { memory: stored.in_memory()?, stored: stored.clone(), encoder })
                }
                None => None,
            },
            _ => None,
        })
    }

    pub(super) fn encode(&self, text: &[u8], bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        let shown = || String::from_utf8_lossy(text.get(..text.len().min(60)).unwrap_or(text)).into_owned();
        if self.ascii && !text.is_ascii() {
            return Err(Error::Value(format!("the string {:?} is not ASCII, as the stored type wants it", shown())));
        }
        match self.storage {
            TextStorage::Variable => {
                if text.contains(&0) {
                    let why = format!("the string {:?} has a zero in it, where readers would end it", shown());
                    return Err(Error::Value(why));
                }
                Ok(heap.store(Some((text.len(), text)), bytes)?)
            }
            TextStorage::Fixed(padding) => {
                let most = if padding == Padding::NullTerm { bytes.len().saturating_sub(1) } else { bytes.len() };
                if text.len() > most {
                    let (length, shown) = (text.len(), shown());
                    return Err(Error::Value(format!(
                        "the string {shown:?} has {length} bytes, but the stored type has room for {most}"
                    )));
                }
                let (start, rest) = bytes.split_at_mut(text.len());
                start.copy_from_slice(text);
                rest.fill(if padding == Padding::SpacePad { b' ' } else { 0 });
                Ok(())
            }
        }
    }
}

impl Storable for str {
    type Encoder = StoredText;

    fn datatype() -> Result<Datatype> {
        Ok(Datatype::var_string(Charset::Utf8))
    }

    fn storing(stored: &Datatype) -> Result<Storing<StoredText>> {
        StoredText::of(stored, false)?.ok_or_else(|| Error::not_from::<str>(stored))
    }

    fn encode(&self, text: &StoredText, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        text.encode(self.as_bytes(), bytes, heap)
    }
}

impl Storable for String {
    type Encoder = StoredText;

    fn datatype() -> Result<Datatype> {
        str::datatype()
    }

    fn storing(stored: &Datatype) -> Result<Storing<StoredText>> {
        str::storing(stored)
    }

    fn encode(&self, text: &StoredText, bytes: &mut [u8], heap: &mut dyn Target) -> Result<()> {
        text.encode(self.as_bytes(), bytes, heap)
    }
}
