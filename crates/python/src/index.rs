//! What an index means: integers, slices, lists and masks become a selection, by h5py's rules.

use hyperslab::space::{Block, Op, Slab, Space};
use numpy::{PyArrayDescrMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};

use crate::array::{contents, private};
use crate::engine::detached;
use crate::error::of_space;

/// Selected elements, and the shape of the array that they make.
pub(crate) struct Picked {
    pub(crate) space: Space,
    pub(crate) shape: Vec<usize>,
}

/// What an index does with one dimension.
enum Axis {
    /// One index; the dimension goes away.
    One(u64),
    /// Indices at equal distances.
    Steps { start: u64, step: u64, count: u64 },
    /// These indices, increasing.
    List(Vec<u64>),
}

/// The elements of `space` that the arguments of `[]` name.
pub(crate) fn pick(space: Space, arguments: &Bound<'_, PyTuple>) -> PyResult<Picked> {
    if let Ok(mask) = arguments.get_item(0)
        && arguments.len() == 1
        && let Some(picked) = whole_mask(&space, &mask)?
    {
        return Ok(picked);
    }
    let axes = axes(space.dims(), arguments)?;
    let shape: Vec<usize> = axes.iter().filter_map(Axis::length).collect();
    let mut space = space;
    if arguments.is_empty() || axes.is_empty() {
        space.select_all();
    } else if axes.iter().any(|axis| axis.indices() == 0) {
        space.select_none();
    } else {
        select(&mut space, &axes).map_err(of_space)?;
    }
    Ok(Picked { space, shape })
}

/// What each argument does, in the order of h5py's complaints.
fn axes(dims: &[u64], arguments: &Bound<'_, PyTuple>) -> PyResult<Vec<Axis>> {
    let rank = dims.len();
    let is_ellipsis = |argument: &Bound<'_, PyAny>| argument.is(PyEllipsis::get(argument.py()));
    let dots = arguments.iter().filter(is_ellipsis).count();
    let given = arguments.len() - dots.min(1);
    let too_many = || PyValueError::new_err(format!("{given} indexing arguments for {rank} dimensions"));
    let (mut axes, mut seen_dots, mut seen_list) = (Vec::with_capacity(rank), false, false);
    for argument in arguments.iter() {
        if is_ellipsis(&argument) {
            if seen_dots {
                return Err(PyValueError::new_err("Only one ellipsis may be used."));
            }
            seen_dots = true;
            let missing = rank.checked_sub(given).ok_or_else(too_many)?;
            let rest = dims.iter().skip(axes.len()).take(missing);
            axes.extend(rest.map(|&size| Axis::whole(size)));
            continue;
        }
        let size = *dims.get(axes.len()).ok_or_else(too_many)?;
        let axis = axis(&argument, size, rank, seen_list)?;
        seen_list |= matches!(axis, Axis::List(_));
        axes.push(axis);
    }
    axes.extend(dims.iter().skip(axes.len()).map(|&size| Axis::whole(size)));
    Ok(axes)
}

fn axis(argument: &Bound<'_, PyAny>, size: u64, rank: usize, seen_list: bool) -> PyResult<Axis> {
    if let Ok(slice) = argument.cast::<PySlice>() {
        return steps(slice, size);
    }
    match argument.extract::<i64>() {
        Ok(index) => return one(index, size),
        Err(why) if why.is_instance_of::<PyOverflowError>(argument.py()) => {
            return Err(PyIndexError::new_err(format!("Index ({argument}) out of range")));
        }
        Err(_) => {}
    }
    list(argument, size, rank, seen_list)
}

fn steps(slice: &Bound<'_, PySlice>, size: u64) -> PyResult<Axis> {
    let length = isize::try_from(size).map_err(|_| PyOverflowError::new_err("a dimension is too long to be sliced"))?;
    let found = slice.indices(length)?;
    if found.step < 1 {
        return Err(PyValueError::new_err(format!("Step must be >= 1 (got {})", found.step)));
    }
    // With a positive step both lie between 0 and the length.
    Ok(Axis::Steps { start: found.start as u64, step: found.step as u64, count: found.slicelength as u64 })
}

