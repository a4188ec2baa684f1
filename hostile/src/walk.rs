//! A walk that asks a file everything: links, attributes, values whole and in part, converted, references followed.
//!
//! It opens no other file: what is in one is not read, nor are virtual datasets of a file that names others.

use std::{collections::HashSet, sync::Arc};

use hyperslab::{Dataset, File, Group, Layout, Node, Target, driver::Memory};

use crate::{
    Report,
    repair::{self, Wrong},
    values,
};

/// Objects that are looked at before a walk ends early.
const OBJECTS: usize = 300;
/// Links of a group that are looked at.
const LINKS: usize = 300;
/// Names that are looked up again by path or name.
const LOOKUPS: usize = 8;
/// How often checksums are put right before the walk that counts.
const REPAIRS: usize = 12;

/// Walks over a file in memory.
///
/// ```
/// let report = hyperslab_hostile::walk(b"no HDF5 file at all".to_vec());
/// assert!(matches!(report.errors.as_slice(), [why] if why.kind() == hyperslab::ErrorKind::NotHdf5));
/// ```
pub fn walk(bytes: Vec<u8>) -> Report {
    let mut walk = Walk::default();
    walk.file(bytes);
    walk.report
}

/// Puts the checksums of a file right, as far as a walk comes.
pub fn repair_file(bytes: &mut [u8]) {
    for _ in 0..REPAIRS {
        let report = walk(bytes.to_vec());
        let base = (0..).map(|power| if power == 0 { 0 } else { 256usize << power });
        let base = base
            .take_while(|&base| base < bytes.len())
            .find(|&base| bytes.get(base..).is_some_and(|rest| rest.starts_with(b"\x89HDF")));
        let base = base.unwrap_or(0) as u64;
        if !repair::checksums(bytes, base, report.errors.iter().filter_map(Wrong::of)) {
            break;
        }
    }
}

#[derive(Default)]
struct Walk {
    report: Report,
    seen: HashSet<u64>,
    /// Whether something leads, or may lead, out of the file, or to values too large to be read.
    outside: bool,
    virtuals: Vec<Dataset>,
    soft: Vec<Vec<u8>>,
}

impl Walk {
    fn file(&mut self, bytes: Vec<u8>) {
        let Some(file) = self.report.keep(File::open_driver(Arc::new(Memory::from(bytes)))) else { return };
        let Some(root) = self.report.keep(file.root()) else { return };
        let mut open = vec![root.address()];
        self.seen.extend(open.last());
        while let Some(address) = open.pop() {
            if self.report.objects == OBJECTS {
                self.outside = true;
                break;
            }
            let Some(node) = self.report.keep(file.at(address)) else { continue };
            self.report.objects += 1;
            self.node(&file, &node, &mut open);
        }
        if self.outside {
            return;
        }
        for dataset in std::mem::take(&mut self.virtuals) {
            values::dataset(&mut self.report, &dataset);
        }
        for path in std::mem::take(&mut self.soft) {
            self.report.keep(file.get(path));
        }
    }

    fn node(&mut self, file: &File, node: &Node, open: &mut Vec<u64>) {
        let _ = node.comment();
        for attribute in self.report.keep(node.attributes()).unwrap_or_default() {
            if let Some(attribute) = self.report.keep(attribute) {
                values::attribute(&mut self.report, file, &attribute);
            }
        }
        match node {
            Node::Group(group) => self.group(group, open),
            Node::Dataset(dataset) => self.dataset(dataset),
            Node::Datatype(named) => drop(self.report.keep(named.datatype())),
        }
    }

    fn group(&mut self, group: &Group, open: &mut Vec<u64>) {
        let links = self.report.keep(group.links()).unwrap_or_default();
        self.outside |= links.len() > LINKS;
        for link in links.iter().take(LOOKUPS) {
            self.report.keep(group.link(&link.name));
        }
        self.report.keep(group.link("no such name"));
        for link in links.into_iter().take(LINKS) {
            match link.target {
                Target::Hard(address) if self.seen.insert(address) => open.push(address),
                Target::Hard(_) => {}
                Target::Soft(path) if self.soft.len() < LOOKUPS => self.soft.push(path),
                Target::Soft(_) => {}
                Target::External { .. } | Target::User { .. } => self.outside = true,
            }
        }
    }

    fn dataset(&mut self, dataset: &Dataset) {
        match self.report.keep(dataset.layout()) {
            Some(_) if values::is_large(dataset) => self.outside = true,
            Some(Layout::External(_)) => self.outside = true,
            Some(Layout::Virtual(sources)) => {
                self.outside |= sources.iter().any(|(file, _)| **file != *b".");
                self.virtuals.push(dataset.clone());
            }
            Some(_) => values::dataset(&mut self.report, dataset),
            None => self.outside = true,
        }
    }
}
