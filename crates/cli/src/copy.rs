//! `hyperslab copy`: objects once more, in the same file or another.

use crate::arguments::Copy;
use crate::failure::Failure;
use crate::find;
use crate::new_file::Target;
use crate::output::Output;
use crate::progress::Progress;
use crate::text::{bytes, count};
use hyperslab::driver::FileStamp;
use hyperslab::{CopyOptions, CopyProgress, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Sets one of the options.
type Flag = fn(CopyOptions) -> CopyOptions;

pub(crate) fn run(options: &Copy, out: &mut Output) -> Result<(), Failure> {
    let (from, source) = place(&options.from);
    let (to, target) = place(&options.to);
    let same = same_file(&from, &to);
    // Before a file is made for what is not there. One that is copied within itself is not opened twice.
    let old = if same { None } else { Some(find::open_with(&from, options.caching.options())?) };
    let how = options.caching.options().libver_min(options.libver_min).libver_max(options.libver_max);
    let new = Target::open(&to, how.durability(options.durable.durability))?;
    let old = old.as_ref().unwrap_or(new.file());
    let mut how = CopyOptions::new();
    let flags: [(bool, Flag); 5] = [
        (options.shallow, CopyOptions::shallow),
        (options.expand_soft, CopyOptions::expand_soft),
        (options.expand_external, CopyOptions::expand_external),
        (options.expand_references, CopyOptions::expand_references),
        (options.without_attributes, CopyOptions::without_attributes),
    ];
    for (_, flag) in flags.into_iter().filter(|(set, _)| *set) {
        how = flag(how);
    }
    let source = source.as_deref().unwrap_or("/");
    let target = target.as_deref().unwrap_or(source);
    let mut progress = Progress::new();
    one(old, new.file(), source, target, &how, &mut |done| progress.show(done))?;
    let (CopyProgress { objects, bytes: values, .. }, before) = (progress.last, old.cache_statistics());
    drop(progress);
    let file = new.file().clone();
    new.finish()?;
    let caches = [(from.as_path(), before), (to.as_path(), file.cache_statistics())];
    options.caching.tell(out, caches.get(usize::from(same)..).unwrap_or_default(), false);
    writeln!(out, "{}, {} of values", count(objects, "object"), bytes(values))?;
    Ok(())
}

fn one(
    old: &File,
    new: &File,
    source: &str,
    target: &str,
    how: &CopyOptions,
    progress: &mut dyn FnMut(CopyProgress),
) -> Result<(), Failure> {
    let node = find::object(old, source)?;
    let object = |why| Failure::Object { path: target.into(), why: Box::new(why) };
    how.copy_showing(&node, &new.root()?, target, progress).map_err(object)?;
    Ok(())
}

/// The file and the path in it. A name with a colon that is a file's is that file.
fn place(text: &str) -> (PathBuf, Option<String>) {
    match text.rsplit_once(':') {
        Some((file, path)) if !Path::new(text).exists() && (path.is_empty() || path.starts_with('/')) => {
            (file.into(), Some(if path.is_empty() { "/" } else { path }.into()))
        }
        _ => (text.into(), None),
    }
}

/// Whether both paths lead to one file, by hard or symbolic links or other spellings.
fn same_file(left: &Path, right: &Path) -> bool {
    let which = |path: &Path| FileStamp::of_path(path).ok().map(|stamp| stamp.identity());
    left == right || which(left).is_some_and(|left| Some(left) == which(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_file_and_a_path() {
        assert_eq!(place("a.h5"), ("a.h5".into(), None));
        assert_eq!(place("a.h5:/x/y"), ("a.h5".into(), Some("/x/y".into())));
        assert_eq!(place("a.h5:"), ("a.h5".into(), Some("/".into())));
        assert_eq!(place("C:\\a.h5"), ("C:\\a.h5".into(), None));
    }
}
