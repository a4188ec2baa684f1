//! `Space`: selections by themselves.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use hyperslab::driver::cores::fork;
use hyperslab::space::{self, Kind, LibVersion, Op, Slab, UNLIMITED};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::engine::detached;
use crate::error::of_space;
use crate::numbers::{Rows, limits, numbers, tuple};
use crate::points::points;

/// The size of an array, and the elements selected in it.
///
/// A new space selects everything. `shape` is `()` for a scalar and `None` for a space without elements; a `None` in
/// `maxshape` means that this dimension may grow without limit.
///
/// >>> space = Space((6, 10))
/// >>> space.select_hyperslab((1, 0), (2, 6))             # rows 1 and 2, columns 0 to 5
/// >>> space.select_hyperslab((4, 0), (1, 2), (1, 5), (1, 3), op="or")
/// >>> space.npoints
/// 18
/// >>> space.bounds
/// ((1, 0), (4, 7))
/// >>> space.runs(4).tolist()
/// [[40, 24], [80, 24], [160, 12], [180, 12]]
#[pyclass(name = "Space", module = "hyperslab", frozen)]
pub(crate) struct PySpace(Mutex<Arc<space::Space>>);

impl PySpace {
    pub(crate) fn new(space: space::Space) -> PySpace {
        PySpace(Mutex::new(Arc::new(space)))
    }

    /// The space as it is now. Threads that change it meanwhile change another one.
    pub(crate) fn now(&self, py: Python<'_>) -> Arc<space::Space> {
        match self.0.try_lock() {
            Ok(space) => space.clone(),
            Err(TryLockError::Poisoned(space)) => space.into_inner().clone(),
            // A thread that has the lock must not wait for the interpreter's: a process that is forked just then would find it locked for ever.
            Err(TryLockError::WouldBlock) => py.detach(|| {
                let _held = fork::hold();
                self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
            }),
        }
    }

    /// Changes the space while other threads of Python run. They wait if they want this one, without the interpreter's lock.
    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut space::Space) -> space::Result<()> + Send,
    ) -> PyResult<()> {
        let changed = detached(py, || {
            let mut space = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            change(Arc::make_mut(&mut space))
        });
        changed?.map_err(of_space)
    }
}

#[pymethods]
impl PySpace {
    #[new]
    #[pyo3(signature = (shape, maxshape=None))]
    fn of_shape(shape: &Bound<'_, PyAny>, maxshape: Option<&Bound<'_, PyAny>>) -> PyResult<PySpace> {
        if shape.is_none() {
            return Ok(PySpace::new(space::Space::null()));
        }
        let dims = numbers(shape, "shape")?;
        let made = match maxshape {
            None => space::Space::simple(&dims),
            Some(max) => {
                let max = numbers(max, "maxshape")?;
                let max: Vec<_> = max.into_iter().map(|size| (size != UNLIMITED).then_some(size)).collect();
                space::Space::with_max(&dims, &max)
            }
        };
        made.map(PySpace::new).map_err(of_space)
    }

