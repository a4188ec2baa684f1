//! Options for files that are spread over several.

use hyperslab_session::Members;

use super::OpenOptions;

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
        (self.options.access.members, self.options.access.one_file) =
            (Some(Members::Family { size: member_size }), false);
        self
    }

    /// The file is two: one for metadata and one for values, on faster and on larger storage, say. The path is what their names share, and each name is
    /// the path with one of these endings; libhdf5 has `-m.h5` and `-r.h5`. An ending with a `%s` is a whole name, where that stands for the path.
    ///
    /// ```
    /// use hyperslab::OpenOptions;
    /// # let folder = std::env::temp_dir().join(format!("hyperslab-split-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// let split = OpenOptions::new().split("-m.h5", "-r.h5");
    /// let file = split.clone().create().open(folder.join("run"))?;
    /// file.root()?.new_dataset::<u8>().write("bytes", &[7; 1000])?;
    /// file.close()?;
    /// assert_eq!(std::fs::metadata(folder.join("run-r.h5")).unwrap().len(), 1000);
    /// assert_eq!(split.open(folder.join("run"))?.dataset("bytes")?.len(), 1000);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn split(mut self, metadata: impl AsRef<str>, values: impl AsRef<str>) -> OpenOptions {
        self.options.access.members = Some(Members::split(metadata.as_ref(), values.as_ref()));
        self
    }
}
