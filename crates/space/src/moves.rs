//! Moves: the bytes of one selection to the places of another, strip by strip.

use crate::{Error, Result, Space, Strip, Strips};

/// Equal runs from equal distances to equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The first byte of the source.
    pub from: u64,
    /// The first byte of the target.
    pub to: u64,
    /// The bytes of a run.
    pub len: u64,
    /// From one run of the source to the next.
    pub from_step: u64,
    /// From one run of the target to the next.
    pub to_step: u64,
    /// How many runs.
    pub count: u64,
}

/// The moves from one selection to another that selects as many elements, in their order.
///
/// ```
/// use hyperslab_space::{Move, Moves, Op, Slab, Space};
/// let mut source = Space::simple(&[12])?;
/// source.select_hyperslab(Op::Set, &[Slab::new(0, 3, 4, 1)])?;
/// let target = Space::simple(&[4])?;
/// let mut moves = Moves::new(&source, &target, 1)?;
/// let all = moves.next().unwrap();
/// assert_eq!(all, Move { from: 0, to: 0, len: 1, from_step: 3, to_step: 1, count: 4 });
/// let mut values = [0; 4];
/// assert!(all.copy(b"a..b..c..d..", &mut values));
/// assert_eq!(&values, b"abcd");
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Moves<'a> {
    source: Side<'a>,
    target: Side<'a>,
}

/// What is left of the strips of a selection.
#[derive(Clone, Debug)]
struct Side<'a> {
    strips: Strips<'a>,
    /// A run in the middle of which the other side's runs end.
    run: Strip,
    strip: Strip,
}

const NOTHING: Strip = Strip { offset: 0, len: 0, step: 0, count: 0 };

impl<'a> Moves<'a> {
    /// The moves from the selection of `source` to that of `target`, for elements of `element_size` bytes.
    pub fn new(source: &'a Space, target: &'a Space, element_size: u64) -> Result<Moves<'a>> {
        let (left, right) = (source.npoints(), target.npoints());
        if left != right {
            return Err(Error::Counts { left, right });
        }
        let side = |space: &'a Space| -> Result<Side<'a>> {
            Ok(Side { strips: space.strips(element_size)?, run: NOTHING, strip: NOTHING })
        };
        Ok(Moves { source: side(source)?, target: side(target)? })
    }
}

impl Iterator for Moves<'_> {
    type Item = Move;

    fn next(&mut self) -> Option<Move> {
        let (mut from, mut to) = (self.source.current()?, self.target.current()?);
        // The side with longer runs goes run by run, each in steps of the other's length.
        if from.len > to.len {
            from = self.source.one(from);
        } else if to.len > from.len {
            to = self.target.one(to);
        }
        let len = from.len.min(to.len);
        let times = |strip: &Strip| if strip.len > len { strip.len / len } else { strip.count };
        let step = |strip: &Strip| if strip.len > len { len } else { strip.step };
        let count = times(&from).min(times(&to));
        self.source.take(len, count);
        self.target.take(len, count);
        Some(Move { from: from.offset, to: to.offset, len, from_step: step(&from), to_step: step(&to), count })
    }
}

impl Side<'_> {
    fn current(&mut self) -> Option<Strip> {
        if self.run.count > 0 {
            return Some(self.run);
        }
        while self.strip.count == 0 || self.strip.len == 0 {
            self.strip = self.strips.next()?;
        }
        Some(self.strip)
    }

    /// Only the first run of the current strip.
    fn one(&mut self, current: Strip) -> Strip {
        let first = Strip { step: current.len, count: 1, ..current };
        if self.run.count == 0 {
            self.run = first;
            self.strip.offset = self.strip.offset.wrapping_add(self.strip.step);
            self.strip.count -= 1;
        }
        first
    }

    /// Goes on by `count` runs of this length.
    fn take(&mut self, len: u64, count: u64) {
        let current = if self.run.count > 0 { &mut self.run } else { &mut self.strip };
        if current.len > len {
            current.offset += len * count;
            current.len -= len * count;
            current.count = u64::from(current.len > 0);
        } else {
            current.offset = current.offset.wrapping_add(current.step.wrapping_mul(count));
            current.count -= count;
        }
    }
}

