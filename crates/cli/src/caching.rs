//! The chunk cache as a person at a shell sets and sees it.

use crate::arguments::Caching;
use crate::escape::said;
use crate::output::Output;
use crate::table::{right, sheet};
use crate::text::bytes;
use hyperslab::{CacheConfig, CacheStatistics, OpenOptions};
use std::path::Path;

/// What is told of a cache.
const HEAD: [&str; 11] =
    ["cache of", "hits", "misses", "evictions", "written", "ahead", "bytes", "peak", "limit", "decoding", "encoding"];

impl Caching {
    /// How large the cache of a file is, if it was said.
    pub(crate) fn config(&self) -> Option<CacheConfig> {
        (self.cache_bytes.is_some() || self.cache_policy.is_some() || self.no_read_ahead).then(|| {
            let config = CacheConfig::from_environment();
            let config = if self.no_read_ahead { config.read_ahead(false) } else { config };
            let config = self.cache_bytes.map_or(config, |bytes| config.bytes(bytes));
            self.cache_policy.map_or(config, |policy| config.policy(policy))
        })
    }

    /// How files are opened.
    pub(crate) fn options(&self) -> OpenOptions {
        let options = self.config().map_or_else(OpenOptions::new, |config| OpenOptions::new().cache(config));
        match self.page_buffer {
            Some(bytes) => options.page_buffer(bytes),
            None => options,
        }
    }

    /// Tells what the caches of files did, if that is wanted. Results are on standard output, so this is not.
    pub(crate) fn tell(&self, out: &mut Output, caches: &[(&Path, CacheStatistics)], json: bool) {
        if !self.cache_stats {
            return;
        }
        let seen = caches.iter().map(|(path, seen)| (said(&path.display()), *seen));
        let told = if json { seen.map(line).collect::<Vec<_>>().join("\n") } else { table(seen) };
        out.complain(&told);
    }
}

fn table(seen: impl Iterator<Item = (String, CacheStatistics)>) -> String {
    let mut table = sheet(&HEAD);
    right(&mut table, 1..HEAD.len());
    for (file, seen) in seen {
        let counts = [seen.hits, seen.misses, seen.evictions, seen.written, seen.encoded_ahead];
        let counts = counts.map(|count| count.to_string());
        let sizes = [seen.bytes, seen.peak_bytes, seen.limit].map(|size| bytes(size as u64));
        let times = [seen.decoding, seen.encoding].map(|time| format!("{:.3} s", time.as_secs_f64()));
        table.add_row([file].into_iter().chain(counts).chain(sizes).chain(times));
    }
    table.to_string()
}

fn line((file, seen): (String, CacheStatistics)) -> String {
    let (decoding, encoding) = (seen.decoding.as_secs_f64(), seen.encoding.as_secs_f64());
    serde_json::json!({
        "cache": file, "hits": seen.hits, "misses": seen.misses, "evictions": seen.evictions, "written": seen.written,
        "encoded_ahead": seen.encoded_ahead, "bytes": seen.bytes, "peak_bytes": seen.peak_bytes, "limit": seen.limit, "decode_seconds": decoding, "encode_seconds": encoding,
    })
    .to_string()
}
