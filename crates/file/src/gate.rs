//! The gate that writes pass: closing a file shuts it and waits for those that passed.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};

/// Counts the writes that are going on. The highest bit says that the gate is shut.
#[derive(Default)]
pub(crate) struct Gate {
    state: AtomicUsize,
    /// Guards nothing; the closing thread sleeps on it.
    lock: Mutex<()>,
    empty: Condvar,
}

const SHUT: usize = 1 << (usize::BITS - 1);

/// A write that is going on: while it lives, the file is not closed.
pub struct Writing<'a> {
    gate: Option<&'a Gate>,
}

impl Gate {
    /// Nothing if the gate is shut.
    pub(crate) fn pass(&self) -> Option<Writing<'_>> {
        let before = self.state.fetch_add(1, Ordering::AcqRel);
        let writing = Writing { gate: Some(self) };
        (before & SHUT == 0).then_some(writing)
    }

    /// Returns when all writes that passed have ended; no other passes from now on.
    pub(crate) fn shut(&self) {
        self.state.fetch_or(SHUT, Ordering::AcqRel);
        let mut lock = self.lock.lock();
        while self.state.load(Ordering::Acquire) != SHUT {
            self.empty.wait(&mut lock);
        }
    }
}

impl Writing<'_> {
    /// For files that are only read.
    pub(crate) fn none() -> Writing<'static> {
        Writing { gate: None }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let Some(gate) = self.gate else { return };
        if gate.state.fetch_sub(1, Ordering::AcqRel) == SHUT + 1 {
            // The closing thread looks at the state under this lock, so it does not sleep between the look and this call.
            let _look = gate.lock.lock();
            gate.empty.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, atomic::AtomicBool},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn a_shut_gate_waits_for_writes_and_lets_none_pass() {
        let (gate, ended) = (Arc::new(Gate::default()), Arc::new(AtomicBool::new(false)));
        let writing = gate.pass().unwrap();
        let closing = thread::spawn({
            let (gate, ended) = (gate.clone(), ended.clone());
            move || {
                gate.shut();
                assert!(ended.load(Ordering::SeqCst));
            }
        });
        while gate.pass().is_some() {
            thread::sleep(Duration::from_millis(1));
        }
        ended.store(true, Ordering::SeqCst);
        drop(writing);
        closing.join().unwrap();
        assert!(gate.pass().is_none());
    }
}
