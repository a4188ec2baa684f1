//! Enumeration to enumeration, by name.

use std::collections::HashMap;

use crate::enumeration::Enum;

/// The value in the one enumeration for each value in the other.
#[derive(Clone, Debug)]
pub(super) struct Names {
    values: HashMap<Box<[u8]>, Box<[u8]>>,
}

impl Names {
    /// None if a name is missing in the new enumeration; then it is named.
    pub(super) fn new(from: &Enum, to: &Enum) -> Result<Names, String> {
        let targets: HashMap<_, _> = to.members().collect();
        let mut values = HashMap::new();
        for (name, value) in from.members() {
            let target = *targets.get(name).ok_or_else(|| format!("{name:?} is not a name of the second"))?;
            values.insert(value.into(), target.into());
        }
        Ok(Names { values })
    }

    /// One value. A value without a name becomes all ones.
    pub(super) fn convert(&self, source: &[u8], target: &mut [u8]) {
        match self.values.get(source) {
            Some(value) if value.len() == target.len() => target.copy_from_slice(value),
            _ => target.fill(0xff),
        }
    }
}
