//! External files that are made for a dataset: if the dataset is then not made, they go again.

use std::{fs, path::PathBuf};

use hyperslab_driver::{Driver, Error, FileStamp, Local, Why};
use hyperslab_file::Durability;

use super::external_rule::ExternalRule;
use crate::{Result, Session};

/// The external files of a dataset that is being made, of which some were missing and have been made. If this is dropped without
/// [`NewExternalFiles::keep`], those are removed: the ones that are as they were made, and that no other dataset was to be made with meanwhile.
#[must_use]
pub struct NewExternalFiles<'a> {
    session: &'a Session,
    made: Vec<(PathBuf, FileStamp)>,
}

impl<'a> NewExternalFiles<'a> {
    /// Makes the files with these names that are missing. The program named them, so their values may be written, wherever they are. To be called outside of
    /// operations, because it waits for the system.
    pub(crate) fn make(
        session: &'a Session,
        names: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<NewExternalFiles<'a>> {
        let mut files = NewExternalFiles { session, made: Vec::new() };
        names.into_iter().try_for_each(|name| files.add(name.as_ref()))?;
        Ok(files)
    }

    fn add(&mut self, name: &[u8]) -> Result<()> {
        let files = &self.session.engine.external_files;
        // Locked until a file that is made is noted: another thread that finds it knows that it may go.
        let mut tentative = files.tentative.0.lock();
        let (place, mut found) = ExternalRule::of(self.session).find(name);
        if found.is_none() {
            match Local::options().create_new(true).open(&place) {
                Ok(made) => {
                    self.made.push((std::path::absolute(&place).unwrap_or_else(|_| place.clone()), made.stamp()));
                    tentative.push((made.stamp(), false));
                    self.sync(&made)?;
                }
                // Another process was faster, or a symbolic link leads to a file that is missing.
                Err(Error { why: Why::Io(why), .. }) if why.kind() == std::io::ErrorKind::AlreadyExists => {
                    let made = Local::options().create(true).open(&place)?;
                    self.sync(&made)?;
                    found = Some(made.stamp().identity());
                }
                Err(why) => return Err(why.into()),
            }
        }
        let is_own = |stamp: &FileStamp| self.made.iter().any(|(_, made)| made == stamp);
        for (stamp, is_shared) in tentative.iter_mut().filter(|(stamp, _)| !is_own(stamp)) {
            *is_shared |= Some(stamp.identity()) == found;
        }
        drop(tentative);
        files.granted.add(&place);
        Ok(())
    }

    /// Makes the name of a new file durable, if what is written to this file is.
    fn sync(&self, made: &Local) -> Result<()> {
        if self.session.file().durability() != Durability::None {
            made.sync(self.session.file().raw_transfer())?;
        }
        Ok(())
    }

    /// The dataset is there: the files stay.
    pub fn keep(mut self) {
        self.end(false);
    }

    fn end(&mut self, removes: bool) {
        let mut tentative = self.session.engine.external_files.tentative.0.lock();
        for (place, stamp) in self.made.drain(..) {
            let nth = tentative.iter().position(|(other, _)| *other == stamp);
            let is_shared = nth.is_some_and(|nth| tentative.swap_remove(nth).1);
            // A file that was replaced or written to since is not the one that was made.
            if removes && !is_shared && FileStamp::of_path(&place).is_ok_and(|now| now == stamp) {
                // One that cannot be removed is empty, and no harm.
                let _ = fs::remove_file(&place);
            }
        }
    }
}

impl Drop for NewExternalFiles<'_> {
    fn drop(&mut self) {
        self.end(true);
    }
}
