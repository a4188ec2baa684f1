//! `hyperslab demo`: records what a simulated detector sends of its images, reads it back, compares, and does the same with dense chunks.
//!
//! ```text
//!  detector.rs  images, made again at any time          sent.rs      which pixels of an image are sent, and their values
//!  stream.rs    into a file and back, timed; compared   picture.rs   defined pixels as PNG
//!  print.rs     the table                               bar.rs       progress
//! ```

mod bar;
mod detector;
mod picture;
mod print;
mod sent;
mod size;
mod stream;

pub(crate) use detector::Pattern;

use crate::arguments::Demo;
use crate::failure::Failure;
use crate::output::Output;
use detector::Detector;
use hyperslab::driver::{Existing, Staged};
use picture::Picture;
use size::Size;
use std::fs;
use std::path::Path;
use stream::{Stored, Stream};

pub(crate) fn run(options: &Demo, out: &mut Output) -> Result<(), Failure> {
    if let Some(path) = options.keep.as_ref().filter(|path| path.exists()) {
        return Err(Failure::Exists(path.display().to_string()));
    }
    let path = options.keep.clone().unwrap_or_else(|| std::env::temp_dir().join("hyperslab-demo.h5"));
    // Files are gone afterwards, unless they are published.
    let new = staged(&path)?;
    // Where no file can be made is said now, and not after all else is done.
    drop(staged(&options.picture)?);
    let size = Size::of_megapixels(options.megapixels);
    let patterns = options.pattern.map_or(Pattern::ALL.to_vec(), |pattern| vec![pattern]);
    let (mut results, mut picture) = (print::Results::new(options, size), Picture::new(size));
    for (nth, pattern) in patterns.into_iter().enumerate() {
        let detector = Detector::new(pattern, size, options.seed);
        let stream =
            Stream { detector: &detector, images: options.images, caching: &options.caching, json: options.json };
        let full = (options.full_every > 0).then_some(Stored::Full { every: options.full_every });
        let stored: Vec<Stored> = std::iter::once(Stored::Sparse).chain(full).collect();
        let mut taken = stream.run(new.path(), nth == 0, &stored, out)?;
        let dense = staged(&path)?;
        taken.splice(1..1, stream.run(dense.path(), true, &[Stored::Dense], out)?);
        let images = hyperslab::File::open(new.path())?.group(pattern.name())?.dataset(Stored::Sparse.name())?;
        picture.add(&images, options.images / 2)?;
        let defined = images.stored_sections()?.unwrap_or_default().defined;
        results.add(pattern, defined, &taken);
    }
    let trouble = |path: &Path, why| Failure::Publish { file: path.display().to_string(), why };
    let drawn = staged(&options.picture)?;
    let draw = || picture.write(fs::File::create(drawn.path())?);
    draw().map_err(|why| trouble(&options.picture, why))?;
    drawn.publish(Existing::Replace).map_err(|why| trouble(&options.picture, why))?;
    if options.keep.is_some() {
        new.publish(Existing::Keep).map_err(|why| trouble(&path, why))?;
    }
    Ok(print::print(out, &results, options.json)?)
}

/// A new file beside the one that it may become.
fn staged(path: &Path) -> Result<Staged, Failure> {
    Staged::beside(path).map_err(|why| Failure::Publish { file: path.display().to_string(), why })
}
