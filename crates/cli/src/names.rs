//! Paths for what references refer to: in the file of the object that holds them, which a link may have led to. A file has none at hand, so
//! the first reference that is shown costs a walk.

use crate::escape::{printable, said};
use hyperslab::space::{Slab, Space};
use hyperslab::{File, ObjectPaths, Part, Referent, Value};
use std::cell::OnceCell;

pub(crate) struct Names {
    file: File,
    paths: OnceCell<ObjectPaths>,
}

impl Names {
    pub(crate) fn new(file: &File) -> Names {
        Names { file: file.clone(), paths: OnceCell::new() }
    }

    /// What comes next is in this file.
    pub(crate) fn turn_to(&mut self, file: &File) {
        if self.file != *file {
            *self = Names::new(file);
        }
    }

    /// A value as one line of text.
    pub(crate) fn show(&self, value: &Value) -> String {
        said(&value.shown(&|referent| self.of(referent)))
    }

    /// `/path`, `/path[1:4, ::2]`, `/path@attribute`.
    fn of(&self, referent: &Referent) -> Option<String> {
        let path = printable(&self.path(referent)?);
        Some(match &referent.part {
            Part::Object => path,
            Part::Region(space) => format!("{path}[{}]", region(space)),
            Part::Attribute(name) => format!("{path}@{}", printable(name)),
        })
    }

    /// The first path of the object, if it is in this file and has one.
    pub(crate) fn path(&self, referent: &Referent) -> Option<Vec<u8>> {
        let paths = self.paths.get_or_init(|| ObjectPaths::of(&self.file).unwrap_or_default());
        paths.get(referent.address).filter(|_| referent.file.is_none())
    }
}

/// A selection as a slice, if it is one.
pub(crate) fn region(space: &Space) -> String {
    match space.regular() {
        Some(slabs) => slabs.iter().map(slice).collect::<Vec<_>>().join(", "),
        None if Some(space.npoints()) == space.extent().elements() => ":".into(),
        None => crate::text::count(space.npoints(), "element"),
    }
}

fn slice(slab: &Slab) -> String {
    let &Slab { start, stride, count, block } = slab;
    let end = match slab.is_unlimited() {
        true => "∞".to_owned(),
        false => start.saturating_add(count.saturating_sub(1).saturating_mul(stride)).saturating_add(block).to_string(),
    };
    match (count, block) {
        (1, 1) => start.to_string(),
        (1, _) => format!("{start}:{end}"),
        (_, 1) => format!("{start}:{end}:{stride}"),
        _ => format!("{start}:{end}:{stride}:{block}"),
    }
}

#[cfg(test)]
mod tests {
    use hyperslab::space::{Op, UNLIMITED};

    use super::*;

    #[test]
    fn unlimited_counts_and_blocks_have_no_number() {
        let shown = |slab: Slab| {
            let mut space = Space::simple(&[20]).unwrap();
            space.select_hyperslab(Op::Set, &[slab]).unwrap();
            region(&space)
        };
        assert_eq!(shown(Slab::new(1, 4, UNLIMITED, 2)), "1:∞:4:2");
        assert_eq!(shown(Slab::new(3, 5, UNLIMITED, 1)), "3:∞:5");
        assert_eq!(shown(Slab::new(7, 1, 1, UNLIMITED)), "7:∞");
        assert_eq!(shown(Slab::new(2, 3, 4, 1)), "2:12:3");
    }
}
