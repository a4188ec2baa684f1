//! A sparse dataset becomes lists.

use super::Converter;
use super::form::Form;
use crate::failure::Failure;
use crate::sparse::cut;
use hyperslab::dtype::{Arena, Datatype};
use hyperslab::space::{Op, Slab, Space};
use hyperslab::{Dataset, FillValue, Group, Layout, Node, PathId, Result};

/// So many elements are read at once.
const PART: u64 = 1 << 17;
/// The elements of a chunk of a list.
const CHUNK: u64 = 1 << 16;

/// A list that is written part by part.
struct List {
    dataset: Dataset,
    written: u64,
}

/// The lists of a form: an index for each dimension but those that offsets tell, the values, and how many elements each first index has.
struct Writer {
    form: Form,
    /// With the dimension that each is of.
    indices: Vec<(usize, List)>,
    values: List,
    offsets: List,
    /// Offsets or counts that are not written yet.
    pending: Vec<u64>,
    /// How many elements came before.
    count: u64,
}

impl Converter<'_> {
    /// Makes lists of a sparse dataset: in a group in its place, or, where the form has the lists beside other things, in the group that it is in.
    pub(super) fn export(
        &mut self,
        path: PathId,
        form: Form,
        dataset: &Dataset,
        (to, name): (&Group, &[u8]),
    ) -> std::result::Result<(), Failure> {
        if let FillValue::User(value) = &dataset.fill().value
            && value.iter().any(|byte| *byte != 0)
        {
            let why = format!("its fill value is not 0, and the form {} knows no other", form.name());
            return Err(self.refuse(path, why));
        }
        let made = Writer::new(form, dataset, to, name);
        let (mut writer, group) = self.at(path, made)?;
        if form != Form::Imaged11 {
            self.attributes(path, &Node::from(dataset.clone()), &Node::from(group))?;
        }
        let bands = self.at(path, bands(dataset))?;
        for band in bands {
            let done = writer.band(dataset, &band);
            let bytes = self.at(path, done)?;
            self.show(0, bytes);
        }
        let done = writer.finish();
        self.at(path, done)?;
        self.converted += 1;
        self.show(1, 0);
        Ok(())
    }
}

/// Ranges of the first dimension that are no higher than chunks, and have about as many elements as are read at once.
fn bands(dataset: &Dataset) -> Result<impl Iterator<Item = Slab>> {
    let (rows, height) = match dataset.layout()? {
        Layout::Chunked { chunk, .. } => (dataset.shape().first().copied(), chunk.first().copied()),
        _ => (None, None),
    };
    let (rows, defined) = (rows.unwrap_or(0), dataset.stored_sections()?.unwrap_or_default().defined);
    let fits = u128::from(PART) * u128::from(rows) / u128::from(defined.max(1));
    let height = u64::try_from(fits).unwrap_or(u64::MAX).min(height.unwrap_or(1)).max(1);
    Ok((0..rows.div_ceil(height)).map(move |nth| Slab::block(nth * height, height.min(rows - nth * height))))
}

