//! What a look at a file tells.

use hyperslab_file::{Error, Marks, Result};
use hyperslab_format::message::{FileSpaceInfo, SpaceStrategy};

/// What was found out about a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// How many groups.
    pub groups: u64,
    /// How many datasets.
    pub datasets: u64,
    /// How many committed datatypes.
    pub datatypes: u64,
    /// How many links, of all kinds.
    pub links: u64,
    /// How many bytes the storage has.
    pub size: u64,
    /// The version of the superblock.
    pub superblock: u8,
    /// How many object headers there are of version 1 and of version 2.
    pub headers: [u64; 2],
    /// What the superblock says of those who have the file open.
    pub marks: Marks,
    /// How the file says that its space is managed.
    pub space: Space,
    /// What takes space, by kind.
    pub usage: Vec<Usage>,
    /// Bytes that the file lists as free.
    pub free: u64,
    /// Bytes that nothing uses and no list has as free.
    pub lost: u64,
    /// What is wrong or worth knowing, by address.
    pub findings: Vec<Finding>,
    /// How many more problems there were than the report holds.
    pub more_problems: u64,
    /// How many more notes there were.
    pub more_notes: u64,
}

/// What takes space: blocks of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The kind, such as `object header` or `chunk`.
    pub what: &'static str,
    /// Whether these are values rather than what is needed to find them.
    pub values: bool,
    /// How many blocks.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// How space of a file is managed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// `managers`, `pages`, `gathered` or `end`; as libhdf5 does it by itself if the file does not say.
    pub strategy: &'static str,
    /// Whether free space is kept when the file is closed.
    pub persists: bool,
    /// The size of a page, if there are pages.
    pub page: Option<u64>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file is not as it should be.
    Problem,
    /// Nothing is wrong, but worth knowing: bytes that nothing uses.
    Note,
}

/// Something that is wrong or worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub address: u64,
    /// Which structure.
    pub what: &'static str,
    /// What it belongs to: the path of an object, or nothing for the file itself.
    pub owner: Option<Vec<u8>>,
    /// What is to be said.
    pub why: String,
}

/// How far the look has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Objects that were looked at.
    pub objects: u64,
    /// Objects that are known to be there.
    pub known: u64,
}

impl Report {
    /// The report on a file that cannot be opened, if that is because of what is in it.
    pub(crate) fn of_what_stops(why: Error, size: u64) -> Result<Report> {
        let (address, why) = match why {
            Error::Malformed { address, source } => (address, source.to_string()),
            Error::Broken { address, why, .. } => (address, why),
            Error::Outside { what, address, length, end } => {
                (address, format!("{what} with {length} bytes reaches over the end of the file at {end:#x}"))
            }
            why @ (Error::Marked(_) | Error::Truncated { .. } | Error::Refused(_)) => (0, why.to_string()),
            other => return Err(other),
        };
        let what = "superblock or its extension";
        let finding = Finding { severity: Severity::Problem, address, what, owner: None, why };
        Ok(Report { size, findings: vec![finding], ..Report::default() })
    }

    /// The findings that are problems.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Problem)
    }

    /// How many problems there are, with those that are left out.
    pub fn problem_count(&self) -> u64 {
        self.more_problems.saturating_add(self.problems().count() as u64)
    }

    /// The findings that are not.
    pub fn notes(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Note)
    }

    /// How many objects there are.
    pub fn objects(&self) -> u64 {
        self.groups + self.datasets + self.datatypes
    }
}

impl Space {
    pub(crate) fn new(info: Option<&FileSpaceInfo>) -> Space {
        match info {
            None => Space { strategy: "default", persists: false, page: None },
            Some(FileSpaceInfo::Old { strategy, managers, .. }) => Space {
                strategy: match strategy {
                    1 | 2 => "managers",
                    3 => "gathered",
                    _ => "end",
                },
                persists: managers.is_some(),
                page: None,
            },
            Some(FileSpaceInfo::New { strategy, page_size, managers, .. }) => Space {
                strategy: match strategy {
                    SpaceStrategy::Managers => "managers",
                    SpaceStrategy::Pages => "pages",
                    SpaceStrategy::Gathered => "gathered",
                    SpaceStrategy::End => "end",
                },
                persists: managers.is_some(),
                page: (*strategy == SpaceStrategy::Pages).then_some(*page_size),
            },
        }
    }
}
