//! Numbers of up to eight bytes in either byte order. Called by the codecs that pack numbers: scale-offset, szip.

/// The bits of a number, from the bottom.
pub(crate) fn load(bytes: &[u8], big_endian: bool) -> u64 {
    let join = |value, byte: &u8| value << 8 | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}

/// The low bytes of a number, as many as there is room for.
pub(crate) fn store(value: u64, big_endian: bool, to: &mut [u8]) {
    let bytes = value.to_le_bytes();
    if big_endian {
        to.iter_mut().rev().zip(bytes).for_each(|(to, byte)| *to = byte);
    } else {
        to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
    }
}
