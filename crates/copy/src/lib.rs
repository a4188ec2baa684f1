//! Copies of objects with everything below them, within a file and from one to another; files written anew.
//!
//! Lives here: the order of a copy, what of the values changes on the way, what cannot be read. Does not live here: how objects are opened,
//! made and written (`hyperslab_session`).

mod attributes;
mod damage;
mod end;
mod gather;
mod gathered;
mod leave_out;
mod needed;
mod prepare;
mod prepared;
mod repack;
mod restore;
mod sparse;
mod tree;
mod user_block;
mod values;

use hyperslab_session::{DatasetPlan, ObjectHandle, OpenDataset, OpenObject, Result, Session};

use self::tree::Copier;
pub use self::{
    attributes::copy_attributes,
    repack::{Repack, Repacked},
};

/// Is given a dataset, the plan of a copy of it, and the new file; the plan of a dataset that is stored in another way, if it should be.
pub type Restore = dyn Fn(&OpenDataset, &DatasetPlan, &Session) -> Result<Option<DatasetPlan>> + Send + Sync;

/// How far a copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyProgress {
    /// Objects that are copied as a whole.
    pub objects: u64,
    /// Objects that were met so far.
    pub known: u64,
    /// Stored bytes of values that were copied.
    pub bytes: u64,
}

/// How objects are copied: with everything below them, unless more is said. Links stay what they are, and objects with several names
/// are copied once.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// Of a group only what it holds itself: the groups in it are copied without their links.
    pub shallow: bool,
    /// What soft links lead to is copied in their place.
    pub expand_soft: bool,
    /// What external links lead to is copied in their place.
    pub expand_external: bool,
    /// What references refer to is copied to the other file, too.
    pub expand_references: bool,
    /// Attributes are not copied.
    pub without_attributes: bool,
}

impl CopyOptions {
    /// Copies an object to a path from a group on, which may be in another file. The copy gets its name when it is complete; if something
    /// goes wrong, there is none.
    pub fn copy(
        &self,
        from: &OpenObject,
        to: &ObjectHandle,
        path: &[u8],
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<OpenObject> {
        let mut show = |done| progress(done);
        let place = to.place(path)?;
        let mut copier = Copier::new(self.clone(), place.session(), &mut show);
        let copied = copier.begin(from).and_then(|address| {
            copier.run()?;
            Ok((address, place.make_of(address, || copier.complete(path))?))
        });
        match copied {
            Ok((address, _kept)) => place.session().at(address),
            Err(why) => {
                copier.abandon();
                Err(why)
            }
        }
    }
}
