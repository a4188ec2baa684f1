//! How a dataset shall be stored: words such as `chunked:64x64` and `shuffle+gzip:6`, and what they mean for a new dataset.

mod filter;
mod sections;
mod wishes;

pub(crate) use filter::Filters;
pub(crate) use sections::{SectionFilters, Sections};
pub(crate) use wishes::Wishes;

use crate::slice::Shape;
use std::str::FromStr;
use thiserror::Error;

/// What is wrong with such a word.
#[derive(Debug, Error)]
pub(crate) enum WordError {
    #[error("`{0}` is no layout: compact, contiguous, chunked, chunked:64x64, sparse, sparse:64x64 or dense")]
    Layout(String),
    #[error(
        "`{0}` is no filter: none, shuffle, gzip, fletcher32, szip, scaleoffset, nbit, lzf, zstd, lz4, bzip2, bitshuffle, blosc, blosc2 or a number"
    )]
    Filter(String),
    #[error("`{0}` is no section of sparse chunks: selection, values or vlen, then = and its filters")]
    Section(String),
    #[error("delta is for what tells which elements are defined: `--section-filter selection=delta+shuffle+gzip:6`")]
    Delta,
    #[error("`{text}` does not fit {filter}: {wanted}")]
    Parameter { filter: &'static str, text: String, wanted: &'static str },
}

/// How values lie in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Compact,
    Contiguous,
    /// In chunks, of this shape if one is given.
    Chunked(Option<Vec<u64>>),
    /// In chunks that have only defined elements, of this shape if one is given, else of that which they have.
    Sparse(Option<Vec<u64>>),
    /// Sparse datasets with all elements, in chunks of the shape that they have; others as they are.
    Dense,
}

impl FromStr for Layout {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Layout, WordError> {
        let wrong = || WordError::Layout(text.into());
        match (text.split_once(':'), text) {
            (None, "compact") => Ok(Layout::Compact),
            (None, "contiguous") => Ok(Layout::Contiguous),
            (None, "chunked") => Ok(Layout::Chunked(None)),
            (None, "sparse") => Ok(Layout::Sparse(None)),
            (None, "dense") => Ok(Layout::Dense),
            (Some((kind @ ("chunked" | "sparse"), shape)), _) => {
                let Shape(chunk) = shape.parse().map_err(|_| wrong())?;
                Ok(if kind == "sparse" { Layout::Sparse(Some(chunk)) } else { Layout::Chunked(Some(chunk)) })
            }
            _ => Err(wrong()),
        }
    }
}

/// Something for one object, or for all that it fits: `/detector/images=gzip:6` or `gzip:6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct For<T> {
    path: Option<String>,
    what: T,
}

impl<T> For<T> {
    /// For the object at a path; for all if there is none.
    pub(crate) fn at(path: &str, what: T) -> For<T> {
        For { path: (!path.is_empty()).then(|| path.to_owned()), what }
    }

    /// What it is, if it is for all.
    pub(crate) fn of_all(&self) -> Option<&T> {
        self.path.is_none().then_some(&self.what)
    }
}

impl<T: FromStr> FromStr for For<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<For<T>, T::Err> {
        let (path, what) = match text.rsplit_once('=') {
            Some((path, what)) => (Some(path.to_owned()), what),
            None => (None, text),
        };
        Ok(For { path, what: what.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_one_object_or_all() {
        let all: For<Layout> = "chunked:8x16".parse().unwrap();
        assert_eq!(all, For { path: None, what: Layout::Chunked(Some(vec![8, 16])) });
        let one: For<Layout> = "/a=b=compact".parse().unwrap();
        assert_eq!(one, For { path: Some("/a=b".into()), what: Layout::Compact });
        assert_eq!("sparse:8".parse::<Layout>().unwrap(), Layout::Sparse(Some(vec![8])));
        assert!("chunked:8by16".parse::<Layout>().is_err() && "/a=".parse::<For<Layout>>().is_err());
    }
}
