//! A stream of images on its way into a file and back: what is timed, and what is not.
//!
//! Images are made before the clock runs. While it runs, they are written and flushed, so that all work for them is counted, also that of other threads. Reading is timed in a walk
//! of its own, because a comparison in between would give threads that read ahead time that is not counted. A second walk compares.

use super::bar::Bar;
use super::detector::Detector;
use super::sent::Sent;
use crate::arguments::Caching;
use crate::failure::Failure;
use crate::output::Output;
use hyperslab::space::Space;
use hyperslab::{Dataset, File, Group, Result, s};
use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The most images that are flushed at once.
const MOST_IMAGES: u64 = 64;
/// The most bytes of them in memory, if one has not more.
const MOST_BYTES: u64 = 32 << 20;

/// What a dataset stores of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// What is sent, in a sparse dataset.
    Sparse,
    /// The same with zeros around it, in a dense dataset.
    Dense,
    /// Every so many images as the detector sees them, in a dense dataset.
    Full { every: u64 },
}

impl Stored {
    /// The name of its dataset.
    pub(super) fn name(self) -> &'static str {
        match self {
            Stored::Sparse | Stored::Dense => "images",
            Stored::Full { .. } => "full",
        }
    }

    fn every(self) -> u64 {
        match self {
            Stored::Sparse | Stored::Dense => 1,
            Stored::Full { every } => every.max(1),
        }
    }

    fn make(self, detector: &Detector, image: u64) -> Sent {
        match self {
            Stored::Sparse => detector.sent(image),
            Stored::Dense => detector.padded(image),
            Stored::Full { .. } => detector.full(image),
        }
    }

    /// How many images are in memory at once.
    fn at_once(self, detector: &Detector) -> usize {
        let bytes = detector.size.pixels() as u64 * 2;
        match self {
            Stored::Sparse => MOST_IMAGES as usize,
            Stored::Dense | Stored::Full { .. } => (MOST_BYTES / bytes).clamp(1, MOST_IMAGES) as usize,
        }
    }
}

/// A dataset of a stream, and what it took.
pub(super) struct Taken {
    pub(super) stored: Stored,
    pub(super) images: u64,
    pub(super) writing: Duration,
    pub(super) reading: Duration,
    /// By how much the file grew: with headers and the index of chunks for the first dataset, by their chunks for others.
    pub(super) bytes: u64,
}

pub(super) struct Stream<'a> {
    pub(super) detector: &'a Detector,
    pub(super) images: u64,
    pub(super) caching: &'a Caching,
    pub(super) json: bool,
}

