//! The chunk cache as a person at a shell sets and sees it.

use crate::arguments::Caching;
use crate::escape::{printable, said};
use crate::output::Output;
use crate::table::{right, sheet};
use crate::text::bytes;
use hyperslab::{CacheConfig, CacheStatistics, Dataset, OpenOptions, ReadAhead, Retry};
use std::path::Path;
use std::time::Duration;

/// How long a thread sleeps before it reads a block again.
const RETRY_PAUSE: Duration = Duration::from_millis(1);

/// What is told of a cache.
const HEAD: [&str; 14] = [
    "cache of",
    "hits",
    "misses",
    "loads",
    "evictions",
    "written",
    "ahead",
    "past",
    "waits",
    "bytes",
    "peak",
    "limit",
    "decoding",
    "encoding",
];

/// What the cache did for one dataset.
pub(crate) type OfDataset = (String, CacheStatistics);

/// What is told: of a file, or of a dataset in it.
struct Told {
    file: String,
    dataset: Option<String>,
    seen: CacheStatistics,
}

impl Caching {
    /// How large the cache of a file is, if it was said.
    pub(crate) fn config(&self) -> Option<CacheConfig> {
        let is_sized = self.cache_bytes.is_some() || self.cache_dataset.is_some();
        let is_ahead = self.no_read_ahead || self.read_ahead.is_some();
        (is_sized || self.cache_policy.is_some() || is_ahead).then(|| {
            let config = CacheConfig::from_environment();
            let config = self.cache_dataset.map_or(config, |bytes| config.dataset_limit(bytes));
            let config = if self.no_read_ahead { config.read_ahead(false) } else { config };
            let config = self.read_ahead.map_or(config, |bytes| config.read_ahead(ReadAhead::Bytes(bytes)));
            let config = self.cache_bytes.map_or(config, |bytes| config.bytes(bytes));
            self.cache_policy.map_or(config, |policy| config.policy(policy))
        })
    }

    /// How files are opened.
    pub(crate) fn options(&self) -> OpenOptions {
        let options = self.config().map_or_else(OpenOptions::new, |config| OpenOptions::new().cache(config));
        let options = self.page_buffer.into_iter().fold(options, OpenOptions::page_buffer);
        let options = self.page_strategy.into_iter().fold(options, OpenOptions::page_strategy);
        let retry = self.retry.map(|attempts| Retry { attempts, pause: RETRY_PAUSE });
        retry.into_iter().fold(options, OpenOptions::retry)
    }

    /// What the cache did for a dataset, if that is to be told and it did something.
    pub(crate) fn of_dataset(&self, path: &[u8], dataset: &Dataset) -> Option<OfDataset> {
        let seen = dataset.cache_statistics().ok().filter(|_| self.cache_stats)?;
        (seen.hits + seen.misses + seen.bypasses > 0).then(|| (printable(path), seen))
    }

    /// Tells what the caches of files did, if that is wanted. Results are on standard output, so this is not.
    pub(crate) fn tell(&self, out: &mut Output, caches: &[(&Path, CacheStatistics)], json: bool) {
        let told = caches.iter().map(|(path, seen)| Told { file: said(&path.display()), dataset: None, seen: *seen });
        self.tell_all(out, told, json);
    }

    /// As [`Caching::tell`], of one file and its datasets.
    pub(crate) fn tell_with(
        &self,
        out: &mut Output,
        (path, seen): (&Path, CacheStatistics),
        datasets: Vec<OfDataset>,
        json: bool,
    ) {
        let told = |dataset, seen| Told { file: said(&path.display()), dataset, seen };
        let datasets = datasets.into_iter().map(|(dataset, seen)| told(Some(dataset), seen));
        self.tell_all(out, std::iter::once(told(None, seen)).chain(datasets), json);
    }

    fn tell_all(&self, out: &mut Output, told: impl Iterator<Item = Told>, json: bool) {
        if self.cache_stats {
            out.complain(&if json { told.map(line).collect::<Vec<_>>().join("\n") } else { table(told) });
        }
    }
}

fn table(told: impl Iterator<Item = Told>) -> String {
    let mut table = sheet(&HEAD);
    right(&mut table, 1..HEAD.len());
    for Told { file, dataset, seen } in told {
        let waits = seen.chunk_waits.count + seen.memory_waits.count + seen.range_waits.count;
        let counts = [seen.hits, seen.misses, seen.loads, seen.evictions, seen.written, seen.encoded_ahead];
        let counts = counts.into_iter().chain([seen.bypasses, waits]).map(|count| count.to_string());
        let sizes = [seen.bytes, seen.peak_bytes, seen.limit].map(|size| bytes(size as u64));
        let times = [seen.decoding, seen.encoding].map(|time| format!("{:.3} s", time.as_secs_f64()));
        table.add_row([dataset.unwrap_or(file)].into_iter().chain(counts).chain(sizes).chain(times));
    }
    table.to_string()
}

fn line(Told { file, dataset, seen }: Told) -> String {
    let mut line = serde_json::json!({
        "cache": file, "hits": seen.hits, "misses": seen.misses, "loads": seen.loads, "evictions": seen.evictions,
        "written": seen.written, "encoded_ahead": seen.encoded_ahead, "bypasses": seen.bypasses,
        "bypassed_bytes": seen.bypassed_bytes, "bytes": seen.bytes, "peak_bytes": seen.peak_bytes, "limit": seen.limit,
        "decode_seconds": seen.decoding.as_secs_f64(), "encode_seconds": seen.encoding.as_secs_f64(),
        "chunk_waits": seen.chunk_waits.count, "chunk_wait_seconds": seen.chunk_waits.time.as_secs_f64(),
        "memory_waits": seen.memory_waits.count, "memory_wait_seconds": seen.memory_waits.time.as_secs_f64(),
        "range_waits": seen.range_waits.count, "range_wait_seconds": seen.range_waits.time.as_secs_f64(),
    });
    if let (Some(dataset), Some(fields)) = (dataset, line.as_object_mut()) {
        fields.insert("dataset".into(), dataset.into());
    }
    line.to_string()
}
