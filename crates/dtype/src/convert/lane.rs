//! Where the elements of a conversion are: two buffers, each with a distance from element to element.

/// Elements to convert, and places for the results.
pub(super) struct Lanes<'a> {
    pub(super) count: usize,
    pub(super) from: &'a [u8],
    /// At least the size of an element; so is the other.
    pub(super) from_stride: usize,
    pub(super) to: &'a mut [u8],
    pub(super) to_stride: usize,
}

impl<'a> Lanes<'a> {
    fn pairs(self, from: usize, to: usize) -> impl Iterator<Item = (&'a [u8], &'a mut [u8])> {
        let sources = self.from.chunks(self.from_stride.max(1));
        let targets = self.to.chunks_mut(self.to_stride.max(1));
        let both = sources.zip(targets).take(self.count);
        both.filter_map(move |(source, target)| source.get(..from).zip(target.get_mut(..to)))
    }

    /// The same elements, a part of each: what starts at the given offsets.
    pub(super) fn at(&mut self, from: usize, to: usize) -> Lanes<'_> {
        Lanes {
            from: self.from.get(from..).unwrap_or_default(),
            to: self.to.get_mut(to..).unwrap_or_default(),
            ..*self
        }
    }

    /// `count` elements from the one at `start`.
    pub(super) fn range(&mut self, start: usize, count: usize) -> Lanes<'_> {
        let (from, to) = (start * self.from_stride, start * self.to_stride);
        Lanes { count, ..self.at(from, to) }
    }

    /// Whether elements of these sizes lie without gaps on both sides.
    pub(super) fn is_dense(&self, from: usize, to: usize) -> bool {
        self.from_stride == from && self.to_stride == to
    }

    /// Each element of `from` bytes with the place of `to` bytes for its result.
    pub(super) fn each(self, from: usize, to: usize, mut convert: impl FnMut(&[u8], &mut [u8])) {
        self.pairs(from, to).for_each(|(source, target)| convert(source, target));
    }

    /// As [`Lanes::each`], until one fails.
    pub(super) fn try_each<E>(
        self,
        from: usize,
        to: usize,
        mut convert: impl FnMut(&[u8], &mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.pairs(from, to).try_for_each(|(source, target)| convert(source, target))
    }

    /// Copies elements of `size` bytes.
    pub(super) fn copy(self, size: usize) {
        match size {
            _ if self.is_dense(size, size) => self.dense(size, size, |from, to| to.copy_from_slice(from)),
            1 => self.copy_as::<1>(),
            2 => self.copy_as::<2>(),
            4 => self.copy_as::<4>(),
            8 => self.copy_as::<8>(),
            _ => self.each(size, size, |from, to| to.copy_from_slice(from)),
        }
    }

    /// The size is known to the compiler, which needs no loop then.
    fn copy_as<const N: usize>(self) {
        self.each(N, N, |from, to| {
            if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
                *to = *from;
            }
        });
    }

    /// Runs a kernel for dense elements: over all of them at once if they are, else one by one.
    pub(super) fn dense(self, from: usize, to: usize, kernel: impl Fn(&[u8], &mut [u8])) {
        if self.is_dense(from, to) {
            let source = self.from.get(..self.count * from);
            let target = self.to.get_mut(..self.count * to);
            if let (Some(source), Some(target)) = (source, target) {
                kernel(source, target);
            }
        } else {
            self.each(from, to, kernel);
        }
    }
}