impl Stream<'_> {
    /// Records datasets in a file, reads them, and compares all that they have with what was sent.
    pub(super) fn run(
        &self,
        path: &Path,
        is_new: bool,
        stored: &[Stored],
        out: &mut Output,
    ) -> std::result::Result<Vec<Taken>, Failure> {
        let mut taken = self.record(path, is_new, stored, out)?;
        let begin = Instant::now();
        let file = self.caching.options().open(path)?;
        let mut opening = begin.elapsed();
        for taken in &mut taken {
            taken.reading = self.read(&file, taken)? + std::mem::take(&mut opening);
        }
        for taken in &taken {
            self.compare(&file, taken)?;
        }
        self.caching.tell(out, &[(path, file.cache_statistics())], self.json);
        Ok(taken)
    }

    /// The group of the stream in its file.
    fn group(&self) -> &'static str {
        self.detector.pattern.name()
    }

    fn record(&self, path: &Path, is_new: bool, stored: &[Stored], out: &mut Output) -> Result<Vec<Taken>> {
        let begin = Instant::now();
        let opening = self.caching.options();
        let file = if is_new { opening.truncate() } else { opening.read_write() }.open(path)?;
        let before = if is_new { 0 } else { file.size() };
        let group = file.root()?.create_group(self.group())?;
        group.set_attribute("detector", "simulated")?;
        let mut datasets = Vec::new();
        for &stored in stored {
            let nothing = Duration::ZERO;
            let taken = Taken { stored, images: 0, writing: nothing, reading: nothing, bytes: 0 };
            datasets.push((self.create(&group, stored)?, taken));
        }
        let mut beside = begin.elapsed();
        let bar = Bar::new(self.group(), "writing", self.images);
        for first in (0..self.images).step_by(MOST_IMAGES as usize) {
            let end = self.images.min(first + MOST_IMAGES);
            for (dataset, taken) in &mut datasets {
                self.write(&file, dataset, taken, first..end)?;
            }
            bar.show(end, datasets.iter().map(|(_, taken)| taken.writing).sum());
        }
        for (dataset, taken) in &mut datasets {
            taken.bytes = dataset.stored_size()?.bytes;
        }
        let begin = Instant::now();
        file.clone().close()?;
        beside += begin.elapsed();
        let mut taken: Vec<Taken> = datasets.into_iter().map(|(_, taken)| taken).collect();
        if let Some((first, others)) = taken.split_first_mut() {
            first.writing += beside;
            let chunks: u64 = others.iter().map(|other| other.bytes).sum();
            first.bytes = file.size().saturating_sub(before + chunks);
        }
        self.caching.tell(out, &[(path, file.cache_statistics())], self.json);
        Ok(taken)
    }

    /// Makes a dataset that grows with each image.
    fn create(&self, group: &Group, stored: Stored) -> Result<Dataset> {
        let size = self.detector.size;
        let new = group.new_dataset::<u16>().shape([0, size.height, size.width]);
        let new = new.max_shape([None, Some(size.height), Some(size.width)]).chunks([1, size.height, size.width]);
        let new = if stored == Stored::Sparse { new.sparse() } else { new };
        let dataset = new.deflate(1).create(stored.name())?;
        dataset.set_attribute("units", "counts")?;
        if let Stored::Full { every } = stored {
            dataset.set_attribute("every", every)?;
        }
        Ok(dataset)
    }

    /// Writes those images of some that the dataset stores.
    fn write(&self, file: &File, dataset: &Dataset, taken: &mut Taken, images: Range<u64>) -> Result<()> {
        let stored = taken.stored;
        let numbers: Vec<u64> = images.filter(|image| image % stored.every() == 0).collect();
        for some in numbers.chunks(stored.at_once(self.detector)) {
            let made: Vec<Sent> = some.iter().map(|image| stored.make(self.detector, *image)).collect();
            let begin = Instant::now();
            dataset.resize_dimension(0, taken.images + made.len() as u64)?;
            for (nth, sent) in (taken.images..).zip(&made) {
                sent.write(dataset, nth)?;
            }
            file.flush()?;
            taken.writing += begin.elapsed();
            taken.images += made.len() as u64;
        }
        Ok(())
    }

    /// Reads a dataset image by image; how long that takes. Of a sparse one it reads which pixels are defined, and their values.
    fn read(&self, file: &File, taken: &Taken) -> Result<Duration> {
        let bar = Bar::new(self.group(), "reading", taken.images);
        let begin = Instant::now();
        let dataset = self.dataset(file, taken.stored)?;
        let mut pixels = vec![0u16; self.detector.size.pixels()];
        for nth in 0..taken.images {
            let image = dataset.slice(s![nth, .., ..])?;
            if dataset.is_sparse() {
                black_box(dataset.read_defined::<u16>(image.selection())?);
            } else {
                image.read_into(&mut pixels)?;
            }
            bar.show(nth + 1, begin.elapsed());
        }
        Ok(begin.elapsed())
    }

    /// Compares all that a dataset has with what was sent.
    fn compare(&self, file: &File, taken: &Taken) -> std::result::Result<(), Failure> {
        let (dataset, width) = (self.dataset(file, taken.stored)?, self.detector.size.width);
        let bar = Bar::new(self.group(), "comparing", taken.images);
        let (mut read, mut expected) = (vec![0u16; self.detector.size.pixels()], vec![0; self.detector.size.pixels()]);
        let begin = Instant::now();
        for nth in 0..taken.images {
            let sent = taken.stored.make(self.detector, nth * taken.stored.every());
            let differs = |[row, column]: [u64; 2]| {
                let dataset = format!("/{}/{}", self.group(), taken.stored.name());
                Failure::Differs { dataset, image: nth, row, column }
            };
            let image = dataset.slice(s![nth, .., ..])?;
            if dataset.is_sparse() {
                let defined = dataset.defined(image.selection())?;
                if let Some(at) = unlike(&defined, nth, &sent)? {
                    return Err(differs(at));
                }
                let values: Vec<u16> = dataset.read_selection(&defined)?;
                if let Some((at, _)) =
                    sent.places().zip(sent.values.iter().zip(&values)).find(|(_, (sent, read))| sent != read)
                {
                    return Err(differs(at));
                }
            }
            image.read_into(&mut read)?;
            expected.fill(0);
            sent.paint(width, &mut expected);
            if let Some(at) = expected.iter().zip(&read).position(|(sent, read)| sent != read) {
                return Err(differs([at as u64 / width, at as u64 % width]));
            }
            bar.show(nth + 1, begin.elapsed());
        }
        Ok(())
    }

    fn dataset(&self, file: &File, stored: Stored) -> Result<Dataset> {
        file.group(self.group())?.dataset(stored.name())
    }
}

/// The first pixel that is defined and was not sent, or was sent and is not defined.
fn unlike(defined: &Space, image: u64, sent: &Sent) -> Result<Option<[u64; 2]>> {
    let (mut defined, mut places) = (defined.coords()?, sent.places());
    loop {
        match (defined.next().as_deref(), places.next()) {
            (None, None) => return Ok(None),
            (Some(&[nth, row, column]), Some(place)) if nth == image && place == [row, column] => {}
            (Some(&[_, row, column]), place) => return Ok(Some(place.unwrap_or([row, column]).min([row, column]))),
            (_, place) => return Ok(Some(place.unwrap_or_default())),
        }
    }
}
