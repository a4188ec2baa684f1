//! The arithmetic of stripes.
//!
//! Lives here: where a byte of the file is, how long a member is, and a member as a selection of the file's bytes. Does
//! not live here: I/O.

use hyperslab_space::{Op, Slab, Space};

use crate::Why;

/// A file dealt out to `members` in stripes of `size` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stripes {
    members: u64,
    size: u64,
    /// Bytes of one round over all members.
    round: u64,
}

/// A member as selections: its bytes in some rounds of the file, and the same bytes in itself from `offset` on.
pub(super) struct Member {
    pub(super) file: Space,
    pub(super) local: Space,
    pub(super) offset: u64,
}

impl Stripes {
    pub(super) fn new(members: u64, size: u64) -> Result<Self, Why> {
        let round = members.checked_mul(size).ok_or(Why::Overflow)?;
        if round == 0 {
            return Err(Why::invalid(format!("{members} members with stripes of {size} bytes")));
        }
        Ok(Stripes { members, size, round })
    }

    /// The member that holds the byte, its address there, and how many bytes follow in the same stripe.
    pub(super) fn locate(&self, addr: u64) -> (u64, u64, u64) {
        let (stripe, within) = (addr / self.size, addr % self.size);
        (stripe % self.members, stripe / self.members * self.size + within, self.size - within)
    }

    /// Where the file ends if this member, with so many bytes, holds its last one.
    pub(super) fn end(&self, member: u64, len: u64) -> Option<u64> {
        let Some(last) = len.checked_sub(1) else { return Some(0) };
        let before = (last / self.size).checked_mul(self.round)?.checked_add(member * self.size)?;
        before.checked_add(last % self.size)?.checked_add(1)
    }

    /// How many bytes of a file of `len` bytes this member holds.
    pub(super) fn local_len(&self, member: u64, len: u64) -> u64 {
        let rest = (len % self.round).saturating_sub(member * self.size).min(self.size);
        len / self.round * self.size + rest
    }

    /// Bytes of one round over all members.
    pub(super) fn round(&self) -> u64 {
        self.round
    }

    /// How many rounds the bytes from `first` to `last` are in, both included.
    pub(super) fn rounds(&self, first: u64, last: u64) -> u64 {
        (last / self.round).saturating_sub(first / self.round).saturating_add(1)
    }

    /// What a member holds of the rounds that the bytes from `first` to `last` are in, both included.
    pub(super) fn member(&self, member: u64, first: u64, last: u64) -> Result<Member, Why> {
        let (before, rounds) = (first / self.round, self.rounds(first, last));
        let end = (before + rounds).checked_mul(self.round).ok_or(Why::Overflow)?;
        let mut file = Space::simple(&[end])?;
        let start = before * self.round + member * self.size;
        file.select_hyperslab(Op::Set, &[Slab::new(start, self.round, rounds, self.size)])?;
        Ok(Member { file, local: Space::simple(&[rounds * self.size])?, offset: before * self.size })
    }

    /// The members that hold a byte from `first` to `last`, both included.
    pub(super) fn touched(&self, first: u64, last: u64) -> impl Iterator<Item = u64> + use<> {
        let (members, start) = (self.members, first / self.size);
        let count = (last / self.size).saturating_sub(start).saturating_add(1).min(members);
        (0..count).map(move |step| (start % members + step) % members)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn like_dealing_byte_by_byte(members in 1u64..6, size in 1u64..7, offset in 0u64..50, len in 1u64..60) {
            let stripes = Stripes::new(members, size).unwrap();
            let mut filled = vec![0u64; members as usize];
            for addr in 0..offset + len {
                let (member, local, room) = stripes.locate(addr);
                prop_assert_eq!(local, filled[member as usize]);
                prop_assert_eq!(room, size - addr % size);
                filled[member as usize] += 1;
            }
            let ends = (0..members).map(|member| stripes.end(member, filled[member as usize]).unwrap());
            prop_assert_eq!(ends.max(), Some(offset + len));
            let touched: Vec<u64> = stripes.touched(offset, offset + len - 1).collect();
            for member in 0..members {
                prop_assert_eq!(stripes.local_len(member, offset + len), filled[member as usize]);
                let held: Vec<u64> = (0..offset + len).filter(|&addr| stripes.locate(addr).0 == member).collect();
                prop_assert_eq!(touched.contains(&member), held.iter().any(|&addr| addr >= offset));
                let shape = stripes.member(member, offset, offset + len - 1).unwrap();
                let bytes = shape.file.runs(1).unwrap().flat_map(|run| run.offset..run.offset + run.len);
                let locals: Vec<u64> = bytes.map(|addr| stripes.locate(addr).1).collect();
                prop_assert_eq!(locals, (shape.offset..shape.offset + shape.local.npoints()).collect::<Vec<_>>());
                let (low, high) = shape.file.bounds().unwrap();
                prop_assert!(held.iter().all(|&addr| addr < offset || (low[0] <= addr && addr <= high[0])));
            }
        }
    }
}
