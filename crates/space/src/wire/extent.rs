//! The dataspace message: rank, class, sizes and maxima.

use hyperslab_base::{Reader, Sink, Width};

use crate::{Coords, Error, Extent, MAX_RANK, Result};

/// The flag that maxima follow the sizes.
const HAS_MAX: u8 = 1;

/// The class byte of version 2.
const SCALAR: u8 = 0;
const SIMPLE: u8 = 1;
const NULL: u8 = 2;

impl Extent {
    /// The dataspace message in version 1 or 2, with sizes of eight bytes. Version 1 cannot hold a null extent. The maxima may be left out
    /// of an extent that cannot grow; libhdf5 always writes them.
    pub fn encode(&self, version: u8, leave_out_max: bool) -> Result<Vec<u8>> {
        self.encode_wide(version, leave_out_max, Width::W8)
    }

    /// As [`Extent::encode`], with sizes of `width` bytes. Only eight bytes can say "unlimited".
    pub fn encode_wide(&self, version: u8, leave_out_max: bool, width: Width) -> Result<Vec<u8>> {
        let max = self.stored_max(leave_out_max);
        let mut sink = Sink::with_capacity(8 + (self.rank() + max.len()) * width.bytes());
        sink.u8(version);
        sink.u8(self.rank() as u8);
        sink.u8(if max.is_empty() { 0 } else { HAS_MAX });
        match version {
            1 if self.is_null() => {
                return Err(Error::Encode("version 1 of the dataspace message cannot hold a null extent"));
            }
            1 => sink.extend(&[0; 5]),
            2 if self.is_null() => sink.u8(NULL),
            2 => sink.u8(if self.rank() == 0 { SCALAR } else { SIMPLE }),
            _ => return Err(Error::Encode("the dataspace message has versions 1 and 2")),
        }
        for &size in self.dims().iter().chain(max) {
            if size > width.max() {
                return Err(Error::Encode("a size that the lengths of this file have no room for"));
            }
            sink.uint(width, size);
        }
        Ok(sink.into_bytes())
    }

    /// How many bytes [`Extent::encode`] takes in version 2 where maxima are left out if possible.
    pub(super) fn smallest_bytes(&self) -> u64 {
        4 + 8 * (self.rank() + self.stored_max(true).len()) as u64
    }

    /// The maxima that a message holds.
    fn stored_max(&self, leave_out: bool) -> &[u64] {
        if leave_out && self.max() == self.dims() { &[] } else { self.max() }
    }

    /// Reads a dataspace message whose sizes have `width` bytes. Bytes after its end are left alone.
    pub fn decode(bytes: &[u8], width: Width) -> Result<Extent> {
        let mut reader = Reader::new("dataspace message", bytes);
        let version = reader.u8()?;
        let rank = usize::from(reader.u8()?);
        let flags = reader.u8()?;
        let class = match version {
            1 => {
                reader.take(5)?;
                if rank > 0 { SIMPLE } else { SCALAR }
            }
            2 => reader.u8()?,
            _ => return Err(reader.refuse(format!("unknown version {version}")).into()),
        };
        if rank > MAX_RANK {
            return Err(Error::Rank(rank));
        }
        match class {
            SCALAR | NULL if rank > 0 => {
                return Err(reader.refuse(format!("{rank} dimensions without a simple extent")).into());
            }
            SCALAR => return Ok(Extent::scalar()),
            NULL => return Ok(Extent::null()),
            SIMPLE => {}
            _ => return Err(reader.refuse(format!("unknown class {class}")).into()),
        }
        let dims = sizes(&mut reader, rank, width)?;
        let max = if flags & HAS_MAX != 0 {
            // Only eight bytes can say "unlimited": libhdf5 takes all ones of fewer bytes for a number.
            Some(sizes(&mut reader, rank, width)?)
        } else {
            None
        };
        Extent::checked(&dims, max)
    }
}

fn sizes(reader: &mut Reader<'_>, rank: usize, width: Width) -> Result<Coords> {
    Ok((0..rank).map(|_| reader.uint(width)).collect::<std::result::Result<_, _>>()?)
}
