//! What new space holds until values are written there.

use hyperslab_base::memory;
use hyperslab_format::message::{AllocTime, FillTime, FillValue, FillWrite};

use crate::Result;

/// What new space of a dataset holds, and when there is some.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// One element; zeros if `None`.
    pub value: Option<&'a [u8]>,
    /// Whether it is written where no values are. Chunks that are written in part are filled in any case, with zeros if not with this.
    pub write: bool,
    /// When space is allocated.
    pub alloc: AllocTime,
}

impl<'a> Filling<'a> {
    /// What the fill value message says; `Default` is what the layout likes: contiguous values get their space when first
    /// written, chunks one by one.
    ///
    /// ```
    /// use hyperslab_chunk::Filling;
    /// use hyperslab_format::message::{AllocTime, FillTime, FillValue, FillWrite};
    /// let value = FillValue::User(vec![1, 0]);
    /// let message = FillWrite { value, alloc: AllocTime::Late, write: FillTime::Never };
    /// assert_eq!(Filling::new(&message).value, None);
    /// ```
    pub fn new(message: &'a FillWrite) -> Filling<'a> {
        let write = message.write != FillTime::Never && message.value != FillValue::Undefined;
        let value = match &message.value {
            FillValue::User(value) if write && !value.is_empty() => Some(value.as_slice()),
            _ => None,
        };
        Filling { value, write, alloc: message.alloc }
    }

    /// `len` bytes of the fill value.
    pub(crate) fn bytes(&self, len: usize) -> Result<Vec<u8>> {
        let mut bytes = memory::with_room(len)?;
        match self.value.filter(|value| value.iter().any(|&byte| byte != 0)) {
            None => bytes.resize(len, 0),
            Some(value) => bytes.extend(value.iter().copied().cycle().take(len)),
        }
        Ok(bytes)
    }

    /// Whether the fill value is all zeros.
    pub(crate) fn is_zero(&self) -> bool {
        self.value.is_none_or(|value| value.iter().all(|&byte| byte == 0))
    }
}
