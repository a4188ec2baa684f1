//! The trait that every filter has, ours and those that users bring.

use crate::{ChunkFacts, Fault};

/// One way of changing the bytes of a chunk, and of changing them back.
///
/// ```
/// use hyperslab_filter::{Decoded, Encoded, Fault, Filter};
///
/// struct Inverse;
///
/// impl Filter for Inverse {
///     fn id(&self) -> u16 {
///         400
///     }
///     fn name(&self) -> &'static str {
///         "inverse"
///     }
///     fn decode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault> {
///         if input.len() > limit {
///             return Err(Fault::TooLong(limit));
///         }
///         out.clear();
///         out.extend(input.iter().map(|byte| !byte));
///         Ok(Decoded::Written)
///     }
///     fn encode(&self, _: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
///         out.clear();
///         out.extend(input.iter().map(|byte| !byte));
///         Ok(Encoded::Written)
///     }
/// }
/// ```
///
/// Chunks go through filters on any thread, while locks of their file are held: a filter must not use that file, nor wait for tasks of a
/// pool whose threads may do so.
pub trait Filter: Send + Sync {
    /// The number that stands for this filter in files.
    fn id(&self) -> u16;

    /// The name for messages, and for the file where it has room for one.
    fn name(&self) -> &'static str;

    /// The parameters that a new dataset gets, from those that its user gives and from its chunks: what plugins of libhdf5 do in `set_local`.
    /// Complete parameters of another dataset are completed anew. An error where [`encode`](Filter::encode) could not work with them.
    fn complete(&self, params: &[u32], _chunk: &ChunkFacts<'_>) -> Result<Vec<u32>, Fault> {
        Ok(params.to_vec())
    }

    /// Undoes [`encode`](Filter::encode). `out` comes with stale bytes, to be replaced; it must never hold, nor have room
    /// made for, more than `limit` bytes.
    fn decode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<Decoded, Fault>;

    /// Changes the bytes of a chunk for the file. `out` comes with stale bytes, to be replaced.
    fn encode(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault>;

    /// As [`encode`](Filter::encode), for a section of a structured chunk. An encoder may choose a faster way where that costs hardly any room.
    fn encode_section(&self, params: &[u32], input: &[u8], out: &mut Vec<u8>) -> Result<Encoded, Fault> {
        self.encode(params, input, out)
    }

    /// The most bytes that any good encoder makes of `len` bytes: a limit for the filter that decodes before this one.
    fn encoded_bound(&self, params: &[u32], len: usize) -> usize {
        let usual = len.saturating_add(len / 4).saturating_add(1 << 16);
        let own = self.worst_case(params, len as u64).map_or(0, |most| usize::try_from(most).unwrap_or(usize::MAX));
        usual.max(own)
    }

    /// The most bytes that [`encode`](Filter::encode) makes of `len` bytes or fewer, if it does not fail. Nothing if that is not known: chunks whose size the file tells in few bytes
    /// then go through the filter when they are written, not when they are flushed.
    fn worst_case(&self, _params: &[u32], _len: u64) -> Option<u64> {
        None
    }

    /// The most bytes that [`decode`](Filter::decode) makes of `len` bytes: what is said to be more cannot be true. Nothing if that has no limit.
    fn decoded_bound(&self, _params: &[u32], _len: u64) -> Option<u64> {
        None
    }
}

/// Where a decoder left its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// In `out`.
    Written,
    /// It is the first bytes of the input, this many; `out` is not used.
    Prefix(usize),
}

/// Where an encoder left its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoded {
    /// In `out`.
    Written,
    /// It is the input; `out` is not used.
    Unchanged,
    /// Nowhere: the data does not get smaller and the format has no way to say so. The filter is to be left out.
    Incompressible,
}
