//! The values of a dataset, whatever its layout.

use std::sync::Arc;

use hyperslab_dtype::Plan;
use hyperslab_file::OpenFile;
use hyperslab_space::{Extent, Kind, Slab, Space};

use crate::{Chunked, Error, Externals, Result, StripCut, StripReader, VirtualSource, read_strips, transfer::scatter};

/// Where values are.
#[derive(Debug)]
pub enum Storage {
    /// In the header: all of them.
    Compact(Vec<u8>),
    /// In one piece at this address; nowhere if never written.
    Contiguous(Option<u64>),
    /// In other files.
    External(Externals),
    /// In chunks.
    Chunked(Box<Chunked>),
    /// In other datasets.
    Virtual(Arc<dyn VirtualSource>),
}

/// The values of a dataset, as bytes of the stored type.
#[derive(Debug)]
pub struct Values {
    /// Its size.
    pub extent: Extent,
    /// The bytes of an element.
    pub element: u64,
    /// What elements are that were never written; zeros if `None`.
    pub fill: Option<Vec<u8>>,
    /// Where they are.
    pub storage: Storage,
}

impl Values {
    /// Reads the selection of `source`, which has this extent, into the selection of `target` in `buf`.
    pub fn read(&self, file: &OpenFile, source: &Space, target: &Space, buf: &mut [u8]) -> Result<()> {
        let (left, right) = (source.npoints(), target.npoints());
        if left != right {
            return Err(hyperslab_space::Error::Counts { left, right }.into());
        }
        self.check_selection(source)?;
        if left == 0 {
            return Ok(());
        }
        self.check(file)?;
        let shaped = shaped(source, target)?;
        let target = shaped.as_ref().unwrap_or(target);
        let fill = self.fill.as_deref();
        match &self.storage {
            Storage::Compact(bytes) => scatter::copy(bytes, source, buf, target, self.element),
            Storage::Contiguous(None) => scatter::fill(fill, buf, target, self.element),
            Storage::Contiguous(Some(address)) => {
                let offset = file.check("contiguous values", *address, self.bytes())?;
                let piece = hyperslab_driver::SelectionPair {
                    memory: target,
                    file: source,
                    offset,
                    element_size: self.element,
                };
                Ok(file.read_selection(&[piece], buf)?)
            }
            Storage::External(files) => files.read(file, source, target, buf, self.element),
            Storage::Virtual(sources) => sources.read(source, target, buf),
            Storage::Chunked(chunked) => chunked.read(file, source, target, buf, fill),
        }
    }

    /// As [`Values::read`], converted strip by strip by a plan that needs no heap.
    pub fn read_converted(
        &self,
        file: &OpenFile,
        (source, target): (&Space, &Space),
        buf: &mut [u8],
        plan: &Plan,
    ) -> Result<()> {
        let chunk = match &self.storage {
            Storage::Chunked(chunked) if chunked.structure().is_none() => Some(chunked.chunk()),
            _ => None,
        };
        let cut = StripCut::of(chunk, usize::try_from(self.element).unwrap_or(usize::MAX), source, false);
        read_strips(&mut (self, file), plan, (source, target), cut.as_ref(), buf)
    }

    /// Refuses values that are said to be in one place and are not: to be asked before memory is taken for them.
    pub fn check(&self, file: &OpenFile) -> Result<()> {
        match &self.storage {
            Storage::Compact(bytes) if bytes.len() as u64 != self.bytes() => {
                let why = format!("{} bytes belong in the header, {} are there", self.bytes(), bytes.len());
                Err(Error::Layout(why))
            }
            Storage::Contiguous(Some(address)) => {
                Ok(file.check("contiguous values", *address, self.bytes()).map(drop)?)
            }
            _ => Ok(()),
        }
    }

    /// Refuses a selection that is none of these values: its places would be those of other bytes.
    pub(crate) fn check_selection(&self, selection: &Space) -> Result<()> {
        if selection.dims() != self.extent.dims() || selection.extent().is_null() != self.extent.is_null() {
            let (extent, selection) = (self.extent.dims().to_vec(), selection.dims().to_vec());
            return Err(Error::Extent { extent, selection });
        }
        Ok(selection.check_inside()?)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.extent.bytes(self.element).unwrap_or(u64::MAX)
    }
}

impl StripReader for (&Values, &OpenFile) {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        let (values, file) = self;
        values.read(file, part, &Space::simple(&[part.npoints()])?, stored)
    }
}

impl StripReader for &(dyn VirtualSource + 'static) {
    type Error = Error;

    fn read(&mut self, part: &Space, stored: &mut [u8]) -> Result<()> {
        VirtualSource::read(*self, part, &Space::simple(&[part.npoints()])?, stored)
    }
}

/// All of a buffer, as an array of the shape of the selection that goes there: the same bytes, but then each dimension of the one side
/// follows one of the other.
pub(crate) fn shaped(source: &Space, target: &Space) -> Result<Option<Space>> {
    if target.kind() != Kind::All || target.rank() == source.rank() {
        return Ok(None);
    }
    match source.regular() {
        Some(slabs) => Ok(Some(Space::simple(&slabs.iter().map(Slab::indices).collect::<Vec<_>>())?)),
        None if source.kind() == Kind::All && source.rank() > 0 => Ok(Some(Space::simple(source.dims())?)),
        None => Ok(None),
    }
}
