//! A file anew: everything that it has, and no space that was lost.

use std::{path::Path, sync::Arc};

use hyperslab_copy::{CopyProgress, Repacked};
use hyperslab_dtype::Arena;
use hyperslab_format::message::FillValue;
use hyperslab_session::DatasetPlan;
use hyperslab_space::{Extent, UNLIMITED};

use crate::{CacheConfig, Dataset, File, Group, LibVersion, NewDataset, OpenOptions, Result};

/// Writes a file anew: groups, datasets, committed datatypes, links, attributes, comments, the orders in which they were made, and the
/// bytes in front that are the user's. References refer to the copies of what they referred to. Free and lost space stays behind.
///
/// ```
/// use hyperslab::{File, LibVersion, Repack};
/// # let folder = std::env::temp_dir();
/// # let (old, new) = ["old", "new"].map(|name| folder.join(format!("hyperslab-repack-{name}-{}.h5", std::process::id()))).into();
/// # let file = File::create(&old)?;
/// # file.root()?.new_dataset::<i32>().write("numbers", &[1, 2, 3])?;
/// # file.close()?;
/// Repack::new().libver_min(LibVersion::V110).run(&File::open(&old)?, &new)?;
/// assert_eq!(File::open(&new)?.dataset("numbers")?.read::<i32>()?, [1, 2, 3]);
/// # [old, new].map(|path| std::fs::remove_file(path).unwrap());
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Repack {
    repack: hyperslab_copy::Repack,
}

impl Repack {
    /// A file that any library reads, if it can hold everything.
    pub fn new() -> Repack {
        Repack::default()
    }

    /// Which versions structures have: those that the given library can read. Where such a file cannot hold everything, as a large attribute, it is made for
    /// the next library whose versions can.
    #[must_use]
    pub fn libver_min(mut self, libver_min: LibVersion) -> Repack {
        self.repack.libver_min = libver_min;
        self
    }

    /// The newest library whose structures may be written ([`OpenOptions::libver_max`](crate::OpenOptions::libver_max)).
    #[must_use]
    pub fn libver_max(mut self, libver_max: impl Into<Option<LibVersion>>) -> Repack {
        self.repack.libver_max = libver_max.into();
        self
    }

    /// What cannot be read is left out, and [`Repacked::lost`] tells of it; without this it is an error. In place of an object that cannot be
    /// read as a whole, the new file has one that cannot be opened. An attribute is left out by itself.
    #[must_use]
    pub fn skip_damaged(mut self) -> Repack {
        self.repack.skips = true;
        self
    }

    /// How large the chunk cache of the new file is while it is written.
    #[must_use]
    pub fn cache(mut self, cache: CacheConfig) -> Repack {
        self.repack.cache = Some(cache);
        self
    }

    /// How the storage of the new file is asked while it is written: the options of pages, retries, transfers and durability count, not those that say which file
    /// is opened or made.
    ///
    /// ```
    /// use hyperslab::{OpenOptions, Repack};
    /// let repack = Repack::new().opened_with(&OpenOptions::new().page_buffer(64 << 20));
    /// ```
    #[must_use]
    pub fn opened_with(mut self, options: &OpenOptions) -> Repack {
        self.repack.access = options.access().clone();
        self
    }

    /// How datasets are stored in the new file, if not as they were: `how` is given each dataset, and a new one of the same type, size
    /// and fill value, to which it may add a layout and filters. Those with values in other files or datasets stay as they are.
    ///
    /// ```
    /// # use hyperslab::{File, Repack};
    /// # let folder = std::env::temp_dir();
    /// # let (old, new) = ["old", "new"].map(|name| folder.join(format!("hyperslab-store-{name}-{}.h5", std::process::id()))).into();
    /// # let file = File::create(&old)?;
    /// # file.root()?.new_dataset::<i32>().write("numbers", &[7; 10_000])?;
    /// # file.close()?;
    /// let packed = Repack::new().store(|old, new| (!old.shape().is_empty()).then(|| new.auto_chunks().shuffle().deflate(6)));
    /// packed.run(&File::open(&old)?, &new)?;
    /// assert!(File::open(&new)?.dataset("numbers")?.stored_size()?.bytes < 1000);
    /// # [old, new].map(|path| std::fs::remove_file(path).unwrap());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    #[must_use]
    pub fn store(mut self, how: impl Fn(&Dataset, NewDataset) -> Option<NewDataset> + Send + Sync + 'static) -> Repack {
        self.repack.restore = Some(Arc::new(move |old, planned, target| {
            let group = target.root_group().map(Group::of)?;
            how(&Dataset::of(old.clone()), like(planned, &group)).map(|wanted| wanted.plan(target)).transpose()
        }));
        self
    }

    /// Writes the file anew, to a path where no file is. The new file has another name beside it until it is complete and durable, so that
    /// there is no file at the path if something goes wrong, or if the program is killed. What cannot be read is an error that names it
    /// ([`Error::Damaged`](crate::Error::Damaged)), unless [`Repack::skip_damaged`] is said.
    pub fn run(&self, from: &File, to: impl AsRef<Path>) -> Result<Repacked> {
        self.run_showing(from, to, &mut |_| {})
    }

    /// As [`Repack::run`]; shows how far it is. The values of a dataset in a file that can be changed are copied while its writers wait, and shown when they
    /// are all there.
    pub fn run_showing(
        &self,
        from: &File,
        to: impl AsRef<Path>,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<Repacked> {
        self.repack.run(&from.session, to.as_ref(), progress)
    }
}

/// A new dataset of the same type, size and fill value.
fn like(planned: &DatasetPlan, group: &Group) -> NewDataset {
    let new = group.new_dataset_of(planned.datatype.clone());
    let extent = &planned.extent;
    let new = match extent.rank() {
        0 if *extent == Extent::null() => new.empty(),
        0 => new.scalar(),
        _ => {
            let max: Vec<_> = extent.max().iter().map(|&max| (max != UNLIMITED).then_some(max)).collect();
            new.shape(extent.dims()).max_shape(max)
        }
    };
    match &planned.fill.value {
        FillValue::User(value) if !planned.datatype.has_vlen() => {
            new.fill_converted(planned.datatype.clone(), value.clone(), Arena::default())
        }
        FillValue::Undefined => new.no_fill_value(),
        _ => new,
    }
}
