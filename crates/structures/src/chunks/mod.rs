//! Chunk indexes: where the chunks of a dataset are.

pub mod btree_v1;
pub mod btree_v2;
pub mod extensible_array;
pub mod fixed_array;
