//! Dirty chunks that will leave soon are encoded before a request waits for that.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use hyperslab_cache::{Cache, Pinned};
use hyperslab_driver::cores;

use super::{ChunkCache, failures::kind_of, workers::Worker};
use crate::{EncodedChunk, ResidentChunk, StoredAs, Workspace};

/// So many bytes of chunks are taken at once: no request waits longer for one of them than they take to be encoded.
const BYTES: usize = 2 << 20;

#[derive(Default)]
pub(super) struct EncodeAhead {
    /// Whether a job does it already.
    busy: Arc<AtomicBool>,
    /// How many chunks had come or been written when the last job began.
    seen: AtomicU64,
}

impl ChunkCache {
    /// Encodes chunks that will leave soon while the caller goes on, if there may be some since it was asked last.
    pub(super) fn encode_ahead(&self) {
        if !self.encodes_ahead || !self.cache.is_crowded() {
            return;
        }
        let now = self.cache.turnover();
        if self.ahead.seen.swap(now, Ordering::Relaxed) == now || self.ahead.busy.swap(true, Ordering::Relaxed) {
            return;
        }
        let job = Job { cache: self.cache.clone(), busy: self.ahead.busy.clone(), _worker: self.workers.begin() };
        self.workers.keep(cores::spawn(move || while job.cache.is_crowded() && encode_some(&job.cache) {}));
    }
}

/// The last part is dropped last: then nothing of the file is in use any more.
struct Job {
    cache: Arc<Cache<ResidentChunk>>,
    busy: Arc<AtomicBool>,
    _worker: Worker,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.busy.store(false, Ordering::Relaxed);
    }
}

/// Whether there were some, and room for what they became.
fn encode_some(cache: &Cache<ResidentChunk>) -> bool {
    // A chunk that cannot be encoded stays dirty: the flush that tries to write it tells why.
    let encoded = |workspace: &mut Workspace, pinned| Ok::<_, Infallible>(encode(&pinned, workspace).unwrap_or(false));
    cores::map(cache.near_exit(BYTES), encoded).is_ok_and(|encoded| encoded.contains(&true))
}

/// Whether there is a copy now; nothing if it cannot be made.
fn encode(pinned: &Pinned<ResidentChunk>, workspace: &mut Workspace) -> Option<bool> {
    let layout = pinned.source().layout();
    layout.codec_of_all()?;
    let encoded = pinned.encode_ahead(|chunk| {
        let encoded = chunk.encode(layout, pinned.coord(), StoredAs::Filtered, workspace);
        encoded.and_then(EncodedChunk::into_owned).map_err(|why| kind_of(&why))
    });
    encoded.ok()
}
