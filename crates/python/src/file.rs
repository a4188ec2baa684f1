//! Files: how they are opened, and what is known of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hyperslab::driver::Memory;
use hyperslab::{
    CacheConfig, ExternalAccess, FileSpace, LibVersion, Locking, OpenOptions, Placement, ReadAhead, Retry,
    SpaceStrategy,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyDict, PyTuple};

use crate::cache_policy::cache_policy;
use crate::cache_stats::cache_stats;
use crate::engine::{detached, engine};
use crate::error::{not_opened, too_large};
use crate::file_object::FileObject;
use crate::handles::FileHandle;
use crate::node_handle::handle;
use crate::reference::PyReference;
use crate::shared::{Backing, Shared};

#[pymethods]
impl FileHandle {
    #[new]
    #[pyo3(signature = (path, mode="r", settings=None, sharing=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        mode: &str,
        settings: Option<Bound<'_, PyAny>>,
        sharing: Option<Bound<'_, PyAny>>,
    ) -> PyResult<FileHandle> {
        let made = settings.as_ref().map(|given| given.extract::<Settings>()).transpose()?;
        let shared = sharing.as_ref().map(|given| given.extract::<Sharing>()).transpose()?;
        let options = options(mode, made, shared)?;
        let file = detached(py, || options.open(&path))?.map_err(|why| not_opened(why, &path))?;
        let given = (settings, sharing).into_pyobject(py)?.unbind();
        Ok(FileHandle(Shared::new(file, Backing::Path(Some(given)))))
    }

    /// A file whose bytes a file object has.
    #[staticmethod]
    fn of_object(
        py: Python<'_>,
        object: Bound<'_, PyAny>,
        mode: &str,
        settings: Option<Settings>,
        sharing: Option<Sharing>,
    ) -> PyResult<FileHandle> {
        let options = options(mode, settings, sharing)?;
        let storage = Arc::new(FileObject::new(&object, mode != "r")?);
        let file = engine(py, || options.open_on(storage.clone()))?;
        Ok(FileHandle(Shared::new(file, Backing::Object(storage))))
    }

    /// A file whose bytes are in memory only; `path` is its name.
    #[staticmethod]
    #[pyo3(signature = (bytes, mode="r", settings=None, sharing=None, path=None))]
    fn of_bytes(
        py: Python<'_>,
        bytes: PyBackedBytes,
        mode: &str,
        settings: Option<Settings>,
        sharing: Option<Sharing>,
        path: Option<PathBuf>,
    ) -> PyResult<FileHandle> {
        let options = options(mode, settings, sharing)?;
        let mut held = Vec::new();
        held.try_reserve_exact(bytes.len()).map_err(|_| too_large(bytes.len() as u64))?;
        held.extend_from_slice(&bytes);
        let file = engine(py, || options.open_on(Arc::new(Memory::from(held))))?;
        Ok(FileHandle(Shared::new(file, Backing::Memory(path))))
    }

    /// Writes everything that was changed so far.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.0.flush(py)
    }

    /// What the chunk cache did so far.
    fn cache_stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let file = self.0.file()?;
        let seen = self.0.look(py, || file.cache_statistics())?;
        cache_stats(py, seen)
    }

    /// Counts anew what the chunk cache does, for the file and for each dataset.
    fn reset_cache_stats(&self, py: Python<'_>) -> PyResult<()> {
        let file = self.0.file()?;
        self.0.look(py, || file.reset_cache_statistics())
    }

    /// From now on no object of the file can be used.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.close(py)
    }

    /// Whether it may be changed.
    #[getter]
    fn is_writable(&self) -> PyResult<bool> {
        Ok(self.0.file()?.is_writable())
    }

    #[getter]
    fn valid(&self) -> bool {
        self.0.is_valid()
    }

    /// The name that it was opened with.
    #[getter]
    fn filename(&self) -> PyResult<std::ffi::OsString> {
        self.0.file()?;
        Ok(self.0.path().unwrap_or(Path::new("")).as_os_str().to_owned())
    }

    /// The settings and the sharing that a file on disk was opened with; nothing for others.
    #[getter]
    fn opened_with(&self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        self.0.file()?;
        Ok(self.0.opened_with(py))
    }

    #[getter]
    fn driver(&self) -> PyResult<&'static str> {
        Ok(self.0.file()?.driver())
    }

    #[getter]
    fn user_block(&self) -> PyResult<u64> {
        Ok(self.0.file()?.user_block())
    }

    /// The root group.
    fn root(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let file = self.0.file()?;
        let root = engine(py, || file.root())?;
        handle(py, &self.0, hyperslab::Node::Group(root))
    }

    /// The object that a reference points at; nothing for null.
    fn dereference(&self, py: Python<'_>, reference: &PyReference) -> PyResult<Option<Py<PyAny>>> {
        let file = self.0.file()?;
        let node = detached(py, || reference.object(file))??;
        node.map(|node| handle(py, &self.0, node)).transpose()
    }

    fn __eq__(&self, other: &FileHandle) -> bool {
        let is_same = |one: &hyperslab::File, other: &hyperslab::File| one == other;
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.file().is_ok_and(|one| other.0.file().is_ok_and(|other| is_same(one, other)))
    }
}

