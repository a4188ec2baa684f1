//! What is sent of an image: which pixels, and what they count.

use super::size::Size;
use hyperslab::{Dataset, Result, s};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) places: Places,
    /// By rising row and column.
    pub(super) values: Vec<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Places {
    Rectangle {
        rows: Range<u64>,
        columns: Range<u64>,
    },
    /// Rows and columns, rising.
    Pixels(Vec<[u64; 2]>),
}

impl Sent {
    /// A whole image.
    pub(super) fn whole(size: Size, values: Vec<u16>) -> Sent {
        Sent { places: Places::Rectangle { rows: 0..size.height, columns: 0..size.width }, values }
    }

    /// Writes it as an image of a dataset: a rectangle as a slice, pixels as a list of coordinates.
    pub(super) fn write(&self, images: &Dataset, image: u64) -> Result<()> {
        match &self.places {
            Places::Rectangle { rows, columns } => {
                images.write_slice(s![image, rows.clone(), columns.clone()], &self.values)
            }
            Places::Pixels(pixels) => {
                let coords: Vec<u64> = pixels.iter().flat_map(|[row, column]| [image, *row, *column]).collect();
                images.write_coords(&coords, &self.values)
            }
        }
    }

    /// Rows and columns of all pixels, rising.
    pub(super) fn places(&self) -> Box<dyn Iterator<Item = [u64; 2]> + '_> {
        match &self.places {
            Places::Rectangle { rows, columns } => {
                Box::new(rows.clone().flat_map(|row| columns.clone().map(move |column| [row, column])))
            }
            Places::Pixels(pixels) => Box::new(pixels.iter().copied()),
        }
    }

    /// Gives its pixels their values in an image of so many columns.
    pub(super) fn paint(&self, width: u64, image: &mut [u16]) {
        for ([row, column], value) in self.places().zip(&self.values) {
            if let Some(pixel) = image.get_mut((row * width + column) as usize) {
                *pixel = *value;
            }
        }
    }
}
