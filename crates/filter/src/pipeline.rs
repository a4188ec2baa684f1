//! The steps of a pipeline, forwards to the file and backwards from it.

use std::mem;

use hyperslab_base::memory;

use crate::{Decoded, Encoded, Error, Fault, Filter, Registry, Result, output::check_memory};

/// More than codecs take for tables that their libraries do not ask for: the process would be aborted if there were no memory for them.
const TABLES: usize = 128 << 10;
/// How many steps a pipeline may have: a filter mask has a bit for each.
pub const MAX_STEPS: usize = 32;

/// One filter of a pipeline, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the filter.
    pub id: u16,
    /// Whether the filter may be left out of a chunk where it fails.
    pub optional: bool,
    /// The name that the file has for the filter; often none.
    pub name: String,
    /// What the filter needs to know; each built-in filter has a function `params` that makes it.
    pub params: Vec<u32>,
}

impl Step {
    /// A step that may be left out of a chunk where it fails.
    pub fn optional(id: u16, params: Vec<u32>) -> Step {
        Step { id, optional: true, name: String::new(), params }
    }

    /// A step that may not be left out.
    pub fn mandatory(id: u16, params: Vec<u32>) -> Step {
        Step { optional: false, ..Step::optional(id, params) }
    }
}

/// The filters of a dataset, in the order in which they are applied on the way to the file.
///
/// ```
/// use hyperslab_filter::{Fletcher32, Pipeline, Registry, Step};
/// let pipeline = Pipeline::new(vec![Step::mandatory(Fletcher32::ID, Fletcher32::params())])?;
/// let (mut stored, mut scratch, mut back) = (Vec::new(), Vec::new(), Vec::new());
/// pipeline.encode(&Registry::default(), b"bytes", 0, &mut stored, &mut scratch)?;
/// stored[0] ^= 1;
/// let error = pipeline.decode(&Registry::default(), &stored, 0, 5, &mut back, &mut scratch).unwrap_err();
/// assert!(error.to_string().starts_with("filter 3 (fletcher32), step 0 of the pipeline: the stored checksum"));
/// # Ok::<(), hyperslab_filter::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    steps: Vec<Step>,
}

impl Pipeline {
    /// A pipeline of these steps.
    pub fn new(steps: Vec<Step>) -> Result<Pipeline> {
        if steps.len() > MAX_STEPS {
            return Err(Error::Steps(steps.len()));
        }
        Ok(Pipeline { steps })
    }

