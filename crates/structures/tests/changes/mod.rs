//! Structures that change: long random histories against simple twins, and a killed process after every single write.

mod heap;
mod libhdf5;
mod tape;
mod tree;
