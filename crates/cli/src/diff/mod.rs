//! `hyperslab diff`: what is not the same in two files.

mod objects;
mod print;
mod rules;
mod sparse;
mod values;

use crate::arguments::Diff;
use crate::escape::printable;
use crate::failure::Failure;
use crate::find;
use crate::names::Names;
use crate::output::Output;
use crate::status::Status;
use crate::text::count;
use hyperslab::{File, Node, PathId, Paths};
use print::Difference;
use rules::Rules;
use std::collections::HashSet;
use std::io::Write;

/// One of the two files: that of the object which is compared, to which external links may have led.
pub(crate) struct Side {
    file: File,
    names: Names,
}

struct Differ<'a> {
    options: &'a Diff,
    left: Side,
    right: Side,
    rules: Rules,
    out: &'a mut Output,
    found: u64,
    failed: u64,
    /// Pairs of objects that were compared, or wait for it.
    seen: HashSet<(u64, u64)>,
    waiting: Vec<(PathId, Node, Node)>,
    paths: Paths,
}

/// Whether both are equal.
pub(crate) fn run(options: &Diff, out: &mut Output) -> Result<Status, Failure> {
    let open = |path| find::open_with(path, options.caching.options());
    let (left, right) = (open(&options.left)?, open(&options.right)?);
    let first = find::object(&left, &options.path)?;
    let second = find::object(&right, options.other.as_deref().unwrap_or(&options.path))?;
    let side = |node: &Node| Side { file: node.file(), names: Names::new(&node.file()) };
    let rules = Rules {
        absolute: options.absolute.unwrap_or(0.0),
        relative: options.relative.unwrap_or(0.0),
        nan_differs: options.nan_differs,
    };
    let mut differ = Differ {
        options,
        left: side(&first),
        right: side(&second),
        rules,
        out,
        found: 0,
        failed: 0,
        seen: HashSet::new(),
        waiting: Vec::new(),
        paths: Paths::new(),
    };
    let path = differ.paths.top(format!("/{}", options.path.trim_matches('/')).as_bytes());
    differ.wait(path, first, second);
    while let Some((path, left, right)) = differ.waiting.pop() {
        differ.objects(path, &left, &right)?;
        if differ.is_told() {
            break;
        }
    }
    differ.total()?;
    let (found, failed) = (differ.found, differ.failed);
    let caches = [(&options.left, &left), (&options.right, &right)]
        .map(|(path, file)| (path.as_path(), file.cache_statistics()));
    options.caching.tell(out, &caches, options.json);
    match (failed, found) {
        (0, 0) => Ok(Status::Done),
        (0, _) => Ok(Status::No),
        _ => Err(Failure::Some(format!("{} could not be compared as a whole", count(failed, "object")))),
    }
}

impl Differ<'_> {
    fn wait(&mut self, path: PathId, left: Node, right: Node) {
        if self.seen.insert((left.address(), right.address())) {
            self.waiting.push((path, left, right));
        }
    }

    /// Whether one difference is enough, and there is one.
    fn is_told(&self) -> bool {
        self.options.quiet && self.found > 0
    }

    fn tell(&mut self, difference: &Difference) -> Result<(), Failure> {
        self.found += 1;
        if self.options.quiet {
            return Ok(());
        }
        if self.options.json {
            serde_json::to_writer(&mut *self.out, difference).map_err(std::io::Error::from)?;
            return Ok(writeln!(self.out)?);
        }
        Ok(difference.text(self.out)?)
    }

    /// Says at once what failed; the others go on.
    fn complain(&mut self, path: &[u8], why: &dyn std::fmt::Display) {
        self.failed += 1;
        self.out.complain(&crate::style::error(&format_args!("{}: {why}", printable(path))));
    }

    fn total(&mut self) -> Result<(), Failure> {
        if !self.options.json && !self.options.quiet && self.found > 0 {
            writeln!(self.out, "{}", count(self.found, "difference"))?;
        }
        Ok(())
    }
}
