//! What is read before a program asks for it.

/// How many bytes of chunks are read ahead of a program that goes through a dataset in one direction; never more than a quarter of the cache.
///
/// ```
/// use hyperslab_cache::{Config, ReadAhead};
/// assert_eq!(Config::default().reads_ahead(), ReadAhead::Automatic);
/// assert_eq!(Config::default().read_ahead(false).reads_ahead(), ReadAhead::Off);
/// assert_eq!(Config::default().read_ahead(ReadAhead::Bytes(8 << 20)).reads_ahead(), ReadAhead::Bytes(8 << 20));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadAhead {
    /// None.
    Off,
    /// As many as the storage could have sent while a request waits for the first of them: its latency times its bandwidth, both estimated from reads of values. Where
    /// that is little, as on local disks, as many as the last read had of chunks that must be decoded, and none of others, which the system reads ahead itself.
    #[default]
    Automatic,
    /// So many, or as many as the last read had, whatever the storage is like.
    Bytes(usize),
}

impl From<bool> for ReadAhead {
    /// Automatic or off.
    fn from(is_on: bool) -> ReadAhead {
        if is_on { ReadAhead::Automatic } else { ReadAhead::Off }
    }
}
