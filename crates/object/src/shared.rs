//! Messages that are somewhere else: in the heap of shared messages, or in the header of a committed datatype.

use hyperslab_file::{Error, Header, Owner, Result};
use hyperslab_format::message::{Shared, kind};
use hyperslab_structures::FractalHeap;

use crate::{Context, shared_blocks::SharedTable};

/// Opens the heaps that the table of shared messages names.
pub(crate) fn open_heaps(context: &Context) -> Result<Vec<(u16, FractalHeap)>> {
    let file = context.file();
    let Some((address, indexes)) = file.shared_table().and_then(|shared| Some((shared.table?, shared.indexes))) else {
        return Ok(Vec::new());
    };
    let table = file.load_once(&SharedTable(indexes), address)?;
    let with_heap = table.into_iter().filter_map(|index| Some((index.types, index.heap?)));
    with_heap.map(|(types, heap)| Ok((types, context.heap(Owner::FILE, heap)?))).collect()
}

/// The message of type `wanted` with this id in the heap of shared messages.
pub(crate) fn from_heap(context: &Context, wanted: u16, id: &[u8], address: u64) -> Result<Vec<u8>> {
    let heap = context.shared_heaps()?.iter().find(|(types, _)| types & (1 << wanted) != 0);
    let missing = || Error::broken("shared message", address, "the file has no heap for messages of this type");
    let (_, heap) = heap.ok_or_else(missing)?;
    heap.get(context.file(), id)
}

/// The message of type `wanted` that the shared message `bytes` at `address` stands for. The address of the committed
/// datatype comes with it, if it is one.
pub(crate) fn resolve(context: &Context, wanted: u16, bytes: &[u8], address: u64) -> Result<(Vec<u8>, Option<u64>)> {
    let (shared, _) = Shared::decode(bytes, context.file().widths()).map_err(Error::at(address))?;
    match shared {
        Shared::Heap(id) => Ok((from_heap(context, wanted, &id, address)?, None)),
        Shared::Committed(committed) => {
            let header = Header::read(context.file(), committed)?;
            let message = header.find(wanted).filter(|message| !message.flags.is_shared());
            let missing = || Error::broken("shared message", address, format!("no such message at {committed:#x}"));
            let body = header.body(message.ok_or_else(missing)?).to_vec();
            Ok((body, (wanted == kind::DATATYPE).then_some(committed)))
        }
    }
}
