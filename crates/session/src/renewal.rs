//! Files with sources that another process may have changed, read anew.

use std::collections::HashSet;

use hyperslab_driver::FileIdentity;
use parking_lot::Mutex;

use crate::{Result, Session};

/// The files that were read anew for a refreshed handle of a virtual dataset, and for what is behind it: each once, when the first source in it is
/// opened.
#[derive(Default)]
pub(crate) struct Renewal(Mutex<HashSet<FileIdentity>>);

impl Renewal {
    /// Forgets what this process knows of a file that it only reads; whether it did not do so before.
    pub(crate) fn renew(&self, session: &Session) -> Result<bool> {
        let Some(identity) = session.engine.identity().filter(|_| !session.engine.is_writable()) else {
            return Ok(false);
        };
        // Other threads wait until the file is read anew.
        let mut renewed = self.0.lock();
        if renewed.contains(&identity) {
            return Ok(false);
        }
        session.file().reload()?;
        Ok(renewed.insert(identity))
    }
}
