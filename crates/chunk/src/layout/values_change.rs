//! Changing the values of a dataset, whatever its layout.

use hyperslab_driver::SelectionPair;
use hyperslab_file::{Kind, OpenFile};
use hyperslab_format::message::Layout;
use hyperslab_space::{Extent, Kind as Selected, Space, UNLIMITED};

use crate::{Error, Filling, Resizing, Result, Storage, Values, layout::values::shaped, scatter};

/// The most bytes of fill value that are in memory at once.
const PIECE: u64 = 4 << 20;

impl Values {
    /// Writes the selection of `source` in `buf` to the selection of `target`, which has this extent. Whether the layout message must
    /// say something new: [`Values::layout`] has it.
    pub fn write(
        &mut self,
        file: &OpenFile,
        target: &Space,
        source: &Space,
        buf: &[u8],
        filling: &Filling<'_>,
    ) -> Result<bool> {
        let (left, right) = (target.npoints(), source.npoints());
        if left != right {
            return Err(hyperslab_space::Error::Counts { left, right }.into());
        }
        self.check_selection(target)?;
        source.check_inside()?;
        if source.extent().bytes(self.element).is_none_or(|bytes| bytes > buf.len() as u64) {
            return Err(scatter::outside());
        }
        if left == 0 {
            return Ok(false);
        }
        self.check(file)?;
        let shaped = shaped(target, source)?;
        let source = shaped.as_ref().unwrap_or(source);
        let (bytes, element) = (self.bytes(), self.element);
        match &mut self.storage {
            Storage::Compact(values) => scatter::copy(buf, source, values, target, element).map(|()| true),
            Storage::Contiguous(place) => {
                let is_new = place.is_none();
                let address = file.tentative(|| {
                    let address = match *place {
                        Some(address) => address,
                        None => {
                            let covered = target.kind() != Selected::Points && Some(left) == self.extent.elements();
                            allocate(file, bytes, filling, covered)?
                        }
                    };
                    let offset = file.check("contiguous values", address, bytes)?;
                    let piece = SelectionPair { memory: source, file: target, offset, element_size: element };
                    file.write_selection(&[piece], buf)?;
                    Ok::<_, Error>(address)
                })?;
                *place = Some(address);
                Ok(is_new)
            }
            Storage::External(files) => files.write(file, target, source, buf, element).map(|()| false),
            Storage::Virtual(_) => Err(Error::Source("values of a virtual dataset are written to its sources".into())),
            Storage::Chunked(chunked) => chunked.write(file, target, source, buf, filling),
        }
    }

    /// Refuses a selection of another extent, and one of chunks that the index cannot hold.
    pub(crate) fn check_write(&self, target: &Space) -> Result<()> {
        self.check_selection(target)?;
        match &self.storage {
            Storage::Chunked(chunked) => chunked.check_reach(target),
            _ => Ok(()),
        }
    }

    /// Writes the selection of `source` in `buf` to the selection of `target`, which has this extent, if the values lie in one piece; whether they do. The caller
    /// holds changes of the file off.
    pub(crate) fn overwrite(&self, file: &OpenFile, target: &Space, source: &Space, buf: &[u8]) -> Result<bool> {
        let Storage::Contiguous(Some(address)) = self.storage else { return Ok(false) };
        let offset = file.check("contiguous values", address, self.bytes())?;
        let piece = SelectionPair { memory: source, file: target, offset, element_size: self.element };
        file.write_selection(&[piece], buf)?;
        Ok(true)
    }

    /// Whether values may be written where older ones are, so that a write that fails may leave some of them.
    pub fn is_overwritten(&self) -> bool {
        match &self.storage {
            Storage::Compact(_) | Storage::Contiguous(None) => false,
            Storage::Chunked(chunked) => chunked.is_overwritten(),
            _ => true,
        }
    }

    /// Takes space for all values now, and fills it: when a dataset is made whose space is to be there from the start. Whether the
    /// layout message must say something new.
    pub fn allocate(&mut self, file: &OpenFile, filling: &Filling<'_>) -> Result<bool> {
        let bytes = self.bytes();
        match &mut self.storage {
            Storage::Contiguous(place @ None) if bytes > 0 => {
                *place = Some(file.tentative(|| allocate(file, bytes, filling, false))?);
                Ok(true)
            }
            Storage::Chunked(chunked) if bytes > 0 => chunked.allocate_all(file, filling),
            _ => Ok(false),
        }
    }

