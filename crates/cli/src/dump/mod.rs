//! `hyperslab dump`: values as text or as lines of JSON. Large datasets are read piece by piece.

mod brief;
mod elements;
mod json;
mod sparse;
mod text;

use crate::arguments::Dump;
use crate::caching::OfDataset;
use crate::escape::printable;
use crate::failure::Failure;
use crate::find;
use crate::names::Names;
use crate::output::Output;
use crate::slice::Shape;
use crate::text::{count, lossy};
use crate::walk::{Met, Sort, Walk};
use hyperslab::space::Slab;
use hyperslab::{Dataset, Node};
use std::io::{IsTerminal, stdout};

/// The dump of a file: what was asked for, and how it goes.
struct Dumper<'a> {
    options: &'a Dump,
    names: Names,
    out: &'a mut Output,
    /// Large arrays are shown by their corners.
    brief: bool,
    objects: u64,
    failed: u64,
    /// What the cache did for each dataset, if that is to be told.
    caches: Vec<OfDataset>,
}

/// What of a dataset is printed.
struct Part {
    /// One pattern per dimension.
    slabs: Vec<Slab>,
    /// The sizes of what is printed, without the dimensions of which a slice took one index.
    dims: Vec<u64>,
}

pub(crate) fn run(options: &Dump, out: &mut Output) -> Result<(), Failure> {
    let file = find::open_with(&options.file, options.caching.options())?;
    let root = ["/".to_owned()];
    let paths = if options.paths.is_empty() { &root[..] } else { &options.paths[..] };
    // A wrong path is said before anything is printed.
    let nodes = paths.iter().map(|path| find::object(&file, path)).collect::<Result<Vec<_>, _>>()?;
    let terminal = stdout().is_terminal();
    let brief = options.brief || (terminal && !options.full && options.limit.is_none());
    let mut dumper =
        Dumper { options, names: Names::new(&file), out, brief, objects: 0, failed: 0, caches: Vec::new() };
    for (path, node) in paths.iter().zip(nodes) {
        dumper.names.turn_to(&node.file());
        for entry in Walk::new(path, node, Sort::Name, usize::MAX) {
            match &entry.met {
                Met::Object(node) => dumper.object(&entry.path, node)?,
                Met::Broken(why) => dumper.complain(&entry.path, why),
                _ => {}
            }
        }
    }
    let (failed, caches) = (dumper.failed, dumper.caches);
    options.caching.tell_with(out, (&options.file, file.cache_statistics()), caches, options.json);
    match failed {
        0 => Ok(()),
        failed => Err(Failure::Some(format!("{} could not be read as a whole", count(failed, "object")))),
    }
}

impl Dumper<'_> {
    fn object(&mut self, path: &[u8], node: &Node) -> Result<(), Failure> {
        let errors = match self.options.json {
            true => self.json(&lossy(path), node)?,
            false => self.text(&printable(path), node)?,
        };
        if !errors.is_empty() {
            self.complain(path, &errors.join("; "));
        }
        if let Node::Dataset(dataset) = node {
            self.caches.extend(self.options.caching.of_dataset(path, dataset));
        }
        Ok(())
    }

    /// Says at once what failed; the others go on.
    fn complain(&mut self, path: &[u8], why: &impl std::fmt::Display) {
        self.failed += 1;
        self.out.complain(&crate::style::error(&format_args!("{}: {why}", printable(path))));
    }

    /// What of a dataset is asked for.
    fn part(&self, dataset: &Dataset) -> Result<Part, String> {
        let shape = Shape(dataset.shape());
        let Some(slice) = &self.options.slice else {
            return Ok(Part { slabs: shape.0.iter().map(|&dim| Slab::block(0, dim)).collect(), dims: shape.0 });
        };
        let slabs = slice.slabs(&shape).map_err(|why| why.to_string())?;
        let kept = slabs.iter().zip(slice.keeps()).filter(|(_, keeps)| *keeps);
        let dims = kept.map(|(slab, _)| slab.indices()).collect();
        Ok(Part { slabs, dims })
    }

    fn limit(&self) -> u64 {
        self.options.limit.unwrap_or(u64::MAX)
    }
}
