//! What drivers of several files leave in the file for its next opening: the bytes inside a driver information block or message.
//!
//! ```text
//!  NCSAfami  | size of a member, 8 |
//!  NCSAmult  | member of each memory type, 6 | 0, 2 | per member: start, 8 | end, 8 | per member: name with %s, 0, padded to 8 |
//! ```

use hyperslab_base::Reader;

use crate::Result;

/// How a logical file is spread over several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberFiles {
    /// Members of one size, one after the other.
    Family {
        /// That size.
        size: u64,
    },
    /// A member for each kind of content; the first is the one with the superblock.
    Multi(Vec<MultiMember>),
}

/// A member of a multi file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiMember {
    /// The memory types whose bytes it takes: 1 to 6, as libhdf5 numbers them.
    pub kinds: Vec<u8>,
    /// The address that its first byte has.
    pub start: u64,
    /// How many bytes of it are used.
    pub length: u64,
    /// Its name, `%s` standing for what the names of all members share.
    pub name: Vec<u8>,
}

/// The memory types that a multi file tells apart.
const KINDS: u8 = 6;
/// What stands before the places of the members.
const MAP: usize = 8;

impl MemberFiles {
    /// Reads what the driver of this name left; nothing for a driver of one file.
    pub fn decode(name: [u8; 8], info: &[u8]) -> Result<Option<MemberFiles>> {
        match &name {
            b"NCSAfami" => Self::family(info).map(Some),
            b"NCSAmult" => Self::multi(info).map(Some),
            _ => Ok(None),
        }
    }

    /// The name of the driver, and what it leaves.
    ///
    /// ```
    /// use hyperslab_format::MemberFiles;
    /// let family = MemberFiles::Family { size: 4096 };
    /// let (name, info) = family.encode();
    /// assert_eq!(MemberFiles::decode(name, &info)?, Some(family));
    /// # Ok::<(), hyperslab_format::Malformed>(())
    /// ```
    pub fn encode(&self) -> ([u8; 8], Vec<u8>) {
        match self {
            MemberFiles::Family { size } => (*b"NCSAfami", size.to_le_bytes().to_vec()),
            MemberFiles::Multi(members) => (*b"NCSAmult", Self::encode_multi(members)),
        }
    }

    fn encode_multi(members: &[MultiMember]) -> Vec<u8> {
        let to = |kind: u8| members.iter().find(|member| member.kinds.contains(&kind))?.kinds.first().copied();
        let mut info: Vec<u8> = (1..=KINDS).map(|kind| to(kind).unwrap_or(0)).collect();
        info.resize(MAP, 0);
        for member in members {
            info.extend(member.start.to_le_bytes());
            info.extend(member.length.to_le_bytes());
        }
        for member in members {
            info.extend(&member.name);
            info.resize((info.len() + 1).next_multiple_of(8), 0);
        }
        info
    }

    fn family(info: &[u8]) -> Result<MemberFiles> {
        let mut reader = Reader::new("driver information of a family", info);
        match reader.u64()? {
            0 => Err(reader.refuse("members of no bytes")),
            size => Ok(MemberFiles::Family { size }),
        }
    }

    fn multi(info: &[u8]) -> Result<MemberFiles> {
        let mut reader = Reader::new("driver information of a multi file", info);
        let map: [u8; KINDS as usize] = reader.array()?;
        reader.skip(2)?;
        // By the number of the type that a member is named for; a type that maps to zero is its own member.
        let mut members: Vec<(u8, MultiMember)> = Vec::new();
        for (kind, &to) in (1..=KINDS).zip(&map) {
            let to = if to == 0 { kind } else { to };
            if to > KINDS {
                return Err(reader.refuse(format!("memory type {kind} maps to the unknown type {to}")));
            }
            match members.iter_mut().find(|(own, _)| *own == to) {
                Some((_, member)) => member.kinds.push(kind),
                None => members.push((to, MultiMember { kinds: vec![kind], start: 0, length: 0, name: Vec::new() })),
            }
        }
        for (_, member) in &mut members {
            (member.start, member.length) = (reader.u64()?, reader.u64()?);
        }
        for (_, member) in &mut members {
            let rest = reader.clone().rest();
            let length = rest.iter().position(|&byte| byte == 0);
            let length = length.ok_or_else(|| reader.refuse("a member's name without an end"))?;
            member.name = reader.take(length)?.to_vec();
            // The last name may lack its padding.
            reader.skip(((length + 1).next_multiple_of(8) - length).min(reader.left()))?;
        }
        Ok(MemberFiles::Multi(members.into_iter().map(|(_, member)| member).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_file_has_two_members() {
        let mut info = vec![1, 1, 3, 3, 1, 1, 0, 0];
        for number in [0u64, 2048, u64::MAX / 2, 64] {
            info.extend(number.to_le_bytes());
        }
        info.extend(b"%s-m.h5\0%s-r.h5\0");
        let MemberFiles::Multi(members) = MemberFiles::decode(*b"NCSAmult", &info).unwrap().unwrap() else {
            panic!("not a multi file")
        };
        assert_eq!(members.len(), 2);
        assert_eq!((members[0].kinds.as_slice(), members[0].name.as_slice()), (&[1, 2, 5, 6][..], &b"%s-m.h5"[..]));
        assert_eq!((members[1].start, members[1].length), (u64::MAX / 2, 64));
        assert_eq!(MemberFiles::Multi(members).encode(), (*b"NCSAmult", info.clone()));
        for cut in 0..info.len() - 1 {
            assert!(MemberFiles::decode(*b"NCSAmult", &info[..cut]).is_err(), "{cut} bytes");
        }
        info[0] = 7;
        assert!(MemberFiles::decode(*b"NCSAmult", &info).is_err());
    }
}