impl Writer {
    /// Makes the lists, of the length that they will have; and the group that stands for the dataset.
    fn new(form: Form, dataset: &Dataset, to: &Group, name: &[u8]) -> Result<(Writer, Group)> {
        let shape = dataset.shape();
        let (rows, columns) = (shape.first().copied().unwrap_or(0), shape.last().copied().unwrap_or(0));
        let count = dataset.stored_sections()?.unwrap_or_default().defined;
        let group = if form == Form::Imaged11 { to.clone() } else { to.create_group(name)? };
        let list = |group: &Group, name: &str, datatype: Datatype, length: u64| {
            let new = group.new_dataset_of(datatype).shape([length]);
            let new = if length > 0 { new.chunks([length.min(CHUNK)]).shuffle().deflate(4) } else { new };
            Ok::<_, hyperslab::Error>(List { dataset: new.create(name)?, written: 0 })
        };
        let signed =
            |most: u64| if i32::try_from(most).is_ok() { Datatype::of::<i32>() } else { Datatype::of::<i64>() };
        let index = |most: u64| if most <= 1 << 16 { Datatype::of::<u16>() } else { Datatype::of::<u32>() };
        let datatype = dataset.datatype().clone();
        let (indices, values, offsets) = match form {
            Form::CsrGroup => {
                group.set_attribute("encoding-type", "csr_matrix")?;
                group.set_attribute("encoding-version", "0.1.0")?;
                group.set_attribute_values("shape", &[rows as i64, columns as i64])?;
                let indices = vec![(1, list(&group, "indices", signed(columns), count)?)];
                (indices, list(&group, "data", datatype, count)?, list(&group, "indptr", signed(count), rows + 1)?)
            }
            Form::Imaged11 => {
                let height = shape.get(1).copied().unwrap_or(0);
                let kind = height.max(columns);
                group.set_attribute("itype", if kind <= 1 << 16 { "uint16" } else { "uint32" })?;
                group.set_attribute("nframes", rows as i64)?;
                group.set_attribute("shape0", height as i64)?;
                group.set_attribute("shape1", columns as i64)?;
                let indices =
                    vec![(1, list(&group, "row", index(kind), count)?), (2, list(&group, "col", index(kind), count)?)];
                let counts = list(&group, "nnz", Datatype::of::<u32>(), rows)?;
                (indices, list(&group, "intensity", datatype, count)?, counts)
            }
            Form::Cooler => {
                let bins = Datatype::of::<i64>();
                let indices = vec![
                    (0, list(&group, "bin1_id", bins.clone(), count)?),
                    (1, list(&group, "bin2_id", bins.clone(), count)?),
                ];
                let offsets = list(&to.require_group("indexes")?, "bin1_offset", bins, rows + 1)?;
                (indices, list(&group, "count", datatype, count)?, offsets)
            }
        };
        Ok((Writer { form, indices, values, offsets, pending: Vec::new(), count: 0 }, group))
    }

    /// Writes the elements of a band; how many bytes their values have.
    fn band(&mut self, dataset: &Dataset, band: &Slab) -> Result<u64> {
        let mut whole = dataset.space();
        let others = dataset.shape().into_iter().skip(1).map(|dim| Slab::block(0, dim));
        whole.select_hyperslab(Op::Set, &std::iter::once(*band).chain(others).collect::<Vec<_>>())?;
        let (mut row, mut bytes, mut count) = (band.start, 0, 0);
        for part in cut(dataset.defined(&whole)?, PART)? {
            let coords: Vec<_> = part.coords()?.collect();
            for coord in &coords {
                let first = coord.first().copied().unwrap_or(row);
                while row < first {
                    self.end_row(&mut count)?;
                    row += 1;
                }
                count += 1;
            }
            for (dim, list) in &mut self.indices {
                list.append(&coords.iter().map(|coord| coord.get(*dim).copied().unwrap_or(0)).collect::<Vec<_>>())?;
            }
            let values = dataset.read_stored_selection(&part)?;
            bytes += values.len() as u64;
            self.values.append_stored(coords.len() as u64, dataset.datatype(), &values)?;
        }
        while row < band.start + band.block {
            self.end_row(&mut count)?;
            row += 1;
        }
        Ok(bytes)
    }

    /// Notes how many elements a row has, or where it begins.
    fn end_row(&mut self, count: &mut u64) -> Result<()> {
        self.pending.push(if self.form == Form::Imaged11 { *count } else { self.count });
        self.count += std::mem::take(count);
        if self.pending.len() as u64 >= PART { self.offsets.append(&std::mem::take(&mut self.pending)) } else { Ok(()) }
    }

    fn finish(mut self) -> Result<()> {
        if self.form != Form::Imaged11 {
            self.pending.push(self.count);
        }
        self.offsets.append(&self.pending)
    }
}

impl List {
    fn append(&mut self, numbers: &[u64]) -> Result<()> {
        let start = self.written;
        self.written += numbers.len() as u64;
        if numbers.is_empty() { Ok(()) } else { self.dataset.write_slice(start..self.written, numbers) }
    }

    fn append_stored(&mut self, count: u64, datatype: &Datatype, bytes: &[u8]) -> Result<()> {
        let start = self.written;
        self.written += count;
        let selection = self.dataset.slice(start..self.written)?;
        self.dataset.write_converted(
            selection.selection(),
            datatype,
            &Space::simple(&[count])?,
            bytes,
            &Arena::default(),
        )
    }
}
