//! The mapping of a virtual dataset, kept in the global heap.
//!
//! ```text
//!  | version 0 | entries L | per entry: source file, 0 | source dataset, 0 | source selection | target selection | … | checksum, 4 |
//! ```

use hyperslab_base::{Reader, Widths, Writer};
use hyperslab_space::{Low, Selection};

use crate::{Encoded, Result};

/// A part of a virtual dataset and where its values are.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The file of the source; `.` for this one.
    pub file: Vec<u8>,
    /// The path of the source dataset.
    pub dataset: Vec<u8>,
    /// What is taken of the source.
    pub source: Selection,
    /// Where it appears.
    pub target: Selection,
}

/// Reads all mappings.
pub fn decode(bytes: &[u8], widths: Widths) -> Result<Vec<Mapping>> {
    let mut reader = Reader::new("virtual dataset mapping", bytes);
    reader.version(0..=0)?;
    let count = reader.length(widths)?;
    let mut mappings = Vec::new();
    for _ in 0..count {
        let (file, dataset) = (string(&mut reader)?, string(&mut reader)?);
        mappings.push(Mapping { file, dataset, source: selection(&mut reader)?, target: selection(&mut reader)? });
    }
    reader.checksum(bytes)?;
    Ok(mappings)
}

/// Writes all mappings in version 0, the selections as libhdf5 does for the lower bound `low`.
pub fn encode(mappings: &[Mapping], low: Low, widths: Widths) -> Encoded {
    let mut writer = Writer::new("virtual dataset mapping");
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
            writer.extend(&selection.encode(low).map_err(|why| writer.refuse(field, why.to_string()))?);
        }
    }
    writer.checksum();
    Ok(writer.into_bytes())
}

/// Bytes up to a zero.
fn string(reader: &mut Reader<'_>) -> Result<Vec<u8>> {
    let rest = reader.clone().rest();
    let length = rest.iter().position(|&byte| byte == 0);
    let length = length.ok_or_else(|| reader.refuse("a name without an end"))?;
    let text = reader.take(length)?.to_vec();
    reader.skip(1)?;
    Ok(text)
}

fn selection(reader: &mut Reader<'_>) -> Result<Selection> {
    let (selection, taken) = Selection::decode(reader.clone().rest()).map_err(|why| reader.refuse(why.to_string()))?;
    reader.skip(taken)?;
    Ok(selection)
}
