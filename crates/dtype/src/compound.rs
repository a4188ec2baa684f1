//! Compound datatypes: named members at offsets.

use crate::datatype::{Class, Datatype, repeated};
use crate::{Error, Name, Result};

/// The most members a compound or enumeration may have.
pub(crate) const MAX_MEMBERS: usize = 65_535;

/// The members of a compound, in the order of the file. Names are unique and members do not overlap.
#[derive(Clone, Debug)]
pub struct Compound {
    members: Vec<Member>,
}

/// One member of a compound.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name.
    pub name: Name,
    /// Where its value starts.
    pub offset: u32,
    /// What it is.
    pub datatype: Datatype,
}

impl Member {
    /// The byte after its value.
    pub(crate) fn end(&self) -> u64 {
        u64::from(self.offset) + self.datatype.size() as u64
    }
}

impl Compound {
    /// The members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The members by offset.
    pub(crate) fn by_offset(&self) -> Vec<&Member> {
        let mut sorted: Vec<&Member> = self.members.iter().collect();
        sorted.sort_by_key(|member| member.offset);
        sorted
    }
}

impl Datatype {
    /// A compound whose members follow each other without gaps.
    pub fn compound<N: AsRef<[u8]>>(members: impl IntoIterator<Item = (N, Datatype)>) -> Result<Datatype> {
        let mut offset = 0u32;
        let mut placed = Vec::new();
        for (name, datatype) in members {
            let size = datatype.size;
            placed.push((name, offset, datatype));
            offset = offset.checked_add(size).ok_or_else(|| Error::invalid("compound", "it is larger than 4 GiB"))?;
        }
        Datatype::compound_at(offset, placed)
    }

    /// A compound of `size` bytes with members at given offsets, as a C or Rust struct has them.
    ///
    /// ```
    /// use hyperslab_dtype::Datatype;
    /// let padded = Datatype::compound_at(8, [("a", 0, Datatype::of::<u8>()), ("b", 4, Datatype::of::<f32>())])?;
    /// assert_eq!(padded.packed()?.size(), 5);
    /// # Ok::<(), hyperslab_dtype::Error>(())
    /// ```
    pub fn compound_at<N: AsRef<[u8]>>(
        size: u32,
        members: impl IntoIterator<Item = (N, u32, Datatype)>,
    ) -> Result<Datatype> {
        let named = |(name, offset, datatype): (N, u32, Datatype)| {
            Ok(Member { name: Name::new(name.as_ref())?, offset, datatype })
        };
        Datatype::compound_of(size, members.into_iter().map(named).collect::<Result<_>>()?)
    }

    pub(crate) fn compound_of(size: u32, members: Vec<Member>) -> Result<Datatype> {
        let refuse = |why: String| Err(Error::invalid("compound", why));
        if members.is_empty() || members.len() > MAX_MEMBERS {
            return refuse(format!("it has {} members", members.len()));
        }
        if let Some(name) = repeated(members.iter().map(|member| &member.name)) {
            return refuse(format!("two members are called {name:?}"));
        }
        let compound = Compound { members };
        let mut end = 0;
        for member in compound.by_offset() {
            if u64::from(member.offset) < end {
                return refuse(format!("member {:?} overlaps the one before it", member.name));
            }
            end = member.end();
            if end > u64::from(size) {
                return refuse(format!("member {:?} ends at byte {end} of {size}", member.name));
            }
        }
        Datatype::checked(size, Class::Compound(compound))
    }

    /// The same datatype without gaps between the members of compounds, at any depth, as `H5Tpack` makes it.
    pub fn packed(&self) -> Result<Datatype> {
        self.map_parts(&|part| part.packed())
    }

    /// The same datatype with every part replaced. Members of compounds keep their order and lose their gaps.
    pub(crate) fn map_parts(&self, change: &dyn Fn(&Datatype) -> Result<Datatype>) -> Result<Datatype> {
        match self.class() {
            Class::Compound(compound) => {
                let members = compound.members().iter();
                let changed: Vec<_> = members
                    .map(|member| Ok((member.name.as_bytes(), change(&member.datatype)?)))
                    .collect::<Result<_>>()?;
                Datatype::compound(changed)
            }
            Class::Array(array) => Datatype::array(change(array.base())?, array.dims()),
            Class::Vlen(vlen) => {
                let base = Box::new(change(&vlen.base)?);
                Datatype::vlen_of_size(self.size, crate::Vlen { base, text: vlen.text })
            }
            _ => Ok(self.clone()),
        }
    }
}
