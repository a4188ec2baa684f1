//! Strings.

use hyperslab_dtype::{Class, Datatype, Padding};

use super::{Element, Recipe};
use crate::{Error, Result, Sequences};

/// Where the characters of a string are.
#[derive(Clone, Copy, Debug)]
pub enum Text {
    /// In the value itself.
    Fixed(Padding),
    /// In the heap.
    Variable,
}

impl Text {
    pub(super) fn of(stored: &Datatype) -> Option<Text> {
        match stored.class() {
            Class::String(padding, _) => Some(Text::Fixed(*padding)),
            Class::Vlen(vlen) if vlen.text.is_some() => Some(Text::Variable),
            _ => None,
        }
    }
}

impl Element for String {
    type Decoder = Text;

    fn recipe(stored: &Datatype) -> Result<Recipe<Text>> {
        let text = Text::of(stored).ok_or_else(|| Error::mismatch::<String>(stored))?;
        Recipe::verbatim(stored, text)
    }

    fn decode(text: &Text, bytes: &[u8], sequences: &Sequences<'_>) -> Result<String> {
        match text {
            Text::Fixed(padding) => owned(padding.strip(bytes)),
            // Some writers store the NUL that ends a string in memory.
            Text::Variable => sequences.with(bytes, 1, |_, bytes| owned(Padding::NullTerm.strip(bytes))),
        }
    }

    fn references(text: &Text, bytes: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if matches!(text, Text::Variable) {
            visit(bytes);
        }
    }
}

fn owned(bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(why) => {
            let shown = String::from_utf8_lossy(bytes.get(..bytes.len().min(60)).unwrap_or_default());
            Err(Error::Value(format!("the string {shown:?} is not UTF-8 ({why}); read it as Vec<u8>")))
        }
    }
}
