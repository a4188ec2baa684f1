//! Paths for what references refer to. A file has none at hand, so the first reference that is shown costs a walk.

use crate::text::printable;
use hyperslab::space::{Slab, Space};
use hyperslab::{File, Part, Referent, Value};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

pub(crate) struct Names<'a> {
    file: &'a File,
    paths: OnceCell<HashMap<u64, String>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(file: &'a File) -> Names<'a> {
        Names { file, paths: OnceCell::new() }
    }

    /// A value as one line of text.
    pub(crate) fn show(&self, value: &Value) -> String {
        value.shown(&|referent| self.of(referent)).to_string()
    }

    /// `/path`, `/path[1:4, ::2]`, `/path@attribute`.
    fn of(&self, referent: &Referent) -> Option<String> {
        let path = self.path(referent)?;
        Some(match &referent.part {
            Part::Object => path.to_owned(),
            Part::Region(space) => format!("{path}[{}]", region(space)),
            Part::Attribute(name) => format!("{path}@{}", printable(name)),
        })
    }

    /// The first path of the object, if it is in this file and has one.
    pub(crate) fn path(&self, referent: &Referent) -> Option<&str> {
        let paths = self.paths.get_or_init(|| self.all().unwrap_or_default());
        paths.get(&referent.address).filter(|_| referent.file.is_none()).map(String::as_str)
    }

    fn all(&self) -> hyperslab::Result<HashMap<u64, String>> {
        let root = self.file.root()?;
        let mut paths = HashMap::from([(root.address(), "/".to_owned())]);
        root.visit(|path, node| {
            if let Ok(node) = node {
                paths.insert(node.address(), format!("/{}", printable(path)));
            }
            ControlFlow::<()>::Continue(())
        })?;
        Ok(paths)
    }
}

/// A selection as a slice, if it is one.
pub(crate) fn region(space: &Space) -> String {
    match space.regular() {
        Some(slabs) => slabs.iter().map(slice).collect::<Vec<_>>().join(", "),
        None if space.npoints() == space.extent().elements() => ":".into(),
        None => crate::text::count(space.npoints(), "element"),
    }
}

fn slice(slab: &Slab) -> String {
    let &Slab { start, stride, count, block } = slab;
    let end = start.saturating_add(count.saturating_sub(1).saturating_mul(stride)).saturating_add(block);
    match (count, block) {
        (1, 1) => start.to_string(),
        (1, _) => format!("{start}:{end}"),
        (_, 1) => format!("{start}:{end}:{stride}"),
        _ => format!("{start}:{end}:{stride}:{block}"),
    }
}
