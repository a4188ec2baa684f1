//! Memory whose size follows the data of a user or of a file: an error where there is none, never an abort.

/// There is not that much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {0} bytes")]
pub struct OutOfMemory(
    /// How many bytes were wanted.
    pub u64,
);

/// So many zeros. Pages that the system gives are zeros already, and are not touched here.
///
/// ```
/// use hyperslab_base::memory;
/// assert_eq!(memory::zeroed(3), Ok(vec![0; 3]));
/// assert!(memory::zeroed(u64::MAX / 2).is_err());
/// ```
pub fn zeroed(bytes: u64) -> Result<Vec<u8>, OutOfMemory> {
    let zeroed = usize::try_from(bytes).ok().and_then(|len| bytemuck::allocation::try_zeroed_vec(len).ok());
    zeroed.ok_or(OutOfMemory(bytes))
}

/// A copy of values, with no more room than it needs.
pub fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let mut copy = with_room(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

/// Nothing, with room for so many values.
pub fn with_room<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| bytes_of::<T>(count))?;
    Ok(room)
}

/// Makes room for so many values more, so that as many can be pushed or appended.
pub fn reserve<T>(values: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    values.try_reserve(more).map_err(|_| bytes_of::<T>(values.len().saturating_add(more)))
}

/// Makes a vector exactly so long: what is missing is `value`.
pub fn resize<T: Copy>(values: &mut Vec<T>, len: usize, value: T) -> Result<(), OutOfMemory> {
    reserve(values, len.saturating_sub(values.len()))?;
    values.resize(len, value);
    Ok(())
}

/// Adds values at the end.
pub fn append<T: Copy>(values: &mut Vec<T>, more: &[T]) -> Result<(), OutOfMemory> {
    reserve(values, more.len())?;
    values.extend_from_slice(more);
    Ok(())
}

fn bytes_of<T>(count: usize) -> OutOfMemory {
    OutOfMemory((count as u64).saturating_mul(size_of::<T>() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error_and_changes_nothing() {
        let mut values = vec![1u64, 2];
        assert_eq!(reserve(&mut values, usize::MAX / 16), Err(OutOfMemory((usize::MAX / 16 + 2) as u64 * 8)));
        assert!(resize(&mut values, usize::MAX / 16, 0).is_err());
        assert_eq!(values, [1, 2]);
        resize(&mut values, 3, 7).unwrap();
        append(&mut values, &[9]).unwrap();
        assert_eq!(values, [1, 2, 7, 9]);
        resize(&mut values, 1, 7).unwrap();
        assert_eq!(copied(&values).unwrap(), [1]);
    }
}
