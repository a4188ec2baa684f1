//! A look at every block of a structure, as a check of a file takes it.
//!
//! Readers go straight to what is asked for and stop at the first thing that is wrong. These walks go everywhere, and go on: what is wrong is told to
//! the [`Survey`], with its place, and the rest is looked at all the same. No block is looked at twice, so no walk is endless.

mod btree_v1;
mod btree_v2;
mod chunk_tree;
mod extensible_array;
mod fixed_array;
mod fractal_heap;
mod global_heap;
mod group_tree;
mod local_heap;

use hyperslab_file::Survey;
use hyperslab_format::ChunkEntry;

pub use btree_v2::tree;
pub use chunk_tree::{chunk_tree, chunk_tree_v2};
pub use extensible_array::extensible_array;
pub use fixed_array::fixed_array;
pub use fractal_heap::fractal_heap;
pub use global_heap::collection;
pub use group_tree::group_tree;
pub use local_heap::local_heap;

/// Gets the records of a tree in order, with their type and the address of their node.
pub type EachRecord<'a> = dyn FnMut(&mut dyn Survey, (u8, u64), &[u8]) + 'a;

/// Gets chunks, with the number that arrays know them by.
pub type EachChunk<'a> = dyn FnMut(&mut dyn Survey, Option<u64>, &ChunkEntry) + 'a;
