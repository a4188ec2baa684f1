//! A step of an operation that concerns the order of objects: first what it will do, then the change itself.
//!
//! ```text
//!  Plan::new --> flushes_if, shows_later, moves_blocks, orders --> begin --> Change --> order, publish
//!  nothing changes                                                   |       blocks change
//!                                      what cannot be ordered with older changes: these are written here
//! ```
//!
//! Two operations since the last flush may want opposite orders of the same two objects. So a step names all its orders before its first change, while a
//! flush still leaves the file whole. Only [`Plan::begin`] gives a [`Change`], and only a change orders blocks of different objects.

use std::sync::atomic::Ordering;

use crate::{Error, OpenFile, Result};

/// What a step of an operation is about to do. Changes nothing; a step that plans nothing costs nothing.
///
/// ```
/// # use std::sync::Arc;
/// # use hyperslab_driver::Memory;
/// use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions, Plan};
///
/// let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default())?;
/// let [count, name] = [(); 2].map(|()| file.allocate(Kind::Metadata, 8).unwrap());
/// file.put(count, vec![1; 8])?;
/// file.put(name, vec![1; 8])?;
/// file.flush()?;
///
/// let mut plan = Plan::new(&file);
/// plan.orders(count, name);
/// let change = plan.begin()?;
/// file.put(count, vec![2; 8])?;
/// file.put(name, vec![2; 8])?;
/// change.order(count, name)?; // the next flush writes the count before the name
/// # Ok::<(), hyperslab_file::Error>(())
/// ```
#[must_use = "a plan comes to nothing before it begins"]
pub struct Plan<'a> {
    file: &'a OpenFile,
    /// Whether all that was changed since the last flush is written before the step.
    flushes: bool,
    /// Pairs of objects: blocks of the first go before blocks of the second.
    orders: Vec<(u64, u64)>,
}

impl<'a> Plan<'a> {
    /// A plan for a step that changes this file.
    pub fn new(file: &'a OpenFile) -> Plan<'a> {
        Plan { file, flushes: false, orders: Vec::new() }
    }

    /// A plan for a step that orders nothing, and as a rule needs all changes before it in the file.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use hyperslab_driver::Memory;
    /// use hyperslab_file::{CreateOptions, Kind, OpenFile, OpenOptions, Plan};
    ///
    /// let file = OpenFile::create(Arc::new(Memory::new()), &CreateOptions::default(), &OpenOptions::default())?;
    /// let address = file.allocate(Kind::Metadata, 8)?;
    /// file.put(address, vec![1; 8])?;
    /// drop(Plan::flushing_if(&file, true).begin()?);
    /// assert!(!file.is_changed(address));
    /// # Ok::<(), hyperslab_file::Error>(())
    /// ```
    pub fn flushing_if(file: &'a OpenFile, needed: bool) -> Plan<'a> {
        Plan { flushes: needed, ..Plan::new(file) }
    }

    /// The step needs all changes before it in the file.
    pub fn flushes_if(&mut self, needed: bool) -> &mut Self {
        self.flushes |= needed;
        self
    }

    /// Something of the object at `later` may be seen only after something of the object at `first`. What the file does not know yet cannot be ordered behind
    /// what it knows: then it is written first.
    pub fn shows_later(&mut self, first: u64, later: u64) -> &mut Self {
        self.flushes = self.flushes || self.file.is_fresh(later) && !self.file.is_fresh(first);
        self
    }

    /// Other blocks of an object than before will show its changes: what is ordered by the old ones is written first.
    pub fn moves_blocks(&mut self, object: u64) -> &mut Self {
        let is_ordered =
            |file: &OpenFile| file.store.as_ref().is_some_and(|store| store.object_orders.lock().is_ordered(object));
        self.flushes = self.flushes || is_ordered(self.file);
        self
    }

    /// The step will [order](Change::order) blocks of the object at `first` before blocks of the one at `later`.
    pub fn orders(&mut self, first: u64, later: u64) -> &mut Self {
        self.orders.push((first, later));
        self
    }

    /// Begins the step. Older changes that it needs in the file, or whose orders and its own make a circle, are written now.
    pub fn begin(self) -> Result<Change<'a>> {
        let store = self.file.store()?;
        debug_assert!(!store.changing.load(Ordering::Relaxed), "a step begins within a step");
        if self.flushes {
            self.file.publish()?;
        }
        if !self.add_orders()? {
            self.file.publish()?;
            if !self.add_orders()? {
                return Err(Error::Refused(
                    "each of two objects that it changes would have to be written before the other".into(),
                ));
            }
        }
        if cfg!(debug_assertions) {
            store.changing.store(true, Ordering::Relaxed);
        }
        Ok(Change { file: self.file })
    }

    /// Notes the orders; whether none of them is against those before it.
    fn add_orders(&self) -> Result<bool> {
        if self.orders.is_empty() {
            return Ok(true);
        }
        let mut orders = self.file.store()?.object_orders.lock();
        // What the file does not know yet is written before everything else.
        let mut matters =
            self.orders.iter().filter(|(first, later)| !self.file.is_fresh(*first) && !self.file.is_fresh(*later));
        Ok(matters.all(|&(first, later)| orders.add(first, later)))
    }
}

/// A step of an operation that has begun. A thread has one at a time: the plan of another one might write half of this.
#[must_use = "orders of the step are given to this"]
pub struct Change<'a> {
    file: &'a OpenFile,
}

impl<'a> Change<'a> {
    /// The file that is changed.
    pub fn file(&self) -> &'a OpenFile {
        self.file
    }

    /// Of two blocks that are in the file and both change, `first` is written before `later`. An error if it must already be the other
    /// way round. An object header stands for all of its blocks that change in place.
    pub fn order(&self, first: u64, later: u64) -> Result<()> {
        self.file.order(first, later)
    }

    /// Writes what the operation changed so far, which belongs together, before the step takes away what only the file as it was before needs.
    pub fn publish(&self) -> Result<()> {
        self.file.publish()
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            self.file.store.iter().for_each(|store| store.changing.store(false, Ordering::Relaxed));
        }
    }
}

impl OpenFile {
    /// Writes all that was changed so far, in an operation.
    fn publish(&self) -> Result<()> {
        let store = self.store()?;
        let is_whole = store.changes.load(Ordering::Relaxed) == store.whole.load(Ordering::Relaxed);
        let flushed = self.flush_now();
        if is_whole {
            // The operation itself has changed nothing since.
            self.mark_whole();
        }
        flushed
    }
}
