//! A simulated detector: what it sees follows from a seed and the number of an image, so that each image can be made again and compared.

use super::sent::{Places, Sent};
use super::size::Size;
use clap::ValueEnum;
use std::f64::consts::TAU;
use std::ops::Range;

/// What a detector sends of its images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pattern {
    // Documentation here would make the help of `demo` twice as long.
    // One rectangle of a tenth of the image
    Regions,
    // Small groups of pixels
    Spots,
}

impl Pattern {
    pub(super) const ALL: [Pattern; 2] = [Pattern::Regions, Pattern::Spots];

    /// The name of its group, too.
    pub(super) fn name(self) -> &'static str {
        match self {
            Pattern::Regions => "regions",
            Pattern::Spots => "spots",
        }
    }
}

/// The pixels of a spot around its centre; it has the first so many of them.
const SPOT: [[i64; 2]; 10] = [[0, 0], [0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [-1, -1], [1, -1], [-1, 1], [0, 2]];
/// How far a spot reaches from its centre.
const REACH: u64 = 2;
/// Distances between the bright lines of a region, in pixels.
const FRINGES: f64 = 14.0;

pub(super) struct Detector {
    pub(super) pattern: Pattern,
    pub(super) size: Size,
    seed: u64,
}

impl Detector {
    pub(super) fn new(pattern: Pattern, size: Size, seed: u64) -> Detector {
        Detector { pattern, size, seed: mix(seed.wrapping_add(pattern as u64)) }
    }

    /// What the detector sends of an image.
    pub(super) fn sent(&self, image: u64) -> Sent {
        match self.pattern {
            Pattern::Regions => self.region(image),
            Pattern::Spots => self.spots(image),
        }
    }

    /// The image with zeros around what is sent of it.
    pub(super) fn padded(&self, image: u64) -> Sent {
        let mut pixels = vec![0; self.size.pixels()];
        self.sent(image).paint(self.size.width, &mut pixels);
        Sent::whole(self.size, pixels)
    }

    /// The image as the detector sees it.
    pub(super) fn full(&self, image: u64) -> Sent {
        let mut pixels: Vec<u16> = (0..self.size.pixels() as u64).map(|at| self.counts(image, at, 0.0)).collect();
        self.sent(image).paint(self.size.width, &mut pixels);
        Sent::whole(self.size, pixels)
    }

    /// A rectangle that moves to and fro, with bright lines in it.
    fn region(&self, image: u64) -> Sent {
        let side = |whole: u64, sway: f64| {
            let length = (whole as f64 * 0.1f64.sqrt()).round() as u64;
            let start = (whole - length) as f64 * (0.5 + 0.5 * sway);
            start as u64..(start as u64 + length).min(whole)
        };
        let time = image as f64;
        let rows = side(self.size.height, (time * 0.05).sin());
        let columns = side(self.size.width, (time * 0.031).cos());
        let heights = profile(&rows, |_| 1.0);
        let widths = profile(&columns, |along| 0.5 + 0.5 * (TAU * along / FRINGES).cos());
        let mut values = Vec::with_capacity(heights.len() * widths.len());
        for (row, high) in rows.clone().zip(&heights) {
            let lit = columns.clone().zip(&widths);
            values.extend(
                lit.map(|(column, wide)| self.counts(image, row * self.size.width + column, 300.0 * high * wide)),
            );
        }
        Sent { places: Places::Rectangle { rows, columns }, values }
    }

    /// Spots that move each at its own speed, and leave the image on one side to come back on the other.
    fn spots(&self, image: u64) -> Sent {
        let count = (75.0 + 25.0 * (image as f64 / 20.0).sin()).round() as u64;
        let mut lit: Vec<([u64; 2], f32)> = Vec::new();
        for spot in 0..count {
            let [chance, start_row, start_column] = [1, 2, 3].map(|salt| mix(self.seed ^ mix(spot * 4 + salt)));
            let moved = |start: u64, speed: u64, side: u64| {
                let room = (side - 2 * REACH) as i64;
                let at = (start % room as u64) as i64 + (speed as i64 - 2) * image as i64;
                at.rem_euclid(room) + REACH as i64
            };
            let row = moved(start_row, chance % 5, self.size.height);
            let column = moved(start_column, (chance >> 8) % 5, self.size.width);
            let bright = f32::from(50u16 << ((chance >> 16) % 8));
            let pixels = 5 + (chance >> 24) % 6;
            for (nth, [down, right]) in (0..pixels).zip(SPOT) {
                lit.push(([(row + down) as u64, (column + right) as u64], bright * (-0.3 * nth as f32).exp()));
            }
        }
        lit.sort_unstable_by_key(|(place, _)| *place);
        // Where spots meet, both shine.
        lit.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        let values =
            lit.iter().map(|([row, column], bright)| self.counts(image, row * self.size.width + column, *bright));
        let values = values.collect();
        Sent { places: Places::Pixels(lit.into_iter().map(|(place, _)| place).collect()), values }
    }

    /// What a pixel counts: noise of rare events, and the light that falls on it with its own noise.
    fn counts(&self, image: u64, pixel: u64, bright: f32) -> u16 {
        let chance = mix(self.seed ^ mix(image).wrapping_add(pixel));
        // As often as rare events come, 0.4 in a pixel.
        let noise = match chance & 255 {
            0..172 => 0,
            172..240 => 1,
            240..254 => 2,
            _ => 3,
        };
        if bright < 0.01 {
            return noise;
        }
        // The sum of four bytes is nearly a normal distribution, of this mean and spread.
        let sum: u64 = [8, 16, 24, 32].iter().map(|shift| (chance >> shift) & 255).sum();
        let light = bright + bright.sqrt() * (sum as f32 - 510.0) / 147.8;
        noise.saturating_add(light.max(0.0) as u16)
    }
}

/// How bright a region is along one of its sides: most in its middle.
fn profile(side: &Range<u64>, lines: impl Fn(f64) -> f64) -> Vec<f32> {
    let length = (side.end - side.start) as f64;
    let at = |along: u64| {
        let from_middle = along as f64 - length / 2.0;
        ((-(from_middle / (0.25 * length)).powi(2)).exp() * lines(from_middle)) as f32
    };
    (0..side.end - side.start).map(at).collect()
}

/// Bits that look random, the same for equal numbers: the last step of splitmix64.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { height: 160, width: 200 };

    #[test]
    fn images_are_made_again_and_move() {
        for pattern in Pattern::ALL {
            let (first, again) = (Detector::new(pattern, SIZE, 7), Detector::new(pattern, SIZE, 7));
            let other = Detector::new(pattern, SIZE, 8);
            assert_eq!(first.sent(3), again.sent(3));
            assert_ne!(first.sent(3), other.sent(3));
            let places = |image| first.sent(image).places().collect::<Vec<_>>();
            assert_ne!(places(3), places(20));
        }
    }

    #[test]
    fn a_region_is_a_tenth_of_the_image() {
        let detector = Detector::new(Pattern::Regions, SIZE, 1);
        for image in [0, 1, 77, 1_000_000] {
            let part = detector.sent(image).values.len() as f64 / SIZE.pixels() as f64;
            assert!((0.095..0.105).contains(&part), "{image}: {part}");
        }
    }

    #[test]
    fn spots_are_50_to_100_of_5_to_10_pixels() {
        let detector = Detector::new(Pattern::Spots, Size::of_megapixels(1), 1);
        for image in [0, 31, 94, 1_000_000] {
            let pixels = detector.sent(image).values.len();
            // Some may meet.
            assert!((5 * 50 - 20..=10 * 100).contains(&pixels), "{image}: {pixels}");
        }
    }

    /// Pixels that are sent rise, lie in the image, and are those of the full image.
    #[test]
    fn what_is_sent_is_a_part_of_the_full_image() {
        for pattern in Pattern::ALL {
            let detector = Detector::new(pattern, SIZE, 5);
            for image in [0, 2, 63, 999_999] {
                let (sent, full, padded) = (detector.sent(image), detector.full(image), detector.padded(image));
                let places: Vec<[u64; 2]> = sent.places().collect();
                assert_eq!(places.len(), sent.values.len());
                assert!(places.is_sorted_by(|one, next| one < next));
                assert!(places.iter().all(|[row, column]| *row < SIZE.height && *column < SIZE.width));
                let mut rest = padded.values.clone();
                for ([row, column], value) in places.into_iter().zip(&sent.values) {
                    let at = (row * SIZE.width + column) as usize;
                    assert_eq!((full.values[at], padded.values[at]), (*value, *value));
                    rest[at] = 0;
                }
                assert!(rest.iter().all(|value| *value == 0));
                let dark = full.values.iter().filter(|value| **value == 0).count();
                assert!(dark > SIZE.pixels() / 2, "{dark}");
            }
        }
    }
}
