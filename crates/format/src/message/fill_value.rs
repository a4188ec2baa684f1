//! The fill value message: what elements are that were never written.
//!
//! ```text
//!  old   | size, 4 | value |
//!  1, 2  | version | allocation time | write time | defined | (size, 4 | value) |
//!  3     | version 3 | flags: allocation time 0–1, write time 2–3, undefined 4, has a value 5 | (size, 4 | value) |
//! ```

use hyperslab_base::{Reader, Width, Writer};

use crate::{Encoded, Result};

/// The fill value of a dataset and when it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillWrite {
    /// The value.
    pub value: FillValue,
    /// When space is allocated.
    pub alloc: AllocTime,
    /// When the value is written to allocated space.
    pub write: FillTime,
}

/// What an element is that was never written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FillValue {
    /// Anything.
    Undefined,
    /// Zero bytes.
    Default,
    /// These bytes, one element of the dataset's type.
    User(Vec<u8>),
}

/// When space for values is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocTime {
    /// As the layout likes it.
    Default,
    /// When the dataset is made.
    Early,
    /// When values are first written.
    Late,
    /// Piece by piece as values are written.
    Incremental,
}

/// When the fill value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillTime {
    /// When space is allocated.
    Alloc,
    /// Never.
    Never,
    /// When space is allocated, if the user gave a value.
    IfSet,
}

impl FillWrite {
    /// Reads the message in its first form, which has nothing but the value.
    pub fn decode_old(bytes: &[u8]) -> Result<FillWrite> {
        let mut reader = Reader::new("old fill value message", bytes);
        let value = match sized(&mut reader)? {
            FillValue::Default => FillValue::Undefined, // this form has no other way to say so
            value => value,
        };
        Ok(FillWrite { value, alloc: AllocTime::Late, write: FillTime::IfSet })
    }

    /// Reads the message.
    pub fn decode(bytes: &[u8]) -> Result<FillWrite> {
        let mut reader = Reader::new("fill value message", bytes);
        let version = reader.version(1..=3)?;
        if version == 3 {
            let flags = reader.u8()?;
            if flags & 0xc0 != 0 {
                return Err(reader.refuse(format!("unknown flags {flags:#x}")));
            }
            let (alloc, write) = (alloc_time(&reader, flags & 3)?, fill_time(&reader, flags >> 2 & 3)?);
            let value = match (flags & 0x10 != 0, flags & 0x20 != 0) {
                (true, true) => return Err(reader.refuse("a value that is undefined and there")),
                (true, false) => FillValue::Undefined,
                (false, true) => sized(&mut reader)?,
                (false, false) => FillValue::Default,
            };
            return Ok(FillWrite { value, alloc, write });
        }
        let [alloc, write, defined] = reader.array()?;
        let (alloc, write) = (alloc_time(&reader, alloc)?, fill_time(&reader, write)?);
        let value = if defined != 0 { sized(&mut reader)? } else { FillValue::Undefined };
        Ok(FillWrite { value, alloc, write })
    }

    /// Writes the message in its first form, which has no place for times.
    pub fn encode_old(&self) -> Encoded {
        let mut writer = Writer::new("old fill value message");
        if self.value == FillValue::Default {
            return Err(writer.refuse("value", "no bytes mean that it is undefined"));
        }
        self.encode_sized(&mut writer)?;
        Ok(writer.into_bytes())
    }

    /// Writes the message in version 1, 2 or 3.
    pub fn encode(&self, version: u8) -> Encoded {
        let mut writer = Writer::new("fill value message");
        let (alloc, write) = (self.alloc.code(), self.write.code());
        writer.u8(version);
        match version {
            1 | 2 => {
                let defined = self.value != FillValue::Undefined;
                writer.extend(&[alloc, write, u8::from(defined)]);
                if defined {
                    self.encode_sized(&mut writer)?;
                }
            }
            3 => {
                let value = match self.value {
                    FillValue::Undefined => 0x10,
                    FillValue::Default => 0,
                    FillValue::User(_) => 0x20,
                };
                writer.u8(alloc | write << 2 | value);
                if value == 0x20 {
                    self.encode_sized(&mut writer)?;
                }
            }
            _ => return Err(writer.refuse("version", format!("there is no version {version}"))),
        }
        Ok(writer.into_bytes())
    }

    fn encode_sized(&self, writer: &mut Writer) -> Encoded<()> {
        match &self.value {
            FillValue::Undefined => writer.u32(u32::MAX),
            FillValue::Default => writer.u32(0),
            FillValue::User(bytes) => {
                if bytes.is_empty() || i32::try_from(bytes.len()).is_err() {
                    return Err(writer.refuse("size", format!("{} bytes are no fill value", bytes.len())));
                }
                writer.count("size", Width::W4, bytes.len())?;
                writer.extend(bytes);
            }
        }
        Ok(())
    }
}

impl AllocTime {
    const fn code(self) -> u8 {
        match self {
            AllocTime::Default => 0,
            AllocTime::Early => 1,
            AllocTime::Late => 2,
            AllocTime::Incremental => 3,
        }
    }
}

impl FillTime {
    const fn code(self) -> u8 {
        match self {
            FillTime::Alloc => 0,
            FillTime::Never => 1,
            FillTime::IfSet => 2,
        }
    }
}

fn sized(reader: &mut Reader<'_>) -> Result<FillValue> {
    match reader.u32()?.cast_signed() {
        size if size < 0 => Ok(FillValue::Undefined),
        0 => Ok(FillValue::Default),
        size => Ok(FillValue::User(reader.take(size as usize)?.to_vec())),
    }
}

fn alloc_time(reader: &Reader<'_>, number: u8) -> Result<AllocTime> {
    Ok(match number {
        0 => AllocTime::Default,
        1 => AllocTime::Early,
        2 => AllocTime::Late,
        3 => AllocTime::Incremental,
        _ => return Err(reader.refuse(format!("unknown allocation time {number}"))),
    })
}

fn fill_time(reader: &Reader<'_>, number: u8) -> Result<FillTime> {
    Ok(match number {
        0 => FillTime::Alloc,
        1 => FillTime::Never,
        2 => FillTime::IfSet,
        _ => return Err(reader.refuse(format!("unknown fill time {number}"))),
    })
}
