//! The elements of a dataset one by one, read in pieces so that memory does not grow with the dataset.

use crate::pieces::Pieces;
use hyperslab::space::{Op, Slab};
use hyperslab::{Dataset, Result, Value, Values};
use indicatif::ProgressBar;

/// More bytes than this take a while.
const LONG: u64 = 64 << 20;

pub(crate) struct Elements<'a> {
    dataset: &'a Dataset,
    pieces: Pieces,
    values: Option<Values<'a>>,
    progress: ProgressBar,
}

impl<'a> Elements<'a> {
    pub(crate) fn new(dataset: &'a Dataset, slabs: &[Slab], progress: bool) -> Elements<'a> {
        let size = dataset.datatype().size() as u64;
        let total = slabs.iter().fold(size, |product, slab| product.saturating_mul(slab.indices()));
        let progress = if progress && total > LONG { ProgressBar::new(total / size) } else { ProgressBar::hidden() };
        Elements { dataset, pieces: Pieces::new(dataset, slabs), values: None, progress }
    }

    /// The values of the next piece.
    fn piece(&mut self) -> Option<Result<Values<'a>>> {
        let slabs = self.pieces.next()?;
        let mut space = self.dataset.space();
        if !slabs.is_empty()
            && let Err(why) = space.select_hyperslab(Op::Set, &slabs)
        {
            return Some(Err(why.into()));
        }
        Some(self.dataset.read_values(&space))
    }
}

impl Iterator for Elements<'_> {
    type Item = Result<Value>;

    fn next(&mut self) -> Option<Result<Value>> {
        loop {
            if let Some(value) = self.values.as_mut().and_then(Iterator::next) {
                return Some(value);
            }
            match self.piece()? {
                Ok(values) => {
                    self.progress.inc(values.len() as u64);
                    self.values = Some(values);
                }
                Err(why) => {
                    (self.pieces, self.values) = (Pieces::none(), None);
                    return Some(Err(why));
                }
            }
        }
    }
}

impl Drop for Elements<'_> {
    fn drop(&mut self) {
        self.progress.finish_and_clear();
    }
}
