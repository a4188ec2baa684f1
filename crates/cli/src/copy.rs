//! `hyperslab copy` and `hyperslab repack`: objects and files once more.

use crate::arguments::{Copy, Repack};
use crate::failure::Failure;
use crate::storing::Wishes;
use crate::text::{bytes, count};
use crate::{find, output, style};
use hyperslab::{CopyOptions, CopyProgress, File, Lost, Repacked};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Sets one of the options.
type Flag = fn(CopyOptions) -> CopyOptions;

pub(crate) fn copy(options: &Copy) -> Result<(), Failure> {
    let (from, source) = place(&options.from);
    let (to, target) = place(&options.to);
    let same = same_file(&from, &to);
    let made = !to.exists();
    let how = || options.caching.options().create().low(options.low).durability(options.durable.durability);
    let open = || how().open(&to);
    // A file is not opened twice: the one who writes would not let the other read.
    let (old, new) = match same {
        true => {
            let file = open().map_err(|why| trouble(&to, why))?;
            (file.clone(), file)
        }
        false => (find::open_with(&from, options.caching.options())?, open().map_err(|why| trouble(&to, why))?),
    };
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
    let (source, bar) = (source.as_deref().unwrap_or("/"), bar());
    let target = target.as_deref().unwrap_or(source);
    let mut last = CopyProgress::default();
    let copied = one(&old, &new, source, target, &how, &mut |done| {
        last = done;
        advance(&bar, done);
    });
    bar.finish_and_clear();
    let done = copied.and_then(|()| Ok(new.clone().close()?));
    if done.is_err() && made {
        // Nobody asked for a file without the copy.
        let _ = std::fs::remove_file(&to);
    }
    done?;
    let caches = [(from.as_path(), old.cache_statistics()), (to.as_path(), new.cache_statistics())];
    options.caching.tell(caches.get(usize::from(same)..).unwrap_or_default(), false);
    told(last)
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

pub(crate) fn repack(options: &Repack) -> Result<(), Failure> {
    if options.to.exists() {
        return Err(Failure::Exists(options.to.display().to_string()));
    }
    let (file, bar) = (find::open_with(&options.from, options.caching.options())?, bar());
    let mut last = CopyProgress::default();
    let mut repack = hyperslab::Repack::new().low(options.low);
    if let Some(config) = options.caching.config() {
        repack = repack.cache(config);
    }
    if !options.layout.is_empty() || !options.filter.is_empty() {
        let wishes = Wishes::new(&file, &options.layout, &options.filter)?;
        repack = repack.store(move |old, new| wishes.grant(old, new));
    }
    let done = repack.run_showing(&file, &options.to, &mut |done| {
        last = done;
        advance(&bar, done);
    });
    bar.finish_and_clear();
    let Repacked { lost, cache, .. } = done.map_err(|why| trouble(&options.to, why))?;
    for Lost { name, why } in &lost {
        anstream::eprintln!("{}", style::warning(&format!("{name} is damaged, and closed in the new file: {why}")));
    }
    options.caching.tell(&[(&options.from, file.cache_statistics()), (&options.to, cache)], options.json);
    let (before, after) = (file.size(), std::fs::metadata(&options.to)?.len());
    if options.json {
        let (file, CopyProgress { objects, bytes, .. }) = (options.to.display().to_string(), last);
        let told = serde_json::json!({"file": file, "objects": objects, "bytes": bytes, "before": before, "after": after, "damaged": lost.len()});
        writeln!(output::standard(true), "{told}")?;
        return Ok(());
    }
    told(last)?;
    writeln!(output::standard(false), "{} became {}", bytes(before), bytes(after))?;
    Ok(())
}

fn told(done: CopyProgress) -> Result<(), Failure> {
    writeln!(output::standard(false), "{}, {} of values", count(done.objects, "object"), bytes(done.bytes))?;
    Ok(())
}

fn trouble(path: &Path, why: hyperslab::Error) -> Failure {
    Failure::Write { file: path.display().to_string(), why: Box::new(why) }
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

fn same_file(left: &Path, right: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    left == right || whole(left).is_some_and(|left| Some(left) == whole(right))
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::no_length();
    match ProgressStyle::with_template("{spinner} {pos} of {len} objects, {msg} [{bar:40}]") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn advance(bar: &ProgressBar, done: CopyProgress) {
    bar.set_length(done.known);
    bar.set_position(done.objects);
    bar.set_message(bytes(done.bytes));
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
