//! How a new file is spread over several.

use hyperslab_format::MemberFiles;

/// What the user wants a new file to be spread over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    /// Files in a row, all of one size but the last.
    Family {
        /// That size.
        size: u64,
    },
}

impl Members {
    /// What the file says of them.
    pub(crate) fn files(&self) -> MemberFiles {
        match self {
            Members::Family { size } => MemberFiles::Family { size: *size },
        }
    }
}
