//! When nodes are split, merged and evened out: as libhdf5 does it, so that it can go on with the tree.

use hyperslab_format::index::btree_v2::BtreeV2;

/// A node that is split must give two that are not empty.
pub(super) const FEWEST: usize = 3;

/// How many records make a node full.
pub(super) fn full(header: &BtreeV2, level: u16) -> usize {
    percent(header, level, header.split)
}

/// How few records make a node sparse. It must not lose its last one.
pub(super) fn sparse(header: &BtreeV2, level: u16) -> usize {
    percent(header, level, header.merge).max(1)
}

fn percent(header: &BtreeV2, level: u16, percent: u8) -> usize {
    let most = header.max_records(level).unwrap_or(0);
    usize::try_from(most * u64::from(percent) / 100).unwrap_or(usize::MAX)
}

/// What happens to the children of a node before one of them loses a record.
pub(super) enum Rebalance {
    /// They stay as they are.
    Nothing,
    /// The child and its neighbours are evened out.
    Even,
    /// So many children from the first on become children with these counts of records: three become two, at the ends two become one.
    Merge { first: usize, old: usize, counts: Vec<usize> },
}

/// The children of a node.
pub(super) struct Children<'a> {
    pub(super) level: u16,
    pub(super) len: usize,
    /// How many records a child has.
    pub(super) records: &'a dyn Fn(usize) -> Option<usize>,
}

impl Children<'_> {
    /// What happens before a child loses a record. Neighbours give it records only if they `may_even`.
    pub(super) fn before_loss(&self, header: &BtreeV2, child: usize, may_even: bool) -> Rebalance {
        let (full, sparse, last) = (full(header, self.level), sparse(header, self.level), self.len.saturating_sub(1));
        let rich = |at: Option<usize>| at.and_then(self.records).is_some_and(|count| count > sparse);
        if rich(Some(child)) {
            return Rebalance::Nothing;
        }
        if may_even && (rich(child.checked_sub(1)) || rich(child.checked_add(1))) {
            return Rebalance::Even;
        }
        let inner = child > 0 && child < last;
        let (first, old) = if inner { (child - 1, 3) } else { (child.min(last.saturating_sub(1)), 2) };
        let total = (first..first + old).filter_map(self.records).sum::<usize>() + 1;
        let counts = if inner { vec![total / 2, total - total / 2] } else { vec![total] };
        // A root of two children gives way to one node as a whole.
        match self.len < 3 || counts.iter().any(|&count| count > full) {
            true => Rebalance::Nothing,
            false => Rebalance::Merge { first, old, counts },
        }
    }

    /// Whether all records of the two children of a root go into one node, which takes its place.
    pub(super) fn replace_root(&self, header: &BtreeV2) -> bool {
        let total = (0..self.len).filter_map(self.records).sum::<usize>();
        self.len == 2 && total <= sparse(header, self.level) * 2 + 1 && total < full(header, self.level)
    }
}
