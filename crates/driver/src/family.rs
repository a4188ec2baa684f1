//! One file as a row of members of one size.
//!
//! Lives here: [`Family`] and its member names. Does not live here: how a member is opened; an [`Opener`] does that. Used for
//! files that libhdf5 wrote with its family driver, and for file systems with a limit on file size.

use std::sync::{Arc, PoisonError, RwLock};

use crate::route::{self, MemberAddress, Route};
use crate::{Capabilities, Driver, Error, Operation, ReadPart, Result, Transfer, Why, WritePart};

/// Opens the member with this name. With `create` it is made if it is not there; without, the answer is then `None`.
pub type Opener<D> = Box<dyn Fn(&str, bool) -> Result<Option<D>> + Send + Sync>;

/// A row of members, all of one size but the last. Members are made when a write first needs them.
///
/// ```
/// use hyperslab_driver::{Driver, Family, Memory, Transfer};
/// let open = |_: &str, create: bool| Ok(create.then(Memory::new));
/// let file = Family::open("part-%05d.h5", 4, Box::new(open))?;
/// file.write_at(2, b"abcdef", &Transfer::default())?;
/// assert_eq!(file.members(), 2);
/// assert_eq!(file.len(&Transfer::default())?, 8);
/// # Ok::<(), hyperslab_driver::Error>(())
/// ```
pub struct Family<D> {
    template: Template,
    member_size: u64,
    open: Opener<D>,
    members: RwLock<Vec<Arc<D>>>,
}

impl<D: Driver> Family<D> {
    /// Opens all members that there are. `template` is a name with one `%d` (or `%05d`, say) for the number of the member;
    /// `member_size` is the size of all but the last.
    pub fn open(template: &str, member_size: u64, open: Opener<D>) -> Result<Self> {
        let invalid = |text: &str| Error::new(template, Operation::Open, 0, 0, Why::invalid(text));
        if member_size == 0 {
            return Err(invalid("members of zero bytes"));
        }
        let template = Template::parse(template)
            .ok_or_else(|| invalid("the name of a family must hold one %d for the number of the member"))?;
        let mut members = Vec::new();
        while let Some(member) = open(&template.name(members.len()), false)? {
            members.push(Arc::new(member));
        }
        Ok(Family { template, member_size, open, members: RwLock::new(members) })
    }

