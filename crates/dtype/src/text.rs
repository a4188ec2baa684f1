//! What strings are padded with and which characters they hold.

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
            Padding::NullTerm => first_nul(bytes).unwrap_or(bytes.len()),
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

/// Some bytes at a time, which is one comparison of vectors.
#[inline]
fn first_nul(bytes: &[u8]) -> Option<usize> {
    let mut parts = bytes.chunks(16).zip((0..).step_by(16));
    parts.find_map(|(part, at)| {
        let some = part.iter().fold(false, |found, &byte| found | (byte == 0));
        if some { part.iter().position(|&byte| byte == 0).map(|nth| at + nth) } else { None }
    })
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
