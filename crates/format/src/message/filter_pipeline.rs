//! The filter pipeline message: what chunks go through before they are stored.
//!
//! ```text
//!  1  | version 1 | filters | 0, 6 | per filter: id, 2 | name length, 2 | flags, 2 | parameters, 2 | name, padded to 8 | parameters of 4, padded to 8 |
//!  2  | version 2 | filters | per filter: id, 2 | (name length, 2) | flags, 2 | parameters, 2 | (name) | parameters of 4 |
//! ```

use hyperslab_base::Reader;

use crate::Result;

/// The filters of a dataset, in the order in which they are applied when writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterPipeline {
    /// The filters.
    pub steps: Vec<FilterStep>,
}

/// One filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterStep {
    /// Its registered number.
    pub id: u16,
    /// Its name, if the file has it.
    pub name: Vec<u8>,
    /// Its flags; bit 0 says that a chunk may be stored without it.
    pub flags: u16,
    /// Its parameters.
    pub params: Vec<u32>,
}

/// The format has room for more, but libhdf5 takes no more than these.
const MAX_FILTERS: u8 = 32;

impl FilterPipeline {
    /// Reads the message.
    pub fn decode(bytes: &[u8]) -> Result<FilterPipeline> {
        let mut reader = Reader::new("filter pipeline message", bytes);
        let version = reader.version(1..=2)?;
        let count = reader.u8()?;
        if count > MAX_FILTERS {
            return Err(reader.refuse(format!("{count} filters, more than {MAX_FILTERS}")));
        }
        if version == 1 {
            reader.skip(6)?;
        }
        let steps = (0..count).map(|_| step(&mut reader, version)).collect::<Result<_>>()?;
        Ok(FilterPipeline { steps })
    }
}

fn step(reader: &mut Reader<'_>, version: u8) -> Result<FilterStep> {
    let id = reader.u16()?;
    // The filters of the library itself need no name.
    let name_length = if version == 1 || id >= 256 { usize::from(reader.u16()?) } else { 0 };
    let (flags, params) = (reader.u16()?, reader.u16()?);
    let name = reader.take(name_length)?;
    let name = name.split(|&byte| byte == 0).next().unwrap_or(name).to_vec();
    if version == 1 {
        reader.skip(name_length.next_multiple_of(8) - name_length)?;
    }
    let values = (0..params).map(|_| reader.u32()).collect::<Result<_>>()?;
    if version == 1 && params % 2 == 1 {
        reader.skip(4)?;
    }
    Ok(FilterStep { id, name, flags, params: values })
}