fn one(index: i64, size: u64) -> PyResult<Axis> {
    place(index, size).map(Axis::One).ok_or_else(|| {
        PyIndexError::new_err(match size {
            0 => format!("Index ({index}) out of range for empty dimension"),
            size => format!("Index ({index}) out of range for (0-{})", size - 1),
        })
    })
}

/// Where an index leads in a dimension; one below zero counts from its end.
fn place(index: i64, size: u64) -> Option<u64> {
    let from_end = || size.checked_sub(index.unsigned_abs());
    u64::try_from(index).ok().or_else(from_end).filter(|&place| place < size)
}

/// A list or array of indices, or a mask of one dimension.
fn list(argument: &Bound<'_, PyAny>, size: u64, rank: usize, seen_list: bool) -> PyResult<Axis> {
    let py = argument.py();
    let numpy = py.import("numpy")?;
    let mut array = numpy.call_method1("asarray", (argument,))?.cast_into::<PyUntypedArray>()?;
    if array.ndim() != 1 {
        return Err(match argument.is_instance_of::<PyUntypedArray>() {
            true => PyTypeError::new_err("Only 1D arrays allowed for fancy indexing"),
            false => PyTypeError::new_err(format!("Selection can't process {argument:?}")),
        });
    }
    if array.is_empty() && !argument.is_instance_of::<PyUntypedArray>() {
        array = array.call_method1("astype", (numpy.getattr("int64")?,))?.cast_into()?;
    }
    let mask = array.dtype().kind() == b'b';
    if mask {
        if array.len() as u64 != size {
            let why = "boolean index did not match indexed array";
            let why = if rank == 1 { "Boolean indexing array has incompatible shape" } else { why };
            return Err(PyTypeError::new_err(why));
        }
    } else if !matches!(array.dtype().kind(), b'i' | b'u') {
        return Err(PyTypeError::new_err("Indexing arrays must have integer dtypes"));
    }
    if seen_list {
        let why = "Only one indexing vector or array is currently allowed for fancy indexing";
        return Err(PyTypeError::new_err(why));
    }
    if mask {
        let mask = private(&array)?;
        let chosen = (0..).zip(contents(&mask)?).filter(|(_, byte)| **byte != 0);
        return Ok(Axis::List(chosen.map(|(index, _)| index).collect()));
    }
    let Some(indices) = places(&array, size)? else {
        return Err(PyIndexError::new_err(match size {
            0 => "Fancy indexing out of range for empty dimension".to_owned(),
            size => format!("Fancy indexing out of range for (0-{})", size - 1),
        }));
    };
    if !indices.is_sorted_by(|left, right| left < right) {
        return Err(PyTypeError::new_err("Indexing elements must be in increasing order"));
    }
    Ok(Axis::List(indices))
}

/// Where the indices of an array lead in a dimension; nothing if one leads nowhere.
fn places(array: &Bound<'_, PyUntypedArray>, size: u64) -> PyResult<Option<Vec<u64>>> {
    if array.dtype().kind() == b'u' {
        // As signed numbers, large ones would count from the end.
        let array: PyReadonlyArray1<'_, u64> = array.call_method1("astype", ("uint64",))?.extract()?;
        return Ok(array.as_array().iter().map(|&index| Some(index).filter(|&index| index < size)).collect());
    }
    let array: PyReadonlyArray1<'_, i64> = array.call_method1("astype", ("int64",))?.extract()?;
    Ok(array.as_array().iter().map(|&index| place(index, size)).collect())
}

impl Axis {
    fn whole(size: u64) -> Axis {
        Axis::Steps { start: 0, step: 1, count: size }
    }

    fn indices(&self) -> u64 {
        match self {
            Axis::One(_) => 1,
            Axis::Steps { count, .. } => *count,
            Axis::List(indices) => indices.len() as u64,
        }
    }

    /// Its length in the array, if it is there.
    fn length(&self) -> Option<usize> {
        (!matches!(self, Axis::One(_))).then(|| usize::try_from(self.indices()).unwrap_or(usize::MAX))
    }

