//! What goes with every request besides addresses and bytes.
//!
//! Lives here: [`Transfer`] and its parts. Does not live here: anything a driver remembers from one request to the
//! next. Made by the issuer of a request, changed by lowering where it cuts one.

use crate::MemoryType;

/// Whether the processes of a group issue a request together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Each for itself.
    #[default]
    Independent,
    /// All together; each must issue the same number of requests.
    Collective,
}

/// Where the buffers of a request are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BufferLocation {
    /// In host memory.
    #[default]
    Host,
    /// In the memory of the device with this number.
    Device(u32),
}

/// Who may allocate the buffer that type conversion needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Allocator {
    /// The issuer of the request.
    #[default]
    Caller,
    /// The driver, which may know better memory (that of a device, say).
    Driver,
}

/// What goes with every request.
///
/// ```
/// use hyperslab_driver::{MemoryType, Mode, Transfer};
/// let transfer = Transfer::default().with_kind(MemoryType::RawData).with_mode(Mode::Collective);
/// assert_eq!(transfer.rounds, 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfer {
    /// Alone or together.
    pub mode: Mode,
    /// What the bytes are, where a request does not say it for each of its parts.
    pub kind: MemoryType,
    /// Into how many requests this process had to cut the one collective call that this request is a part of. A driver needs it to
    /// issue empty requests where another process cut more often.
    pub rounds: u64,
    /// Where the buffers are.
    pub buffers: BufferLocation,
    /// Who may allocate a conversion buffer.
    pub allocator: Allocator,
    /// The most parts of one vector: longer ones reach the storage of a file as several requests.
    pub vector_limit: usize,
}

/// Enough to see a whole request in nearly all cases; 2 MiB of parts.
const VECTOR_LIMIT: usize = 1 << 16;

impl Default for Transfer {
    fn default() -> Self {
        Transfer {
            mode: Mode::default(),
            kind: MemoryType::default(),
            rounds: 1,
            buffers: BufferLocation::default(),
            allocator: Allocator::default(),
            vector_limit: VECTOR_LIMIT,
        }
    }
}

impl Transfer {
    /// The same, alone or together.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Transfer { mode, ..self }
    }

    /// The same, for bytes of this kind.
    #[must_use]
    pub fn with_kind(self, kind: MemoryType) -> Self {
        Transfer { kind, ..self }
    }

    /// The same, as one of so many requests of a collective call.
    #[must_use]
    pub fn with_rounds(self, rounds: u64) -> Self {
        Transfer { rounds, ..self }
    }

    /// The same, with buffers there.
    #[must_use]
    pub fn with_buffers(self, buffers: BufferLocation) -> Self {
        Transfer { buffers, ..self }
    }

    /// The same, with the conversion buffer allocated so.
    #[must_use]
    pub fn with_allocator(self, allocator: Allocator) -> Self {
        Transfer { allocator, ..self }
    }

    /// The same, with at most so many parts (at least one) in a vector.
    #[must_use]
    pub fn with_vector_limit(self, limit: usize) -> Self {
        Transfer { vector_limit: limit.max(1), ..self }
    }
}
