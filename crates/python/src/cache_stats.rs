//! What the chunk cache did, as a dict.

use hyperslab::CacheStatistics;
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub(crate) fn cache_stats(py: Python<'_>, seen: CacheStatistics) -> PyResult<Bound<'_, PyDict>> {
    let stats = PyDict::new(py);
    for (name, count) in [
        ("hits", seen.hits),
        ("misses", seen.misses),
        ("loads", seen.loads),
        ("evictions", seen.evictions),
        ("written", seen.written),
        ("bypasses", seen.bypasses),
        ("bypassed_bytes", seen.bypassed_bytes),
        ("encoded_ahead", seen.encoded_ahead),
        ("bytes", seen.bytes as u64),
        ("peak_bytes", seen.peak_bytes as u64),
        ("limit", seen.limit as u64),
        ("chunk_waits", seen.chunk_waits.count),
        ("memory_waits", seen.memory_waits.count),
        ("range_waits", seen.range_waits.count),
    ] {
        stats.set_item(name, count)?;
    }
    for (name, time) in [
        ("decode_seconds", seen.decoding),
        ("encode_seconds", seen.encoding),
        ("chunk_wait_seconds", seen.chunk_waits.time),
        ("memory_wait_seconds", seen.memory_waits.time),
        ("range_wait_seconds", seen.range_waits.time),
    ] {
        stats.set_item(name, time.as_secs_f64())?;
    }
    Ok(stats)
}
