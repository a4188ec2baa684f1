//! Objects that are copied for others, and not from a group: committed datatypes, and what references refer to.

use super::{
    damage::{OfSource, Step, Trouble},
    tree::{Copier, key},
};
use hyperslab_session::{Result, Session};

impl Copier<'_> {
    /// The copy of a committed datatype, made now if need be.
    pub(super) fn committed(&mut self, session: &Session, address: u64) -> Step<u64> {
        if self.shares_types {
            return Ok(address);
        }
        if let Some(copied) = self.copied.get(&key(session, address)) {
            return Ok(copied.address);
        }
        let prepared = self.prepare(&session.at_guarded(address).of_source()?)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        self.enter_unnamed(session, address, copy);
        Ok(copy)
    }

    /// An object has a copy, but no name yet.
    fn enter_unnamed(&mut self, session: &Session, address: u64, copy: u64) {
        let path = self.paths.top(format!("the object at {address:#x}").as_bytes());
        self.enter(session, address, copy, (1, path), false);
    }

    /// The copy of what a reference refers to; nothing if it has none.
    pub(super) fn referred(&mut self, session: &Session, address: u64) -> Result<Option<u64>> {
        if !self.follow {
            return Ok(None);
        }
        if let Some(copied) = self.copied.get(&key(session, address)) {
            return Ok(Some(copied.address));
        }
        if self.preparing.contains(&key(session, address)) {
            // It refers to itself before it can be made.
            return Ok(None);
        }
        if !self.options.expand_references {
            return self.referred_early(session, address);
        }
        let Ok(node) = session.at(address) else { return Ok(None) };
        let prepared = self.prepare(&node).map_err(Trouble::into_error)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        self.referred.push(copy);
        let path = self.paths.top(format!("the object at {address:#x}, which is referred to").as_bytes());
        self.enter(session, address, copy, (1, path), true);
        Ok(Some(copy))
    }

    /// The copy of what a fill value refers to, made now: it gets its name when its group is copied.
    fn referred_early(&mut self, session: &Session, address: u64) -> Result<Option<u64>> {
        let (false, Ok(node)) = (self.preparing.is_empty(), session.at(address)) else { return Ok(None) };
        let prepared = self.prepare(&node).map_err(Trouble::into_error)?;
        let copy = self.target.operate(|| prepared.create(&self.target))?;
        self.enter_unnamed(session, address, copy);
        Ok(Some(copy))
    }
}
