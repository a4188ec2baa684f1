//! Messages of one value.

use hyperslab_base::{Reader, Writer};

use crate::{Encoded, Result};

/// Reads a comment: bytes up to a zero.
pub fn comment(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(bytes)
}

/// Reads how many hard links an object has: `| version 0 | count, 4 |`.
pub fn reference_count(bytes: &[u8]) -> Result<u32> {
    let mut reader = Reader::new("reference count message", bytes);
    reader.version(0..=0)?;
    reader.u32()
}

/// Reads the modification time in seconds since 1970: `| version 1 | 0, 3 | seconds, 4 |`.
pub fn modification_time(bytes: &[u8]) -> Result<u32> {
    let mut reader = Reader::new("modification time message", bytes);
    reader.version(1..=1)?;
    reader.skip(3)?;
    reader.u32()
}

/// Reads the modification time in its first form: fourteen digits, `YYYYMMDDhhmmss`.
pub fn old_modification_time(bytes: &[u8]) -> Result<&[u8]> {
    let mut reader = Reader::new("old modification time message", bytes);
    let digits = reader.take(14)?;
    if digits.iter().all(u8::is_ascii_digit) { Ok(digits) } else { Err(reader.refuse("a time that is not digits")) }
}

/// Writes a comment.
pub fn encode_comment(text: &[u8]) -> Encoded {
    let mut writer = Writer::new("comment message");
    if text.contains(&0) {
        return Err(writer.refuse("text", "a comment with a zero in it"));
    }
    writer.extend(text);
    writer.u8(0);
    Ok(writer.into_bytes())
}

/// Writes how many hard links an object has.
pub fn encode_reference_count(count: u32) -> Vec<u8> {
    let mut writer = Writer::new("reference count message");
    writer.u8(0);
    writer.u32(count);
    writer.into_bytes()
}

/// Writes the modification time in seconds since 1970.
pub fn encode_modification_time(seconds: u32) -> Vec<u8> {
    let mut writer = Writer::new("modification time message");
    writer.extend(&[1, 0, 0, 0]);
    writer.u32(seconds);
    writer.into_bytes()
}

/// Writes the modification time in its first form: fourteen digits, `YYYYMMDDhhmmss`, and two zeros.
pub fn encode_old_modification_time(digits: &[u8]) -> Encoded {
    let mut writer = Writer::new("old modification time message");
    if digits.len() != 14 || !digits.iter().all(u8::is_ascii_digit) {
        return Err(writer.refuse("time", "it is not fourteen digits"));
    }
    writer.extend(digits);
    writer.zeros(2);
    Ok(writer.into_bytes())
}

/// What the message stands for that only tests of libhdf5 know: `| 0xdeadbeef, 4 |`.
pub const BOGUS: u32 = 0xdead_beef;

/// Checks the message that only tests of libhdf5 know.
pub fn bogus(bytes: &[u8]) -> Result<()> {
    let mut reader = Reader::new("bogus message", bytes);
    match reader.u32()? {
        BOGUS => Ok(()),
        other => Err(reader.refuse(format!("{other:#x} where {BOGUS:#x} belongs"))),
    }
}

/// Writes the message that only tests of libhdf5 know.
pub fn encode_bogus() -> Vec<u8> {
    BOGUS.to_le_bytes().to_vec()
}
