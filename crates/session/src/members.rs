//! How a new file is spread over several.

use hyperslab_driver::SPLIT_RAW;
use hyperslab_format::{MemberFiles, MultiMember};

/// What the user wants a file to be spread over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Files in a row, all of one size but the last.
    Family {
        /// That size.
        size: u64,
    },
    /// One file for metadata and one for values, whose names are made of that of both: it stands for `%s`.
    Split {
        /// The name of the file for metadata.
        metadata: String,
        /// The name of the file for values.
        raw: String,
    },
}

impl Members {
    /// A split file whose names end so; an ending with a `%s` is a whole name.
    pub fn split(metadata: &str, raw: &str) -> Members {
        let name = |ending: &str| if ending.contains("%s") { ending.to_owned() } else { format!("%s{ending}") };
        Members::Split { metadata: name(metadata), raw: name(raw) }
    }

    /// What the file says of them.
    pub(crate) fn files(&self) -> MemberFiles {
        let member = |kinds: &[u8], start, name: &str| MultiMember {
            kinds: kinds.to_vec(),
            start,
            length: 0,
            name: name.as_bytes().to_vec(),
        };
        match self {
            Members::Family { size } => MemberFiles::Family { size: *size },
            // As libhdf5 has it: the global heap is with the values.
            Members::Split { metadata, raw } => {
                MemberFiles::Multi(vec![member(&[1, 2, 5, 6], 0, metadata), member(&[3, 4], SPLIT_RAW, raw)])
            }
        }
    }
}
