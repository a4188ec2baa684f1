//! Options for files that are spread over several.

use super::Members;
use crate::OpenOptions;

/// Files that are spread over several.
impl OpenOptions {
    /// A new file is a family: a row of files of so many bytes each but the last, for file systems with a limit on the size of a file, say. Its
    /// name has a `%d` (or `%05d`) for the number of the member. One that is there already says itself how large its members are.
    ///
    /// ```
    /// use hyperslab::{File, OpenOptions};
    /// # let folder = std::env::temp_dir().join(format!("hyperslab-family-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let path = folder.join("run-%03d.h5");
    /// let file = OpenOptions::new().create().truncate().family(1 << 20).open(&path)?;
    /// file.root()?.new_dataset::<u8>().write("bytes", &vec![7; 3 << 20])?;
    /// file.close()?;
    /// assert!(folder.join("run-003.h5").exists());
    /// assert_eq!(File::open(&path)?.dataset("bytes")?.len(), 3 << 20);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn family(mut self, member_size: u64) -> OpenOptions {
        (self.access.members, self.access.one_file) = (Some(Members::Family { size: member_size }), false);
        self
    }
}
