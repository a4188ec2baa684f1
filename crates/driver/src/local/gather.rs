//! Selections of many small runs: read over the gaps, a window at a time, and copied to their places by the loops of the selection.
//!
//! Lives here: which requests are read this way, their windows, and the threads that share them. Does not live here: requests of few or
//! large runs, or of runs far apart; those are vectors (`plan`). The figures are in `docs/benchmarks.md`.

use std::io::IoSliceMut;
use std::ops::Range;

use hyperslab_space::{Kind, Move, Moves};

use super::plan::{Failed, NEAR, failed};
use super::positioned::Positioned;
use crate::lower::{self, Band};
use crate::pool::{self, Job};
use crate::{SelectionPair, Why};

/// A window: small enough for the cache of a core.
const WINDOW: u64 = 256 << 10;
/// Runs of this size are not worth a copy.
const LARGE: u64 = 4 << 10;
/// How many moves are planned at once.
const MOVES: usize = 1 << 16;
/// The work that is worth another thread, in bytes of windows.
const WORTHWHILE: usize = 2 << 20;
/// Threads mostly copy here.
const THREADS: usize = 4;

/// A range of the file and the moves from it.
struct Window {
    addr: u64,
    len: u64,
    moves: Range<usize>,
    /// What the moves touch of the buffer.
    memory: Range<usize>,
}

/// Whether all pairs are loops over runs that are small and near each other. Of many pairs the first few tell whether there are loops.
pub(super) fn suits(pairs: &[SelectionPair<'_>]) -> bool {
    let first = |pair: &SelectionPair<'_>| Moves::new(pair.file, pair.memory, pair.element_size).ok()?.next();
    let near = |pair: &SelectionPair<'_>| {
        let regular = pair.file.kind() == Kind::All || pair.file.regular().is_some();
        let near = |first: Move| first.len < LARGE && first.from_step.saturating_sub(first.len) <= NEAR;
        regular && first(pair).is_none_or(|first| first.count == 1 || near(first))
    };
    pairs.iter().take(4).filter_map(first).any(|first| first.count > 1) && pairs.iter().all(near)
}

/// Reads pairs that [suit](suits) and were checked into one buffer.
pub(super) fn read(file: &Positioned, pairs: &[SelectionPair<'_>], buf: &mut [u8]) -> Result<(), Failed> {
    let (mut moves, mut windows) = (Vec::new(), Vec::<Window>::new());
    for pair in pairs {
        let all = Moves::new(pair.file, pair.memory, pair.element_size).map_err(|why| refused(pair, why))?;
        for part in all.flat_map(cut) {
            let part = Move { from: part.from.saturating_add(pair.offset), ..part };
            add(&mut windows, &part, moves.len());
            moves.push(part);
            if moves.len() == MOVES {
                run(file, &moves, &windows, buf)?;
                moves.clear();
                windows.clear();
            }
        }
    }
    run(file, &moves, &windows, buf)
}

fn refused(pair: &SelectionPair<'_>, why: hyperslab_space::Error) -> Failed {
    Failed { addr: pair.offset, len: 0, why: why.into() }
}

/// A move as moves that each fit into a window, unless a single run does not.
fn cut(all: Move) -> impl Iterator<Item = Move> {
    let most = match WINDOW.checked_sub(all.len) {
        Some(room) if all.from_step > 0 => room / all.from_step + 1,
        _ => 1,
    };
    let mut done = 0;
    std::iter::from_fn(move || {
        let count = most.min(all.count - done);
        let part = Move {
            from: all.from.saturating_add(all.from_step * done),
            to: all.to.saturating_add(all.to_step * done),
            count,
            ..all
        };
        done += count;
        (count > 0).then_some(part)
    })
}

/// Puts a move into the last window if it fits there, else into a new one.
fn add(windows: &mut Vec<Window>, part: &Move, index: usize) {
    let place = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX);
    let to_end = part.to.saturating_add(part.to_step.saturating_mul(part.count.saturating_sub(1)) + part.len);
    let memory = place(part.to)..place(to_end);
    if let Some(last) = windows.last_mut() {
        let end = last.addr + last.len;
        let fits = part.from >= end && part.from - end <= NEAR && part.from_end() - last.addr <= WINDOW;
        if fits {
            last.len = part.from_end() - last.addr;
            last.moves.end = index + 1;
            last.memory = last.memory.start.min(memory.start)..last.memory.end.max(memory.end);
            return;
        }
    }
    windows.push(Window { addr: part.from, len: part.from_end() - part.from, moves: index..index + 1, memory });
}

