//! How large images are.

/// Pixels of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) height: u64,
    pub(super) width: u64,
}

impl Size {
    /// An image of so many times 2^20 pixels.
    pub(super) fn of_megapixels(megapixels: u64) -> Size {
        let (height, width) = match megapixels {
            ..=1 => (1024, 1024),
            2 => (1024, 2048),
            3 => (1536, 2048),
            _ => (2048, 2048),
        };
        Size { height, width }
    }

    pub(super) fn pixels(self) -> usize {
        (self.height * self.width) as usize
    }
}
