//! The section filters message: what the sections of structured chunks go through before they are stored.
//!
//! ```text
//!  | version | sections | per section: its number | filters | bytes of their descriptions, 2 | descriptions as in version 2 of the filter pipeline |
//!  version  1 in a message of its own, 3 in a filter pipeline message
//! ```

use hyperslab_base::{Reader, Width, Writer};

use super::FilterStep;
use super::filter_pipeline::{MAX_FILTERS, step, write_step};
use crate::{Encoded, Result};

/// A chunk has no more sections.
const MAX_SECTIONS: u8 = 3;

/// The version of the filter pipeline message whose descriptions of filters this message has.
const DESCRIPTIONS: u8 = 2;

/// The filters of structured chunks: a pipeline for each section that has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionFilters {
    /// The number of a section and its filters, in the order in which they are applied when writing. The numbers rise.
    ///
    /// Filters of the library itself have no name here: [`FilterPipeline::of_version`](super::FilterPipeline::of_version) 2 takes it from them.
    pub sections: Vec<(u8, Vec<FilterStep>)>,
}

impl SectionFilters {
    /// Reads the message, in its own version or as version 3 of the filter pipeline message.
    pub fn decode(bytes: &[u8]) -> Result<SectionFilters> {
        let mut reader = Reader::new("section filters message", bytes);
        let known = if bytes.first() == Some(&3) { 3..=3 } else { 1..=1 };
        reader.version(known)?;
        let count = reader.u8()?;
        let mut sections: Vec<(u8, Vec<FilterStep>)> = Vec::new();
        for _ in 0..count {
            let number = reader.u8()?;
            let last = sections.last().map(|(last, _)| *last);
            check_number(number, last).map_err(|why| reader.refuse(why))?;
            sections.push((number, steps(&mut reader)?));
        }
        Ok(SectionFilters { sections })
    }

    /// Writes the message in its own version.
    ///
    /// ```
    /// use hyperslab_format::message::{FilterStep, SectionFilters};
    /// let deflate = FilterStep { id: 1, name: Vec::new(), flags: 0, params: vec![9] };
    /// let filters = SectionFilters { sections: vec![(1, vec![deflate])] };
    /// let bytes = filters.encode()?;
    /// assert_eq!(bytes, [1, 1, 1, 1, 10, 0, 1, 0, 0, 0, 1, 0, 9, 0, 0, 0]);
    /// assert_eq!(SectionFilters::decode(&bytes).unwrap(), filters);
    /// # Ok::<(), hyperslab_format::Unfit>(())
    /// ```
    pub fn encode(&self) -> Encoded {
        let mut writer = Writer::new("section filters message");
        writer.u8(1);
        writer.count("sections", Width::W1, self.sections.len())?;
        let mut last = None;
        for (number, steps) in &self.sections {
            check_number(*number, last).map_err(|why| writer.refuse("section", why))?;
            write_steps(&mut writer, *number, steps)?;
            last = Some(*number);
        }
        Ok(writer.into_bytes())
    }

    /// The filters of a section, in the order in which they are applied when writing; none if it has none.
    pub fn of(&self, section: u8) -> &[FilterStep] {
        let found = self.sections.iter().find(|(number, _)| *number == section);
        found.map(|(_, steps)| steps.as_slice()).unwrap_or_default()
    }

    /// Whether no section has a filter.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|(_, steps)| steps.is_empty())
    }
}

/// Why filters of section `number` cannot follow those of section `last`.
fn check_number(number: u8, last: Option<u8>) -> std::result::Result<(), String> {
    match last {
        _ if number >= MAX_SECTIONS => {
            Err(format!("filters of section {number}, but chunks have {MAX_SECTIONS} at most"))
        }
        Some(last) if last >= number => Err(format!("filters of section {number} behind those of section {last}")),
        _ => Ok(()),
    }
}

fn steps(reader: &mut Reader<'_>) -> Result<Vec<FilterStep>> {
    let (count, length) = (reader.u8()?, usize::from(reader.u16()?));
    if count > MAX_FILTERS {
        return Err(reader.refuse(format!("{count} filters, more than {MAX_FILTERS}")));
    }
    let start = reader.position();
    let steps = (0..count).map(|_| step(reader, DESCRIPTIONS)).collect::<Result<_>>()?;
    match reader.position() - start {
        taken if taken == length => Ok(steps),
        taken => Err(reader.refuse(format!("{count} filters of {taken} bytes where {length} are told"))),
    }
}

fn write_steps(writer: &mut Writer, number: u8, steps: &[FilterStep]) -> Encoded<()> {
    if steps.len() > usize::from(MAX_FILTERS) {
        return Err(writer.refuse("filters", format!("{}, more than {MAX_FILTERS}", steps.len())));
    }
    let mut list = Writer::new("section filters message");
    steps.iter().try_for_each(|step| write_step(&mut list, step, DESCRIPTIONS))?;
    let list = list.into_bytes();
    writer.extend(&[number, steps.len() as u8]);
    writer.count("bytes of the filters", Width::W2, list.len())?;
    writer.extend(&list);
    Ok(())
}