    /// Its pattern; from the first to the last index for a list.
    fn slab(&self) -> Slab {
        match self {
            Axis::One(index) => Slab::block(*index, 1),
            Axis::Steps { start, step: 1, count } => Slab::block(*start, *count),
            Axis::Steps { start, step, count } => Slab::new(*start, *step, *count, 1),
            Axis::List(indices) => {
                let (first, last) = (indices.first().copied().unwrap_or(0), indices.last().copied().unwrap_or(0));
                Slab::block(first, last - first + 1)
            }
        }
    }
}

fn select(space: &mut Space, axes: &[Axis]) -> hyperslab::space::Result<()> {
    let slabs: Vec<Slab> = axes.iter().map(Axis::slab).collect();
    space.select_hyperslab(Op::Set, &slabs)?;
    let list = axes.iter().enumerate().find_map(|(dim, axis)| match axis {
        Axis::List(indices) => Some((dim, indices)),
        _ => None,
    });
    let Some((dim, indices)) = list else { return Ok(()) };
    // Neighbours in the list become one block, as wide as the array is.
    let neighbours = indices.chunk_by(|left, right| left + 1 == *right);
    let blocks: Vec<Block> = neighbours
        .filter_map(|run| Some((*run.first()?, *run.last()?)))
        .map(|(first, last)| {
            let corner = |index: u64, rest: &dyn Fn(u64) -> u64| {
                let sizes = space.dims().iter().enumerate();
                sizes.map(|(at, &size)| if at == dim { index } else { rest(size) }).collect()
            };
            Block { start: corner(first, &|_| 0), end: corner(last, &|size| size - 1) }
        })
        .collect();
    space.select_blocks(Op::And, &blocks)
}

/// A mask with the shape of the whole array.
fn whole_mask(space: &Space, argument: &Bound<'_, PyAny>) -> PyResult<Option<Picked>> {
    let Ok(mask) = argument.cast::<PyUntypedArray>() else { return Ok(None) };
    if mask.dtype().kind() != b'b' || mask.ndim() == 0 {
        return Ok(None);
    }
    let dims = space.dims();
    if !mask.shape().iter().map(|&size| size as u64).eq(dims.iter().copied()) {
        let first = mask.ndim() == 1 && dims.first() == mask.shape().first().map(|&size| size as u64).as_ref();
        let wrong = || PyTypeError::new_err("Boolean indexing array has incompatible shape");
        return if first { Ok(None) } else { Err(wrong()) };
    }
    let (mut space, mask) = (space.clone(), private(mask)?);
    let chosen = contents(&mask)?;
    let count = chosen.iter().filter(|&&byte| byte != 0).count();
    detached(argument.py(), || select_mask(&mut space, chosen))?.map_err(of_space)?;
    Ok(Some(Picked { space, shape: vec![count] }))
}

/// Runs of chosen elements in a row become blocks. Any byte but zero chooses: arrays of truth values may hold others than 0 and 1.
fn select_mask(space: &mut Space, mask: &[u8]) -> hyperslab::space::Result<()> {
    let width = space.dims().last().copied().unwrap_or(1).max(1) as usize;
    let mut blocks = Vec::new();
    for (row, chosen) in mask.chunks(width).enumerate() {
        let mut column = 0;
        for run in chosen.chunk_by(|left, right| (*left != 0) == (*right != 0)) {
            let end = column + run.len() as u64;
            if run.first().is_some_and(|byte| *byte != 0) {
                let start = corner(space.dims(), row as u64, column);
                let end = corner(space.dims(), row as u64, end - 1);
                blocks.push(Block { start, end });
            }
            column = end;
        }
    }
    if blocks.is_empty() {
        space.select_none();
        return Ok(());
    }
    space.select_blocks(Op::Set, &blocks)
}

/// The coordinates of a column in the n-th row of an array.
fn corner(dims: &[u64], mut row: u64, column: u64) -> hyperslab::space::Coords {
    let mut coords: hyperslab::space::Coords = dims.iter().map(|_| column).collect();
    for (coord, size) in coords.iter_mut().zip(dims).rev().skip(1) {
        *coord = row % (*size).max(1);
        row /= (*size).max(1);
    }
    coords
}
