//! A sparse dataset becomes lists.

use super::Converter;
use super::bands::{self, PART, Part};
use super::form::Form;
use super::note::{Note, Says};
use crate::failure::Failure;
use hyperslab::dtype::{Arena, Datatype};
use hyperslab::space::{Slab, Space};
use hyperslab::{Dataset, FillValue, Group, Node, PathId, Result};

/// Where the contacts of each bin begin, in the group `indexes`.
const BIN_OFFSETS: &str = "bin1_offset";
/// The elements of a chunk of a list.
const CHUNK: u64 = 1 << 16;

/// A list that is written part by part.
struct List {
    dataset: Dataset,
    written: u64,
}

/// The lists of a form: an index for each dimension but those that offsets tell, the values, and how many elements each index of the leading dimension has.
struct Writer {
    form: Form,
    /// The dimension by which the elements are in order, and of which offsets tell.
    leading: usize,
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
    /// Makes lists of a sparse dataset: in a group in its place, which is the answer, or, where the form has the lists beside other things, in the group that it is in.
    pub(super) fn export(
        &mut self,
        path: PathId,
        form: Form,
        dataset: &Dataset,
        (to, name): (&Group, &[u8]),
    ) -> std::result::Result<Option<Group>, Failure> {
        if let FillValue::User(value) = &dataset.fill().value
            && value.iter().any(|byte| *byte != 0)
        {
            let why = format!("its fill value is not 0, and the form {} knows no other", form.name());
            return Err(self.refuse(path, why));
        }
        let note = self.at(path, Note::of(form, dataset))?;
        let group = if note.is_within { to.clone() } else { self.at(path, to.create_group(name))? };
        let offsets = if form == Form::Cooler { self.at(path, to.require_group("indexes"))? } else { group.clone() };
        let mut writer = self.at(path, Writer::new((form, note), dataset, &group, &offsets))?;
        if form == Form::Cooler {
            self.made.insert((offsets.address(), BIN_OFFSETS.into()));
        }
        if !note.is_within {
            self.attributes(path, &Node::from(dataset.clone()), &Node::from(group.clone()))?;
        }
        for band in self.at(path, bands::bands(dataset, writer.leading))? {
            let bytes = self.at(path, writer.band(dataset, band))?;
            self.show(0, bytes);
        }
        self.at(path, writer.finish())?;
        self.converted += 1;
        self.show(1, 0);
        Ok((!note.is_within).then_some(group))
    }
}

impl Writer {
    /// Makes the lists in a group, of the length that they will have; offsets of cooler are in another group.
    fn new((form, note): (Form, Note), dataset: &Dataset, group: &Group, above: &Group) -> Result<Writer> {
        let shape = dataset.shape();
        let (rows, columns) = (shape.first().copied().unwrap_or(0), shape.last().copied().unwrap_or(0));
        let count = dataset.stored_sections()?.unwrap_or_default().defined;
        let leading = usize::from(!note.by_rows);
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
                note.say(group, [rows, columns])?;
                if note.says == Says::Tenx {
                    let dims = group.new_dataset_of(signed(rows.max(columns))).shape([2]);
                    dims.create("shape")?.write(&[rows, columns])?;
                }
                let (majors, minors) = if note.by_rows { (rows, columns) } else { (columns, rows) };
                let indices = vec![(1 - leading, list(group, "indices", signed(minors), count)?)];
                (indices, list(group, "data", datatype, count)?, list(group, "indptr", signed(count), majors + 1)?)
            }
            Form::Imaged11 => {
                let height = shape.get(1).copied().unwrap_or(0);
                let kind = height.max(columns);
                group.set_attribute("itype", if kind <= 1 << 16 { "uint16" } else { "uint32" })?;
                group.set_attribute("nframes", rows as i64)?;
                group.set_attribute("shape0", height as i64)?;
                group.set_attribute("shape1", columns as i64)?;
                let indices =
                    vec![(1, list(group, "row", index(kind), count)?), (2, list(group, "col", index(kind), count)?)];
                let counts = list(group, "nnz", Datatype::of::<u32>(), rows)?;
                (indices, list(group, "intensity", datatype, count)?, counts)
            }
            Form::Cooler => {
                let bins = Datatype::of::<i64>();
                let indices = vec![
                    (0, list(group, "bin1_id", bins.clone(), count)?),
                    (1, list(group, "bin2_id", bins.clone(), count)?),
                ];
                let offsets = list(above, BIN_OFFSETS, bins, rows + 1)?;
                (indices, list(group, "count", datatype, count)?, offsets)
            }
        };
        Ok(Writer { form, leading, indices, values, offsets, pending: Vec::new(), count: 0 })
    }

    /// Writes the elements of a band; how many bytes their values have.
    fn band(&mut self, dataset: &Dataset, band: Slab) -> Result<u64> {
        let (mut row, mut bytes, mut count) = (band.start, 0, 0);
        bands::parts(dataset, self.leading, band, &mut |Part { coords, values }| {
            for coord in &coords {
                let first = coord.get(self.leading).copied().unwrap_or(row);
                while row < first {
                    self.end_row(&mut count)?;
                    row += 1;
                }
                count += 1;
            }
            for (dim, list) in &mut self.indices {
                list.append(&coords.iter().map(|coord| coord.get(*dim).copied().unwrap_or(0)).collect::<Vec<_>>())?;
            }
            bytes += values.len() as u64;
            self.values.append_stored(coords.len() as u64, dataset.datatype(), &values)
        })?;
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