    /// The steps, in the order in which they are applied on the way to the file.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Undoes all steps, last to first, except those whose bit in `mask` is set. `out` is replaced by exactly `len` bytes; by those that there are, if the
    /// result is [`Error::Length`]. How many there were: what is more than `len` is left off.
    /// `scratch` is for work on the way; keep both and their room is used again.
    pub fn decode(
        &self,
        registry: &Registry,
        stored: &[u8],
        mask: u32,
        len: usize,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<usize> {
        let plan = self.plan(registry, mask, len)?;
        let mut buffer = StepBuffer::Given(stored.len());
        for active in plan.iter().rev() {
            let input = buffer.bytes(stored, out);
            let filter = active.filter;
            match filter.decode(&active.step.params, input, scratch, active.limit).map_err(|f| active.failed(f))? {
                Decoded::Prefix(len) => buffer.shorten(len),
                Decoded::Written if scratch.len() > active.limit => {
                    return Err(active.failed(Fault::TooLong(active.limit)));
                }
                Decoded::Written => {
                    mem::swap(out, scratch);
                    buffer = StepBuffer::Out(out.len());
                }
            }
        }
        buffer.finish(stored, out, len)
    }

    /// The most bytes that [`Pipeline::decode`] makes of so many; nothing if there is no limit. Costs nothing, and nothing is decoded.
    ///
    /// ```
    /// use hyperslab_filter::{Deflate, Pipeline, Registry, Shuffle, Step};
    /// let steps = [(Shuffle::ID, Shuffle::params(2)), (Deflate::ID, Deflate::params(1))];
    /// let pipeline = Pipeline::new(steps.map(|(id, params)| Step::mandatory(id, params)).to_vec())?;
    /// assert_eq!(pipeline.decoded_bound(&Registry::default(), 10, 0), Some(10_320));
    /// # Ok::<(), hyperslab_filter::Error>(())
    /// ```
    pub fn decoded_bound(&self, registry: &Registry, stored: u64, mask: u32) -> Option<u64> {
        let undone = self.steps.iter().enumerate().filter(|(nth, _)| mask & (1 << nth) == 0);
        undone.rev().try_fold(stored, |len, (_, step)| registry.get(step.id)?.decoded_bound(&step.params, len))
    }

    /// The most bytes that [`Pipeline::encode`] makes of so many or fewer, whatever they are and whichever optional steps fail; nothing if that is not known. Nothing is encoded.
    ///
    /// ```
    /// use hyperslab_filter::{Fletcher32, Lz4, Pipeline, Registry, Step};
    /// let steps = [(Lz4::ID, Lz4::params(1)), (Fletcher32::ID, Fletcher32::params())];
    /// let pipeline = Pipeline::new(steps.map(|(id, params)| Step::mandatory(id, params)).to_vec())?;
    /// // LZ4 has four bytes before each of its blocks, which have one byte here.
    /// assert_eq!(pipeline.worst_case(&Registry::default(), 1000), Some(12 + 5 * 1000 + 4));
    /// # Ok::<(), hyperslab_filter::Error>(())
    /// ```
    pub fn worst_case(&self, registry: &Registry, raw: u64) -> Option<u64> {
        self.steps.iter().try_fold(raw, |len, step| match registry.get(step.id) {
            // A step that is left out leaves the bytes as they are.
            Some(filter) => Some(filter.worst_case(&step.params, len)?.max(len)),
            None => step.optional.then_some(len),
        })
    }

    /// Applies all steps in order, except those whose bit in `skip` is set. `out` is replaced by the result; what comes back
    /// is the filter mask of the chunk: a bit for each step that was left out, by wish or because it is optional and failed.
    pub fn encode(
        &self,
        registry: &Registry,
        raw: &[u8],
        skip: u32,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<u32> {
        self.encode_by(registry, (raw, skip), out, scratch, |filter, params, input, to| {
            filter.encode(params, input, to)
        })
    }

    /// As [`Pipeline::encode`] with all steps, for a section of a structured chunk ([`Filter::encode_section`]).
    pub fn encode_section(
        &self,
        registry: &Registry,
        raw: &[u8],
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Result<u32> {
        self.encode_by(registry, (raw, 0), out, scratch, |filter, params, input, to| {
            filter.encode_section(params, input, to)
        })
    }

    fn encode_by(
        &self,
        registry: &Registry,
        (raw, skip): (&[u8], u32),
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
        encode: impl Fn(&dyn Filter, &[u32], &[u8], &mut Vec<u8>) -> std::result::Result<Encoded, Fault>,
    ) -> Result<u32> {
        let mut mask = 0;
        let mut buffer = StepBuffer::Given(raw.len());
        for (index, step) in self.steps.iter().enumerate() {
            let bit = 1 << index;
            if skip & bit != 0 {
                mask |= bit;
                continue;
            }
            let Some(filter) = registry.get(step.id) else {
                if step.optional {
                    mask |= bit;
                    continue;
                }
                return Err(Error::Missing { id: step.id, name: step.name.clone() });
            };
            let input = buffer.bytes(raw, out);
            // Scratch for the worst case: encoders that append as they go find it there.
            let most = filter.encoded_bound(&step.params, input.len());
            let room = memory::reserve(scratch, most.saturating_sub(scratch.len())).map_err(Fault::from);
            let room = room.and_then(|()| check_memory(TABLES));
            let result = match room.and_then(|()| encode(filter, &step.params, input, scratch)) {
                Ok(Encoded::Incompressible) => Err(Fault::Incompressible),
                result => result,
            };
            match result {
                Ok(Encoded::Written) => {
                    mem::swap(out, scratch);
                    buffer = StepBuffer::Out(out.len());
                }
                Ok(_) => {}
                // Another attempt may find the memory: the filter is not left out for good.
                Err(fault) if step.optional && !matches!(fault, Fault::Memory(_)) => mask |= bit,
                Err(fault) => return Err(Active { index, step, filter, limit: 0 }.failed(fault)),
            }
        }
        let len = buffer.bytes(raw, out).len();
        buffer.finish(raw, out, len).map(|_| mask)
    }

    /// The steps to undo, with the most bytes that each of them may come to.
    fn plan<'a>(&'a self, registry: &'a Registry, mask: u32, len: usize) -> Result<Vec<Active<'a>>> {
        let mut limit = len;
        let mut plan = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate().filter(|(index, _)| mask & (1 << index) == 0) {
            let filter =
                registry.get(step.id).ok_or_else(|| Error::Missing { id: step.id, name: step.name.clone() })?;
            plan.push(Active { index, step, filter, limit });
            limit = filter.encoded_bound(&step.params, limit);
        }
        Ok(plan)
    }
}

/// A step that is to be done, with its filter.
struct Active<'a> {
    index: usize,
    step: &'a Step,
    filter: &'a dyn Filter,
    limit: usize,
}

impl Active<'_> {
    fn failed(&self, fault: Fault) -> Error {
        Error::Failed { step: self.index, id: self.step.id, name: self.filter.name(), fault }
    }
}

/// Where the bytes are between two steps: the first so many of what was given, or of `out`.
#[derive(Clone, Copy)]
enum StepBuffer {
    Given(usize),
    Out(usize),
}

impl StepBuffer {
    fn bytes<'a>(self, given: &'a [u8], out: &'a [u8]) -> &'a [u8] {
        match self {
            StepBuffer::Given(len) => given.get(..len).unwrap_or(given),
            StepBuffer::Out(len) => out.get(..len).unwrap_or(out),
        }
    }

    fn shorten(&mut self, to: usize) {
        let (StepBuffer::Given(len) | StepBuffer::Out(len)) = self;
        *len = to.min(*len);
    }

    /// Puts the bytes into `out`. What is more than there must be is left off, as libhdf5 does; an error if it is less. How many there were.
    fn finish(mut self, given: &[u8], out: &mut Vec<u8>, expected: usize) -> Result<usize> {
        let found = self.bytes(given, out).len();
        self.shorten(expected);
        match self {
            StepBuffer::Out(len) => out.truncate(len),
            StepBuffer::Given(_) => {
                out.clear();
                let given = self.bytes(given, &[]);
                memory::append(out, given).map_err(|_| Error::Memory(given.len()))?;
            }
        }
        if found < expected { Err(Error::Length { expected, found }) } else { Ok(found) }
    }
}
