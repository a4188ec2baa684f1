//! Points by chunk. Those of chunks without filters are read from each point straight to its address, with no selection for each chunk between.

use std::ops::Range;

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

/// Points that follow each other in one chunk, by rising number there: the number of the chunk, those of the first and the last point, and which of all points they are.
type Stretch = (u64, u64, u64, Range<usize>);

/// A stretch has so many points at least, in the mean: shorter ones take as long to sort as points.
const IN_STRETCH: usize = 4;

/// Which of some points come one after the other if they are grouped by chunk, in row-major order within each, each point once: of equal ones the last.
/// The points are inside of an extent of these dimensions, whose elements 64 bits can number; `coords` has their coordinates one after the other.
pub fn group_points(dims: &[u64], chunk: &[u64], coords: &[u64]) -> Result<Vec<Range<usize>>> {
    let grid = grid_of(dims, chunk);
    let Some(mut stretches) = stretches(&grid, chunk, coords)? else { return one_by_one(dims, chunk, coords) };
    if !stretches.is_sorted_by_key(|(coord, first, ..)| (*coord, *first)) {
        stretches.sort_unstable_by_key(|(coord, first, ..)| (*coord, *first));
    }
    if !stretches.is_sorted_by(|left, right| (left.0, left.2) < (right.0, right.1)) {
        return one_by_one(dims, chunk, coords);
    }
    let mut order = memory::with_room(stretches.len())?;
    order.extend(stretches.into_iter().map(|(.., points)| points));
    Ok(order)
}

/// Points in row-major order of the dataset, or of its chunks, are few stretches. Nothing if these are many.
fn stretches(grid: &[u64], chunk: &[u64], coords: &[u64]) -> Result<Option<Vec<Stretch>>> {
    let (rank, mut made) = (chunk.len().max(1), Vec::<Stretch>::new());
    let mut corner = Coords::from_elem(u64::MAX, chunk.len());
    for (nth, point) in coords.chunks_exact(rank).enumerate() {
        // The number within the chunk of the last point, if it is the same: without a division.
        let (mut within, mut is_here) = (0u64, true);
        for (index, (corner, size)) in point.iter().zip(corner.iter().zip(chunk)) {
            let further = index.wrapping_sub(*corner);
            is_here &= further < *size;
            within = within.wrapping_mul(*size).wrapping_add(further);
        }
        match made.last_mut().filter(|(_, _, last, _)| is_here && *last < within) {
            Some((_, _, last, points)) => (*last, points.end) = (within, nth + 1),
            None => {
                if made.len() > SORTED.max(nth / IN_STRETCH) {
                    return Ok(None);
                }
                let (coord, within) = locate(point, chunk, grid);
                corner
                    .iter_mut()
                    .zip(point.iter().zip(chunk))
                    .for_each(|(at, (index, size))| *at = index - index % size);
                memory::reserve(&mut made, 1)?;
                made.push((coord, within, within, nth..nth + 1));
            }
        }
    }
    Ok(Some(made))
}

/// As [`group_points`], for points in any order.
fn one_by_one(dims: &[u64], chunk: &[u64], coords: &[u64]) -> Result<Vec<Range<usize>>> {
    let (grid, rank) = (grid_of(dims, chunk), dims.len().max(1));
    let mut points: Vec<Point> = memory::with_room(coords.len() / rank)?;
    for (nth, point) in coords.chunks_exact(rank).enumerate() {
        let (coord, within) = locate(point, chunk, &grid);
        points.push((coord, within, nth));
    }
    if !points.is_sorted() {
        sort(&mut points)?;
    }
    let mut order: Vec<Range<usize>> = memory::with_room(points.len())?;
    let equal = |left: &Point, right: &Point| (left.0, left.1) == (right.0, right.1);
    for point in points.chunk_by(equal).filter_map(|equal| equal.last()) {
        match order.last_mut() {
            Some(last) if last.end == point.2 => last.end += 1,
            _ => order.push(point.2..point.2 + 1),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_any_order_are_grouped_alike() {
        let (dims, chunk) = ([7, 9], [3, 4]);
        for count in [0, 1, 5, 40, 63, 200] {
            for order in 0..4 {
                let mut numbers: Vec<u64> = (0..count).map(|nth| nth * [1, 5, 62, 31][order] % 63).collect();
                if count <= 63 && order == 1 {
                    numbers.sort_unstable();
                }
                let coords: Vec<u64> = numbers.iter().flat_map(|number| [number / 9, number % 9]).collect();
                let grouped = group_points(&dims, &chunk, &coords).unwrap();
                let grouped: Vec<usize> = grouped.into_iter().flatten().collect();
                let singly = one_by_one(&dims, &chunk, &coords).unwrap();
                assert_eq!(grouped, singly.into_iter().flatten().collect::<Vec<_>>());
                let key = |nth: &usize| locate(&coords[2 * nth..2 * nth + 2], &chunk, &grid_of(&dims, &chunk));
                assert!(grouped.is_sorted_by(|left, right| key(left) < key(right)));
            }
        }
    }
}
