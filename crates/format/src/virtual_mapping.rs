//! The mapping of a virtual dataset, kept in the global heap.
//!
//! ```text
//!  | version 0 | entries L | per entry: source file, 0 | source dataset, 0 | source selection | target selection | … | checksum, 4 |
//! ```

use hyperslab_base::{Reader, Widths};
use hyperslab_space::Selection;

use crate::Result;

/// A part of a virtual dataset and where its values are.
#[derive(Clone, Debug)]
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
