//! Elements as lists: of coordinates and of values, read some at a time.

use super::numbers::{self, Numbers};
use hyperslab::space::Space;
use hyperslab::{Dataset, Result};

/// So many elements are read at once, and so many offsets.
const PART: u64 = 1 << 17;

/// The elements of a sparse array, one after the other.
pub(super) struct Lists {
    pub(super) dims: Vec<u64>,
    /// For each dimension.
    coordinates: Vec<Coordinate>,
    pub(super) values: Dataset,
    /// How many elements were read.
    read: u64,
}

/// Where the indices of one dimension are.
pub(super) enum Coordinate {
    /// One for each element.
    List(&'static str, Dataset),
    /// Elements of one index lie one after the other.
    Ranges(Offsets),
}

/// Where the elements of each index end.
pub(super) struct Offsets {
    name: &'static str,
    dataset: Dataset,
    /// Whether the dataset has the number of elements of each index, and not where they begin.
    counts: bool,
    /// The part of the dataset that was read last, and where it begins.
    part: Vec<u64>,
    first: u64,
    /// The index that comes next, and where the elements of that before it end.
    next: u64,
    end: u64,
    /// Whether one ends before it begins.
    falls: bool,
    /// Which number of the dataset is no offset and no count, once it was read.
    wrong: Option<String>,
}

/// Some elements.
pub(super) struct Part {
    /// The coordinates of all elements, one after the other.
    pub(super) coords: Vec<u64>,
    /// Their values as they are stored.
    pub(super) values: Vec<u8>,
}

impl Lists {
    /// Why not, if lists are not equally long.
    pub(super) fn new(
        dims: Vec<u64>,
        coordinates: Vec<Coordinate>,
        values: Dataset,
    ) -> std::result::Result<Lists, String> {
        for coordinate in &coordinates {
            if let Coordinate::List(_, list) = coordinate
                && (list.rank(), list.len()) != (1, values.len())
            {
                return Err(format!("{} indices for {} values", list.len(), values.len()));
            }
        }
        Ok(Lists { dims, coordinates, values, read: 0 })
    }

    /// How many elements there are.
    pub(super) fn len(&self) -> u64 {
        self.values.len()
    }

    /// The dimension whose indices follow each other: that which has offsets, or the first.
    pub(super) fn leading(&self) -> usize {
        self.coordinates.iter().position(|coordinate| matches!(coordinate, Coordinate::Ranges(_))).unwrap_or(0)
    }

    /// The next elements, nothing if all were read; why not, if a number is no index.
    pub(super) fn next(&mut self) -> Result<std::result::Result<Option<Part>, String>> {
        let (start, end) = (self.read, self.len().min(self.read + PART));
        if start == end {
            return Ok(Ok(None));
        }
        let rank = self.coordinates.len();
        let mut coords = vec![0; (end - start) as usize * rank];
        for (dim, coordinate) in self.coordinates.iter_mut().enumerate() {
            let indices = match coordinate {
                Coordinate::List(name, list) => numbers::of_list(name, list, start..end)?,
                Coordinate::Ranges(offsets) => offsets.indices(start, end)?,
            };
            let indices = match indices {
                Ok(indices) => indices,
                Err(why) => return Ok(Err(why)),
            };
            coords.iter_mut().skip(dim).step_by(rank).zip(indices).for_each(|(to, index)| *to = index);
        }
        let values = self.values.read_stored_selection(self.values.slice(start..end)?.selection())?;
        self.read = end;
        Ok(Ok(Some(Part { coords, values })))
    }

    /// What is wrong with the lists, when all elements were read.
    pub(super) fn contradiction(&mut self) -> Result<Option<String>> {
        let elements = self.len();
        for coordinate in &mut self.coordinates {
            if let Coordinate::Ranges(offsets) = coordinate
                && let Some(why) = offsets.contradiction(elements)?
            {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }
}

impl Offsets {
    /// Where the elements of each index begin, and behind that where the last ones end.
    pub(super) fn ends(name: &'static str, dataset: Dataset) -> Offsets {
        let (part, wrong) = (Vec::new(), None);
        Offsets { name, dataset, counts: false, part, first: 0, next: 0, end: 0, falls: false, wrong }
    }

    /// How many elements each index has.
    pub(super) fn counts(name: &'static str, dataset: Dataset) -> Offsets {
        Offsets { counts: true, ..Offsets::ends(name, dataset) }
    }

    /// How many indices there are.
    fn len(&self) -> u64 {
        self.dataset.len().saturating_sub(u64::from(!self.counts))
    }

    /// The index of each element in a range; ranges follow each other. Elements behind those of the last index have an index beyond it.
    fn indices(&mut self, start: u64, end: u64) -> Result<Numbers> {
        let mut indices = Vec::with_capacity((end - start) as usize);
        let mut at = start;
        while at < end {
            while self.end <= at && self.next < self.len() {
                self.step()?;
            }
            let (index, until) = if self.end <= at { (self.len(), end) } else { (self.next - 1, self.end.min(end)) };
            indices.resize(indices.len() + (until - at) as usize, index);
            at = until;
        }
        Ok(self.wrong.clone().map_or(Ok(indices), Err))
    }

    /// Goes on to the next index.
    fn step(&mut self) -> Result<()> {
        let before = self.end;
        self.end = match self.counts {
            true => before.saturating_add(self.get(self.next)?),
            false => self.get(self.next + 1)?,
        };
        self.falls |= self.end < before;
        self.next += 1;
        Ok(())
    }

    /// Why they are wrong for so many elements, when all elements were read.
    fn contradiction(&mut self, elements: u64) -> Result<Option<String>> {
        while self.next < self.len() {
            self.step()?;
        }
        let begins = if self.counts { 0 } else { self.get(0)? };
        if self.wrong.is_some() {
            return Ok(self.wrong.clone());
        }
        Ok(match self.falls || begins != 0 {
            true => Some("its offsets do not rise from 0".to_owned()),
            false if self.end == elements => None,
            false => Some(format!("its offsets are for {} elements, but there are {elements}", self.end)),
        })
    }

    /// A number of the dataset; 0 if it is none.
    fn get(&mut self, number: u64) -> Result<u64> {
        if self.wrong.is_some() {
            return Ok(0);
        }
        if number < self.first || number - self.first >= self.part.len() as u64 {
            let range = number..self.dataset.len().min(number + PART);
            (self.first, self.part) = match numbers::of_list(self.name, &self.dataset, range)? {
                Ok(part) => (number, part),
                Err(why) => {
                    self.wrong = Some(why);
                    return Ok(0);
                }
            };
        }
        Ok(self.part.get((number - self.first) as usize).copied().unwrap_or(0))
    }
}

impl Part {
    /// The places of the elements in an array.
    pub(super) fn places(&self, mut space: Space) -> Result<Space> {
        space.select_points(&self.coords)?;
        Ok(space)
    }
}
