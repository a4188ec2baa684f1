//! Bob Jenkins' lookup3 hash: the checksum of the format's metadata.

/// The checksum of `bytes`, as every checksummed structure of the format stores it.
///
/// ```
/// use hyperslab_base::lookup3;
/// assert_eq!(lookup3(b""), 0xdead_beef);
/// assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
/// ```
pub fn lookup3(bytes: &[u8]) -> u32 {
    lookup3_seeded(bytes, 0)
}

/// The hash of `bytes` with a seed, as the index of shared messages has it: there the seed is the type of the message.
///
/// ```
/// use hyperslab_base::{lookup3, lookup3_seeded};
/// assert_eq!(lookup3_seeded(b"Four score and seven years ago", 1), 0xcd62_8161);
/// assert_eq!(lookup3_seeded(b"0123456789abcdef", 0), lookup3(b"0123456789abcdef"));
/// ```
pub fn lookup3_seeded(bytes: &[u8], seed: u32) -> u32 {
    let seed = 0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(seed);
    let [mut a, mut b, mut c] = [seed; 3];
    // The last one to twelve bytes are mixed in another way.
    let whole = bytes.len().saturating_sub(1) / 12 * 12;
    let (front, tail) = bytes.split_at(whole);
    for block in front.chunks_exact(12) {
        let [x, y, z] = words(block);
        (a, b, c) = mix(a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z));
    }
    if tail.is_empty() {
        return c;
    }
    let [x, y, z] = words(tail);
    last(a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z))
}

/// Up to twelve bytes as three little-endian words, zeros behind them.
fn words(bytes: &[u8]) -> [u32; 3] {
    let mut padded = [0u8; 12];
    for (to, from) in padded.iter_mut().zip(bytes) {
        *to = *from;
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l] = padded;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_le_bytes)
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    a = a.wrapping_sub(c) ^ c.rotate_left(4);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(6);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(8);
    b = b.wrapping_add(a);
    a = a.wrapping_sub(c) ^ c.rotate_left(16);
    c = c.wrapping_add(b);
    b = b.wrapping_sub(a) ^ a.rotate_left(19);
    a = a.wrapping_add(c);
    c = c.wrapping_sub(b) ^ b.rotate_left(4);
    b = b.wrapping_add(a);
    (a, b, c)
}

fn last(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}
