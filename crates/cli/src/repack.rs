//! `hyperslab repack`: a file once more, without the space that it lost.

use crate::arguments::Repack;
use crate::convert;
use crate::escape::said;
use crate::failure::Failure;
use crate::find;
use crate::new_file::trouble;
use crate::output::Output;
use crate::progress::Progress;
use crate::status::Status;
use crate::storing::Wishes;
use crate::style;
use crate::text::{bytes, count, lossy};
use hyperslab::{CopyProgress, Error, Repacked};
use std::io::Write;

pub(crate) fn run(options: &Repack, out: &mut Output) -> Result<Status, Failure> {
    let name = || options.to.display().to_string();
    if options.to.exists() {
        return Err(Failure::Exists(name()));
    }
    if let Some(way) = options.way() {
        return convert::run(options, way, out);
    }
    let opened_with = options.caching.options();
    let mut repack = hyperslab::Repack::new()
        .libver_min(options.libver_min)
        .libver_max(options.libver_max)
        .opened_with(&opened_with);
    let file = find::open_with(&options.from, opened_with)?;
    if options.skip_damaged {
        repack = repack.skip_damaged();
    }
    if let Some(config) = options.caching.config() {
        repack = repack.cache(config);
    }
    let layouts = options.layouts();
    if !layouts.is_empty() || !options.filter.is_empty() || !options.section_filter.is_empty() {
        let wishes = Wishes::new(&file, &layouts, &options.filter, &options.section_filter)?;
        repack = repack.store(move |old, new| wishes.grant(old, new));
    }
    let mut progress = Progress::new();
    let done = repack.run_showing(&file, &options.to, &mut |done| progress.show(done));
    let CopyProgress { objects, bytes: values, .. } = progress.last;
    drop(progress);
    let Repacked { lost, cache, .. } = match done {
        Ok(done) => done,
        Err(Error::Damaged(lost)) => {
            lost.iter().for_each(|lost| out.complain(&style::error(lost)));
            return Err(Failure::Damaged { from: options.from.display().to_string(), parts: lost.len() as u64 });
        }
        Err(why) => return Err(trouble(&options.to, why)),
    };
    lost.iter().for_each(|lost| out.complain(&style::warning(&format_args!("left out: {lost}"))));
    options.caching.tell(out, &[(&options.from, file.cache_statistics()), (&options.to, cache)], options.json);
    let after = std::fs::metadata(&options.to).map_err(|why| Failure::Publish { file: name(), why })?.len();
    let before = file.size();
    if options.json {
        let file = lossy(options.to.as_os_str().as_encoded_bytes());
        let told = serde_json::json!({"file": file, "objects": objects, "bytes": values, "before": before, "after": after, "damaged": lost.len()});
        writeln!(out, "{told}")?;
    } else {
        writeln!(out, "{}, {} of values", count(objects, "object"), bytes(values))?;
        writeln!(out, "{} became {}", bytes(before), bytes(after))?;
    }
    match lost.len() as u64 {
        0 => Ok(Status::Done),
        parts => {
            let what = format_args!("{} of {} left out", count(parts, "part"), said(&options.from.display()));
            out.complain(&style::warning(&what));
            Ok(Status::Partly)
        }
    }
}
