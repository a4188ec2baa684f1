//! What strings are padded with and which characters they hold.

use std::ffi::CStr;

/// What follows the characters of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Padding {
    /// One NUL at least.
    NullTerm,
    /// NULs as needed.
    NullPad,
    /// Spaces as needed, as in Fortran.
    SpacePad,
}

impl Padding {
    /// The characters of a fixed-length string: up to the first NUL, or without what it is padded with.
    ///
    /// ```
    /// use hyperslab_dtype::Padding;
    /// assert_eq!(Padding::NullTerm.strip(b"ab\0d"), b"ab");
    /// assert_eq!(Padding::NullPad.strip(b"ab\0d\0\0"), b"ab\0d");
    /// assert_eq!(Padding::SpacePad.strip(b"a b  "), b"a b");
    /// ```
    #[inline]
    pub fn strip(self, bytes: &[u8]) -> &[u8] {
        let without = |pad| bytes.iter().rposition(|&byte| byte != pad).map_or(0, |last| last + 1);
        let length = match self {
            Padding::NullTerm => CStr::from_bytes_until_nul(bytes).map_or(bytes.len(), CStr::count_bytes),
            Padding::NullPad => without(0),
            Padding::SpacePad => without(b' '),
        };
        bytes.get(..length).unwrap_or_default()
    }

    pub(crate) fn code(self) -> u32 {
        self as u32
    }

    pub(crate) fn of_code(code: u32) -> Option<Padding> {
        [Padding::NullTerm, Padding::NullPad, Padding::SpacePad].into_iter().find(|padding| padding.code() == code)
    }
}

/// The characters a string may hold. Both are bytes to this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// ASCII.
    Ascii,
    /// UTF-8.
    Utf8,
}

impl Charset {
    pub(crate) fn code(self) -> u32 {
        self as u32
    }

    pub(crate) fn of_code(code: u32) -> Option<Charset> {
        [Charset::Ascii, Charset::Utf8].into_iter().find(|charset| charset.code() == code)
    }
}