/// Fills what windows touch, on several threads if there is work for them.
fn run(file: &Positioned, moves: &[Move], windows: &[Window], buf: &mut [u8]) -> Result<(), Failed> {
    let ranges: Vec<Range<usize>> = windows.iter().map(|window| window.memory.clone()).collect();
    let mut bands = lower::bands(buf, &ranges);
    let work =
        |band: &Band<'_>| band.items.iter().filter_map(|&item| Some(windows.get(item)?.len as usize)).sum::<usize>();
    let total: usize = bands.iter().map(work).sum();
    let threads = (total / WORTHWHILE).clamp(1, THREADS);
    let share = total.div_ceil(threads);
    let mut jobs: Vec<Job<'_, Failed>> = Vec::new();
    while !bands.is_empty() {
        let mut taken = 0usize;
        let enough = bands.iter().take_while(|band| {
            let more = taken < share;
            taken += work(band);
            more
        });
        let row: Vec<_> = bands.drain(..enough.count()).collect();
        jobs.push(Box::new(move || fill(file, moves, windows, row)));
    }
    pool::all(jobs)
}

fn fill(file: &Positioned, moves: &[Move], windows: &[Window], bands: Vec<Band<'_>>) -> Result<(), Failed> {
    let mut room = Vec::new();
    for Band { start, bytes, items } in bands {
        for window in items.iter().filter_map(|&item| windows.get(item)) {
            let moves = moves.get(window.moves.clone()).unwrap_or_default();
            fill_window(file, moves, window, start as u64, bytes, &mut room)?;
        }
    }
    Ok(())
}

/// Reads a window and does its moves, whose targets are in `bytes`, which begin at `start` of the buffer.
fn fill_window(
    file: &Positioned,
    moves: &[Move],
    window: &Window,
    start: u64,
    bytes: &mut [u8],
    room: &mut Vec<u8>,
) -> Result<(), Failed> {
    let (addr, len) = (window.addr, usize::try_from(window.len).unwrap_or(usize::MAX));
    let read = |to: &mut [u8]| {
        let there = file.read(addr, &mut [IoSliceMut::new(to)]).map_err(failed(addr, len))?;
        if there == len as u64 {
            return Ok(());
        }
        let end = file.len().map_err(failed(addr, len))?;
        Err(Failed { addr, len, why: Why::PastEnd { end } })
    };
    let outside = || Failed { addr, len, why: Why::invalid("a selection reaches over its buffer") };
    let relative = |one: &Move| Some((one.from.checked_sub(addr)?, one.to.checked_sub(start)?));
    if let [one] = moves
        && one.count == 1
    {
        let place = relative(one).and_then(|(_, to)| usize::try_from(to).ok());
        let place = place.and_then(|place| bytes.get_mut(place..)?.get_mut(..len));
        return read(place.ok_or_else(outside)?);
    }
    room.resize(len.max(room.len()), 0);
    let room = room.get_mut(..len).unwrap_or_default();
    read(room)?;
    let done = |one: &Move| relative(one).is_some_and(|(from, to)| Move { from, to, ..*one }.copy(room, bytes));
    if moves.iter().all(done) { Ok(()) } else { Err(outside()) }
}