impl Move {
    /// The byte of the source after the last one.
    pub const fn from_end(&self) -> u64 {
        self.from + self.from_step * self.count.saturating_sub(1) + self.len
    }

    /// Copies; `false` if a place is outside of its buffer, and then nothing was copied.
    #[must_use]
    pub fn copy(&self, from: &[u8], to: &mut [u8]) -> bool {
        let (len, count) = (self.len as usize, self.count as usize);
        let (from_step, to_step) = (self.from_step as usize, self.to_step as usize);
        if count == 0 || len == 0 {
            return true;
        }
        let all = |start: u64, step: u64| {
            let end = step.checked_mul(self.count - 1)?.checked_add(self.len)?.checked_add(start)?;
            Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        };
        let places = all(self.from, self.from_step).zip(all(self.to, self.to_step));
        let Some((from, to)) = places.and_then(|(at, place)| from.get(at).zip(to.get_mut(place))) else { return false };
        if count == 1 || (from_step == len && to_step == len) {
            to.copy_from_slice(from);
            return true;
        }
        match len {
            1 => copy_small::<1>(from, from_step, to, to_step),
            2 => copy_small::<2>(from, from_step, to, to_step),
            4 => copy_small::<4>(from, from_step, to, to_step),
            8 => copy_small::<8>(from, from_step, to, to_step),
            16 => copy_small::<16>(from, from_step, to, to_step),
            _ => {
                for (from, to) in from.chunks(from_step.max(len)).zip(to.chunks_mut(to_step.max(len))) {
                    if let (Some(from), Some(to)) = (from.get(..len), to.get_mut(..len)) {
                        to.copy_from_slice(from);
                    }
                }
            }
        }
        true
    }
}

/// Runs of a length that the compiler knows: one load and one store each.
fn copy_small<const N: usize>(from: &[u8], from_step: usize, to: &mut [u8], to_step: usize) {
    if to_step == N {
        let places = to.as_chunks_mut::<N>().0;
        for (from, to) in from.chunks(from_step.max(N)).zip(places) {
            if let Some(run) = from.first_chunk::<N>() {
                *to = *run;
            }
        }
        return;
    }
    for (from, to) in from.chunks(from_step.max(N)).zip(to.chunks_mut(to_step.max(N))) {
        if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
            *to = *from;
        }
    }
}

/// Copies the selected elements of `from` to the selected places of `to`; both select equally many. `false` if a selection reaches
/// over its buffer.
///
/// ```
/// use hyperslab_space::{Op, Slab, Space, copy};
/// let mut every_other = Space::simple(&[6])?;
/// every_other.select_hyperslab(Op::Set, &[Slab::new(1, 2, 3, 1)])?;
/// let mut values = [0; 3];
/// assert!(copy(b"-a-b-c", &every_other, &mut values, &Space::simple(&[3])?, 1)?);
/// assert_eq!(&values, b"abc");
/// # Ok::<(), hyperslab_space::Error>(())
/// ```
pub fn copy(from: &[u8], source: &Space, to: &mut [u8], target: &Space, element_size: u64) -> Result<bool> {
    copy_to_part(from, source, to, 0, target, element_size)
}

/// As [`copy`], to a part of the buffer that begins at its byte `start`.
pub fn copy_to_part(
    from: &[u8],
    source: &Space,
    part: &mut [u8],
    start: u64,
    target: &Space,
    element_size: u64,
) -> Result<bool> {
    let mut copy = |one: Move| one.to.checked_sub(start).is_some_and(|to| Move { to, ..one }.copy(from, part));
    if let (Some(read), Some(written)) = (source.only_run(element_size), target.only_run(element_size))
        && read.len == written.len
    {
        let (len, step) = (read.len, read.len);
        return Ok(copy(Move { from: read.offset, to: written.offset, len, from_step: step, to_step: step, count: 1 }));
    }
    Ok(Moves::new(source, target, element_size)?.all(copy))
}
