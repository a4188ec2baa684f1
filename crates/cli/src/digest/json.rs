//! JSON whose strings are bytes: keys sorted, ASCII only, bytes that are not UTF-8 as lone surrogates.

use std::{collections::BTreeMap, fmt};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(i128),
    Text(Vec<u8>),
    List(Vec<Json>),
    Object(BTreeMap<&'static str, Json>),
}

impl Json {
    pub(crate) fn text(text: &str) -> Json {
        Json::Text(text.as_bytes().to_vec())
    }

    pub(crate) fn bytes(bytes: &[u8]) -> Json {
        Json::Text(bytes.to_vec())
    }

    pub(crate) fn object<const N: usize>(entries: [(&'static str, Json); N]) -> Json {
        Json::Object(BTreeMap::from(entries))
    }

    /// A part that failed: at which stage, and why; the latter is for people and not compared.
    pub(crate) fn error(stage: &str, why: &dyn fmt::Display) -> Json {
        Json::object([("error", Json::text(stage)), ("_msg", Json::text(&why.to_string()))])
    }

    pub(crate) fn set(&mut self, key: &'static str, value: Json) {
        if let Json::Object(entries) = self {
            entries.insert(key, value);
        }
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Number(number.into())
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Json {
        Json::List(items.into_iter().collect())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(number) => write!(f, "{number}"),
            Json::Text(bytes) => quoted(f, bytes),
            Json::List(items) => {
                f.write_str("[")?;
                for (nth, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if nth > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(entries) => {
                f.write_str("{")?;
                for (nth, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}\"{key}\": {value}", if nth > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("\"")?;
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\u{8}' => f.write_str("\\b")?,
                '\u{c}' => f.write_str("\\f")?,
                ' '..='~' => write!(f, "{letter}")?,
                _ => {
                    let mut units = [0; 2];
                    for unit in letter.encode_utf16(&mut units) {
                        write!(f, "\\u{unit:04x}")?;
                    }
                }
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\udc{byte:02x}")?;
        }
    }
    f.write_str("\"")
}
