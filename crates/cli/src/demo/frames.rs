//! Images as a detector sends them: most pixels have few counts, some spots many. Each can be made again from its number.

use fastrand::Rng;

/// Pixels of a side.
pub(super) const SIDE: usize = 1024;

/// Pixels of an image.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// Bright spots of an image.
const SPOTS: usize = 40;

/// How far a spot reaches.
const REACH: usize = 4;

/// Makes images from a seed.
pub(super) struct Frames {
    seed: u64,
    /// How many counts a pixel has, by a byte of chance: 0.4 on average, as rare events come.
    counts: [u16; 256],
}

impl Frames {
    pub(super) fn new(seed: u64) -> Frames {
        let mut counts = [0; 256];
        let (mut likely, mut below, mut count) = ((-0.4f64).exp(), 0.0, 0u16);
        for (chance, place) in counts.iter_mut().enumerate() {
            while chance as f64 >= 256.0 * (below + likely) {
                below += likely;
                count += 1;
                likely *= 0.4 / f64::from(count);
            }
            *place = count;
        }
        Frames { seed, counts }
    }

    /// Makes one image.
    pub(super) fn make(&self, number: u64, pixels: &mut [u16]) {
        let mut chance = Rng::with_seed(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number));
        for eight in pixels.chunks_mut(8) {
            for (pixel, byte) in eight.iter_mut().zip(chance.u64(..).to_le_bytes()) {
                *pixel = self.counts.get(usize::from(byte)).copied().unwrap_or(0);
            }
        }
        for _ in 0..SPOTS {
            let (row, column) = (chance.usize(REACH..SIDE - REACH), chance.usize(REACH..SIDE - REACH));
            let bright = f64::from(chance.u16(200..20_000));
            for down in 0..=2 * REACH {
                for right in 0..=2 * REACH {
                    let distance = (down.abs_diff(REACH).pow(2) + right.abs_diff(REACH).pow(2)) as f64;
                    let counts = (bright * (-distance / 4.0).exp()) as u16;
                    let at = (row + down - REACH) * SIDE + column + right - REACH;
                    if let Some(pixel) = pixels.get_mut(at) {
                        *pixel = pixel.saturating_add(counts);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_made_again_and_look_like_a_detector() {
        let (mut first, mut again, mut other) = (vec![0; PIXELS], vec![9; PIXELS], vec![0; PIXELS]);
        let frames = Frames::new(7);
        frames.make(3, &mut first);
        frames.make(3, &mut again);
        frames.make(4, &mut other);
        assert!(first == again && first != other);
        let dark = first.iter().filter(|&&counts| counts == 0).count();
        assert!((PIXELS / 2..PIXELS * 3 / 4).contains(&dark), "{dark}");
        assert!(first.iter().any(|&counts| counts > 1000));
    }
}
