//! Values in memory before they are summed: their bytes, and how many these are.

use hyperslab::{
    Dataset,
    dtype::{Arena, Datatype},
    space::Space,
};

/// The selected values one after the other, their variable-length parts in `arena`.
pub(super) fn in_arena(dataset: &Dataset, selection: &Space, arena: &mut Arena) -> hyperslab::Result<Vec<u8>> {
    let (datatype, count) = (dataset.memory_datatype()?, selection.npoints());
    let bytes = count.saturating_mul(datatype.size() as u64);
    let mut buf = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
    dataset.read_converted(selection, &datatype, &Space::simple(&[count])?, &mut buf, arena)?;
    Ok(buf)
}

/// What a value takes in libhdf5's memory, which is what the cap counts.
pub(super) fn in_memory(datatype: &Datatype) -> u64 {
    use hyperslab::dtype::{Class, Reference};
    match datatype.class() {
        Class::Vlen(vlen) if vlen.text.is_some() => 8,
        Class::Vlen(_) => 16,
        Class::Reference(Reference::Revised(_)) => 64,
        Class::Array(array) => in_memory(array.base()).saturating_mul(array.elements() as u64),
        Class::Compound(compound) if datatype.has_vlen() || datatype.has_reference() => {
            compound.members().iter().map(|member| in_memory(&member.datatype)).sum()
        }
        _ => datatype.size() as u64,
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
