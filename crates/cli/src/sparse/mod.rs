//! Sparse datasets: what they take.

mod facts;

pub(crate) use facts::SparseFacts;
