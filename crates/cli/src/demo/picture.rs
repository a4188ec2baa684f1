//! A picture of images whose pixels are not all defined: those that are, by their counts; the others dark.

use super::size::Size;
use hyperslab::{Dataset, s};
use std::io::{self, BufWriter, Write};

/// The colour of pixels that are not defined.
const UNDEFINED: u8 = 0;
/// The colour between images.
const GAP: u8 = 255;
/// The colour of the most counts.
const MOST: u8 = 254;
/// Columns between images.
const GAP_WIDTH: usize = 8;

/// Red, green and blue of counts, few to many; those between lie on straight lines.
const COLOURS: [[u8; 3]; 5] = [[68, 36, 140], [30, 120, 180], [40, 180, 120], [220, 200, 60], [255, 250, 220]];

/// Images side by side, a byte a pixel: the number of its colour.
pub(super) struct Picture {
    size: Size,
    images: Vec<Vec<u8>>,
}

impl Picture {
    pub(super) fn new(size: Size) -> Picture {
        Picture { size, images: Vec::new() }
    }

    /// Adds the defined pixels of an image. Colours follow the logarithm of counts, and the image has all of them.
    pub(super) fn add(&mut self, images: &Dataset, image: u64) -> hyperslab::Result<()> {
        let defined = images.defined(images.slice(s![image, .., ..])?.selection())?;
        let values: Vec<u16> = images.read_selection(&defined)?;
        let level = |counts: u16| (1.0 + f32::from(counts)).ln();
        let most = level(values.iter().copied().max().unwrap_or(0).max(1));
        let mut pixels = vec![UNDEFINED; self.size.pixels()];
        for (coord, counts) in defined.coords()?.zip(values) {
            let [_, row, column] = *coord else { continue };
            if let Some(pixel) = pixels.get_mut((row * self.size.width + column) as usize) {
                *pixel = 1 + (level(counts) / most * f32::from(MOST - 1)).round() as u8;
            }
        }
        self.images.push(pixels);
        Ok(())
    }

    /// Writes it as PNG.
    pub(super) fn write(&self, to: impl Write) -> io::Result<()> {
        let width = self.size.width as usize;
        let columns = ((width + GAP_WIDTH) * self.images.len()).saturating_sub(GAP_WIDTH);
        let mut encoder = png::Encoder::new(BufWriter::new(to), columns as u32, self.size.height as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette());
        let mut writer = encoder.write_header()?;
        let mut pixels = Vec::with_capacity(columns * self.size.height as usize);
        for row in 0..self.size.height as usize {
            for (nth, image) in self.images.iter().enumerate() {
                let gap = if nth == 0 { 0 } else { GAP_WIDTH };
                pixels.extend(std::iter::repeat_n(GAP, gap));
                pixels.extend(image.iter().skip(row * width).take(width));
            }
        }
        writer.write_image_data(&pixels)?;
        Ok(writer.finish()?)
    }
}

/// Red, green and blue of each number of a colour.
fn palette() -> Vec<u8> {
    let mut palette = vec![16, 18, 28];
    for level in 0..MOST {
        let along = f32::from(level) / f32::from(MOST - 1) * (COLOURS.len() - 1) as f32;
        let below = (along as usize).min(COLOURS.len() - 2);
        if let Some([from, to]) = COLOURS.get(below..below + 2) {
            let part = along - below as f32;
            let mixed =
                from.iter().zip(to).map(|(&from, &to)| f32::from(from) + part * (f32::from(to) - f32::from(from)));
            palette.extend(mixed.map(|colour| colour.round() as u8));
        }
    }
    palette.extend([150, 150, 150]);
    palette
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab::{File, driver::Memory};
    use std::sync::Arc;

    #[test]
    fn each_pixel_has_its_colour() {
        let size = Size { height: 5, width: 7 };
        let file = File::create_on(Arc::new(Memory::new())).unwrap();
        let images = file.root().unwrap().new_dataset::<u16>().shape([2, 5, 7]).chunks([1, 5, 7]).sparse();
        let images = images.create("images").unwrap();
        images.write_slice(s![0, 1..3, 2..4], &[0u16, 1, 9, 65_535]).unwrap();
        let mut picture = Picture::new(size);
        picture.add(&images, 0).unwrap();
        picture.add(&images, 1).unwrap();
        let mut bytes = Vec::new();
        picture.write(&mut bytes).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (7 + 8 + 7, 5));
        assert_eq!(reader.info().palette.as_ref().unwrap().len(), 3 * 256);
        let mut pixels = vec![0; 22 * 5];
        reader.next_frame(&mut pixels).unwrap();
        let at = |row: usize, column: usize| pixels[22 * row + column];
        assert_eq!([at(1, 2), at(1, 3), at(2, 2), at(2, 3)], [1, 17, 54, MOST]);
        for (nth, pixel) in pixels.iter().enumerate() {
            let (row, column) = (nth / 22, nth % 22);
            match column {
                2..4 if (1..3).contains(&row) => {}
                7..15 => assert_eq!(*pixel, GAP),
                _ => assert_eq!(*pixel, UNDEFINED),
            }
        }
    }
}