    /// The extent of another size; an error if these values cannot have it.
    pub fn resized(&self, dims: &[u64]) -> Result<Extent> {
        let max: Vec<_> = self.extent.max().iter().map(|&max| (max != UNLIMITED).then_some(max)).collect();
        let extent = Extent::with_max(dims, &max)?;
        match &self.storage {
            Storage::Chunked(chunked) => chunked.check_resize(&extent)?,
            Storage::External(_) if extent.bytes(self.element).is_none() => {
                let why = format!("{dims:?} elements of {} bytes have more than 2^64 bytes", self.element);
                return Err(Error::Layout(why));
            }
            // What does not change its place can change its meaning.
            Storage::External(_) | Storage::Virtual(_) => {}
            _ if extent == self.extent => {}
            _ => return Err(Error::Layout("only datasets in chunks or other files can change their size".into())),
        }
        Ok(extent)
    }

    /// Prepares for another size: what the result asks for comes next, then the header tells the new extent, then
    /// [`Values::end_resize`]. A process that is killed in between leaves all values of the one extent or of the other.
    pub fn begin_resize(&mut self, file: &OpenFile, dims: &[u64], filling: &Filling<'_>) -> Result<Resizing> {
        let extent = self.resized(dims)?;
        match &mut self.storage {
            Storage::Chunked(chunked) => chunked.begin_resize(file, extent, filling),
            _ => Ok(Resizing::to(extent)),
        }
    }

    /// Takes on the new size. Whether the layout message must say something new.
    pub fn end_resize(&mut self, file: &OpenFile, resizing: Resizing, filling: &Filling<'_>) -> Result<bool> {
        self.extent = resizing.extent.clone();
        match &mut self.storage {
            Storage::Chunked(chunked) => chunked.end_resize(file, resizing, filling),
            _ => Ok(false),
        }
    }

    /// Gives back all space of the values in the file, whose dataset is deleted.
    pub fn delete(self, file: &OpenFile) -> Result<()> {
        file.free_deleted(|| self.free(file))
    }

    fn free(self, file: &OpenFile) -> Result<()> {
        let bytes = self.bytes();
        match self.storage {
            Storage::Contiguous(Some(address)) if bytes > 0 => {
                file.check("contiguous values", address, bytes)?;
                Ok(file.free_values(address, bytes)?)
            }
            Storage::Chunked(chunked) => chunked.delete(file),
            _ => Ok(()),
        }
    }

    /// What the layout message, of this version, says now; nothing if it never changes.
    pub fn layout(&self, version: u8) -> Option<Layout> {
        match &self.storage {
            Storage::Compact(values) => Some(Layout::Compact(values.clone())),
            Storage::Contiguous(address) => {
                let size = (version > 2).then(|| self.bytes());
                Some(Layout::Contiguous { address: *address, size })
            }
            Storage::Chunked(chunked) => Some(chunked.layout()),
            Storage::External(_) | Storage::Virtual(_) => None,
        }
    }
}

/// Space for contiguous values, filled unless all of it is written next.
fn allocate(file: &OpenFile, bytes: u64, filling: &Filling<'_>, covered: bool) -> Result<u64> {
    let address = file.allocate(Kind::Raw, bytes)?;
    if !covered {
        fill_space(file, address, bytes, filling)?;
    }
    Ok(address)
}

/// Fills new space for contiguous values, if the dataset wants that.
pub(crate) fn fill_space(file: &OpenFile, address: u64, bytes: u64, filling: &Filling<'_>) -> Result<()> {
    if !filling.write {
        return Ok(());
    }
    // Space that the storage does not have yet reads as zeros.
    let there = if filling.is_zero() { file.stored_end()?.saturating_sub(address).min(bytes) } else { bytes };
    let value = filling.value.map_or(1, |value| value.len().max(1) as u64);
    let piece = (PIECE / value).max(1).saturating_mul(value).min(there);
    let piece = filling.bytes(usize::try_from(piece).unwrap_or(usize::MAX))?;
    let mut at = 0;
    while at < there && !piece.is_empty() {
        let count = usize::try_from(there - at).unwrap_or(usize::MAX).min(piece.len());
        file.write_raw("contiguous values", &[(address + at, piece.get(..count).unwrap_or(&piece))])?;
        at += count as u64;
    }
    Ok(())
}
