//! Which bytes of the file belong to what.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Range,
};

use hyperslab_file::{SPACE_TRAILER, Survey};
use hyperslab_object::{PathId, Paths};

use crate::{Finding, Severity, Usage};

/// A report holds no more problems or notes than this.
const MOST_FINDINGS: usize = 10_000;
/// Findings of a file that nests deep have long paths; those of one severity take no more bytes than this together.
const MOST_WORDS: usize = 16 << 20;
/// Blocks of a good file do not overlap. Those of a bad one may, but not so often that a look at it takes forever.
const OFTEN: u64 = 16;
/// What values are in; all else is there to find them.
const VALUES: [&str; 5] =
    ["contiguous values", "chunk", "chunks", "global heap collection", "huge object of a fractal heap"];

/// A range of bytes, and whose it is.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) address: u64,
    pub(crate) length: u64,
    what: &'static str,
    owner: u32,
}

pub(crate) struct SpaceMap {
    /// Where the file ends.
    end: u64,
    spans: Vec<Span>,
    free: Vec<Span>,
    /// The span that begins at an address.
    begins: HashMap<u64, u32>,
    /// Blocks that several may name.
    shared: HashSet<u64>,
    /// The bytes of all blocks.
    taken: u64,
    pub(crate) paths: Paths,
    /// The paths of objects that own something; the first stands for the file itself.
    owners: Vec<Option<PathId>>,
    pub(crate) problems: Findings,
    pub(crate) notes: Findings,
}

/// Findings of one severity: each has its own limits, so that notes leave no problem out.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) kept: Vec<Finding>,
    /// The bytes of those that are kept.
    words: usize,
    /// How many are left out.
    pub(crate) more: u64,
}

impl SpaceMap {
    pub(crate) fn new(end: u64) -> SpaceMap {
        SpaceMap {
            end,
            spans: Vec::new(),
            free: Vec::new(),
            begins: HashMap::new(),
            shared: HashSet::new(),
            taken: 0,
            paths: Paths::new(),
            owners: vec![None],
            problems: Findings::default(),
            notes: Findings::default(),
        }
    }

    /// What comes next belongs to the object at a path; to the file if there is none.
    pub(crate) fn turn_to(&mut self, owner: Option<PathId>) {
        self.owners.push(owner);
    }

