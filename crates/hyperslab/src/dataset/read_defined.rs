//! Reading what is defined: elements and their values.

use hyperslab_base::memory;
use hyperslab_dtype::{Arena, Datatype};
use hyperslab_element::Reading;
use hyperslab_space::{ElementRuns, Space};

use super::Dataset;
use crate::{Element, Error, Result};

impl Dataset {
    /// The selected elements that are [defined](Dataset::defined), each once, and their values, both in row-major order. Each chunk is looked at once, and no write comes between
    /// an element and its value: what was defined throughout the call has a value that was written, never the fill value in its place.
    ///
    /// ```
    /// # let file = hyperslab::File::create_on(std::sync::Arc::new(hyperslab::driver::Memory::new()))?;
    /// let new = file.root()?.new_dataset::<u16>().shape([100, 1000]).chunks([10, 100]).sparse();
    /// let hits = new.create("hits")?;
    /// hits.write_coords(&[99, 999, 0, 5, 0, 6], &[3, 1, 2])?;
    /// let (elements, values) = hits.read_defined::<f64>(&hits.space())?;
    /// assert_eq!(values, [1.0, 2.0, 3.0]);
    /// assert_eq!(elements.coords()?, [0, 5, 0, 6, 99, 999]);
    /// assert_eq!(elements.to_space()?, hits.defined(&hits.space())?);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn read_defined<T: Element>(&self, selection: &Space) -> Result<(ElementRuns, Vec<T>)> {
        let reading = Reading::<T>::new(self.readable()?.as_ref())?;
        let mut values: Vec<T> = Vec::new();
        let mut take = |part: Vec<T>| -> Result<()> {
            if values.is_empty() {
                values = part;
                return Ok(());
            }
            memory::reserve(&mut values, part.len())?;
            values.extend(part);
            Ok(())
        };
        let elements = if self.has_many_heaps() {
            let mut arena = Arena::default();
            let (elements, gathered) = self.open.read_defined(selection, self.readable()?.as_ref(), &mut arena)?;
            reading.decode_gathered(&arena, &gathered, &mut take)?;
            elements
        } else if let (true, Some(datatype)) = (self.open.is_virtual() && Reading::<T>::is_plain(), reading.memory()) {
            // The sources of a virtual dataset may know more than its own type holds.
            let (elements, bytes) = self.open.read_defined(selection, datatype, &mut Arena::default())?;
            let room = || Error::Memory { values: elements.len(), size: size_of::<T>() as u64 };
            let count = usize::try_from(elements.len()).map_err(|_| room())?;
            let mut part = T::zeros(count).ok_or_else(room)?;
            let places = T::as_bytes(&mut part).unwrap_or_default();
            places.iter_mut().zip(&bytes).for_each(|(place, byte)| *place = *byte);
            take(part)?;
            elements
        } else {
            let session = self.session();
            self.open.defined_in_order(selection, &mut |stored| take(reading.values(session, stored)?))?
        };
        Ok((elements, values))
    }

    /// As [`Dataset::read_defined`], with values converted to `datatype`, one after the other. What is of variable length goes to `arena`; `datatype` says so if it is
    /// [in memory](Datatype::in_memory).
    pub fn read_defined_converted(
        &self,
        selection: &Space,
        datatype: &Datatype,
        arena: &mut Arena,
    ) -> Result<(ElementRuns, Vec<u8>)> {
        self.open.read_defined(selection, datatype, arena)
    }
}
