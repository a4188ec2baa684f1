//! How many bytes an integer takes in a file.

/// The width of a little-endian unsigned integer: one to eight bytes.
///
/// ```
/// use hyperslab_base::Width;
/// assert_eq!(Width::W2.max(), 65_535);
/// assert_eq!(Width::of(70_000), Width::new(3).unwrap());
/// assert_eq!(Width::of_selection(70_000), Width::W4);
/// assert!(Width::new(9).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Width(u8);

impl Width {
    /// One byte.
    pub const W1: Width = Width(1);
    /// Two bytes.
    pub const W2: Width = Width(2);
    /// Four bytes.
    pub const W4: Width = Width(4);
    /// Eight bytes.
    pub const W8: Width = Width(8);

    /// A width of `bytes` bytes, if that is between one and eight.
    #[inline]
    pub const fn new(bytes: u8) -> Option<Width> {
        if bytes >= 1 && bytes <= 8 { Some(Width(bytes)) } else { None }
    }

    /// The number of bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self.0 as usize
    }

    /// The largest value that fits; all ones, which the format often reserves for "undefined" or "unlimited".
    #[inline]
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - 8 * self.0 as u32)
    }

    /// The fewest bytes that hold `value`; one for zero.
    pub const fn of(value: u64) -> Width {
        Width(if value == 0 { 1 } else { (64 - value.leading_zeros()).div_ceil(8) as u8 })
    }

    /// The narrowest of 2, 4 and 8 bytes that holds `value`: the choice that encoded selections have.
    pub const fn of_selection(value: u64) -> Width {
        if value <= Width::W2.max() {
            Width::W2
        } else if value <= Width::W4.max() {
            Width::W4
        } else {
            Width::W8
        }
    }
}

/// How many bytes addresses and lengths take in one file; its superblock says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Widths {
    /// Of addresses.
    pub offsets: Width,
    /// Of lengths.
    pub lengths: Width,
}

impl Widths {
    /// Eight bytes each: what nearly all files have.
    pub const EIGHT: Widths = Widths { offsets: Width::W8, lengths: Width::W8 };
}
