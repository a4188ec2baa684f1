//! Programs on storage that remembers or fails, and the states that may be seen after a crash.

use super::{LOWS, Model, Operation, Refusal, Style, Window, Writer, perform};
use hyperslab::driver::{Change, Driver, Memory, MemoryType};
use hyperslab::{Durability, File, OpenOptions, Result};
use std::sync::Arc;

/// A program with flushes, on storage that remembers or fails, and what became of it.
pub struct Crashed {
    /// Before the first operation, and after each.
    pub models: Vec<Model>,
    /// The operations; the last failed, if one did.
    pub operations: Vec<Operation>,
    /// How many changes of the storage there were before each operation, and at the end.
    pub changes: Vec<usize>,
    /// What failed.
    pub failed: Option<hyperslab::Error>,
}

/// The operations of a program with many flushes, each with the state after it; no end.
pub struct Steps {
    writer: Writer,
    model: Model,
}

impl Steps {
    /// Those of a seed.
    pub fn new(seed: u64) -> Steps {
        let style = Style { loops: false, large_attributes: false, narrow: false, references: false, flushes: 8 };
        Steps { writer: Writer::new(seed, style), model: Model::default() }
    }
}

impl Iterator for Steps {
    type Item = (Operation, Model);

    fn next(&mut self) -> Option<(Operation, Model)> {
        loop {
            let operation = self.writer.operation(&self.model);
            match self.model.apply(&operation) {
                Ok(()) => return Some((operation, self.model.clone())),
                Err(Refusal::Refused | Refusal::Unclear) => {}
            }
        }
    }
}

impl Crashed {
    /// Runs a program of so many operations on a new file and closes it; ends with the first error.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn run(
        seed: u64,
        low: usize,
        length: usize,
        storage: Arc<dyn Driver>,
        changes: &dyn Fn() -> usize,
    ) -> Result<Crashed> {
        Crashed::run_durably(seed, (low, Durability::None), length, storage, changes)
    }

    /// The same with a format and a durability.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn run_durably(
        seed: u64,
        (low, durability): (usize, Durability),
        length: usize,
        storage: Arc<dyn Driver>,
        changes: &dyn Fn() -> usize,
    ) -> Result<Crashed> {
        let low = LOWS.get(low).map_or(hyperslab::LibVersion::Earliest, |(low, _)| *low);
        let file = OpenOptions::new().create().truncate().libver_min(low).durability(durability).open_on(storage)?;
        let models = vec![Model::default()];
        let mut run = Crashed { models, operations: Vec::new(), changes: Vec::new(), failed: None };
        for (operation, model) in Steps::new(seed).take(length) {
            run.changes.push(changes());
            run.failed = perform(&file, &operation).err();
            run.operations.push(operation);
            run.models.push(model);
            if run.failed.is_some() {
                break;
            }
        }
        run.changes.push(changes());
        let closed = file.close();
        run.failed = run.failed.or(closed.err());
        Ok(run)
    }

    /// The states that may be seen when so many changes were done.
    pub fn window(&self, changes: usize) -> Window<'_> {
        let begun = self.changes.iter().take(self.operations.len()).filter(|before| **before < changes).count();
        let done = |nth: usize| self.changes.get(nth + 1).is_some_and(|after| *after <= changes);
        let flushes = self.operations.iter().enumerate().take(begun);
        let flushed = flushes.rev().find(|(nth, operation)| matches!(operation, Operation::Flush) && done(*nth));
        self.states(flushed.map_or(0, |(nth, _)| nth + 1), begun)
    }

    /// The states that may be seen after the error that ended the program.
    pub fn window_of_failure(&self) -> Window<'_> {
        let last = self.operations.len().saturating_sub(1);
        let flushes = self.operations.iter().enumerate().take(last);
        let flushed = flushes.rev().find(|(_, operation)| matches!(operation, Operation::Flush));
        self.states(flushed.map_or(0, |(nth, _)| nth + 1), self.operations.len())
    }

    fn states(&self, from: usize, to: usize) -> Window<'_> {
        Window::new(self.models.get(from..=to).unwrap_or_default())
    }
}

/// The file that bytes hold, whose writer is gone.
///
/// # Errors
/// If they hold none.
pub fn after_crash(bytes: Vec<u8>) -> Result<File> {
    OpenOptions::new().read_write().unlocked().open_on(Arc::new(Memory::from(bytes)))
}

/// The storage after a change, and before that what a process leaves that is killed in the middle of it: a write stops at the border of a page.
/// Values are excepted, since an element that lies over a border may then be half old and half new.
pub fn states(bytes: &mut Vec<u8>, change: &Change) -> Vec<Vec<u8>> {
    let mut states = Vec::new();
    if let Change::Write { kind, addr, bytes: written } = change
        && *kind != MemoryType::RawData
    {
        for border in (1..written.len()).filter(|&length| (addr + length as u64).is_multiple_of(4096)) {
            let (mut torn, written) = (bytes.clone(), written.iter().take(border).copied().collect());
            Change::Write { kind: *kind, addr: *addr, bytes: written }.apply(&mut torn);
            states.push(torn);
        }
    }
    change.apply(bytes);
    states.push(bytes.clone());
    states
}
