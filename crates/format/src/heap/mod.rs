//! Heaps: places for things of any size.

pub mod fractal;
pub mod global;
pub mod local;

pub use fractal::FractalHeap;
pub use local::LocalHeap;
