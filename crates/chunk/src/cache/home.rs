//! A dataset as the cache sees it.

use hyperslab_cache::Shelf;
use hyperslab_file::OpenFile;

use crate::{
    Chunk, Result,
    layout::{Facts, Layout},
};

/// The chunks of a dataset in the cache. Cheap to clone.
pub type ChunkShelf = Shelf<Chunk>;

/// A dataset as the cache sees it. It lives as long as its chunks do, whoever has a handle of it, and knows no handle. What changes
/// of it is shown when it is needed, under the dataset's own lock, and never kept.
pub trait Home: Send + Sync {
    /// The file that it is in.
    fn file(&self) -> &OpenFile;

    /// What messages call it.
    fn name(&self) -> String;

    /// What never changes of its layout.
    fn facts(&self) -> &Facts;

    /// Whether nobody has deleted it.
    fn is_alive(&self) -> bool;

    /// Shows the layout. Nothing in the file changes meanwhile.
    fn look(&self, look: &mut dyn FnMut(&dyn Layout) -> Result<()>) -> Result<()>;

    /// Changes the layout, within an operation; if the layout message must say something new, it does then.
    fn change(&self, change: &mut dyn FnMut(&mut dyn Layout) -> Result<bool>) -> Result<()>;
}
