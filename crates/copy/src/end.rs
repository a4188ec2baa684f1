//! The end of a copy: one operation gives the copies that have no name yet theirs, or they are all deleted.
//!
//! ```text
//!  begin, run: objects that nothing leads to  --complete-->  named
//!                                             --abandon--->  deleted; if the process is killed before, lost space
//! ```

use hyperslab_file::Plan;
use hyperslab_object::{Links, Object};

use super::tree::Copier;
use hyperslab_session::{Result, name};

impl Copier<'_> {
    /// Gives what references refer to its names, and takes the name that committed datatypes count from them if they have none. The caller
    /// names the first object, at `path`, in the same operation.
    pub(super) fn complete(&self, path: &[u8]) -> Result<()> {
        let context = self.target.context();
        // A process that is killed must not leave the names and objects as they were at a flush before their values came.
        let is_in_file = self.first.is_some_and(|copy| !context.file().is_fresh(copy));
        drop(Plan::flushing_if(context.file(), is_in_file).begin()?);
        let (root, parts) = (self.target.root()?, path.split(|&byte| byte == b'/'));
        for &copy in &self.referred {
            let group = Object::open(context, root)?;
            let links = Links::of(context, &group)?;
            let mut name = format!("~obj_pointed_by_{copy}");
            while parts.clone().any(|part| part == name.as_bytes()) || links.find(name.as_bytes())?.is_some() {
                name.push('_');
            }
            hyperslab_object::link_new(context, root, &self::name(name.as_bytes()), copy)?;
        }
        self.unnamed().try_for_each(|copy| Ok(hyperslab_object::without_name(context, copy)?))
    }

    /// Deletes all copies, after something went wrong. What cannot be deleted is lost space, and no harm.
    pub(super) fn abandon(&self) {
        let file = self.target.file();
        let copies = self.first.iter().chain(&self.referred).copied().chain(self.unnamed());
        let abandoned = self.target.operate(|| {
            for copy in copies {
                // An unnamed object whose last handle is dropped is deleted.
                let handle = file.handle(copy);
                file.begin_unnamed(copy)?;
                drop(handle);
            }
            Ok(())
        });
        if abandoned.is_ok() {
            self.target.delete_abandoned();
        }
    }

    /// The copies that count a name and have none.
    fn unnamed(&self) -> impl Iterator<Item = u64> {
        self.copied.values().filter(|copied| !copied.named).map(|copied| copied.address)
    }
}
