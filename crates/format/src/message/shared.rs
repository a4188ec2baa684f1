//! A message that is somewhere else.
//!
//! ```text
//!  1  | version 1 | type | 0, 6 | place of a name L | header O |
//!  2  | version 2 | type | header O |
//!  3  | version 3 | type | heap id, 8, or header O |
//! ```

use hyperslab_base::{Reader, Widths, Writer};

use crate::{Encoded, Result};

/// Where the message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// In the heap of shared messages, under this id.
    Heap([u8; 8]),
    /// In the object header of a committed datatype.
    Committed(u64),
}

const IN_HEAP: u8 = 1;
const COMMITTED: u8 = 2;

impl Shared {
    /// Reads the body of a message whose flags say that it is shared, and how many bytes it took.
    pub fn decode(bytes: &[u8], widths: Widths) -> Result<(Shared, usize)> {
        let mut reader = Reader::new("shared message", bytes);
        let version = reader.version(1..=3)?;
        let kind = reader.u8()?;
        if version == 1 {
            // What follows is the front of a symbol table entry; its name means nothing here.
            reader.skip(6)?;
            reader.length(widths)?;
        }
        let shared = if version == 3 && kind == IN_HEAP {
            Shared::Heap(reader.array()?)
        } else {
            let address = reader.address(widths)?;
            Shared::Committed(address.ok_or_else(|| reader.refuse("a shared message without an address"))?)
        };
        Ok((shared, reader.position()))
    }

    /// Writes the body in version 1, 2 or 3. The heap needs 3; for committed datatypes libhdf5 writes 2.
    pub fn encode(&self, version: u8, widths: Widths) -> Encoded {
        let mut writer = Writer::new("shared message");
        match (version, self) {
            (3, Shared::Heap(id)) => {
                writer.extend(&[3, IN_HEAP]);
                writer.extend(id);
            }
            (1..=3, Shared::Committed(address)) => {
                writer.extend(&[version, if version == 1 { 0 } else { COMMITTED }]);
                if version == 1 {
                    writer.zeros(6);
                    writer.length("name", widths, 0)?;
                }
                writer.address("header", widths, Some(*address))?;
            }
            _ => return Err(writer.refuse("version", format!("version {version} cannot name this place"))),
        }
        Ok(writer.into_bytes())
    }
}
