//! Points by chunk. Those of chunks without filters are read from each point straight to its address, with no selection for each chunk between.

use hyperslab_base::memory;
use hyperslab_driver::cores;
use hyperslab_file::OpenFile;
use hyperslab_space::{Coords, Space};

use crate::{Chunked, Result, transfer::scatter};

/// The most parts of a vector request.
const PARTS: usize = 1 << 16;
/// Points that one core sorts sooner than it shares them.
const SORTED: usize = 1 << 12;

/// A point: the number of its chunk in the grid, its row-major number or its byte there, and which of all points it is. Sorted, the points of a chunk are together
/// and in the order of the file.
type Point = (u64, u64, usize);

/// How many chunks there are in each dimension. There are no more than elements, whose number must fit 64 bits.
fn grid_of(dims: &[u64], chunk: &[u64]) -> Coords {
    dims.iter().zip(chunk).map(|(dim, size)| dim.div_ceil((*size).max(1))).collect()
}

/// Where a point is: the number of its chunk, and its own there.
fn locate(point: &[u64], chunk: &[u64], grid: &[u64]) -> (u64, u64) {
    let (mut coord, mut within) = (0u64, 0u64);
    for (index, (size, count)) in point.iter().zip(chunk.iter().zip(grid)) {
        coord = coord * count + index / size;
        within = within * size + index % size;
    }
    (coord, within)
}

/// Which of some points come one after the other if they are grouped by chunk, in row-major order within each, each point once: of equal ones the last.
/// The points are inside of an extent of these dimensions, whose elements 64 bits can number; `coords` has their coordinates one after the other.
pub fn group_points(dims: &[u64], chunk: &[u64], coords: &[u64]) -> Result<Vec<usize>> {
    let (grid, rank) = (grid_of(dims, chunk), dims.len().max(1));
    let mut points: Vec<Point> = memory::with_room(coords.len() / rank)?;
    for (nth, point) in coords.chunks_exact(rank).enumerate() {
        let (coord, within) = locate(point, chunk, &grid);
        points.push((coord, within, nth));
    }
    if !points.is_sorted() {
        sort(&mut points)?;
    }
    let mut order = memory::with_room(points.len())?;
    let equal = |left: &Point, right: &Point| (left.0, left.1) == (right.0, right.1);
    order.extend(points.chunk_by(equal).filter_map(|equal| equal.last()).map(|point| point.2));
    Ok(order)
}

/// Sorts parts of the points on all cores, and then all: a sort that finds sorted parts merges them.
fn sort(points: &mut [Point]) -> Result<()> {
    let part = points.len().div_ceil(cores::count()).max(SORTED);
    cores::map(points.chunks_mut(part).collect(), |_: &mut (), part| -> Result<()> {
        part.sort_unstable();
        Ok(())
    })?;
    if part < points.len() {
        points.sort();
    }
    Ok(())
}

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
        let grid = grid_of(source.dims(), chunk);
        let mut points: Vec<Point> = memory::with_room(buf.len() / usize::try_from(element).unwrap_or(1).max(1))?;
        for (nth, point) in source.coords()?.enumerate() {
            let (coord, within) = locate(&point, chunk, &grid);
            points.push((coord, within * element, nth));
        }
        sort(&mut points)?;
        let addresses = self.addresses(file, &points, &grid)?;
        let size = usize::try_from(element).unwrap_or(usize::MAX);
        let mut places: Vec<&mut [u8]> = memory::with_room(buf.len() / size.max(1))?;
        places.extend(buf.chunks_exact_mut(size.max(1)));
        let mut parts = Vec::with_capacity(points.len().min(PARTS));
        for (together, address) in points.chunk_by(|left, right| left.0 == right.0).zip(addresses) {
            for &(_, offset, nth) in together {
                let Some(place) = places.get_mut(nth).map(std::mem::take) else { continue };
                match address {
                    Some(address) => parts.push((address + offset, place)),
                    None => scatter::fill(fill, place, &Space::scalar(), element)?,
                }
                if parts.len() == PARTS {
                    file.read_raw("chunk", std::mem::take(&mut parts))?;
                }
            }
        }
        if !parts.is_empty() {
            file.read_raw("chunk", parts)?;
        }
        Ok(())
    }

    /// Where the chunks of sorted points are.
    fn addresses(&self, file: &OpenFile, points: &[Point], grid: &[u64]) -> Result<Vec<Option<u64>>> {
        let mut coords: Vec<Coords> = Vec::new();
        for together in points.chunk_by(|left, right| left.0 == right.0) {
            let mut number = together.first().map_or(0, |point| point.0);
            let mut coord = Coords::from_elem(0, grid.len());
            for (index, count) in coord.iter_mut().zip(grid).rev() {
                (*index, number) = (number % count, number / count);
            }
            coords.push(coord);
        }
        let mut addresses = Vec::with_capacity(coords.len());
        for entry in self.index.find_all(file, &coords, self.chunk())? {
            let address = entry.and_then(|entry| entry.address);
            if let Some(address) = address {
                file.check("chunk", address, self.bytes() as u64)?;
            }
            addresses.push(address);
        }
        Ok(addresses)
    }
}
