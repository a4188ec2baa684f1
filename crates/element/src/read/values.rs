//! From stored bytes to values of a Rust type.

use hyperslab_base::memory;
use hyperslab_driver::cores;
use hyperslab_dtype::{Arena, Datatype, HeapReference, Plan};

use super::Element;
use hyperslab_session::{Session, convert};

use crate::{Error, Heap, Result, Sequences};

/// Values that one thread decodes at a time; fewer are not worth another one.
const TOGETHER: usize = 2048;

/// How the values of one read become values of `T`, worked out once.
pub struct Reading<T: Element> {
    plan: Plan,
    /// Bytes of a value as stored, and converted.
    from: usize,
    to: usize,
    /// What values are converted to, if that is all there is to it.
    memory: Option<Datatype>,
    decoder: T::Decoder,
}

impl<T: Element> Reading<T> {
    /// Works out how stored values become `T`; an error if they cannot.
    pub fn new(stored: &Datatype) -> Result<Reading<T>> {
        let recipe = T::recipe(stored)?;
        let plan = Plan::new(&recipe.stored, &recipe.memory);
        let plan = plan.map_err(|why| Error::no_conversion::<T>(stored, &why))?;
        let (from, to) = (recipe.stored.size(), recipe.memory.size());
        let memory = (recipe.stored == *stored).then_some(recipe.memory);
        Ok(Reading { plan, from, to, memory, decoder: recipe.decoder })
    }

    /// How stored bytes become those that a `T` is made of.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What values are converted to, if the conversion takes them as they are stored.
    pub fn memory(&self) -> Option<&Datatype> {
        self.memory.as_ref()
    }

    /// Bytes of a value that is converted.
    pub fn size(&self) -> usize {
        self.to
    }

    /// Whether values are bytes that need no decoding.
    pub fn is_plain() -> bool {
        T::as_bytes(&mut []).is_some()
    }

    /// All values of `stored`, one after the other.
    pub fn values(&self, session: &Session, stored: &[u8]) -> Result<Vec<T>> {
        let count = stored.len() / self.from.max(1);
        if Self::is_plain() {
            let room = || Error::Memory { values: count as u64, size: self.to as u64 };
            let mut values = T::zeros(count).ok_or_else(room)?;
            if let Some(places) = T::as_bytes(&mut values) {
                convert(&self.plan, stored, places)?;
            }
            return Ok(values);
        }
        let mut values = Vec::new();
        self.decode(&mut session.heap(), stored, &mut Vec::new(), &mut |part| {
            values.extend(part);
            Ok(())
        })?;
        Ok(values)
    }

    /// Decodes the values of `stored` and hands them over; `converted` is room that can be used again.
    pub fn decode(
        &self,
        heap: &mut Heap<'_>,
        stored: &[u8],
        converted: &mut Vec<u8>,
        take: &mut dyn FnMut(Vec<T>) -> Result<()>,
    ) -> Result<()> {
        let bytes = self.converted(stored, converted)?;
        let mut collections = Vec::new();
        for bytes in bytes.chunks_exact(self.to.max(1)) {
            T::references(&self.decoder, bytes, &mut |reference| {
                let found = HeapReference::decode(reference).map_or(0, |reference| reference.address);
                if collections.last() != Some(&found) {
                    collections.push(found);
                }
            });
        }
        heap.fetch(collections);
        let heap = &*heap;
        self.finish(bytes, &|| Sequences::new(heap), take)
    }

    /// As [`Reading::decode`], for values whose variable-length parts were gathered in an arena.
    pub fn decode_gathered(
        &self,
        arena: &Arena,
        gathered: &[u8],
        take: &mut dyn FnMut(Vec<T>) -> Result<()>,
    ) -> Result<()> {
        let mut converted = Vec::new();
        self.finish(self.converted(gathered, &mut converted)?, &|| Sequences::gathered(arena), take)
    }

    /// The bytes that values are decoded from.
    fn converted<'b>(&self, stored: &'b [u8], converted: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        if self.plan.is_copy() {
            return Ok(stored);
        }
        let count = stored.len() / self.from.max(1);
        memory::resize(converted, count.saturating_mul(self.to), 0)?;
        convert(&self.plan, stored, converted)?;
        Ok(converted)
    }

    fn finish<'s>(
        &self,
        bytes: &[u8],
        sequences: &(dyn Fn() -> Sequences<'s> + Sync),
        take: &mut dyn FnMut(Vec<T>) -> Result<()>,
    ) -> Result<()> {
        let size = self.to.max(1);
        let count = bytes.len() / size;
        if count < 2 * TOGETHER {
            return take(self.block(bytes, &sequences())?);
        }
        let decode = |_: &mut (), block: &[u8]| self.block(block, &sequences());
        cores::map(bytes.chunks(size * TOGETHER).collect(), decode)?.into_iter().try_for_each(take)
    }

    fn block(&self, bytes: &[u8], sequences: &Sequences<'_>) -> Result<Vec<T>> {
        let size = self.to.max(1);
        let mut values = memory::with_room(bytes.len() / size)?;
        for bytes in bytes.chunks_exact(size) {
            values.push(T::decode(&self.decoder, bytes, sequences)?);
        }
        Ok(values)
    }
}