/// How a file is made or changed, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    /// The oldest and the newest library whose structures are written.
    libver: (String, String),
    user_block: u64,
    track_order: bool,
    /// Strategy, whether free space is remembered, its smallest section, the size of a page.
    space: (String, bool, u64, u64),
    /// Blocks of metadata, from which size on pieces are aligned, and to what.
    placement: (u64, u64, u64),
    cache: Caching,
    /// How many bytes are in memory as pages, how values have part in them, how many percent of them are kept for metadata, and for values.
    pages: (Option<usize>, Option<String>, u8, u8),
    /// What outlives a killed process or a power failure.
    durability: String,
    /// How often a block of metadata is read that is being written, and how many seconds are between.
    retry: Option<(u32, f64)>,
    /// What memory has of an object leaves with its last handle.
    evict_on_close: bool,
    /// The size of the members of a family, or how the names of the two members of a split file end.
    members: Option<(u64, String, String)>,
}

/// What the file has to do with other processes and other files, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Sharing {
    locking: String,
    swmr: bool,
    external: String,
    /// Whether a name with a `%d` is that of several files.
    family: bool,
}

impl Sharing {
    fn apply(self, options: OpenOptions) -> PyResult<OpenOptions> {
        let locking = match self.locking.as_str() {
            "true" => Locking::Required,
            "best-effort" => Locking::BestEffort,
            "false" => Locking::Disabled,
            other => return Err(PyValueError::new_err(format!("Unsupported locking value: {other}"))),
        };
        let external = match self.external.as_str() {
            "inside" => ExternalAccess::Inside,
            "read-anywhere" => ExternalAccess::ReadAnywhere,
            "anywhere" => ExternalAccess::Anywhere,
            other => {
                let wanted = "it must be one of inside, read-anywhere, anywhere";
                return Err(PyValueError::new_err(format!("Invalid external access {other:?}; {wanted}")));
            }
        };
        let options = options.locking(locking).external_access(external);
        let options = if self.family { options } else { options.one_file() };
        Ok(if self.swmr { options.swmr_read() } else { options })
    }
}

/// Whether chunks are read ahead, or how many bytes of them.
#[derive(FromPyObject, PartialEq)]
enum ReadAheadSetting {
    Switch(bool),
    Bytes(usize),
}

/// How many bytes of chunks are in memory, how many there may be if that is found out, which chunks leave first, whether some are read ahead, and how many bytes
/// chunks of one dataset may take.
type Caching = (Option<usize>, Option<usize>, Option<String>, Option<ReadAheadSetting>, Option<usize>);

