//! `hyperslab repack --from` and `--to`: sparse data as other programs store it, in groups of lists, becomes sparse datasets, and these become such groups. All else of
//! a file is copied.
//!
//! ```text
//!  form.rs    which group or dataset is of a form        lists.rs   elements of lists, some at a time
//!  import.rs  lists -> sparse dataset                    numbers.rs numbers that must not be negative
//!  export.rs  sparse dataset -> lists                    rest.rs    links and attributes of groups
//!  bands.rs   elements of rows or columns, in parts      note.rs    which layout lists had
//!  target.rs  which lists a group gets
//! ```

mod bands;
mod export;
mod form;
mod import;
mod lists;
mod note;
mod numbers;
mod rest;
mod target;

pub(crate) use form::Form;

use crate::arguments::Repack;
use crate::failure::Failure;
use crate::find;
use crate::new_file::Target;
use crate::output::Output;
use crate::progress::Progress;
use crate::status::Status;
use crate::storing::{Filters, Sections};
use crate::text::{bytes, count, lossy};
use hyperslab::{CopyProgress, Group, Node, PathId, Paths};
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// Which way a file is converted.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    From(Form),
    To(Form),
}

/// A file that is converted.
struct Converter<'a> {
    way: Way,
    filters: Option<&'a Filters>,
    sections: Sections,
    /// Copies of objects that links lead to, by address.
    copied: HashMap<u64, Node>,
    /// Groups whose links wait, and their copies.
    waiting: Vec<(PathId, Group, Group)>,
    /// Lists that were made in groups of the new file whose links may wait: the address of the group, and the name.
    made: HashSet<(u64, Vec<u8>)>,
    paths: Paths,
    converted: u64,
    progress: Progress,
    done: CopyProgress,
}

pub(crate) fn run(options: &Repack, way: Way, out: &mut Output) -> Result<Status, Failure> {
    let file = find::open_with(&options.from, options.caching.options())?;
    let opening = options.caching.options().libver_min(options.libver_min).libver_max(options.libver_max);
    let target = Target::create(&options.to, opening)?;
    let filters = options.filter.iter().find_map(|filters| filters.of_all());
    let sections = options.section_filter.iter().filter_map(|section| section.of_all()).cloned().collect();
    let mut converter = Converter {
        way,
        filters,
        sections,
        copied: HashMap::new(),
        waiting: Vec::new(),
        made: HashSet::new(),
        paths: Paths::new(),
        converted: 0,
        progress: Progress::new(),
        done: CopyProgress::default(),
    };
    let (from, to) = (file.root()?, target.file().root()?);
    let top = converter.paths.top(b"/");
    converter.group(top, &from, &to)?;
    while let Some((path, from, to)) = converter.waiting.pop() {
        converter.links(path, &from, &to)?;
    }
    let (converted, CopyProgress { objects, bytes: values, .. }) = (converter.converted, converter.done);
    drop(converter);
    if converted == 0 {
        let form = match way {
            Way::From(form) | Way::To(form) => form.name(),
        };
        return Err(Failure::NothingOfForm { file: options.from.display().to_string(), form });
    }
    let new = target.file().clone();
    target.finish()?;
    options.caching.tell(
        out,
        &[(&options.from, file.cache_statistics()), (&options.to, new.cache_statistics())],
        options.json,
    );
    let name = || options.to.display().to_string();
    let after = std::fs::metadata(&options.to).map_err(|why| Failure::Publish { file: name(), why })?.len();
    let before = file.size();
    if options.json {
        let file = lossy(options.to.as_os_str().as_encoded_bytes());
        let told = serde_json::json!({"file": file, "objects": objects, "converted": converted, "bytes": values, "before": before, "after": after});
        writeln!(out, "{told}")?;
    } else {
        writeln!(out, "{} converted, {} of values", count(converted, "dataset"), bytes(values))?;
        writeln!(out, "{} became {}", bytes(before), bytes(after))?;
    }
    Ok(Status::Done)
}

impl Converter<'_> {
    /// What failed at an object of the old file.
    fn at<T>(&self, path: PathId, done: hyperslab::Result<T>) -> Result<T, Failure> {
        done.map_err(|why| Failure::Object { path: lossy(&self.paths.get(path)), why: Box::new(why) })
    }

    fn refuse(&self, path: PathId, why: String) -> Failure {
        Failure::Form { path: lossy(&self.paths.get(path)), why }
    }

    fn show(&mut self, objects: u64, bytes: u64) {
        self.done.objects += objects;
        self.done.bytes += bytes;
        self.done.known = self.done.objects + self.waiting.len() as u64;
        self.progress.show(self.done);
    }
}
