//! Dirty chunks that will leave soon are encoded before anybody waits for that.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use hyperslab_cache::{Cache, Encoded, Pinned};
use hyperslab_driver::cores;

use super::{Chunk, ChunkCache};
use crate::Result;

/// So many bytes of chunks are taken at once: nobody waits longer for one of them than they take to be encoded.
const BYTES: usize = 2 << 20;

#[derive(Default)]
pub(super) struct Ahead {
    /// Whether somebody does it already.
    busy: Arc<AtomicBool>,
    /// How many chunks had come or been written when somebody looked last.
    seen: AtomicU64,
}

impl ChunkCache {
    /// Encodes chunks that will leave soon while the caller goes on, if there may be some since it was asked last.
    pub(super) fn encode_ahead(&self) {
        if !self.cache.is_crowded() {
            return;
        }
        let statistics = self.cache.statistics();
        let now = statistics.misses + statistics.written;
        if self.ahead.seen.swap(now, Ordering::Relaxed) == now || self.ahead.busy.swap(true, Ordering::Relaxed) {
            return;
        }
        let (cache, job) = (self.cache.clone(), Job(self.ahead.busy.clone()));
        cores::spawn(move || {
            let _job = job;
            while cache.is_crowded() && encode_some(&cache) {}
        });
    }
}

/// Says that nobody does it any more when it is done, or cannot be.
struct Job(Arc<AtomicBool>);

impl Drop for Job {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Whether there were some, and room for what they became.
fn encode_some(cache: &Cache<Chunk>) -> bool {
    // Whoever cannot be encoded says so when it is written.
    let encoded = |pinned: &Pinned<Chunk>| encode(pinned).unwrap_or(false);
    cache.near_exit(BYTES).iter().filter(|pinned| encoded(pinned)).count() > 0
}

fn encode(pinned: &Pinned<Chunk>) -> Result<bool> {
    let facts = pinned.home().facts();
    let Some(coder) = facts.coder.as_ref().filter(|_| facts.codes_all) else { return Ok(false) };
    pinned.encode_ahead(|chunk| {
        let mut bytes = Vec::new();
        let mask = coder.encode(pinned.place(), &chunk.bytes, &mut bytes, &mut Vec::new())?;
        // Filters take room for the worst case.
        bytes.shrink_to_fit();
        Ok(Encoded { bytes, note: mask.into() })
    })
}
