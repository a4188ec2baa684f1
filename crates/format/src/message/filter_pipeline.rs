//! The filter pipeline message: what chunks go through before they are stored.
//!
//! ```text
//!  1  | version 1 | filters | 0, 6 | per filter: id, 2 | name length, 2 | flags, 2 | parameters, 2 | name, padded to 8 | parameters of 4, padded to 8 |
//!  2  | version 2 | filters | per filter: id, 2 | (name length, 2) | flags, 2 | parameters, 2 | (name) | parameters of 4 |
//! ```

use hyperslab_base::{Reader, Width, Writer};

use crate::{Encoded, Result};

/// The filters of a dataset, in the order in which they are applied when writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterPipeline {
    /// The version of the message, 1 or 2.
    pub version: u8,
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

/// Filters from this number on have their name in version 2; those of the library itself need none.
const NAMED: u16 = 256;

/// The format has room for more, but libhdf5 takes no more than these.
pub(super) const MAX_FILTERS: u8 = 32;

/// The filters that every library has, by number, and their names.
const STANDARD: [(u16, &str); 6] =
    [(1, "deflate"), (2, "shuffle"), (3, "fletcher32"), (4, "szip"), (5, "nbit"), (6, "scaleoffset")];

impl FilterPipeline {
    /// A pipeline whose message has this version. Version 2 has no place for names of the library's own filters, which fall away.
    pub fn of_version(version: u8, mut steps: Vec<FilterStep>) -> FilterPipeline {
        for step in steps.iter_mut().filter(|step| step.id < NAMED) {
            match STANDARD.iter().find(|(id, _)| *id == step.id) {
                _ if version == 2 => step.name.clear(),
                // libhdf5 takes a name for granted: it copies the message into too little room if there is none.
                Some((_, name)) if step.name.is_empty() => step.name.extend(name.bytes()),
                _ => {}
            }
        }
        FilterPipeline { version, steps }
    }

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
        Ok(FilterPipeline { version, steps })
    }

    /// Writes the message.
    pub fn encode(&self) -> Encoded {
        let mut writer = Writer::new("filter pipeline message");
        if !(1..=2).contains(&self.version) {
            return Err(writer.refuse("version", format!("there is no version {}", self.version)));
        }
        if self.steps.len() > usize::from(MAX_FILTERS) {
            return Err(writer.refuse("filters", format!("{}, more than {MAX_FILTERS}", self.steps.len())));
        }
        writer.extend(&[self.version, self.steps.len() as u8]);
        if self.version == 1 {
            writer.zeros(6);
        }
        self.steps.iter().try_for_each(|step| write_step(&mut writer, step, self.version))?;
        Ok(writer.into_bytes())
    }
}

impl Default for FilterPipeline {
    /// No filters.
    fn default() -> FilterPipeline {
        FilterPipeline { version: 1, steps: Vec::new() }
    }
}

/// Writes a filter as a message of this version has it.
pub(super) fn write_step(writer: &mut Writer, step: &FilterStep, version: u8) -> Encoded<()> {
    if step.name.contains(&0) {
        return Err(writer.refuse("name", "a name with a zero in it"));
    }
    writer.u16(step.id);
    // A name ends with a zero; no name has not even that.
    let mut name = step.name.clone();
    if !name.is_empty() {
        name.push(0);
    }
    if version == 1 {
        name.resize(name.len().next_multiple_of(8), 0);
    }
    if version == 1 || step.id >= NAMED {
        writer.count("name length", Width::W2, name.len())?;
    } else if !name.is_empty() {
        return Err(writer.refuse("name", format!("version 2 has no place for the name of filter {}", step.id)));
    }
    writer.u16(step.flags);
    writer.count("parameters", Width::W2, step.params.len())?;
    writer.extend(&name);
    step.params.iter().for_each(|&param| writer.u32(param));
    if version == 1 && step.params.len() % 2 == 1 {
        writer.zeros(4);
    }
    Ok(())
}

/// Reads a filter of a message of this version.
pub(super) fn step(reader: &mut Reader<'_>, version: u8) -> Result<FilterStep> {
    let id = reader.u16()?;
    let name_length = if version == 1 || id >= NAMED { usize::from(reader.u16()?) } else { 0 };
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
