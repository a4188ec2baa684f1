//! Trees, arrays and heaps that live in the file.
//!
//! Lives here: how to find something in them, node by node. Does not live here: the bytes of a node (`format`), or what the things
//! found mean (`object`, `chunk`). Every walk is bounded: levels go down, no more nodes are visited than the file has room for, sizes are checked
//! against the file.

pub mod btree_v2;
pub mod chunks;
pub mod fractal_heap;
pub mod global_heap;
pub mod group_tree;
pub mod local_heap;
pub mod walk;

mod btree_v1;
mod lazy;
mod node_cache;
mod nodes;
mod ranges;

pub use btree_v2::{Entry, Occupied, Tree, Vacant};
pub use fractal_heap::FractalHeap;
pub use global_heap::{Collection, GlobalHeap, Pile};
pub use local_heap::LocalHeap;
