//! Where a piece of space may begin.

/// A killed process may leave a write half done, but only at a multiple of this of the storage: the system copies page by page.
pub const PAGE: u64 = 4096;
/// Larger pieces may cross the border of a page: to keep them inside would leave more space unused than they take.
const MOST: u64 = PAGE / 2;

/// Where a piece may begin: at multiples of a number, and so that it crosses no border of a page, if it is small enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Pieces begin at multiples of this.
    pub alignment: u64,
    /// How many bytes of the storage lie before address 0, if the borders of pages are kept.
    pub base: Option<u64>,
}

impl Rule {
    /// A piece begins anywhere.
    pub const ANYWHERE: Rule = Rule { alignment: 1, base: None };

    /// The first address from `from` on where a piece of `len` bytes may begin; nothing if there is none.
    ///
    /// Few alignments contradict the borders so often that a piece crosses one all the same.
    ///
    /// ```
    /// use hyperslab_alloc::Rule;
    /// let rule = Rule { alignment: 1, base: Some(512) };
    /// assert_eq!(rule.place(3000, 500), Some(3000));
    /// assert_eq!(rule.place(3500, 500), Some(4096 - 512), "512 bytes lie before");
    /// assert_eq!(rule.place(3500, 5000), Some(3500), "there is no place that would do");
    /// ```
    pub fn place(self, from: u64, len: u64) -> Option<u64> {
        let aligned = |from: u64| from.checked_next_multiple_of(self.alignment.max(1));
        let first = aligned(from)?;
        let mut at = first;
        for _ in 0..4 {
            let Some(border) = self.border(at, len) else { return Some(at) };
            at = aligned(border)?;
        }
        Some(first)
    }

    /// The first border that a piece would cross, if it must not.
    fn border(self, at: u64, len: u64) -> Option<u64> {
        let base = self.base.filter(|_| len <= MOST)?;
        let border = base.checked_add(at)?.checked_next_multiple_of(PAGE)?.checked_sub(base)?;
        (border > at && border < at.checked_add(len)?).then_some(border)
    }

    /// Whether a piece of `len` bytes at `start` keeps to the borders.
    pub(crate) fn allows(self, start: u64, len: u64) -> bool {
        self.border(start, len).is_none()
    }

    /// How much a piece of `len` bytes may need in front of it, at most.
    pub(crate) fn slack(self, len: u64) -> u64 {
        let before = if self.base.is_some() && len <= MOST { len } else { 0 };
        self.alignment.saturating_add(before)
    }
}