    /// The size of each dimension; `None` for a space without elements.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let space = self.now(py);
        (!space.extent().is_null()).then(|| tuple(py, space.dims())).transpose()
    }

    /// How far each dimension may grow; `None` where that has no limit.
    #[getter]
    fn maxshape<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let space = self.now(py);
        (!space.extent().is_null()).then(|| limits(py, space.extent().max())).transpose()
    }

    /// What is selected: "none", "all", "points" or "hyperslab".
    #[getter]
    fn kind(&self, py: Python<'_>) -> &'static str {
        match self.now(py).kind() {
            Kind::None => "none",
            Kind::All => "all",
            Kind::Points => "points",
            Kind::Hyperslab => "hyperslab",
        }
    }

    /// Combines the selection with a regular hyperslab: in each dimension `count` blocks of `block` elements, `stride` apart,
    /// the first at `start`. A `count` or `block` of `None` goes as far as the extent. `op` is one of "set", "or", "and", "xor",
    /// "notb" (what was selected without the hyperslab) and "nota" (the hyperslab without what was selected).
    ///
    /// >>> space = Space(10)
    /// >>> space.select_hyperslab(0, 3, stride=4, block=2)
    /// >>> space.coords()[:, 0].tolist()
    /// [0, 1, 4, 5, 8, 9]
    #[pyo3(signature = (start, count, stride=None, block=None, op="set"))]
    fn select_hyperslab(
        &self,
        py: Python<'_>,
        start: &Bound<'_, PyAny>,
        count: &Bound<'_, PyAny>,
        stride: Option<&Bound<'_, PyAny>>,
        block: Option<&Bound<'_, PyAny>>,
        op: &str,
    ) -> PyResult<()> {
        let (op, start) = (operation(op)?, numbers(start, "start")?);
        let count = if count.is_none() { vec![UNLIMITED; start.len()] } else { numbers(count, "count")? };
        let ones = |given: Option<&Bound<'_, PyAny>>, what| match given {
            None => Ok(vec![1; start.len()]),
            Some(given) => numbers(given, what),
        };
        let (stride, block) = (ones(stride, "stride")?, ones(block, "block")?);
        if [count.len(), stride.len(), block.len()] != [start.len(); 3] {
            return Err(PyValueError::new_err("start, count, stride and block must be equally long"));
        }
        let numbers = start.into_iter().zip(stride).zip(count).zip(block);
        let slabs: Vec<Slab> =
            numbers.map(|(((start, stride), count), block)| Slab::new(start, stride, count, block)).collect();
        self.change(py, |space| space.select_hyperslab(op, &slabs))
    }

    /// Selects single elements; `coords` has a row for each. Their order and repeats are kept. Arrays of integers are fastest.
    ///
    /// >>> space = Space((4, 4))
    /// >>> space.select_elements([(3, 0), (0, 1)])
    /// >>> space.coords().tolist()
    /// [[3, 0], [0, 1]]
    fn select_elements(&self, coords: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = coords.py();
        let flat = points(coords, self.now(py).rank())?;
        self.change(py, |space| space.select_points(&flat))
    }

    /// Selects everything.
    fn select_all(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |space| {
            space.select_all();
            Ok(())
        })
    }

    /// Selects nothing.
    fn select_none(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |space| {
            space.select_none();
            Ok(())
        })
    }

    /// A new space whose selection is made of this one's and another's; `op` as in `select_hyperslab`.
    ///
    /// >>> left, right = Space(10), Space(10)
    /// >>> left.select_hyperslab(0, 1, block=6)
    /// >>> right.select_hyperslab(4, 1, block=6)
    /// >>> left.combine(right, "and").bounds
    /// ((4,), (5,))
    fn combine(&self, py: Python<'_>, other: &PySpace, op: &str) -> PyResult<PySpace> {
        let (op, left, right) = (operation(op)?, self.now(py), other.now(py));
        detached(py, || left.combine(op, &right))?.map(PySpace::new).map_err(of_space)
    }

    /// How many elements are selected; `UNLIMITED` for a selection without end.
    #[getter]
    fn npoints(&self, py: Python<'_>) -> u64 {
        self.now(py).npoints()
    }

    /// The lowest and the highest selected index of each dimension, both included; `None` if nothing is selected.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let bounds = self.now(py).bounds();
        bounds.map(|(low, high)| Ok((tuple(py, &low)?, tuple(py, &high)?))).transpose()
    }

    /// Whether the selection is a hyperslab of one regular pattern: blocks of equal size at equal distances in each dimension.
    /// Only a hyperslab is; "all", where libhdf5 does not answer, is not.
    #[getter]
    fn is_regular(&self, py: Python<'_>) -> bool {
        self.now(py).regular().is_some()
    }

    /// The blocks of the selection: an array of shape (n, 2, rank), the first and the last corner of each.
    ///
    /// >>> space = Space(10)
    /// >>> space.select_hyperslab(1, 2, stride=4, block=3)
    /// >>> space.blocks().tolist()
    /// [[[1], [3]], [[5], [7]]]
    fn blocks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let space = self.now(py);
        let (count, rank) = (space.nblocks(), space.rank());
        let rows = detached(py, || {
            let blocks = space.blocks().map_err(of_space)?;
            let mut rows = Rows::with_room(count, 2 * rank)?;
            blocks.for_each(|block| rows.extend(block.start.into_iter().chain(block.end)));
            PyResult::Ok(rows)
        })??;
        rows.into_array(py, &[count as usize, 2, rank])
    }

    /// The selected elements, in the order of the selection: an array of shape (n, rank).
    fn coords<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let space = self.now(py);
        let (count, rank) = (space.npoints(), space.rank());
        let rows = detached(py, || {
            let coords = space.coords().map_err(of_space)?;
            let mut rows = Rows::with_room(count, rank)?;
            coords.for_each(|coords| rows.extend(coords));
            PyResult::Ok(rows)
        })??;
        rows.into_array(py, &[count as usize, rank])
    }

    /// The selection as ranges of bytes, for elements of `element_size` bytes that lie row by row: an array of shape (n, 2),
    /// the first byte and the length of each. Touching ranges are merged.
    fn runs<'py>(&self, py: Python<'py>, element_size: u64) -> PyResult<Bound<'py, PyAny>> {
        let space = self.now(py);
        let rows = detached(py, || {
            let count = space.runs(element_size).map_err(of_space)?.count();
            let mut rows = Rows::with_room(count as u64, 2)?;
            space.runs(element_size).map_err(of_space)?.for_each(|run| rows.extend([run.offset, run.len]));
            PyResult::Ok((count, rows))
        });
        let (count, rows) = rows??;
        rows.into_array(py, &[count, 2])
    }

    /// The space as bytes, as `H5Sencode` writes it for a library version: "earliest", "v18", "v110", "v112", "v114", "v200" or
    /// "latest".
    ///
    /// >>> space = Space((6, 10))
    /// >>> Space.decode(space.encode("v112")) == space
    /// True
    #[pyo3(signature = (low="earliest"))]
    fn encode<'py>(&self, py: Python<'py>, low: &str) -> PyResult<Bound<'py, PyBytes>> {
        let (low, space) = (version(low)?, self.now(py));
        let bytes = detached(py, || space.encode(low))?.map_err(of_space)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The space that `encode` or `H5Sencode` made bytes of.
    #[staticmethod]
    fn decode(data: &[u8]) -> PyResult<PySpace> {
        space::Space::decode(data).map(PySpace::new).map_err(of_space)
    }

    /// Selections of this space and of `dst` with equally many elements correspond in order. The part of this selection that
    /// `src_intersect` selects too is carried over to `dst`.
    ///
    /// >>> source, target, row = Space((4, 4)), Space(16), Space((4, 4))
    /// >>> row.select_hyperslab((1, 0), (1, 4))
    /// >>> source.project_intersection(target, row).bounds
    /// ((4,), (7,))
    fn project_intersection(&self, py: Python<'_>, dst: &PySpace, src_intersect: &PySpace) -> PyResult<PySpace> {
        let (source, target, part) = (self.now(py), dst.now(py), src_intersect.now(py));
        let made = detached(py, || source.project_intersection(&target, &part))?;
        made.map(PySpace::new).map_err(of_space)
    }

    /// The same space again, to be changed by itself.
    fn copy(&self, py: Python<'_>) -> PySpace {
        PySpace(Mutex::new(self.now(py)))
    }

    fn __copy__(&self, py: Python<'_>) -> PySpace {
        self.copy(py)
    }

    fn __deepcopy__(&self, memo: &Bound<'_, PyAny>) -> PySpace {
        self.copy(memo.py())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let py = other.py();
        // One that another thread changes meanwhile equals itself all the same.
        let equals = |other: &PySpace| std::ptr::eq(other, self) || *other.now(py) == *self.now(py);
        other.cast::<PySpace>().is_ok_and(|other| equals(other.get()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = match self.shape(py)? {
            Some(shape) => shape.repr()?.to_string(),
            None => "None".into(),
        };
        let points = match self.npoints(py) {
            UNLIMITED => "without limit".into(),
            points => format!("{points} elements"),
        };
        let kind = self.kind(py);
        Ok(format!("<hyperslab.Space shape {shape}: {kind}, {points}>"))
    }
}

fn operation(name: &str) -> PyResult<Op> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "set" => Op::Set,
        "or" => Op::Or,
        "and" => Op::And,
        "xor" => Op::Xor,
        "notb" => Op::NotB,
        "nota" => Op::NotA,
        _ => {
            let why = format!("op must be 'set', 'or', 'and', 'xor', 'notb' or 'nota', not {name:?}");
            return Err(PyValueError::new_err(why));
        }
    })
}

fn version(name: &str) -> PyResult<LibVersion> {
    Ok(match name {
        "earliest" => LibVersion::Earliest,
        "v18" => LibVersion::V18,
        "v110" => LibVersion::V110,
        "v112" => LibVersion::V112,
        "v114" => LibVersion::V114,
        "v200" | "latest" => LibVersion::V200,
        _ => {
            let why =
                format!("low must be 'earliest', 'v18', 'v110', 'v112', 'v114', 'v200' or 'latest', not {name:?}");
            return Err(PyValueError::new_err(why));
        }
    })
}
