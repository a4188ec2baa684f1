//! Values in other files, one after the other.

use std::sync::Arc;

use hyperslab_base::{AnyError, memory};
use hyperslab_driver::{Driver, ReadPart, Transfer, WritePart};
use hyperslab_file::OpenFile;
use hyperslab_space::Space;

use crate::{Error, Result, transfer::scatter};

/// A file with values of a dataset. Another program may replace it, or make it later: so each request looks for it by its name.
pub trait ExternalFile: Send + Sync {
    /// The file as it is now, or why it cannot be read.
    fn to_read(&self) -> std::result::Result<Arc<dyn Driver>, AnyError>;

    /// The file as it is now, made if it is missing; or why it cannot be written.
    fn to_write(&self) -> std::result::Result<Arc<dyn Driver>, AnyError>;
}

/// A part of an external file.
pub struct ExternalPart {
    /// The file's name, for errors.
    pub name: String,
    /// The file.
    pub file: Arc<dyn ExternalFile>,
    /// The first byte.
    pub offset: u64,
    /// How many bytes; `None` for as many as there are.
    pub size: Option<u64>,
}

/// The parts that hold a dataset's values.
#[derive(Debug)]
pub struct Externals {
    /// The parts in order.
    pub parts: Vec<ExternalPart>,
}

/// The files of the parts that a request has needed so far: all of it goes to one file, though that may be replaced meanwhile.
type Opened = Vec<Option<Arc<dyn Driver>>>;

impl Externals {
    /// Reads the selection of `source` into the selection of `target`, of a dataset of `file`.
    pub(crate) fn read(
        &self,
        file: &OpenFile,
        source: &Space,
        target: &Space,
        buf: &mut [u8],
        element: u64,
    ) -> Result<()> {
        // Packed first: the parts cut runs wherever they like.
        let mut packed = memory::zeroed(source.npoints().saturating_mul(element))?;
        let (mut rest, mut opened) = (packed.as_mut_slice(), vec![None; self.parts.len()]);
        for run in source.runs(element)? {
            let Some((now, later)) = std::mem::take(&mut rest).split_at_mut_checked(run.len as usize) else { break };
            self.read_range(run.offset, now, &mut opened, file.raw_transfer())?;
            rest = later;
        }
        let dense = Space::simple(&[source.npoints()])?;
        scatter::copy(&packed, &dense, buf, target, element)
    }

    /// Writes the selection of `source` to the selection of `target`, of a dataset of `file`.
    pub(crate) fn write(
        &self,
        file: &OpenFile,
        target: &Space,
        source: &Space,
        buf: &[u8],
        element: u64,
    ) -> Result<()> {
        // Packed first: the parts cut runs wherever they like.
        let mut packed = memory::zeroed(target.npoints().saturating_mul(element))?;
        let dense = Space::simple(&[target.npoints()])?;
        scatter::copy(buf, source, &mut packed, &dense, element)?;
        // All places are known before the first byte is written.
        let (mut rest, mut places, mut opened) = (packed.as_slice(), Vec::new(), vec![None; self.parts.len()]);
        for run in target.runs(element)? {
            let (now, later) = rest.split_at_checked(run.len as usize).unwrap_or((rest, &[]));
            self.places(run.offset, now, &mut opened, &mut places)?;
            rest = later;
        }
        for (storage, addr, bytes) in places {
            file.writes_to(&storage);
            storage.write_vector(&[WritePart::new(addr, bytes)], file.raw_transfer())?;
        }
        Ok(())
    }

    /// Where bytes of the dataset go: files, and places in them.
    fn places<'a>(
        &self,
        start: u64,
        mut bytes: &'a [u8],
        opened: &mut Opened,
        places: &mut Vec<(Arc<dyn Driver>, u64, &'a [u8])>,
    ) -> Result<()> {
        let (mut first, mut at) = (0u64, start);
        for (part, opened) in self.parts.iter().zip(opened) {
            let end = first.saturating_add(part.size.unwrap_or(u64::MAX - first));
            if at < end && !bytes.is_empty() {
                let storage = part.opened(opened, |file| file.to_write())?;
                let count = usize::try_from(end - at).unwrap_or(usize::MAX).min(bytes.len());
                let (now, later) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
                places.push((storage.clone(), part.offset.saturating_add(at - first), now));
                at += count as u64;
                bytes = later;
            }
            first = end;
        }
        if bytes.is_empty() { Ok(()) } else { Err(too_small()) }
    }

    /// Reads bytes of the dataset; what a file does not have reads as zeros, as libhdf5 has it.
    fn read_range(&self, start: u64, mut to: &mut [u8], opened: &mut Opened, transfer: &Transfer) -> Result<()> {
        let mut first = 0u64;
        let mut at = start;
        for (part, opened) in self.parts.iter().zip(opened) {
            let size = part.size.unwrap_or(u64::MAX - first);
            let end = first.saturating_add(size);
            if at < end && !to.is_empty() {
                let count = usize::try_from(end - at).unwrap_or(usize::MAX).min(to.len());
                let Some((now, later)) = std::mem::take(&mut to).split_at_mut_checked(count) else { break };
                let storage = part.opened(opened, |file| file.to_read())?;
                read(&**storage, part.offset.saturating_add(at - first), now, transfer)?;
                at += count as u64;
                to = later;
            }
            first = end;
        }
        if to.is_empty() { Ok(()) } else { Err(too_small()) }
    }
}

fn too_small() -> Error {
    Error::Layout("the external files are smaller than the dataset".into())
}

impl ExternalPart {
    /// The file that a request has open, or opens now.
    fn opened<'a>(
        &self,
        opened: &'a mut Option<Arc<dyn Driver>>,
        open: impl FnOnce(&dyn ExternalFile) -> std::result::Result<Arc<dyn Driver>, AnyError>,
    ) -> Result<&'a Arc<dyn Driver>> {
        match opened {
            Some(known) => Ok(known),
            None => match open(&*self.file) {
                Ok(now) => Ok(opened.insert(now)),
                Err(why) => Err(Error::External { name: self.name.clone(), why }),
            },
        }
    }
}

fn read(storage: &dyn Driver, addr: u64, to: &mut [u8], transfer: &Transfer) -> Result<()> {
    let there = storage.len(transfer)?.saturating_sub(addr);
    let count = usize::try_from(there).unwrap_or(usize::MAX).min(to.len());
    let (now, beyond) = to.split_at_mut(count);
    beyond.fill(0);
    storage.read_vector(&mut [ReadPart::new(addr, now)], transfer)?;
    Ok(())
}

impl std::fmt::Debug for ExternalPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalPart").field("name", &self.name).field("offset", &self.offset).finish()
    }
}