    fn owner(&self) -> u32 {
        u32::try_from(self.owners.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    fn path(&self, owner: u32) -> Option<Vec<u8>> {
        self.owners.get(owner as usize).copied().flatten().map(|path| self.paths.get(path))
    }

    fn add(&mut self, severity: Severity, what: &'static str, address: u64, owner: u32, why: String) {
        if self.findings(severity).is_full() {
            self.findings(severity).more += 1;
            return;
        }
        let owner = self.path(owner);
        self.findings(severity).keep(Finding { severity, address, what, owner, why });
    }

    fn findings(&mut self, severity: Severity) -> &mut Findings {
        match severity {
            Severity::Problem => &mut self.problems,
            Severity::Note => &mut self.notes,
        }
    }

    /// A span in words.
    fn name(&self, span: &Span) -> String {
        let Span { address, length, what, owner } = span;
        let owner = self.path(*owner).map_or(String::new(), |path| format!(" of {}", String::from_utf8_lossy(&path)));
        format!("{what}{owner} at {address:#x} with {length} bytes")
    }

    fn record(&mut self, what: &'static str, address: u64, length: u64) -> bool {
        let outside = address.checked_add(length).is_none_or(|end| end > self.end);
        if outside {
            let why = format!("{length} bytes reach over the end of the file at {:#x}", self.end);
            self.problem(what, address, why);
            return false;
        }
        self.taken = self.taken.saturating_add(length);
        if self.taken / OFTEN > self.end {
            self.problem(what, address, "it is not looked at: others take all bytes of the file many times".into());
            return false;
        }
        self.begins.insert(address, u32::try_from(self.spans.len()).unwrap_or(u32::MAX));
        self.spans.push(Span { address, length, what, owner: self.owner() });
        true
    }

    /// Says which spans overlap; gives all, in order, with what is free.
    pub(crate) fn close(&mut self) -> Vec<Span> {
        let mut all = std::mem::take(&mut self.spans);
        all.append(&mut self.free);
        all.sort_by_key(|span| (span.address, span.length));
        let mut last: Option<Span> = None;
        for span in &all {
            if let Some(last) = last.filter(|last| last.address + last.length > span.address) {
                let why = format!("it overlaps with the {}", self.name(&last));
                self.add(Severity::Problem, span.what, span.address, span.owner, why);
            }
            if last.is_none_or(|last| span.address + span.length > last.address + last.length) {
                last = Some(*span);
            }
        }
        all
    }

    /// Says so if blocks lie behind the `end` that the superblock tells: others may put new ones there, unless a writer `grows` the file.
    pub(crate) fn check_end(&mut self, spans: &[Span], regions: &[Range<u64>], grows: bool) {
        let is_of_file = |span: &Span| !span.is_free() && span.what != SPACE_TRAILER;
        let is_inside = |span: &Span, region: &Range<u64>| {
            span.address >= region.start && span.address.saturating_add(span.length) <= region.end
        };
        let behind = |span: &&Span| is_of_file(span) && !regions.iter().any(|region| is_inside(span, region));
        let end = regions.first().map_or(0, |region| region.end);
        let count = spans.iter().filter(behind).count();
        if count > 0 {
            let why =
                format!("{count} blocks lie there, of which the superblock tells not: `hyperslab clear` mends that");
            let severity = if grows { Severity::Note } else { Severity::Problem };
            self.add(severity, super::END_OF_FILE, end, 0, why);
        }
    }

    /// What takes space, by kind.
    pub(crate) fn usage(spans: &[Span]) -> Vec<Usage> {
        let mut kinds: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
        for span in spans.iter().filter(|span| span.what != FREE) {
            let (blocks, bytes) = kinds.entry(span.what).or_default();
            (*blocks, *bytes) = (*blocks + 1, bytes.saturating_add(span.length));
        }
        let usage = |(what, (blocks, bytes))| Usage { what, values: VALUES.contains(&what), blocks, bytes };
        kinds.into_iter().map(usage).collect()
    }
}

impl Findings {
    fn is_full(&self) -> bool {
        self.kept.len() >= MOST_FINDINGS || self.words >= MOST_WORDS
    }

    fn keep(&mut self, finding: Finding) {
        self.words += finding.why.len() + finding.owner.as_ref().map_or(0, Vec::len);
        self.kept.push(finding);
    }
}

pub(crate) const FREE: &str = "free space";

impl Span {
    pub(crate) fn is_free(&self) -> bool {
        self.what == FREE
    }

    /// A span that nothing names, found by what is in it.
    pub(crate) fn unnamed(what: &'static str, address: u64, length: u64) -> Span {
        Span { address, length, what, owner: 0 }
    }
}

impl Survey for SpaceMap {
    fn block(&mut self, what: &'static str, address: u64, length: u64) -> bool {
        if length == 0 {
            return true;
        }
        if let Some(first) = self.begins.get(&address).and_then(|&nth| self.spans.get(nth as usize).copied()) {
            let why = format!("its place is that of the {}", self.name(&first));
            self.problem(what, address, why);
            return false;
        }
        self.record(what, address, length)
    }

    fn shared(&mut self, what: &'static str, address: u64, length: u64) -> bool {
        self.shared.insert(address) && self.block(what, address, length)
    }

    fn free(&mut self, address: u64, length: u64) {
        if address.checked_add(length).is_none_or(|end| end > self.end) {
            let why = format!("{length} bytes reach over the end of the file at {:#x}", self.end);
            return self.problem(FREE, address, why);
        }
        if length > 0 {
            self.free.push(Span { address, length, what: FREE, owner: 0 });
        }
    }

    fn problem(&mut self, what: &'static str, address: u64, why: String) {
        self.add(Severity::Problem, what, address, self.owner(), why);
    }

    fn note(&mut self, what: &'static str, address: u64, why: String) {
        self.add(Severity::Note, what, address, self.owner(), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes beyond those that are kept are counted as notes, and leave no problem out.
    #[test]
    fn many_notes_hide_no_problem() {
        let mut map = SpaceMap::new(1 << 20);
        for address in 0..MOST_FINDINGS as u64 + 5 {
            map.note("lost space", address, "a byte".into());
        }
        map.problem("chunk", 7, "it is damaged".into());
        assert_eq!((map.notes.kept.len(), map.notes.more), (MOST_FINDINGS, 5));
        assert_eq!((map.problems.kept.len(), map.problems.more), (1, 0));
    }
}
