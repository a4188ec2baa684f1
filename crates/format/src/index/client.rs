//! What chunks an index is for.

use hyperslab_base::Reader;

use crate::Result;

/// What chunks an index is for, as its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Dense chunks without filters.
    Plain,
    /// Dense chunks with filters.
    Filtered,
    /// Structured chunks without filters.
    Structured,
    /// Structured chunks with filters.
    FilteredStructured,
}

impl Client {
    /// All of them, by their number in arrays.
    const ALL: [Client; 4] = [Client::Plain, Client::Filtered, Client::Structured, Client::FilteredStructured];

    /// The number in arrays.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// The type of the records in a B-tree.
    pub const fn record_kind(self) -> u8 {
        super::record::kind::CHUNK + self.id()
    }

    /// The client with records of this type; none if they are no chunks.
    pub fn of_record_kind(kind: u8) -> Option<Client> {
        Client::ALL.get(usize::from(kind.checked_sub(super::record::kind::CHUNK)?)).copied()
    }

    /// The version that a new index has.
    pub const fn version(self) -> u8 {
        match self {
            Client::Plain | Client::Filtered => 0,
            Client::Structured | Client::FilteredStructured => 1,
        }
    }

    /// Reads the number.
    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Client> {
        let id = reader.u8()?;
        Client::ALL.get(usize::from(id)).copied().ok_or_else(|| reader.refuse(format!("unknown client {id}")))
    }
}
