//! What the cache must know of a value.
//!
//! ```text
//!  footprint ───► what the budget counts; may change whenever the value is locked for writing
//!     grows       Pinned::write_in     memory is granted first, then taken
//!     completed   Pinned::complete_in  more of a value that was loaded in part; it stays clean
//!     sheds       Footprint::shed      eviction takes part of a clean value, and leaves the rest
//! ```

/// A value of the cache: it tells what memory it takes, and may have no fixed size.
pub trait Footprint: Send + Sync {
    /// What a partition is of: where its chunks come from and go to.
    type Source: ?Sized + Send + Sync;

    /// A value as the file will have it, made ahead of time.
    type Encoded: Send + Sync;

    /// About how much memory the value takes, in bytes; what the budget counts.
    fn footprint(&self) -> usize;

    /// The same of an encoded value.
    fn encoded_footprint(encoded: &Self::Encoded) -> usize;

    /// Whether values of a partition may give back part of themselves. If not, eviction never asks them.
    fn sheds(_source: &Self::Source) -> bool {
        false
    }

    /// Gives back what can be loaded again later, if there is something. The value is as in the file, and no thread holds it. A value that has
    /// nothing to give back leaves as a whole.
    fn shed(&mut self) {}
}