    /// How many members there are.
    pub fn members(&self) -> usize {
        self.members.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn snapshot(&self) -> Vec<Arc<D>> {
        self.members.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the members that a file of `len` bytes has, each before the last in full size. No lock is held while storage works:
    /// two threads may open the same member, and one of the two is dropped.
    fn grow(&self, len: u64, transfer: &Transfer) -> Result<Vec<Arc<D>>> {
        let fail = |why| Error::new(&self.template.text, Operation::SetLen, len, 0, why);
        let wanted = usize::try_from(len.div_ceil(self.member_size)).map_err(|_| fail(Why::Overflow))?;
        let before = self.members();
        for index in before..wanted {
            let made = (self.open)(&self.template.name(index), true)?
                .ok_or_else(|| fail(Why::invalid("the opener made no member")))?;
            let mut members = self.members.write().unwrap_or_else(PoisonError::into_inner);
            if members.len() == index {
                members.push(Arc::new(made));
            }
        }
        let members = self.snapshot();
        for member in members.iter().take(wanted.saturating_sub(1)).skip(before.saturating_sub(1)) {
            if member.len(transfer)? < self.member_size {
                member.set_len(self.member_size, transfer)?;
            }
        }
        Ok(members)
    }
}

impl<D: Driver> Route for Family<D> {
    fn locate(&self, addr: u64) -> Result<MemberAddress, Why> {
        let member = usize::try_from(addr / self.member_size).map_err(|_| Why::Overflow)?;
        let addr = addr % self.member_size;
        Ok(MemberAddress { member, addr, room: self.member_size - addr })
    }
}

impl<D: Driver> Driver for Family<D> {
    fn read_at(&self, addr: u64, buf: &mut [u8], transfer: &Transfer) -> Result<()> {
        self.read_vector(&mut [ReadPart { kind: transfer.kind, addr, buf }], transfer)
    }

    fn write_at(&self, addr: u64, buf: &[u8], transfer: &Transfer) -> Result<()> {
        self.write_vector(&[WritePart { kind: transfer.kind, addr, buf }], transfer)
    }

    /// As libhdf5 counts: full members up to the last that is not empty, and what that one holds.
    fn len(&self, transfer: &Transfer) -> Result<u64> {
        for (index, member) in self.snapshot().iter().enumerate().rev() {
            match member.len(transfer)? {
                0 => {}
                len => return Ok((index as u64).saturating_mul(self.member_size).saturating_add(len)),
            }
        }
        Ok(0)
    }

    fn set_len(&self, len: u64, transfer: &Transfer) -> Result<()> {
        let members = self.grow(len, transfer)?;
        route::each(&members, |index, member| {
            let before = (index as u64).saturating_mul(self.member_size);
            let wanted = len.saturating_sub(before).min(self.member_size);
            if member.len(transfer)? == wanted { Ok(()) } else { member.set_len(wanted, transfer) }
        })
    }

    fn sync(&self, transfer: &Transfer) -> Result<()> {
        route::each(&self.snapshot(), |_, member| member.sync(transfer))
    }

    fn flush(&self, transfer: &Transfer) -> Result<()> {
        route::each(&self.snapshot(), |_, member| member.flush(transfer))
    }

    fn name(&self) -> &str {
        &self.template.text
    }

    fn capabilities(&self) -> Capabilities {
        let members = self.snapshot();
        let common = members.iter().fold(Capabilities::all(), |common, member| common & member.capabilities());
        common & (Capabilities::WRITE | Capabilities::NEAR)
            | Capabilities::VECTOR
            | Capabilities::CONCURRENT
            | Capabilities::IN_A_ROW
    }

    fn read_vector(&self, parts: &mut [ReadPart<'_>], transfer: &Transfer) -> Result<()> {
        route::read_with_gaps(self, &self.snapshot(), parts, transfer)
    }

    fn write_vector(&self, parts: &[WritePart<'_>], transfer: &Transfer) -> Result<()> {
        let mut end = 0;
        for part in parts.iter().filter(|part| !part.buf.is_empty()) {
            let len = part.buf.len() as u64;
            let reach = part.addr.checked_add(len);
            end =
                end.max(reach.ok_or_else(|| Error::new(self.name(), Operation::Write, part.addr, len, Why::Overflow))?);
        }
        route::write(self, &self.grow(end, transfer)?, parts, transfer)
    }
}

/// A name with a place for the number, as `printf` has it.
struct Template {
    text: String,
    before: String,
    after: String,
    width: usize,
    zeros: bool,
}

impl Template {
    fn parse(text: &str) -> Option<Template> {
        let (before, rest) = text.split_once('%')?;
        let (digits, after) = rest.split_once(['d', 'u', 'i'])?;
        if after.contains('%') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let width = if digits.is_empty() { 0 } else { digits.parse().ok().filter(|&width| width <= 64)? };
        let zeros = digits.starts_with('0');
        Some(Template { text: text.to_owned(), before: before.to_owned(), after: after.to_owned(), width, zeros })
    }

    fn name(&self, index: usize) -> String {
        let Template { before, after, width, .. } = self;
        if self.zeros { format!("{before}{index:0width$}{after}") } else { format!("{before}{index:width$}{after}") }
    }
}

#[cfg(test)]
mod tests {
    use super::Template;

    #[test]
    fn names() {
        let name = |text: &str| Template::parse(text).map(|template| template.name(7));
        assert_eq!(name("a-%05d.h5").unwrap(), "a-00007.h5");
        assert_eq!(name("%d").unwrap(), "7");
        assert_eq!(name("x%3d").unwrap(), "x  7");
        assert!(name("none").is_none() && name("%d%d").is_none() && name("%s").is_none());
    }
}
