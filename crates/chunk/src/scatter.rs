//! Bytes to their places: from one selection of a buffer to another of the caller's.

use hyperslab_space::{Run, Runs, Space};

use crate::{Error, Result};

/// Copies the selected elements of `from` to the selected places of `to`; both hold equally many.
pub(crate) fn copy(from: &[u8], source: &Space, to: &mut [u8], target: &Space, element: u64) -> Result<()> {
    let (mut source, mut target) = (Walk::new(source.runs(element)?), Walk::new(target.runs(element)?));
    while let (Some(left), Some(right)) = (source.left(), target.left()) {
        let len = left.min(right);
        let (at, place) = (range(source.take(len), len), range(target.take(len), len));
        match (from.get(at), to.get_mut(place)) {
            (Some(from), Some(to)) => to.copy_from_slice(from),
            _ => return Err(Error::Layout("a selection reaches over its buffer".into())),
        }
    }
    Ok(())
}

/// Copies values that lie one after the other to the selected places of `to`.
pub fn scatter(from: &[u8], to: &mut [u8], places: &Space, element: u64) -> Result<()> {
    copy(from, &Space::simple(&[places.npoints()])?, to, places, element)
}

/// Puts the fill value, one element long, in every selected place; zeros where there is none.
pub(crate) fn fill(value: Option<&[u8]>, to: &mut [u8], target: &Space, element: u64) -> Result<()> {
    for run in target.runs(element)? {
        let outside = || Error::Layout("a selection reaches over its buffer".into());
        let place = to.get_mut(range(run.offset, run.len)).ok_or_else(outside)?;
        match value {
            None => place.fill(0),
            Some(value) => place.chunks_exact_mut(value.len().max(1)).for_each(|place| place.copy_from_slice(value)),
        }
    }
    Ok(())
}

fn range(start: u64, len: u64) -> std::ops::Range<usize> {
    let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    place(start)..place(start.saturating_add(len))
}

/// Runs taken piece by piece.
struct Walk<'a> {
    runs: Runs<'a>,
    rest: Run,
}

impl<'a> Walk<'a> {
    fn new(runs: Runs<'a>) -> Walk<'a> {
        Walk { runs, rest: Run { offset: 0, len: 0 } }
    }

    fn left(&mut self) -> Option<u64> {
        if self.rest.len == 0 {
            self.rest = self.runs.next()?;
        }
        Some(self.rest.len)
    }

    fn take(&mut self, len: u64) -> u64 {
        let at = self.rest.offset;
        self.rest = Run { offset: at + len, len: self.rest.len - len };
        at
    }
}
