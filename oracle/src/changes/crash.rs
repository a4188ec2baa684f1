//! What a file may hold after a crash: everything that was flushed, unless the program itself changed it since.

use super::{LOWS, Model, Operation, Refusal, Style, Writer, perform};
use hyperslab::driver::{Driver, Memory};
use hyperslab::{File, OpenOptions, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

type Seen = BTreeMap<String, Value>;

/// States that a program went through, from the last flush on.
#[derive(Default)]
pub struct Window {
    states: Vec<(Seen, BTreeMap<usize, Vec<String>>)>,
}

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
        let low = LOWS.get(low).map_or(hyperslab::Low::Earliest, |(low, _)| *low);
        let file = OpenOptions::new().create().truncate().low(low).open_on(storage)?;
        let mut writer = Writer::new(seed, Style { loops: false, large_attributes: false, flushes: 8 });
        let models = vec![Model::default()];
        let mut run = Crashed { models, operations: Vec::new(), changes: Vec::new(), failed: None };
        while run.operations.len() < length && run.failed.is_none() {
            let mut model = run.models.last().cloned().unwrap_or_default();
            // What moved and is changed then has its old name and new content for a while, which the window does not know.
            let moved = matches!(run.operations.last(), Some(Operation::Move { .. }));
            let operation = if moved { Operation::Flush } else { writer.operation(&model) };
            match model.apply(&operation) {
                Ok(()) => {}
                Err(Refusal::Refused | Refusal::Unclear) => continue,
            }
            run.changes.push(changes());
            run.failed = perform(&file, &operation).err();
            run.operations.push(operation);
            run.models.push(model);
        }
        run.changes.push(changes());
        let closed = file.close();
        run.failed = run.failed.or(closed.err());
        Ok(run)
    }

    /// The states that may be seen when so many changes were done.
    pub fn window(&self, changes: usize) -> Window {
        let begun = self.changes.iter().take(self.operations.len()).filter(|before| **before < changes).count();
        let done = |nth: usize| self.changes.get(nth + 1).is_some_and(|after| *after <= changes);
        let flushes = self.operations.iter().enumerate().take(begun);
        let flushed = flushes.rev().find(|(nth, operation)| matches!(operation, Operation::Flush) && done(*nth));
        self.states(flushed.map_or(0, |(nth, _)| nth + 1), begun)
    }

    /// The states that may be seen after the error that ended the program.
    pub fn window_of_failure(&self) -> Window {
        let last = self.operations.len().saturating_sub(1);
        let flushes = self.operations.iter().enumerate().take(last);
        let flushed = flushes.rev().find(|(_, operation)| matches!(operation, Operation::Flush));
        self.states(flushed.map_or(0, |(nth, _)| nth + 1), self.operations.len())
    }

    fn states(&self, from: usize, to: usize) -> Window {
        let states = self.models.iter().take(to + 1).skip(from);
        Window { states: states.map(|model| (model.look(true), model.names())).collect() }
    }
}

impl Window {
    /// What is wrong with what a file holds; nothing if it may hold that.
    pub fn wrong(&self, seen: &Seen) -> Option<String> {
        let (flushed, named) = self.states.first()?;
        let records = |path: &str| self.states.iter().map(|(state, _)| state.get(path)).collect::<Vec<_>>();
        for path in flushed.keys() {
            let may = records(path);
            match seen.get(path) {
                None if may.iter().all(Option::is_some) => return Some(format!("{path} is gone")),
                None => {}
                Some(record) => {
                    if let Some(why) = wrong_record(record, &may) {
                        return Some(format!("{path} {why}"));
                    }
                }
            }
        }
        if let Some(path) = seen.keys().find(|path| records(path).iter().all(Option::is_none)) {
            return Some(format!("{path} came from nowhere"));
        }
        // What moves has a name all the time.
        for number in named.keys() {
            let names: Option<Vec<_>> = self.states.iter().map(|(_, names)| names.get(number)).collect();
            let Some(names) = names else { continue };
            if !names.iter().copied().flatten().any(|name| seen.contains_key(name)) {
                return Some(format!("the object {names:?} has no name"));
            }
        }
        None
    }
}

/// What no state has of an object.
fn wrong_record(record: &Value, may: &[Option<&Value>]) -> Option<String> {
    let states: Vec<&Value> = may.iter().copied().flatten().collect();
    let always = states.len() == may.len();
    let has = |key: &str| states.iter().any(|state| state.get(key) == record.get(key));
    for key in ["soft", "external", "dataset", "datatype", "shape", "max"] {
        if !has(key) {
            return Some(format!("has another {key}: {}", record[key]));
        }
    }
    // Elements that the extent had, lost and got again may be the old ones or the fill value.
    let resized = states.iter().any(|state| state.get("shape") != record.get("shape"));
    let values = record.get("values").and_then(Value::as_array).filter(|_| !resized);
    for (nth, value) in values.into_iter().flatten().enumerate() {
        if !states.iter().any(|state| state["values"].get(nth) == Some(value)) {
            return Some(format!("has {value} as value {nth}, which it never had"));
        }
    }
    let none = serde_json::Map::new();
    let of = |state: &'_ Value| state.get("attributes").and_then(Value::as_object).cloned().unwrap_or_default();
    let attributes = record.get("attributes").and_then(Value::as_object).unwrap_or(&none);
    let known: Vec<_> = states.iter().map(|state| of(state)).collect();
    for (name, value) in attributes {
        if !known.iter().any(|state| state.get(name) == Some(value)) {
            return Some(format!("has an attribute {name} that it never had: {value}"));
        }
    }
    let first = known.first().unwrap_or(&none);
    let lost = first
        .keys()
        .find(|name| always && !attributes.contains_key(*name) && known.iter().all(|state| state.contains_key(*name)));
    lost.map(|name| format!("lost the attribute {name}"))
}

/// The file that bytes hold, whose writer is gone.
///
/// # Errors
/// If they hold none.
pub fn after_crash(bytes: Vec<u8>) -> Result<File> {
    OpenOptions::new().read_write().unlocked().open_on(Arc::new(Memory::from(bytes)))
}
