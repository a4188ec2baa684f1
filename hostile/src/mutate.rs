//! Damage where it hurts: fields behind signatures, addresses that point at other structures, sizes at their limits.

use fastrand::Rng;

use crate::repair_file;

/// Structures begin with these.
const SIGNATURES: [&[u8; 4]; 22] = [
    b"OHDR", b"OCHK", b"TREE", b"SNOD", b"HEAP", b"GCOL", b"FRHP", b"FHIB", b"FHDB", b"BTHD", b"BTIN", b"BTLF",
    b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"SMTB", b"SMLI", b"FSHD", b"FSSE",
];
/// Fields are looked for up to so many bytes behind a signature.
const NEAR: usize = 160;

/// Spoils the first `size` bytes of `data`, a file, in place, now and then by the `plain` mutator of a fuzzer, and puts its checksums right. How many
/// bytes it has then: `most` at the most.
pub fn mutate_file(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    plain: impl FnOnce(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut rng = Rng::with_seed(seed.into());
    let mut bytes = data.get(..size).unwrap_or(data).to_vec();
    if rng.u8(..4) == 0 {
        let size = plain(data, size, most);
        bytes = data.get(..size).unwrap_or(data).to_vec();
    } else {
        let other = bytes.clone();
        mutate(&mut bytes, &other, most, &mut rng);
    }
    repair_file(&mut bytes);
    data.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
    bytes.len().min(data.len())
}

/// Spoils a file in one to four places; `other` lends bytes. The result has at most `most` bytes.
///
/// ```
/// let mut bytes = vec![0; 100];
/// hyperslab_hostile::mutate(&mut bytes, &[7; 100], 100, &mut fastrand::Rng::with_seed(1));
/// assert_ne!(bytes, [0; 100]);
/// ```
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], most: usize, rng: &mut Rng) {
    let places = structures(bytes);
    for _ in 0..rng.usize(1..=4) {
        if bytes.is_empty() {
            return;
        }
        let at = match places.get(rng.usize(..places.len().max(1))) {
            Some(&place) if rng.u8(..8) > 0 => place + rng.usize(..NEAR),
            _ => rng.usize(..bytes.len()),
        };
        match rng.u8(..12) {
            0..3 => flip(bytes, at, rng),
            3..5 => put(bytes, at, &[rng.u8(..)]),
            5..8 => {
                let width = 1 << rng.u32(..4);
                let value = number(bytes.len() as u64, rng).to_le_bytes();
                put(bytes, at, value.get(..width).unwrap_or_default());
            }
            8..10 => {
                // An address of another structure: shared nodes, cycles, one kind where another belongs.
                let target = places.get(rng.usize(..places.len().max(1))).map_or(0, |&place| place as u64);
                put(bytes, at, &target.to_le_bytes());
            }
            10 => {
                let from = rng.usize(..other.len().max(1));
                let length = 1 + rng.usize(..64);
                let lent = other.get(from..(from + length).min(other.len())).unwrap_or_default();
                put(bytes, at, lent);
            }
            _ => resize(bytes, most, rng),
        }
    }
    bytes.truncate(most);
}

/// Where structures begin.
fn structures(bytes: &[u8]) -> Vec<usize> {
    let is_one = |window: &[u8]| SIGNATURES.iter().any(|signature| signature.as_slice() == window);
    let mut places: Vec<usize> =
        bytes.windows(4).enumerate().filter(|(_, window)| is_one(window)).map(|(at, _)| at).collect();
    places.push(0);
    // Headers of the first version have no signature: a version, a zero, and few messages.
    let is_header = |window: &[u8]| matches!(window, [1, 0, 1..=30, 0, 1..=9, 0, 0, 0]);
    places.extend(bytes.windows(8).enumerate().filter(|(_, window)| is_header(window)).map(|(at, _)| at));
    places
}

fn flip(bytes: &mut [u8], at: usize, rng: &mut Rng) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << rng.u8(..8);
    }
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    for (to, from) in bytes.iter_mut().skip(at).zip(value) {
        *to = *from;
    }
}

/// Numbers at which arithmetic breaks.
fn number(length: u64, rng: &mut Rng) -> u64 {
    let power = 1u64 << rng.u32(..64);
    match rng.u8(..8) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => power,
        4 => power - 1,
        5 => length.wrapping_sub(rng.u64(..16)),
        6 => u64::MAX - rng.u64(..16),
        _ => rng.u64(..256),
    }
}

/// Lost at the end, or a part twice.
fn resize(bytes: &mut Vec<u8>, most: usize, rng: &mut Rng) {
    let at = rng.usize(..bytes.len().max(1));
    if rng.u8(..4) > 0 {
        bytes.truncate(at.max(bytes.len() - bytes.len().min(64)));
    } else if bytes.len() < most {
        let again: Vec<u8> = bytes.iter().skip(at).take((most - bytes.len()).min(256)).copied().collect();
        bytes.extend(again);
    }
}
