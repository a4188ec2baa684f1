//! The mapping of a virtual dataset, kept in the global heap.
//!
//! ```text
//!  0   | version 0 | entries L | per entry: file, 0 | dataset, 0 | source selection | target selection | … | checksum, 4 |
//!  1   | version 1 | entries L | per entry: flags | file | dataset | source selection | target selection | … | checksum, 4 |
//!      file:    flag 4: nothing, it is this file; flag 1: | entry that has the same L |; else | name, 0 |
//!      dataset: flag 2: | entry that has the same L |; else | name, 0 |
//! ```

use std::sync::Arc;

use hyperslab_base::{Reader, Widths, Writer};
use hyperslab_space::{LibVersion, Selection};

use crate::{Encoded, Result};

/// A part of a virtual dataset and where its values are.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The file of the source; `.` for this one. Many mappings may share it.
    pub file: Arc<[u8]>,
    /// The path of the source dataset.
    pub dataset: Arc<[u8]>,
    /// What is taken of the source.
    pub source: Selection,
    /// Where it appears.
    pub target: Selection,
}

/// What errors call the structure.
pub const WHAT: &str = "virtual dataset mapping";

const SHARED_FILE: u8 = 1;
const SHARED_DATASET: u8 = 2;
const SAME_FILE: u8 = 4;

/// Reads all mappings.
pub fn decode(bytes: &[u8], widths: Widths) -> Result<Vec<Mapping>> {
    let mut reader = Reader::new(WHAT, bytes);
    let version = reader.version(0..=1)?;
    let count = reader.length(widths)?;
    let here: Arc<[u8]> = Arc::from(*b".");
    let mut mappings: Vec<Mapping> = Vec::new();
    for _ in 0..count {
        let flags = if version == 0 { 0 } else { reader.u8()? };
        if flags & !(SHARED_FILE | SHARED_DATASET | SAME_FILE) != 0 {
            return Err(reader.refuse(format!("unknown flags {flags:#x}")));
        }
        let file = match flags {
            _ if flags & SAME_FILE != 0 => here.clone(),
            _ if flags & SHARED_FILE != 0 => earlier(&mut reader, widths, &mappings)?.file.clone(),
            _ => string(&mut reader)?,
        };
        let dataset = match flags & SHARED_DATASET {
            0 => string(&mut reader)?,
            _ => earlier(&mut reader, widths, &mappings)?.dataset.clone(),
        };
        mappings.push(Mapping { file, dataset, source: selection(&mut reader)?, target: selection(&mut reader)? });
    }
    reader.checksum(bytes)?;
    Ok(mappings)
}

/// Writes all mappings in version 0, the selections as libhdf5 does for the lower bound `low`.
pub fn encode(mappings: &[Mapping], libver_min: LibVersion, widths: Widths) -> Encoded {
    let mut writer = Writer::new(WHAT);
    writer.u8(0);
    writer.length("entries", widths, mappings.len() as u64)?;
    for mapping in mappings {
        for (field, name) in [("source file", &mapping.file), ("source dataset", &mapping.dataset)] {
            if name.contains(&0) {
                return Err(writer.refuse(field, "a name with a zero in it"));
            }
            writer.extend(name);
            writer.u8(0);
        }
        for (field, selection) in [("source selection", &mapping.source), ("target selection", &mapping.target)] {
            writer.extend(&selection.encode(libver_min).map_err(|why| writer.refuse(field, why.to_string()))?);
        }
    }
    writer.checksum();
    Ok(writer.into_bytes())
}

/// The entry before this one that has the same name.
fn earlier<'a>(reader: &mut Reader<'_>, widths: Widths, mappings: &'a [Mapping]) -> Result<&'a Mapping> {
    let entry = reader.length(widths)?;
    let found = usize::try_from(entry).ok().and_then(|entry| mappings.get(entry));
    found.ok_or_else(|| reader.refuse(format!("entry {} has its name from entry {entry}", mappings.len())))
}

/// Bytes up to a zero.
fn string(reader: &mut Reader<'_>) -> Result<Arc<[u8]>> {
    let rest = reader.clone().rest();
    let length = rest.iter().position(|&byte| byte == 0);
    let length = length.ok_or_else(|| reader.refuse("a name without an end"))?;
    let text = Arc::from(reader.take(length)?);
    reader.skip(1)?;
    Ok(text)
}

fn selection(reader: &mut Reader<'_>) -> Result<Selection> {
    let (selection, taken) = Selection::decode(reader.clone().rest()).map_err(|why| reader.refuse(why.to_string()))?;
    reader.skip(taken)?;
    Ok(selection)
}
