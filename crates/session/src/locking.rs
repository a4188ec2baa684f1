//! Whether files are locked against other processes.

use std::env;

/// Whether a file is locked against other processes while it is open: readers keep writers away, and a writer everyone. The environment's
/// `HDF5_USE_FILE_LOCKING` (`TRUE`, `FALSE` or `BEST_EFFORT`) comes before what a program says, as in libhdf5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locking {
    /// Always: a file system without locks is an error.
    Required,
    /// Where the file system has locks.
    #[default]
    BestEffort,
    /// Never. The program takes care that no other process writes the file meanwhile.
    Disabled,
}

impl Locking {
    /// What holds if a program says this.
    pub(crate) fn in_environment(self) -> Locking {
        match env::var("HDF5_USE_FILE_LOCKING").as_deref() {
            Ok("FALSE" | "0") => Locking::Disabled,
            Ok("TRUE" | "1") => Locking::Required,
            Ok("BEST_EFFORT") => Locking::BestEffort,
            _ => self,
        }
    }
}
