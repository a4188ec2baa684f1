//! Points of chunks without filters: from each point straight to its address, with no selection for each chunk between.

use std::collections::HashMap;

use hyperslab_file::OpenFile;
use hyperslab_space::{Coords, Space};

use crate::{Chunked, Result, scatter};

/// The most parts of a vector request.
const PARTS: usize = 1 << 16;

impl Chunked {
    /// Reads the points of `source` one after the other into `buf`.
    pub(crate) fn read_points(
        &self,
        file: &OpenFile,
        source: &Space,
        buf: &mut [u8],
        fill: Option<&[u8]>,
    ) -> Result<()> {
        let (chunk, element) = (self.chunk(), self.element());
        let mut homes: HashMap<Coords, usize> = HashMap::new();
        let mut points = Vec::with_capacity(usize::try_from(source.npoints()).unwrap_or(0).min(PARTS));
        for point in source.coords()? {
            let home: Coords = point.iter().zip(chunk).map(|(index, size)| index / size).collect();
            let within = point.iter().zip(chunk).fold(0u64, |at, (index, size)| at * size + index % size);
            let next = homes.len();
            points.push((*homes.entry(home).or_insert(next), within * element));
        }
        let addresses = self.addresses(file, homes)?;
        let size = usize::try_from(element).unwrap_or(usize::MAX);
        let mut parts = Vec::with_capacity(points.len().min(PARTS));
        for ((home, offset), place) in points.into_iter().zip(buf.chunks_exact_mut(size.max(1))) {
            match addresses.get(home).copied().flatten() {
                Some(address) => parts.push((address + offset, place)),
                None => scatter::fill(fill, place, &Space::scalar(), element)?,
            }
            if parts.len() == PARTS {
                file.read_raw("chunk", std::mem::take(&mut parts))?;
            }
        }
        if !parts.is_empty() {
            file.read_raw("chunk", parts)?;
        }
        Ok(())
    }

    /// Where chunks are, by the numbers that they have here.
    fn addresses(&self, file: &OpenFile, homes: HashMap<Coords, usize>) -> Result<Vec<Option<u64>>> {
        let mut addresses = vec![None; homes.len()];
        let mut homes: Vec<(Coords, usize)> = homes.into_iter().collect();
        homes.sort_unstable();
        let (places, numbers): (Vec<Coords>, Vec<usize>) = homes.into_iter().unzip();
        for (number, entry) in numbers.into_iter().zip(self.index.find_all(file, &places, self.chunk())?) {
            let address = entry.and_then(|entry| entry.address);
            if let Some(address) = address {
                file.check("chunk", address, self.bytes() as u64)?;
            }
            if let Some(place) = addresses.get_mut(number) {
                *place = address;
            }
        }
        Ok(addresses)
    }
}