/// The options for a mode as `open` of Python has it.
fn options(mode: &str, settings: Option<Settings>, sharing: Option<Sharing>) -> PyResult<OpenOptions> {
    let mut options = OpenOptions::new();
    if let Some(sharing) = sharing {
        options = sharing.apply(options)?;
    }
    if let Some(settings) = settings {
        let Settings {
            libver: (low, high), user_block, track_order, space, placement, cache, pages, durability, ..
        } = settings;
        let (strategy, persist, threshold, page_size) = space;
        let space = FileSpace { strategy: space_strategy(&strategy)?, persist, threshold, page_size };
        let (metadata_block, align_from, alignment) = placement;
        let placement = Placement { metadata_block, align_from, alignment };
        options = options.libver_min(version(&low)?).libver_max(version(&high)?);
        options = options.user_block(user_block).track_order(track_order);
        options = options.file_space(space).placement(placement);
        options = options.durability(durability.parse().map_err(|why| PyValueError::new_err(format!("{why}")))?);
        let (buffer, strategy, metadata, values) = pages;
        options = buffer.into_iter().fold(options, OpenOptions::page_buffer).page_reserve(metadata, values);
        if let Some(strategy) = strategy {
            options = options.page_strategy(strategy.parse().map_err(|why| PyValueError::new_err(format!("{why}")))?);
        }
        if let Some((attempts, pause)) = settings.retry {
            let pause = Duration::try_from_secs_f64(pause);
            let pause = pause.map_err(|why| PyValueError::new_err(format!("pause between retries: {why}")))?;
            options = options.retry(Retry { attempts, pause });
        }
        options = if settings.evict_on_close { options.evict_on_close() } else { options };
        options = match settings.members {
            None => options,
            Some((0, metadata, raw)) => options.split(metadata, raw),
            Some((size, ..)) => options.family(size),
        };
        if cache != Caching::default() {
            options = options.cache(cache_config(cache)?);
        }
    }
    Ok(match mode {
        "r" => options,
        "r+" => options.read_write(),
        "w" => options.create().truncate(),
        "w-" | "x" => options.create_new(),
        "a" => options.create(),
        other => {
            return Err(PyValueError::new_err(format!("Invalid mode {other:?}; must be one of r, r+, w, w-, x, a")));
        }
    })
}

fn cache_config((bytes, most, policy, read_ahead, dataset): Caching) -> PyResult<CacheConfig> {
    let mut config = CacheConfig::from_environment();
    let bytes = bytes.unwrap_or(config.limits().quiescent);
    config = config.bytes(bytes);
    if let Some(most) = most {
        config = config.adaptive(bytes, most);
    }
    match read_ahead {
        None => {}
        Some(ReadAheadSetting::Switch(is_on)) => config = config.read_ahead(is_on),
        Some(ReadAheadSetting::Bytes(bytes)) => config = config.read_ahead(ReadAhead::Bytes(bytes)),
    }
    if let Some(bytes) = dataset {
        config = config.dataset_limit(bytes);
    }
    let Some(policy) = policy else { return Ok(config) };
    Ok(config.policy(cache_policy(&policy)?))
}

fn space_strategy(name: &str) -> PyResult<SpaceStrategy> {
    Ok(match name {
        "fsm" => SpaceStrategy::Managers,
        "page" => SpaceStrategy::Pages,
        "aggregate" => SpaceStrategy::Gathered,
        "none" => SpaceStrategy::End,
        _ => return Err(PyValueError::new_err("Invalid file space strategy type")),
    })
}

fn version(low: &str) -> PyResult<LibVersion> {
    Ok(match low {
        "earliest" => LibVersion::Earliest,
        "v108" => LibVersion::V18,
        "v110" => LibVersion::V110,
        "v112" => LibVersion::V112,
        "v114" => LibVersion::V114,
        "v200" | "latest" => LibVersion::V200,
        other => return Err(PyValueError::new_err(format!("no library version {other:?}"))),
    })
}
