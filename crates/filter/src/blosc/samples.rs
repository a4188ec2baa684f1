//! Bytes for tests of codecs.

/// Runs of a byte, and copies from near and far: of each part the byte, how long its copy is, and how far back that begins.
pub(super) fn runs_and_copies(parts: &[(u8, usize, usize)]) -> Vec<u8> {
    let mut input: Vec<u8> = (0..200u32).map(|n| ((n * n) >> 3) as u8).collect();
    for &(byte, run, back) in parts {
        let from = input.len().saturating_sub(back * usize::from(byte) / 16);
        let copy: Vec<u8> = input.iter().skip(from).take(run).copied().collect();
        input.extend(copy);
        input.extend(std::iter::repeat_n(byte, run % 9));
    }
    input
}
