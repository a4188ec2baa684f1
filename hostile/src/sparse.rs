//! Files with one sparse chunk, whose sections are given.

use std::sync::Arc;

use hyperslab::{
    LibVersion, OpenOptions, Result, Storable,
    driver::{Driver, Memory, Transfer},
};
use hyperslab_base::lookup3;
use hyperslab_file::HeaderEdit;
use hyperslab_format::{
    Section, Sections,
    message::{ChunkIndex, DataLayout, Layout, kind},
};

/// The name of the dataset.
const NAME: &str = "sparse";
/// Its extent, which is that of its chunk.
const SIDES: [u64; 2] = [20, 30];

/// A file with one sparse chunk of 20 × 30 elements of two bytes. The selection gets the checksum that section 0 ends with.
///
/// ```
/// use hyperslab::space::{Form, Space};
/// let selection = Space::simple(&[20, 30])?.encode(Form::Smallest)?;
/// let report = hyperslab_hostile::walk(hyperslab_hostile::sparse_file(&selection, &[0; 1200])?);
/// assert!(report.errors.is_empty() && report.reads > 0, "{report:?}");
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub fn sparse_file(selection: &[u8], values: &[u8]) -> Result<Vec<u8>> {
    let checked = [selection, &lookup3(selection).to_le_bytes()].concat();
    with_chunk::<u16>(&[checked, values.to_vec()])
}

/// A file with one sparse chunk of 20 × 30 sequences of bytes: the selection, the slots that say where sequences are, and what they name. Each section gets its checksum.
///
/// ```
/// use hyperslab::space::{Form, Space};
/// let selection = Space::simple(&[20, 30])?.encode(Form::Smallest)?;
/// // All sequences are null; four bytes count what is unused of the last section.
/// let report = hyperslab_hostile::walk(hyperslab_hostile::sparse_vlen_file(&selection, &[0; 9600], &[0; 4])?);
/// assert!(report.errors.is_empty() && report.reads > 0, "{report:?}");
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub fn sparse_vlen_file(selection: &[u8], slots: &[u8], segments: &[u8]) -> Result<Vec<u8>> {
    let checked = |section: &[u8]| [section, &lookup3(section).to_le_bytes()].concat();
    with_chunk::<Vec<u8>>(&[checked(selection), checked(slots), checked(segments)])
}

/// A file with one chunk that has these sections, of values of a type.
fn with_chunk<T: Storable>(stored: &[Vec<u8>]) -> Result<Vec<u8>> {
    let (storage, address) = empty::<T>()?;
    let options = hyperslab_file::OpenOptions::default();
    let file = hyperslab_file::OpenFile::open_writable(storage.clone(), &options, LibVersion::V110)?;
    let section = |bytes: &Vec<u8>| Section { size: bytes.len() as u64, ..Section::default() };
    let sections: Vec<_> = stored.iter().map(section).collect();
    let chunk = file.store_raw("chunk", &stored.concat())?;
    let mut header = HeaderEdit::open(&file, address)?;
    if let Some(id) = header.find(kind::DATA_LAYOUT) {
        let mut message =
            DataLayout::decode(header.body(id), file.widths()).map_err(hyperslab_file::Error::at(address))?;
        if let Layout::Chunked { index, address, .. } = &mut message.layout {
            (*index, *address) = (ChunkIndex::Single(Sections::new(&sections)), Some(chunk));
        }
        header.replace(id, message.encode(file.widths()).map_err(hyperslab_file::Error::from)?)?;
    }
    header.save()?;
    file.close()?;
    let mut bytes = vec![0; storage.len(&Transfer::default())? as usize];
    storage.read_at(0, &mut bytes, &Transfer::default())?;
    Ok(bytes)
}

/// A file without values, and the address of its dataset.
fn empty<T: Storable>() -> Result<(Arc<Memory>, u64)> {
    let storage = Arc::new(Memory::new());
    let file = OpenOptions::new().libver_min(LibVersion::V110).create_new().open_on(storage.clone())?;
    let dataset = file.root()?.new_dataset::<T>().shape(SIDES).chunks(SIDES).sparse().create(NAME)?;
    let address = dataset.address();
    drop(dataset);
    file.close()?;
    Ok((storage, address))
}
