//! Names of sources: as they are, or with a place for the number of a block.

use std::sync::Arc;

/// A name with `%b` for a number and `%%` for a percent sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// Always the same.
    Plain(Arc<[u8]>),
    /// What stands between the numbers.
    Numbered(Vec<Vec<u8>>),
}

impl Name {
    /// Reads a name; fails with why.
    pub(super) fn parse(text: &Arc<[u8]>) -> Result<Name, String> {
        if !text.contains(&b'%') {
            return Ok(Name::Plain(text.clone()));
        }
        let mut pieces = vec![Vec::new()];
        let mut bytes = text.iter();
        while let Some(&byte) = bytes.next() {
            let next = if byte == b'%' { bytes.next() } else { None };
            match (byte, next) {
                (b'%', Some(b'b')) => pieces.push(Vec::new()),
                (b'%', Some(b'%')) => pieces.last_mut().into_iter().for_each(|piece| piece.push(b'%')),
                (b'%', _) => {
                    return Err(format!("the name {:?} has a % before neither b nor %", String::from_utf8_lossy(text)));
                }
                _ => pieces.last_mut().into_iter().for_each(|piece| piece.push(byte)),
            }
        }
        Ok(match <[Vec<u8>; 1]>::try_from(pieces) {
            Ok([only]) => Name::Plain(only.into()),
            Err(pieces) => Name::Numbered(pieces),
        })
    }

    /// Whether it depends on the number.
    pub(super) fn is_numbered(&self) -> bool {
        matches!(self, Name::Numbered(_))
    }

    /// The name for a block.
    pub(super) fn of(&self, block: u64) -> Arc<[u8]> {
        match self {
            Name::Plain(name) => name.clone(),
            Name::Numbered(pieces) => pieces.join(block.to_string().as_bytes()).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs() {
        let of = |text: &str, block| {
            let name = Name::parse(&text.as_bytes().into()).unwrap();
            String::from_utf8(name.of(block).to_vec()).unwrap()
        };
        assert_eq!(of("plain.h5", 3), "plain.h5");
        assert_eq!(of("100%%.h5", 3), "100%.h5");
        assert_eq!(of("%b-%%b-%b", 12), "12-%b-12");
        for bad in ["%", "a%", "%d", "%%%"] {
            assert!(Name::parse(&bad.as_bytes().into()).is_err(), "{bad}");
        }
    }
}
